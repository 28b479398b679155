/* hpar-growth: searches for input on which the library takes more than linear work.
 *
 * It counts work at n and 4 n repetitions. Work of an empty page is subtracted. Work may grow with
 * the largest of these: the input, its tree, and the result. If it grows faster by a few per cent,
 * the search goes on at larger sizes, until the excess stops growing or is a finding. */

#include "growth/count.h"
#include "growth/entries.h"
#include "growth/shapes.h"
#include "support/random.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FACTOR = 4, FIRST_COUNT = 64, MAX_ENTRIES = 100, MAX_WORK = 200000000, MAX_NODES = 200000 };

/* A finding grows by this factor beyond linear for each doubling. */
static const double most_per_doubling = 1.3;
/* An excess of FACTOR times the size that is looked at more closely, and how it grows then. */
static const double suspicious = 1.06, increase = 1.5;

static struct {
  uint64_t seed, from, to, sample, triples;
  size_t max_bytes;
  unsigned most;
  const char *only, *one, *pages;
  bool pairs, json, lists, all_sizes;
} options = {.seed = 1, .to = UINT64_MAX, .max_bytes = 1 << 20, .most = 10};

static uint64_t empty_work[MAX_ENTRIES];
static unsigned finding_counts[MAX_ENTRIES];
static uint64_t cases_done, measured, findings;
static page small_page, large_page, empty_page;

/*** output ***/

static void print_case(const shape_case *of, FILE *to) {
  static buffer text;
  fprintf(to, "%s", shape_names[of->shape]);
  for (unsigned i = 0; i < of->count; i++) {
    buffer_clear(&text);
    buffer_escaped(&text, shape_token(of->tokens[i]), strlen(shape_token(of->tokens[i])));
    fprintf(to, " %s", text.bytes);
  }
}

static void print_json_case(const shape_case *of) {
  printf("\"shape\":\"%s\",\"tokens\":[", shape_names[of->shape]);
  for (unsigned i = 0; i < of->count; i++) {
    printf("%s\"", i ? "," : "");
    for (const char *at = shape_token(of->tokens[i]); *at; at++)
      if (*at < ' ' || *at == '"' || *at == '\\' || *at == 127)
        printf("\\u%04x", (unsigned char)*at);
      else
        putchar(*at);
    putchar('"');
  }
  putchar(']');
}

typedef struct growth {
  double excess; /* factor beyond linear, for FACTOR times the size */
  size_t count, bytes;
  uint64_t small, large;
} growth;

static void print_finding(uint64_t number, const shape_case *of, const entry *in, const growth *g) {
  double per_doubling = pow(g->excess, 1 / log2(FACTOR));
  if (options.json) {
    printf("{\"case\":%llu,\"entry\":\"%s\",", (unsigned long long)number, in->name);
    print_json_case(of);
    printf(",\"count\":%zu,\"bytes\":%zu,\"work\":[%llu,%llu],\"beyond_linear_per_doubling\":%.3f}\n", g->count,
           g->bytes, (unsigned long long)g->small, (unsigned long long)g->large, per_doubling);
  } else {
    printf("%s: ", in->name);
    print_case(of, stdout);
    printf(": %.2f times per doubling beyond linear; case %llu, %zu times, %zu bytes, work %llu and %llu\n",
           per_doubling, (unsigned long long)number, g->count, g->bytes, (unsigned long long)g->small,
           (unsigned long long)g->large);
  }
  fflush(stdout);
}

/*** the search ***/

static void make_page(const shape_case *of, size_t count, page *to) {
  shape_write(of, count, &to->text);
  page_parse(to);
}

static double ratio(uint64_t large, uint64_t small) { return (double)large / (double)(small ? small : 1); }

/* Returns the growth of an entry between the two pages. */
static growth measure(unsigned index) {
  const entry *in = &entries[index];
  uint64_t sizes[2];
  growth g = {.small = entry_measure(in, &small_page, &sizes[0]), .large = entry_measure(in, &large_page, &sizes[1])};
  double linear = FACTOR, work = ratio(g.large, g.small);
  const uint64_t fixed = empty_work[index];
  if (g.small > 2 * fixed) work = ratio(g.large - fixed, g.small - fixed);
  if (ratio(large_page.text.length, small_page.text.length) > linear)
    linear = ratio(large_page.text.length, small_page.text.length);
  if (ratio(large_page.nodes, small_page.nodes) > linear) linear = ratio(large_page.nodes, small_page.nodes);
  if (sizes[0] > FIRST_COUNT && ratio(sizes[1], sizes[0]) > linear) linear = ratio(sizes[1], sizes[0]);
  g.excess = work / linear;
  g.bytes = large_page.text.length;
  measured++;
  return g;
}

/* Returns whether the entry grows too fast on the case, at the largest size that is looked at. Some
 * work is bounded, but the bound is above small pages: a worker reads 32 KB past its chunk. */
