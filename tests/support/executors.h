#ifndef HPAR_TESTS_SUPPORT_EXECUTORS_H
#define HPAR_TESTS_SUPPORT_EXECUTORS_H

/* Executors of a caller. Each adds 1 to the unsigned number that is its context. */

#include <hpar/parse.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct executor_task {
  hpar_task_callback function;
  void *job;
  unsigned index;
} executor_task;

static inline void *executor_run_task(void *argument) {
  const executor_task *t = argument;
  t->function(t->job, t->index);
  return NULL;
}

/* Starts a thread for each task. */
static inline void run_threads(unsigned count, hpar_task_callback function, void *job, void *context) {
  pthread_t threads[HPAR_MAX_THREADS];
  executor_task tasks[HPAR_MAX_THREADS];
  for (unsigned i = 0; i < count; i++) {
    tasks[i] = (executor_task){function, job, i};
    if (pthread_create(&threads[i], NULL, executor_run_task, &tasks[i])) abort();
  }
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
  ++*(unsigned *)context;
}

static inline void run_forwards(unsigned count, hpar_task_callback function, void *job, void *context) {
  for (unsigned i = 0; i < count; i++) function(job, i);
  ++*(unsigned *)context;
}

static inline void run_backwards(unsigned count, hpar_task_callback function, void *job, void *context) {
  while (count) function(job, --count);
  ++*(unsigned *)context;
}

/* Leaves out all tasks but the last one. */
static inline void run_last(unsigned count, hpar_task_callback function, void *job, void *context) {
  function(job, count - 1);
  ++*(unsigned *)context;
}

/* Leaves out all tasks. */
static inline void run_none(unsigned count, hpar_task_callback function, void *job, void *context) {
  (void)count, (void)function, (void)job;
  ++*(unsigned *)context;
}

#endif
