/* hpar crawl: counts the properties of the pages in web archives. */

#include "programs/hpar/crawl.h"

#include "base/bytes.h"
#include "programs/crawl/python.h"
#include "programs/crawl/rows.h"
#include "programs/crawl/sha256.h"
#include "programs/crawl/suffixes.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/options.h"
#include "programs/hpar/process.h"

#include <errno.h>
#include <hpar/study.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  OUT = 1,
  BASE,
  URLS,
  MIME,
  LANGUAGE,
  RESUME,
  THREADS,
  ENGINE,
  SCHEDULER,
  PROFILE,
  SELECT,
  LIMIT,
  FIELDS,
  PYTHON,
  ROWS,
  ROWS_OF,
  GROUP_BY,
  SUFFIXES,
  SAMPLE,
  STUDY_SAMPLE,
  SEED,
  STUDY,
  RECORDS,
  DUPLICATES,
  UNIT_SIZE,
  SPLIT,
  PROGRESS,
  SQLITE,
  PARQUET
};

static const hp_option options[] = {
    {OUT, "out", "DIR", "the folder of the results; hpar creates it"},
    {BASE, "base", "PATH", "what precedes the relative paths of lists, as https://data.commoncrawl.org/"},
    {URLS, "urls", "PATTERN",
     "of the lines of an index (CDXJ) in a list, take those with such a URL: 'https://*.uk/*'"},
    {MIME, "mime", "TYPE", "take those with this media type"},
    {LANGUAGE, "lang", "CODE", "take those with this language, as eng"},
    {RESUME, "resume", NULL, "continue: run only the units that have no results in DIR"},
    {THREADS, "threads", "N", "units that run at once, each in a process (0: one for each core)"},
    {ENGINE, "engine", "threads|dask|slurm|parallel",
     "what runs the units (threads); parallel: print the lines for GNU\nparallel"},
    {SCHEDULER, "scheduler", "ADDRESS", "the scheduler of Dask, as tcp://HOST:PORT (default: start one here)"},
    {PROFILE, "profile", "LIST",
     "what to count: all, none, or some of sizes,encodings,elements,links,\ntext,errors,states,speculation "
     "(sizes,encodings,elements,links,text)"},
    {SELECT, "select", "SELECTOR", "also count the matches of this CSS selector; may be repeated"},
    {FIELDS, "fields", "LIST",
     "write a row for each match, or without --select for each page: some of\n"
     "url,host,domain,tld,date,year,month,status,type,record-type,encoding,\n"
     "language,title,bytes,digest,file,offset,meta:NAME,header:NAME,warc:NAME\n"
     "of the page; selector,tag,text,content,html,attr:NAME of the element;\n"
     "url,host,domain,tld:NAME of the link in its attribute NAME"},
    {PYTHON, "python", "FILE",
     "call the function record(r) of this file for each page; what it\nyields are the rows of DIR/rows.jsonl"},
    {ROWS, "rows", "jsonl|csv|tsv", "the format of DIR/rows.jsonl, rows.csv or rows.tsv (jsonl)"},
    {GROUP_BY, "group-by", "LIST", "count the rows and their pages by these fields, in DIR/groups.csv"},
    {ROWS_OF, "rows-of", "pages|responses|records", "what has a row without --select (pages)"},
    {SUFFIXES, "suffixes", "FILE",
     "the public suffix list for the field domain (default: that of\nDebian's package publicsuffix)"},
    {LIMIT, "limit", "LIST",
     "limits of a record: time=2s,nodes=5000000,depth=512,memory=256M\n(memory=1G). Records above a limit go to "
     "quarantine.jsonl"},
    {SAMPLE, "sample", "SHARE", "read only this share of the records, as 0.001 or 1/1000 (1/1)"},
    {STUDY_SAMPLE, "study-sample", "1/N",
     "the share of pages that --profile states and speculation count (1/100);\nall other counts have every page"},
    {SEED, "seed", "N", "the seed of the samples (1)"},
    {STUDY, "study-size", "BYTES", "the least size of a page for speculation (65536)"},
    {RECORDS, "records", "jsonl", "write a line of JSON for each page to DIR/records"},
    {DUPLICATES, "duplicates", NULL,
     "also count the revisits of pages in the inputs, and pages with\nequal digests; needs memory for each response"},
    {UNIT_SIZE, "unit-size", "BYTES", "divide larger files into units of this size (0: a unit is a file)"},
    {SPLIT, "split", "BYTES", "parse pages from this size on with all threads (0: none)"},
    {PROGRESS, "progress", "auto|json|none", "progress on standard error (auto: a line on a terminal)"},
    {SQLITE, "sqlite", "FILE", "with export: the database to write"},
    {PARQUET, "parquet", "FOLDER", "with export: the folder of Parquet files to write; needs pyarrow"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "crawl", "INPUT... | run DIR UNITS... | reduce DIR | watch DIR | export DIR",
    "Counts properties of the pages in web archives: .warc, .warc.gz, .warc.zst and .wet.gz files,\n"
    "folders of them, addresses (https://, s3://), lists of paths (@FILE) or standard input (-).\n"
    "Writes DIR/summary.json, DIR/summary.md and DIR/quarantine.jsonl. Equal inputs and options give\n"
    "equal bytes.\n\n"
    "  run DIR UNITS  runs units of a plan, as numbers and ranges: 0-99 200\n"
    "  reduce DIR     adds the results of all units up again\n"
    "  watch DIR      shows the progress of other processes until all units have results\n"
    "  export DIR     copies the results to a database, or to Parquet files",
    options};

static const char *const profile_names[] = {"sizes", "encodings", "elements", "links",
                                            "text",  "errors",    "states",   "speculation"};
enum {
  PROFILES = sizeof profile_names / sizeof *profile_names,
  DEFAULT_PROFILES = HP_PROFILE_SIZES | HP_PROFILE_ENCODINGS | HP_PROFILE_ELEMENTS | HP_PROFILE_LINKS | HP_PROFILE_TEXT
};

/*** values of options ***/

static int bad_value(const char *option, const char *value, const char *expected) {
  return hp_bad_usage(&command, "--%s: '%s' is not %s", option, value, expected);
}

/* Reads "512", "5e6", "256M" or "2s" (as nanoseconds). */
static bool read_amount(const char *text, bool is_time, uint64_t *amount) {
  static const struct {
    const char *suffix;
    double factor;
  } sizes[] = {{"", 1}, {"K", 1024}, {"M", 1 << 20}, {"G", 1 << 30}}, times[] = {{"s", 1e9}, {"ms", 1e6}};
  char *end;
  double value = strtod(text, &end);
  if (end == text || !(value > 0) || *text == '-') return false;
  for (size_t i = 0; i < (is_time ? 2u : 4u); i++) {
    const char *suffix = is_time ? times[i].suffix : sizes[i].suffix;
    value = strcmp(end, suffix) ? value : value * (is_time ? times[i].factor : sizes[i].factor);
    if (strcmp(end, suffix)) continue;
    *amount = value < 1e18 ? (uint64_t)value : 0;
    return *amount;
  }
  return false;
}

/* Reads "0.001" or "1/1000" as a part of 2^64; 0 is all. */
static bool read_share(const char *text, uint64_t *share) {
  char *end;
  double value = strtod(text, &end);
  if (*end == '/') {
    const char *divisor = end + 1;
    double by = strtod(divisor, &end);
    if (end == divisor || !(by > 0)) return false;
    value /= by;
  }
  if (end == text || *end || !(value > 0) || value > 1) return false;
  double part = value * 18446744073709551616.0;
  *share = value == 1 ? 0 : part < 1 ? 1 : (uint64_t)part;
  return true;
}

/* Calls `take` for each item of a list with commas. Returns false at the first item that it
 * refuses. */
static bool each_item(hp_crawl *c, const char *list, bool (*take)(hp_crawl *c, char *item)) {
  char *copy = strdup(list), *rest = copy;
  bool fine = copy;
  for (char *item; fine && (item = strsep(&rest, ","));) fine = take(c, item);
  free(copy);
  return fine;
}

static bool take_profile(hp_crawl *c, char *item) {
  if (!strcmp(item, "none")) return true;
  if (!strcmp(item, "all")) c->map.profiles = HP_PROFILE_ALL;
  for (int i = 0; i < PROFILES; i++) {
    if (strcmp(item, profile_names[i])) continue;
    c->map.profiles |= 1u << i;
    return true;
  }
  return !strcmp(item, "all");
}

static bool take_limit(hp_crawl *c, char *item) {
  char *value = strchr(item, '=');
  if (!value) return false;
  *value++ = 0;
  uint64_t *limit = !strcmp(item, "time")     ? &c->map.time_ns
                    : !strcmp(item, "nodes")  ? &c->map.nodes
                    : !strcmp(item, "depth")  ? &c->map.depth
                    : !strcmp(item, "memory") ? &c->map.memory
                                              : NULL;
  return limit && read_amount(value, limit == &c->map.time_ns, limit);
}

static int add_selector(hp_crawl *c, const char *text) {
  for (size_t i = 0; i < c->map.selector_count; i++)
    if (!strcmp(c->selectors[i], text)) return hp_bad_usage(&command, "--select '%s' occurs twice", text);
  hpar_selectors *set = NULL;
  hpar_error error = {.status = HPAR_OK};
  hpar_status status = hpar_selectors_create(&set);
  if (!status) status = hpar_selectors_add(set, text, strlen(text), &error);
  hpar_selectors_destroy(set);
  if (status == HPAR_ERROR_ARGUMENT)
    return hp_bad_usage(&command, "--select '%s', byte %zu: %s", text, error.offset + 1, error.text);
  char **grown = status ? NULL : realloc(c->selectors, (c->map.selector_count + 1) * sizeof *grown);
  if (!grown) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  c->selectors = grown;
  c->map.selectors = (const char *const *)grown;
  grown[c->map.selector_count] = strdup(text);
  return grown[c->map.selector_count++] ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
}

/* Sets a list of columns. */
static int set_columns(const char *option, const char *value, char **list) {
  hp_columns columns;
  const char *wrong;
  bool fine = hp_columns_read(&columns, value, &wrong) && columns.count;
  int code = fine || (!wrong && columns.text) ? -1 : HP_EXIT_USAGE;
  if (!fine)
    code = hp_bad_usage(&command, "--%s: '%s' is no field, or occurs twice; see --help", option, wrong ? wrong : value);
  hp_columns_free(&columns);
  if (code >= 0) return code;
  free(*list);
  *list = strdup(value);
  return *list ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
}

typedef struct request {
  hp_crawl crawl;
  const char *database, *parquet;
  const char *suffixes, *python;
  bool profiled;
  const char **operands;
  size_t operand_count;
} request;

static int take_option(request *r, const hp_arguments *arguments, int id) {
  static const char *const engines[] = {"threads", "dask", "slurm", "parallel", NULL};
  static const char *const progresses[] = {"auto", "json", "none", NULL}, *const records[] = {"jsonl", NULL};
  static const char *const formats[] = {"jsonl", "csv", "tsv", NULL};
  static const char *const kinds[] = {"pages", "responses", "records", NULL};
  hp_crawl *c = &r->crawl;
  const char *value = arguments->value;
  uint64_t amount = 0;
  size_t index = 0;
  switch (id) {
    case OUT: c->folder = value; return -1;
    case BASE: c->base = value; return -1;
    case URLS: c->urls = value; return -1;
    case MIME: c->mime = value; return -1;
    case LANGUAGE: c->language = value; return -1;
    case RESUME: c->resume = true; return -1;
    case THREADS:
      if (!hp_value_number(arguments, 0, HPAR_MAX_THREADS, &amount)) return HP_EXIT_USAGE;
      c->threads = (unsigned)amount;
      return -1;
    case ENGINE:
      if (!hp_value_word(arguments, engines, &index)) return HP_EXIT_USAGE;
      c->engine = (hp_crawl_engine)index;
      return -1;
    case SCHEDULER: c->scheduler = value; return -1;
    case PROFILE:
      if (!r->profiled) c->map.profiles = 0;
      r->profiled = true;
      return each_item(c, value, take_profile)
                 ? -1
                 : bad_value("profile", value,
                             "all, none or a list of sizes,encodings,elements,links,text,errors,states,speculation");
    case SELECT: return add_selector(c, value);
    case LIMIT:
      return each_item(c, value, take_limit) ? -1 : bad_value("limit", value, "a list as in time=2s,memory=256M");
    case FIELDS: return set_columns("fields", value, &c->map.fields);
    case GROUP_BY: return set_columns("group-by", value, &c->map.groups);
    case PYTHON: r->python = value; return -1;
    case ROWS:
      if (!hp_value_word(arguments, formats, &index)) return HP_EXIT_USAGE;
      c->map.row_format = (hp_row_format)index;
      return -1;
    case ROWS_OF:
      if (!hp_value_word(arguments, kinds, &index)) return HP_EXIT_USAGE;
      c->map.row_kind = (hp_row_kind)index;
      return -1;
    case SUFFIXES: r->suffixes = value; return -1;
    case SAMPLE:
      return read_share(value, &c->map.share) ? -1 : bad_value("sample", value, "a share as in 0.001 or 1/1000");
    case STUDY_SAMPLE:
      if (strncmp(value, "1/", 2) || !read_amount(value + 2, false, &c->map.sample_of))
        return bad_value("study-sample", value, "a share as in 1/100");
      return -1;
    case SEED: return hp_value_number(arguments, 0, UINT64_MAX, &c->map.seed) ? -1 : HP_EXIT_USAGE;
    case STUDY: return hp_value_number(arguments, 1, HPAR_MAX_INPUT, &c->map.study_bytes) ? -1 : HP_EXIT_USAGE;
    case RECORDS:
      if (!hp_value_word(arguments, records, &index)) return HP_EXIT_USAGE;
      c->map.records = true;
      return -1;
    case DUPLICATES: c->map.duplicates = true; return -1;
    case UNIT_SIZE:
      if (strcmp(value, "0") && !read_amount(value, false, &c->unit_size))
        return bad_value("unit-size", value, "a number of bytes as in 256M");
      return -1;
    case SPLIT:
      if (strcmp(value, "0") && !read_amount(value, false, &c->map.split_bytes))
        return bad_value("split", value, "a number of bytes as in 1M");
      if (c->map.split_bytes && !hpar_strategy_name(0)) {
        hp_complain(
            "--split: this build has no parallel parser; build with -DHPAR_PARALLEL=ON or leave the option out");
        return HP_EXIT_USAGE;
      }
      return -1;
    case PROGRESS:
      if (!hp_value_word(arguments, progresses, &index)) return HP_EXIT_USAGE;
      c->progress = (hp_crawl_progress)index;
      return -1;
    case SQLITE: r->database = value; return -1;
    case PARQUET: r->parquet = value; return -1;
    case HP_ARGUMENT_OPERAND: r->operands[r->operand_count++] = value; return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    default: return HP_EXIT_USAGE;
  }
}

/*** commands ***/

/* Reads "7" or "0-99". The range ends at the last unit. */
static bool read_range(const char *text, size_t count, size_t *first, size_t *last) {
  char *end;
  if (!hp_ascii_is_digit(*text)) return false; /* strtoull takes signs and white space */
  *last = *first = strtoull(text, &end, 10);
  if (*end == '-') {
    if (!hp_ascii_is_digit(end[1])) return false;
    *last = strtoull(end + 1, &end, 10);
  }
  if (*end || *last < *first || *first >= count) return false;
  *last = *last < count ? *last + 1 : count;
  return true;
}

static int run_units(request *r) {
  if (r->operand_count < 3) return hp_bad_usage(&command, "run needs DIR and UNITS, as in: run DIR 0-99");
  int code = hp_crawl_read_plan(&r->crawl, r->operands[1]);
  if (code < 0) code = hp_crawl_lock_folder(&r->crawl, HP_LOCK_SHARE);
  size_t first, last, count = r->crawl.unit_count;
  for (size_t i = 2; code < 0 && i < r->operand_count; i++)
    if (!read_range(r->operands[i], count, &first, &last))
      code = hp_bad_usage(&command, "run: '%s' is no range of the %zu units", r->operands[i], count);
  if (code >= 0) return code;
  for (size_t i = 2; i < r->operand_count; i++) {
    read_range(r->operands[i], count, &first, &last);
    int result = hp_crawl_drive(&r->crawl, first, last);
    if (code < result) code = result;
  }
  return code;
}

static int reduce(request *r) {
  if (r->operand_count != 2) return hp_bad_usage(&command, "reduce needs one DIR");
  int code = hp_crawl_read_plan(&r->crawl, r->operands[1]);
  return code < 0 ? hp_crawl_reduce(&r->crawl) : code;
}

static int watch(request *r) {
  if (r->operand_count != 2) return hp_bad_usage(&command, "watch needs one DIR");
  int code = hp_crawl_read_plan(&r->crawl, r->operands[1]);
  return code < 0 ? hp_crawl_watch(&r->crawl) : code;
}

static int export_results(request *r) {
  if (r->operand_count != 2 || !r->database == !r->parquet)
    return hp_bad_usage(&command, "export needs DIR, and --sqlite FILE or --parquet FOLDER");
  return r->database ? hp_crawl_export(r->operands[1], "sqlite", r->database)
                     : hp_crawl_export(r->operands[1], "parquet", r->parquet);
}

/* Finds the public suffix list, if a column needs it. */
static int find_suffixes(request *r) {
  static const char usual[] = "/usr/share/publicsuffix/public_suffix_list.dat";
  hp_map_options *map = &r->crawl.map;
  const char *const lists[] = {map->fields, map->groups}, *wrong, *path = r->suffixes ? r->suffixes : usual;
  bool needed = false;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    hp_columns columns;
    hp_columns_read(&columns, lists[i], &wrong);
    needed = needed || hp_columns_need_suffixes(&columns);
    hp_columns_free(&columns);
  }
  if (!needed) return -1;
  hp_suffixes suffixes;
  hpar_status status = hp_suffixes_read(&suffixes, path, map->suffix_digest);
  hp_suffixes_free(&suffixes);
  if (status == HPAR_ERROR_IO) {
    hp_complain("crawl: the field domain needs %s: %s; apt install publicsuffix, or name another with --suffixes", path,
                strerror(errno));
    return HP_EXIT_FAILED;
  }
  map->suffixes = status ? NULL : realpath(path, NULL);
  return map->suffixes ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
}

