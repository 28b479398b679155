#include "programs/crawl/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 6, FIRST_PAUSE_NS = 100000000, SECOND_NS = 1000000000, OUTPUT = 3 };

const char *hp_remote_program(const char *path) {
  bool is_web = !strncmp(path, "https://", 8) || !strncmp(path, "http://", 7);
  return is_web ? "curl" : !strncmp(path, "s3://", 5) ? "aws" : NULL;
}

void hp_remote_open(hp_remote *r, const char *path, uint64_t position) {
  *r = (hp_remote){.path = path, .position = position, .file = -1};
}

/* curl fails if the server ignores the position, so that no byte comes twice. A transfer without a
 * byte for a minute breaks, too. */
static void execute_curl(const hp_remote *r) {
  char position[24];
  snprintf(position, sizeof position, "%" PRIu64, r->position);
  const char *const always[] = {"curl", "--silent",      "--fail", "--location",   "--globoff", "--connect-timeout",
                                "60",   "--speed-limit", "1",      "--speed-time", "60",        "--output",
                                "-"};
  const char *arguments[sizeof always / sizeof *always + 5];
  size_t count = sizeof always / sizeof *always;
  memcpy(arguments, always, sizeof always);
  if (r->position) {
    arguments[count++] = "--continue-at";
    arguments[count++] = position;
  }
  arguments[count++] = "--";
  arguments[count++] = r->path;
  arguments[count] = NULL;
  dup2(OUTPUT, STDOUT_FILENO);
  execvp("curl", (char *const *)arguments);
}

static void execute_aws(const hp_remote *r) {
  char bucket[256], range[40];
  const char *name = r->path + strlen("s3://"), *slash = strchr(name, '/');
  snprintf(bucket, sizeof bucket, "%.*s", slash ? (int)(slash - name) : (int)strlen(name), name);
  snprintf(range, sizeof range, "bytes=%" PRIu64 "-", r->position);
  const char *arguments[] = {"aws",     "s3api", "get-object", "--bucket", bucket, "--key", slash ? slash + 1 : "",
                             "--range", range,   "/dev/fd/3",  NULL};
  execvp("aws", (char *const *)arguments);
}

static _Noreturn void run_program(const hp_remote *r, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  int copy = fcntl(output, F_DUPFD, OUTPUT + 1), nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  dup2(copy, OUTPUT);
  close(copy);
  if (*hp_remote_program(r->path) == 'c')
    execute_curl(r);
  else
    execute_aws(r);
  _exit(127);
}

static bool start_program(hp_remote *r) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return false;
  pid_t parent = getpid(), child = fork();
  if (!child) run_program(r, ends[1], parent);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return false;
  }
  r->process = child;
  r->file = ends[0];
  return true;
}

void hp_remote_close(hp_remote *r) {
  if (!r->process) return;
  close(r->file);
  kill(r->process, SIGKILL);
  while (waitpid(r->process, &r->status, 0) < 0 && errno == EINTR) {
  }
  r->process = 0;
}

/* Waits for the end of a program whose output has ended. Returns whether it has read all. */
static bool finish_program(hp_remote *r) {
  close(r->file);
  while (waitpid(r->process, &r->status, 0) < 0 && errno == EINTR) {
  }
  r->process = 0;
  return WIFEXITED(r->status) && !WEXITSTATUS(r->status);
}

ssize_t hp_remote_read(hp_remote *r, char *bytes, size_t length) {
  for (;;) {
    if (!r->process && !start_program(r)) return -1;
    ssize_t got = read(r->file, bytes, length);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      r->position += (uint64_t)got;
      r->tries = 0;
      return got;
    }
    if (finish_program(r)) return 0;
    if (++r->tries == TRIES) {
      errno = EIO;
      return -1;
    }
    uint64_t ns = (uint64_t)FIRST_PAUSE_NS << (r->tries - 1);
    struct timespec pause = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    nanosleep(&pause, NULL);
  }
}
