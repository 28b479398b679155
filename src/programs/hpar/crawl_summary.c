/* The summary of a crawl: the sums of all units as JSON and as Markdown, and the records that the
 * results leave out. The bytes depend on the inputs and the options only. */

#include "programs/crawl/rows.h"
#include "programs/hpar/crawl.h"
#include "programs/hpar/json.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOP_ENTRIES = 100, TABLE_ROWS = 15 };

typedef struct reduction {
  const hp_crawl *crawl;
  hp_unit_results results;
  size_t done;
  bool *has_results; /* by unit */
} reduction;

/*** histograms ***/

typedef struct bucket {
  uint64_t least, count;
} bucket;

static int by_least(const void *a, const void *b) {
  const bucket *x = a, *y = b;
  return (x->least > y->least) - (x->least < y->least);
}

/* Returns the buckets in order; the caller frees them with free. */
static bucket *sorted_buckets(const hp_tally_table *t) {
  bucket *buckets = malloc((t->count + 1) * sizeof *buckets);
  if (!buckets) return NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->capacity; i++)
    if (t->entries[i].key) buckets[count++] = (bucket){strtoull(t->entries[i].key, NULL, 10), t->entries[i].count};
  qsort(buckets, count, sizeof *buckets, by_least);
  return buckets;
}

static uint64_t total_of(const bucket *buckets, uint32_t count) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; i++) all += buckets[i].count;
  return all;
}

/* Returns the least value of the bucket that has the quantile, in thousandths, or the greatest
 * value. */
static uint64_t quantile(const hp_tally_table *t, const bucket *buckets, uint64_t all, unsigned thousandths) {
  uint64_t before = 0;
  if (thousandths == 1000) return t->greatest;
  for (uint32_t i = 0; i < t->count; i++) {
    before += buckets[i].count;
    if (before * 1000 >= all * thousandths) return buckets[i].least;
  }
  return 0;
}

static const struct {
  const char *name;
  unsigned thousandths;
} quantiles[] = {{"p1", 10}, {"p10", 100}, {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}, {"max", 1000}};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static bool write_histogram(hp_json *json, const hp_tally_table *t) {
  bucket *buckets = sorted_buckets(t);
  if (!buckets) return false;
  uint64_t all = total_of(buckets, t->count);
  hp_json_open(json, '{');
  hp_json_number_member(json, "count", all);
  for (int i = 0; i < QUANTILES; i++)
    hp_json_number_member(json, quantiles[i].name, quantile(t, buckets, all, quantiles[i].thousandths));
  hp_json_key(json, "buckets");
  hp_json_open(json, '[');
  for (uint32_t i = 0; i < t->count; i++) {
    hp_json_open(json, '[');
    hp_json_number(json, buckets[i].least);
    hp_json_number(json, buckets[i].count);
    hp_json_close(json, ']');
  }
  hp_json_close(json, ']');
  hp_json_close(json, '}');
  free(buckets);
  return true;
}

/*** JSON ***/

static bool write_keyed(hp_json *json, const hp_tally *tally, hp_family family) {
  const hp_tally_table *t = &tally->tables[family];
  bool top = hp_family_rule(family) != HP_TALLY_SUM;
  const hp_tally_entry **sorted = hp_tally_sorted(tally, family, top);
  if (!sorted) return false;
  hp_json_open(json, '{');
  if (top) {
    hp_json_number_member(json, "keys", t->count);
    hp_json_number_member(json, "error", t->error);
    hp_json_key(json, "top");
    hp_json_open(json, '[');
  }
  for (uint32_t i = 0; i < t->count && !(top && i >= TOP_ENTRIES); i++) {
    hpar_string key = {sorted[i]->key, sorted[i]->length};
    hp_json_break(json);
    if (top) {
      hp_json_open(json, '[');
      hp_json_string(json, key);
      hp_json_number(json, sorted[i]->count);
      hp_json_close(json, ']');
    } else {
      hp_json_number_member(json, sorted[i]->key, sorted[i]->count);
    }
  }
  hp_json_break(json);
  if (top) hp_json_close(json, ']');
  hp_json_close(json, '}');
  hp_free(sorted);
  return true;
}