static bool grows_too_fast(const shape_case *of, unsigned index, growth *g) {
  const double most = pow(most_per_doubling, log2(FACTOR));
  double least = suspicious;
  for (size_t count = FIRST_COUNT;; count *= FACTOR) {
    make_page(of, count, &small_page);
    make_page(of, count * FACTOR, &large_page);
    *g = measure(index);
    g->count = count * FACTOR;
    if (g->excess < least && !options.all_sizes) return false;
    if (large_page.text.length * FACTOR > options.max_bytes || g->large > MAX_WORK) return g->excess > most;
    /* The tree of the standard is not linear. */
    if (large_page.nodes > MAX_NODES) return g->excess > most;
    least = 1 + (g->excess - 1) * increase;
    if (least > most) least = most;
  }
}

static bool is_wanted(unsigned index) {
  return (!options.only || strstr(entries[index].name, options.only)) && finding_counts[index] < options.most;
}

static void look_closely(uint64_t number, const shape_case *of, unsigned index) {
  growth g;
  if (!grows_too_fast(of, index, &g)) return;
  finding_counts[index]++;
  findings++;
  print_finding(number, of, &entries[index], &g);
}

static void search_page(uint64_t number, shape_case of) {
  bool suspects[MAX_ENTRIES] = {false};
  make_page(&of, FIRST_COUNT, &small_page);
  make_page(&of, (size_t)FIRST_COUNT * FACTOR, &large_page);
  for (unsigned i = 0; i < entry_count; i++)
    suspects[i] = is_wanted(i) && (measure(i).excess > suspicious || options.all_sizes);
  for (unsigned i = 0; i < entry_count; i++)
    if (suspects[i]) look_closely(number, &of, i);
  cases_done++;
}

static void search_case(uint64_t number) { search_page(number, shape_case_at(number)); }

/* Searches the pages of a file, a line each. Lines that begin with '%' are comments. */
static void search_file(const char *path) {
  char line[256];
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(2);
  }
  for (uint64_t i = 1; fgets(line, sizeof line, file); i++) {
    shape_case of;
    line[strcspn(line, "\n")] = 0;
    if (!*line || *line == '%') continue;
    if (!shape_read(line, &of)) {
      fprintf(stderr, "%s:%llu: no page: %s\n", path, (unsigned long long)i, line);
      exit(2);
    }
    search_page(i, of);
  }
  fclose(file);
}

/* Reports how far the search is, twice a minute. */
static void report_progress(uint64_t at, uint64_t end) {
  static time_t last;
  time_t now = time(NULL);
  if (!last) last = now;
  if (now - last < 30) return;
  last = now;
  fprintf(stderr, "hpar-growth: at %llu of %llu, %llu findings\n", (unsigned long long)at, (unsigned long long)end,
          (unsigned long long)findings);
}

static void search_pairs(void) {
  uint64_t end = shape_pair_count() < options.to ? shape_pair_count() : options.to;
  for (uint64_t i = options.from; i < end; i++) {
    report_progress(i, end);
    search_case(i);
  }
}

static void search_triples(void) {
  for (uint64_t i = options.pairs ? 0 : options.from; i < options.triples; i++) {
    report_progress(i, options.triples);
    search_case(shape_random_triple(options.seed * UINT64_C(1000000007) + i));
  }
}

/* Half of a sample are pairs. */
static void search_sample(void) {
  random_state random = {options.seed};
  for (uint64_t i = 0; i < options.sample; i++) {
    uint64_t next = random_next(&random);
    if (i < options.from) continue;
    report_progress(i, options.sample);
    search_case(i % 2 ? shape_random_triple(next) : next % shape_pair_count());
  }
}

/*** the program ***/

static const char help[] =
    "usage: hpar-growth [OPTION...]\n"
    "\n"
    "Searches for pages on which the work of the library grows faster than the page, its tree and\n"
    "the result. A page has two or three kinds of tokens, each repeated. Work is the number of basic\n"
    "blocks that run, which does not depend on the load of the machine.\n"
    "\n"
    "  --sample N       N pages at random: pairs and triples (the default: 400)\n"
    "  --pairs          all pairs of tokens in all shapes\n"
    "  --triples N      N triples, chosen by class of token\n"
    "  --seed N         of the samples and the triples (1)\n"
    "  --from N         leaves out the first N pages: continues a search (see the progress lines)\n"
    "  --to N           ends before the page N of all pairs\n"
    "  --case N         one page by its number, which findings name\n"
    "  --pages FILE     the pages of a file, such as tests/growth/found.txt\n"
    "  --entry TEXT     only the entry points whose name has TEXT\n"
    "  --bytes N        the size up to which an excess is followed (1048576)\n"
    "  --most N         findings after which an entry point is left out (10)\n"
    "  --all-sizes      follows every page to that size\n"
    "  --json           prints each finding as an object, and the sum\n"
    "  --list           prints the entry points and the tokens\n"
    "  --help           prints this text\n"
    "\n"
    "Exit status: 0 nothing found, 1 findings, 2 wrong usage, 3 no memory.\n";

