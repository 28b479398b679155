/* Implements platform/pool.h, in place of the library's own implementation, on virtual cores. */

#include "virtual.h"

#include "base/target.h"
#include "platform/pool.h"

#include <fcntl.h>
#include <hpar/hpar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

enum { STACK_BYTES = 1 << 20, LOG_BYTES = 4 << 10, PAUSE_INSTRUCTIONS = 100 };

typedef struct core {
  ucontext_t context;
  uint64_t clock;
  bool runs;    /* its work of the batch has not returned */
  bool started; /* entered the batch */
  char *stack;
} core;

struct hp_pool {
  unsigned threads;
};

static core cores[HPAR_MAX_THREADS];
static unsigned current, used = 1;
static hp_task_fn batch_work;
static void *batch_context;
static uint64_t counted, work, wake;
static bool is_in_batch;
static int log_file = -1;
static off_t log_end;

/*** counting ***/

/* Returns the instructions of the process, as callgrind writes them into its log. */
static uint64_t count_instructions(void) {
  static char text[LOG_BYTES + 1];
  static const char key[] = "\nevents-1: ";
  VALGRIND_MONITOR_COMMAND("status internal");
  ssize_t length = pread(log_file, text, LOG_BYTES, log_end);
  if (length < 0) length = 0;
  text[length] = 0;
  const char *found = strstr(text, key);
  if (!found) {
    fputs("hpar-work-span: run under valgrind --tool=callgrind --log-file=LOG\n", stderr);
    exit(1);
  }
  log_end = lseek(log_file, 0, SEEK_END);
  return strtoull(found + sizeof key - 1, NULL, 10);
}

/* Adds the instructions since the last call to the clock. Until resume_count is called, callgrind
 * counts none. */
static void stop_count(void) {
  CALLGRIND_TOGGLE_COLLECT;
  uint64_t before = counted;
  counted = count_instructions();
  cores[current].clock += counted - before;
  work += counted - before;
}

static void resume_count(void) { CALLGRIND_TOGGLE_COLLECT; }

bool virtual_open(const char *log) {
  log_file = open(log, O_RDONLY);
  if (log_file < 0) return false;
  log_end = lseek(log_file, 0, SEEK_END);
  stop_count();
  cores[0].clock = work = 0;
  resume_count();
  return true;
}

void virtual_wake_after(uint64_t instructions) { wake = instructions; }

uint64_t virtual_work(void) { return work; }

/*** turns ***/

/* Returns the coroutine with the least clock. Of equal ones, the lowest index goes first. */
static unsigned first_core(void) {
  unsigned first = 0;
  while (!cores[first].runs) first++;
  for (unsigned i = first + 1; i < used; i++)
    if (cores[i].runs && cores[i].clock < cores[first].clock) first = i;
  return first;
}

static void switch_to(unsigned next) {
  unsigned before = current;
  if (next == before) return;
  current = next;
  swapcontext(&cores[before].context, &cores[next].context);
}

/* Lets all coroutines with a lesser clock run. */
static void take_turn(void) {
  if (!is_in_batch) return;
  stop_count();
  switch_to(first_core());
  resume_count();
}

/* Moves the clock to the next clock of another coroutine, because nothing changes before that. */
static void wait_for_others(void) {
  if (!is_in_batch) return;
  stop_count();
  core *self = &cores[current];
  uint64_t next = UINT64_MAX;
  for (unsigned i = 0; i < used; i++)
    if (i != current && cores[i].runs && cores[i].clock < next) next = cores[i].clock;
  self->clock += PAUSE_INSTRUCTIONS;
  if (next != UINT64_MAX && self->clock <= next) self->clock = next + 1;
  switch_to(first_core());
  resume_count();
}

static void run_core(void) {
  resume_count();
  for (;;) {
    cores[current].started = true;
    batch_work(batch_context, current);
    stop_count();
    cores[current].runs = false;
    switch_to(first_core());
    resume_count();
  }
}

/*** the clock and the turns of the library ***/

uint64_t virtual_now(void) {
  stop_count();
  resume_count();
  return cores[current].clock;
}

