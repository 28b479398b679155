/* The short way of the tags that most resources belong to: an img, and a script with `src`. The
 * finder reports their only resource at once. Between two calls, the strings of f->values.resource
 * are none. */

#include "resources/finder_parts.h"

#include "base/memory.h"
#include "resources/describe_parts.h"

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
  if (f->values.present & HP_RESOURCE_FIELDS & ~usual) hp_clear_strings(&f->values.resource);
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
  const uint64_t others = HP_RESOURCE_FIELDS & ~HP_RESOURCE_BIT(HP_RESOURCE_SRC);
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
      hp_pass_tag(f, start);
      f->report->callback(resource, HPAR_RESOURCE_CONFIRMED, f->report->context);
    } else if (!hp_report_found(f, start, resource)) {
      added->found = 0;
    }
  }
  forget_values(f);
}

/* Sets the values of the block. */
static inline void read_values(hp_finder *f, const hp_attributes *block, bool skips_unknown) {
  if (hp_has_deferred(block)) {
    hp_tree_view view = hp_finder_view(f);
    f->values.present = 0;
    hp_set_deferred_values(&view, block, skips_unknown, &f->values);
  } else {
    hp_set_block_values(f->report->document, block, skips_unknown, &f->values);
  }
}

void hp_see_script(hp_finder *f, const hp_node *node, uint32_t start) {
  if (__builtin_expect(!is_direct(f, start), 0)) {
    hp_see_resources(f, node, start);
    return;
  }
  read_values(f, hp_at(f->builder->base, node->attributes), false);
  report_directly(f, hp_ref_of(f->builder->base, node), start, hp_source_offset(f->report->input, &f->cursor, start),
                  f->is_exact, hp_script_in(&f->values));
}

uint32_t hp_confirm_urls(hp_finder *f, uint32_t from, uint32_t to) {
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
    hp_pass_tag(f, found->start);
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

bool hp_confirm_directly(hp_finder *f, const hp_sighting *found) {
  const char *base = f->builder->base;
  const hp_node *node = hp_node_at(base, found->element);
  const hp_sightings *to = f->sightings;
  if (found->is_inert || found->unsure || f->report->runs_scripts || to->count == to->capacity) return false;
  if (!node->attributes || node->ns != HPAR_NAMESPACE_HTML) return false;
  if ((node->name != HP_ATOM_IMG && node->name != HP_ATOM_SCRIPT) || hp_is_incomplete(base, node)) return false;
  f->expected_at++;
  read_values(f, hp_at(base, node->attributes), node->name == HP_ATOM_IMG);
  report_directly(f, found->element, found->start, hp_source_offset(f->report->input, &f->cursor, found->start), true,
                  node->name == HP_ATOM_IMG ? hp_image_in(&f->values) : hp_script_in(&f->values));
  return true;
}

/* Returns true if hp_see_resources is to see the img. */
static inline bool takes_long_way(const hp_finder *f, const hp_node *image, uint32_t start) {
  return !image->attributes || !is_direct(f, start) || hp_is_incomplete(f->builder->base, image);
}

/* Sees an img with deferred values, or one that takes the long way. */
static __attribute__((noinline)) void see_unusual_image(hp_tag_watch *watch, hp_ref image, uint32_t start) {
  hp_finder *f = (hp_finder *)watch;
  const hp_node *node = hp_node_at(f->builder->base, image);
  if (takes_long_way(f, node, start)) {
    watch->see(watch, image, start);
    return;
  }
  uint64_t offset = hp_source_offset(f->report->input, &f->cursor, start);
  read_values(f, hp_at(f->builder->base, node->attributes), true);
  report_directly(f, image, start, offset, f->is_exact, hp_image_in(&f->values));
}

/* Calls only the callback, and the conversion of an offset. */
static inline __attribute__((always_inline)) void see_image(hp_tag_watch *watch, hp_ref image, uint32_t start,
                                                            bool is_exact) {
  hp_finder *f = (hp_finder *)watch;
  const hp_node *node = hp_node_at(f->builder->base, image);
  const hp_attributes *block = hp_at(f->builder->base, node->attributes);
  if (__builtin_expect(takes_long_way(f, node, start) || hp_has_deferred(block), 0)) {
    see_unusual_image(watch, image, start);
    return;
  }
  uint64_t offset = hp_source_offset(f->report->input, &f->cursor, start);
  hp_set_block_values(f->report->document, block, true, &f->values);
  report_directly(f, image, start, offset, is_exact, hp_image_in(&f->values));
}

void hp_see_exact_image(hp_tag_watch *watch, hp_ref image, uint32_t start) { see_image(watch, image, start, true); }

void hp_see_found_image(hp_tag_watch *watch, hp_ref image, uint32_t start) { see_image(watch, image, start, false); }
