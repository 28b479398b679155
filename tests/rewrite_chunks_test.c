/* The division of a window among threads that rewrite it: the merger's parts and the chunks cover
 * the window once, in order, and few chunks are in flight. One thread plays all roles. */

#include "check.h"
#include "rewrite/team.h"
#include "support/random.h"

enum { MAX_THREADS = 9 };

/* Adopts the chunk, or drops it and stays where it is. Returns the position. */
static size_t merge_chunk(hp_window_chunks *chunks, random_state *random, const hp_window_chunk *chunk, size_t at,
                          uint32_t *used) {
  hp_chunks_remove_first(chunks);
  CHECK(*used >> chunk->slot & 1);
  *used &= ~(1u << chunk->slot);
  return random_below(random, 5) && at < chunk->end ? chunk->end : at;
}

/* A worker takes a free slot. Returns what the claim returned. */
static hp_claim claim(hp_window_chunks *chunks, random_state *random, uint32_t *used) {
  hp_window_chunk chunk;
  uint32_t slot = 0;
  while (*used >> slot & 1) slot++;
  const size_t most = random_below(random, 3) ? SIZE_MAX : 50000;
  hp_claim result = hp_chunks_claim(chunks, slot, 100 + (unsigned)random_below(random, 60), most, &chunk);
  if (result != HP_CLAIM_MADE) return result;
  *used |= 1u << slot;
  CHECK(chunk.slot == slot && chunk.begin < chunk.end && chunk.end <= chunks->length && chunk.end > chunks->merger);
  if (!chunks->size) CHECK(chunk.begin >= chunks->reach && chunk.end - chunk.begin <= most);
  return result;
}

static void check_order(const hp_window_chunks *chunks) {
  CHECK(chunks->count <= chunks->most);
  for (uint32_t i = 0; i < chunks->count; i++) CHECK(!i || chunks->items[i - 1].end <= chunks->items[i].begin);
}

static void test_window(hp_window_chunks *chunks, random_state *random) {
  uint32_t used = 0, claims = 0;
  size_t at = chunks->first;
  chunks->threads = 2 + (unsigned)random_below(random, MAX_THREADS - 1);
  chunks->most = 2 * chunks->threads;
  chunks->size = random_below(random, 3) ? 0 : 1000 + random_below(random, 100000);
  CHECK(hp_chunks_begin(chunks));
  for (unsigned steps = 0; at < chunks->length && CHECK(steps < 100000); steps++) {
    for (size_t i = random_below(random, 4); i && claim(chunks, random, &used) == HP_CLAIM_MADE; i--) claims++;
    check_order(chunks);
    if (!random_below(random, 200)) hp_chunks_close(chunks);
    hp_window_chunk chunk;
    size_t end = hp_chunks_advance(chunks, at, &chunk);
    if (chunk.end) {
      CHECK(chunk.begin <= at);
      at = merge_chunk(chunks, random, &chunk, at, &used);
    } else {
      CHECK(end > at && end <= chunks->length);
      for (uint32_t i = 0; i < chunks->count; i++) CHECK(chunks->items[i].begin >= end);
      at = end + (random_below(random, 9) ? 0 : random_below(random, 40000)); /* a long token */
      if (at > chunks->length) at = chunks->length;
    }
  }
  CHECK(chunks->is_closed || claims || chunks->length - chunks->first < 100000);
}

int main(void) {
  hp_window_chunks chunks = {0};
  random_state random = {7};
  for (unsigned i = 0; i < 3000; i++) {
    chunks.first = random_below(&random, 1000);
    chunks.length = chunks.first + 1 + random_below(&random, i % 2 ? 3000000 : 300000);
    test_window(&chunks, &random);
  }
  hp_chunks_free(&chunks);
  return check_report();
}
