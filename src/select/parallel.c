/* Selection by several threads. The calling thread matches and reports from the beginning of the
 * tree on, as a selection on one thread does. Meanwhile, another thread divides the tree into
 * ranges. Then the others match ranges ahead of the calling thread, which reports their matches
 * when it gets there. It matches the range of a late thread itself, and waits for nothing else. */

#include "base/call.h"
#include "base/memory.h"
#include "base/process.h"
#include "runtime/units.h"
#include "select/match.h"
#include "select/program.h"

#include <string.h>

enum {
  MOST_RANGES = 1024,
  SAMPLES_PER_RANGE = 4,       /* where a thread notes a step */
  MOST_STEP = 128 << 10,       /* bytes, so that a step takes less than 150 us */
  MIN_BYTES = 1 << 20,         /* of a tree, with the caller's threads */
  MIN_STARTED_BYTES = 6 << 20, /* with threads that the call starts, which takes about 50 us */
  MOST_DEPTH = 256,            /* of frames that are kept where a range begins */
  UNITS_PER_STEP = 8,          /* about two nodes: see may_begin */
  MOST_LATE = 4,               /* earlier selections with late threads */
  PATIENCE_NS = 150000
};

typedef struct match {
  hp_ref element;
  uint32_t selector;
} match;

/* A part of the tree from one sample to a later one. */
typedef struct range {
  hp_walk begin; /* of the walk; without frames: they are not kept */
  match *matches;
  uint32_t count, capacity;
  hpar_status status;
} range;

/* The state of one thread, which goes on from one range to the next. */
typedef struct walker {
  hp_matcher matcher; /* without a set: it is not open */
  hp_walk walk;
  uint32_t at;     /* the range that the walk has come to, + 1; 0: none */
  uint64_t budget; /* of steps to ranges without frames */
  char padding[HP_CACHE_LINE];
} walker;

typedef enum division { UNDIVIDED = 0, DIVIDED, ABANDONED } division;

#define NO_FRONT UINT32_MAX

/* A late thread keeps the job, which is therefore independent of the call. */
typedef struct job {
  hpar_selectors set; /* a copy */
  const hpar_document *document;
  hp_ref top;
  hpar_string language; /* the default of the document */
  hp_checked checked;
  uint64_t extent, distance; /* of the tree, and of two samples, in units of references */
  walker *walkers;           /* by thread; the last one goes through the ranges in order */
  unsigned threads;
  struct {
    hp_ref *at;
    uint32_t count;
    uint32_t *numbers; /* a hash table: numbers of samples + 1; `mask` + 1 entries */
    uint32_t mask;
  } samples;
  range *ranges;
  uint32_t most_ranges, range_count; /* in memory, of the divided tree */
  hp_unit_state *states;             /* of ranges */
  hp_unit_steps *steps;
  hp_unit_queue queue;
  bool is_callers; /* the caller's threads: none of them reports */
  bool may_leave;  /* the call does not wait for a late thread */
  struct {
    hpar_match_callback callback;
    void *context;
    hpar_status status; /* of the callback, or HPAR_ERROR_MEMORY */
    uint32_t next;      /* the range to match or report */
  } report;             /* of the calling thread */
  char padding[HP_CACHE_LINE];
  _Atomic uint32_t division;
  _Atomic uint32_t front; /* the first range that other threads may claim; NO_FRONT: not known */
  _Atomic bool is_cancelled;
} job;

/*** division ***/

/* Returns whether the coarse walk skips the subtree. The order of nodes in memory is about that of
 * the document, so the references of a node and of its next sibling give the size of its subtree. A
 * wrong estimate costs balance only. */
static bool is_small(const job *j, hp_ref ref, const hp_node *node) {
  return node->next > ref && node->next - ref <= j->distance;
}

/* Returns the node after `ref` in the coarse walk of the tree, or 0. `w`, which is not NULL if the
 * walk keeps frames, comes to the same place. */
