/* hpar-crawl-scale ROUNDS ARCHIVE: measures the steps of a crawl on an archive of gzip members.
 * Prints one JSON object: the sizes, and by step the processor time of each round in nanoseconds.
 * The steps run alternately, all on the archive in memory. `crawl` is the whole map step with the
 * default profiles. `alone` and `together` are elapsed times of one and of two processes that each
 * crawl the archive. `processor alone` and `processor together` are the processor times of one of
 * these processes. */

#include "programs/crawl/map.h"
#include "programs/warc/http.h"
#include "programs/warc/unpack.h"
#include "programs/warc/warc.h"

#include <hpar/hpar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if HPAR_ZLIB
#include <zlib.h>
#endif
#if HPAR_LIBDEFLATE
#include <libdeflate.h>
#endif

enum { PIECE = 1 << 20, MAX_ROUNDS = 1000, MAX_MEMBER = 64 << 20, MIN_SPLIT = 64 << 10 };

typedef struct page {
  char *bytes;
  size_t length;
  char charset[64]; /* of the header; "": none that is known */
} page;

static char *archive;
static size_t archive_length;
static page *pages;
static size_t page_count, page_capacity;
static uint64_t unpacked_bytes, page_bytes, records;
static hp_http_memory http;
static hpar_parser *parser;
static hpar_document *document;

static void fail(const char *what) {
  fprintf(stderr, "hpar-crawl-scale: %s\n", what);
  exit(1);
}

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail("the archive cannot be read");
  archive_length = (size_t)ftell(file);
  rewind(file);
  archive = malloc(archive_length + 1);
  if (!archive || fread(archive, 1, archive_length, file) != archive_length) fail("the archive cannot be read");
  fclose(file);
}

/*** unpacking alone ***/

#if HPAR_ZLIB
static void unpack_zlib(void) {
  static char out[PIECE];
  z_stream s = {0};
  if (inflateInit2(&s, 31) != Z_OK) fail("zlib");
  s.next_in = (Bytef *)archive;
  s.avail_in = (uInt)archive_length;
  for (uint64_t sum = 0;;) {
    s.next_out = (Bytef *)out;
    s.avail_out = sizeof out;
    int result = inflate(&s, Z_NO_FLUSH);
    sum += sizeof out - s.avail_out;
    if (result != Z_OK && result != Z_STREAM_END) fail("zlib finds damage");
    if (result == Z_STREAM_END && !s.avail_in) {
      unpacked_bytes = sum;
      break;
    }
    if (result == Z_STREAM_END) inflateReset(&s);
  }
  inflateEnd(&s);
}
#endif

#if HPAR_LIBDEFLATE
static void unpack_libdeflate(void) {
  static char *out;
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
  if (!out) out = malloc(MAX_MEMBER);
  if (!d || !out) fail("no memory");
  size_t used = 0, made = 0;
  for (size_t at = 0; at < archive_length; at += used)
    if (libdeflate_gzip_decompress_ex(d, archive + at, archive_length - at, out, MAX_MEMBER, &used, &made))
      fail("libdeflate finds damage");
  libdeflate_free_decompressor(d);
}
#endif

/*** the reader ***/

static void feed(hp_warc_callback callback, void *context) {
  hp_warc_reader *reader = NULL;
  hpar_status status = hp_warc_create(&reader, NULL, callback, context);
  for (size_t at = 0; !status && at < archive_length; at += PIECE)
    status = hp_warc_feed(reader, archive + at, archive_length - at < PIECE ? archive_length - at : PIECE);
  if (!status) status = hp_warc_finish(reader);
  hp_warc_destroy(reader);
  if (status) fail(hpar_status_text(status));
}

static bool take_nothing(void *context, const hp_warc_record *record) {
  (void)context;
  (void)record;
  return true;
}

static void read_records(void) { feed(take_nothing, NULL); }

static bool is_page(const hp_warc_record *record, hp_http_message *m) {
  if (record->problem || record->type.length != 8 || memcmp(record->type.bytes, "response", 8)) return false;
  if (hp_http_read(record->block, 1 << 30, &http, m)) fail("no memory");
  return !m->problem && m->status == 200 && m->content_type.length >= 9 &&
         (!strncasecmp(m->content_type.bytes, "text/html", 9) ||
          !strncasecmp(m->content_type.bytes, "application/xhtml+xml", 9));
}

static bool take_message(void *context, const hp_warc_record *record) {
  hp_http_message m;
  (void)context;
  is_page(record, &m);
  return true;
}

static void read_messages(void) { feed(take_message, NULL); }

static bool keep_page(void *context, const hp_warc_record *record) {
  hp_http_message m;
  (void)context;
  records++;
  if (!is_page(record, &m)) return true;
  if (page_count == page_capacity) {
    page_capacity = page_capacity ? page_capacity * 2 : 1024;
    pages = realloc(pages, page_capacity * sizeof *pages);
  }
  char *copy = malloc(m.body.length + 1);
  if (!pages || !copy) fail("no memory");
  memcpy(copy, m.body.bytes, m.body.length);
  page *to = &pages[page_count++];
  *to = (page){.bytes = copy, .length = m.body.length};
  if (hpar_encoding_name(m.charset)) snprintf(to->charset, sizeof to->charset, "%s", m.charset);
  page_bytes += m.body.length;
  return true;
}

