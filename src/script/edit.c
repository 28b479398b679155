#include "script/scripts.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/process.h"
#include "dom/value.h"
#include "platform/address_range.h"
#include "text/scan/scan.h"
#include "tree/stack.h"

#include <string.h>

/* Returns true if the calling thread may change the document. */
static bool may_edit(const hp_edit_engine *editor) { return pthread_equal(editor->owner, pthread_self()); }

/* Returns where the document ends if it has as much memory as it may. */
static uint64_t memory_end(const hp_edit_engine *e) {
  uint64_t limit = e->config.memory_limit, unused = hp_range_unused(&e->scripts.document->range);
  return limit && limit < UINT64_MAX - unused ? limit + unused : UINT64_MAX;
}

static void limit_memory(hp_edit_engine *e) {
  hp_range *range = &e->scripts.document->range;
  uint64_t end = memory_end(e);
  range->limit = end < range->size ? (size_t)end : range->size;
}

static hpar_status open_engine(void *argument) {
  hp_edit_engine *e = argument;
  const hpar_document *document = e->scripts.document;
  const hp_request request = {.document = e->scripts.document,
                              .text = document->input.bytes,
                              .length = document->input.length,
                              .scripting = e->config.scripting,
                              .decodes_values = true,
                              .limits = e->config.limits};
  hp_engine_open(&e->engine, &request);
  return HPAR_OK;
}

/* Prepares the engine for a change. */
static hpar_status prepare_edit(hp_edit_engine *e) {
  if (e->is_open) return HPAR_OK;
  uint64_t nodes = hp_node_count(&e->engine.builder);
  hpar_status status = hp_try(&e->engine.unwind, open_engine, e);
  hp_set_node_count(&e->engine.builder, nodes);
  e->is_open = status == HPAR_OK;
  return status;
}

/* Gives the rests of the slabs back. */
static void close_arenas(hp_edit_engine *e) {
  if (!e->is_open) return;
  hp_arena_close(&e->engine.nodes);
  hp_arena_close(&e->engine.bytes);
  e->is_open = false;
}

/* Enlarges the document if it was full. Returns true if the change may succeed now. Sets `*status`
 * if the document has as much memory as it may. */
static bool grow_edited(hp_edit_engine *e, hpar_status *status) {
  hpar_document *document = e->scripts.document;
  hp_range *range = &document->range;
  if (!hp_range_is_full(range)) return false;
  hp_range_note_room(range);
  if (memory_end(e) <= range->size) {
    *status = HPAR_LIMIT_MEMORY;
    return false;
  }
  close_arenas(e);
  if (hp_range_grow(range, &document->former) != HPAR_OK) return false;
  limit_memory(e);
  hp_atoms_reopen(&document->atoms);
  return prepare_edit(e) == HPAR_OK;
}

static void close_editor(void *editor) {
  hp_edit_engine *e = editor;
  hpar_document *document = e->scripts.document;
  close_arenas(e);
  hp_scripts_close(&e->scripts);
  hp_engine_close(&e->engine);
  hp_free(e);
  document->editor = NULL;
  document->range.limit = document->range.size;
  hp_atoms_reopen(&document->atoms);
  hp_range_trim(&document->range);
}

hpar_status hp_edit_begin(hpar_document *document, const hp_edit_config *config, hp_scripts **scripts) {
  hp_edit_engine *e = document->editor;
  if (hp_is_being_read(&document->use) || (e && !may_edit(e))) return HPAR_ERROR_ARGUMENT;
  if (!e) {
    hpar_status status = hp_document_settle(document);
    if (status != HPAR_OK) return status;
    e = hp_allocate_zeroed(sizeof *e);
    if (!e) return HPAR_ERROR_MEMORY;
    hp_engine_init(&e->engine);
    e->scripts = (hp_scripts){.engine = &e->engine, .document = document, .editor = e};
    hp_document_set_editor(document, e, close_editor);
    e->owner = pthread_self();
    hp_atoms_reopen(&document->atoms);
  }
  e->config = *config;
  e->engine.limits = config->limits;
  close_arenas(e);
  limit_memory(e);
  *scripts = &e->scripts;
  return HPAR_OK;
}