static hp_ref coarse_next(const job *j, hp_ref ref, hp_walk *w, hpar_status *status) {
  const char *base = j->document->range.base;
  const hp_node *node = hp_node_at(base, ref);
  if (node->kind == HPAR_NODE_ELEMENT) {
    if (node->first && !is_small(j, ref, node)) {
      if (w) *status = hp_walk_go_below(w, ref);
      return node->first;
    }
    if (w) *status = hp_walk_skip(w, ref);
  }
  while (!node->next) {
    if ((ref = hp_parent_of(base, node)) == j->top) return 0;
    if (w) hp_walk_go_above(w);
    node = hp_node_at(base, ref);
  }
  return node->next;
}

/* Returns the first element of the tree: the first sample. */
static hp_ref first_sample(const job *j) {
  const char *base = j->document->range.base;
  return hp_element_from(base, hp_node_at(base, j->top)->first);
}

/* Returns the sample after another one, or 0: an element of the coarse walk at some distance. */
static hp_ref next_sample(const job *j, hp_ref ref, hp_walk *w, hpar_status *status) {
  const char *base = j->document->range.base;
  uint64_t since = 0;
  for (hp_ref last = ref; !*status && (ref = coarse_next(j, ref, w, status)); last = ref) {
    since += ref > last ? ref - last : 1;
    if (since >= j->distance && hp_node_at(base, ref)->kind == HPAR_NODE_ELEMENT) return ref;
  }
  return 0;
}

static bool is_cancelled(const job *j) { return atomic_load_explicit(&j->is_cancelled, memory_order_relaxed); }

static bool open_matcher(job *j, hp_matcher *m) {
  if (m->set) return true;
  if (hp_matcher_open(m, &j->set, j->document, j->top)) {
    hp_matcher_close(m);
    *m = (hp_matcher){0};
    return false;
  }
  m->language = j->language;
  if (j->checked.slots) m->checked = &j->checked;
  return true;
}

/* Keeps the frames where a range begins. Tests of types have numbers elsewhere. */
static void keep_frames(const job *j, range *r, const hp_walk *w) {
  hp_walk_open(&r->begin, w->matcher);
  if (!j->set.counts_types && w->depth <= MOST_DEPTH) hp_walk_copy(&r->begin, w);
}

/* Takes samples of the whole tree. Returns whether all are there. */
static bool take_samples(job *j, walker *w) {
  hpar_status status = HPAR_OK;
  if (!open_matcher(j, &w->matcher)) return false;
  hp_walk_open(&w->walk, &w->matcher);
  if (hp_walk_enter(&w->walk, j->top)) return false;
  uint32_t count = 0;
  for (hp_ref ref = first_sample(j); ref; ref = next_sample(j, ref, &w->walk, &status)) {
    if (count == j->most_ranges * SAMPLES_PER_RANGE) break;
    if (count % SAMPLES_PER_RANGE == 0) keep_frames(j, &j->ranges[count / SAMPLES_PER_RANGE], &w->walk);
    j->samples.at[count++] = ref;
    hp_unit_call_hook();
    if (is_cancelled(j)) return false;
  }
  j->samples.count = count;
  j->range_count = (count + SAMPLES_PER_RANGE - 1) / SAMPLES_PER_RANGE;
  return !status;
}

static uint32_t slot_of(const job *j, hp_ref sample) { return sample * UINT32_C(0x9E3779B1) >> 16 & j->samples.mask; }

/* Makes the hash table of samples. */
static bool number_samples(job *j) {
  uint32_t slots = 1;
  while (slots < 2 * j->samples.count) slots *= 2;
  if (!(j->samples.numbers = hp_allocate_zeroed(slots * sizeof *j->samples.numbers))) return false;
  j->samples.mask = slots - 1;
  for (uint32_t i = 0; i < j->samples.count; i++) {
    uint32_t slot = slot_of(j, j->samples.at[i]);
    while (j->samples.numbers[slot]) slot = (slot + 1) & j->samples.mask;
    j->samples.numbers[slot] = i + 1;
  }
  return true;
}

/* Returns the number of the sample + 1; 0: the element is none. */
static uint32_t number_of(const job *j, hp_ref element) {
  for (uint32_t slot = slot_of(j, element), number; (number = j->samples.numbers[slot]);
       slot = (slot + 1) & j->samples.mask)
    if (j->samples.at[number - 1] == element) return number;
  return 0;
}

