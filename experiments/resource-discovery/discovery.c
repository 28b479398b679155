/* hpar-discovery ROUNDS FILE: prints when each method sees each resource of a page, as JSON. Of the
 * rounds of a method, it takes the one with the smallest sum of times.
 *
 * hpar-discovery --accuracy PARTS FILE...: prints how many resources of the pages are found,
 * confirmed and cancelled. The calling thread parses or scans all parts before it merges. */

#include "../page.h"

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { MAX_EVENTS = 1 << 15, MAX_THREADS = 16, METHODS = 5 };

static const struct {
  const char *name;
  bool scans;
  unsigned threads;
  bool takes_found; /* the first event of a resource counts, not its confirmation */
} methods[METHODS] = {{"sequential scan", true, 1, false},
                      {"sequential parse", false, 1, false},
                      {"parallel parse, found", false, 2, true},
                      {"parallel parse, confirmed", false, 2, false},
                      {"parallel scan", true, 2, true}};

typedef struct seen {
  uint64_t offset, time;
  uint32_t kind, ordinal; /* the number among the events of the kind at this offset */
  hpar_resource_event event;
} seen;

/* The events of one thread of a run. The threads write to different cache lines, because an
 * exchange of a line would take longer than most events. */
typedef struct seen_by_thread {
  seen items[MAX_EVENTS];
  size_t count;
  char padding[128];
} seen_by_thread;

/* The events of one run: of each thread, and then of all. */
typedef struct run {
  seen_by_thread threads[MAX_THREADS];
  seen items[MAX_EVENTS];
  size_t count;
  uint64_t begin, end;
} run;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note(const hpar_resource *resource, hpar_resource_event event, void *context) {
  run *r = context;
  seen_by_thread *to = &r->threads[event == HPAR_RESOURCE_FOUND ? resource->thread % MAX_THREADS : 0];
  seen one = {resource->offset, now() - r->begin, (uint32_t)resource->kind, 0, event};
  if (to->count < MAX_EVENTS) to->items[to->count++] = one;
}

static void forget_events(run *r) {
  r->count = 0;
  for (size_t i = 0; i < MAX_THREADS; i++) r->threads[i].count = 0;
}

/* Lists the events of all threads. */
static void collect_events(run *r) {
  for (size_t i = 0; i < MAX_THREADS; i++) {
    const seen_by_thread *from = &r->threads[i];
    for (size_t k = 0; k < from->count && r->count < MAX_EVENTS; k++) r->items[r->count++] = from->items[k];
  }
}

static int compare(const void *a, const void *b) {
  const seen *x = a, *y = b;
  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->event != y->event) return x->event < y->event ? -1 : 1;
  return x->time < y->time ? -1 : x->time > y->time;
}

/* Numbers the equal events of each tag: a style element may import several sheets. */
static void number_events(run *r) {
  collect_events(r);
  qsort(r->items, r->count, sizeof *r->items, compare);
  for (size_t i = 1; i < r->count; i++) {
    const seen *last = &r->items[i - 1];
    seen *one = &r->items[i];
    if (one->offset == last->offset && one->kind == last->kind && one->event == last->event)
      one->ordinal = last->ordinal + 1;
  }
}

static bool is_cancelled(const run *r, const seen *confirmed) {
  for (size_t i = 0; i < r->count; i++) {
    const seen *one = &r->items[i];
    if (one->event == HPAR_RESOURCE_CANCELLED && one->offset == confirmed->offset && one->kind == confirmed->kind &&
        one->ordinal == confirmed->ordinal && one->time > confirmed->time)
      return true;
  }
  return false;
}

/* Writes the time of each confirmed resource. Returns their number. */
static size_t read_times(const run *r, bool takes_found, uint64_t *times, uint64_t *offsets) {
  size_t count = 0;
  for (size_t i = 0; i < r->count; i++) {
    const seen *one = &r->items[i];
    if (one->event != HPAR_RESOURCE_CONFIRMED || is_cancelled(r, one)) continue;
    offsets[count] = one->offset;
    times[count] = one->time;
    for (size_t k = i; takes_found && k-- > 0 && r->items[k].offset == one->offset;) {
      const seen *found = &r->items[k];
      if (found->event == HPAR_RESOURCE_FOUND && found->kind == one->kind && found->ordinal == one->ordinal &&
          found->time < times[count])
        times[count] = found->time;
    }
    count++;
  }
  return count;
}

static hpar_status run_method(size_t method, hpar_parser *parser, hpar_document *document, run *r, const char *bytes,
                              size_t length) {
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = methods[method].threads, .parallel.wait = HPAR_WAIT_SPIN};
  options.mode = methods[method].threads > 1 ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
  options.resources.callback = note;
  options.resources.context = r;
  hpar_status status = hpar_parser_prepare(parser, &options);
  forget_events(r);
  r->begin = now();
  if (status) return status;
  status = methods[method].scans ? hpar_scan_resources(parser, &options, bytes, length)
                                 : hpar_parse(parser, &options, bytes, length, document, NULL);
  r->end = now();
  return status;
}

