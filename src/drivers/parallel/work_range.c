#include "drivers/parallel/team.h"

#include "base/memory.h"

#include <string.h>

/* A chunk boundary costs the thief as much time as the parse of so many bytes. */
enum { BOUNDARY_BYTES = 5 << 9 };
/* The time for a chunk before any thread has measured it. */
enum { USUAL_TIME = 4 << 10 };
/* Each extension costs as much as the parse of some hundred bytes. A thread therefore extends its
 * chunk by a part of its range: by many chunks at first, and by single ones towards the end. */
enum { PARTS_OF_RANGE = 3 };

static uint64_t word_of(const hp_work_ranges *ranges, unsigned thread) {
  return atomic_load_explicit(&ranges->of_thread[thread].word, memory_order_relaxed);
}

static bool change_word(hp_work_ranges *ranges, unsigned thread, uint64_t from, uint64_t to) {
  return atomic_compare_exchange_strong_explicit(&ranges->of_thread[thread].word, &from, to, memory_order_relaxed,
                                                 memory_order_relaxed);
}

static void set_place(hp_work_range *range, uint64_t time, uint32_t chunk, uint32_t chunk_time) {
  atomic_store_explicit(&range->at_time, time, memory_order_relaxed);
  atomic_store_explicit(&range->at_chunk, chunk, memory_order_relaxed);
  atomic_store_explicit(&range->chunk_time, chunk_time, memory_order_relaxed);
}

hpar_status hp_work_ranges_open(hp_work_ranges *ranges, unsigned threads) {
  if (ranges->capacity < threads) {
    hp_work_range *grown = hp_reallocate(ranges->of_thread, threads * sizeof *grown);
    if (!grown) return HPAR_ERROR_MEMORY;
    memset(grown + ranges->capacity, 0, (threads - ranges->capacity) * sizeof *grown);
    ranges->of_thread = grown;
    ranges->capacity = threads;
  }
  for (unsigned t = 0; t < threads; t++) {
    ranges->of_thread[t].capacity = ranges->of_thread[t].speed = HP_FULL_SPEED;
    set_place(&ranges->of_thread[t], 0, 0, 0);
    hp_work_range_set(ranges, t, 0, 0);
  }
  ranges->threads = threads;
  ranges->chunk_size = BOUNDARY_BYTES;
  return HPAR_OK;
}

void hp_work_ranges_close(hp_work_ranges *ranges) {
  hp_free(ranges->of_thread);
  *ranges = (hp_work_ranges){0};
}

void hp_work_range_set(hp_work_ranges *ranges, unsigned thread, uint32_t low, uint32_t high) {
  atomic_store_explicit(&ranges->of_thread[thread].word, hp_packed_range(low, high), memory_order_relaxed);
}

void hp_work_range_reach(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint64_t now) {
  hp_work_range *range = &ranges->of_thread[thread];
  uint64_t before = atomic_load_explicit(&range->at_time, memory_order_relaxed);
  uint32_t from = atomic_load_explicit(&range->at_chunk, memory_order_relaxed);
  uint32_t chunk_time = atomic_load_explicit(&range->chunk_time, memory_order_relaxed);
  if (from && chunk > from && now > before) {
    uint64_t latest = (now - before) / (chunk - from);
    chunk_time = latest < UINT32_MAX ? (uint32_t)latest + 1 : UINT32_MAX;
  }
  set_place(range, now, chunk, chunk_time);
}

uint32_t hp_work_range_begin(const hp_work_ranges *ranges, unsigned thread) {
  return hp_low_chunk(word_of(ranges, thread));
}

bool hp_work_range_take(hp_work_ranges *ranges, unsigned from, uint32_t chunk, unsigned thread) {
  for (uint64_t word; hp_low_chunk(word = word_of(ranges, from)) < chunk && chunk < hp_high_chunk(word);) {
    if (!change_word(ranges, from, word, hp_packed_range(hp_low_chunk(word), chunk))) continue;
    hp_work_range_set(ranges, thread, chunk + 1, hp_high_chunk(word));
    return true;
  }
  return false;
}

/* What a thief reads about the threads. */
typedef struct prediction {
  const hp_work_ranges *ranges;
  uint64_t now;
  uint64_t mean; /* time for a chunk */
} prediction;

