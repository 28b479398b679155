/* Texts, comments, doctypes and the end of the document. */

#include "base/bytes.h"
#include "base/memory.h"
#include "rewrite/readable.h"
#include "rewrite/speculation.h"
#include "rewrite/urls.h"

#include <string.h>

/*** their memory ***/

static void close_edits(hp_unit_edits *e) {
  hp_bytes_free(&e->before);
  hp_bytes_free(&e->after);
  hp_bytes_free(&e->replacement);
}

static size_t edits_memory(const hp_unit_edits *e) {
  return (size_t)e->before.capacity + e->after.capacity + e->replacement.capacity;
}

static void clear_edits(hp_unit_edits *e) {
  e->before.length = e->after.length = e->replacement.length = 0;
  e->is_removed = false;
}

void hp_units_open(hpar_rewriter *r) {
  if (!r->units) r->units = hp_allocate_zeroed(sizeof *r->units);
  if (!r->units) hp_unwind_now(&r->unwind, HPAR_ERROR_MEMORY);
  hp_runs_open(r);
}

void hp_units_close(hpar_rewriter *r) {
  hp_units *u = r->units;
  if (!u) return;
  close_edits(&u->piece.edits);
  close_edits(&u->comment.edits);
  hp_bytes_free(&u->comment.text);
  hp_bytes_free(&u->find_text);
  hp_free(u->finds);
  hp_free(u->later);
  hp_runs_close(u);
  hp_urls_close(u->urls);
  hp_free(u);
}

size_t hp_units_memory(const hpar_rewriter *r) {
  const hp_units *u = r->units;
  if (!u) return 0;
  return sizeof *u + hp_runs_memory(u) + hp_urls_memory(u->urls) + edits_memory(&u->piece.edits) +
         edits_memory(&u->comment.edits) + u->comment.text.capacity + u->find_text.capacity +
         (u->find_capacity + (size_t)u->later_capacity) * sizeof *u->finds;
}

/*** texts ***/

static hpar_text_kind kind_of(hp_text_state content) {
  switch (content) {
    case HP_TEXT_STATE_RCDATA: return HPAR_TEXT_RCDATA;
    case HP_TEXT_STATE_RAWTEXT: return HPAR_TEXT_RAW;
    case HP_TEXT_STATE_SCRIPT_DATA: return HPAR_TEXT_SCRIPT;
    case HP_TEXT_STATE_PLAINTEXT: return HPAR_TEXT_PLAIN;
    default: return HPAR_TEXT_DATA;
  }
}

/* Returns true if the content has the end tag of the raw text. */
static bool holds_end_tag(const hpar_rewriter *r, const char *content, size_t length) {
  hp_name name = hp_atom_name(r->names.fixed, r->scanner.raw_name);
  for (size_t i = 0; name.length && i + name.length + 2 <= length; i++)
    if (content[i] == '<' && content[i + 1] == '/' && hp_ascii_equal(content + i + 2, name.bytes, name.length))
      return true;
  return false;
}

/* Returns how content is written in a text. If raw text loses its tags, all of it becomes text. */
static hp_place_kind place_in(const hp_text_piece *t, hpar_content format) {
  bool escapes = t->rewriter->text.is_escaped;
  if (t->kind >= HPAR_TEXT_RAW) return escapes ? HP_PLACE_TEXT : HP_PLACE_RAW;
  if (format == HPAR_CONTENT_TEXT) return HP_PLACE_TEXT;
  return escapes ? HP_PLACE_RCDATA : HP_PLACE_HTML;
}

static hpar_status insert(hpar_rewriter *r, hp_unit_edits *e, hpar_where where, const char *content, size_t length,
                          hp_place_kind place) {
  if (where == HPAR_WHERE_BEFORE) return hp_content_add(r, &e->before, false, content, length, place);
  if (where == HPAR_WHERE_AFTER) return hp_content_add(r, &e->after, true, content, length, place);
  if (where != HPAR_WHERE_REPLACE) return HPAR_ERROR_ARGUMENT;
  const hpar_status status = hp_content_set(r, &e->replacement, content, length, place);
  e->is_removed |= status == HPAR_OK;
  return status;
}

hpar_status hpar_text_piece_insert(hpar_text_piece *given, hpar_where where, const char *content, size_t length,
                                   hpar_content format) {
  hp_text_piece *t = (hp_text_piece *)given;
  if (!t || !hp_is_format(format)) return HPAR_ERROR_ARGUMENT;
  const hp_place_kind place = place_in(t, format);
  if (content && place == HP_PLACE_RAW && holds_end_tag(t->rewriter, content, length)) return HPAR_ERROR_ARGUMENT;
  return insert(t->rewriter, &t->edits, where, content, length, place);
}

hpar_status hpar_text_piece_remove(hpar_text_piece *piece) {
  return hpar_text_piece_insert(piece, HPAR_WHERE_REPLACE, NULL, 0, HPAR_CONTENT_HTML);
}

