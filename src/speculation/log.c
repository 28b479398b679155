#include "speculation/log.h"

#include "base/memory.h"

void hp_log_clear(hp_log *log) {
  log->segment_count = log->open_count = log->formatting_count = log->template_count = log->token_count = 0;
  log->errors.count = 0;
  log->sightings.count = 0;
}

void hp_log_cut(hp_log *log, uint32_t segments) {
  log->errors.count = segments ? log->segments[segments - 1].observed_to.errors : 0;
  log->sightings.count = segments ? log->segments[segments - 1].observed_to.sightings : 0;
  if (segments >= log->segment_count) return;
  const hp_segment *s = &log->segments[segments];
  log->open_count = s->open_elements.first;
  log->formatting_count = s->formatting.first;
  log->template_count = s->templates.first;
  for (uint32_t i = segments; i < log->segment_count; i++, s++) {
    if (s->ends != HP_ENDS_DEFER && s->ends != HP_ENDS_SPLIT) continue;
    log->token_count = s->token;
    break;
  }
  log->segment_count = segments;
}

void hp_log_free(hp_log *log) {
  hp_free(log->segments);
  hp_free(log->open);
  hp_free(log->formatting);
  hp_free(log->template_modes);
  hp_free(log->tokens);
  hp_free(log->errors.items);
  hp_sightings_free(&log->sightings);
}