hp_scripts *hp_edit_running(const hpar_document *document) {
  hp_edit_engine *e = document->editor;
  return e && may_edit(e) ? &e->scripts : NULL;
}

void hp_edit_end(hpar_document *document) {
  if (document->editor) document->close_editor(document->editor);
}

/*** names ***/

/* The names that the DOM accepts for new elements and attributes: "valid element local name" and
 * "valid attribute local name" of the DOM Standard. With any other name, the HTML of a tree could
 * have other elements and attributes. */

/* Returns true if no byte ends a name in a tag: white space, NUL, "/" and ">". */
static bool stays_in_tag(const char *name, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (hp_ascii_is_white(name[i]) || !name[i] || name[i] == '/' || name[i] == '>') return false;
  return true;
}

static bool begins_other_name(char c) { return c == ':' || c == '_' || (unsigned char)c >= 0x80; }

static bool is_element_name(const char *name, size_t length) {
  if (!length) return false;
  if (hp_ascii_is_letter(*name)) return stays_in_tag(name, length);
  if (!begins_other_name(*name)) return false;
  for (size_t i = 1; i < length; i++) {
    if (!hp_ascii_is_letter(name[i]) && !hp_ascii_is_digit(name[i]) && !begins_other_name(name[i]) && name[i] != '-' &&
        name[i] != '.')
      return false;
  }
  return true;
}

/* Also accepts "=" as the first character, because a tag may have such an attribute. */
static bool is_attribute_name(const char *name, size_t length) {
  return length && stays_in_tag(name, length) && !memchr(name + 1, '=', length - 1);
}

/*** changes ***/

/* Changes of the document by scripts, and after a parse. The parser's stack and list stay as they
 * are. */

typedef struct change {
  hp_scripts *scripts;
  hpar_namespace ns;
  const char *name, *bytes;
  size_t name_length, length;
  hp_ref node, parent, before;
  bool deep;
  hpar_node *result;
  hpar_status (*make)(hp_scripts *s, const struct change *c); /* may unwind */
} change;

static hpar_status run_change(void *argument) {
  const change *c = argument;
  return c->make(c->scripts, c);
}

static bool is_valid(const char *bytes, size_t length) {
  if (!length) return true;
  return bytes && length <= UINT32_MAX / 2 && hp_scan()->invalid_utf8(bytes, bytes + length) == bytes + length;
}

static hp_node *at(const hp_scripts *s, hp_ref ref) { return hp_node_at(s->document->range.base, ref); }

static bool is_element(const hp_scripts *s, hp_ref ref) { return ref && at(s, ref)->kind == HPAR_NODE_ELEMENT; }

/* Returns true for a node that has data. */
static bool is_data(const hp_scripts *s, hp_ref ref) {
  uint8_t kind = at(s, ref)->kind;
  return kind == HPAR_NODE_TEXT || kind == HPAR_NODE_COMMENT || kind == HPAR_NODE_PROCESSING_INSTRUCTION;
}

/* Returns true if the caller may change the document. After a parse, a callback of a call that
 * reads the document may not. */
static bool may_change(const hp_scripts *s) {
  return s && (!s->editor || (may_edit(s->editor) && !hp_is_being_read(&s->document->use)));
}

/* Makes a change after a parse. The document grows if the change finds no space. A change that
 * fails leaves the tree as it is, and the nodes that it has made do not count. */
static hpar_status edit(change *c) {
  hp_scripts *s = c->scripts;
  const uint64_t deadline = s->editor->config.limits.deadline;
  if (deadline && hp_now() >= deadline) return HPAR_LIMIT_TIME;
  hpar_status status = prepare_edit(s->editor);
  if (status != HPAR_OK) return status;
  const uint64_t nodes = hp_node_count(&s->engine->builder);
  do {
    status = hp_try(&s->engine->unwind, run_change, c);
    if (status != HPAR_OK) hp_set_node_count(&s->engine->builder, nodes);
  } while (status == HPAR_ERROR_MEMORY && grow_edited(s->editor, &status));
  hp_exact_forget_tree(&s->engine->builder);
  return status;
}

