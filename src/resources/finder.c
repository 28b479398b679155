#include "resources/finder.h"

#include "base/memory.h"
#include "base/vector.h"
#include "html/dom/value.h"
#include "resources/describe_parts.h"

#include <string.h>

/* An element with more resources, a picture, is found and confirmed anew. */
enum { COMPARED_RESOURCES = 8, FIRST_SIGHTINGS = 64 };

static const hp_resource_origin no_origin = {0, 0, 0};

void hp_sightings_free(hp_sightings *sightings) {
  hp_free(sightings->items);
  *sightings = (hp_sightings){0};
}

static hp_tree_view view_of(const hp_finder *f) {
  return (hp_tree_view){f->report->document, f->builder->tokenizer->base, f->builder->bytes};
}

/*** events ***/

typedef struct event_source {
  const hp_resource_report *to;
  hpar_resource_event event;
  uint32_t skipped, reported;
} event_source;

static bool report_event(void *context, const hpar_resource *resource) {
  event_source *source = context;
  if (source->skipped) {
    source->skipped--;
    return true;
  }
  source->reported++;
  source->to->callback(source->to->context, resource, source->event);
  return true;
}

/* Returns the offset in the caller's bytes. Most inputs are UTF-8 without repairs. */
static inline uint64_t source_offset(const hp_input *input, hp_input_cursor *cursor, uint32_t offset) {
  if (!input) return offset;
  return input->source || input->repair_count ? hp_input_offset_from(input, cursor, offset) : offset + input->bom;
}

/* Reports the resources of a sighting except the first `skipped`, found by the thread. Returns
 * their number. */
static uint32_t report_by(hp_finder *f, const hp_sighting *sighting, event_source source, hp_input_cursor *cursor,
                          unsigned thread) {
  uint64_t offset = source_offset(f->report->input, cursor, sighting->start);
  hp_tree_view view = view_of(f);
  hp_resource_origin origin = {offset, thread, sighting->is_written ? HPAR_RESOURCE_WRITTEN : 0};
  hp_describe_resources(&view, sighting->element, origin, report_event, &source);
  return source.reported;
}

static uint32_t report(hp_finder *f, const hp_sighting *sighting, hpar_resource_event event, uint32_t skipped) {
  return report_by(f, sighting, (event_source){f->report, event, skipped, 0}, &f->cursor, f->thread);
}

static bool count_resource(void *context, const hpar_resource *resource) {
  (void)resource;
  ++*(uint32_t *)context;
  return true;
}

/* Cancels the resources of a found sighting. A segment that was spliced in may have more source
 * elements before the img of a picture than the worker has found. */
static void cancel(hp_finder *f, const hp_sighting *sighting) {
  hp_tree_view view = view_of(f);
  uint32_t count = 0;
  if (!sighting->found) return;
  hp_describe_resources(&view, sighting->element, no_origin, count_resource, &count);
  report(f, sighting, HPAR_RESOURCE_CANCELLED, count - sighting->found);
}

/* Cancels the found sightings of the chunk before the number `end`. */
static void cancel_expected(hp_finder *f, uint32_t end) {
  for (; f->expected_at < end; f->expected_at++) cancel(f, &f->expected->items[f->expected_at]);
}

typedef struct resource_list {
  hpar_resource items[COMPARED_RESOURCES];
  size_t count;
} resource_list;

static bool list_resource(void *context, const hpar_resource *resource) {
  resource_list *list = context;
  if (list->count < COMPARED_RESOURCES) list->items[list->count] = *resource;
  list->count++;
  return true;
}