/* Sorts the finds: the first `count` ones and the others are each in ascending order. */
static void merge_finds(hpar_rewriter *r, uint32_t count) {
  hp_units *u = r->units;
  uint32_t left = u->find_count - count, at = u->find_count;
  if (!left || !count || u->finds[count - 1].from < u->finds[count].from) return;
  hp_grow(&u->later, &u->later_capacity, left, &r->unwind);
  const hp_find *later = memcpy(u->later, u->finds + count, left * sizeof *later);
  while (left) {
    const bool is_earlier = count && u->finds[count - 1].from > later[left - 1].from;
    u->finds[--at] = is_earlier ? u->finds[--count] : later[--left];
  }
}

void hp_units_begin_finds(hpar_rewriter *r) {
  r->units->earlier_count = r->units->find_count;
  r->units->earlier = 0;
}

void hp_units_end_finds(hpar_rewriter *r) { merge_finds(r, r->units->earlier_count); }

bool hp_units_add_find(hpar_rewriter *r, uint64_t from, uint64_t to, hpar_string by, hpar_content format,
                       bool in_section) {
  hp_units *u = r->units;
  while (u->earlier < u->earlier_count && u->finds[u->earlier].to <= from) u->earlier++;
  if (u->earlier < u->earlier_count && u->finds[u->earlier].from < to) return false;
  hp_grow(&u->finds, &u->find_capacity, u->find_count + 1, &r->unwind);
  const uint32_t text = u->find_text.length;
  const hp_place_kind place = in_section ? HP_PLACE_RAW : place_in(&u->piece, format);
  if (!hp_encode(&u->find_text, by.bytes, by.length, place, hp_rewriter_target(r), &r->unwind)) return false;
  u->finds[u->find_count++] = (hp_find){from, to, text, u->find_text.length - text};
  return true;
}

/* Returns the text to find in the page's encoding. No bytes: it lacks one of the characters. */
static hpar_string encode_wanted(hpar_rewriter *r, hpar_string wanted) {
  hp_bytes *encoded = &r->units->find_text;
  const uint32_t old = encoded->length;
  if (hp_rewriter_writes_utf8(r)) return wanted;
  if (!hp_encode(encoded, wanted.bytes, wanted.length, HP_PLACE_RAW, hp_rewriter_target(r), &r->unwind))
    return (hpar_string){NULL, 0};
  const uint32_t length = encoded->length - old;
  const char *copy = hp_scratch_copy(&r->scratch, encoded->data + old, length);
  encoded->length = old;
  return (hpar_string){copy, length};
}

/* Adds the places of the action's text, except those that earlier actions have in part. */
static void find_all(hpar_rewriter *r, const hp_text_piece *t, const hp_rule *rule, const hpar_action *a) {
  const hpar_string wanted = encode_wanted(r, a->value);
  if (!wanted.bytes) return;
  if (rule->given.across_tags && hp_find_in_run(r, rule, a, wanted)) return;
  hp_readable text;
  hp_readable_open(&text, r, t);
  const char *at = text.bytes, *end = at + text.length, *whole = at;
  hp_units_begin_finds(r);
  while ((at = hp_find_whole(r, &whole, at, end, wanted))) {
    const size_t from = (size_t)(at - text.bytes);
    hp_readable_replace(&text, r, from, from + wanted.length, a->replacement, a->format);
    at += wanted.length;
  }
  hp_units_end_finds(r);
}

/* Returns where the find begins that is around `limit`, or `limit`: none is. One at the end of the
 * text may go on behind it. */
static size_t end_before_find(const hpar_rewriter *r, const hp_readable *text, size_t limit, hpar_string wanted) {
  const char *at = text->bytes, *stop = at + limit, *end = at + text->length, *whole = at;
  for (const char *found; (found = hp_find_whole(r, &whole, at, end, wanted)) && found < stop;) {
    at = found + wanted.length;
    const size_t from = (size_t)(found - text->bytes);
    if (at > stop && hp_readable_place(text, from) != SIZE_MAX) return from;
  }
  if ((size_t)(end - at) >= wanted.length) at = end - wanted.length + 1;
  for (; at < stop; at++)
    if (!memcmp(at, wanted.bytes, (size_t)(end - at)) &&
        hp_readable_place(text, (size_t)(at - text->bytes)) != SIZE_MAX)
      return (size_t)(at - text->bytes);
  return limit;
}

const char *hp_find_boundary(hpar_rewriter *r, const char *from, const char *to) {
  enum { ROUNDS = 8 }; /* the end before a find of one action may be inside a find of another one */
  const hp_text_piece piece = {
      .raw = {from, (size_t)(to - from)}, .kind = kind_of(r->text.content), .in_section = r->text.state.in_section};
  hp_readable text = {.bytes = NULL};
  size_t limit = 0;
  for (uint32_t round = 0, moved = 1; moved && round < ROUNDS; round++) {
    moved = 0;
    for (uint32_t i = 0; i < r->rules->count; i++) {
      const hp_rule *rule = &r->rules->rules[i];
      for (size_t k = 0; k < rule->given.action_count; k++) {
        const hpar_action *a = &rule->actions[k];
        if (a->unit != HPAR_UNIT_TEXT || a->kind != HPAR_ACTION_FIND) continue;
        const hpar_string wanted = encode_wanted(r, a->value);
        if (!wanted.bytes) continue;
        if (!text.bytes) {
          hp_readable_open(&text, r, &piece);
          limit = text.length;
        }
        const size_t before = limit;
        limit = end_before_find(r, &text, limit, wanted);
        moved |= limit != before;
      }
    }
  }
  return limit ? from + hp_readable_place(&text, limit) : to;
}

