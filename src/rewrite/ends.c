/* Records of open elements, and the edits where they end. */

#include "base/memory.h"
#include "rewrite/state.h"
#include "tree/outline.h"

#include <string.h>

/*** scopes ***/

void hp_rewriter_change_scope(hpar_rewriter *r, uint32_t index, bool opens) {
  hp_running_rules_change_scope(&r->running, r->rules, index, opens);
  /* A text may open formatting elements again, without a tag before the next comment. */
  r->scanner.captures.comments = r->running.comments != 0;
}

/* A text that makes the builder open or close elements is two texts. */
static __attribute__((noinline)) void change_all_scopes(hpar_rewriter *r, uint32_t index, bool opens) {
  hp_rewriter_split_text(r);
  const hp_end_record *record = &r->ends.items[index];
  for (uint32_t i = 0; i < record->ending.scopes.count; i++)
    hp_rewriter_change_scope(r, record->ending.scopes.items[i], opens);
}

static inline void change_scopes(hpar_rewriter *r, uint32_t index, bool opens) {
  if (r->ends.items[index].ending.scopes.count) change_all_scopes(r, index, opens);
}

/*** records ***/

void hp_ending_close(hp_ending *ending) {
  hp_bytes_free(&ending->append);
  hp_bytes_free(&ending->after);
  hp_bytes_free(&ending->rename);
  hp_free(ending->ends.items);
  hp_free(ending->scopes.items);
}

void hp_end_records_reset(hp_end_records *s) {
  for (uint32_t i = 1; i < s->capacity; i++) hp_ending_close(&s->items[i].ending);
  if (s->items) memset(s->items, 0, s->capacity * sizeof *s->items);
  hp_end_records_forget(s);
}

void hp_end_records_forget(hp_end_records *s) {
  s->count = 1;
  s->free = s->open = s->unmute_after_tag = 0;
  s->after_tag.length = 0;
}

void hp_end_records_close(hp_end_records *s) {
  for (uint32_t i = 0; i < s->capacity; i++) hp_ending_close(&s->items[i].ending);
  hp_free(s->items);
  hp_bytes_free(&s->after_tag);
}

/* Returns the index of a free record, which may have buffers. */
static uint32_t add_record(hp_end_records *s, hp_unwind *unwind) {
  uint32_t index = s->free;
  if (index) {
    s->free = s->items[index].next_free;
  } else {
    uint32_t old = s->capacity;
    hp_grow_tight(&s->items, &s->capacity, (size_t)s->count + 1, unwind);
    if (s->capacity > old) memset(s->items + old, 0, (s->capacity - old) * sizeof *s->items);
    index = s->count++;
  }
  return index;
}

void hp_end_records_adopt(hp_end_records *s, hp_end_record *from, hp_unwind *unwind) {
  const uint32_t index = add_record(s, unwind);
  hp_ending_close(&s->items[index].ending);
  s->items[index] = *from;
  s->items[index].moved_to = 0;
  *from = (hp_end_record){.moved_to = index};
  if (!s->items[index].is_inert) s->open++;
}

/* A node gives up its record. */
static void release_record(hp_end_records *s, uint32_t index) {
  hp_end_record *record = &s->items[index];
  if (--record->users != 0) return;
  record->next_free = s->free;
  s->free = index;
  if (!record->is_inert) s->open--;
}

/* The record takes the element's ending. The buffers of an earlier ending serve later elements. */
static uint32_t make_record(hpar_rewriter *r, hp_element *e) {
  const uint32_t index = add_record(&r->ends, &r->unwind);
  hp_end_record *record = &r->ends.items[index];
  const hp_ending earlier = record->ending;
  record->ending = e->ending;
  e->ending = earlier;
  record->users = record->scope_depth = 1;
  record->has_tag = e->has_tag;
  record->has_ended = record->is_inert = false;
  record->moved_to = 0;
  r->ends.open++;
  return index;
}

void hp_rewriter_record(hpar_rewriter *r, hp_element *e) {
  const uint32_t index = make_record(r, e);
  hp_outline_node(&r->outline, e->node)->previous = index;
  change_scopes(r, index, true);
}

void hp_rewriter_share_record(hpar_rewriter *r, hp_ref origin, hp_ref clone) {
  uint32_t index = hp_outline_node(&r->outline, origin)->previous;
  if (!index) return;
  hp_end_record *record = &r->ends.items[index];
  record->users++;
  record->scope_depth++;
  hp_outline_node(&r->outline, clone)->previous = index;
  change_scopes(r, index, true);
}

