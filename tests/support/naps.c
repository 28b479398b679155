/* With HPAR_TEST_NAPS=1, every thread but the first one sleeps at some of the places where it has
 * claimed work, so that calls return while it is late. A test that sets a hook of its own does
 * without. */

#include "runtime/units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void nap_at_times(void) {
  static _Thread_local unsigned draws;
  if (gettid() == getpid()) return;
  if (!draws) draws = (unsigned)gettid();
  draws = draws * 1664525u + 1013904223u;
  const unsigned drawn = draws >> 16;
  if (drawn % 8 == 0)
    usleep(drawn % 41 * 500);
  else if (drawn % 4 == 1)
    usleep(drawn % 300);
}

__attribute__((constructor)) static void begin_naps(void) {
  const char *value = getenv("HPAR_TEST_NAPS");
  if (value && strcmp(value, "1") == 0) hp_unit_set_hook(nap_at_times);
}