typedef struct counting {
  const hp_text_piece *text;
  const hpar_action *find;
  size_t count;
} counting;

static hpar_status count_finds(void *argument) {
  counting *c = argument;
  const hpar_string wanted = encode_wanted(c->text->rewriter, c->find->value);
  if (!wanted.bytes) return HPAR_OK;
  hp_readable text;
  hp_readable_open(&text, c->text->rewriter, c->text);
  const char *at = text.bytes, *end = at + text.length, *whole = at;
  for (; (at = hp_find_whole(c->text->rewriter, &whole, at, end, wanted)); c->count++) at += wanted.length;
  return HPAR_OK;
}

size_t hp_count_finds(const hpar_text_piece *given, const hpar_action *find) {
  counting c = {.text = (const hp_text_piece *)given, .find = find};
  if (hp_find_places(find->name) & c.text->rewriter->text.place) hp_try(&c.text->rewriter->unwind, count_finds, &c);
  return c.count;
}

HP_DEFINE_CALL(text)

static hpar_status act_on_text(hp_text_piece *t, const hp_rule *rule, const hpar_action *a) {
  const bool is_outside = a->kind == HPAR_ACTION_AFTER ? !t->is_last : !t->is_first;
  switch (a->kind) {
    case HPAR_ACTION_BEFORE:
    case HPAR_ACTION_AFTER:
    case HPAR_ACTION_REPLACE:
      if (is_outside) return a->kind == HPAR_ACTION_REPLACE ? hpar_text_piece_remove(&t->shown) : HPAR_OK;
      return hpar_text_piece_insert(&t->shown, (hpar_where)a->kind, a->value.bytes, a->value.length, a->format);
    case HPAR_ACTION_REMOVE: return hpar_text_piece_remove(&t->shown);
    default:
      if (hp_find_places(a->name) & t->rewriter->text.place) find_all(t->rewriter, t, rule, a);
      return HPAR_OK;
  }
}

void hp_rewriter_escape_raw_text(hpar_rewriter *r, uint64_t from, uint64_t to, hp_text_state content) {
  for (uint64_t at = from; at < to; at++) {
    const char c = *hp_rewriter_at(r, at);
    if (c != '<' && (c != '&' || content == HP_TEXT_STATE_RCDATA)) continue;
    hp_rewriter_insert_text(r, at, c == '<' ? "&lt;" : "&amp;", c == '<' ? 4 : 5);
    hp_rewriter_drop(r, at, at + 1);
  }
}

static bool takes_section(void *context) {
  (void)context;
  return true;
}

hp_scanner hp_rewriter_scan_piece(const hpar_rewriter *r, const char *bytes, size_t length) {
  const hp_piece_state *state = &r->text.state;
  hp_scanner s = r->scanner;
  s.begin = s.at = bytes;
  s.end = bytes + length;
  s.last = false;
  s.takes_cdata = takes_section; /* in a text, there is nothing else that begins like one */
  s.content = r->text.content;
  s.state = state->in_section ? HP_SCAN_IN_SECTION : HP_SCAN_IN_TEXT;
  s.script = state->script;
  s.dashes = state->dashes;
  s.lead = state->lead;
  return s;
}

/* Reads the piece to its end. Returns false if the end tag of raw text is there. */
static bool pass_piece(hp_scanner *s) {
  hp_scan_event event = HP_SCAN_TEXT;
  while (event == HP_SCAN_TEXT || event == HP_SCAN_MARKER) event = hp_scanner_next(s);
  return event == HP_SCAN_NEEDS_INPUT;
}

/* Returns the state after the current piece. */
static hp_piece_state state_after(const hpar_rewriter *r, const hp_text_piece *t) {
  const bool is_open = hp_scanner_is_in_section(&r->scanner); /* also at the end of the input */
  if ((t->is_first && t->is_last && !is_open) || (t->kind != HPAR_TEXT_DATA && t->kind != HPAR_TEXT_SCRIPT))
    return (hp_piece_state){0};
  hp_scanner s = hp_rewriter_scan_piece(r, t->raw.bytes, t->raw.length);
  pass_piece(&s);
  const bool in_section = hp_scanner_is_in_section(&s);
  return (hp_piece_state){.script = s.script,
                          .dashes = in_section ? (uint8_t)(s.end - s.at) : s.dashes,
                          .in_section = in_section,
                          .lead = s.lead};
}

/* Sets the scanner's event to the next bytes that are no characters: "</>", or an end of a CDATA
 * section. Returns false if there are none. */
static bool find_next_marker(hp_scanner *s) {
  hp_scan_event event = HP_SCAN_TEXT;
  while (event == HP_SCAN_TEXT) event = hp_scanner_next(s);
  if (event == HP_SCAN_MARKER) return true;
  s->event.from = s->event.to = s->end;
  return false;
}

static const char section_end[] = "]]>", section_begin[] = "<![CDATA[";

static void insert_literal(hpar_rewriter *r, uint64_t position, const char *text) {
  hp_rewriter_insert_text(r, position, text, strlen(text));
}

