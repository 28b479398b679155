#ifndef HP_REWRITE_NAMES_H
#define HP_REWRITE_NAMES_H

/* Names of tags as atoms, in bounded memory. The names of the standard and of the rules have fixed
 * atoms. Other names have atoms while elements of that name are open. Such a name takes its bytes
 * and 12 more, and the spare bytes of the arrays. */

#include "base/atom.h"
#include "base/memory.h"

/* A name without a fixed atom. Its length and its bytes are in `bytes` of hp_names: one byte with
 * the length, or 255 and four bytes. */
typedef struct hp_own_name {
  uint32_t place : 31;
  uint32_t is_used : 1; /* mark of a sweep */
  uint32_t next;        /* in its hash chain, or of the free atoms: index + 1, or 0 */
} hp_own_name;

typedef struct hp_names {
  const hp_atoms *fixed; /* names of the rules */
  hp_own_name *own;      /* place 0: a free atom */
  uint32_t count, capacity, used, limit;
  uint32_t free, byte_limit;
  uint32_t *chains;                     /* the first name of each hash chain, or 0 */
  uint32_t chain_count, chain_capacity; /* at least half as many as names */
  char *bytes;                          /* the first byte is unused */
  uint32_t byte_count, byte_capacity;
  hp_unwind *unwind;
} hp_names;

void hp_names_open(hp_names *names, const hp_atoms *fixed, hp_unwind *unwind);
void hp_names_close(hp_names *names);

/* Returns the atom of a name in lower case, or HP_NO_ATOM if no open element and no rule has it. */
hp_atom hp_names_find(const hp_names *names, const char *bytes, size_t length);
/* Does the same, but makes an atom. */
hp_atom hp_names_add(hp_names *names, const char *bytes, size_t length);
/* Returns the bytes of a name. They are valid until the next call of hp_names_add or
 * hp_names_sweep. */
hp_name hp_names_of(const hp_names *names, hp_atom atom);

/* Returns true for a name of the standard or of the rules. */
static inline bool hp_names_is_fixed(const hp_names *n, hp_atom atom) {
  return atom < HP_KNOWN_ATOMS + n->fixed->count;
}

static inline size_t hp_names_memory(const hp_names *n) {
  return n->capacity * sizeof *n->own + n->byte_capacity + n->chain_capacity * sizeof *n->chains;
}

/* Returns true if names are to be swept. The owner then marks those of all open elements, and calls
 * hp_names_sweep with their number. A sweep takes time for each name, and the next one comes after
 * `depth` / 16 names at the earliest. */
static inline bool hp_names_are_many(const hp_names *n) { return n->used > n->limit || n->byte_count > n->byte_limit; }
void hp_names_mark(hp_names *names, hp_atom atom);
void hp_names_sweep(hp_names *names, uint32_t depth);

#endif
