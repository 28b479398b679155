#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_NODES = 16384 };

struct list_block {
  list_block *next;
  list_node nodes[BLOCK_NODES];
};

void list_arena_reset(list_arena *arena) {
  arena->at = arena->first;
  arena->used = 0;
}

void list_arena_free(list_arena *arena) {
  for (list_block *block = arena->first, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  *arena = (list_arena){0};
}

static void next_block(list_arena *arena) {
  if (arena->at && arena->at->next) {
    arena->at = arena->at->next;
  } else {
    list_block *block = malloc(sizeof *block);
    if (!block) {
      fputs("list: out of memory\n", stderr);
      exit(1);
    }
    block->next = NULL;
    if (arena->at)
      arena->at->next = block;
    else
      arena->first = block;
    arena->at = block;
  }
  arena->used = 0;
}

list_node *list_node_new(list_arena *arena, list_kind kind) {
  if (!arena->at || arena->used == BLOCK_NODES) next_block(arena);
  list_node *node = &arena->at->nodes[arena->used++];
  *node = (list_node){.kind = (uint8_t)kind};
  return node;
}

void list_append(list_node *parent, list_node *child) {
  child->parent = parent;
  child->next = NULL;
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
}

size_t list_tag(const char *at, const char *end, list_kind *kind, bool *is_end) {
  size_t slash = end - at > 1 && at[1] == '/';
  const char *name = at + 1 + slash;
  if (end - name < 5 || name[4] != '>') return 0;
  if (!memcmp(name, "list", 4))
    *kind = LIST_LIST;
  else if (!memcmp(name, "item", 4))
    *kind = LIST_ITEM;
  else
    return 0;
  *is_end = slash;
  return 6 + slash;
}

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
static bool is_letter(char c) { return (unsigned char)((c | 32) - 'a') < 26; }

typedef struct parser {
  list_arena *arena;
  list_tree tree;
} parser;

static void add(parser *p, list_node *parent, list_node *node) {
  list_append(parent, node);
  if (parent == p->tree.root) p->tree.root_nodes++;
}

static void start_tag(parser *p, list_kind kind) {
  list_tree *tree = &p->tree;
  list_node *node = list_node_new(p->arena, kind);
  node->end_missing = true;
  tree->errors += tree->current->kind == LIST_ITEM;
  add(p, tree->current, node);
  tree->current = node;
}

/* Appends an end tag without a match to the root. If an element is open, the tag also has no match
 * before this piece. */
static void end_tag(parser *p, list_kind kind) {
  list_tree *tree = &p->tree;
  list_node *top = tree->current;
  if (top->kind == kind) {
    top->end_missing = false;
    tree->current = top->parent;
    return;
  }
  tree->errors += top != tree->root;
  list_node *node = list_node_new(p->arena, kind);
  node->start_missing = true;
  add(p, tree->root, node);
}

static void data(parser *p, const char *from, const char *to) {
  const char *visible = from;
  while (visible < to && is_space(*visible)) visible++;
  if (visible == to) return;
  for (const char *at = visible; at < to; at++) p->tree.errors += !is_letter(*at) && !is_space(*at);
  list_kind in = (list_kind)p->tree.current->kind;
  p->tree.errors += in != LIST_ITEM && in != LIST_ROOT;
  list_node *node = list_node_new(p->arena, LIST_DATA);
  node->data = from;
  node->length = (size_t)(to - from);
  add(p, p->tree.current, node);
}

list_tree list_parse(list_arena *arena, const char *input, size_t begin, size_t end, const list_skip *skip) {
  parser p = {.arena = arena};
  uint32_t unit = skip ? skip->from : 0, units_end = skip ? skip->to : 0;
  p.tree.root = p.tree.current = list_node_new(arena, LIST_ROOT);
  const char *at = input + begin, *stop = input + end;
  while (at < stop) {
    if (unit < units_end && at == input + skip->units[unit].begin) {
      list_node *node = skip->holders[unit] = list_node_new(arena, LIST_UNIT);
      node->unit = unit;
      p.tree.errors += p.tree.current->kind == LIST_ITEM;
      add(&p, p.tree.current, node);
      at = input + skip->units[unit].end;
      unit = skip->units[unit].next;
      continue;
    }
    if (*at == '<') {
      list_kind kind = LIST_ROOT;
      bool is_end = false;
      size_t length = list_tag(at, stop, &kind, &is_end);
      if (length) {
        if (is_end)
          end_tag(&p, kind);
        else
          start_tag(&p, kind);
        at += length;
        continue;
      }
    }
    const char *next = memchr(at + 1, '<', (size_t)(stop - at - 1));
    if (!next) next = stop;
    data(&p, at, next);
    at = next;
  }
  return p.tree;
}

/* Works without recursion, because lists may be nested a million deep. `up` is a stack of the nodes
 * whose siblings are not written yet. */
typedef struct walk {
  const list_node **up;
  size_t depth, capacity;
} walk;

static void push(walk *w, const list_node *node) {
  if (w->depth == w->capacity) {
    w->capacity = w->capacity ? 2 * w->capacity : 64;
    w->up = realloc(w->up, w->capacity * sizeof(const list_node *));
    if (!w->up) {
      fputs("list: out of memory\n", stderr);
      exit(1);
    }
  }
  w->up[w->depth++] = node;
}

static void print_one(FILE *file, const list_node *node) {
  static const char *const names[] = {"root", "list", "item", "", "unit"};
  if (node->kind == LIST_DATA) {
    fwrite(node->data, 1, node->length, file);
    return;
  }
  fprintf(file, "%s%s%s", node->start_missing ? "^" : "", names[node->kind], node->end_missing ? "*" : "");
  if (node->kind == LIST_UNIT) fprintf(file, "%u", node->unit);
}

void list_print(FILE *file, const list_node *node) {
  walk w = {0};
  for (;;) {
    print_one(file, node);
    if (node->first) {
      fputc('(', file);
      push(&w, node);
      node = node->first;
      continue;
    }
    while (w.depth && !node->next) {
      fputc(')', file);
      node = w.up[--w.depth];
    }
    if (!w.depth) break;
    fputc(' ', file);
    node = node->next;
  }
  free(w.up);
}

static bool one_equal(const list_node *a, const list_node *b) {
  if (a->kind != b->kind || a->start_missing != b->start_missing || a->end_missing != b->end_missing) return false;
  if (!a->first != !b->first || !a->next != !b->next) return false;
  return a->kind != LIST_DATA || (a->length == b->length && !memcmp(a->data, b->data, a->length));
}

bool list_equal(const list_node *a, const list_node *b) {
  walk up_a = {0}, up_b = {0};
  bool equal;
  while ((equal = one_equal(a, b))) {
    if (a->first) {
      push(&up_a, a);
      push(&up_b, b);
      a = a->first;
      b = b->first;
      continue;
    }
    while (up_a.depth && !a->next) {
      a = up_a.up[--up_a.depth];
      b = up_b.up[--up_b.depth];
    }
    if (!up_a.depth) break;
    a = a->next;
    b = b->next;
  }
  free(up_a.up);
  free(up_b.up);
  return equal;
}
