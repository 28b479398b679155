#include "support/value.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct reader {
  const char *at, *end;
  unsigned depth;
} reader;

static void clear(value *v) {
  for (size_t i = 0; i < v->count; i++) clear(&v->items[i]);
  free(v->items);
  free(v->name);
  free(v->text);
}

void value_free(value *v) {
  if (!v) return;
  clear(v);
  free(v);
}

static void space(reader *r) {
  while (r->at < r->end && strchr(" \n\r\t", *r->at)) r->at++;
}

static bool take(reader *r, char c) {
  space(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static char *text(reader *r) {
  if (!take(r, '"')) return NULL;
  size_t capacity = 64;
  size_t length = 0;
  char *out = malloc(capacity);
  while (out && r->at < r->end && *r->at != '"') {
    char c = *r->at++;
    if (c == '\\') {
      if (r->at == r->end) break;
      c = *r->at++;
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'u') {
        char code[5] = {0};
        if (r->end - r->at < 4) break;
        memcpy(code, r->at, 4);
        r->at += 4;
        c = (char)strtoul(code, NULL, 16);
      }
    }
    if (length + 1 == capacity) {
      char *more = realloc(out, capacity *= 2);
      if (!more) break;
      out = more;
    }
    out[length++] = c;
  }
  if (out && r->at < r->end && *r->at == '"') {
    r->at++;
    out[length] = 0;
    return out;
  }
  free(out);
  return NULL;
}

static bool read_value(reader *r, value *v);

static bool items(reader *r, value *v, char closing) {
  size_t capacity = 0;
  if (take(r, closing)) return true;
  do {
    if (v->count == capacity) {
      capacity = capacity ? 2 * capacity : 8;
      value *more = realloc(v->items, capacity * sizeof *more);
      if (!more) return false;
      v->items = more;
    }
    value *item = &v->items[v->count];
    *item = (value){0};
    v->count++;
    if (closing == '}' && (!(item->name = text(r)) || !take(r, ':'))) return false;
    if (!read_value(r, item)) return false;
  } while (take(r, ','));
  return take(r, closing);
}

static bool word(reader *r, const char *name) {
  size_t n = strlen(name);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, name, n)) return false;
  r->at += n;
  return true;
}

static bool read_value(reader *r, value *v) {
  space(r);
  if (r->at == r->end || r->depth == DEEPEST) return false;
  r->depth++;
  bool fine = true;
  if (take(r, '{')) {
    v->kind = VALUE_OBJECT;
    fine = items(r, v, '}');
  } else if (take(r, '[')) {
    v->kind = VALUE_LIST;
    fine = items(r, v, ']');
  } else if (*r->at == '"') {
    v->kind = VALUE_TEXT;
    fine = (v->text = text(r)) != NULL;
  } else if (word(r, "true") || word(r, "false")) {
    v->kind = VALUE_BOOLEAN;
    v->number = r->at[-2] == 'u'; /* tr-u-e, fal-s-e */
  } else if (!word(r, "null")) {
    char digits[32] = {0};
    size_t n = 0;
    while (r->at < r->end && n < sizeof digits - 1 && strchr("+-.0123456789eE", *r->at)) digits[n++] = *r->at++;
    char *end;
    v->kind = VALUE_NUMBER;
    v->number = strtod(digits, &end);
    fine = n && !*end;
  }
  r->depth--;
  return fine;
}

value *value_read(const char *bytes, size_t length) {
  value *v = calloc(1, sizeof *v);
  reader r = {bytes, bytes + length, 0};
  bool fine = v && read_value(&r, v);
  space(&r);
  if (fine && r.at == r.end) return v;
  value_free(v);
  return NULL;
}

const value *value_member(const value *object, const char *name) {
  if (!object || object->kind != VALUE_OBJECT) return NULL;
  for (size_t i = 0; i < object->count; i++)
    if (!strcmp(object->items[i].name, name)) return &object->items[i];
  return NULL;
}

double value_number(const value *object, const char *name, double otherwise) {
  const value *member = value_member(object, name);
  return member && member->kind == VALUE_NUMBER ? member->number : otherwise;
}