/* Returns the piece with its finds. */
static hpar_string write_finds(hpar_rewriter *r, const hp_text_piece *t) {
  const hp_units *u = r->units;
  size_t length = t->raw.length + u->find_text.length, made = 0, from = 0;
  char *text = hp_scratch_take(&r->scratch, length + 1);
  for (uint32_t i = 0; i <= u->find_count; i++) {
    const hp_find *f = i < u->find_count ? &u->finds[i] : NULL;
    size_t to = f ? (size_t)(f->from - t->offset) : t->raw.length;
    memcpy(text + made, t->raw.bytes + from, to - from);
    made += to - from;
    if (!f) break;
    if (f->length) memcpy(text + made, u->find_text.data + f->text, f->length);
    made += f->length;
    from = (size_t)(f->to - t->offset);
  }
  return (hpar_string){text, made};
}

/* Returns true if the finds would move the end of the element of raw text: in a script, "<!--" and
 * "<script" hide end tags that come later. */
static bool finds_move_end(hpar_rewriter *r, const hp_text_piece *t) {
  const hpar_string made = write_finds(r, t);
  hp_scanner before = hp_rewriter_scan_piece(r, t->raw.bytes, t->raw.length),
             after = hp_rewriter_scan_piece(r, made.bytes, made.length);
  pass_piece(&before);
  if (!pass_piece(&after) || before.script != after.script) return true;
  return !t->is_last && (after.at < after.end || (after.script && before.dashes != after.dashes));
}

/* Ends the CDATA section behind a text that may end with the lead of two bytes. A bracket goes to
 * the lead if they have a character. */
static void end_section(hpar_rewriter *r, uint64_t position, unsigned char lead) {
  if (lead && hp_encoding_takes_bracket(r->scanner.wide, lead)) insert_literal(r, position, "]");
  insert_literal(r, position, section_end);
}

/* Keeps brackets or a lead before `position` in a CDATA section apart from what follows: the
 * section ends and begins again, which is no character. */
static void separate_section(hpar_rewriter *r, uint64_t position, unsigned char lead) {
  const bool follows = position > r->text.start ? hp_rewriter_at(r, position)[-1] == ']' : r->text.state.dashes > 0;
  if (!follows && !lead) return;
  end_section(r, position, lead);
  insert_literal(r, position, section_begin);
}

/* Changes the places of the finds. Markers stay as they are. */
static __attribute__((noinline)) void apply_finds(hpar_rewriter *r, const hp_text_piece *t) {
  const hp_units *u = r->units;
  const bool is_data = t->kind == HPAR_TEXT_DATA;
  if (u->find_count && !is_data && !r->text.is_escaped && finds_move_end(r, t)) return;
  const uint64_t end = t->offset + t->raw.length;
  uint64_t kept = t->offset;
  hp_scanner s = hp_rewriter_scan_piece(r, t->raw.bytes, t->raw.length), passed = s;
  bool is_in_section = t->in_section, has_marker = u->find_count && is_data && find_next_marker(&s);
  for (uint32_t i = 0; i < u->find_count; i++) {
    const hp_find *f = &u->finds[i];
    const hp_bytes text = {u->find_text.data + f->text, f->length, 0};
    if (is_data) {
      const char *from = hp_rewriter_at(r, f->from), *to = hp_rewriter_at(r, f->to);
      for (; has_marker && s.event.to <= from; has_marker = find_next_marker(&s))
        is_in_section = hp_scanner_is_in_section(&s);
      if (has_marker && to > s.event.from) continue;
      passed.end = from;
      if (is_in_section) pass_piece(&passed);
      if (is_in_section)
        separate_section(r, f->from, passed.lead);
      else if (!f->length || *text.data != '<')
        hp_rewriter_separate_text(r, f->from);
    } else if (r->text.is_escaped) {
      hp_rewriter_escape_raw_text(r, kept, f->from, r->text.content);
      kept = f->to;
    }
    hp_rewriter_insert(r, f->from, &text);
    if (is_in_section && f->length && text.data[f->length - 1] == ']') insert_literal(r, f->from, "]]><![CDATA[");
    hp_rewriter_drop(r, f->from, f->to);
  }
  if (r->text.is_escaped) hp_rewriter_escape_raw_text(r, kept, end, r->text.content);
}

/* Keeps "<", or "</" at the end of the input, apart from what follows. */
static void separate_data(hpar_rewriter *r, uint64_t position, const hp_bytes *content) {
  if (content->length && !r->text.changed_end && hp_rewriter_is_after_solidus(r, position))
    insert_literal(r, position, hp_solidus_closer);
  else if (!content->length || *content->data != '<')
    hp_rewriter_separate_text(r, position);
}

/* Inserts a callback's content between the bytes of a text in the data state. */
static void insert_apart(hpar_rewriter *r, uint64_t position, const hp_bytes *content, hp_piece_state state) {
  if (!content->length) return;
  if (state.in_section)
    end_section(r, position, state.lead);
  else
    separate_data(r, position, content);
  hp_rewriter_insert(r, position, content);
  if (state.in_section) insert_literal(r, position, section_begin);
}

/* Replaces a piece in the data state. The ends of CDATA sections stay, as far as they have a
 * counterpart in another piece. */
