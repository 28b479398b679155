/* Insertions: rules, actions and callbacks of an element, and the edits of its start tag. */

#include "base/atom.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "rewrite/speculation.h"
#include "rewrite/state.h"
#include "rewrite/urls.h"

#include <string.h>

/*** tags that add attributes to html or body ***/

/* Tags whose attributes the parser adds to the open html or body. The element began earlier, so the
 * outline builder inserts nothing. Rules see the tag all the same: a filter that removes onload
 * must also remove that of a second <body>.
 *
 * Selectors match the element with the attributes of all its tags so far, at the place among its
 * siblings where it began. The first value of an attribute counts, as in the parser. An attribute
 * that rules removed from an earlier tag stays known, because the rules must remove it from this
 * tag, too. */

enum { TARGETS = 2 };

void hp_merge_targets_reset(hpar_rewriter *r) {
  for (int i = 0; r->element.merge_targets && i < TARGETS; i++) r->element.merge_targets[i].is_known = false;
}

void hp_merge_targets_close(hpar_rewriter *r) {
  for (int i = 0; r->element.merge_targets && i < TARGETS; i++) {
    hp_merge_target *target = &r->element.merge_targets[i];
    hp_bytes_free(&target->frame);
    hp_free(target->attributes.items);
    hp_bytes_free(&target->values);
    hp_bytes_free(&target->matched);
  }
  hp_free(r->element.merge_targets);
}

size_t hp_merge_targets_memory(const hpar_rewriter *r) {
  size_t bytes = r->element.merge_targets ? TARGETS * sizeof *r->element.merge_targets : 0;
  for (int i = 0; r->element.merge_targets && i < TARGETS; i++) {
    const hp_merge_target *target = &r->element.merge_targets[i];
    bytes += target->frame.capacity + target->attributes.capacity * sizeof *target->attributes.items +
             target->values.capacity + target->matched.capacity;
  }
  return bytes;
}

/* Requires: the element is open. A worker never inserts html or body for good: see
 * speculation/dispositions.c. */
static hp_merge_target *begin_target(hpar_rewriter *r, const hp_outline_insertion *insertion) {
  const hp_node *node = hp_outline_node(&r->outline, insertion->node);
  if (node->ns != HPAR_NAMESPACE_HTML || !insertion->is_open || hp_speculates(r)) return NULL;
  if (!hp_matching_reads_tag(&r->matching, node->name)) return NULL;
  if (!r->element.merge_targets)
    r->element.merge_targets = hp_allocate_zeroed(TARGETS * sizeof *r->element.merge_targets);
  if (!r->element.merge_targets) hp_unwind_now(&r->unwind, HPAR_ERROR_MEMORY);
  hp_merge_target *target = &r->element.merge_targets[node->name == HP_ATOM_BODY];
  const size_t rules = r->rules->count / 8 + 1;
  target->is_known = true;
  target->attributes.count = target->values.length = target->matched.length = 0;
  memset(hp_bytes_extend(&target->matched, rules, &r->unwind), 0, rules);
  target->of_type = hp_matching_remember(&r->matching, insertion, &target->frame);
  return target;
}

/* Returns true if the rule has run for this element before. From now on it has. */
static bool target_knows_rule(hp_merge_target *target, uint32_t rule) {
  char *byte = &target->matched.data[rule / 8], bit = (char)(1 << rule % 8);
  bool known = *byte & bit;
  *byte |= bit;
  return known;
}

static bool is_kept(const hp_merge_target *target, hp_atom name) {
  for (uint32_t i = 0; i < target->attributes.count; i++)
    if (target->attributes.items[i].name == name) return true;
  return false;
}

/* Keeps the attributes that the element does not have yet. */
static void keep_in_target(hpar_rewriter *r, hp_merge_target *target, const hp_attributes *attributes) {
  for (uint32_t i = 0; attributes && i < attributes->count; i++) {
    const hp_attribute *item = &attributes->items[i];
    /* Other names are in no selector. Therefore the list is short. */
    if (!item->name || !hp_names_is_fixed(&r->names, item->name) || is_kept(target, item->name)) continue;
    hp_bytes_append(&target->values, item->value, item->length, &r->unwind);
    *hp_push_tight(&target->attributes, &r->unwind) =
        (hp_kept_attribute){item->name, target->values.length - item->length, item->length};
  }
}

