#ifndef HP_BENCH_BENCH_H
#define HP_BENCH_BENCH_H

/* Benchmarks from C. google.cc, the one C++ source of the project, stands behind it and does the measuring by Google
 * Benchmark: how often to repeat, and the reports.
 *
 * A benchmark's function prepares what it needs, then runs its subject while hp_bench_next says so; what comes before
 * the first and after the last of these calls is not measured. It is called anew for each repetition. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hp_bench_run hp_bench_run;

typedef enum hp_bench_clock {
  HP_BENCH_CPU = 0, /* time of the calling thread */
  HP_BENCH_WALL,
  HP_BENCH_MANUAL /* the function says itself how long each iteration took */
} hp_bench_clock;

typedef struct hp_bench {
  const char *name;
  void (*function)(hp_bench_run *run, const struct hp_bench *self);
  const void *subject; /* the function's own */
  int64_t arguments[3];
  size_t bytes;      /* that one iteration processes; 0: none, or hp_bench_bytes says so */
  size_t iterations; /* 0: as many as fill the time; HP_BENCH_MANUAL: at most so many */
  hp_bench_clock clock;
} hp_bench;

/* Both are copied, the name too. */
void hp_bench_add(const hp_bench *bench);

bool hp_bench_next(hp_bench_run *run);
/* The same for `count` iterations at once, of what takes only nanoseconds. */
bool hp_bench_next_batch(hp_bench_run *run, size_t count);

void hp_bench_took(hp_bench_run *run, uint64_t nanoseconds); /* by HP_BENCH_MANUAL, once an iteration */
void hp_bench_bytes(hp_bench_run *run, size_t bytes);
void hp_bench_counter(hp_bench_run *run, const char *name, double value);
void hp_bench_fail(hp_bench_run *run, const char *why); /* the function then returns */

/* The compiler takes the result for used. */
static inline void hp_bench_keep(const void *result) { __asm__ __volatile__("" : : "r"(result) : "memory"); }

typedef struct hp_bench_plan {
  const char *filter; /* a regular expression that a part of the name matches; NULL: all */
  double min_time;    /* seconds for one repetition of one benchmark */
  unsigned repetitions;
  const char *json, *raw;    /* files to write, or NULL: Google Benchmark's JSON, and a line for each repetition */
  bool list;                 /* only print the names */
  const char *commit, *simd; /* go into the JSON's context */
} hp_bench_plan;

/* 0: all ran; 1: some failed, or a file cannot be written; 2: none is called so. */
int hp_bench_run_all(const char *program, const hp_bench_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
