/* Changes of documents after their parse: argument checks. */

#include "script/edit.h"
#include "base/clock.h"
#include "base/memory.h"
#include "session/config.h"

#include <hpar/parse.h>

/* Keeps the reason for hpar_document_error. Without memory the status alone remains. */
static hpar_status refuse(hpar_document *document, hpar_status status, const char *reason) {
  document->edit_error = hp_reallocate(document->edit_error, sizeof(hp_call_error));
  if (document->edit_error) hp_explain((hp_call_error *)document->edit_error, status, "%s", reason);
  return status;
}

hpar_status hpar_document_edit(hpar_document *document, const hpar_options *options, hpar_editor **editor) {
  if (!document) return HPAR_ERROR_ARGUMENT;
  hp_free(document->edit_error);
  document->edit_error = NULL;
  if (!editor) return refuse(document, HPAR_ERROR_ARGUMENT, "editor is NULL");
  hp_call_error error = {.bytes[0] = 0};
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, &error);
  if (status != HPAR_OK) return refuse(document, status, error.bytes);
  size_t length = document->input.length;
  const hp_edit_config own = {.scripting = config.scripting,
                              .limits = hp_config_limits(&config, length, hp_now()),
                              .memory_limit = hp_config_memory_limit(&config, length)};
  status = hp_edit_begin(document, &own, editor);
  if (status == HPAR_ERROR_ARGUMENT)
    return refuse(document, status, "another thread edits the document, or a parse fills it");
  return status == HPAR_OK ? status : refuse(document, status, hpar_status_text(status));
}

const char *hpar_document_error(const hpar_document *document) {
  if (!document) return "document is NULL";
  return document->edit_error ? document->edit_error : "";
}

void hpar_document_finish_edit(hpar_document *document) {
  if (document) hp_edit_end(document);
}