/* Returns the first range that does not begin before the element. */
static uint32_t range_from(const job *j, hp_ref element) {
  const char *base = j->document->range.base;
  hpar_status status = HPAR_OK;
  hp_ref small = 0; /* the outermost subtree around the element that the coarse walk skips */
  for (hp_ref ref = hp_parent_of(base, hp_node_at(base, element)); ref != j->top;
       ref = hp_parent_of(base, hp_node_at(base, ref)))
    if (is_small(j, ref, hp_node_at(base, ref))) small = ref;
  hp_ref ref = small ? coarse_next(j, small, NULL, &status) : element;
  uint32_t number = 0;
  while (ref && !(number = number_of(j, ref))) ref = coarse_next(j, ref, NULL, &status);
  return number ? (number - 1 + SAMPLES_PER_RANGE - 1) / SAMPLES_PER_RANGE : j->range_count;
}

static void divide(job *j, walker *w) {
  const bool is_divided = take_samples(j, w) && number_samples(j);
  hp_matcher_forget_types(&w->matcher);
  atomic_store_explicit(&j->division, is_divided ? DIVIDED : ABANDONED, memory_order_release);
}

static division division_of(const job *j) { return atomic_load_explicit(&j->division, memory_order_acquire); }
static uint32_t front_of(const job *j) { return atomic_load_explicit(&j->front, memory_order_relaxed); }

/* Returns a sample of the divided tree, or 0 after the last one. */
static hp_ref sample_at(const job *j, uint32_t number) { return number < j->samples.count ? j->samples.at[number] : 0; }

static void free_job(void *context) {
  job *j = context;
  for (uint32_t i = 0; j->ranges && i < j->most_ranges; i++) {
    hp_walk_close(&j->ranges[i].begin);
    hp_free(j->ranges[i].matches);
  }
  for (unsigned i = 0; j->walkers && i <= j->threads; i++) {
    hp_walk_close(&j->walkers[i].walk);
    hp_matcher_close(&j->walkers[i].matcher);
  }
  hp_free(j->ranges);
  hp_free(j->samples.at);
  hp_free(j->samples.numbers);
  hp_free(j->states);
  hp_free(j->steps);
  hp_free(j->walkers);
  hp_checked_close(&j->checked);
  hp_selectors_close(&j->set);
  hp_free(j);
}

/*** matches ***/

/* Receives the matches of a walk: the caller's callback, or a range. */
typedef struct sink {
  const hp_matcher *matcher;
  hpar_match_callback callback;
  void *context;
  hpar_status status;
} sink;

static bool visit(void *context, const hp_subject *subject, bool accepts) {
  sink *s = context;
  if (accepts) s->status = hp_report_matches(s->matcher, subject->ref, s->callback, s->context);
  return s->status == HPAR_OK;
}

static hpar_status keep_match(hpar_node element, uint32_t selector, void *context) {
  range *r = context;
  if (!hp_reserve(&r->matches, &r->capacity, (size_t)r->count + 1, sizeof *r->matches)) return HPAR_ERROR_MEMORY;
  r->matches[r->count++] = (match){element, selector};
  return HPAR_OK;
}

static walker *walker_in_order(const job *j) { return &j->walkers[j->threads]; }

/* Returns how many nodes a walk that begins at `ref` without frames steps over, or `most`. */
static uint64_t steps_to(const job *j, hp_ref ref, uint64_t most) {
  const char *base = j->document->range.base;
  uint64_t steps = 0;
  for (; ref && steps < most; steps++) {
    const hp_node *node = hp_node_at(base, ref);
    ref = j->set.looks_at_siblings && node->previous ? node->previous : hp_parent_of(base, node);
  }
  return steps;
}

/* Returns whether the walk may begin at a range. Each thread steps over fewer nodes before its
 * ranges than it matches, beside a share of the tree. So all take linear time, whatever the shape
 * of the tree is. */
static bool may_begin(const job *j, walker *w, uint32_t range) {
  if (w->at == range + 1 || j->ranges[range].begin.frames) return true;
  w->budget -= steps_to(j, sample_at(j, range * SAMPLES_PER_RANGE), w->budget);
  return w->budget > 0;
}