/* Returns a block for this number of attributes, which has none yet. */
static hp_attributes *new_block(hpar_rewriter *r, uint32_t most) {
  hp_attributes *block = hp_scratch_take(&r->scratch, sizeof *block + most * sizeof(hp_attribute));
  block->count = 0;
  block->deferred = 0;
  return block;
}

/* Returns the attributes of the element after the tag. */
static const hp_attributes *all_attributes(hpar_rewriter *r, const hp_merge_target *target) {
  hp_attributes *block = new_block(r, target->attributes.count);
  for (; block->count < target->attributes.count; block->count++) {
    const hp_kept_attribute *kept = &target->attributes.items[block->count];
    /* data may be NULL */
    const char *value = kept->length ? target->values.data + kept->value : "";
    block->items[block->count] = (hp_attribute){kept->name, kept->length, value};
  }
  return block;
}

/*** insertions ***/

void hp_rewriter_insert_text(hpar_rewriter *r, uint64_t position, const char *text, size_t length) {
  if (r->edits.mute_depth) return;
  if (r->token.at_end && r->token.closer) {
    hp_edits_insert(&r->edits, position, r->token.closer, strlen(r->token.closer), &r->unwind);
    r->token.closer = NULL;
  }
  hp_edits_insert(&r->edits, position, text, length, &r->unwind);
}

void hp_rewriter_drop(hpar_rewriter *r, uint64_t from, uint64_t to) {
  if (!r->edits.mute_depth) hp_edits_drop(&r->edits, from, to, &r->unwind);
}

void hp_rewriter_write_separator(hpar_rewriter *r, uint64_t position) {
  const hp_scanner *s = &r->scanner;
  if (s->content != HP_TEXT_STATE_DATA || hp_scanner_is_in_section(s) || r->token.closer) return;
  if (r->token.is_tag && r->token.tag.is_end && s->ends_raw_text) return;
  hp_rewriter_separate_text(r, position);
}

void hp_rewriter_separate_text(hpar_rewriter *r, uint64_t position) {
  bool follows = position > r->scanner.position ? hp_rewriter_at(r, position)[-1] == '<' : r->window.after_less_than;
  if (follows) hp_rewriter_insert_text(r, position, "</>", 3);
}

/*** the edits of a start tag ***/

static void insert_value(hpar_rewriter *r, uint64_t position, const hp_element *e, const hp_attribute_edit *edit,
                         char quote) {
  hp_bytes *to = &r->element.ending.after; /* space after the element's own text */
  uint32_t old = to->length;
  hp_place_kind place = quote == '\'' ? HP_PLACE_SINGLE_QUOTED : HP_PLACE_DOUBLE_QUOTED;
  hp_encode(to, e->edit_text.data + edit->value, edit->value_length, place, hp_rewriter_target(r), &r->unwind);
  if (to->length == old) return; /* there may be no space */
  const uint32_t length = to->length - old;
  to->length = old;
  hp_rewriter_insert_text(r, position, to->data + old, length);
}

static bool is_unquoted(const hp_span *span) { return span->has_value && !span->quote; }

static bool may_be_unquoted(const char *value, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)value[i] <= 0x20 || strchr("\"'=<>`", value[i])) return false;
  return length > 0;
}

/* Drops the attributes [first, end) and what is before them. The tokenizer must read the others as
 * before: "/" is a part of an unquoted value before it, and "=" after white space begins the value
 * of a name before it. */
static void drop_attributes(hpar_rewriter *r, const hp_spans *s, uint32_t first, uint32_t end) {
  const hp_span *before = first ? &s->items[first - 1] : NULL, *next = end < s->count ? &s->items[end] : NULL;
  const uint32_t from = before ? before->end : s->name_end, to = s->items[end - 1].end;
  const char *rest = s->tag + to, *separator = " ";
  if (before && !before->has_value && next && s->tag[next->name] == '=')
    separator = memchr(rest, '/', next->name - to) ? "" : "/";
  else if (hp_ascii_is_white(*rest) || *rest == '>' || (*rest == '/' && !(before && is_unquoted(before))))
    separator = "";
  hp_rewriter_insert_text(r, r->token.start + from, separator, strlen(separator));
  hp_rewriter_drop(r, r->token.start + from, r->token.start + to);
}

