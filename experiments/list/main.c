/* hpar-list: the LIST language from the command line, for experiments/fig7-8-list. */

#include "generate.h"
#include "parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: hpar-list show [--cuts N,N,...] FILE       trees of the chunks, then the merged one\n"
    "       hpar-list parse [OPTION...] FILE           the tree\n"
    "       hpar-list measure [OPTION...] [FILE]       a JSON object: times of each phase, each run\n"
    "       hpar-list generate [--shape S] [--size BYTES] [--seed N]\n"
    "  --scheme sequential|temppa|fixed|flexible   --threads N   --pieces N   --level N\n"
    "  --threshold BYTES   --shape flat|nested|skewed|deep   --size BYTES   --seed N   --repeat N\n";

typedef struct request {
  const char *file, *cuts;
  list_plan plan;
  list_shape shape;
  size_t threads, size, seed, repeat;
} request;

static int bad(const char *what) {
  fprintf(stderr, "hpar-list: %s\n%s", what, usage);
  return 2;
}

static bool number(const char *text, size_t *value) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (end == text || *end || errno || *text == '-') return false;
  *value = (size_t)n;
  return true;
}

static bool name_of(const char *text, const char *const *names, int count, int *value) {
  for (int i = 0; i < count; i++) {
    if (strcmp(text, names[i])) continue;
    *value = i;
    return true;
  }
  return false;
}

static bool take(request *r, const char *option, const char *value) {
  int n = 0;
  if (!strcmp(option, "--scheme")) {
    if (!name_of(value, list_scheme_names, LIST_SCHEMES, &n)) return false;
    r->plan.scheme = (list_scheme)n;
    return true;
  }
  if (!strcmp(option, "--shape")) {
    if (!name_of(value, list_shape_names, LIST_SHAPES, &n)) return false;
    r->shape = (list_shape)n;
    return true;
  }
  if (!strcmp(option, "--cuts")) {
    r->cuts = value;
    return true;
  }
  struct {
    const char *name;
    size_t *value, least;
  } numbers[] = {{"--threads", &r->threads, 1},  {"--pieces", &r->plan.pieces, 1},
                 {"--level", &r->plan.level, 0}, {"--threshold", &r->plan.threshold, 0},
                 {"--size", &r->size, 1},        {"--seed", &r->seed, 0},
                 {"--repeat", &r->repeat, 1}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!strcmp(option, numbers[i].name))
      return number(value, numbers[i].value) && *numbers[i].value >= numbers[i].least;
  return false;
}

static char *load(const char *path, size_t *length) {
  FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  char *bytes = NULL;
  size_t n = 0, capacity = 0;
  for (size_t got = 1; file && got;) {
    if (n == capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *more = realloc(bytes, capacity);
      if (!more) break;
      bytes = more;
    }
    got = fread(bytes + n, 1, capacity - n, file);
    n += got;
  }
  if (!file || ferror(file)) {
    fprintf(stderr, "hpar-list: %s: %s\n", path, strerror(errno));
    free(bytes);
    bytes = NULL;
  }
  if (file && file != stdin) fclose(file);
  *length = n;
  return bytes;
}

static int show(const request *r, const char *input, size_t n) {
  size_t cuts[64] = {0}, count = 1;
  for (const char *at = r->cuts; at && *at && count < 63;) {
    char *end;
    cuts[count] = strtoull(at, &end, 10);
    if (end == at || cuts[count] < cuts[count - 1] || cuts[count] > n) return bad("--cuts: offsets, ascending");
    count++;
    at = *end == ',' ? end + 1 : end;
  }
  cuts[count] = n;
  list_arena arena = {0};
  list_tree trees[64];
  for (size_t i = 0; i < count; i++) {
    trees[i] = list_parse(&arena, input, cuts[i], cuts[i + 1], NULL);
    if (count > 1) {
      printf("tree %zu: ", i + 1);
      list_print(stdout, trees[i].root);
      putchar('\n');
    }
  }
  list_merge(trees, count);
  list_print(stdout, trees[0].root);
  printf("\n%zu errors\n", trees[0].errors);
  list_arena_free(&arena);
  return trees[0].errors != 0;
}

