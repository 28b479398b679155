#include "programs/hpar/rewrite_check.h"

#include "programs/hpar/rewrite_tree.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 160 };

/* Returns why the edited tree is not defined, and the rule; NULL if it is. */
static const char *find_obstacle(const hp_edit_rules *rules, const hp_edit_rule **rule) {
  for (size_t i = 0; i < rules->count; i++) {
    *rule = &rules->items[i];
    if ((*rule)->rule.implied) return "matches elements without a tag";
    for (size_t k = 0; k < (*rule)->count; k++) {
      const hpar_action *action = &(*rule)->actions[k];
      if (action->kind == HPAR_ACTION_PREFIX_URLS || action->kind == HPAR_ACTION_REBASE_URLS) return "edits URLs";
      if (action->kind == HPAR_ACTION_UNSET_ATTRIBUTE && strchr(action->name, '*'))
        return "removes attributes by a pattern";
      switch (action->unit) {
        case HPAR_UNIT_ELEMENT: break;
        case HPAR_UNIT_TEXT: return "edits texts";
        case HPAR_UNIT_COMMENT:
        case HPAR_UNIT_CONDITIONAL:
        case HPAR_UNIT_INSTRUCTION: return "edits comments";
        default: return "edits the doctype or the end of the page";
      }
    }
  }
  return NULL;
}

/* Returns true if a rule removed a later tag of html or body. The edited tree would then lack the
 * attributes of that tag only, and the list does not have their names. */
static bool removes_merged(const hp_explanation *x, const hp_edit_rule **rule) {
  for (size_t i = 0; i < x->seen_count; i++) {
    *rule = x->seen[i].rule;
    if (!x->seen[i].merges_into) continue;
    for (size_t k = 0; k < (*rule)->count; k++)
      if ((*rule)->actions[k].unit == HPAR_UNIT_ELEMENT && (*rule)->actions[k].kind >= HPAR_ACTION_REPLACE &&
          (*rule)->actions[k].kind <= HPAR_ACTION_UNWRAP)
        return true;
  }
  return false;
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
                                .scripting = !options->no_scripting, .source_offsets = true};
  return hpar_parse(parser, &parse_options, text->bytes ? text->bytes : "", text->length, document, NULL);
}

/* Appends the input as UTF-8: the output of a rule that matches nothing. */
static hpar_status decode(const hpar_rewrite_options *options, const hp_text *input, hp_text *decoded) {
  const hpar_action action = {.kind = HPAR_ACTION_REMOVE};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = ":not(*)", .actions = &action, .action_count = 1};
  hpar_rules *rules = NULL;
  hpar_rewriter *rewriter = NULL;
  hpar_status status = hpar_rules_create(&rules);
  if (!status) status = hpar_rules_add(rules, &rule, NULL);
  if (!status) status = hpar_rules_compile(rules);
  if (!status) status = hpar_rewriter_create(&rewriter);
  if (!status)
    status = hpar_rewrite(rewriter, rules, options, input->bytes, input->length, NULL, hp_append_text, decoded);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  return status;
}

int hp_check_rewrite(const hp_explanation *x, const hp_edit_rules *rules, const char *path,
                     const hpar_rewrite_options *options, const hp_text *input, const hp_text *output) {
  const char *name = hp_shown_name(path);
  const hp_edit_rule *rule = NULL;
  const char *obstacle = find_obstacle(rules, &rule);
  if (!obstacle && removes_merged(x, &rule)) obstacle = "removes a tag that only adds attributes to html or body";
  hpar_parser *parser = NULL;
  hpar_document *before = NULL, *after = NULL;
  hp_text decoded = {0};
  hp_lines expected = {.scripting = !options->no_scripting}, got = expected;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&before);
  if (!status) status = hpar_document_create(&after);
  if (!status && options->utf16 == HPAR_UTF16_DECODE) status = decode(options, input, &decoded);
  /* only UTF-16 changes */
  bool is_decoded =
      decoded.length && (decoded.length != input->length || memcmp(decoded.bytes, input->bytes, input->length) != 0);
  const char *encoding = is_decoded ? "utf-8" : options->encoding;
  if (!status) status = parse(parser, options, encoding, is_decoded ? &decoded : input, before);
  if (!status) status = parse(parser, options, encoding, output, after);
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
  free(decoded.bytes);
  free(expected.text.bytes);
  free(got.text.bytes);
  return code;
}
