#include "session/session.h"

#include "base/call.h"
#include "platform/address_range.h"
#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#include <inttypes.h>
#include <string.h>

const char *hpar_allocator_name(size_t index) {
  static const char *const names[] = {"libc", "jemalloc"};
  return index < 1 + (size_t)hp_jemalloc_is_there() ? names[index] : NULL;
}

/* Explains a value of an enumeration that is none of its constants. */
static hpar_status no_constant(hpar_error *error, const char *field, unsigned value, const char *accepted) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.%s is %u; accepted: %s", field, value, accepted);
}

static hpar_status check_enumerations(const hpar_options *o, hpar_error *error) {
  if (o->mode > HPAR_MODE_PARALLEL)
    return no_constant(error, "mode", o->mode, "HPAR_MODE_AUTO, HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL");
  if (o->parallel.executor > HPAR_EXECUTOR_CALLER)
    return no_constant(error, "parallel.executor", o->parallel.executor,
                       "HPAR_EXECUTOR_THREADS, HPAR_EXECUTOR_INLINE, HPAR_EXECUTOR_CALLER");
  if (o->parallel.affinity > HPAR_AFFINITY_CORES)
    return no_constant(error, "parallel.affinity", o->parallel.affinity, "HPAR_AFFINITY_NONE, HPAR_AFFINITY_CORES");
  if (o->allocator > HPAR_ALLOCATOR_JEMALLOC)
    return no_constant(error, "allocator", o->allocator, "HPAR_ALLOCATOR_LIBC, HPAR_ALLOCATOR_JEMALLOC");
  if (o->value_decoding > HPAR_VALUES_AT_ONCE)
    return no_constant(error, "value_decoding", o->value_decoding, "HPAR_VALUES_ON_ACCESS, HPAR_VALUES_AT_ONCE");
  if (o->parallel.wait > HPAR_WAIT_SLEEP)
    return no_constant(error, "parallel.wait", o->parallel.wait, "HPAR_WAIT_ADAPTIVE, HPAR_WAIT_SPIN, HPAR_WAIT_SLEEP");
  return HPAR_OK;
}

static hpar_status check_values(const hpar_options *o, hpar_error *error) {
  hpar_status status = check_enumerations(o, error);
  if (status != HPAR_OK) return status;
  if (o->threads > HPAR_MAX_THREADS)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.threads is %u; accepted: 0 to %d", o->threads,
                      HPAR_MAX_THREADS);
  if (o->parallel.executor == HPAR_EXECUTOR_CALLER && !o->parallel.run)
    return hp_explain(
        error, HPAR_ERROR_ARGUMENT,
        "hpar_options.parallel.run is NULL; accepted: a function, because parallel.executor is HPAR_EXECUTOR_CALLER");
  uint8_t ns;
  const char *name;
  if (o->fragment && !hp_read_context(o->fragment, &ns, &name))
    return hp_explain(
        error, HPAR_ERROR_ARGUMENT,
        "hpar_options.fragment is \"%.60s\"; accepted: an element name, as in \"div\", \"svg path\", \"math mi\"",
        o->fragment);
  const char *problem = o->allocator == HPAR_ALLOCATOR_JEMALLOC ? hp_jemalloc_problem() : NULL;
  if (problem)
    return hp_explain(error, HPAR_ERROR_UNSUPPORTED, "hpar_options.allocator is HPAR_ALLOCATOR_JEMALLOC; %s", problem);
  return HPAR_OK;
}

/* Returns HPAR_ERROR_ARGUMENT if a reserved word is set: a newer library may have a field there. */
static hpar_status check_reserved(const char *group, const uint64_t *reserved, size_t count, hpar_error *error) {
  for (size_t i = 0; i < count; i++)
    if (reserved[i])
      return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.%sreserved[%zu] is set; accepted: zero", group, i);
  return HPAR_OK;
}

/* Copies the caller's options. NULL: the defaults. */
static hpar_status read_options(hpar_options *o, const hpar_options *given, hpar_error *error) {
  if (!given) {
    *o = (hpar_options){HPAR_OPTIONS_INIT};
    return HPAR_OK;
  }
  hpar_status status = hp_read_sized(o, sizeof *o, given, "hpar_options", "HPAR_OPTIONS_INIT", error);
#define CHECK_RESERVED(group, words) \
  if (status == HPAR_OK) status = check_reserved(group, words, sizeof(words) / sizeof *(words), error)
  CHECK_RESERVED("limits.", o->limits.reserved);
  CHECK_RESERVED("parallel.", o->parallel.reserved);
  CHECK_RESERVED("script.", o->script.reserved);
  CHECK_RESERVED("resources.", o->resources.reserved);
#undef CHECK_RESERVED
  return status;
}

/*** the parallel parser ***/

#if HPAR_PARALLEL
unsigned hp_config_threads(hp_config *config) {
  unsigned *threads = &config->parallel.executor.threads;
  if (!*threads) *threads = hp_usable_cores();
  if (*threads > HPAR_MAX_THREADS) *threads = HPAR_MAX_THREADS;
  return *threads;
}

static hp_pool_wait wait_of(hpar_wait_policy policy) {
  switch (policy) {
    case HPAR_WAIT_SPIN: return HP_POOL_SPIN;
    case HPAR_WAIT_SLEEP: return HP_POOL_SLEEP;
    default: return HP_POOL_ADAPTIVE;
  }
}

