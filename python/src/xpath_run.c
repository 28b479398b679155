/* Runs a program: its instructions, its memory and the order of nodes. */

#include "xpath.h"

#include "base/bytes.h"

#include <math.h>
#include <string.h>
#include <time.h>

/*** memory ***/

void hp_xpath_fail(hp_xpath_evaluation *e, hpar_status status, const char *text) {
  e->call->failure.text = text;
  hp_unwind_now(&e->unwind, status);
}

static void link_block(hp_xpath_evaluation *e, hp_xpath_block *block) {
  block->next = e->blocks;
  block->link = &e->blocks;
  if (block->next) block->next->link = &block->next;
  e->blocks = block;
}

static void unlink_block(hp_xpath_block *block) {
  if (!block->link) return;
  *block->link = block->next;
  if (block->next) block->next->link = block->link;
  block->link = NULL;
}

void *hp_xpath_retake(hp_xpath_evaluation *e, void *old, size_t bytes) {
  hp_xpath_block *block = old ? (hp_xpath_block *)old - 1 : NULL;
  if (block) unlink_block(block);
  hp_xpath_block *grown = hp_reallocate(block, sizeof *block + bytes);
  if (!grown) {
    if (block) link_block(e, block);
    hp_xpath_fail(e, HPAR_ERROR_MEMORY, NULL);
  }
  link_block(e, grown);
  return grown + 1;
}

void *hp_xpath_take(hp_xpath_evaluation *e, size_t bytes) { return hp_xpath_retake(e, NULL, bytes); }

void hp_xpath_drop(void *memory) {
  if (!memory) return;
  hp_xpath_block *block = (hp_xpath_block *)memory - 1;
  unlink_block(block);
  hp_free(block);
}

/*** sets ***/

hp_xpath_set hp_xpath_new_set(hp_xpath_evaluation *e) {
  return e->spare_count ? e->spare[--e->spare_count] : (hp_xpath_set){.items = NULL};
}

/* Keeps the memory for later sets, unless it is large. */
void hp_xpath_drop_set(hp_xpath_evaluation *e, hp_xpath_set *set) {
  enum { LARGE = 1 << 16 };
  if (set->items && set->capacity <= LARGE && e->spare_count < HP_XPATH_SPARE)
    e->spare[e->spare_count++] = (hp_xpath_set){.items = set->items, .capacity = set->capacity};
  else
    hp_xpath_drop(set->items);
  *set = (hp_xpath_set){.items = NULL};
}

void hp_xpath_add_slowly(hp_xpath_evaluation *e, hp_xpath_set *set) {
  set->capacity = set->capacity ? 2 * set->capacity : 16;
  set->items = hp_xpath_retake(e, set->items, set->capacity * sizeof *set->items);
}

/*** the order of nodes ***/

/* Nodes are at least this many references apart. */
enum { APART = HP_TEXT_NODE_BYTES / 8 };

void hp_xpath_free_order(hp_xpath_order *order) {
  hp_free(order->numbers);
  *order = (hp_xpath_order){.numbers = NULL};
}

static void number_tree(hp_xpath_evaluation *e, hp_ref root) {
  hp_xpath_order *order = e->order;
  hp_ref last = root;
  for (hp_ref ref = root; ref; ref = hp_next_in_tree(e->base, ref, root)) last = ref > last ? ref : last;
  if (last / APART >= order->size) {
    const size_t size = last / APART + 1;
    uint32_t *grown = hp_allocate_zeroed(size * sizeof *grown);
    if (!grown) hp_xpath_fail(e, HPAR_ERROR_MEMORY, NULL);
    if (order->size) memcpy(grown, order->numbers, order->size * sizeof *grown);
    hp_free(order->numbers);
    order->numbers = grown;
    order->size = size;
  }
  for (hp_ref ref = root; ref; ref = hp_next_in_tree(e->base, ref, root)) order->numbers[ref / APART] = ++order->count;
}

typedef struct ordered {
  uint64_t key;
  hp_xpath_item item;
} ordered;

uint32_t hp_xpath_number_of(hp_xpath_evaluation *e, hp_ref node) {
  if (node / APART >= e->order->size || !e->order->numbers[node / APART]) number_tree(e, hp_xpath_root_of(e, node));
  return e->order->numbers[node / APART];
}

static ordered order_item(hp_xpath_evaluation *e, hp_xpath_item item) {
  return (ordered){(uint64_t)hp_xpath_number_of(e, hp_xpath_node(item)) << 32 | hp_xpath_attribute(item), item};
}