static void write_options(hp_json *json, const hp_map_options *o) {
  hp_json_key(json, "options");
  hp_json_open(json, '{');
  hp_json_number_member(json, "profiles", o->profiles);
  hp_json_number_member(json, "memory", o->memory);
  hp_json_number_member(json, "time_ns", o->time_ns);
  hp_json_number_member(json, "nodes", o->nodes);
  hp_json_number_member(json, "depth", o->depth);
  hp_json_number_member(json, "sample_of", o->sample_of);
  hp_json_number_member(json, "seed", o->seed);
  hp_json_number_member(json, "study_bytes", o->study_bytes);
  hp_json_number_member(json, "share", o->share);
  hp_json_text_member(json, "fields", o->fields);
  hp_json_text_member(json, "groups", o->groups);
  hp_json_number_member(json, "row_kind", o->row_kind);
  hp_json_text_member(json, "python", o->python ? o->python_digest : NULL);
  hp_json_key(json, "selectors");
  hp_json_open(json, '[');
  for (size_t i = 0; i < o->selector_count; i++) hp_json_text(json, o->selectors[i]);
  hp_json_close(json, ']');
  hp_json_close(json, '}');
}

static bool write_json(FILE *file, const reduction *r) {
  hp_json json = {.file = file};
  const hp_tally *tally = &r->results.tally;
  hp_json_open(&json, '{');
  hp_json_key(&json, "format");
  hp_json_text(&json, "hpar-crawl-1");
  hp_json_key(&json, "version");
  hp_json_text(&json, hpar_version());
  hp_json_number_member(&json, "units", r->crawl->unit_count);
  hp_json_number_member(&json, "units_done", r->done);
  hp_json_break(&json);
  write_options(&json, &r->crawl->map);
  bool fine = true;
  for (int f = 0; fine && f < HP_FAMILIES; f++) {
    if (!tally->tables[f].count) continue;
    hp_json_break(&json);
    hp_json_key(&json, hp_family_name((hp_family)f));
    fine = hp_family_rule((hp_family)f) == HP_TALLY_HISTOGRAM ? write_histogram(&json, &tally->tables[f])
                                                              : write_keyed(&json, tally, (hp_family)f);
  }
  hp_json_break(&json);
  hp_json_close(&json, '}');
  fputc('\n', file);
  return fine;
}

/*** Markdown ***/

static void write_cell(FILE *file, const char *key, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)key[i];
    if (c == '|') fputc('\\', file);
    fputc(c < 0x20 ? ' ' : c, file);
  }
}

/* What the counts of a family are shares of. */
typedef enum share {
  SHARE_OF_SUM,
  SHARE_OF_PAGES,
  SHARE_OF_ELEMENTS,
  SHARE_OF_ATTRIBUTES,
  SHARE_OF_PREFIX,
  NO_SHARE
} share;

/* The keys of most families divide what is counted, so that their sum is the whole. A page has many
 * elements, and may match several selectors. Keys as "POLICY: STATE" divide it once for each
 * prefix. */
static const share shares[HP_FAMILIES] = {[HP_COUNTERS] = NO_SHARE,
                                          [HP_ELEMENTS] = SHARE_OF_ELEMENTS,
                                          [HP_ELEMENT_PAGES] = SHARE_OF_PAGES,
                                          [HP_ATTRIBUTES] = SHARE_OF_ATTRIBUTES,
                                          [HP_SELECTORS] = NO_SHARE,
                                          [HP_SELECTOR_PAGES] = SHARE_OF_PAGES,
                                          [HP_STATES_AT_CUTS] = SHARE_OF_PREFIX,
                                          [HP_FIRST_TABLE_TAGS] = SHARE_OF_PREFIX,
                                          [HP_SWITCHES] = SHARE_OF_PREFIX,
                                          [HP_FORMATTING_LISTS] = NO_SHARE,
                                          [HP_PREDICTORS] = NO_SHARE,
                                          [HP_GROUP_PAGES] = NO_SHARE};

