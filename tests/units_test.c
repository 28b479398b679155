/* Checks units of work (runtime/units.h): each one runs once, and is admitted once and in order. A
 * straggler holds neither the caller nor other units: its unit is given up, and its job is dropped
 * when it has left. A batch goes on beside a late thread, and reports in order. No case depends on
 * time: threads wait for each other. */

#include "runtime/units.h"

#include "base/memory.h"
#include "check.h"
#include "platform/affinity.h"

#include <hpar/hpar.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNITS = 64, THREADS = 3 };

typedef struct job {
  _Atomic unsigned runs[UNITS], consumptions[UNITS];
  _Atomic unsigned begun, admitted, dropped;
  _Atomic unsigned wrong; /* what a thread has found, because checks are for one thread at a time */
  hp_unit_plan plan;
  hp_unit_queue queue;
  hp_unit_state states[UNITS + 1];
  hp_unit_steps *steps;
  bool may_be_left;           /* a unit may be taken from all threads but the calling one */
  bool runs_first;            /* no unit is consumed before all have run */
  bool is_inline;             /* all units before the one that is admitted are consumed */
  _Atomic unsigned cancel_at; /* the unit that cancels the others; 0: none */
  bool holds_first;           /* the first admission lasts until all units are published */
  bool has_straggler;
  pthread_t caller;
  _Atomic bool has_stopped;
  sem_t release;
} job;

/* The first unit that another thread than the calling one runs is late. */
static void run_unit(void *context, size_t unit, unsigned thread, hp_unit_steps *steps) {
  job *j = context;
  atomic_fetch_add(&j->wrong, hp_unit_may_be_taken(steps) != (thread && j->may_be_left && steps));
  atomic_fetch_add(&j->begun, 1);
  if (j->has_straggler) {
    if (pthread_equal(pthread_self(), j->caller)) {
      while (!atomic_load(&j->has_stopped)) sched_yield(); /* so that another thread has a unit */
    } else if (!atomic_exchange(&j->has_stopped, true)) {
      sem_wait(&j->release);
      atomic_fetch_add(&j->wrong, hp_unit_begin_write(steps)); /* the unit is taken */
    }
  }
  if (j->cancel_at && unit == j->cancel_at) hp_unit_queue_cancel(&j->queue);
  hp_note_step(steps);
  atomic_fetch_add(&j->runs[unit], 1);
}

static hp_admission admit_unit(void *context, size_t unit, size_t first) {
  job *j = context;
  CHECK(hp_unit_is_published(&j->states[unit]) && first <= unit);
  if (j->is_inline) CHECK_EQ(first, unit);
  if (j->runs_first) CHECK_EQ(atomic_load(&j->begun), j->plan.count);
  CHECK_EQ(atomic_load(&j->runs[unit]), 1);
  CHECK_EQ(atomic_fetch_add(&j->admitted, 1), unit);
  for (size_t i = 0; j->holds_first && !unit && i < j->plan.count; i++)
    while (!hp_unit_is_complete(&j->states[i])) sched_yield();
  return HP_ADMIT_NOW;
}

static void consume_unit(void *context, size_t unit) {
  job *j = context;
  atomic_fetch_add(&j->consumptions[unit], 1);
}

static void drop_job(void *context) {
  job *j = context;
  atomic_fetch_add(&j->dropped, 1);
}

static const hp_unit_client silent = {.run = run_unit, .drop = drop_job},
                            consuming = {
                                .run = run_unit, .admit = admit_unit, .consume = consume_unit, .drop = drop_job};

/* The steps of the units, and no memory after them. */
static hp_unit_steps *fenced_steps(void) {
  static char *fence;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (UNITS * sizeof(hp_unit_steps) + page - 1) / page * page;
  if (!fence) {
    char *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED && !mprotect(memory + size, page, PROT_NONE))) exit(check_report());
    fence = memory + size;
  }
  return memset(fence - UNITS * sizeof(hp_unit_steps), 0, UNITS * sizeof(hp_unit_steps));
}