enum { SAMPLE = 1, PAIRS, TRIPLES, SEED, FROM, TO, CASE, PAGES, ENTRY, BYTES, MOST, ALL_SIZES, JSON, LIST, HELP };

static const struct option long_options[] = {
    {"sample", required_argument, NULL, SAMPLE},
    {"pairs", no_argument, NULL, PAIRS},
    {"triples", required_argument, NULL, TRIPLES},
    {"seed", required_argument, NULL, SEED},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"case", required_argument, NULL, CASE},
    {"pages", required_argument, NULL, PAGES},
    {"entry", required_argument, NULL, ENTRY},
    {"bytes", required_argument, NULL, BYTES},
    {"most", required_argument, NULL, MOST},
    {"all-sizes", no_argument, NULL, ALL_SIZES},
    {"json", no_argument, NULL, JSON},
    {"list", no_argument, NULL, LIST},
    {"help", no_argument, NULL, HELP},
    {0},
};

/* Ends the program if the text is no number. */
static uint64_t number_of(const char *text) {
  char *end;
  uint64_t number = strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end) return number;
  fprintf(stderr, "hpar-growth: not a number: %s\n", text);
  exit(2);
}

static void read_option(int option) {
  switch (option) {
    case SAMPLE: options.sample = number_of(optarg); break;
    case PAIRS: options.pairs = true; break;
    case TRIPLES: options.triples = number_of(optarg); break;
    case SEED: options.seed = number_of(optarg); break;
    case FROM: options.from = number_of(optarg); break;
    case TO: options.to = number_of(optarg); break;
    case CASE: options.one = optarg; break;
    case PAGES: options.pages = optarg; break;
    case ENTRY: options.only = optarg; break;
    case BYTES: options.max_bytes = number_of(optarg); break;
    case MOST: options.most = (unsigned)number_of(optarg); break;
    case ALL_SIZES: options.all_sizes = true; break;
    case JSON: options.json = true; break;
    case LIST: options.lists = true; break;
    case HELP: fputs(help, stdout); exit(0);
    default: fputs("hpar-growth --help lists the options\n", stderr); exit(2);
  }
}

static void print_lists(void) {
  for (unsigned i = 0; i < entry_count; i++) puts(entries[i].name);
  for (unsigned i = 0; i < shape_token_count(); i++) {
    buffer text = {0};
    buffer_escaped(&text, shape_token(i), strlen(shape_token(i)));
    puts(text.bytes);
    buffer_free(&text);
  }
}

static bool open_pages(void) {
  page *const pages[] = {&small_page, &large_page, &empty_page};
  for (int i = 0; i < 3; i++)
    if (hpar_document_create(&pages[i]->document) != HPAR_OK) return false;
  buffer_byte(&empty_page.text, ' ');
  page_parse(&empty_page);
  /* Twice: the first run reserves memory that later ones have. */
  for (unsigned i = 0; i < 2 * entry_count; i++) {
    uint64_t size;
    empty_work[i % entry_count] = entry_measure(&entries[i % entry_count], &empty_page, &size);
  }
  return true;
}

static void search(void) {
  uint64_t number = options.one ? number_of(options.one) : 0;
  if (number >= shape_case_count()) {
    fputs("hpar-growth: no such case\n", stderr);
    exit(2);
  }
  if (options.one) search_case(number);
  if (options.pages) search_file(options.pages);
  if (options.pairs) search_pairs();
  if (options.triples) search_triples();
  if (options.sample) search_sample();
}

int main(int count, char **arguments) {
  int option;
  while ((option = getopt_long(count, arguments, "", long_options, NULL)) != -1) read_option(option);
  if (optind < count) read_option(0);
  if (options.lists) {
    print_lists();
    return 0;
  }
  if (!options.one && !options.pages && !options.pairs && !options.triples && !options.sample) options.sample = 400;
  if (!entries_open() || !open_pages()) {
    fputs("hpar-growth: no memory\n", stderr);
    return 3;
  }
  search();
  printf(options.json ? "{\"pages\":%llu,\"measurements\":%llu,\"findings\":%llu}\n"
                      : "%llu pages, %llu measurements, %llu findings\n",
         (unsigned long long)cases_done, (unsigned long long)measured, (unsigned long long)findings);
  page *const pages[] = {&small_page, &large_page, &empty_page};
  for (int i = 0; i < 3; i++) {
    hpar_document_destroy(pages[i]->document);
    buffer_free(&pages[i]->text);
  }
  entries_close();
  return findings != 0;
}