static void merge_runs(ordered *to, const ordered *left, size_t left_count, const ordered *right, size_t right_count) {
  const ordered *left_end = left + left_count, *right_end = right + right_count;
  while (left < left_end && right < right_end) *to++ = left->key <= right->key ? *left++ : *right++;
  while (left < left_end) *to++ = *left++;
  while (right < right_end) *to++ = *right++;
}

/* Returns the end of the run that begins at `start`. */
static size_t run_end(const ordered *list, size_t start, size_t count) {
  size_t end = start + (start < count);
  while (end < count && list[end - 1].key <= list[end].key) end++;
  return end;
}

/* Merges neighbouring runs into `to`. Returns the number of runs there. */
static size_t merge_once(ordered *to, const ordered *from, size_t count) {
  size_t runs = 0;
  for (size_t start = 0; start < count; runs++) {
    size_t middle = run_end(from, start, count), end = run_end(from, middle, count);
    merge_runs(to + start, from + start, middle - start, from + middle, end - middle);
    start = end;
  }
  return runs;
}

void hp_xpath_sort(hp_xpath_evaluation *e, hp_xpath_set *set) {
  if (!set->sorted && set->count > 1) {
    const size_t count = set->count;
    ordered *list = hp_xpath_take(e, 2 * count * sizeof *list), *other = list + count, *from = list;
    for (size_t i = 0; i < count; i++) list[i] = order_item(e, set->items[i]);
    while (run_end(from, 0, count) < count) {
      merge_once(other, from, count);
      ordered *swap = from;
      from = other;
      other = swap;
    }
    set->count = 0;
    for (size_t i = 0; i < count; i++)
      if (!i || from[i].key != from[i - 1].key) set->items[set->count++] = from[i].item;
    hp_xpath_drop(list);
  }
  set->sorted = set->unique = true;
}

/*** interruption ***/

void hp_xpath_check(hp_xpath_evaluation *e) {
  enum { PAUSE_NS = 50000000 };
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  int64_t ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  if (!e->checked_at) e->checked_at = ns;
  if (ns - e->checked_at < PAUSE_NS) return;
  e->checked_at = ns;
  if (e->call->interrupted(e->call->argument)) hp_xpath_fail(e, HPAR_STOP, NULL);
}

/*** the stack ***/

void hp_xpath_grow_stack(hp_xpath_evaluation *e) { hp_grow(&e->stack, &e->capacity, e->count + 1, &e->unwind); }

static void push_item(hp_xpath_evaluation *e, hp_xpath_item item) {
  hp_xpath_value v = {.type = HP_XPATH_SET, .set = hp_xpath_new_set(e)};
  hp_xpath_add(e, &v.set, item);
  v.set.sorted = v.set.unique = v.set.disjoint = true;
  hp_xpath_push(e, v);
}

/* The program keeps its variables: sets are copied, and strings are not. */
static void push_variable(hp_xpath_evaluation *e, const hp_xpath_value *variable) {
  hp_xpath_value v = *variable;
  v.memory = NULL;
  if (v.type == HP_XPATH_SET) {
    v.set = hp_xpath_new_set(e);
    for (size_t i = 0; i < variable->set.count; i++) hp_xpath_add(e, &v.set, variable->set.items[i]);
  }
  hp_xpath_push(e, v);
}

/*** instructions ***/

static void unite(hp_xpath_evaluation *e, uint32_t count) {
  hp_xpath_value *sets = e->stack + (e->count - count);
  for (uint32_t i = 1; i < count; i++) {
    for (size_t k = 0; k < sets[i].set.count; k++) hp_xpath_add(e, &sets->set, sets[i].set.items[k]);
    hp_xpath_drop_set(e, &sets[i].set);
  }
  sets->set.sorted = sets->set.unique = sets->set.disjoint = false;
  e->count -= count - 1;
}

static double calculate(hp_xpath_operation op, double left, double right) {
  switch (op) {
    case HP_OP_ADD: return left + right;
    case HP_OP_SUBTRACT: return left - right;
    case HP_OP_MULTIPLY: return left * right;
    case HP_OP_DIVIDE: return left / right;
    default: return fmod(left, right);
  }
}

static void compare(hp_xpath_evaluation *e, hp_xpath_operation op) {
  /* They stay on the stack, which owns their memory. */
  bool truth = hp_xpath_compare(e, op, &e->stack[e->count - 2], &e->stack[e->count - 1]);
  hp_xpath_value right = hp_xpath_pop(e), left = hp_xpath_pop(e);
  hp_xpath_drop_value(e, &right);
  hp_xpath_drop_value(e, &left);
  hp_xpath_push_truth(e, truth);
}

