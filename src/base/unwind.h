#ifndef HP_BASE_UNWIND_H
#define HP_BASE_UNWIND_H

/* A parse, or a worker's chunk, that runs out of memory or reaches a limit unwinds to the hp_try
 * call that started it. The algorithms of the standard therefore contain no error checks. All
 * allocated memory belongs to an arena or a vector with an owner, so nothing leaks. No function may
 * hold a lock while it calls hp_unwind_now. */

#include "base/target.h"

#include <hpar/node.h>
#include <stdbool.h>

/* The status of work that another thread has cancelled. No public function returns it. */
#define HP_CANCELLED ((hpar_status)-1)

typedef struct hp_unwind {
  void *frame; /* the innermost active hp_try; NULL: none */
  hpar_status status;
  bool separates; /* vectors of the owner share no cache line with memory of other threads */
} hp_unwind;

typedef hpar_status (*hp_try_fn)(void *argument);

/* Returns the result of `function`, or the status of the hp_unwind_now call that ended it. Calls
 * may be nested. No other function calls setjmp. `function` has its own frame, so its locals can
 * live in registers. */
HP_SHARED hpar_status hp_try(hp_unwind *unwind, hp_try_fn function, void *argument);

/* Ends the innermost hp_try of `unwind` with this status. HPAR_OK ends it early without a failure.
 * Requires: an hp_try call of `unwind` is active. */
HP_SHARED _Noreturn void hp_unwind_now(hp_unwind *unwind, hpar_status status);

#endif