#if HPAR_TEST_HOOKS
static _Atomic uint64_t begin_steps;
uint64_t hp_begin_steps(void) { return begin_steps; }
static void count_steps(const job *j, hp_ref to) { begin_steps += steps_to(j, to, UINT64_MAX); }
#else
static void count_steps(const job *j, hp_ref to) { (void)j, (void)to; }
#endif

/* Lets the walk begin at a range. */
static hpar_status begin_walk(const job *j, walker *w, uint32_t range) {
  hp_walk_close(&w->walk);
  hp_matcher_forget_types(&w->matcher);
  hp_walk_open(&w->walk, &w->matcher);
  const hp_walk *begin = &j->ranges[range].begin;
  if (begin->frames) return hp_walk_copy(&w->walk, begin) ? HPAR_OK : HPAR_ERROR_MEMORY;
  count_steps(j, sample_at(j, range * SAMPLES_PER_RANGE));
  return hp_walk_start(&w->walk, j->top, sample_at(j, range * SAMPLES_PER_RANGE));
}

static bool pass(void *context, const hp_subject *subject, bool accepts) {
  (void)context, (void)subject, (void)accepts;
  return true;
}

/* Lets the walk come to a range. The walk in order may go on from its last one, past the ranges of
 * other threads. */
static hpar_status go_to(const job *j, walker *w, uint32_t range) {
  if (w->at == range + 1) return HPAR_OK;
  if (w != walker_in_order(j) || !w->at || may_begin(j, w, range)) return begin_walk(j, w, range);
  return hp_walk_on(&w->walk, j->top, sample_at(j, (w->at - 1) * SAMPLES_PER_RANGE),
                    sample_at(j, range * SAMPLES_PER_RANGE), pass, NULL);
}

/* Matches a range in steps from one sample to the next. */
static void match_range(job *j, uint32_t range, walker *w, sink *s, hp_unit_steps *steps) {
  uint32_t sample = range * SAMPLES_PER_RANGE;
  s->matcher = &w->matcher;
  s->status = open_matcher(j, &w->matcher) ? HPAR_OK : HPAR_ERROR_MEMORY;
  if (!s->status) s->status = go_to(j, w, range);
  for (unsigned i = 0; i < SAMPLES_PER_RANGE && sample_at(j, sample) && !s->status; i++, sample++) {
    hp_note_step(steps);
    const hpar_status status = hp_walk_on(&w->walk, j->top, sample_at(j, sample), sample_at(j, sample + 1), visit, s);
    if (status) s->status = status;
  }
  w->at = s->status ? 0 : range + 2;
  w->budget += j->distance * SAMPLES_PER_RANGE / UNITS_PER_STEP;
}

/* Matches a range ahead of the calling thread. */
static void run_range(void *context, size_t unit, unsigned thread, hp_unit_steps *steps) {
  job *j = context;
  range *r = &j->ranges[unit], own = {0}; /* another thread writes to the range beside it */
  sink s = {.callback = keep_match, .context = &own};
  match_range(j, (uint32_t)unit, &j->walkers[thread], &s, steps);
  r->matches = own.matches;
  r->count = own.count;
  r->status = s.status;
}

/* Claims a range ahead: the one that the walk has come to, or the middle of the longest row of free
 * ones, if the walk may begin there. */
static bool claim_ahead(job *j, walker *w, size_t *unit) {
  const uint32_t count = j->range_count, front = front_of(j);
  if (w->at && w->at - 1 < count && hp_unit_claim(&j->states[ *unit = w->at - 1])) return true;
  for (;;) {
    uint32_t first = 0, length = 0, begin = front;
    for (uint32_t i = front; i < count; i++) {
      if (atomic_load_explicit(&j->states[i], memory_order_relaxed) != HP_UNIT_FREE) begin = i + 1;
      if (i + 1 - begin > length) first = begin, length = i + 1 - begin;
    }
    if (!length || !may_begin(j, w, first + length / 2)) return false;
    if (hp_unit_claim(&j->states[ *unit = first + length / 2])) return true;
  }
}

