#include "session/config.h"

#include "platform/jemalloc.h"

#include <inttypes.h>
#include <string.h>

const char *hpar_allocator_name(size_t index) {
  static const char *const names[] = {"libc", "jemalloc"};
  return index < 1 + (size_t)hp_jemalloc_is_there() ? names[index] : NULL;
}

/* Explains a value of an enumeration that is none of its constants. */
static hpar_status no_constant(hp_call_error *error, const char *field, unsigned value, const char *accepted) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.%s is %u; accepted: %s", field, value, accepted);
}

static hpar_status check_enumerations(const hpar_options *o, hp_call_error *error) {
  if (o->mode > HPAR_MODE_PIPELINED)
    return no_constant(error, "mode", o->mode,
                       "HPAR_MODE_AUTO, HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, HPAR_MODE_PIPELINED");
  if (o->executor > HPAR_EXECUTOR_CALLER)
    return no_constant(error, "executor", o->executor,
                       "HPAR_EXECUTOR_THREADS, HPAR_EXECUTOR_INLINE, HPAR_EXECUTOR_CALLER");
  if (o->merge > HPAR_MERGE_TREE) return no_constant(error, "merge", o->merge, "HPAR_MERGE_CHAIN, HPAR_MERGE_TREE");
  if (o->bind > HPAR_BIND_CORES) return no_constant(error, "bind", o->bind, "HPAR_BIND_NONE, HPAR_BIND_CORES");
  if (o->allocator > HPAR_ALLOCATOR_JEMALLOC)
    return no_constant(error, "allocator", o->allocator, "HPAR_ALLOCATOR_LIBC, HPAR_ALLOCATOR_JEMALLOC");
  if (o->pool > HPAR_POOL_SLEEP)
    return no_constant(error, "pool", o->pool, "HPAR_POOL_ADAPTIVE, HPAR_POOL_SPIN, HPAR_POOL_SLEEP");
  return HPAR_OK;
}

static hpar_status check_cuts(const hpar_options *o, hp_call_error *error) {
  if (o->cut_count && !o->cuts)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.cuts is NULL and cut_count is %zu; accepted: an array",
                      o->cut_count);
  for (size_t i = 1; i < o->cut_count; i++)
    if (o->cuts[i] <= o->cuts[i - 1])
      return hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "hpar_options.cuts[%zu] is %" PRIu64 " after %" PRIu64 "; accepted: ascending offsets", i,
                        o->cuts[i], o->cuts[i - 1]);
  return HPAR_OK;
}

static hpar_status check_values(const hpar_options *o, hp_call_error *error) {
  hpar_status status = check_enumerations(o, error);
  if (status != HPAR_OK) return status;
  if (o->threads > HPAR_MAX_THREADS)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.threads is %u; accepted: 0 to %d", o->threads,
                      HPAR_MAX_THREADS);
  if (o->executor == HPAR_EXECUTOR_CALLER && !o->run)
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_options.run is NULL; accepted: a function, because executor is HPAR_EXECUTOR_CALLER");
  if (o->allocator == HPAR_ALLOCATOR_JEMALLOC && !hp_jemalloc_is_there())
    return hp_explain(error, HPAR_ERROR_UNSUPPORTED,
                      "hpar_options.allocator is HPAR_ALLOCATOR_JEMALLOC; this library was built without jemalloc");
  return check_cuts(o, error);
}

hpar_status hp_config_resolve(hp_config *config, const hpar_options *options, hp_call_error *error) {
  static const hpar_options defaults = HPAR_OPTIONS_DEFAULT;
  const hpar_options *o = options ? options : &defaults;
  hpar_status status = check_values(o, error);
  if (status != HPAR_OK) return status;
  *config = (hp_config){.mode = o->mode,
                        .fragment = o->fragment,
                        .scripting = o->scripting,
                        .copy_input = o->copy_input,
                        .source_offsets = o->source_offsets,
                        .inspect = o->inspect,
                        .by_jemalloc = o->allocator == HPAR_ALLOCATOR_JEMALLOC,
                        .max_errors = o->max_errors,
                        .limits = {.depth = o->max_depth,
                                   .attributes = o->max_attributes,
                                   .nodes = o->max_nodes,
                                   .memory = o->max_memory,
                                   .time_ns = o->max_time,
                                   .input = o->max_input},
                        .cuts = o->cut_count ? o->cuts : NULL,
                        .cut_count = o->cut_count};
  if (o->encoding) {
    config->encoding = hp_encoding_for_label(o->encoding, strlen(o->encoding));
    if (!config->encoding)
      return hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "hpar_options.encoding is \"%.60s\"; accepted: a label of the Encoding Standard", o->encoding);
  }
  return hp_config_resolve_parallel(config, o, error);
}

hpar_status hp_config_check_cuts(const hp_config *config, uint64_t length, hp_call_error *error) {
  if (!config->cut_count || config->cuts[config->cut_count - 1] <= length) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_ARGUMENT,
                    "hpar_options.cuts[%zu] is %" PRIu64 "; accepted: offsets up to %" PRIu64 ", the input's length",
                    config->cut_count - 1, config->cuts[config->cut_count - 1], length);
}

static uint32_t at_most(uint64_t limit, uint32_t most) { return limit < most ? (uint32_t)limit : most; }

hp_limits hp_config_limits(const hp_config *config, uint64_t length, uint64_t begin) {
  (void)length;
  uint64_t time_ns = config->limits.time_ns;
  return (hp_limits){.depth = at_most(config->limits.depth, UINT32_MAX - 1),
                     .attributes = at_most(config->limits.attributes, UINT32_MAX),
                     .nodes = config->limits.nodes,
                     .deadline = !time_ns                       ? 0
                                 : time_ns < UINT64_MAX - begin ? begin + time_ns
                                                                : UINT64_MAX};
}

uint64_t hp_config_memory_limit(const hp_config *config, uint64_t length) {
  (void)length;
  return config->limits.memory;
}

bool hp_config_needs_length(const hp_config *config) { return config->limits.memory; }

void hp_config_make_sequential(hp_config *config) {
  config->mode = HPAR_MODE_SEQUENTIAL;
  config->bind = false;
  config->cuts = NULL;
  config->cut_count = 0;
}
