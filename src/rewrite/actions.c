/* What callbacks and actions do with an element. The edits are collected, and applied after the
 * last rule. */

#include "base/bytes.h"
#include "base/memory.h"
#include "rewrite/speculation.h"
#include "tokenizer/tokenizer.h"
#include "tree/stack.h"

#include <string.h>

typedef struct addition {
  hpar_rewriter *rewriter;
  hp_bytes *to;
  bool in_front, is_encoded;
  const char *content;
  size_t length;
  hp_place_kind place;
} addition;

static hpar_status add_content(void *argument) {
  addition *a = argument;
  hpar_rewriter *r = a->rewriter;
  uint32_t old = a->to->length;
  a->is_encoded = hp_encode(a->to, a->content, a->length, a->place, hp_rewriter_target(r), &r->unwind);
  uint32_t added = a->to->length - old;
  if (!a->in_front || !old || !added) return HPAR_OK;
  const char *copy = hp_scratch_copy(&r->scratch, a->to->data + old, added);
  memmove(a->to->data + added, a->to->data, old);
  memcpy(a->to->data, copy, added);
  return HPAR_OK;
}

hpar_status hp_content_add(hpar_rewriter *r, hp_bytes *to, bool in_front, const char *content, size_t length,
                           hp_place_kind place) {
  if (!content && length) return HPAR_ERROR_ARGUMENT;
  if (!length) return HPAR_OK;
  addition a = {r, to, in_front, true, content, length, place};
  uint32_t old = to->length;
  hpar_status status = hp_try(&r->unwind, add_content, &a);
  if (status != HPAR_OK) to->length = old;
  return status == HPAR_OK && !a.is_encoded ? HPAR_ERROR_ARGUMENT : status;
}

hpar_status hp_content_set(hpar_rewriter *r, hp_bytes *to, const char *content, size_t length, hp_place_kind place) {
  const uint32_t old = to->length;
  hpar_status status = hp_content_add(r, to, false, content, length, place);
  if (status != HPAR_OK || !old) return status;
  memmove(to->data, to->data + old, to->length - old);
  to->length -= old;
  return HPAR_OK;
}

/*** reading ***/

static const hp_node *node_of(const hp_element *e) { return hp_outline_node(&e->rewriter->outline, e->node); }

static hpar_string string_of(hp_name name) { return (hpar_string){name.bytes, name.length}; }

void hp_element_show(hp_element *e) {
  const hp_node *node = node_of(e);
  e->shown =
      (hpar_element){.name = string_of(hp_names_of(&e->rewriter->names, e->merges_into ? e->merges_into : node->name)),
                     .ns = e->merges_into ? HPAR_NAMESPACE_HTML : (hpar_namespace)node->ns,
                     .implied = !e->has_tag,
                     .merges = e->merges_into != HP_NO_ATOM,
                     .self_closing = e->has_tag && e->rewriter->token.tag.self_closing,
                     .has_content = e->is_open,
                     .start = e->rewriter->token.start,
                     .end = e->end};
}

static const hp_spans *spans_of(const hp_element *e) {
  return e->has_tag && e->rewriter->token.has_spans ? &e->rewriter->token.spans : NULL;
}

typedef struct reading {
  hpar_rewriter *rewriter;
  const hp_span *span;
  hp_name name, value;
} reading;

static hpar_status read_span(void *argument) {
  reading *g = argument;
  hpar_rewriter *r = g->rewriter;
  g->name = hp_span_name(&r->token.spans, g->span, &r->scratch);
  g->value = hp_span_value(&r->token.spans, g->span, r->encoding.used, &r->scratch);
  return HPAR_OK;
}

/* Reads a value for a callback. Without memory, the stream fails when the callback returns: to miss
 * an attribute could let a filter pass it. */
static bool try_to_read(hpar_rewriter *r, hp_try_fn read, void *argument) {
  const bool is_read = hp_try(&r->unwind, read, argument) == HPAR_OK;
  r->progress.lacks_memory |= !is_read;
  return is_read;
}

