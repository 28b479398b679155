/* Measures the pipelined parser, which reuses its document:
 *
 * - the whole parser, by predictor, buffer and batch
 * - its stages alone, alternately on one thread; the buffer has its maximum length, so that each
 *   stage runs for thousands of tokens
 * - the token buffer alone, from one thread to another, without work on either side: the time of
 *   one token */

#include "study/pipelined/ring.h"

#include "base/memory.h"
#include "platform/pool.h"
#include "programs/bench/suite.h"

#include <hpar/study.h>
#include <stdio.h>

enum { TOKENIZER, BUILDER };
enum { HANDED_OVER = 1 << 20 };

static void whole(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  const hpar_study study = {HPAR_STUDY_INIT, .driver = "pipelined",
                            .pipeline = {.buffer_tokens = (unsigned)self->arguments[0],
                                         .batch_tokens = (unsigned)self->arguments[1],
                                         .predictor = hpar_pipeline_predictor_name((size_t)self->arguments[2])}};
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2, .study = &study};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_status status = HPAR_OK;
  uint64_t rollbacks = 0, waits = 0;
  while (!status && hp_bench_next(run)) {
    rollbacks = waits = 0;
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      status = hpar_study_parse(bed.parser, &options, page->bytes, page->length, bed.document, &stats);
      if (status) break;
      rollbacks += stats.pipeline.rollbacks;
      waits += stats.pipeline.builder_waits;
    }
  }
  if (status) {
    hp_bench_fail(run, hpar_status_text(status));
  } else {
    hp_bench_counter(run, "rollbacks", (double)rollbacks);
    hp_bench_counter(run, "builder_waits", (double)waits);
  }
  hp_bench_close_bed(&bed);
}

static void stage(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  static const hpar_study study = {HPAR_STUDY_INIT, .driver = "pipelined",
                                   .pipeline.buffer_tokens = HP_MAX_BUFFER_TOKENS};
  static const hpar_options options = {HPAR_OPTIONS_INIT, .parallel.executor = HPAR_EXECUTOR_INLINE, .study = &study};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_status status = HPAR_OK;
  uint64_t tokens = 0;
  while (!status && hp_bench_next(run)) {
    uint64_t took = 0;
    tokens = 0;
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      status = hpar_study_parse(bed.parser, &options, page->bytes, page->length, bed.document, &stats);
      if (status) break;
      uint64_t tokenizing = stats.pipeline.builder_wait_ns;
      took += self->arguments[0] == TOKENIZER ? tokenizing : stats.ns.total - stats.ns.decode - tokenizing;
      tokens += stats.tokens;
    }
    hp_bench_took(run, took ? took : 1);
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  hp_bench_counter(run, "tokens", (double)tokens);
  hp_bench_close_bed(&bed);
}

static void put_all(void *context, unsigned thread) {
  (void)thread;
  hp_ring *r = context;
  for (uint32_t i = 0; i < HANDED_OVER; i++) {
    while (!hp_ring_has_room(r)) {
      if (r->tail != r->tail_shown) hp_ring_show_tail(r);
      hp_pause();
    }
    if (hp_ring_put(r, (hp_packed){HPAR_TOKEN_TEXT, i | (uint64_t)(i + 1) << 32})) hp_ring_show_tail(r);
  }
  hp_ring_show_tail(r);
}

static void hand_over(hp_bench_run *run, const hp_bench *self) {
  hp_ring *ring = hp_allocate_zeroed(sizeof *ring);
  hp_pool *pool = NULL;
  if (!ring || hp_pool_create(&pool, 2) != HPAR_OK || hp_pool_threads(pool) < 2) {
    hp_bench_fail(run, "two threads cannot be had");
    hp_pool_destroy(pool);
    hp_free(ring);
    return;
  }
  while (hp_bench_next(run)) {
    if (!hp_ring_open(ring, (uint32_t)self->arguments[0], (uint32_t)self->arguments[1])) {
      hp_bench_fail(run, hpar_status_text(HPAR_ERROR_MEMORY));
      break;
    }
    uint64_t begin = hp_bench_now(CLOCK_MONOTONIC), sum = 0;
    hp_pool_start(pool, 2, put_all, ring);
    for (uint32_t i = 0; i < HANDED_OVER; i++) {
      hp_packed token;
      while (!hp_ring_take(ring, &token)) {
        if (ring->head != ring->head_shown) hp_ring_show_head(ring);
        hp_pause();
      }
      sum += hp_packed_end(token) - hp_packed_ref(token);
      if (hp_ring_taken(ring)) hp_ring_show_head(ring);
    }
    hp_pool_join(pool);
    hp_bench_took(run, (hp_bench_now(CLOCK_MONOTONIC) - begin) / HANDED_OVER + 1);
    hp_bench_keep(&sum);
  }
  hp_pool_destroy(pool);
  hp_ring_close(ring);
  hp_free(ring);
}

void hp_bench_add_pipeline(void) {
  static const unsigned buffers[][2] = {{1, 1}, {16, 8}, {64, 16}, {1024, 32}, {16384, 256}};
  char name[128];
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
    snprintf(name, sizeof name, "pipeline/hand_over/buffer:%u/batch:%u", buffers[i][0], buffers[i][1]);
    hp_bench_add(&(hp_bench){
        .name = name, .function = hand_over, .arguments = {buffers[i][0], buffers[i][1]}, .clock = HP_BENCH_MANUAL});
  }
  hp_bench stages = {.function = stage, .arguments = {TOKENIZER}, .clock = HP_BENCH_MANUAL};
  hp_bench_add_subjects("pipeline/tokenizer", HP_SETS | HP_SINGLE_PAGES, &stages);
  stages.arguments[0] = BUILDER;
  hp_bench_add_subjects("pipeline/builder", HP_SETS | HP_SINGLE_PAGES, &stages);
  for (size_t p = 0; hpar_pipeline_predictor_name(p); p++) {
    snprintf(name, sizeof name, "pipeline/%s", hpar_pipeline_predictor_name(p));
    hp_bench both = {.function = whole, .arguments = {0, 0, (int64_t)p}, .clock = HP_BENCH_WALL};
    hp_bench_add_subjects(name, HP_SETS | HP_SINGLE_PAGES, &both);
  }
  hp_bench_add_subjects("pipeline/paper_design", HP_SETS,
                        &(hp_bench){.function = whole, .arguments = {1, 1, 0}, .clock = HP_BENCH_WALL});
}
