/* The interface of the rewriter: its life, options, encodings, the order of the calls. */

#include "base/call.h"
#include "base/memory.h"
#include "base/process.h"
#include "platform/coroutine.h"
#include "rewrite/parallel.h"
#include "rewrite/state.h"
#include "rewrite/urls.h"
#include "text/encoding/encoding.h"

#include <hpar/parse.h>
#include <string.h>

static const char NO_STREAM[] = "hpar_rewriter_begin was not called, or failed";

enum { DEFAULT_MAX_TEXT = 64 << 10, DEFAULT_MAX_TOKEN = 1 << 20 };

/*** callbacks whose answer comes later ***/

/* hp_suspension_call and write_outside run on the own stack, the others on that of the caller. */

hpar_status hp_suspension_call(hpar_rewriter *r, hp_unit_call call, void *unit, const void *callback) {
  hp_suspension *s = r->suspension;
  s->call = call;
  s->unit = unit;
  s->callback = callback;
  hp_coroutine_pause(s->coroutine);
  return s->answer;
}

typedef struct piece {
  const char *bytes;
  size_t length;
} piece;

static hpar_status call_write(void *unit, const void *callback) {
  const piece *p = unit;
  const hp_suspension *s = callback;
  const hpar_status status = s->write(p->bytes, p->length, s->context);
  return status == HPAR_SUSPEND ? HPAR_ERROR_ARGUMENT : status;
}

static hpar_status write_outside(const char *bytes, size_t length, void *context) {
  hpar_rewriter *r = context;
  piece p = {bytes, length};
  return hp_suspension_call(r, call_write, &p, r->suspension);
}

static void close_suspension(hpar_rewriter *r) {
  if (!r->suspension) return;
  hp_coroutine_destroy(r->suspension->coroutine);
  hp_free(r->suspension);
  r->suspension = NULL;
}

/* Prepares a stream of which callbacks may suspend, and replaces its output function. */
static hpar_status open_suspension(hpar_rewriter *r, hpar_write_callback *write, void **context) {
  hp_suspension *s = r->suspension ? r->suspension : hp_allocate_zeroed(sizeof *s);
  if (!s) return HPAR_ERROR_MEMORY;
  r->suspension = s;
  if (!s->coroutine) s->coroutine = hp_coroutine_create();
  if (!s->coroutine) {
    close_suspension(r);
    return HPAR_ERROR_MEMORY;
  }
  s->write = *write;
  s->context = *context;
  if (*write) *write = write_outside;
  *context = r;
  return HPAR_OK;
}

/* Runs what the own stack asks for, until it has ended or a callback suspends. */
static bool serve(hpar_rewriter *r, bool has_ended) {
  hp_suspension *s = r->suspension;
  while (!has_ended) {
    s->answer = s->call(s->unit, s->callback);
    if (s->answer == HPAR_SUSPEND && !hp_is_destroyed(&r->calls.use)) {
      s->waits = true;
      return false;
    }
    has_ended = hp_coroutine_continue(s->coroutine);
  }
  return true;
}

/* Runs the function on the own stack. Returns true if it has returned, false if a callback waits
 * for its answer. */
static bool run_suspended(hpar_rewriter *r, void (*function)(void *), void *argument) {
  return serve(r, hp_coroutine_start(r->suspension->coroutine, function, argument));
}

/* The same with the answer. Requires: a callback waits. */
static bool resume_suspended(hpar_rewriter *r, hpar_status answer) {
  r->suspension->waits = false;
  r->suspension->answer = answer;
  return serve(r, hp_coroutine_continue(r->suspension->coroutine));
}

/* Ends the function. Requires: a callback waits, and the rewriter is destroyed. */
static void abandon_suspended(hpar_rewriter *r) {
  hp_suspension *s = r->suspension;
  s->waits = false;
  do s->answer = HPAR_ERROR_CALLBACK;
  while (!hp_coroutine_continue(s->coroutine));
}

/*** the life of a rewriter ***/