bool hpar_element_attribute_at(const hpar_element *given, size_t index, hpar_string *name, hpar_string *value) {
  const hp_element *e = (const hp_element *)given;
  const hp_spans *spans = e ? spans_of(e) : NULL;
  for (uint32_t i = 0; spans && i < spans->count; i++) {
    if (spans->items[i].is_duplicate || index-- > 0) continue;
    reading got = {.rewriter = e->rewriter, .span = &spans->items[i]};
    if (!try_to_read(e->rewriter, read_span, &got)) return false;
    if (name) *name = string_of(got.name);
    if (value) *value = string_of(got.value);
    return true;
  }
  return false;
}

static hp_attribute_edit *find_edit(const hp_element *e, const char *name, size_t length) {
  for (uint32_t i = 0; i < e->edit_count; i++)
    if (e->edits[i].name_length == length && !memcmp(e->edit_text.data + e->edits[i].name, name, length))
      return &e->edits[i];
  return NULL;
}

hpar_string hp_element_tag_value(const hp_element *e, hpar_string name) {
  const hp_spans *spans = spans_of(e);
  hp_scratch *scratch = &e->rewriter->scratch;
  const hp_span *span = spans ? hp_spans_find(spans, name.bytes, name.length, scratch) : NULL;
  if (!span) return (hpar_string){NULL, 0};
  return string_of(hp_span_value(spans, span, e->rewriter->encoding.used, scratch));
}

hpar_string hp_element_value(const hp_element *e, hpar_string name) {
  const hp_attribute_edit *edit = find_edit(e, name.bytes, name.length);
  if (!edit) return hp_element_tag_value(e, name);
  return edit->unsets ? (hpar_string){NULL, 0} : (hpar_string){e->edit_text.data + edit->value, edit->value_length};
}

static hpar_string value_of(const hp_element *e, const char *name) {
  return hp_element_value(e, (hpar_string){name, strlen(name)});
}

typedef struct value_copy {
  const hp_element *element;
  const char *name;
  hpar_string value;
} value_copy;

static hpar_status copy_value(void *argument) {
  value_copy *c = argument;
  hpar_string value = value_of(c->element, c->name);
  if (value.bytes && find_edit(c->element, c->name, strlen(c->name)))
    value.bytes = hp_scratch_copy(&c->element->rewriter->scratch, value.bytes, value.length);
  c->value = value;
  return HPAR_OK;
}

hpar_string hpar_element_attribute(const hpar_element *given, const char *name) {
  const hp_element *e = (const hp_element *)given;
  value_copy c = {.element = e, .name = name};
  if (e && name) try_to_read(e->rewriter, copy_value, &c);
  return c.value;
}

bool hpar_element_removed(const hpar_element *given) {
  const hp_element *e = (const hp_element *)given;
  if (!e) return false;
  if (!e->is_removed && !e->is_muted) hp_speculation_read_removal(e->rewriter);
  return e->is_removed || e->is_muted;
}

uint32_t hpar_element_depth(const hpar_element *given) {
  const hp_element *e = (const hp_element *)given;
  if (!e) return 0;
  const hp_builder *b = &e->rewriter->outline.builder;
  if (hp_speculates(e->rewriter)) hp_speculation_give_up(e->rewriter);
  return open_count(b) - e->is_open;
}

/*** edits ***/

/* Returns true if the page's encoding has the name. */
static bool has_name(const hp_element *e, const char *name) {
  return hp_is_ascii(name, strlen(name)) || hp_rewriter_writes_utf8(e->rewriter);
}

static hp_attribute_edit *add_edit(hp_element *e, uint32_t span, const char *name, size_t length) {
  hp_unwind *unwind = &e->rewriter->unwind;
  hp_grow_tight(&e->edits, &e->edit_capacity, e->edit_count + 1, unwind);
  uint32_t at = e->edit_text.length;
  hp_bytes_append(&e->edit_text, name, length, unwind);
  hp_attribute_edit *edit = &e->edits[e->edit_count++];
  *edit = (hp_attribute_edit){.span = span, .unsets = true, .name = at, .name_length = (uint32_t)length};
  return edit;
}

/*** patterns ***/

