/* The window over the input: which bytes wait between two feeds. Failures. */

#include "base/memory.h"
#include "platform/coroutine.h"
#include "rewrite/parallel.h"
#include "rewrite/speculation.h"
#include "rewrite/state.h"

#include <string.h>

enum { SMALL_PART = 64, KEPT_BYTES = 16 << 10, SPARE = 16 };

/*** failures and results ***/

_Noreturn void hp_rewriter_fail(hpar_rewriter *r, hpar_status status, const char *error) {
  if (error) r->progress.error = error;
  hp_unwind_now(&r->unwind, status);
}

void hp_rewriter_complete_rule(hpar_rewriter *r, uint32_t index) {
  if (!hp_running_rules_complete(&r->running, r->rules, index)) return;
  if (!r->rules->rules[index].is_document) hp_matching_retire(&r->matching, index);
}

void hp_rewriter_take_result(hpar_rewriter *r, hpar_status result, uint32_t rule) {
  if (hp_is_destroyed(&r->calls.use)) hp_rewriter_fail(r, HPAR_ERROR_ARGUMENT, "a callback destroyed the rewriter");
  if (r->progress.lacks_memory) result = HPAR_ERROR_MEMORY;
  r->progress.lacks_memory = false;
  if (hp_speculates(r) && result != HPAR_OK) {
    hp_speculation_give_up(r);
    return;
  }
  if (result == HPAR_RETIRE) {
    if (rule == UINT32_MAX) return;
    hp_rewriter_complete_rule(r, rule);
    hp_running_rules_retire(&r->running, r->rules, rule);
  } else if (result == HPAR_SUSPEND) {
    hp_rewriter_fail(r, HPAR_ERROR_ARGUMENT, "a callback suspends without hpar_rewrite_options.suspends");
  } else if (result != HPAR_OK) {
    hp_rewriter_fail(r, result, hpar_status_text(result));
  }
}

const hp_encoding *hp_rewriter_encoding(const hpar_rewriter *r) {
  return r->encoding.used ? r->encoding.used : &hp_utf8;
}

/*** the window ***/

static uint64_t retained(const hpar_rewriter *r) {
  uint64_t position = hp_scanner_retained(&r->scanner);
  return r->text.is_open && r->running.texts && r->text.start < position ? r->text.start : position;
}

static size_t element_memory(const hp_element *e) {
  return (size_t)e->before.capacity + e->prepend.capacity + e->ending.append.capacity + e->ending.after.capacity +
         e->ending.rename.capacity + e->edit_text.capacity + e->edit_capacity * sizeof *e->edits +
         e->ending.ends.capacity * sizeof *e->ending.ends.items +
         e->ending.scopes.capacity * sizeof *e->ending.scopes.items;
}

static size_t memory_of(const hpar_rewriter *r) {
  return sizeof *r + r->window.held.capacity + hp_outline_memory(&r->outline) + hp_matching_memory(&r->matching) +
         r->scratch.bytes + r->edits.capacity * sizeof(hp_edit) + r->edits.text.capacity + hp_names_memory(&r->names) +
         hp_end_records_memory(&r->ends) + r->token.spans.capacity * sizeof(hp_span) + element_memory(&r->element) +
         r->running.capacity * sizeof *r->running.states + hp_units_memory(r) + hp_merge_targets_memory(r) +
         (r->sink.buffer ? HP_SINK_BYTES : 0) + (r->suspension ? sizeof *r->suspension + hp_coroutine_bytes() : 0);
}

void hp_window_check_memory(hpar_rewriter *r) {
  size_t bytes = memory_of(r);
  if (bytes > r->stats.memory_bytes) r->stats.memory_bytes = bytes;
  if (r->options.max_memory && bytes > r->options.max_memory) hp_rewriter_fail(r, HPAR_LIMIT_MEMORY, NULL);
}

static void scan_events(hpar_rewriter *r, size_t length, bool is_feed) {
  if (HPAR_PARALLEL && is_feed && hp_rewriter_is_parallel(r, length))
    hp_rewriter_scan_parallel(r);
  else
    hp_rewriter_scan(r);
}

