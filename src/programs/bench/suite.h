#ifndef HP_PROGRAMS_BENCH_SUITE_H
#define HP_PROGRAMS_BENCH_SUITE_H

/* The groups of benchmarks, and their common functions. */

#include "programs/bench/bench.h"
#include "programs/bench/subjects.h"

#include <hpar/hpar.h>
#include <time.h>

void hp_bench_add_scan(void);
void hp_bench_add_input(void);    /* input: open; parse: fed */
void hp_bench_add_tokenize(void); /* tokenize, build */
void hp_bench_add_parse(void);    /* parse: fresh, reused, kept */
void hp_bench_add_serialize(void);
void hp_bench_add_select(void);
void hp_bench_add_document(void); /* create, destroy, reset */
#if HPAR_PARALLEL
void hp_bench_add_pool(void);
void hp_bench_add_parallel(void); /* parallel, many, merge */
void hp_bench_add_pipeline(void);
#endif

/* Adds a benchmark "<prefix>/<subject's name>" for each subject of these kinds. */
void hp_bench_add_subjects(const char *prefix, unsigned kinds, const hp_bench *like);

/* The document and parser of a benchmark. hp_bench_open_bed has read all pages, and has parsed each
 * page once with `options`. */
typedef struct hp_bench_bed {
  const hp_subject *subject;
  hpar_parser *parser;
  hpar_document *document;
} hp_bench_bed;

/* Returns false after hp_bench_fail; `bed` is then closed. */
bool hp_bench_open_bed(hp_bench_bed *bed, hp_bench_run *run, const hp_subject *subject, const hpar_options *options);
void hp_bench_close_bed(hp_bench_bed *bed);

/* Returns nanoseconds of CLOCK_MONOTONIC or, with less disturbance, of CLOCK_THREAD_CPUTIME_ID. */
static inline uint64_t hp_bench_now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