/* Returns true if the name is the pattern, in which "*" is any text. */
static bool matches_pattern(const char *pattern, size_t length, hp_name name) {
  size_t p = 0, n = 0, star = SIZE_MAX, kept = 0;
  while (n < name.length) {
    if (p < length && pattern[p] == '*') {
      star = p++;
      kept = n;
    } else if (p < length && pattern[p] == name.bytes[n]) {
      p++, n++;
    } else if (star != SIZE_MAX) {
      p = star + 1;
      n = ++kept;
    } else {
      return false;
    }
  }
  while (p < length && pattern[p] == '*') p++;
  return p == length;
}

/* Sets for each attribute of the tag the index of its edit + 1, or 0. */
static void fill_edits(const hp_element *e, uint32_t count, uint32_t *edits) {
  memset(edits, 0, count * sizeof *edits);
  for (uint32_t i = 0; i < e->edit_count; i++)
    if (e->edits[i].span != UINT32_MAX) edits[e->edits[i].span] = i + 1;
}

static uint32_t *find_edits(const hp_element *e, const hp_spans *spans) {
  uint32_t *edits = hp_scratch_take(&e->rewriter->scratch, (spans->count + 1) * sizeof *edits);
  fill_edits(e, spans->count, edits);
  return edits;
}

/* Removes all attributes whose names match, in time linear in the tag. */
static void unset_matching(hp_element *e, const char *pattern, size_t length) {
  const hp_spans *spans = spans_of(e);
  for (uint32_t i = 0; i < e->edit_count; i++) {
    hp_attribute_edit *edit = &e->edits[i];
    const hp_name name = {e->edit_text.data + edit->name, edit->name_length};
    if (!matches_pattern(pattern, length, name)) continue;
    edit->unsets = edit->drops_duplicates = true;
  }
  if (!spans) return;
  const uint32_t *edits = find_edits(e, spans);
  for (uint32_t i = 0; i < spans->count; i++) {
    if (edits[i] || spans->items[i].is_duplicate) continue;
    const hp_name name = hp_span_name(spans, &spans->items[i], &e->rewriter->scratch);
    if (matches_pattern(pattern, length, name)) add_edit(e, i, name.bytes, name.length)->drops_duplicates = true;
  }
}

/* Gives the attribute of the edit a value; `bytes` NULL: removes it. */
static void change_value(hp_element *e, hp_attribute_edit *edit, hpar_string value) {
  const uint32_t place = e->edit_text.length;
  hp_bytes_append(&e->edit_text, value.bytes, value.length, &e->rewriter->unwind);
  edit->value = place;
  edit->value_length = (uint32_t)value.length;
  edit->unsets = !value.bytes;
  edit->drops_duplicates |= !value.bytes;
}

void hp_element_set_value(hp_element *e, hpar_string name, hpar_string value) {
  const bool unsets = !value.bytes;
  if (unsets && memchr(name.bytes, '*', name.length)) {
    unset_matching(e, name.bytes, name.length);
    return;
  }
  hp_attribute_edit *edit = find_edit(e, name.bytes, name.length);
  if (!edit) {
    const hp_spans *spans = spans_of(e);
    const hp_span *span = spans ? hp_spans_find(spans, name.bytes, name.length, &e->rewriter->scratch) : NULL;
    if (unsets && !span) return;
    edit = add_edit(e, span ? (uint32_t)(span - spans->items) : UINT32_MAX, name.bytes, name.length);
  }
  change_value(e, edit, value);
}

void hp_element_drop_duplicates(hp_element *e) {
  const hp_spans *spans = &e->rewriter->token.spans;
  bool has_duplicates = false, drops = false;
  for (uint32_t i = 0; i < e->edit_count; i++) drops |= e->edits[i].drops_duplicates;
  for (uint32_t i = 0; drops && i < spans->count; i++) has_duplicates |= spans->items[i].is_duplicate;
  if (!has_duplicates) return;
  const uint32_t *first = hp_spans_find_first(spans, &e->rewriter->scratch), *edits = find_edits(e, spans);
  for (uint32_t i = 0; i < spans->count; i++)
    if (first[i] != i && edits[first[i]] && e->edits[edits[first[i]] - 1].drops_duplicates) add_edit(e, i, "", 0);
}

typedef struct setting {
  hp_element *element;
  hpar_string name, value;
} setting;

