/* The page of `hpar explain --html`. It has no script: the text of a bar is inside the bar, and
 * appears under the pointer or with the keyboard's focus. The colours are those of Okabe and Ito,
 * which colour-blind readers can tell apart. Failures have hatching besides. */

#include "programs/hpar/explain.h"
#include "programs/hpar/explain_pipeline.h"

#include <hpar/study.h>
#include <string.h>

#define AGAIN "\xE2\x86\xBB" /* a circular arrow */

enum { AROUND = 160, LEFT = 70, WIDTH = 1130, ROW = 30, AXIS = 26, MAX_ROWS = 64 };

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1b1b;--dim:#666;--paper:#fff;--line:#ccc;--panel:#f6f6f4}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e6;--dim:#a0a09c;--paper:#1a1a1a;--line:#444;--panel:#262624}}"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:75rem;margin:2rem "
    "auto;"
    "padding:0 1rem}h1{font-size:1.4rem;margin:0 0 .3rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 "
    ".4rem}"
    "p{margin:.3rem 0}.dim{color:var(--dim)}"
    ".bars{display:flex;position:relative;height:3.4rem;margin:.8rem 0 17.5rem;border:1px solid var(--line)}"
    ".bar{min-width:2px;border-right:1px solid var(--paper);box-sizing:border-box;cursor:help;overflow:hidden;"
    "font-size:.75rem;text-align:center;line-height:3.4rem;color:#000}"
    ".bar:hover,.bar:focus{outline:3px solid var(--ink);outline-offset:-1px;z-index:1}"
    ".panel{visibility:hidden;position:absolute;left:0;right:0;top:3.9rem;height:15.5rem;overflow:auto;"
    "background:var(--panel);color:var(--ink);border:1px solid var(--line);padding:.5rem .8rem;text-align:left;"
    "font-size:.88rem;line-height:1.4;box-sizing:border-box}"
    ".shown>.panel{visibility:visible}.bar:target>.panel{visibility:visible;z-index:1}.bar:focus>.panel{visibility:"
    "visible;z-index:2}.bar:hover>.panel{visibility:visible;z-index:3}"
    "pre{font:.85em/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0;"
    "padding:.35rem .5rem;background:var(--paper);border:1px solid var(--line)}"
    ".halves{display:grid;grid-template-columns:1fr 1fr;gap:0 1.2rem;align-items:start}"
    "@media(max-width:48rem){.halves{grid-template-columns:1fr}}"
    "pre b{color:#fff;background:#D55E00;padding:0 .15em}dl{display:grid;grid-template-columns:max-content 1fr;"
    "gap:.1rem .8rem;margin:.3rem 0}dt{color:var(--dim)}dd{margin:0}"
    ".legend span{display:inline-block;margin-right:1.1rem;white-space:nowrap}"
    ".legend i{display:inline-block;width:1em;height:1em;margin-right:.35em;vertical-align:-.12em;"
    "border:1px solid var(--line)}"
    ".exact{background:#BBBBBB}.clean{background:#009E73}.passed{background:#56B4E9}"
    ".repaired{background:repeating-linear-gradient(45deg,#E69F00 0 6px,#F7CE73 6px 12px)}"
    ".discarded{background:repeating-linear-gradient(-45deg,#D55E00 0 6px,#F0A572 6px 9px)}"
    ".unreached{background:repeating-linear-gradient(90deg,#fff 0 4px,#999 4px 6px)}"
    "svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font-size:12px}"
    "svg .grid{stroke:var(--line);stroke-width:1}svg rect{stroke:var(--paper);stroke-width:.4}"
    ".decode,.e-decode{fill:#CC79A7;background:#CC79A7}.e-cut{fill:#000;background:#000}"
    ".e-prescan{fill:#F0E442;background:#F0E442}.e-parse{fill:#0072B2;background:#0072B2}"
    ".e-exact{fill:#BBBBBB;background:#BBBBBB}.e-merge{fill:#009E73;background:#009E73}"
    ".e-roll_back{fill:#D55E00;background:#D55E00}"
    ".e-tokenize{fill:#56B4E9;background:#56B4E9}"
    ".e-wait{fill:var(--panel);background:var(--panel)}"
    ".e-script{fill:#7A4B00;background:#7A4B00}"
    ".e-compose{fill:#7B5EA7;background:#7B5EA7}"
    "@media(prefers-color-scheme:dark){.e-cut{fill:#fff;background:#fff}}"
    "table{border-collapse:collapse;width:100%;font-size:.88rem}th,td{text-align:left;padding:.15rem .6rem .15rem 0;"
    "border-bottom:1px solid var(--line);vertical-align:top}td.n,th.n{text-align:right}"
    "td i{display:inline-block;width:.9em;height:.9em;margin-right:.4em;vertical-align:-.1em}";

