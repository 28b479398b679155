/* Texts as finds see them, and the places of finds in the input. */

#include "rewrite/readable.h"

#include "base/bytes.h"
#include "text/references/references.h"
#include "tree/stack.h"

#include <string.h>

unsigned hp_find_places(const char *list) {
  static const struct {
    const char *name;
    unsigned places;
  } words[] = {{"text", HP_TEXT_VISIBLE},   {"script", HP_TEXT_IN_SCRIPT},  {"style", HP_TEXT_IN_STYLE},
               {"title", HP_TEXT_IN_TITLE}, {"comment", HP_FINDS_COMMENTS}, {"all", HP_FINDS_ALL}};
  unsigned places = 0;
  if (!list) return HP_TEXT_VISIBLE;
  for (const char *at = list + strspn(list, " ,"); *at; at += strspn(at, " ,")) {
    const size_t length = strcspn(at, " ,");
    size_t i = 0;
    while (i < sizeof words / sizeof *words &&
           (strlen(words[i].name) != length || memcmp(words[i].name, at, length) != 0))
      i++;
    if (i == sizeof words / sizeof *words) return 0;
    places |= words[i].places;
    at += length;
  }
  return places;
}

/*** the text ***/

const char *hp_find_whole(const hpar_rewriter *r, const char **whole, const char *at, const char *end,
                          hpar_string wanted) {
  while ((at = memmem(at, (size_t)(end - at), wanted.bytes, wanted.length)) && hp_rewriter_has_codes(r)) {
    while (*whole < at) {
      const size_t length = hp_encoding_length_at(hp_rewriter_encoding(r), *whole, end);
      *whole += length ? length : 1;
    }
    if (*whole == at) break;
    at = *whole;
  }
  return at;
}

typedef struct writer {
  hpar_rewriter *rewriter;
  hp_readable *to;
  char *bytes;
  const char *from; /* the input's text */
} writer;

static void put_shift(writer *w, const char *from, const char *to, const char *bytes, size_t length) {
  hp_readable *text = w->to;
  text->shifts[text->count++] = (hp_shift){.at = (uint32_t)text->length,
                                           .length = (uint32_t)length,
                                           .from = (uint32_t)(from - w->from),
                                           .to = (uint32_t)(to - w->from)};
  memcpy(w->bytes + text->length, bytes, length);
  text->length += length;
}

/* Writes the characters of a reference, or a NUL if the encoding lacks one of them: texts to find
 * have none. */
static const char *put_reference(writer *w, const char *at, const char *end) {
  hpar_rewriter *r = w->rewriter;
  const hp_reference found = hp_read_reference(at, end, false, w->from, NULL);
  if (!found.length) {
    size_t length = (size_t)(found.end - at);
    memcpy(w->bytes + w->to->length, at, length);
    w->to->length += length;
    return found.end;
  }
  hp_bytes *encoded = &r->units->find_text;
  const uint32_t old = encoded->length;
  if (hp_rewriter_writes_utf8(r))
    put_shift(w, at, found.end, found.bytes, found.length);
  else if (hp_encode(encoded, found.bytes, found.length, HP_PLACE_RAW, hp_rewriter_target(r), &r->unwind))
    put_shift(w, at, found.end, encoded->data + old, encoded->length - old);
  else
    put_shift(w, at, found.end, "", 1);
  encoded->length = old;
  return found.end;
}

static bool begins(const char *at, const char *end, const char *marker) {
  const size_t length = strlen(marker);
  return (size_t)(end - at) >= length && !memcmp(at, marker, length);
}

static void write_text(writer *w, const char *end, bool has_references, bool has_sections, bool in_section) {
  static const char open[] = "<![CDATA[", close[] = "]]>";
  hp_readable *text = w->to;
  const hp_encoding *encoding = hp_rewriter_encoding(w->rewriter);
  const bool has_codes = hp_rewriter_has_codes(w->rewriter);
  for (const char *at = w->from; at < end;) {
    if (*at == '&' && has_references && !in_section) {
      at = put_reference(w, at, end);
    } else if (*at == '\r') {
      const char *next = at + 1 < end && at[1] == '\n' ? at + 2 : at + 1;
      put_shift(w, at, next, "\n", 1);
      at = next;
    } else if (has_sections && begins(at, end, in_section ? close : open)) {
      const size_t length = in_section ? sizeof close - 1 : sizeof open - 1;
      put_shift(w, at, at + length, at, length);
      in_section = !in_section;
      text->shifts[text->count - 1].opens = in_section;
      text->shifts[text->count - 1].closes = !in_section;
      at += length;
    } else {
      size_t length = has_codes ? hp_encoding_length_at(encoding, at, end) : 1;
      for (length += !length; length; length--) w->bytes[text->length++] = *at++;
    }
  }
}