/* A part of a range that a thief may take. */
typedef struct part {
  unsigned from;
  uint64_t word; /* of the whole range */
  uint32_t chunks;
  uint32_t chunk_time; /* of the thief */
  int64_t boundary;    /* the time of a boundary */
  int64_t gain;        /* how much earlier both threads finish */
} part;

/* Returns the time of the thread for a chunk. It is longer than noted if the thread has worked for
 * longer on the chunks that it has claimed. */
static uint64_t chunk_time_of(const prediction *p, unsigned thread, uint64_t word) {
  const hp_work_range *range = &p->ranges->of_thread[thread];
  uint64_t time = atomic_load_explicit(&range->chunk_time, memory_order_relaxed);
  uint64_t since = atomic_load_explicit(&range->at_time, memory_order_relaxed);
  uint32_t at = atomic_load_explicit(&range->at_chunk, memory_order_relaxed);
  if (!time) time = p->mean * HP_FULL_SPEED / range->speed;
  if (at && hp_low_chunk(word) > at && p->now > since && p->now - since > time * (hp_low_chunk(word) - at))
    time = (p->now - since) / (hp_low_chunk(word) - at);
  return time < UINT32_MAX ? time : UINT32_MAX;
}

/* Returns the time until the thread finishes its range. */
static int64_t time_left(const prediction *p, unsigned thread, uint64_t word, uint64_t chunk_time) {
  const hp_work_range *range = &p->ranges->of_thread[thread];
  uint64_t since = atomic_load_explicit(&range->at_time, memory_order_relaxed);
  uint32_t at = atomic_load_explicit(&range->at_chunk, memory_order_relaxed);
  int64_t least = (int64_t)(hp_chunks_in(word) * chunk_time);
  if (!at || at > hp_high_chunk(word)) return least;
  int64_t left = (int64_t)((hp_high_chunk(word) - at) * chunk_time) - (int64_t)(p->now - since);
  return left > least ? left : least;
}

/* Returns the best part of the range of `from` for the thief. Requires: the range is not empty. */
static part choose_part(const prediction *p, unsigned from, uint64_t word, unsigned thief) {
  const hp_work_range *ranges = p->ranges->of_thread;
  uint64_t time = chunk_time_of(p, from, word), own = time * ranges[from].speed / ranges[thief].speed;
  if (own > UINT32_MAX) own = UINT32_MAX;
  int64_t left = time_left(p, from, word, time);
  int64_t boundary = (int64_t)(p->mean * BOUNDARY_BYTES / p->ranges->chunk_size);
  int64_t chunks = left > boundary ? (left - boundary) / (int64_t)(time + own) : 0;
  if (chunks > hp_chunks_in(word)) chunks = hp_chunks_in(word);
  if (chunks < 1) chunks = 1;
  int64_t owner_left = left - chunks * (int64_t)time, thief_left = boundary + chunks * (int64_t)own;
  return (part){.from = from,
                .word = word,
                .chunks = (uint32_t)chunks,
                .chunk_time = (uint32_t)own,
                .boundary = boundary,
                .gain = left - (owner_left > thief_left ? owner_left : thief_left)};
}

static uint64_t mean_chunk_time(const hp_work_ranges *ranges) {
  uint64_t sum = 0, count = 0;
  for (unsigned t = 0; t < ranges->threads; t++) {
    uint32_t time = atomic_load_explicit(&ranges->of_thread[t].chunk_time, memory_order_relaxed);
    sum += time;
    count += time != 0;
  }
  return count ? sum / count : USUAL_TIME;
}

static part choose_best_part(const hp_work_ranges *ranges, unsigned thread, uint64_t now) {
  const prediction p = {ranges, now, mean_chunk_time(ranges)};
  part best = {0};
  for (unsigned t = 0; t < ranges->threads; t++) {
    uint64_t word = word_of(ranges, t);
    if (!hp_chunks_in(word)) continue;
    part its = choose_part(&p, t, word, thread);
    if (its.gain > best.gain) best = its;
  }
  return best;
}

/* Takes the part of another range that gains most, and claims the first chunk of it. Returns 0 if
 * no part gains time. */
