#include "programs/hpar/results.h"

#include "programs/hpar/cli.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/process.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TIME "%Y-%m-%dT%H:%M:%SZ"

static const char description[] = "machine.json", topology[] = "topology.xml";

const char *hp_results_file(const hp_results *results, const char *name, char *buffer, size_t size) {
  snprintf(buffer, size, "%s/%s", results->path, name);
  return buffer;
}

static uint64_t seconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec;
}

/* Reads the first line of a file in a folder. Without the file, the text is "unknown". */
static void say_line(const char *folder, const char *name, char *text, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  snprintf(text, size, "unknown");
  FILE *file = fopen(path, "r");
  if (!file) return;
  if (fgets(text, (int)size, file)) text[strcspn(text, "\n")] = 0;
  fclose(file);
}

/* Writes each frequency policy of the machine, with its processors. */
static void policies_member(hp_json *json) {
  static const char *const files[] = {"related_cpus", "scaling_governor", "scaling_min_freq", "scaling_max_freq"};
  glob_t found = {0};
  char text[256];
  hp_json_break(json);
  hp_json_key(json, "policies");
  hp_json_open(json, '[');
  if (glob("/sys/devices/system/cpu/cpufreq/policy[0-9]*", 0, NULL, &found)) found.gl_pathc = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    hp_json_open(json, '{');
    hp_json_key(json, "name");
    hp_json_text(json, strrchr(found.gl_pathv[i], '/') + 1);
    for (size_t file = 0; file < sizeof files / sizeof *files; file++) {
      say_line(found.gl_pathv[i], files[file], text, sizeof text);
      hp_json_key(json, files[file]);
      hp_json_text(json, text);
    }
    hp_json_close(json, '}');
  }
  hp_json_close(json, ']');
  globfree(&found);
}

static void say_host(char *text, size_t size) {
  if (gethostname(text, size - 1) || !*text) snprintf(text, size, "unknown");
  text[size - 1] = 0;
  for (char *at = text; *at; at++)
    if (*at == '/') *at = '-';
}

static void say_time(char *text, size_t size, const char *format) {
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(text, size, format, &parts);
}

static void text_member(hp_json *json, const char *key, const char *text) {
  hp_json_break(json);
  hp_json_key(json, key);
  hp_json_text(json, text);
}

static void load_member(hp_json *json, const char *key, const double *load) {
  hp_json_break(json);
  hp_json_key(json, key);
  hp_json_open(json, '[');
  for (int i = 0; i < 3; i++) hp_json_real(json, load[i]);
  hp_json_close(json, ']');
}

static void look_at_load(double *load) {
  for (int got = getloadavg(load, 3), i = got < 0 ? 0 : got; i < 3; i++) load[i] = 0;
}

static void describe(const hp_results *results, FILE *file, const int *exit_status) {
  char text[256];
  hp_json json = {.file = file};
  hp_json_open(&json, '{');
  hp_json_break(&json);
  hp_json_key(&json, "machine");
  hp_machine_json(&json);
  say_host(text, sizeof text);
  text_member(&json, "host", text);
  say_line("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_governor", text, sizeof text);
  text_member(&json, "governor", text);
  policies_member(&json);
  text_member(&json, "version", hpar_version());
  text_member(&json, "suite", results->suite);
  text_member(&json, "commit", results->commit);
  hp_json_break(&json);
  hp_json_key(&json, "command");
  hp_json_open(&json, '[');
  hp_json_text(&json, "hpar");
  for (int i = 0; i < results->count; i++) hp_json_text(&json, results->arguments[i]);
  hp_json_close(&json, ']');
  load_member(&json, "load_before", results->load);
  text_member(&json, "began", results->began);
  if (exit_status) {
    say_time(text, sizeof text, TIME);
    text_member(&json, "ended", text);
    double load[3];
    look_at_load(load);
    load_member(&json, "load_after", load);
    hp_json_break(&json);
    hp_json_key(&json, "seconds");
    hp_json_number(&json, seconds_now() - results->start);
    hp_json_break(&json);
    hp_json_key(&json, "exit_status");
    hp_json_number(&json, (uint64_t)*exit_status);
  }
  hp_json_break(&json);
  hp_json_close(&json, '}');
  fputc('\n', file);
}

static bool write_description(const hp_results *results, const int *exit_status) {
  char path[4096];
  FILE *file = fopen(hp_results_file(results, description, path, sizeof path), "w");
  bool fine = file;
  if (file) {
    describe(results, file, exit_status);
    fine = !ferror(file);
    if (fclose(file)) fine = false;
  }
  if (!fine) hp_complain("%s: cannot be written: %s", path, strerror(errno));
  return fine;
}

static void write_topology(const hp_results *results) {
  static const char *const programs[] = {"lstopo-no-graphics", "lstopo"};
  char program[4096], path[4096], nothing[64];
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    if (!hp_find_program(programs[i], program, sizeof program)) continue;
    hp_results_file(results, topology, path, sizeof path);
    char *const arguments[] = {program, "-f", "--of", "xml", path, NULL};
    if (!hp_run_program(arguments, nothing, sizeof nothing)) return;
  }
}

/* The folder and those that it lies in. `existed`: it was there already. */
static bool make_folders(const char *path, bool *existed) {
  char part[3072];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = part + 1;; slash++) {
    slash = strchr(slash, '/');
    if (slash) *slash = 0;
    *existed = mkdir(part, 0777) != 0;
    if (*existed && errno != EEXIST) return false;
    if (!slash) return true;
    *slash = '/';
  }
}

static bool open_folder(hp_results *results, const char *path, const char *experiment) {
  bool existed = true;
  if (path) {
    if (strlen(path) >= sizeof results->path) {
      errno = ENAMETOOLONG;
      return false;
    }
    snprintf(results->path, sizeof results->path, "%s", path);
    return make_folders(results->path, &existed);
  }
  char host[256], date[32];
  say_host(host, sizeof host);
  say_time(date, sizeof date, "%Y-%m-%d");
  for (unsigned number = 1; existed; number++) {
    int length =
        snprintf(results->path, sizeof results->path, "results/%s/%s-%s/%s", host, date, results->commit, experiment);
    if (number > 1) snprintf(results->path + length, sizeof results->path - (size_t)length, "-%u", number);
    if (!make_folders(results->path, &existed)) return false;
  }
  return true;
}

bool hp_results_open(hp_results *results, const char *path, const char *experiment) {
  char file[4096];
  if (!open_folder(results, path, experiment)) {
    hp_complain("%s: cannot be made: %s", *results->path ? results->path : path, strerror(errno));
    return false;
  }
  if (!access(hp_results_file(results, description, file, sizeof file), F_OK)) {
    hp_complain("%s: holds results already, and raw runs are kept", results->path);
    return false;
  }
  results->start = seconds_now();
  say_time(results->began, sizeof results->began, TIME);
  look_at_load(results->load);
  if (!write_description(results, NULL)) return false;
  write_topology(results);
  return true;
}

bool hp_results_close(hp_results *results, int exit_status) { return write_description(results, &exit_status); }
