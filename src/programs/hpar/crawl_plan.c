/* The plan of a crawl: its units and options, in DIR/plan.tsv. */

#include "programs/crawl/remote.h"
#include "programs/crawl/sha256.h"
#include "programs/hpar/crawl.h"
#include "programs/hpar/process.h"
#include "programs/warc/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FOLDERS = 64, FIRST_BYTES = 16 << 10, LOCK_TRIES = 30 };

static int no_memory(void) { return hp_complain_status(NULL, HPAR_ERROR_MEMORY); }

static bool add_unit(hp_crawl *c, const hp_unit *unit) {
  if (c->unit_count == c->unit_capacity) {
    size_t capacity = c->unit_capacity ? c->unit_capacity * 2 : 64;
    hp_unit *grown = realloc(c->units, capacity * sizeof *grown);
    if (!grown) return false;
    c->units = grown;
    c->unit_capacity = capacity;
  }
  hp_unit *to = &c->units[c->unit_count];
  *to = *unit;
  to->path = strdup(unit->path);
  c->unit_count += to->path != NULL;
  return to->path;
}

/*** inputs ***/

/* Adds the parts of a file. Returns false if no memory is left. */
static bool add_parts(hp_crawl *c, hp_unit *unit, hp_unpack_format format) {
  unit->format = format;
  for (uint64_t from = 0; from < unit->size; from += c->unit_size) {
    unit->first = from;
    unit->last = from + c->unit_size;
    if (!add_unit(c, unit)) return false;
  }
  return true;
}

/* Returns whether a file has the name of an archive. */
static bool has_archive_name(const char *name) {
  static const char *const endings[] = {".warc", ".wet", ".wat"}, *const packed[] = {"", ".gz", ".zst"};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
    size_t ending = strlen(packed[i]);
    if (length <= ending || strcmp(name + length - ending, packed[i])) continue;
    for (size_t j = 0; j < sizeof endings / sizeof *endings; j++) {
      size_t both = strlen(endings[j]) + ending;
      if (length > both && !strncmp(name + length - both, endings[j], strlen(endings[j]))) return true;
    }
  }
  return false;
}

static int add_file(hp_crawl *c, const char *path, const struct stat *about) {
  hp_unit unit = {.path = (char *)path};
  if (!about || !S_ISREG(about->st_mode)) {
    unit.is_stream = true;
    return add_unit(c, &unit) ? -1 : no_memory();
  }
  char first[FIRST_BYTES];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? -1 : read(file, first, sizeof first);
  int error = errno;
  if (file >= 0) close(file);
  if (got < 0) {
    hp_complain("%s: cannot be read: %s; name readable files", path, strerror(error));
    return HP_EXIT_FAILED;
  }
  hp_unpack_format format = hp_unpack_detect(first, (size_t)got);
  const char *missing = hp_unpack_lacks(format);
  if (missing) {
    hp_complain("%s: %s", path, missing);
    return HP_EXIT_USAGE;
  }
  if (format == HP_UNPACK_PLAIN && !has_archive_name(path) &&
      !memmem(first, (size_t)got, hp_warc_signature, HP_WARC_SIGNATURE)) {
    hp_complain(
        "%s: no web archive: no record begins in its first %d bytes; name a .warc, .warc.gz, .warc.zst or .wet.gz "
        "file",
        path, FIRST_BYTES);
    return HP_EXIT_USAGE;
  }
  unit.size = (uint64_t)about->st_size;
  bool divides = c->unit_size && unit.size > c->unit_size && format != HP_UNPACK_ZSTD;
  return (divides ? add_parts(c, &unit, format) : add_unit(c, &unit)) ? -1 : no_memory();
}

/* Adds the archives of a folder that was not seen before. Links become the real paths, so that each
 * folder and each archive has one path, in whatever order they are found. */