static uint32_t take_best_part(hp_work_ranges *ranges, unsigned thread, uint64_t now) {
  for (;;) {
    const part best = choose_best_part(ranges, thread, now);
    if (best.gain <= 0) return 0;
    uint32_t middle = hp_high_chunk(best.word) - best.chunks;
    if (!change_word(ranges, best.from, best.word, hp_packed_range(hp_low_chunk(best.word), middle))) continue;
    set_place(&ranges->of_thread[thread], now + (uint64_t)best.boundary, middle, best.chunk_time);
    hp_work_range_set(ranges, thread, middle + 1, hp_high_chunk(best.word));
    return middle;
  }
}

bool hp_claim_chunks(_Atomic uint64_t *range, uint32_t chunk, uint32_t count) {
  uint64_t word = atomic_load_explicit(range, memory_order_relaxed);
  while (hp_chunks_in(word) >= count && hp_low_chunk(word) == chunk)
    if (atomic_compare_exchange_weak_explicit(range, &word, word + count, memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

uint32_t hp_claim_first_chunk(_Atomic uint64_t *range) {
  for (uint64_t word; hp_chunks_in(word = atomic_load_explicit(range, memory_order_acquire));)
    if (hp_claim_chunks(range, hp_low_chunk(word), 1)) return hp_low_chunk(word);
  return 0;
}

uint32_t hp_work_range_claim(hp_work_ranges *ranges, unsigned thread, uint64_t now) {
  uint32_t own = hp_claim_first_chunk(&ranges->of_thread[thread].word);
  return own ? own : take_best_part(ranges, thread, now);
}

uint32_t hp_work_range_claim_last(hp_work_ranges *ranges, unsigned thread) {
  for (uint64_t word; hp_chunks_in(word = word_of(ranges, thread));)
    if (change_word(ranges, thread, word, word - hp_packed_range(0, 1))) return hp_high_chunk(word) - 1;
  return 0;
}

bool hp_work_range_claim_chunk(hp_work_ranges *ranges, uint32_t chunk) {
  for (unsigned t = 0; t < ranges->threads; t++)
    if (hp_claim_chunks(&ranges->of_thread[t].word, chunk, 1)) return true;
  return false;
}

uint32_t hp_work_range_extend(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint32_t most) {
  uint32_t count = hp_chunks_in(word_of(ranges, thread)) / PARTS_OF_RANGE;
  if (count > most) count = most;
  if (count < 1) count = 1;
  return hp_claim_chunks(&ranges->of_thread[thread].word, chunk, count) ? count : 0;
}

uint32_t hp_work_range_limit(hp_work_ranges *ranges, unsigned thread, uint32_t chunk) {
  uint64_t own = word_of(ranges, thread);
  return hp_chunks_in(own) && hp_low_chunk(own) == chunk + 1 ? hp_high_chunk(own) : chunk + 1;
}

/*** the speeds of threads ***/

enum { MIN_WORK = 64 << 10, MIN_JOBS = 4, MEMORY = 8, UNIT_NS = 1024, MIN_SPEED = 32 };
/* A processor with a quota pauses for 60 us of 100 us in experiments/asymmetry. */
enum { MIN_SAVED_NS = 100000 };

unsigned hp_threads_that_save(const hp_processors *processors, unsigned threads, uint64_t alone_ns) {
  const uint16_t *capacity = processors->capacity;
  unsigned count = processors->count;
  while (threads > 1) {
    uint64_t slowest = capacity[(threads - 1) % count], slow = 0, others = 0;
    unsigned first = threads;
    while (first > 0 && capacity[(first - 1) % count] == slowest) first--;
    for (unsigned t = 0; t < threads; t++) *(t < first ? &others : &slow) += capacity[t % count];
    if (!first || slowest == HP_FULL_CAPACITY) break;
    if (alone_ns * HP_FULL_CAPACITY / others * slow / (others + slow) >= MIN_SAVED_NS) break;
    threads = first;
  }
  return threads;
}

unsigned hp_speed_threads(hp_team *team, const hp_executor *executor, const char *text, size_t length,
                          unsigned threads) {
  const hp_work_ranges *ranges = &team->queue.ranges;
  const hp_processors *found = executor->bind ? hp_allowed_processors() : NULL;
  if (!found || !found->is_listed || !length) return threads;
  if (!ranges->capacity || ranges->of_thread[0].jobs < MIN_JOBS || !ranges->of_thread[0].measured) return threads;
  hp_estimate_cost(&team->work, text, length);
  uint64_t alone_ns = hp_cost_until(&team->work, length) * UNIT_NS / ranges->of_thread[0].measured;
  return hp_threads_that_save(found, threads, alone_ns);
}

/* Sets the speeds by the processors to which the threads are bound. */
static void set_by_capacity(hp_work_ranges *ranges) {
  const hp_processors *found = hp_allowed_processors();
  for (unsigned t = 0; found && t < ranges->threads; t++)
    ranges->of_thread[t].capacity = ranges->of_thread[t].speed = found->capacity[t % found->count];
}

/* Sets the speeds by earlier jobs, unless some thread has too few of them. On cores of equal speed,
 * the measured speeds differ by up to a quarter, because the estimate of the work is not exact.
 * Such speeds count as equal. */
static void set_by_measurement(hp_work_ranges *ranges) {
  uint32_t least = UINT32_MAX, most = 0;
  for (unsigned t = 0; t < ranges->threads; t++) {
    const hp_work_range *range = &ranges->of_thread[t];
    if (range->jobs < MIN_JOBS) return;
    if (range->measured < least) least = range->measured;
    if (range->measured > most) most = range->measured;
  }
  if (least >= most - most / 4) return;
  for (unsigned t = 0; t < ranges->threads; t++) {
    uint64_t speed = (uint64_t)ranges->of_thread[t].measured * HP_FULL_SPEED / most;
    ranges->of_thread[t].speed = speed < MIN_SPEED ? MIN_SPEED : (uint32_t)speed;
  }
}

void hp_speed_set(hp_job *job) {
  hp_work_ranges *ranges = &job->queue->ranges;
  if (!hp_is_pooled(job)) return;
  if (job->config.executor.bind) set_by_capacity(ranges);
  set_by_measurement(ranges);
}

static void add_measurement(hp_work_range *range, uint64_t work, uint64_t nanoseconds) {
  if (work < MIN_WORK || nanoseconds < UNIT_NS) return;
  uint64_t speed = work * UNIT_NS / nanoseconds;
  if (speed > UINT32_MAX / MEMORY) return;
  if (range->jobs < MEMORY) range->jobs++;
  range->measured = (uint32_t)(((uint64_t)range->measured * (range->jobs - 1) + speed) / range->jobs);
}

static void sum_work(const hp_job *job) {
  const hp_cost_estimate *estimate = &job->team->work;
  hp_work_range *of_thread = job->queue->ranges.of_thread;
  uint32_t published = hp_published_chunks(job->queue);
  for (unsigned t = 0; t < job->division.threads; t++) of_thread[t].work = 0;
  for (uint32_t i = 0; i < published; i += hp_chunk_span(hp_chunk_at(job->queue, i))) {
    const hp_chunk *c = hp_chunk_at(job->queue, i);
    unsigned owner = atomic_load_explicit(&c->owner, memory_order_relaxed);
    if (c->limit <= c->cut) continue;
    of_thread[owner ? owner - 1 : 0].work += hp_cost_until(estimate, c->limit) - hp_cost_until(estimate, c->cut);
  }
}

void hp_speed_measure(hp_job *job) {
  const hp_team *team = job->team;
  hp_work_range *of_thread = job->queue->ranges.of_thread;
  uint64_t idle = job->times.wait_ns + job->counters->merge_ns;
  if (!atomic_load_explicit(&job->shared.is_estimated, memory_order_acquire) || hp_crew_is_left(team->crew) ||
      job->position.rescued)
    return;
  sum_work(job);
  if (job->times.busy_ns > idle) add_measurement(&of_thread[0], of_thread[0].work, job->times.busy_ns - idle);
  for (unsigned t = 1; t < job->division.threads; t++)
    add_measurement(&of_thread[t], of_thread[t].work, team->workers[t]->nanoseconds);
}