void hp_rewriter_freed(void *context, hp_ref node) {
  hpar_rewriter *r = context;
  hp_node *n = hp_outline_node(&r->outline, node);
  if (n->next) hp_matching_free_frame(&r->matching, node);
  if (n->previous) release_record(&r->ends, n->previous);
  n->next = n->previous = 0;
}

/*** ends ***/

static bool is_heading(hp_atom name) { return name >= HP_ATOM_H1 && name <= HP_ATOM_H6; }

/* Returns true if the current token is the element's own end tag. */
static bool is_own_tag(const hpar_rewriter *r, const hp_node *node) {
  if (!r->token.is_tag || !r->token.tag.is_end) return false;
  if (node->name == r->token.tag.name) return true;
  if (node->ns == HPAR_NAMESPACE_SVG) return node->name == hp_svg_tag_name(r->token.tag.name);
  return node->ns == HPAR_NAMESPACE_HTML && is_heading(node->name) && is_heading(r->token.tag.name);
}

/* Returns true if the end tag would close only this element, and not take an entry off the list of
 * formatting elements. */
static bool may_write_end_tag(hpar_rewriter *r, hp_ref ref) {
  const hp_node *node = hp_outline_node(&r->outline, ref);
  if (node->ns == HPAR_NAMESPACE_HTML && node->name == HP_ATOM_PLAINTEXT) return false;
  if (node->ns != HPAR_NAMESPACE_HTML || !(hp_html_tag(node->name) & HP_TAG_FORMATTING)) return true;
  return r->token.at_end || !hp_outline_lists(&r->outline, ref);
}

static void write_end_tag(hpar_rewriter *r, const hp_end_record *record, hp_ref node, uint64_t position) {
  hp_name name = hp_names_of(&r->names, hp_outline_node(&r->outline, node)->name);
  hp_bytes *to = &r->element.ending.after; /* space after the element's own text */
  const uint32_t old = to->length;
  if (record->ending.renames)
    name = (hp_name){record->ending.rename.data, record->ending.rename.length};
  else if (hp_encode(to, name.bytes, name.length, HP_PLACE_RAW, hp_rewriter_target(r), &r->unwind))
    name = (hp_name){to->data + old, to->length - old};
  to->length = old;
  char *tag = hp_scratch_take(&r->scratch, name.length + 3);
  memcpy(tag, "</", 2);
  memcpy(tag + 2, name.bytes, name.length);
  tag[name.length + 2] = '>';
  hp_rewriter_insert_text(r, position, tag, name.length + 3);
}

static hpar_status run_end_call(void *shown, const void *callback) {
  const hp_end_call *call = callback;
  return call->callback(shown, call->context);
}

static void run_end_calls(hpar_rewriter *r, uint32_t index, hp_element_end *end) {
  if (!r->ends.items[index].ending.ends.count) return;
  const hp_name name = hp_names_of(&r->names, hp_outline_node(&r->outline, end->node)->name);
  end->shown = (hpar_element_end){.name = {name.bytes, name.length},
                                  .implied = !end->is_match,
                                  .start = r->token.start,
                                  .end = end->is_match ? r->token.end : r->token.start};
  for (uint32_t i = 0; i < r->ends.items[index].ending.ends.count; i++) {
    hp_end_call call = r->ends.items[index].ending.ends.items[i];
    end->record = &r->ends.items[index];
    hp_rewriter_take_result(r, hp_rewriter_call(r, run_end_call, &end->shown, &call), call.rule);
  }
}

static void edit_own_tag(hpar_rewriter *r, const hp_end_record *record, bool removes) {
  r->token.is_edited = true;
  if (record->ending.unwraps || removes) {
    hp_rewriter_drop(r, r->token.start, r->token.end);
  } else if (record->ending.renames) {
    hp_rewriter_insert(r, r->token.start + 2, &record->ending.rename);
    hp_rewriter_drop(r, r->token.start + 2, r->token.start + 2 + r->token.name_length);
  }
}

static void end_at_own_tag(hpar_rewriter *r, const hp_end_record *record, bool removes) {
  if (record->ending.muting == HP_MUTES_CONTENT) hp_edits_unmute(&r->edits, r->token.start, &r->unwind);
  if (record->ending.muting == HP_MUTES_ELEMENT) {
    r->ends.unmute_after_tag++;
  } else {
    bool drops = (record->ending.unwraps || removes) && !record->ending.append.length;
    hp_rewriter_separate(r, r->token.start, drops ? NULL : &record->ending.append);
    hp_rewriter_insert(r, r->token.start, &record->ending.append);
    edit_own_tag(r, record, removes);
  }
  bool shows = r->edits.mute_depth == (record->ending.muting == HP_MUTES_ELEMENT);
  if (shows && record->ending.after.length)
    hp_bytes_append(&r->ends.after_tag, record->ending.after.data, record->ending.after.length, &r->unwind);
}

