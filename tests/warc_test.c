/* The reader of web archives: equal reports for every division of a file, the records of valid and
 * damaged archives, HTTP messages, parts of files, and allocations that fail. */

#include "check.h"

#include "base/memory.h"
#include "programs/warc/codec.h"
#include "programs/warc/http.h"
#include "programs/warc/warc.h"
#include "support/archive.h"
#include "support/buffer.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

#if HPAR_ZSTD
#include <zstd.h>
#endif

static const archive_format formats[] = {ARCHIVE_PLAIN, ARCHIVE_GZIP, ARCHIVE_ZSTD};

static uint64_t sum_of(const char *bytes, size_t length) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++) sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return sum;
}

typedef struct log {
  buffer lines;
  uint64_t counts[HP_WARC_PROBLEMS];
  uint64_t bytes;
} log;

static bool write_report(void *context, const hp_warc_record *r) {
  log *l = context;
  CHECK(r->problem < HP_WARC_PROBLEMS);
  CHECK(r->problem || r->block.length == r->content_length);
  l->counts[r->problem]++;
  l->bytes += r->block.length;
  buffer_format(&l->lines, "%llu %llu+%llu %s %llu '%.*s' '%.*s' '%.*s' %llx %zu %llx\n", (unsigned long long)r->index,
                (unsigned long long)r->offset, (unsigned long long)r->inner, hp_warc_problem_name(r->problem),
                (unsigned long long)r->content_length, (int)r->type.length, r->type.bytes, (int)r->uri.length,
                r->uri.bytes, (int)r->truncated.length, r->truncated.bytes,
                (unsigned long long)sum_of(r->head.bytes, r->head.length), r->block.length,
                (unsigned long long)sum_of(r->block.bytes, r->block.length));
  return true;
}

/* Reads the archive in pieces. `first` above 0 is the length of the first piece. */
static hpar_status read_archive(const char *bytes, size_t length, size_t first, size_t piece,
                                const hp_warc_options *options, log *l) {
  hp_warc_reader *reader = NULL;
  hpar_status status = hp_warc_create(&reader, options, write_report, l);
  for (size_t at = 0; !status && at < length;) {
    size_t now = at || !first ? piece : first;
    if (now > length - at) now = length - at;
    /* A copy, so that AddressSanitizer finds accesses after the piece. */
    char *copy = malloc(now);
    memcpy(copy, bytes + at, now);
    status = hp_warc_feed(reader, copy, now);
    free(copy);
    at += now;
  }
  if (!status) status = hp_warc_finish(reader);
  hp_warc_destroy(reader);
  return status;
}

static void free_log(log *l) { buffer_free(&l->lines); }

static void check_equal(const log *a, const log *b, const char *what, uint64_t number) {
  if (a->lines.length == b->lines.length && !memcmp(a->lines.bytes, b->lines.bytes, a->lines.length)) return;
  fprintf(stderr, "%s %llu: the reports differ\n%.*s---\n%.*s", what, (unsigned long long)number, (int)a->lines.length,
          a->lines.bytes, (int)b->lines.length, b->lines.bytes);
  CHECK(false);
}

/* Every record of a valid archive arrives once, with its bytes. */
static void test_valid(void) {
  for (size_t f = 0; f < 3; f++) {
    if (!archive_can_write(formats[f])) continue;
    archive_options o = {.seed = 7 + f, .format = formats[f], .small = true};
    uint64_t records = 300;
    buffer archive = {0};
    for (uint64_t i = 0; i < records; i++) CHECK(archive_record(&o, i, &archive) == ARCHIVE_VALID);
    log l = {0};
    CHECK(read_archive(archive.bytes, archive.length, 0, 1 << 20, NULL, &l) == HPAR_OK);
    CHECK(l.counts[HP_WARC_FINE] == records);
    for (int i = 1; i < HP_WARC_PROBLEMS; i++) CHECK(!l.counts[i]);
    free_log(&l);
    buffer_free(&archive);
  }
}