/* Makes a change that may unwind. */
static hpar_status apply(change *c) {
  hp_scripts *s = c->scripts;
  if (s->editor) return edit(c);
  if (s->status != HPAR_OK) return s->status;
  hpar_status status = hp_try(&s->engine->unwind, run_change, c);
  hp_exact_forget_tree(&s->engine->builder);
  if (status != HPAR_ERROR_ARGUMENT && s->status == HPAR_OK) s->status = status;
  return status;
}

static char *copy_bytes(hp_scripts *s, const char *bytes, size_t length) {
  char *copy = hp_arena_take(&s->engine->bytes, length + 1);
  if (length) memcpy(copy, bytes, length);
  return copy;
}

static hpar_status check_limits(hp_scripts *s) {
  if (hp_engine_is_limited(s->engine)) hp_engine_check(s->engine);
  return HPAR_OK;
}

/*** new nodes ***/

/* The result is missing after a limit, too. */
static hpar_status make(change *c) {
  hpar_status status = apply(c);
  if (status != HPAR_OK) *c->result = HPAR_NO_NODE;
  return status;
}

static hpar_status create_element(hp_scripts *s, const change *c) {
  hp_atom name = hp_intern(&s->engine->interner, c->name, c->name_length);
  *c->result = hp_exact_create_element(&s->engine->builder, name, (uint8_t)c->ns);
  return check_limits(s);
}

hpar_status hpar_node_create_element(hpar_editor *s, hpar_namespace ns, const char *name, size_t length,
                                     hpar_node *node) {
  if (node) *node = HPAR_NO_NODE;
  if (!may_change(s) || !node || !is_valid(name, length) || !is_element_name(name, length)) return HPAR_ERROR_ARGUMENT;
  if (ns != HPAR_NAMESPACE_HTML && ns != HPAR_NAMESPACE_SVG && ns != HPAR_NAMESPACE_MATHML) return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .ns = ns, .name = name, .name_length = length, .result = node, .make = create_element};
  return make(&c);
}

static hpar_status create_data(hp_scripts *s, const change *c) {
  const char *data = copy_bytes(s, c->bytes, c->length);
  *c->result = hp_exact_create_data(&s->engine->builder, c->deep ? HPAR_NODE_TEXT : HPAR_NODE_COMMENT, data,
                                    (uint32_t)c->length);
  return check_limits(s);
}

static hpar_status make_data(hpar_editor *s, const char *data, size_t length, bool is_text, hpar_node *node) {
  if (node) *node = HPAR_NO_NODE;
  if (!may_change(s) || !node || !is_valid(data, length)) return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .bytes = data, .length = length, .deep = is_text, .result = node, .make = create_data};
  return make(&c);
}

hpar_status hpar_node_create_text(hpar_editor *s, const char *data, size_t length, hpar_node *node) {
  return make_data(s, data, length, true, node);
}

hpar_status hpar_node_create_comment(hpar_editor *s, const char *data, size_t length, hpar_node *node) {
  return make_data(s, data, length, false, node);
}

static hpar_status clone_node(hp_scripts *s, const change *c) {
  *c->result = hp_exact_clone(&s->engine->builder, c->node, c->deep);
  return check_limits(s);
}

hpar_status hpar_node_clone(hpar_editor *s, hpar_node node, bool deep, hpar_node *copy) {
  if (copy) *copy = HPAR_NO_NODE;
  if (!may_change(s) || !node || !copy || at(s, node)->kind == HPAR_NODE_DOCUMENT) return HPAR_ERROR_ARGUMENT;
  if (at(s, node)->kind == HPAR_NODE_FRAGMENT) return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .node = node, .deep = deep, .result = copy, .make = clone_node};
  return make(&c);
}

