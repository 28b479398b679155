#include "dom/value.h"

#include "base/bytes.h"
#include "base/process.h"
#include "text/references/references.h"

#include <sched.h>
#include <time.h>

/*** the lock ***/

/* A value needs a microsecond or less, so a waiting thread first yields. Then it sleeps, because a
 * thread of a lower priority may hold the lock. */
static void wait_for_lock(unsigned round) {
  enum { YIELDS = 64, NAP_NS = 50000 };
  if (round < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Undoes the work of a thread that a fork has left in the parent process. */
static void undo_decoding(hp_value_lock *lock, hp_range *range) {
  hp_attributes *block = atomic_load_explicit(&lock->block, memory_order_acquire);
  if (!block || !hp_is_deferred(block, lock->index)) return;
  block->items[lock->index] = lock->item;
  atomic_store_explicit(&range->spare, lock->spare, memory_order_relaxed);
}

/* Saves the state before the lock's thread changes it. The stores of the change have release order,
 * so that a fork never copies a change without the saved state. */
static void begin_change(hp_value_lock *lock, hp_attributes *block, uint32_t index, size_t spare) {
  lock->index = index;
  lock->item = block->items[index];
  lock->spare = spare;
  atomic_store_explicit(&lock->block, block, memory_order_release);
}

static void lock_values(hpar_document *document) {
  hp_value_lock *lock = &document->values;
  unsigned own = hp_fork_generation() + 1, holder = 0;
  for (unsigned round = 0;
       !atomic_compare_exchange_weak_explicit(&lock->holder, &holder, own, memory_order_acquire, memory_order_relaxed);
       holder = 0) {
    if (holder && holder != own &&
        atomic_compare_exchange_strong_explicit(&lock->holder, &holder, own, memory_order_acquire,
                                                memory_order_relaxed)) {
      undo_decoding(lock, &document->range);
      return;
    }
    if (holder == own) wait_for_lock(round++);
  }
}

static void unlock_values(hpar_document *document) {
  atomic_store_explicit(&document->values.block, NULL, memory_order_release);
  atomic_store_explicit(&document->values.holder, 0, memory_order_release);
}

/*** decoding ***/

static void decode_item(hpar_document *document, hp_attributes *block, uint32_t index) {
  hp_attribute *item = &block->items[index];
  hp_range *range = &document->range;
  const char *end = item->value + item->length;
  const char *first = hp_find_value_reference(item->value, end, end);
  if (first == end) return;
  size_t spare = atomic_load_explicit(&range->spare, memory_order_relaxed);
  begin_change(&document->values, block, index, spare);
  char *bytes = range->base + spare, *stop = hp_decode_value_text(bytes, item->value, first, end, end);
  atomic_store_explicit(&range->spare, spare + (size_t)(stop - bytes), memory_order_release);
  __atomic_store_n(&item->value, bytes, __ATOMIC_RELEASE);
  __atomic_store_n(&item->length, (uint32_t)(stop - bytes), __ATOMIC_RELEASE);
}

hpar_string hp_decode_value(const hpar_document *document, const hp_attributes *block, uint32_t index) {
  hpar_document *owner = (hpar_document *)(uintptr_t)document;
  hp_attributes *own = (hp_attributes *)(uintptr_t)block;
  lock_values(owner);
  if (hp_is_deferred(block, index)) {
    decode_item(owner, own, index);
    atomic_fetch_and_explicit(&own->deferred, ~(UINT32_C(1) << index), memory_order_release);
  }
  unlock_values(owner);
  return (hpar_string){block->items[index].value, block->items[index].length};
}

hpar_string hp_read_value(const hp_attributes *block, uint32_t index, hp_arena *bytes) {
  const hp_attribute *item = &block->items[index];
  const char *end = item->value + item->length;
  const char *first = hp_is_deferred(block, index) ? hp_find_value_reference(item->value, end, end) : end;
  if (first == end) return (hpar_string){item->value, item->length};
  char *to = hp_arena_take(bytes, hp_decoded_bound(item->length) + HP_DECODING_SLACK);
  return (hpar_string){to, (size_t)(hp_decode_value_text(to, item->value, first, end, end) - to)};
}

/*** comparison ***/

hp_value_reader hp_value_reader_of(const hp_attributes *block, uint32_t index) {
  const hp_attribute *item = &block->items[index];
  return (hp_value_reader){
      .at = item->value, .end = item->value + item->length, .is_deferred = hp_is_deferred(block, index)};
}

int hp_next_value_byte(hp_value_reader *r) {
  if (r->used < r->length) return (unsigned char)r->bytes[r->used++];
  if (r->at == r->end) return -1;
  if (*r->at == '&' && r->is_deferred) {
    hp_reference reference = hp_read_reference(r->at, r->end, true, r->at, NULL);
    if (reference.length) {
      memcpy(r->bytes, reference.bytes, sizeof reference.bytes);
      r->length = reference.length;
      r->used = 1;
      r->at = reference.end;
      return (unsigned char)r->bytes[0];
    }
  }
  return (unsigned char)*r->at++;
}

bool hp_values_equal(const hp_attributes *left, uint32_t i, const hp_attributes *right, uint32_t j) {
  const hp_attribute *l = &left->items[i], *r = &right->items[j];
  bool deferred = hp_is_deferred(left, i);
  if (deferred == hp_is_deferred(right, j)) {
    if (l->length == r->length && !memcmp(l->value, r->value, l->length)) return true;
    if (!deferred) return false;
  }
  hp_value_reader from = hp_value_reader_of(left, i), to = hp_value_reader_of(right, j);
  int byte;
  do {
    byte = hp_next_value_byte(&from);
    if (byte != hp_next_value_byte(&to)) return false;
  } while (byte >= 0);
  return true;
}

//§ concept-select-size
bool hp_display_size_is_one(const char *size, size_t length) {
  const char *at = size, *end = size + length;
  while (at < end && hp_ascii_is_white(*at)) at++;
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (at == end || !hp_ascii_is_digit(*at)) return true;
  while (at < end && *at == '0') at++;
  if (at == end || !hp_ascii_is_digit(*at)) return false;
  return negative || (*at == '1' && (at + 1 == end || !hp_ascii_is_digit(at[1])));
}
