/* hpar-records [--splits] FILE...: prints a line for each record of web archives: problem, offset,
 * type, URI, length and the FNV-1a hash of the block. A line "end" follows each file. --splits also
 * reads each file byte by byte and in two pieces, and fails where the records differ. It cuts at
 * every byte of files up to 8 KB, and at 8192 or more evenly spaced positions of larger files.
 * tests/warcio_compare.mjs reads the lines. */

#include "programs/warc/warc.h"
#include "support/buffer.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CUTS = 8192 };

static bool add_record(void *context, const hp_warc_record *r) {
  uint32_t hash = 0x811c9dc5;
  for (size_t i = 0; i < r->block.length; i++) hash = (hash ^ (unsigned char)r->block.bytes[i]) * 0x01000193;
  buffer_format(context, "%s\t%llu\t%.*s\t%.*s\t%zu\t%08x\n", hp_warc_problem_name(r->problem),
                (unsigned long long)r->offset, (int)r->type.length, r->type.bytes, (int)r->uri.length, r->uri.bytes,
                r->block.length, hash);
  return true;
}

/* Reads the archive up to `cut`, and then in pieces of `size` bytes. */
static hpar_status read_records(const buffer *archive, size_t cut, size_t size, buffer *lines) {
  hp_warc_reader *reader = NULL;
  hpar_status status = hp_warc_create(&reader, NULL, add_record, lines);
  if (!status && cut) status = hp_warc_feed(reader, archive->bytes, cut);
  for (size_t at = cut; !status && at < archive->length; at += size)
    status = hp_warc_feed(reader, archive->bytes + at, archive->length - at < size ? archive->length - at : size);
  if (!status) status = hp_warc_finish(reader);
  hp_warc_destroy(reader);
  return status;
}

static bool load(const char *path, buffer *archive) {
  static char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;) buffer_add(archive, bytes, got);
  bool fine = !ferror(file);
  fclose(file);
  return fine;
}

static bool check_splits(const char *path, const buffer *archive, const buffer *lines) {
  buffer other = {0};
  bool equal = true;
  size_t step = archive->length > MAX_CUTS ? archive->length / MAX_CUTS : 1;
  for (size_t cut = 0; equal && cut < archive->length; cut = cut ? cut + step : 1) {
    buffer_clear(&other);
    equal = !read_records(archive, cut, cut ? archive->length : 1, &other) && other.length == lines->length &&
            (!lines->length || !memcmp(other.bytes, lines->bytes, lines->length));
    if (!equal) fprintf(stderr, "hpar-records: %s: other records when cut at %zu\n", path, cut);
  }
  buffer_free(&other);
  return equal;
}

int main(int count, char **arguments) {
  bool splits = count > 1 && !strcmp(arguments[1], "--splits"), fine = true;
  int first = 1 + splits;
  if (first >= count) {
    fputs("usage: hpar-records [--splits] FILE...\n", stderr);
    return 2;
  }
  buffer archive = {0}, lines = {0};
  for (int i = first; fine && i < count; i++) {
    buffer_clear(&archive);
    buffer_clear(&lines);
    hpar_status status =
        load(arguments[i], &archive) ? read_records(&archive, 0, archive.length, &lines) : HPAR_ERROR_IO;
    if (status) fprintf(stderr, "hpar-records: %s: %s\n", arguments[i], hpar_status_text(status));
    fine = !status && (!splits || check_splits(arguments[i], &archive, &lines));
    fwrite(lines.bytes, 1, lines.length, stdout);
    puts("end");
  }
  buffer_free(&archive);
  buffer_free(&lines);
  return !fine;
}
