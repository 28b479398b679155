/* How long a call keeps the interpreter's lock, in CPU time of its thread: benchmarks/threads.py
 * preloads this library, whose functions stand before those of the interpreter. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

static __thread int64_t taken, released, longest, outside;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void end_hold(int64_t at) {
  if (at - taken > longest) longest = at - taken;
}

void *PyEval_SaveThread(void) {
  static void *(*next)(void);
  if (!next) next = (void *(*)(void))dlsym(RTLD_NEXT, "PyEval_SaveThread");
  end_hold(now());
  void *state = next();
  released = now();
  return state;
}

void PyEval_RestoreThread(void *state) {
  static void (*next)(void *);
  if (!next) next = (void (*)(void *))dlsym(RTLD_NEXT, "PyEval_RestoreThread");
  outside += now() - released;
  next(state);
  taken = now();
}

void lock_begin(void) {
  longest = outside = 0;
  taken = now();
}

/* Returns the longest hold since lock_begin in nanoseconds. */
int64_t lock_longest(void) {
  end_hold(now());
  return longest;
}

/* Returns the time without the lock since lock_begin in nanoseconds. */
int64_t lock_outside(void) { return outside; }
