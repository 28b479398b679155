#include "programs/crawl/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a new file with a name that no process has, not even one of another machine. */
static FILE *open_unique(char *name) {
  int descriptor = mkostemps(name, (int)strlen(".tmp"), O_CLOEXEC);
  if (descriptor < 0) return NULL;
  mode_t mask = umask(0);
  umask(mask);
  FILE *file = fchmod(descriptor, 0666 & ~mask) ? NULL : fdopen(descriptor, "wb");
  if (file) return file;
  int error = errno;
  close(descriptor);
  unlink(name);
  errno = error;
  return NULL;
}

bool hp_new_file_open(hp_new_file *f, const char *folder, const char *name) {
  int a = snprintf(f->path, sizeof f->path, "%s/%s", folder, name);
  const char *slash = strrchr(name, '/');
  int length = slash ? (int)(slash + 1 - name) : 0;
  int b = snprintf(f->temporary, sizeof f->temporary, "%s/%.*s.%s.XXXXXX.tmp", folder, length, name, name + length);
  f->file = NULL;
  if (a < 0 || b < 0 || (size_t)a >= sizeof f->path || (size_t)b >= sizeof f->temporary) {
    errno = ENAMETOOLONG;
    return false;
  }
  f->file = open_unique(f->temporary);
  return f->file;
}

/* Makes the rename durable. */
static bool sync_folder(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  bool fine = !fsync(descriptor) || errno == EINVAL;
  close(descriptor);
  return fine;
}

bool hp_new_file_finish(hp_new_file *f) {
  int error = 0;
  if (fflush(f->file) || ferror(f->file) || fsync(fileno(f->file))) error = errno ? errno : EIO;
  if (fclose(f->file) && !error) error = errno;
  f->file = NULL;
  if (!error && rename(f->temporary, f->path)) error = errno;
  if (error) unlink(f->temporary);
  if (!error && !sync_folder(f->path)) error = errno;
  errno = error;
  return !error;
}

void hp_new_file_drop(hp_new_file *f) {
  if (!f->file) return;
  fclose(f->file);
  unlink(f->temporary);
  f->file = NULL;
}

void hp_write_escaped(FILE *file, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '\t' || c == '\n' || c == '\r' || c == '\\') fputc('\\', file);
    fputc(c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c, file);
  }
}

size_t hp_read_escaped(char *text, size_t length) {
  size_t to = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '\\' && i + 1 < length) {
      c = text[++i];
      c = (char)(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
    }
    text[to++] = c;
  }
  text[to] = 0;
  return to;
}