static int add_folder(hp_crawl *c, const char *folder, int depth, hp_tally_table *seen) {
  if (hp_tally_table_count(seen, folder, strlen(folder))) return -1;
  if (!hp_tally_table_add(seen, folder, strlen(folder), 1)) return no_memory();
  DIR *directory = depth < MAX_FOLDERS ? opendir(folder) : NULL;
  if (!directory) {
    hp_complain("%s: cannot be read: %s", folder, depth < MAX_FOLDERS ? strerror(errno) : "too many folders");
    return HP_EXIT_FAILED;
  }
  int code = -1;
  for (struct dirent *entry; code < 0 && (entry = readdir(directory));) {
    struct stat about;
    char *path;
    if (entry->d_name[0] == '.' || fstatat(dirfd(directory), entry->d_name, &about, 0)) continue;
    if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
      code = no_memory();
      break;
    }
    char *real = entry->d_type == DT_REG || entry->d_type == DT_DIR ? NULL : realpath(path, NULL);
    if (real) {
      free(path);
      path = real;
    }
    if (S_ISDIR(about.st_mode))
      code = add_folder(c, path, depth + 1, seen);
    else if (has_archive_name(entry->d_name))
      code = add_file(c, path, &about);
    free(path);
  }
  closedir(directory);
  return code;
}

int hp_crawl_check_remote(const char *path) {
  const char *program = hp_remote_program(path);
  char found[4096];
  if (hp_find_program(program, found, sizeof found)) return -1;
  hp_complain("%s: needs the program %s: apt install %s", path, program, *program == 'c' ? "curl" : "awscli");
  return HP_EXIT_USAGE;
}

/* The size of a file of another machine is not known. */
int hp_crawl_add_part(hp_crawl *c, const char *path, hp_unit *unit) {
  struct stat about;
  const char *program = hp_remote_program(path), *missing = hp_unpack_lacks(unit->format);
  int code = program ? hp_crawl_check_remote(path) : -1;
  if (code >= 0) return code;
  if (missing || (!program && (stat(path, &about) || !S_ISREG(about.st_mode)))) {
    hp_complain("%s: %s", path, missing ? missing : "cannot be read");
    return missing ? HP_EXIT_USAGE : HP_EXIT_FAILED;
  }
  unit->path = program ? strdup(path) : realpath(path, NULL);
  unit->size = program ? 0 : (uint64_t)about.st_size;
  bool added = unit->path && add_unit(c, unit);
  free(unit->path);
  return added ? -1 : no_memory();
}

int hp_crawl_add_input(hp_crawl *c, const char *operand) {
  struct stat about;
  if (*operand == '@') return hp_crawl_add_list(c, operand + 1);
  if (!strcmp(operand, "-")) return add_file(c, operand, NULL);
  const char *program = hp_remote_program(operand);
  if (program) return hp_crawl_add_part(c, operand, &(hp_unit){.format = HP_UNPACK_DETECT});
  if (stat(operand, &about) || access(operand, R_OK)) {
    hp_complain("%s: cannot be read: %s; name readable files", operand, strerror(errno));
    return HP_EXIT_FAILED;
  }
  char *path = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) ? realpath(operand, NULL) : strdup(operand);
  if (!path) return no_memory();
  size_t before = c->unit_count;
  hp_tally_table seen = {0};
  int code = S_ISDIR(about.st_mode) ? add_folder(c, path, 0, &seen) : add_file(c, path, &about);
  hp_tally_table_free(&seen);
  if (code < 0 && S_ISDIR(about.st_mode) && c->unit_count == before) {
    hp_complain("%s: no .warc, .warc.gz, .warc.zst or .wet.gz file in this folder; name files", operand);
    code = HP_EXIT_FAILED;
  }
  free(path);
  return code;
}

/*** options as text ***/

typedef struct field {
  const char *name;
  uint64_t *value;
} field;

enum { FIELDS = 9, TEXTS = 4 };

static void list_fields(hp_map_options *o, uint64_t *profiles, field fields[FIELDS]) {
  const field all[FIELDS] = {
      {"profiles", profiles}, {"memory", &o->memory},       {"time_ns", &o->time_ns}, {"nodes", &o->nodes},
      {"depth", &o->depth},   {"sample_of", &o->sample_of}, {"seed", &o->seed},       {"study_bytes", &o->study_bytes},
      {"share", &o->share}};
  memcpy(fields, all, sizeof all);
}

typedef struct text {
  const char *name;
  char **value;
} text;

