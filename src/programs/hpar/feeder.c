#include "programs/hpar/feeder.h"

#include <stdlib.h>

void hp_feeder_begin(hp_feeder *f, hpar_rewriter *rewriter) {
  f->rewriter = rewriter;
  f->ahead.length = f->most_ahead = 0;
}

void hp_feeder_free(hp_feeder *f) { free(f->ahead.bytes); }

hpar_status hp_feeder_flush(hp_feeder *f) {
  if (!f->ahead.length) return HPAR_OK;
  hpar_status status = hpar_rewriter_feed(f->rewriter, f->ahead.bytes, f->ahead.length);
  f->ahead.length = 0;
  return status;
}

hpar_status hp_feeder_take(hp_feeder *f, const char *bytes, size_t length) {
  enum { QUICK = 1 << 16, MAX_AHEAD = 8 << 20 };
  hpar_status status = hp_append_text(bytes, length, &f->ahead);
  if (status || (length >= QUICK && f->ahead.length < f->most_ahead)) return status;
  f->most_ahead = f->most_ahead < MAX_AHEAD / 2 ? 2 * f->most_ahead + QUICK : MAX_AHEAD;
  return hp_feeder_flush(f);
}
