/* Many inputs side by side: each thread takes the next that nobody has taken, the longest first, so that none is left
 * alone with a long one at the end. */

#include "session/many.h"

#include "base/memory.h"
#include "session/parser.h"
#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#include <stdatomic.h>
#include <stdlib.h>

typedef struct place_in_line {
  size_t length, index;
} place_in_line;

typedef struct job {
  hpar_parser *parser;
  hpar_options options;
  hpar_input *inputs;
  size_t count;
  const place_in_line *line; /* NULL: in the order of the inputs */
  hpar_done *done;
  void *context;
  bool bound;
  _Atomic bool not_bound;
  _Atomic size_t next;
  _Atomic uint64_t failed, bytes, tokens, nodes; /* relaxed: read when all have returned */
  hpar_many_stats *stats;                        /* a thread writes what is its own */
} job;

static hpar_status document_for(hp_helper *helper, const hpar_input *input, hpar_document **document) {
  hpar_status status = HPAR_OK;
  if (!input->document && !helper->document) status = hpar_document_create(&helper->document);
  *document = input->document ? input->document : helper->document;
  return status;
}

static void add(_Atomic uint64_t *to, uint64_t n) { atomic_fetch_add_explicit(to, n, memory_order_relaxed); }

static void parse_one(job *j, size_t index, unsigned thread) {
  hpar_input *input = &j->inputs[index];
  hp_helper *helper = &j->parser->many.helpers[thread];
  hpar_parser *parser = thread ? helper->parser : j->parser;
  hpar_document *document = NULL;
  hpar_stats stats;
  uint64_t begin = hp_now();
  hp_begin_stats(&stats);
  input->status = document_for(helper, input, &document);
  if (input->status == HPAR_OK)
    input->status = hpar_parse(parser, &j->options, input->bytes, input->length, document, &stats);
  j->stats->ns.parse_per_worker[thread] += hp_now() - begin;
  j->stats->inputs_per_worker[thread]++;
  if (input->status != HPAR_OK) {
    add(&j->failed, 1);
  } else {
    add(&j->bytes, stats.bytes);
    add(&j->tokens, stats.tokens);
    add(&j->nodes, stats.nodes);
  }
  if (j->done) j->done(j->context, index, input, document, parser, &stats, thread);
}

static void take(void *context, unsigned thread) {
  job *j = context;
#if HPAR_PARALLEL
  if (thread && j->options.executor == HPAR_EXECUTOR_THREADS && !hp_bind_thread(j->bound, thread))
    atomic_store(&j->not_bound, true);
#endif
  for (size_t i; (i = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed)) < j->count;)
    parse_one(j, j->line ? j->line[i].index : i, thread);
}

