#include "support/archive.h"

#include "support/corpus.h"
#include "support/generate.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HPAR_ZLIB
#include <zlib.h>
#endif
#if HPAR_ZSTD
#include <zstd.h>
#endif

enum { LARGE_PAGE = 300 << 10, CHUNK = 4000, BOMB = 8 << 20, STORED = 65536 };

bool archive_can_write(archive_format format) {
#if HPAR_ZLIB
  if (format == ARCHIVE_GZIP) return true;
#endif
#if HPAR_ZSTD
  if (format == ARCHIVE_ZSTD) return true;
#endif
  return format == ARCHIVE_PLAIN;
}

static void fail(const char *what) {
  fprintf(stderr, "archive: %s\n", what);
  abort();
}

#if HPAR_ZLIB
enum { GZIP = 31, ZLIB = 15, RAW = -15 };

static void deflate_bytes(int bits, const char *bytes, size_t length, buffer *out) {
  z_stream s = {0};
  if (deflateInit2(&s, 1, Z_DEFLATED, bits, 9, Z_DEFAULT_STRATEGY) != Z_OK) fail("no memory");
  size_t most = deflateBound(&s, length);
  char *packed = malloc(most);
  if (!packed) fail("no memory");
  s.next_in = (Bytef *)bytes;
  s.avail_in = (uInt)length;
  s.next_out = (Bytef *)packed;
  s.avail_out = (uInt)most;
  if (deflate(&s, Z_FINISH) != Z_STREAM_END) fail("deflate");
  buffer_add(out, packed, s.total_out);
  deflateEnd(&s);
  free(packed);
}
#endif

void archive_pack(archive_format format, const char *bytes, size_t length, buffer *out) {
  if (format == ARCHIVE_PLAIN) buffer_add(out, bytes, length);
#if HPAR_ZLIB
  if (format == ARCHIVE_GZIP) deflate_bytes(GZIP, bytes, length, out);
#endif
#if HPAR_ZSTD
  if (format == ARCHIVE_ZSTD) {
    size_t most = ZSTD_compressBound(length);
    char *packed = malloc(most);
    if (!packed) fail("no memory");
    size_t made = ZSTD_compress(packed, most, bytes, length, 1);
    if (ZSTD_isError(made)) fail("zstd");
    buffer_add(out, packed, made);
    free(packed);
  }
#endif
}

/* Brotli without compression: stored blocks. */
static void store_brotli(const char *bytes, size_t length, buffer *out) {
  unsigned used = 1; /* the bit of the window size */
  while (length) {
    size_t now = length < STORED ? length : STORED;
    uint32_t word = (uint32_t)(now - 1) << (used + 3) | 1u << (used + 19);
    for (int i = 0; i < 3; i++) buffer_byte(out, (char)(word >> 8 * i));
    buffer_add(out, bytes, now);
    bytes += now;
    length -= now;
    used = 0;
  }
  buffer_byte(out, used ? 6 : 3);
}

/*** pages ***/

/* The pages of the corpus. They are made once. */
static const buffer *corpus_text(size_t index) {
  static buffer *pages;
  if (!pages) {
    pages = calloc(corpus_page_count, sizeof *pages);
    if (!pages) fail("no memory");
    for (size_t i = 0; i < corpus_page_count; i++) corpus_pages[i].write(&pages[i]);
  }
  return &pages[index];
}

static void write_page(const archive_options *o, uint64_t number, random_state *random, buffer *page) {
  if (!o->small && random_chance(random, 80)) {
    const buffer *text = corpus_text(random_below(random, corpus_page_count));
    if (text->length <= LARGE_PAGE || random_chance(random, 10)) {
      buffer_format(page, "<!-- page %llu -->", (unsigned long long)number);
      buffer_add(page, text->bytes, text->length);
      return;
    }
  }
  generated document = {0};
  generate(o->seed * 1000003 + number, &document);
  buffer_add(page, document.text.bytes, document.text.length);
  generate_free(&document);
}

static void write_chunks(const buffer *body, bool valid, buffer *out) {
  for (size_t at = 0; at < body->length;) {
    size_t now = body->length - at < CHUNK ? body->length - at : CHUNK;
    buffer_format(out, "%zx%s\r\n", now, at ? "" : ";name=value");
    buffer_add(out, body->bytes + at, now);
    buffer_text(out, valid ? "\r\n" : "no end\r\n");
    at += now;
  }
  buffer_text(out, valid ? "0\r\n\r\n" : "zz\r\n");
}

