/* Selection by several threads. A coarse walk keeps elements at about equal distances: it skips the
 * small subtrees. The threads match the ranges between these elements in any order, each range with
 * the frames of its open ancestors. Then the calling thread reports the matches of all ranges in
 * order. */

#include "base/call.h"
#include "base/memory.h"
#include "runtime/units.h"
#include "select/match.h"
#include "select/program.h"

#include <string.h>

enum {
  MAX_SAMPLES = 4096,
  SAMPLES_PER_RANGE = 4,       /* where a thread notes a step */
  MOST_STEP = 128 << 10,       /* bytes, so that a step takes less than 150 us */
  MIN_BYTES = 1 << 20,         /* of a tree, with the caller's threads */
  MIN_STARTED_BYTES = 6 << 20, /* with threads that the call starts, which takes about 50 us */
  MOST_BYTES = 1 << 20,        /* of a range: the calling thread repeats that of a late one */
  MOST_LATE = 4                /* earlier selections with late threads */
};

typedef struct match {
  hp_ref element;
  uint32_t selector;
} match;

typedef struct range {
  uint32_t first, end; /* samples; the last range ends with `top` */
  match *matches;
  uint32_t count, capacity;
  hpar_status status;
} range;

/* The state of one thread, which goes on from one range to the next. */
typedef struct walker {
  hp_matcher matcher; /* without a set: it is not open */
  hp_walk walk;
  uint32_t at; /* the sample that the walk has come to; 0: none */
  char padding[HP_CACHE_LINE];
} walker;

/* A late thread keeps the job, which is therefore independent of the call. */
typedef struct job {
  hpar_selectors set; /* a copy */
  const hpar_document *document;
  hp_ref top;
  hpar_string language; /* the default of the document */
  hp_checked checked;
  hp_ref samples[MAX_SAMPLES];
  uint32_t sample_count;
  uint64_t extent; /* of the tree below `top`, in units of references */
  walker *walkers; /* by thread */
  unsigned threads;
  range *ranges; /* `range_count` of the threads, and as many of the caller, for late units */
  uint32_t range_count;
  hp_unit_state *states;
  hp_unit_steps *steps;
  hp_unit_queue queue;
  char padding[HP_CACHE_LINE];
  _Atomic bool has_failed;
} job;

/*** division ***/

static void take_sample(job *j, hp_ref ref, uint64_t *distance) {
  if (j->sample_count == MAX_SAMPLES) {
    for (uint32_t i = 0; i < MAX_SAMPLES / 2; i++) j->samples[i] = j->samples[2 * i];
    j->sample_count = MAX_SAMPLES / 2;
    *distance *= 2;
  }
  j->samples[j->sample_count++] = ref;
}

/* Keeps elements below `top` at about equal distances. The order of nodes in memory is about that
 * of the document, so the references of a node and of its next sibling give the size of its
 * subtree. A wrong estimate costs balance only. */
static void take_samples(job *j, unsigned threads) {
  const char *base = j->document->range.base;
  const uint64_t tree = hp_range_used(&j->document->range) / sizeof(uint64_t);
  uint64_t distance = hp_unit_length(tree, threads * SAMPLES_PER_RANGE, 1, MOST_STEP / sizeof(uint64_t));
  uint64_t since = UINT64_MAX / 2;
  hp_ref last = j->top;
  for (hp_ref ref = hp_node_at(base, j->top)->first; ref;) {
    const hp_node *node = hp_node_at(base, ref);
    uint64_t step = ref > last ? ref - last : 1;
    since += step;
    j->extent += step;
    last = ref;
    bool is_element = node->kind == HPAR_NODE_ELEMENT;
    if (is_element && since >= distance) {
      take_sample(j, ref, &distance);
      since = 0;
    }
    bool is_small = node->next > ref && node->next - ref <= distance;
    ref = is_element && node->first && !is_small ? node->first : hp_node_after(base, ref, j->top);
  }
}

/* Makes ranges of about equal length. */
static bool make_ranges(job *j) {
  const size_t length = hp_unit_length(j->extent, j->threads, 1, MOST_BYTES / sizeof(uint64_t));
  uint64_t count = j->extent / length + 1;
  if (count > j->sample_count) count = j->sample_count;
  j->ranges = hp_allocate_zeroed((2 * count + 1) * sizeof *j->ranges);
  j->states = hp_allocate_zeroed((count + 1) * sizeof *j->states);
  j->steps = hp_allocate_zeroed((count + 1) * sizeof *j->steps);
  j->walkers = hp_allocate_zeroed(j->threads * sizeof *j->walkers);
  if (!j->ranges || !j->states || !j->steps || !j->walkers) return false;
  j->range_count = (uint32_t)count;
  for (uint32_t i = 0; i < count; i++) {
    j->ranges[i].first = (uint32_t)(i * (uint64_t)j->sample_count / count);
    j->ranges[i].end = (uint32_t)((i + 1) * (uint64_t)j->sample_count / count);
    j->ranges[count + i] = j->ranges[i];
  }
  return true;
}

static void free_job(void *context) {
  job *j = context;
  for (uint32_t i = 0; i < 2 * j->range_count; i++) hp_free(j->ranges[i].matches);
  for (unsigned i = 0; j->walkers && i < j->threads; i++) {
    hp_walk_close(&j->walkers[i].walk);
    hp_matcher_close(&j->walkers[i].matcher);
  }
  hp_free(j->ranges);
  hp_free(j->states);
  hp_free(j->steps);
  hp_free(j->walkers);
  hp_checked_close(&j->checked);
  hp_selectors_close(&j->set);
  hp_free(j);
}

/*** matches ***/