static int longest_first(const void *a, const void *b) {
  const place_in_line *x = a, *y = b;
  if (x->length != y->length) return x->length > y->length ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

/* Without memory they go in their own order, which is as good but for the end. */
static place_in_line *line_up(const hpar_input *inputs, size_t count) {
  place_in_line *line = count < SIZE_MAX / sizeof *line ? hp_allocate(count * sizeof *line) : NULL;
  if (!line) return NULL;
  for (size_t i = 0; i < count; i++) line[i] = (place_in_line){inputs[i].length, i};
  qsort(line, count, sizeof *line, longest_first);
  return line;
}

/* As many helpers as can be had; 0: not even one. */
static unsigned call_helpers(hpar_parser *parser, unsigned wanted) {
  hp_many *many = &parser->many;
  if (many->count < wanted) {
    hp_helper *helpers = hp_reallocate(many->helpers, wanted * sizeof *helpers);
    if (!helpers) return many->count;
    many->helpers = helpers;
  }
  while (many->count < wanted) {
    hp_helper *helper = &many->helpers[many->count];
    *helper = (hp_helper){0};
    if (many->count && hpar_parser_create(&helper->parser) != HPAR_OK) break;
    many->count++;
  }
  return many->count < wanted ? many->count : wanted;
}

#if HPAR_PARALLEL
static unsigned threads_for(hpar_parser *parser, const hpar_options *o, size_t count) {
  if (o->executor == HPAR_EXECUTOR_INLINE) return 1;
  unsigned wanted = o->threads ? o->threads : hp_usable_cores();
  if (wanted > HPAR_MAX_THREADS) wanted = HPAR_MAX_THREADS;
  unsigned busy = count < wanted ? (unsigned)count : wanted;
  if (busy < 2 || o->executor == HPAR_EXECUTOR_CALLER) return busy ? busy : 1;
  unsigned there = hp_team_threads(&parser->team, o, wanted);
  return there < 2 ? 1 : there < busy ? there : busy;
}
#endif

static void run(job *j, unsigned threads) {
#if HPAR_PARALLEL
  hp_saved_affinity home = {.left = false};
  if (j->bound && !hp_save_affinity(&home)) atomic_store(&j->not_bound, true);
  hp_team_run(&j->parser->team, &j->options, threads, take, j);
  hp_restore_affinity(&home);
#else
  (void)threads;
  take(j, 0);
#endif
}

static void note_places(const job *j) {
  j->stats->bind = "none";
#if HPAR_PARALLEL
  if (!j->bound) return;
  hpar_stats places = {.threads = j->stats->threads};
  hp_note_places(&places, atomic_load(&j->not_bound));
  j->stats->bind = places.bind;
  memcpy(j->stats->processor_per_worker, places.processor_per_worker, sizeof places.processor_per_worker);
#endif
}

hpar_status hpar_parse_many(hpar_parser *parser, const hpar_options *options, hpar_input *inputs, size_t count,
                            hpar_done *done, void *context, hpar_many_stats *stats) {
  static const hpar_options defaults = HPAR_OPTIONS_DEFAULT;
  const hpar_options *o = options ? options : &defaults;
  uint64_t begin = hp_now();
  if (!parser || (!inputs && count)) return HPAR_ERROR_ARGUMENT;
  hp_feed_abandon(parser);
  hpar_status status = hp_check_options(o);
  if (status != HPAR_OK) return status;
  hpar_many_stats *own = stats ? stats : hp_allocate(sizeof *own);
  if (!own) return HPAR_ERROR_MEMORY;
  memset(own, 0, sizeof *own);
  unsigned threads = 1;
#if HPAR_PARALLEL
  threads = threads_for(parser, o, count);
#endif
  threads = call_helpers(parser, threads);
  job j = {.parser = parser,
           .options = *o,
           .inputs = inputs,
           .count = count,
           .done = done,
           .context = context,
           .stats = own};
  own->threads = threads;
  own->inputs = count;
  own->allocator = hpar_allocator_name(o->allocator);
  j.bound = o->bind == HPAR_BIND_CORES && o->executor == HPAR_EXECUTOR_THREADS;
  j.options.mode = HPAR_MODE_SEQUENTIAL;
  j.options.cuts = NULL;
  j.options.cut_count = 0;
  j.options.bind = HPAR_BIND_NONE; /* not anew for each input */
  if (!threads) {
    status = HPAR_ERROR_MEMORY;
  } else if (count) {
    place_in_line *line = threads > 1 ? line_up(inputs, count) : NULL;
    j.line = line;
    run(&j, threads);
    hp_free(line);
  }
  note_places(&j);
  own->failed = atomic_load(&j.failed);
  own->bytes = atomic_load(&j.bytes);
  own->tokens = atomic_load(&j.tokens);
  own->nodes = atomic_load(&j.nodes);
  own->ns.total = hp_now() - begin;
  if (!stats) hp_free(own);
  return status;
}

void hp_many_close(hp_many *many) {
  for (unsigned i = 0; i < many->count; i++) {
    hpar_parser_destroy(many->helpers[i].parser);
    hpar_document_destroy(many->helpers[i].document);
  }
  hp_free(many->helpers);
}
