#include "rewrite/state.h"
#include "support/random.h"
#include "support/tags_state.h"

#include <stdlib.h>
#include <string.h>

static hp_name name_of_rewriter(const void *table, hp_atom atom) { return hp_names_of(table, atom); }

/* The rewriter may have freed an unknown name after the tag. An end tag's name has no atom if no
 * open element has the name. */
static uint64_t name_of_tag(const hpar_rewriter *r, const char *text) {
  if (r->token.tag.name != HP_NO_ATOM && r->token.tag.name < HP_KNOWN_ATOMS) return r->token.tag.name;
  return tag_hash_name((hp_name){text + r->token.start + 1 + r->token.tag.is_end, r->token.name_length});
}

static void note_scanned(tag_scanner *scanner, const char *text, uint64_t end) {
  const hpar_rewriter *r = scanner->rewriter;
  const hp_builder *b = &r->outline.builder;
  tag noted = {.start = UINT64_MAX,
               .end = end,
               .state = tag_hash_state(b, hp_outline_quirks(&r->outline), name_of_rewriter, &r->names),
               .content = (uint8_t)r->scanner.content};
  if (r->token.end == end) {
    noted.start = r->token.start;
    noted.name = name_of_tag(r, text);
    noted.is_end = r->token.tag.is_end;
  }
  tag_add(&scanner->tags, noted);
}

/* Feeds pieces that end at each ">", because a tag ends there. */
hpar_status tag_scan(tag_scanner *scanner, unsigned rules, const compare_case *document, bool each_byte) {
  hpar_rewriter *r = scanner->rewriter;
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .fragment = document->fragment,
                                  .no_scripting = !document->scripting};
  hpar_status status = hpar_rewriter_begin(r, scanner->rules[rules], &options, NULL, NULL);
  uint64_t seen = 0;
  for (size_t at = 0, next; !status && at < document->length; at = next) {
    const char *stop = memchr(document->bytes + at, '>', document->length - at);
    next = each_byte ? at + 1 : stop ? (size_t)(stop - document->bytes) + 1 : document->length;
    status = hpar_rewriter_feed(r, document->bytes + at, next - at);
    if (r->stats.tags == seen) continue;
    seen++;
    if (r->stats.tags != seen) return HPAR_ERROR_ARGUMENT;
    note_scanned(scanner, document->bytes, next);
  }
  hpar_status finished = hpar_rewriter_finish(r, NULL);
  return status ? status : finished;
}

static void note_stop(tag_scanner *scanner, uint64_t end) {
  const hpar_rewriter *r = scanner->rewriter;
  if (scanner->stop_count == scanner->stop_capacity) {
    scanner->stop_capacity = scanner->stop_capacity ? 2 * scanner->stop_capacity : 64;
    scanner->stops = realloc(scanner->stops, scanner->stop_capacity * sizeof *scanner->stops);
    if (!scanner->stops) abort();
  }
  scanner->stops[scanner->stop_count++] = (tag_stop){
      .tags = r->stats.tags,
      .end = end,
      .state = tag_hash_state(&r->outline.builder, hp_outline_quirks(&r->outline), name_of_rewriter, &r->names),
      .content = (uint8_t)r->scanner.content};
}

typedef struct expected {
  const compare_case *document;
  size_t at;
  bool same;
} expected;

static hpar_status compare_output(const char *bytes, size_t length, void *context) {
  expected *e = context;
  e->same = e->same && length <= e->document->length - e->at && !memcmp(bytes, e->document->bytes + e->at, length);
  e->at += length;
  return HPAR_OK;
}

hpar_status tag_scan_pieces(tag_scanner *scanner, unsigned rules, const compare_case *document, uint64_t *tags,
                            bool *same) {
  hpar_rewriter *r = scanner->rewriter;
  random_state random = {document->length * UINT64_C(0x9E3779B97F4A7C15) + rules};
  size_t most = (size_t)16 << random_below(&random, 8);
  expected output = {document, 0, true};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .fragment = document->fragment,
                                  .no_scripting = !document->scripting};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_status status = hpar_rewriter_begin(r, scanner->rules[rules], &options, compare_output, &output);
  scanner->stop_count = 0;
  for (size_t at = 0, next; !status && at < document->length; at = next) {
    size_t left = document->length - at, part = 1 + random_below(&random, most);
    const char *stop = part < left ? memchr(document->bytes + at + part - 1, '>', left - part + 1) : NULL;
    next = stop ? (size_t)(stop - document->bytes) + 1 : document->length;
    status = hpar_rewriter_feed(r, document->bytes + at, next - at);
    if (stop) note_stop(scanner, next);
  }
  hpar_status finished = hpar_rewriter_finish(r, &stats);
  *tags = stats.tags;
  *same = output.same && output.at == document->length;
  return status ? status : finished;
}

static hpar_status ignore(hpar_element *element, void *context) {
  (void)element, (void)context;
  return HPAR_OK;
}

static hpar_rules *rules_of(const char *selector) {
  hpar_rules *rules;
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .element = ignore};
  if (hpar_rules_create(&rules) || hpar_rules_add(rules, &rule, NULL) || hpar_rules_compile(rules)) abort();
  return rules;
}

void tag_scanner_open(tag_scanner *scanner) {
  if (hpar_rewriter_create(&scanner->rewriter)) abort();
  scanner->rules[0] = rules_of("x-none");
  scanner->rules[1] = rules_of("x-none:nth-of-type(2) :nth-child(3)");
  scanner->rules[2] = rules_of("div b, li > a, p i, table span, .x dd");
}

void tag_scanner_close(tag_scanner *scanner) {
  hpar_rewriter_destroy(scanner->rewriter);
  for (int i = 0; i < TAG_RULES; i++) hpar_rules_destroy(scanner->rules[i]);
  free(scanner->tags.items);
  free(scanner->stops);
}