/* A damaged record between valid ones costs no other record, except what its length swallows. */
static void test_damage(void) {
  for (size_t f = 0; f < 3; f++) {
    if (!archive_can_write(formats[f])) continue;
    for (int damage = 1; damage < ARCHIVE_DAMAGES; damage++) {
      archive_options o = {.seed = 31, .format = formats[f], .small = true};
      buffer archive = {0};
      for (uint64_t i = 0; i < 9; i++)
        archive_damaged_record(&o, i, i == 4 ? (archive_damage)damage : ARCHIVE_VALID, &archive);
      log l = {0};
      CHECK(read_archive(archive.bytes, archive.length, 0, 1 << 20, NULL, &l) == HPAR_OK);
      uint64_t fine = l.counts[HP_WARC_FINE], all = 0;
      for (int i = 0; i < HP_WARC_PROBLEMS; i++) all += l.counts[i];
      bool in_content = damage == ARCHIVE_CODING || damage == ARCHIVE_CHUNKS || damage == ARCHIVE_BOMB ||
                        damage == ARCHIVE_NO_SEPARATOR;
      bool swallows = formats[f] == ARCHIVE_PLAIN && (damage == ARCHIVE_CUT_BLOCK || damage == ARCHIVE_CUT_HEAD);
      if (damage == ARCHIVE_LENGTH_HUGE && formats[f] == ARCHIVE_PLAIN)
        CHECK(fine == 4 && all == 5);
      else if (in_content)
        CHECK(fine == 9 && all == 9);
      else if (damage == ARCHIVE_GARBAGE_AFTER)
        CHECK(fine == 9 && all == 10);
      else if (damage == ARCHIVE_FLIPPED_BIT)
        CHECK(fine >= 7 && fine <= 9);
      else if (swallows)
        CHECK(fine >= 7 && all >= 8);
      else if (fine != 8 || all < 9) {
        fprintf(stderr, "format %zu, damage %d:\n%s", f, damage, l.lines.bytes);
        CHECK(false);
      }
      free_log(&l);
      buffer_free(&archive);
    }
  }
}

/* Reports do not depend on the division into pieces. */
static void test_splits(void) {
  for (size_t f = 0; f < 3; f++) {
    if (!archive_can_write(formats[f])) continue;
    archive_options o = {.seed = 91 + f, .format = formats[f], .small = true, .damaged_percent = 40};
    for (uint64_t group = 0; group < 4; group++) {
      buffer archive = {0};
      for (uint64_t i = 0; i < 8; i++) archive_record(&o, 1 + group * 8 + i, &archive);
      log whole = {0};
      CHECK(read_archive(archive.bytes, archive.length, 0, archive.length, NULL, &whole) == HPAR_OK);
      size_t step = archive.length > 4000 ? archive.length / 2000 : 1;
      for (size_t cut = 1; cut < archive.length; cut += step) {
        log l = {0};
        CHECK(read_archive(archive.bytes, archive.length, cut, archive.length, NULL, &l) == HPAR_OK);
        check_equal(&whole, &l, "cut", cut);
        free_log(&l);
      }
      for (size_t piece = 1; piece < 12; piece++) {
        log l = {0};
        CHECK(read_archive(archive.bytes, archive.length, 0, piece, NULL, &l) == HPAR_OK);
        check_equal(&whole, &l, "piece", piece);
        free_log(&l);
      }
      free_log(&whole);
      buffer_free(&archive);
    }
  }
}

/* A large archive takes the decoder for pieces. One member is above the limit of the decoder for
 * whole members. */
