#include "rewrite/names.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vector.h"

enum { MIN_LIMIT = 64, MIN_CHAINS = 8 };

void hp_names_open(hp_names *n, const hp_atoms *fixed, hp_unwind *unwind) {
  hp_names_close(n);
  n->fixed = fixed;
  n->unwind = unwind;
  n->limit = MIN_LIMIT;
}

void hp_names_close(hp_names *n) {
  for (uint32_t i = 0; i < n->count; i++) hp_free(n->own[i].bytes);
  hp_free(n->own);
  hp_free(n->chains);
  *n = (hp_names){0};
}

static uint32_t first_own(const hp_names *n) { return HP_KNOWN_ATOMS + n->fixed->count; }

static uint32_t *chain_of(const hp_names *n, const char *bytes, size_t length) {
  uint64_t hash = 0;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return &n->chains[hp_hash_mix(hash) & (n->chain_count - 1)];
}

static hp_atom find_own(const hp_names *n, const char *bytes, size_t length) {
  if (!n->used) return HP_NO_ATOM;
  for (uint32_t i = *chain_of(n, bytes, length); i; i = n->own[i - 1].next)
    if (n->own[i - 1].length == length && !memcmp(n->own[i - 1].bytes, bytes, length)) return first_own(n) + i - 1;
  return HP_NO_ATOM;
}

hp_atom hp_names_find(const hp_names *n, const char *bytes, size_t length) {
  hp_atom atom = hp_known_atom(bytes, length, hp_name_key_of(bytes, length));
  if (!atom && n->fixed->count) atom = hp_atoms_find(n->fixed, bytes, length);
  return atom ? atom : find_own(n, bytes, length);
}

static void enter(hp_names *n, uint32_t index) {
  hp_own_name *own = &n->own[index - 1];
  uint32_t *chain = chain_of(n, own->bytes, own->length);
  own->next = *chain;
  *chain = index;
}

/* Doubles the number of chains. */
static void grow_chains(hp_names *n) {
  uint32_t count = n->chain_count ? 2 * n->chain_count : MIN_CHAINS;
  hp_grow_tight(&n->chains, &n->chain_capacity, count, n->unwind);
  n->chain_count = count;
  memset(n->chains, 0, n->chain_count * sizeof *n->chains);
  for (uint32_t i = 0; i < n->count; i++)
    if (n->own[i].bytes) enter(n, i + 1);
}

hp_atom hp_names_add(hp_names *n, const char *bytes, size_t length) {
  hp_atom atom = hp_names_find(n, bytes, length);
  if (atom) return atom;
  if (n->used >= n->chain_count) grow_chains(n);
  char *copy = hp_allocate(length);
  if (!copy) hp_unwind_now(n->unwind, HPAR_ERROR_MEMORY);
  memcpy(copy, bytes, length);
  uint32_t index = n->free;
  if (index) {
    n->free = n->own[index - 1].next;
  } else {
    if (n->count == n->capacity) {
      uint32_t capacity = n->capacity + n->capacity / 2 + 2;
      hp_own_name *moved = hp_reallocate(n->own, capacity * sizeof *moved);
      if (!moved) {
        hp_free(copy);
        hp_unwind_now(n->unwind, HPAR_ERROR_MEMORY);
      }
      n->own = moved;
      n->capacity = capacity;
    }
    index = ++n->count;
  }
  n->own[index - 1] = (hp_own_name){copy, (uint32_t)length, 0, false};
  enter(n, index);
  n->used++;
  n->bytes += length;
  return first_own(n) + index - 1;
}

hp_name hp_names_of(const hp_names *n, hp_atom atom) {
  if (atom < first_own(n)) return hp_atom_name(n->fixed, atom);
  const hp_own_name *own = &n->own[atom - first_own(n)];
  return (hp_name){own->bytes, own->length};
}

void hp_names_mark(hp_names *n, hp_atom atom) {
  if (atom >= first_own(n)) n->own[atom - first_own(n)].is_used = true;
}

void hp_names_sweep(hp_names *n) {
  if (n->chain_count) memset(n->chains, 0, n->chain_count * sizeof *n->chains);
  n->used = n->free = 0;
  n->bytes = 0;
  for (uint32_t i = 0; i < n->count; i++) {
    hp_own_name *own = &n->own[i];
    if (!own->is_used) {
      hp_free(own->bytes);
      *own = (hp_own_name){.next = n->free};
      n->free = i + 1;
      continue;
    }
    own->is_used = false;
    enter(n, i + 1);
    n->used++;
    n->bytes += own->length;
  }
  n->limit = 2 * n->used + MIN_LIMIT;
}