static hpar_status try_setting(void *argument) {
  const setting *s = argument;
  char *name = hp_scratch_take(&s->element->rewriter->scratch, s->name.length);
  for (size_t i = 0; i < s->name.length; i++) name[i] = hp_ascii_lower(s->name.bytes[i]);
  hp_element_set_value(s->element, (hpar_string){name, s->name.length}, s->value);
  return HPAR_OK;
}

static hpar_status set_value(hpar_element *given, const char *name, hpar_string value) {
  hp_element *e = (hp_element *)given;
  if (!e || !hp_is_rule_name(name, true) || !e->has_tag) return HPAR_ERROR_ARGUMENT;
  if (value.bytes && !has_name(e, name)) return HPAR_ERROR_ARGUMENT;
  setting s = {e, {name, strlen(name)}, value};
  return hp_try(&e->rewriter->unwind, try_setting, &s);
}

hpar_status hpar_element_set(hpar_element *element, const char *name, const char *value, size_t length) {
  if (!value && length) return HPAR_ERROR_ARGUMENT;
  return set_value(element, name, (hpar_string){value ? value : "", length});
}

hpar_status hpar_element_unset(hpar_element *element, const char *name) {
  return set_value(element, name, (hpar_string){NULL, 0});
}

/*** all attributes ***/

/* A walk over the attributes of an element: those of its tag, then new ones. Each step takes
 * constant time, unless the callback edits attributes by their names. */
typedef struct attribute_walk {
  hp_element *element;
  const hp_spans *spans; /* NULL: the tag has no attributes */
  hpar_attribute_callback callback;
  void *context;
  uint32_t *edits;     /* by span: the index of its edit + 1, or 0 */
  uint32_t edit_count; /* of the element, when `edits` was made */
  hpar_status status;
} attribute_walk;

typedef struct shown_attribute {
  hpar_attribute_unit shown;
  attribute_walk *walk;
  hp_name name;
  uint32_t span, edit; /* UINT32_MAX: a new attribute; there is no edit */
} shown_attribute;

/* Does what the callback has requested. */
static void change_attribute(shown_attribute *a) {
  attribute_walk *w = a->walk;
  hp_element *e = w->element;
  const hpar_string value = a->shown.removes ? (hpar_string){NULL, 0} : a->shown.replacement;
  if (!a->shown.removes && !value.bytes) return;
  if (a->span != UINT32_MAX && e->edit_count != w->edit_count) {
    fill_edits(e, w->spans->count, w->edits);
    w->edit_count = e->edit_count;
    a->edit = w->edits[a->span] - 1;
  }
  if (a->edit == UINT32_MAX) {
    add_edit(e, a->span, a->name.bytes, a->name.length);
    a->edit = e->edit_count - 1;
    w->edits[a->span] = w->edit_count = e->edit_count;
  }
  change_value(e, &e->edits[a->edit], value);
}

/* Shows an attribute to the callback, unless an edit has removed it. */
static void show_attribute(attribute_walk *w, hp_name name, uint32_t span, uint32_t edit) {
  const hp_element *e = w->element;
  hp_scratch *scratch = &e->rewriter->scratch;
  hp_name value = {"", 0};
  if (edit != UINT32_MAX) {
    const hp_attribute_edit *known = &e->edits[edit];
    if (known->unsets) return;
    value =
        (hp_name){hp_scratch_copy(scratch, e->edit_text.data + known->value, known->value_length), known->value_length};
  } else {
    value = hp_span_value(w->spans, &w->spans->items[span], e->rewriter->encoding.used, scratch);
  }
  shown_attribute a = {{.name = string_of(name), .value = string_of(value)}, w, name, span, edit};
  w->status = w->callback(&a.shown, w->context);
  if (w->status == HPAR_OK) change_attribute(&a);
}

