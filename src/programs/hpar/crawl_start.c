/* The programs hpar and hpar-scripts: the program hpar-crawl runs their command crawl. */

#include "programs/hpar/cli.h"
#include "programs/hpar/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hp_run_crawl(int count, char **items) {
  char path[4096];
  if (!hp_find_program("hpar-crawl", path, sizeof path)) {
    hp_complain("crawl needs the program hpar-crawl beside hpar or in PATH; install HPar completely");
    return HP_EXIT_USAGE;
  }
  char **arguments = calloc((size_t)count + 3, sizeof *arguments);
  if (!arguments) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  arguments[0] = path;
  arguments[1] = (char *)"crawl";
  memcpy(arguments + 2, items, (size_t)count * sizeof *items);
  execv(path, arguments);
  hp_complain("%s: cannot be executed: %s", path, strerror(errno));
  free(arguments);
  return HP_EXIT_FAILED;
}
