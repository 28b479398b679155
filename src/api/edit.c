/* Changes of documents after their parse: argument checks. */

#include "script/edit.h"
#include "base/process.h"
#include "session/config.h"

#include <hpar/parse.h>

hpar_status hpar_document_edit(hpar_document *document, const hpar_options *options, hpar_editor **editor,
                               hpar_error *error) {
  hpar_error own;
  if (!error) error = &own;
  error->text[0] = 0;
  if (editor) *editor = document ? hp_edit_running(document) : NULL; /* a failure does not end it */
  if (!document || !editor)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s is NULL", document ? "editor" : "document");
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status != HPAR_OK) return hp_explain_status(error, status);
  size_t length = document->input.length;
  const hp_edit_config settings = {.scripting = config.scripting,
                                   .limits = hp_config_limits(&config, length, hp_now()),
                                   .memory_limit = hp_config_memory_limit(&config, length)};
  status = hp_edit_begin(document, &settings, editor);
  if (status == HPAR_ERROR_ARGUMENT)
    hp_explain(error, status, "another thread edits the document, or a parse fills it");
  return hp_explain_status(error, status);
}

void hpar_document_finish_edit(hpar_document *document) {
  if (document) hp_edit_end(document);
}