hpar_status hpar_rewriter_create(hpar_rewriter **rewriter) {
  if (!rewriter) return HPAR_ERROR_ARGUMENT;
  *rewriter = NULL;
  hpar_rewriter *made = hp_allocate_aligned(HP_CACHE_LINE, sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  memset(made, 0, sizeof *made);
  made->progress.error = "";
  hp_hash_open();
  *rewriter = made;
  return HPAR_OK;
}

static void free_rewriter(hpar_rewriter *r) {
#if HPAR_PARALLEL
  hp_rewriter_await_stragglers(r); /* they read what follows */
  hp_rewrite_team_destroy(r->parallel.team);
#endif
  if (r->parallel.trace) r->parallel.trace->destroy(r->parallel.trace);
  hp_outline_close(&r->outline);
  hp_names_close(&r->names);
  hp_matching_close(&r->matching);
  hp_scratch_close(&r->scratch);
  hp_edits_close(&r->edits);
  hp_sink_close(&r->sink);
  hp_decoder_destroy(r->encoding.decoder);
  hp_free(r->token.spans.items);
  hp_bytes_free(&r->window.held);
  hp_end_records_close(&r->ends);
  hp_bytes_free(&r->element.before);
  hp_bytes_free(&r->element.prepend);
  hp_bytes_free(&r->element.edit_text);
  hp_ending_close(&r->element.ending);
  hp_units_close(r);
  if (r->confirmer) {
    r->confirmer->suspension = NULL; /* it is that of `r` */
    free_rewriter(r->confirmer);
  }
  close_suspension(r);
  hp_merge_targets_close(r);
  hp_free(r->element.edits);
  hp_running_rules_close(&r->running);
  hp_free(r->calls.failure);
  hp_free(r);
}

const hpar_error *hpar_rewriter_error(const hpar_rewriter *r) {
  static const hpar_error missing = {HPAR_ERROR_ARGUMENT, 0, SIZE_MAX, "rewriter is NULL"};
  static const hpar_error none = {HPAR_OK, 0, SIZE_MAX, ""};
  static const hpar_error unknown = {HPAR_ERROR_MEMORY, 0, SIZE_MAX, "out of memory"};
  if (!r) return &missing;
  if (r->calls.last == HPAR_OK) return &none;
  return r->calls.failure ? r->calls.failure : &unknown;
}

static hpar_status refuse(hpar_rewriter *r, hpar_status status, const char *error) {
  r->progress.error = error;
  return status;
}

/* Refuses an argument of one call. The reason why the stream has ended stays for later calls. */
static hpar_status refuse_argument(hpar_rewriter *r, const char *error) {
  r->calls.refusal = error;
  return HPAR_ERROR_ARGUMENT;
}

/* Refuses a structure of the caller, and keeps the reason. */
static hpar_status refuse_structure(hpar_rewriter *r, const hpar_error *error) {
  if (!r->calls.failure) r->calls.failure = hp_allocate(sizeof *r->calls.failure);
  if (r->calls.failure) *r->calls.failure = *error;
  r->calls.refusal = r->calls.failure ? r->calls.failure->text : "a structure is not valid";
  return error->status;
}

/* Begins a call from outside. Returns false if the rewriter is missing or in a call. */
static bool enter(hpar_rewriter *r) { return r && hp_begin_sole_use(&r->calls.use); }

/* Ends a call. `error` is that of the options, or NULL. */
static hpar_status leave(hpar_rewriter *r, hpar_status status, hpar_error *error) {
  if (status != HPAR_OK && r->confirmer && r->options.filter && r->confirmer->progress.status == status)
    r->progress.error = r->confirmer->progress.error;
  const char *reason = r->calls.refusal     ? r->calls.refusal
                       : *r->progress.error ? r->progress.error
                                            : hpar_status_text(status);
  r->calls.refusal = NULL;
  r->calls.last = status;
  if (status != HPAR_OK && !r->calls.failure) r->calls.failure = hp_allocate(sizeof *r->calls.failure);
  if (status != HPAR_OK && r->calls.failure && reason != r->calls.failure->text)
    hp_explain(r->calls.failure, status, "%s", reason);
  if (error && status != HPAR_OK && !r->calls.failure)
    hp_explain(error, status, "%s", reason);
  else if (error)
    *error = *hpar_rewriter_error(r);
  if (hp_end_use(&r->calls.use)) free_rewriter(r);
  return status;
}

/* Ends a call that has run on the own stack, or leaves it suspended. */
static hpar_status leave_stack(hpar_rewriter *r, bool has_ended) {
  if (has_ended) return leave(r, r->suspension->status, r->suspension->error);
  r->calls.last = HPAR_OK;
  return HPAR_SUSPEND;
}

void hpar_rewriter_destroy(hpar_rewriter *r) {
  if (!r) return;
  if (hp_destroy_use(&r->calls.use)) {
    free_rewriter(r);
    return;
  }
  /* the running call writes no more */
  r->sink.status = HPAR_ERROR_ARGUMENT;
  if (r->confirmer) r->confirmer->sink.status = HPAR_ERROR_ARGUMENT;
  if (!r->suspension || !r->suspension->waits) return;
  abandon_suspended(r);
  r->suspension->error = NULL; /* that call never returns */
  leave_stack(r, true);
}

/* Explains that the rewriter is missing or in a call. */
static hpar_status refuse_entry(const hpar_rewriter *r, hpar_error *error) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "rewriter is %s", r ? "in a call" : "NULL");
}

