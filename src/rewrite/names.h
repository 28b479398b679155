#ifndef HP_REWRITE_NAMES_H
#define HP_REWRITE_NAMES_H

/* Names of tags as atoms, in bounded memory. The names of the standard and of the rules have fixed
 * atoms. Other names have atoms while elements of that name are open. */

#include "base/atom.h"
#include "base/unwind.h"

typedef struct hp_own_name {
  char *bytes; /* NULL: a free atom */
  uint32_t length;
  uint32_t next; /* in its hash chain, or of the free atoms: index + 1, or 0 */
  bool is_used;  /* mark of a sweep */
} hp_own_name;

typedef struct hp_names {
  const hp_atoms *fixed; /* names of the rules */
  hp_own_name *own;
  uint32_t count, capacity, used, limit;
  uint32_t free;
  uint32_t *chains;                     /* the first name of each hash chain, or 0 */
  uint32_t chain_count, chain_capacity; /* a power of two */
  size_t bytes;                         /* of own names */
  hp_unwind *unwind;
} hp_names;

void hp_names_open(hp_names *names, const hp_atoms *fixed, hp_unwind *unwind);
void hp_names_close(hp_names *names);

/* Returns the atom of a name in lower case, or HP_NO_ATOM if no open element and no rule has it. */
hp_atom hp_names_find(const hp_names *names, const char *bytes, size_t length);
/* Does the same, but makes an atom. */
hp_atom hp_names_add(hp_names *names, const char *bytes, size_t length);
hp_name hp_names_of(const hp_names *names, hp_atom atom);

static inline size_t hp_names_memory(const hp_names *n) {
  return n->capacity * sizeof *n->own + n->bytes + n->chain_capacity * sizeof *n->chains;
}

/* Names are to be swept: the owner marks those of all open elements, then calls hp_names_sweep. */
static inline bool hp_names_are_many(const hp_names *names) { return names->used > names->limit; }
void hp_names_mark(hp_names *names, hp_atom atom);
void hp_names_sweep(hp_names *names);

#endif