static void edit_attribute(hpar_rewriter *r, const hp_element *e, const hp_attribute_edit *edit) {
  const hp_spans *s = &r->token.spans;
  const hp_span *span = &s->items[edit->span];
  const uint64_t tag = r->token.start;
  if (!span->has_value) {
    hp_rewriter_insert_text(r, tag + span->name_end, "=\"", 2);
    insert_value(r, tag + span->name_end, e, edit, '"');
    hp_rewriter_insert_text(r, tag + span->name_end, "\"", 1);
    return;
  }
  bool quotes = !span->quote && !may_be_unquoted(e->edit_text.data + edit->value, edit->value_length);
  if (quotes) hp_rewriter_insert_text(r, tag + span->value, "\"", 1);
  insert_value(r, tag + span->value, e, edit, span->quote);
  if (quotes) hp_rewriter_insert_text(r, tag + span->value, "\"", 1);
  hp_rewriter_drop(r, tag + span->value, tag + span->value_end);
}

static void add_attribute(hpar_rewriter *r, const hp_element *e, const hp_attribute_edit *edit, uint64_t position) {
  hp_rewriter_insert_text(r, position, " ", 1);
  hp_rewriter_insert_text(r, position, e->edit_text.data + edit->name, edit->name_length);
  hp_rewriter_insert_text(r, position, "=\"", 2);
  insert_value(r, position, e, edit, '"');
  hp_rewriter_insert_text(r, position, "\"", 1);
}

/* Sorts the edits of attributes in the order of the tag, by merging runs of twice the length each
 * time: a hostile tag may have 100,000 attributes. New attributes keep their order. */
static void sort_edits(hpar_rewriter *r, hp_element *e) {
  const uint32_t count = e->edit_count;
  if (count < 2) return;
  hp_attribute_edit *from = e->edits, *to = hp_scratch_take(&r->scratch, count * sizeof *to);
  for (uint32_t run = 1; run < count; run *= 2) {
    for (uint32_t begin = 0; begin < count; begin += 2 * run) {
      const uint32_t middle = count - begin < run ? count : begin + run;
      const uint32_t end = count - middle < run ? count : middle + run;
      for (uint32_t a = begin, b = middle, k = begin; k < end; k++)
        to[k] = b == end || (a < middle && from[a].span <= from[b].span) ? from[a++] : from[b++];
    }
    hp_attribute_edit *last = from;
    from = to;
    to = last;
  }
  if (from != e->edits) memcpy(e->edits, from, count * sizeof *from);
}

/* Returns true if the last attribute has "=" and no value: a new one would become its value. */
static bool lacks_value(const hp_spans *s) {
  const hp_span *last = s->count ? &s->items[s->count - 1] : NULL;
  return last && is_unquoted(last) && last->value == last->value_end;
}

/* Applies the edits of attributes. */
static void edit_attributes(hpar_rewriter *r, hp_element *e) {
  const hp_spans *s = &r->token.spans;
  hp_element_drop_duplicates(e);
  sort_edits(r, e);
  bool needs_value = lacks_value(s);
  const uint32_t end = s->count ? s->items[s->count - 1].end : s->name_end;
  for (uint32_t i = 0; i < e->edit_count; i++) {
    const hp_attribute_edit *edit = &e->edits[i];
    if (edit->span == UINT32_MAX) {
      if (edit->unsets) continue;
      if (needs_value) hp_rewriter_insert_text(r, r->token.start + end, "\"\"", 2);
      add_attribute(r, e, edit, r->token.start + end);
      needs_value = false;
      continue;
    }
    uint32_t next = edit->span + 1;
    if (edit->unsets) {
      for (; i + 1 < e->edit_count && e->edits[i + 1].unsets && e->edits[i + 1].span == next; i++) next++;
      drop_attributes(r, s, edit->span, next);
    } else {
      edit_attribute(r, e, edit);
    }
    if (next == s->count) needs_value = false;
  }
}

static void edit_tag(hpar_rewriter *r, hp_element *e) {
  if (e->ending.unwraps) {
    hp_rewriter_drop(r, r->token.start, e->end);
    return;
  }
  if (e->ending.renames) {
    hp_rewriter_insert(r, r->token.start + 1, &e->ending.rename);
    hp_rewriter_drop(r, r->token.start + 1, r->token.start + 1 + r->token.name_length);
  }
  if (e->edit_count) edit_attributes(r, e);
}