/*** begin ***/

static hpar_status refuse_option(hpar_error *error, const char *name, unsigned value, const char *accepted) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_rewrite_options.%s is %u; accepted: %s", name, value, accepted);
}

static hpar_status check_options(const hpar_rewrite_options *o, hpar_error *error) {
  uint8_t ns;
  const char *name;
  if (o->mode > HPAR_MODE_PARALLEL)
    return refuse_option(error, "mode", o->mode, "HPAR_MODE_AUTO, HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL");
  if (o->threads > HPAR_MAX_THREADS) return refuse_option(error, "threads", o->threads, "0 to HPAR_MAX_THREADS");
  if (o->on_failure > HPAR_FAIL_PASS)
    return refuse_option(error, "on_failure", o->on_failure, "HPAR_FAIL_STOP, HPAR_FAIL_PASS");
  if (o->utf16 > HPAR_UTF16_REFUSE)
    return refuse_option(error, "utf16", o->utf16, "HPAR_UTF16_DECODE, HPAR_UTF16_PASS, HPAR_UTF16_REFUSE");
  if (o->filter && o->on_failure == HPAR_FAIL_PASS)
    return refuse_option(error, "on_failure", o->on_failure, "HPAR_FAIL_STOP, because `filter` is set");
  if (o->filter && o->utf16 == HPAR_UTF16_PASS)
    return refuse_option(error, "utf16", o->utf16, "HPAR_UTF16_DECODE, HPAR_UTF16_REFUSE, because `filter` is set");
  if (o->encoding && !hp_encoding_for_label(o->encoding, strlen(o->encoding)))
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_rewrite_options.encoding is \"%.60s\"; accepted: a label of the Encoding Standard",
                      o->encoding);
  const hpar_status url =
      o->document_url ? hp_check_absolute_url((hpar_string){o->document_url, strlen(o->document_url)}) : HPAR_OK;
  if (url == HPAR_ERROR_MEMORY) return hp_explain_status(error, url);
  if (url != HPAR_OK)
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_rewrite_options.document_url is \"%.100s\"; accepted: an absolute URL", o->document_url);
  if (o->fragment && !hp_read_context(o->fragment, &ns, &name))
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_rewrite_options.fragment is \"%.60s\"; accepted: an element, as \"div\" or \"svg path\"",
                      o->fragment);
  return HPAR_OK;
}