/* Loads the Python file once, and keeps its path and digest. */
static int find_function(request *r) {
  hp_map_options *map = &r->crawl.map;
  char program[4096];
  if (!r->python) return -1;
  if (map->fields || map->row_format) return hp_bad_usage(&command, "--python excludes --fields and --rows");
  if (!hp_find_program("python3", program, sizeof program)) {
    hp_complain("crawl --python: needs Python: apt install python3");
    return HP_EXIT_USAGE;
  }
  if (!hp_sha256_of_file(r->python, map->python_digest) || !(map->python = realpath(r->python, NULL))) {
    hp_complain("%s: cannot be read: %s", r->python, strerror(errno));
    return HP_EXIT_FAILED;
  }
  char *arguments[] = {program, "-c", (char *)hp_python_script, map->python, NULL};
  return hp_run_program(arguments, NULL, 0) ? HP_EXIT_USAGE : -1;
}

static int check_request(request *r) {
  const hp_crawl *c = &r->crawl;
  if (!r->operand_count) return hp_bad_usage(&command, "name an INPUT");
  if (!c->folder || !*c->folder) return hp_bad_usage(&command, "name the folder of the results with --out DIR");
  if (!hpar_predictor_name(0) && c->map.profiles & (HP_PROFILE_STATES | HP_PROFILE_SPECULATION)) {
    hp_complain("crawl: this build has no parallel parser; leave states and speculation out of --profile");
    return HP_EXIT_USAGE;
  }
  if (c->map.row_format && !c->map.fields && !r->python)
    return hp_bad_usage(&command, "--rows csv and tsv need --fields");
  if (c->map.row_kind && (c->map.selector_count || !(c->map.fields || c->map.groups || r->python)))
    return hp_bad_usage(&command, "--rows-of is for --fields, --group-by and --python without --select");
  int code = find_suffixes(r);
  if (code < 0) code = find_function(r);
  return code < 0 ? hp_crawl_check_engine(c) : code;
}