static hpar_status walk_attributes(void *argument) {
  attribute_walk *w = argument;
  hp_element *e = w->element;
  const uint32_t spans = w->spans ? w->spans->count : 0;
  const uint32_t old_edits = e->edit_count;
  w->edit_count = e->edit_count;
  if (w->spans) w->edits = find_edits(e, w->spans);
  for (uint32_t i = 0; i < spans && w->status == HPAR_OK; i++) {
    if (w->spans->items[i].is_duplicate) continue;
    if (e->edit_count != w->edit_count) fill_edits(e, spans, w->edits);
    w->edit_count = e->edit_count;
    show_attribute(w, hp_span_name(w->spans, &w->spans->items[i], &e->rewriter->scratch), i, w->edits[i] - 1);
  }
  for (uint32_t i = 0; i < old_edits && w->status == HPAR_OK; i++) {
    if (e->edits[i].span != UINT32_MAX) continue;
    const char *copy =
        hp_scratch_copy(&e->rewriter->scratch, e->edit_text.data + e->edits[i].name, e->edits[i].name_length);
    show_attribute(w, (hp_name){copy, e->edits[i].name_length}, UINT32_MAX, i);
  }
  return w->status;
}

hpar_status hpar_element_attributes(hpar_element *given, hpar_attribute_callback callback, void *context) {
  hp_element *e = (hp_element *)given;
  if (!e || !callback) return HPAR_ERROR_ARGUMENT;
  attribute_walk w = {.element = e, .spans = spans_of(e), .callback = callback, .context = context};
  return hp_try(&e->rewriter->unwind, walk_attributes, &w);
}

/* Returns true if content that is text would become markup, or markup would become text. Raw text
 * that loses its tags is escaped, so only the new name counts. */
static bool makes_raw_text(hp_element *e, const char *name) {
  const hp_node *node = node_of(e);
  hpar_rewriter *r = e->rewriter;
  char lower[16];
  size_t length = 0;
  for (; name[length] && length < sizeof lower; length++) lower[length] = hp_ascii_lower(name[length]);
  if (name[length] || node->ns != HPAR_NAMESPACE_HTML) return false;
  const hp_atom atom = hp_names_find(&r->names, lower, length);
  return atom != node->name && hp_text_state_of(atom, !r->options.no_scripting) != HP_TEXT_STATE_DATA;
}

/* Requires: the name is valid, and the element has a tag. */
static hpar_status rename_element(hp_element *e, const char *name) {
  if (makes_raw_text(e, name)) return HPAR_ERROR_ARGUMENT;
  hpar_status status = hp_content_set(e->rewriter, &e->ending.rename, name, strlen(name), HP_PLACE_RAW);
  e->ending.renames |= status == HPAR_OK;
  return status;
}

hpar_status hpar_element_rename(hpar_element *given, const char *name) {
  hp_element *e = (hp_element *)given;
  return e && hp_is_rule_name(name, false) && e->has_tag ? rename_element(e, name) : HPAR_ERROR_ARGUMENT;
}

static hpar_status set_inner(hp_element *e, const char *content, size_t length, hp_place_kind place) {
  if (!e->is_open) return HPAR_OK;
  hpar_status status = hp_content_set(e->rewriter, &e->prepend, content, length, place);
  if (status != HPAR_OK) return status;
  e->ending.append.length = 0;
  if (e->ending.muting == HP_MUTES_NOTHING) e->ending.muting = HP_MUTES_CONTENT;
  return HPAR_OK;
}

static hpar_status replace(hp_element *e, const char *content, size_t length, hp_place_kind place) {
  hpar_status status = hp_content_add(e->rewriter, &e->before, false, content, length, place);
  if (status != HPAR_OK) return status;
  e->prepend.length = e->ending.append.length = 0;
  e->ending.muting = HP_MUTES_ELEMENT;
  e->is_removed = true;
  return HPAR_OK;
}

hpar_status hpar_element_insert(hpar_element *given, hpar_where where, const char *content, size_t length,
                                hpar_content format) {
  hp_element *e = (hp_element *)given;
  if (!e || !hp_is_format(format)) return HPAR_ERROR_ARGUMENT;
  hp_place_kind place = hp_place_of(format);
  switch (where) {
    case HPAR_WHERE_BEFORE: return hp_content_add(e->rewriter, &e->before, false, content, length, place);
    case HPAR_WHERE_AFTER: return hp_content_add(e->rewriter, &e->ending.after, true, content, length, place);
    case HPAR_WHERE_PREPEND:
      return e->is_open ? hp_content_add(e->rewriter, &e->prepend, true, content, length, place) : HPAR_OK;
    case HPAR_WHERE_APPEND:
      return e->is_open ? hp_content_add(e->rewriter, &e->ending.append, false, content, length, place) : HPAR_OK;
    case HPAR_WHERE_INNER: return set_inner(e, content, length, place);
    case HPAR_WHERE_REPLACE: return replace(e, content, length, place);
  }
  return HPAR_ERROR_ARGUMENT;
}

