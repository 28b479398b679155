#include "speculation/worker/budget.h"

/* The search for growth sets a lower limit, so that short pages show what grows beyond it. */
#ifndef HPAR_READ_AHEAD_BYTES
#define HPAR_READ_AHEAD_BYTES (32 << 10)
#endif
enum { READ_AHEAD_BYTES = HPAR_READ_AHEAD_BYTES };

bool hp_log_pays_off(const hp_log *log, uint32_t *from) {
  enum { GROUP = 64, MIN_GAIN = 8, NODE_GAIN = 3, BYTES_PER_GAIN = 64 };
  uint32_t count = log->segment_count - *from;
  if (count < GROUP) return true;
  uint64_t gained = 0;
  for (const hp_segment *s = log->segments + *from; s < log->segments + log->segment_count; s++)
    gained += s->tokens + NODE_GAIN * s->left.nodes + (s->end - s->start) / BYTES_PER_GAIN;
  *from = log->segment_count;
  return gained > (uint64_t)MIN_GAIN * count;
}

bool hp_widen_input(hp_tokenizer *tokenizer, const hp_request *request, const hp_chunk_work *chunk) {
  const char *all = request->text + request->length, *from = tokenizer->base + chunk->reach;
  size_t bytes = READ_AHEAD_BYTES + chunk->read_ahead + (chunk->reach - chunk->cut);
  if (tokenizer->at > from) from = tokenizer->at;
  const char *end = (size_t)(all - from) > bytes ? from + bytes : all;
  if (end <= tokenizer->end) return false;
  tokenizer->end = end;
  tokenizer->last = end == all && !request->more;
  return true;
}

bool hp_worker_wastes_bytes(const hp_worker *w) {
  return w->wasted_bytes > 2 * READ_AHEAD_BYTES && w->wasted_bytes > w->done;
}