static void test_large(void) {
  for (size_t f = 0; f < 3; f++) {
    if (!archive_can_write(formats[f])) continue;
    archive_options o = {.seed = 5, .format = formats[f], .damaged_percent = 10};
    buffer archive = {0}, noise = {0}, record = {0};
    random_state random = {3};
    for (uint64_t i = 0; i < 40; i++) archive_damaged_record(&o, i, ARCHIVE_VALID, &archive);
    for (size_t i = 0; i < 3 << 20; i++) buffer_byte(&noise, (char)random_next(&random));
    buffer_format(&record, "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: %zu\r\n\r\n", noise.length);
    buffer_add(&record, noise.bytes, noise.length);
    buffer_text(&record, "\r\n\r\n");
    archive_pack(formats[f], record.bytes, record.length, &archive);
    for (uint64_t i = 41; i < 60; i++) archive_record(&o, i, &archive);
    log whole = {0};
    CHECK(read_archive(archive.bytes, archive.length, 0, archive.length, NULL, &whole) == HPAR_OK);
    CHECK(whole.bytes > noise.length);
    static const size_t pieces[] = {1000, 65536, 65537, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
      log l = {0};
      CHECK(read_archive(archive.bytes, archive.length, 0, pieces[i], NULL, &l) == HPAR_OK);
      check_equal(&whole, &l, "piece", pieces[i]);
      free_log(&l);
    }
    /* With a limit, the large block is not kept. */
    hp_warc_options limited = {.max_block = 1 << 20};
    log l = {0};
    CHECK(read_archive(archive.bytes, archive.length, 0, 65536, &limited, &l) == HPAR_OK);
    CHECK(l.counts[HP_WARC_TOO_LARGE] >= 1 && l.counts[HP_WARC_FINE] <= whole.counts[HP_WARC_FINE] - 1);
    free_log(&l);
    free_log(&whole);
    buffer_free(&archive);
    buffer_free(&noise);
    buffer_free(&record);
  }
}

/* The parts of a file have together the records of the file. */
static void test_parts(void) {
  for (size_t f = 0; f < 2; f++) {
    if (!archive_can_write(formats[f])) continue;
    archive_options o = {.seed = 12, .format = formats[f], .small = true};
    buffer archive = {0};
    for (uint64_t i = 0; i < 120; i++) archive_record(&o, i, &archive);
    log whole = {0};
    CHECK(read_archive(archive.bytes, archive.length, 0, archive.length, NULL, &whole) == HPAR_OK);
    for (size_t part = 500; part < archive.length; part = part * 2 + 77) {
      uint64_t fine = 0, bytes = 0;
      for (size_t first = 0; first < archive.length; first += part) {
        hp_warc_options range = {.format = f ? HP_UNPACK_GZIP : HP_UNPACK_PLAIN, .first = first, .last = first + part};
        size_t from = first ? first - 1 : 0;
        log l = {0};
        hpar_status status = read_archive(archive.bytes + from, archive.length - from, 0, 4096, &range, &l);
        CHECK(status == HPAR_OK || status == HPAR_ERROR_CALLBACK);
        fine += l.counts[HP_WARC_FINE];
        bytes += l.bytes;
        free_log(&l);
      }
      CHECK_EQ(fine, 120);
      CHECK_EQ(bytes, whole.bytes);
    }
    free_log(&whole);
    buffer_free(&archive);
  }
}

static bool stop_third(void *context, const hp_warc_record *r) {
  ++*(int *)context;
  return r->index < 2;
}

static void test_stop(void) {
  archive_options o = {.seed = 1, .small = true};
  buffer archive = {0};
  for (uint64_t i = 0; i < 9; i++) archive_record(&o, i, &archive);
  hp_warc_reader *reader = NULL;
  int count = 0;
  CHECK(hp_warc_create(&reader, NULL, stop_third, &count) == HPAR_OK);
  CHECK(hp_warc_feed(reader, archive.bytes, archive.length) == HPAR_ERROR_CALLBACK);
  CHECK(hp_warc_finish(reader) == HPAR_ERROR_CALLBACK && count == 3);
  hp_warc_destroy(reader);
  buffer_free(&archive);
}

