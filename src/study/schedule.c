#include "study/schedule.h"

#include <stdbool.h>

typedef struct queue {
  /* chunks low to high - 1: the merger's range; next: the first of the other chunks */
  size_t low, high, next, count;
} queue;

/* Returns the end of the merger's range: the merger is faster than a worker, 11 to 10, because
 * it keeps no log. */
static size_t merger_range(size_t length, unsigned cores) {
  enum { MERGER = 11, WORKER = 10 };
  return (size_t)((uint64_t)length * MERGER / (MERGER + WORKER * (uint64_t)(cores - 1)));
}

/* Takes the next chunk for a worker. Returns 0 if all chunks are taken. */
static size_t take_chunk(queue *q) {
  if (q->next < q->count) return q->next++;
  return q->low < q->high ? --q->high : 0;
}

/* Takes `chunk` for the merger unless a worker has taken it. */
static bool take_for_merger(queue *q, size_t chunk) {
  if (q->low == chunk && chunk < q->high) {
    q->low++;
    return true;
  }
  if (q->next != chunk) return false;
  q->next++;
  return true;
}

static unsigned first_idle(const uint64_t *workers, unsigned count) {
  unsigned first = 0;
  for (unsigned w = 1; w < count; w++)
    if (workers[w] < workers[first]) first = w;
  return first;
}

uint64_t hp_schedule(const hp_schedule_input *input, uint64_t *workers) {
  hp_scheduled_task *tasks = input->tasks;
  size_t count = input->count, range = 1, end = merger_range(input->length, input->cores);
  while (range < count && tasks[range].cut < end) range++;
  queue q = {.low = 1, .high = range, .next = range, .count = count};
  uint64_t merger = input->prelude;
  unsigned others = input->cores - 1;
  for (unsigned w = 0; w < others; w++) workers[w] = input->prelude + input->wake;
  for (size_t i = 0; i < count; i++) tasks[i].done = i ? UINT64_MAX : 0;
  for (size_t head = 0; head < count;) {
    unsigned first = first_idle(workers, others);
    if (others && workers[first] <= merger) {
      size_t chunk = take_chunk(&q);
      if (chunk) workers[first] = tasks[chunk].done = workers[first] + tasks[chunk].parse;
      if (!chunk) workers[first] = UINT64_MAX; /* the worker goes to sleep */
    } else if (!head || (tasks[head].done == UINT64_MAX && input->cores > 1 && take_for_merger(&q, head))) {
      merger += tasks[head++].exact;
    } else if (tasks[head].done <= merger) {
      merger += tasks[head++].merge;
    } else {
      size_t chunk = take_chunk(&q);
      if (chunk)
        merger = tasks[chunk].done = merger + tasks[chunk].parse;
      else
        merger = tasks[head].done;
    }
  }
  return merger;
}
