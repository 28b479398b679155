/* hpar profile: what pages do, counted; for the predictor "frequency", and to set beside the
 * paper's figures. */

#include "programs/hpar/inspection.h"
#include "programs/hpar/json.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/options.h"
#include "programs/hpar/pages.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>

#if HPAR_PARALLEL

#include "programs/hpar/read.h"
#include "study/profile.h"
#include "study/true_state.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { OUTPUT = 1, JSON, CUT_DISTANCE, THREADS, SCRIPTING };

static const hp_option options[] = {
    {OUTPUT, "output", "OUT", "write the profile to this file, as JSON; also -o OUT"},
    {JSON, "json", NULL, "print the profile as JSON instead of tables"},
    {CUT_DISTANCE, "cut-distance", "BYTES", "the distance between recorded states (4096)"},
    {THREADS, "threads", "N", "threads, with this one; each parses other files (0: one for each core)"},
    {SCRIPTING, "scripting", "on|off", "the scripting flag (off)"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "profile", "FILE|FOLDER...",
    "Parses pages sequentially and counts properties that speculation can use: tokenizer states and\ninsertion modes "
    "at cuts, "
    "switches of the tokenizer's state, first tags of table parts, self-closing\ntags, formatting lists.",
    options};

/*** the pages, on all threads ***/

typedef struct outcome {
  hpar_status status;
  int number; /* errno */
} outcome;

typedef struct survey {
  hpar_options options;
  hp_pages pages;
  hp_profile *profiles; /* by thread */
  outcome *outcomes;    /* by page */
  _Atomic size_t next, done;
} survey;

static outcome profile_file(survey *s, hp_profile *profile, hpar_parser *parser, hpar_document *document,
                            const char *path) {
  char *bytes = NULL;
  size_t length = 0;
  hpar_status status = hp_read_file(path, 0, &bytes, &length);
  outcome o = {status, errno};
  if (status == HPAR_OK) o.status = hp_profile_page(profile, parser, document, bytes, length, &s->options);
  hpar_document_clear(document);
  free(bytes);
  return o;
}

static void show_progress(const survey *s) {
  enum { BAR = 30 };
  size_t done = atomic_load(&s->done), all = s->pages.count;
  char bar[BAR + 1];
  memset(bar, '.', BAR);
  memset(bar, '#', done * BAR / all);
  bar[BAR] = 0;
  hp_show_progress("profile [%s] %zu/%zu", bar, done, all);
}

/* Profiles pages until all are taken. `thread` selects the profile. */
static void work(survey *s, unsigned thread) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (status == HPAR_OK) status = hpar_document_create(&document);
  for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->pages.count;) {
    if (thread == 0) show_progress(s);
    s->outcomes[i] = status == HPAR_OK ? profile_file(s, &s->profiles[thread], parser, document, s->pages.paths[i])
                                       : (outcome){status, 0};
    atomic_fetch_add(&s->done, 1);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

typedef struct helper {
  pthread_t thread;
  survey *survey;
  unsigned index;
} helper;

static void *help(void *context) {
  const helper *self = context;
  work(self->survey, self->index);
  return NULL;
}

/* Profiles all pages with the calling thread and the helpers. Helpers that cannot start are left
 * out. */
static void profile_all(survey *s, helper *helpers, unsigned count) {
  unsigned started = 0;
  for (unsigned i = 0; i < count; i++) {
    helper *self = &helpers[started];
    *self = (helper){.survey = s, .index = started + 1};
    if (!pthread_create(&self->thread, NULL, help, self)) started++;
  }
  work(s, 0);
  while (atomic_load(&s->done) < s->pages.count) {
    show_progress(s);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  for (unsigned i = 0; i < started; i++) pthread_join(helpers[i].thread, NULL);
  hp_clear_progress();
}

/*** results ***/

static double percent(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }

static uint64_t sum_of(const uint64_t *counts, int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; i++) sum += counts[i];
  return sum;
}

static void real(hp_json *json, const char *key, double value) {
  hp_json_key(json, key);
  hp_json_real(json, value);
}

static const char *state_name(int i) { return hp_state_name((hp_state)i); }

/* Counts that are not zero, by name. */
static void counts(hp_json *json, const char *key, const char *(*name)(int), const uint64_t *values, int count) {
  hp_json_key(json, key);
  hp_json_open(json, '{');
  for (int i = 0; i < count; i++)
    if (values[i]) hp_json_number_member(json, name(i), values[i]);
  hp_json_close(json, '}');
}

static void lengths(hp_json *json, const char *key, const uint64_t *values) {
  hp_json_key(json, key);
  hp_json_open(json, '[');
  for (int i = 0; i < HP_PROFILE_LENGTHS; i++) hp_json_number(json, values[i]);
  hp_json_close(json, ']');
}

static void lists(hp_json *json, const char *key, const hp_profile_lists *l) {
  hp_json_key(json, key);
  hp_json_open(json, '{');
  hp_json_number_member(json, "lists", l->lists);
  lengths(json, "entries_after_last_marker", l->entries);
  lengths(json, "markers", l->markers);
  hp_json_number_member(json, "to_be_reconstructed", l->unclean);
  hp_json_close(json, '}');
}

static void table_tag_name(char *to, size_t size, int row) {
  if (row == 2 * HP_PROFILE_TABLE_TAGS) {
    snprintf(to, size, "none");
    return;
  }
  bool end = row >= HP_PROFILE_TABLE_TAGS;
  hp_atom name = hp_profile_table_tags[row % HP_PROFILE_TABLE_TAGS];
  snprintf(to, size, "<%s%s>", end ? "/" : "", hp_known_names[name].bytes);
}

static void distinct(const hp_profile *p, uint64_t *all, uint64_t *voids) {
  *all = *voids = 0;
  for (int i = 0; i < HP_KNOWN_ATOMS; i++) {
    *all += p->seen[i] != 0;
    *voids += p->seen[i] == 2;
  }
}

static uint64_t all_switches(const hp_profile *p) {
  return sum_of(&p->switches[0][0], HP_PROFILE_SWITCHES * HP_PROFILE_MODES);
}

static void table_tags_and_switches(hp_json *json, const hp_profile *p) {
  hp_json_key(json, "first_table_tag");
  hp_json_open(json, '{');
  for (int i = 0; i <= 2 * HP_PROFILE_TABLE_TAGS; i++) {
    char name[16];
    table_tag_name(name, sizeof name, i);
    if (sum_of(p->table_tags[i], HP_PROFILE_MODES)) {
      hp_json_break(json);
      counts(json, name, hp_profile_mode_name, p->table_tags[i], HP_PROFILE_MODES);
    }
  }
  hp_json_close(json, '}');
  hp_json_break(json);
  hp_json_key(json, "tokenizer_switches");
  hp_json_open(json, '{');
  hp_json_number_member(json, "all", all_switches(p));
  real(json, "percent_of_tokens", percent(all_switches(p), p->tokens));
  real(json, "percent_of_bytes", percent(all_switches(p), p->bytes));
  hp_json_key(json, "by_tag_and_mode");
  hp_json_open(json, '{');
  for (int i = 0; i < HP_PROFILE_SWITCHES; i++)
    if (sum_of(p->switches[i], HP_PROFILE_MODES))
      counts(json, hp_known_names[hp_profile_switch_tags[i]].bytes, hp_profile_mode_name, p->switches[i],
             HP_PROFILE_MODES);
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

static void self_closing_tags(hp_json *json, const hp_profile *p) {
  uint64_t names, voids;
  distinct(p, &names, &voids);
  hp_json_key(json, "self_closing");
  hp_json_open(json, '{');
  hp_json_number_member(json, "void_plain", p->self_closing.void_plain);
  hp_json_number_member(json, "void_slash", p->self_closing.void_slash);
  hp_json_number_member(json, "foreign_plain", p->self_closing.foreign_plain);
  hp_json_number_member(json, "foreign_slash", p->self_closing.foreign_slash);
  hp_json_number_member(json, "other_slash", p->self_closing.other_slash);
  hp_json_number_member(json, "names", names);
  hp_json_number_member(json, "void_names", voids);
  hp_json_close(json, '}');
}

static void states_by_bytes(hp_json *json, const hp_profile *p) {
  hp_json_key(json, "states_by_bytes");
  hp_json_open(json, '[');
  for (uint32_t i = 0; i < p->row_count; i++) {
    hp_json_break(json);
    hp_json_open(json, '{');
    hp_json_key(json, "before");
    hp_json_text(json, p->rows[i].key.before);
    hp_json_key(json, "at");
    hp_json_text(json, p->rows[i].key.at);
    counts(json, "states", state_name, p->rows[i].states, HP_STATES);
    hp_json_close(json, '}');
  }
  hp_json_break(json);
  hp_json_close(json, ']');
}

static void write_json(FILE *file, const hp_profile *p) {
  hp_json json = {.file = file};
  hp_json_open(&json, '{');
  hp_json_key(&json, "format");
  hp_json_text(&json, "hpar-profile-1");
  hp_json_number_member(&json, "pages", p->pages);
  hp_json_number_member(&json, "bytes", p->bytes);
  hp_json_number_member(&json, "tokens", p->tokens);
  hp_json_number_member(&json, "start_tags", p->start_tags);
  hp_json_number_member(&json, "cut_distance", p->cut_distance);
  hp_json_break(&json);
  hp_json_key(&json, "states_at_cuts");
  hp_json_open(&json, '{');
  for (int i = 0; i < HP_CUT_BY_BYTES; i++) {
    hp_json_break(&json);
    counts(&json, hpar_cut_policy_name((size_t)i), state_name, p->states[i], HP_STATES);
  }
  hp_json_close(&json, '}');
  hp_json_break(&json);
  counts(&json, "modes_at_cuts", hp_profile_mode_name, p->modes_at_cuts, HP_PROFILE_MODES);
  hp_json_break(&json);
  counts(&json, "modes_by_token", hp_profile_mode_name, p->mode_tokens, HP_PROFILE_MODES);
  hp_json_break(&json);
  counts(&json, "modes_by_byte", hp_profile_mode_name, p->mode_bytes, HP_PROFILE_MODES);
  hp_json_break(&json);
  table_tags_and_switches(&json, p);
  hp_json_break(&json);
  self_closing_tags(&json, p);
  hp_json_break(&json);
  hp_json_key(&json, "formatting_lists");
  hp_json_open(&json, '{');
  lists(&json, "at_tokens", &p->lists_at_tokens);
  lists(&json, "at_cuts", &p->lists_at_cuts);
  hp_json_close(&json, '}');
  hp_json_break(&json);
  states_by_bytes(&json, p);
  hp_json_close(&json, '}');
  fputc('\n', file);
}

/* The largest first. */
static void print_counts(const char *title, const char *(*name)(int), const uint64_t *values, int count) {
  uint64_t all = sum_of(values, count), below = UINT64_MAX;
  int last = -1;
  printf("%s (%llu)\n", title, (unsigned long long)all);
  for (int lines = 0; lines < 8; lines++) {
    int best = -1;
    for (int i = 0; i < count; i++) {
      bool left = values[i] && (values[i] < below || (values[i] == below && i > last));
      if (left && (best < 0 || values[i] > values[best])) best = i;
    }
    if (best < 0) break;
    printf("  %-32s %10llu  %6.2f%%\n", name(best), (unsigned long long)values[best], percent(values[best], all));
    below = values[best];
    last = best;
  }
}

static void print_tables(const hp_profile *p) {
  printf("%llu pages, %llu bytes, %llu tokens; cuts from every %zu bytes on\n\n", (unsigned long long)p->pages,
         (unsigned long long)p->bytes, (unsigned long long)p->tokens, p->cut_distance);
  for (int i = 0; i < HP_CUT_BY_BYTES; i++) {
    char title[64];
    snprintf(title, sizeof title, "tokenizer state at cuts, %s", hpar_cut_policy_name((size_t)i));
    print_counts(title, state_name, p->states[i], HP_STATES);
  }
  print_counts("insertion mode at cuts before tags", hp_profile_mode_name, p->modes_at_cuts, HP_PROFILE_MODES);
  print_counts("insertion mode by token", hp_profile_mode_name, p->mode_tokens, HP_PROFILE_MODES);
  print_counts("insertion mode by byte", hp_profile_mode_name, p->mode_bytes, HP_PROFILE_MODES);
  printf("first tag of a table part after a cut, and the mode at the cut\n");
  for (int i = 0; i <= 2 * HP_PROFILE_TABLE_TAGS; i++) {
    char name[16];
    uint64_t all = sum_of(p->table_tags[i], HP_PROFILE_MODES);
    if (!all) continue;
    table_tag_name(name, sizeof name, i);
    printf("  %-12s %8llu  ", name, (unsigned long long)all);
    int best = 0;
    for (int m = 0; m < HP_PROFILE_MODES; m++)
      if (p->table_tags[i][m] > p->table_tags[i][best]) best = m;
    printf("%s %.1f%%\n", hp_profile_mode_name(best), percent(p->table_tags[i][best], all));
  }
  uint64_t switches = all_switches(p), names, voids;
  printf("switches of the tokenizer's state (%llu): %.4f%% of tokens, %.4f%% of bytes\n", (unsigned long long)switches,
         percent(switches, p->tokens), percent(switches, p->bytes));
  for (int i = 0; i < HP_PROFILE_SWITCHES; i++) {
    if (!sum_of(p->switches[i], HP_PROFILE_MODES)) continue;
    printf("  %-12s", hp_known_names[hp_profile_switch_tags[i]].bytes);
    for (int m = 0; m < HP_PROFILE_MODES; m++)
      if (p->switches[i][m]) printf(" %s %llu", hp_profile_mode_name(m), (unsigned long long)p->switches[i][m]);
    putchar('\n');
  }
  distinct(p, &names, &voids);
  printf("self-closing: of %llu element names of the standard, %llu are void (%.1f%%)\n", (unsigned long long)names,
         (unsigned long long)voids, percent(voids, names));
  printf("  void elements, of which with \"/>\"   %llu, %llu\n",
         (unsigned long long)(p->self_closing.void_plain + p->self_closing.void_slash),
         (unsigned long long)p->self_closing.void_slash);
  printf("  foreign elements, with \"/>\"         %llu, %llu\n",
         (unsigned long long)(p->self_closing.foreign_plain + p->self_closing.foreign_slash),
         (unsigned long long)p->self_closing.foreign_slash);
  printf("  other elements with \"/>\", ignored   %llu\n", (unsigned long long)p->self_closing.other_slash);
  const hp_profile_lists *l = &p->lists_at_cuts;
  printf(
      "formatting lists at cuts (%llu): %.2f%% without entries after the last marker, %.2f%% without markers, %.2f%% "
      "to be reconstructed\n",
      (unsigned long long)l->lists, percent(l->entries[0], l->lists), percent(l->markers[0], l->lists),
      percent(l->unclean, l->lists));
}

static int finish(survey *s, unsigned threads, const char *output, bool json) {
  hp_profile sum = {.cut_distance = s->profiles[0].cut_distance};
  int code = s->pages.failures ? HP_EXIT_FAILED : HP_EXIT_FINE;
  bool fine = true;
  for (unsigned i = 0; fine && i < threads; i++) fine = hp_profile_add(&sum, &s->profiles[i]);
  for (size_t i = 0; i < s->pages.count; i++) {
    if (s->outcomes[i].status == HPAR_OK) continue;
    errno = s->outcomes[i].number;
    code = hp_complain_status(s->pages.paths[i], s->outcomes[i].status);
  }
  if (!fine) code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  if (fine && sum.pages) {
    if (output) {
      FILE *file = hp_open_output(output);
      if (file) write_json(file, &sum);
      int written = file ? hp_close_output(file, output) : HP_EXIT_FAILED;
      if (written) code = written;
    }
    if (json && !(output && !strcmp(output, "-")))
      write_json(stdout, &sum);
    else if (!output)
      print_tables(&sum);
    code = hp_finish_output(code);
  }
  hp_profile_free(&sum);
  return code;
}

static int run(survey *s, unsigned threads, size_t distance, const char *output, bool json) {
  if (!s->pages.count) return s->pages.failures ? HP_EXIT_FAILED : hp_bad_usage(&command, "name a FILE or a FOLDER");
  for (size_t i = 0; output && i < s->pages.count; i++)
    if (hp_is_input(output, s->pages.paths[i])) return hp_bad_usage(&command, "--output: %s is an input", output);
  if (!threads) threads = hp_default_threads();
  if (threads > s->pages.count) threads = (unsigned)s->pages.count;
  helper *helpers = calloc(threads, sizeof *helpers);
  s->profiles = calloc(threads, sizeof *s->profiles);
  s->outcomes = calloc(s->pages.count, sizeof *s->outcomes);
  int code = HP_EXIT_FAILED;
  if (helpers && s->profiles && s->outcomes) {
    for (unsigned i = 0; i < threads; i++) s->profiles[i].cut_distance = distance;
    profile_all(s, helpers, threads - 1);
    code = finish(s, threads, output, json);
    for (unsigned i = 0; i < threads; i++) hp_profile_free(&s->profiles[i]);
  } else {
    hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  }
  free(helpers);
  free(s->profiles);
  free(s->outcomes);
  return code;
}

int hp_run_profile(int count, char **items) {
  static const char *const switches[] = {"off", "on", NULL};
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  survey s = {.options = {HPAR_OPTIONS_INIT}};
  uint64_t threads = 0, distance = 4096;
  size_t index = 0;
  const char *output = NULL;
  bool json = false;
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) {
    switch (id) {
      case HP_ARGUMENT_OPERAND:
        if (!hp_pages_add(&s.pages, arguments.value)) code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
        break;
      case OUTPUT: output = arguments.value; break;
      case JSON: json = true; break;
      case CUT_DISTANCE:
        if (!hp_value_number(&arguments, 1, HPAR_MAX_INPUT, &distance)) code = HP_EXIT_USAGE;
        break;
      case THREADS:
        if (!hp_value_number(&arguments, 0, HPAR_MAX_THREADS, &threads)) code = HP_EXIT_USAGE;
        break;
      case SCRIPTING:
        if (!hp_value_word(&arguments, switches, &index)) code = HP_EXIT_USAGE;
        s.options.scripting = index == 1;
        break;
      case HP_ARGUMENT_HELP: code = hp_finish_output(HP_EXIT_FINE); break;
      default: code = HP_EXIT_USAGE;
    }
  }
  if (code < 0) code = run(&s, (unsigned)threads, distance, output, json);
  hp_pages_free(&s.pages);
  return code;
}

#else

int hp_run_profile(int count, char **items) {
  (void)count, (void)items;
  hp_complain("profile: this build has no parallel parser, for which profiles are");
  return HP_EXIT_USAGE;
}

#endif