/* Returns the sum of the counts whose keys have the first `prefix` bytes of this one. */
static uint64_t sum_of(const hp_tally_table *t, const hp_tally_entry *e, size_t prefix) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < t->capacity; i++) {
    const hp_tally_entry *other = &t->entries[i];
    if (other->key && other->length >= prefix && (!prefix || !memcmp(other->key, e->key, prefix))) sum += other->count;
  }
  return sum;
}

/* The profile `sizes` counts the whole. Without it, the sum is the whole if no key is missing. */
static uint64_t whole_or_sum(const hp_tally_table *t, const hp_tally_entry *e, uint64_t whole) {
  return whole || t->error ? whole : sum_of(t, e, 0);
}

/* Returns the whole of which the count of an entry is a share; 0: none. */
static uint64_t whole_of(const hp_tally *tally, hp_family family, const hp_tally_entry *e) {
  const hp_tally_table *t = &tally->tables[family];
  const char *colon = strstr(e->key, ": ");
  switch (shares[family]) {
    case SHARE_OF_PAGES: return hp_tally_count(tally, HP_COUNTERS, "pages");
    case SHARE_OF_ELEMENTS: return whole_or_sum(t, e, hp_tally_count(tally, HP_COUNTERS, "elements"));
    case SHARE_OF_ATTRIBUTES: return whole_or_sum(t, e, hp_tally_count(tally, HP_COUNTERS, "attributes"));
    case SHARE_OF_PREFIX: return sum_of(t, e, colon ? (size_t)(colon - e->key) + 2 : 0);
    case SHARE_OF_SUM: return sum_of(t, e, 0);
    case NO_SHARE: break;
  }
  return 0;
}

static bool write_table(FILE *file, const hp_tally *tally, hp_family family) {
  const hp_tally_table *t = &tally->tables[family];
  const hp_tally_entry **sorted = hp_tally_sorted(tally, family, true);
  if (!sorted) return false;
  fputs("| key | count | share |\n| --- | ---: | ---: |\n", file);
  for (uint32_t i = 0; i < t->count && (i < TABLE_ROWS || family == HP_COUNTERS); i++) {
    fputs("| ", file);
    write_cell(file, sorted[i]->key, sorted[i]->length);
    fprintf(file, " | %llu | ", (unsigned long long)sorted[i]->count);
    uint64_t whole = whole_of(tally, family, sorted[i]);
    if (whole)
      fprintf(file, "%.2f%% |\n", 100.0 * (double)sorted[i]->count / (double)whole);
    else
      fputs("|\n", file);
  }
  if (t->error) fprintf(file, "\nEach count may be too small by up to %llu.\n", (unsigned long long)t->error);
  hp_free(sorted);
  return true;
}

static bool write_quantiles(FILE *file, const hp_tally *tally) {
  fputs("\n## sizes\n\n| size | pages |", file);
  for (int i = 0; i < QUANTILES; i++) fprintf(file, " %s |", quantiles[i].name);
  fputs("\n| --- | ---: |", file);
  for (int i = 0; i < QUANTILES; i++) fputs(" ---: |", file);
  fputc('\n', file);
  for (int f = 0; f < HP_FAMILIES; f++) {
    const hp_tally_table *t = &tally->tables[f];
    if (hp_family_rule((hp_family)f) != HP_TALLY_HISTOGRAM || !t->count) continue;
    bucket *buckets = sorted_buckets(t);
    if (!buckets) return false;
    uint64_t all = total_of(buckets, t->count);
    fprintf(file, "| %s | %llu |", hp_family_name((hp_family)f), (unsigned long long)all);
    for (int i = 0; i < QUANTILES; i++)
      fprintf(file, " %llu |", (unsigned long long)quantile(t, buckets, all, quantiles[i].thousandths));
    fputc('\n', file);
    free(buckets);
  }
  fputs("\nEach value but the maximum is the least of its bucket. A bucket is at most 1/16 of its values wide.\n",
        file);
  return true;
}

