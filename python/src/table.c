/* A document as columns. Each column is an array that the buffer protocol exports. The columns are
 * made without the interpreter's lock, and without an object for each node. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

/*** columns ***/

typedef struct column {
  PyObject_HEAD void *items;
  Py_ssize_t count, size;
  char format[2];
} column;

static void free_column(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  free(((column *)self)->items);
  PyObject_Free(self);
  Py_DECREF(type);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  column *c = (column *)self;
  view->obj = NULL;
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "a column is read-only");
    return -1;
  }
  view->obj = Py_NewRef(self);
  view->buf = c->items;
  view->len = c->count * c->size;
  view->readonly = 1;
  view->itemsize = c->size;
  view->format = flags & PyBUF_FORMAT ? c->format : NULL;
  view->ndim = 1;
  view->shape = flags & PyBUF_ND ? &c->count : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &c->size : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  return 0;
}

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("The memory of a column. The table has it as a memoryview.")},
    {Py_tp_dealloc, free_column},
    {Py_bf_getbuffer, get_buffer},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_column_spec = {
    .name = "hpar._core.Column",
    .basicsize = sizeof(column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

/* Returns a memoryview of the items, which the column takes and frees. */
static PyObject *new_column(const hp_py_state *state, void *items, size_t count, size_t size, char format) {
  column *c = PyObject_New(column, state->column);
  if (!c) {
    free(items);
    return NULL;
  }
  c->items = items;
  c->count = (Py_ssize_t)count;
  c->size = (Py_ssize_t)size;
  c->format[0] = format;
  c->format[1] = 0;
  PyObject *view = PyMemoryView_FromObject((PyObject *)c);
  Py_DECREF((PyObject *)c);
  return view;
}

/*** rows ***/

enum {
  KIND,
  NAMESPACE,
  NAME,
  PARENT,
  NEXT,
  STOP,
  DEPTH,
  ATTRIBUTES,
  START,
  END,
  CLOSE_START,
  CLOSE_END,
  TEXT_START,
  TEXT_END,
  COLUMNS
};

static const struct {
  const char *name;
  char format;
  unsigned char size;
} layout[COLUMNS] = {
    [KIND] = {"kind", 'B', 1},
    [NAMESPACE] = {"namespace", 'B', 1},
    [NAME] = {"name", 'i', 4},
    [PARENT] = {"parent", 'i', 4},
    [NEXT] = {"next", 'i', 4},
    [STOP] = {"stop", 'i', 4},
    [DEPTH] = {"depth", 'i', 4},
    [ATTRIBUTES] = {"attributes", 'i', 4},
    [START] = {"start", 'q', 8},
    [END] = {"end", 'q', 8},
    [CLOSE_START] = {"close_start", 'q', 8},
    [CLOSE_END] = {"close_end", 'q', 8},
    [TEXT_START] = {"text_start", 'q', 8},
    [TEXT_END] = {"text_end", 'q', 8},
};

typedef struct table {
  const hpar_document *tree;
  void *columns[COLUMNS];
  hpar_node *handles;
  size_t count, row;
  hp_py_buffer text;
  hpar_string *names; /* by number */
  int32_t *slots;     /* hash table of numbers; -1: free */
  size_t name_count, slot_count;
  int32_t *open; /* the last row at each depth */
  size_t open_capacity;
} table;

static bool grow_names(table *t) {
  size_t count = t->slot_count ? 2 * t->slot_count : 256;
  int32_t *slots_grown = malloc(count * sizeof *slots_grown);
  hpar_string *names = realloc(t->names, count / 2 * sizeof *names);
  if (names) t->names = names;
  if (!slots_grown || !names) {
    free(slots_grown);
    return false;
  }
  free(t->slots);
  t->slots = slots_grown;
  t->slot_count = count;
  memset(t->slots, 0xFF, count * sizeof *t->slots);
  return true;
}

static size_t hash(hpar_string s) {
  size_t h = 2166136261u;
  for (size_t i = 0; i < s.length; i++) h = (h ^ (unsigned char)s.bytes[i]) * 16777619u;
  return h ^ h >> 15;
}

/* Returns the slot of a name: its own, or the free one where it belongs. */
static int32_t *find_slot(const table *t, hpar_string name) {
  for (size_t i = hash(name);; i++) {
    int32_t *slot = &t->slots[i & (t->slot_count - 1)];
    if (*slot < 0) return slot;
    hpar_string other = t->names[*slot];
    if (other.length == name.length && !memcmp(other.bytes, name.bytes, name.length)) return slot;
  }
}

/* Returns the number of a name, or -2 if memory is short. */
static int32_t number_of(table *t, hpar_string name) {
  if (2 * (t->name_count + 1) > t->slot_count) {
    if (!grow_names(t)) return -2;
    for (size_t i = 0; i < t->name_count; i++) *find_slot(t, t->names[i]) = (int32_t)i;
  }
  int32_t *slot = find_slot(t, name);
  if (*slot < 0) {
    *slot = (int32_t)t->name_count;
    t->names[t->name_count++] = name;
  }
  return *slot;
}

#define CELL(t, type, name) ((type *)(t)->columns[name])[(t)->row]

static bool add_text(table *t, hpar_node node) {
  hpar_string data = hpar_node_data(t->tree, node);
  CELL(t, int64_t, TEXT_START) = (int64_t)t->text.length;
  bool fine = !data.length || !hp_py_write(data.bytes, data.length, &t->text);
  CELL(t, int64_t, TEXT_END) = (int64_t)t->text.length;
  return fine;
}

static bool add_row(table *t, hpar_node node, size_t depth, bool positions) {
  hpar_node_type kind = hpar_node_kind(t->tree, node);
  hpar_string name = hpar_node_name(t->tree, node);
  int32_t number = name.length ? number_of(t, name) : -1;
  uint64_t start = UINT64_MAX, end = UINT64_MAX, close_start = UINT64_MAX, close_end = UINT64_MAX;
  if (number == -2) return false;
  if (positions && kind == HPAR_NODE_ELEMENT) {
    hpar_node_start_tag_range(t->tree, node, &start, &end);
    hpar_node_end_tag_range(t->tree, node, &close_start, &close_end);
  }
  t->handles[t->row] = node;
  CELL(t, uint8_t, KIND) = (uint8_t)kind;
  CELL(t, uint8_t, NAMESPACE) = (uint8_t)hpar_node_namespace(t->tree, node);
  CELL(t, int32_t, NAME) = number;
  CELL(t, int32_t, PARENT) = depth ? t->open[depth - 1] : -1;
  CELL(t, int32_t, NEXT) = -1;
  CELL(t, int32_t, DEPTH) = (int32_t)depth;
  CELL(t, int32_t, ATTRIBUTES) = (int32_t)hpar_node_attribute_count(t->tree, node);
  CELL(t, int64_t, START) = (int64_t)start;
  CELL(t, int64_t, END) = (int64_t)end;
  CELL(t, int64_t, CLOSE_START) = (int64_t)close_start;
  CELL(t, int64_t, CLOSE_END) = (int64_t)close_end;
  if (!add_text(t, node)) return false;
  t->open[depth] = (int32_t)t->row++;
  return true;
}

static bool reserve_depth(table *t, size_t depth) {
  if (depth < t->open_capacity) return true;
  size_t capacity = 2 * depth + 64;
  int32_t *grown = realloc(t->open, capacity * sizeof *grown);
  if (!grown) return false;
  t->open = grown;
  t->open_capacity = capacity;
  return true;
}

/* Adds a row for each node, in document order. */
static bool add_rows(table *t, bool positions) {
  hpar_node root = hpar_document_root(t->tree), node = root;
  size_t depth = 0;
  for (;;) {
    if (!reserve_depth(t, depth) || !add_row(t, node, depth, positions)) return false;
    hpar_node next = hpar_node_first_child(t->tree, node);
    if (next) {
      node = next;
      depth++;
      continue;
    }
    for (;; node = hpar_node_parent(t->tree, node), depth--) {
      int32_t row = t->open[depth];
      ((int32_t *)t->columns[STOP])[row] = (int32_t)t->row;
      if (node == root) return true;
      next = hpar_node_next(t->tree, node);
      if (!next) continue;
      ((int32_t *)t->columns[NEXT])[row] = (int32_t)t->row;
      node = next;
      break;
    }
  }
}

/* Allocates the columns and fills them. Needs no Python thread state. */
static bool fill(table *t, bool positions) {
  hpar_node root = hpar_document_root(t->tree);
  for (hpar_node n = root; n; n = hpar_node_walk(t->tree, root, n)) t->count++;
  t->handles = malloc(t->count * sizeof *t->handles);
  bool fine = t->handles != NULL && t->count <= INT32_MAX;
  for (int i = 0; i < COLUMNS && fine; i++) fine = (t->columns[i] = malloc(t->count * layout[i].size)) != NULL;
  return fine && add_rows(t, positions);
}

/*** the result ***/

static PyObject *take_columns(const hp_py_state *state, table *t) {
  PyObject *dict = PyDict_New();
  for (int i = 0; i < COLUMNS && dict; i++) {
    void *items = t->columns[i];
    t->columns[i] = NULL;
    if (!hp_py_put(dict, layout[i].name, new_column(state, items, t->count, layout[i].size, layout[i].format)))
      Py_CLEAR(dict);
  }
  return dict;
}

static PyObject *take_names(const table *t) {
  PyObject *names = PyList_New((Py_ssize_t)t->name_count);
  for (size_t i = 0; i < t->name_count && names; i++) {
    PyObject *name = hp_py_string(t->names[i]);
    if (!name || PyList_SetItem(names, (Py_ssize_t)i, name)) Py_CLEAR(names);
  }
  return names;
}

/* Returns (columns, names, nodes, text). */
PyObject *hp_py_table(hp_py_document *d) {
  table t = {.tree = d->tree};
  PyObject *columns = NULL, *names = NULL, *nodes = NULL, *text = NULL;
  bool filled;
  PyThreadState *saved = hp_py_begin_read(d);
  filled = fill(&t, d->positions);
  hp_py_end_read(d, saved);
  if (filled) {
    columns = take_columns(d->state, &t);
    names = columns ? take_names(&t) : NULL;
    nodes = names ? hp_py_new_nodes(d, t.handles, t.count) : NULL;
    if (names) t.handles = NULL;
    text = nodes ? new_column(d->state, t.text.bytes, t.text.length, 1, 'B') : NULL;
    if (nodes) t.text.bytes = NULL;
  } else {
    PyErr_NoMemory();
  }
  for (int i = 0; i < COLUMNS; i++) free(t.columns[i]);
  free(t.handles);
  free(t.text.bytes);
  free(t.names);
  free(t.slots);
  free(t.open);
  if (text) return Py_BuildValue("(NNNN)", columns, names, nodes, text);
  Py_XDECREF(columns);
  Py_XDECREF(names);
  Py_XDECREF(nodes);
  return NULL;
}
