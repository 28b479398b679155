#include "support/edited_tree.h"

#include <stdlib.h>
#include <string.h>

/* What src/programs/hpar/rewrite_tree.c needs of src/programs/hpar/common.c. */
hpar_status hp_append_text(const char *bytes, size_t length, void *text) {
  hp_text *to = text;
  if (to->capacity - to->length < length) {
    to->capacity = (to->length + length) * 2;
    to->bytes = realloc(to->bytes, to->capacity);
    if (!to->bytes) abort();
  }
  if (length) memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
  return HPAR_OK;
}

hp_text edited_tree(const hpar_document *document, bool scripting, hp_seen *seen, size_t seen_count) {
  static hpar_parser *parser; /* of inserted content */
  hp_explanation explanation = {.records = true, .seen = seen, .seen_count = seen_count};
  if (!parser && hpar_parser_create(&parser)) abort();
  hp_lines lines = {.parser = parser, .scripting = scripting};
  if (hp_write_lines(&lines, document, seen ? &explanation : NULL)) abort();
  return lines.text;
}

bool edited_tree_equal(const hp_text *a, const hp_text *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

void edited_tree_print(const hp_text *a, const hp_text *b) {
  size_t at = 0, line = 0;
  while (at < a->length && at < b->length && a->bytes[at] == b->bytes[at])
    if (a->bytes[at++] == '\n') line = at;
  printf("  edited tree: %.*s\n", (int)(a->length - line < 300 ? a->length - line : 300), a->bytes + line);
  printf("  output:      %.*s\n", (int)(b->length - line < 300 ? b->length - line : 300), b->bytes + line);
}
