#include "programs/hpar/replace_file.h"

#include "programs/hpar/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(const char *path, const char *suffix) {
  size_t size = strlen(path) + strlen(suffix) + 1;
  char *joined = malloc(size);
  if (joined) snprintf(joined, size, "%s%s", path, suffix);
  return joined;
}

/* Only root may give a file away. Another user who rewrites the file of somebody owns it then. */
static bool keep_owner(int descriptor, const struct stat *about) {
  return !fchown(descriptor, about->st_uid, about->st_gid) || errno == EPERM;
}

/* A file without a name is gone with its process. Returns a descriptor, or -1: there is no such
 * file on this file system, or no /proc to name it. */
static int open_nameless(const char *path) {
  char *folder = strdup(path);
  if (!folder) return -1;
  strrchr(folder, '/')[1] = 0;
  int descriptor = access("/proc/self/fd", X_OK) ? -1 : open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  free(folder);
  return descriptor;
}

/* Opens a file with a new name in `r->temporary`. Returns a descriptor, or -1. */
static int open_named(hp_replacement *r) {
  r->temporary = join(r->path, ".XXXXXX");
  int descriptor = r->temporary ? mkstemp(r->temporary) : -1;
  if (descriptor >= 0) return descriptor;
  free(r->temporary);
  r->temporary = NULL;
  return -1;
}

/* Gives a file without a name a temporary one. */
static bool give_name(hp_replacement *r) {
  char open_file[32];
  snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fileno(r->file));
  int descriptor = open_named(r);
  if (descriptor < 0) return false;
  close(descriptor);
  return !unlink(r->temporary) && !linkat(AT_FDCWD, open_file, AT_FDCWD, r->temporary, AT_SYMLINK_FOLLOW);
}

bool hp_replacement_open(hp_replacement *r, const char *path) {
  *r = (hp_replacement){.path = realpath(path, NULL)};
  struct stat about;
  if (!r->path || stat(r->path, &about)) {
    hp_complain("%s: cannot be read: %s", path, strerror(errno));
    hp_replacement_drop(r);
    return false;
  }
  if (!S_ISREG(about.st_mode)) {
    hp_complain("%s: is no regular file and cannot be rewritten in place", path);
    hp_replacement_drop(r);
    return false;
  }
  int descriptor = open_nameless(r->path);
  if (descriptor < 0) descriptor = open_named(r);
  if (descriptor >= 0 && (!keep_owner(descriptor, &about) || fchmod(descriptor, about.st_mode & 07777) ||
                          !(r->file = fdopen(descriptor, "wb"))))
    close(descriptor);
  if (r->file) return true;
  hp_complain("%s: no temporary file can be written beside it: %s", path, strerror(errno));
  hp_replacement_drop(r);
  return false;
}

static bool keep_backup(const hp_replacement *r, const char *suffix) {
  char *backup = join(r->path, suffix);
  bool kept = backup && !link(r->path, backup);
  if (!kept && errno == EEXIST)
    hp_complain("%s: exists; remove it, or name another suffix with --backup", backup);
  else if (!kept)
    hp_complain("%s: has no backup: %s", r->path, strerror(errno));
  free(backup);
  return kept;
}

bool hp_replacement_finish(hp_replacement *r, const char *suffix) {
  bool written = !fflush(r->file) && !ferror(r->file) && !fsync(fileno(r->file)) && (r->temporary || give_name(r));
  written = !fclose(r->file) && written;
  r->file = NULL;
  if (!written) hp_complain("%s: cannot be written: %s", r->path, strerror(errno));
  bool replaced = written && (!*suffix || keep_backup(r, suffix));
  if (replaced && rename(r->temporary, r->path)) {
    hp_complain("%s: cannot be replaced: %s", r->path, strerror(errno));
    replaced = false;
  }
  if (replaced) {
    free(r->temporary);
    r->temporary = NULL;
  }
  hp_replacement_drop(r);
  return replaced;
}

void hp_replacement_drop(hp_replacement *r) {
  if (r->file) fclose(r->file);
  if (r->temporary) unlink(r->temporary);
  free(r->temporary);
  free(r->path);
  *r = (hp_replacement){0};
}
