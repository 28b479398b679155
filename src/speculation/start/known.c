#include "speculation/start/known.h"

#include "base/turn.h"

static void clear_bits(_Atomic uint64_t *bits, size_t count) {
  for (size_t i = 0; i < count / 64; i++) atomic_store_explicit(&bits[i], 0, memory_order_relaxed);
}

void hp_known_begin(hp_known_states *known) {
  if (!known->has_lock) pthread_mutex_init(&known->lock, NULL);
  known->has_lock = true;
  known->long_text = (hp_known_state){0};
  known->scanned_bytes = 0;
  atomic_store_explicit(&known->count, 0, memory_order_relaxed);
  clear_bits(known->has_no_opener, HP_OPENER_BLOCKS);
  clear_bits(known->has_no_comment, HP_COMMENT_BLOCKS);
}

void hp_known_close(hp_known_states *known) {
  if (known->has_lock) pthread_mutex_destroy(&known->lock);
}

/* Uses the result if it is known at least as near to the cut as the one that is in use. */
static void use_state(const hp_known_state *found, uint32_t cut, hp_used_state *used) {
  uint32_t to = found->to < cut ? found->to : cut;
  if (found->from >= cut || !to || to < used->to) return;
  used->to = to;
  used->state = found->state;
}

void hp_known_read(hp_known_states *known, uint32_t cut, hp_used_state *used) {
  hp_turn();
  if (atomic_load_explicit(&known->count, memory_order_relaxed) == used->seen) return;
  pthread_mutex_lock(&known->lock);
  uint32_t count = atomic_load_explicit(&known->count, memory_order_relaxed);
  uint32_t i = count - used->seen > HP_KNOWN_STATES ? count - HP_KNOWN_STATES : used->seen;
  for (; i < count; i++) use_state(&known->found[i % HP_KNOWN_STATES], cut, used);
  pthread_mutex_unlock(&known->lock);
  used->seen = count;
}

bool hp_known_read_long_text(hp_known_states *known, uint32_t cut, hp_used_state *used, uint64_t *scanned_bytes) {
  pthread_mutex_lock(&known->lock);
  use_state(&known->long_text, cut, used);
  bool has_long_text = known->long_text.to;
  *scanned_bytes = known->scanned_bytes;
  pthread_mutex_unlock(&known->lock);
  return has_long_text;
}

void hp_known_add(hp_known_states *known, const hp_known_state *found, bool is_long_text, size_t scanned_bytes) {
  pthread_mutex_lock(&known->lock);
  known->scanned_bytes += scanned_bytes;
  if (found->to) {
    uint32_t count = atomic_load_explicit(&known->count, memory_order_relaxed);
    known->found[count % HP_KNOWN_STATES] = *found;
    atomic_store_explicit(&known->count, count + 1, memory_order_relaxed);
    if (is_long_text) known->long_text = *found;
  }
  pthread_mutex_unlock(&known->lock);
}
