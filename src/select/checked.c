#include "select/match.h"

#include "base/memory.h"
#include "base/process.h"

#include <string.h>

/*** tables of elements ***/

/* An element by a name and a form: the last radio button of a group, or the first element with an
 * id. A checked element stands for itself, in the place of the form, and has no name. */
typedef struct hp_named_element {
  hpar_string name; /* `bytes` NULL: the slot is free */
  hp_ref form, element;
} named;

static const hpar_string no_name = {"", 0};

/* Returns the slot of the name, which may be free. */
static named *look_up(const hp_checked *in, hpar_string name, hp_ref form) {
  uint32_t slot = (uint32_t)hp_hash_bytes(form, name.bytes, name.length) & in->mask;
  for (;; slot = (slot + 1) & in->mask) {
    named *found = &in->slots[slot];
    if (!found->name.bytes || (found->form == form && found->name.length == name.length &&
                               !memcmp(found->name.bytes, name.bytes, name.length)))
      return found;
  }
}

static bool grow(hp_checked *of) {
  hp_checked larger = {.mask = of->slots ? of->mask * 2 + 1 : 63, .count = of->count};
  if (!(larger.slots = hp_allocate_zeroed(((size_t)larger.mask + 1) * sizeof *larger.slots))) return false;
  for (size_t i = 0; of->slots && i <= of->mask; i++)
    if (of->slots[i].name.bytes) *look_up(&larger, of->slots[i].name, of->slots[i].form) = of->slots[i];
  hp_free(of->slots);
  *of = larger;
  return true;
}

/* Returns the entry of a name, which is new if its element is 0; NULL without memory. */
static named *enter(hp_checked *in, hpar_string name, hp_ref form) {
  if (2 * in->count >= in->mask && !grow(in)) return NULL;
  named *entry = look_up(in, name, form);
  if (!entry->name.bytes) {
    *entry = (named){name, form, 0};
    in->count++;
  }
  return entry;
}

static bool add_checked(hp_checked *to, hp_ref element) {
  named *entry = enter(to, no_name, element);
  if (entry) entry->element = element;
  return entry;
}

bool hp_checked_has(const hp_checked *of, hp_ref element) { return look_up(of, no_name, element)->element != 0; }

void hp_checked_close(hp_checked *of) {
  hp_free(of->slots);
  of->slots = NULL;
}

/*** the walk ***/

enum { NO_SELECT = UINT32_MAX };

/* An open form, select, optgroup, option or datalist, with what holds for its descendants. */
typedef struct opened {
  hp_ref element, form;
  uint32_t select; /* the place of the select whose options they are, or NO_SELECT */
  bool in_group, group_is_disabled;
  bool is_multiple, shows_one;         /* of a select */
  hp_ref last_selected, first_enabled; /* of its options */
} opened;

/* A radio button with `checked` and a name. */
typedef struct radio {
  hp_ref element, form;
  hpar_string name, form_id; /* `form_id.bytes` NULL: none */
} radio;

typedef struct finder {
  hp_checked *found;
  const hpar_document *document;
  opened *stack;
  uint32_t depth, capacity;
  radio *radios;
  uint32_t radio_count, radio_capacity;
  hp_checked ids, groups;
} finder;

static hpar_string value_of(const finder *f, const hp_subject *s, hp_atom name) {
  const hp_attribute *attribute = hp_find_attribute(s->attributes, name);
  if (!attribute) return (hpar_string){NULL, 0};
  hpar_string value = hp_attribute_value(f->document, s->attributes, attribute);
  return value.bytes ? value : (hpar_string){"", 0};
}

static bool add_option(finder *f, const hp_subject *s, const opened *around) {
  bool selected = hp_find_attribute(s->attributes, HP_ATOM_SELECTED);
  if (!around || around->select == NO_SELECT) return !selected || add_checked(f->found, s->ref);
  opened *select = &f->stack[around->select];
  if (selected && select->is_multiple) return add_checked(f->found, s->ref);
  if (selected) select->last_selected = s->ref;
  bool disabled = hp_find_attribute(s->attributes, HP_ATOM_DISABLED) || around->group_is_disabled;
  if (!select->first_enabled && !disabled) select->first_enabled = s->ref;
  return true;
}

static bool add_input(finder *f, const hp_subject *s, const opened *around) {
  if (!hp_find_attribute(s->attributes, HP_ATOM_CHECKED)) return true;
  hpar_string type = value_of(f, s, HP_ATOM_TYPE), name = value_of(f, s, HP_ATOM_NAME);
  if (hp_is_word(type, "checkbox")) return add_checked(f->found, s->ref);
  if (!hp_is_word(type, "radio")) return true;
  if (!name.length) return add_checked(f->found, s->ref);
  if (!hp_reserve(&f->radios, &f->radio_capacity, (size_t)f->radio_count + 1, sizeof *f->radios)) return false;
  f->radios[f->radio_count++] = (radio){s->ref, around ? around->form : 0, name, value_of(f, s, HP_ATOM_FORM)};
  return true;
}

