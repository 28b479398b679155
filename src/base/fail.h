#ifndef HP_BASE_FAIL_H
#define HP_BASE_FAIL_H

/* One way out: a parse (or a worker's chunk) that runs out of memory unwinds to the frame that started it.
 * Everything that it has allocated belongs to an arena or a vector with an owner, so nothing leaks, and the
 * algorithms of the standard stay free of checks. No lock may be held across hp_fail_now. */

#include <hpar/status.h>
#include <setjmp.h>

typedef struct hp_fail {
  jmp_buf frame;
  hpar_status status;
} hp_fail;

_Noreturn void hp_fail_now(hp_fail *fail, hpar_status status);

#endif