hpar_status hp_read_rewrite_options(hpar_rewrite_options *full, const hpar_rewrite_options *given, hpar_error *error) {
  *full = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT};
  if (!given) return HPAR_OK;
  hpar_status status =
      hp_read_sized(full, sizeof *full, given, "hpar_rewrite_options", "HPAR_REWRITE_OPTIONS_INIT", error);
  full->size = sizeof *full;
  return status == HPAR_OK ? check_options(full, error) : status;
}

hpar_error *hp_rewrite_error_of(const hpar_rewrite_options *options) {
  hpar_rewrite_options full = {HPAR_REWRITE_OPTIONS_INIT};
  hp_read_options(&full, sizeof full, options, "hpar_rewrite_options", "HPAR_REWRITE_OPTIONS_INIT", &full.error);
  return full.error;
}

static hpar_status read_options(hpar_rewriter *r, const hpar_rewrite_options *options) {
  hpar_rewrite_options given;
  hpar_error error;
  if (hp_read_rewrite_options(&given, options, &error)) return refuse_structure(r, &error);
  if (!given.max_token) given.max_token = DEFAULT_MAX_TOKEN;
  if (!given.max_text) given.max_text = DEFAULT_MAX_TEXT;
  r->options = given;
#if HPAR_PARALLEL
  return hp_rewriter_run_on(r, given.run, given.run_context);
#else
  return HPAR_OK;
#endif
}

static bool is_utf16(const hp_encoding *e) {
  return e && (e->kind == HP_ENCODING_UTF16LE || e->kind == HP_ENCODING_UTF16BE);
}

/* Sets the encoding, or what happens to an encoding that the scanner does not read. */
static hpar_status set_encoding(hpar_rewriter *r, const hp_encoding *encoding) {
  hp_rewriter_use_encoding(r, encoding, true);
  if (encoding->kind == HP_ENCODING_ISO_2022_JP)
    return refuse(r, HPAR_ERROR_UNSUPPORTED, "the input is ISO-2022-JP: convert it to UTF-8");
  if (encoding->kind == HP_ENCODING_REPLACEMENT)
    return refuse(r, HPAR_ERROR_UNSUPPORTED, "the encoding has no characters");
  if (!is_utf16(encoding)) return HPAR_OK;
  if (r->options.utf16 == HPAR_UTF16_REFUSE) return refuse(r, HPAR_ERROR_UNSUPPORTED, "the input is UTF-16");
  if (r->options.utf16 == HPAR_UTF16_PASS) {
    r->progress.phase = HP_PHASE_PASSES;
    r->stats.passed_through = true;
    return HPAR_OK;
  }
  hpar_status status = hp_decoder_create(&r->encoding.decoder, encoding);
  r->encoding.used = &hp_utf8;
  r->stats.decoded = true;
  return status;
}

static void open_rules(hpar_rewriter *r) {
  const hpar_rules *rules = r->rules;
  hp_running_rules_open(&r->running, rules, &r->unwind);
  for (uint32_t i = 0; i < rules->count; i++)
    if (rules->rules[i].edits_text || rules->rules[i].edits_comments) hp_units_open(r);
  if (rules->edits_urls) hp_urls_open(r);
}

static bool takes_cdata(void *context) { return hp_outline_takes_cdata(context); }

static void begin_fragment(hpar_rewriter *r, const char *fragment) {
  uint8_t ns;
  const char *text;
  hp_read_context(fragment, &ns, &text);
  hp_atom name = hp_names_add(&r->names, text, strlen(text));
  if (ns == HPAR_NAMESPACE_SVG) name = hp_svg_tag_name(name);
  hp_outline_begin_fragment(&r->outline, name, ns);
  hp_scanner_set_content(&r->scanner, hp_outline_content(&r->outline), HP_NO_ATOM);
}

