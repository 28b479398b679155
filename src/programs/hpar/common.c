#include "programs/hpar/cli.h"
#include "programs/hpar/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool progress_shown;

/* What a stream of this file writes to. stdio forgets why a write failed, and later calls change
 * errno, so `error` keeps the errno of the first failure. */
typedef struct target {
  int descriptor, error;
} target;
static target standard = {STDOUT_FILENO, 0}, output; /* of stdout, and of hp_open_output */

void hp_show_progress(const char *format, ...) {
  if (!isatty(STDERR_FILENO)) return;
  hp_clear_progress();
  va_list values;
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fflush(stderr);
  progress_shown = true;
}

void hp_clear_progress(void) {
  if (progress_shown) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
  progress_shown = false;
}

void hp_complain(const char *format, ...) {
  hp_clear_progress();
  va_list values;
  va_start(values, format);
  fputs("hpar: ", stderr);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  fflush(stderr);
}

hpar_status hp_write_file(const char *bytes, size_t length, void *file) {
  return fwrite(bytes, 1, length, file) == length ? HPAR_OK : HPAR_ERROR_IO;
}

hpar_status hp_append_text(const char *bytes, size_t length, void *text) {
  hp_text *to = text;
  if (to->capacity - to->length < length) {
    size_t capacity = (to->length + length) * 2;
    char *grown = realloc(to->bytes, capacity);
    if (!grown) return HPAR_ERROR_MEMORY;
    to->bytes = grown;
    to->capacity = capacity;
  }
  if (length) memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
  return HPAR_OK;
}

static ssize_t write_target(void *cookie, const char *bytes, size_t length) {
  target *to = cookie;
  size_t written = 0;
  while (written < length) {
    ssize_t now = write(to->descriptor, bytes + written, length - written);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      if (!to->error) to->error = now ? errno : EIO;
      break;
    }
    written += (size_t)now;
  }
  return (ssize_t)written;
}

static FILE *open_target(target *to) { return fopencookie(to, "wb", (cookie_io_functions_t){.write = write_target}); }

void hp_open_standard_output(void) {
  FILE *file = open_target(&standard);
  if (file) stdout = file;
}

int hp_finish_output(int code) {
  static bool said;
  if (!ferror(stdout) && fflush(stdout) == 0) return code;
  if (!said && standard.error != EPIPE)
    hp_complain("standard output cannot be written: %s", strerror(standard.error ? standard.error : EIO));
  said = true;
  return code ? code : HP_EXIT_FAILED;
}

/* Opened for the other direction, so that a write or read fails with EBADF as if it were closed. */
void hp_occupy_standard_streams(void) {
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

bool hp_is_input(const char *output, const char *input) {
  struct stat a, b;
  if (!strcmp(output, "-") || stat(output, &a) || !S_ISREG(a.st_mode)) return false;
  const int failed = strcmp(input, "-") ? stat(input, &b) : fstat(STDIN_FILENO, &b);
  return !failed && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

FILE *hp_open_output(const char *path) {
  if (!strcmp(path, "-")) return stdout;
  output = (target){open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), 0};
  FILE *file = NULL;
  if (output.descriptor >= 0) file = open_target(&output);
  if (!file) {
    hp_complain("%s: cannot be written: %s", path, strerror(errno));
    if (output.descriptor >= 0) close(output.descriptor);
  }
  return file;
}

int hp_close_output(FILE *file, const char *path) {
  if (file == stdout) return hp_finish_output(HP_EXIT_FINE);
  if (fclose(file) && !output.error) output.error = errno;
  if (close(output.descriptor) && !output.error) output.error = errno;
  if (output.error) hp_complain("%s: cannot be written: %s", path, strerror(output.error));
  return output.error ? HP_EXIT_FAILED : HP_EXIT_FINE;
}

const char *hp_shown_name(const char *path) { return strcmp(path, "-") ? path : "standard input"; }

char *hp_load(const char *path, uint64_t limit, size_t *length) {
  char *bytes = NULL;
  hpar_status status = hp_read_file(path, limit, &bytes, length);
  if (!status) return bytes;
  hp_complain_status(path, status);
  return NULL;
}

int hp_complain_status(const char *path, hpar_status status) {
  int number = errno;
  const char *name = path ? hp_shown_name(path) : "hpar";
  switch (status) {
    case HPAR_ERROR_IO:
      if (number == EISDIR)
        hp_complain("%s: is a folder; name a file in it", name);
      else
        hp_complain("%s: cannot be read: %s", name, strerror(number));
      return HP_EXIT_FAILED;
    case HPAR_ERROR_MEMORY: hp_complain("%s: out of memory", name); return HP_EXIT_FAILED;
    case HPAR_ERROR_TOO_LARGE:
      hp_complain("%s: is too large: at most %llu bytes can be parsed", name, (unsigned long long)HPAR_MAX_INPUT);
      return HP_EXIT_FAILED;
    default:
      hp_complain("%s: %s", name, hpar_status_text(status));
      return status == HPAR_ERROR_ARGUMENT ? HP_EXIT_USAGE : HP_EXIT_FAILED;
  }
}

int hp_complain_call(const char *path, const hpar_parser *parser, hpar_status status) {
  bool explained = status == HPAR_ERROR_ARGUMENT || status == HPAR_ERROR_UNSUPPORTED;
  const char *reason = parser && explained ? hpar_parser_error(parser)->text : "";
  if (!*reason) return hp_complain_status(path, status);
  hp_complain("%s: %s", path ? hp_shown_name(path) : "hpar", reason);
  return status == HPAR_ERROR_ARGUMENT ? HP_EXIT_USAGE : HP_EXIT_FAILED;
}