/* In place of the C library's. An instruction is a nanosecond. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  (void)clock;
  take_turn();
  uint64_t now = is_in_batch ? cores[current].clock : virtual_now();
  time->tv_sec = (time_t)(now / 1000000000u);
  time->tv_nsec = (long)(now % 1000000000u);
  return 0;
}

void hp_turn(void) { take_turn(); }

/*** platform/pool.h ***/

hpar_status hp_pool_create(hp_pool **pool, unsigned threads) {
  *pool = malloc(sizeof **pool);
  if (!*pool) return HPAR_ERROR_MEMORY;
  (*pool)->threads = threads;
  return HPAR_OK;
}

void hp_pool_grow(hp_pool *pool, unsigned threads) {
  if (pool->threads < threads) pool->threads = threads;
}

void hp_pool_destroy(hp_pool *pool) { free(pool); }

unsigned hp_pool_threads(const hp_pool *pool) { return pool->threads; }

bool hp_pool_is_lost(const hp_pool *pool) {
  (void)pool;
  return false;
}

void hp_pool_wait_as(hp_pool *pool, hp_pool_wait how) { (void)pool, (void)how; }

bool hp_pool_is_awake(const hp_pool *pool, unsigned n) {
  (void)pool, (void)n;
  return true;
}

static void prepare_core(unsigned index, uint64_t start) {
  core *c = &cores[index];
  c->clock = start;
  c->runs = true;
  c->started = false;
  if (c->stack) return; /* it waits in run_core */
  c->stack = malloc(STACK_BYTES);
  if (!c->stack) abort();
  VALGRIND_STACK_REGISTER(c->stack, c->stack + STACK_BYTES); // NOLINT
  getcontext(&c->context);
  c->context.uc_stack.ss_sp = c->stack;
  c->context.uc_stack.ss_size = STACK_BYTES;
  makecontext(&c->context, run_core, 0);
}

void hp_pool_start(hp_pool *pool, unsigned n, hp_task_fn function, void *context) {
  (void)pool;
  stop_count();
  batch_work = function;
  batch_context = context;
  cores[0].runs = true;
  for (unsigned i = 1; i < n; i++) prepare_core(i, cores[0].clock + wake);
  used = n;
  is_in_batch = true;
  resume_count();
}

static bool any_runs(void) {
  for (unsigned i = 1; i < used; i++)
    if (cores[i].runs) return true;
  return false;
}

void hp_pool_join(hp_pool *pool) {
  (void)pool;
  while (is_in_batch && any_runs()) wait_for_others();
  is_in_batch = false;
}

void virtual_finish(void) { hp_pool_join(NULL); }

/* A thread that has not started skips the batch. */
unsigned hp_pool_close(hp_pool *pool) {
  (void)pool;
  unsigned entered = 0;
  take_turn();
  for (unsigned i = 1; i < used; i++) {
    if (cores[i].runs && !cores[i].started) cores[i].runs = false;
    entered += cores[i].started;
  }
  return entered;
}

/* The cores end with the program. */
bool hp_pool_stop(hp_pool *pool, uint64_t patience_ns) {
  (void)pool, (void)patience_ns;
  return true;
}

bool hp_pool_is_idle(const hp_pool *pool) {
  (void)pool;
  if (is_in_batch && any_runs()) return false;
  is_in_batch = false;
  return true;
}

bool hp_pool_sleep(hp_pool *pool, uint64_t nanoseconds) {
  (void)nanoseconds;
  hp_pool_join(pool);
  return true;
}

void hp_pool_end(hp_pool *pool) {
  hp_pool_close(pool);
  hp_pool_join(pool);
}

void hp_pool_wake(hp_pool *pool, unsigned n) { (void)pool, (void)n; }

void hp_pool_widen(hp_pool *pool) { (void)pool; }

void hp_pause(void) {}

bool hp_spin_on(hp_spin *spin, uint64_t nanoseconds) {
  (void)nanoseconds;
  spin->steps++;
  wait_for_others();
  return true;
}