static void replace_data(hpar_rewriter *r, const hp_text_piece *t, bool ends_in_section) {
  const uint64_t end = t->offset + t->raw.length;
  const hp_bytes *first = t->edits.before.length        ? &t->edits.before
                          : t->edits.replacement.length ? &t->edits.replacement
                                                        : &t->edits.after;
  const bool closes = t->in_section && (first->length || !ends_in_section);
  if (closes)
    end_section(r, t->offset, r->text.state.lead);
  else if (t->in_section)
    separate_section(r, t->offset, r->text.state.lead);
  else
    separate_data(r, t->offset, first);
  hp_rewriter_insert(r, t->offset, &t->edits.before);
  hp_rewriter_insert(r, t->offset, &t->edits.replacement);
  hp_rewriter_drop(r, t->offset, end);
  hp_rewriter_insert(r, end, &t->edits.after);
  if (ends_in_section && (closes || !t->in_section)) insert_literal(r, end, section_begin);
}

/* Brings the script that a callback has edited to the state of the input after the piece. */
static void restore_script(hpar_rewriter *r, const hp_text_piece *t, hp_piece_state wanted) {
  /* by the state in the output, and that in the input: plain, escaped, double escaped */
  static const char *const changes[3][3] = {
      {"", "<!-- ", "<!-- <script "}, {"-->", " ", "<script "}, {"-->", "</script ", " "}};
  const hpar_string body =
      t->edits.is_removed ? (hpar_string){t->edits.replacement.data, t->edits.replacement.length} : write_finds(r, t);
  const size_t length = t->edits.before.length + body.length + t->edits.after.length;
  char *text = hp_scratch_take(&r->scratch, length + 1), *to = text;
  const hpar_string parts[] = {
      {t->edits.before.data, t->edits.before.length}, body, {t->edits.after.data, t->edits.after.length}};
  for (size_t i = 0; i < 3; to += parts[i++].length)
    if (parts[i].length) memcpy(to, parts[i].bytes, parts[i].length);
  hp_scanner s = hp_rewriter_scan_piece(r, text, length);
  pass_piece(&s);
  if (s.script == wanted.script && (!s.script || s.dashes == wanted.dashes) && s.at == s.end) return;
  insert_literal(r, t->offset + t->raw.length, changes[s.script][wanted.script]);
  if (wanted.script) hp_rewriter_insert_text(r, t->offset + t->raw.length, "--", wanted.dashes);
}

/* Notes which of the last two bytes of the text so far the edits change. */
static void note_end(hpar_rewriter *r, const hp_text_piece *t) {
  const hp_units *u = r->units;
  const size_t length = t->raw.length;
  const bool has_find = u->find_count && u->finds[u->find_count - 1].to + 2 > t->offset + length;
  const uint8_t changed = t->edits.is_removed || has_find ? 3 : 0;
  if (length >= 2) r->text.changed_end = changed;
  if (length == 1)
    r->text.changed_end = t->edits.before.length ? 3 : (uint8_t)(2 * (r->text.changed_end & 1) + (changed & 1));
}

static void apply_text(hpar_rewriter *r, hp_text_piece *t, hp_piece_state after) {
  const uint64_t end = t->offset + t->raw.length;
  note_end(r, t);
  const bool is_data = t->kind == HPAR_TEXT_DATA, is_whole = t->is_first && t->is_last;
  if (t->edits.is_removed && is_data) {
    replace_data(r, t, after.in_section);
    return;
  }
  if (is_data)
    insert_apart(r, t->offset, &t->edits.before, r->text.state);
  else
    hp_rewriter_insert(r, t->offset, &t->edits.before);
  if (t->edits.is_removed) {
    hp_rewriter_insert(r, t->offset, &t->edits.replacement);
    hp_rewriter_drop(r, t->offset, end);
  } else if (r->units->find_count || r->text.is_escaped) {
    apply_finds(r, t);
  }
  if (is_data)
    insert_apart(r, end, &t->edits.after, after);
  else
    hp_rewriter_insert(r, end, &t->edits.after);
  const bool is_edited = t->edits.is_removed || t->edits.before.length || t->edits.after.length;
  if (is_edited && t->kind == HPAR_TEXT_SCRIPT && !is_whole && !r->text.is_escaped) restore_script(r, t, after);
}

hp_text_place hp_rewriter_text_place(const hpar_rewriter *r) {
  const hp_builder *b = &r->outline.builder;
  const bool is_raw = r->text.content != HP_TEXT_STATE_DATA;
  hp_atom name = r->scanner.raw_name;
  if (!is_raw) {
    if (b->stack.top->ns != HPAR_NAMESPACE_SVG) return HP_TEXT_VISIBLE;
    if (hp_speculates(r) && !b->stack.depth) return HP_TEXT_UNKNOWN;
    name = b->stack.top->name;
  } else if (!name) {
    name = b->fragment.context.name;
  }
  switch (name) {
    case HP_ATOM_SCRIPT: return HP_TEXT_IN_SCRIPT;
    case HP_ATOM_STYLE: return HP_TEXT_IN_STYLE;
    case HP_ATOM_TITLE: return HP_TEXT_IN_TITLE;
    case HP_ATOM_TEXTAREA:
    case HP_ATOM_XMP:
    case HP_ATOM_PLAINTEXT: return HP_TEXT_VISIBLE;
    default: return is_raw ? HP_TEXT_ELSEWHERE : HP_TEXT_VISIBLE;
  }
}

