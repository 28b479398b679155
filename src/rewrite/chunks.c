#include "rewrite/team.h"

#include "base/memory.h"
#include "base/target.h"

#include <string.h>

/* A chunk has at least LEAST bytes, because each one has a cost. Fewer than REST bytes after the
 * last chunk would be another one. The merger looks for new chunks after each STEP bytes, or after
 * twice as many if the next chunk is far. */
enum { LEAST = 2 << 10, REST = 16 << 10, MOST = 256 << 10, STEP = 16 << 10, FAR = 256 << 10 };

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

static uint32_t given_count(const hp_window_chunks *c) {
  if (c->cuts) return (uint32_t)c->cut_count + 1;
  return c->size ? (uint32_t)((c->length - c->first + c->size - 1) / c->size) : 0;
}

/* Returns the offset of a given chunk. */
static size_t given_begin(const hp_window_chunks *c, uint32_t index) {
  if (index >= given_count(c)) return c->length;
  if (!index) return c->first;
  return c->cuts ? c->cuts[index - 1] : least_of(c->first + index * c->size, c->length);
}

bool hp_chunks_begin(hp_window_chunks *c) {
  if (!c->has_lock && pthread_mutex_init(&c->lock, NULL)) return false;
  c->has_lock = true;
  if (c->capacity < c->most) {
    hp_window_chunk *items = hp_reallocate(c->items, c->most * sizeof *items);
    if (!items) return false;
    c->items = items;
    c->capacity = c->most;
  }
  c->count = c->number = c->next = c->skipped = 0;
  c->merger = c->reach = c->first;
  c->is_closed = false;
  return true;
}

void hp_chunks_free(hp_window_chunks *c) {
  if (c->has_lock) pthread_mutex_destroy(&c->lock);
  hp_free(c->items);
}

/*** workers ***/

static bool claim_given(hp_window_chunks *c, hp_window_chunk *chunk) {
  const uint32_t count = given_count(c);
  for (; c->next < count && given_begin(c, c->next + 1) <= c->merger; c->next++) c->skipped += c->next != 0;
  if (c->next >= count) return false;
  chunk->begin = given_begin(c, c->next);
  chunk->end = given_begin(c, ++c->next);
  return true;
}

/* The bytes of the merger before the chunk `place`, or after the last one. */
typedef struct gap {
  size_t begin, end;
} gap;

static gap gap_before(const hp_window_chunks *c, uint32_t place) {
  gap g = {place ? c->items[place - 1].end : 0, place < c->count ? c->items[place].begin : c->length};
  if (g.begin < c->reach) g.begin = c->reach;
  if (g.end < g.begin) g.end = g.begin;
  return g;
}

/* Takes a chunk from the last gap that is long enough, of a fair share of all gaps. The merger
 * arrives there a quarter of its time after its probable end. */
static bool claim_in_gap(hp_window_chunks *c, unsigned percent, size_t most_bytes, hp_window_chunk *chunk,
                         uint32_t *place) {
  size_t left = 0, before;
  for (uint32_t i = 0; i <= c->count; i++) left += gap_before(c, i).end - gap_before(c, i).begin;
  size_t size = (size_t)((uint64_t)left * 100 / (100 * (c->threads - 1) + percent));
  if (size < LEAST) return false;
  if (size > most_bytes) size = most_bytes;
  gap g = {0, 0};
  before = left;
  for (*place = c->count;; --*place) {
    g = gap_before(c, *place);
    before -= g.end - g.begin;
    if (g.end - g.begin >= LEAST || !*place) break;
  }
  if (g.end - g.begin < LEAST) return false;
  if (size > g.end - g.begin) size = g.end - g.begin;
  size_t distance = size + size / 4;
  distance = (size_t)((uint64_t)distance * percent / 100);
  distance = distance > before ? distance - before : 0;
  const size_t room = g.end - g.begin - size;
  if (distance + REST > room) distance = room;
  chunk->begin = g.begin + distance;
  chunk->end = chunk->begin + size;
  return true;
}

static void insert(hp_window_chunks *c, uint32_t place, const hp_window_chunk *chunk) {
  memmove(c->items + place + 1, c->items + place, (c->count - place) * sizeof *c->items);
  c->items[place] = *chunk;
  c->count++;
}

static size_t bytes_in_flight(const hp_window_chunks *c) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < c->count; i++) bytes += c->items[i].end - c->items[i].begin;
  return bytes;
}

static hp_claim claim(hp_window_chunks *c, uint32_t slot, unsigned percent, size_t most_bytes, hp_window_chunk *chunk) {
  if (c->is_closed) return HP_CLAIM_NEVER;
  if (c->count >= c->most || bytes_in_flight(c) >= c->most / 2 * MOST) return HP_CLAIM_LATER;
  uint32_t place = c->count;
  const bool is_given = c->cuts || c->size;
  if (!(is_given ? claim_given(c, chunk) : claim_in_gap(c, percent, least_of(most_bytes, MOST), chunk, &place)))
    return HP_CLAIM_NEVER;
  chunk->slot = slot;
  chunk->number = c->number++;
  insert(c, place, chunk);
  return HP_CLAIM_MADE;
}

hp_claim hp_chunks_claim(hp_window_chunks *c, uint32_t slot, unsigned percent, size_t most_bytes,
                         hp_window_chunk *chunk) {
  hp_turn();
  pthread_mutex_lock(&c->lock);
  hp_claim result = claim(c, slot, percent, most_bytes, chunk);
  pthread_mutex_unlock(&c->lock);
  return result;
}

/*** the merger ***/

size_t hp_chunks_advance(hp_window_chunks *c, size_t at, hp_window_chunk *chunk) {
  hp_turn();
  pthread_mutex_lock(&c->lock);
  c->merger = at;
  *chunk = (hp_window_chunk){0};
  size_t end = c->length;
  if (c->count) {
    end = c->items[0].begin;
    if (at >= end) *chunk = c->items[0];
  } else if (c->cuts || c->size) {
    const uint32_t first = c->next;
    while (c->next < given_count(c) && given_begin(c, c->next) <= at) c->next++;
    if (c->next > first + 1) c->skipped += c->next - first - 1;
    end = given_begin(c, c->next);
  }
  const size_t step = end > at + FAR ? 2 * STEP : STEP;
  if (end > at + step) end = at + step;
  c->reach = end > at ? end : at;
  pthread_mutex_unlock(&c->lock);
  return end;
}

void hp_chunks_remove_first(hp_window_chunks *c) {
  pthread_mutex_lock(&c->lock);
  c->count--;
  memmove(c->items, c->items + 1, c->count * sizeof *c->items);
  pthread_mutex_unlock(&c->lock);
}

void hp_chunks_close(hp_window_chunks *c) {
  pthread_mutex_lock(&c->lock);
  c->is_closed = true;
  pthread_mutex_unlock(&c->lock);
}

uint32_t hp_chunks_number(hp_window_chunks *c) {
  pthread_mutex_lock(&c->lock);
  uint32_t number = c->number++;
  pthread_mutex_unlock(&c->lock);
  return number;
}
