#include "text/encoding/decoder.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/*** tables that have been made ***/

typedef struct made {
  const void *key;
  struct made *next;
  _Alignas(max_align_t) unsigned char table[];
} made;

static _Atomic(made *) tables;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static made *find(const void *key) {
  made *at = atomic_load_explicit(&tables, memory_order_acquire);
  while (at && at->key != key) at = at->next;
  return at;
}

const void *hp_table_open(const void *key, size_t bytes, hp_table_maker make) {
  made *one = find(key);
  if (one) return one->table;
  pthread_mutex_lock(&making);
  one = find(key);
  if (!one && (one = hp_allocate_zeroed(sizeof *one + bytes))) {
    make(key, one->table);
    one->key = key;
    one->next = atomic_load_explicit(&tables, memory_order_relaxed);
    atomic_store_explicit(&tables, one, memory_order_release);
  }
  pthread_mutex_unlock(&making);
  return one ? one->table : NULL;
}

static hp_character character(uint32_t code_point) {
  hp_character c = {{0}};
  hp_put_code_point(c.utf8, code_point);
  return c;
}

uint32_t hp_code_point_of(const hp_character *entry) {
  const unsigned char *c = (const unsigned char *)entry->utf8;
  if (c[0] < 0x80) return c[0];
  if (c[0] < 0xE0) return c[2] ? 0 : (c[0] & 0x1Fu) << 6 | (c[1] & 0x3Fu);
  if (c[0] < 0xF0) return (c[0] & 0x0Fu) << 12 | (c[1] & 0x3Fu) << 6 | (c[2] & 0x3Fu);
  return (c[0] & 0x07u) << 18 | (c[1] & 0x3Fu) << 12 | (c[2] & 0x3Fu) << 6 | (c[3] & 0x3Fu);
}

/*** packed tables ***/

/* index_data.c has the characters of all tables, packed. `tests/encoding_index_test --write`
 * makes it from the system's iconv. A reader keeps the code point `c` of the last character:
 *
 *   00 to 3F  n + 1 pointers for c + 1, c + 2, ...
 *   40 to 9F  one pointer for c + n - 112
 *   A0 to BE  n - 159 pointers without a character
 *   BF x y    256x + y of them
 *   C0 to FD  one pointer for c + 256(n - 192) + x - 7936, where x follows
 *   FE x y    one pointer for 256x + y
 *   FF x y z  one pointer for 65536x + 256y + z */

/* Unpacks `size` characters. Returns the end of the packed bytes. */
static const unsigned char *unpack(const unsigned char *in, uint32_t size, hp_character *table) {
  uint32_t c = 0;
  for (uint32_t pointer = 0; pointer < size;) {
    unsigned n = *in++;
    if (n < 0x40) {
      for (unsigned i = 0; i <= n; i++) table[pointer++] = character(++c);
      continue;
    }
    if (n >= 0xA0 && n < 0xC0) {
      pointer += n < 0xBF ? n - 0x9F : (unsigned)(in[0] << 8 | in[1]);
      in += n < 0xBF ? 0 : 2;
      continue;
    }
    if (n < 0xA0) {
      c += n - 0x70;
    } else if (n < 0xFE) {
      c += ((n - 0xC0) << 8 | *in++) - 0x1F00;
    } else {
      c = (unsigned)(in[0] << 8 | in[1]);
      in += 2;
      if (n == 0xFF) c = c << 8 | *in++;
    }
    table[pointer++] = character(c);
  }
  return in;
}

/*** codes of two bytes and more ***/

typedef struct source {
  const unsigned char *packed;
  uint32_t size;
} source;

static const source sources[HP_INDEXES] = {
    [HP_INDEX_GB18030] = {hp_packed_gb18030, 126 * HP_GB18030_ROW},
    [HP_INDEX_BIG5] = {hp_packed_big5, 126 * HP_BIG5_ROW},
    [HP_INDEX_JIS0208] = {hp_packed_jis0208, 60 * HP_SHIFT_JIS_ROW},
    [HP_INDEX_JIS0212] = {hp_packed_jis0212, HP_JIS_ROW *HP_JIS_ROW},
    [HP_INDEX_EUC_KR] = {hp_packed_euc_kr, 126 * HP_GB18030_ROW},
};

uint32_t hp_index_size(hp_index index) { return sources[index].size; }

