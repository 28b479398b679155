/* NAME_replay FILE|FOLDER...: passes files to a fuzz target, in a build without a fuzzer. Names the
 * file at which the target ends the process. */

#include "check.h"
#include "fuzz/fuzz.h"
#include "support/shared.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *current = "";

static void on_abort(int number) {
  (void)!write(STDERR_FILENO, current, strlen(current));
  (void)!write(STDERR_FILENO, ": failed\n", 9);
  signal(number, SIG_DFL);
}

static void replay(const char *path) {
  size_t length;
  char *bytes = shared_read(path, &length);
  if (!CHECK(bytes != NULL)) return;
  /* without the NUL: a sanitizer detects a read past the end */
  uint8_t *exact = malloc(length ? length : 1);
  if (!exact) exit(1);
  memcpy(exact, bytes, length);
  free(bytes);
  current = path;
  CHECK(LLVMFuzzerTestOneInput(exact, length) == 0);
  free(exact);
}

int main(int argc, char **argv) {
  signal(SIGABRT, on_abort);
  for (int i = 1; i < argc; i++) {
    shared_list list = {0};
    if (shared_files(argv[i], "", &list)) {
      for (size_t k = 0; k < list.count; k++)
        if (strrchr(list.paths[k], '/')[1] != '.') replay(list.paths[k]);
      shared_list_free(&list);
    } else {
      replay(argv[i]);
    }
  }
  CHECK(check_passed > 0);
  return check_report();
}
