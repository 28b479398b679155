/* Checks the capacities of processors, the work ranges of threads of unequal speed, and parses on
 * such threads: each chunk is claimed once, faster threads get and take more, and the tree is the
 * sequential one. The affinity of the process and its clock decide nothing here. */

#include "base/memory.h"
#include "check.h"
#include "drivers/parallel/chunk_queue.h"
#include "drivers/parallel/team.h"
#include "platform/affinity.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_THREADS = 8, CHUNKS = 500, ROUNDS = 200, TEXT_BYTES = 300000, CHUNK_BYTES = 4096 };

static unsigned below(random_state *random, size_t limit) { return (unsigned)random_below(random, limit); }

/*** capacities ***/

static char root[] = "/tmp/hpar-speed.XXXXXX";

static void put(const char *folder, const char *name, const char *value) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", root, folder);
  for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    mkdir(path, 0700);
  }
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
  FILE *file = fopen(path, "w");
  if (!CHECK(file)) return;
  fputs(value, file);
  fclose(file);
}

static void remove_root(void) {
  static const char *const paths[] = {"cpu0/cpu_capacity",
                                      "cpu1/cpu_capacity",
                                      "cpu0/cpufreq/cpuinfo_max_freq",
                                      "cpu1/cpufreq/cpuinfo_max_freq",
                                      "cpu0/cpufreq",
                                      "cpu1/cpufreq",
                                      "cpu0",
                                      "cpu1",
                                      ""};
  char path[256];
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    snprintf(path, sizeof path, "%s/%s", root, paths[i]);
    remove(path);
  }
}

/* Checks the capacities of processors 0 and 1. Without a source, `first` is 0. */
static void check_capacities(const char *listed, hp_capacity_source source, unsigned first, unsigned second) {
  static const uint16_t processors[] = {0, 1};
  uint16_t capacity[2] = {0, 0};
  CHECK_EQ(hp_read_capacities(root, listed, processors, 2, capacity), source);
  CHECK_EQ(capacity[0], first);
  CHECK_EQ(capacity[1], second);
}

static void check_sources(void) {
  if (!CHECK(mkdtemp(root))) return;
  check_capacities(NULL, HP_CAPACITY_UNKNOWN, 0, 0);
  check_capacities("", HP_CAPACITY_UNKNOWN, 0, 0);
  check_capacities("1024", HP_CAPACITY_UNKNOWN, 0, 0);
  check_capacities("1024,x", HP_CAPACITY_UNKNOWN, 0, 0);
  check_capacities("1024,0", HP_CAPACITY_UNKNOWN, 0, 0);
  check_capacities("5,20,7", HP_CAPACITY_LISTED, 256, 1024);
  check_capacities("1,1000000", HP_CAPACITY_LISTED, HP_MIN_CAPACITY, 1024);
  check_capacities("3,99999999999999999999", HP_CAPACITY_UNKNOWN, 0, 0);
  put("cpu0/cpufreq", "cpuinfo_max_freq", "1800000\n");
  check_capacities(NULL, HP_CAPACITY_UNKNOWN, 0, 0); /* the other processor has none */
  put("cpu1/cpufreq", "cpuinfo_max_freq", "2400000\n");
  check_capacities(NULL, HP_CAPACITY_OF_SYSTEM, 768, 1024);
  put("cpu0", "cpu_capacity", "1024\n");
  check_capacities(NULL, HP_CAPACITY_OF_SYSTEM, 768, 1024);
  put("cpu1", "cpu_capacity", "446\n");
  check_capacities(NULL, HP_CAPACITY_OF_SYSTEM, 1024, 446);
  check_capacities("1,2", HP_CAPACITY_LISTED, 512, 1024);
  check_capacities("1", HP_CAPACITY_OF_SYSTEM, 1024, 446);
  remove_root();
}

/*** work ranges ***/

static uint32_t left_of(const hp_work_ranges *ranges, unsigned thread) {
  uint64_t word = atomic_load(&ranges->of_thread[thread].word);
  return (uint32_t)(word >> 32) > (uint32_t)word ? (uint32_t)(word >> 32) - (uint32_t)word : 0;
}

