#include "rewrite/resource_scan.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "resources/describe.h"
#include "resources/finder.h"
#include "runtime/units.h"
#include "text/scan/scan.h"

#include <stdio.h>
#include <string.h>

/* A shorter part costs more than it saves. The inline executor has shorter ones, so that tests
 * cover them. */
enum { LEAST_PART = 16 << 10 };

/* A resource that a scan has reported. */
typedef struct seen_resource {
  uint64_t offset, hash;
  bool is_wrong; /* found, and not confirmed */
} seen_resource;

typedef HP_ARRAY(seen_resource) seen_resources;

/* A thread with its scan. Thread 0 is the calling thread. */
typedef struct scan_thread {
  hp_resource_scan *scan;
  hp_finder_gate gate; /* of a scout: the exact scan has passed these resources */
  char padding[HP_CACHE_LINE];
} scan_thread;

/* A part of the text that a scout scans. */
typedef struct scan_unit {
  hp_scan_part part;
  char prefix[64];
  seen_resources seen;
  char padding[HP_CACHE_LINE];
} scan_unit;

/* The rules and the memory that a session keeps. */
typedef struct hp_page_scan {
  hpar_rules *rules;
  scan_thread *threads[HPAR_MAX_THREADS];
  HP_ARRAY(scan_unit) units;
  seen_resources confirmed; /* behind the begin of the first unit */
} hp_page_scan;

/* One scan of a page. A late scout keeps it, and the memory of the scan. */
typedef struct page_run {
  hp_page_scan *scan;
  hp_config config;
  const char *bytes;
  size_t length;
  const hp_encoding *encoding, *declared; /* `declared`: by a meta element; NULL: none */
  bool is_certain;
  unsigned threads;
  /* The text has parts of this size. The exact scan has the first ones, until scouts have scanned
   * the others, each of which is a unit. */
  size_t part_size, exact_parts;
  uint32_t units;
  hp_unit_queue queue;
  hp_scan_part exact;
  hpar_resource_event event; /* of the exact scan */
  hpar_status status;        /* of the exact scan */
  bool lacks_memory;
  const char *error;
  char padding_1[HP_CACHE_LINE];
  /* This alone changes while the scouts work. Each scout reads it often. */
  _Atomic bool cancelled;
  char padding_2[HP_CACHE_LINE];
} page_run;

/*** memory ***/

static void destroy_thread(scan_thread *thread) {
  if (!thread) return;
  hp_resource_scan_destroy(thread->scan);
  hp_finder_gate_close(&thread->gate);
  hp_free(thread);
}

static void destroy_scan(void *given) {
  hp_page_scan *scan = given;
  for (unsigned i = 0; i < HPAR_MAX_THREADS; i++) destroy_thread(scan->threads[i]);
  for (size_t i = 0; i < scan->units.count; i++) hp_free(scan->units.items[i].seen.items);
  hp_free(scan->units.items);
  hp_free(scan->confirmed.items);
  hpar_rules_destroy(scan->rules);
  hp_free(scan);
}

