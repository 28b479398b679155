#include "base/memory.h"
#include "cli/cli.h"
#include "text/read.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static bool progress_shown;
static int write_error; /* errno of the first write that failed */

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
  if (fwrite(bytes, 1, length, file) == length) return HPAR_OK;
  if (!write_error) write_error = errno;
  return HPAR_ERROR_IO;
}

int hp_finish_output(int code) {
  static bool said;
  if (!ferror(stdout) && fflush(stdout) == 0) return code;
  if (!write_error) write_error = errno ? errno : EIO;
  if (!said && write_error != EPIPE) hp_complain("standard output cannot be written: %s", strerror(write_error));
  said = true;
  return code ? code : HP_EXIT_FAILED;
}

const char *hp_shown_name(const char *path) { return strcmp(path, "-") ? path : "standard input"; }

char *hp_load(const char *path, size_t *length) {
  char *bytes = NULL;
  hpar_status status = hp_read_file(path, &bytes, length);
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
    case HPAR_ERROR_UNSUPPORTED: /* options that this build lacks have been refused before */
      hp_complain("%s: the iconv of this system does not know the encoding", name);
      return HP_EXIT_FAILED;
    case HPAR_ERROR_ARGUMENT: hp_complain("%s: an option's value is outside its range", name); return HP_EXIT_USAGE;
    default: hp_complain("%s: %s", name, hpar_status_text(status)); return HP_EXIT_FAILED;
  }
}
