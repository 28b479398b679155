#include "rewrite/state.h"

#include "base/memory.h"
#include "base/process.h"

enum {
  MIN_LIMIT = 64,
  MIN_BYTE_LIMIT = 512,
  DEPTH_SHARE = 16,
  PLACES_SHARE = 16,
  BYTES_A_NAME = 4,
  MIN_CHAINS = 4,
  NAMES_A_CHAIN = 2,
  MAX_PLACE = INT32_MAX
};

void hp_names_open(hp_names *n, const hp_atoms *fixed, hp_unwind *unwind) {
  hp_names_close(n);
  n->fixed = fixed;
  n->unwind = unwind;
  n->limit = MIN_LIMIT;
  n->byte_limit = MIN_BYTE_LIMIT;
}

void hp_names_close(hp_names *n) {
  hp_free(n->bytes);
  hp_free(n->own);
  hp_free(n->chains);
  *n = (hp_names){0};
}

static uint32_t first_own(const hp_names *n) { return HP_KNOWN_ATOMS + n->fixed->count; }

/*** bytes ***/

static hp_name name_of(const hp_names *n, uint32_t index) {
  return (hp_name){n->bytes + n->own[index].place, n->own[index].length};
}

/* Appends a name to the bytes. Returns its place. */
static uint32_t store(hp_names *n, hp_name name) {
  const size_t place = n->byte_count ? n->byte_count : 1, need = place + name.length;
  if (need > MAX_PLACE) hp_unwind_now(n->unwind, HPAR_ERROR_MEMORY);
  hp_grow_tight(&n->bytes, &n->byte_capacity, need, n->unwind);
  memcpy(n->bytes + place, name.bytes, name.length);
  n->byte_count = (uint32_t)need;
  return (uint32_t)place;
}

/* Moves the names in use, of `bytes` bytes, to an array of their size. Keeps the old array if
 * memory is short. */
static void move_names(hp_names *n, size_t bytes) {
  char *moved = hp_allocate(bytes + 1);
  uint32_t count = 1;
  if (!moved) return;
  for (uint32_t i = 0; i < n->count; i++) {
    hp_own_name *own = &n->own[i];
    if (!own->place) continue;
    memcpy(moved + count, n->bytes + own->place, own->length);
    own->place = count & MAX_PLACE;
    count += own->length;
  }
  hp_free(n->bytes);
  n->bytes = moved;
  n->byte_count = n->byte_capacity = count;
}

/*** chains ***/

static uint32_t *chain_of(const hp_names *n, hp_name name) {
  return &n->chains[(uint64_t)(uint32_t)hp_hash_bytes(0, name.bytes, name.length) * n->chain_count >> 32];
}

static hp_atom find_own(const hp_names *n, hp_name name) {
  if (!n->used) return HP_NO_ATOM;
  for (uint32_t i = *chain_of(n, name); i; i = n->own[i - 1].next) {
    const hp_name own = name_of(n, i - 1);
    if (own.length == name.length && !memcmp(own.bytes, name.bytes, name.length)) return first_own(n) + i - 1;
  }
  return HP_NO_ATOM;
}

static void enter(hp_names *n, uint32_t index) {
  uint32_t *chain = chain_of(n, name_of(n, index - 1));
  n->own[index - 1].next = *chain;
  *chain = index;
}

static void fill_chains(hp_names *n) {
  if (n->chain_count) memset(n->chains, 0, n->chain_count * sizeof *n->chains);
  for (uint32_t i = 0; i < n->count; i++)
    if (n->own[i].place) enter(n, i + 1);
}

/* Makes a quarter more chains. */
static void grow_chains(hp_names *n) {
  uint32_t count = n->chain_count + n->chain_count / 4 + MIN_CHAINS;
  uint32_t *chains = hp_allocate(count * sizeof *chains);
  if (!chains) hp_unwind_now(n->unwind, HPAR_ERROR_MEMORY);
  hp_free(n->chains);
  n->chains = chains;
  n->chain_count = count;
  fill_chains(n);
}

/*** names ***/

hp_atom hp_names_find(const hp_names *n, const char *bytes, size_t length) {
  hp_atom atom = hp_known_atom(bytes, length, hp_name_key_of(bytes, length));
  if (!atom && n->fixed->count) atom = hp_atoms_find(n->fixed, bytes, length);
  return atom ? atom : find_own(n, (hp_name){bytes, (uint32_t)length});
}

hp_atom hp_names_add(hp_names *n, const char *bytes, size_t length) {
  hp_atom atom = hp_names_find(n, bytes, length);
  if (atom) return atom;
  if (n->used >= NAMES_A_CHAIN * n->chain_count) grow_chains(n);
  uint32_t index = n->free;
  if (!index) hp_grow_tight(&n->own, &n->capacity, (size_t)n->count + 1, n->unwind);
  uint32_t place = store(n, (hp_name){bytes, (uint32_t)length});
  if (index)
    n->free = n->own[index - 1].next;
  else
    index = ++n->count;
  n->own[index - 1] = (hp_own_name){.place = place & MAX_PLACE, .length = (uint32_t)length};
  enter(n, index);
  n->used++;
  return first_own(n) + index - 1;
}

hp_name hp_names_of(const hp_names *n, hp_atom atom) {
  if (atom < first_own(n)) return hp_atom_name(n->fixed, atom);
  return name_of(n, atom - first_own(n));
}

void hp_names_mark(hp_names *n, hp_atom atom) {
  if (atom >= first_own(n)) n->own[atom - first_own(n)].is_used = true;
}

void hp_names_sweep(hp_names *n, uint32_t depth) {
  size_t bytes = 0;
  n->used = n->free = 0;
  for (uint32_t i = 0; i < n->count; i++) {
    hp_own_name *own = &n->own[i];
    if (own->is_used) {
      own->is_used = false;
      n->used++;
      bytes += own->length;
    } else {
      *own = (hp_own_name){.next = n->free};
      n->free = i + 1;
    }
  }
  if (n->byte_count - n->byte_count / 8 > bytes) move_names(n, bytes);
  fill_chains(n);
  /* Of what the next sweep visits: places of names and chains do not become fewer. */
  const uint32_t share = depth / DEPTH_SHARE + (n->count + n->chain_count) / PLACES_SHARE;
  n->limit = n->used + n->used / 8 + share + MIN_LIMIT;
  n->byte_limit = n->byte_count + n->byte_count / 8 + BYTES_A_NAME * share + MIN_BYTE_LIMIT;
}