static hpar_status open_stream(void *argument) {
  hpar_rewriter *r = argument;
  hp_outline_events events = {hp_rewriter_inserted, hp_rewriter_popped, hp_rewriter_freed, hp_rewriter_merged, r};
  hp_names_open(&r->names, &r->rules->document->atoms, &r->unwind);
  hp_outline_open(&r->outline, &events, !r->options.no_scripting, &r->unwind);
  hp_matching_open(&r->matching, r->rules, &r->outline, &r->unwind);
  open_rules(r);
  /* An implied element begins before a tag. The limit of depth ends the output before one, and a
   * filter drops tags. */
  r->window.keeps_tags = r->rules->reads_implied || r->options.max_depth || r->options.filter || r->running.confirms;
  r->scanner.takes_cdata = takes_cdata;
  r->scanner.cdata_context = &r->outline;
  r->scanner.captures.doctypes = true;
  r->scanner.captures.comments = r->running.comments != 0;
  if (r->options.fragment) begin_fragment(r, r->options.fragment);
  return HPAR_OK;
}

static void reset(hpar_rewriter *r, const hpar_rules *rules, hpar_write_callback write, void *context) {
  r->rules = rules;
  r->progress.status = HPAR_OK;
  r->progress.lacks_memory = false;
  hp_scanner_open(&r->scanner);
  hp_edits_open(&r->edits, 0);
  hp_sink_open(&r->sink, write, context);
  hp_scratch_clear(&r->scratch);
  hp_decoder_destroy(r->encoding.decoder);
  r->encoding = (hp_input_encoding){.used = NULL};
  r->scratch.unwind = &r->unwind;
  r->window = (hp_window){.held = {r->window.held.data, 0, r->window.held.capacity}};
  hp_end_records_reset(&r->ends);
  r->token = (hp_current_token){.spans = r->token.spans};
  r->text = (hp_current_text){.start = 0};
  r->element.rewriter = r;
  r->element.target = NULL;
  hp_merge_targets_reset(r);
  r->parallel.speculation = NULL;
  r->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT, .failed_at = UINT64_MAX};
  r->progress.deadline = r->options.max_time_ns ? hp_now() + r->options.max_time_ns : 0;
}

hpar_status hp_rewriter_open_worker(hpar_rewriter *r, const hpar_rewriter *merger, hpar_write_callback write,
                                    void *context) {
  r->options = merger->options;
  hp_separate_lines(&r->unwind, true);
  reset(r, merger->rules, write, context);
  hpar_status status = hp_try(&r->unwind, open_stream, r);
  r->progress.phase = status == HPAR_OK ? HP_PHASE_RUNS : HP_PHASE_NONE;
  return status;
}

static hpar_status begin(hpar_rewriter *r, const hpar_rules *rules, const hpar_rewrite_options *options,
                         hpar_write_callback write, void *context) {
#if HPAR_PARALLEL
  hp_rewriter_await_stragglers(r);
#endif
  r->progress.error = "";
  r->progress.phase = HP_PHASE_NONE;
  if (r->confirmer) r->confirmer->progress.status = HPAR_OK; /* its failure was another stream's */
  hp_running_rules_release(&r->running);
  if (!rules || !rules->is_compiled) return refuse(r, HPAR_ERROR_ARGUMENT, "the rules are not compiled");
  hpar_status status = read_options(r, options);
  if (status != HPAR_OK) return status;
  const hpar_mode mode = r->options.mode;
  hp_separate_lines(&r->unwind, mode == HPAR_MODE_PARALLEL || (mode == HPAR_MODE_AUTO && r->options.threads > 1));
  hp_begin_use(&rules->use);
  r->running.held = rules;
  if (r->parallel.trace) r->parallel.trace->begin(r->parallel.trace);
  if (r->options.suspends)
    status = open_suspension(r, &write, &context);
  else if (!r->running.confirms)
    close_suspension(r);
  if (status != HPAR_OK) return status;
  reset(r, rules, r->options.filter ? hp_confirm_take : write, r->options.filter ? r : context);
  if (r->options.filter) status = hp_confirm_open(r, write, context);
  if (status == HPAR_OK) status = hp_try(&r->unwind, open_stream, r);
  if (status == HPAR_OK && r->options.document_url && rules->edits_urls)
    status = hp_urls_name_document(r, r->options.document_url);
  if (status == HPAR_OK && r->options.max_depth) hp_stack_limit_depth(&r->outline.builder.stack, r->options.max_depth);
  if (status == HPAR_OK) {
    r->progress.phase = HP_PHASE_BEGIN;
    if (r->options.encoding) {
      const hp_encoding *encoding = hp_encoding_for_label(r->options.encoding, strlen(r->options.encoding));
      if (is_utf16(encoding))
        r->encoding.used = encoding; /* unless there is a byte order mark: see sniff */
      else
        status = set_encoding(r, encoding);
    }
  }
  const bool may_pass = r->options.utf16 == HPAR_UTF16_PASS && !is_utf16(r->encoding.used);
  if (status == HPAR_OK && !r->running.active && may_pass) r->progress.phase = HP_PHASE_PASSES;
  if (status != HPAR_OK) r->progress.phase = HP_PHASE_NONE;
  return status;
}