/*** HTTP ***/

typedef struct message_case {
  const char *block;
  hp_http_problem problem;
  unsigned status;
  const char *type, *charset, *body;
  bool chunked, not_coded;
} message_case;

static void test_http(void) {
  static const message_case cases[] = {
    {"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\nbody", 0, 200, "text/html", "utf-8", "body", 0,
     0},
    {"HTTP/1.0 404 \nContent-type:text/html ; a=b; CHARSET = \"x y\"\n\nbody\n", 0, 404, "text/html", "x y", "body\n",
     0, 0},
    {"HTTP/2 204\r\n\r\n", 0, 204, "", "", "", 0, 0},
    {"HTTP/1.1 200 OK", 0, 200, "", "", "", 0, 0},
    {"HTTP/1.1 2000 OK\r\n\r\n", HP_HTTP_HEAD, 200, "", "", NULL, 0, 0},
    {"GET / HTTP/1.1\r\n\r\n", HP_HTTP_HEAD, 0, "", "", NULL, 0, 0},
    {"", HP_HTTP_HEAD, 0, "", "", NULL, 0, 0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 0, 200, "", "",
     "abcde", 1, 0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n", 0, 200, "", "", "abc", 1, 0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n9\r\nde", HP_HTTP_DAMAGED, 200, "", "", "abcde",
     1, 0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", HP_HTTP_DAMAGED, 200, "", "", "abc", 1,
     0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>plain", 0, 200, "", "", "<p>plain", 0, 1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nabc def\r\n<p>", 0, 200, "", "", "abc def\r\n<p>", 0, 1},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 0, 200, "", "",
     "ffffffffffffffffff\r\n", 0, 1},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n<p>plain", 0, 200, "", "", "<p>plain", 0, 1},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n <p>plain", 0, 200, "", "", " <p>plain", 0, 1},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: sdch\r\n\r\nabc", HP_HTTP_CODING, 200, "", "", "abc", 0, 0},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: a,b,c,d,e\r\n\r\nabc", HP_HTTP_CODING, 200, "", "", "abc", 0, 0},
#if HPAR_BROTLI
    {"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\x06", 0, 200, "", "", "", 0, 0},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\x1b", HP_HTTP_DAMAGED, 200, "", "", "", 0, 0},
#endif
  };
  hp_http_memory memory = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const message_case *c = &cases[i];
    hp_http_message m;
    CHECK(hp_http_read((hpar_string){c->block, strlen(c->block)}, 1 << 20, &memory, &m) == HPAR_OK);
    bool fine = m.problem == c->problem && m.status == c->status && m.content_type.length == strlen(c->type) &&
                !memcmp(m.content_type.bytes, c->type, m.content_type.length) && !strcmp(m.charset, c->charset) &&
                m.chunked == c->chunked && m.not_coded == c->not_coded;
    if (c->body && (m.body.length != strlen(c->body) || memcmp(m.body.bytes, c->body, m.body.length))) fine = false;
    if (!fine)
      fprintf(stderr, "case %zu: problem %d, status %u, '%.*s'\n", i, m.problem, m.status, (int)m.body.length,
              m.body.bytes);
    CHECK(fine);
  }
  hp_http_memory_free(&memory);
}

typedef struct bodies {
  hp_http_memory memory;
  uint64_t problems[HP_HTTP_PROBLEMS], bytes, responses;
  size_t limit;
} bodies;

static bool read_body(void *context, const hp_warc_record *r) {
  bodies *b = context;
  if (r->problem || r->type.length != 8 || memcmp(r->type.bytes, "response", 8)) return true;
  hp_http_message m;
  CHECK(hp_http_read(r->block, b->limit, &b->memory, &m) == HPAR_OK);
  CHECK(m.body.length <= (b->limit > r->block.length ? b->limit : r->block.length));
  b->problems[m.problem]++;
  b->bytes += m.body.length;
  b->responses++;
  return true;
}

