#include "support/like.h"

#include "support/random.h"
#include "support/value.h"

#include <stdlib.h>
#include <string.h>

/* the kind of the next token */
enum { TEXT, WHITE, CLOSE, COMMENT, DOCTYPE, START, END, SELF_CLOSED };
/* the kind of the previous token */
enum { FIRST, AFTER_TEXT, AFTER_ELEMENT, AFTER_COMMENT, AFTER_VOID, PLACES };
enum { DEEPEST = 64, STACK = 512 };

/* A deck of cards. It deals the cards in random order, each once, and then starts again. Card i
 * occurs counts[i] times. */
typedef struct deck {
  size_t count, left;
  uint32_t *cards, *counts, *rest;
} deck;

typedef struct context {
  unsigned depth, parent, top, last;
  deck next;
} context;

typedef struct element {
  deck attribute_counts, attributes; /* of its start tags */
  deck text;
  bool has_text, is_void, is_raw;
  double repeats; /* per thousand: elements equal to the last one in the same place */
} element;

/* The byte range of an element in the page. */
typedef struct stretch {
  size_t begin, end;
} stretch;

struct like {
  value *json;
  size_t bytes, tag_count, attribute_count, context_count;
  const char **tags, **attributes;
  element *elements; /* by tag */
  deck *values;      /* by attribute: lengths */
  context *contexts;
  uint32_t *by_place; /* context + 1 by depth, parent, top and last; 0: none */
  stretch *lasts;     /* by context and tag: the last element that started there; end 0: none */
  deck rest_text, rest_values, white, comments, quotes;
  double prose_outside, prose_entities, prose_lines, prose_spaces;
  double script_outside, script_less, script_lines, script_quotes;
  double value_outside, value_entities;
};

typedef struct author {
  like *model;
  buffer *page;
  random_state random;
  unsigned stack[STACK];
  size_t begins[STACK];   /* of the start tags in the page */
  uint32_t places[STACK]; /* contexts of the start tags */
  size_t depth;
  unsigned last;
  uint32_t context;
  size_t longest; /* maximum bytes of a repeated element */
} author;

static void *zeroed(size_t count, size_t size) {
  void *items = calloc(count ? count : 1, size);
  if (!items) abort();
  return items;
}

static void deck_open(deck *deck, size_t count) {
  *deck = (struct deck){.count = count};
  deck->cards = zeroed(count, sizeof(uint32_t));
  deck->counts = zeroed(count, sizeof(uint32_t));
  deck->rest = zeroed(count, sizeof(uint32_t));
}

static void deck_close(deck *deck) {
  free(deck->cards);
  free(deck->counts);
  free(deck->rest);
}

static bool of_numbers(const value *list) {
  if (!list || list->kind != VALUE_LIST) return false;
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].kind != VALUE_NUMBER || list->items[i].number < 0 || list->items[i].number > 4e9) return false;
  return true;
}

/* Reads [length, ...], each length once. */
static bool deck_of_lengths(deck *deck, const value *list) {
  if (!of_numbers(list)) return false;
  deck_open(deck, list->count);
  for (size_t i = 0; i < list->count; i++) {
    deck->cards[i] = (uint32_t)list->items[i].number;
    deck->counts[i] = 1;
  }
  return true;
}

/* Reads [card, count, ...] from item `from` on. */
static bool deck_of_pairs(deck *deck, const value *list, size_t from) {
  if (!of_numbers(list) || list->count < from || (list->count - from) % 2) return false;
  deck_open(deck, (list->count - from) / 2);
  for (size_t i = 0; i < deck->count; i++) {
    deck->cards[i] = (uint32_t)list->items[from + 2 * i].number;
    deck->counts[i] = (uint32_t)list->items[from + 2 * i + 1].number;
  }
  return true;
}

static uint32_t deal(deck *deck, random_state *random, uint32_t otherwise) {
  if (!deck->left) {
    for (size_t i = 0; i < deck->count; i++) deck->left += deck->rest[i] = deck->counts[i];
    if (!deck->left) return otherwise;
  }
  size_t at = random_below(random, deck->left--), i = 0;
  while (at >= deck->rest[i]) at -= deck->rest[i++];
  deck->rest[i]--;
  return deck->cards[i];
}

static void reshuffle(deck *deck) { deck->left = 0; }

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

