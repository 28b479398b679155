/* The counts of one tree: one walk for all profiles. Names with fixed atoms are counted in arrays
 * until the unit ends. */

#include "crawl/map_internal.h"

#include "base/memory.h"
#include "html/dom/document.h"
#include "html/serialize/text_class.h"

#include <stdlib.h>
#include <string.h>

/*** names ***/

static bool grow(hp_map_names *names, size_t wanted) {
  hp_map_name *grown = hp_reallocate(names->names, wanted * sizeof *grown);
  if (!grown) return false;
  names->names = grown;
  uint32_t *used = hp_reallocate(names->used, wanted * sizeof *used);
  if (!used) return false;
  names->used = used;
  memset(grown + names->capacity, 0, (wanted - names->capacity) * sizeof *grown);
  names->capacity = wanted;
  return true;
}

/* Counts a name without a fixed atom. */
static __attribute__((noinline)) bool count_other(hp_map *m, hp_map_names *names, hp_atom atom) {
  const hp_atoms *atoms = &m->document->atoms;
  size_t index = atom - HP_KNOWN_ATOMS;
  if (names->generation != atoms->generation) {
    if (names->capacity) memset(names->names, 0, names->capacity * sizeof *names->names);
    names->generation = atoms->generation;
  }
  if (index >= names->capacity && !grow(names, atoms->count)) return false;
  if (!names->names[index].count++) names->used[names->used_count++] = (uint32_t)index;
  return true;
}

static inline void count_known(hp_map_element *e, uint64_t page) {
  e->count++;
  if (__builtin_expect(e->last_page != page, 0)) {
    e->last_page = page;
    e->pages++;
  }
}

static int descending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x < y) - (x > y);
}

/* Sets `*less` to the count of the first name of a page that is too many, or to 0. */
static bool find_excess(const hp_map_names *names, uint32_t *less) {
  *less = 0;
  if (names->used_count <= HP_TALLY_KEYS) return true;
  uint32_t *counts = hp_allocate(names->used_count * sizeof *counts);
  if (!counts) return false;
  for (size_t i = 0; i < names->used_count; i++) counts[i] = names->names[names->used[i]].count;
  qsort(counts, names->used_count, sizeof *counts, descending);
  *less = counts[HP_TALLY_KEYS];
  hp_free(counts);
  return true;
}

/* Adds a name of a page to the tables of the tally. `pages` may be NULL. */
static bool add_name(const hp_map *m, uint32_t index, hp_map_name *n, uint32_t count, hp_tally_table *all,
                     hp_tally_table *pages) {
  uint32_t version = all->version + (pages ? pages->version : 0);
  if (!n->version || n->version != version) {
    hp_name name = hp_atom_name(&m->document->atoms, index + HP_KNOWN_ATOMS);
    n->entry = hp_tally_table_entry(all, name.bytes, name.length);
    n->paging = pages ? hp_tally_table_entry(pages, name.bytes, name.length) : 0;
    n->version = all->version + (pages ? pages->version : 0);
    if (n->entry == HP_TALLY_NO_ENTRY || n->paging == HP_TALLY_NO_ENTRY) return false;
  }
  all->entries[n->entry].count += count;
  if (pages) pages->entries[n->paging].count++;
  return true;
}

/* Adds the names of a page without fixed atoms to the tally. The order of the names has no effect:
 * the tally reduces its keys after all of them. */
static bool add_others(hp_map *m, hp_map_names *names, hp_family family, hp_family pages) {
  if (!names->used_count) return true;
  uint32_t less;
  bool fine = find_excess(names, &less), paging = pages != HP_FAMILIES;
  hp_tally_table *tables = m->tally->tables;
  for (size_t i = 0; i < names->used_count; i++) {
    uint32_t index = names->used[i];
    hp_map_name *n = &names->names[index];
    if (n->count > less)
      fine = fine && add_name(m, index, n, n->count - less, &tables[family], paging ? &tables[pages] : NULL);
    n->count = 0;
  }
  names->used_count = 0;
  hp_tally_add_error(m->tally, family, less);
  if (paging) hp_tally_add_error(m->tally, pages, less != 0);
  return fine && hp_tally_settle(m->tally, family) && (!paging || hp_tally_settle(m->tally, pages));
}