/* Claims for the other threads, the first of which divides the tree. */
static bool claim_range(void *context, unsigned thread, size_t *unit) {
  job *j = context;
  if (!thread) return false;
  if (thread == 1 && division_of(j) == UNDIVIDED) divide(j, &j->walkers[1]);
  hp_spin spin = {0};
  while (front_of(j) == NO_FRONT && division_of(j) != ABANDONED && !is_cancelled(j)) hp_unit_pause(&spin);
  return division_of(j) == DIVIDED && !is_cancelled(j) && claim_ahead(j, &j->walkers[thread], unit);
}

/*** the calling thread ***/

/* Matches ranges ahead while another thread has the next one. Returns whether that is complete.
 * Gives it up if its thread is late. Sets `*waits` if the call has to wait for the thread. */
static bool await_range(job *j, uint32_t range, bool *waits) {
  hp_unit_state *state = &j->states[range];
  uint32_t seen = 0;
  uint64_t since = hp_now();
  hp_spin spin = {0};
  while (!hp_unit_is_complete(state)) {
    size_t unit;
    const bool helps = claim_ahead(j, &j->walkers[0], &unit);
    if (helps) {
      run_range(j, unit, 0, NULL);
      hp_unit_publish(&j->states[unit]);
    } else if (!j->may_leave) {
      *waits = true;
      return false;
    }
    const uint32_t steps = atomic_load_explicit(&j->steps[range].count, memory_order_relaxed);
    const uint64_t now = hp_now();
    if (steps != seen) {
      seen = steps;
      since = now;
    } else if (j->may_leave && now - since > PATIENCE_NS && hp_unit_give_up(state)) {
      return false;
    }
    if (!helps) hp_unit_pause(&spin);
  }
  return true;
}

static bool report_range(job *j, const range *r) {
  for (uint32_t i = 0; i < r->count && !j->report.status; i++)
    j->report.status = j->report.callback(r->matches[i].element, r->matches[i].selector, j->report.context);
  return !j->report.status;
}

/* Matches until the tree is divided, and then to the next range. */
static void match_undivided(job *j) {
  walker *w = walker_in_order(j);
  sink s = {.matcher = &w->matcher, .callback = j->report.callback, .context = j->report.context};
  hp_ref at = first_sample(j);
  s.status = open_matcher(j, &w->matcher) ? HPAR_OK : HPAR_ERROR_MEMORY;
  if (!s.status) hp_walk_open(&w->walk, &w->matcher);
  if (!s.status) s.status = hp_walk_enter(&w->walk, j->top);
  hpar_status status = s.status ? s.status : hp_walk_until(&w->walk, j->top, &at, &j->division, visit, &s);
  const bool is_divided = at && division_of(j) == DIVIDED;
  if (at && !status && !s.status) {
    hp_ref end = 0;
    if (is_divided) {
      j->report.next = range_from(j, at);
      atomic_store_explicit(&j->front, j->report.next, memory_order_relaxed);
      end = sample_at(j, j->report.next * SAMPLES_PER_RANGE);
    }
    if (at != end) status = hp_walk_on(&w->walk, j->top, at, end, visit, &s);
    w->at = j->report.next + 1;
  }
  j->report.status = status ? status : s.status;
  if (!is_divided || j->report.status) atomic_store_explicit(&j->is_cancelled, true, memory_order_relaxed);
}

/* Matches the next range on the calling thread: for its callback, or for a report after the run. */
static void match_next(job *j) {
  range *r = &j->ranges[j->report.next];
  sink s = {.callback = j->report.callback, .context = j->report.context};
  if (j->is_callers) s.callback = keep_match, s.context = r;
  match_range(j, j->report.next, walker_in_order(j), &s, NULL);
  j->report.status = s.status;
}