static bool equal_strings(hpar_string a, hpar_string b) {
  return a.length == b.length && (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

/* Returns whether the elements of one tag have the same resources. The builders may have put them
 * into different namespaces and pictures. */
static bool have_same_resources(const hp_finder *f, const hp_sighting *found, hp_ref confirmed) {
  hp_tree_view view = view_of(f);
  resource_list a, b; /* without initialisers: they take longer than most calls */
  if (found->element == confirmed) return true;
  a.count = b.count = 0;
  hp_describe_resources(&view, found->element, no_origin, list_resource, &a);
  hp_describe_resources(&view, confirmed, no_origin, list_resource, &b);
  if (a.count != found->found || a.count != b.count || a.count > COMPARED_RESOURCES) return false;
  for (size_t i = 0; i < a.count; i++)
    if (a.items[i].kind != b.items[i].kind || !equal_strings(a.items[i].url, b.items[i].url) ||
        !equal_strings(a.items[i].srcset, b.items[i].srcset))
      return false;
  return true;
}

/* Passes the found sighting of the chunk that the confirmed one repeats. Cancels those before it,
 * and one with other resources. The found sightings are in ascending order. */
static void match_expected(hp_finder *f, const hp_sighting *confirmed) {
  uint32_t start = confirmed->start;
  const hp_sighting *items = f->expected->items;
  uint32_t at = f->expected_at, count = f->expected->count;
  while (at < count && (!items[at].found || items[at].start < start)) at++;
  cancel_expected(f, at);
  if (at == count || items[at].start != start) return;
  if (have_same_resources(f, &items[at], confirmed->element))
    f->expected_at++;
  else
    cancel_expected(f, at + 1);
}

static bool hash_resource(void *context, const hpar_resource *resource) {
  uint64_t *hash = context;
  *hash = hp_hash_resource(*hash, resource);
  return true;
}

/* Returns the hash of the resources that the element of the sighting has now. */
static uint64_t hash_resources(const hp_finder *f, const hp_sighting *s) {
  hp_tree_view view = view_of(f);
  uint64_t hash = 0;
  hp_describe_resources(&view, s->element, no_origin, hash_resource, &hash);
  return hash;
}

static void settle_exactly(hp_finder *f, hp_sighting *s) {
  if (s->is_inert) return;
  if (f->expected && !s->is_written) match_expected(f, s);
  if (f->report->runs_scripts) s->hash = hash_resources(f, s);
  report(f, s, HPAR_RESOURCE_CONFIRMED, 0);
}

/* Another start hypothesis may have found the same tag. */
static void settle_speculatively(hp_finder *f, hp_sighting *s) {
  if (s->is_inert || s->start < f->found_to) return;
  f->found_to = s->start + 1;
  if (f->report->in_order)
    s->is_held = true;
  else
    s->found = report(f, s, HPAR_RESOURCE_FOUND, 0);
}

/* Reports a sighting for which all is known. */
static void settle(hp_finder *f, hp_sighting *s) {
  if (f->is_exact)
    settle_exactly(f, s);
  else
    settle_speculatively(f, s);
}

/* Reports all sightings before the number `end`. */
static __attribute__((noinline)) void settle_until(hp_finder *f, uint32_t end) {
  while (f->reported < end) settle(f, &f->sightings->items[f->reported++]);
}

/*** sightings ***/

/* Returns true if an open template element makes resources inert. Sets `*unsure` to the template
 * that may do so. */
static bool is_inert(const hp_finder *f, hp_ref *unsure) {
  const hp_builder *b = f->builder;
  hp_tree_view view = view_of(f);
  unsigned depth = 0;
  for (uint32_t i = b->last[HP_TEMPLATE]; i; i = b->stack[i].previous_same) {
    hp_ref template = b->stack[i].node;
    hp_shadow_root is_root = hp_is_shadow_root(&view, template);
    if (++depth > HP_MAX_SHADOW_DEPTH || is_root == HP_SHADOW_NO) return true;
    if (is_root == HP_SHADOW_UNSURE) *unsure = template;
  }
  return false;
}

bool hp_finder_is_inert(const hp_finder *f) {
  hp_ref unsure = 0;
  return is_inert(f, &unsure) || unsure;
}

/* Appends a sighting. Its other members are zero. */
static inline hp_sighting *add(hp_finder *f, uint32_t start, hp_ref element) {
  hp_sightings *to = f->sightings;
  if (to->count == to->capacity)
    hp_grow(&to->items, &to->capacity, to->count ? to->count + 1 : FIRST_SIGHTINGS, f->builder->unwind);
  hp_sighting *added = &to->items[to->count++];
  *added = (hp_sighting){0};
  added->start = start;
  added->element = element;
  return added;
}

/* By name: the attribute that each HTML element with resources has. A picture gives an img others.
 */
static const hp_atom required_attributes[HP_TESTED_TAGS] = {
    [HP_SCRIPT] = HP_SRC,
    [HP_LINK] = HP_REL,
    [HP_INPUT] = HP_TYPE,
    [HP_BASE] = HP_HREF,
};

/* Returns true if the value of the attribute may have `length` bytes. */
static inline bool may_have_length(const hp_attributes *block, uint32_t index, size_t length) {
  return block->items[index].length == length || hp_is_deferred(block, index);
}

/* Returns false for most meta elements without resources. */
static bool may_be_watched_meta(const hp_attributes *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    hp_atom name = block->items[i].name;
    if (name == HP_NAME && may_have_length(block, i, strlen("viewport"))) return true;
    if (name == HP_HTTP_EQUIV && may_have_length(block, i, strlen("content-security-policy"))) return true;
  }
  return false;
}

/* Returns false for most elements without resources, after a quick look. */
static inline bool may_have_resources(const char *base, const hp_node *node) {
  if (!node->attributes) return node->name == HP_STYLE;
  if (node->name == HP_IMG || node->ns != HPAR_NAMESPACE_HTML) return true;
  const hp_attributes *block = hp_at(base, node->attributes);
  if (node->name == HP_META) return may_be_watched_meta(block);
  hp_atom required = required_attributes[node->name];
  if (!required) return true;
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == required) return required != HP_TYPE || may_have_length(block, i, strlen("image"));
  return false;
}

