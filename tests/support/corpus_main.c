/* hpar-corpus DIR: writes the small corpus into a directory. Creates the directory if it does not
 * exist. Each page appears complete or not at all. hpar-corpus generate: writes a page like the
 * measured page of a profile of corpus/profiles, or a web archive. */

#include "support/archive.h"
#include "support/corpus.h"
#include "support/like.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_directories(char *path) {
  for (char *slash = path + 1;; slash++) {
    slash = strchr(slash, '/');
    if (slash) *slash = 0;
    bool made = !mkdir(path, 0777) || errno == EEXIST;
    int error = errno;
    if (slash) *slash = '/';
    errno = error;
    if (!made || !slash) return made;
  }
}

static bool write_all(int file, const char *bytes, size_t length) {
  while (length) {
    ssize_t written = write(file, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

static bool write_page(const char *directory, const char *name, const buffer *page) {
  char path[4096], unfinished[4096];
  snprintf(path, sizeof path, "%s/%s.html", directory, name);
  snprintf(unfinished, sizeof unfinished, "%s/.%s.%ld", directory, name, (long)getpid());
  int file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  bool fine = file >= 0 && write_all(file, page->bytes, page->length);
  if (file >= 0 && close(file)) fine = false;
  if (fine && rename(unfinished, path)) fine = false;
  if (fine) {
    printf("%8zu %s\n", page->length, path);
    return true;
  }
  fprintf(stderr, "hpar-corpus: %s: %s\n", path, strerror(errno));
  if (file >= 0) unlink(unfinished);
  return false;
}

static bool read_file(const char *path, buffer *bytes) {
  char piece[16384];
  FILE *file = fopen(path, "rb");
  for (size_t n; file && (n = fread(piece, 1, sizeof piece, file));) buffer_add(bytes, piece, n);
  bool fine = file && !ferror(file);
  if (file) fclose(file);
  if (!fine) fprintf(stderr, "hpar-corpus: %s: %s\n", path, strerror(errno));
  return fine;
}

/* Reads "708K", "2M" or bytes; at most 1 GB. */
static bool read_size(const char *text, size_t *size) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
  if (end == text || *text == '-' || errno || n > 1u << 30 || n << shift > 1u << 30 || end[shift != 0]) return false;
  *size = (size_t)(n << shift);
  return true;
}

static bool read_number(const char *text, uint64_t *number) {
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return end != text && *text != '-' && !errno && !*end;
}

/* Writes records to standard output until there are `records` of them, or `bytes` bytes. */
static int generate_archive(int count, char **arguments) {
  archive_options options = {.seed = 1};
  uint64_t records = 0, bytes = 0, first = 0, percent = 0;
  bool fine = true;
  for (int i = 0; i < count && fine; i++) {
    const char *option = arguments[i], *text = i + 1 < count ? arguments[i + 1] : "";
    if (!strcmp(option, "--gzip") || !strcmp(option, "--zstd")) {
      options.format = option[2] == 'g' ? ARCHIVE_GZIP : ARCHIVE_ZSTD;
    } else if (!strcmp(option, "--small")) {
      options.small = true;
    } else {
      fine = !strcmp(option, "--warc")     ? read_number(text, &records)
             : !strcmp(option, "--seed")   ? read_number(text, &options.seed)
             : !strcmp(option, "--first")  ? read_number(text, &first)
             : !strcmp(option, "--bytes")  ? read_number(text, &bytes)
             : !strcmp(option, "--damage") ? read_number(text, &percent) && percent <= 100
                                           : false;
      i++;
    }
    if (!fine) fprintf(stderr, "hpar-corpus: %s %s: not understood\n", option, text);
  }
  if (fine && !archive_can_write(options.format)) {
    fputs("hpar-corpus: this build lacks the library for the format\n", stderr);
    fine = false;
  }
  if (!fine) return 2;
  options.damaged_percent = (unsigned)percent;
  buffer record = {0};
  uint64_t written = 0;
  for (uint64_t i = 0; i < records && fine && (!bytes || written < bytes); i++) {
    buffer_clear(&record);
    archive_record(&options, first + i, &record);
    written += record.length;
    fine = fwrite(record.bytes, 1, record.length, stdout) == record.length;
  }
  buffer_free(&record);
  return !fine || fflush(stdout);
}

static int generate(int count, char **arguments) {
  for (int i = 0; i < count; i++)
    if (!strcmp(arguments[i], "--warc")) return generate_archive(count, arguments);
  const char *path = NULL;
  size_t size = 0, seed = 1;
  for (int i = 0; i + 1 < count; i += 2) {
    const char *option = arguments[i], *text = arguments[i + 1];
    bool fine = !strcmp(option, "--like")   ? (path = text) != NULL
                : !strcmp(option, "--size") ? read_size(text, &size)
                : !strcmp(option, "--seed") ? read_size(text, &seed)
                                            : false;
    if (!fine) {
      fprintf(stderr, "hpar-corpus: %s %s: not understood\n", option, text);
      return 2;
    }
  }
  if (!path || count % 2) {
    fputs("usage: hpar-corpus generate --like PROFILE.json [--size BYTES|NK|NM] [--seed N]\n", stderr);
    return 2;
  }
  buffer json = {0}, page = {0};
  if (!read_file(path, &json)) return 1;
  like *profile = like_read(json.bytes, json.length);
  if (!profile) fprintf(stderr, "hpar-corpus: %s: no profile of scripts/measure-profile\n", path);
  if (profile) like_write(profile, size ? size : like_model_bytes(profile), seed, &page);
  bool fine = profile && fwrite(page.bytes, 1, page.length, stdout) == page.length && !fflush(stdout);
  like_free(profile);
  buffer_free(&json);
  buffer_free(&page);
  return !fine;
}

int main(int count, char **arguments) {
  char directory[3072];
  if (count == 2 && !strcmp(arguments[1], "--help")) {
    printf("usage: hpar-corpus DIR\nwrites %zu HTML pages from 1 KB to 2 MB into DIR, the same each time\n"
           "usage: hpar-corpus generate --like PROFILE.json [--size BYTES|NK|NM] [--seed N]\n"
           "writes a page like the one that was measured to standard output, by default of its size\n"
           "usage: hpar-corpus generate --warc RECORDS [--bytes N] [--first N] [--seed N] [--gzip | --zstd] [--small]\n"
           "                            [--damage PERCENT]\n"
           "writes a web archive to standard output, the same for the same options\n",
           corpus_page_count);
    return 0;
  }
  if (count > 1 && !strcmp(arguments[1], "generate")) return generate(count - 2, arguments + 2);
  if (count != 2 || !*arguments[1] || arguments[1][0] == '-' || strlen(arguments[1]) >= sizeof directory) {
    fprintf(stderr, "usage: hpar-corpus DIR\n");
    return 2;
  }
  strcpy(directory, arguments[1]);
  if (!make_directories(directory)) {
    fprintf(stderr, "hpar-corpus: %s: %s\n", arguments[1], strerror(errno));
    return 1;
  }
  buffer page = {0};
  bool fine = true;
  for (size_t i = 0; i < corpus_page_count && fine; i++) {
    buffer_clear(&page);
    corpus_pages[i].write(&page);
    fine = write_page(arguments[1], corpus_pages[i].name, &page);
  }
  buffer_free(&page);
  if (fine && fflush(stdout)) fine = false;
  return !fine;
}
