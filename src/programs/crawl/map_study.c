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

/* The automatic mode parses shorter pages than DIVIDED_BYTES on one thread. */
enum { CUT_DISTANCE = 4096, STUDY_CHUNKS = 16, DIVIDED_BYTES = 32 << 10 };

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

/* Parses the page in chunks, all on this thread, and sets `*stats`. With `inspect`, it records each
 * chunk, which costs twice as much. */
static bool parse_in_chunks(hp_map *m, const hp_map_page *page, const char *predictor, bool inspect, size_t chunks,
                            unsigned threads, hpar_study_stats *stats) {
  const hpar_study study = {HPAR_STUDY_INIT, .predictor = predictor, .inspect = inspect};
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .mode = HPAR_MODE_PARALLEL,
                          .encoding = page->encoding,
                          .threads = threads,
                          .parallel = {.executor = HPAR_EXECUTOR_INLINE, .chunks = chunks},
                          .study = &study};
  return !hpar_study_parse(m->parser, &options, page->bytes, page->length, m->document, stats);
}

static bool count_outcomes(hp_map *m, hp_map_study *s) {
  bool fine = true;
  for (size_t i = 1; fine && i < hpar_chunk_count(m->parser); i++) {
    const hpar_chunk *c = hpar_chunk_at(m->parser, i);
    s->chunks++;
    s->clean += c->outcome == HPAR_CHUNK_CLEAN || c->outcome == HPAR_CHUNK_PASSED;
    s->bytes_reparsed += c->bytes_reparsed;
    fine = hp_tally_add_text(m->tally, HP_CHUNK_OUTCOMES, hpar_chunk_outcome_name(c->outcome), 1);
    for (size_t k = 0; fine && k < c->failure_count; k++) {
      const hpar_failure *f = &c->failures[k];
      fine = hp_tally_add_text(m->tally, HP_ASSUMPTIONS,
                               f->hazard ? hpar_hazard_name(f->hazard) : hpar_assumption_name(f->assumption), 1);
    }
  }
  return fine && hp_tally_add_text(m->tally, HP_COUNTERS, "study_chunks", s->chunks) &&
         hp_tally_add_text(m->tally, HP_COUNTERS, "study_bytes_reparsed", s->bytes_reparsed);
}

static bool count_guesses(hp_map *m, const char *predictor, const hpar_study_stats *stats, hp_map_guesses *g) {
  char key[64];
  g->all = stats->chunks - stats->chunks_exact;
  g->right = stats->chunks_right_start - stats->chunks_exact;
  snprintf(key, sizeof key, "%s: right", predictor);
  bool fine = hp_tally_add_text(m->tally, HP_PREDICTORS, key, g->right);
  snprintf(key, sizeof key, "%s: all", predictor);
  return fine && hp_tally_add_text(m->tally, HP_PREDICTORS, key, g->all);
}

/* Sets the time of the page on virtual cores, in bytes: a worker and the merger parse each byte at
 * the same cost, and adopting nodes is free. */
static bool schedule(hp_map *m, unsigned cores, uint64_t *time, uint64_t *length) {
  size_t count = hpar_chunk_count(m->parser);
  hp_scheduled_task *tasks = hp_allocate_zeroed(count * sizeof *tasks);
  uint64_t *workers = hp_allocate_zeroed(cores * sizeof *workers);
  bool fine = tasks && workers;
  *length = 0;
  for (size_t i = 0; fine && i < count; i++) {
    const hpar_chunk *c = hpar_chunk_at(m->parser, i);
    uint64_t bytes = c->text_end - c->text_begin;
    tasks[i] = (hp_scheduled_task){.parse = bytes, .merge = c->bytes_reparsed, .exact = bytes, .cut = c->text_begin};
    if (c->outcome == HPAR_CHUNK_EXACT) tasks[i].parse = tasks[i].merge = 0;
    *length += bytes;
  }
  if (fine) {
    hp_schedule_input input = {.tasks = tasks, .count = count, .length = *length, .cores = cores};
    *time = hp_schedule(&input, workers);
  }
  hp_free(tasks);
  hp_free(workers);
  return fine;
}

/* Projects the time on 64 cores and fewer. A page that has one chunk for some number of cores has
 * one for fewer, too. */
static bool project(hp_map *m, const hp_map_page *page, hp_map_study *s) {
  bool fine = true, is_divided = page->length >= DIVIDED_BYTES;
  s->length = page->length;
  for (int i = HP_MAP_CORES - 1; fine && i >= 0; i--) {
    char key[64];
    unsigned cores = 2u << i;
    if (is_divided) {
      fine = parse_in_chunks(m, page, NULL, true, 0, cores, NULL) && schedule(m, cores, &s->time[i], &s->length);
      is_divided = hpar_chunk_count(m->parser) > 1;
    } else {
      s->time[i] = s->length;
    }
    snprintf(key, sizeof key, "%02u cores: time in bytes", cores);
    fine = fine && hp_tally_add_text(m->tally, HP_PROJECTIONS, key, s->time[i]);
    snprintf(key, sizeof key, "%02u cores: bytes", cores);
    fine = fine && hp_tally_add_text(m->tally, HP_PROJECTIONS, key, s->length);
  }
  return fine;
}

bool hp_map_speculation(hp_map *m, const hp_map_page *page, hp_map_study *s) {
  const char *predictor;
  hpar_study_stats own = {HPAR_STUDY_STATS_INIT};
  bool fine = hp_tally_add_text(m->tally, HP_COUNTERS, "study_pages", 1) &&
              hp_tally_add_text(m->tally, HP_COUNTERS, "study_bytes", page->length) &&
              parse_in_chunks(m, page, NULL, true, STUDY_CHUNKS, 2, &own) && count_outcomes(m, s);
  for (size_t i = 0; fine && i < HP_MAP_PREDICTORS && (predictor = hpar_predictor_name(i)); i++) {
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    bool is_own = own.predictor && !strcmp(own.predictor, predictor);
    fine = (is_own || parse_in_chunks(m, page, predictor, false, STUDY_CHUNKS, 2, &stats)) &&
           count_guesses(m, predictor, is_own ? &own : &stats, &s->guesses[i]);
  }
  return fine && project(m, page, s);
}

void hp_map_write_study(FILE *file, const hp_map_study *s) {
  const char *predictor;
  fprintf(file, ",\"chunks\":%llu,\"chunks_clean\":%llu,\"bytes_reparsed\":%llu,\"predictors\":{",
          (unsigned long long)s->chunks, (unsigned long long)s->clean, (unsigned long long)s->bytes_reparsed);
  for (size_t i = 0; i < HP_MAP_PREDICTORS && (predictor = hpar_predictor_name(i)); i++)
    fprintf(file, "%s\"%s\":[%llu,%llu]", i ? "," : "", predictor, (unsigned long long)s->guesses[i].right,
            (unsigned long long)s->guesses[i].all);
  fprintf(file, "},\"text_bytes\":%llu,\"time\":{", (unsigned long long)s->length);
  for (int i = 0; i < HP_MAP_CORES; i++)
    fprintf(file, "%s\"%u\":%llu", i ? "," : "", 2u << i, (unsigned long long)s->time[i]);
  putc('}', file);
}

#else

bool hp_map_states(hp_map *m, const hp_map_page *page) { return m && page; }
bool hp_map_speculation(hp_map *m, const hp_map_page *page, hp_map_study *s) { return m && page && s; }
void hp_map_write_study(FILE *file, const hp_map_study *s) { (void)file, (void)s; }

#endif
