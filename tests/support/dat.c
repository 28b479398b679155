#include "support/dat.h"

#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  char *at, *end;
  unsigned line;
} reader;

typedef struct span {
  char *bytes;
  size_t length;
} span;

static bool next_line(reader *from, span *line) {
  if (from->at == from->end) return false;
  char *newline = memchr(from->at, '\n', (size_t)(from->end - from->at));
  char *stop = newline ? newline : from->end;
  *line = (span){from->at, (size_t)(stop - from->at)};
  from->at = newline ? newline + 1 : from->end;
  from->line++;
  return true;
}

static bool is(span line, const char *text) {
  return line.length == strlen(text) && !memcmp(line.bytes, text, line.length);
}

static bool complain(const char *path, const reader *from, const char *what) {
  fprintf(stderr, "%s:%u: %s\n", path, from->line, what);
  return false;
}

/* Reads one test after its "#data" line. The document continues, with blank lines, up to a blank
 * line before the next "#data" or "#description", or to the end of the file. */
static bool read_test(const char *path, reader *from, dat_test *test) {
  span line;
  test->line = from->line;
  char *data = from->at, *stop = NULL;
  while (next_line(from, &line)) {
    if (!is(line, "#errors")) continue;
    stop = line.bytes;
    break;
  }
  if (!stop) return complain(path, from, "#data without #errors");
  test->data = data;
  test->data_length = stop > data ? (size_t)(stop - data) - 1 : 0;

  test->errors = from->at;
  char *errors_end = NULL;
  bool document = false;
  while (!document && next_line(from, &line)) {
    if (!errors_end && line.length && *line.bytes == '#') errors_end = line.bytes;
    if (is(line, "#script-off"))
      test->scripting = DAT_OFF;
    else if (is(line, "#script-on"))
      test->scripting = DAT_ON;
    else if (is(line, "#document"))
      document = true;
    else if (is(line, "#document-fragment")) {
      if (!next_line(from, &line)) return complain(path, from, "#document-fragment without a context");
      test->fragment = malloc(line.length + 1);
      if (!test->fragment) return complain(path, from, "out of memory");
      memcpy(test->fragment, line.bytes, line.length);
      test->fragment[line.length] = 0;
    }
  }
  if (!document) return complain(path, from, "#errors without #document");
  test->errors_length = (size_t)(errors_end - test->errors);

  test->expected = from->at;
  char *after = from->at;
  bool blank = false;
  while (next_line(from, &line)) {
    if (blank && (is(line, "#data") || is(line, "#description"))) {
      from->at = line.bytes;
      from->line--;
      after = line.bytes - 1; /* without the blank line */
      break;
    }
    blank = !line.length;
    after = from->at;
  }
  test->expected_length = (size_t)(after - test->expected);
  while (test->expected_length > 1 && test->expected[test->expected_length - 1] == '\n' &&
         test->expected[test->expected_length - 2] == '\n')
    test->expected_length--; /* the file may have two blank lines between tests */
  return true;
}

bool dat_read(const char *path, dat_file *file) {
  *file = (dat_file){0};
  size_t length, capacity = 0;
  file->bytes = shared_read(path, &length);
  if (!file->bytes) return false;
  reader from = {file->bytes, file->bytes + length, 0};
  for (span line; next_line(&from, &line);) {
    if (!line.length) continue;
    if (is(line, "#description")) {
      next_line(&from, &line);
      if (!next_line(&from, &line)) break;
    }
    bool fine = is(line, "#data") || complain(path, &from, "#data expected");
    if (fine && file->count == capacity) {
      capacity = capacity ? capacity * 2 : 64;
      dat_test *more = realloc(file->tests, capacity * sizeof *more);
      if (more)
        file->tests = more;
      else
        fine = complain(path, &from, "out of memory");
    }
    if (fine) {
      dat_test *test = &file->tests[file->count];
      *test = (dat_test){0};
      file->count++;
      fine = read_test(path, &from, test);
    }
    if (!fine) {
      dat_free(file);
      return false;
    }
  }
  return true;
}

void dat_free(dat_file *file) {
  for (size_t i = 0; i < file->count; i++) free(file->tests[i].fragment);
  free(file->tests);
  free(file->bytes);
  *file = (dat_file){0};
}