/* All codings have the same content; a bomb stays below the limit. */
static void test_bodies(void) {
  archive_options o = {.seed = 3, .small = true};
  buffer archive = {0};
  for (uint64_t i = 0; i < 200; i++) archive_record(&o, i, &archive);
  bodies b = {.limit = 1 << 20};
  hp_warc_reader *reader = NULL;
  CHECK(hp_warc_create(&reader, NULL, read_body, &b) == HPAR_OK);
  CHECK(hp_warc_feed(reader, archive.bytes, archive.length) == HPAR_OK);
#if HPAR_BROTLI
  CHECK(b.problems[HP_HTTP_FINE] == b.responses && b.responses > 100);
#endif
#if HPAR_ZLIB
  buffer bomb = {0};
  archive_damaged_record(&o, 201, ARCHIVE_BOMB, &bomb);
  archive_damaged_record(&o, 202, ARCHIVE_CODING, &bomb);
  CHECK(bomb.length < 100 << 10);
  CHECK(hp_warc_feed(reader, bomb.bytes, bomb.length) == HPAR_OK);
  CHECK(hp_warc_finish(reader) == HPAR_OK);
  CHECK(b.problems[HP_HTTP_TOO_LARGE] == 1 && b.problems[HP_HTTP_DAMAGED] == 1);
  buffer_free(&bomb);
#endif
  hp_warc_destroy(reader);
  hp_http_memory_free(&b.memory);
  buffer_free(&archive);
}

/*** formats ***/

static void test_dictionary(void) {
#if HPAR_ZSTD
  static const char text[] = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n";
  static const char dictionary[] = "WARC-Type: resource Content-Length: WARC/1.0 hello hello hello";
  for (int packed = 0; packed < 2; packed++) {
    buffer archive = {0}, inner = {0};
    archive_pack(packed ? ARCHIVE_ZSTD : ARCHIVE_PLAIN, dictionary, sizeof dictionary - 1, &inner);
    buffer_add(&archive, "\x5D\x2A\x4D\x18", 4);
    for (int i = 0; i < 4; i++) buffer_byte(&archive, (char)(inner.length >> 8 * i));
    buffer_add(&archive, inner.bytes, inner.length);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_loadDictionary(context, dictionary, sizeof dictionary - 1);
    for (int i = 0; i < 3; i++) {
      char frame[1000];
      size_t length = ZSTD_compress2(context, frame, sizeof frame, text, sizeof text - 1);
      CHECK(!ZSTD_isError(length));
      buffer_add(&archive, frame, length);
    }
    ZSTD_freeCCtx(context);
    for (size_t piece = 1; piece < 40; piece += 7) {
      log l = {0};
      CHECK(read_archive(archive.bytes, archive.length, 0, piece, NULL, &l) == HPAR_OK);
      CHECK(l.counts[HP_WARC_FINE] == 3 && l.bytes == 15);
      free_log(&l);
    }
    for (size_t length = 4; length < archive.length; length++) {
      log l = {0};
      CHECK(read_archive(archive.bytes, length, 0, length, NULL, &l) == HPAR_OK);
      CHECK(l.counts[HP_WARC_FINE] < 3 || length == archive.length);
      free_log(&l);
    }
    buffer_free(&archive);
    buffer_free(&inner);
  }
#endif
}

/* One member for the whole archive, and records that several members share. */
static void test_members(void) {
  if (!archive_can_write(ARCHIVE_GZIP)) return;
  archive_options o = {.seed = 8, .small = true};
  buffer plain = {0};
  for (uint64_t i = 0; i < 30; i++) archive_record(&o, i, &plain);
  for (size_t size = plain.length; size > 100; size /= 3) {
    buffer packed = {0};
    for (size_t at = 0; at < plain.length; at += size)
      archive_pack(ARCHIVE_GZIP, plain.bytes + at, plain.length - at < size ? plain.length - at : size, &packed);
    log l = {0};
    CHECK(read_archive(packed.bytes, packed.length, 0, 1000, NULL, &l) == HPAR_OK);
    CHECK(l.counts[HP_WARC_FINE] == 30);
    free_log(&l);
    buffer_free(&packed);
  }
  buffer_free(&plain);
}

