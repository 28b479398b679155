#include "rewrite/resource_scan.h"

#include "base/memory.h"
#include "resources/describe.h"
#include "resources/finder.h"
#include "text/scan/scan.h"

#include <stdio.h>
#include <string.h>

/* A resource that a scan has reported. */
typedef struct seen_resource {
  uint64_t offset, hash;
  bool is_wrong; /* found, and not confirmed */
} seen_resource;

typedef struct seen_resources {
  seen_resource *items;
  size_t count, capacity;
} seen_resources;

/* A thread with its scan. Thread 0 is the calling thread. */
typedef struct scan_thread {
  hp_resource_scan *scan;
  hp_scan_part part;
  char prefix[64];
  seen_resources seen;
  bool lacks_memory;
  hp_finder_gate gate; /* of a scout: the exact scan has passed these resources */
  char padding[HP_CACHE_LINE];
} scan_thread;

/* The rules and the threads that a session keeps. */
typedef struct hp_page_scan {
  hpar_rules *rules;
  scan_thread *threads[HPAR_MAX_THREADS];
} hp_page_scan;

/* One scan of a page. */
typedef struct page_run {
  hp_page_scan *scan;
  const hp_config *config;
  const char *bytes;
  size_t length;
  const hp_encoding *encoding;
  bool is_certain;
  unsigned threads;
  hpar_resource_event event; /* of the exact scan */
  hpar_status status;        /* of the exact scan */
  const char *error;
  size_t part_size; /* about: part i begins at i * part_size or later */
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
  hp_free(thread->seen.items);
  hp_free(thread);
}

