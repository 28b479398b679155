/* The study of speculation: the states at cuts, the guesses of the predictors, the outcome of each
 * chunk, and the speed-up that the outcomes allow. Nothing here depends on time: the cost of a task
 * is its bytes. */

#include "programs/crawl/map_internal.h"

#if HPAR_PARALLEL

#include "base/memory.h"
#include "study/profile.h"
#include "study/schedule.h"
#include "study/true_state.h"

#include <hpar/study.h>
#include <string.h>

enum { CUT_DISTANCE = 4096, STUDY_CHUNKS = 16 };

static const char *state_name(int state) { return hp_state_name((hp_state)state); }

/* Adds counts with the keys "PREFIX: NAME", or "NAME" without a prefix. */
static bool add_counts(hp_map *m, hp_family family, const char *prefix, const char *(*name)(int),
                       const uint64_t *counts, int length) {
  char key[128];
  for (int i = 0; i < length; i++) {
    if (!counts[i]) continue;
    snprintf(key, sizeof key, "%s%s%s", prefix, *prefix ? ": " : "", name(i));
    if (!hp_tally_add_text(m->tally, family, key, counts[i])) return false;
  }
  return true;
}

static bool add_lists(hp_map *m, const char *place, const hp_profile_lists *lists) {
  char key[64];
  bool fine = true;
  for (int i = 0; fine && i < HP_PROFILE_LENGTHS; i++) {
    const char *more = i == HP_PROFILE_LENGTHS - 1 ? " or more" : "";
    snprintf(key, sizeof key, "%s: %d%s entries", place, i, more);
    fine = !lists->entries[i] || hp_tally_add_text(m->tally, HP_FORMATTING_LISTS, key, lists->entries[i]);
    snprintf(key, sizeof key, "%s: %d%s markers", place, i, more);
    fine = fine && (!lists->markers[i] || hp_tally_add_text(m->tally, HP_FORMATTING_LISTS, key, lists->markers[i]));
  }
  snprintf(key, sizeof key, "%s: to reconstruct", place);
  return fine && (!lists->unclean || hp_tally_add_text(m->tally, HP_FORMATTING_LISTS, key, lists->unclean));
}

static bool add_self_closing(hp_map *m, const hp_profile *p) {
  const struct {
    const char *name;
    uint64_t count;
  } counts[] = {{"void, plain", p->self_closing.void_plain},
                {"void, with slash", p->self_closing.void_slash},
                {"foreign, plain", p->self_closing.foreign_plain},
                {"foreign, with slash", p->self_closing.foreign_slash},
                {"other, with slash", p->self_closing.other_slash}};
  bool fine = true;
  for (size_t i = 0; fine && i < sizeof counts / sizeof *counts; i++)
    fine = !counts[i].count || hp_tally_add_text(m->tally, HP_SELF_CLOSING, counts[i].name, counts[i].count);
  return fine;
}

static bool add_profile(hp_map *m, const hp_profile *p) {
  bool fine = true;
  for (int i = 0; fine && i < HP_CUT_BY_BYTES; i++)
    fine = add_counts(m, HP_STATES_AT_CUTS, hpar_cut_policy_name((size_t)i), state_name, p->states[i], HP_STATES);
  fine = fine && add_counts(m, HP_MODES_AT_CUTS, "", hp_profile_mode_name, p->modes_at_cuts, HP_PROFILE_MODES) &&
         add_counts(m, HP_MODES_BY_TOKEN, "", hp_profile_mode_name, p->mode_tokens, HP_PROFILE_MODES) &&
         add_counts(m, HP_MODES_BY_BYTE, "", hp_profile_mode_name, p->mode_bytes, HP_PROFILE_MODES);
  for (int i = 0; fine && i <= 2 * HP_PROFILE_TABLE_TAGS; i++) {
    char name[32] = "none";
    if (i < 2 * HP_PROFILE_TABLE_TAGS)
      snprintf(name, sizeof name, "%s%s", i < HP_PROFILE_TABLE_TAGS ? "" : "/",
               hp_known_names[hp_profile_table_tags[i % HP_PROFILE_TABLE_TAGS]].bytes);
    fine = add_counts(m, HP_FIRST_TABLE_TAGS, name, hp_profile_mode_name, p->table_tags[i], HP_PROFILE_MODES);
  }
  for (int i = 0; fine && i < HP_PROFILE_SWITCHES; i++)
    fine = add_counts(m, HP_SWITCHES, hp_known_names[hp_profile_switch_tags[i]].bytes, hp_profile_mode_name,
                      p->switches[i], HP_PROFILE_MODES);
  return fine && add_self_closing(m, p) && add_lists(m, "at tokens", &p->lists_at_tokens) &&
         add_lists(m, "at cuts", &p->lists_at_cuts) &&
         hp_tally_add_text(m->tally, HP_COUNTERS, "profiled_bytes", p->bytes) &&
         hp_tally_add_text(m->tally, HP_COUNTERS, "profiled_tokens", p->tokens) &&
         hp_tally_add_text(m->tally, HP_COUNTERS, "profiled_start_tags", p->start_tags);
}

