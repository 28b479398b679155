#ifndef HP_PROGRAMS_BENCH_BENCH_H
#define HP_PROGRAMS_BENCH_BENCH_H

/* The C interface of the benchmarks. google.cc, the only C++ source of the project, implements it
 * with Google Benchmark, which repeats, measures and reports.
 *
 * The function of a benchmark prepares its data, then runs its subject as long as hp_bench_next
 * returns true. The time before the first and after the last of these calls is not measured. Each
 * repetition calls the function again. */

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
  HP_BENCH_MANUAL /* the function reports the time of each iteration by hp_bench_took */
} hp_bench_clock;

typedef struct hp_bench {
  const char *name;
  void (*function)(hp_bench_run *run, const struct hp_bench *self);
  const void *subject; /* for the function alone */
  int64_t arguments[3];
  size_t bytes; /* of one iteration; 0: none, or the function calls hp_bench_bytes */
  /* 0: until the minimum time is over; with HP_BENCH_MANUAL: the maximum number */
  size_t iterations;
  hp_bench_clock clock;
} hp_bench;

/* Adds a benchmark. Copies `bench` and its name. */
void hp_bench_add(const hp_bench *bench);

bool hp_bench_next(hp_bench_run *run);
/* Like hp_bench_next, for `count` iterations at once. For subjects that take only nanoseconds. */
bool hp_bench_next_batch(hp_bench_run *run, size_t count);

/* once in each iteration with HP_BENCH_MANUAL */
void hp_bench_took(hp_bench_run *run, uint64_t nanoseconds);
void hp_bench_bytes(hp_bench_run *run, size_t bytes);
void hp_bench_counter(hp_bench_run *run, const char *name, double value);
void hp_bench_fail(hp_bench_run *run, const char *why); /* the function must then return */

/* Makes the compiler treat the result as used. */
static inline void hp_bench_keep(const void *result) { __asm__ __volatile__("" : : "r"(result) : "memory"); }

typedef struct hp_bench_plan {
  /* a regular expression that matches a part of the name; NULL: all benchmarks */
  const char *filter;
  double min_time; /* seconds for one repetition of one benchmark */
  unsigned repetitions;
  /* output files, or NULL: the JSON of Google Benchmark, and one line for each repetition */
  const char *json, *raw;
  bool list;                 /* only print the names */
  const char *commit, *simd; /* for the context in the JSON */
} hp_bench_plan;

/* Returns 0 after success, 1 if a benchmark fails or a file cannot be written, 2 if no benchmark
 * matches the filter. */
int hp_bench_run_all(const char *program, const hp_bench_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
