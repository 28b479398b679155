#include "base/atom.h"

#include "base/memory.h"
#include "base/process.h"

#include <stdatomic.h>

enum { FIRST_TEXT = 1 << 10, MAX_KEPT = 2048 };

static uint64_t next_generation(void) {
  static _Atomic uint64_t last;
  return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* Block k holds names [64 (2^k - 1), 64 (2^(k+1) - 1)). */
static hp_name *slot_of(const hp_atoms *atoms, uint32_t index) {
  uint32_t block = 31 - (uint32_t)__builtin_clz(index / 64 + 1);
  return &atoms->blocks[block][index - 64 * ((1u << block) - 1)];
}

hpar_status hp_atoms_create(hp_atoms *atoms, hp_range *range) {
  hp_hash_open();
  atoms->range = range;
  atoms->process = hp_fork_generation();
  atoms->generation = next_generation();
  if (pthread_mutex_init(&atoms->lock, NULL)) return HPAR_ERROR_MEMORY;
  hp_arena_open(&atoms->arena, range, NULL);
  return HPAR_OK;
}

/* Makes the table usable in a forked child. If a lost thread holds the lock, the table may be
 * inconsistent. In this case the function drops the names, and the memory of the slots leaks. */
static void adopt_after_fork(hp_atoms *atoms) {
  if (atoms->process == hp_fork_generation()) return;
  atoms->process = hp_fork_generation();
  if (!pthread_mutex_trylock(&atoms->lock)) {
    pthread_mutex_unlock(&atoms->lock);
  } else {
    atoms->slots = NULL;
    atoms->spilt = false;
    atoms->slot_count = atoms->count = atoms->text_block = atoms->text_used = 0;
    atoms->generation = next_generation();
    pthread_mutex_init(&atoms->lock, NULL);
  }
}

void hp_atoms_reset(hp_atoms *atoms) {
  adopt_after_fork(atoms);
  hp_arena_open(&atoms->arena, atoms->range, NULL);
  atoms->closed = atoms->shared = false;
  if (atoms->spilt || atoms->count > MAX_KEPT) hp_atoms_forget(atoms);
}

void hp_atoms_forget(hp_atoms *atoms) {
  if (!atoms->count && !atoms->spilt) return;
  memset(atoms->slots, 0, atoms->slot_count * sizeof *atoms->slots);
  atoms->count = 0;
  atoms->text_block = atoms->text_used = 0;
  atoms->spilt = false;
  atoms->generation = next_generation();
}

/* The table is consistent, even in a forked child: a thread that the fork has lost could only wait
 * for the lock, or find a name. */
void hp_atoms_reopen(hp_atoms *atoms) {
  if (atoms->process != hp_fork_generation()) pthread_mutex_init(&atoms->lock, NULL);
  atoms->process = hp_fork_generation();
  atoms->closed = atoms->shared = false;
  hp_arena_open(&atoms->arena, atoms->range, NULL);
}

void hp_atoms_destroy(hp_atoms *atoms) {
  adopt_after_fork(atoms);
  for (int block = 0; block < HP_NAME_BLOCKS && atoms->blocks[block]; block++) hp_free(atoms->blocks[block]);
  for (int block = 0; block < HP_TEXT_BLOCKS && atoms->text[block]; block++) hp_free(atoms->text[block]);
  hp_free(atoms->slots);
  pthread_mutex_destroy(&atoms->lock);
}

void hp_atoms_close(hp_atoms *atoms) {
  pthread_mutex_lock(&atoms->lock);
  atoms->closed = true;
  pthread_mutex_unlock(&atoms->lock);
}

hp_atom hp_known_atom_in_any_case(const char *bytes, size_t length) {
  char lower[32];
  if (length > sizeof lower) return HP_NO_ATOM;
  for (size_t i = 0; i < length; i++) lower[i] = hp_ascii_lower(bytes[i]);
  return hp_known_atom(lower, length, hp_name_key_of(lower, length));
}

hp_name hp_atom_name(const hp_atoms *atoms, hp_atom atom) {
  if (atom < HP_KNOWN_ATOMS) return (hp_name){hp_known_names[atom].bytes, hp_known_names[atom].length};
  return *slot_of(atoms, atom - HP_KNOWN_ATOMS);
}

/* Returns the hash of all bytes of a name: of the key, and of the bytes between its two words. */
static uint64_t hash_of(const char *bytes, size_t length, hp_name_key key) {
  uint64_t hash = hp_hash_mix(hp_hash_mix(key.low ^ length) ^ key.high);
  for (size_t i = 8; i + 8 < length; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    hash = hp_hash_mix(hash ^ word);
  }
  return hash;
}

static bool has_bytes(const hp_atoms *atoms, hp_atom atom, const char *bytes, size_t length) {
  hp_name name = *slot_of(atoms, atom - HP_KNOWN_ATOMS);
  return name.length == length && !memcmp(name.bytes, bytes, length);
}

static hp_atom find_name(const hp_atoms *atoms, const char *bytes, size_t length) {
  if (!atoms->slot_count) return HP_NO_ATOM;
  for (uint64_t slot = hash_of(bytes, length, hp_name_key_of(bytes, length));; slot++) {
    hp_atom atom = atoms->slots[slot & (atoms->slot_count - 1)];
    if (!atom || has_bytes(atoms, atom, bytes, length)) return atom;
  }
}

hp_atom hp_atoms_find(const hp_atoms *atoms, const char *bytes, size_t length) {
  if (!atoms->shared || atoms->process != hp_fork_generation()) return find_name(atoms, bytes, length);
  pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&atoms->lock;
  pthread_mutex_lock(lock);
  hp_atom atom = find_name(atoms, bytes, length);
  pthread_mutex_unlock(lock);
  return atom;
}

static bool grow_table(hp_atoms *atoms) {
  uint32_t slot_count = atoms->slot_count ? atoms->slot_count * 2 : 256;
  uint32_t *slots = hp_allocate_zeroed(slot_count * sizeof *slots);
  if (!slots) return false;
  for (uint32_t index = 0; index < atoms->count; index++) {
    hp_name name = *slot_of(atoms, index);
    uint64_t slot = hash_of(name.bytes, name.length, hp_name_key_of(name.bytes, name.length));
    while (slots[slot & (slot_count - 1)]) slot++;
    slots[slot & (slot_count - 1)] = index + HP_KNOWN_ATOMS;
  }
  hp_free(atoms->slots);
  atoms->slots = slots;
  atoms->slot_count = slot_count;
  return true;
}

/* Returns memory that a reset keeps, or NULL. */
static char *kept_text(hp_atoms *atoms, size_t length) {
  for (; atoms->text_block < HP_TEXT_BLOCKS; atoms->text_block++, atoms->text_used = 0) {
    char **block = &atoms->text[atoms->text_block];
    size_t size = (size_t)FIRST_TEXT << atoms->text_block;
    if (!*block && !(*block = hp_allocate(size))) return NULL;
    if (size - atoms->text_used < length) continue;
    atoms->text_used += (uint32_t)length;
    return *block + atoms->text_used - length;
  }
  return NULL;
}

typedef struct copy_request {
  hp_arena *arena;
  size_t length;
  char *bytes;
} copy_request;

static hpar_status take_bytes(void *argument) {
  copy_request *request = argument;
  request->bytes = hp_arena_take(request->arena, request->length);
  return HPAR_OK;
}

static const char *copy_of(hp_atoms *atoms, const char *bytes, size_t length, hpar_status *status) {
  char *kept = kept_text(atoms, length);
  if (kept) return memcpy(kept, bytes, length);
  atoms->spilt = true;
  hp_unwind unwind = {0};
  copy_request request = {.arena = &atoms->arena, .length = length};
  atoms->arena.unwind = &unwind;
  hpar_status failure = hp_try(&unwind, take_bytes, &request);
  atoms->arena.unwind = NULL;
  if (failure == HPAR_OK) return memcpy(request.bytes, bytes, length);
  *status = failure;
  return NULL;
}

/* Returns the atom of a name and enters the name if it is new. Returns 0 on failure; `*status` is
 * the reason if it is not memory. Requires: the caller holds the lock. */
static hp_atom enter_name(hp_atoms *atoms, const char *bytes, size_t length, uint64_t hash, hpar_status *status) {
  if (atoms->closed || (atoms->count * 2 >= atoms->slot_count && !grow_table(atoms))) return 0;
  uint64_t slot = hash;
  for (;; slot++) {
    hp_atom atom = atoms->slots[slot & (atoms->slot_count - 1)];
    if (!atom) break;
    if (has_bytes(atoms, atom, bytes, length)) return atom;
  }
  uint32_t block = 31 - (uint32_t)__builtin_clz(atoms->count / 64 + 1);
  if (!atoms->blocks[block] && !(atoms->blocks[block] = hp_allocate(((size_t)64 << block) * sizeof(hp_name)))) return 0;
  const char *copy = copy_of(atoms, bytes, length, status);
  if (!copy) return 0;
  *slot_of(atoms, atoms->count) = (hp_name){copy, (uint32_t)length};
  hp_atom atom = HP_KNOWN_ATOMS + atoms->count++;
  atoms->slots[slot & (atoms->slot_count - 1)] = atom;
  return atom;
}

void hp_interner_open(hp_interner *interner, hp_atoms *atoms, hp_unwind *unwind) {
  interner->atoms = atoms;
  interner->unwind = unwind;
  if (interner->generation == atoms->generation) return;
  interner->generation = atoms->generation;
  if (interner->used) memset(interner->slots, 0, interner->slot_count * sizeof *interner->slots);
  interner->used = 0;
}

void hp_interner_close(hp_interner *interner) {
  hp_free(interner->slots);
  interner->slots = NULL;
  interner->slot_count = interner->used = 0;
  interner->generation = 0;
}

static void grow_cache(hp_interner *interner) {
  uint32_t slot_count = interner->slot_count ? interner->slot_count * 2 : 128;
  struct hp_interned *slots = hp_allocate_zeroed(slot_count * sizeof *slots);
  if (!slots) hp_unwind_now(interner->unwind, HPAR_ERROR_MEMORY);
  for (uint32_t i = 0; i < interner->slot_count; i++) {
    if (!interner->slots[i].atom) continue;
    uint64_t slot = interner->slots[i].key;
    while (slots[slot & (slot_count - 1)].atom) slot++;
    slots[slot & (slot_count - 1)] = interner->slots[i];
  }
  hp_free(interner->slots);
  interner->slots = slots;
  interner->slot_count = slot_count;
}

hp_atom hp_intern_unknown(hp_interner *interner, const char *bytes, size_t length, hp_name_key key) {
  if (interner->used * 2 >= interner->slot_count) grow_cache(interner);
  uint64_t hash = hash_of(bytes, length, key), slot = hash;
  struct hp_interned *entry;
  for (;; slot++) {
    entry = &interner->slots[slot & (interner->slot_count - 1)];
    if (!entry->atom) break;
    if (entry->key == hash && has_bytes(interner->atoms, entry->atom, bytes, length)) return entry->atom;
  }
  pthread_mutex_lock(&interner->atoms->lock);
  hpar_status status = HPAR_ERROR_MEMORY;
  hp_atom atom = enter_name(interner->atoms, bytes, length, hash, &status);
  pthread_mutex_unlock(&interner->atoms->lock);
  if (!atom) hp_unwind_now(interner->unwind, status);
  entry->key = hash;
  entry->atom = atom;
  interner->used++;
  return atom;
}
