#include "support/like.h"

#include "support/random.h"
#include "support/value.h"

#include <stdlib.h>
#include <string.h>

/* the kind of a token; scripts/measure-profile has the same list */
enum { TEXT, WHITE, CLOSE, COMMENT, DOCTYPE, START, END, RAW_TEXT, KINDS };
enum { STACK = 512, MARK = 4 };

typedef enum quote { DOUBLE, SINGLE, BARE, NONE } quote;

typedef struct attribute {
  uint32_t name;
  quote quote;
} attribute;

/* A start tag with its attributes, without their values. */
typedef struct shape {
  uint32_t tag;
  bool is_self_closed;
  attribute *attributes;
  size_t count;
} shape;

struct like {
  value *json;
  size_t bytes, tag_count, attribute_count, shape_count, length, body;
  const char **tags, **attributes;
  bool *is_void, *is_script; /* by tag */
  shape *shapes;
  uint32_t *stream; /* of `length` numbers; `body` is the index after the start tag of body */
  double prose_outside, prose_entities, prose_lines, prose_spaces;
  double script_outside, script_less, script_lines, script_quotes, script_brackets, script_backslashes;
  double value_outside, value_entities, value_quotes;
};

typedef struct author {
  like *model;
  buffer *page;
  random_state random;
  uint32_t stack[STACK];
  size_t depth;
  size_t at; /* in the stream */
} author;

/* The length of a text in the stream is four times its bytes, plus flags: the text has references,
 * or characters outside ASCII. */
enum { REFERENCES = 1, OUTSIDE = 2, UNIT = 4 };
typedef void write_fn(author *by, size_t length, unsigned flags);

static void *zeroed(size_t count, size_t size) {
  void *items = calloc(count ? count : 1, size);
  if (!items) abort();
  return items;
}

static bool of_numbers(const value *list, size_t least) {
  if (!list || list->kind != VALUE_LIST || list->count < least) return false;
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].kind != VALUE_NUMBER || list->items[i].number < 0 || list->items[i].number > 1e9) return false;
  return true;
}

static uint32_t number_at(const value *list, size_t i) { return (uint32_t)list->items[i].number; }

static bool is_one_of(const char *name, const char *list) {
  size_t n = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += n)
    if (at[-1] == ' ' && at[n] == ' ') return true;
  return false;
}

static bool read_names(const value *list, const char ***names, size_t *count) {
  if (!list || list->kind != VALUE_LIST) return false;
  *names = zeroed(list->count, sizeof **names);
  for (size_t i = 0; i < list->count; i++) {
    if (list->items[i].kind != VALUE_TEXT) return false;
    (*names)[i] = list->items[i].text;
  }
  *count = list->count;
  return true;
}

static bool read_tags(like *m) {
  if (!read_names(value_member(m->json, "tags"), &m->tags, &m->tag_count)) return false;
  m->is_void = zeroed(m->tag_count, sizeof *m->is_void);
  m->is_script = zeroed(m->tag_count, sizeof *m->is_script);
  for (size_t i = 0; i < m->tag_count; i++) {
    m->is_void[i] = is_one_of(m->tags[i], "  area base br col embed hr img input link meta param source track wbr ");
    m->is_script[i] = is_one_of(m->tags[i], "  script style ");
  }
  return true;
}

/* Reads [tag, self-closed, attribute, quote, ...] for each shape. */
static bool read_shapes(like *m) {
  const value *list = value_member(m->json, "shapes");
  if (!list || list->kind != VALUE_LIST) return false;
  m->shapes = zeroed(list->count, sizeof *m->shapes);
  for (; m->shape_count < list->count; m->shape_count++) {
    const value *item = &list->items[m->shape_count];
    if (!of_numbers(item, 2) || item->count % 2) return false;
    shape *s = &m->shapes[m->shape_count];
    *s = (shape){.tag = number_at(item, 0), .is_self_closed = number_at(item, 1), .count = item->count / 2 - 1};
    s->attributes = zeroed(s->count, sizeof *s->attributes);
    for (size_t i = 0; i < s->count; i++) {
      uint32_t name = number_at(item, 2 * i + 2), kind = number_at(item, 2 * i + 3);
      s->attributes[i] = (attribute){name, (quote)kind};
      if (name >= m->attribute_count || kind > NONE) {
        m->shape_count++;
        return false;
      }
    }
    if (s->tag >= m->tag_count) {
      m->shape_count++;
      return false;
    }
  }
  return true;
}

/* Returns the index after the token at `at`, or 0 if it is wrong. */
static size_t token_end(const like *m, size_t at) {
  uint32_t code = m->stream[at++], index = code / KINDS;
  switch (code % KINDS) {
    case TEXT:
    case WHITE: at++; break;
    case RAW_TEXT:
    case COMMENT:
      if (at + 2 > m->length || m->stream[at + 1] > m->length) return 0;
      at += 2 + 2 * (size_t)m->stream[at + 1];
      break;
    case START:
      if (index >= m->shape_count) return 0;
      for (size_t i = 0; i < m->shapes[index].count; i++) at += m->shapes[index].attributes[i].quote != NONE;
      break;
    case END:
      if (index >= m->tag_count) return 0;
      break;
    default: break;
  }
  return at <= m->length ? at : 0;
}