static hpar_string attribute_string(const hp_xpath_evaluation *e, uint32_t test, bool *found) {
  const hp_attribute *item = hp_xpath_find_attribute(e, e->context, test);
  *found = item != NULL;
  if (!item) return (hpar_string){"", 0};
  const hp_attributes *block = hp_at(e->base, hp_node_at(e->base, hp_xpath_node(e->context))->attributes);
  return hp_xpath_attribute_value(e->document, e->context | (hp_xpath_item)(item - block->items + 1) << 32);
}

static void check_set(hp_xpath_evaluation *e) {
  if (e->stack[e->count - 1].type != HP_XPATH_SET)
    hp_xpath_fail(e, HPAR_ERROR_ARGUMENT, "a variable is not a node-set");
}

/* Only a variable can lead to another tree than that of the call. */
static hp_ref root_of_context(hp_xpath_evaluation *e) {
  if (!e->root || e->program->variable_count) e->root = hp_xpath_root_of(e, hp_xpath_node(e->context));
  return e->root;
}

static void execute(hp_xpath_evaluation *e, const hp_xpath_instruction *i) {
  const hp_xpath_program *p = e->program;
  bool found;
  hpar_string string;
  hp_xpath_value *top = e->count ? &e->stack[e->count - 1] : NULL;
  double number;
  switch (i->op) {
    case HP_OP_NUMBER: hp_xpath_push_number(e, p->numbers[i->a]); return;
    case HP_OP_LITERAL: hp_xpath_push_string(e, p->literals[i->a], NULL); return;
    case HP_OP_BOOLEAN: hp_xpath_push_truth(e, i->a); return;
    case HP_OP_VARIABLE: push_variable(e, &e->call->variables[i->a]); return;
    case HP_OP_CONTEXT: push_item(e, e->context); return;
    case HP_OP_ROOT: push_item(e, root_of_context(e)); return;
    case HP_OP_POSITION: hp_xpath_push_number(e, (double)e->position); return;
    case HP_OP_LAST: hp_xpath_push_number(e, (double)e->size); return;
    case HP_OP_STEP: {
      hp_xpath_value v = hp_xpath_pop(e);
      v.set = hp_xpath_step_from(e, &p->steps[i->a], &v.set);
      hp_xpath_push(e, v);
      return;
    }
    case HP_OP_FILTER: {
      hp_xpath_value v = hp_xpath_pop(e);
      hp_xpath_filter(e, &p->steps[i->a], &v.set);
      hp_xpath_push(e, v);
      return;
    }
    case HP_OP_CHECK_SET: check_set(e); return;
    case HP_OP_UNION: unite(e, i->a); return;
    case HP_OP_TO_STRING: hp_xpath_to_string(e); return;
    case HP_OP_TO_NUMBER: hp_xpath_to_number(e); return;
    case HP_OP_TO_BOOLEAN: hp_xpath_to_boolean(e); return;
    case HP_OP_NOT: top->truth = !top->truth; return;
    case HP_OP_NEGATE: top->number = -top->number; return;
    case HP_OP_ADD:
    case HP_OP_SUBTRACT:
    case HP_OP_MULTIPLY:
    case HP_OP_DIVIDE:
    case HP_OP_MODULO:
      number = hp_xpath_pop(e).number;
      top[-1].number = calculate(i->op, top[-1].number, number);
      return;
    case HP_OP_CALL: hp_xpath_functions[i->a].call(e, i->b); return;
    case HP_OP_ATTRIBUTE_STRING:
      string = attribute_string(e, i->a, &found);
      hp_xpath_push_string(e, string, NULL);
      return;
    case HP_OP_HAS_ATTRIBUTE: hp_xpath_push_truth(e, hp_xpath_find_attribute(e, e->context, i->a) != NULL); return;
    case HP_OP_ATTRIBUTE_EQUALS:
      string = attribute_string(e, i->a, &found);
      found = found && string.length == p->literals[i->b].length &&
              !memcmp(string.bytes, p->literals[i->b].bytes, string.length);
      hp_xpath_push_truth(e, found);
      return;
    default: compare(e, i->op);
  }
}

