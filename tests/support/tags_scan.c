#include "rewrite/state.h"
#include "support/tags_state.h"

#include <stdlib.h>
#include <string.h>

static hp_name name_of_rewriter(const void *table, hp_atom atom) { return hp_names_of(table, atom); }

/* An end tag's name has no atom if no open element has the name. */
static uint64_t name_of_tag(const hpar_rewriter *r, const char *text) {
  if (r->tag.name != HP_NO_ATOM) return tag_hash_atom(r->tag.name, name_of_rewriter, &r->names);
  return tag_hash_name((hp_name){text + r->token_start + 2, r->name_length});
}

static void note_scanned(tag_scanner *scanner, const char *text, uint64_t end) {
  const hpar_rewriter *r = scanner->rewriter;
  const hp_builder *b = &r->shadow.builder;
  tag noted = {.start = UINT64_MAX,
               .end = end,
               .state = tag_hash_state(b, name_of_rewriter, &r->names),
               .content = (uint8_t)r->scanner.content};
  if (r->token_end == end) {
    noted.start = r->token_start;
    noted.name = name_of_tag(r, text);
    noted.is_end = r->tag.is_end;
  }
  tag_add(&scanner->tags, noted);
}

/* Feeds pieces that end at each ">", because a tag ends there. */
hpar_status tag_scan(tag_scanner *scanner, unsigned rules, const compare_case *document, bool each_byte) {
  hpar_rewriter *r = scanner->rewriter;
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .fragment = document->fragment,
                                  .scripting = document->scripting};
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

static hpar_rules *rules_of(const char *selector) {
  hpar_rules *rules;
  hpar_action action = {.kind = HPAR_ACTION_REMOVE};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = &action, .action_count = 1};
  if (hpar_rules_create(&rules) || hpar_rules_add(rules, &rule, NULL) || hpar_rules_compile(rules)) abort();
  return rules;
}

void tag_scanner_open(tag_scanner *scanner) {
  if (hpar_rewriter_create(&scanner->rewriter)) abort();
  scanner->rules[0] = rules_of("x-none");
  scanner->rules[1] = rules_of("x-none:nth-of-type(2) :nth-child(3)");
}

void tag_scanner_close(tag_scanner *scanner) {
  hpar_rewriter_destroy(scanner->rewriter);
  for (int i = 0; i < 2; i++) hpar_rules_destroy(scanner->rules[i]);
  free(scanner->tags.items);
}