static hpar_status keep_match(hpar_node element, uint32_t selector, void *context) {
  range *r = context;
  if (!hp_reserve(&r->matches, &r->capacity, (size_t)r->count + 1, sizeof *r->matches)) {
    r->status = HPAR_ERROR_MEMORY;
    return HPAR_ERROR_MEMORY;
  }
  r->matches[r->count++] = (match){element, selector};
  return HPAR_OK;
}

typedef struct visitor {
  const hp_matcher *matcher;
  range *range;
} visitor;

static bool visit(void *context, const hp_subject *subject, bool accepts) {
  visitor *v = context;
  return !accepts || !hp_report_matches(v->matcher, subject->ref, keep_match, v->range);
}

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

/* Lets the walk begin at a sample. With tests of siblings, that costs a pass over the siblings
 * before it. */
static hpar_status begin_walk(const job *j, walker *w, uint32_t sample) {
  hp_walk_close(&w->walk);
  hp_matcher_forget_types(&w->matcher);
  hp_walk_open(&w->walk, &w->matcher);
  return hp_walk_start(&w->walk, j->top, j->samples[sample]);
}

/* Matches a range in steps from one sample to the next. */
static void match_range(job *j, range *r, walker *w, hp_unit_steps *steps) {
  visitor v = {&w->matcher, r};
  hpar_status status = open_matcher(j, &w->matcher) ? HPAR_OK : HPAR_ERROR_MEMORY;
  if (!status && (!w->at || w->at != r->first)) status = begin_walk(j, w, r->first);
  for (uint32_t i = r->first; i < r->end && !status && !r->status; i++) {
    hp_note_step(steps);
    const hp_ref end = i + 1 < j->sample_count ? j->samples[i + 1] : 0;
    status = hp_walk_on(&w->walk, j->top, j->samples[i], end, visit, &v);
  }
  if (status) r->status = status;
  w->at = r->status ? 0 : r->end;
}

static void run_range(void *context, size_t unit, unsigned thread, hp_unit_steps *steps) {
  job *j = context;
  if (atomic_load_explicit(&j->has_failed, memory_order_relaxed)) return;
  range own = j->ranges[unit]; /* another thread writes to the range beside it */
  match_range(j, &own, &j->walkers[thread], steps);
  j->ranges[unit] = own;
  if (own.status) atomic_store_explicit(&j->has_failed, true, memory_order_relaxed);
}

/* Matches what late threads have not finished. */
static void match_rest(job *j) {
  for (uint32_t i = 0; i < j->range_count; i++)
    if (hp_unit_is_complete(&j->states[i]) && j->ranges[i].status) return;
  for (uint32_t i = 0; i < j->range_count; i++)
    if (hp_unit_give_up(&j->states[i])) match_range(j, &j->ranges[j->range_count + i], &j->walkers[0], NULL);
}

static const range *result_of(const job *j, uint32_t unit) {
  return &j->ranges[hp_unit_is_complete(&j->states[unit]) ? unit : j->range_count + unit];
}

static hpar_status report_matches(const job *j, hpar_match_callback callback, void *context) {
  for (uint32_t i = 0; i < j->range_count; i++)
    if (result_of(j, i)->status) return result_of(j, i)->status;
  for (uint32_t i = 0; i < j->range_count; i++) {
    const range *r = result_of(j, i);
    for (uint32_t k = 0; k < r->count; k++) {
      hpar_status status = callback(r->matches[k].element, r->matches[k].selector, context);
      if (status != HPAR_OK) return hp_end_of_walk(status);
    }
  }
  return HPAR_OK;
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

/* Matches all ranges. Threads that cannot be started leave their work to the others. Returns false
 * if there are late threads, which keep the job. */
static bool match_ranges(job *j, const hp_executor *executor, hp_crew *crew) {
  static const hp_unit_client client = {.run = run_range, .drop = free_job};
  const hp_unit_plan plan = {
      .client = &client, .job = j, .count = j->range_count, .states = j->states, .steps = j->steps, .by_part = true};
  return hp_unit_queue_run(&j->queue, &plan, crew, executor, j->threads, hp_document_waits(j->document));
}

/* Matches, and reports. Frees the job and the crew, or leaves them to late threads. */
static hpar_status run_job(job *j, const hp_executor *executor, hp_crew *crew, hp_late_crews *late,
                           hpar_match_callback callback, void *context) {
  const unsigned threads = hp_crew_prepare(crew, executor, executor->threads);
  j->threads = threads ? threads : 1;
  const bool fits = make_ranges(j), is_late = fits && !match_ranges(j, executor, crew);
  if (is_late) match_rest(j);
  if (!is_late) hp_crew_retire(crew, late);
  hpar_status status = fits ? report_matches(j, callback, context) : HPAR_ERROR_MEMORY;
  if (is_late)
    hp_crew_retire(crew, late);
  else
    free_job(j);
  return status;
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
      hp_range_used(&document->range) / sizeof(uint64_t) < min_extent(set, &executor))
    return hp_select_alone(set, document, top, callback, context);
  /* The late threads of a document are no part of its tree. */
  hpar_document *own = (hpar_document *)(uintptr_t)document;
  if (hp_late_crews_sweep(&own->late, false) >= MOST_LATE)
    return hp_select_alone(set, document, top, callback, context);
  job *j = hp_allocate_zeroed(sizeof *j);
  hp_crew *crew = hp_allocate_zeroed(sizeof *crew);
  hp_selectors_begin_use(set, document);
  hpar_status status = j && crew ? open_job(j, set, document, top) : HPAR_ERROR_MEMORY;
  if (!status) take_samples(j, executor.threads);
  if (!status && j->extent >= min_extent(set, &executor)) {
    status = run_job(j, &executor, crew, &own->late, callback, context);
  } else {
    if (!status) status = hp_select_alone(set, document, top, callback, context);
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