static bool needs_record(const hp_element *e) {
  return e->is_open && (e->ending.append.length || e->ending.after.length || e->ending.renames || e->ending.unwraps ||
                        e->ending.muting || e->ending.ends.count || e->ending.scopes.count);
}

static void apply_element(hpar_rewriter *r, hp_element *e) {
  bool drops = e->ending.muting == HP_MUTES_ELEMENT || e->ending.unwraps;
  hp_rewriter_separate(r, r->token.start, drops && !e->before.length ? NULL : &e->before);
  hp_rewriter_insert(r, r->token.start, &e->before);
  if (e->ending.muting == HP_MUTES_ELEMENT) {
    if (e->is_open)
      hp_edits_mute(&r->edits, r->token.start, &r->unwind);
    else
      hp_rewriter_drop(r, r->token.start, e->end);
  } else {
    if (e->has_tag) edit_tag(r, e);
    hp_rewriter_insert(r, e->end, &e->prepend);
    if (e->ending.muting) hp_edits_mute(&r->edits, e->end, &r->unwind);
  }
  if (needs_record(e))
    hp_rewriter_record(r, e);
  else if (e->ending.ends.count)
    hp_rewriter_end_empty(r, e);
  else
    hp_rewriter_insert(r, e->end, &e->ending.after);
}

/*** rules ***/

static void open_element(hpar_rewriter *r, const hp_outline_insertion *insertion, bool has_tag) {
  hp_element *e = &r->element;
  e->rewriter = r;
  e->merges_into = HP_NO_ATOM;
  e->node = insertion->node;
  e->has_tag = has_tag;
  e->is_open = insertion->is_open;
  e->is_removed = e->ending.unwraps = e->ending.renames = false;
  e->is_muted = r->edits.mute_depth != 0;
  e->end = has_tag ? r->token.end : r->token.start;
  e->before.length = e->prepend.length = e->ending.append.length = e->ending.after.length = 0;
  e->ending.rename.length = e->edit_text.length = 0;
  e->edit_count = e->ending.ends.count = e->ending.scopes.count = 0;
  e->ending.muting = HP_MUTES_NOTHING;
}

typedef struct place {
  uint64_t start, end;
} place;

static hpar_status report_found(void *unit, const void *rule) {
  const place *found = unit;
  const hpar_rule *given = rule;
  given->found(found->start, found->end, given->context);
  return HPAR_OK;
}

static void count_match(hpar_rewriter *r, const hp_element *e, uint32_t index) {
  const hpar_rule *given = &r->rules->rules[index].given;
  r->stats.matches++;
  r->running.states[index].matches++;
  if (!given->found || r->running.confirms) return;
  if (hp_speculates(r))
    hp_speculation_note_found(r, index);
  else
    hp_rewriter_call(r, report_found, &(place){r->token.start, e->end}, given);
}

HP_DEFINE_CALL(element)

static void show_element(hpar_rewriter *r, hp_element *e, uint32_t index) {
  const hpar_rule *given = &r->rules->rules[index].given;
  hp_element_show(e);
  hp_rewriter_take_result(r, hp_rewriter_call(r, call_element, &e->shown, given), index);
}

