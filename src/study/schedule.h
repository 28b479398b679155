#ifndef HP_STUDY_SCHEDULE_H
#define HP_STUDY_SCHEDULE_H

/* Puts the measured tasks of a parallel parse on virtual cores. The rules are those of
 * drivers/parallel: workers take chunks in order, first those after the merger's work range,
 * then those of the range from its right end. The merger parses a chunk that no worker has
 * started, merges a finished one, and takes another chunk instead of waiting. */

#include <stddef.h>
#include <stdint.h>

/* A chunk. All times are nanoseconds. */
typedef struct hp_scheduled_task {
  uint64_t parse, merge, exact; /* by a worker; its merge; by the merger on the true state */
  size_t cut;                   /* offset of its first byte */
  /* set by hp_schedule: the end of the worker's parse; UINT64_MAX: none */
  uint64_t done;
} hp_scheduled_task;

typedef struct hp_schedule_input {
  hp_scheduled_task *tasks;
  size_t count, length; /* length: bytes of the text */
  unsigned cores;
  uint64_t prelude, wake; /* before the first chunk; from the prelude's end until a worker starts */
} hp_schedule_input;

/* Returns when the merger has finished. `workers` is an array of cores - 1 times. */
uint64_t hp_schedule(const hp_schedule_input *input, uint64_t *workers);

#endif
