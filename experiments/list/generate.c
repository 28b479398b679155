#include "generate.h"

#include <stdlib.h>
#include <string.h>

const char *const list_shape_names[LIST_SHAPES] = {"flat", "nested", "skewed", "deep"};

enum { CLOSING = 50, WIDTH = 12 };

typedef struct author {
  char *text;
  size_t length;
  uint64_t at;
} author;

static uint64_t next(author *by) {
  uint64_t z = by->at += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

static size_t below(author *by, size_t limit) { return (size_t)((next(by) >> 32) * limit >> 32); }

static void text(author *by, const char *bytes) {
  size_t n = strlen(bytes);
  memcpy(by->text + by->length, bytes, n);
  by->length += n;
}

static void item(author *by) {
  text(by, "<item>");
  for (size_t i = 3 + below(by, 22); i; i--) by->text[by->length++] = "abcdefghijklmnoprstuvw   "[below(by, 25)];
  by->text[by->length++] = 'x';
  text(by, "</item>\n");
}

static void flat(author *by, size_t end) {
  text(by, "<list>\n");
  while (by->length + CLOSING < end) item(by);
  text(by, "</list>\n");
}

/* Appends a list of at most `depth` levels until `end`. */
static void nested(author *by, size_t end, unsigned depth) {
  text(by, "<list>\n");
  while (by->length + CLOSING < end) {
    size_t left = end - by->length;
    if (depth && left > 256 && below(by, 3)) {
      size_t want = left / WIDTH + below(by, left / WIDTH + 1);
      nested(by, by->length + (want < 128 ? 128 : want), depth - 1);
    } else {
      item(by);
    }
  }
  text(by, "</list>\n");
}

static void skewed(author *by, size_t end) {
  size_t tenth = end / 10;
  text(by, "<list>\n");
  nested(by, tenth / 2, 8);
  nested(by, end - tenth / 2, 8);
  nested(by, end, 8);
  text(by, "</list>\n");
}

static void deep(author *by, size_t end) {
  size_t depth = 0;
  for (; by->length + (depth + 1) * 8 < end; depth++) {
    text(by, "<list>\n");
    item(by);
  }
  while (depth--) text(by, "</list>\n");
}

char *list_generate(list_shape shape, size_t size, uint64_t seed, size_t *length) {
  author by = {.text = malloc(size + 1024), .at = seed};
  if (!by.text) return NULL;
  size_t end = size < 64 ? 64 : size;
  switch (shape) {
    case LIST_SHAPE_NESTED: nested(&by, end, 12); break;
    case LIST_SHAPE_SKEWED: skewed(&by, end); break;
    case LIST_SHAPE_DEEP: deep(&by, end); break;
    default: flat(&by, end);
  }
  *length = by.length;
  return by.text;
}
