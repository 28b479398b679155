/* What a study reads of the last parse: argument checks. */

#include "base/sized.h"
#include "session/parser.h"
#include "session/stats.h"

#include <hpar/study.h>

static const hp_record *record_of(const hpar_parser *parser) {
  return parser && parser->session.inspected ? &parser->session.record : NULL;
}

size_t hpar_chunk_count(const hpar_parser *parser) {
  const hp_record *record = record_of(parser);
  return record ? record->chunk_count : 0;
}

const hpar_chunk *hpar_chunk_at(const hpar_parser *parser, size_t index) {
  return index < hpar_chunk_count(parser) ? &parser->session.record.chunks[index] : NULL;
}

size_t hpar_event_count(const hpar_parser *parser) {
  const hp_record *record = record_of(parser);
  return record ? record->event_count : 0;
}

hpar_event hpar_event_at(const hpar_parser *parser, size_t index) {
  return index < hpar_event_count(parser) ? parser->session.record.events[index] : (hpar_event){0};
}

size_t hpar_hazard_event_count(const hpar_parser *parser) {
  const hp_record *record = record_of(parser);
  return record ? record->pipeline_event_count : 0;
}

hpar_hazard_event hpar_hazard_event_at(const hpar_parser *parser, size_t index) {
  return index < hpar_hazard_event_count(parser) ? parser->session.record.pipeline_events[index]
                                                 : (hpar_hazard_event){0};
}

hpar_string hpar_inspected_text(const hpar_document *document) {
  bool empty = !document || !document->input.bytes;
  return (hpar_string){empty ? "" : document->input.bytes, empty ? 0 : document->input.length};
}

hpar_status hpar_study_stats_of(const hpar_parser *parser, hpar_study_stats *stats) {
  if (!parser || !stats || hp_check_size(stats, "hpar_study_stats", "HPAR_STUDY_STATS_INIT", NULL) != HPAR_OK)
    return HPAR_ERROR_ARGUMENT;
  hpar_study_stats full;
  hp_fill_study_stats(&parser->session, &full);
  hp_write_sized(stats, &full, sizeof full);
  return HPAR_OK;
}