void hp_rewriter_deliver_text(hpar_rewriter *r, uint64_t end, bool is_last) {
  /* The scanner leaves raw text at an end tag, without set_content. */
  if (r->text.content == HP_TEXT_STATE_DATA) r->text.is_escaped = false;
  r->text.place = (uint8_t)hp_rewriter_text_place(r);
  if (hp_speculates(r) && r->text.place == HP_TEXT_UNKNOWN) hp_speculation_give_up(r);
  if (hp_speculates(r) && hp_speculation_leaves_text(r, end, is_last)) return;
  hp_rewriter_edit_text(r, end, is_last);
}

static void begin_piece(hpar_rewriter *r, uint64_t end, bool is_last) {
  hp_text_piece *t = &r->units->piece;
  t->rewriter = r;
  t->offset = r->text.start;
  t->raw = (hpar_string){hp_rewriter_at(r, r->text.start), (size_t)(end - r->text.start)};
  t->kind = kind_of(r->text.content);
  t->is_first = r->text.is_first;
  t->is_last = is_last;
  t->in_section = r->text.state.in_section;
  clear_edits(&t->edits);
  r->units->find_count = r->units->find_text.length = 0;
}

static void end_piece(hpar_rewriter *r, uint64_t end, hp_piece_state after) {
  if (r->rules->edits_urls && r->text.place == HP_TEXT_IN_STYLE) hp_urls_pass_sheet(r);
  r->text.start = end;
  r->text.state = after;
  r->text.is_first = false;
}

void hp_rewriter_leave_text(hpar_rewriter *r, uint64_t end, bool is_last) {
  begin_piece(r, end, is_last);
  end_piece(r, end, state_after(r, &r->units->piece));
}

void hp_rewriter_edit_text(hpar_rewriter *r, uint64_t end, bool is_last) {
  hp_text_piece *t = &r->units->piece;
  hp_edits_mark(&r->edits, r->text.start);
  begin_piece(r, end, is_last);
  for (uint32_t i = 0; i < r->rules->count; i++) {
    const hp_rule *rule = &r->rules->rules[i];
    if (!rule->edits_text || !hp_running_rules_reach(&r->running, i)) continue;
    const bool in_sheet = rule->edits_urls && r->text.place == HP_TEXT_IN_STYLE;
    for (size_t k = 0; k < rule->given.action_count; k++) {
      if (in_sheet && hp_is_url_action(&rule->actions[k])) hp_urls_edit_sheet(r, rule, &rule->actions[k]);
      if (rule->actions[k].unit != HPAR_UNIT_TEXT) continue;
      hpar_status status = act_on_text(t, rule, &rule->actions[k]);
      if (status != HPAR_OK && status != HPAR_ERROR_ARGUMENT) hp_rewriter_fail(r, status, NULL);
    }
    if (in_sheet && rule->given.url) hp_urls_edit_sheet(r, rule, NULL);
    if (!rule->given.text) continue;
    t->shown = (hpar_text_piece){.raw = t->raw, .offset = t->offset, .kind = t->kind, .last = is_last};
    hp_rewriter_take_result(r, hp_rewriter_call(r, call_text, &t->shown, &rule->given), i);
  }
  const hp_piece_state after = state_after(r, t);
  apply_text(r, t, after);
  if (t->edits.after.length || (!t->raw.length && (t->edits.before.length || t->edits.replacement.length)))
    r->text.changed_end = 3;
  end_piece(r, end, after);
}

typedef struct decoding {
  const hp_text_piece *text;
  hp_name decoded;
} decoding;

static hpar_status decode_text(void *argument) {
  decoding *d = argument;
  hpar_rewriter *r = d->text->rewriter;
  hp_references references = d->text->kind <= HPAR_TEXT_RCDATA ? HP_REFERENCES_TEXT : HP_REFERENCES_NONE;
  d->decoded =
      hp_decode_span(d->text->raw.bytes, d->text->raw.length, references, hp_rewriter_encoding(r), &r->scratch);
  return HPAR_OK;
}

hpar_string hpar_text_piece_decoded(const hpar_text_piece *given) {
  const hp_text_piece *t = (const hp_text_piece *)given;
  decoding d = {.text = t};
  if (!t) return (hpar_string){NULL, 0};
  if (hp_try(&t->rewriter->unwind, decode_text, &d) != HPAR_OK) t->rewriter->progress.lacks_memory = true;
  return (hpar_string){d.decoded.bytes, d.decoded.length};
}

/*** comments ***/

HP_DEFINE_CALL(comment)

static bool begins_condition(hpar_string data) {
  return data.length > 3 && hp_ascii_equal(data.bytes, "[if", 3) && !hp_ascii_is_letter(data.bytes[3]);
}

/* Returns the length of the end of a condition that the text ends with, or 0. */
static size_t condition_end(hpar_string data) {
  static const char end[] = "<![endif]";
  const size_t length = sizeof end - 1;
  return data.length >= length && hp_ascii_equal(data.bytes + data.length - length, end, length) ? length : 0;
}