/* Returns true if the resources of the element may depend on what follows its start tag, or on the
 * parent that the merger gives it. */
static inline bool is_incomplete(const char *base, const hp_node *node) {
  if (node->name != HP_IMG) return node->name == HP_STYLE;
  if (!node->parent) return true;
  const hp_node *parent = hp_node_at(base, node->parent);
  return parent->kind != HPAR_NODE_ELEMENT || parent->name == HP_PICTURE;
}

/* Adds a sighting. Reports it if the element is complete. */
static __attribute__((noinline)) void see_resources(hp_finder *f, const hp_node *node, uint32_t start) {
  const hp_builder *b = f->builder;
  hp_sighting *added = add(f, start, hp_ref_of(b->base, node));
  added->is_written = f->watch.text_is_written;
  added->is_inert = b->last[HP_TEMPLATE] && is_inert(f, &added->unsure);
  if (is_incomplete(b->base, node)) return;
  settle(f, &f->sightings->items[f->reported++]);
}

/* Returns true if the resources of the complete element are to be reported at once, and without a
 * comparison. */
static inline bool is_simple(const hp_finder *f, const hp_node *node, uint32_t start) {
  if (f->builder->last[HP_TEMPLATE] || node->ns != HPAR_NAMESPACE_HTML || is_incomplete(f->builder->base, node))
    return false;
  if (f->report->runs_scripts) return false;
  return f->is_exact ? !f->expected : !f->report->in_order && start >= f->found_to;
}

/* Does the same for an img or a script in HTML. Most of them take the short way. */
static __attribute__((noinline)) void see_simple(hp_finder *f, const hp_node *node, uint32_t start) {
  if (!is_simple(f, node, start)) {
    see_resources(f, node, start);
    return;
  }
  hp_tree_view view = view_of(f);
  hp_ref element = hp_ref_of(f->builder->base, node);
  hp_resource_values values;
  hp_read_block_values(&view, hp_at(f->builder->base, node->attributes), node->name == HP_IMG, &values);
  hp_described d = {.origin = {source_offset(f->report->input, &f->cursor, start), f->thread, 0},
                    .element = element,
                    .values = &values};
  const hpar_resource *resource =
      node->name == HP_IMG ? hp_image_of(&d) : hp_script_of(&d, hp_resource_value(&values, HP_RESOURCE_SRC));
  if (!resource) return;
  add(f, start, element)->found = !f->is_exact;
  f->reported++;
  f->found_to = start + 1;
  f->report->callback(f->report->context, resource, f->is_exact ? HPAR_RESOURCE_CONFIRMED : HPAR_RESOURCE_FOUND);
}

/* Does what `see` does after the last tag has been reported. */
static inline void see_next(hp_finder *f, const hp_node *node, uint32_t start) {
  if (!may_have_resources(f->builder->base, node)) return;
  if (node->name == HP_IMG || node->name == HP_SCRIPT)
    see_simple(f, node, start);
  else
    see_resources(f, node, start);
}

static __attribute__((noinline)) void see_after_report(hp_finder *f, const hp_node *node, uint32_t start) {
  settle_until(f, f->sightings->count);
  see_next(f, node, start);
}

static void see(hp_tag_watch *watch, hp_ref element, uint32_t start) {
  hp_finder *f = (hp_finder *)watch;
  const hp_node *node = hp_node_at(f->builder->base, element);
  if (__builtin_expect(f->reported < f->sightings->count, 0))
    see_after_report(f, node, start);
  else
    see_next(f, node, start);
}

/* Reports what a script can change: the resources before the script, and that those which are not
 * confirmed are not in the document. */
static void before_script(hp_tag_watch *watch) {
  hp_finder *f = (hp_finder *)watch;
  const hp_tokenizer *t = f->builder->tokenizer;
  uint32_t passed = (uint32_t)(t->at - t->base), at = f->expected_at;
  hp_finder_flush(f);
  if (!f->expected) return;
  const hp_sighting *items = f->expected->items;
  while (at < f->expected->count && (!items[at].found || items[at].start < passed)) at++;
  cancel_expected(f, at);
}

static const uint8_t watched_names[HP_TESTED_TAGS] = {
    [HP_SCRIPT] = 1, [HP_LINK] = 1,  [HP_IMG] = 1,  [HP_IMAGE] = 1, [HP_INPUT] = 1,
    [HP_VIDEO] = 1,  [HP_STYLE] = 1, [HP_BASE] = 1, [HP_META] = 1,
};