static void list_texts(hp_map_options *o, text texts[TEXTS]) {
  const text all[TEXTS] = {
      {"fields", &o->fields}, {"groups", &o->groups}, {"suffixes", &o->suffixes}, {"python", &o->python}};
  memcpy(texts, all, sizeof all);
}

static void write_text(FILE *file, const char *name, const char *value) {
  fprintf(file, "option\t%s\t", name);
  hp_write_escaped(file, value, strlen(value));
  fputc('\n', file);
}

static void write_options(FILE *file, const hp_crawl *c) {
  hp_map_options map = c->map;
  uint64_t profiles = map.profiles;
  field fields[FIELDS];
  list_fields(&map, &profiles, fields);
  for (int i = 0; i < FIELDS; i++) fprintf(file, "option\t%s\t%" PRIu64 "\n", fields[i].name, *fields[i].value);
  fprintf(file, "option\trecords\t%d\noption\trow_format\t%d\noption\trow_kind\t%d\n", map.records, map.row_format,
          map.row_kind);
  if (map.duplicates) write_text(file, "duplicates", "1");
  text texts[TEXTS];
  list_texts(&map, texts);
  for (int i = 0; i < TEXTS; i++)
    if (*texts[i].value) write_text(file, texts[i].name, *texts[i].value);
  if (*map.suffix_digest) write_text(file, "suffix_digest", map.suffix_digest);
  if (*map.python_digest) write_text(file, "python_digest", map.python_digest);
  for (size_t i = 0; i < map.selector_count; i++) write_text(file, "select", map.selectors[i]);
}

static bool read_option(hp_crawl *c, const char *name, const char *value) {
  uint64_t profiles = c->map.profiles;
  field fields[FIELDS];
  list_fields(&c->map, &profiles, fields);
  for (int i = 0; i < FIELDS; i++)
    if (!strcmp(name, fields[i].name)) *fields[i].value = strtoull(value, NULL, 10);
  c->map.profiles = (unsigned)profiles;
  if (!strcmp(name, "records")) c->map.records = *value == '1';
  if (!strcmp(name, "duplicates")) c->map.duplicates = *value == '1';
  if (!strcmp(name, "row_format")) c->map.row_format = (hp_row_format)atoi(value);
  if (!strcmp(name, "row_kind")) c->map.row_kind = (hp_row_kind)atoi(value);
  if (!strcmp(name, "suffix_digest")) snprintf(c->map.suffix_digest, sizeof c->map.suffix_digest, "%s", value);
  if (!strcmp(name, "python_digest")) snprintf(c->map.python_digest, sizeof c->map.python_digest, "%s", value);
  text texts[TEXTS];
  list_texts(&c->map, texts);
  for (int i = 0; i < TEXTS; i++)
    if (!strcmp(name, texts[i].name)) return (*texts[i].value = strdup(value));
  if (strcmp(name, "select")) return true;
  char **grown = realloc(c->selectors, (c->map.selector_count + 1) * sizeof *grown);
  if (!grown) return false;
  c->selectors = grown;
  c->map.selectors = (const char *const *)grown;
  grown[c->map.selector_count] = strdup(value);
  return grown[c->map.selector_count++];
}

/*** the plan ***/

static int compare_units(const void *a, const void *b) {
  const hp_unit *x = a, *y = b;
  int order = strcmp(x->path, y->path);
  return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* Joins a unit with one that begins before it, if both are records of an index, and no other record
 * is between them. */
static bool join(hp_unit *left, const hp_unit *right) {
  if (!left->is_of_index || !right->is_of_index || left->last < right->first || strcmp(left->path, right->path))
    return false;
  if (left->last < right->last) left->last = right->last;
  return true;
}

/* Removes units that occur twice, and joins neighbours, which one transfer reads. */
static void join_units(hp_crawl *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->unit_count; i++) {
    hp_unit *before = kept ? &c->units[kept - 1] : NULL, *unit = &c->units[i];
    if (before && (!compare_units(before, unit) || join(before, unit)))
      free(unit->path);
    else
      c->units[kept++] = *unit;
  }
  c->unit_count = kept;
}

