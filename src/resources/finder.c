#include "resources/finder.h"

#include "base/memory.h"
#include "base/vector.h"
#include "resources/describe.h"

#include <string.h>

/* An element with more resources, a picture, is found and confirmed anew. */
enum { COMPARED_RESOURCES = 8 };

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

/* Reports the resources of a sighting except the first `skipped`, found by the thread. Returns
 * their number. */
static uint32_t report_by(hp_finder *f, const hp_sighting *sighting, event_source source, hp_input_cursor *cursor,
                          unsigned thread) {
  const hp_input *input = f->report->input;
  uint64_t offset = input ? hp_input_offset_from(input, cursor, sighting->start) : sighting->start;
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
  resource_list a = {.count = 0}, b = {.count = 0};
  if (found->element == confirmed) return true;
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
  if (!f->expected) return;
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
  if (!s->is_written) match_expected(f, s);
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
static void settle_until(hp_finder *f, uint32_t end) {
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

static void add(hp_finder *f, hp_sighting sighting) {
  hp_sightings *to = f->sightings;
  hp_grow(&to->items, &to->capacity, to->count + 1, f->builder->unwind);
  to->items[to->count++] = sighting;
}

/* By name: the attribute that each HTML element with resources has. An img may have others. */
static const hp_atom required_attributes[HP_TESTED_TAGS] = {
    [HP_SCRIPT] = HP_SRC, [HP_IMG] = HP_SRC,   [HP_LINK] = HP_REL,
    [HP_INPUT] = HP_TYPE, [HP_BASE] = HP_HREF, [HP_META] = HP_CONTENT,
};

/* Returns true if the img is certainly not in a picture. Its parent may not be known yet. */
static bool is_alone(const char *base, const hp_node *img) {
  if (!img->parent) return false;
  const hp_node *parent = hp_node_at(base, img->parent);
  return parent->kind == HPAR_NODE_ELEMENT && parent->name != HP_PICTURE;
}

/* Returns false for most elements without resources, after a quick look. */
static bool may_have_resources(const char *base, const hp_node *node) {
  if (node->name == HP_STYLE) return true;
  if (!node->attributes) return false;
  hp_atom required = required_attributes[node->name];
  if (!required || node->ns != HPAR_NAMESPACE_HTML) return true;
  const hp_attributes *block = hp_at(base, node->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    const hp_attribute *item = &block->items[i];
    if (item->name == required) return required != HP_TYPE || item->length >= strlen("image");
    if (node->name == HP_IMG && item->name == HP_SRCSET) return true;
  }
  return node->name == HP_IMG && !is_alone(base, node);
}

static void see(hp_tag_watch *watch, hp_ref element, uint32_t start) {
  hp_finder *f = (hp_finder *)watch;
  const hp_builder *b = f->builder;
  const hp_node *node = hp_node_at(b->base, element);
  settle_until(f, f->sightings->count);
  if (!may_have_resources(b->base, node)) return;
  hp_sighting sighting = {.start = start, .element = element};
  sighting.is_inert = b->last[HP_TEMPLATE] && is_inert(f, &sighting.unsure);
  sighting.is_written = watch->text_is_written;
  add(f, sighting);
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
    hp_sighting sighting = f->expected->items[i];
    settle_until(f, f->sightings->count);
    if (sighting.unsure && hp_is_shadow_root(&view, sighting.unsure) != HP_SHADOW_YES) sighting.is_inert = true;
    if (outer_is_inert) sighting.is_inert = true;
    add(f, sighting);
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
