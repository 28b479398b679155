#include "text/read.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <hpar/parse.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, FIRST = 1 << 16, AT_ONCE = 1 << 30 };

/* read(), waiting where the other side has made a pipe non-blocking. */
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

static hpar_status read_all(int file, char **bytes, size_t *length) {
  struct stat about;
  if (fstat(file, &about)) return HPAR_ERROR_IO;
  if (S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return HPAR_ERROR_IO;
  }
  /* One byte more than the file is said to have, so that its end is met without growing. */
  size_t capacity = FIRST, count = 0;
  if (S_ISREG(about.st_mode) && about.st_size > 0) {
    off_t begin = lseek(file, 0, SEEK_CUR), left = about.st_size - (begin > 0 ? begin : 0);
    if ((uintmax_t)(left > 0 ? left : 0) > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
    capacity = (size_t)(left > 0 ? left : 0) + 1;
  }
  char *memory = hp_allocate(capacity);
  if (!memory) return HPAR_ERROR_MEMORY;
  for (;;) {
    if (count == capacity) {
      uint64_t wanted = (uint64_t)capacity + capacity / 2 + FIRST;
      if (wanted > HPAR_MAX_INPUT + 1) wanted = HPAR_MAX_INPUT + 1;
      char *grown = wanted <= SIZE_MAX ? hp_reallocate(memory, (size_t)wanted) : NULL;
      if (!grown) {
        hp_free(memory);
        return HPAR_ERROR_MEMORY;
      }
      memory = grown;
      capacity = (size_t)wanted;
    }
    ssize_t got = read_some(file, memory + count, capacity - count);
    if (got < 0) {
      int number = errno;
      hp_free(memory);
      errno = number;
      return HPAR_ERROR_IO;
    }
    if (got == 0) break;
    count += (size_t)got;
    if (count > HPAR_MAX_INPUT) {
      hp_free(memory);
      return HPAR_ERROR_TOO_LARGE;
    }
  }
  if (capacity - count > count / 8 + FIRST) {
    char *fitted = hp_reallocate(memory, count ? count : 1);
    if (fitted) memory = fitted;
  }
  *bytes = memory;
  *length = count;
  return HPAR_OK;
}

hpar_status hp_read_file(const char *path, char **bytes, size_t *length) {
  if (!strcmp(path, "-")) return read_all(STDIN_FILENO, bytes, length);
  int file;
  do {
    file = open(path, O_RDONLY | O_CLOEXEC);
  } while (file < 0 && errno == EINTR);
  if (file < 0) return HPAR_ERROR_IO;
  hpar_status status = read_all(file, bytes, length);
  int number = errno;
  close(file);
  errno = number;
  return status;
}

hpar_status hp_read_pieces(hpar_status (*take)(const char *bytes, size_t n, void *context), void *context) {
  char *piece = hp_allocate(PIECE);
  hpar_status status = piece ? HPAR_OK : HPAR_ERROR_MEMORY;
  int number = 0;
  while (status == HPAR_OK) {
    ssize_t got = read_some(STDIN_FILENO, piece, PIECE);
    if (got == 0) break;
    number = errno;
    status = got < 0 ? HPAR_ERROR_IO : take(piece, (size_t)got, context);
  }
  hp_free(piece);
  errno = number;
  return status;
}
