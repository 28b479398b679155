/* Records whose Content-Length is too large. The reader goes back to the next record, also in a
 * stream, and equally for every division of the file. */

#include "check.h"

#include "programs/warc/warc.h"
#include "support/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 7, DAMAGED = 3, MAX_REPORTS = 4000 };

typedef struct reports {
  hp_warc_problem problems[MAX_REPORTS];
  uint64_t offsets[MAX_REPORTS];
  size_t count, fine;
  uint64_t bytes;
} reports;

static bool add_report(void *context, const hp_warc_record *r) {
  reports *to = context;
  CHECK(to->count < MAX_REPORTS && r->index == to->count);
  CHECK(r->problem || r->block.length == r->content_length);
  to->problems[to->count] = r->problem;
  to->offsets[to->count++] = r->offset;
  to->fine += !r->problem;
  to->bytes += r->problem ? 0 : r->block.length;
  return true;
}

/* Reads the file in pieces of `piece` bytes after the first one. */
static reports read_pieces(const buffer *file, size_t first, size_t piece, const hp_warc_options *options) {
  reports r = {0};
  hp_warc_reader *reader = NULL;
  hpar_status status = hp_warc_create(&reader, options, add_report, &r);
  for (size_t at = 0; !status && at < file->length;) {
    size_t now = at ? piece : first;
    if (now > file->length - at) now = file->length - at;
    char *copy = malloc(now); /* AddressSanitizer finds accesses after the piece */
    CHECK(copy);
    memcpy(copy, file->bytes + at, now);
    status = hp_warc_feed(reader, copy, now);
    free(copy);
    at += now;
  }
  if (!status) status = hp_warc_finish(reader);
  CHECK(!status);
  hp_warc_destroy(reader);
  return r;
}

static bool is_equal(const reports *a, const reports *b) {
  return a->count == b->count && a->bytes == b->bytes &&
         !memcmp(a->problems, b->problems, a->count * sizeof *a->problems) &&
         !memcmp(a->offsets, b->offsets, a->count * sizeof *a->offsets);
}

/* Adds a record with this length in its head. */
static void add_record(buffer *file, const char *block, uint64_t length) {
  buffer_format(file,
                "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/\r\nContent-Type: text/html\r\n"
                "Content-Length: %llu\r\n\r\n%s\r\n\r\n",
                (unsigned long long)length, block);
}

/* Adds records, one of which has a length that is too large by `excess`. */
static void add_records(buffer *file, size_t offsets[RECORDS + 1], uint64_t excess) {
  static const char *const blocks[] = {"<p>text", "HTTP/1.1 200 OK\r\n\r\n<p>a\r\n\r\nWARC, not a record", ""};
  for (size_t i = 0; i < RECORDS; i++) {
    const char *block = blocks[i % 3];
    offsets[i] = file->length;
    add_record(file, block, strlen(block) + (i == DAMAGED ? excess : 0));
  }
  offsets[RECORDS] = file->length;
}

/* Returns whether the bytes at `at` confirm a length that ends there. */
static bool is_confirmed(const buffer *file, size_t at) {
  size_t breaks = 0;
  for (; at < file->length && strchr("\r\n", file->bytes[at]); at++) breaks += file->bytes[at] == '\n';
  return at == file->length || breaks > 1 || (file->length - at > 4 && !memcmp(file->bytes + at, "WARC/", 5));
}

/* Every excess, up to lengths beyond the end of the file. */
static void test_excess(void) {
  size_t lost = 0, found = 0;
  for (uint64_t excess = 1;; excess++) {
    buffer file = {0};
    size_t offsets[RECORDS + 1];
    add_records(&file, offsets, excess);
    const char *head_end = strstr(file.bytes + offsets[DAMAGED], "\r\n\r\n");
    size_t end = (size_t)(head_end + 4 - file.bytes) + strlen("<p>text") + excess;
    hp_warc_options known = {.size = file.length};
    reports stream = read_pieces(&file, file.length, file.length, NULL);
    reports sized = read_pieces(&file, file.length, file.length, &known);
    CHECK(is_equal(&stream, &sized));
    if (end > file.length || !is_confirmed(&file, end)) {
      found++;
      if (stream.count != RECORDS || stream.fine != RECORDS - 1) printf("excess %llu\n", (unsigned long long)excess);
      CHECK(stream.count == RECORDS && stream.fine == RECORDS - 1);
      for (size_t i = 0; i < RECORDS; i++) CHECK_EQ(stream.offsets[i], offsets[i]);
      CHECK_EQ(stream.problems[DAMAGED], end > file.length ? HP_WARC_TRUNCATED : HP_WARC_LENGTH);
    } else {
      lost++;
    }
    if (excess % 7 == 0 || end > file.length)
      for (size_t first = 1; first < file.length; first += 1 + excess % 5) {
        reports pieces = read_pieces(&file, first, 1 + first % 61, first % 2 ? &known : NULL);
        CHECK(is_equal(&stream, &pieces));
      }
    bool is_last = end > file.length + 20;
    buffer_free(&file);
    if (is_last) break;
  }
  CHECK(found > 300 && lost < found / 10);
}

/* A block of the right length may be an archive. */
static void test_archive_in_archive(void) {
  buffer inner = {0}, file = {0};
  size_t offsets[RECORDS + 1];
  add_records(&inner, offsets, 0);
  add_record(&file, inner.bytes, inner.length);
  add_record(&file, "<p>last", 7);
  for (uint64_t size = 0; size < 2; size++) {
    hp_warc_options options = {.size = size * file.length};
    reports r = read_pieces(&file, file.length, file.length, &options);
    CHECK(r.count == 2 && r.fine == 2 && r.bytes == inner.length + 7);
  }
  buffer_free(&inner);
  buffer_free(&file);
}

/* A length above the limit: the reader keeps no block, and needs the size of the file. */
static void test_limit(void) {
  buffer file = {0};
  size_t offsets[RECORDS + 1];
  add_records(&file, offsets, UINT64_C(1) << 40);
  hp_warc_options options = {.max_block = 1000};
  reports r = read_pieces(&file, file.length, file.length, &options);
  CHECK(r.count == DAMAGED + 1 && r.problems[DAMAGED] == HP_WARC_TRUNCATED);
  options.size = file.length;
  for (size_t first = 1; first < file.length; first++) {
    r = read_pieces(&file, first, 64, &options);
    CHECK(r.count == RECORDS && r.fine == RECORDS - 1 && r.problems[DAMAGED] == HP_WARC_TRUNCATED);
  }
  buffer_free(&file);
}

/* All records have lengths that are too large: the reader finds all, and its work stays linear. */
static void test_all(void) {
  enum { MANY = 3000 };
  for (uint64_t kind = 0; kind < 3; kind++) {
    static const uint64_t excesses[] = {10, 1 << 20, 900};
    buffer file = {0};
    for (uint64_t i = 0; i < MANY; i++) add_record(&file, "<p>text of a page", 17 + excesses[kind] + i % 3);
    reports r = read_pieces(&file, file.length, file.length, NULL), pieces = read_pieces(&file, 1, 777, NULL);
    CHECK(is_equal(&r, &pieces));
    if (kind < 2) CHECK_EQ(r.count, MANY);
    CHECK(r.count > MANY / 8);
    buffer_free(&file);
  }
}

int main(void) {
  test_excess();
  test_archive_in_archive();
  test_limit();
  test_all();
  return check_report();
}