static void destroy_scan(void *given) {
  hp_page_scan *scan = given;
  for (unsigned i = 0; i < HPAR_MAX_THREADS; i++) destroy_thread(scan->threads[i]);
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

static hpar_status make_scan(hp_session *session, unsigned threads) {
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
  return status;
}

/* Returns false if memory is short. */
static bool add_seen(seen_resources *to, const hpar_resource *resource) {
  if (to->count == to->capacity) {
    size_t capacity = to->capacity ? 2 * to->capacity : 64;
    seen_resource *items = hp_reallocate(to->items, capacity * sizeof *items);
    if (!items) return false;
    to->items = items;
    to->capacity = capacity;
  }
  to->items[to->count++] = (seen_resource){resource->offset, hp_hash_resource(0, resource), false};
  return true;
}

/*** the exact scan ***/

static void send(const page_run *run, const hpar_resource *resource, hpar_resource_event event) {
  run->config->resources.callback(resource, event, run->config->resources.context);
}

/* Keeps the scouts from reporting resources before the offset. */
static void pass_gates(const page_run *run, uint32_t passed) {
  for (unsigned i = 1; i < run->threads; i++) hp_finder_gate_pass(&run->scan->threads[i]->gate, passed);
}

static bool take_exact(const hpar_resource *resource, void *context) {
  page_run *run = context;
  scan_thread *thread = run->scan->threads[0];
  if (run->threads > 1 && resource->offset >= run->part_size) {
    pass_gates(run, (uint32_t)resource->offset + 1);
    if (!add_seen(&thread->seen, resource)) {
      thread->lacks_memory = true;
      return false;
    }
  }
  send(run, resource, run->event);
  return true;
}

static void scan_exactly(page_run *run) {
  scan_thread *thread = run->scan->threads[0];
  thread->part = (hp_scan_part){.bytes = run->bytes,
                                .to = run->length,
                                .is_last = true,
                                .prefix = "",
                                .encoding = run->encoding,
                                .is_certain = run->is_certain,
                                .scripting = run->config->scripting,
                                .fragment = run->config->fragment};
  thread->seen.count = 0;
  thread->lacks_memory = false;
  run->status = hp_resource_scan_run(thread->scan, &thread->part, take_exact, run, &run->error);
  if (thread->lacks_memory) run->status = HPAR_ERROR_MEMORY;
  atomic_store_explicit(&run->cancelled, true, memory_order_relaxed);
}

/* Repeats the exact scan if a meta element has declared another encoding: cancels what was
 * confirmed, and then confirms it in that encoding. */
static void follow_declaration(page_run *run) {
  const hp_encoding *declared = hp_resource_scan_declared(run->scan->threads[0]->scan);
  if (run->status != HPAR_OK || !declared) return;
  run->event = HPAR_RESOURCE_CANCELLED;
  scan_exactly(run);
  run->event = HPAR_RESOURCE_CONFIRMED;
  run->encoding = declared;
  run->is_certain = true;
  if (run->status == HPAR_OK) scan_exactly(run);
}

/*** scouts ***/

#if HPAR_PARALLEL
static bool take_found(const hpar_resource *resource, void *context) {
  page_run *run = context;
  scan_thread *thread = run->scan->threads[resource->thread];
  bool has_memory = true;
  pthread_mutex_lock(&thread->gate.lock);
  if (resource->offset >= thread->gate.passed) {
    has_memory = add_seen(&thread->seen, resource);
    if (has_memory) send(run, resource, HPAR_RESOURCE_FOUND);
  }
  pthread_mutex_unlock(&thread->gate.lock);
  return has_memory;
}

/* Writes markup after which a scan is in the predicted state. Returns false if no markup of the
 * part has resources. */
static bool write_prefix(const hp_start_state *state, char *to, size_t size) {
  static const char *const inside[HP_INSIDES] = {"", "<!--", "<a ", "<a b=\"", "<a b='"};
  static const char *const names[] = {"script", "style", "title",   "textarea", "noscript",
                                      "iframe", "xmp",   "noembed", "noframes"};
  static const hp_atom atoms[] = {HP_ATOM_SCRIPT, HP_ATOM_STYLE, HP_ATOM_TITLE,   HP_ATOM_TEXTAREA, HP_ATOM_NOSCRIPT,
                                  HP_ATOM_IFRAME, HP_ATOM_XMP,   HP_ATOM_NOEMBED, HP_ATOM_NOFRAMES};
  const char *element = state->ns == HPAR_NAMESPACE_SVG ? "<svg>" : state->ns == HPAR_NAMESPACE_MATHML ? "<math>" : "";
  char raw[16] = "";
  if (state->first == HP_START_BEYOND) return false;
  for (size_t i = 0; state->raw_name && i < sizeof atoms / sizeof *atoms; i++)
    if (atoms[i] == state->raw_name) snprintf(raw, sizeof raw, "<%s>", names[i]);
  if (state->raw_name && !*raw) return false;
  snprintf(to, size, "<!doctype html><body>%s%s%s", element, raw, inside[state->inside]);
  return true;
}

/* Predicts the state at the begin of the part. Returns false if the part has no resources. */
static bool begin_part(const page_run *run, scan_thread *thread) {
  const hp_plan *plan = &run->config->parallel.plan;
  const hp_request request = {.text = run->bytes, .length = run->length, .scripting = run->config->scripting};
  const hp_predictor_input input = {.request = &request,
                                    .cut = (uint32_t)thread->part.from,
                                    .limit = (uint32_t)thread->part.to,
                                    .reach = (uint32_t)thread->part.to,
                                    .data = plan->predictor_data};
  hp_start_state state = {
      .content = HP_CONTENT_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  if (plan->predictor->predict && !plan->truth) plan->predictor->predict(&input, &state);
  return write_prefix(&state, thread->prefix, sizeof thread->prefix);
}

static void scout(page_run *run, unsigned index) {
  scan_thread *thread = run->scan->threads[index];
  const hp_even_cuts cuts = {run->bytes, run->length, run->part_size, &hp_smart_cuts};
  const char *error;
  uint32_t from = hp_even_cut(&cuts, index), to = hp_even_end(&cuts, index, from);
  thread->part = (hp_scan_part){.bytes = run->bytes,
                                .from = from,
                                .to = to,
                                .prefix = thread->prefix,
                                .encoding = run->encoding,
                                .is_certain = run->is_certain,
                                .scripting = run->config->scripting,
                                .thread = index,
                                .cancelled = &run->cancelled};
  if (from < to && begin_part(run, thread)) hp_resource_scan_run(thread->scan, &thread->part, take_found, run, &error);
}

static void work(void *context, unsigned thread) {
  if (thread)
    scout(context, thread);
  else
    scan_exactly(context);
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
static void cancel_part(page_run *run, unsigned index) {
  scan_thread *thread = run->scan->threads[index];
  const seen_resources *exact = &run->scan->threads[0]->seen;
  size_t at = 0, wrong = 0;
  for (size_t i = 0; i < thread->seen.count; i++) {
    seen_resource *found = &thread->seen.items[i];
    while (at < exact->count && exact->items[at].offset < found->offset) at++;
    found->is_wrong = !is_confirmed(exact, at, found);
    wrong += found->is_wrong;
  }
  if (!wrong) return;
  const char *error;
  thread->part.cancelled = NULL;
  cancelling cancelling = {run, &thread->seen, 0};
  hp_resource_scan_run(thread->scan, &thread->part, cancel_wrong, &cancelling, &error);
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

static void scan_on_team(hp_session *session, page_run *run) {
  pass_gates(run, 0);
  /* Some scouts may not start. */
  for (unsigned i = 1; i < run->threads; i++) run->scan->threads[i]->seen.count = 0;
  hp_crew_run(&session->crew, &run->config->parallel.executor, run->threads, work, run);
  follow_declaration(run);
  for (unsigned i = 1; run->status == HPAR_OK && i < run->threads; i++) cancel_part(run, i);
}
#else
static unsigned choose_threads(hp_session *session, hp_config *config, size_t length) {
  (void)session, (void)config, (void)length;
  return 1;
}
static void scan_on_team(hp_session *session, page_run *run) {
  (void)session;
  scan_exactly(run);
  follow_declaration(run);
}
#endif

/*** pages ***/

static bool is_ascii(const char *at, const char *end) {
  unsigned char bits = 0;
  for (; at < end; at++) bits |= (unsigned char)*at;
  return bits < 0x80;
}

/* Sets the encoding, as a parse does. All encodings that a meta element may declare keep ASCII. */
static void find_encoding(page_run *run) {
  const char *end = run->bytes + run->length;
  hp_sniffed sniffed = hp_sniff(run->bytes, run->length, run->config->encoding, !run->config->fragment);
  run->encoding = sniffed.encoding;
  run->is_certain = sniffed.certain || run->config->fragment;
  if (run->encoding) return;
  run->encoding = hp_scan()->invalid_utf8(run->bytes, end) == end ? &hp_utf8 : &hp_windows1252;
  run->is_certain |= is_ascii(run->bytes, end);
}

hpar_status hp_scan_page(hp_session *session, hp_config *config, const char *bytes, size_t length) {
  uint64_t most = config->limits.input;
  bool cut_off = most && length > most;
  if (cut_off) length = (size_t)most;
  page_run run = {.config = config, .bytes = bytes ? bytes : "", .length = length, .event = HPAR_RESOURCE_CONFIRMED};
  run.threads = choose_threads(session, config, length);
  if (!run.threads) return HPAR_ERROR_MEMORY;
  run.part_size = (length + run.threads - 1) / run.threads;
  hpar_status status = make_scan(session, run.threads);
  if (status != HPAR_OK) return status;
  run.scan = session->scan;
  find_encoding(&run);
  scan_on_team(session, &run);
  if (run.status == HPAR_ERROR_UNSUPPORTED || run.status == HPAR_ERROR_ARGUMENT)
    return hp_explain(&session->error, run.status, "%s", run.error);
  return run.status == HPAR_OK && cut_off ? HPAR_LIMIT_INPUT : run.status;
}