/* Threads of random speed claim chunks in a random order until all are claimed. */
static void check_claims(random_state *random) {
  hp_work_ranges ranges = {0};
  bool claimed[CHUNKS + 1] = {false};
  unsigned threads = 1 + below(random, MOST_THREADS), count = 0, idle = 0;
  if (!CHECK_EQ(hp_work_ranges_open(&ranges, threads), HPAR_OK)) return;
  uint32_t low = 1;
  for (unsigned t = 0; t < threads; t++) {
    uint32_t high = t + 1 == threads ? CHUNKS + 1 : low + below(random, CHUNKS + 2 - low);
    hp_work_range_set(&ranges, t, low, high);
    ranges.of_thread[t].speed = 1 + below(random, HP_FULL_SPEED);
    low = high;
  }
  while (count < CHUNKS && idle < 100 * MOST_THREADS) {
    unsigned thread = below(random, threads);
    uint32_t chunk = hp_work_range_claim(&ranges, thread, 0);
    idle = chunk ? 0 : idle + 1;
    for (uint32_t joined = chunk ? 1 : 0; joined;
         chunk += joined, joined = hp_work_range_extend(&ranges, thread, chunk, 3))
      for (uint32_t i = 0; i < joined; i++, count++) {
        if (!CHECK(chunk + i <= CHUNKS && !claimed[chunk + i])) break;
        claimed[chunk + i] = true;
      }
  }
  for (unsigned t = 0; t < threads; t++) count += left_of(&ranges, t);
  CHECK_EQ(count, CHUNKS);
  hp_work_ranges_close(&ranges);
}

/* Returns how many of 100 chunks of a thread another one takes. */
static uint32_t taken(uint32_t speed, uint32_t others) {
  hp_work_ranges ranges = {0};
  if (!CHECK_EQ(hp_work_ranges_open(&ranges, 2), HPAR_OK)) return 0;
  hp_work_range_set(&ranges, 0, 1, 1);
  hp_work_range_set(&ranges, 1, 1, 101);
  ranges.of_thread[0].speed = speed;
  ranges.of_thread[1].speed = others;
  hp_work_range_claim(&ranges, 0, 0);
  uint32_t left = left_of(&ranges, 1);
  hp_work_ranges_close(&ranges);
  return 100 - left;
}

/* A thread takes from the range that would last longest, not from the largest one. */
static void check_choice(void) {
  hp_work_ranges ranges = {0};
  if (!CHECK_EQ(hp_work_ranges_open(&ranges, 3), HPAR_OK)) return;
  hp_work_range_set(&ranges, 0, 1, 1);
  hp_work_range_set(&ranges, 1, 1, 61);
  hp_work_range_set(&ranges, 2, 61, 101);
  ranges.of_thread[2].speed = HP_FULL_SPEED / 2;
  uint32_t chunk = hp_work_range_claim(&ranges, 0, 0);
  CHECK(chunk >= 61);
  CHECK_EQ(left_of(&ranges, 1), 60);
  hp_work_ranges_close(&ranges);
}

/* Lets the thread parse two chunks from the first one of its range on, until `end`. Each takes
 * `time`. */
static void parse_two(hp_work_ranges *ranges, unsigned thread, uint64_t time, uint64_t end) {
  uint32_t chunk = hp_work_range_claim(ranges, thread, 0);
  for (unsigned i = 0; i < 3; i++, chunk++) {
    hp_work_range_reach(ranges, thread, chunk, end - (2 - i) * time);
    if (i) CHECK_EQ(hp_work_range_extend(ranges, thread, chunk, 1), 1);
  }
}

