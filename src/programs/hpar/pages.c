#include "programs/hpar/pages.h"

#include "programs/hpar/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool add(hp_pages *list, const char *folder, const char *name) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 64;
    char **grown = realloc(list->paths, capacity * sizeof *grown);
    if (!grown) return false;
    list->paths = grown;
    list->capacity = capacity;
  }
  size_t length = strlen(folder);
  const char *between = !length || folder[length - 1] == '/' ? "" : "/";
  size_t size = length + strlen(name) + 2;
  char *path = malloc(size);
  if (!path) return false;
  snprintf(path, size, "%s%s%s", folder, between, name);
  list->paths[list->count++] = path;
  return true;
}

static bool is_page(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot != name && (!strcasecmp(dot, ".html") || !strcasecmp(dot, ".htm"));
}

static bool read_folder(hp_pages *pages, hp_pages *folders, const char *folder) {
  DIR *directory = opendir(folder);
  if (!directory) {
    hp_complain("%s: %s", folder, strerror(errno));
    pages->failures++;
    return true;
  }
  bool fine = true;
  for (struct dirent *entry; fine && (entry = readdir(directory));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    struct stat status;
    if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
    if (S_ISDIR(status.st_mode))
      fine = add(folders, folder, entry->d_name);
    else if (is_page(entry->d_name))
      fine = add(pages, folder, entry->d_name);
  }
  closedir(directory);
  return fine;
}

static int by_path(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

bool hp_pages_add(hp_pages *pages, const char *operand) {
  struct stat status;
  if (!strcmp(operand, "-") || stat(operand, &status) || !S_ISDIR(status.st_mode)) return add(pages, "", operand);
  size_t first = pages->count, failures = pages->failures;
  hp_pages folders = {0};
  bool fine = add(&folders, "", operand);
  for (size_t i = 0; fine && i < folders.count; i++) fine = read_folder(pages, &folders, folders.paths[i]);
  hp_pages_free(&folders);
  if (fine && pages->count == first && pages->failures == failures) {
    hp_complain("%s: no .html or .htm file in this folder; name files with other endings", operand);
    pages->failures++;
  }
  if (pages->count > first) qsort(pages->paths + first, pages->count - first, sizeof *pages->paths, by_path);
  return fine;
}

void hp_pages_free(hp_pages *pages) {
  for (size_t i = 0; i < pages->count; i++) free(pages->paths[i]);
  free(pages->paths);
}
