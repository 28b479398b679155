#include "programs/crawl/unit.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "programs/crawl/remote.h"
#include "programs/crawl/rows.h"
#include "programs/crawl/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20, MAX_REFUSALS = 10000 };

void hp_unit_name(hp_unit *unit, const char *options) {
  hp_sha256 sha;
  char numbers[96];
  hp_sha256_open(&sha);
  hp_sha256_add(&sha, "hpar-crawl-2", 13);
  hp_sha256_add(&sha, hpar_version(), strlen(hpar_version()) + 1);
  hp_sha256_add(&sha, options, strlen(options) + 1);
  hp_sha256_add(&sha, unit->path, strlen(unit->path) + 1);
  int length = snprintf(numbers, sizeof numbers, "%llu %llu %llu", (unsigned long long)unit->size,
                        (unsigned long long)unit->first, (unsigned long long)unit->last);
  hp_sha256_add(&sha, numbers, (size_t)length);
  hp_sha256_finish(&sha, unit->id);
}

/*** the results of a job, until they are files ***/

typedef struct run {
  const hp_unit_job *job;
  hp_tally tally;
  hp_map *map;
  hp_new_file records, rows;
  char *file;     /* the path as text, of which the results have the same form everywhere */
  char *refusals; /* lines */
  size_t refusals_length;
  FILE *refusals_file;
  uint64_t refusal_count;
  hpar_status status;
} run;

static void refuse(void *context, const hp_warc_record *record, const char *reason) {
  run *r = context;
  if (r->refusal_count++ >= MAX_REFUSALS) return;
  fprintf(r->refusals_file, "refused\t%llu\t%llu\t%llu\t", (unsigned long long)record->offset,
          (unsigned long long)record->inner, (unsigned long long)record->index);
  hp_write_escaped(r->refusals_file, reason, strlen(reason));
  fputc('\t', r->refusals_file);
  hp_write_escaped(r->refusals_file, record->uri.bytes, record->uri.length);
  fputc('\n', r->refusals_file);
}

static bool is_killer(const hp_unit_job *job, uint64_t index) {
  for (size_t i = 0; i < job->killer_count; i++)
    if (job->killers[i] == index) return true;
  return false;
}

static bool take_record(void *context, const hp_warc_record *record) {
  run *r = context;
  const hp_unit_job *job = r->job;
  if (record->index >= job->to) return false;
  if (job->progress) {
    atomic_store(&job->progress->records, record->index);
    atomic_fetch_add(&job->progress->bytes_out, record->block.length);
  }
  if (record->index < job->from) return true;
  if (is_killer(job, record->index)) {
    refuse(r, record, "killed");
    if (!hp_tally_add_text(&r->tally, HP_COUNTERS, "records", 1) ||
        !hp_tally_add_text(&r->tally, HP_COUNTERS, "quarantined", 1))
      r->status = HPAR_ERROR_MEMORY;
  } else {
    r->status = hp_map_record(r->map, record);
  }
  return !r->status;
}

/*** reading ***/

static hp_unit_result fail(const hp_unit_job *job, hp_unit_result result, const char *message) {
  if (job->progress) {
    job->progress->error = errno;
    snprintf(job->progress->message, sizeof job->progress->message, "%s", message);
  }
  return result;
}

static ssize_t read_some(int file, char *bytes) {
  for (;;) {
    ssize_t got = read(file, bytes, READ_BYTES);
    if (got >= 0) return got;
    struct pollfd ready = {.fd = file, .events = POLLIN};
    if (errno == EAGAIN && poll(&ready, 1, -1) >= 0) continue;
    if (errno != EINTR) return -1;
  }
}

/* Where the bytes of a unit come from. */
typedef struct source {
  int file;          /* -1: another machine */
  hp_remote *remote; /* or NULL */
} source;

static hpar_status feed_all(const hp_unit_job *job, source from, hp_warc_reader *reader, char *bytes, bool *readable) {
  for (;;) {
    ssize_t got = from.remote ? hp_remote_read(from.remote, bytes, READ_BYTES) : read_some(from.file, bytes);
    *readable = got >= 0;
    if (got < 0) return HPAR_ERROR_IO;
    if (!got) return hp_warc_finish(reader);
    if (job->progress) atomic_fetch_add(&job->progress->bytes_in, (uint64_t)got);
    hpar_status status = hp_warc_feed(reader, bytes, (size_t)got);
    if (status) return status;
  }
}