/* Of two equal ranges, a thread takes a part of the one whose chunks take longer. */
static void check_prediction(void) {
  hp_work_ranges ranges = {0};
  if (!CHECK_EQ(hp_work_ranges_open(&ranges, 3), HPAR_OK)) return;
  hp_work_range_set(&ranges, 0, 1, 1);
  hp_work_range_set(&ranges, 1, 1, 21);
  hp_work_range_set(&ranges, 2, 21, 41);
  parse_two(&ranges, 1, 1000, 6000);
  parse_two(&ranges, 2, 3000, 6000);
  CHECK(hp_work_range_claim(&ranges, 0, 6500) >= 24);
  CHECK_EQ(left_of(&ranges, 1), 17);
  CHECK_EQ(left_of(&ranges, 2), 9);
  /* A thread without progress: its next chunk takes as long as this one. */
  hp_work_range_set(&ranges, 0, 1, 1);
  uint32_t chunk = hp_work_range_claim(&ranges, 0, 100000);
  CHECK(chunk && chunk < 21);
  hp_work_ranges_close(&ranges);
}

/* A thread takes no chunk if the owner alone finishes earlier. */
static void check_refusal(void) {
  hp_work_ranges ranges = {0};
  if (!CHECK_EQ(hp_work_ranges_open(&ranges, 3), HPAR_OK)) return;
  hp_work_range_set(&ranges, 0, 1, 1);
  hp_work_range_set(&ranges, 1, 1, 5);
  hp_work_range_set(&ranges, 2, 5, 5);
  parse_two(&ranges, 1, 1000, 2000);
  CHECK_EQ(left_of(&ranges, 1), 1);
  CHECK_EQ(hp_work_range_claim(&ranges, 0, 2900), 0);
  hp_work_range_set(&ranges, 1, 4, 6);
  CHECK_EQ(hp_work_range_claim(&ranges, 0, 9000), 5);
  hp_work_ranges_close(&ranges);
}

/* Threads that have measured their speeds take parts by them. The first thread is the slowest. */
static void check_measured(void) {
  enum { JOBS = 4 };
  static const uint32_t measured[] = {200, 400, 800}, speeds[] = {256, 512, 1024};
  hp_chunk_queue queue = {0};
  hp_job job = {.queue = &queue, .config.executor.kind = HPAR_EXECUTOR_THREADS};
  if (!CHECK_EQ(hp_work_ranges_open(&queue.ranges, 3), HPAR_OK)) return;
  for (unsigned t = 0; t < 3; t++) {
    queue.ranges.of_thread[t].measured = measured[t];
    queue.ranges.of_thread[t].jobs = t ? JOBS : JOBS - 1;
  }
  hp_speed_set(&job);
  for (unsigned t = 0; t < 3; t++) CHECK_EQ(queue.ranges.of_thread[t].speed, HP_FULL_SPEED);
  queue.ranges.of_thread[0].jobs = JOBS;
  hp_speed_set(&job);
  for (unsigned t = 0; t < 3; t++) CHECK_EQ(queue.ranges.of_thread[t].speed, speeds[t]);
  static const uint32_t similar[] = {1000, 900, 800}, distant[] = {100000, 1, 50000};
  for (unsigned t = 0; t < 3; t++) queue.ranges.of_thread[t].measured = similar[t];
  hp_speed_set(&job);
  for (unsigned t = 0; t < 3; t++) CHECK_EQ(queue.ranges.of_thread[t].speed, speeds[t]);
  for (unsigned t = 0; t < 3; t++) queue.ranges.of_thread[t].measured = distant[t];
  hp_speed_set(&job);
  CHECK_EQ(queue.ranges.of_thread[0].speed, HP_FULL_SPEED);
  CHECK_EQ(queue.ranges.of_thread[1].speed, 32); /* not slower than that */
  CHECK_EQ(queue.ranges.of_thread[2].speed, HP_FULL_SPEED / 2);
  hp_work_ranges_close(&queue.ranges);
}

/* Places that do not fit the word of a range, because another thread reads both while they change,
 * only mislead the thief. */