static void open_job(job *j, const hp_unit_client *client, size_t count) {
  memset((void *)j, 0, sizeof *j);
  j->steps = fenced_steps();
  j->caller = pthread_self();
  sem_init(&j->release, 0, 0);
  j->plan = (hp_unit_plan){.client = client, .job = j, .count = count, .states = j->states, .steps = j->steps};
}

static void check_all(const job *j, bool consumed) {
  CHECK_EQ(atomic_load(&j->wrong), 0);
  for (size_t i = 0; i < j->plan.count; i++) {
    CHECK_EQ(atomic_load(&j->runs[i]), 1);
    CHECK_EQ(atomic_load(&j->consumptions[i]), consumed);
    CHECK_EQ(atomic_load(&j->states[i]), consumed ? HP_UNIT_CONSUMED : HP_UNIT_PUBLISHED);
  }
}

static void one_unit(void) {
  hp_unit_state unit = HP_UNIT_FREE;
  CHECK(hp_unit_claim(&unit) && !hp_unit_claim(&unit));
  CHECK(!hp_unit_is_complete(&unit) && !hp_unit_hold(&unit, 0));
  CHECK(hp_unit_publish(&unit) && !hp_unit_give_up(&unit) && hp_unit_is_published(&unit));
  CHECK(hp_unit_hold(&unit, 7) && !hp_unit_hold(&unit, 1));
  CHECK_EQ(hp_unit_holder(&unit), 8);
  CHECK(hp_unit_is_complete(&unit) && !hp_unit_is_published(&unit));
  hp_unit_release(&unit);
  CHECK(hp_unit_is_published(&unit) && !hp_unit_holder(&unit));
  hp_unit_free(&unit);
  CHECK(hp_unit_claim(&unit) && hp_unit_give_up(&unit) && !hp_unit_publish(&unit) && !hp_unit_is_complete(&unit));
  hp_unit_free(&unit);
  CHECK(hp_unit_give_up(&unit) && !hp_unit_claim(&unit)); /* the thread was late before its claim */
  CHECK(!hp_unit_give_up(&unit));
  hp_unit_free(&unit);
  CHECK(hp_unit_claim(&unit) && hp_unit_publish(&unit) && hp_unit_hold(&unit, 0));
  CHECK_EQ(hp_unit_holder(&unit), 1);
}

/* A thread that gives a unit up, or ends the consumption, waits for one that writes or consumes. A
 * result that is published meanwhile is not given up. */
static struct {
  hp_unit_state unit;
  hp_unit_queue queue;
  _Atomic bool begins;
  uint32_t next;
} other;

static void *go_on(void *unused) {
  while (!atomic_load(&other.begins)) sched_yield();
  for (int i = 0; i < 100; i++) sched_yield(); /* the calling thread looks meanwhile */
  atomic_store(&other.unit, other.next);
  atomic_store(&other.queue.admits, 0);
  while (!atomic_load(&other.queue.admits)) sched_yield();
  for (int i = 0; i < 100; i++) sched_yield(); /* the same */
  atomic_store(&other.queue.consuming, 0);
  return unused;
}

static void waits_for_writers(void) {
  static const uint32_t next[] = {HP_UNIT_CLAIMED, HP_UNIT_PUBLISHED};
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    atomic_store(&other.begins, false);
    atomic_store(&other.unit, HP_UNIT_WRITING);
    atomic_store(&other.queue.admits, 1);
    atomic_store(&other.queue.consuming, 1);
    other.next = next[i];
    if (!CHECK(!pthread_create(&thread, NULL, go_on, NULL))) return;
    atomic_store(&other.begins, true);
    CHECK_EQ(hp_unit_give_up(&other.unit), next[i] == HP_UNIT_CLAIMED);
    CHECK_EQ(atomic_load(&other.unit), next[i] == HP_UNIT_CLAIMED ? HP_UNIT_GIVEN_UP : HP_UNIT_PUBLISHED);
    hp_unit_queue_stop_consuming(&other.queue);
    CHECK_EQ(atomic_load(&other.queue.consuming), 0);
    CHECK_EQ(atomic_load(&other.queue.admits), 1); /* no thread admits any more */
    pthread_join(thread, NULL);
  }
}

