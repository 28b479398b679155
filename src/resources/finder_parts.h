#ifndef HP_RESOURCES_FINDER_PARTS_H
#define HP_RESOURCES_FINDER_PARTS_H

/* What the two files of the finder share: finder.c, and direct.c for the tags that take the short
 * way. */

#include "base/memory.h"
#include "resources/describe.h"
#include "resources/finder.h"
#include "text/decoded_offset.h"

static inline hp_tree_view hp_finder_view(const hp_finder *f) {
  return (hp_tree_view){f->report->document, f->builder->tokenizer->base, f->builder->bytes};
}

/* Returns true if an offset in the text plus the length of the byte order mark is the offset in the
 * caller's bytes. */
static inline bool hp_keeps_offsets(const hp_input *input) { return !input->source && !input->repair_count; }

/* Returns the offset in the caller's bytes. Most inputs are UTF-8 without repairs. */
static inline uint64_t hp_source_offset(const hp_input *input, hp_input_cursor *cursor, uint32_t offset) {
  if (hp_keeps_offsets(input)) return offset + input->bom;
  return input->repair_count ? hp_input_offset_from(input, cursor, offset) : hp_decoded_offset(input, cursor, offset);
}

enum { HP_FIRST_SIGHTINGS = 64 };

/* Keeps workers from reporting the tag, which the exact finder confirms now. */
static inline void hp_pass_tag(hp_finder *f, uint32_t start) {
  if (__builtin_expect(start >= f->own_to, 0) && f->pass) f->pass(f->pass_context, start + 1);
}

/* Calls the callback, unless the exact builder has passed the tag. */
static inline bool hp_report_found(const hp_finder *f, uint32_t start, const hpar_resource *resource) {
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
static inline hp_sighting *hp_add_sighting(hp_finder *f, uint32_t start, hp_ref element) {
  hp_sightings *to = f->sightings;
  if (to->count == to->capacity)
    hp_grow(&to->items, &to->capacity, to->count ? to->count + 1 : HP_FIRST_SIGHTINGS, f->builder->unwind);
  hp_sighting *added = &to->items[to->count++];
  *added = (hp_sighting){0};
  added->start = start;
  added->element = element;
  added->attributes = hp_node_at(f->builder->base, element)->attributes;
  return added;
}

/* Returns true if the element is a script without `src`, in HTML. The finder sees only those that
 * may be modules or import maps. */
static inline bool hp_has_no_src(const char *base, const hp_node *script) {
  if (script->ns != HPAR_NAMESPACE_HTML || !script->attributes) return false;
  const hp_attributes *block = hp_at(base, script->attributes);
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == HP_ATOM_SRC) return false;
  return true;
}

/* Returns true if the resources of the element may depend on what follows its start tag, or on the
 * parent that the merger gives it. */
static inline bool hp_is_incomplete(const char *base, const hp_node *node) {
  if (node->name == HP_ATOM_SCRIPT) return hp_has_no_src(base, node);
  if (node->name != HP_ATOM_IMG) return node->name == HP_ATOM_STYLE || (node->name == HP_ATOM_SOURCE && !node->parent);
  if (!node->parent) return true;
  const hp_node *parent = hp_node_at(base, node->parent);
  return parent->kind != HPAR_NODE_ELEMENT || parent->name == HP_ATOM_PICTURE;
}

/* Adds a sighting. Reports it if the element is complete. */
void hp_see_resources(hp_finder *finder, const hp_node *node, uint32_t start);

/* Does the same for a script with `src`, in HTML. */
void hp_see_script(hp_finder *finder, const hp_node *node, uint32_t start);

/* Confirms the sightings with a URL from `from` on, up to the first one that needs its element, or
 * `to`. Returns the number of the first one that is not confirmed. Requires: as
 * hp_confirm_directly. */
uint32_t hp_confirm_urls(hp_finder *finder, uint32_t from, uint32_t to);

/* Confirms the next expected sighting if it is an img, or a script in HTML, without doubts. Returns
 * false if it has done nothing. Requires: no sighting waits, and the template elements around the
 * segment do not make the resources inert. */
bool hp_confirm_directly(hp_finder *finder, const hp_sighting *found);

/* The functions for an img, of an exact builder and of a worker. */
void hp_see_exact_image(hp_tag_watch *watch, hp_ref image, uint32_t start);
void hp_see_found_image(hp_tag_watch *watch, hp_ref image, uint32_t start);

#endif
