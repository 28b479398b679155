#include "base/unwind.h"

#include <setjmp.h>

hpar_status hp_try(hp_unwind *unwind, hp_try_fn function, void *argument) {
  jmp_buf frame;
  void *const outer = unwind->frame;
  hpar_status status;
  unwind->frame = &frame;
  if (setjmp(frame) == 0)
    status = function(argument);
  else
    status = unwind->status;
  unwind->frame = outer;
  return status;
}

void hp_unwind_now(hp_unwind *unwind, hpar_status status) {
  unwind->status = status;
  longjmp(*(jmp_buf *)unwind->frame, 1);
}