static void escaped(FILE *f, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)bytes[i];
    switch (c) {
      case '&': fputs("&amp;", f); break;
      case '<': fputs("&lt;", f); break;
      case '>': fputs("&gt;", f); break;
      case '"': fputs("&quot;", f); break;
      case '\n': fputs("\xE2\x86\xB5\n", f); break; /* an arrow, too */
      case '\t': fputs("\xE2\x87\xA5", f); break;
      case '\r': break;
      default:
        if (c < 0x20 || c == 0x7F)
          fputs("\xEF\xBF\xBD", f);
        else
          putc(c, f);
    }
  }
}

static void text(FILE *f, const char *s) { escaped(f, s, strlen(s)); }

/* Writes 1234567 as 1 234 567, with narrow spaces. */
static void grouped(FILE *f, uint64_t n) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) fputs("\xE2\x80\xAF", f);
    putc(digits[i], f);
  }
}

static void pair(FILE *f, const char *term, const char *description) {
  fprintf(f, "<dt>%s</dt><dd>", term);
  text(f, description);
  fputs("</dd>", f);
}

static const char *outcome_text(hpar_chunk_outcome outcome) {
  switch (outcome) {
    case HPAR_CHUNK_EXACT: return "parsed on the true state";
    case HPAR_CHUNK_CLEAN: return "all of it taken";
    case HPAR_CHUNK_PASSED: return "inside of what began before it, as predicted";
    case HPAR_CHUNK_REPAIRED: return "part of it left out, or parsed again";
    case HPAR_CHUNK_DISCARDED: return "all of it left out";
    default: return "not reached: a token before it ran on to the end";
  }
}

static void write_failures(FILE *f, const hpar_chunk *c) {
  hp_failing x;
  for (size_t i = 0; hp_next_failing(c, &i, &x);) {
    fprintf(f, "<dt>%s</dt><dd>", x.label);
    grouped(f, x.begin);
    fputs(" to ", f);
    grouped(f, x.end);
    if (x.stretches > 1) fprintf(f, ", %zu stretches", x.stretches);
    fprintf(f, ": <strong>%s</strong>, %s", x.name, x.denial);
    text(f, x.summary);
    fputs("</dd>", f);
  }
  for (size_t i = 0; i < c->reparsed_count; i++) {
    fputs("<dt>parsed again</dt><dd>", f);
    grouped(f, c->reparsed[i].begin);
    fputs(" to ", f);
    grouped(f, c->reparsed[i].end);
    fputs("</dd>", f);
  }
}

static void write_counts(FILE *f, const char *term, const char *(*name)(int), const uint64_t *counts, int kinds) {
  bool any = false;
  for (int i = 0; i < kinds; i++) {
    if (!counts[i]) continue;
    if (any)
      fputs(", ", f);
    else
      fprintf(f, "<dt>%s</dt><dd>", term);
    fputs(name(i), f);
    if (counts[i] > 1) fprintf(f, " (%llu)", (unsigned long long)counts[i]);
    any = true;
  }
  if (any) fputs("</dd>", f);
}

static const char *assumption_name(int i) { return hpar_assumption_name((hpar_assumption)i); }
static const char *silent_name(int i) { return hpar_undetected_error_name((hpar_undetected_error)i); }

