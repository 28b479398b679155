#include "programs/hpar/read.h"

#include <errno.h>
#include <fcntl.h>
#include <hpar/parse.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, FIRST = 1 << 16, AT_ONCE = 1 << 30 };

/* Reads once. Waits if the other side made the pipe non-blocking. */
static ssize_t read_some(int file, char *bytes, size_t room) {
  for (;;) {
    ssize_t got = read(file, bytes, room < AT_ONCE ? room : AT_ONCE);
    if (got >= 0) return got;
    if (errno == EAGAIN) {
      struct pollfd ready = {.fd = file, .events = POLLIN};
      if (poll(&ready, 1, -1) >= 0) continue;
    }
    if (errno != EINTR) return -1;
  }
}

/* Returns the number of bytes to allocate first: one more than the file has, so that its end
 * needs no second buffer. 0 if the file is too large. */
static size_t first_capacity(int file, const struct stat *about, uint64_t most) {
  if (!S_ISREG(about->st_mode) || about->st_size <= 0) return FIRST;
  off_t begin = lseek(file, 0, SEEK_CUR), left = about->st_size - (begin > 0 ? begin : 0);
  uint64_t bytes = left > 0 ? (uint64_t)left : 0;
  if (bytes > most) bytes = most;
  return bytes > HPAR_MAX_INPUT || bytes >= SIZE_MAX ? 0 : (size_t)bytes + 1;
}

/* Enlarges a buffer by half and a piece. Returns false, and frees it, without memory. */
static bool grow(char **memory, size_t *capacity) {
  uint64_t wanted = (uint64_t)*capacity + *capacity / 2 + FIRST;
  if (wanted > HPAR_MAX_INPUT + 1) wanted = HPAR_MAX_INPUT + 1;
  char *grown = wanted <= SIZE_MAX ? realloc(*memory, (size_t)wanted) : NULL;
  if (!grown) {
    free(*memory);
    return false;
  }
  *memory = grown;
  *capacity = (size_t)wanted;
  return true;
}

static hpar_status read_all(int file, uint64_t limit, char **bytes, size_t *length) {
  struct stat about;
  if (fstat(file, &about)) return HPAR_ERROR_IO;
  if (S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return HPAR_ERROR_IO;
  }
  uint64_t most = limit && limit < HPAR_MAX_INPUT ? limit + 1 : HPAR_MAX_INPUT + 1;
  size_t capacity = first_capacity(file, &about, most), count = 0;
  if (!capacity) return HPAR_ERROR_TOO_LARGE;
  char *memory = malloc(capacity);
  if (!memory) return HPAR_ERROR_MEMORY;
  for (;;) {
    if (count == capacity && !grow(&memory, &capacity)) return HPAR_ERROR_MEMORY;
    size_t room = capacity - count < most - count ? capacity - count : (size_t)(most - count);
    ssize_t got = read_some(file, memory + count, room);
    if (got < 0) {
      int number = errno;
      free(memory);
      errno = number;
      return HPAR_ERROR_IO;
    }
    count += (size_t)got;
    if (count > HPAR_MAX_INPUT) {
      free(memory);
      return HPAR_ERROR_TOO_LARGE;
    }
    if (got == 0 || count == most) break;
  }
  if (capacity - count > count / 8 + FIRST) {
    char *fitted = realloc(memory, count ? count : 1);
    if (fitted) memory = fitted;
  }
  *bytes = memory;
  *length = count;
  return HPAR_OK;
}

static int open_file(const char *path) {
  int file;
  do {
    file = open(path, O_RDONLY | O_CLOEXEC);
  } while (file < 0 && errno == EINTR);
  return file;
}

hpar_status hp_read_file(const char *path, uint64_t limit, char **bytes, size_t *length) {
  if (!strcmp(path, "-")) return read_all(STDIN_FILENO, limit, bytes, length);
  int file = open_file(path);
  if (file < 0) return HPAR_ERROR_IO;
  hpar_status status = read_all(file, limit, bytes, length);
  int number = errno;
  close(file);
  errno = number;
  return status;
}

hpar_status hp_read_pieces(const char *path, hpar_status (*take)(const char *bytes, size_t n, void *context),
                           void *context) {
  bool is_input = !strcmp(path, "-");
  int file = is_input ? STDIN_FILENO : open_file(path);
  if (file < 0) return HPAR_ERROR_IO;
  char *piece = malloc(PIECE);
  hpar_status status = piece ? HPAR_OK : HPAR_ERROR_MEMORY;
  int number = 0;
  while (status == HPAR_OK) {
    ssize_t got = read_some(file, piece, PIECE);
    if (got == 0) break;
    number = errno;
    status = got < 0 ? HPAR_ERROR_IO : take(piece, (size_t)got, context);
  }
  free(piece);
  if (!is_input) close(file);
  errno = number;
  return status;
}