/* Two threads take the same units at the same time: one of them gets each unit. */
static struct {
  pthread_barrier_t barrier;
  hp_unit_state units[2000];
  unsigned claimed[2], held[2], given_up, published;
} contest;

enum { CONTESTED = sizeof contest.units / sizeof *contest.units, CONTESTS = 50 };

static void *contend(void *argument) {
  const unsigned thread = *(const unsigned *)argument;
  for (int i = 0; i < CONTESTS; i++) {
    pthread_barrier_wait(&contest.barrier);
    for (unsigned k = 0; k < CONTESTED; k++) contest.claimed[thread] += hp_unit_claim(&contest.units[k]);
    pthread_barrier_wait(&contest.barrier);
    for (unsigned k = 0; k < CONTESTED; k++) {
      if (thread)
        contest.given_up += hp_unit_give_up(&contest.units[k]);
      else
        contest.published += hp_unit_publish(&contest.units[k]);
    }
    pthread_barrier_wait(&contest.barrier);
    for (unsigned k = 0; k < CONTESTED; k++) contest.held[thread] += hp_unit_hold(&contest.units[k], thread);
    pthread_barrier_wait(&contest.barrier);
    for (unsigned k = thread; k < CONTESTED; k += 2) hp_unit_free(&contest.units[k]);
  }
  return NULL;
}

static void contests(void) {
  static const unsigned number[] = {0, 1};
  pthread_t thread;
  pthread_barrier_init(&contest.barrier, NULL, 2);
  if (!CHECK(!pthread_create(&thread, NULL, contend, (void *)(uintptr_t)&number[1]))) return;
  contend((void *)(uintptr_t)&number[0]);
  pthread_join(thread, NULL);
  pthread_barrier_destroy(&contest.barrier);
  CHECK_EQ(contest.claimed[0] + contest.claimed[1], CONTESTED * CONTESTS);
  CHECK_EQ(contest.given_up + contest.published, CONTESTED * CONTESTS);
  CHECK_EQ(contest.held[0] + contest.held[1], contest.published);
}

/* A run that may be left: on one thread, without counted steps, and without memory to count its
 * stragglers. All units are done when it has ended. */
static void may_leave(unsigned threads, bool has_steps, bool has_memory) {
  static job j;
  hp_crew crew = {0};
  const hp_executor executor = {.kind = HPAR_EXECUTOR_THREADS, .threads = THREADS};
  open_job(&j, &silent, UNITS);
  if (!has_steps) j.plan.steps = NULL;
  j.may_be_left = threads > 1;
  CHECK_EQ(hp_crew_prepare(&crew, &executor, THREADS), THREADS);
  if (!has_memory) hp_memory_fail_once(0);
  const bool is_done = hp_unit_queue_run(&j.queue, &j.plan, &crew, &executor, threads, true);
  hp_memory_fail_once(UINT64_MAX);
  CHECK(is_done || (has_memory && threads > 1)); /* on a busy machine, a thread may be late */
  CHECK(hp_crew_await(&crew));
  check_all(&j, false);
  hp_crew_close(&crew);
}

/* Any number of threads, by their own executors. They consume between two units, or one of them
 * does, or all do at the end. A published unit beyond the last one is none of the run. */
static void each_once(hp_crew *crew, hpar_executor kind) {
  enum { BY_PART, CONSUMING, ONE_CONSUMES, CONSUMING_LAST, WAYS };
  static job j;
  const hp_executor executor = {.kind = kind, .threads = THREADS};
  for (unsigned threads = THREADS; threads; threads--)
    for (size_t count = 0; count <= UNITS; count += 1 + count / 2)
      for (int way = 0; way < WAYS; way++) {
        open_job(&j, way == BY_PART ? &silent : &consuming, count);
        j.plan.by_part = way == BY_PART;
        j.plan.consumers = way == CONSUMING ? threads : way == ONE_CONSUMES;
        j.is_inline = kind == HPAR_EXECUTOR_INLINE;
        j.runs_first = j.is_inline && way == CONSUMING_LAST;
        atomic_store(&j.states[count], HP_UNIT_PUBLISHED);
        CHECK_EQ(hp_crew_prepare(crew, &executor, threads), threads);
        CHECK(hp_unit_queue_run(&j.queue, &j.plan, crew, &executor, threads, false));
        check_all(&j, way != BY_PART);
      }
}

