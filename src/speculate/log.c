#include "speculate/log.h"

#include "base/memory.h"

static const hp_atom formatting_names[HP_FORMATTING_NAMES] = {
    HP_A, HP_B, HP_BIG, HP_CODE, HP_EM, HP_FONT, HP_I, HP_NOBR, HP_S, HP_SMALL, HP_STRIKE, HP_STRONG, HP_TT, HP_U};

int hp_formatting_index(hp_atom name) {
  for (int i = 0; i < HP_FORMATTING_NAMES; i++)
    if (formatting_names[i] == name) return i;
  return -1;
}

hp_atom hp_formatting_name(int index) { return formatting_names[index]; }

void hp_log_clear(hp_log *log) {
  log->segment_count = log->open_count = log->formatting_count = log->template_count = log->token_count = 0;
  log->errors.count = 0;
  log->errors.seen = 0;
}

void hp_log_cut(hp_log *log, uint32_t segments) {
  log->errors.count = segments ? log->segments[segments - 1].errors_end : 0;
  log->errors.seen = log->errors.count;
  if (segments >= log->segment_count) return;
  const hp_segment *s = &log->segments[segments];
  log->open_count = s->open;
  log->formatting_count = s->formatting;
  log->template_count = s->template_modes;
  for (uint32_t i = segments; i < log->segment_count; i++, s++) {
    if (s->ends != HP_ENDS_REPLAY && s->ends != HP_ENDS_PREPARE) continue;
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
}
