#include "session/stats.h"

#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#if HPAR_PARALLEL
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused) {
  const hp_processors *found = hp_allowed_processors();
  for (unsigned i = 0; found && i < threads && i < HPAR_MAX_THREADS; i++)
    processor_per_worker[i] = found->processor[i % found->count];
  return refused || !found ? "refused" : found->how;
}

static void fill_parallel(const hp_parallel_counters *from, hpar_stats *stats) {
  stats->mode = "parallel";
  stats->threads = from->threads;
  stats->chunks = from->chunks;
  stats->chunks_clean = from->merge.chunks_clean;
  stats->bytes_reparsed = from->merge.bytes_reparsed;
  stats->ns.total -= from->truth_ns;
}
#else
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused) {
  (void)processor_per_worker, (void)threads, (void)refused;
  return "none";
}
#endif

void hp_fill_stats(const hp_session *session, hpar_stats *stats) {
  const hp_result *result = &session->result;
  *stats = (hpar_stats){HPAR_STATS_INIT};
  stats->mode = "sequential";
  stats->threads = 1;
  stats->affinity = "none";
  stats->allocator = hpar_allocator_name(result->complete && result->by_jemalloc);
  if (!result->complete) return;
  stats->encoding = result->encoding;
  stats->encoding_source = result->encoding_source;
  stats->bytes = result->bytes;
  stats->tokens = result->tokens;
  stats->nodes = result->nodes;
  stats->parse_errors = result->parse_errors;
  stats->ns.decode = result->decode_ns;
  stats->ns.input = result->input_ns;
  stats->ns.total = result->total_ns;
  if (result->runs_scripts) {
    stats->script.runs = session->scripts.counters.runs;
    stats->script.bytes_written = session->scripts.counters.written;
  }
#if HPAR_PARALLEL
  if (result->driver == HP_DRIVER_PARALLEL) fill_parallel(&session->parallel_counters, stats);
#endif
  if (result->driver == HP_DRIVER_OTHER) {
    stats->mode = result->other.name;
    stats->threads = result->other.threads;
  }
  uint16_t processors[HPAR_MAX_THREADS];
  if (result->bound) stats->affinity = hp_note_processors(processors, stats->threads, result->binding_refused);
}
