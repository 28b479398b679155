#ifndef HP_BASE_ATOM_H
#define HP_BASE_ATOM_H

/* Names as numbers. An atom represents one string, and it is the same in all threads of a parse.
 * Equal names therefore have equal atoms. The names of the standard have fixed atoms (names.h). A
 * static table maps the first and last eight bytes of a name to its atom.
 *
 * The document's table holds all other names. A thread enters a new name under a lock and finds it
 * in its own cache afterwards.
 *
 * Adjusted foreign attributes ("xlink:href" in svg) have separate atoms, for example
 * HP_ATOM_ADJUSTED_XLINK_HREF. The interner never returns them. */

#include "base/arena.h"
#include "base/bytes.h"
#include "base/names.h"
#include "base/target.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t hp_atom; /* 0: no name; < HP_KNOWN_ATOMS: names.h */

typedef struct hp_name {
  const char *bytes;
  uint32_t length;
} hp_name;

enum { HP_NAME_BLOCKS = 27, HP_TEXT_BLOCKS = 5 };

/* The names of a document. A reset keeps them while they are few, because the next page mostly has
 * the same names. */
typedef struct hp_atoms {
  pthread_mutex_t lock;
  unsigned process; /* hp_fork_generation of the process that uses the lock */
  hp_range *range;
  uint64_t generation;             /* atoms are valid while it is unchanged; unique to the table */
  hp_name *blocks[HP_NAME_BLOCKS]; /* block k holds 64 << k names; a name never moves */
  uint32_t count;                  /* number of names outside names.h */
  uint32_t *slots;                 /* hash table with open addressing; atom or 0 */
  uint32_t slot_count;
  char *text[HP_TEXT_BLOCKS]; /* bytes of names that a reset can keep; block k has 1 KB << k */
  uint32_t text_block, text_used;
  bool spilt;  /* the range holds the bytes of some names */
  bool closed; /* no thread may enter a name */
  bool shared; /* other threads may enter names while this one finds a name */
  hp_arena arena;
} hp_atoms;

/* Requires: all zeros. */
hpar_status hp_atoms_create(hp_atoms *atoms, hp_range *range);
/* Keeps the names of the last parse, if there are not too many. */
void hp_atoms_reset(hp_atoms *atoms);
/* Drops the names that a reset has kept. They leave less memory outside the range for new ones. */
void hp_atoms_forget(hp_atoms *atoms);
void hp_atoms_destroy(hp_atoms *atoms);
/* Tells where the range of the table is, which a copy has moved together with the table. */
static inline void hp_atoms_move(hp_atoms *atoms, hp_range *range) { atoms->range = atoms->arena.range = range; }
/* Lets the calling thread enter names after a parse, and after the range has moved. Requires: no
 * other thread uses the table. */
void hp_atoms_reopen(hp_atoms *atoms);
/* Makes the table constant until the next reset: threads that enter a name unwind. */
void hp_atoms_close(hp_atoms *atoms);

/* Up to twelve names as labels of a switch: `case HP_ANY(TBODY, TFOOT, THEAD):`. */
#define HP_ANY(...) HP_ANY_BY_COUNT(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, )(__VA_ARGS__)
#define HP_ANY_BY_COUNT(a, b, c, d, e, f, g, h, i, j, k, l, count, ...) HP_ANY_##count
#define HP_ANY_2(name, last) HP_ATOM_##name : case HP_ATOM_##last
#define HP_ANY_3(name, ...) HP_ATOM_##name : case HP_ANY_2(__VA_ARGS__)
#define HP_ANY_4(name, ...) HP_ATOM_##name : case HP_ANY_3(__VA_ARGS__)
#define HP_ANY_5(name, ...) HP_ATOM_##name : case HP_ANY_4(__VA_ARGS__)
#define HP_ANY_6(name, ...) HP_ATOM_##name : case HP_ANY_5(__VA_ARGS__)
#define HP_ANY_7(name, ...) HP_ATOM_##name : case HP_ANY_6(__VA_ARGS__)
#define HP_ANY_8(name, ...) HP_ATOM_##name : case HP_ANY_7(__VA_ARGS__)
#define HP_ANY_9(name, ...) HP_ATOM_##name : case HP_ANY_8(__VA_ARGS__)
#define HP_ANY_10(name, ...) HP_ATOM_##name : case HP_ANY_9(__VA_ARGS__)
#define HP_ANY_11(name, ...) HP_ATOM_##name : case HP_ANY_10(__VA_ARGS__)
#define HP_ANY_12(name, ...) HP_ATOM_##name : case HP_ANY_11(__VA_ARGS__)

/* The name cache of one thread. */
typedef struct hp_interner {
  hp_atoms *atoms;
  uint64_t generation; /* of the atoms in `slots` */
  hp_unwind *unwind;
  struct hp_interned {
    uint64_t key;
    hp_atom atom;
  } * slots;
  uint32_t slot_count, used;
} hp_interner;

/* Prepares the interner for a parse. Keeps cached names that are valid for `atoms`. */
HP_SHARED void hp_interner_open(hp_interner *interner, hp_atoms *atoms, hp_unwind *unwind);
HP_SHARED void hp_interner_close(hp_interner *interner);

