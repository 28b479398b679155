/* Checks the reading of files into memory: sizes, pipes, files that change, limits and errors. */

#include "programs/hpar/read.h"

#include "check.h"
#include "support/random.h"

#include <errno.h>
#include <fcntl.h>
#include <hpar/parse.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static random_state numbers = {1};

static char folder[] = "/tmp/hpar-read-XXXXXX", path[64];

static void write_file(const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, length, file) != length || fclose(file)) exit(1);
}

static void check_reads(const char *name, const char *expected, size_t expected_length) {
  char *bytes = NULL;
  size_t length = 0;
  if (!CHECK(!hp_read_file(name, 0, &bytes, &length))) return;
  CHECK(bytes && length == expected_length && !memcmp(bytes, expected, length));
  free(bytes);
}

static void check_fails(const char *name, int number) {
  char *bytes = (char *)path;
  size_t length = 42;
  errno = 0;
  CHECK_EQ(hp_read_file(name, 0, &bytes, &length), HPAR_ERROR_IO);
  CHECK_EQ(errno, number);
  CHECK(bytes == path && length == 42);
}

typedef struct flow {
  int to;
  const char *bytes;
  size_t length;
} flow;

static void *pour(void *context) {
  flow *flow = context;
  while (flow->length) {
    size_t piece = 1 + random_below(&numbers, random_below(&numbers, 2) ? 10 : 100000);
    ssize_t written = write(flow->to, flow->bytes, piece < flow->length ? piece : flow->length);
    if (written <= 0) break;
    flow->bytes += written;
    flow->length -= (size_t)written;
  }
  close(flow->to);
  return NULL;
}

static void check_pipe(const char *bytes, size_t length, int flags) {
  int ends[2];
  if (pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0) exit(1);
  close(ends[0]);
  if (flags) fcntl(STDIN_FILENO, F_SETFL, flags);
  flow flow = {ends[1], bytes, length};
  pthread_t thread;
  if (pthread_create(&thread, NULL, pour, &flow)) exit(1);
  check_reads("-", bytes, length);
  pthread_join(thread, NULL);
}

static void *append(void *context) {
  int file = open(path, O_WRONLY | O_APPEND);
  (void)context;
  for (int i = 0; i < 2000; i++) {
    if (write(file, "0123456789", 10) != 10) break;
  }
  close(file);
  return NULL;
}

static void *shrink(void *context) {
  (void)context;
  for (off_t size = 4000000; size > 0; size -= 100000) {
    if (truncate(path, size)) break;
  }
  return NULL;
}

/* Checks a limit below the size of the file: the reader returns one byte more than the limit. */
static void check_limit(const char *expected, size_t length) {
  for (size_t limit = 1; limit <= length + 2; limit += 333) {
    char *bytes = NULL;
    size_t count = 0, wanted = limit < length ? limit + 1 : length;
    if (!CHECK(!hp_read_file(path, limit, &bytes, &count))) return;
    CHECK(count == wanted && !memcmp(bytes, expected, count));
    free(bytes);
  }
}

/* Checks that a limit makes files readable that are larger than any input. */
static void check_huge(void) {
  char *bytes = NULL;
  size_t count = 0;
  if (truncate(path, (off_t)HPAR_MAX_INPUT + 1)) return;
  CHECK_EQ(hp_read_file(path, 0, &bytes, &count), HPAR_ERROR_TOO_LARGE);
  CHECK_EQ(hp_read_file(path, HPAR_MAX_INPUT, &bytes, &count), HPAR_ERROR_TOO_LARGE);
  if (!CHECK(!hp_read_file(path, 100, &bytes, &count))) return;
  CHECK_EQ(count, 101);
  free(bytes);
}

static void test_read(void) {
  if (!mkdtemp(folder)) exit(1);
  snprintf(path, sizeof path, "%s/file", folder);
  size_t length = 5000000;
  char *bytes = malloc(length), *got = NULL;
  if (!bytes) exit(1);
  for (size_t i = 0; i < length; i++) bytes[i] = (char)random_below(&numbers, 256);

  check_fails(path, ENOENT);
  check_fails(folder, EISDIR);
  check_fails("", ENOENT);
  char below[80];
  snprintf(below, sizeof below, "%s/below", path);
  static const size_t sizes[] = {0, 1, 4096, 65535, 65536, 65537, 1000003, 5000000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    write_file(bytes, sizes[i]);
    check_reads(path, bytes, sizes[i]);
    if (!freopen(path, "rb", stdin)) exit(1);
    check_reads("-", bytes, sizes[i]);
    if (sizes[i] > 4096) {
      lseek(STDIN_FILENO, 1000, SEEK_SET);
      check_reads("-", bytes + 1000, sizes[i] - 1000);
    }
    check_pipe(bytes, sizes[i], 0);
    check_pipe(bytes, sizes[i], O_NONBLOCK);
  }
  check_fails(below, ENOTDIR);
  if (geteuid()) {
    chmod(path, 0);
    check_fails(path, EACCES);
    chmod(path, 0600);
  }

  pthread_t thread;
  size_t count = 0;
  write_file(bytes, 100);
  if (pthread_create(&thread, NULL, append, NULL)) exit(1);
  for (int i = 0; i < 50; i++) {
    if (!CHECK(!hp_read_file(path, 0, &got, &count))) break;
    CHECK(count >= 100 && !memcmp(got, bytes, 100));
    free(got);
  }
  pthread_join(thread, NULL);
  write_file(bytes, length);
  if (pthread_create(&thread, NULL, shrink, NULL)) exit(1);
  for (int i = 0; i < 20; i++) {
    if (!CHECK(!hp_read_file(path, 0, &got, &count))) break;
    CHECK(count <= length); /* its last page may be part old, part zero */
    free(got);
  }
  pthread_join(thread, NULL);

  write_file(bytes, 1000);
  check_limit(bytes, 1000);
  check_huge();
  if (!access("/proc/self/status", R_OK)) {
    if (CHECK(!hp_read_file("/proc/self/status", 0, &got, &count))) {
      CHECK(count > 0);
      free(got);
    }
  }
  close(STDIN_FILENO);
  check_fails("-", EBADF);
  unlink(path);
  rmdir(folder);
  free(bytes);
}

int main(void) {
  test_read();
  return check_report();
}