/* Goes through the ranges in order, until all are done, or the call has to wait for a thread. */
static void go_through(void *context) {
  job *j = context;
  if (front_of(j) == NO_FRONT && !is_cancelled(j)) match_undivided(j);
  while (!is_cancelled(j) && j->report.next < j->range_count && !j->report.status) {
    bool waits = false;
    if (hp_unit_claim(&j->states[j->report.next])) {
      match_next(j);
      hp_unit_publish(&j->states[j->report.next]);
    } else {
      const bool is_complete = await_range(j, j->report.next, &waits);
      if (waits) return;
      const range *r = &j->ranges[j->report.next];
      if (!is_complete || (r->status && !j->is_callers))
        match_next(j); /* its thread is late, or had no memory */
      else if (j->is_callers)
        j->report.status = r->status;
      else
        report_range(j, r);
    }
    j->report.next++;
  }
  atomic_store_explicit(&j->is_cancelled, true, memory_order_relaxed);
}

/*** the call ***/

static hpar_status open_job(job *j, const hpar_selectors *set, const hpar_document *document, hp_ref top) {
  j->document = document;
  j->top = top;
  hpar_status status = hp_selectors_copy(&j->set, set);
  if (status) return status;
  if (set->languages) j->language = hp_default_language(document);
  return hp_checked_open(&j->checked, &j->set, document, hp_root_of(document, top));
}

static bool make_ranges(job *j) {
  j->distance = hp_unit_length(j->extent, j->threads * SAMPLES_PER_RANGE, 1, MOST_STEP / sizeof(uint64_t));
  const uint64_t least = j->extent / (MOST_RANGES * SAMPLES_PER_RANGE) + 1, more = 8;
  if (j->distance < least) j->distance = least;
  const uint64_t count = j->extent / (j->distance * SAMPLES_PER_RANGE) + more;
  j->ranges = hp_allocate_zeroed(count * sizeof *j->ranges);
  j->samples.at = hp_allocate(count * SAMPLES_PER_RANGE * sizeof *j->samples.at);
  j->states = hp_allocate_zeroed(count * sizeof *j->states);
  j->steps = hp_allocate_zeroed(count * sizeof *j->steps);
  j->walkers = hp_allocate_zeroed((j->threads + 1) * sizeof *j->walkers);
  j->most_ranges = (uint32_t)count;
  for (unsigned i = 0; j->walkers && i <= j->threads; i++)
    j->walkers[i].budget = j->extent / (UNITS_PER_STEP * (uint64_t)j->threads);
  return j->ranges && j->samples.at && j->states && j->steps && j->walkers;
}

/* Matches all ranges. Threads that cannot be started leave their work to the others. Returns false
 * if there are late threads, which keep the job. */
static bool match_ranges(job *j, const hp_executor *executor, hp_crew *crew) {
  static const hp_unit_client client = {.run = run_range, .claim = claim_range, .drop = free_job, .lead = go_through};
  const hp_unit_plan plan = {
      .client = &client, .job = j, .count = j->most_ranges, .states = j->states, .steps = j->steps};
  atomic_store_explicit(&j->front, NO_FRONT, memory_order_relaxed);
  if (j->is_callers) {
    divide(j, &j->walkers[0]);
    if (division_of(j) != DIVIDED) j->report.status = HPAR_ERROR_MEMORY;
    atomic_store_explicit(&j->front, 0, memory_order_relaxed);
  }
  const bool is_done = hp_unit_queue_run(&j->queue, &plan, crew, executor, j->threads, j->may_leave);
  go_through(j); /* what the calling thread has waited for */
  for (uint32_t i = 0; j->is_callers && i < j->report.next && !j->report.status; i++) report_range(j, &j->ranges[i]);
  return is_done;
}

/* Matches, and reports. Frees the job and the crew, or leaves them to late threads. */
static hpar_status run_job(job *j, const hp_executor *executor, hp_crew *crew, hp_late_crews *late) {
  const unsigned threads = hp_crew_prepare(crew, executor, executor->threads);
  j->threads = threads ? threads : 1;
  j->is_callers = executor->kind == HPAR_EXECUTOR_CALLER;
  j->may_leave = !j->is_callers && hp_document_waits(j->document);
  if (!make_ranges(j)) j->report.status = HPAR_ERROR_MEMORY;
  const bool is_late = !j->report.status && !match_ranges(j, executor, crew);
  const hpar_status status = j->report.status;
  hp_crew_retire(crew, late);
  if (!is_late) free_job(j);
  return hp_end_of_walk(status);
}

