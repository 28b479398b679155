#include "cli/rewrite_check.h"

#include "cli/rewrite_tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 160 };

/* Returns why the edited tree is not defined, and the rule; NULL if it is. */
static const char *find_obstacle(const hp_edit_rules *rules, const hp_edit_rule **rule) {
  for (size_t i = 0; i < rules->count; i++) {
    *rule = &rules->items[i];
    if ((*rule)->rule.implied) return "matches elements without a tag";
    for (size_t k = 0; k < (*rule)->count; k++) {
      switch ((*rule)->actions[k].unit) {
        case HPAR_UNIT_ELEMENT: break;
        case HPAR_UNIT_TEXT: return "edits texts";
        case HPAR_UNIT_COMMENT: return "edits comments";
        default: return "edits the doctype or the end of the page";
      }
    }
  }
  return NULL;
}

static void print_line(const char *label, const char *at) {
  size_t length = strcspn(at, "\n");
  printf("  %s: %.*s%s\n", label, (int)(length < SHOWN ? length : SHOWN), at, length < SHOWN ? "" : "...");
}

/* Prints the first line that differs. Returns the exit code. */
static int compare(const char *name, const hp_lines *expected, const hp_lines *got) {
  const hp_text *a = &expected->text, *b = &got->text;
  size_t at = 0, line = 0, most = a->length < b->length ? a->length : b->length;
  while (at < most && a->bytes[at] == b->bytes[at]) {
    if (a->bytes[at++] == '\n') line = at;
  }
  if (at == a->length && at == b->length) {
    printf("%s: the tree of the output is the edited tree of the input (%llu nodes)\n", name,
           (unsigned long long)got->nodes);
    return HP_EXIT_FINE;
  }
  printf("%s: the tree of the output differs from the edited tree of the input\n", name);
  print_line("edited input", line < a->length ? a->bytes + line : "the end");
  print_line("output", line < b->length ? b->bytes + line : "the end");
  return HP_EXIT_FAILED;
}

static hpar_status parse(hpar_parser *parser, const hpar_rewrite_options *options, const char *encoding,
                         const hp_text *text, hpar_document *document) {
  hpar_options parse_options = {HPAR_OPTIONS_INIT, .encoding = encoding, .fragment = options->fragment,
                                .scripting = options->scripting, .source_offsets = true};
  return hpar_parse(parser, &parse_options, text->bytes ? text->bytes : "", text->length, document, NULL);
}

int hp_check_rewrite(const hp_explanation *x, const hp_edit_rules *rules, const char *path,
                     const hpar_rewrite_options *options, const hpar_rewrite_stats *stats, const hp_text *input,
                     const hp_text *output) {
  const char *name = hp_shown_name(path);
  const hp_edit_rule *rule = NULL;
  const char *obstacle = find_obstacle(rules, &rule);
  bool is_utf16 = stats->encoding && !strncasecmp(stats->encoding, "utf-16", 6);
  bool is_decoded = is_utf16 && options->utf16 == HPAR_UTF16_DECODE;
  hpar_parser *parser = NULL;
  hpar_document *before = NULL, *after = NULL;
  hp_lines expected = {.scripting = options->scripting}, got = expected;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&before);
  if (!status) status = hpar_document_create(&after);
  if (!status) status = parse(parser, options, options->encoding, input, before);
  if (!status) status = parse(parser, options, is_decoded ? "utf-8" : options->encoding, output, after);
  expected.parser = parser;
  if (!status) status = hp_write_lines(&got, after, NULL);
  if (!status && !obstacle) status = hp_write_lines(&expected, before, x);
  int code = HP_EXIT_FINE;
  char rule_name[256];
  if (obstacle) hp_edit_rule_name(rule, rule_name, sizeof rule_name);
  if (status || x->lacks_memory)
    code = hp_complain_call(path, parser, status ? status : HPAR_ERROR_MEMORY);
  else if (obstacle)
    printf("%s: the output has a tree (%llu nodes); it is not compared, because %s %s\n", name,
           (unsigned long long)got.nodes, rule_name, obstacle);
  else
    code = compare(name, &expected, &got);
  hpar_document_destroy(before);
  hpar_document_destroy(after);
  hpar_parser_destroy(parser);
  free(expected.text.bytes);
  free(got.text.bytes);
  return code;
}