bool hp_crawl_name_units(hp_crawl *c) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return false;
  write_options(file, c);
  bool fine = !ferror(file) && !fclose(file);
  if (fine && c->unit_count) qsort(c->units, c->unit_count, sizeof *c->units, compare_units);
  if (fine) join_units(c);
  for (size_t i = 0; fine && i < c->unit_count; i++) hp_unit_name(&c->units[i], text);
  free(text);
  return fine;
}

const char *hp_crawl_remedy(int error) {
  bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? "make space and add --resume" : "add --resume to try again";
}

static bool make_folder(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return !mkdir(path, 0777) || errno == EEXIST;
}

int hp_crawl_lock_folder(hp_crawl *c, hp_crawl_lock lock) {
  char path[4096];
  int operation = lock == HP_LOCK_OWN ? LOCK_EX : LOCK_SH;
  snprintf(path, sizeof path, "%s/lock", c->folder);
  if (c->lock < 0) c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (c->lock < 0) {
    hp_complain("%s: cannot be opened: %s", path, strerror(errno));
    return HP_EXIT_FAILED;
  }
  for (int tries = 0; flock(c->lock, operation | LOCK_NB) && errno == EWOULDBLOCK; tries++) {
    struct timespec tick = {0, 100000000};
    if (tries == LOCK_TRIES) {
      hp_complain("%s: another hpar works in this folder; wait for it or end it (fuser %s/lock lists it)", c->folder,
                  c->folder);
      return HP_EXIT_FAILED;
    }
    nanosleep(&tick, NULL);
  }
  return -1; /* also on a file system without locks */
}

/* Removes temporary files of processes that were killed. */
static void remove_temporary(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  DIR *directory = opendir(path);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    size_t length = strlen(entry->d_name);
    if (entry->d_name[0] == '.' && length > 4 && !strcmp(entry->d_name + length - 4, ".tmp"))
      unlinkat(dirfd(directory), entry->d_name, 0);
  }
  if (directory) closedir(directory);
}

/* Writes the plan. The last line is a hash of all lines before it. */
static bool write_lines(FILE *to, const hp_crawl *c) {
  char *text = NULL, digits[65];
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return false;
  fprintf(file, "hpar-crawl-plan-2\t%s\n", hpar_version());
  write_options(file, c);
  for (size_t i = 0; i < c->unit_count; i++) {
    const hp_unit *u = &c->units[i];
    fprintf(file, "unit\t%s\t%" PRIu64 "\t%" PRIu64 "\t%d\t%" PRIu64 "\t%d\t", u->id, u->first, u->last, (int)u->format,
            u->size, u->is_stream);
    hp_write_escaped(file, u->path, strlen(u->path));
    fputc('\n', file);
  }
  bool fine = !ferror(file);
  if (fclose(file)) fine = false;
  if (fine) {
    hp_sha256 sha;
    hp_sha256_open(&sha);
    hp_sha256_add(&sha, text, length);
    hp_sha256_finish(&sha, digits);
    fine = fwrite(text, 1, length, to) == length && fprintf(to, "end\t%s\n", digits) > 0;
  }
  free(text);
  return fine;
}

int hp_crawl_write_plan(hp_crawl *c) {
  char path[4096];
  snprintf(path, sizeof path, "%s/plan.tsv", c->folder);
  if (!c->resume && !access(path, F_OK)) {
    hp_complain("%s: has the results of a crawl; add --resume to continue it, or name another folder", c->folder);
    return HP_EXIT_USAGE;
  }
  hp_new_file out;
  bool made = make_folder(c->folder, "") && make_folder(c->folder, "units") &&
              (!c->map.records || make_folder(c->folder, "records")) &&
              (!(c->map.fields || c->map.python) || make_folder(c->folder, "rows"));
  if (made) {
    int locked = hp_crawl_lock_folder(c, HP_LOCK_OWN);
    if (locked >= 0) return locked;
    static const char *const folders[] = {"", "units", "records", "rows"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) remove_temporary(c->folder, folders[i]);
  }
  if (!made || !hp_new_file_open(&out, c->folder, "plan.tsv")) {
    hp_complain("%s: cannot be written: %s; name another folder", c->folder, strerror(errno));
    return HP_EXIT_FAILED;
  }
  bool fine = write_lines(out.file, c);
  if (fine && hp_new_file_finish(&out)) return -1;
  hp_new_file_drop(&out);
  hp_complain("%s: cannot be written: %s", path, strerror(errno));
  return HP_EXIT_FAILED;
}