/* Returns HPAR_ERROR_CALLBACK if the job, or its part of the file, has ended before the file. */
static hp_unit_result read_file(run *r, source from) {
  const hp_unit_job *job = r->job;
  const hp_unit *unit = job->unit;
  if (unit->first && !from.remote && lseek(from.file, (off_t)unit->first - 1, SEEK_SET) < 0)
    return fail(job, HP_UNIT_INPUT, "");
  if (!unit->is_stream && !from.remote) posix_fadvise(from.file, 0, 0, POSIX_FADV_SEQUENTIAL);
  hp_warc_options options = {.max_block = job->options->memory,
                             .format = unit->format,
                             .first = unit->first,
                             .last = unit->last,
                             .size = unit->is_stream ? 0 : unit->size};
  hp_warc_reader *reader = NULL;
  hpar_status status = hp_warc_create(&reader, &options, take_record, r);
  if (status) return HP_UNIT_MEMORY;
  char *bytes = malloc(READ_BYTES);
  bool readable = true;
  status = bytes ? feed_all(job, from, reader, bytes, &readable) : HPAR_ERROR_MEMORY;
  hp_unit_result result = HP_UNIT_DONE;
  if (!readable)
    result = fail(job, HP_UNIT_INPUT, from.remote ? hp_remote_program(unit->path) : "");
  else if (status == HPAR_ERROR_UNSUPPORTED)
    result = fail(job, HP_UNIT_UNSUPPORTED, hp_warc_missing(reader));
  else if (r->status || (status && status != HPAR_ERROR_CALLBACK))
    result = HP_UNIT_MEMORY;
  free(bytes);
  hp_warc_destroy(reader);
  return result;
}

/*** writing ***/

typedef struct hashed {
  FILE *file;
  hp_sha256 sha;
} hashed;

static ssize_t write_hashed(void *cookie, const char *bytes, size_t length) {
  hashed *h = cookie;
  hp_sha256_add(&h->sha, bytes, length);
  return fwrite(bytes, 1, length, h->file) == length ? (ssize_t)length : 0;
}

static bool write_families(FILE *file, const hp_tally *tally) {
  for (int f = 0; f < HP_FAMILIES; f++) {
    const hp_tally_entry **sorted = hp_tally_sorted(tally, (hp_family)f, false);
    if (!sorted) return false;
    for (uint32_t i = 0; i < tally->tables[f].count; i++) {
      fprintf(file, "count\t%s\t", hp_family_name((hp_family)f));
      hp_write_escaped(file, sorted[i]->key, sorted[i]->length);
      fprintf(file, "\t%llu\n", (unsigned long long)sorted[i]->count);
    }
    hp_free(sorted);
    if (tally->tables[f].error)
      fprintf(file, "error\t%s\t\t%llu\n", hp_family_name((hp_family)f), (unsigned long long)tally->tables[f].error);
    if (tally->tables[f].greatest)
      fprintf(file, "max\t%s\t\t%llu\n", hp_family_name((hp_family)f), (unsigned long long)tally->tables[f].greatest);
  }
  return true;
}

/* The last line is a hash of all lines before it. */
static bool write_unit(run *r) {
  const hp_unit *unit = r->job->unit;
  char name[96], digits[65];
  hp_new_file out;
  snprintf(name, sizeof name, "units/%s.tsv", unit->id);
  if (!hp_new_file_open(&out, r->job->folder, name)) return false;
  hashed h = {.file = out.file};
  hp_sha256_open(&h.sha);
  FILE *file = fopencookie(&h, "wb", (cookie_io_functions_t){.write = write_hashed});
  bool fine = file;
  if (fine) {
    fprintf(file, "hpar-crawl-unit-2\nunit\t%s\t%llu\t%llu\t", unit->id, (unsigned long long)unit->first,
            (unsigned long long)unit->last);
    hp_write_escaped(file, unit->path, strlen(unit->path));
    fputc('\n', file);
    fine = write_families(file, &r->tally);
    fwrite(r->refusals, 1, r->refusals_length, file);
    fine = fine && !ferror(file);
    if (fclose(file)) fine = false;
    hp_sha256_finish(&h.sha, digits);
    fprintf(out.file, "end\t%s\n", digits);
  }
  if (fine) return hp_new_file_finish(&out);
  int error = errno;
  hp_new_file_drop(&out);
  errno = error;
  return false;
}