static void run_rule(hpar_rewriter *r, hp_element *e, uint32_t index) {
  const hp_rule *rule = &r->rules->rules[index];
  const hpar_rule *given = &rule->given;
  hp_rule_state *state = &r->running.states[index];
  if (state->is_complete || (!e->has_tag && !given->implied)) return;
  if (hp_speculates(r) && !hp_speculation_may_run(r, index)) return;
  if (r->running.confirms && given->limit) return;
  if (rule->finds_base) {
    if (!r->running.confirms) show_element(r, e, index);
    return;
  }
  const bool again = e->target && target_knows_rule(e->target, index);
  if (!again) count_match(r, e, index);
  for (size_t i = 0; i < given->action_count; i++) {
    if (rule->actions[i].unit != HPAR_UNIT_ELEMENT) continue;
    if (hp_is_url_action(&rule->actions[i])) {
      if (!r->running.confirms) hp_urls_edit_element(e, rule, &rule->actions[i]);
      continue;
    }
    hpar_status status = hp_element_act(e, &rule->actions[i]);
    if (status == HPAR_ERROR_ARGUMENT && rule->actions[i].kind == HPAR_ACTION_RENAME)
      hp_rewriter_fail(r, status, "an element cannot have the name of raw text, or the encoding lacks a character");
    if (status == HPAR_ERROR_ARGUMENT)
      hp_rewriter_fail(r, status, "an action holds a character that the encoding lacks at its place");
    if (status != HPAR_OK) hp_rewriter_fail(r, status, NULL);
  }
  if (r->running.confirms) {
    if (given->element && given->pure) show_element(r, e, index);
    return;
  }
  if (given->end) *hp_push_tight(&e->ending.ends, &r->unwind) = (hp_end_call){given->end, given->context, index};
  if ((rule->edits_text || rule->edits_comments) && e->is_open &&
      (!rule->edits_sheets_only || rule->edits_comments || hp_urls_is_sheet(e)))
    *hp_push_tight(&e->ending.scopes, &r->unwind) = index;
  if (given->element) show_element(r, e, index);
  if (given->url && !state->is_retired) hp_urls_edit_element(e, rule, NULL);
  if (!again && given->limit && state->matches >= given->limit && !hp_speculates(r))
    hp_rewriter_complete_rule(r, index);
}

/* Runs the rules that the last step of the matcher found, in their order. */
static void run_rules(hpar_rewriter *r, hp_element *e) {
  const hp_matcher *m = &r->matching.matcher;
  uint32_t last = HP_SELECT_NONE;
  for (uint32_t w = 0; w < m->words; w++) {
    for (hp_bits left = hp_accepted(m, w); left; left &= left - 1) {
      uint32_t selector = hp_selector_of(m, w * HP_BITS + (uint32_t)__builtin_ctzll(left));
      if (selector == last) continue;
      last = selector;
      run_rule(r, e, r->rules->of_selector[selector]);
    }
  }
}

/* Returns the rule that the last step of the matcher found if it is the only one and has a
 * `setting`; otherwise NULL. */
static const hp_rule *find_only_setting(const hpar_rewriter *r) {
  const hp_matcher *m = &r->matching.matcher;
  uint32_t instruction = HP_SELECT_NONE;
  for (uint32_t w = 0; w < m->words; w++) {
    hp_bits found = hp_accepted(m, w);
    if (!found) continue;
    if (instruction != HP_SELECT_NONE || found & (found - 1)) return NULL;
    instruction = w * HP_BITS + (uint32_t)__builtin_ctzll(found);
  }
  uint32_t index = r->rules->of_selector[hp_selector_of(m, instruction)];
  const hp_rule *rule = &r->rules->rules[index];
  return rule->setting && !r->running.states[index].is_complete ? rule : NULL;
}

/* Edits the tag as run_rules and apply_element would for this only rule. */
static void set_attribute(hpar_rewriter *r, const hp_rule *rule) {
  hp_spans *s = &r->token.spans;
  r->stats.matches++;
  r->running.states[rule - r->rules->rules].matches++;
  if (r->edits.mute_depth) return;
  const char *text = rule->setting; /* ` name="value"` */
  const hp_span *span = hp_spans_find(s, text + 1, rule->name_length, &r->scratch);
  if (!span) {
    uint32_t known = s->count;
    hp_spans_complete(s, &r->scratch);
    if (s->count > known) span = hp_spans_find(s, text + 1, rule->name_length, &r->scratch);
  }
  uint32_t length = rule->setting_length, place, skipped = 0;
  if (!span) {
    place = s->count ? s->items[s->count - 1].end : s->name_end;
  } else if (!span->has_value) {
    place = span->name_end;
    skipped = 1 + rule->name_length;
  } else {
    bool keeps_quotes = !span->quote && rule->value_needs_quotes;
    place = span->value;
    skipped = rule->name_length + 3 - keeps_quotes;
    length -= 1 - keeps_quotes;
  }
  uint64_t position = r->token.start + place;
  if (!span && lacks_value(s)) hp_edits_insert(&r->edits, position, "\"\"", 2, &r->unwind);
  hp_edits_insert(&r->edits, position, text + skipped, length - skipped, &r->unwind);
  if (span && span->has_value) hp_edits_drop(&r->edits, position, r->token.start + span->value_end, &r->unwind);
}

