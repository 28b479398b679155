/* The counts of one tree: one walk for all profiles. Names with fixed atoms are counted in arrays
 * until the unit ends. */

#include "programs/crawl/map_internal.h"

#include "base/memory.h"
#include "dom/node.h"
#include "dom/serialize.h"

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

/* Prepares the names for a page. A new generation of atoms gives the indices to other names. */
static void open_page(const hp_map *m, hp_map_names *names) {
  uint64_t generation = m->document->atoms.generation;
  if (names->generation == generation) return;
  if (names->capacity) memset(names->names, 0, names->capacity * sizeof *names->names);
  names->generation = generation;
}

hp_map_name *hp_map_first_name(hp_map *m, hp_map_names *names, hp_atom atom) {
  const hp_atoms *atoms = &m->document->atoms;
  size_t index = atom - HP_KNOWN_ATOMS;
  if (index >= names->capacity && !grow(names, atoms->count)) return NULL;
  hp_map_name *name = &names->names[index];
  names->used[names->used_count++] = (uint32_t)index;
  if (names == &m->other_attributes) name->link = hp_link_bit_of_name(hp_atom_name(atoms, atom));
  return name;
}

/* Counts a name with a fixed atom. Returns its traits. */
static inline uint16_t count_known(hp_map *m, hp_atom name) {
  hp_map_element *e = &m->elements[name];
  if (__builtin_expect(!e->count++, 0)) m->used[m->used_count++] = (uint16_t)name;
  return e->traits;
}

/* Adds the names of a page with fixed atoms to the sums. Returns their number of elements. */
static uint64_t add_known(hp_map *m) {
  uint64_t elements = 0;
  for (size_t i = 0; i < m->used_count; i++) {
    hp_map_element *e = &m->elements[m->used[i]];
    hp_map_element_sum *sum = &m->element_sums[m->used[i]];
    sum->count += e->count;
    sum->pages++;
    elements += e->count;
    e->count = 0;
  }
  m->used_count = 0;
  return elements;
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
    if (name.length > HP_TALLY_KEY_BYTES) name.length = HP_TALLY_KEY_BYTES;
    n->entry = hp_tally_table_entry(all, name.bytes, name.length);
    n->paging = pages ? hp_tally_table_entry(pages, name.bytes, name.length) : 0;
    n->version = all->version + (pages ? pages->version : 0);
    if (n->entry == HP_TALLY_NO_ENTRY || n->paging == HP_TALLY_NO_ENTRY) return false;
  }
  all->entries[n->entry].count += count;
  if (pages) pages->entries[n->paging].count++;
  return true;
}

static uint64_t sum_of(const hp_map_names *names) {
  uint64_t sum = 0;
  for (size_t i = 0; i < names->used_count; i++) sum += names->names[names->used[i]].count;
  return sum;
}

/* Drops the names of a page without fixed atoms. */
static bool drop_others(hp_map_names *names) {
  for (size_t i = 0; i < names->used_count; i++) names->names[names->used[i]].count = 0;
  names->used_count = 0;
  return true;
}

/* Adds the names of a page without fixed atoms to the tally. The order of the names has no effect:
 * the tally reduces its keys after all of them. */
static bool add_others(hp_map *m, hp_map_names *names, hp_family family, hp_family pages) {
  if (!names->used_count) return true;
  if (!(m->options.profiles & HP_PROFILE_ELEMENTS)) return drop_others(names);
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
  for (hp_atom atom = 0; atom < HP_KNOWN_ATOMS; atom++)
    m->elements[atom].traits = (uint16_t)((links ? hp_link_attributes[atom] : 0) |
                                          (hp_text_classes[atom] == HP_TEXT_OMITTED ? HP_MAP_OMITTED : 0));
}

