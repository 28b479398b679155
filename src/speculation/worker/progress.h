#ifndef HP_SPECULATION_WORKER_PROGRESS_H
#define HP_SPECULATION_WORKER_PROGRESS_H

#include "speculation/worker/worker.h"

enum { HP_PROGRESS_BYTES = 4 << 10 };

/* Publishes the worker's offset. If the driver has cancelled the work, unwinds through the worker's
 * engine. Returns the offset at which to call the function again. */
uint32_t hp_worker_note_progress(hp_worker *worker, uint32_t at);

#define HP_PROGRESS_OF_SLICES UINT32_C(0xffffff00)
#define HP_PROGRESS_OF_COMPOSITIONS UINT32_C(0xfffffe00)
#define HP_PROGRESS_OF_PARTS UINT32_C(0xfffffd00)
#define HP_PROGRESS_OF_LEAVING UINT32_C(0xfffffc00)

/* Test hook: only the tests and an experiment link a progress.c that is built with HPAR_TEST_HOOKS.
 * Each call of hp_worker_note_progress then calls the hook, which returns the offset of the next
 * call: at + 1 for all tokens that no loop builds together. NULL: no hook. */
void hp_worker_hook_progress(uint32_t (*hook)(uint32_t at));
/* Calls the hook. At the beginning of slice i of decoding or validation, `at` is
 * HP_PROGRESS_OF_SLICES + i. While a thread composes neighbouring logs, it is
 * HP_PROGRESS_OF_COMPOSITIONS. Before a thread estimates the work, and before it takes its part, it
 * is HP_PROGRESS_OF_PARTS. When the merging thread begins to leave the pool, it is
 * HP_PROGRESS_OF_LEAVING, and HP_PROGRESS_OF_LEAVING + 1 afterwards. */
void hp_worker_call_progress_hook(uint32_t at);

#endif