/* Returns true for a comment with "[if ...]", or with "[endif]" only. */
static bool is_conditional(hpar_string data, bool is_plain) {
  while (data.length && hp_ascii_is_white(data.bytes[data.length - 1])) data.length--;
  if (begins_condition(data)) return true;
  if (!is_plain) return data.length == 7 && hp_ascii_equal(data.bytes, "[endif]", 7);
  while (data.length && hp_ascii_is_white(*data.bytes)) data.bytes++, data.length--;
  return data.length && condition_end(data) == data.length;
}

/* Replaces a conditional comment by the HTML in it. */
static hpar_status unwrap_comment(hp_comment *c) {
  const size_t end = condition_end(c->data);
  const char *from = c->data.bytes, *to = from + c->data.length - end;
  const char *open = begins_condition(c->data) && end ? memmem(from, (size_t)(to - from), "]>", 2) : NULL;
  hpar_status status = hpar_comment_remove(&c->shown);
  if (open) hp_bytes_append(&c->edits.replacement, open + 2, (size_t)(to - open - 2), &c->rewriter->unwind);
  return status;
}

static bool concerns(const hpar_action *a, const hp_comment *c) {
  switch (a->unit) {
    case HPAR_UNIT_COMMENT: return !c->is_instruction;
    case HPAR_UNIT_CONDITIONAL: return c->is_conditional;
    default: return a->unit == HPAR_UNIT_INSTRUCTION && c->is_instruction;
  }
}

static hpar_status act_on_comment(hp_comment *c, const hpar_action *a) {
  const char *content = a->value.bytes;
  size_t length = a->value.length;
  switch (a->kind) {
    case HPAR_ACTION_UNWRAP: return unwrap_comment(c);
    case HPAR_ACTION_BEFORE:
    case HPAR_ACTION_AFTER:
    case HPAR_ACTION_REPLACE: return hpar_comment_insert(&c->shown, (hpar_where)a->kind, content, length, a->format);
    default: return hpar_comment_remove(&c->shown);
  }
}

static bool may_be_in_comment(const char *text, size_t length) {
  if (memmem(text, length, "-->", 3) || memmem(text, length, "--!>", 4)) return false;
  if (length && *text == '>') return false;
  return length < 2 || memcmp(text, "->", 2) != 0;
}

/* Replaces a text in the comment, unless that would end it. A comment has no references. */
static void find_in_comment(hp_comment *c, const hpar_action *a) {
  hpar_rewriter *r = c->rewriter;
  const hpar_string wanted = encode_wanted(r, a->value);
  if (!wanted.bytes) return;
  const char *at = c->is_changed ? c->text.data : c->data.bytes,
             *end = at + (c->is_changed ? c->text.length : c->data.length);
  const char *whole = at, *found = at < end ? hp_find_whole(r, &whole, at, end, wanted) : NULL;
  hp_bytes *made = &r->units->find_text;
  if (!found) return;
  made->length = 0;
  for (; found; found = hp_find_whole(r, &whole, at, end, wanted)) {
    hp_bytes_append(made, at, (size_t)(found - at), &r->unwind);
    if (!hp_encode(made, a->replacement.bytes, a->replacement.length, HP_PLACE_RAW, hp_rewriter_target(r), &r->unwind))
      return;
    at = found + wanted.length;
  }
  hp_bytes_append(made, at, (size_t)(end - at), &r->unwind);
  if (made->length && !may_be_in_comment(made->data, made->length)) return;
  c->text.length = 0;
  hp_bytes_append(&c->text, made->data, made->length, &r->unwind);
  c->is_changed = true;
}

static void apply_comment(hpar_rewriter *r, hp_comment *c) {
  const hp_comment_place *place = &c->place;
  const hp_unit_edits *e = &c->edits;
  bool drops = e->is_removed && !e->before.length && !e->replacement.length;
  /* it is gone, or closed */
  if (e->is_removed || (c->is_changed && !c->is_plain)) r->scanner.comment.closer = NULL;
  hp_rewriter_separate(r, place->start, drops ? NULL : e->before.length ? &e->before : &e->replacement);
  hp_rewriter_insert(r, place->start, &e->before);
  if (e->is_removed) {
    hp_rewriter_insert(r, place->start, &e->replacement);
    hp_rewriter_drop(r, place->start, place->end);
  } else if (c->is_changed) {
    uint64_t from = c->is_plain ? place->data_start : place->start, to = c->is_plain ? place->data_end : place->end;
    if (!c->is_plain) hp_rewriter_insert_text(r, from, "<!--", 4);
    hp_rewriter_insert(r, from, &c->text);
    if (!c->is_plain) hp_rewriter_insert_text(r, from, "-->", 3);
    hp_rewriter_drop(r, from, to);
  }
  hp_rewriter_insert(r, place->end, &e->after);
}