/* The first and last eight bytes of a name. Two names of equal length up to 16 are equal if and
 * only if their keys are equal. */
typedef struct hp_name_key {
  uint64_t low, high;
} hp_name_key;

static inline hp_name_key hp_name_key_of(const char *bytes, size_t length) {
  hp_name_key key = {0, 0};
  if (length >= 8) {
    key.low = hp_load_64(bytes);
    if (length > 8) key.high = hp_load_64(bytes + length - 8);
  } else if (length >= 4) {
    key.low = (uint64_t)hp_load_32(bytes + length - 4) << 32 | hp_load_32(bytes);
  } else if (length) {
    key.low = (uint64_t)(unsigned char)bytes[0] | (uint64_t)(unsigned char)bytes[length >> 1] << 8 |
              (uint64_t)(unsigned char)bytes[length - 1] << 16;
  }
  return key;
}

static inline uint64_t hp_name_hash(hp_name_key key, size_t length) {
  return ((key.low * HP_NAME_K1) ^ (key.high * HP_NAME_K2)) + length * HP_NAME_K3;
}

typedef struct hp_known_name {
  uint64_t low, high;
  const char *bytes;
  uint32_t length;
} hp_known_name;

HP_SHARED extern const hp_known_name hp_known_names[HP_KNOWN_ATOMS];
HP_SHARED extern const uint16_t hp_known_slots[HP_KNOWN_SLOTS];

/* Returns the atom of a name in names.h, or 0. */
static inline hp_atom hp_known_atom(const char *bytes, size_t length, hp_name_key key) {
  uint64_t slot = hp_name_hash(key, length) >> HP_KNOWN_SHIFT;
  for (;; slot = (slot + 1) & (HP_KNOWN_SLOTS - 1)) {
    hp_atom atom = hp_known_slots[slot];
    if (!atom) return 0;
    const hp_known_name *name = &hp_known_names[atom];
    if (name->low == key.low && name->high == key.high && name->length == length &&
        (length <= 16 || !memcmp(name->bytes, bytes, length)))
      return atom;
  }
}

/* Does the same for a name in any case. */
HP_SHARED hp_atom hp_known_atom_in_any_case(const char *bytes, size_t length);

HP_SHARED hp_atom hp_intern_unknown(hp_interner *interner, const char *bytes, size_t length, hp_name_key key);

/* Returns the atom of any name. Copies the bytes if the name is new. */
static inline hp_atom hp_intern(hp_interner *interner, const char *bytes, size_t length) {
  hp_name_key key = hp_name_key_of(bytes, length);
  hp_atom atom = hp_known_atom(bytes, length, key);
  return atom ? atom : hp_intern_unknown(interner, bytes, length, key);
}

/* Returns the atom of a name in the document's table, or HP_NO_ATOM. Any number of threads may call
 * the function while no thread enters names, or `shared` is set. */
hp_atom hp_atoms_find(const hp_atoms *atoms, const char *bytes, size_t length);

/* Returns the name of an atom. Requires: the name was interned before the call. */
HP_SHARED hp_name hp_atom_name(const hp_atoms *atoms, hp_atom atom);

/* The names of the standard that have at most 8 bytes. A look-up takes one load of 8 bytes, one
 * multiplication and one comparison. scripts/generate-names chooses the multiplier such that each
 * slot has at most one name.
 *
 * The key is the name, padded with zeros. No name has the key 0, which has the slot 0. The entry
 * there has another key. */
typedef struct hp_short_name {
  uint64_t key;
  hp_atom atom;
} hp_short_name;

extern const struct hp_short_names { // value
  uint64_t masks[18];                /* by length; 0: too long */
  hp_short_name slots[HP_SHORT_SLOTS];
} hp_short_names;

/* Returns the atom of a common name of the standard, or HP_NO_ATOM. The case is ignored. Requires:
 * `length` is at most 17, 8 bytes are readable, and the name has no controls.
 *
 * Bit 5 makes upper case lower case. It also changes '@' and the five bytes from '[' to '_'. No
 * name in the table has such a byte or its image. */
static inline hp_atom hp_short_name_atom(const char *name, unsigned length) {
  uint64_t key = (hp_load_64(name) | UINT64_C(0x2020202020202020)) & hp_short_names.masks[length];
  const hp_short_name *slot = &hp_short_names.slots[key * HP_SHORT_K >> HP_SHORT_SHIFT];
  return slot->key == key ? slot->atom : HP_NO_ATOM;
}

/* The name of a tag with the '>' after it, in the highest bytes of a word. */
typedef struct hp_end_name {
  uint64_t bytes;
  uint8_t shift, length; /* `length` is without '>' */
} hp_end_name;

/* The entry of a name with more than 7 bytes matches nothing. */
extern const hp_end_name hp_end_names[HP_TESTED_TAGS];

/* Returns the length of the name of `tag` if the name and '>' are at `at`; otherwise 0. Finds lower
 * case and frequent names only. Requires: 8 bytes are readable. */
static inline unsigned hp_end_name_length(const char *at, hp_atom tag) {
  if (tag >= HP_TESTED_TAGS) return 0;
  const hp_end_name *name = &hp_end_names[tag];
  return hp_load_64(at) << name->shift == name->bytes ? name->length : 0;
}

#endif
