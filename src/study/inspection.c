/* The calls of a study on a parser: what it reads of a parse, parses with all counters, and scripts
 * that it postpones. */

#include "base/call.h"
#include "session/parser.h"
#include "study/state.h"
#include "study/stats.h"

#include <hpar/study.h>

static const hp_record *record_of(const hpar_parser *parser) {
  if (!parser || !parser->session.inspected) return NULL;
  const hp_study_state *state = parser->session.study;
  return &state->record;
}

size_t hpar_chunk_count(const hpar_parser *parser) {
  const hp_record *record = record_of(parser);
  return record ? record->chunk_count : 0;
}

const hpar_chunk *hpar_chunk_at(const hpar_parser *parser, size_t index) {
  return index < hpar_chunk_count(parser) ? &record_of(parser)->chunks[index] : NULL;
}

size_t hpar_event_count(const hpar_parser *parser) {
  const hp_record *record = record_of(parser);
  return record ? record->event_count : 0;
}

hpar_event hpar_event_at(const hpar_parser *parser, size_t index) {
  return index < hpar_event_count(parser) ? record_of(parser)->events[index] : (hpar_event){0};
}

size_t hpar_hazard_event_count(const hpar_parser *parser) {
  const hp_record *record = record_of(parser);
  return record ? record->pipeline_event_count : 0;
}

hpar_hazard_event hpar_hazard_event_at(const hpar_parser *parser, size_t index) {
  return index < hpar_hazard_event_count(parser) ? record_of(parser)->pipeline_events[index] : (hpar_hazard_event){0};
}

hpar_string hpar_inspected_text(const hpar_document *document) {
  bool empty = !document || !document->input.bytes;
  return (hpar_string){empty ? "" : document->input.bytes, empty ? 0 : document->input.length};
}

static hpar_status check_stats(void *stats, hpar_error *error) {
  return stats ? hp_check_size(stats, "hpar_study_stats", "HPAR_STUDY_STATS_INIT", error) : HPAR_OK;
}

static void write_stats(const hp_session *session, void *stats) {
  if (!stats) return;
  hpar_study_stats full;
  hp_fill_study_stats(session, &full);
  hp_write_sized(stats, &full, sizeof full);
}

hpar_status hpar_study_stats_of(const hpar_parser *parser, hpar_study_stats *stats) {
  if (!parser || !stats || hp_check_size(stats, "hpar_study_stats", "HPAR_STUDY_STATS_INIT", NULL) != HPAR_OK)
    return HPAR_ERROR_ARGUMENT;
  write_stats(&parser->session, stats);
  return HPAR_OK;
}

hpar_status hpar_study_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                             hpar_document *document, hpar_study_stats *stats) {
  return hp_parse_call(parser, options, bytes, length, document, (hp_stats_target){stats, check_stats, write_stats});
}

hpar_status hpar_study_finish(hpar_parser *parser, hpar_study_stats *stats) {
  return hp_finish_call(parser, (hp_stats_target){stats, check_stats, write_stats});
}

hpar_status hpar_script_postpone(hpar_editor *s) {
  if (!s || !s->running || !s->may_postpone) return HPAR_ERROR_ARGUMENT;
  s->postpones = true;
  return HPAR_OK;
}
