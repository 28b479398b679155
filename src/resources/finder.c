#include "resources/finder.h"

#include "base/memory.h"
#include "dom/value.h"
#include "text/position.h"

#include <stdlib.h>
#include <string.h>

static inline hp_tree_view finder_view(const hp_finder *f) {
  return (hp_tree_view){f->report->document, f->builder->tokenizer->base, f->builder->bytes};
}

enum { FIRST_SIGHTINGS = 64 };

/* Keeps workers from reporting the tag, which the exact finder confirms now. */
static inline void pass_tag(hp_finder *f, uint32_t start) {
  if (__builtin_expect(start >= f->own_to, 0) && f->pass) f->pass(f->pass_context, start + 1);
}

/* Calls the callback, unless the exact builder has passed the tag. */
static inline bool report_unless_passed(const hp_finder *f, uint32_t start, const hpar_resource *resource) {
  bool reports = true;
  if (f->gate) {
    pthread_mutex_lock(&f->gate->lock);
    reports = start >= f->gate->passed;
  }
  if (reports) f->report->callback(resource, HPAR_RESOURCE_FOUND, f->report->context);
  if (f->gate) pthread_mutex_unlock(&f->gate->lock);
  return reports;
}

/* Appends a sighting. Its other members are zero. */
static inline hp_sighting *add_sighting(hp_finder *f, uint32_t start, hp_ref element) {
  hp_sightings *to = f->sightings;
  if (to->count == to->capacity)
    hp_grow(&to->items, &to->capacity, to->count ? to->count + 1 : FIRST_SIGHTINGS, f->builder->unwind);
  hp_sighting *added = &to->items[to->count++];
  *added = (hp_sighting){0};
  added->start = start;
  added->element = element;
  added->attributes = hp_node_at(f->builder->base, element)->attributes;
  return added;
}

/* Returns true if the element is a script without `src`, in HTML. The finder sees only those that
 * may be modules or import maps. */
static inline bool has_no_src(const char *base, const hp_node *script) {
  return script->ns == HPAR_NAMESPACE_HTML && script->attributes &&
         !hp_find_attribute(hp_at(base, script->attributes), HP_ATOM_SRC);
}

/* Returns true if the resources of the element may depend on what follows its start tag, or on the
 * parent that the merger gives it. */
static inline bool is_incomplete(const char *base, const hp_node *node) {
  if (node->name == HP_ATOM_SCRIPT) return has_no_src(base, node);
  if (node->name != HP_ATOM_IMG) return node->name == HP_ATOM_STYLE || (node->name == HP_ATOM_SOURCE && !node->parent);
  if (!node->parent) return true;
  const hp_node *parent = hp_node_at(base, node->parent);
  return parent->kind != HPAR_NODE_ELEMENT || parent->name == HP_ATOM_PICTURE;
}

/* Adds a sighting. Reports it if the element is complete. */
static void see_resources(hp_finder *finder, const hp_node *node, uint32_t start);

/*** the short way ***/

/* The short way of the tags that most resources belong to: an img, and a script with `src`. The
 * finder reports their only resource at once. Between two calls, the strings of f->values.resource
 * are none. */

/* Returns true if the tag may take the short way: its finder compares no sighting with another one,
 * and holds none. Requires: the element is complete. */
static inline bool is_direct(const hp_finder *f, uint32_t start) {
  const hp_sightings *to = f->sightings;
  return f->is_direct && f->reported == to->count && to->count < to->capacity && start >= f->found_to &&
         !f->builder->stack.last[HP_ATOM_TEMPLATE];
}

/* Removes the strings of the resource of an img or a script. Most have no others than these two. */
static inline void forget_values(hp_finder *f) {
  const uint64_t usual = HP_RESOURCE_BIT(HP_RESOURCE_SRC) | HP_RESOURCE_BIT(HP_RESOURCE_TYPE);
  hp_put_string(&f->values.resource.url, NULL, 0);
  hp_put_string(&f->values.resource.type, NULL, 0);
  if (f->values.present & hp_resource_fields & ~usual) hp_clear_strings(&f->values.resource);
}

