/* The hazards of a pipelined parse: as text, in JSON, in the page of `hpar explain`, and in the
 * trace. */

#include "programs/hpar/explain_pipeline.h"

#include "programs/hpar/lines.h"

#include <hpar/study.h>
#include <string.h>

enum { SHOWN = 60 };

static hpar_status open_positions(hp_page_lines *lines, const hp_inspection *in, const hpar_study_stats *stats) {
  const hp_encoding *encoding = hp_encoding_for_label(stats->encoding, strlen(stats->encoding));
  return hp_page_lines_open(lines, encoding, in->bytes, in->length);
}

/* Returns the source from the token to the end of its line. */
static hpar_string source_of(const hpar_document *document, const hpar_hazard_event *met) {
  hpar_string text = hpar_inspected_text(document);
  const char *from = text.bytes + met->text_at;
  size_t most = text.length - met->text_at, n = 0;
  if (most > SHOWN) most = SHOWN;
  while (n < most && from[n] != '\n' && from[n] != '\r') n++;
  while (n && met->text_at + n < text.length && ((unsigned char)from[n] & 0xC0) == 0x80) n--;
  return (hpar_string){from, n};
}

bool hp_each_hazard(const hp_inspection *in, bool on_threads, void (*show)(void *to, const hp_shown_hazard *hazard),
                    void *to) {
  const hpar_parser *parser = on_threads ? in->on_threads : in->parser;
  const hpar_document *document = on_threads ? in->other : in->document;
  hp_page_lines positions;
  hpar_status status = open_positions(&positions, in, on_threads ? &in->stats_on_threads : &in->stats);
  if (status) {
    hp_complain_status(in->path, status);
    return false;
  }
  for (size_t i = 0; i < hpar_hazard_event_count(parser); i++) {
    hpar_hazard_event met = hpar_hazard_event_at(parser, i);
    hp_position position = hp_page_lines_at(&positions, met.at);
    show(to, &(hp_shown_hazard){met, position.line, position.column, source_of(document, &met)});
  }
  hp_page_lines_close(&positions);
  return true;
}

/*** text ***/

static void print_hazard(void *to, const hp_shown_hazard *h) {
  printf("%s:%llu:%llu: %s, ", (const char *)to, (unsigned long long)h->line, (unsigned long long)h->column,
         hpar_pipeline_hazard_name(h->met.hazard));
  if (h->met.rolled_back)
    printf("not foreseen: %llu tokens, %llu bytes wasted", (unsigned long long)h->met.tokens_dropped,
           (unsigned long long)h->met.bytes_dropped);
  else
    printf("foreseen");
  fputs("\n    ", stdout);
  for (size_t i = 0; i < h->source.length; i++) {
    unsigned char c = (unsigned char)h->source.bytes[i];
    putchar(c < 0x20 || c == 0x7F ? ' ' : c);
  }
  putchar('\n');
}

int hp_explain_pipeline_text(const hp_inspection *in) {
  const hpar_study_stats *s = &in->stats;
  uint64_t hazards = 0;
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) hazards += s->pipeline.hazards_by_kind[i];
  printf("%s: %zu bytes, %s, pipelined (predictor %s, buffer %u, batch %u)\n", hp_shown_name(in->path), in->length,
         s->encoding, s->pipeline.predictor, s->pipeline.buffer_tokens, s->pipeline.batch_tokens);
  printf("%llu tokens, %llu hazards", (unsigned long long)s->tokens, (unsigned long long)hazards);
  bool any = false;
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) {
    if (!s->pipeline.hazards_by_kind[i]) continue;
    printf("%s%llu %s", any ? ", " : ": ", (unsigned long long)s->pipeline.hazards_by_kind[i],
           hpar_pipeline_hazard_name((hpar_pipeline_hazard)i));
    any = true;
  }
  printf("; %llu rollbacks, %llu tokens and %llu bytes wasted", (unsigned long long)s->pipeline.rollbacks,
         (unsigned long long)s->pipeline.tokens_dropped, (unsigned long long)s->pipeline.bytes_dropped);
  if (s->pipeline.bytes_alone) printf("; %llu bytes not speculated on", (unsigned long long)s->pipeline.bytes_alone);
  printf("\n%s", hazards ? "\n" : "");
  return hp_each_hazard(in, false, print_hazard, (void *)(uintptr_t)hp_shown_name(in->path)) ? HP_EXIT_FINE
                                                                                             : HP_EXIT_FAILED;
}

/*** JSON ***/

void hp_hazard_members(hp_json *json, const hp_shown_hazard *h) {
  hp_json_key(json, "hazard");
  hp_json_text(json, hpar_pipeline_hazard_name(h->met.hazard));
  hp_json_number_member(json, "offset", h->met.at);
  hp_json_number_member(json, "line", h->line);
  hp_json_number_member(json, "column", h->column);
  hp_json_key(json, "rolled_back");
  hp_json_bool(json, h->met.rolled_back);
  hp_json_number_member(json, "tokens_dropped", h->met.tokens_dropped);
  hp_json_number_member(json, "bytes_dropped", h->met.bytes_dropped);
  hp_json_key(json, "source");
  hp_json_string(json, h->source);
}

static void hazard_json(void *to, const hp_shown_hazard *h) {
  hp_json *json = to;
  hp_json_break(json);
  hp_json_open(json, '{');
  hp_hazard_members(json, h);
  hp_json_close(json, '}');
}

bool hp_explain_pipeline_json(hp_json *json, const hp_inspection *in) {
  const hpar_study_stats *s = &in->stats;
  hp_json_key(json, "pipeline");
  hp_json_open(json, '{');
  hp_json_key(json, "predictor");
  hp_json_text(json, s->pipeline.predictor);
  hp_json_number_member(json, "buffer_tokens", s->pipeline.buffer_tokens);
  hp_json_number_member(json, "batch", s->pipeline.batch_tokens);
  hp_json_number_member(json, "tokens", s->tokens);
  hp_json_number_member(json, "rollbacks", s->pipeline.rollbacks);
  hp_json_number_member(json, "bytes_read", s->pipeline.bytes_read);
  hp_json_number_member(json, "bytes_alone", s->pipeline.bytes_alone);
  hp_json_key(json, "hazards");
  hp_json_open(json, '[');
  bool fine = hp_each_hazard(in, false, hazard_json, json);
  hp_json_break(json);
  hp_json_close(json, ']');
  hp_json_close(json, '}');
  return fine;
}