/* The speed-up that the outcomes allow, if adopting nodes costs nothing. */
static void write_projections(FILE *file, const hp_tally *tally) {
  char key[64];
  bool first = true;
  for (unsigned cores = 2; cores <= 64; cores *= 2) {
    snprintf(key, sizeof key, "%02u cores: bytes", cores);
    uint64_t bytes = hp_tally_count(tally, HP_PROJECTIONS, key);
    snprintf(key, sizeof key, "%02u cores: time in bytes", cores);
    uint64_t time = hp_tally_count(tally, HP_PROJECTIONS, key);
    if (!time) continue;
    if (first) fputs("\n## projected speed-up\n\n| cores | speed-up |\n| ---: | ---: |\n", file);
    first = false;
    fprintf(file, "| %u | %.2f |\n", cores, (double)bytes / (double)time);
  }
  if (!first) fputs("\nThe cost of a task is its bytes. Merging and waiting cost nothing.\n", file);
}

static bool write_markdown(FILE *file, const reduction *r) {
  const hp_tally *tally = &r->results.tally;
  fprintf(file, "# Crawl\n\nhpar %s, %zu of %zu units\n", hpar_version(), r->done, r->crawl->unit_count);
  bool fine = write_quantiles(file, tally);
  for (int f = 0; fine && f < HP_FAMILIES; f++) {
    if (!tally->tables[f].count || hp_family_rule((hp_family)f) == HP_TALLY_HISTOGRAM || f == HP_PROJECTIONS) continue;
    fprintf(file, "\n## %s\n\n", hp_family_name((hp_family)f));
    fine = write_table(file, tally, (hp_family)f);
  }
  if (fine) write_projections(file, tally);
  return fine;
}

/*** quarantine ***/

static bool write_quarantine(FILE *file, const reduction *r) {
  for (size_t i = 0; i < r->results.refusal_count; i++) {
    const hp_refusal *q = &r->results.refusals[i];
    hp_json json = {.file = file};
    hp_json_open(&json, '{');
    hp_json_key(&json, "file");
    hp_json_text(&json, q->path);
    hp_json_number_member(&json, "offset", q->offset);
    hp_json_number_member(&json, "inner", q->inner);
    hp_json_number_member(&json, "record", q->record);
    hp_json_key(&json, "reason");
    hp_json_text(&json, q->reason);
    hp_json_key(&json, "url");
    hp_json_text(&json, q->url);
    hp_json_close(&json, '}');
    fputc('\n', file);
  }
  return true;
}

/*** rows and groups ***/

static bool append_file(FILE *to, const char *path) {
  char bytes[1 << 16];
  FILE *from = fopen(path, "rbe");
  if (!from) return false;
  size_t got;
  while ((got = fread(bytes, 1, sizeof bytes, from)) > 0) fwrite(bytes, 1, got, to);
  bool fine = !ferror(from);
  fclose(from);
  return fine;
}

/* Joins the rows of all units that have results. Returns false after a message. */
static bool write_rows(const reduction *r) {
  const hp_crawl *c = r->crawl;
  const char *ending = hp_row_ending(c->map.row_format), *wrong;
  char name[16], path[4096];
  hp_new_file out;
  hp_columns columns;
  snprintf(name, sizeof name, "rows.%s", ending);
  bool fine = hp_columns_read(&columns, c->map.fields, &wrong) && hp_new_file_open(&out, c->folder, name);
  if (fine && c->map.row_format) {
    hp_rows_write_head(out.file, &columns, c->map.row_format);
    fputc('\n', out.file);
  }
  hp_columns_free(&columns);
  for (size_t i = 0; fine && i < c->unit_count; i++) {
    if (!r->has_results[i]) continue;
    snprintf(path, sizeof path, "%s/rows/%s.%s", c->folder, c->units[i].id, ending);
    if (append_file(out.file, path)) continue;
    hp_complain("%s: cannot be read: %s; remove %s/units/%s.tsv, and add --resume", path, strerror(errno), c->folder,
                c->units[i].id);
    hp_new_file_drop(&out);
    return false;
  }
  if (fine && hp_new_file_finish(&out)) return true;
  int error = errno;
  hp_complain("%s/%s: cannot be written: %s; %s", c->folder, name, strerror(error), hp_crawl_remedy(error));
  return false;
}