static void print_numbers(const char *name, const uint64_t *numbers, size_t count) {
  printf("\"%s\": [", name);
  for (size_t i = 0; i < count; i++) printf("%s%llu", i ? ", " : "", (unsigned long long)numbers[i]);
  printf("]");
}

static bool measure(unsigned rounds, const char *path) {
  static run r;
  static uint64_t times[MAX_EVENTS], best[MAX_EVENTS], offsets[MAX_EVENTS];
  uint64_t totals[METHODS];
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  size_t length, count = 0;
  char *bytes = read_page(path, 0, &length);
  bool fine = bytes && !hpar_parser_create(&parser) && !hpar_document_create(&document);
  if (fine) printf("{\"bytes\": %zu, \"methods\": {", length);
  for (size_t m = 0; fine && m < METHODS; m++) {
    uint64_t least = UINT64_MAX;
    totals[m] = UINT64_MAX;
    for (unsigned i = 0; fine && i < rounds; i++) {
      fine = !run_method(m, parser, document, &r, bytes, length);
      if (r.end - r.begin < totals[m]) totals[m] = r.end - r.begin;
      hpar_document_clear(document);
      number_events(&r);
      count = read_times(&r, methods[m].takes_found, times, offsets);
      uint64_t sum = 0;
      for (size_t k = 0; k < count; k++) sum += times[k];
      if (sum >= least) continue;
      least = sum;
      memcpy(best, times, count * sizeof *times);
    }
    printf("%s", m ? ", " : "");
    print_numbers(methods[m].name, best, count);
  }
  if (fine) printf("}, ");
  if (fine) print_numbers("totals", totals, METHODS);
  if (fine) printf(", ");
  if (fine) print_numbers("offsets", offsets, count);
  if (fine) printf("}\n");
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  free(bytes);
  return fine;
}

/*** accuracy ***/

/* The tags with resources of one kind, over all pages. */
typedef struct totals {
  uint64_t found, wrong, confirmed;
} totals;

/* Adds the tags of a run. A tag is wrong if it is found and never confirmed. A parse that begins
 * again finds and confirms tags twice, which counts once. */
static void add_tags(run *r, totals *to) {
  number_events(r);
  for (size_t i = 0, end; i < r->count; i = end) {
    bool found = false, confirmed = false;
    for (end = i;
         end < r->count && r->items[end].offset == r->items[i].offset && r->items[end].kind == r->items[i].kind;
         end++) {
      found |= r->items[end].event == HPAR_RESOURCE_FOUND;
      confirmed |= r->items[end].event == HPAR_RESOURCE_CONFIRMED;
    }
    to->found += found;
    to->wrong += found && !confirmed;
    to->confirmed += confirmed;
  }
}

static bool run_parts(bool scans, unsigned parts, hpar_parser *parser, hpar_document *document, const char *bytes,
                      size_t length, run *r) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  if (parts > 1) {
    options.mode = HPAR_MODE_PARALLEL;
    options.threads = parts;
    options.parallel.executor = HPAR_EXECUTOR_INLINE;
    options.parallel.chunks = parts;
  }
  options.resources.callback = note;
  options.resources.context = r;
  forget_events(r);
  return !(scans ? hpar_scan_resources(parser, &options, bytes, length)
                 : hpar_parse(parser, &options, bytes, length, document, NULL));
}

static bool measure_accuracy(unsigned parts, char **paths, int count) {
  static run r;
  totals of[3] = {{0}}; /* of the sequential parse, the parallel one, and the scan */
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  bool fine = !hpar_parser_create(&parser) && !hpar_document_create(&document);
  for (int i = 0; fine && i < count; i++) {
    size_t length;
    char *bytes = read_page(paths[i], 0, &length);
    fine = bytes;
    for (int way = 0; fine && way < 3; way++) {
      fine = run_parts(way == 2, way ? parts : 1, parser, document, bytes, length, &r);
      add_tags(&r, &of[way]);
    }
    hpar_document_clear(document);
    free(bytes);
  }
  printf("{\"pages\": %d, \"parts\": %u", count, parts);
  for (int way = 0; way < 3; way++)
    printf(", \"%s\": {\"found\": %llu, \"wrong\": %llu, \"confirmed\": %llu}",
           way == 0   ? "sequential"
           : way == 1 ? "parse"
                      : "scan",
           (unsigned long long)of[way].found, (unsigned long long)of[way].wrong, (unsigned long long)of[way].confirmed);
  printf("}\n");
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return fine;
}

int main(int count, char **arguments) {
  bool accuracy = count > 3 && !strcmp(arguments[1], "--accuracy");
  if (!accuracy && count != 3) {
    fputs("usage: hpar-discovery ROUNDS FILE | --accuracy PARTS FILE...\n", stderr);
    return 2;
  }
  bool fine = accuracy ? measure_accuracy((unsigned)strtoul(arguments[2], NULL, 10), arguments + 3, count - 3)
                       : measure((unsigned)strtoul(arguments[1], NULL, 10), arguments[2]);
  return fine ? 0 : 1;
}