/* Each allocation fails once: the status is HPAR_ERROR_MEMORY, or the reader did without. */
static void test_faults(void) {
  for (size_t f = 0; f < 3; f++) {
    if (!archive_can_write(formats[f])) continue;
    archive_options o = {.seed = 17, .format = formats[f], .small = true, .damaged_percent = 30};
    buffer archive = {0};
    for (uint64_t i = 0; i < 12; i++) archive_record(&o, i, &archive);
    for (uint64_t n = 0; n < 60; n++) {
      log l = {0};
      hp_memory_fail_once(n);
      hpar_status status = read_archive(archive.bytes, archive.length, 0, 3000, NULL, &l);
      hp_memory_fail_after(UINT64_MAX);
      CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
      free_log(&l);
    }
    buffer_free(&archive);
  }
}

static void test_text(void) {
  CHECK(!strcmp(hp_warc_problem_name(HP_WARC_FINE), "fine"));
  CHECK(!strcmp(hp_warc_problem_name(HP_WARC_PACKED), "compression"));
  CHECK(!strcmp(hp_http_problem_name(HP_HTTP_TOO_LARGE), "body-too-large"));
  log l = {0};
  CHECK(read_archive("", 0, 0, 1, NULL, &l) == HPAR_OK && !l.lines.length);
  CHECK(read_archive("\n\n", 2, 0, 1, NULL, &l) == HPAR_OK && !l.lines.length);
  CHECK(read_archive("WARC", 4, 0, 1, NULL, &l) == HPAR_OK && l.counts[HP_WARC_GARBAGE] == 1);
  CHECK(read_archive("<html>", 6, 0, 1, NULL, &l) == HPAR_OK && l.counts[HP_WARC_GARBAGE] == 2);
  static const char cut[] = "WARC/1.0\r\nWARC-Ty\r\nWARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
  log head = {0};
  CHECK(read_archive(cut, sizeof cut - 1, 0, 1, NULL, &head) == HPAR_OK);
  CHECK(head.counts[HP_WARC_HEAD] == 1 && head.counts[HP_WARC_FINE] == 1 && strstr(head.lines.bytes, "1 19+0 fine"));
  free_log(&head);
  static const char folded[] = "WARC/1.1\nWARC-Target-URI: <http://a/>\nX:\n y\nContent-Length:\n 2\n\nab";
  CHECK(read_archive(folded, sizeof folded - 1, 0, 3, NULL, &l) == HPAR_OK && l.counts[HP_WARC_FINE] == 1);
  CHECK(strstr(l.lines.bytes, "'http://a/'"));
  free_log(&l);
  /* A value with CR outside a line break, or with NUL, does not count. */
  static const char controls[] = "WARC/1.1\r\nWARC-Target-URI: http://a/\rb\r\nWARC-Target-URI: http://b/\0c\r\n"
                                 "WARC-Target-URI: http://c/\r\n d\r\nContent-Length: 0\r\n\r\n";
  log values = {0};
  CHECK(read_archive(controls, sizeof controls - 1, 0, 1, NULL, &values) == HPAR_OK);
  CHECK(values.counts[HP_WARC_FINE] == 1 && strstr(values.lines.bytes, "'http://c/\r\n d'"));
  free_log(&values);
}

int main(void) {
  test_text();
  test_valid();
  test_damage();
  test_splits();
  test_large();
  test_parts();
  test_stop();
  test_http();
  test_bodies();
  test_dictionary();
  test_members();
  test_faults();
  return check_report();
}
