#include "drivers/parallel/speed.h"

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
  hp_estimate_work(&team->work, text, length);
  uint64_t alone_ns = hp_work_until(&team->work, length) * UNIT_NS / ranges->of_thread[0].measured;
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

/* Adds a job to the mean. */
static void add_measurement(hp_work_range *range, uint64_t work, uint64_t nanoseconds) {
  if (work < MIN_WORK || nanoseconds < UNIT_NS) return;
  uint64_t speed = work * UNIT_NS / nanoseconds;
  if (speed > UINT32_MAX / MEMORY) return;
  if (range->jobs < MEMORY) range->jobs++;
  range->measured = (uint32_t)(((uint64_t)range->measured * (range->jobs - 1) + speed) / range->jobs);
}

/* Sums the work of each thread in the finished job. */
static void sum_work(const hp_job *job) {
  const hp_work_estimate *estimate = &job->team->work;
  hp_work_range *of_thread = job->queue->ranges.of_thread;
  uint32_t published = hp_published_chunks(job->queue);
  for (unsigned t = 0; t < job->division.threads; t++) of_thread[t].work = 0;
  for (uint32_t i = 0; i < published; i += hp_chunk_span(hp_chunk_at(job->queue, i))) {
    const hp_chunk *c = hp_chunk_at(job->queue, i);
    unsigned owner = atomic_load_explicit(&c->owner, memory_order_relaxed);
    if (c->limit <= c->cut) continue;
    of_thread[owner ? owner - 1 : 0].work += hp_work_until(estimate, c->limit) - hp_work_until(estimate, c->cut);
  }
}

void hp_speed_measure(hp_job *job) {
  const hp_team *team = job->team;
  hp_work_range *of_thread = job->queue->ranges.of_thread;
  uint64_t idle = job->times.wait_ns + job->counters->merge_ns;
  if (!atomic_load_explicit(&job->shared.is_estimated, memory_order_acquire) || !job->merger.done ||
      hp_crew_is_left(team->crew) || job->position.rescued)
    return;
  sum_work(job);
  if (job->times.busy_ns > idle) add_measurement(&of_thread[0], of_thread[0].work, job->times.busy_ns - idle);
  for (unsigned t = 1; t < job->division.threads; t++)
    add_measurement(&of_thread[t], of_thread[t].work, team->workers[t]->nanoseconds);
}
