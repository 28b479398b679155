/* Checks hpar project: the schedule of measured tasks on virtual cores. Chunks have equal sizes. A
 * worker takes 10 us for a chunk, the merge of its log 1 us, and the merger by itself 9 us. */

#include "study/schedule.h"

#include "check.h"

enum { CHUNKS = 21, PARSE = 10000, MERGE = 1000, EXACT = 9000, MAX_CORES = 64 };

static hp_scheduled_task tasks[CHUNKS];

static uint64_t schedule(unsigned cores, uint64_t prelude, uint64_t wake) {
  uint64_t workers[MAX_CORES];
  for (size_t i = 0; i < CHUNKS; i++)
    tasks[i] = (hp_scheduled_task){.parse = PARSE, .merge = MERGE, .exact = EXACT, .cut = i * 1000};
  hp_schedule_input input = {tasks, CHUNKS, CHUNKS * 1000, cores, prelude, wake};
  return hp_schedule(&input, workers);
}

static size_t parsed_by_workers(void) {
  size_t count = 0;
  for (size_t i = 1; i < CHUNKS; i++) count += tasks[i].done != UINT64_MAX;
  return count;
}

int main(void) {
  /* One core speculates on every chunk and merges it. The first chunk is exact. */
  CHECK_EQ(schedule(1, 0, 0), EXACT + (CHUNKS - 1) * (PARSE + MERGE));
  CHECK_EQ(schedule(1, 500, 0), 500 + EXACT + (CHUNKS - 1) * (PARSE + MERGE));
  /* Workers that wake too late do nothing: the merger parses all chunks by itself. */
  for (unsigned cores = 2; cores <= MAX_CORES; cores *= 2) {
    CHECK_EQ(schedule(cores, 500, 1000000000), 500 + CHUNKS * EXACT);
    CHECK_EQ(parsed_by_workers(), 0);
  }
  /* Two cores divide the chunks nearly in halves. */
  uint64_t two = schedule(2, 0, 0);
  CHECK(two >= CHUNKS * EXACT / 2 && two < CHUNKS * EXACT * 6 / 10);
  CHECK(parsed_by_workers() >= CHUNKS / 2 - 1 && parsed_by_workers() <= CHUNKS / 2 + 1);
  /* A core for each chunk: the workers need one parse, then the merges remain. */
  CHECK_EQ(schedule(MAX_CORES, 0, 0), PARSE + (CHUNKS - 1) * MERGE);
  CHECK_EQ(parsed_by_workers(), CHUNKS - 1);
  CHECK_EQ(schedule(MAX_CORES, 700, 300), 700 + 300 + PARSE + (CHUNKS - 1) * MERGE - 0);
  /* More cores never take longer here. */
  uint64_t last = UINT64_MAX;
  for (unsigned cores = 1; cores <= MAX_CORES; cores++) {
    uint64_t time = schedule(cores, 0, 1000);
    CHECK(time <= last);
    last = time;
  }
  return check_report();
}