static bool read_line(hp_crawl *c, char *line) {
  char *fields[8], *at = line;
  size_t count = 0;
  while (at && count < 8) {
    fields[count++] = at;
    at = strchr(at, '\t');
    if (at) *at++ = 0;
  }
  char *last = fields[count - 1];
  hp_read_escaped(last, strlen(last));
  if (count == 3 && !strcmp(fields[0], "option")) return read_option(c, fields[1], last);
  if (count != 8 || strcmp(fields[0], "unit")) return true;
  hp_unit unit = {.path = last,
                  .first = strtoull(fields[2], NULL, 10),
                  .last = strtoull(fields[3], NULL, 10),
                  .format = (hp_unpack_format)atoi(fields[4]),
                  .size = strtoull(fields[5], NULL, 10),
                  .is_stream = atoi(fields[6])};
  snprintf(unit.id, sizeof unit.id, "%s", fields[1]);
  return add_unit(c, &unit);
}

/* Returns whether the file begins as a plan of another version of this format. Earlier versions
 * have no hash. */
static bool is_other_plan(const char *path) {
  static const char begin[] = "hpar-crawl-plan-";
  char line[32] = "";
  FILE *file = fopen(path, "re");
  bool has_line = file && fgets(line, sizeof line, file);
  if (file) fclose(file);
  return has_line && !strncmp(line, begin, strlen(begin)) && strncmp(line + strlen(begin), "2\t", 2);
}

/* Reads the first line. Returns the version of hpar that wrote the plan, or NULL. */
static const char *read_version(const char *line) {
  static const char begin[] = "hpar-crawl-plan-2\t";
  return !strncmp(line, begin, strlen(begin)) ? line + strlen(begin) : NULL;
}

static int read_lines(hp_crawl *c, const char *path, char *text, size_t length) {
  const char *version = NULL;
  for (char *line = text, *end; line < text + length && (end = memchr(line, '\n', (size_t)(text + length - line)));
       line = end + 1) {
    *end = 0;
    if (line != text) {
      if (!read_line(c, line)) return no_memory();
      continue;
    }
    version = read_version(line);
    if (!version || strcmp(version, hpar_version())) break;
  }
  if (version && !strcmp(version, hpar_version())) return -1;
  hp_complain("%s: is the plan of version %s; use that version of hpar", path, version ? version : "(unknown)");
  return HP_EXIT_FAILED;
}

int hp_crawl_read_plan(hp_crawl *c, const char *folder) {
  char path[4096], *text = NULL;
  size_t length = 0;
  snprintf(path, sizeof path, "%s/plan.tsv", folder);
  hpar_status status = hp_load_complete(path, &text, &length);
  if (status == HPAR_ERROR_MEMORY) return no_memory();
  if (status && errno) {
    hp_complain("%s: is not the folder of a crawl: %s; name the folder of --out", folder, strerror(errno));
    return HP_EXIT_FAILED;
  }
  if (status && is_other_plan(path)) {
    hp_complain("%s: is the plan of another version of hpar; use that version, or name another folder", path);
    return HP_EXIT_FAILED;
  }
  if (status) {
    hp_complain("%s: is damaged; run hpar crawl with its inputs and options and --resume", path);
    return HP_EXIT_FAILED;
  }
  c->folder = folder;
  int code = read_lines(c, path, text, length);
  free(text);
  return code;
}

void hp_crawl_free(hp_crawl *c) {
  for (size_t i = 0; i < c->unit_count; i++) free(c->units[i].path);
  for (size_t i = 0; i < c->map.selector_count; i++) free(c->selectors[i]);
  free(c->units);
  free(c->selectors);
  free(c->map.fields);
  free(c->map.groups);
  free(c->map.suffixes);
  free(c->map.python);
  if (c->lock >= 0) close(c->lock);
}
