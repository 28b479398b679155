#include "peer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct page {
  char *bytes;
  size_t length;
} page;

static page *pages;
static size_t page_count;

static bool read_page(const char *path, page *page) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  page->bytes = malloc((size_t)length + 1);
  page->length = page->bytes ? fread(page->bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  return page->bytes && page->length == (size_t)length;
}

static bool read_pages(const char *list) {
  FILE *file = fopen(list, "r");
  char path[4096];
  if (!file) return false;
  while (fgets(path, sizeof path, file)) {
    path[strcspn(path, "\n")] = 0;
    pages = realloc(pages, (page_count + 1) * sizeof *pages);
    if (!pages || !read_page(path, &pages[page_count++])) return false;
  }
  fclose(file);
  return true;
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

typedef enum form { FRESH, REUSED, FRESH_READ, REUSED_READ, NEW, FORMS } form;

static const char *const form_names[FORMS] = {"fresh\n", "reused\n", "fresh-read\n", "reused-read\n", "new\n"};

static size_t read_sum; /* of the form that reads */

/* Small pages are parsed several times, because reading the clock takes time, too. */
enum { BATCH_BYTES = 32 << 10, MAX_BATCH = 32 };

static bool can_parse(const peer *peer, form form) {
  if (form == NEW) return peer->parse_new;
  bool reads = form == FRESH_READ || form == REUSED_READ, again = form == REUSED || form == REUSED_READ;
  return (peer->read || !reads) && (peer->parse_again || !again);
}

static bool parse_once(const peer *peer, const page *page, form form) {
  if (form == NEW) return peer->parse_new(page->bytes, page->length);
  bool reads = form == FRESH_READ || form == REUSED_READ, again = form == REUSED || form == REUSED_READ;
  void *document = (again ? peer->parse_again : peer->parse)(page->bytes, page->length);
  if (document && reads) read_sum += peer->read(document);
  if (document && !again) peer->destroy(document);
  return document;
}

static bool round_of_all(const peer *peer, form form) {
  if (!can_parse(peer, form)) return puts("none") >= 0;
  for (size_t i = 0; i < page_count; i++) {
    unsigned batch = 1 + (unsigned)(BATCH_BYTES / (pages[i].length + 1));
    if (batch > MAX_BATCH) batch = MAX_BATCH;
    uint64_t begin = now();
    for (unsigned k = 0; k < batch; k++)
      if (!parse_once(peer, &pages[i], form)) return false;
    printf("%.0f%c", (double)(now() - begin) / batch, i + 1 < page_count ? ' ' : '\n');
  }
  return true;
}

static bool dump(const peer *peer, size_t index, const char *path) {
  if (!peer->dump) return puts("none") >= 0;
  void *document = index < page_count ? peer->parse(pages[index].bytes, pages[index].length) : NULL;
  FILE *out = fopen(path, "wb");
  if (!document || !out) return false;
  peer->dump(document, out);
  peer->destroy(document);
  return !fclose(out) && puts("done") >= 0;
}

static unsigned long peak(void) {
  unsigned long kilobytes = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %lu", &kilobytes);
  if (file) fclose(file);
  return kilobytes;
}

/* Prints what the reader returns for all pages. */
static bool sum_all(const peer *peer) {
  if (!can_parse(peer, FRESH_READ)) return puts("none") >= 0;
  read_sum = 0;
  for (size_t i = 0; i < page_count; i++)
    if (!parse_once(peer, &pages[i], FRESH_READ)) return false;
  return printf("%zu\n", read_sum) > 0;
}

/* Returns the form of a command, or FORMS. */
static form form_of(const char *line) {
  form form = FRESH;
  while (form < FORMS && strcmp(line, form_names[form]) != 0) form++;
  return form;
}

/* What it takes to keep all documents. */
static bool keep_all(const peer *peer) {
  unsigned long before = peak();
  for (size_t i = 0; i < page_count; i++)
    if (!peer->parse(pages[i].bytes, pages[i].length)) return false;
  printf("%lu\n", (peak() - before) * 1024);
  return true;
}

int peer_run(const peer *peer, int count, char **arguments) {
  char line[4096], path[4096];
  unsigned long index;
  if (count != 2 || !read_pages(arguments[1])) {
    fprintf(stderr, "%s: cannot read the pages\n", arguments[0]);
    return 2;
  }
  printf("%s\n", peer->version);
  bool fine = true;
  while (fine && !fflush(stdout) && fgets(line, sizeof line, stdin)) {
    if (form_of(line) < FORMS)
      fine = round_of_all(peer, form_of(line));
    else if (!strcmp(line, "sum\n"))
      fine = sum_all(peer);
    else if (!strcmp(line, "memory\n"))
      fine = keep_all(peer);
    else if (sscanf(line, "dump %lu %4095[^\n]", &index, path) == 2)
      fine = dump(peer, index, path);
    else
      fine = false;
  }
  return fine ? 0 : 1;
}

void peer_line(FILE *out, unsigned depth) { fprintf(out, "| %*s", (int)(2 * depth), ""); }

/* Of a name as it is shown, in the order of UTF-16. */
static int byte_at(const peer_attribute *attribute, size_t index) {
  size_t prefix = strlen(attribute->prefix);
  if (index >= prefix + attribute->name_length) return -1;
  unsigned char byte = (unsigned char)(index < prefix ? attribute->prefix[index] : attribute->name[index - prefix]);
  return byte >= 0xee && byte <= 0xef ? byte + 0x10 : byte;
}

static int by_name(const void *a, const void *b) {
  for (size_t i = 0;; i++) {
    int x = byte_at(a, i), y = byte_at(b, i);
    if (x != y) return x - y;
    if (x < 0) return 0;
  }
}

void peer_attributes(FILE *out, unsigned depth, peer_attribute *attributes, size_t count) {
  qsort(attributes, count, sizeof *attributes, by_name);
  for (size_t i = 0; i < count; i++) {
    peer_line(out, depth);
    fprintf(out, "%s", attributes[i].prefix);
    fwrite(attributes[i].name, 1, attributes[i].name_length, out);
    fputs("=\"", out);
    fwrite(attributes[i].value, 1, attributes[i].value_length, out);
    fputs("\"\n", out);
  }
}