/* Takes the memory of a later sighting from the core that has read it in the last parse. Otherwise
 * the stores of the parse wait for it: sightings are too rare for the processor to foresee. */
static inline void prefetch_later(const hp_sighting *added) {
  enum { BYTES_AHEAD = 2 * HP_CACHE_LINE };
  hp_prefetch_to_write((const char *)((uintptr_t)added + BYTES_AHEAD));
}

/* Notes for the merger what the worker has found. */
static inline __attribute__((always_inline)) void note_found(hp_finder *f, hp_sighting *added, uint64_t offset,
                                                             const hpar_resource *resource) {
  const uint64_t others = hp_resource_fields & ~HP_RESOURCE_BIT(HP_RESOURCE_SRC);
  uint64_t present = f->values.present & others;
  bool has_type = resource->kind == HPAR_RESOURCE_SCRIPT && present == HP_RESOURCE_BIT(HP_RESOURCE_TYPE) &&
                  hp_is_usual_script_type(resource->type);
  prefetch_later(added);
  added->found = 1;
  f->found_to = added->start + 1;
  if (present && !has_type) {
    added->attributes = hp_node_at(f->builder->base, added->element)->attributes;
    return;
  }
  added->offset = offset;
  added->url = resource->url.bytes;
  added->url_length = (uint32_t)resource->url.length;
  added->kind = (uint8_t)resource->kind;
  added->flags = (uint8_t)resource->flags;
  added->has_type = has_type;
}

/* Adds the sighting of the element and reports its resource; NULL: it has none. Requires: there is
 * space for a sighting. */
static inline __attribute__((always_inline)) void
report_directly(hp_finder *f, hp_ref element, uint32_t start, uint64_t offset, bool is_exact, hpar_resource *resource) {
  if (resource) {
    hp_sighting *added = &f->sightings->items[f->sightings->count++];
    *added = (hp_sighting){0};
    added->start = start;
    added->element = element;
    f->reported++;
    if (!is_exact) note_found(f, added, offset, resource);
    hp_set_origin(resource, element, (hp_resource_origin){offset, f->thread, 0});
    if (is_exact) {
      pass_tag(f, start);
      f->report->callback(resource, HPAR_RESOURCE_CONFIRMED, f->report->context);
    } else if (!report_unless_passed(f, start, resource)) {
      added->found = 0;
    }
  }
  forget_values(f);
}

/* Sets the values of the block. */
static inline void read_values(hp_finder *f, const hp_attributes *block, bool skips_unknown) {
  if (hp_has_deferred(block)) {
    hp_tree_view view = finder_view(f);
    f->values.present = 0;
    hp_set_deferred_values(&view, block, skips_unknown, &f->values);
  } else {
    hp_set_block_values(f->report->document, block, skips_unknown, &f->values);
  }
}

/* Adds a sighting of a script with `src`, in HTML. */
static void see_script(hp_finder *f, const hp_node *node, uint32_t start) {
  if (__builtin_expect(!is_direct(f, start), 0)) {
    see_resources(f, node, start);
    return;
  }
  read_values(f, hp_at(f->builder->base, node->attributes), false);
  report_directly(f, hp_ref_of(f->builder->base, node), start,
                  hp_input_source_offset(f->report->input, &f->cursor, start), f->is_exact, hp_script_in(&f->values));
}

/* Confirms the sightings with a URL from `from` on, up to the first one that needs its element, or
 * `to`. Returns the number of the first one that is not confirmed. Requires: as
 * confirm_directly. */
