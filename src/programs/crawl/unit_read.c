/* Reads the files of units. */

#include "programs/crawl/sha256.h"
#include "programs/crawl/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool unit_path(const hp_unit *unit, const char *folder, char *path, size_t size) {
  int length = snprintf(path, size, "%s/units/%s.tsv", folder, unit->id);
  return length > 0 && (size_t)length < size;
}

static hpar_status load(const char *path, char **text, size_t *length) {
  FILE *file = fopen(path, "rbe");
  if (!file) return HPAR_ERROR_IO;
  size_t capacity = 1 << 16, got;
  char *bytes = malloc(capacity);
  *length = 0;
  while (bytes && (got = fread(bytes + *length, 1, capacity - *length - 1, file)) > 0) {
    *length += got;
    if (capacity - *length > 1) continue;
    capacity *= 2;
    char *grown = realloc(bytes, capacity);
    if (!grown) free(bytes);
    bytes = grown;
  }
  bool failed = ferror(file);
  int error = errno;
  fclose(file);
  errno = error;
  if (failed) free(bytes);
  if (!bytes || failed) return failed ? HPAR_ERROR_IO : HPAR_ERROR_MEMORY;
  bytes[*length] = 0;
  *text = bytes;
  return HPAR_OK;
}

/* Returns whether the text ends with the hash of what is before it. Cuts the last line off. */
static bool is_complete(char *text, size_t *length) {
  enum { LAST = 4 + 64 + 1 };
  char digits[65];
  if (*length < LAST || memcmp(text + *length - LAST, "end\t", 4)) return false;
  hp_sha256 sha;
  hp_sha256_open(&sha);
  hp_sha256_add(&sha, text, *length - LAST);
  hp_sha256_finish(&sha, digits);
  bool fine = !memcmp(digits, text + *length - LAST + 4, 64);
  *length -= LAST;
  text[*length] = 0;
  return fine;
}

/* Divides a line at its tabs. Returns the number of fields. */
static size_t split(char *line, char *end, char **fields, size_t *lengths, size_t most) {
  size_t count = 0;
  for (char *at = line; at && count < most;) {
    char *tab = memchr(at, '\t', (size_t)(end - at)), *stop = tab ? tab : end;
    fields[count] = at;
    *stop = 0;
    lengths[count] = hp_read_escaped(at, (size_t)(stop - at));
    count++;
    at = tab ? tab + 1 : NULL;
  }
  return count;
}

static int family_of(const char *name) {
  for (int f = 0; f < HP_FAMILIES; f++)
    if (!strcmp(hp_family_name((hp_family)f), name)) return f;
  return -1;
}

static hpar_status add_refusal(hp_unit_results *results, const hp_unit *unit, char **fields) {
  if (results->refusal_count == results->refusal_capacity) {
    size_t capacity = results->refusal_capacity ? results->refusal_capacity * 2 : 64;
    hp_refusal *grown = realloc(results->refusals, capacity * sizeof *grown);
    if (!grown) return HPAR_ERROR_MEMORY;
    results->refusals = grown;
    results->refusal_capacity = capacity;
  }
  hp_refusal refusal = {.path = unit->path,
                        .offset = strtoull(fields[1], NULL, 10),
                        .inner = strtoull(fields[2], NULL, 10),
                        .record = strtoull(fields[3], NULL, 10),
                        .reason = strdup(fields[4]),
                        .url = strdup(fields[5])};
  results->refusals[results->refusal_count++] = refusal;
  return refusal.reason && refusal.url ? HPAR_OK : HPAR_ERROR_MEMORY;
}

static hpar_status add_line(hp_tally *tally, hp_unit_results *results, const hp_unit *unit, char *line, char *end) {
  char *fields[6];
  size_t lengths[6], count = split(line, end, fields, lengths, 6);
  if (count == 4 && (!strcmp(fields[0], "count") || !strcmp(fields[0], "error") || !strcmp(fields[0], "max"))) {
    int family = family_of(fields[1]);
    uint64_t number = strtoull(fields[3], NULL, 10);
    if (family < 0) return HPAR_ERROR_IO;
    if (*fields[0] != 'c') {
      (*fields[0] == 'e' ? hp_tally_add_error : hp_tally_raise)(tally, (hp_family)family, number);
      return HPAR_OK;
    }
    bool fine = hp_tally_table_add(&tally->tables[family], fields[2], lengths[2], number);
    return fine ? HPAR_OK : HPAR_ERROR_MEMORY;
  }
  if (count == 6 && !strcmp(fields[0], "refused")) return add_refusal(results, unit, fields);
  return strcmp(fields[0], "unit") && strcmp(fields[0], "hpar-crawl-unit-2") ? HPAR_ERROR_IO : HPAR_OK;
}

hpar_status hp_load_complete(const char *path, char **text, size_t *length) {
  hpar_status status = load(path, text, length);
  if (status) return status;
  errno = 0;
  if (is_complete(*text, length)) return HPAR_OK;
  free(*text);
  *text = NULL;
  return HPAR_ERROR_IO;
}

hpar_status hp_unit_read(const hp_unit *unit, const char *folder, hp_unit_results *results) {
  char path[4096], *text = NULL;
  size_t length = 0;
  errno = ENAMETOOLONG;
  if (!unit_path(unit, folder, path, sizeof path)) return HPAR_ERROR_IO;
  hpar_status status = hp_load_complete(path, &text, &length);
  if (status) return status;
  hp_tally tally = {0};
  for (char *line = text; !status && line < text + length;) {
    char *end = memchr(line, '\n', (size_t)(text + length - line));
    if (!end) status = HPAR_ERROR_IO;
    if (!status) status = add_line(&tally, results, unit, line, end);
    line = end ? end + 1 : line;
  }
  if (!status && !hp_tally_merge(&results->tally, &tally)) status = HPAR_ERROR_MEMORY;
  hp_tally_free(&tally);
  free(text);
  return status;
}

bool hp_unit_is_done(const hp_unit *unit, const char *folder) {
  char path[4096], *text = NULL;
  size_t length = 0;
  if (!unit_path(unit, folder, path, sizeof path) || hp_load_complete(path, &text, &length)) return false;
  free(text);
  return true;
}

void hp_unit_results_free(hp_unit_results *results) {
  for (size_t i = 0; i < results->refusal_count; i++) {
    free(results->refusals[i].reason);
    free(results->refusals[i].url);
  }
  free(results->refusals);
  hp_tally_free(&results->tally);
  *results = (hp_unit_results){0};
}
