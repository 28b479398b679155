#include "speculation/open_before.h"

#include "base/ascii.h"

#include <string.h>

enum { REACH = 2048 };

bool hp_follows_open_a(const char *text, uint32_t offset) {
  const char *end = text + offset, *begin = offset > REACH ? end - REACH : text;
  for (const char *at = end; at - begin > 3;) {
    const char *tag = memrchr(begin, '<', (size_t)(at - begin));
    if (!tag) return false;
    at = tag++;
    if (end - tag < 2) continue;
    bool is_end = *tag == '/';
    tag += is_end;
    if (end - tag > 1 && (*tag | 0x20) == 'a' && (tag[1] == '>' || hp_ascii_is_white(tag[1]))) return !is_end;
  }
  return false;
}

/* Returns whether the tag with this name ends an open p, if it is in no scope of its own. */
static bool is_block(const char *name) {
  const unsigned char *letters = (const unsigned char *)name;
#define LETTERS(a, b) ((a) << 8 | (b))
  switch (LETTERS(letters[0] | 0x20, letters[1] | 0x20)) {
    case LETTERS('a', 'r'): /* article */
    case LETTERS('b', 'o'): /* body */
    case LETTERS('d', 'd'):
    case LETTERS('d', 'i'): /* div */
    case LETTERS('d', 'l'):
    case LETTERS('d', 't'):
    case LETTERS('h', '1'):
    case LETTERS('h', '2'):
    case LETTERS('h', '3'):
    case LETTERS('h', '4'):
    case LETTERS('h', 'e'): /* header */
    case LETTERS('l', 'i'):
    case LETTERS('n', 'a'): /* nav */
    case LETTERS('o', 'l'):
    case LETTERS('s', 'e'): /* section */
    case LETTERS('t', 'a'): /* table */
    case LETTERS('t', 'd'):
    case LETTERS('t', 'r'):
    case LETTERS('u', 'l'): return true;
    default: return false;
  }
#undef LETTERS
}

bool hp_follows_open_p(const char *text, uint32_t offset) {
  const char *end = text + offset, *begin = offset > REACH ? end - REACH : text;
  for (const char *at = end; at - begin > 3;) {
    const char *tag = memrchr(begin, '<', (size_t)(at - begin));
    if (!tag) return false;
    at = tag++;
    if (end - tag < 3) continue;
    bool is_end = *tag == '/';
    tag += is_end;
    if ((*tag | 0x20) == 'p' && (tag[1] == '>' || hp_ascii_is_white(tag[1]))) return !is_end;
    if (is_block(tag)) return false;
  }
  return false;
}