bool hp_map_states(hp_map *m, const hp_map_page *page) {
  hp_profile profile = {.cut_distance = CUT_DISTANCE};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = page->encoding};
  hpar_status status = hp_profile_page(&profile, m->parser, m->document, page->bytes, page->length, &options);
  bool fine = !status && add_profile(m, &profile);
  hp_profile_free(&profile);
  return fine;
}

/*** chunks ***/

/* Parses the page in chunks, all on this thread, with a record of each chunk. */
static bool inspect(hp_map *m, const hp_map_page *page, const char *predictor, size_t chunks, unsigned threads) {
  const hpar_study study = {HPAR_STUDY_INIT, .predictor = predictor, .inspect = true};
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .mode = HPAR_MODE_PARALLEL,
                          .encoding = page->encoding,
                          .threads = threads,
                          .parallel = {.executor = HPAR_EXECUTOR_INLINE, .chunks = chunks},
                          .study = &study};
  return !hpar_parse(m->parser, &options, page->bytes, page->length, m->document, NULL);
}

static bool count_outcomes(hp_map *m) {
  bool fine = true;
  for (size_t i = 1; fine && i < hpar_chunk_count(m->parser); i++) {
    const hpar_chunk *c = hpar_chunk_at(m->parser, i);
    fine = hp_tally_add_text(m->tally, HP_CHUNK_OUTCOMES, hpar_chunk_outcome_name(c->outcome), 1) &&
           hp_tally_add_text(m->tally, HP_COUNTERS, "study_chunks", 1) &&
           hp_tally_add_text(m->tally, HP_COUNTERS, "study_bytes_reparsed", c->bytes_reparsed);
    for (size_t k = 0; fine && k < c->failure_count; k++) {
      const hpar_failure *f = &c->failures[k];
      fine = hp_tally_add_text(m->tally, HP_ASSUMPTIONS,
                               f->hazard ? hpar_hazard_name(f->hazard) : hpar_assumption_name(f->assumption), 1);
    }
  }
  return fine;
}

static bool count_guesses(hp_map *m, const char *predictor) {
  char key[64];
  uint64_t right = 0, all = 0;
  for (size_t i = 1; i < hpar_chunk_count(m->parser); i++) {
    const hpar_chunk *c = hpar_chunk_at(m->parser, i);
    if (c->outcome == HPAR_CHUNK_EXACT) continue;
    all++;
    right += c->right_start;
  }
  snprintf(key, sizeof key, "%s: right", predictor);
  bool fine = hp_tally_add_text(m->tally, HP_PREDICTORS, key, right);
  snprintf(key, sizeof key, "%s: all", predictor);
  return fine && hp_tally_add_text(m->tally, HP_PREDICTORS, key, all);
}

/* Adds the time of the page on virtual cores, in bytes: a worker and the merger parse each byte at
 * the same cost, and adopting nodes is free. */
static bool project(hp_map *m, const hp_map_page *page, unsigned cores) {
  if (!inspect(m, page, NULL, 0, cores)) return false;
  size_t count = hpar_chunk_count(m->parser);
  hp_scheduled_task *tasks = hp_allocate_zeroed(count * sizeof *tasks);
  uint64_t *workers = hp_allocate_zeroed(cores * sizeof *workers), length = 0;
  bool fine = tasks && workers;
  for (size_t i = 0; fine && i < count; i++) {
    const hpar_chunk *c = hpar_chunk_at(m->parser, i);
    uint64_t bytes = c->text_end - c->text_begin;
    tasks[i] = (hp_scheduled_task){.parse = bytes, .merge = c->bytes_reparsed, .exact = bytes, .cut = c->text_begin};
    if (c->outcome == HPAR_CHUNK_EXACT) tasks[i].parse = tasks[i].merge = 0;
    length += bytes;
  }
  if (fine) {
    hp_schedule_input input = {.tasks = tasks, .count = count, .length = length, .cores = cores};
    char key[64];
    snprintf(key, sizeof key, "%02u cores: time in bytes", cores);
    fine = hp_tally_add_text(m->tally, HP_PROJECTIONS, key, hp_schedule(&input, workers));
    snprintf(key, sizeof key, "%02u cores: bytes", cores);
    fine = fine && hp_tally_add_text(m->tally, HP_PROJECTIONS, key, length);
  }
  hp_free(tasks);
  hp_free(workers);
  return fine;
}

bool hp_map_speculation(hp_map *m, const hp_map_page *page) {
  bool fine = hp_tally_add_text(m->tally, HP_COUNTERS, "study_pages", 1) &&
              hp_tally_add_text(m->tally, HP_COUNTERS, "study_bytes", page->length) &&
              inspect(m, page, NULL, STUDY_CHUNKS, 2) && count_outcomes(m);
  const char *predictor;
  for (size_t i = 0; fine && (predictor = hpar_predictor_name(i)); i++)
    fine = inspect(m, page, predictor, STUDY_CHUNKS, 2) && count_guesses(m, predictor);
  for (unsigned cores = 2; fine && cores <= 64; cores *= 2) fine = project(m, page, cores);
  return fine;
}

#else

bool hp_map_states(hp_map *m, const hp_map_page *page) { return m && page; }
bool hp_map_speculation(hp_map *m, const hp_map_page *page) { return m && page; }

#endif