hpar_status hpar_rewriter_begin(hpar_rewriter *r, const hpar_rules *rules, const hpar_rewrite_options *options,
                                hpar_write_callback write, void *context) {
  hpar_error *error = hp_rewrite_error_of(options);
  if (!enter(r)) return refuse_entry(r, error);
  return leave(r, begin(r, rules, options, write, context), error);
}

/*** feed ***/

static hpar_status feed_decoded(const char *text, size_t length, void *context) {
  return hp_window_feed(context, text, length);
}

/* Looks for a byte order mark. Returns false if more bytes are necessary. */
static bool sniff(hpar_rewriter *r, const char *bytes, size_t length, bool last, hpar_status *status) {
  const size_t mark = hp_find_mark(bytes, length);
  if (mark > length && !last) return false;
  if (mark == 3 && length >= 3) {
    *status = set_encoding(r, &hp_utf8);
    r->window.mark_bytes = 3;
  } else if (mark == 2 && length >= 2)
    *status = set_encoding(r, *bytes == '\xFF' ? &hp_utf16le : &hp_utf16be);
  else if (is_utf16(r->encoding.used))
    *status = set_encoding(r, r->encoding.used);
  else
    r->sink.has_no_mark = !r->options.fragment;
  if (r->progress.phase == HP_PHASE_BEGIN) r->progress.phase = HP_PHASE_RUNS;
  return true;
}

static hpar_status feed_any(hpar_rewriter *r, const char *bytes, size_t length, bool last) {
  if (r->encoding.decoder) return hp_decoder_run(r->encoding.decoder, bytes, length, last, feed_decoded, r);
  return hp_window_feed(r, bytes, length);
}

/* Feeds the beginning of the input, until the byte order mark is known. */
static hpar_status feed_first(hpar_rewriter *r, const char *bytes, size_t length, bool last) {
  hpar_status status = HPAR_OK;
  hp_window *w = &r->window;
  if (!w->first_count && sniff(r, bytes, length, last, &status))
    return status ? status : feed_any(r, bytes, length, false);
  const size_t room = sizeof w->first - w->first_count, part = length < room ? length : room;
  if (part) memcpy(w->first + w->first_count, bytes, part);
  w->first_count = (uint8_t)(w->first_count + part);
  if (!sniff(r, w->first, w->first_count, last, &status)) return HPAR_OK;
  if (!status) status = feed_any(r, w->first, w->first_count, false);
  return !status && part < length ? feed_any(r, bytes + part, length - part, false) : status;
}

/* The input is longer than max_input: `bytes` are past the limit. */
static hpar_status exceed_input(hpar_rewriter *r, const char *bytes, size_t length) {
  hpar_status status = HPAR_OK;
  if (r->progress.phase == HP_PHASE_BEGIN) status = feed_first(r, "", 0, true);
  if (status == HPAR_OK && r->progress.status == HPAR_OK) {
    if (r->progress.phase == HP_PHASE_PASSES) { /* the input before the limit is in the output */
      r->progress.status = HPAR_LIMIT_INPUT;
      r->stats.failed_at = r->stats.input_bytes;
      if (r->options.on_failure != HPAR_FAIL_PASS) status = HPAR_LIMIT_INPUT;
    } else {
      status = hp_window_fail(r, HPAR_LIMIT_INPUT);
    }
  }
  return status == HPAR_OK ? feed_any(r, bytes, length, false) : status;
}

