#include "parallel.h"

#include "platform/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const list_scheme_names[LIST_SCHEMES] = {"sequential", "temppa", "fixed", "flexible"};

/* A piece of work: a chunk, or the units from..to-1. The first piece of a partition is the
 * high-level structure. */
typedef struct piece {
  size_t begin, end;
  uint32_t from, to;
} piece;

struct list_parser {
  hp_pool *pool;
  unsigned threads;
  list_arena *arenas; /* by thread */
  list_partition partition;
  list_node **holders, **elements; /* by unit */
  size_t unit_capacity;
  piece *pieces;
  list_tree *trees; /* by piece */
  size_t *cuts;     /* Temppa: one more than pieces */
  size_t piece_capacity, count;
  bool by_units;
  const char *input;
  _Atomic size_t next; /* the next unclaimed piece */
  _Atomic size_t errors;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *resized(void *items, size_t count, size_t size) {
  items = realloc(items, count * size);
  if (!items) {
    fputs("list: out of memory\n", stderr);
    exit(1);
  }
  return items;
}

list_parser *list_parser_create(unsigned threads) {
  list_parser *parser = calloc(1, sizeof *parser);
  if (!parser || hp_pool_create(&parser->pool, threads)) {
    free(parser);
    return NULL;
  }
  parser->threads = hp_pool_threads(parser->pool);
  parser->arenas = calloc(parser->threads, sizeof *parser->arenas);
  if (!parser->arenas) {
    list_parser_destroy(parser);
    return NULL;
  }
  return parser;
}

void list_parser_destroy(list_parser *parser) {
  if (!parser) return;
  for (unsigned i = 0; parser->arenas && i < parser->threads; i++) list_arena_free(&parser->arenas[i]);
  hp_pool_destroy(parser->pool);
  list_partition_free(&parser->partition);
  free(parser->arenas);
  free(parser->holders);
  free(parser->elements);
  free(parser->pieces);
  free(parser->trees);
  free(parser->cuts);
  free(parser);
}

unsigned list_parser_threads(const list_parser *parser) { return parser->threads; }

static void reserve_pieces(list_parser *parser, size_t count) {
  if (count <= parser->piece_capacity) return;
  parser->pieces = resized(parser->pieces, count, sizeof *parser->pieces);
  parser->trees = resized(parser->trees, count, sizeof *parser->trees);
  parser->cuts = resized(parser->cuts, count + 1, sizeof *parser->cuts);
  parser->piece_capacity = count;
}

static void parse_units(list_parser *parser, list_arena *arena, const piece *piece) {
  const list_unit *units = parser->partition.units;
  for (uint32_t i = piece->from; i < piece->to; i++) {
    list_skip skip = {units, parser->holders, i + 1, units[i].next};
    list_tree tree = list_parse(arena, parser->input, units[i].begin, units[i].end, &skip);
    parser->elements[i] = tree.root->first;
    if (tree.errors) atomic_fetch_add_explicit(&parser->errors, tree.errors, memory_order_relaxed);
  }
}

static void work(void *context, unsigned thread) {
  list_parser *parser = context;
  list_arena *arena = &parser->arenas[thread];
  for (size_t i; (i = atomic_fetch_add_explicit(&parser->next, 1, memory_order_relaxed)) < parser->count;) {
    const piece *piece = &parser->pieces[i];
    if (parser->by_units && i) {
      parse_units(parser, arena, piece);
    } else {
      list_skip skip = {parser->partition.units, parser->holders, piece->from, piece->to};
      parser->trees[i] = list_parse(arena, parser->input, piece->begin, piece->end, parser->by_units ? &skip : NULL);
    }
  }
}

static void parse_pieces(list_parser *parser) {
  atomic_store_explicit(&parser->next, 0, memory_order_relaxed);
  atomic_store_explicit(&parser->errors, 0, memory_order_relaxed);
  if (parser->threads > 1 && parser->count > 1) {
    hp_pool_start(parser->pool, parser->threads, work, parser);
    work(parser, 0);
    hp_pool_join(parser->pool);
  } else {
    work(parser, 0);
  }
}

static void chunks(list_parser *parser, size_t n, size_t count) {
  reserve_pieces(parser, count);
  list_cut_evenly(parser->input, n, count, parser->cuts);
  for (size_t i = 0; i < count; i++) parser->pieces[i] = (piece){.begin = parser->cuts[i], .end = parser->cuts[i + 1]};
  parser->count = count;
}

/* Returns the bytes of a unit that are in no inner unit. */
static size_t own_bytes(const list_partition *partition, uint32_t unit) {
  const list_unit *units = partition->units;
  size_t bytes = units[unit].end - units[unit].begin;
  for (uint32_t i = unit + 1; i < units[unit].next; i = units[i].next) bytes -= units[i].end - units[i].begin;
  return bytes;
}

/* Divides the units into groups of neighbours with about equal numbers of bytes. */
static void groups(list_parser *parser, size_t n, size_t count) {
  list_partition *partition = &parser->partition;
  reserve_pieces(parser, count + 1);
  parser->pieces[0] = (piece){.begin = 0, .end = n, .from = 0, .to = partition->count};
  size_t all = n - partition->high_level_bytes, done = 0;
  uint32_t at = 0;
  for (size_t i = 1; i <= count; i++) {
    piece *group = &parser->pieces[i];
    *group = (piece){.from = at};
    size_t want = all / count * i + all % count * i / count;
    size_t before = done;
    while (at < partition->count && (i == count || done < want)) done += own_bytes(partition, at++);
    group->to = at;
    group->end = done - before;
  }
  parser->count = count + 1;
  if (partition->count > parser->unit_capacity) {
    parser->unit_capacity = partition->capacity;
    parser->holders = resized(parser->holders, parser->unit_capacity, sizeof *parser->holders);
    parser->elements = resized(parser->elements, parser->unit_capacity, sizeof *parser->elements);
  }
}

list_tree list_parse_document(list_parser *parser, const list_plan *plan, const char *input, size_t n,
                              list_report *report) {
  list_report ours = {0};
  for (unsigned i = 0; i < parser->threads; i++) list_arena_reset(&parser->arenas[i]);
  parser->input = input;
  parser->by_units = plan->scheme == LIST_FIXED || plan->scheme == LIST_FLEXIBLE;
  uint64_t start = now();
  if (plan->scheme == LIST_FIXED) ours.malformed = !list_preparse_fixed(input, n, plan->level, &parser->partition);
  if (plan->scheme == LIST_FLEXIBLE)
    ours.malformed = !list_preparse_flexible(input, n, plan->threshold, &parser->partition);
  if (ours.malformed) parser->by_units = false;
  if (parser->by_units)
    groups(parser, n, plan->pieces);
  else
    chunks(parser, n, plan->scheme == LIST_TEMPPA ? plan->pieces : 1);
  uint64_t parse = now();
  parse_pieces(parser);
  uint64_t merge = now();
  list_tree tree = parser->trees[0];
  if (parser->by_units) {
    list_merge_units(parser->holders, parser->elements, parser->partition.count);
    tree.errors += atomic_load_explicit(&parser->errors, memory_order_relaxed);
    list_finish(&tree);
    ours.units = ours.merge_steps = parser->partition.count;
    ours.high_level_bytes = parser->partition.high_level_bytes;
    ours.largest_piece = ours.high_level_bytes;
  } else {
    ours.merge_steps = list_merge(parser->trees, parser->count);
    tree = parser->trees[0];
  }
  uint64_t end = now();
  for (size_t i = 0; i < parser->count; i++) {
    const piece *piece = &parser->pieces[i];
    size_t bytes = parser->by_units && !i ? ours.high_level_bytes : piece->end - piece->begin;
    if (bytes > ours.largest_piece) ours.largest_piece = bytes;
  }
  ours.ns_partition = parse - start;
  ours.ns_parse = merge - parse;
  ours.ns_merge = end - merge;
  ours.ns_total = end - start;
  if (report) *report = ours;
  return tree;
}