static const char *pick_coding(random_state *random, archive_damage damage) {
  static const char *const codings[] = {"gzip", "deflate", "br", "gzip", "identity", "deflate, gzip"};
  const char *coding = RANDOM_OF(random, codings);
  if (damage == ARCHIVE_BOMB || damage == ARCHIVE_CODING) coding = "gzip";
#if !HPAR_ZLIB
  if (strcmp(coding, "identity")) coding = "br";
#endif
  return coding;
}

static void encode(const char *coding, random_state *random, const buffer *page, buffer *body) {
  (void)random;
  if (!strcmp(coding, "br")) store_brotli(page->bytes, page->length, body);
  if (!strcmp(coding, "identity")) buffer_add(body, page->bytes, page->length);
#if HPAR_ZLIB
  if (!strcmp(coding, "gzip")) deflate_bytes(GZIP, page->bytes, page->length, body);
  if (!strcmp(coding, "deflate"))
    deflate_bytes(random_chance(random, 50) ? ZLIB : RAW, page->bytes, page->length, body);
  if (!strcmp(coding, "deflate, gzip")) {
    buffer inner = {0};
    deflate_bytes(ZLIB, page->bytes, page->length, &inner);
    deflate_bytes(GZIP, inner.bytes, inner.length, body);
    buffer_free(&inner);
  }
#endif
}

/* Appends the HTTP message of a response. */
static void write_response(const archive_options *o, uint64_t number, archive_damage damage, random_state *random,
                           buffer *block) {
  static const char *const types[] = {"text/html; charset=utf-8",         "text/html",
                                      "text/html;charset=\"ISO-8859-1\"", "application/xhtml+xml; charset=UTF-8",
                                      "TEXT/HTML; Charset=windows-1252",  "text/html; charset=nonsense",
                                      "text/html; charset=utf-8"};
  static const char *const other_types[] = {"image/png", "application/pdf", "text/css; charset=utf-8"};
  static const char *const statuses[] = {"301 Moved Permanently", "404 Not Found", "500 Internal Server Error",
                                         "206 x"};
  buffer page = {0}, body = {0}, chunked = {0};
  write_page(o, number, random, &page);
  if (damage == ARCHIVE_BOMB)
    for (size_t i = page.length; i < BOMB; i += 8) buffer_text(&page, "<b>bomb ");
  bool is_coded = random_chance(random, 25) || damage == ARCHIVE_CODING || damage == ARCHIVE_BOMB;
  const char *coding = is_coded ? pick_coding(random, damage) : "identity";
  encode(coding, random, &page, &body);
  if (damage == ARCHIVE_CODING && body.length > 20) memset(body.bytes + body.length / 2, 0x55, 8);
  bool chunks = random_chance(random, 25) || damage == ARCHIVE_CHUNKS;
  if (chunks) write_chunks(&body, damage != ARCHIVE_CHUNKS, &chunked);
  const buffer *sent = chunks ? &chunked : &body;
  buffer_format(block, "HTTP/1.1 %s\r\n", random_chance(random, 92) ? "200 OK" : RANDOM_OF(random, statuses));
  buffer_format(block, "Date: Sun, 22 Nov 2026 10:00:00 GMT\r\nServer: generated\r\n");
  if (random_chance(random, 97))
    buffer_format(block, "Content-Type: %s\r\n",
                  random_chance(random, 92) ? RANDOM_OF(random, types) : RANDOM_OF(random, other_types));
  if (is_coded) buffer_format(block, "Content-Encoding: %s\r\n", coding);
  if (chunks)
    buffer_text(block, "Transfer-Encoding: chunked\r\n");
  else
    buffer_format(block, "Content-Length: %zu\r\n", sent->length);
  buffer_text(block, "\r\n");
  buffer_add(block, sent->bytes, sent->length);
  buffer_free(&page);
  buffer_free(&body);
  buffer_free(&chunked);
}

/*** records ***/

static const char *write_block(const archive_options *o, uint64_t number, archive_damage damage, random_state *random,
                               buffer *block) {
  bool needs_response = damage == ARCHIVE_CODING || damage == ARCHIVE_CHUNKS || damage == ARCHIVE_BOMB;
  unsigned choice = (unsigned)random_below(random, 100);
  if (!number) {
    buffer_text(block, "software: hpar-corpus\r\nformat: WARC File Format 1.1\r\n");
    return "warcinfo";
  }
  if (needs_response || choice < 70) {
    write_response(o, number, damage, random, block);
    return "response";
  }
  if (choice < 85) {
    buffer_format(block, "GET /page/%llu HTTP/1.1\r\nHost: site%llu.example\r\n\r\n", (unsigned long long)number,
                  (unsigned long long)number % 50);
    return "request";
  }
  buffer_format(block, "fetchTimeMs: %u\r\nvia: http://site1.example/\r\n", choice);
  return "metadata";
}