bool hp_map_finish_names(hp_map *m) {
  bool names = m->options.profiles & HP_PROFILE_ELEMENTS;
  hp_tally_table *tables = m->tally->tables;
  for (hp_atom atom = 0; names && atom < HP_KNOWN_ATOMS; atom++) {
    const hp_known_name *name = &hp_known_names[atom];
    hp_map_element_sum *e = &m->element_sums[atom];
    uint64_t *attributes = &m->attributes[atom];
    if (e->count && (!hp_tally_table_add(&tables[HP_ELEMENTS], name->bytes, name->length, e->count) ||
                     !hp_tally_table_add(&tables[HP_ELEMENT_PAGES], name->bytes, name->length, e->pages)))
      return false;
    if (*attributes && !hp_tally_table_add(&tables[HP_ATTRIBUTES], name->bytes, name->length, *attributes))
      return false;
    e->count = e->pages = *attributes = 0;
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
  if (known) count_known(m, element->name);
  return known || hp_map_count_name(m, &m->other_elements, element->name);
}

static inline bool count_attributes(hp_map *m, const hp_node *element, const hp_attributes *block, uint16_t links) {
  const hp_attribute *item = block->items, *end = item + block->count;
  if (links) return hp_map_attributes(m, element, item, links);
  for (; item < end; item++) {
    if (__builtin_expect(item->name >= HP_KNOWN_ATOMS, 0)) return hp_map_attributes(m, element, item, 0);
    m->attributes[item->name]++;
  }
  return true;
}

enum { AHEAD = 512 }; /* bytes from a node to one that the walk reaches soon */

/* Walks the tree without template contents. Counts all of the page except its elements. */
static bool walk(hp_map *m, hp_map_page *page) {
  const char *memory = m->document->range.base;
  const hp_ref root = m->document->root;
  hp_ref ref = hp_node_at(memory, root)->first;
  uint32_t depth = 1, greatest = 0, omitted = UINT32_MAX; /* the depth of an element without text */
  uint64_t attributes = 0, text = 0, text_before = 0;
  while (ref) {
    const hp_node *node = hp_node_at(memory, ref);
    if (node->kind == HPAR_NODE_TEXT) {
      text += node->text.length;
    } else if (node->kind == HPAR_NODE_ELEMENT) {
      uint16_t traits;
      __builtin_prefetch((const char *)node + AHEAD); /* nodes are in memory as in the input */
      if (__builtin_expect(node->name < HP_KNOWN_ATOMS && node->ns == HPAR_NAMESPACE_HTML, 1))
        traits = count_known(m, node->name);
      else if (!count_special(m, node, &traits))
        return false;
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
  page->attributes = attributes;
  page->depth = greatest;
  page->text_bytes = omitted == UINT32_MAX ? text : text_before;
  return true;
}

bool hp_map_tree(hp_map *m, hp_map_page *page) {
  bool links = m->options.profiles & HP_PROFILE_LINKS;
  m->page++;
  open_page(m, &m->other_elements);
  open_page(m, &m->other_attributes);
  if (links && !hp_map_begin_links(m, page)) return false;
  bool fine = walk(m, page);
  page->elements = add_known(m) + sum_of(&m->other_elements);
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

typedef struct matches {
  uint64_t *counts; /* by selector */
  hp_rows *rows;    /* or NULL */
} matches;

static hpar_status take_match(hpar_node element, uint32_t selector, void *context) {
  const matches *m = context;
  m->counts[selector]++;
  if (m->rows) hp_rows_add(m->rows, element, selector);
  return HPAR_OK;
}

bool hp_map_selectors(hp_map *m) {
  size_t count = m->options.selector_count;
  matches found = {hp_allocate_zeroed(count * sizeof *found.counts), m->rows};
  if (!found.counts) return false;
  bool fine = !hpar_select(m->selectors, m->document, hpar_document_root(m->document), NULL, take_match, &found);
  for (size_t i = 0; fine && i < count; i++) {
    const char *text = m->options.selectors[i];
    size_t length = strlen(text); /* not cut off: two selectors may begin with the same bytes */
    fine = hp_tally_table_add(&m->tally->tables[HP_SELECTORS], text, length, found.counts[i]) &&
           (!found.counts[i] || hp_tally_table_add(&m->tally->tables[HP_SELECTOR_PAGES], text, length, 1));
  }
  hp_free(found.counts);
  return fine;
}
