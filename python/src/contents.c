/* What selections ask about texts: the texts that are children of some nodes, and which of the nodes
 * contain a text. Both walk once, whatever the depth, and both need nodes in document order. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 2048 };

static int compare_handles(const void *a, const void *b) {
  const hpar_node left = *(const hpar_node *)a, right = *(const hpar_node *)b;
  return (left > right) - (left < right);
}

/* Writes the texts that are children of the nodes. */
static hpar_status collect_texts(const hpar_document *tree, hpar_node top, const hpar_node *sorted, size_t count,
                                 hp_py_buffer *found) {
  hpar_status status = HPAR_OK;
  for (hpar_node n = top; n && count && !status; n = hpar_node_walk(tree, top, n)) {
    if (hpar_node_kind(tree, n) != HPAR_NODE_TEXT) continue;
    const hpar_node parent = hpar_node_parent(tree, n);
    if (bsearch(&parent, sorted, count, sizeof *sorted, compare_handles))
      status = hp_py_write((const char *)&n, sizeof n, found);
  }
  return status;
}

PyObject *hp_py_texts_of(hp_py_document *d, hpar_node top, const hpar_node *handles, size_t count) {
  hpar_node *sorted = malloc(count * sizeof *sorted + 1);
  if (!sorted) return PyErr_NoMemory();
  if (count) memcpy(sorted, handles, count * sizeof *sorted);
  hp_py_buffer found = {NULL, 0, 0};
  PyThreadState *saved = hp_py_begin_read(d);
  if (count) qsort(sorted, count, sizeof *sorted, compare_handles);
  const hpar_status status = collect_texts(d->tree, top, sorted, count, &found);
  hp_py_end_read(d, saved);
  free(sorted);
  PyObject *list = status ? PyErr_NoMemory() : PyList_New(0);
  for (size_t at = 0; at < found.length && list; at += sizeof(hpar_node)) {
    hpar_node n;
    memcpy(&n, found.bytes + at, sizeof n);
    PyObject *text = hp_py_string(hpar_node_data(d->tree, n));
    if (!text || PyList_Append(list, text)) Py_CLEAR(list);
    Py_XDECREF(text);
    if (list) hp_py_let_others_run(d, list, AT_ONCE);
  }
  free(found.bytes);
  return list;
}

/*** contains ***/

/* The bytes of the text below `top` that are below a node. */
typedef struct range {
  size_t begin, end, depth;
} range;

typedef struct search {
  const hpar_document *tree;
  const hpar_node *handles;
  size_t count, reached, open_count;
  range *ranges;
  size_t *open; /* indices of the nodes around the walk */
  hp_py_buffer text;
  hpar_status status;
} search;

static void close_nodes(search *s, size_t depth) {
  while (s->open_count && s->ranges[s->open[s->open_count - 1]].depth >= depth)
    s->ranges[s->open[--s->open_count]].end = s->text.length;
}

static void visit(search *s, hpar_node node, size_t depth) {
  close_nodes(s, depth);
  if (s->reached < s->count && s->handles[s->reached] == node) {
    s->ranges[s->reached] = (range){.begin = s->text.length, .depth = depth};
    s->open[s->open_count++] = s->reached++;
  }
  if (hpar_node_kind(s->tree, node) != HPAR_NODE_TEXT) return;
  hpar_string data = hpar_node_data(s->tree, node);
  s->status = hp_py_write(data.bytes, data.length, &s->text);
}

static void walk(search *s, hpar_node top) {
  size_t depth = 1;
  for (hpar_node n = top, next; n && !s->status; n = next) {
    visit(s, n, depth);
    next = hpar_node_first_child(s->tree, n);
    if (next) {
      depth++;
      continue;
    }
    while (n != top && !(next = hpar_node_next(s->tree, n))) {
      n = hpar_node_parent(s->tree, n);
      depth--;
    }
    if (n == top) break;
  }
  close_nodes(s, 0);
}

static void fold(char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (bytes[i] >= 'A' && bytes[i] <= 'Z') bytes[i] = (char)(bytes[i] + 32);
}

/* Moves the nodes whose ranges have the needle to the front of `found`, and returns their number. The
 * ranges begin in ascending order, and so do the places of the needle. */
static size_t keep_containing(const search *s, const char *needle, size_t length, hpar_node *found) {
  size_t kept = 0;
  const char *text = s->text.bytes ? s->text.bytes : "", *end = text + s->text.length, *place = text;
  bool searched = false;
  for (size_t i = 0; i < s->reached; i++) {
    const char *begin = text + s->ranges[i].begin;
    if (!searched || (place && place < begin)) place = memmem(begin, (size_t)(end - begin), needle, length);
    searched = true;
    if (place && place + length <= text + s->ranges[i].end) found[kept++] = s->handles[i];
  }
  return kept;
}

PyObject *hp_py_containing(hp_py_document *d, hpar_node top, const hpar_node *handles, size_t count, hpar_string needle,
                           bool ignore_case) {
  search s = {.tree = d->tree, .handles = handles, .count = count};
  hpar_node *found = malloc(count * sizeof *found + 1);
  char *wanted = malloc(needle.length + 1);
  s.ranges = calloc(count + 1, sizeof *s.ranges);
  s.open = calloc(count + 1, sizeof *s.open);
  size_t kept = 0;
  bool ready = found && wanted && s.ranges && s.open;
  if (ready) {
    memcpy(wanted, needle.bytes, needle.length);
    PyThreadState *saved = hp_py_begin_read(d);
    walk(&s, top);
    if (ignore_case && s.text.length) fold(s.text.bytes, s.text.length);
    if (ignore_case) fold(wanted, needle.length);
    if (!s.status) kept = keep_containing(&s, wanted, needle.length, found);
    hp_py_end_read(d, saved);
  }
  free(s.open);
  free(s.ranges);
  free(s.text.bytes);
  free(wanted);
  if (ready && !s.status) return hp_py_new_nodes(d, found, kept);
  free(found);
  return PyErr_NoMemory();
}