static void write_head(const char *type, uint64_t number, archive_damage damage, random_state *random, size_t length,
                       buffer *out) {
  static const char *const media[] = {
      "warcinfo", "application/warc-fields",           "response", "application/http; msgtype=response",
      "request",  "application/http; msgtype=request", "metadata", "application/warc-fields"};
  buffer_text(out, damage == ARCHIVE_VERSION   ? "WARK/1.0\r\n"
                   : random_chance(random, 50) ? "WARC/1.0\r\n"
                                               : "WARC/1.1\r\n");
  buffer_format(out, "WARC-Type: %s\r\n", type);
  if (number)
    buffer_format(out, "WARC-Target-URI: http://site%llu.example/page/%llu\r\n", (unsigned long long)number % 50,
                  (unsigned long long)number);
  buffer_format(
      out, "WARC-Date: 2026-11-22T10:%02u:%02uZ\r\nWARC-Record-ID: <urn:uuid:%08llx-0000-4000-8000-%012llx>\r\n",
      (unsigned)(number / 60 % 60), (unsigned)(number % 60), (unsigned long long)number, (unsigned long long)number);
  for (size_t i = 0; i < sizeof media / sizeof *media; i += 2)
    if (!strcmp(type, media[i])) buffer_format(out, "Content-Type: %s\r\n", media[i + 1]);
  if (random_chance(random, 2)) buffer_text(out, "WARC-Truncated: length\r\n");
  if (damage == ARCHIVE_HUGE_HEAD) {
    buffer_text(out, "X-Filler: ");
    for (int i = 0; i < 9000; i++) buffer_text(out, "filler  ");
    buffer_text(out, "\r\n");
  }
  const char *name = random_chance(random, 90) ? "Content-Length" : "content-length";
  if (damage == ARCHIVE_LENGTH_TEXT)
    buffer_format(out, "%s: many\r\n", name);
  else if (damage != ARCHIVE_LENGTH_MISSING)
    buffer_format(out, "%s: %zu\r\n", name, length);
  buffer_text(out, "\r\n");
}

void archive_damaged_record(const archive_options *o, uint64_t number, archive_damage damage, buffer *out) {
  random_state random = {o->seed ^ number * UINT64_C(0x9E3779B97F4A7C15)};
  buffer block = {0}, record = {0}, packed = {0};
  random_next(&random);
  const char *type = write_block(o, number, damage, &random, &block);
  size_t length = block.length;
  if (damage == ARCHIVE_LENGTH_SMALL) length = length > 20 ? length - 10 : length / 2;
  if (damage == ARCHIVE_LENGTH_LARGE) length += 10;
  if (damage == ARCHIVE_LENGTH_HUGE) length = SIZE_MAX / 4;
  write_head(type, number, damage, &random, length, &record);
  size_t head = record.length;
  buffer_add(&record, block.bytes, block.length);
  if (damage != ARCHIVE_NO_SEPARATOR) buffer_text(&record, "\r\n\r\n");
  if (damage == ARCHIVE_GARBAGE_AFTER) buffer_text(&record, "garbage\nWARC\nmore\r\n\r\n");
  if (damage == ARCHIVE_CUT_HEAD) record.length = head / 2;
  if (damage == ARCHIVE_CUT_BLOCK) record.length = head + block.length / 2;
  archive_pack(o->format, record.bytes, record.length, &packed);
  if (damage == ARCHIVE_FLIPPED_BIT) {
    size_t bytes = o->format == ARCHIVE_PLAIN ? head : packed.length;
    packed.bytes[random_below(&random, bytes)] ^= (char)(1 << random_below(&random, 8));
  }
  buffer_add(out, packed.bytes, packed.length);
  buffer_free(&block);
  buffer_free(&record);
  buffer_free(&packed);
}

archive_damage archive_record(const archive_options *o, uint64_t number, buffer *out) {
  random_state random = {o->seed + number * UINT64_C(0xD1B54A32D192ED03)};
  archive_damage damage = ARCHIVE_VALID;
  random_next(&random);
  if (number && o->damaged_percent && random_chance(&random, o->damaged_percent))
    damage = (archive_damage)(1 + random_below(&random, ARCHIVE_DAMAGES - 1));
#if !HPAR_ZLIB
  if (damage == ARCHIVE_BOMB) damage = ARCHIVE_CODING;
#endif
  archive_damaged_record(o, number, damage, out);
  return damage;
}