void hp_map_open_names(hp_map *m) {
  bool links = m->options.profiles & HP_PROFILE_LINKS;
  for (hp_atom atom = 0; atom < HP_KNOWN_ATOMS; atom++) {
    m->elements[atom].traits = (uint16_t)((links ? hp_link_attributes[atom] : 0) |
                                          (hp_text_classes[atom] == HP_TEXT_OMITTED ? HP_MAP_OMITTED : 0));
    m->attributes[atom].link = hp_link_bits[atom];
  }
}

bool hp_map_finish_names(hp_map *m) {
  bool names = m->options.profiles & HP_PROFILE_ELEMENTS;
  hp_tally_table *tables = m->tally->tables;
  for (hp_atom atom = 0; names && atom < HP_KNOWN_ATOMS; atom++) {
    const hp_known_name *name = &hp_known_names[atom];
    hp_map_element *e = &m->elements[atom];
    hp_map_attribute *a = &m->attributes[atom];
    if (e->count && (!hp_tally_table_add(&tables[HP_ELEMENTS], name->bytes, name->length, e->count) ||
                     !hp_tally_table_add(&tables[HP_ELEMENT_PAGES], name->bytes, name->length, e->pages)))
      return false;
    if (a->count && !hp_tally_table_add(&tables[HP_ATTRIBUTES], name->bytes, name->length, a->count)) return false;
    e->count = e->pages = a->count = 0;
  }
  return hp_tally_settle(m->tally, HP_ELEMENTS) && hp_tally_settle(m->tally, HP_ELEMENT_PAGES) &&
         hp_tally_settle(m->tally, HP_ATTRIBUTES);
}

/*** the walk ***/

/* Counts an element that is not a known one of HTML, and sets `*traits`. */
static __attribute__((noinline)) bool count_special(hp_map *m, const hp_node *element, uint16_t *traits) {
  bool known = element->name < HP_KNOWN_ATOMS;
  *traits = m->options.profiles & HP_PROFILE_LINKS ? hp_wanted_links(element) : 0;
  if (hp_text_class(element) == HP_TEXT_OMITTED) *traits |= HP_MAP_OMITTED;
  if (known) count_known(&m->elements[element->name], m->page);
  return known || !(m->options.profiles & HP_PROFILE_ELEMENTS) || count_other(m, &m->other_elements, element->name);
}

/* Counts the attributes of an element that may have links, or names without fixed atoms. */
static __attribute__((noinline)) bool take_attributes(hp_map *m, const hp_node *element, const hp_attribute *item,
                                                      const hp_attribute *end, uint16_t links) {
  for (; item < end; item++) {
    uint16_t bit;
    if (item->name < HP_KNOWN_ATOMS) {
      hp_map_attribute *a = &m->attributes[item->name];
      a->count++;
      bit = a->link;
    } else {
      if (m->options.profiles & HP_PROFILE_ELEMENTS && !count_other(m, &m->other_attributes, item->name)) return false;
      bit = links ? hp_link_bit_of_name(hp_atom_name(&m->document->atoms, item->name)) : 0;
    }
    if (links & bit && !hp_map_link(m, element, item, bit)) return false;
  }
  return true;
}

static inline bool count_attributes(hp_map *m, const hp_node *element, const hp_attributes *block, uint16_t links) {
  const hp_attribute *item = block->items, *end = item + block->count;
  if (links) return take_attributes(m, element, item, end, links);
  for (; item < end; item++) {
    if (__builtin_expect(item->name >= HP_KNOWN_ATOMS, 0)) return take_attributes(m, element, item, end, 0);
    m->attributes[item->name].count++;
  }
  return true;
}

