/* Checks the reader of web archives and HTTP messages on any bytes. The reports are equal for every
 * division of the file, ordered, within the limits, and within the file. Half of the files have a
 * known size. */

#include "fuzz/fuzz.h"

#include "programs/warc/http.h"
#include "programs/warc/warc.h"

#include <string.h>

enum { MAX_BLOCK = 100000, MAX_BODY = 1 << 20 };

typedef struct reports {
  uint64_t sum, count, last;
  size_t length;
  hp_http_memory memory;
  const char *what;
} reports;

static void add(reports *r, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) r->sum = (r->sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void add_string(reports *r, hpar_string text) {
  add(r, &text.length, sizeof text.length);
  add(r, text.bytes, text.length);
}

static bool take(void *context, const hp_warc_record *record) {
  reports *r = context;
  if (record->index != r->count++) r->what = "a report out of order";
  if (record->offset > r->length) r->what = "a record beyond the file";
  if (record->offset < r->last) r->what = "an offset before the last";
  if (record->block.length > MAX_BLOCK) r->what = "a block above the limit";
  if (!record->problem && record->block.length != record->content_length) r->what = "a block of another length";
  r->last = record->offset;
  add(r, &record->problem, sizeof record->problem);
  add(r, &record->offset, sizeof record->offset);
  add(r, &record->inner, sizeof record->inner);
  add(r, &record->content_length, sizeof record->content_length);
  add_string(r, record->head);
  add_string(r, record->block);
  add_string(r, record->type);
  add_string(r, record->uri);
  hp_http_message m;
  if (hp_http_read(record->block, MAX_BODY, &r->memory, &m)) return true;
  if (m.body.length > MAX_BODY) r->what = "a body above the limit";
  add(r, &m.problem, sizeof m.problem);
  add_string(r, m.body);
  return !r->what;
}

static void read_all(const char *bytes, size_t length, size_t first, size_t piece, bool sized, reports *r) {
  hp_warc_options options = {.max_block = MAX_BLOCK, .size = sized ? length : 0};
  hp_warc_reader *reader = NULL;
  r->length = length;
  hpar_status status = hp_warc_create(&reader, &options, take, r);
  for (size_t at = 0; !status && at < length;) {
    size_t now = at ? piece : first;
    if (now > length - at) now = length - at;
    status = hp_warc_feed(reader, bytes + at, now);
    at += now;
  }
  if (!status) hp_warc_finish(reader);
  hp_warc_destroy(reader);
  hp_http_memory_free(&r->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  compare_case file;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &file, &choices)) return 0;
  reports whole = {0}, pieces = {0};
  bool sized = choices[2] & 64;
  read_all(file.bytes, file.length, file.length, file.length, sized, &whole);
  size_t first = file.length ? (choices[0] * 256u + choices[1]) % file.length + 1 : 1;
  read_all(file.bytes, file.length, first, choices[2] % 64 + 1u, sized, &pieces);
  if (whole.what) fuzz_wrong(whole.what, file.bytes, file.length);
  if (whole.sum != pieces.sum || whole.count != pieces.count)
    fuzz_wrong("the division changes the reports", file.bytes, file.length);
  return 0;
}