/*** parsing alone ***/

static void parse_pages(bool split) {
  for (size_t i = 0; i < page_count; i++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
    if (*pages[i].charset) options.encoding = pages[i].charset;
    if (split && pages[i].length >= MIN_SPLIT) {
      options.mode = HPAR_MODE_PARALLEL;
      options.threads = 2;
    }
    hpar_status status = hpar_parse(parser, &options, pages[i].bytes, pages[i].length, document, NULL);
    if (status && status != HPAR_ERROR_UNSUPPORTED) fail(hpar_status_text(status));
    hpar_document_clear(document);
  }
}

static void parse_sequentially(void) { parse_pages(false); }

/*** the crawl ***/

static bool map_record(void *context, const hp_warc_record *record) { return !hp_map_record(context, record); }

static void crawl_with(unsigned profiles) {
  hp_map_options options = {.profiles = profiles, .memory = 1 << 30, .sample_of = 100};
  hp_tally tally = {0};
  hp_map *map = NULL;
  if (hp_map_create(&map, &options, &tally)) fail("no memory");
  feed(map_record, map);
  if (hp_map_finish(map)) fail("no memory");
  hp_map_destroy(map);
  hp_tally_free(&tally);
}

static uint64_t nanoseconds(const struct timeval *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

static void crawl(void) {
  crawl_with(HP_PROFILE_SIZES | HP_PROFILE_ENCODINGS | HP_PROFILE_ELEMENTS | HP_PROFILE_LINKS | HP_PROFILE_TEXT);
}

static void crawl_encodings(void) { crawl_with(HP_PROFILE_ENCODINGS); }

/* Returns the elapsed time of this many processes that crawl the archive at the same time. Sets
 * `*processor` to the mean processor time of one of them. */
static uint64_t crawl_by_processes(int count, uint64_t *processor) {
  int gate[2];
  char byte = 0;
  if (pipe(gate)) fail("no pipe");
  for (int i = 0; i < count; i++) {
    pid_t child = fork();
    if (child < 0) fail("no process");
    if (child) continue;
    close(gate[1]);
    if (read(gate[0], &byte, 1) < 0) _exit(1);
    crawl();
    _exit(0);
  }
  uint64_t begin = now(CLOCK_MONOTONIC);
  close(gate[0]);
  close(gate[1]);
  int status = 0;
  uint64_t sum = 0;
  for (int i = 0; i < count; i++) {
    struct rusage usage;
    if (wait4(-1, &status, 0, &usage) < 0 || status) fail("a process failed");
    sum += nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
  }
  uint64_t elapsed = now(CLOCK_MONOTONIC) - begin;
  *processor = sum / (unsigned)count;
  return elapsed;
}

/*** rounds ***/

static const struct {
  const char *name;
  void (*run)(void);
} steps[] = {
#if HPAR_LIBDEFLATE
    {"unpack by libdeflate", unpack_libdeflate},
#endif
#if HPAR_ZLIB
    {"unpack by zlib", unpack_zlib},
#endif
    {"read records", read_records},
    {"read messages", read_messages},
    {"parse", parse_sequentially},
    {"crawl with encodings only", crawl_encodings},
    {"crawl", crawl},
};
enum { STEPS = sizeof steps / sizeof *steps, ELAPSED = 6 };

static const char *const elapsed_names[ELAPSED] = {"parse by one thread", "parse by two threads", "alone", "together",
                                                   "processor alone",     "processor together"};

static void measure_elapsed(uint64_t times[ELAPSED][MAX_ROUNDS], int round) {
  for (int i = 0; i < 2; i++) {
    uint64_t begin = now(CLOCK_MONOTONIC);
    parse_pages(i == 1);
    times[i][round] = now(CLOCK_MONOTONIC) - begin;
    times[i + 2][round] = crawl_by_processes(i + 1, &times[i + 4][round]);
  }
}

int main(int count, char **arguments) {
  int rounds = count == 3 ? atoi(arguments[1]) : 0;
  if (rounds < 1 || rounds > MAX_ROUNDS) {
    fputs("usage: hpar-crawl-scale ROUNDS ARCHIVE.warc.gz\n", stderr);
    return 2;
  }
  static uint64_t times[STEPS + ELAPSED][MAX_ROUNDS];
  load(arguments[2]);
  feed(keep_page, NULL);
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) fail("no memory");
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < STEPS; i++) {
      uint64_t begin = now(CLOCK_PROCESS_CPUTIME_ID);
      steps[i].run();
      times[i][round] = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    }
    measure_elapsed(times + STEPS, round);
  }
  printf("{\"packed\":%zu,\"unpacked\":%llu,\"records\":%llu,\"pages\":%zu,\"page_bytes\":%llu", archive_length,
         (unsigned long long)unpacked_bytes, (unsigned long long)records, page_count, (unsigned long long)page_bytes);
  for (int i = 0; i < STEPS + ELAPSED; i++) {
    printf(",\"%s\":[", i < STEPS ? steps[i].name : elapsed_names[i - STEPS]);
    for (int round = 0; round < rounds; round++)
      printf("%s%llu", round ? "," : "", (unsigned long long)times[i][round]);
    putchar(']');
  }
  puts("}");
  return fflush(stdout) != 0;
}