static bool read_elements(like *m, const value *json) {
  const value *texts = value_member(json, "text"), *starts = value_member(json, "tag_attributes");
  const value *repeats = value_member(json, "repeats");
  m->elements = zeroed(m->tag_count, sizeof *m->elements);
  for (size_t i = 0; i < m->tag_count; i++) {
    element *e = &m->elements[i];
    e->is_void = is_one_of(m->tags[i], "  area base br col embed hr img input link meta param source track wbr ");
    e->is_raw = is_one_of(m->tags[i], "  script style ");
    if (!e->is_raw) e->repeats = 1000 * value_number(repeats, m->tags[i], 0);
    const value *lengths = value_member(texts, m->tags[i]), *start = value_member(starts, m->tags[i]);
    e->has_text = lengths != NULL;
    if (lengths && !deck_of_lengths(&e->text, lengths)) return false;
    if (!start) continue;
    if (!deck_of_lengths(&e->attribute_counts, value_member(start, "counts"))) return false;
    if (!deck_of_pairs(&e->attributes, value_member(start, "names"), 0)) return false;
    for (size_t k = 0; k < e->attributes.count; k++)
      if (e->attributes.cards[k] >= m->attribute_count) return false;
  }
  return deck_of_lengths(&m->rest_text, value_member(texts, "#rest"));
}

static bool read_values(like *m, const value *json) {
  const value *lengths = value_member(json, "value_lengths"), *kinds = value_member(json, "quotes");
  m->values = zeroed(m->attribute_count, sizeof *m->values);
  for (size_t i = 0; i < m->attribute_count; i++) {
    const value *own = value_member(lengths, m->attributes[i]);
    if (own && !deck_of_lengths(&m->values[i], own)) return false;
  }
  static const char *const names[] = {"double", "single", "bare", "none"};
  deck_open(&m->quotes, 4);
  for (uint32_t i = 0; i < 4; i++) {
    m->quotes.cards[i] = i;
    m->quotes.counts[i] = (uint32_t)(10000 * value_number(kinds, names[i], i ? 0 : 1));
  }
  return deck_of_lengths(&m->rest_values, value_member(lengths, "#rest"));
}

static size_t place(const like *m, size_t depth, unsigned parent, unsigned top, unsigned last) {
  return (((depth < DEEPEST ? depth : DEEPEST) * m->tag_count + parent) * m->tag_count + top) * PLACES + last;
}

static bool read_contexts(like *m, const value *json) {
  const value *list = value_member(json, "contexts");
  if (!list || list->kind != VALUE_LIST) return false;
  m->contexts = zeroed(list->count, sizeof *m->contexts);
  m->by_place = zeroed((DEEPEST + 1) * m->tag_count * m->tag_count * PLACES, sizeof *m->by_place);
  m->lasts = zeroed(list->count * m->tag_count, sizeof *m->lasts);
  for (size_t i = 0; i < list->count; i++) {
    context *c = &m->contexts[i];
    const value *item = &list->items[i];
    if (!deck_of_pairs(&c->next, item, 4)) return false;
    m->context_count++;
    c->depth = (unsigned)item->items[0].number;
    c->parent = (unsigned)item->items[1].number;
    c->top = (unsigned)item->items[2].number;
    c->last = (unsigned)item->items[3].number;
    if (c->depth > DEEPEST || c->parent >= m->tag_count || c->top >= m->tag_count || c->last >= PLACES) return false;
    for (size_t k = 0; k < c->next.count; k++)
      if (c->next.cards[k] / 8 >= m->tag_count) return false;
    m->by_place[place(m, c->depth, c->parent, c->top, c->last)] = (uint32_t)i + 1;
  }
  return true;
}

like *like_read(const char *json, size_t length) {
  like *m = zeroed(1, sizeof *m);
  m->json = value_read(json, length);
  const value *j = m->json, *prose = value_member(j, "prose"), *script = value_member(j, "script"),
              *values = value_member(j, "values");
  m->bytes = (size_t)value_number(j, "utf8_bytes", 0);
  bool fine = j && read_names(value_member(j, "tags"), &m->tags, &m->tag_count) && m->tag_count &&
              read_names(value_member(j, "attributes"), &m->attributes, &m->attribute_count) && read_elements(m, j) &&
              read_values(m, j) && read_contexts(m, j) && deck_of_lengths(&m->white, value_member(j, "white")) &&
              deck_of_lengths(&m->comments, value_member(j, "comments"));
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
  m->value_outside = value_number(values, "outside_ascii", 0);
  m->value_entities = value_number(values, "entities", 0);
  return m;
}