/*** insertion ***/

/* Returns the first sibling of this kind from `ref` on. */
static hp_ref find_sibling(const hp_scripts *s, hp_ref ref, uint8_t kind) {
  while (ref && at(s, ref)->kind != kind) ref = at(s, ref)->next;
  return ref;
}

/* Returns whether the document may take the node before its child `before`. */
static bool fits_in_document(const hp_scripts *s, hp_ref node, hp_ref before) {
  hp_ref first = at(s, s->document->root)->first;
  switch (at(s, node)->kind) {
    case HPAR_NODE_ELEMENT:
      return !find_sibling(s, first, HPAR_NODE_ELEMENT) && !find_sibling(s, before, HPAR_NODE_DOCTYPE);
    case HPAR_NODE_DOCTYPE: {
      if (find_sibling(s, first, HPAR_NODE_DOCTYPE)) return false;
      hp_ref element = find_sibling(s, first, HPAR_NODE_ELEMENT);
      for (hp_ref ref = before; ref; ref = at(s, ref)->next)
        if (ref == element) return true;
      return !element;
    }
    case HPAR_NODE_COMMENT:
    case HPAR_NODE_PROCESSING_INSTRUCTION: return true;
    default: return false;
  }
}

//§ concept-node-ensure-pre-insertion-validity
static bool may_insert(const hp_scripts *s, hp_ref parent, hp_ref node, hp_ref before) {
  uint8_t into = at(s, parent)->kind, kind = at(s, node)->kind;
  if (into != HPAR_NODE_DOCUMENT && into != HPAR_NODE_FRAGMENT && into != HPAR_NODE_ELEMENT) return false;
  if (kind == HPAR_NODE_DOCUMENT || (kind == HPAR_NODE_DOCTYPE && into != HPAR_NODE_DOCUMENT)) return false;
  const char *base = s->document->range.base;
  if (before && hp_parent_of(base, at(s, before)) != parent) return false;
  if (hp_contains(base, node, parent)) return false;
  if (into != HPAR_NODE_DOCUMENT || (hp_document_is_fragment(s->document) && kind != HPAR_NODE_DOCTYPE)) return true;
  if (kind != HPAR_NODE_FRAGMENT) return fits_in_document(s, node, before);
  bool element = false;
  for (hp_ref child = at(s, node)->first; child; child = at(s, child)->next) {
    if (!fits_in_document(s, child, before) || (element && at(s, child)->kind == HPAR_NODE_ELEMENT)) return false;
    element |= at(s, child)->kind == HPAR_NODE_ELEMENT;
  }
  return true;
}

/* Runs the scripts in the subtree that a script has made, in tree order. */
static void run_created(hp_scripts *s, hp_ref top) {
  for (hp_ref ref = top, next; ref; ref = next) {
    next = hpar_node_walk(s->document, top, ref);
    const hp_node *node = at(s, ref);
    if (node->kind != HPAR_NODE_ELEMENT || !(node->flags & HP_FLAG_CREATED) || node->name != HP_ATOM_SCRIPT) continue;
    hpar_script script;
    if (!hp_script_prepare(s, ref, false, &script)) continue;
    if (script.time == HPAR_SCRIPT_NOW)
      hp_script_call(s, &script);
    else
      hp_script_call_without_writes(s, &script);
    if (!hp_contains(s->document->range.base, top, ref)) return; /* the script has moved itself */
    next = hpar_node_walk(s->document, top, ref);
  }
}

