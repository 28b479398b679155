/* Changes of documents after their parse: argument checks. */

#include "script/edit.h"
#include "base/clock.h"
#include "session/config.h"

#include <hpar/edit.h>

hpar_status hpar_document_edit(hpar_document *document, const hpar_options *options, hpar_scripting **edit) {
  if (!document || !edit) return HPAR_ERROR_ARGUMENT;
  hp_call_error error;
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, &error);
  if (status != HPAR_OK) return status;
  size_t length = document->input.length;
  const hp_edit_config own = {.scripting = config.scripting,
                              .limits = hp_config_limits(&config, length, hp_now()),
                              .memory_limit = hp_config_memory_limit(&config, length)};
  return hp_edit_begin(document, &own, edit);
}

void hpar_document_finish_edit(hpar_document *document) {
  if (document) hp_edit_end(document);
}