static hpar_status resolve_parallel(hp_config *config, const hpar_options *o, hpar_error *error) {
  (void)error;
  bool on_threads = o->parallel.executor == HPAR_EXECUTOR_THREADS;
  hp_parallel_config *p = &config->parallel;
  config->bind = on_threads && o->parallel.affinity == HPAR_AFFINITY_CORES;
  config->fed_at_finish = !on_threads && o->mode != HPAR_MODE_SEQUENTIAL;
  p->executor = (hp_executor){.kind = o->parallel.executor,
                              .run = o->parallel.run,
                              .context = o->parallel.run_context,
                              .threads = o->threads,
                              .wait = wait_of(o->parallel.wait),
                              .bind = config->bind};
  p->plan = hp_strategy_plan(&hp_exact_strategy);
  p->fragment = o->fragment;
  p->fits_threads_to_input = o->mode == HPAR_MODE_AUTO;
  p->chunk_size = o->parallel.chunk_size;
  p->chunks = o->parallel.chunks;
  if (config->bind || o->mode == HPAR_MODE_PARALLEL) hp_config_threads(config);
  return HPAR_OK;
}
#else
/* A build without the parallel parser refuses its options. */
static hpar_status resolve_parallel(hp_config *config, const hpar_options *o, hpar_error *error) {
  (void)config;
  if (o->mode < HPAR_MODE_PARALLEL && !o->parallel.affinity) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_UNSUPPORTED,
                    "hpar_options.%s: this library was built without the parallel parser",
                    o->parallel.affinity ? "parallel.affinity" : "mode");
}
#endif

/*** all options ***/

/* The first fields of every version of hpar_study. */
typedef struct study_head {
  size_t size;
  hpar_status (*apply)(struct hpar_study_target *target, const hpar_options *options);
} study_head;

static hpar_status resolve_study(hp_config *config, const hpar_options *o, hpar_error *error) {
  const study_head *head = (const study_head *)o->study;
  if (head->size < sizeof *head || !head->apply)
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_options.study has no size or no apply; accepted: a structure "
                      "that HPAR_STUDY_INIT has initialised");
  struct hpar_study_target target = {config, error};
  return head->apply(&target, o);
}

hpar_status hp_config_resolve(hp_config *config, const hpar_options *options, hpar_error *error) {
  hpar_options full;
  const hpar_options *o = &full;
  hpar_status status = read_options(&full, options, error);
  if (status == HPAR_OK) status = check_values(o, error);
  if (status != HPAR_OK) return status;
  *config = (hp_config){.mode = o->mode,
                        .fragment = o->fragment,
                        .scripting = o->scripting || o->script.callback,
                        .copy_input = o->copy_input,
                        .source_offsets = o->source_offsets,
                        .decodes_values = o->value_decoding == HPAR_VALUES_AT_ONCE,
                        .by_jemalloc = o->allocator == HPAR_ALLOCATOR_JEMALLOC,
                        .bytes_stay = o->parallel.bytes_stay != 0,
                        .max_errors = o->max_errors,
                        .script = {.callback = o->script.callback,
                                   .context = o->script.context,
                                   .external = o->script.external,
                                   .max_write_depth = o->script.max_write_depth,
                                   .max_written = o->script.max_written},
                        .limits = o->limits,
                        .resources = o->resources};
  if (o->encoding) {
    config->encoding = hp_encoding_for_label(o->encoding, strlen(o->encoding));
    if (!config->encoding)
      return hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "hpar_options.encoding is \"%.60s\"; accepted: a label of the Encoding Standard", o->encoding);
  }
  status = resolve_parallel(config, o, error);
  return status == HPAR_OK && o->study ? resolve_study(config, o, error) : status;
}

hpar_status hp_config_check_cuts(const hp_config *config, uint64_t length, hpar_error *error) {
  if (!config->cut_count || config->cuts[config->cut_count - 1] <= length) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_ARGUMENT,
                    "%s[%zu] is %" PRIu64 "; accepted: offsets up to %" PRIu64 ", the input's length",
                    config->cuts_field, config->cut_count - 1, config->cuts[config->cut_count - 1], length);
}

static uint32_t at_most(uint64_t limit, uint32_t most) { return limit < most ? (uint32_t)limit : most; }

/* Returns a limit that depends on the input's length; 0: none. */
static uint64_t limit_for(uint64_t limit, uint64_t per_byte, uint64_t length) {
  uint64_t product, sum;
  if (!per_byte) return limit;
  if (__builtin_mul_overflow(per_byte, length, &product) || __builtin_add_overflow(limit, product, &sum))
    return UINT64_MAX;
  return sum ? sum : 1;
}

hp_limits hp_config_limits(const hp_config *config, uint64_t length, uint64_t begin) {
  const hpar_limits *limits = &config->limits;
  uint64_t time_ns = limits->time_ns;
  return (hp_limits){.depth = at_most(limits->depth, UINT32_MAX - 1),
                     .attributes = at_most(limits->attributes, UINT32_MAX),
                     .nodes = limit_for(limits->nodes, limits->nodes_per_byte, length),
                     .deadline = !time_ns                       ? 0
                                 : time_ns < UINT64_MAX - begin ? begin + time_ns
                                                                : UINT64_MAX};
}

uint64_t hp_config_memory_limit(const hp_config *config, uint64_t length) {
  return limit_for(config->limits.memory, config->limits.memory_per_byte, length);
}

bool hp_config_needs_length(const hp_config *config) {
  const hpar_limits *limits = &config->limits;
  return limits->memory || limits->memory_per_byte || limits->nodes_per_byte;
}

void hp_config_make_sequential(hp_config *config) {
  config->mode = HPAR_MODE_SEQUENTIAL;
  config->bind = false;
  config->other = NULL;
  config->cuts = NULL;
  config->cut_count = 0;
}