static void check_places(void) {
  hp_work_ranges ranges = {0};
  if (!CHECK_EQ(hp_work_ranges_open(&ranges, 3), HPAR_OK)) return;
  hp_work_range_set(&ranges, 0, 1, 1);
  hp_work_range_set(&ranges, 2, 12, 12);
  hp_work_range_reach(&ranges, 1, 1, 1); /* the thread has claimed ten of eleven */
  hp_work_range_set(&ranges, 1, 11, 12);
  CHECK_EQ(hp_work_range_claim(&ranges, 0, 1), 11);
  CHECK_EQ(left_of(&ranges, 1), 0);
  hp_work_range_set(&ranges, 0, 1, 1);
  hp_work_range_set(&ranges, 1, 11, 31);
  hp_work_range_reach(&ranges, 1, 50, 1);
  uint32_t chunk = hp_work_range_claim(&ranges, 0, 2);
  CHECK(chunk > 11 && chunk < 31);
  CHECK_EQ(left_of(&ranges, 1), chunk - 11);
  /* a chunk that takes longer than the field can say */
  hp_work_range_reach(&ranges, 2, 60, 1);
  hp_work_range_reach(&ranges, 2, 61, UINT64_C(1) << 40);
  CHECK_EQ(atomic_load(&ranges.of_thread[2].chunk_time), UINT32_MAX);
  hp_work_range_set(&ranges, 2, 5, 9);
  CHECK_EQ(hp_work_range_limit(&ranges, 2, 4), 9);
  CHECK_EQ(hp_work_range_limit(&ranges, 2, 2), 3); /* the next chunk is not the thread's */
  CHECK(!hp_work_range_take(&ranges, 2, 9, 0) && !hp_work_range_take(&ranges, 2, 5, 0));
  CHECK_EQ(left_of(&ranges, 2), 4);
  CHECK(hp_work_range_take(&ranges, 2, 7, 0));
  CHECK_EQ(left_of(&ranges, 2), 2);
  CHECK_EQ(left_of(&ranges, 0), 1); /* without the claimed one */
  hp_work_ranges_close(&ranges);
}

/* What a job tells about the speed of its threads. Times that are too short, work that is too
 * little, and speeds that are too high do not count. */
static void check_measurement(void) {
  static hp_team team;
  static hp_worker worker;
  static hp_parallel_counters counters;
  static hp_crew crew;
  hp_worker *workers[] = {&worker, &worker};
  hp_job *job = &team.job;
  buffer text = {0};
  while (text.length < 700000) buffer_text(&text, "<<<<<<<<");
  team = (hp_team){.crew = &crew, .workers = workers};
  *job = (hp_job){.team = &team, .queue = &team.queue, .counters = &counters, .division.threads = 2};
  hp_estimate_cost(&team.work, text.bytes, text.length);
  hp_chunk_queue_reset(&team.queue);
  if (!CHECK_EQ(hp_work_ranges_open(&team.queue.ranges, 2), HPAR_OK)) return;
  const uint32_t half = (uint32_t)text.length / 2, end = (uint32_t)text.length;
  for (unsigned t = 0; t < 2; t++) {
    hp_chunk *chunk = hp_chunk_queue_append(&team.queue, t ? half : 0, t ? end : half);
    if (!CHECK(chunk)) return;
    atomic_store(&chunk->owner, (uint16_t)(t + 1));
    hp_chunk_queue_publish(&team.queue);
  }
  const hp_work_range *range = team.queue.ranges.of_thread;
  hp_speed_measure(job); /* without an estimate */
  CHECK_EQ(range[0].jobs + range[1].jobs, 0);
  atomic_store(&job->shared.is_estimated, true);
  job->times.busy_ns = job->times.wait_ns = 5000000; /* the merger has only waited */
  worker.nanoseconds = 1000;
  hp_speed_measure(job);
  CHECK_EQ(range[0].jobs + range[1].jobs, 0);
  job->times.wait_ns = 1000000;
  job->times.busy_ns = 5000000;
  worker.nanoseconds = 3000000;
  hp_speed_measure(job);
  CHECK_EQ(range[0].jobs, 1);
  CHECK_EQ(range[1].jobs, 1);
  const uint64_t work = hp_cost_until(&team.work, half);
  CHECK_EQ(range[0].measured, work * 1024 / 4000000);
  CHECK_EQ(range[1].measured, (hp_cost_until(&team.work, end) - work) * 1024 / 3000000);
  hp_chunk_at(&team.queue, 0)->limit = end; /* the whole text in a microsecond */
  worker.nanoseconds = 100;
  job->times.busy_ns = job->times.wait_ns + 1024;
  hp_speed_measure(job);
  CHECK_EQ(range[0].jobs, 1);
  hp_chunk_queue_close(&team.queue);
  buffer_free(&text);
}