uint64_t hp_window_scan(hpar_rewriter *r, const char *bytes, size_t length, uint64_t position, bool is_feed) {
  hp_scanner *s = &r->scanner;
  uint64_t at = hp_scanner_position(s, s->at);
  if (at < r->window.mark_bytes) at = r->window.mark_bytes;
  s->begin = bytes;
  s->position = position;
  s->at = bytes + (at - position);
  s->end = bytes + length;
  hp_edits_mark(&r->edits, r->edits.copied == UINT64_MAX || r->edits.copied < position ? position : r->edits.copied);
  scan_events(r, length, is_feed);
  if (r->progress.phase == HP_PHASE_RUNS) hp_rewriter_check_unfinished(r);
  uint64_t kept = r->progress.phase == HP_PHASE_PASSES ? hp_scanner_position(s, s->at) : retained(r);
  hp_rewriter_flush(r, kept);
  if (kept > position) r->window.after_less_than = bytes[kept - position - 1] == '<';
  return kept;
}

/* The window becomes the held bytes, which begin at `position`. A failure before the next scan
 * passes them on. */
static void show_held(hpar_rewriter *r, uint64_t position) {
  hp_scanner *s = &r->scanner;
  uint64_t at = hp_scanner_position(s, s->at);
  s->begin = r->window.held.length ? r->window.held.data : "";
  s->position = position;
  s->at = s->begin + (at > position ? at - position : 0);
  s->end = s->begin + r->window.held.length;
}

static void note_held(hpar_rewriter *r) {
  if (r->window.held.length > r->stats.held_bytes) r->stats.held_bytes = r->window.held.length;
}

/* Scans the held bytes together with as few new bytes as possible. Returns when the window needs
 * no held byte, or all bytes are held. */
static void scan_held(hpar_rewriter *r) {
  while (r->window.held.length && r->window.feed_left && r->progress.phase == HP_PHASE_RUNS) {
    size_t old = r->window.held.length, part = old / SPARE < SMALL_PART ? SMALL_PART : old / SPARE;
    if (part > r->window.feed_left) part = r->window.feed_left;
    uint64_t position = r->window.received - r->window.feed_left - old;
    hp_bytes_append(&r->window.held, r->window.feed, part, &r->unwind);
    r->window.feed += part;
    r->window.feed_left -= part;
    show_held(r, position);
    note_held(r);
    uint64_t kept = hp_window_scan(r, r->window.held.data, r->window.held.length, position, false) - position;
    if (kept >= old) { /* the rest of the window is part of the feed */
      size_t back = r->window.held.length - (size_t)kept;
      r->window.feed -= back;
      r->window.feed_left += back;
      r->window.held.length = 0;
    } else {
      memmove(r->window.held.data, r->window.held.data + kept, r->window.held.length - (size_t)kept);
      r->window.held.length -= (uint32_t)kept;
      show_held(r, position + kept);
    }
  }
}

static hpar_status run_feed(void *argument) {
  hpar_rewriter *r = argument;
  scan_held(r);
  if (!r->window.held.length && r->window.feed_left && r->progress.phase == HP_PHASE_RUNS) {
    const char *bytes = r->window.feed;
    size_t length = r->window.feed_left;
    uint64_t position = r->window.received - length;
    r->window.feed += length;
    r->window.feed_left = 0;
    size_t kept = (size_t)(hp_window_scan(r, bytes, length, position, true) - position);
    if (r->progress.phase == HP_PHASE_RUNS) {
      hp_bytes_append(&r->window.held, bytes + kept, length - kept, &r->unwind);
      show_held(r, position + kept);
      note_held(r);
    } else {
      r->window.feed -= length - kept;
      r->window.feed_left = length - kept;
    }
  }
  if (r->window.held.capacity > KEPT_BYTES && r->window.held.length < KEPT_BYTES / 4) {
    char *smaller = hp_reallocate(r->window.held.data, KEPT_BYTES / 2);
    if (smaller) {
      uint64_t position = r->window.received - r->window.feed_left - r->window.held.length;
      r->window.held.data = smaller;
      r->window.held.capacity = KEPT_BYTES / 2;
      show_held(r, position);
    }
  }
  hp_window_check_memory(r);
  if (r->sink.status != HPAR_OK) hp_rewriter_fail(r, r->sink.status, "the output function failed");
  return HPAR_OK;
}