static void run_routine(hp_xpath_evaluation *e, uint32_t number) {
  const hp_xpath_routine *r = &e->program->routines[number];
  for (uint32_t at = 0; at < r->count;) {
    const hp_xpath_instruction *i = &r->code[at++];
    e->call->failure.place = i->place;
    if (i->op != HP_OP_AND && i->op != HP_OP_OR)
      execute(e, i);
    else if (e->stack[e->count - 1].truth == (i->op == HP_OP_OR))
      at = i->a; /* the left operand is the result */
    else
      e->count--;
  }
}

bool hp_xpath_holds(hp_xpath_evaluation *e, uint32_t routine, hp_xpath_item item, size_t position, size_t size) {
  const hp_xpath_item context = e->context;
  const size_t outer_position = e->position, outer_size = e->size;
  e->context = item;
  e->position = position;
  e->size = size;
  hp_xpath_work(e);
  run_routine(e, routine);
  e->context = context;
  e->position = outer_position;
  e->size = outer_size;
  if (e->stack[e->count - 1].type == HP_XPATH_NUMBER) return hp_xpath_pop(e).number == (double)position;
  if (e->stack[e->count - 1].type != HP_XPATH_BOOLEAN) hp_xpath_to_boolean(e);
  return hp_xpath_pop(e).truth;
}

/*** calls ***/

/* Returns the atom of an attribute in the namespace of xlink or xml, or 0. */
static hp_atom adjusted_atom(hpar_namespace ns, hpar_string name) {
  const bool in_xml = ns == HPAR_NAMESPACE_XML;
  hp_atom atom = in_xml ? HP_ATOM_ADJUSTED_XML_LANG : HP_ATOM_ADJUSTED_XLINK_ACTUATE;
  const hp_atom last = in_xml ? HP_ATOM_ADJUSTED_XML_SPACE : HP_ATOM_ADJUSTED_XLINK_TYPE;
  for (; atom <= last; atom++) {
    const hp_known_name *known = &hp_known_names[atom];
    if (known->length == name.length && !memcmp(known->bytes, name.bytes, name.length)) return atom;
  }
  return 0;
}

/* Returns the atom of a test's name in the document. A name that no node has gets none. */
static hp_atom atom_of(const hpar_document *document, const hp_xpath_test *test) {
  const hpar_string name = test->name;
  if (!name.length) return 0;
  if (test->ns >= HPAR_NAMESPACE_XLINK) return adjusted_atom(test->ns, name);
  hp_atom atom = hp_known_atom(name.bytes, name.length, hp_name_key_of(name.bytes, name.length));
  return atom ? atom : hp_atoms_find(&document->atoms, name.bytes, name.length);
}

static void find_names(hp_xpath_evaluation *e) {
  const hp_xpath_program *p = e->program;
  e->atoms = hp_xpath_take(e, (p->test_count + 1) * sizeof *e->atoms);
  for (uint32_t i = 0; i < p->test_count; i++) e->atoms[i] = atom_of(e->document, &p->tests[i]);
}

static hpar_status evaluate(void *argument) {
  hp_xpath_evaluation *e = argument;
  find_names(e);
  run_routine(e, 0);
  hp_xpath_value v = hp_xpath_pop(e);
  if (v.type == HP_XPATH_SET) hp_xpath_sort(e, &v.set);
  e->call->result = v;
  return HPAR_OK;
}

hpar_status hp_xpath_run(const hp_xpath_program *program, hp_xpath_call *call) {
  hp_xpath_evaluation e = {.program = program,
                           .call = call,
                           .document = call->document,
                           .base = call->document->range.base,
                           .order = call->order,
                           .context = call->context,
                           .position = 1,
                           .size = 1};
  call->failure = (hp_xpath_failure){.status = HPAR_OK};
  call->result = (hp_xpath_value){.type = HP_XPATH_BOOLEAN};
  hpar_status status = hp_try(&e.unwind, evaluate, &e);
  /* The caller gets the memory of the result. */
  void *memory = call->result.type == HP_XPATH_SET ? call->result.set.items : call->result.memory;
  if (memory) unlink_block((hp_xpath_block *)memory - 1);
  while (e.blocks) hp_xpath_drop(e.blocks + 1);
  hp_free(e.stack);
  call->failure.status = status;
  return status;
}

void hp_xpath_free_value(hp_xpath_value *value) {
  if (value->type == HP_XPATH_SET) hp_xpath_drop(value->set.items);
  hp_xpath_drop(value->memory);
  *value = (hp_xpath_value){.type = HP_XPATH_BOOLEAN};
}
