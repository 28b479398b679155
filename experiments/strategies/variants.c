/* hpar-variants ROUNDS THREADS FILE VARIANT...: times the sequential parser and each VARIANT of
 * the parallel parser on FILE. In each of ROUNDS rounds, all take one turn, in a random order. So
 * the quotient of two times of one round is free of what disturbs both. Prints all times in
 * nanoseconds, the counters of the shortest parse and the comparison of trees, as JSON.
 *
 * A VARIANT is NAME=VALUE, or several with "+" between. The names are strategy, predictor, mode,
 * cut, chunks, merge and driver. All variants share one parser, because the threads of a second
 * one would spin beside those of the first. */

#include "../page.h"
#include "programs/hpar/equal.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <string.h>
#include <time.h>

enum { WARM = 3, MAX_VARIANTS = 16, MAX_ROUNDS = 1000, MAX_NAME = 100 };

typedef unsigned long long nanoseconds;

typedef struct variant {
  char text[MAX_NAME]; /* the names and values, each ended by a zero */
  const char *label;
  hpar_options options;
  hpar_study study;
  hpar_document *document;
  nanoseconds *times;
  hpar_study_stats best; /* of the shortest parse */
  bool equal;
} variant;

static hpar_parser *parser;
static variant variants[1 + MAX_VARIANTS]; /* the sequential parser first */

static nanoseconds now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (nanoseconds)time.tv_sec * 1000000000u + (nanoseconds)time.tv_nsec;
}

static bool choose(variant *v, const char *name, const char *value, size_t bytes) {
  if (!strcmp(name, "strategy"))
    v->study.strategy = value;
  else if (!strcmp(name, "predictor"))
    v->study.predictor = value;
  else if (!strcmp(name, "mode"))
    v->study.mode_predictor = value;
  else if (!strcmp(name, "cut"))
    v->study.cut_policy = value;
  else if (!strcmp(name, "driver"))
    v->study.driver = value;
  else if (!strcmp(name, "merge"))
    v->study.merge = strcmp(value, "tree") ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE;
  else if (!strcmp(name, "chunks") && atoi(value) > 0)
    v->options.parallel.chunk_size = bytes / (size_t)atoi(value) + 1;
  else
    return false;
  return true;
}

/* Reads "NAME=VALUE+NAME=VALUE". */
static bool read_variant(variant *v, const char *argument, unsigned threads, size_t bytes) {
  if (strlen(argument) >= sizeof v->text) return false;
  strcpy(v->text, argument);
  v->label = argument;
  v->options = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads};
  v->study = (hpar_study){HPAR_STUDY_INIT};
  for (char *name = strtok(v->text, "+"); name; name = strtok(NULL, "+")) {
    char *value = strchr(name, '=');
    if (!value) return false;
    *value++ = 0;
    if (!choose(v, name, value, bytes)) return false;
  }
  return true;
}

static hpar_status parse(variant *v, const char *bytes, size_t length, nanoseconds *time) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  v->options.study = &v->study;
  nanoseconds begin = now();
  hpar_status status = hpar_study_parse(parser, &v->options, bytes, length, v->document, &stats);
  *time = now() - begin - stats.ns.oracle;
  if (!v->best.size || stats.ns.total < v->best.ns.total) v->best = stats;
  return status;
}

/* Puts the turns of a round into a random order, so that no variant always follows the same one. */
static void shuffle(size_t *turns, size_t count) {
  static uint32_t state = 1;
  for (size_t i = 0; i < count; i++) turns[i] = i;
  for (size_t i = count; i > 1; i--) {
    state = state * 1664525u + 1013904223u;
    size_t other = (state >> 16) % i, last = turns[i - 1];
    turns[i - 1] = turns[other];
    turns[other] = last;
  }
}

/* Runs the rounds. Those before the first one count for nothing. */
static hpar_status measure(size_t count, int rounds, const char *bytes, size_t length) {
  size_t turns[1 + MAX_VARIANTS];
  for (int round = -WARM; round < rounds; round++) {
    shuffle(turns, count);
    for (size_t i = 0; i < count; i++) {
      variant *v = &variants[turns[i]];
      hpar_status status = parse(v, bytes, length, &v->times[round < 0 ? 0 : round]);
      if (status) return status;
    }
  }
  return HPAR_OK;
}

static void print(size_t count, int rounds) {
  printf("{\"bytes\": %llu, \"variants\": [", (unsigned long long)variants[0].best.bytes);
  for (size_t i = 0; i < count; i++) {
    const variant *v = &variants[i];
    const hpar_study_stats *s = &v->best;
    printf("%s\n{\"name\": \"%s\", \"equal\": %s, \"chunks\": %llu, \"chunks_clean\": %llu, \"bytes_reparsed\": %llu, "
           "\"times\": [",
           i ? "," : "", v->label, v->equal ? "true" : "false", (unsigned long long)s->chunks,
           (unsigned long long)s->chunks_clean, (unsigned long long)s->bytes_reparsed);
    for (int round = 0; round < rounds; round++) printf("%s%llu", round ? ", " : "", v->times[round]);
    printf("]}");
  }
  puts("\n]}");
}

int main(int count, char **arguments) {
  int rounds = count > 4 ? atoi(arguments[1]) : 0;
  int threads = count > 4 ? atoi(arguments[2]) : 0;
  if (rounds < 1 || rounds > MAX_ROUNDS || threads < 1 || threads > HPAR_MAX_THREADS || count - 4 > MAX_VARIANTS) {
    fputs("usage: hpar-variants ROUNDS THREADS FILE VARIANT...\n", stderr);
    return 2;
  }
  size_t length, all = (size_t)count - 3;
  char *bytes = read_page(arguments[3], 0, &length);
  variants[0] = (variant){
      .label = "sequential", .options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL}, .study = {HPAR_STUDY_INIT}};
  if (!bytes || hpar_parser_create(&parser)) return 1;
  for (size_t i = 0; i < all; i++) {
    if (i && !read_variant(&variants[i], arguments[3 + i], (unsigned)threads, length)) {
      fprintf(stderr, "hpar-variants: %s is no variant\n", arguments[3 + i]);
      return 2;
    }
    variants[i].times = calloc((size_t)rounds, sizeof(nanoseconds));
    if (!variants[i].times || hpar_document_create(&variants[i].document)) return 1;
  }
  hpar_status status = measure(all, rounds, bytes, length);
  if (status) {
    fprintf(stderr, "hpar-variants: %s: %s\n", arguments[3], hpar_status_text(status));
    return 1;
  }
  bool equal = true;
  for (size_t i = 0; i < all; i++) {
    hp_difference difference;
    variants[i].equal = hp_trees_equal(variants[0].document, variants[i].document, &difference);
    equal = equal && variants[i].equal;
  }
  print(all, rounds);
  for (size_t i = 0; i < all; i++) {
    hpar_document_destroy(variants[i].document);
    free(variants[i].times);
  }
  hpar_parser_destroy(parser);
  free(bytes);
  return fflush(stdout) || !equal;
}