void hp_readable_open(hp_readable *text, hpar_rewriter *r, const hp_text_piece *t) {
  const bool has_references = t->kind <= HPAR_TEXT_RCDATA, has_sections = t->kind == HPAR_TEXT_DATA;
  const char *from = t->raw.bytes, *end = from + t->raw.length;
  size_t shifts = 0;
  *text = (hp_readable){.bytes = from, .length = t->raw.length, .in_section = t->in_section};
  for (const char *at = from; at < end; at++)
    shifts += (*at == '&' && has_references) || *at == '\r' || ((*at == '<' || *at == ']') && has_sections);
  if (!shifts) return;
  text->shifts = hp_scratch_take(&r->scratch, shifts * sizeof *text->shifts);
  writer w = {r, text, hp_scratch_take(&r->scratch, 3 * t->raw.length + 16), from};
  text->length = 0;
  write_text(&w, end, has_references, has_sections, t->in_section);
  text->bytes = w.bytes;
}

/*** places ***/

/* Returns the place in the input's text, or SIZE_MAX inside of a shift. Moves `*next` and
 * `*in_section` to the place. */
static size_t place_of(const hp_readable *text, size_t at, uint32_t *next, bool *in_section) {
  for (; *next < text->count && text->shifts[*next].at + text->shifts[*next].length <= at; ++*next) {
    const hp_shift *passed = &text->shifts[*next];
    if (passed->opens || passed->closes) *in_section = passed->opens;
  }
  const hp_shift *last = *next ? &text->shifts[*next - 1] : NULL;
  if (*next < text->count && text->shifts[*next].at < at) return SIZE_MAX;
  return last ? last->to + (at - last->at - last->length) : at;
}

size_t hp_readable_place(const hp_readable *text, size_t at) {
  uint32_t next = 0;
  bool in_section = text->in_section;
  return place_of(text, at, &next, &in_section);
}

/* Sets the place in the input's text. Returns false if it is a part of a reference. The places of
 * all calls ascend. */
static bool find_place(hp_readable *text, size_t from, size_t to, size_t *begin, size_t *end) {
  *begin = place_of(text, from, &text->next, &text->in_section);
  uint32_t next = text->next;
  bool in_section = text->in_section;
  *end = place_of(text, to, &next, &in_section);
  return *begin != SIZE_MAX && *end != SIZE_MAX;
}

void hp_readable_replace(hp_readable *text, hpar_rewriter *r, size_t from, size_t to, hpar_string by,
                         hpar_content format) {
  size_t begin, end;
  if (!find_place(text, from, to, &begin, &end)) return;
  if (text->in_section && by.length && memmem(by.bytes, by.length, "]]>", 3)) return;
  const uint64_t offset = r->units->piece.offset;
  hp_units_add_find(r, offset + begin, offset + end, by, format, text->in_section);
}

/*** runs ***/

void hp_runs_open(hpar_rewriter *r) {
  hp_units *u = r->units;
  const uint32_t count = r->rules->run_count, old = u->run_capacity;
  u->run_end = u->run_wait = 0;
  hp_grow_tight(&u->runs, &u->run_capacity, count, &r->unwind);
  if (u->run_capacity > old) memset(u->runs + old, 0, (u->run_capacity - old) * sizeof *u->runs);
  for (uint32_t i = 0; i < count; i++) u->runs[i].end = u->runs[i].places.count = u->runs[i].next = 0;
}

void hp_runs_close(hp_units *u) {
  for (uint32_t i = 0; i < u->run_capacity; i++) hp_free(u->runs[i].places.items);
  hp_free(u->runs);
  hp_free(u->run_texts.items);
  hp_bytes_free(&u->run_text);
}

size_t hp_runs_memory(const hp_units *u) {
  size_t bytes =
      u->run_capacity * sizeof *u->runs + u->run_texts.capacity * sizeof *u->run_texts.items + u->run_text.capacity;
  for (uint32_t i = 0; i < u->run_capacity; i++) bytes += u->runs[i].places.capacity * sizeof *u->runs[i].places.items;
  return bytes;
}

/* Returns the name of the tag in lower case if it is inline, and ends no match; or NULL. */
static const char *inline_name(const hp_scanner *s) {
  static const char *const names[] = {"a",      "abbr", "acronym", "b",    "bdi",  "bdo",   "big",  "cite",
                                      "code",   "data", "del",     "dfn",  "em",   "font",  "i",    "ins",
                                      "kbd",    "mark", "q",       "s",    "samp", "small", "span", "strike",
                                      "strong", "sub",  "sup",     "time", "tt",   "u",     "var",  "wbr"};
  const size_t length = (size_t)(s->event.to - s->event.from);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && hp_ascii_equal(s->event.from, names[i], length)) return names[i];
  return NULL;
}