static void write_panel(FILE *f, const hp_inspection *in, size_t index, const hpar_chunk *c) {
  char start[160];
  fprintf(f, "<div class=panel><strong>chunk %zu</strong>, %s: %s; ", index, hpar_chunk_outcome_name(c->outcome),
          outcome_text(c->outcome));
  grouped(f, c->begin);
  fputs(" to ", f);
  grouped(f, c->end);
  fputs(", ", f);
  grouped(f, c->end - c->begin);
  fputs(" bytes", f);
  if (c->bytes_reparsed) {
    fputs(", of which ", f);
    grouped(f, c->bytes_reparsed);
    fputs(" parsed again", f);
  }
  hpar_string before, behind;
  hp_around_cut(in, c, AROUND, &before, &behind);
  fputs("<div class=halves><pre>", f);
  escaped(f, before.bytes, before.length);
  if (index) fputs("<b>\xC2\xA6</b>", f);
  escaped(f, behind.bytes, behind.length);
  fputs("</pre><dl>", f);
  if (c->predicted.state) {
    hp_describe_start(start, sizeof start, &c->predicted);
    pair(f, "predicted", start);
  }
  hp_describe_start(start, sizeof start, &c->actual);
  pair(f, "true", start);
  if (c->predicted.state && !c->right_start) pair(f, "start", "the first token was taken to begin elsewhere");
  if (c->respeculations) pair(f, AGAIN, "its worker began again, with another guess");
  if (c->aborted) pair(f, "aborted", "given up by its worker");
  if (c->rolled_back) pair(f, "rolled back", "the strategy's guess was wrong");
  write_failures(f, c);
  uint64_t assumed[HPAR_ASSUMPTIONS];
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) assumed[i] = c->assumed_by_kind[i];
  write_counts(f, "assumed", assumption_name, assumed, HPAR_ASSUMPTIONS);
  write_counts(f, "silent errors", silent_name, c->undetected_errors_by_kind, HPAR_UNDETECTED_ERRORS);
  fputs("</dl></div></div>", f);
}

/* Returns the first chunk with a failure, or the first with a cut. */
static size_t first_to_show(const hpar_parser *parser) {
  size_t count = hpar_chunk_count(parser);
  for (size_t i = 1; i < count; i++)
    if (hpar_chunk_at(parser, i)->outcome >= HPAR_CHUNK_REPAIRED) return i;
  return count > 1;
}

static void write_bars(FILE *f, const hp_inspection *in) {
  size_t count = hpar_chunk_count(in->parser);
  fputs("<h2>Chunks along the document</h2>\n<p class=legend>", f);
  for (int i = 0; i < HPAR_CHUNK_OUTCOMES; i++)
    fprintf(f, "<span><i class=%s></i>%s: %s</span> ", hpar_chunk_outcome_name((hpar_chunk_outcome)i),
            hpar_chunk_outcome_name((hpar_chunk_outcome)i), outcome_text((hpar_chunk_outcome)i));
  fputs("<span>" AGAIN " started again by its worker, with another guess</span>", f);
  fputs("</p>\n<p class=dim>Point at a bar, or move to it with the tab key, for the source around its cut and what "
        "became of it.</p>\n<div class=bars>\n",
        f);
  size_t shown = first_to_show(in->parser);
  for (size_t i = 0; i < count; i++) {
    const hpar_chunk *c = hpar_chunk_at(in->parser, i);
    fprintf(f, "<div class=\"bar %s%s\" id=c%zu tabindex=0 style=\"flex:%llu 1 0\">%zu%s",
            hpar_chunk_outcome_name(c->outcome), i == shown ? " shown" : "", i,
            (unsigned long long)(c->end > c->begin ? c->end - c->begin : 1), i, c->respeculations ? AGAIN : "");
    write_panel(f, in, i, c);
    fputs("</div>\n", f);
  }
  fputs("</div>\n", f);
}

/*** the timeline ***/

/* Returns 1, 2 or 5 times a power of ten, so that `whole` has ten steps or fewer. */
static uint64_t step_of(uint64_t whole) {
  uint64_t step = 1;
  for (;;) {
    static const unsigned factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
      if (whole / (step * factors[i]) <= 10) return step * factors[i];
    step *= 10;
  }
}

static double x_of(uint64_t ns, uint64_t end) { return LEFT + (double)ns * WIDTH / (double)(end ? end : 1); }

