#include "programs/hpar/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_program(const char *folder, size_t length, const char *name, char *path, size_t size) {
  int written = snprintf(path, size, "%.*s/%s", length ? (int)length : 1, length ? folder : ".", name);
  return written > 0 && (size_t)written < size && !access(path, X_OK);
}

bool hp_find_program(const char *name, char *path, size_t size) {
  char self[3072];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    self[length] = 0;
    char *slash = strrchr(self, '/');
    if (slash && is_program(self, (size_t)(slash - self), name, path, size)) return true;
  }
  const char *folder = getenv("PATH");
  while (folder) {
    size_t folder_length = strcspn(folder, ":");
    if (is_program(folder, folder_length, name, path, size)) return true;
    folder = folder[folder_length] ? folder + folder_length + 1 : NULL;
  }
  return false;
}

static _Noreturn void become(char *const *arguments, const int *ends, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  signal(SIGPIPE, SIG_DFL);
  if (ends) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(ends[1], STDOUT_FILENO);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
  }
  execv(arguments[0], arguments);
  _exit(127);
}

static void read_all(int from, char *output, size_t size) {
  size_t used = 0;
  char rest[4096];
  for (;;) {
    bool full = used + 1 >= size;
    ssize_t got = full ? read(from, rest, sizeof rest) : read(from, output + used, size - used - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (!full) used += (size_t)got;
  }
  output[used] = 0;
}

static int code_of(int status) {
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

int hp_run_watched(char *const *arguments, void (*watch)(void *context), void *context) {
  const struct timespec tick = {0, 200000000};
  int status = 0;
  fflush(stdout);
  fflush(stderr);
  pid_t parent = getpid(), child = fork();
  if (!child) become(arguments, NULL, parent);
  if (child < 0) return -1;
  for (pid_t ended; (ended = waitpid(child, &status, WNOHANG)) != child;) {
    if (ended < 0 && errno != EINTR) return -1;
    watch(context);
    nanosleep(&tick, NULL);
  }
  return code_of(status);
}

int hp_run_program(char *const *arguments, char *output, size_t size) {
  int ends[2];
  if (output && pipe(ends)) return -1;
  fflush(stdout);
  fflush(stderr);
  pid_t parent = getpid(), child = fork();
  if (!child) become(arguments, output ? ends : NULL, parent);
  if (output) {
    close(ends[1]);
    if (child > 0) read_all(ends[0], output, size);
    close(ends[0]);
  }
  int status = 0;
  if (child < 0) return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return code_of(status);
}
