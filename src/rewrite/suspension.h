#ifndef HP_REWRITE_SUSPENSION_H
#define HP_REWRITE_SUSPENSION_H

/* Callbacks whose answer comes later: hpar_rewrite_options.suspends.
 *
 * A callback may be deep inside the tree construction, which has no state between two halves of a
 * token. The calls of such a stream therefore run on a stack of the rewriter. They leave it to call
 * the caller's functions, on the caller's stack. If a callback suspends, the stack stays as it is
 * until the answer comes, and so do the input and the object that the callback received. */

#include "platform/coroutine.h"
#include "rewrite/state.h"

typedef struct hp_suspension {
  hp_coroutine *coroutine;
  bool waits; /* for the answer of a callback */
  /* What is to run on the caller's stack, and its result. */
  hp_unit_call call;
  void *unit;
  const void *callback;
  hpar_status answer;
  /* The call that runs on the own stack: its result, and the error of the caller or NULL. */
  hpar_status status;
  hpar_error *error;
  /* The caller's output function. */
  hpar_write_callback write;
  void *context;
} hp_suspension;

/* Prepares a stream of which callbacks may suspend, and replaces its output function. */
hpar_status hp_suspension_open(hpar_rewriter *rewriter, hpar_write_callback *write, void **context);
void hp_suspension_close(hpar_rewriter *rewriter);
/* Returns the bytes that it has. */
size_t hp_suspension_memory(const hpar_rewriter *rewriter);

/* Runs the function on the own stack. Returns true if it has returned, false if a callback waits
 * for its answer. */
bool hp_suspension_run(hpar_rewriter *rewriter, void (*function)(void *), void *argument);
/* The same with the answer. Requires: a callback waits. */
bool hp_suspension_resume(hpar_rewriter *rewriter, hpar_status answer);
/* Ends the function. Requires: a callback waits, and the rewriter is destroyed. */
void hp_suspension_abandon(hpar_rewriter *rewriter);

#endif