static bool read_stream(like *m) {
  const value *list = value_member(m->json, "stream");
  if (!of_numbers(list, 1)) return false;
  m->length = list->count;
  m->stream = zeroed(m->length, sizeof *m->stream);
  for (size_t i = 0; i < m->length; i++) m->stream[i] = number_at(list, i);
  size_t body = (size_t)value_number(m->json, "body", 0);
  bool found = !body;
  for (size_t at = 0; at < m->length;) {
    at = token_end(m, at);
    if (!at) return false;
    found |= at == body;
  }
  m->body = body < m->length ? body : 0;
  return found;
}

like *like_read(const char *json, size_t length) {
  like *m = zeroed(1, sizeof *m);
  m->json = value_read(json, length);
  const value *j = m->json, *prose = value_member(j, "prose"), *script = value_member(j, "script"),
              *values = value_member(j, "values");
  m->bytes = (size_t)value_number(j, "utf8_bytes", 0);
  bool fine = j && read_tags(m) && read_names(value_member(j, "attributes"), &m->attributes, &m->attribute_count) &&
              read_shapes(m) && read_stream(m);
  if (!fine) {
    like_free(m);
    return NULL;
  }
  m->prose_outside = value_number(prose, "outside_ascii", 0);
  m->prose_entities = value_number(prose, "entities", 0);
  m->prose_lines = value_number(prose, "lines", 0);
  m->prose_spaces = value_number(prose, "spaces", 160);
  m->script_outside = value_number(script, "outside_ascii", 0);
  m->script_less = value_number(script, "less_than", 0);
  m->script_lines = value_number(script, "lines", 20);
  m->script_quotes = value_number(script, "quotes", 0);
  m->script_brackets = value_number(script, "brackets", 0);
  m->script_backslashes = value_number(script, "backslashes", 0);
  m->value_outside = value_number(values, "outside_ascii", 0);
  m->value_entities = value_number(values, "entities", 0);
  m->value_quotes = value_number(values, "quotes", 0);
  return m;
}

void like_free(like *m) {
  if (!m) return;
  for (size_t i = 0; i < m->shape_count; i++) free(m->shapes[i].attributes);
  free(m->tags);
  free(m->attributes);
  free(m->is_void);
  free(m->is_script);
  free(m->shapes);
  free(m->stream);
  value_free(m->json);
  free(m);
}

size_t like_model_bytes(const like *m) { return m->bytes; }

static void text(author *by, const char *bytes) { buffer_text(by->page, bytes); }

/* Returns whether an event with `rate` occurrences in a thousand characters happens at this
 * character. */
static bool happens(author *by, double rate) { return (double)random_below(&by->random, 1000000) < rate * 1000; }

static char letter(author *by) { return "etaoinshrdlucmfwygpbvk"[random_below(&by->random, 22)]; }

/* Writes two letters of Greek or one of Chinese. The text of a model uses mostly one of them. */
static size_t outside(author *by) {
  if (by->model->prose_outside > 100) {
    char character[4] = {(char)0xE4, (char)(0xB8 + random_below(&by->random, 6)),
                         (char)(0x80 + random_below(&by->random, 64)), 0};
    text(by, character);
    return 3;
  }
  char character[3] = {(char)0xCE, (char)(0xB1 + random_below(&by->random, 14)), 0};
  text(by, character);
  return 2;
}

static void prose(author *by, size_t length, unsigned flags) {
  const like *m = by->model;
  static const char *const entities[] = {"&nbsp;", "&amp;", "&#183;", "&quot;", "&copy;"};
  for (size_t n = 0; n < length;) {
    if (flags & OUTSIDE && n + 3 <= length && happens(by, m->prose_outside)) {
      n += outside(by);
    } else if (flags & REFERENCES && n + 6 <= length && happens(by, m->prose_entities)) {
      const char *entity = RANDOM_OF(&by->random, entities);
      text(by, entity);
      n += strlen(entity);
    } else {
      char c = n && happens(by, m->prose_lines) ? '\n' : n && happens(by, m->prose_spaces) ? ' ' : letter(by);
      buffer_byte(by->page, c);
      n++;
    }
  }
}

/* Writes a script without "</" and "<!--": a space follows each "<". */
static void script(author *by, size_t length, unsigned flags) {
  const like *m = by->model;
  for (size_t n = 0; n < length;) {
    if (flags & OUTSIDE && n + 3 <= length && happens(by, m->script_outside)) {
      n += outside(by);
    } else if (n + 2 <= length && happens(by, m->script_less)) {
      text(by, "< ");
      n += 2;
    } else {
      char c = happens(by, m->script_lines)         ? '\n'
               : happens(by, m->script_quotes)      ? '"'
               : happens(by, m->script_brackets)    ? "(){}()[]"[random_below(&by->random, 8)]
               : happens(by, m->script_backslashes) ? '\\'
               : random_chance(&by->random, 12)     ? ".,;=+ "[random_below(&by->random, 6)]
                                                    : letter(by);
      buffer_byte(by->page, c);
      n++;
    }
  }
}