/* Returns the atom of an attribute's name in lower case. */
static hp_atom find_attribute_name(hpar_rewriter *r, const hp_span *span) {
  const hp_spans *s = &r->token.spans;
  const char *bytes = s->tag + span->name;
  uint32_t length = span->name_end - span->name;
  if (span->is_short && r->scanner.end - bytes >= 8) {
    hp_atom atom = hp_short_name_atom(bytes, length);
    if (atom) return atom;
  }
  hp_name name = hp_span_name(s, span, &r->scratch);
  return hp_names_find(&r->names, name.bytes, name.length);
}

/* With `known_only`: of an HTML element, up to the last one that a selector reads. */
static inline __attribute__((always_inline)) const hp_attributes *read_attributes(hpar_rewriter *r, uint8_t ns,
                                                                                  bool known_only) {
  const hp_attribute_reading *reads = &r->rules->reading;
  const bool is_html = known_only || ns == HPAR_NAMESPACE_HTML;
  const uint64_t wanted = is_html ? reads->names : UINT64_MAX;
  hp_spans *s = &r->token.spans;
  hp_attributes *block = NULL;
  if (!known_only) hp_spans_complete(s, &r->scratch);
  if (known_only ? !reads->count : !(s->names & wanted)) return NULL;
  for (uint32_t i = 0; i < s->count || (known_only && hp_spans_next(s, &r->scratch)); i++) {
    const hp_span *span = &s->items[i];
    hp_reading reading = HP_READS_VALUE;
    if (span->is_duplicate || !(wanted >> span->name_bit & 1)) continue;
    hp_atom atom = find_attribute_name(r, span);
    if (!is_html)
      atom = hp_foreign_attribute_name(ns, atom);
    else if (atom < HP_KNOWN_ATOMS)
      reading = (hp_reading)reads->of[atom];
    else if (known_only)
      continue;
    if (reading == HP_READS_NOTHING) continue;
    if (!block) block = new_block(r, known_only ? reads->count : s->count);
    hp_name value = {"", 0};
    if (reading == HP_READS_VALUE) value = hp_span_value(s, span, r->encoding.used, &r->scratch);
    block->items[block->count++] = (hp_attribute){atom, value.length, value.bytes};
    if (known_only && block->count == reads->count) break;
  }
  return block;
}

const hp_attributes *hp_rewriter_attributes(hpar_rewriter *r, uint8_t ns) {
  if (!r->token.has_spans) return NULL;
  if (ns == HPAR_NAMESPACE_HTML && r->rules->reading.known_only) return read_attributes(r, ns, true);
  return read_attributes(r, ns, false);
}

//§ changing-the-encoding-while-parsing
static void read_meta(hpar_rewriter *r) {
  const hp_encoding *named = NULL;
  const hp_span *charset = hp_spans_find(&r->token.spans, "charset", 7, &r->scratch);
  const hp_span *pragma = hp_spans_find(&r->token.spans, "http-equiv", 10, &r->scratch),
                *content = hp_spans_find(&r->token.spans, "content", 7, &r->scratch);
  if (charset) {
    hp_name value = hp_span_value(&r->token.spans, charset, &hp_utf8, &r->scratch);
    named = hp_encoding_for_label(value.bytes, value.length);
  }
  if (!named && pragma && content) {
    hp_name value = hp_span_value(&r->token.spans, pragma, &hp_utf8, &r->scratch);
    bool is_type = value.length == 12 && hp_ascii_equal(value.bytes, "content-type", 12);
    value = hp_span_value(&r->token.spans, content, &hp_utf8, &r->scratch);
    if (is_type) named = hp_encoding_in_content(value.bytes, value.length);
  }
  if (!named) return;
  named = hp_change_encoding(&hp_windows1252, named);
  if (named->kind == HP_ENCODING_ISO_2022_JP)
    hp_rewriter_fail(r, HPAR_ERROR_UNSUPPORTED, "the page declares ISO-2022-JP: convert it to UTF-8");
  hp_rewriter_declare_encoding(r, named);
}

/* The element began earlier, so only edits of attributes remain. A tag that a rule would remove
 * must not add its attributes either. */