void like_free(like *m) {
  if (!m) return;
  for (size_t i = 0; m->elements && i < m->tag_count; i++) {
    deck_close(&m->elements[i].attribute_counts);
    deck_close(&m->elements[i].attributes);
    deck_close(&m->elements[i].text);
  }
  for (size_t i = 0; m->values && i < m->attribute_count; i++) deck_close(&m->values[i]);
  for (size_t i = 0; i < m->context_count; i++) deck_close(&m->contexts[i].next);
  deck *decks[] = {&m->rest_text, &m->rest_values, &m->white, &m->comments, &m->quotes};
  for (size_t i = 0; i < 5; i++) deck_close(decks[i]);
  free(m->tags);
  free(m->attributes);
  free(m->elements);
  free(m->values);
  free(m->contexts);
  free(m->by_place);
  free(m->lasts);
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

static void prose(author *by, size_t length) {
  const like *m = by->model;
  static const char *const entities[] = {"&nbsp;", "&amp;", "&#183;", "&quot;", "&copy;"};
  for (size_t n = 0; n < length;) {
    if (n + 3 <= length && happens(by, m->prose_outside)) {
      n += outside(by);
    } else if (n + 6 <= length && happens(by, m->prose_entities)) {
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
static void script(author *by, size_t length) {
  const like *m = by->model;
  for (size_t n = 0; n < length;) {
    if (n + 3 <= length && happens(by, m->script_outside)) {
      n += outside(by);
    } else if (n + 2 <= length && happens(by, m->script_less)) {
      text(by, "< ");
      n += 2;
    } else {
      char c = happens(by, m->script_lines)     ? '\n'
               : happens(by, m->script_quotes)  ? '"'
               : random_chance(&by->random, 12) ? ".,;()=+ "[random_below(&by->random, 8)]
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

static void attribute_value(author *by, size_t length, bool bare) {
  const like *m = by->model;
  for (size_t n = 0; n < length;) {
    if (!bare && n + 3 <= length && happens(by, m->value_outside)) {
      n += outside(by);
    } else if (n + 5 <= length && happens(by, m->value_entities)) {
      text(by, "&amp;");
      n += 5;
    } else {
      char c = !bare && n && random_chance(&by->random, 8) ? ' '
               : n && random_chance(&by->random, 8)        ? '-'
                                                           : letter(by);
      buffer_byte(by->page, c);
      n++;
    }
  }
}

static void attributes(author *by, element *e) {
  like *m = by->model;
  uint32_t count = deal(&e->attribute_counts, &by->random, 0), used[32];
  for (uint32_t i = 0, tries = 0; i < count && i < 32; i++) {
    uint32_t name = deal(&e->attributes, &by->random, UINT32_MAX);
    bool again = false;
    for (uint32_t k = 0; k < i; k++) again |= used[k] == name;
    if (name == UINT32_MAX || (again && tries++ >= 32)) return;
    if (again) {
      i--;
      continue;
    }
    used[i] = name;
    uint32_t quote = deal(&m->quotes, &by->random, 0);
    buffer_format(by->page, " %s", m->attributes[name]);
    if (quote == 3) continue;
    deck *lengths = m->values[name].count ? &m->values[name] : &m->rest_values;
    uint32_t length = deal(lengths, &by->random, 4);
    text(by, quote == 0 ? "=\"" : quote == 1 ? "='" : "=");
    attribute_value(by, quote == 2 && !length ? 1 : length, quote == 2);
    text(by, quote == 0 ? "\"" : quote == 1 ? "'" : "");
  }
}

static unsigned top(const author *by) { return by->depth ? by->stack[by->depth - 1] : 0; }

static stretch *last_one(author *by, uint32_t context, unsigned tag) {
  return &by->model->lasts[context * by->model->tag_count + tag];
}

/* Repeats the last element that started in the same place. Returns false if there is none. */
static bool again(author *by, unsigned tag) {
  stretch last = *last_one(by, by->context, tag);
  if (!last.end || last.end - last.begin > by->longest || !happens(by, by->model->elements[tag].repeats)) return false;
  buffer copy = {0};
  buffer_add(&copy, by->page->bytes + last.begin, last.end - last.begin);
  buffer_add(by->page, copy.bytes, copy.length);
  buffer_free(&copy);
  by->last = AFTER_ELEMENT;
  return true;
}

static void start_tag(author *by, unsigned tag, bool self_closed) {
  element *e = &by->model->elements[tag];
  if (!e->is_void && !self_closed && again(by, tag)) return;
  size_t begin = by->page->length;
  buffer_format(by->page, "<%s", by->model->tags[tag]);
  attributes(by, e);
  text(by, self_closed ? " />" : ">");
  if (e->is_void || self_closed || by->depth == STACK) {
    by->last = AFTER_VOID;
  } else {
    by->begins[by->depth] = begin;
    by->places[by->depth] = by->context;
    by->stack[by->depth++] = tag;
    by->last = FIRST;
  }
}

static void close_top(author *by) {
  unsigned tag = top(by);
  buffer_format(by->page, "</%s>", by->model->tags[tag]);
  if (by->depth) {
    by->depth--;
    *last_one(by, by->places[by->depth], tag) = (stretch){by->begins[by->depth], by->page->length};
  }
  by->last = AFTER_ELEMENT;
}

/* Writes an end tag of an element that is not the innermost. All elements in it have no end tag. */
static void end_tag(author *by, unsigned tag) {
  buffer_format(by->page, "</%s>", by->model->tags[tag]);
  for (size_t at = by->depth; at > 2; at--) {
    if (by->stack[at - 1] != tag) continue;
    by->depth = at - 1;
    by->last = AFTER_ELEMENT;
    return;
  }
}

static bool is_named(const author *by, const char *name) { return !strcmp(by->model->tags[top(by)], name); }

/* Returns the context of the model. If the model has no such context, returns the context with the
 * same tags at the nearest depth, or else the end of the element. At the top level any context of
 * the top level may follow. */
static uint32_t next_token(author *by) {
  like *m = by->model;
  unsigned parent = by->depth > 1 ? by->stack[by->depth - 2] : 0;
  for (size_t distance = 0; distance <= DEEPEST; distance++) {
    for (int up = 0; up < 2; up++) {
      size_t depth = up ? by->depth + distance : by->depth - distance;
      if (depth > DEEPEST && distance) continue;
      uint32_t found = m->by_place[place(m, depth, parent, top(by), by->last)];
      if (!found) continue;
      by->context = found - 1;
      return deal(&m->contexts[found - 1].next, &by->random, CLOSE);
    }
  }
  if (by->depth > 2) return CLOSE;
  for (size_t i = 0; i < m->context_count; i++)
    if (m->contexts[i].top == top(by) && m->contexts[i].last == AFTER_ELEMENT) {
      by->context = (uint32_t)i;
      return deal(&m->contexts[i].next, &by->random, TEXT);
    }
  return TEXT;
}

static void token(author *by) {
  like *m = by->model;
  uint32_t card = next_token(by), tag = card / 8;
  element *e = &m->elements[top(by)];
  switch (card % 8) {
    case TEXT: {
      uint32_t length = deal(e->has_text ? &e->text : &m->rest_text, &by->random, 5);
      if (e->is_raw)
        script(by, length);
      else
        prose(by, length);
      by->last = AFTER_TEXT;
      break;
    }
    case WHITE:
      white(by, deal(&m->white, &by->random, 1));
      if (by->last != FIRST) by->last = AFTER_TEXT;
      break;
    case CLOSE:
      if (by->depth && !is_named(by, "html") && !is_named(by, "body"))
        close_top(by);
      else
        by->last = AFTER_ELEMENT;
      break;
    case COMMENT:
      text(by, "<!--");
      prose(by, deal(&m->comments, &by->random, 8));
      text(by, "-->");
      by->last = AFTER_COMMENT;
      break;
    case DOCTYPE:
      if (!by->page->length) text(by, "<!DOCTYPE html>\n");
      break;
    case END: end_tag(by, tag); break;
    default: start_tag(by, tag, card % 8 == SELF_CLOSED);
  }
}

void like_write(like *m, size_t size, uint64_t seed, buffer *page) {
  author by = {.model = m, .page = page, .random = {seed}, .longest = m->bytes / 16};
  deck *decks[] = {&m->rest_text, &m->rest_values, &m->white, &m->comments, &m->quotes};
  for (size_t i = 0; i < 5; i++) reshuffle(decks[i]);
  for (size_t i = 0; i < m->context_count; i++) reshuffle(&m->contexts[i].next);
  memset(m->lasts, 0, m->context_count * m->tag_count * sizeof *m->lasts);
  for (size_t i = 0; i < m->attribute_count; i++) reshuffle(&m->values[i]);
  for (size_t i = 0; i < m->tag_count; i++) {
    reshuffle(&m->elements[i].attribute_counts);
    reshuffle(&m->elements[i].attributes);
    reshuffle(&m->elements[i].text);
  }
  while (page->length < size) token(&by);
  while (by.depth) close_top(&by);
  text(&by, "\n");
}
