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
  UNITS = 1024,               /* distances in a whole tree */
  MIN_BYTES = 1 << 20,        /* of a tree, with the caller's threads */
  MIN_STARTED_BYTES = 6 << 20 /* with threads that the call starts, which takes about 50 us */
};

typedef struct match {
  hp_ref element;
  uint32_t selector;
} match;

typedef struct range {
  hp_ref first, end; /* 0: the end of `top` */
  match *matches;
  uint32_t count, capacity;
  hpar_status status;
} range;

typedef struct job {
  const hpar_selectors *set;
  const hpar_document *document;
  hp_ref top;
  hpar_string language; /* the default of the document */
  hp_checked checked;
  hp_ref samples[MAX_SAMPLES];
  uint32_t sample_count;
  uint64_t extent; /* of the tree below `top`, in units of references */
  range *ranges;
  uint32_t range_count;
  hp_unit_queue queue;
} job;

static void take_sample(job *j, hp_ref ref, uint64_t *distance) {
  if (j->sample_count == MAX_SAMPLES) {
    for (uint32_t i = 0; i < MAX_SAMPLES / 2; i++) j->samples[i] = j->samples[2 * i];
    j->sample_count = MAX_SAMPLES / 2;
    *distance *= 2;
  }
  j->samples[j->sample_count++] = ref;
}

/* Keeps elements below `top` at a distance of at least 1/1024 of the tree. The order of nodes in
 * memory is about that of the document, so the references of a node and of its next sibling give
 * the size of its subtree. A wrong estimate costs balance only. */
static void take_samples(job *j) {
  const char *base = j->document->range.base;
  uint64_t distance = hp_range_used(&j->document->range) / sizeof(uint64_t) / UNITS, since = UINT64_MAX / 2;
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
  hp_matcher matcher;
  range *range;
} visitor;

static bool visit(void *context, const hp_subject *subject, bool accepts) {
  visitor *v = context;
  return !accepts || !hp_report_matches(&v->matcher, subject->ref, keep_match, v->range);
}

static void match_range(void *context, size_t unit, unsigned thread, hp_unit_steps *steps) {
  job *j = context;
  range own = j->ranges[unit]; /* another thread writes to the range beside it */
  visitor v = {.range = &own};
  hp_walk walk;
  (void)thread, (void)steps;
  hpar_status status = hp_matcher_open(&v.matcher, j->set, j->document, j->top);
  v.matcher.language = j->language;
  if (j->checked.slots) v.matcher.checked = &j->checked;
  hp_walk_open(&walk, &v.matcher);
  if (!status) status = hp_walk_range(&walk, j->top, own.first, own.end, visit, &v);
  if (status) own.status = status;
  if (own.status) hp_unit_queue_cancel(&j->queue); /* the selection fails */
  hp_walk_close(&walk);
  hp_matcher_close(&v.matcher);
  j->ranges[unit] = own;
}

/* Makes ranges of about equal length. With tests of siblings each range costs a pass over the
 * siblings before it, so that more ranges than threads cost more than they balance. */
static bool make_ranges(job *j, unsigned threads) {
  uint32_t count = j->set->looks_at_siblings ? threads : threads * HP_UNITS_PER_THREAD;
  if (count > j->sample_count) count = j->sample_count;
  j->ranges = hp_allocate_zeroed((count + 1) * sizeof *j->ranges);
  if (!j->ranges) return false;
  for (uint32_t i = 0; i < count; i++) {
    j->ranges[i].first = j->samples[(uint64_t)i * j->sample_count / count];
    if (i) j->ranges[i - 1].end = j->ranges[i].first;
  }
  j->range_count = count;
  return true;
}

/* Matches all ranges. Threads that cannot be started leave their work to the others. */
static void match_ranges(job *j, const hp_executor *executor) {
  hp_crew crew = {0};
  unsigned threads = hp_crew_prepare(&crew, executor, executor->threads);
  static const hp_unit_client client = {.run = match_range};
  const hp_unit_plan plan = {.client = &client, .job = j, .count = j->range_count};
  hp_unit_queue_run(&j->queue, &plan, &crew, executor, threads ? threads : 1, false);
  hp_crew_close(&crew);
}

static hpar_status report(const job *j, hpar_match_callback callback, void *context) {
  for (uint32_t i = 0; i < j->range_count; i++)
    if (j->ranges[i].status) return j->ranges[i].status;
  for (uint32_t i = 0; i < j->range_count; i++)
    for (uint32_t k = 0; k < j->ranges[i].count; k++) {
      hpar_status status = callback(j->ranges[i].matches[k].element, j->ranges[i].matches[k].selector, context);
      if (status != HPAR_OK) return hp_end_of_walk(status);
    }
  return HPAR_OK;
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
  job *j = hp_allocate_zeroed(sizeof *j);
  if (!j) return HPAR_ERROR_MEMORY;
  hp_selectors_begin_use(set, document);
  j->set = set;
  j->document = document;
  j->top = top;
  if (set->languages) j->language = hp_default_language(document);
  take_samples(j);
  hpar_status status = hp_checked_open(&j->checked, set, document, hp_root_of(document, top));
  if (status) {
    /* no memory */
  } else if (j->extent < min_extent(set, &executor)) {
    status = hp_select_alone(set, document, top, callback, context);
  } else if (make_ranges(j, executor.threads)) {
    match_ranges(j, &executor);
    status = report(j, callback, context);
  } else {
    status = HPAR_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < j->range_count; i++) hp_free(j->ranges[i].matches);
  hp_checked_close(&j->checked);
  hp_free(j->ranges);
  hp_free(j);
  return hp_selectors_end_use(set, document, status);
}

hpar_status hpar_select(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                        const hpar_select_options *given, hpar_match_callback callback, void *context) {
  hpar_select_options options;
  hpar_status status = read_options(given, &options);
  if (status == HPAR_OK) status = select_by(set, document, top, &options, callback, context);
  return hp_explain_status(options.error, status);
}