/* Threads that all consume, each as soon as another one has published. */
static void many_consumers(hp_crew *crew) {
  static job j;
  const hp_executor executor = {.kind = HPAR_EXECUTOR_THREADS, .threads = THREADS};
  for (int i = 0; i < 300; i++) {
    open_job(&j, &consuming, UNITS);
    j.plan.consumers = THREADS;
    CHECK_EQ(hp_crew_prepare(crew, &executor, THREADS), THREADS);
    CHECK(hp_unit_queue_run(&j.queue, &j.plan, crew, &executor, THREADS, false));
    check_all(&j, true);
  }
}

/* While one thread is in the first admission, the others publish all other units, and then have
 * nothing to do. None of their units is left behind. */
static void held_admission(hp_crew *crew) {
  static job j;
  const hp_executor executor = {.kind = HPAR_EXECUTOR_THREADS, .threads = THREADS};
  for (int i = 0; i < 50; i++) {
    open_job(&j, &consuming, UNITS);
    j.plan.consumers = THREADS;
    j.plan.patience_ns = UINT64_MAX; /* the last thread does not wait, because nothing is left */
    j.holds_first = true;
    CHECK_EQ(hp_crew_prepare(crew, &executor, THREADS), THREADS);
    CHECK(hp_unit_queue_run(&j.queue, &j.plan, crew, &executor, THREADS, false));
    check_all(&j, true);
  }
}

/* The call returns while a thread is in a unit. This one is given up, and all others are done. */
static void straggler(hp_crew *crew, bool by_part) {
  static job j;
  const hp_executor executor = {.kind = HPAR_EXECUTOR_THREADS, .threads = THREADS};
  open_job(&j, &silent, UNITS);
  j.plan.by_part = by_part;
  j.has_straggler = j.may_be_left = true;
  CHECK_EQ(hp_crew_prepare(crew, &executor, THREADS), THREADS);
  CHECK(!hp_unit_queue_run(&j.queue, &j.plan, crew, &executor, THREADS, true));
  CHECK(hp_crew_is_left(crew));
  unsigned late = 0;
  for (size_t i = 0; i < UNITS; i++) {
    const bool is_late = hp_unit_give_up(&j.states[i]);
    late += is_late;
    if (!is_late) CHECK_EQ(atomic_load(&j.runs[i]), 1);
  }
  CHECK(late >= 1); /* on a busy machine, another thread may be late by itself */
  CHECK_EQ(atomic_load(&j.dropped), 0);
  sem_post(&j.release);
  CHECK(hp_crew_await(crew));
  CHECK_EQ(atomic_load(&j.dropped), 1);
  CHECK_EQ(atomic_load(&j.begun), UNITS); /* nobody has run the unit again */
  CHECK_EQ(atomic_load(&j.wrong), 0);
  for (size_t i = 0; i < UNITS; i++) late -= atomic_load(&j.states[i]) == HP_UNIT_GIVEN_UP;
  CHECK_EQ(late, 0);
}

static void cancelled(hp_crew *crew) {
  static job j;
  const hp_executor executor = {.kind = HPAR_EXECUTOR_INLINE};
  open_job(&j, &silent, UNITS);
  atomic_store(&j.cancel_at, 5);
  CHECK(hp_unit_queue_run(&j.queue, &j.plan, crew, &executor, 1, false));
  CHECK_EQ(atomic_load(&j.begun), 6);
  for (size_t i = 0; i < UNITS; i++) CHECK_EQ(atomic_load(&j.states[i]), i < 6 ? HP_UNIT_PUBLISHED : HP_UNIT_FREE);
}

/* An executor of the caller that has more threads than a call uses: it starts some tasks twice, and
 * some that do not exist. */
static void run_too_often(unsigned count, hpar_task_callback task, void *argument, void *context) {
  *(unsigned *)context = count;
  for (unsigned i = 2 * count; i--;) task(argument, i % (count + 3));
}