static hpar_status make_thread(hp_page_scan *scan, unsigned index) {
  if (scan->threads[index]) return HPAR_OK;
  scan_thread *made = hp_allocate_zeroed(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  hpar_status status = hp_resource_scan_create(&made->scan, scan->rules);
  if (status != HPAR_OK) {
    hp_free(made);
    return status;
  }
  hp_finder_gate_open(&made->gate);
  scan->threads[index] = made;
  return HPAR_OK;
}

static bool make_units(hp_page_scan *scan, size_t count) {
  if (!hp_reserve(&scan->units.items, &scan->units.capacity, count, sizeof *scan->units.items)) return false;
  for (; scan->units.count < count; scan->units.count++) scan->units.items[scan->units.count] = (scan_unit){0};
  for (size_t i = 0; i < count; i++) scan->units.items[i].seen.count = 0;
  return true;
}

static hpar_status make_scan(hp_session *session, unsigned threads, size_t units) {
  hpar_status status = HPAR_OK;
  if (!session->scan) {
    hp_page_scan *made = hp_allocate_zeroed(sizeof *made);
    if (!made) return HPAR_ERROR_MEMORY;
    status = hp_resource_rules(&made->rules);
    if (status != HPAR_OK) {
      hp_free(made);
      return status;
    }
    hp_session_keep_scan(session, made, destroy_scan);
  }
  for (unsigned i = 0; status == HPAR_OK && i < threads; i++) status = make_thread(session->scan, i);
  return status == HPAR_OK && !make_units(session->scan, units) ? HPAR_ERROR_MEMORY : status;
}

/* Returns false if memory is short. */
static bool add_seen(seen_resources *to, const hpar_resource *resource) {
  if (!hp_reserve(&to->items, &to->capacity, (size_t)to->count + 1, sizeof *to->items)) return false;
  to->items[to->count++] = (seen_resource){resource->offset, hp_hash_resource(0, resource), false};
  return true;
}

/*** the exact scan ***/

static void send(const page_run *run, const hpar_resource *resource, hpar_resource_event event) {
  run->config.resources.callback(resource, event, run->config.resources.context);
}

/* Keeps the scouts from reporting resources before the offset. */
static void pass_gates(const page_run *run, uint32_t passed) {
  for (unsigned i = 1; i < run->threads; i++) hp_finder_gate_pass(&run->scan->threads[i]->gate, passed);
}

static bool take_exact(const hpar_resource *resource, void *context) {
  page_run *run = context;
  if (run->units && resource->offset >= run->exact_parts * run->part_size) {
    pass_gates(run, (uint32_t)resource->offset + 1);
    if (!add_seen(&run->scan->confirmed, resource)) {
      run->lacks_memory = true;
      return false;
    }
  }
  send(run, resource, run->event);
  return true;
}

static void scan_exactly(void *job) {
  page_run *run = job;
  run->exact = (hp_scan_part){.bytes = run->bytes,
                              .to = run->length,
                              .is_last = true,
                              .prefix = "",
                              .encoding = run->declared ? run->declared : run->encoding,
                              .is_certain = run->is_certain || run->declared,
                              .scripting = run->config.scripting,
                              .fragment = run->config.fragment};
  run->scan->confirmed.count = 0;
  run->lacks_memory = false;
  run->status = hp_resource_scan_run(run->scan->threads[0]->scan, &run->exact, take_exact, run, &run->error);
  if (run->lacks_memory) run->status = HPAR_ERROR_MEMORY;
  atomic_store_explicit(&run->cancelled, true, memory_order_relaxed);
  hp_unit_queue_cancel(&run->queue);
}

/* Repeats the exact scan if a meta element has declared another encoding: cancels what was
 * confirmed, and then confirms it in that encoding. */
static void follow_declaration(page_run *run) {
  const hp_encoding *declared = hp_resource_scan_declared(run->scan->threads[0]->scan);
  if (run->status != HPAR_OK || !declared) return;
  run->event = HPAR_RESOURCE_CANCELLED;
  scan_exactly(run);
  run->event = HPAR_RESOURCE_CONFIRMED;
  run->declared = declared;
  if (run->status == HPAR_OK) scan_exactly(run);
}

/*** scouts ***/

#if HPAR_PARALLEL
typedef struct finding {
  page_run *run;
  scan_unit *unit;
  size_t last; /* unit that the scout has joined */
} finding;

static bool take_found(const hpar_resource *resource, void *context) {
  finding *f = context;
  hp_finder_gate *gate = &f->run->scan->threads[resource->thread]->gate;
  bool has_memory = true;
  pthread_mutex_lock(&gate->lock);
  if (resource->offset >= gate->passed) {
    has_memory = add_seen(&f->unit->seen, resource);
    if (has_memory) send(f->run, resource, HPAR_RESOURCE_FOUND);
  }
  pthread_mutex_unlock(&gate->lock);
  return has_memory;
}

/* Writes markup after which a scan is in the predicted state. Returns false if no markup of the
 * part has resources. */
static bool write_prefix(const hp_start_state *state, char *to, size_t size) {
  static const char *const inside[HP_INSIDES] = {"", "<!--", "<a ", "<a b=\"", "<a b='"};
  const char *element = state->ns == HPAR_NAMESPACE_SVG ? "<svg>" : state->ns == HPAR_NAMESPACE_MATHML ? "<math>" : "";
  const hp_raw_text *raw = hp_raw_text_of_atom(state->raw_name, true);
  if (state->first == HP_START_BEYOND || (state->raw_name && !raw)) return false;
  snprintf(to, size, "<!doctype html><body>%s%s%s%s%s", element, raw ? "<" : "", raw ? raw->name : "", raw ? ">" : "",
           inside[state->inside]);
  return true;
}

/* Predicts the state at the begin of the part. Returns false if the part has no resources. */
static bool begin_part(const page_run *run, scan_unit *unit) {
  const hp_plan *plan = &run->config.parallel.plan;
  const hp_request request = {.text = run->bytes, .length = run->length, .scripting = run->config.scripting};
  const hp_predictor_input input = {.request = &request,
                                    .cut = (uint32_t)unit->part.from,
                                    .limit = (uint32_t)unit->part.to,
                                    .reach = (uint32_t)unit->part.to,
                                    .data = plan->predictor_data};
  hp_start_state state = {
      .content = HP_TEXT_STATE_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  if (plan->predictor->predict && !plan->truth) plan->predictor->predict(&input, &state);
  return write_prefix(&state, unit->prefix, sizeof unit->prefix);
}

/* Returns whether the exact scan has passed the place. */
static bool is_passed(const page_run *run, unsigned thread, uint32_t place) {
  hp_finder_gate *gate = &run->scan->threads[thread]->gate;
  pthread_mutex_lock(&gate->lock);
  const bool is_passed = gate->passed >= place;
  pthread_mutex_unlock(&gate->lock);
  return is_passed;
}

static hp_lazy_cuts cuts_of(const page_run *run) {
  return (hp_lazy_cuts){run->bytes, run->length, run->part_size, &hp_smart_cuts};
}

/* A new scan costs as much as 2 KB. A scout therefore goes on with the next part. */
static bool join_next(void *context) {
  finding *f = context;
  const hp_lazy_cuts cuts = cuts_of(f->run);
  if (!hp_unit_queue_join(&f->run->queue, &f->last)) return false;
  f->unit->part.to = hp_lazy_end(&cuts, (uint32_t)(f->run->exact_parts + f->last), (uint32_t)f->unit->part.to);
  return true;
}

static void scout(void *job, size_t index, unsigned thread, hp_unit_steps *steps) {
  page_run *run = job;
  scan_unit *unit = &run->scan->units.items[index];
  const uint32_t part = (uint32_t)(run->exact_parts + index);
  const hp_lazy_cuts cuts = cuts_of(run);
  finding finding = {run, unit, index};
  const char *error;
  (void)steps;
  uint32_t from = hp_lazy_cut(&cuts, part), to = hp_lazy_end(&cuts, part, from);
  unit->part = (hp_scan_part){.bytes = run->bytes,
                              .from = from,
                              .to = to,
                              .prefix = unit->prefix,
                              .encoding = run->encoding,
                              .is_certain = run->is_certain,
                              .scripting = run->config.scripting,
                              .thread = thread,
                              .cancelled = &run->cancelled,
                              .extend = run->config.parallel.executor.kind == HPAR_EXECUTOR_INLINE ? NULL : join_next};
  if (from < to && !is_passed(run, thread, to) && begin_part(run, unit))
    hp_resource_scan_run(run->scan->threads[thread]->scan, &unit->part, take_found, &finding, &error);
}

/* Returns whether the resource is one of those from items[at] on that have its offset. */
static bool is_confirmed(const seen_resources *exact, size_t at, const seen_resource *found) {
  for (; at < exact->count && exact->items[at].offset == found->offset; at++)
    if (exact->items[at].hash == found->hash) return true;
  return false;
}

typedef struct cancelling {
  const page_run *run;
  const seen_resources *seen;
  size_t at;
} cancelling;

/* The scan of a part repeats its resources. Some of them may have been confirmed before the scout
 * could report them. */
static bool cancel_wrong(const hpar_resource *resource, void *context) {
  cancelling *c = context;
  const seen_resource *next = &c->seen->items[c->at];
  if (resource->offset != next->offset || hp_hash_resource(0, resource) != next->hash) return true;
  if (next->is_wrong) send(c->run, resource, HPAR_RESOURCE_CANCELLED);
  return ++c->at < c->seen->count;
}

/* Cancels the resources that a scout has found and the exact scan has not confirmed. The scout's
 * scan runs again, because their values are gone. */
static void cancel_part(page_run *run, scan_unit *unit) {
  const seen_resources *exact = &run->scan->confirmed;
  size_t at = 0, wrong = 0;
  for (size_t i = 0; i < unit->seen.count; i++) {
    seen_resource *found = &unit->seen.items[i];
    while (at < exact->count && exact->items[at].offset < found->offset) at++;
    found->is_wrong = !is_confirmed(exact, at, found);
    wrong += found->is_wrong;
  }
  if (!wrong) return;
  const char *error;
  /* The scout may be late, and still join parts. */
  const hp_scan_part part = {.bytes = run->bytes,
                             .from = unit->part.from,
                             .to = run->length,
                             .prefix = unit->prefix,
                             .encoding = run->encoding,
                             .is_certain = run->is_certain,
                             .scripting = run->config.scripting,
                             .thread = unit->part.thread};
  cancelling cancelling = {run, &unit->seen, 0};
  hp_resource_scan_run(run->scan->threads[0]->scan, &part, cancel_wrong, &cancelling, &error);
}

/* Returns the number of threads for the scan; 0: memory is short. */
static unsigned choose_threads(hp_session *session, hp_config *config, size_t length) {
  enum { MIN_BYTES = 64 << 10 }; /* shorter pages take less time than a thread needs to wake */
  const hp_executor *executor = &config->parallel.executor;
  bool is_parallel = config->mode == HPAR_MODE_PARALLEL || (config->mode == HPAR_MODE_AUTO && length >= MIN_BYTES);
  if (!is_parallel || config->resources.in_order || length > UINT32_MAX) return 1;
  unsigned threads = hp_config_threads(config);
  config->parallel.executor.bind = false; /* the calling thread is not bound, either */
  return hp_team_threads(&session->team, executor, threads);
}

/* Divides the text. The exact scan gets the parts that it reaches before scouts are there. */
static uint32_t divide(page_run *run) {
  const hp_executor *executor = &run->config.parallel.executor;
  const size_t least = executor->kind == HPAR_EXECUTOR_INLINE ? 1 : LEAST_PART, share = run->length / run->threads + 1;
  run->exact_parts = share / hp_unit_length(run->length, run->threads, least, share);
  run->part_size = (share + run->exact_parts - 1) / run->exact_parts;
  const size_t parts = (run->length + run->part_size - 1) / run->part_size;
  return run->threads > 1 && parts > run->exact_parts ? (uint32_t)(parts - run->exact_parts) : 0;
}

static void drop_run(void *given) {
  page_run *run = given;
  destroy_scan(run->scan);
  hp_free(run);
}

/* Returns false if there are late scouts, which own the run. */
static bool scan_on_threads(hp_session *session, page_run *run) {
  static const hp_unit_client client = {.lead = scan_exactly, .run = scout, .drop = drop_run};
  const hp_unit_plan plan = {.client = &client, .job = run, .count = run->units};
  const bool may_leave = run->config.bytes_stay && !hp_plan_uses_caller(&run->config.parallel.plan);
  pass_gates(run, 0);
  const bool is_done =
      hp_unit_queue_run(&run->queue, &plan, &session->crew, &run->config.parallel.executor, run->threads, may_leave);
  pass_gates(run, UINT32_MAX); /* late scouts report nothing */
  follow_declaration(run);
  for (size_t i = 0; run->status == HPAR_OK && i < run->units; i++) cancel_part(run, &run->scan->units.items[i]);
  if (!is_done) session->scan = NULL;
  return is_done;
}
#else
static unsigned choose_threads(hp_session *session, hp_config *config, size_t length) {
  (void)session, (void)config, (void)length;
  return 1;
}
static uint32_t divide(page_run *run) {
  (void)run;
  return 0;
}
static bool scan_on_threads(hp_session *session, page_run *run) {
  (void)session;
  scan_exactly(run);
  follow_declaration(run);
  return true;
}
#endif

/*** pages ***/

/* Sets the encoding, as a parse does. All encodings that a meta element may declare keep ASCII. */
static void find_encoding(page_run *run) {
  const char *end = run->bytes + run->length;
  hp_sniffed sniffed = hp_sniff(run->bytes, run->length, run->config.encoding, !run->config.fragment);
  run->encoding = sniffed.encoding;
  run->is_certain = sniffed.certain || run->config.fragment;
  if (run->encoding) return;
  run->encoding = hp_scan()->invalid_utf8(run->bytes, end) == end ? &hp_utf8 : &hp_windows1252;
  run->is_certain |= hp_is_ascii(run->bytes, run->length);
}

static hpar_status scan_page(hp_session *session, page_run **given) {
  page_run *run = *given;
  run->threads = choose_threads(session, &run->config, run->length);
  if (!run->threads) return HPAR_ERROR_MEMORY;
  run->units = divide(run);
  hpar_status status = make_scan(session, run->threads, run->units);
  if (status != HPAR_OK) return status;
  run->scan = session->scan;
  find_encoding(run);
  if (!scan_on_threads(session, run)) *given = NULL;
  if (run->status != HPAR_ERROR_UNSUPPORTED && run->status != HPAR_ERROR_ARGUMENT) return run->status;
  return hp_explain(&session->error, run->status, "%s", run->error);
}

hpar_status hp_scan_page(hp_session *session, const hp_config *config, const char *bytes, size_t length) {
  const uint64_t most = config->limits.input;
  const bool cut_off = most && length > most;
#if HPAR_PARALLEL
  hp_team_await_stragglers(&session->team);
#endif
  page_run *run = hp_allocate_zeroed(sizeof *run);
  if (!run) return HPAR_ERROR_MEMORY;
  run->config = *config;
  run->bytes = bytes ? bytes : "";
  run->length = cut_off ? (size_t)most : length;
  run->event = HPAR_RESOURCE_CONFIRMED;
  const hpar_status status = scan_page(session, &run);
  hp_free(run);
  return status == HPAR_OK && cut_off ? HPAR_LIMIT_INPUT : status;
}
