#include "speculation/worker/progress.h"

#if HPAR_TEST_HOOKS
static uint32_t (*_Atomic progress_hook)(uint32_t at);

void hp_worker_hook_progress(uint32_t (*hook)(uint32_t at)) { atomic_store(&progress_hook, hook); }

void hp_worker_call_progress_hook(uint32_t at) {
  uint32_t (*hook)(uint32_t) = atomic_load(&progress_hook);
  if (hook) hook(at);
}

static uint32_t next_offset(uint32_t at) {
  uint32_t (*hook)(uint32_t) = atomic_load(&progress_hook);
  return hook ? hook(at) : at + HP_PROGRESS_BYTES;
}
#else
static uint32_t next_offset(uint32_t at) { return at + HP_PROGRESS_BYTES; }
#endif

uint32_t hp_worker_note_progress(hp_worker *w, uint32_t at) {
  atomic_store_explicit(&w->progress, at, memory_order_relaxed);
  uint32_t next = next_offset(at);
  if (w->cancelled && atomic_load_explicit(w->cancelled, memory_order_relaxed))
    hp_unwind_now(&w->engine.unwind, HP_CANCELLED);
  return next;
}