static hpar_status insert(hp_scripts *s, const change *c) {
  char *base = s->document->range.base;
  hp_ref before = c->before, first = c->node;
  bool fragment = at(s, c->node)->kind == HPAR_NODE_FRAGMENT;
  if (fragment) first = at(s, c->node)->first;
  if (before == c->node) before = at(s, before)->next;
  for (hp_ref node = first, next; node; node = next) {
    next = fragment ? at(s, node)->next : 0;
    hp_remove(base, node);
    hp_insert_before(base, c->parent, node, before);
  }
  hp_exact_forget_tree(&s->engine->builder);
  if (s->editor) return HPAR_OK; /* no script runs */
  hp_ref made_in = is_element(s, c->parent) && at(s, c->parent)->name == HP_ATOM_SCRIPT ? c->parent : 0;
  if (made_in) run_created(s, made_in);
  if (!made_in && first && hp_script_is_connected(s, first)) {
    hp_ref last = fragment && before ? at(s, before)->previous : first;
    for (hp_ref node = first; node; node = at(s, node)->next) {
      run_created(s, node);
      if (node == last || hp_parent_of(base, at(s, node)) != c->parent) break;
    }
  }
  return HPAR_OK;
}

hpar_status hpar_node_insert_before(hpar_editor *s, hpar_node parent, hpar_node node, hpar_node before) {
  if (!may_change(s) || !parent || !node) return HPAR_ERROR_ARGUMENT;
  if (s->status != HPAR_OK) return s->status;
  if (!may_insert(s, parent, node, before)) return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .parent = parent, .node = node, .before = before, .make = insert};
  return apply(&c);
}

hpar_status hpar_node_append(hpar_editor *s, hpar_node parent, hpar_node node) {
  return hpar_node_insert_before(s, parent, node, HPAR_NO_NODE);
}

hpar_status hpar_node_remove(hpar_editor *s, hpar_node node) {
  if (!may_change(s) || !node) return HPAR_ERROR_ARGUMENT;
  if (s->status != HPAR_OK) return s->status;
  hp_remove(s->document->range.base, node);
  hp_exact_forget_tree(&s->engine->builder);
  return HPAR_OK;
}

/*** attributes and data ***/

static hp_attributes *block_of(const hp_scripts *s, hp_ref element) {
  hp_ref attributes = at(s, element)->attributes;
  return attributes ? hp_at(s->document->range.base, attributes) : NULL;
}

enum { MANY_ATTRIBUTES = 32 };

/* Notes the place of an attribute. Returns false if memory is short. */
static bool note_place(hp_attribute_places *p, hp_atom name, uint32_t index) {
  if (name >= p->capacity) {
    size_t capacity = 2 * (size_t)name + 64;
    uint32_t *grown = hp_reallocate(p->places, capacity * sizeof *grown);
    if (!grown) return false;
    memset(grown + p->capacity, 0, (capacity - p->capacity) * sizeof *grown);
    p->places = grown;
    p->capacity = capacity;
  }
  p->places[name] = index;
  return true;
}

static bool has_places(const hp_scripts *s, hp_ref element) {
  return s->found.block && s->found.block == at(s, element)->attributes;
}

/* Returns true if the places are those of the element's attributes now. */
static bool find_places(hp_scripts *s, hp_ref element, const hp_attributes *block) {
  hp_attribute_places *p = &s->found;
  if (has_places(s, element)) return true;
  p->block = 0;
  for (uint32_t i = 0; i < block->count; i++)
    if (!note_place(p, block->items[i].name, i)) return false;
  p->block = at(s, element)->attributes;
  return true;
}

/* Returns the index of the attribute, or the number of attributes. */
static uint32_t find_attribute(hp_scripts *s, hp_ref element, hp_atom name) {
  const hp_attributes *block = block_of(s, element);
  const uint32_t count = block ? block->count : 0;
  uint32_t i = 0;
  if (count >= MANY_ATTRIBUTES && find_places(s, element, block)) {
    i = name < s->found.capacity ? s->found.places[name] : count;
    return i < count && block->items[i].name == name ? i : count;
  }
  while (i < count && block->items[i].name != name) i++;
  return i;
}

/* Gives the element a block of its own, with space for `count` attributes. Clones and the list
 * of active formatting elements keep the old block. The space of an own block doubles, so that
 * many changes of one element cost as much memory as one with all of them. */