static void apply_merged(hpar_rewriter *r, hp_merge_target *target, hp_atom name) {
  const hp_outline_insertion none = {.node = r->outline.root};
  hp_element *e = &r->element;
  hp_spans_complete(&r->token.spans, &r->scratch);
  open_element(r, &none, true);
  e->target = target;
  e->merges_into = name;
  run_rules(r, e);
  e->target = NULL;
  if (r->running.confirms)
    hp_confirm_element(r, e);
  else if (e->is_removed)
    hp_rewriter_drop(r, r->token.start, e->end);
  else if (e->edit_count)
    edit_attributes(r, e);
}

void hp_rewriter_merged(void *context, bool is_body) {
  hpar_rewriter *r = context;
  const hp_atom name = is_body ? HP_ATOM_BODY : HP_ATOM_HTML;
  hp_merge_target *target = r->element.merge_targets ? &r->element.merge_targets[is_body] : NULL;
  /* The html element around a fragment is not in its tree. */
  r->token.opens |= is_body || !r->options.fragment;
  if (!r->token.is_tag || !r->token.has_spans || !target || !target->is_known) return;
  keep_in_target(r, target, hp_rewriter_attributes(r, HPAR_NAMESPACE_HTML));
  const hp_attributes *all = all_attributes(r, target);
  hp_frame *frame = (hp_frame *)(void *)hp_scratch_copy(&r->scratch, target->frame.data, target->frame.length);
  if (hp_matching_match_again(&r->matching, name, frame, target->of_type, all)) apply_merged(r, target, name);
}

void hp_rewriter_apply_rules(hpar_rewriter *r, const hp_outline_insertion *insertion, bool has_tag) {
  hp_rewriter_split_text(r);
  const hp_rule *setting = has_tag && r->token.has_spans && !r->element.target ? find_only_setting(r) : NULL;
  if (setting) {
    if (!r->running.confirms) set_attribute(r, setting);
    return;
  }
  /* Without a tag, the attributes are those of an earlier one, whose bytes may be gone. */
  if (has_tag && r->token.has_spans) hp_spans_complete(&r->token.spans, &r->scratch);
  open_element(r, insertion, has_tag);
  run_rules(r, &r->element);
  if (r->running.confirms)
    hp_confirm_element(r, &r->element);
  else
    apply_element(r, &r->element);
}

/* Matches an inserted element, and runs the rules that it meets. */
static inline __attribute__((always_inline)) void
match_inserted(hpar_rewriter *r, const hp_outline_insertion *insertion, bool has_tag, hp_merge_target *target) {
  const hp_node *node = hp_outline_node(&r->outline, insertion->node);
  bool is_read = has_tag ? hp_matching_reads_tag(&r->matching, node->name) : r->rules->reads_implied;
  if (!is_read && !r->rules->needs_frames) return;
  const hp_attributes *attributes = has_tag ? hp_rewriter_attributes(r, node->ns) : NULL;
  if (target) keep_in_target(r, target, attributes);
  bool accepts = hp_matching_insert(&r->matching, insertion, attributes);
  if (hp_speculates(r) && hp_speculation_has_condition(r)) hp_speculation_write_conditionally(r, insertion, has_tag);
  if (!accepts || (!has_tag && !r->rules->reads_implied)) return;
  hp_rewriter_apply_rules(r, insertion, has_tag);
}

/* Matches html or body, to which later tags may add attributes. */
static __attribute__((noinline)) void match_target(hpar_rewriter *r, const hp_outline_insertion *insertion,
                                                   bool has_tag) {
  r->element.target = begin_target(r, insertion);
  match_inserted(r, insertion, has_tag, r->element.target);
  r->element.target = NULL;
}

void hp_rewriter_inserted(void *context, const hp_outline_insertion *given) {
  hpar_rewriter *r = context;
  const hp_outline_insertion insertion = *given;
  const hp_node *node = hp_outline_node(&r->outline, insertion.node);
  r->token.opens = true;
  bool has_tag = insertion.from_tag && r->token.is_tag && !r->token.tag.is_end;
  if (insertion.origin) hp_rewriter_share_record(r, insertion.origin, insertion.node);
  if (has_tag && node->name == HP_ATOM_META && !r->encoding.is_certain && r->token.has_spans) read_meta(r);
  if (node->name == HP_ATOM_HTML || node->name == HP_ATOM_BODY)
    match_target(r, &insertion, has_tag);
  else
    match_inserted(r, &insertion, has_tag, NULL);
}