hpar_status hpar_element_remove(hpar_element *e) {
  return e ? replace((hp_element *)e, NULL, 0, HP_PLACE_HTML) : HPAR_ERROR_ARGUMENT;
}

hpar_status hpar_element_unwrap(hpar_element *given) {
  hp_element *e = (hp_element *)given;
  if (!e) return HPAR_ERROR_ARGUMENT;
  e->ending.unwraps = e->is_removed = true;
  return HPAR_OK;
}

typedef struct registration {
  hp_element *element;
  hp_end_call call;
} registration;

static hpar_status register_end(void *argument) {
  registration *n = argument;
  *hp_push_tight(&n->element->ending.ends, &n->element->rewriter->unwind) = n->call;
  return HPAR_OK;
}

hpar_status hpar_element_on_end(hpar_element *given, hpar_element_end_callback callback, void *context) {
  hp_element *e = (hp_element *)given;
  if (!e || !callback) return HPAR_ERROR_ARGUMENT;
  registration n = {e, {callback, context, UINT32_MAX}};
  return hp_try(&e->rewriter->unwind, register_end, &n);
}

/*** actions ***/

_Static_assert((int)HPAR_WHERE_AFTER == HPAR_ACTION_AFTER && (int)HPAR_WHERE_PREPEND == HPAR_ACTION_PREPEND &&
                   (int)HPAR_WHERE_APPEND == HPAR_ACTION_APPEND && (int)HPAR_WHERE_INNER == HPAR_ACTION_INNER &&
                   (int)HPAR_WHERE_REPLACE == HPAR_ACTION_REPLACE,
               "a place of content is also the action that inserts it there");

static hpar_status set_attribute(hp_element *e, const char *name, hpar_string value) {
  if (value.bytes && !has_name(e, name)) return HPAR_ERROR_ARGUMENT;
  hp_element_set_value(e, (hpar_string){name, strlen(name)}, value);
  return HPAR_OK;
}

static hpar_status set_prefix(hp_element *e, const hpar_action *a) {
  hpar_string value = value_of(e, a->name);
  size_t length = a->value.length;
  if (!value.bytes || value.length < length || memcmp(value.bytes, a->value.bytes, length) != 0) return HPAR_OK;
  size_t rest = value.length - length, whole = a->replacement.length + rest;
  char *made = hp_scratch_take(&e->rewriter->scratch, whole + 1);
  if (a->replacement.length) memcpy(made, a->replacement.bytes, a->replacement.length);
  memcpy(made + a->replacement.length, value.bytes + length, rest);
  return set_attribute(e, a->name, (hpar_string){made, whole});
}

hpar_status hp_element_act(hp_element *e, const hpar_action *a) {
  const char *content = a->value.bytes;
  size_t length = a->value.length;
  switch (a->kind) {
    case HPAR_ACTION_BEFORE:
    case HPAR_ACTION_AFTER:
    case HPAR_ACTION_PREPEND:
    case HPAR_ACTION_APPEND:
    case HPAR_ACTION_INNER:
    case HPAR_ACTION_REPLACE: return hpar_element_insert(&e->shown, (hpar_where)a->kind, content, length, a->format);
    case HPAR_ACTION_REMOVE: return hpar_element_remove(&e->shown);
    case HPAR_ACTION_UNWRAP: return hpar_element_unwrap(&e->shown);
    default: break;
  }
  if (!e->has_tag) return HPAR_OK; /* there is no tag to change */
  switch (a->kind) {
    case HPAR_ACTION_RENAME: return rename_element(e, a->name);
    case HPAR_ACTION_SET_ATTRIBUTE: return set_attribute(e, a->name, (hpar_string){length ? content : "", length});
    case HPAR_ACTION_UNSET_ATTRIBUTE: return set_attribute(e, a->name, (hpar_string){NULL, 0});
    case HPAR_ACTION_PREFIX_ATTRIBUTE: return set_prefix(e, a);
    default: return HPAR_ERROR_ARGUMENT;
  }
}