static hp_attributes *own_block(hp_scripts *s, hp_ref element, uint32_t count) {
  hp_attributes *old = block_of(s, element);
  bool is_own = old && at(s, element)->flags & HP_FLAG_OWN_BLOCK;
  if (is_own && count <= hp_growth_of(old)->capacity) return old;
  uint32_t kept = old ? old->count : 0, capacity = is_own ? 2 * count : count;
  size_t bytes = sizeof(hp_block_growth) + sizeof(hp_attributes) + (size_t)capacity * sizeof(hp_attribute);
  hp_attributes *block = (hp_attributes *)((hp_block_growth *)hp_arena_take(&s->engine->nodes, bytes) + 1);
  *hp_growth_of(block) = (hp_block_growth){capacity, is_own ? hp_growth_of(old)->in_tag : kept};
  block->count = kept < count ? kept : count;
  atomic_store_explicit(&block->deferred, 0, memory_order_relaxed);
  for (uint32_t i = 0; i < block->count; i++) {
    hpar_string value = hp_attribute_value(s->document, old, &old->items[i]);
    block->items[i] = (hp_attribute){old->items[i].name, (uint32_t)value.length, value.bytes};
  }
  at(s, element)->attributes = hp_ref_of(s->document->range.base, block);
  at(s, element)->flags |= HP_FLAG_OWN_BLOCK;
  return block;
}

static hpar_status set_attribute(hp_scripts *s, const change *c) {
  hp_atom name = hp_intern(&s->engine->interner, c->name, c->name_length);
  hp_attributes *block = block_of(s, c->node);
  uint32_t count = block ? block->count : 0, index = find_attribute(s, c->node, name);
  const bool is_found = has_places(s, c->node);
  uint32_t wanted = index == count ? count + 1 : count;
  if (s->engine->limits.attributes && wanted > s->engine->limits.attributes) return HPAR_LIMIT_ATTRIBUTES;
  const char *value = copy_bytes(s, c->bytes, c->length);
  block = own_block(s, c->node, wanted);
  block->count = wanted;
  block->items[index] = (hp_attribute){name, (uint32_t)c->length, value};
  if (is_found) /* the others have their places in the new block, too */
    s->found.block = note_place(&s->found, name, index) ? at(s, c->node)->attributes : 0;
  return HPAR_OK;
}

hpar_status hpar_node_set_attribute(hpar_editor *s, hpar_node element, const char *name, size_t name_length,
                                    const char *value, size_t length) {
  if (!may_change(s) || !is_element(s, element) || !is_valid(name, name_length) ||
      !is_attribute_name(name, name_length) || !is_valid(value, length))
    return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s,
              .node = element,
              .name = name,
              .name_length = name_length,
              .bytes = value,
              .length = length,
              .make = set_attribute};
  return apply(&c);
}

static hpar_status remove_attribute(hp_scripts *s, const change *c) {
  hp_atom name = hp_intern(&s->engine->interner, c->name, c->name_length);
  hp_attributes *block = block_of(s, c->node);
  uint32_t index = find_attribute(s, c->node, name);
  if (!block || index == block->count) return HPAR_OK;
  const bool keeps_places = has_places(s, c->node) && index + 1 == block->count;
  block = own_block(s, c->node, block->count);
  block->count--;
  if (index < hp_growth_of(block)->in_tag) hp_growth_of(block)->in_tag--;
  memmove(block->items + index, block->items + index + 1, (block->count - index) * sizeof *block->items);
  if (!block->count) at(s, c->node)->attributes = 0;
  s->found.block = keeps_places ? at(s, c->node)->attributes : 0;
  return HPAR_OK;
}

hpar_status hpar_node_remove_attribute(hpar_editor *s, hpar_node element, const char *name, size_t name_length) {
  if (!may_change(s) || !is_element(s, element) || !name_length || !is_valid(name, name_length))
    return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .node = element, .name = name, .name_length = name_length, .make = remove_attribute};
  return apply(&c);
}

