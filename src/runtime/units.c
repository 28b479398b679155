#include "runtime/units.h"

#include "base/target.h"

#include <sched.h>

#if HPAR_TEST_HOOKS
static void (*_Atomic unit_hook)(void);
void hp_unit_set_hook(void (*hook)(void)) { atomic_store(&unit_hook, hook); }
void hp_unit_call_hook(void) {
  void (*hook)(void) = atomic_load(&unit_hook);
  if (hook) hook();
}
#endif

/*** one unit ***/

/* A unit that was used before is claimed after the last use of its memory: acquire. */
bool hp_unit_claim(hp_unit_state *unit) {
  uint32_t state = HP_UNIT_FREE;
  if (atomic_load_explicit(unit, memory_order_relaxed) != HP_UNIT_FREE ||
      !atomic_compare_exchange_strong_explicit(unit, &state, HP_UNIT_CLAIMED, memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  hp_unit_call_hook();
  return true;
}

/* The exchange is sequentially consistent: see consume_next. */
bool hp_unit_publish(hp_unit_state *unit) {
  uint32_t state = atomic_load_explicit(unit, memory_order_relaxed);
  return state < HP_UNIT_GIVEN_UP && atomic_compare_exchange_strong(unit, &state, HP_UNIT_PUBLISHED);
}

void hp_unit_pause(hp_spin *spin) {
#if HPAR_PARALLEL
  enum { PATIENCE_NS = 20000 };
  if (!hp_spin_on(spin, PATIENCE_NS)) sched_yield();
#else
  (void)spin;
#endif
}

bool hp_unit_give_up(hp_unit_state *unit) {
  hp_spin spin = {0};
  uint32_t state = atomic_load_explicit(unit, memory_order_acquire);
  while (state < HP_UNIT_GIVEN_UP) {
    if (state == HP_UNIT_WRITING) {
      hp_unit_pause(&spin);
      state = atomic_load_explicit(unit, memory_order_acquire);
    } else if (atomic_compare_exchange_weak_explicit(unit, &state, HP_UNIT_GIVEN_UP, memory_order_acq_rel,
                                                     memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

bool hp_unit_hold(hp_unit_state *unit, unsigned thread) {
  uint32_t state = HP_UNIT_PUBLISHED;
  return hp_unit_is_published(unit) &&
         atomic_compare_exchange_strong_explicit(unit, &state, HP_UNIT_HELD + thread, memory_order_acquire,
                                                 memory_order_relaxed);
}

/*** a queue ***/

/* Claims a unit after those that the thread has looked at: `*seen`. */
static bool claim_next(hp_unit_queue *q, unsigned thread, size_t *seen, size_t *unit) {
  hp_turn();
  const hp_unit_plan *p = &q->plan;
  if (p->client->claim) return p->client->claim(p->job, thread, unit);
  for (;;) {
    const size_t place = p->by_part ? (*seen)++ : atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed);
    if (place >= p->count) return false;
    *unit = p->by_part ? (p->count * thread / q->threads + place) % p->count : p->order ? p->order[place] : place;
    if (!p->states) hp_unit_call_hook();
    if (!p->states || hp_unit_claim(&p->states[*unit])) return true;
  }
}

bool hp_unit_queue_join(hp_unit_queue *q, size_t *unit) {
  size_t next = *unit + 1;
  hp_turn();
  if (next >= q->plan.count ||
      !atomic_compare_exchange_strong_explicit(&q->next, &next, next + 1, memory_order_relaxed, memory_order_relaxed))
    return false;
  ++*unit;
  return true;
}

void hp_unit_queue_cancel(hp_unit_queue *q) { atomic_store_explicit(&q->next, q->plan.count, memory_order_relaxed); }

/* Returns whether the next unit to admit is published. */
static bool has_next(const hp_unit_queue *q) {
  const size_t unit = atomic_load(&q->admitted);
  return unit < q->plan.count && atomic_load(&q->plan.states[unit]) == HP_UNIT_PUBLISHED;
}

/* Step `admit`. Requires: the thread has set `admits`. */
static hp_admission admit_next(hp_unit_queue *q, size_t *unit) {
  *unit = atomic_load_explicit(&q->admitted, memory_order_relaxed);
  while (q->consumed < *unit &&
         atomic_load_explicit(&q->plan.states[q->consumed], memory_order_acquire) == HP_UNIT_CONSUMED)
    q->consumed++;
  const hp_admission admission = q->plan.client->admit(q->plan.job, *unit, q->consumed);
  if (admission != HP_ADMIT_LATER) atomic_store(&q->admitted, admission == HP_ADMIT_NOW ? *unit + 1 : q->plan.count);
  return admission;
}

/* Consumes the next unit, if it is published and admitted. Returns whether it did.
 *
 * Two threads must not leave a unit to each other. The one that publishes it looks for `admits`
 * afterwards, and the one that admits looks for units after it has cleared `admits`. Both changes
 * and both looks are sequentially consistent, so one of the two sees the other. */
static bool consume_next(hp_unit_queue *q) {
  while (has_next(q)) {
    size_t unit;
    hp_turn();
    if (atomic_exchange(&q->admits, 1)) return false;
    const bool is_next = has_next(q); /* another thread may have admitted it meanwhile */
    const hp_admission admission = is_next ? admit_next(q, &unit) : HP_ADMIT_LATER;
    if (admission == HP_ADMIT_NOW) atomic_fetch_add_explicit(&q->consuming, 1, memory_order_relaxed);
    atomic_store(&q->admits, 0);
    if (is_next && admission != HP_ADMIT_NOW) return false;
    if (!is_next) continue;
    if (q->plan.client->consume) q->plan.client->consume(q->plan.job, unit);
    hp_turn();
    atomic_store_explicit(&q->plan.states[unit], HP_UNIT_CONSUMED, memory_order_release);
    atomic_fetch_sub_explicit(&q->consuming, 1, memory_order_release);
    if (q->plan.steps) hp_note_step(&q->plan.steps[unit]);
    return true;
  }
  return false;
}

void hp_unit_queue_stop_consuming(hp_unit_queue *q) {
  hp_spin spin = {0};
  while (atomic_exchange(&q->admits, 1)) hp_unit_pause(&spin);
  while (atomic_load_explicit(&q->consuming, memory_order_acquire)) hp_unit_pause(&spin);
}

/* Consumes what is left. Gives up if nothing happens for a while. */
#if HPAR_PARALLEL
static void consume_rest(hp_unit_queue *q) {
  hp_spin spin = {0};
  while (atomic_load_explicit(&q->admitted, memory_order_relaxed) < q->plan.count) {
    if (consume_next(q))
      spin = (hp_spin){0};
    else if (!q->plan.patience_ns || !hp_spin_on(&spin, q->plan.patience_ns))
      return;
  }
}
#else
static void consume_rest(hp_unit_queue *q) {
  while (consume_next(q)) continue;
}
#endif

static void run_units(void *context, unsigned thread) {
  hp_unit_queue *q = context;
  const bool consumes = q->plan.client->admit && thread < q->plan.consumers;
  size_t seen = 0, unit;
  if (!thread && q->plan.client->lead) q->plan.client->lead(q->plan.job);
  for (;;) {
    while (consumes && consume_next(q)) continue;
    if (!claim_next(q, thread, &seen, &unit)) break;
    hp_unit_steps *steps = q->plan.steps ? &q->plan.steps[unit] : NULL;
    if (steps) steps->unit = thread && q->may_leave ? &q->plan.states[unit] : NULL;
    q->plan.client->run(q->plan.job, unit, thread, steps);
    hp_turn();
    if (q->plan.states) hp_unit_publish(&q->plan.states[unit]);
  }
  if (q->plan.client->admit) consume_rest(q);
}

#if HPAR_PARALLEL
static uint64_t all_steps(const hp_unit_queue *q) {
  uint64_t sum = 0;
  for (size_t i = 0; q->plan.steps && i < q->plan.count; i++)
    sum += atomic_load_explicit(&q->plan.steps[i].count, memory_order_relaxed);
  return sum;
}

/* Waits for the threads of the closed batch. Returns false if one is a straggler: no unit has made
 * progress for a while. */
static bool await_threads(hp_unit_queue *q, const hp_pool *pool, uint64_t patience_ns) {
  uint64_t steps;
  do {
    steps = all_steps(q);
    hp_spin spin = {0};
    do {
      if (q->plan.client->admit) consume_next(q);
      if (hp_pool_is_idle(pool)) return true;
    } while (hp_spin_on(&spin, patience_ns));
  } while (all_steps(q) != steps);
  return false;
}

/* If the client leads, its calling thread needs none of the others when it returns. */
static bool run_and_leave(hp_unit_queue *q, hp_crew *crew, const hp_executor *executor) {
  enum { PATIENCE_NS = 150000, SHORT_NS = 30000 };
  hp_crew_start(crew, executor->bind, q->threads, run_units, q);
  run_units(q, 0);
  if (!hp_crew_can_leave(crew)) {
    hp_crew_end(crew);
    return true;
  }
  const unsigned entered = hp_pool_close(hp_crew_pool(crew));
  if (await_threads(q, hp_crew_pool(crew), q->plan.client->lead ? SHORT_NS : PATIENCE_NS)) return true;
  hp_crew_leave(crew, entered, q->plan.client->drop, q->plan.job);
  return false;
}
#endif

bool hp_unit_queue_run(hp_unit_queue *q, const hp_unit_plan *plan, hp_crew *crew, const hp_executor *executor,
                       unsigned threads, bool may_leave) {
  *q = (hp_unit_queue){.plan = *plan, .threads = threads, .may_leave = may_leave};
#if HPAR_PARALLEL
  if (may_leave && threads > 1 && executor->kind == HPAR_EXECUTOR_THREADS) return run_and_leave(q, crew, executor);
#endif
  q->may_leave = false;
  hp_crew_run(crew, executor, threads, run_units, q);
  return true;
}