static uint32_t confirm_urls(hp_finder *f, uint32_t from, uint32_t to) {
  const hp_sighting *items = f->expected->items;
  hpar_resource *resource = &f->values.resource;
  hp_sightings *own = f->sightings;
  if (f->report->runs_scripts) return from;
  resource->picture = 0;
  resource->thread = f->thread;
  for (; from < to && items[from].url && own->count < own->capacity; from++) {
    const hp_sighting *found = &items[from];
    own->items[own->count++] = (hp_sighting){.start = found->start, .element = found->element};
    f->reported++;
    f->expected_at++;
    pass_tag(f, found->start);
    resource->kind = found->kind;
    resource->flags = found->flags;
    resource->element = found->element;
    resource->offset = found->offset;
    hp_put_string(&resource->url, found->url, found->url_length);
    if (found->has_type) hp_put_string(&resource->type, HP_USUAL_SCRIPT_TYPE, strlen(HP_USUAL_SCRIPT_TYPE));
    f->report->callback(resource, HPAR_RESOURCE_CONFIRMED, f->report->context);
    if (found->has_type) hp_put_string(&resource->type, NULL, 0);
  }
  hp_put_string(&resource->url, NULL, 0);
  return from;
}

/* Confirms the next expected sighting if it is an img, or a script in HTML, without doubts. Returns
 * false if it has done nothing. Requires: no sighting waits, and the template elements around the
 * segment do not make the resources inert. */
static bool confirm_directly(hp_finder *f, const hp_sighting *found) {
  const char *base = f->builder->base;
  const hp_node *node = hp_node_at(base, found->element);
  const hp_sightings *to = f->sightings;
  if (found->is_inert || found->unsure || f->report->runs_scripts || to->count == to->capacity) return false;
  if (node->ns != HPAR_NAMESPACE_HTML) return false;
  if ((node->name != HP_ATOM_IMG && node->name != HP_ATOM_SCRIPT) || is_incomplete(base, node)) return false;
  f->expected_at++;
  read_values(f, hp_at(base, node->attributes), node->name == HP_ATOM_IMG);
  report_directly(f, found->element, found->start, hp_input_source_offset(f->report->input, &f->cursor, found->start),
                  true, node->name == HP_ATOM_IMG ? hp_image_in(&f->values) : hp_script_in(&f->values));
  return true;
}

/* Returns true if see_resources is to see the img. */
static inline bool takes_long_way(const hp_finder *f, const hp_node *image, uint32_t start) {
  return !image->attributes || !is_direct(f, start) || is_incomplete(f->builder->base, image);
}

/* Sees an img with deferred values, or one that takes the long way. */
static __attribute__((noinline)) void see_unusual_image(hp_tag_listener *listener, hp_ref image, uint32_t start) {
  hp_finder *f = (hp_finder *)listener;
  const hp_node *node = hp_node_at(f->builder->base, image);
  if (takes_long_way(f, node, start)) {
    listener->see(listener, image, start);
    return;
  }
  uint64_t offset = hp_input_source_offset(f->report->input, &f->cursor, start);
  read_values(f, hp_at(f->builder->base, node->attributes), true);
  report_directly(f, image, start, offset, f->is_exact, hp_image_in(&f->values));
}

/* Calls only the callback, and the conversion of an offset. */
static void see_image(hp_tag_listener *listener, hp_ref image, uint32_t start) {
  hp_finder *f = (hp_finder *)listener;
  const hp_node *node = hp_node_at(f->builder->base, image);
  const hp_attributes *block = hp_at(f->builder->base, node->attributes);
  if (__builtin_expect(takes_long_way(f, node, start) || hp_has_deferred(block), 0)) {
    see_unusual_image(listener, image, start);
    return;
  }
  uint64_t offset = hp_input_source_offset(f->report->input, &f->cursor, start);
  hp_set_block_values(f->report->document, block, true, &f->values);
  report_directly(f, image, start, offset, f->is_exact, hp_image_in(&f->values));
}

static const hp_resource_origin no_origin = {0, 0, 0};

/*** the input of a fed parse ***/

void hp_published_input_open(hp_published_input *p) {
  pthread_mutex_init(&p->lock, NULL);
  p->copy = (hp_input_copy){0};
}

void hp_published_input_close(hp_published_input *p) { pthread_mutex_destroy(&p->lock); }

void hp_publish_input(hp_published_input *p, const hp_input *input) {
  pthread_mutex_lock(&p->lock);
  hp_input_copy_set(&p->copy, input);
  pthread_mutex_unlock(&p->lock);
}

