#include "study/boundary.h"

#include "speculation/strategy.h"

#include <string.h>

enum { NO_TAG = UINT32_MAX };

/* Returns the "<" of the tag that the ">" at `close` ends, or NULL if [least, close) has none after
 * its last ">". */
static const char *tag_before(const char *least, const char *close) {
  while (close > least) {
    close--;
    if (*close == '<') return close;
    if (*close == '>') return NULL;
  }
  return NULL;
}

/* Returns whether a start tag of this name begins at `tag`. `name` is in lower case. */
static bool is_start_tag(const char *tag, const char *end, const char *name) {
  size_t length = strlen(name);
  if ((size_t)(end - tag) < length + 2) return false;
  for (size_t i = 0; i < length; i++)
    if ((tag[1 + i] | 0x20) != name[i]) return false;
  return strchr("\t\n\f\r />", tag[1 + length]);
}

/* Returns whether a tag whose element ignores a newline ends at the cut. The token after the tag
 * belongs to it. */
static bool follows_newline_eater(const char *text, const char *cut) {
  if (cut[-1] != '>') return false;
  const char *tag = tag_before(text, cut - 1);
  return tag && (is_start_tag(tag, cut, "pre") || is_start_tag(tag, cut, "listing"));
}

static bool ends_comment(const char *text, const char *end) {
  size_t length = (size_t)(end - text);
  if (length >= 2 && end[-2] == '-') return true;
  return length >= 3 && end[-2] == '!' && end[-3] == '-';
}

/* Returns the offset of the tag that ends at `first`, or NO_TAG if none begins at the cut or after.
 */
static uint32_t find_tag(hp_tag_search *search, const char *text, uint32_t cut, uint32_t first) {
  if (search->end != first) {
    const char *tag = tag_before(text + cut, text + first - 1);
    *search = (hp_tag_search){first, tag ? (uint32_t)(tag - text) : NO_TAG};
  }
  return search->tag >= cut ? search->tag : NO_TAG;
}

hp_boundary hp_classify_boundary(hp_tag_search *search, const char *text, uint32_t cut, uint32_t first, bool scripting,
                                 hp_atom *raw_name) {
  if (first == cut || follows_newline_eater(text, text + cut)) return HP_BOUNDARY_DATA;
  const char *end = text + first;
  if (end[-1] != '>') return HP_BOUNDARY_TEXT;
  uint32_t tag = find_tag(search, text, cut, first);
  if (tag != NO_TAG && text[tag + 1] == '/') {
    const hp_raw_text *raw = hp_raw_text_at(text + tag + 2, end, scripting);
    *raw_name = raw ? raw->atom : HP_NO_ATOM;
    if (raw) return HP_BOUNDARY_RAW_TEXT;
  }
  return ends_comment(text, end) ? HP_BOUNDARY_COMMENT : HP_BOUNDARY_MARKUP;
}