hpar_status hp_window_fail(hpar_rewriter *r, hpar_status status) {
  hp_scanner *s = &r->scanner;
  hp_edits *e = &r->edits;
  bool passes = r->options.on_failure == HPAR_FAIL_PASS && r->sink.status == HPAR_OK;
  if (r->sink.status != HPAR_OK) status = r->sink.status; /* it may have failed before */
  r->progress.status = status;
  r->progress.phase = passes ? HP_PHASE_PASSES : HP_PHASE_FAILED;
  hp_edits_drop_incomplete(e);
  if (r->sink.status == HPAR_OK) hp_edits_apply(e, &r->sink, s->begin, s->position, e->safe);
  r->stats.failed_at = e->safe;
  if (!passes) return status;
  uint64_t end = hp_scanner_position(s, s->end);
  if (e->safe < end) hp_sink_put(&r->sink, hp_rewriter_at(r, e->safe), (size_t)(end - e->safe));
  r->window.held.length = 0;
  return HPAR_OK;
}

hpar_status hp_window_feed(hpar_rewriter *r, const char *bytes, size_t length) {
  r->window.received += length;
  r->window.feed = bytes;
  r->window.feed_left = length;
  hpar_status status = HPAR_OK;
  if (r->progress.phase == HP_PHASE_RUNS) {
    status = hp_try(&r->unwind, run_feed, r);
    if (status != HPAR_OK) status = hp_window_fail(r, status);
  }
  if (r->progress.phase == HP_PHASE_PASSES) {
    hp_sink_put(&r->sink, r->window.held.data, r->window.held.length);
    hp_sink_put(&r->sink, r->window.feed, r->window.feed_left);
    r->window.held.length = 0;
  }
  r->window.feed_left = 0;
  return status;
}

/*** the confirmer ***/

/* The confirmer of a filter: a second rewriter that reads the output of the first one and passes it
 * on. Edits can give later input another meaning, so that the output has elements that no rule has
 * seen. The confirmer therefore applies the same rules to the elements of the output. It fails at
 * the start tag of an element that a rule would still remove, replace or unwrap, or whose attribute
 * it would remove. It does not write that tag and what follows. */

hpar_status hp_confirm_open(hpar_rewriter *r, hpar_write_callback write, void *context) {
  hpar_status status = r->confirmer ? HPAR_OK : hpar_rewriter_create(&r->confirmer);
  if (status != HPAR_OK) return status;
  r->confirmer->running.confirms = true;
  r->confirmer->progress.phase = HP_PHASE_NONE;
  hp_sink_open(&r->confirmer->sink, write, context);
  return HPAR_OK;
}

/* The encoding of the output is known with the first output only. */
static hpar_status begin(hpar_rewriter *r) {
  const hpar_rewrite_options *o = &r->options;
  const bool is_utf8 =
      r->encoding.decoder || (o->encoding && r->encoding.used && r->encoding.used->kind == HP_ENCODING_UTF8);
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,   .encoding = is_utf8 ? "utf-8" : o->encoding,
                                        .fragment = o->fragment,     .no_scripting = o->no_scripting,
                                        .quirks = o->quirks,         .utf16 = HPAR_UTF16_REFUSE,
                                        .max_memory = o->max_memory, .max_token = o->max_token,
                                        .max_depth = o->max_depth,   .max_time_ns = o->max_time_ns,
                                        .mode = HPAR_MODE_SEQUENTIAL};
  r->confirmer->suspension = r->suspension;
  return hpar_rewriter_begin(r->confirmer, r->rules, &options, r->confirmer->sink.write, r->confirmer->sink.context);
}

hpar_status hp_confirm_take(const char *bytes, size_t length, void *context) {
  hpar_rewriter *r = context;
  hpar_status status = r->confirmer->progress.phase == HP_PHASE_NONE ? begin(r) : HPAR_OK;
  return status == HPAR_OK ? hpar_rewriter_feed(r->confirmer, bytes, length) : status;
}

hpar_status hp_confirm_finish(hpar_rewriter *r) {
  return r->confirmer->progress.phase == HP_PHASE_NONE ? HPAR_OK : hpar_rewriter_finish(r->confirmer, NULL);
}

void hp_confirm_element(hpar_rewriter *r, const hp_element *e) {
  static const char removes[] = "the edits let the page have an element that a rule removes: see `filter` in rewrite.h",
                    unsets[] = "the edits let an element have an attribute that a rule removes: see `filter` in "
                               "rewrite.h";
  if (!e->has_tag) return;
  if (e->ending.muting == HP_MUTES_ELEMENT || e->ending.unwraps) hp_rewriter_fail(r, HPAR_ERROR_UNSUPPORTED, removes);
  for (uint32_t i = 0; i < e->edit_count; i++)
    if (e->edits[i].unsets && e->edits[i].span != UINT32_MAX) hp_rewriter_fail(r, HPAR_ERROR_UNSUPPORTED, unsets);
}