static uint64_t limit_of(const hpar_rewriter *r, uint64_t start) {
  return r->options.max_text < UINT64_MAX - start ? start + r->options.max_text : UINT64_MAX;
}

bool hp_run_is_complete(hpar_rewriter *r, const char *from) {
  enum { LEAST = 64, SHARE = 8 };
  hp_units *u = r->units;
  const hp_scanner *s = &r->scanner;
  const uint64_t start = hp_scanner_position(s, from), window = hp_scanner_position(s, s->end);
  /* A text is decided on where it begins: that does not depend on the division of the input. */
  if (r->text.is_open || start < u->run_end || !hp_scanner_is_in_data(s)) return true;
  if (!s->last && window < u->run_wait) return false;
  const uint64_t limit = limit_of(r, start);
  hp_scanner ahead = hp_scanner_look_ahead(s, from);
  uint64_t text = 0; /* where the text here ends; 0: none */
  u->run_end = start;
  for (;;) {
    const hp_scan_event event = hp_scanner_next(&ahead);
    if (event == HP_SCAN_NEEDS_INPUT && !s->last && hp_scanner_position(s, ahead.at) <= limit) {
      u->run_end = start;
      u->run_wait = window + LEAST + (window - start) / SHARE;
      return false;
    }
    if (event == HP_SCAN_TEXT) {
      text = hp_scanner_position(s, ahead.event.to);
      if (text <= limit) continue;
      return true;
    }
    const bool ends_text = event != HP_SCAN_MARKER && (event != HP_SCAN_NEEDS_INPUT || s->last || ahead.state);
    if (text && ends_text) u->run_end = text;
    text = 0;
    const bool goes_on = event == HP_SCAN_TAG || (event == HP_SCAN_NAME && inline_name(&ahead)) ||
                         (event == HP_SCAN_COMMENT && ahead.comment.kind == 4);
    if (!goes_on || hp_scanner_position(s, ahead.at) > limit) return true;
  }
}

/* The open elements at a place ahead: those of the outline up to `depth`, and then `names`. */
enum { MOST_AHEAD = 64 };
typedef struct open_ahead {
  uint32_t depth, count;
  const char *names[MOST_AHEAD];
} open_ahead;

/* Processes an inline tag ahead. Returns false if the run ends before it: its effect is not that of
 * a plain tag, or it ends an element whose texts are for the rule. */
static bool pass_tag(const hpar_rewriter *r, const hp_scanner *ahead, uint32_t rule, open_ahead *open) {
  const hp_builder *b = &r->outline.builder;
  const char *name = inline_name(ahead);
  if (!name) return false;
  if (!strcmp(name, "wbr")) return !ahead->is_end_tag;
  if (!ahead->is_end_tag) {
    const bool is_link = !strcmp(name, "a"); /* it would end another one */
    uint32_t link = is_link ? last_of(b, HP_ATOM_A) : 0;
    while (link > open->depth) link = b->stack.entries[link].previous_same;
    if (open->count == MOST_AHEAD || link) return false;
    for (uint32_t i = 0; is_link && i < open->count; i++)
      if (open->names[i] == name) return false;
    open->names[open->count++] = name;
    return true;
  }
  if (open->count) return open->names[--open->count] == name;
  const hp_open_element *e = &b->stack.entries[open->depth];
  if (!open->depth || !e->node || e->ns != HPAR_NAMESPACE_HTML ||
      e->name != hp_names_find(&r->names, name, strlen(name)))
    return false;
  const uint32_t record = hp_outline_node(&r->outline, e->node)->previous;
  open->depth--;
  const hp_rule_list *scopes = record ? &r->ends.items[record].ending.scopes : NULL;
  for (uint32_t i = 0; scopes && i < scopes->count; i++)
    if (scopes->items[i] == rule) return false;
  return true;
}

static void add_text(hpar_rewriter *r, uint64_t from, uint64_t to) {
  hp_units *u = r->units;
  const hp_text_piece piece = {.raw = {hp_rewriter_at(r, from), (size_t)(to - from)}, .kind = HPAR_TEXT_DATA};
  hp_readable readable;
  hp_readable_open(&readable, r, &piece);
  *hp_push_tight(&u->run_texts, &r->unwind) = (hp_text_of_run){from, (uint32_t)(to - from), u->run_text.length};
  hp_bytes_append(&u->run_text, readable.bytes, readable.length, &r->unwind);
}