static void run_nothing(unsigned count, hpar_task_callback task, void *argument, void *context) {
  (void)count, (void)task, (void)argument, (void)context;
}

static void count_task(void *context, unsigned thread) { ((unsigned *)context)[thread]++; }

/* The calling thread runs the tasks that the caller's executor has left out. */
static void lazy_executor(hp_crew *crew) {
  unsigned runs[THREADS + 1] = {0};
  const hp_executor executor = hp_executor_of_call(run_nothing, NULL, THREADS);
  hp_crew_run(crew, &executor, THREADS, count_task, runs);
  for (unsigned i = 0; i <= THREADS; i++) CHECK_EQ(runs[i], i < THREADS);
}

/* A thread that runs a unit takes the next ones, too, if nobody has claimed them. */
static struct {
  hp_unit_queue queue;
  unsigned runs, units;
} joined;

static void run_and_join(void *context, size_t unit, unsigned thread, hp_unit_steps *steps) {
  (void)context, (void)thread, (void)steps;
  joined.runs++;
  CHECK_EQ(unit, joined.units++);
  if (unit == 2) return; /* the next one is of another run */
  for (size_t before = unit; hp_unit_queue_join(&joined.queue, &unit); before = unit) {
    CHECK_EQ(unit, before + 1);
    CHECK_EQ(unit, joined.units++);
    if (unit == 2) return;
  }
}

static void joins(hp_crew *crew) {
  static const hp_unit_client client = {.run = run_and_join};
  const hp_executor executor = {.kind = HPAR_EXECUTOR_INLINE};
  const hp_unit_plan plan = {.client = &client, .count = UNITS};
  CHECK(hp_unit_queue_run(&joined.queue, &plan, crew, &executor, 1, false));
  CHECK_EQ(joined.runs, 2);
  CHECK_EQ(joined.units, UNITS);
  size_t unit = 0; /* others have claimed the next one */
  CHECK(!hp_unit_queue_join(&joined.queue, &unit));
}

/* A crew whose thread is in a run stays with the late ones until the thread has left. */
static struct {
  sem_t release;
  _Atomic bool is_in;
} held;

static void hold_thread(void *context, unsigned thread) {
  (void)context, (void)thread;
  atomic_store(&held.is_in, true);
  sem_wait(&held.release);
}