static hpar_status feed(hpar_rewriter *r, const char *bytes, size_t length) {
  if (r->progress.phase == HP_PHASE_FAILED) return r->progress.status;
  uint64_t most = r->options.max_input, left = most ? most - r->stats.input_bytes : UINT64_MAX;
  size_t rest = r->progress.status == HPAR_OK && length > left ? length - (size_t)left : 0;
  length -= rest;
  r->stats.input_bytes += length;
  hpar_status status = HPAR_OK;
  if (length) {
    if (r->progress.phase == HP_PHASE_BEGIN)
      status = feed_first(r, bytes, length, false);
    else
      status = feed_any(r, bytes, length, false);
  }
  if (status == HPAR_OK && rest) status = exceed_input(r, bytes + length, rest);
  hp_sink_flush(&r->sink);
  if (status == HPAR_OK && r->sink.status != HPAR_OK) status = hp_window_fail(r, r->sink.status);
  if (status != HPAR_OK && r->progress.status == HPAR_OK) r->progress.status = status;
  if (status != HPAR_OK) r->progress.phase = HP_PHASE_FAILED;
  return status;
}

static hpar_status feed_some(hpar_rewriter *r, const char *bytes, size_t length) {
  if (r->progress.phase == HP_PHASE_NONE) return refuse_argument(r, NO_STREAM);
  if (!bytes && length) return refuse_argument(r, "bytes is NULL");
  if (!length) return r->progress.phase == HP_PHASE_FAILED ? r->progress.status : HPAR_OK;
  /* With HPAR_FAIL_PASS, calls follow the failure. */
  if (r->progress.status == HPAR_OK) r->progress.error = "";
  return feed(r, bytes, length);
}

/*** finish ***/

static hpar_status run_end(void *argument) {
  hpar_rewriter *r = argument;
  if (r->progress.phase == HP_PHASE_RUNS) {
    r->scanner.last = true;
    uint64_t position = r->window.received - r->window.held.length;
    hp_window_scan(r, r->window.held.data ? r->window.held.data : "", r->window.held.length, position, false);
  }
  if (r->progress.phase == HP_PHASE_RUNS) {
    hp_rewriter_end(r);
    hp_edits_apply(&r->edits, &r->sink, r->scanner.begin, r->scanner.position, r->window.received);
  } else {
    uint64_t kept = hp_scanner_position(&r->scanner, r->scanner.at), end = r->scanner.position + r->window.held.length;
    if (r->window.held.length && kept < end) hp_sink_put(&r->sink, hp_rewriter_at(r, kept), (size_t)(end - kept));
  }
  hp_window_check_memory(r);
  return HPAR_OK;
}

static hpar_status finish(hpar_rewriter *r) {
  hpar_status status = r->progress.status;
  if (r->progress.phase == HP_PHASE_BEGIN) status = feed_first(r, "", 0, true);
  if (status == HPAR_OK && r->encoding.decoder)
    status = hp_decoder_run(r->encoding.decoder, "", 0, true, feed_decoded, r);
  if (status == HPAR_OK) status = r->progress.status;
  if (status == HPAR_OK && r->progress.phase != HP_PHASE_FAILED && !r->stats.passed_through) {
    status = hp_try(&r->unwind, run_end, r);
    if (status != HPAR_OK) {
      hp_window_fail(r, status);
      status = r->progress.status;
    }
  }
  hp_sink_end(&r->sink);
  /* After a failure, the caller relies on the output of the rest only with HPAR_FAIL_PASS. */
  const bool passes = r->progress.phase == HP_PHASE_PASSES;
  if (r->sink.status != HPAR_OK && (status == HPAR_OK || passes)) status = r->sink.status;
  return status == HPAR_OK && r->options.filter ? hp_confirm_finish(r) : status;
}

