#include "partition.h"

#include <stdlib.h>
#include <string.h>

void list_cut_evenly(const char *input, size_t n, size_t chunks, size_t *cuts) {
  cuts[0] = 0;
  for (size_t i = 1; i < chunks; i++) {
    size_t even = n / chunks * i + n % chunks * i / chunks;
    if (even < cuts[i - 1]) even = cuts[i - 1];
    const char *tag = even < n ? memchr(input + even, '<', n - even) : NULL;
    cuts[i] = tag ? (size_t)(tag - input) : n;
  }
  cuts[chunks] = n;
}

void list_partition_free(list_partition *partition) {
  free(partition->units);
  *partition = (list_partition){0};
}

static void *grown(void *items, size_t *capacity, size_t size) {
  *capacity = *capacity ? 2 * *capacity : 256;
  items = realloc(items, *capacity * size);
  if (!items) {
    fputs("list: out of memory\n", stderr);
    exit(1);
  }
  return items;
}

static void lift(list_partition *partition, size_t begin, size_t end) {
  if (partition->count == UINT32_MAX) return;
  if (partition->count == partition->capacity) {
    size_t capacity = partition->capacity;
    partition->units = grown(partition->units, &capacity, sizeof(list_unit));
    partition->capacity = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
  }
  partition->units[partition->count++] = (list_unit){begin, end, 0};
}

typedef struct open_element {
  size_t begin, lifted; /* bytes of units in it */
  list_kind kind;
} open_element;

typedef struct walk {
  list_partition *partition;
  open_element *stack;
  size_t depth, capacity;
  bool flexible;
  size_t level, threshold;
} walk;

static void start(walk *w, list_kind kind, size_t offset) {
  if (w->depth == w->capacity) w->stack = grown(w->stack, &w->capacity, sizeof *w->stack);
  w->stack[w->depth++] = (open_element){offset, 0, kind};
}

static bool end(walk *w, list_kind kind, size_t offset) {
  if (!w->depth || w->stack[w->depth - 1].kind != kind) return false;
  open_element top = w->stack[--w->depth];
  size_t length = offset - top.begin;
  bool is_unit = w->flexible ? length - top.lifted > w->threshold : w->depth == w->level;
  if (is_unit) lift(w->partition, top.begin, offset);
  if (w->depth) w->stack[w->depth - 1].lifted += is_unit ? length : top.lifted;
  return true;
}

static int by_begin(const void *a, const void *b) {
  const list_unit *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Appends units in the order of their ends. */
static void arrange(list_partition *partition, size_t n) {
  list_unit *units = partition->units;
  uint32_t count = partition->count;
  if (count) qsort(units, count, sizeof *units, by_begin);
  partition->high_level_bytes = n;
  for (uint32_t i = count; i-- > 0;) {
    uint32_t next = i + 1;
    while (next < count && units[next].begin < units[i].end) next = units[next].next;
    units[i].next = next;
  }
  for (uint32_t i = 0; i < count; i = units[i].next) partition->high_level_bytes -= units[i].end - units[i].begin;
}

static bool preparse(walk *w, const char *input, size_t n) {
  w->partition->count = 0;
  const char *stop = input + n;
  bool fine = true;
  for (const char *at = input; fine && (at = memchr(at, '<', (size_t)(stop - at)));) {
    list_kind kind = LIST_ROOT;
    bool is_end = false;
    size_t length = list_tag(at, stop, &kind, &is_end);
    if (!length)
      fine = false;
    else if (is_end)
      fine = end(w, kind, (size_t)(at - input) + length);
    else
      start(w, kind, (size_t)(at - input));
    at += length;
  }
  if (w->depth) fine = false;
  free(w->stack);
  if (!fine) w->partition->count = 0;
  arrange(w->partition, n);
  return fine;
}

bool list_preparse_fixed(const char *input, size_t n, size_t level, list_partition *partition) {
  return preparse(&(walk){.partition = partition, .level = level}, input, n);
}

bool list_preparse_flexible(const char *input, size_t n, size_t threshold, list_partition *partition) {
  return preparse(&(walk){.partition = partition, .flexible = true, .threshold = threshold}, input, n);
}