void hp_finder_open(hp_finder *f, const hp_resource_report *to, hp_builder *builder, unsigned thread, bool is_exact) {
  hp_sightings own = f->own;
  own.count = 0;
  *f = (hp_finder){.watch = {see, before_script, watched_names, false},
                   .report = to,
                   .builder = builder,
                   .thread = thread,
                   .is_exact = is_exact,
                   .own = own};
  f->sightings = &f->own;
}

void hp_finder_close(hp_finder *f) { hp_sightings_free(&f->own); }

void hp_finder_begin_log(hp_finder *f, hp_sightings *sightings) {
  sightings->count = 0;
  f->sightings = sightings;
  f->reported = f->found_to = 0;
}

void hp_finder_cut_log(hp_finder *f, uint32_t count) {
  for (uint32_t i = count; i < f->sightings->count; i++) cancel(f, &f->sightings->items[i]);
  f->sightings->count = count;
  if (f->reported > count) f->reported = count;
  f->found_to = 0;
  for (uint32_t i = 0; i < count; i++)
    if (f->sightings->items[i].found || f->sightings->items[i].is_held) f->found_to = f->sightings->items[i].start + 1;
}

void hp_finder_flush(hp_finder *f) {
  uint32_t count = f->sightings->count;
  if (f->reported == count) return;
  const hp_sighting *last = &f->sightings->items[count - 1];
  settle_until(f, f->builder->top->node == last->element ? count - 1 : count);
}

void hp_finder_end_segment(hp_finder *f) {
  uint32_t count = f->sightings->count;
  if (f->reported < count && f->builder->top->node == f->sightings->items[count - 1].element) f->reported = count;
}

/*** the exact builder ***/

/* Returns whether the resources of the found tag have been confirmed. The finder's own sightings
 * are in ascending order. */
static bool is_confirmed(const hp_finder *f, const hp_sighting *found) {
  uint32_t low = 0, high = f->reported;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->own.items[middle].start < found->start)
      low = middle + 1;
    else
      high = middle;
  }
  while (low < f->reported && f->own.items[low].start == found->start && f->own.items[low].is_written) low++;
  if (low == f->reported) return false;
  const hp_sighting *own = &f->own.items[low];
  if (own->start != found->start || own->is_inert) return false;
  return f->report->runs_scripts ? own->hash == hash_resources(f, found) : have_same_resources(f, found, own->element);
}

/* A token that began in an earlier chunk may end in this one, so the first tags may be confirmed.
 */
void hp_finder_begin_chunk(hp_finder *f, const hp_sightings *found) {
  uint32_t passed = f->reported ? f->own.items[f->reported - 1].start + 1 : 0;
  f->expected = found;
  f->expected_at = 0;
  for (uint32_t at = 0; at < found->count; at++) {
    const hp_sighting *s = &found->items[at];
    if (!s->found) continue;
    if (s->start >= passed) break;
    cancel_expected(f, at);
    if (is_confirmed(f, s)) f->expected_at = at + 1;
  }
}

bool hp_finder_is_settled(hp_finder *f) {
  hp_finder_flush(f);
  return f->reported == f->sightings->count;
}

void hp_finder_deliver(hp_finder *f, hp_sightings *found, uint32_t passed, unsigned thread) {
  for (uint32_t i = 0; i < found->count; i++) {
    hp_sighting *s = &found->items[i];
    if (!s->is_held || s->start < passed) continue;
    s->is_held = false;
    s->found = report_by(f, s, (event_source){f->report, HPAR_RESOURCE_FOUND, 0, 0}, &f->found_cursor, thread);
  }
}

void hp_finder_confirm(hp_finder *f, uint32_t from, uint32_t to, bool outer_is_inert) {
  hp_tree_view view = view_of(f);
  for (uint32_t i = from; i < to; i++) {
    const hp_sighting *found = &f->expected->items[i];
    settle_until(f, f->sightings->count);
    hp_sighting *added = add(f, found->start, found->element);
    *added = *found;
    if (found->unsure && hp_is_shadow_root(&view, found->unsure) != HP_SHADOW_YES) added->is_inert = true;
    if (outer_is_inert) added->is_inert = true;
  }
}

void hp_finder_finish(hp_finder *f) { settle_until(f, f->sightings->count); }

void hp_finder_end_chunk(hp_finder *f) {
  if (!f->expected) return;
  hp_finder_flush(f);
  cancel_expected(f, f->expected->count);
  f->expected = NULL;
}

void hp_finder_restart(hp_finder *f) {
  for (uint32_t i = 0; i < f->reported; i++)
    if (!f->own.items[i].is_inert) report(f, &f->own.items[i], HPAR_RESOURCE_CANCELLED, 0);
  f->own.count = f->reported = 0;
  f->cursor = f->found_cursor = (hp_input_cursor){0, 0, 0, 0};
}