static int crawl(request *r) {
  hp_crawl *c = &r->crawl;
  int code = check_request(r);
  for (size_t i = 0; code < 0 && i < r->operand_count; i++) code = hp_crawl_add_input(c, r->operands[i]);
  if (code < 0 && !hp_crawl_name_units(c)) code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  if (code < 0 && c->engine != HP_ENGINE_THREADS)
    for (size_t i = 0; code < 0 && i < c->unit_count; i++)
      if (c->units[i].is_stream)
        code = hp_bad_usage(&command, "%s is a stream, which only --engine threads reads",
                            hp_shown_name(c->units[i].path));
  if (code < 0) code = hp_crawl_write_plan(c);
  if (code >= 0) return code;
  if (c->engine != HP_ENGINE_THREADS) code = hp_crawl_lock_folder(c, HP_LOCK_SHARE);
  if (code >= 0) return code;
  if (c->engine == HP_ENGINE_PARALLEL) return hp_crawl_run_engine(c);
  code = c->engine == HP_ENGINE_THREADS ? hp_crawl_drive(c, 0, c->unit_count) : hp_crawl_run_engine(c);
  int reduced = hp_crawl_reduce(c);
  return code ? code : reduced;
}

int hp_run_crawl(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  request r = {.crawl.lock = -1,
               .crawl.map = {.profiles = DEFAULT_PROFILES,
                             .memory = UINT64_C(1) << 30,
                             .sample_of = 100,
                             .seed = 1,
                             .study_bytes = 65536}};
  r.operands = calloc((size_t)count + 1, sizeof *r.operands);
  int code = r.operands ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;)
    code = take_option(&r, &arguments, id);
  if (!r.crawl.threads) r.crawl.threads = hp_default_threads();
  r.crawl.map.threads = r.crawl.threads;
  const char *first = r.operand_count ? r.operands[0] : "";
  if (code < 0)
    code = !strcmp(first, "run")      ? run_units(&r)
           : !strcmp(first, "reduce") ? reduce(&r)
           : !strcmp(first, "watch")  ? watch(&r)
           : !strcmp(first, "export") ? export_results(&r)
                                      : crawl(&r);
  hp_crawl_free(&r.crawl);
  free(r.operands);
  return code;
}