static void white(author *by, size_t length) {
  if (length) text(by, "\n");
  for (size_t n = 1; n < length; n++) text(by, n % 24 ? " " : "\n");
}

/* Writes a text. The numbers are its length, the number of marks, and for each mark the bytes
 * before it and whether it is an end tag. */
static void with_marks(author *by, write_fn *fill, const uint32_t *numbers) {
  size_t left = numbers[0] / UNIT;
  unsigned flags = numbers[0] % UNIT;
  uint32_t count = numbers[1];
  const uint32_t *marks = numbers + 2;
  for (uint32_t i = 0; i < count; i++, marks += 2) {
    size_t before = marks[0] < left ? marks[0] : left;
    fill(by, before, flags);
    left -= before;
    if (left < MARK) break;
    text(by, marks[1] ? "</i>" : "<i> ");
    left -= MARK;
  }
  fill(by, left, flags);
}

static void attribute_value(author *by, size_t length, unsigned flags, bool bare) {
  const like *m = by->model;
  for (size_t n = 0; n < length;) {
    if (flags & OUTSIDE && n + 3 <= length && happens(by, m->value_outside)) {
      n += outside(by);
    } else if (flags & REFERENCES && n + 6 <= length && happens(by, m->value_entities)) {
      bool quotes = m->value_quotes > 0.5;
      text(by, quotes ? "&quot;" : "&amp;");
      n += quotes ? 6 : 5;
    } else {
      char c = !bare && n && random_chance(&by->random, 8) ? ' '
               : n && random_chance(&by->random, 8)        ? '-'
                                                           : letter(by);
      buffer_byte(by->page, c);
      n++;
    }
  }
}

static void start_tag(author *by, const shape *s, const uint32_t *lengths) {
  const like *m = by->model;
  buffer_format(by->page, "<%s", m->tags[s->tag]);
  for (size_t i = 0; i < s->count; i++) {
    quote q = s->attributes[i].quote;
    buffer_format(by->page, " %s", m->attributes[s->attributes[i].name]);
    if (q == NONE) continue;
    uint32_t length = *lengths / UNIT, flags = *lengths % UNIT;
    lengths++;
    text(by, q == DOUBLE ? "=\"" : q == SINGLE ? "='" : "=");
    attribute_value(by, q == BARE && !length ? 1 : length, flags, q == BARE);
    text(by, q == DOUBLE ? "\"" : q == SINGLE ? "'" : "");
  }
  text(by, s->is_self_closed ? " />" : ">");
  if (!m->is_void[s->tag] && !s->is_self_closed && by->depth < STACK) by->stack[by->depth++] = s->tag;
}

static void end_tag(author *by, uint32_t tag) {
  buffer_format(by->page, "</%s>", by->model->tags[tag]);
  for (size_t at = by->depth; at > 0; at--) {
    if (by->stack[at - 1] != tag) continue;
    by->depth = at - 1;
    return;
  }
}

static void close_top(author *by) {
  if (by->depth) buffer_format(by->page, "</%s>", by->model->tags[by->stack[--by->depth]]);
}

static void token(author *by) {
  const like *m = by->model;
  const uint32_t *numbers = &m->stream[by->at + 1];
  uint32_t code = m->stream[by->at], index = code / KINDS;
  bool in_script = by->depth && m->is_script[by->stack[by->depth - 1]];
  by->at = token_end(m, by->at);
  switch (code % KINDS) {
    case TEXT: prose(by, numbers[0] / UNIT, numbers[0] % UNIT); break;
    case WHITE: white(by, numbers[0]); break;
    case RAW_TEXT: with_marks(by, in_script ? script : prose, numbers); break;
    case COMMENT:
      text(by, "<!--");
      with_marks(by, prose, numbers);
      text(by, "-->");
      break;
    case DOCTYPE: text(by, "<!DOCTYPE html>"); break;
    case START: start_tag(by, &m->shapes[index], numbers); break;
    case END: end_tag(by, index); break;
    default: close_top(by);
  }
}

void like_write(like *m, size_t size, uint64_t seed, buffer *page) {
  author by = {.model = m, .page = page, .random = {seed}};
  size_t body_depth = 0;
  size_t last = SIZE_MAX;       /* length of the page when the stream last ended */
  bool once = size == m->bytes; /* the whole stream, whatever its length is */
  while (once ? by.at < m->length : page->length < size) {
    if (by.at == m->length) {
      while (by.depth > body_depth) close_top(&by);
      if (page->length == last) break;
      last = page->length;
      by.at = m->body;
    }
    token(&by);
    if (by.at == m->body) body_depth = by.depth;
  }
  /* The stream has no end tags of body and html. The model may leave many elements open. */
  while (!once && by.depth) close_top(&by);
  text(&by, once ? "</body></html>\n" : "\n");
}