/* A line has the values of a group, its rows and the records that have them. */
static bool write_groups(FILE *file, const reduction *r) {
  hp_columns columns;
  const char *wrong;
  const hp_tally *tally = &r->results.tally;
  const hp_tally_entry **sorted = hp_tally_sorted(tally, HP_GROUPS, true);
  bool fine = hp_columns_read(&columns, r->crawl->map.groups, &wrong) && sorted;
  if (fine) hp_rows_write_head(file, &columns, HP_ROWS_CSV);
  if (fine) fputs(",rows,pages\n", file);
  for (uint32_t i = 0; fine && i < tally->tables[HP_GROUPS].count; i++) {
    const hp_tally_entry *e = sorted[i];
    for (const char *at = e->key, *end = e->key + e->length, *tab; at; at = tab ? tab + 1 : NULL) {
      tab = memchr(at, '\t', (size_t)(end - at));
      hp_write_cell(file, at, (size_t)((tab ? tab : end) - at), HP_ROWS_CSV);
      fputc(',', file);
    }
    fprintf(file, "%llu,%llu\n", (unsigned long long)e->count,
            (unsigned long long)hp_tally_table_count(&tally->tables[HP_GROUP_PAGES], e->key, e->length));
  }
  hp_columns_free(&columns);
  hp_free(sorted);
  return fine;
}

/*** all files ***/

static bool write_file(const reduction *r, const char *name, bool (*write)(FILE *file, const reduction *r)) {
  hp_new_file out;
  bool opened = hp_new_file_open(&out, r->crawl->folder, name);
  if (opened && !write(out.file, r)) {
    hp_new_file_drop(&out);
    hp_complain_status(NULL, HPAR_ERROR_MEMORY);
    return false;
  }
  if (opened && hp_new_file_finish(&out)) return true;
  int error = errno;
  hp_complain("%s/%s: cannot be written: %s; %s", r->crawl->folder, name, strerror(error), hp_crawl_remedy(error));
  return false;
}

/* Adds the results of the units that have some. Returns false if no memory is left. */
static bool add_units(reduction *r) {
  const hp_crawl *c = r->crawl;
  for (size_t i = 0; r->has_results && i < c->unit_count; i++) {
    hpar_status status = hp_unit_read(&c->units[i], c->folder, &r->results);
    if (status == HPAR_ERROR_MEMORY) return false;
    r->has_results[i] = !status;
    r->done += !status;
    if (status)
      hp_complain("%s: has no complete results (unit %zu); run the command again with --resume",
                  hp_shown_name(c->units[i].path), i);
  }
  return r->has_results && hp_tally_limit(&r->results.tally) && hp_map_resolve_revisits(&r->results.tally);
}

/* Prints the sums on a terminal, after the line of progress. */
static void print_table(const reduction *r) {
  static const char *const names[] = {"records", "pages", "page_bytes", "quarantined"};
  if (r->crawl->progress != HP_PROGRESS_AUTO || !isatty(STDERR_FILENO)) return;
  fprintf(stderr, "%12s %zu of %zu\n", "units", r->done, r->crawl->unit_count);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    fprintf(stderr, "%12s %llu\n", names[i],
            (unsigned long long)hp_tally_count(&r->results.tally, HP_COUNTERS, names[i]));
  fprintf(stderr, "%12s %s/summary.md\n", "results", r->crawl->folder);
}

int hp_crawl_reduce(const hp_crawl *c) {
  reduction r = {.crawl = c, .has_results = calloc(c->unit_count + 1, sizeof *r.has_results)};
  bool fine = add_units(&r);
  if (!fine) hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  fine = fine && write_file(&r, "quarantine.jsonl", write_quarantine) &&
         (!c->map.groups || write_file(&r, "groups.csv", write_groups)) &&
         (!(c->map.fields || c->map.python) || write_rows(&r)) && write_file(&r, "summary.md", write_markdown) &&
         write_file(&r, "summary.json", write_json);
  if (fine) print_table(&r);
  hp_unit_results_free(&r.results);
  free(r.has_results);
  return fine && r.done == c->unit_count ? HP_EXIT_FINE : HP_EXIT_FAILED;
}