/* Collects the run of a rule from the current text on. */
static void read_run(hpar_rewriter *r, uint32_t rule) {
  hp_units *u = r->units;
  const hp_text_piece *t = &u->piece;
  const hp_builder *b = &r->outline.builder;
  const uint64_t end = t->offset + t->raw.length;
  const bool is_plain_mode = b->mode == HP_IN_BODY || b->mode == HP_IN_CELL || b->mode == HP_IN_CAPTION;
  u->run_texts.count = u->run_text.length = 0;
  add_text(r, t->offset, end);
  if (!t->is_first || !t->is_last || !is_plain_mode || b->stack.top->ns != HPAR_NAMESPACE_HTML) return;
  hp_scanner ahead = hp_scanner_look_ahead(&r->scanner, hp_rewriter_at(r, end));
  open_ahead open = {.depth = b->stack.depth};
  uint64_t from = 0, to = 0;
  bool goes_on = true;
  while (goes_on && hp_scanner_position(&ahead, ahead.at) < u->run_end) {
    const hp_scan_event event = hp_scanner_next(&ahead);
    if (event == HP_SCAN_TEXT) {
      if (!to) from = hp_scanner_position(&ahead, ahead.event.from);
      to = hp_scanner_position(&ahead, ahead.event.to);
      continue;
    }
    if (to) add_text(r, from, to);
    to = 0;
    goes_on =
        event == HP_SCAN_NAME ? pass_tag(r, &ahead, rule, &open) : event == HP_SCAN_TAG || event == HP_SCAN_COMMENT;
  }
  if (to) add_text(r, from, to);
}

/* Adds the pieces of a find at [from, to) in the text of the run. `*text` and `*readable` are those
 * of the last place; `*text` UINT32_MAX: none. */
static void add_places(hpar_rewriter *r, hp_run *run, uint32_t from, uint32_t to, uint32_t *text,
                       hp_readable *readable) {
  const hp_units *u = r->units;
  const uint32_t old = run->places.count, count = u->run_texts.count;
  uint32_t i = *text == UINT32_MAX ? 0 : *text;
  for (; i + 1 < count && u->run_texts.items[i + 1].at <= from; i++) continue;
  for (bool is_first = true; i < count && u->run_texts.items[i].at < to; i++) {
    const hp_text_of_run *part = &u->run_texts.items[i];
    const uint32_t part_end = i + 1 < count ? part[1].at : u->run_text.length;
    const uint32_t begin = from > part->at ? from : part->at, end = to < part_end ? to : part_end;
    if (begin == end) continue;
    if (i != *text) {
      const hp_text_piece piece = {.raw = {hp_rewriter_at(r, part->from), part->length}, .kind = HPAR_TEXT_DATA};
      hp_readable_open(readable, r, &piece);
      *text = i;
    }
    size_t at, stop;
    if (!find_place(readable, begin - part->at, end - part->at, &at, &stop)) {
      run->places.count = old;
      return;
    }
    *hp_push_tight(&run->places, &r->unwind) = (hp_run_place){part->from + at, part->from + stop, is_first};
    is_first = false;
  }
}

bool hp_find_in_run(hpar_rewriter *r, const hp_rule *rule, const hpar_action *a, hpar_string wanted) {
  hp_run *run = &r->units->runs[rule->runs + (a - rule->actions)];
  const hp_text_piece *t = &r->units->piece;
  const uint64_t end = t->offset + t->raw.length;
  if (t->kind != HPAR_TEXT_DATA) return false;
  if (t->offset >= run->end) {
    read_run(r, (uint32_t)(rule - r->rules->rules));
    const hp_text_of_run *last = &r->units->run_texts.items[r->units->run_texts.count - 1];
    run->end = last->from + last->length;
    run->places.count = run->next = 0;
    run->is_refused = false;
    /* "</>" is in the bytes of a text, but has no characters: it is found within one text only. */
    if (r->units->run_texts.count == 1 || memmem(wanted.bytes, wanted.length, "</>", 3)) {
      run->end = end;
      return false;
    }
    const char *text = r->units->run_text.data, *stop = text + r->units->run_text.length, *whole = text;
    uint32_t part = UINT32_MAX;
    hp_readable readable;
    for (const char *at = text; (at = hp_find_whole(r, &whole, at, stop, wanted)); at += wanted.length)
      add_places(r, run, (uint32_t)(at - text), (uint32_t)(at - text + (ptrdiff_t)wanted.length), &part, &readable);
  }
  hp_units_begin_finds(r);
  for (; run->next < run->places.count && run->places.items[run->next].from < end; run->next++) {
    const hp_run_place *place = &run->places.items[run->next];
    const hpar_string by = place->is_first ? a->replacement : (hpar_string){NULL, 0};
    if (place->from < t->offset || place->to > end || (!place->is_first && run->is_refused)) continue;
    const bool is_added = hp_units_add_find(r, place->from, place->to, by, a->format, false);
    if (place->is_first) run->is_refused = !is_added;
  }
  hp_units_end_finds(r);
  return true;
}