/* A text without a length, or a thread without a measured speed, does not reduce the threads. */
static void check_unknown_speed(void) {
  static hp_team team;
  const hp_executor executor = {.kind = HPAR_EXECUTOR_THREADS, .threads = 3, .bind = true};
  if (!CHECK_EQ(hp_work_ranges_open(&team.queue.ranges, 3), HPAR_OK)) return;
  CHECK_EQ(hp_speed_threads(&team, &executor, "", 0, 3), 3);
  team.queue.ranges.of_thread[0].jobs = 100;
  CHECK_EQ(hp_speed_threads(&team, &executor, "<p>", 3, 3), 3);
  hp_work_ranges_close(&team.queue.ranges);
  const hp_parallel_config fits = {.fits_threads_to_input = true};
  CHECK_EQ(hp_useful_threads(&fits, 1000), 2);
  CHECK_EQ(hp_useful_threads(&fits, 640 << 10), 10);
  CHECK_EQ(hp_useful_threads(&fits, SIZE_MAX / 2), HPAR_MAX_THREADS);
}

/* With many threads, each range is longer than the one before by the time of a merge. Slow threads
 * at the beginning have empty ranges. */
static void check_stagger(void) {
  enum { MANY = 32 };
  hp_chunk_queue queue = {0};
  buffer text = {0};
  while (text.length < 2 * TEXT_BYTES) buffer_text(&text, "<p>text</p>");
  const hp_lazy_cuts cuts = {text.bytes, text.length, CHUNK_BYTES, &hp_smart_cuts};
  for (int lazy = 1; lazy >= 0; lazy--) {
    hp_chunk_queue_reset(&queue);
    queue.by_range = true;
    if (lazy) {
      hp_memory_fail_once(0);
      CHECK(!hp_chunk_queue_divide(&queue, &cuts));
      hp_memory_fail_once(UINT64_MAX);
      CHECK(hp_chunk_queue_divide(&queue, &cuts));
    }
    for (uint32_t at = 0; !lazy && at < text.length; at += CHUNK_BYTES) {
      CHECK(hp_chunk_queue_append(&queue, at, at + CHUNK_BYTES));
      hp_chunk_queue_publish(&queue);
    }
    if (!CHECK_EQ(hp_work_ranges_open(&queue.ranges, MANY), HPAR_OK)) break;
    for (unsigned t = 0; t < MANY / 2; t++) queue.ranges.of_thread[t].capacity = 1;
    hp_chunk_queue_share(&queue, NULL, text.length);
    CHECK_EQ(queue.is_staggered, lazy);
    uint32_t sum = 0;
    for (unsigned t = 0; t < MANY; t++) sum += left_of(&queue.ranges, t);
    CHECK_EQ(sum, hp_published_chunks(&queue) - 1);
    CHECK(left_of(&queue.ranges, MANY / 2 - 1) <= 1);
  }
  hp_chunk_queue_close(&queue);
  buffer_free(&text);
}

/* A text that is shorter than the distance of two samples has no part for the second thread. */
static void check_short_text(void) {
  hp_chunk_queue queue = {0};
  static const char text[] = "<p>text</p><p>text</p><p>text</p><p>text</p><p>text</p>";
  const hp_lazy_cuts cuts = {text, sizeof text - 1, 16, &hp_smart_cuts};
  hp_cost_estimate work;
  hp_estimate_cost(&work, text, sizeof text - 1);
  hp_chunk_queue_reset(&queue);
  queue.by_range = true;
  if (CHECK_EQ(hp_work_ranges_open(&queue.ranges, 2), HPAR_OK) && CHECK(hp_chunk_queue_divide(&queue, &cuts))) {
    hp_chunk_queue_give_all(&queue);
    CHECK_EQ(hp_chunk_queue_take_part(&queue, &work), 0);
    CHECK_EQ(left_of(&queue.ranges, 0), hp_lazy_chunks(&cuts) - 1);
  }
  hp_chunk_queue_close(&queue);
}