/* A child does not wait for the threads of its parent. */
static void fork_beside(hp_crew *crew) {
  enum { SECONDS = 60 }; /* a guard only */
  const pid_t child = fork();
  if (!child) {
    alarm(SECONDS);
    hp_stragglers_wait(crew->stragglers);
    _exit(hp_crew_await(crew));
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static void late_crews(void) {
  const hp_executor executor = {.kind = HPAR_EXECUTOR_THREADS, .threads = 2};
  static hp_late_crews late;
  CHECK_EQ(hp_late_crews_sweep(&late, false), 0);
  sem_init(&held.release, 0, 0);
  hp_crew *crew = hp_allocate_zeroed(sizeof *crew);
  if (!CHECK(crew) || !CHECK_EQ(hp_crew_prepare(crew, &executor, 2), 2)) return;
  hp_crew_start(crew, false, 2, hold_thread, NULL);
  while (!atomic_load(&held.is_in)) sched_yield();
  hp_crew_leave(crew, hp_pool_close(hp_crew_pool(crew)), NULL, NULL);
  fork_beside(crew);
  hp_crew_retire(crew, &late);
  for (int i = 0; i < 3; i++) CHECK_EQ(hp_late_crews_sweep(&late, false), 1);
  sem_post(&held.release);
  CHECK_EQ(hp_late_crews_sweep(&late, true), 0);
  CHECK_EQ(hp_late_crews_sweep(&late, false), 0);
}

static void many_threads(hp_crew *crew) {
  static job j;
  unsigned tasks = 0;
  const hp_executor executor = hp_executor_of_call(run_too_often, &tasks, 100000);
  CHECK_EQ(executor.threads, HPAR_MAX_THREADS);
  CHECK_EQ(hp_executor_of_call(NULL, NULL, 0).threads, hp_usable_cores());
  open_job(&j, &consuming, UNITS);
  j.plan.consumers = executor.threads;
  CHECK(
      hp_unit_queue_run(&j.queue, &j.plan, crew, &executor, hp_crew_prepare(crew, &executor, executor.threads), true));
  CHECK_EQ(tasks, HPAR_MAX_THREADS);
  check_all(&j, true);
}

/*** batches with a late thread ***/

enum { PAGES = 40 };

/* A thread of the pool is late in its first page, until the calling thread has done all others. */
static struct {
  pthread_t caller;
  _Atomic bool has_stopped;
  _Atomic unsigned finished, reported;
  _Atomic bool is_written[PAGES];
} batch;

static void stop_in_batch(void) {
  if (pthread_equal(pthread_self(), batch.caller))
    while (!atomic_load(&batch.has_stopped)) sched_yield();
  else if (!atomic_exchange(&batch.has_stopped, true))
    while (atomic_load(&batch.finished) < PAGES - 1) sched_yield();
}

static void open_batch(void) {
  memset((void *)&batch, 0, sizeof batch);
  batch.caller = pthread_self();
  hp_unit_set_hook(stop_in_batch);
}

static const char page[] = "<!doctype html><title>a</title><p>text<b>bold";

static void take_document(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                          const hpar_stats *stats, unsigned thread, void *context) {
  (void)index, (void)input, (void)parser, (void)stats, (void)context;
  const unsigned before = atomic_fetch_add(&batch.finished, 1);
  const bool is_right = thread == (before == PAGES - 1); /* the late page is the last one */
  if (is_right && hpar_node_first_child(document, hpar_document_root(document)) != HPAR_NO_NODE)
    atomic_fetch_add(&batch.reported, 1);
}

static void late_in_parses(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2};
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  hpar_input inputs[PAGES];
  hpar_parser *parser;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  for (unsigned i = 0; i < PAGES; i++)
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = page, .length = sizeof page - 1, .status = HPAR_ERROR_MEMORY};
  open_batch();
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, PAGES, &stats, take_document, NULL), HPAR_OK);
  for (unsigned i = 0; i < PAGES; i++) CHECK_EQ(inputs[i].status, HPAR_OK);
  CHECK_EQ(stats.inputs_per_worker[1], 1);
  CHECK_EQ(atomic_load(&batch.reported), PAGES);
  hpar_parser_destroy(parser);
}

static hpar_status count_page(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length;
  if (!atomic_exchange((_Atomic bool *)context, true)) atomic_fetch_add(&batch.finished, 1);
  return HPAR_OK;
}

static void take_page(size_t index, hpar_rewrite_page *done, void *context) {
  (void)context;
  CHECK_EQ(done->status, HPAR_OK);
  CHECK_EQ(atomic_fetch_add(&batch.reported, 1), index);
}

static void late_in_rewrites(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = 2};
  hpar_rewrite_page pages[PAGES];
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  open_batch();
  for (unsigned i = 0; i < PAGES; i++)
    pages[i] = (hpar_rewrite_page){HPAR_REWRITE_PAGE_INIT, .bytes = page, .length = sizeof page - 1,
                                   .write = count_page, .context = (void *)&batch.is_written[i]};
  CHECK_EQ(hpar_rewrite_many(rules, &options, pages, PAGES, take_page, NULL), HPAR_OK);
  CHECK_EQ(atomic_load(&batch.reported), PAGES);
  hpar_rules_destroy(rules);
}

int main(void) {
  hp_crew crew = {0};
  one_unit();
  waits_for_writers();
  contests();
  may_leave(1, true, true);
  may_leave(THREADS, false, true);
  may_leave(THREADS, true, false);
  each_once(&crew, HPAR_EXECUTOR_THREADS);
  each_once(&crew, HPAR_EXECUTOR_INLINE);
  many_consumers(&crew);
  held_admission(&crew);
  for (int i = 0; i < 20; i++) straggler(&crew, i % 2);
  cancelled(&crew);
  many_threads(&crew);
  lazy_executor(&crew);
  joins(&crew);
  late_crews();
  hp_crew_close(&crew);
  late_in_parses();
  late_in_rewrites();
  hp_unit_set_hook(NULL);
  return check_report();
}