static hpar_status set_text(hp_scripts *s, const change *c) {
  char *base = s->document->range.base;
  const char *data = copy_bytes(s, c->bytes, c->length);
  if (is_data(s, c->node)) {
    hp_exact_set_data(&s->engine->builder, c->node, data, (uint32_t)c->length);
    return HPAR_OK;
  }
  hp_ref text = 0;
  if (c->length) text = hp_exact_create_data(&s->engine->builder, HPAR_NODE_TEXT, data, (uint32_t)c->length);
  check_limits(s);
  while (at(s, c->node)->first) hp_remove(base, at(s, c->node)->first);
  change insertion = {.scripts = s, .parent = c->node, .node = text};
  return text ? insert(s, &insertion) : HPAR_OK;
}

hpar_status hpar_node_set_text(hpar_editor *s, hpar_node node, const char *text, size_t length) {
  if (!may_change(s) || !node || !is_valid(text, length)) return HPAR_ERROR_ARGUMENT;
  if (!is_data(s, node) && !is_element(s, node) && at(s, node)->kind != HPAR_NODE_FRAGMENT) return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .node = node, .bytes = text, .length = length, .make = set_text};
  return apply(&c);
}

/*** inner HTML ***/

static void check_attributes(hp_engine *engine, const hp_token *t) {
  uint32_t most = engine->limits.attributes;
  if (!most || t->kind != HP_TOKEN_START_TAG || !t->attributes) return;
  const hp_attributes *block = hp_at(engine->builder.base, t->attributes);
  if (block->count > most) hp_unwind_now(&engine->unwind, HPAR_LIMIT_ATTRIBUTES);
}

/* Parses the text as a fragment in the context of the element. Returns the html element that has
 * the nodes. */
static hp_ref parse_fragment(hp_scripts *s, hp_ref context, const char *text, size_t length) {
  hp_engine *inner = &s->inner, *outer = s->engine;
  hpar_document *document = s->document;
  const hp_ref root = document->root;
  hp_engine_open_inner(inner, outer, document, text, length);
  hp_builder *b = &inner->builder;
  hp_exact_set_context(b, context);
  document->root = hp_exact_create_root(&outer->builder);
  hp_ref own_root = document->root;
  hp_exact_begin_fragment(b);
  hp_ref html = at(s, own_root)->first;
  document->root = root;
  hp_token token;
  int kind;
  do {
    kind = hp_next_token_inside(&inner->tokenizer, &token, b->stack.top->name);
    hp_count_nodes(&outer->builder, hp_node_count(b));
    hp_set_node_count(b, 0);
    check_attributes(outer, &token);
    document->root = own_root; /* the builder appends comments to it */
    hp_exact_token(b, &token);
    document->root = root;
    hp_engine_check(outer);
  } while (kind != HP_TOKEN_EOF);
  hp_count_nodes(&outer->builder, hp_node_count(b));
  return html;
}

static hpar_status set_inner_html(hp_scripts *s, const change *c) {
  char *base = s->document->range.base;
  const char *text = copy_bytes(s, c->bytes, c->length);
  hp_ref html = parse_fragment(s, c->node, text, c->length);
  hp_ref into = c->node;
  if (at(s, into)->flags & HP_FLAG_TEMPLATE) into = *hp_template_slot(at(s, into));
  while (at(s, into)->first) hp_remove(base, at(s, into)->first);
  hp_move_children(base, html, into);
  return HPAR_OK;
}

hpar_status hpar_node_set_inner_html(hpar_editor *s, hpar_node element, const char *bytes, size_t length) {
  if (!may_change(s) || !is_element(s, element) || !is_valid(bytes, length)) return HPAR_ERROR_ARGUMENT;
  change c = {.scripts = s, .node = element, .bytes = bytes, .length = length, .make = set_inner_html};
  hp_ref root = s->document->root;
  hpar_status status = apply(&c);
  s->document->root = root;
  return status;
}