void hp_rewriter_deliver_comment(hpar_rewriter *r, const hp_comment_place *place) {
  hp_comment *c = &r->units->comment;
  if (hp_speculates(r) && hp_speculation_leaves_comment(r, place)) return;
  c->rewriter = r;
  c->place = *place;
  c->data = (hpar_string){hp_rewriter_at(r, place->data_start), (size_t)(place->data_end - place->data_start)};
  const uint64_t closer = place->end - place->data_end;
  c->is_plain = place->kind == 4 && closer != 1 && closer != 2; /* of "<!-->" and "<!--->" */
  c->is_instruction = place->kind == 1;
  c->is_conditional = !c->is_instruction && is_conditional(c->data, place->kind == 4);
  c->is_changed = false;
  c->text.length = 0;
  clear_edits(&c->edits);
  for (uint32_t i = 0; i < r->rules->count; i++) {
    const hp_rule *rule = &r->rules->rules[i];
    if (!rule->edits_comments || !hp_running_rules_reach(&r->running, i)) continue;
    for (size_t k = 0; k < rule->given.action_count; k++) {
      if (!c->is_instruction && hp_finds_in_comments(&rule->actions[k])) find_in_comment(c, &rule->actions[k]);
      if (!concerns(&rule->actions[k], c)) continue;
      hpar_status status = act_on_comment(c, &rule->actions[k]);
      if (status != HPAR_OK) hp_rewriter_fail(r, status, NULL);
    }
    if (!rule->given.comment || c->is_instruction) continue;
    c->shown = (hpar_comment){.text = c->data, .offset = place->start};
    hp_rewriter_take_result(r, hp_rewriter_call(r, call_comment, &c->shown, &rule->given), i);
  }
  apply_comment(r, c);
}

hpar_status hpar_comment_set_text(hpar_comment *given, const char *text, size_t length) {
  hp_comment *c = (hp_comment *)given;
  if (!c || (!text && length) || (length && !may_be_in_comment(text, length))) return HPAR_ERROR_ARGUMENT;
  hpar_status status = hp_content_set(c->rewriter, &c->text, text, length, HP_PLACE_RAW);
  c->is_changed |= status == HPAR_OK;
  return status;
}

hpar_status hpar_comment_insert(hpar_comment *given, hpar_where where, const char *content, size_t length,
                                hpar_content format) {
  hp_comment *c = (hp_comment *)given;
  if (!c || !hp_is_format(format)) return HPAR_ERROR_ARGUMENT;
  return insert(c->rewriter, &c->edits, where, content, length, hp_place_of(format));
}

hpar_status hpar_comment_remove(hpar_comment *c) {
  return hpar_comment_insert(c, HPAR_WHERE_REPLACE, NULL, 0, HPAR_CONTENT_HTML);
}

/*** doctypes and the end ***/

static hpar_string part_of(hp_name name) { return (hpar_string){name.bytes, name.length}; }

HP_DEFINE_CALL(doctype)

void hp_rewriter_deliver_doctype(hpar_rewriter *r, const hp_doctype *parts) {
  hp_doctype_unit d = {.is_removed = false};
  if (hp_speculates(r) && hp_speculation_leaves_doctype(r)) return;
  for (uint32_t i = 0; i < r->rules->count; i++) {
    const hp_rule *rule = &r->rules->rules[i];
    if (!rule->edits_doctype || !hp_running_rules_reach(&r->running, i)) continue;
    for (size_t k = 0; k < rule->given.action_count; k++)
      if (rule->actions[k].unit == HPAR_UNIT_DOCTYPE) d.is_removed = true;
    if (!rule->given.doctype) continue;
    d.shown = (hpar_doctype){part_of(parts->name), part_of(parts->public_id), part_of(parts->system_id)};
    hp_rewriter_take_result(r, hp_rewriter_call(r, call_doctype, &d.shown, &rule->given), i);
  }
  if (!d.is_removed) return;
  r->scanner.comment.closer = NULL;
  hp_rewriter_separate(r, r->token.start, NULL);
  hp_rewriter_drop(r, r->token.start, r->token.end);
}

hpar_status hpar_doctype_remove(hpar_doctype *d) {
  if (!d) return HPAR_ERROR_ARGUMENT;
  ((hp_doctype_unit *)d)->is_removed = true;
  return HPAR_OK;
}

hpar_status hpar_document_end_append(hpar_document_end *end, const char *content, size_t length, hpar_content format) {
  if (!end || !hp_is_format(format)) return HPAR_ERROR_ARGUMENT;
  hpar_rewriter *r = end->rewriter;
  return hp_content_add(r, &r->ends.after_tag, false, content, length, hp_place_of(format));
}

HP_DEFINE_CALL(document_end)

void hp_rewriter_deliver_end(hpar_rewriter *r) {
  hpar_document_end end = {r};
  if (!r->running.ends) return;
  r->ends.after_tag.length = 0;
  for (uint32_t i = 0; i < r->rules->count; i++) {
    const hp_rule *rule = &r->rules->rules[i];
    if (!rule->is_document || r->running.states[i].is_retired) continue;
    for (size_t k = 0; k < rule->given.action_count; k++) {
      const hpar_action *a = &rule->actions[k];
      if (a->unit != HPAR_UNIT_DOCUMENT_END) continue;
      hpar_status status = hpar_document_end_append(&end, a->value.bytes, a->value.length, a->format);
      if (status != HPAR_OK) hp_rewriter_fail(r, status, NULL);
    }
    if (rule->given.document_end)
      hp_rewriter_take_result(r, hp_rewriter_call(r, call_document_end, &end, &rule->given), i);
  }
  if (r->progress.phase == HP_PHASE_RUNS) hp_rewriter_separate(r, r->token.start, &r->ends.after_tag);
  hp_rewriter_insert(r, r->token.start, &r->ends.after_tag);
}