/* Reads the caller's options. */
static hpar_status read_options(const hpar_select_options *given, hpar_select_options *options) {
  *options = (hpar_select_options){HPAR_SELECT_OPTIONS_INIT};
  hpar_status status = hp_read_options(options, sizeof *options, given, "hpar_select_options",
                                       "HPAR_SELECT_OPTIONS_INIT", &options->error);
  if (status != HPAR_OK) return status;
  if (options->mode > HPAR_MODE_PARALLEL)
    return hp_explain(options->error, HPAR_ERROR_ARGUMENT,
                      "hpar_select_options.mode is %u; accepted: HPAR_MODE_AUTO, HPAR_MODE_SEQUENTIAL, "
                      "HPAR_MODE_PARALLEL",
                      options->mode);
  if (options->threads > HPAR_MAX_THREADS)
    return hp_explain(options->error, HPAR_ERROR_ARGUMENT, "hpar_select_options.threads is %u; accepted: 0 to %d",
                      options->threads, HPAR_MAX_THREADS);
  return HPAR_OK;
}

static hp_executor executor_of(const hpar_select_options *o) {
  bool is_alone = o->mode == HPAR_MODE_SEQUENTIAL || (o->mode == HPAR_MODE_AUTO && !o->threads && !o->run);
  return hp_executor_of_call(o->run, o->run_context, is_alone ? 1 : o->threads);
}

/* Returns about the length of the tree below `top`, in units of references. */
static uint64_t extent_below(const hpar_document *document, hp_ref top) {
  const uint64_t all = hp_range_used(&document->range) / sizeof(uint64_t);
  const hp_ref after = hp_element_after(document, top);
  return after > top ? after - top : all > top ? all - top : all;
}

/* Returns the smallest tree that is worth several threads. The walk for more than 64 instructions
 * takes at least four times as long. */
static uint64_t min_extent(const hpar_selectors *set, const hp_executor *executor) {
  bool is_callers = executor->kind == HPAR_EXECUTOR_CALLER;
  uint64_t bytes = is_callers ? MIN_BYTES : MIN_STARTED_BYTES;
  if (!is_callers && set->instructions_count > HP_BITS) bytes /= 4;
  return bytes / sizeof(uint64_t);
}

static hpar_status select_by(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                             const hpar_select_options *options, hpar_match_callback callback, void *context) {
  if (!set || !document || !callback)
    return hp_explain(options->error, HPAR_ERROR_ARGUMENT, "%s is NULL",
                      !set        ? "selectors"
                      : !document ? "document"
                                  : "callback");
  const hp_executor executor = executor_of(options);
  if (executor.threads < 2 || hp_selectors_walk_back(set) || !top ||
      !hp_can_have_children(hp_node_at(document->range.base, top)) ||
      extent_below(document, top) < min_extent(set, &executor))
    return hp_select_alone(set, document, top, callback, context);
  /* The late threads of a document are no part of its tree. */
  hpar_document *own = (hpar_document *)(uintptr_t)document;
  if (hp_late_crews_sweep(&own->late, false) >= MOST_LATE)
    return hp_select_alone(set, document, top, callback, context);
  job *j = hp_allocate_zeroed(sizeof *j);
  hp_crew *crew = hp_allocate_zeroed(sizeof *crew);
  hp_selectors_begin_use(set, document);
  hpar_status status = j && crew ? open_job(j, set, document, top) : HPAR_ERROR_MEMORY;
  if (!status) {
    j->extent = extent_below(document, top);
    j->report.callback = callback;
    j->report.context = context;
    status = run_job(j, &executor, crew, &own->late);
  } else {
    if (j) free_job(j);
    hp_free(crew);
  }
  return hp_selectors_end_use(set, document, status);
}

hpar_status hpar_select(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                        const hpar_select_options *given, hpar_match_callback callback, void *context) {
  hpar_select_options options;
  hpar_status status = read_options(given, &options);
  if (status == HPAR_OK) status = select_by(set, document, top, &options, callback, context);
  return hp_explain_status(options.error, status);
}