static hpar_rewrite_stats stats_of(const hpar_rewriter *r) {
  hpar_rewrite_stats full = r->stats;
  full.output_bytes = r->options.filter ? r->confirmer->sink.written : r->sink.written;
  full.edits = r->edits.counts.edits;
  full.encoding = r->encoding.used ? r->encoding.used->name : NULL;
  return full;
}

static hpar_status check_stats(hpar_rewriter *r, const hpar_rewrite_stats *stats) {
  hpar_error error;
  if (!stats || !hp_check_size(stats, "hpar_rewrite_stats", "HPAR_REWRITE_STATS_INIT", &error)) return HPAR_OK;
  return refuse_structure(r, &error);
}

static hpar_status finish_stream(hpar_rewriter *r, hpar_rewrite_stats *stats) {
  if (r->progress.phase == HP_PHASE_NONE) return refuse_argument(r, NO_STREAM);
  hpar_status status = check_stats(r, stats);
  if (status != HPAR_OK) return status;
  if (r->progress.status == HPAR_OK) r->progress.error = "";
  status = finish(r);
  const hpar_rewrite_stats full = stats_of(r);
  if (stats) hp_write_sized(stats, &full, sizeof full);
  r->progress.phase = HP_PHASE_NONE;
  hp_running_rules_release(&r->running);
  return status;
}

/*** the calls with input ***/

typedef struct input_call {
  hpar_rewriter *rewriter;
  const char *bytes;
  size_t length;
  hpar_rewrite_stats *stats;
  bool feeds, finishes;
  hpar_error *error;
} input_call;

static hpar_status run_call(const input_call *c) {
  const hpar_status status = c->feeds ? feed_some(c->rewriter, c->bytes, c->length) : HPAR_OK;
  return c->finishes ? finish_stream(c->rewriter, c->stats) : status;
}

static void run_on_own_stack(void *argument) {
  const input_call c = *(input_call *)argument;
  c.rewriter->suspension->error = c.error;
  c.rewriter->suspension->status = run_call(&c);
}

static hpar_status run_and_leave(input_call c) {
  hpar_rewriter *r = c.rewriter;
  if (!r->suspension || r->running.confirms) return leave(r, run_call(&c), c.error);
  return leave_stack(r, run_suspended(r, run_on_own_stack, &c));
}

hpar_status hpar_rewriter_feed(hpar_rewriter *r, const char *bytes, size_t length) {
  if (!enter(r)) return HPAR_ERROR_ARGUMENT;
  return run_and_leave((input_call){.rewriter = r, .bytes = bytes, .length = length, .feeds = true});
}

hpar_status hpar_rewriter_finish(hpar_rewriter *r, hpar_rewrite_stats *stats) {
  if (!enter(r)) return HPAR_ERROR_ARGUMENT;
  return run_and_leave((input_call){.rewriter = r, .stats = stats, .finishes = true});
}

hpar_status hpar_rewriter_resume(hpar_rewriter *r, hpar_status answer) {
  if (!r || !r->suspension || !r->suspension->waits || answer == HPAR_SUSPEND) return HPAR_ERROR_ARGUMENT;
  return leave_stack(r, resume_suspended(r, answer));
}

hpar_status hpar_rewrite(hpar_rewriter *r, const hpar_rules *rules, const hpar_rewrite_options *options,
                         const char *bytes, size_t length, hpar_rewrite_stats *stats, hpar_write_callback write,
                         void *context) {
  hpar_error *error = hp_rewrite_error_of(options);
  if (!enter(r)) return refuse_entry(r, error);
  hpar_status status = check_stats(r, stats);
  if (status == HPAR_OK && !bytes && length) status = refuse_argument(r, "bytes is NULL");
  if (status == HPAR_OK) status = begin(r, rules, options, write, context);
  if (status != HPAR_OK) return leave(r, status, error);
  return run_and_leave((input_call){r, bytes, length, stats, true, true, error});
}