static void times(const char *name, const uint64_t *ns, size_t count) {
  printf(", \"%s\": [", name);
  for (size_t i = 0; i < count; i++) printf("%s%llu", i ? ", " : "", (unsigned long long)ns[i]);
  putchar(']');
}

/* Runs one warm-up, then `repeat` measured runs. */
static int measure(const request *r, list_parser *parser, const char *input, size_t n) {
  enum { PHASES = 4 };
  uint64_t *ns[PHASES] = {0};
  bool fine = true;
  for (int i = 0; i < PHASES; i++) fine &= (ns[i] = malloc(r->repeat * sizeof **ns)) != NULL;
  list_report report = {0};
  list_tree tree = {0};
  for (size_t run = 0; fine && run <= r->repeat; run++) {
    tree = list_parse_document(parser, &r->plan, input, n, &report);
    if (!run) continue;
    ns[0][run - 1] = report.ns_partition;
    ns[1][run - 1] = report.ns_parse;
    ns[2][run - 1] = report.ns_merge;
    ns[3][run - 1] = report.ns_total;
  }
  if (fine) {
    printf("{\"scheme\": \"%s\", \"threads\": %u, \"pieces\": %zu, \"level\": %zu, \"threshold\": %zu, \"bytes\": %zu, "
           "\"errors\": %zu, \"units\": %zu, \"high_level_bytes\": %zu, \"largest_piece\": %zu, \"merge_steps\": %zu",
           list_scheme_names[r->plan.scheme], list_parser_threads(parser), r->plan.pieces, r->plan.level,
           r->plan.threshold, n, tree.errors, report.units, report.high_level_bytes, report.largest_piece,
           report.merge_steps);
    times("ns_partition", ns[0], r->repeat);
    times("ns_parse", ns[1], r->repeat);
    times("ns_merge", ns[2], r->repeat);
    times("ns_total", ns[3], r->repeat);
    puts("}");
  }
  for (int i = 0; i < PHASES; i++) free(ns[i]);
  return fine ? tree.errors != 0 : bad("out of memory");
}

static int run(const char *command, request *r) {
  size_t n = 0;
  char *input = r->file ? load(r->file, &n) : list_generate(r->shape, r->size, r->seed, &n);
  if (!input) return 1;
  int code = 0;
  if (!strcmp(command, "generate")) {
    fwrite(input, 1, n, stdout);
  } else if (!strcmp(command, "show")) {
    code = show(r, input, n);
  } else {
    list_parser *parser = list_parser_create((unsigned)r->threads);
    if (!r->plan.pieces) r->plan.pieces = r->threads;
    if (!parser) {
      code = bad("out of memory");
    } else if (!strcmp(command, "parse")) {
      list_tree tree = list_parse_document(parser, &r->plan, input, n, NULL);
      list_print(stdout, tree.root);
      printf("\n%zu errors\n", tree.errors);
      code = tree.errors != 0;
    } else {
      code = measure(r, parser, input, n);
    }
    list_parser_destroy(parser);
  }
  free(input);
  if (fflush(stdout) || ferror(stdout)) return 1;
  return code;
}

int main(int count, char **items) {
  request r = {.threads = 2, .size = 1000000, .seed = 1, .repeat = 10, .plan = {.level = 1, .threshold = 65536}};
  if (count == 2 && !strcmp(items[1], "--help")) {
    fputs(usage, stdout);
    return 0;
  }
  if (count < 2) return bad("which command?");
  const char *command = items[1];
  bool measures = !strcmp(command, "measure"), generates = !strcmp(command, "generate");
  if (!measures && !generates && strcmp(command, "show") && strcmp(command, "parse")) return bad("no such command");
  for (int i = 2; i < count; i++) {
    if (strncmp(items[i], "--", 2)) {
      if (r.file || generates) return bad("one FILE");
      r.file = items[i];
    } else if (i + 1 == count || !take(&r, items[i], items[i + 1])) {
      return bad(items[i]);
    } else {
      i++;
    }
  }
  if (!r.file && !measures && !generates) return bad("which FILE?");
  if (r.threads > 1024) return bad("--threads: 1024 at most");
  return run(command, &r);
}
