#ifndef TESTS_SUPPORT_STEPPER_H
#define TESTS_SUPPORT_STEPPER_H

/* A driver for tests, which goes through a parse by random steps: fast, by tokens that it builds or
 * leaves to the library, with work on threads, and with calls that the interface calls useless. It
 * checks that the parse never goes back. */

#include <hpar/study.h>
#include <stdatomic.h>

typedef struct stepper {
  uint64_t seed;
  unsigned calls;          /* of the driver */
  uint64_t tokens;         /* that `next` has shown for the first time */
  _Atomic unsigned worked; /* calls of its work on threads */
  unsigned expected;       /* such calls, after each join */
  unsigned wrong;          /* broken promises of the interface */
} stepper;

void stepper_drive(hpar_driven_parse *parse, void *context);

#define STEPPER(own) \
  { HPAR_DRIVER_INIT, .name = "stepper", .threads = 3, .drive = stepper_drive, .context = (own) }

#endif
