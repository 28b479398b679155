#include "support/shared.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef HPAR_SOURCE_DIR
#define HPAR_SOURCE_DIR "."
#endif

const char *shared_path(char *buffer, size_t n, const char *below) {
  const char *root = getenv("HPAR_SHARED");
  int length = root && *root ? snprintf(buffer, n, "%s/%s", root, below)
                             : snprintf(buffer, n, "%s/../shared/%s", HPAR_SOURCE_DIR, below);
  if (length >= 0 && (size_t)length < n && !access(buffer, R_OK)) return buffer;
  printf("skipped: %s not found\n", buffer);
  return NULL;
}

char *shared_read(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return NULL;
  }
  char *bytes = NULL;
  size_t used = 0, size = 0;
  for (;;) {
    if (size - used < 2) {
      size = size ? size * 2 : 65536;
      char *more = realloc(bytes, size);
      if (!more) break;
      bytes = more;
    }
    size_t got = fread(bytes + used, 1, size - used - 1, file);
    used += got;
    if (got) continue;
    if (ferror(file)) break;
    fclose(file);
    bytes[used] = 0;
    *length = used;
    return bytes;
  }
  fprintf(stderr, "%s: %s\n", path, strerror(errno));
  fclose(file);
  free(bytes);
  return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

bool shared_files(const char *directory, const char *suffix, shared_list *list) {
  DIR *open = opendir(directory);
  if (!open) {
    fprintf(stderr, "%s: %s\n", directory, strerror(errno));
    return false;
  }
  *list = (shared_list){0};
  size_t capacity = 0, ending = strlen(suffix);
  for (struct dirent *entry; (entry = readdir(open));) {
    size_t length = strlen(entry->d_name);
    if (length < ending || strcmp(entry->d_name + length - ending, suffix)) continue;
    if (list->count == capacity) {
      capacity = capacity ? capacity * 2 : 64;
      char **more = realloc(list->paths, capacity * sizeof *more);
      if (!more) exit(1);
      list->paths = more;
    }
    size_t size = strlen(directory) + length + 2;
    char *path = malloc(size);
    if (!path) exit(1);
    snprintf(path, size, "%s/%s", directory, entry->d_name);
    list->paths[list->count++] = path;
  }
  closedir(open);
  if (list->count) qsort(list->paths, list->count, sizeof *list->paths, by_name);
  return true;
}

void shared_list_free(shared_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->paths[i]);
  free(list->paths);
  *list = (shared_list){0};
}