/* The second thread takes the end of the merger's range, where its share of the work begins. */
static void check_taken_part(void) {
  hp_chunk_queue queue = {0};
  buffer text = {0};
  while (text.length < TEXT_BYTES) buffer_text(&text, "<p>text</p>");
  const hp_lazy_cuts cuts = {text.bytes, text.length, CHUNK_BYTES, &hp_smart_cuts};
  hp_cost_estimate work;
  hp_estimate_cost(&work, text.bytes, text.length);
  hp_chunk_queue_reset(&queue);
  atomic_store(&queue.closed, true);
  CHECK(hp_chunk_queue_is_finished(&queue));
  hp_chunk_queue_reset(&queue); /* of the next job, which publishes chunks later */
  CHECK(!hp_chunk_queue_is_finished(&queue));
  queue.by_range = true;
  if (CHECK_EQ(hp_work_ranges_open(&queue.ranges, 2), HPAR_OK) && CHECK(hp_chunk_queue_divide(&queue, &cuts))) {
    hp_chunk_queue_give_all(&queue);
    uint32_t all = left_of(&queue.ranges, 0), chunk = hp_chunk_queue_take_part(&queue, &work);
    CHECK_EQ(left_of(&queue.ranges, 0), chunk - 1);
    CHECK_EQ(left_of(&queue.ranges, 1), all - chunk);
    CHECK(chunk > all / 3 && chunk < all * 2 / 3);
  }
  hp_chunk_queue_close(&queue);
  buffer_free(&text);
}

/* Divides a text among threads. Each gets a part in proportion to its capacity, within a chunk and
 * the merger's larger share. */
static void check_shares(random_state *random) {
  hp_chunk_queue queue = {0};
  buffer text = {0};
  while (text.length < TEXT_BYTES) buffer_text(&text, "<p>text</p>");
  unsigned threads = 2 + below(random, MOST_THREADS - 1);
  const hp_lazy_cuts cuts = {text.bytes, text.length, CHUNK_BYTES, &hp_smart_cuts};
  hp_cost_estimate work;
  hp_estimate_cost(&work, text.bytes, text.length);
  for (int estimated = 0; estimated < 2; estimated++) {
    hp_chunk_queue_reset(&queue);
    queue.by_range = true;
    if (!CHECK_EQ(hp_work_ranges_open(&queue.ranges, threads), HPAR_OK) || !CHECK(hp_chunk_queue_divide(&queue, &cuts)))
      break;
    double whole = 0, share[MOST_THREADS];
    for (unsigned t = 0; t < threads; t++) {
      queue.ranges.of_thread[t].capacity = 100 + below(random, HP_FULL_SPEED - 100);
      whole += share[t] = (double)hp_relative_throughput(t) * queue.ranges.of_thread[t].capacity;
    }
    hp_chunk_queue_share(&queue, estimated ? &work : NULL, text.length);
    uint32_t sum = 0, slack = estimated ? 4 : 2;
    for (unsigned t = 0; t < threads; t++) {
      double expected = hp_lazy_chunks(&cuts) * share[t] / whole;
      uint32_t got = left_of(&queue.ranges, t);
      CHECK(got + slack >= expected && got <= expected + slack);
      sum += got;
    }
    CHECK_EQ(sum, hp_lazy_chunks(&cuts) - 1);
  }
  hp_chunk_queue_close(&queue);
  buffer_free(&text);
}

/*** threads that save time ***/

static unsigned saving(const hp_processors *processors, unsigned threads, unsigned microseconds) {
  return hp_threads_that_save(processors, threads, microseconds * UINT64_C(1000));
}