static void write_event(FILE *f, const hpar_parser *parser, const hpar_event *e, uint64_t end) {
  bool thin = e->kind == HPAR_EVENT_ROLL_BACK || e->kind == HPAR_EVENT_WAIT;
  double x = x_of(e->begin_ns, end), width = x_of(e->end_ns, end) - x;
  unsigned y = e->thread * ROW + 4 + (thin ? 6 : 0), height = ROW - 8 - (thin ? 12 : 0);
  fprintf(f, "<rect class=e-%s x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\"><title>%s",
          hpar_event_kind_name(e->kind), x, y, width < 0.8 ? 0.8 : width, height, hpar_event_kind_name(e->kind));
  if (e->chunk != UINT32_MAX) {
    const hpar_chunk *c = hpar_chunk_at(parser, e->chunk);
    fprintf(f, ", chunk %u%s%s", e->chunk, c ? ", " : "", c ? hpar_chunk_outcome_name(c->outcome) : "");
  }
  fprintf(f, ": %.3f to %.3f ms</title></rect>\n", (double)e->begin_ns / 1e6, (double)e->end_ns / 1e6);
}

static void write_timeline(FILE *f, const hp_inspection *in) {
  const hpar_parser *parser = in->on_threads;
  unsigned threads = in->stats_on_threads.threads;
  if (threads > MAX_ROWS) threads = MAX_ROWS;
  uint64_t end = in->timeline_end, step = step_of(end);
  unsigned height = threads * ROW;
  fprintf(f, "<h2>Timeline of the fastest of ten parses, on %u thread%s</h2>\n<p class=legend>",
          in->stats_on_threads.threads, in->stats_on_threads.threads == 1 ? "" : "s");
  for (int i = 0; i < HPAR_EVENT_KINDS; i++)
    fprintf(f, "<span><i class=e-%s></i>%s</span> ", hpar_event_kind_name((hpar_event_kind)i),
            hpar_event_kind_name((hpar_event_kind)i));
  fprintf(f, "</p>\n<svg viewBox=\"0 0 %d %u\" role=img aria-label=Timeline>\n", LEFT + WIDTH + 30, height + AXIS);
  for (uint64_t t = 0; t <= end; t += step) {
    double x = x_of(t, end);
    fprintf(f, "<line class=grid x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%u\"></line>", x, x, height + 4);
    fprintf(f, "<text x=\"%.1f\" y=\"%u\" text-anchor=middle>%g%s</text>\n", x, height + 18, (double)t / 1e6,
            t ? "" : " ms");
  }
  for (unsigned i = 0; i < threads; i++)
    fprintf(f, i ? "<text x=\"0\" y=\"%u\">worker %u</text>\n" : "<text x=\"0\" y=\"%u\">merger</text>\n",
            i * ROW + ROW / 2 + 4, i);
  for (int inner = 0; inner < 2; inner++) /* draws an inner event over the outer one */
    for (size_t i = 0; i < hpar_event_count(parser); i++) {
      hpar_event e = hpar_event_at(parser, i);
      bool is_inner = e.kind == HPAR_EVENT_ROLL_BACK || e.kind == HPAR_EVENT_SCRIPT;
      if (e.thread < threads && is_inner == inner) write_event(f, parser, &e, end);
    }
  fputs("</svg>\n", f);
}

static void write_table(FILE *f, const hp_inspection *in) {
  fputs("<h2>Chunks</h2>\n<table><thead><tr><th class=n>chunk</th><th class=n>cut</th><th class=n>bytes</th>"
        "<th>outcome</th><th>predicted start</th><th>true start</th><th class=n>parsed again</th><th>why</th></tr>"
        "</thead><tbody>\n",
        f);
  for (size_t i = 0; i < hpar_chunk_count(in->parser); i++) {
    const hpar_chunk *c = hpar_chunk_at(in->parser, i);
    char start[160];
    fprintf(f, "<tr><td class=n><a href=\"#c%zu\">%zu</a></td><td class=n>", i, i);
    grouped(f, c->begin);
    fputs("</td><td class=n>", f);
    grouped(f, c->end - c->begin);
    fprintf(f, "</td><td><i class=%s></i>%s</td><td>", hpar_chunk_outcome_name(c->outcome),
            hpar_chunk_outcome_name(c->outcome));
    if (c->predicted.state) {
      hp_describe_start(start, sizeof start, &c->predicted);
      text(f, start);
    }
    fputs("</td><td>", f);
    hp_describe_start(start, sizeof start, &c->actual);
    text(f, start);
    fputs("</td><td class=n>", f);
    if (c->bytes_reparsed) grouped(f, c->bytes_reparsed);
    fputs("</td><td>", f);
    hp_failing x;
    bool any = false;
    for (size_t k = 0; hp_next_failing(c, &k, &x); any = true) fprintf(f, "%s%s", any ? ", " : "", x.name);
    if (!any && c->predicted.state && !c->right_start) fputs("start", f);
    if (c->respeculations) fputs(" " AGAIN, f);
    fputs("</td></tr>\n", f);
  }
  fputs("</tbody></table>\n", f);
}