static bool push(finder *f, const hp_subject *s) {
  if (!hp_reserve(&f->stack, &f->capacity, (size_t)f->depth + 1, sizeof *f->stack)) return false;
  opened next = f->depth ? f->stack[f->depth - 1] : (opened){.select = NO_SELECT};
  next.element = s->ref;
  switch (s->node->name) {
    case HP_ATOM_FORM: next.form = s->ref; break;
    case HP_ATOM_SELECT: {
      const hpar_string size = value_of(f, s, HP_ATOM_SIZE);
      next = (opened){.element = s->ref, .form = next.form, .select = f->depth};
      next.is_multiple = hp_find_attribute(s->attributes, HP_ATOM_MULTIPLE);
      next.shows_one = !size.bytes || hp_display_size_is_one(size.bytes, size.length);
      break;
    }
    case HP_ATOM_OPTGROUP:
      if (next.in_group) next.select = NO_SELECT;
      next.in_group = true;
      next.group_is_disabled = hp_find_attribute(s->attributes, HP_ATOM_DISABLED);
      break;
    default: next.select = NO_SELECT; /* option, datalist */
  }
  f->stack[f->depth++] = next;
  return true;
}

static bool pop(finder *f) {
  const opened *top = &f->stack[--f->depth];
  /* Selected options of a multiple select have been added. */
  if (top->select != f->depth || top->is_multiple) return true;
  hp_ref one = top->last_selected ? top->last_selected : top->shows_one ? top->first_enabled : 0;
  return !one || add_checked(f->found, one);
}

static bool visit(finder *f, const hp_subject *s) {
  const opened *around = f->depth ? &f->stack[f->depth - 1] : NULL;
  if (!s->is_html) return true;
  switch (s->node->name) {
    case HP_ATOM_INPUT: return add_input(f, s, around);
    case HP_ATOM_OPTION: return add_option(f, s, around) && push(f, s);
    case HP_ANY(FORM, SELECT, OPTGROUP, DATALIST): return push(f, s);
    default: return true;
  }
}

static bool walk(finder *f, hp_ref root) {
  const char *base = f->document->range.base;
  for (hp_ref ref = root;;) {
    const hp_node *node = hp_node_at(base, ref);
    if (node->kind == HPAR_NODE_ELEMENT) {
      hp_subject subject = hp_subject_of(base, ref);
      if (!visit(f, &subject)) return false;
    }
    if (hp_can_have_children(node) && node->first) {
      ref = node->first;
      continue;
    }
    for (;; ref = hp_parent_of(base, node)) {
      node = hp_node_at(base, ref);
      if (f->depth && f->stack[f->depth - 1].element == ref && !pop(f)) return false;
      if (ref == root) return true;
      if (node->next) break;
    }
    ref = node->next;
  }
}

/*** radio buttons ***/

/* Finds the first element with each id that a radio button names. */
static bool find_forms(finder *f, hp_ref root) {
  const char *base = f->document->range.base;
  bool any = false;
  for (uint32_t i = 0; i < f->radio_count; i++) {
    if (!f->radios[i].form_id.bytes) continue;
    any = true;
    if (!enter(&f->ids, f->radios[i].form_id, 0)) return false;
  }
  for (hp_ref ref = root; any && ref; ref = hp_next_in_tree(base, ref, root)) {
    if (hp_node_at(base, ref)->kind != HPAR_NODE_ELEMENT) continue;
    hp_subject s = hp_subject_of(base, ref);
    hpar_string id = value_of(f, &s, HP_ATOM_ID);
    if (!id.length) continue;
    named *entry = look_up(&f->ids, id, 0);
    if (entry->name.bytes && !entry->element) entry->element = ref;
  }
  return true;
}

static hp_ref owner_of(const finder *f, const radio *r) {
  if (!r->form_id.bytes) return r->form;
  const char *base = f->document->range.base;
  hp_ref owner = look_up(&f->ids, r->form_id, 0)->element;
  if (!owner) return 0;
  hp_subject s = hp_subject_of(base, owner);
  return s.is_html && s.node->name == HP_ATOM_FORM ? owner : 0;
}

/* Adds the last radio button of each group. */
static bool add_radios(finder *f, hp_ref root) {
  if (!find_forms(f, root)) return false;
  for (uint32_t i = 0; i < f->radio_count; i++) {
    named *group = enter(&f->groups, f->radios[i].name, owner_of(f, &f->radios[i]));
    if (!group) return false;
    group->element = f->radios[i].element;
  }
  for (size_t i = 0; f->groups.slots && i <= f->groups.mask; i++)
    if (f->groups.slots[i].name.bytes && !add_checked(f->found, f->groups.slots[i].element)) return false;
  return true;
}

hpar_status hp_checked_open(hp_checked *checked, const hpar_selectors *set, const hpar_document *document,
                            hp_ref root) {
  *checked = (hp_checked){0};
  bool asked = false;
  for (uint32_t i = 0; i < set->tests_count; i++) asked |= set->tests[i].kind == HP_TEST_CHECKED;
  if (!asked) return HPAR_OK;
  hp_hash_open();
  finder f = {.found = checked, .document = document};
  bool fine = grow(checked) && walk(&f, root) && add_radios(&f, root);
  hp_free(f.stack);
  hp_free(f.radios);
  hp_free(f.ids.slots);
  hp_free(f.groups.slots);
  return fine ? HPAR_OK : HPAR_ERROR_MEMORY;
}