static void check_threads(void) {
  static const hp_processors equal = {.count = 2, .capacity = {1024, 1024}},
                             slow = {.count = 2, .capacity = {1024, 512}};
  static const hp_processors kinds = {.count = 4, .capacity = {1024, 1024, 256, 256}};
  CHECK_EQ(saving(&equal, 2, 1), 2);
  CHECK_EQ(saving(&equal, 1, 1), 1);
  /* A third of the time is saved. */
  CHECK_EQ(saving(&slow, 2, 299), 1);
  CHECK_EQ(saving(&slow, 2, 301), 2);
  CHECK_EQ(hp_threads_that_save(&slow, 2, 299999), 1);
  CHECK_EQ(hp_threads_that_save(&slow, 2, 300000), 2);
  CHECK_EQ(saving(&slow, 4, 1), 3); /* the third thread runs on the fast processor */
  /* Both slow ones save a tenth: 1/2 - 2/5. Alone, one of them saves 1/2 - 4/9. */
  CHECK_EQ(saving(&kinds, 4, 999), 2);
  CHECK_EQ(saving(&kinds, 4, 1001), 4);
  CHECK_EQ(saving(&kinds, 3, 1001), 2);
  CHECK_EQ(saving(&kinds, 3, 1801), 3);
}

/*** parses ***/

static const char *const units[] = {"<p>text</p>", "<div><b>x</b></div>", "<table><td>y</table>",
                                    "</div>",      "<!-- <p> -->",        "<script>if (a) b = '<p>';</script>"};

/* Parses with bound threads. HPAR_CPU_CAPACITY gives them unequal capacities. */
static void check_parses(random_state *random) {
  hpar_parser *parser = NULL;
  hpar_document *sequential = NULL, *parallel = NULL;
  if (!CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&sequential) && !hpar_document_create(&parallel)))
    return;
  buffer text = {0}, expected = {0}, got = {0};
  enum { TEXTS = 12 }; /* from the fifth on, threads have measured speeds */
  for (int i = 0; i < TEXTS; i++) {
    hpar_document_clear(parallel); /* a late thread reads the text until then */
    buffer_clear(&text);
    static const size_t lengths[] = {TEXT_BYTES / 4, TEXT_BYTES, 2 * TEXT_BYTES / 3};
    while (text.length < lengths[i % 3]) buffer_text(&text, RANDOM_OF(random, units));
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
    CHECK_EQ(hpar_parse(parser, &options, text.bytes, text.length, sequential, NULL), HPAR_OK);
    buffer_clear(&expected);
    CHECK(compare_dump(sequential, &expected));
    for (unsigned threads = 2; threads <= 3; threads++) {
      options = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads,
                               .parallel = {.affinity = HPAR_AFFINITY_CORES}};
      CHECK_EQ(hpar_parse(parser, &options, text.bytes, text.length, parallel, NULL), HPAR_OK);
      buffer_clear(&got);
      CHECK(compare_dump(parallel, &got));
      CHECK(got.length == expected.length && !memcmp(got.bytes, expected.bytes, got.length));
    }
  }
  hpar_document_destroy(sequential);
  hpar_document_destroy(parallel);
  hpar_parser_destroy(parser);
  buffer_free(&text);
  buffer_free(&expected);
  buffer_free(&got);
}

/* A process reads the capacities once. With these, two threads save time, but a third one does not,
 * and then not even a second one. */
static void check_others(void) {
  static const char *const capacities[] = {"16,1024,16,1024,16,1024,16,1024", "1024,16,16,16,16,16,16,16"};
  for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
      random_state random = {22};
      setenv("HPAR_CPU_CAPACITY", capacities[i], 1);
      check_parses(&random);
      exit(check_failed != 0);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
  }
}

int main(void) {
  if (compare_possible()) check_others();
  setenv("HPAR_CPU_CAPACITY", "300,1024,40,700,1024,512,1,90", 1);
  random_state random = {22};
  check_sources();
  for (int i = 0; i < ROUNDS; i++) check_claims(&random);
  CHECK_EQ(taken(1024, 1024), 49);
  CHECK_EQ(taken(1024, 512), 66);
  CHECK_EQ(taken(512, 1024), 33);
  CHECK_EQ(taken(1, 1024), 0);
  CHECK_EQ(taken(1024, 1), 99);
  check_choice();
  check_prediction();
  check_refusal();
  check_threads();
  check_measured();
  check_taken_part();
  check_places();
  check_measurement();
  check_unknown_speed();
  check_stagger();
  check_short_text();
  for (int i = 0; i < 20; i++) check_shares(&random);
  if (compare_possible()) check_parses(&random);
  return check_report();
}