static void write_hazard(void *to, const hp_shown_hazard *h) {
  FILE *f = to;
  fprintf(f, "<tr><td class=n>%llu<td>%s<td>%s<td class=n>%llu<td class=n>%llu<td><code>", (unsigned long long)h->line,
          hpar_pipeline_hazard_name(h->met.hazard), h->met.rolled_back ? "no" : "yes",
          (unsigned long long)h->met.tokens_dropped, (unsigned long long)h->met.bytes_dropped);
  escaped(f, h->source.bytes, h->source.length);
  fputs("</code></tr>\n", f);
}

static void write_hazards(FILE *f, const hp_inspection *in) {
  fputs("<h2>Hazards</h2>\n<table><thead><tr><th class=n>line<th>hazard<th>foreseen<th class=n>tokens<th class=n>bytes "
        "wasted<th>source</tr></thead><tbody>\n",
        f);
  hp_each_hazard(in, false, write_hazard, f);
  fputs("</tbody></table>\n", f);
}

static void write_scripts(FILE *f, const hp_inspection *in) {
  char figures[HP_SCRIPTS_TEXT_BYTES];
  if (!in->scripts.run) return;
  hp_describe_scripts(figures, sizeof figures, &in->stats);
  fprintf(f, "<p>%s</p>\n", figures);
}

void hp_explain_html(FILE *f, const hp_inspection *in) {
  size_t by_outcome[HPAR_CHUNK_OUTCOMES], chunks = hp_outcomes(in->parser, by_outcome);
  const hpar_study_stats *s = &in->stats;
  fputs("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        "<meta name=viewport content=\"width=device-width\">\n<title>",
        f);
  text(f, hp_shown_name(in->path));
  fprintf(f, " explained</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
  text(f, hp_shown_name(in->path));
  fputs("</h1>\n<p>", f);
  grouped(f, in->length);
  fprintf(f, " bytes, %s; ", s->encoding);
  if (s->strategy)
    fprintf(f, "strategy <strong>%s</strong> (predictor %s, mode predictor %s, cut %s)", s->strategy, s->predictor,
            s->mode_predictor, s->cut_policy);
  else
    fputs(s->mode, f);
  fprintf(f, "</p>\n<p>%zu chunks after the first", chunks);
  bool any = false;
  for (int i = 0; i < HPAR_CHUNK_OUTCOMES; i++) {
    if (!by_outcome[i]) continue;
    fprintf(f, "%s%zu %s", any ? ", " : ": ", by_outcome[i], hpar_chunk_outcome_name((hpar_chunk_outcome)i));
    any = true;
  }
  fputs("; ", f);
  grouped(f, s->bytes_reparsed);
  fputs(" bytes parsed again", f);
  if (s->respeculations)
    fprintf(f, "; started again with another guess %llu times", (unsigned long long)s->respeculations);
  fputs("</p>\n", f);
  write_scripts(f, in);
  write_bars(f, in);
  write_timeline(f, in);
  if (s->pipeline.predictor) write_hazards(f, in);
  write_table(f, in);
  fprintf(f,
          "<p class=dim>hpar %s. Every chunk but the first was given to a worker; the timeline is that of another "
          "parse, in which the merger parses the chunks that no worker has started.</p>\n</body>\n</html>\n",
          hpar_version());
}
