#ifndef HP_PROGRAMS_HPAR_SELECT_STREAM_H
#define HP_PROGRAMS_HPAR_SELECT_STREAM_H

/* hpar select --stream: selects while the page is read, without a tree. */

#include "programs/hpar/options.h"

#include <hpar/rewrite.h>
#include <stdatomic.h>

typedef struct hp_stream_query {
  const hp_command *command;
  const char *const *texts; /* of the selectors */
  uint32_t count;
  _Atomic uint64_t *matches; /* of each selector */
  hpar_rewrite_options options;
  bool prints_count, names_files;
} hp_stream_query;

/* Prints the matches in the pages, or their numbers. Returns an exit code. */
int hp_select_stream(const hp_stream_query *query, const char *const *paths, size_t count);

#endif