/* Big5: these stand for a letter and a combining accent each. */
static void add_pairs(hp_character *table) {
  table[1133] = (hp_character){{'\xC3', '\x8A', '\xCC', '\x84'}};
  table[1135] = (hp_character){{'\xC3', '\x8A', '\xCC', '\x8C'}};
  table[1164] = (hp_character){{'\xC3', '\xAA', '\xCC', '\x84'}};
  table[1166] = (hp_character){{'\xC3', '\xAA', '\xCC', '\x8C'}};
}

static void make_index(const void *key, void *table) {
  const source *s = key;
  unpack(s->packed, s->size, table);
  if (s == &sources[HP_INDEX_BIG5]) add_pairs(table);
}

const hp_character *hp_index_open(hp_index index) {
  const source *s = &sources[index];
  return hp_table_open(s, s->size * sizeof(hp_character), make_index);
}

/*** four bytes of GB18030 ***/

/* The 25 characters that lost a code of two bytes, or got one, after the four-byte codes had
 * been dealt out. */
static bool has_two_bytes(const unsigned char *used, uint32_t c) {
  if ((c >= 0x9FB4 && c <= 0x9FBB) || (c >= 0xFE10 && c <= 0xFE19)) return false;
  if ((c >= 0xE78D && c <= 0xE796) || c == 0xE5E5 || c == 0xE7C7) return true;
  switch (c) {
    case 0x1E3F: return false;
    case 0xE81E:
    case 0xE826:
    case 0xE82B:
    case 0xE82C:
    case 0xE832:
    case 0xE843:
    case 0xE854:
    case 0xE864: return true;
    default: return used[c >> 3] >> (c & 7) & 1;
  }
}

/* They stand for what has no code of two bytes, in order, and U+E7C7 for the place of U+1E3F. */
static void make_ranges(const void *key, void *table) {
  (void)key;
  const hp_character *two_bytes = hp_index_open(HP_INDEX_GB18030);
  uint16_t *entries = table;
  unsigned char used[0x10000 / 8] = {0};
  for (uint32_t i = 0; i < hp_index_size(HP_INDEX_GB18030); i++) {
    /* All are in the BMP and beyond ASCII. hp_code_point_of takes 165,000 instructions more. */
    const unsigned char *u = (const unsigned char *)two_bytes[i].utf8;
    uint32_t c = u[0] < 0xE0 ? (uint32_t)(u[0] & 0x1F) << 6 | (u[1] & 0x3F)
                             : (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F);
    used[c >> 3] |= (unsigned char)(1 << (c & 7));
  }
  uint32_t pointer = 0;
  for (uint32_t c = 0x80; c < 0x10000 && pointer < HP_GB18030_FOUR_BYTES; c++) {
    if ((c >= 0xD800 && c < 0xE000) || has_two_bytes(used, c)) continue;
    entries[pointer++] = (uint16_t)(c == 0x1E3F ? 0xE7C7 : c);
  }
}

const uint16_t *hp_gb18030_ranges_open(void) {
  static const char key = 0;
  if (!hp_index_open(HP_INDEX_GB18030)) return NULL;
  return hp_table_open(&key, HP_GB18030_FOUR_BYTES * sizeof(uint16_t), make_ranges);
}

/*** single bytes ***/

/* The encodings of hp_packed_single_bytes, in its order. */
static const char *const single_byte_names[] = {
    "windows-1252", "IBM866",       "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",   "ISO-8859-5",   "ISO-8859-6",
    "ISO-8859-7",   "ISO-8859-8",   "ISO-8859-8-I", "ISO-8859-10",  "ISO-8859-13",  "ISO-8859-14",  "ISO-8859-15",
    "ISO-8859-16",  "KOI8-R",       "KOI8-U",       "macintosh",    "windows-874",  "windows-1250", "windows-1251",
    "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic",
};

static void make_single_byte(const void *key, void *table) {
  const char *name = ((const hp_encoding *)key)->name;
  hp_character *entries = table;
  for (uint32_t byte = 0; byte < 0x80; byte++) entries[byte].utf8[0] = (char)byte;
  const unsigned char *in = hp_packed_single_bytes;
  const char *const *at = single_byte_names;
  do in = unpack(in, 0x80, entries + 0x80);
  while (strcmp(*at++, name) != 0);
}

const hp_character *hp_single_byte_open(const hp_encoding *encoding) {
  return hp_table_open(encoding, 256 * sizeof(hp_character), make_single_byte);
}