/* Walks the tree without template contents. */
static bool walk(hp_map *m, hp_map_page *page) {
  const char *memory = m->document->range.base;
  const hp_ref root = m->document->root;
  const uint64_t number = m->page;
  hp_ref ref = hp_node_at(memory, root)->first;
  uint32_t depth = 1, greatest = 0, omitted = UINT32_MAX; /* the depth of an element without text */
  uint64_t elements = 0, attributes = 0, text = 0, text_before = 0;
  while (ref) {
    const hp_node *node = hp_node_at(memory, ref);
    if (node->kind == HPAR_NODE_TEXT) {
      text += node->text.length;
    } else if (node->kind == HPAR_NODE_ELEMENT) {
      uint16_t traits;
      elements++;
      if (__builtin_expect(node->name < HP_KNOWN_ATOMS && node->ns == HPAR_NAMESPACE_HTML, 1)) {
        hp_map_element *e = &m->elements[node->name];
        count_known(e, number);
        traits = e->traits;
      } else if (!count_special(m, node, &traits)) {
        return false;
      }
      if (node->attributes) {
        const hp_attributes *block = hp_at(memory, node->attributes);
        attributes += block->count;
        if (!count_attributes(m, node, block, traits & (HP_MAP_OMITTED - 1))) return false;
      }
      if (depth > greatest) greatest = depth;
      if (node->first) {
        if (__builtin_expect(traits & HP_MAP_OMITTED, 0) && omitted == UINT32_MAX) {
          omitted = depth;
          text_before = text;
        }
        ref = node->first;
        depth++;
        continue;
      }
    }
    while (!node->next) {
      ref = hp_parent_of(memory, node);
      if (!ref || ref == root) goto end;
      node = hp_node_at(memory, ref);
      if (--depth == omitted) {
        omitted = UINT32_MAX;
        text = text_before;
      }
    }
    ref = node->next;
  }
end:
  page->elements = elements;
  page->attributes = attributes;
  page->depth = greatest;
  page->text_bytes = omitted == UINT32_MAX ? text : text_before;
  return true;
}

bool hp_map_tree(hp_map *m, hp_map_page *page) {
  bool links = m->options.profiles & HP_PROFILE_LINKS;
  m->page++;
  if (links && !hp_map_begin_links(m, page)) return false;
  bool fine = walk(m, page);
  if (links) fine = hp_map_end_links(m) && fine;
  return fine && add_others(m, &m->other_elements, HP_ELEMENTS, HP_ELEMENT_PAGES) &&
         add_others(m, &m->other_attributes, HP_ATTRIBUTES, HP_FAMILIES);
}

/*** errors, selectors ***/

bool hp_map_errors(hp_map *m) {
  size_t count = hpar_parse_error_count(m->parser);
  bool fine = hp_tally_add_text(m->tally, HP_COUNTERS, "parse_errors", count);
  for (size_t i = 0; fine && i < count; i++)
    fine = hp_tally_add_text(m->tally, HP_ERRORS, hpar_parse_error_at(m->parser, i).code, 1);
  return fine && (!count || hp_tally_add_text(m->tally, HP_COUNTERS, "pages_with_parse_errors", 1));
}

static bool take_match(void *context, hpar_node element, uint32_t selector) {
  (void)element;
  ((uint64_t *)context)[selector]++;
  return true;
}

bool hp_map_selectors(hp_map *m) {
  size_t count = m->options.selector_count;
  uint64_t *matches = hp_allocate_zeroed(count * sizeof *matches);
  if (!matches) return false;
  bool fine = !hpar_select(m->selectors, m->document, hpar_document_root(m->document), take_match, matches);
  for (size_t i = 0; fine && i < count; i++) {
    const char *text = m->options.selectors[i];
    fine = hp_tally_add_text(m->tally, HP_SELECTORS, text, matches[i]) &&
           (!matches[i] || hp_tally_add_text(m->tally, HP_SELECTOR_PAGES, text, 1));
  }
  hp_free(matches);
  return fine;
}
