/* The record of the last parse, as <hpar/inspect.h> shows it. */

#include "session/parser.h"

#include <hpar/inspect.h>

size_t hpar_chunk_count(const hpar_parser *parser) { return parser->inspected ? parser->record.chunk_count : 0; }

const hpar_chunk *hpar_chunk_at(const hpar_parser *parser, size_t index) {
  return index < hpar_chunk_count(parser) ? &parser->record.chunks[index] : NULL;
}

size_t hpar_event_count(const hpar_parser *parser) { return parser->inspected ? parser->record.event_count : 0; }

hpar_event hpar_event_at(const hpar_parser *parser, size_t index) {
  return index < hpar_event_count(parser) ? parser->record.events[index] : (hpar_event){0};
}

size_t hpar_met_hazard_count(const hpar_parser *parser) { return parser->inspected ? parser->record.met_count : 0; }

hpar_met_hazard hpar_met_hazard_at(const hpar_parser *parser, size_t index) {
  return index < hpar_met_hazard_count(parser) ? parser->record.mets[index] : (hpar_met_hazard){0};
}

hpar_string hpar_inspected_text(const hpar_document *document) {
  return (hpar_string){document->input.bytes ? document->input.bytes : "", document->input.length};
}