static void end_elsewhere(hpar_rewriter *r, const hp_end_record *record, hp_ref node) {
  uint64_t position = r->token.start;
  if (record->ending.muting) hp_edits_unmute(&r->edits, position, &r->unwind);
  if (record->ending.muting != HP_MUTES_ELEMENT) {
    hp_rewriter_separate(r, position, record->ending.append.length ? &record->ending.append : &record->ending.after);
    hp_rewriter_insert(r, position, &record->ending.append);
    bool writes =
        (record->ending.renames && !r->token.at_end) || (record->ending.after.length && !record->ending.unwraps);
    if (writes && record->has_tag && (record->ending.renames || may_write_end_tag(r, node)))
      write_end_tag(r, record, node, position);
    else if (record->ending.after.length && !record->ending.unwraps)
      r->stats.misplaced++;
  }
  hp_rewriter_insert(r, position, &record->ending.after);
}

static void end_record(hpar_rewriter *r, uint32_t index, hp_ref node, bool is_match) {
  hp_element_end end = {.rewriter = r, .node = node, .is_match = is_match};
  hp_rewriter_split_text(r);
  run_end_calls(r, index, &end);
  hp_end_record *record = &r->ends.items[index];
  record->has_ended = true;
  if (is_match)
    end_at_own_tag(r, record, end.removes_tag);
  else
    end_elsewhere(r, record, node);
  if (record->ending.renames || record->ending.unwraps || record->ending.scopes.count) return;
  record->is_inert = true;
  r->ends.open--;
}

void hp_rewriter_end_empty(hpar_rewriter *r, hp_element *e) {
  const uint32_t index = make_record(r, e);
  const uint64_t start = r->token.start;
  r->token.start = e->end;
  run_end_calls(r, index, &(hp_element_end){.rewriter = r, .node = e->node});
  r->token.start = start;
  hp_rewriter_insert(r, e->end, &r->ends.items[index].ending.after);
  release_record(&r->ends, index);
}

void hp_rewriter_popped(void *context, hp_ref ref) {
  hpar_rewriter *r = context;
  const hp_node *node = hp_outline_node(&r->outline, ref);
  uint32_t index = node->previous;
  r->token.closes = true;
  if (!index) return;
  hp_end_record *record = &r->ends.items[index];
  bool is_match = is_own_tag(r, node);
  if (!record->has_ended) {
    end_record(r, index, ref, is_match);
  } else if (is_match && record->ending.muting != HP_MUTES_ELEMENT && !r->token.is_edited) {
    if (record->ending.unwraps) hp_rewriter_separate(r, r->token.start, NULL);
    edit_own_tag(r, record, false);
  }
  record = &r->ends.items[index];
  record->scope_depth--;
  change_scopes(r, index, false);
}

void hp_rewriter_end_at_tag(hpar_rewriter *r, hp_ref ref) {
  const hp_node *node = hp_outline_node(&r->outline, ref);
  uint32_t index = node->previous;
  if (index && !r->ends.items[index].has_ended) end_record(r, index, ref, is_own_tag(r, node));
}

/*** what callbacks do ***/

hpar_status hpar_element_end_insert(hpar_element_end *given, hpar_where where, const char *content, size_t length,
                                    hpar_content format) {
  hp_element_end *end = (hp_element_end *)given;
  if (!end || (where != HPAR_WHERE_BEFORE && where != HPAR_WHERE_AFTER)) return HPAR_ERROR_ARGUMENT;
  if (!hp_is_format(format)) return HPAR_ERROR_ARGUMENT;
  bool after = where == HPAR_WHERE_AFTER;
  return hp_content_add(end->rewriter, after ? &end->record->ending.after : &end->record->ending.append, after, content,
                        length, hp_place_of(format));
}

hpar_status hpar_element_end_remove(hpar_element_end *end) {
  if (!end) return HPAR_ERROR_ARGUMENT;
  ((hp_element_end *)end)->removes_tag = true;
  return HPAR_OK;
}

hpar_status hpar_element_end_rename(hpar_element_end *given, const char *name) {
  hp_element_end *end = (hp_element_end *)given;
  if (!end || !hp_is_rule_name(name, false)) return HPAR_ERROR_ARGUMENT;
  if (!end->is_match) return HPAR_OK; /* there is no end tag, and a missing one stays missing */
  hpar_status status = hp_content_set(end->rewriter, &end->record->ending.rename, name, strlen(name), HP_PLACE_RAW);
  end->record->ending.renames |= status == HPAR_OK;
  return status;
}