/* The file of the unit is the last one: it states that the unit is complete. */
static hp_unit_result write_results(run *r) {
  bool fine = !fflush(r->refusals_file);
  if (fine && r->refusal_count > MAX_REFUSALS)
    fine = hp_tally_add_text(&r->tally, HP_COUNTERS, "refusals_without_line", r->refusal_count - MAX_REFUSALS);
  if (!fine) return HP_UNIT_MEMORY;
  if (r->records.file && !hp_new_file_finish(&r->records)) return fail(r->job, HP_UNIT_OUTPUT, "");
  if (r->rows.file && !hp_new_file_finish(&r->rows)) return fail(r->job, HP_UNIT_OUTPUT, "");
  return write_unit(r) ? HP_UNIT_DONE : fail(r->job, HP_UNIT_OUTPUT, "");
}

static bool open_file(const run *r, hp_new_file *file, const char *folder, const char *ending) {
  char name[96];
  snprintf(name, sizeof name, "%s/%s.%s", folder, r->job->unit->id, ending);
  return hp_new_file_open(file, r->job->folder, name);
}

/* Returns a path with U+FFFD for each byte that is not part of UTF-8, or NULL. */
static char *text_of_path(const char *path) {
  size_t length = strlen(path);
  char *text = malloc(3 * length + 1), *to = text;
  for (const char *at = path, *end = path + length; text && at < end;) {
    int step = hp_utf8_sequence(at, end);
    to = mempcpy(to, step > 0 ? at : "\xEF\xBF\xBD", step > 0 ? (size_t)step : 3);
    at += step > 0 ? step : 1;
  }
  if (text) *to = 0;
  return text;
}

static hp_unit_result run_open(run *r, source from) {
  const hp_unit_job *job = r->job;
  const hp_map_options *options = job->options;
  hpar_status status = hp_map_create(&r->map, options, &r->tally);
  if (status == HPAR_ERROR_ARGUMENT)
    return fail(job, HP_UNIT_UNSUPPORTED, "the public suffix list or the Python file is not that of the plan");
  if (status) return HP_UNIT_MEMORY;
  if (job->folder &&
      ((options->records && !open_file(r, &r->records, "records", "jsonl")) ||
       ((options->fields || options->python) && !open_file(r, &r->rows, "rows", hp_row_ending(options->row_format)))))
    return fail(job, HP_UNIT_OUTPUT, "");
  if (!(r->file = text_of_path(job->unit->path))) return HP_UNIT_MEMORY;
  hp_map_report_to(r->map, r->file, r->records.file, r->rows.file, refuse, r);
  hp_unit_result result = read_file(r, from);
  if (!result && hp_map_finish(r->map)) result = HP_UNIT_MEMORY;
  return result || !job->folder ? result : write_results(r);
}

hp_unit_result hp_unit_run(const hp_unit_job *job) {
  run r = {.job = job};
  hp_remote remote;
  source from = {-1, NULL};
  hp_remote_open(&remote, job->unit->path, job->unit->first ? job->unit->first - 1 : 0);
  if (hp_remote_program(job->unit->path))
    from.remote = &remote;
  else
    from.file = strcmp(job->unit->path, "-") ? open(job->unit->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (from.file < 0 && !from.remote) return fail(job, HP_UNIT_INPUT, "");
  r.refusals_file = open_memstream(&r.refusals, &r.refusals_length);
  hp_unit_result result = r.refusals_file ? run_open(&r, from) : HP_UNIT_MEMORY;
  hp_map_destroy(r.map);
  hp_new_file_drop(&r.records);
  hp_new_file_drop(&r.rows);
  if (r.refusals_file) fclose(r.refusals_file);
  free(r.refusals);
  free(r.file);
  hp_tally_free(&r.tally);
  hp_remote_close(&remote);
  if (from.file > STDIN_FILENO) close(from.file);
  return result;
}