/* Lets the worker convert the offsets of all text that it has. */
static void copy_published(hp_finder *f) {
  hp_published_input *from = f->report->published;
  pthread_mutex_lock(&from->lock);
  f->input = from->copy;
  pthread_mutex_unlock(&from->lock);
  f->own_report.input = hp_input_of_copy(&f->input);
}

void hp_sightings_free(hp_sightings *sightings) {
  hp_free(sightings->items);
  *sightings = (hp_sightings){0};
}

/*** events ***/

/* The resources of an element. Their strings may last only for the callback, so that a hash stands
 * for them. */
typedef struct resource_sum {
  uint64_t hash;
  uint32_t count;
} resource_sum;

static bool sum_resource(const hpar_resource *resource, void *context) {
  resource_sum *sum = context;
  sum->hash = hp_hash_resource(sum->hash, resource);
  sum->count++;
  return true;
}

static resource_sum sum_of(const hp_finder *f, hp_ref element) {
  hp_tree_view view = finder_view(f);
  resource_sum sum = {0, 0};
  hp_describe_resources(&view, element, no_origin, sum_resource, &sum);
  return sum;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool keep_resource(const hpar_resource *resource, void *context) {
  hp_finder *f = context;
  *hp_push(&f->kept, f->builder->unwind) = hp_hash_resource(0, resource);
  return true;
}

static bool is_kept(const hp_kept_resources *kept, const hpar_resource *resource) {
  uint64_t hash = hp_hash_resource(0, resource);
  return bsearch(&hash, kept->items, kept->count, sizeof hash, by_number);
}

typedef struct event_source {
  const hp_finder *finder;
  hpar_resource_event event;
  uint32_t skipped, most, reported; /* the first ones, which are not reported; the number of all */
  const hp_kept_resources *kept;    /* these are not reported; NULL: none */
  uint32_t start;                   /* of the tag */
  bool has_passed;                  /* FOUND: the exact builder has passed the tag meanwhile */
} event_source;

static bool report_event(const hpar_resource *resource, void *context) {
  event_source *source = context;
  if (source->skipped) {
    source->skipped--;
    return true;
  }
  if (source->reported == source->most) return true;
  if (source->event == HPAR_RESOURCE_FOUND) {
    source->has_passed = source->has_passed || !report_unless_passed(source->finder, source->start, resource);
    source->reported += !source->has_passed;
    return true;
  }
  source->reported++;
  if (!source->kept || !is_kept(source->kept, resource))
    source->finder->report->callback(resource, source->event, source->finder->report->context);
  return true;
}

/* Reports the resources of a sighting, found by the thread. */
static void report_by(hp_finder *f, const hp_sighting *sighting, event_source *source, hp_input_cursor *cursor,
                      unsigned thread) {
  uint64_t offset = hp_input_source_offset(f->report->input, cursor, sighting->start);
  hp_tree_view view = finder_view(f);
  hp_resource_origin origin = {offset, thread, sighting->is_written ? HPAR_RESOURCE_WRITTEN : 0};
  source->finder = f;
  source->start = sighting->start;
  hp_describe_resources(&view, sighting->element, origin, report_event, source);
}

static void report_sighting(hp_finder *f, const hp_sighting *sighting, hpar_resource_event event) {
  event_source source = {.event = event, .most = UINT32_MAX};
  report_by(f, sighting, &source, &f->cursor, f->thread);
}

/* Reports the resources of a sighting as FOUND by the thread. */
static void report_found(hp_finder *f, hp_sighting *sighting, hp_input_cursor *cursor, unsigned thread) {
  event_source source = {.event = HPAR_RESOURCE_FOUND, .most = UINT32_MAX};
  report_by(f, sighting, &source, cursor, thread);
  sighting->found = source.reported;
  sighting->is_cut = source.has_passed;
}

/* Cancels the resources of a found sighting, except those that the document has (NULL: none). A
 * segment that was spliced in may have more source elements before the img of a picture than the
 * worker has found. */
static void cancel_except(hp_finder *f, const hp_sighting *sighting, const hp_kept_resources *kept) {
  if (!sighting->found) return;
  const uint32_t count = sum_of(f, sighting->element).count;
  event_source source = {.event = HPAR_RESOURCE_CANCELLED,
                         .skipped = sighting->is_cut ? 0 : count - sighting->found,
                         .most = sighting->found,
                         .kept = kept};
  report_by(f, sighting, &source, &f->cursor, f->thread);
}

/* Cancels the found sightings of the chunk before the number `end`. */
static void cancel_expected(hp_finder *f, uint32_t end) {
  for (; f->expected_at < end; f->expected_at++) cancel_except(f, &f->expected->items[f->expected_at], NULL);
}

/* Returns whether the elements of one tag have the same resources. The builders may have put them
 * into different namespaces and pictures. */
static bool have_same_resources(const hp_finder *f, const hp_sighting *found, hp_ref confirmed) {
  if (found->element == confirmed) return true;
  const resource_sum a = sum_of(f, found->element), b = sum_of(f, confirmed);
  return a.count == found->found && a.count == b.count && a.hash == b.hash;
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

static void settle_exactly(hp_finder *f, hp_sighting *s) {
  if (s->is_inert) return;
  if (f->expected && !s->is_written) match_expected(f, s);
  if (f->report->runs_scripts) s->hash = sum_of(f, s->element).hash;
  pass_tag(f, s->start);
  report_sighting(f, s, HPAR_RESOURCE_CONFIRMED);
}

/* Another start hypothesis may have found the same tag. */
static void settle_speculatively(hp_finder *f, hp_sighting *s) {
  if (s->is_inert || s->start < f->found_to) return;
  f->found_to = s->start + 1;
  if (f->report->in_order)
    s->is_held = true;
  else
    report_found(f, s, &f->cursor, f->thread);
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
  hp_tree_view view = finder_view(f);
  unsigned depth = 0;
  for (uint32_t i = b->stack.last[HP_ATOM_TEMPLATE]; i; i = b->stack.entries[i].previous_same) {
    hp_ref template = b->stack.entries[i].node;
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

/* By name: the attribute that each HTML element with resources has; 0: none, or a function of its
 * own tests it. */
static const hp_atom required_attributes[HP_KNOWN_ATOMS] = {
    [HP_ATOM_INPUT] = HP_ATOM_TYPE,       [HP_ATOM_BASE] = HP_ATOM_HREF,        [HP_ATOM_IFRAME] = HP_ATOM_SRC,
    [HP_ATOM_FRAME] = HP_ATOM_SRC,        [HP_ATOM_OBJECT] = HP_ATOM_DATA,      [HP_ATOM_EMBED] = HP_ATOM_SRC,
    [HP_ATOM_AUDIO] = HP_ATOM_SRC,        [HP_ATOM_TRACK] = HP_ATOM_SRC,        [HP_ATOM_SOURCE] = HP_ATOM_SRC,
    [HP_ATOM_USE] = HP_ATOM_HREF,         [HP_ATOM_BODY] = HP_ATOM_BACKGROUND,  [HP_ATOM_TABLE] = HP_ATOM_BACKGROUND,
    [HP_ATOM_THEAD] = HP_ATOM_BACKGROUND, [HP_ATOM_TBODY] = HP_ATOM_BACKGROUND, [HP_ATOM_TFOOT] = HP_ATOM_BACKGROUND,
    [HP_ATOM_TR] = HP_ATOM_BACKGROUND,    [HP_ATOM_TD] = HP_ATOM_BACKGROUND,    [HP_ATOM_TH] = HP_ATOM_BACKGROUND,
};

/* Returns true if the value of the attribute may have `length` bytes. */
static inline bool may_have_length(const hp_attributes *block, const hp_attribute *item, size_t length) {
  return item->length == length || hp_is_item_deferred(block, item);
}

/* Returns true if the value of the attribute may be "viewport" or "referrer". */
static bool may_be_meta_name(const hp_attributes *block, const hp_attribute *item) {
  if (hp_is_item_deferred(block, item)) return true;
  char first = item->length == strlen("viewport") ? (char)(*item->value | 0x20) : 0;
  return first == 'v' || first == 'r';
}

/* Returns false for most meta elements without resources. */
static bool may_be_watched_meta(const hp_attributes *block) {
  const hp_attribute *name = hp_find_attribute(block, HP_ATOM_NAME);
  if (name && may_be_meta_name(block, name)) return true;
  const hp_attribute *pragma = hp_find_attribute(block, HP_ATOM_HTTP_EQUIV);
  return pragma && (may_have_length(block, pragma, strlen("content-security-policy")) ||
                    may_have_length(block, pragma, strlen("refresh")));
}

/* Returns false for most use elements: they refer to elements of the document. */
static bool may_be_watched_use(const hp_attributes *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const hp_attribute *item = &block->items[i];
    if (item->name != HP_ATOM_HREF && item->name != HP_ATOM_ADJUSTED_XLINK_HREF) continue;
    if (hp_is_deferred(block, i) || (item->length && *item->value != '#')) return true;
  }
  return false;
}

/* Returns false for most elements without resources, after a quick look. */
static inline bool may_have_resources(const char *base, const hp_node *node) {
  if (!node->attributes) return node->name == HP_ATOM_STYLE;
  const hp_attributes *block = hp_at(base, node->attributes);
  if (node->name == HP_ATOM_USE && node->ns == HPAR_NAMESPACE_SVG) return may_be_watched_use(block);
  if (node->name == HP_ATOM_IMG || node->ns != HPAR_NAMESPACE_HTML) return true;
  if (node->name == HP_ATOM_META) return may_be_watched_meta(block);
  if (node->name == HP_ATOM_LINK) return hp_may_be_watched_link(block);
  hp_atom required = required_attributes[node->name];
  if (!required) return true;
  const hp_attribute *item = hp_find_attribute(block, required);
  return item && (required != HP_ATOM_TYPE || may_have_length(block, item, strlen("image")));
}

static void see_resources(hp_finder *f, const hp_node *node, uint32_t start) {
  const hp_builder *b = f->builder;
  hp_sighting *added = add_sighting(f, start, hp_ref_of(b->base, node));
  added->is_written = f->listener.text_is_written;
  added->is_inert = b->stack.last[HP_ATOM_TEMPLATE] && is_inert(f, &added->unsure);
  if (is_incomplete(b->base, node)) return;
  settle(f, &f->sightings->items[f->reported++]);
}

/* Notes what the source elements in the media element need to know of it. They would take quadratic
 * time to search many attributes. */
static void note_media(const hp_finder *f, const hp_node *node) {
  hp_tree_view view = finder_view(f);
  hp_resource_values values;
  hp_ref media = hp_ref_of(f->builder->base, node);
  hp_read_resource_values(&view, media, &values);
  hp_node_at(f->builder->base, media)->flags |= (uint16_t)(hp_media_of(&values) << HP_FLAG_MEDIA_SHIFT);
}

/* Sees a tag that is no script in HTML. */
static __attribute__((noinline)) void see_other(hp_finder *f, const hp_node *node, uint32_t start) {
  if ((node->name == HP_ATOM_VIDEO || node->name == HP_ATOM_AUDIO) && node->ns == HPAR_NAMESPACE_HTML)
    note_media(f, node);
  if (may_have_resources(f->builder->base, node)) see_resources(f, node, start);
}

/* Sees a tag after the last one has been reported. Its calls are the last step: most pages have
 * many scripts without `src`, which take this path. */
static inline void see_next(hp_finder *f, const hp_node *node, uint32_t start) {
  if (node->name != HP_ATOM_SCRIPT || node->ns != HPAR_NAMESPACE_HTML) {
    see_other(f, node, start);
    return;
  }
  if (!node->attributes) return;
  const hp_attributes *block = hp_at(f->builder->base, node->attributes);
  if (hp_find_attribute(block, HP_ATOM_SRC))
    see_script(f, node, start);
  else if (hp_may_be_inline_script(block))
    see_resources(f, node, start);
}

static __attribute__((noinline)) void see_after_report(hp_finder *f, const hp_node *node, uint32_t start) {
  settle_until(f, f->sightings->count);
  see_next(f, node, start);
}

static void see(hp_tag_listener *listener, hp_ref element, uint32_t start) {
  hp_finder *f = (hp_finder *)listener;
  const hp_node *node = hp_node_at(f->builder->base, element);
  if (__builtin_expect(f->reported < f->sightings->count, 0))
    see_after_report(f, node, start);
  else
    see_next(f, node, start);
}

/* Reports what a script can change: the resources before the script, and that those which are not
 * confirmed are not in the document. */
static void before_script(hp_tag_listener *listener) {
  hp_finder *f = (hp_finder *)listener;
  const hp_tokenizer *t = f->builder->tokenizer;
  uint32_t passed = hp_tokenizer_offset(t), at = f->expected_at;
  hp_finder_flush(f);
  if (!f->expected) return;
  const hp_sighting *items = f->expected->items;
  while (at < f->expected->count && (!items[at].found || items[at].start < passed)) at++;
  cancel_expected(f, at);
}

/* Returns true if the finder compares no sighting with another one, and holds none. */
static bool reports_directly(const hp_finder *f) {
  if (f->report->runs_scripts) return false;
  return f->is_exact ? !f->expected : !f->report->in_order;
}

void hp_finder_open(hp_finder *f, const hp_resource_report *to, hp_builder *builder, unsigned thread, bool is_exact) {
  hp_sightings own = f->own;
  const hp_kept_resources kept = f->kept;
  own.count = 0;
  memset(f, 0, offsetof(hp_finder, values));
  hp_clear_values(&f->values);
  f->listener =
      (hp_tag_listener){.see = see, .see_image = see_image, .before_script = before_script, .names = hp_resource_names};
  f->own_report = *to;
  f->report = &f->own_report;
  f->builder = builder;
  f->thread = thread;
  f->is_exact = is_exact;
  f->own = own;
  f->kept = kept;
  f->sightings = &f->own;
  f->is_direct = reports_directly(f);
}

void hp_finder_gate_open(hp_finder_gate *gate) {
  pthread_mutex_init(&gate->lock, NULL);
  gate->passed = 0;
}

void hp_finder_gate_close(hp_finder_gate *gate) { pthread_mutex_destroy(&gate->lock); }

void hp_finder_gate_pass(hp_finder_gate *gate, uint32_t passed) {
  pthread_mutex_lock(&gate->lock);
  gate->passed = passed;
  pthread_mutex_unlock(&gate->lock);
}

void hp_finder_set_gate(hp_finder *f, hp_finder_gate *gate) { f->gate = f->report->in_order ? NULL : gate; }

void hp_finder_close(hp_finder *f) {
  hp_sightings_free(&f->own);
  hp_free(f->kept.items);
  f->kept = (hp_kept_resources){0};
}

void hp_finder_begin_log(hp_finder *f, hp_sightings *sightings) {
  sightings->count = 0;
  f->sightings = sightings;
  f->reported = f->found_to = 0;
  if (f->report->published) copy_published(f);
}

void hp_finder_cut_log(hp_finder *f, uint32_t count) {
  for (uint32_t i = count; i < f->sightings->count; i++) cancel_except(f, &f->sightings->items[i], NULL);
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
  settle_until(f, f->builder->stack.top->node == last->element ? count - 1 : count);
}

void hp_finder_end_segment(hp_finder *f) {
  uint32_t count = f->sightings->count;
  if (f->reported < count && f->builder->stack.top->node == f->sightings->items[count - 1].element) f->reported = count;
}

/*** the exact builder ***/

void hp_finder_share(hp_finder *f, hp_finder_pass pass, void *context) {
  pass(context, f->reported ? f->own.items[f->reported - 1].start + 1 : 0);
  f->pass = f->report->in_order ? NULL : pass;
  f->pass_context = context;
}

/* Returns the confirmed sighting of the found tag, or NULL. The finder's own sightings are in
 * ascending order. */
static const hp_sighting *find_confirmed(const hp_finder *f, const hp_sighting *found) {
  uint32_t low = 0, high = f->reported;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->own.items[middle].start < found->start)
      low = middle + 1;
    else
      high = middle;
  }
  while (low < f->reported && f->own.items[low].start == found->start && f->own.items[low].is_written) low++;
  if (low == f->reported) return NULL;
  const hp_sighting *own = &f->own.items[low];
  return own->start != found->start || own->is_inert ? NULL : own;
}

/* Closes the found sighting of a tag that has been confirmed before its chunk began. What both have
 * stays confirmed. */
static void close_confirmed(hp_finder *f, const hp_sighting *found, const hp_sighting *own) {
  hp_tree_view view = finder_view(f);
  if (f->report->runs_scripts ? own->hash == sum_of(f, found->element).hash
                              : have_same_resources(f, found, own->element))
    return;
  f->kept.count = 0;
  hp_describe_resources(&view, own->element, no_origin, keep_resource, f);
  if (f->kept.count) qsort(f->kept.items, f->kept.count, sizeof *f->kept.items, by_number);
  cancel_except(f, found, f->kept.count ? &f->kept : NULL);
}

/* Prefetches what the finder reads to confirm the first sightings. Another core has written it. */
static void prefetch_sightings(const hp_finder *f) {
  enum { MAX_PREFETCHED = 32 };
  const char *base = f->builder->base;
  for (uint32_t i = 0; i < f->expected->count && i < MAX_PREFETCHED; i++) {
    const hp_sighting *s = &f->expected->items[i];
    if (s->url) continue;
    __builtin_prefetch(hp_at(base, s->element));
    if (!s->attributes) continue;
    __builtin_prefetch(hp_at(base, s->attributes));
    __builtin_prefetch((const char *)hp_at(base, s->attributes) + 64);
  }
}

/* The exact builder may have passed the cut and confirmed the first tags. */
void hp_finder_begin_chunk(hp_finder *f, const hp_sightings *found) {
  uint32_t passed = f->reported ? f->own.items[f->reported - 1].start + 1 : 0;
  f->expected = found;
  f->expected_at = 0;
  prefetch_sightings(f);
  f->is_direct = false;
  for (uint32_t at = 0; at < found->count; at++) {
    const hp_sighting *s = &found->items[at];
    if (!s->found) continue;
    if (s->start >= passed) break;
    cancel_expected(f, at);
    const hp_sighting *own = find_confirmed(f, s);
    if (!own) continue;
    close_confirmed(f, s, own);
    f->expected_at = at + 1;
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
    report_found(f, s, &f->found_cursor, thread);
  }
}

/* Confirms a sighting by its element. */
static void confirm(hp_finder *f, const hp_sighting *found, bool is_inert) {
  hp_tree_view view = finder_view(f);
  hp_sighting *added = add_sighting(f, found->start, found->element);
  *added = *found;
  if (found->unsure && hp_is_shadow_root(&view, found->unsure) != HP_SHADOW_YES) added->is_inert = true;
  if (is_inert) added->is_inert = true;
}

void hp_finder_confirm(hp_finder *f, uint32_t from, uint32_t to, bool outer_is_inert) {
  for (uint32_t i = from; i < to;) {
    if (f->reported < f->sightings->count) settle_until(f, f->sightings->count);
    if (f->expected_at == i && !outer_is_inert) {
      i = confirm_urls(f, i, to);
      if (i == to) return;
      if (confirm_directly(f, &f->expected->items[i])) {
        i++;
        continue;
      }
    }
    confirm(f, &f->expected->items[i++], outer_is_inert);
  }
}

void hp_finder_finish(hp_finder *f) { settle_until(f, f->sightings->count); }

void hp_finder_end_chunk(hp_finder *f) {
  if (!f->expected) return;
  hp_finder_flush(f);
  cancel_expected(f, f->expected->count);
  f->expected = NULL;
  f->is_direct = reports_directly(f);
}

void hp_finder_restart(hp_finder *f) {
  for (uint32_t i = 0; i < f->reported; i++)
    if (!f->own.items[i].is_inert) report_sighting(f, &f->own.items[i], HPAR_RESOURCE_CANCELLED);
  f->own.count = f->reported = 0;
  f->cursor = f->found_cursor = (hp_input_cursor){0, 0, 0, 0};
}
