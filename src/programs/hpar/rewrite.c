/* hpar rewrite: edits pages by rules while they are read. */

#include "programs/hpar/machine.h"
#include "programs/hpar/rewrite_page.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>
#include <sys/stat.h>

enum {
  SELECTOR = 1,
  DOCUMENT,
  /* an action is ACTION + its hpar_action_kind */
  ACTION,
  TEXT = ACTION + HPAR_ACTION_REBASE_URLS + 1,
  IN,
  LIMIT,
  IMPLIED,
  ACROSS_TAGS,
  RULES,
  OUTPUT,
  IN_PLACE,
  MANY,
  MODE,
  THREADS,
  BACKUP,
  FEED,
  REQUIRE,
  CHECK,
  EXPLAIN,
  TRACE,
  STATS,
  FRAGMENT,
  SCRIPTING,
  ENCODING,
  UTF16,
  ON_FAILURE,
  FILTER
};

static const hp_option options[] = {
    {SELECTOR, "selector", "SELECTOR", "begin a rule: its actions follow; also -s SELECTOR"},
    {DOCUMENT, "document", NULL, "begin a rule for the whole page; its actions are --find and --append"},
    {ACTION + HPAR_ACTION_BEFORE, "before", "HTML", "insert HTML before the element; @FILE: the content of FILE"},
    {ACTION + HPAR_ACTION_AFTER, "after", "HTML", "insert HTML after the element"},
    {ACTION + HPAR_ACTION_PREPEND, "prepend", "HTML", "insert HTML after the start tag"},
    {ACTION + HPAR_ACTION_APPEND, "append", "HTML", "insert HTML at the end of the element"},
    {ACTION + HPAR_ACTION_INNER, "inner", "HTML", "replace the content of the element"},
    {ACTION + HPAR_ACTION_REPLACE, "replace", "HTML", "replace the element"},
    {ACTION + HPAR_ACTION_REMOVE, "remove", NULL, "remove the element"},
    {ACTION + HPAR_ACTION_UNWRAP, "unwrap", NULL, "remove the tags and keep the content"},
    {ACTION + HPAR_ACTION_RENAME, "rename", "NAME", "rename the element"},
    {ACTION + HPAR_ACTION_SET_ATTRIBUTE, "set", "NAME VALUE", "set an attribute"},
    {ACTION + HPAR_ACTION_UNSET_ATTRIBUTE, "unset", "NAME", "remove an attribute; * in NAME is any text, as in 'on*'"},
    {ACTION + HPAR_ACTION_PREFIX_ATTRIBUTE, "prefix", "NAME FROM TO", "replace FROM at the beginning of an attribute"},
    {ACTION + HPAR_ACTION_FIND, "find", "FROM TO", "replace FROM in the visible texts inside the element"},
    {IN, "in", "PLACES",
     "where the --find before it looks: text (default), script, style, title, comment,\nor all; a list"},
    {ACTION + HPAR_ACTION_PREFIX_URLS, "prefix-urls", "PATH", "insert PATH before each URL that begins with one /"},
    {ACTION + HPAR_ACTION_REBASE_URLS, "rebase", "URL", "make each URL absolute; URL is that of the page"},
    {ACROSS_TAGS, "across-tags", NULL,
     "each --find of this rule also finds a text around inline tags, as ab in\na<b>b</b>"},
    {TEXT, "text", NULL, "the contents of this rule are text, not HTML"},
    {LIMIT, "limit", "N", "the rule ends after N elements"},
    {IMPLIED, "implied", NULL, "the rule also matches elements without a tag"},
    {RULES, "rules", "FILE", "read rules from a file in JSON"},
    {OUTPUT, "output", "OUT", "write the page to this file; also -o OUT"},
    {IN_PLACE, "in-place", NULL, "replace FILE by the rewritten page, and keep a backup"},
    {MANY, "many", NULL, "rewrite several FILEs, and those of folders, with --in-place"},
    {MODE, "mode", "auto|parallel|sequential",
     "rewrite a page with several threads: if it is large (auto, the default\nis sequential), always, or never"},
    {THREADS, "threads", "N", "the threads that rewrite a page or, with --many, pages (0: one for\neach core)"},
    {BACKUP, "backup", "SUFFIX", "the suffix of backups (.bak); empty: no backups"},
    {FEED, "feed", "N", "feed the rewriter N bytes at a time"},
    {REQUIRE, "require", NULL, "exit with 1 if a rule matches nothing"},
    {CHECK, "check", NULL,
     "parse the output, and compare its tree with the edited tree of the\ninput; print the result in place of the "
     "page"},
    {EXPLAIN, "explain", NULL, "print each edit, and why a rule does not match, in place of the page"},
    {TRACE, "trace", "OUT",
     "write the timeline of the threads to this file as Chrome trace events, for\nui.perfetto.dev"},
    {STATS, "stats", "[=json]", "print statistics on standard error, or on standard output if the\npage is not there"},
    {FRAGMENT, "fragment", "CONTEXT", "rewrite the contents of this element"},
    {SCRIPTING, "scripting", "on|off", "the scripting flag (on, as in browsers)"},
    {ENCODING, "encoding", "LABEL", "the encoding of FILE (default: found in FILE)"},
    {UTF16, "utf16", "decode|pass|refuse", "input in UTF-16: write as UTF-8 (default), pass on without edits, fail"},
    {ON_FAILURE, "on-failure", "stop|pass", "after a failure, stop (default), or pass the rest on without edits"},
    {FILTER, "filter", NULL,
     "remove tags that the parser ignores, and fail if the output still has what a\nrule removes"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "rewrite", "FILE|-",
    "Writes FILE with the edits of rules. All other bytes stay as they are. -s SELECTOR begins a\n"
    "rule, and the actions after it edit each element that the selector matches.",
    options};

typedef struct request {
  hp_rewriting rewriting;
  const char **operands;
  size_t operand_count;
  size_t line_rules;  /* rules of the command line */
  hp_edit_rule *rule; /* that the actions belong to */
  bool is_text, many, names_backup;
} request;

static int no_memory(void) { return hp_complain_status(NULL, HPAR_ERROR_MEMORY); }

/* Ends the current rule of the command line. Returns an exit code, or -1. */
static int end_rule(request *r) {
  hp_edit_rule *rule = r->rule;
  if (!rule) return -1;
  for (size_t i = 0; r->is_text && i < rule->count; i++) rule->actions[i].format = HPAR_CONTENT_TEXT;
  r->is_text = false;
  r->rule = NULL;
  if (rule->count) return -1;
  return hp_bad_usage(&command, "rule %zu (%s) has no action", rule->number,
                      rule->rule.selector ? rule->rule.selector : "the document");
}

static int begin_rule(request *r, const char *selector) {
  int code = end_rule(r);
  if (code >= 0) return code;
  r->rule = hp_edit_rules_add(&r->rewriting.rules, selector);
  if (!r->rule) return no_memory();
  r->rule->number = ++r->line_rules;
  return -1;
}

/* Reads content: @FILE is the content of a file, and @@ is a literal @. */
static int take_content(request *r, const char *value, hpar_string *content) {
  if (*value == '@' && value[1] != '@') {
    size_t length = 0;
    char *bytes = hp_load(value + 1, 0, &length);
    if (!bytes) return HP_EXIT_FAILED;
    if (!hp_edit_rules_keep(&r->rewriting.rules, bytes)) return no_memory();
    *content = (hpar_string){bytes, length};
    return -1;
  }
  value += *value == '@';
  *content = (hpar_string){value, strlen(value)};
  return -1;
}

static int take_action(request *r, hp_arguments *arguments, hpar_action_kind kind) {
  const char *value = arguments->value, *second = NULL, *third = NULL;
  bool has_second =
      kind == HPAR_ACTION_SET_ATTRIBUTE || kind == HPAR_ACTION_FIND || kind == HPAR_ACTION_PREFIX_ATTRIBUTE;
  if (!r->rule) return hp_bad_usage(&command, "--%s needs a rule: -s SELECTOR before it", arguments->option->name);
  if (has_second && !(second = hp_next_value(arguments))) return HP_EXIT_USAGE;
  if (kind == HPAR_ACTION_PREFIX_ATTRIBUTE && !(third = hp_next_value(arguments))) return HP_EXIT_USAGE;
  hpar_unit unit = kind == HPAR_ACTION_FIND ? HPAR_UNIT_TEXT : HPAR_UNIT_ELEMENT;
  if (!r->rule->rule.selector && kind == HPAR_ACTION_APPEND) unit = HPAR_UNIT_DOCUMENT_END;
  hpar_action *action = hp_edit_rule_add(r->rule, unit, kind);
  if (!action) return no_memory();
  switch (kind) {
    case HPAR_ACTION_REMOVE:
    case HPAR_ACTION_UNWRAP: return -1;
    case HPAR_ACTION_RENAME:
    case HPAR_ACTION_UNSET_ATTRIBUTE: action->name = value; return -1;
    case HPAR_ACTION_SET_ATTRIBUTE:
      action->name = value;
      action->value = (hpar_string){second, strlen(second)};
      return -1;
    case HPAR_ACTION_PREFIX_ATTRIBUTE:
      action->name = value;
      action->value = (hpar_string){second, strlen(second)};
      action->replacement = (hpar_string){third, strlen(third)};
      return -1;
    case HPAR_ACTION_PREFIX_URLS:
    case HPAR_ACTION_REBASE_URLS: action->value = (hpar_string){value, strlen(value)}; return -1;
    case HPAR_ACTION_FIND:
      action->format = HPAR_CONTENT_TEXT;
      action->value = (hpar_string){value, strlen(value)};
      action->replacement = (hpar_string){second, strlen(second)};
      return -1;
    default: return take_content(r, value, &action->value);
  }
}

/* Takes an option that belongs to a rule. */
static int take_rule_option(request *r, const hp_arguments *arguments, int id) {
  if (!r->rule) return hp_bad_usage(&command, "--%s needs a rule: -s SELECTOR before it", arguments->option->name);
  if (id == TEXT) r->is_text = true;
  if (id == ACROSS_TAGS) r->rule->rule.across_tags = true;
  if (id == IMPLIED) r->rule->rule.implied = true;
  if (id == LIMIT && !hp_value_number(arguments, 1, UINT64_MAX, &r->rule->rule.limit)) return HP_EXIT_USAGE;
  return -1;
}

/* Takes the places of the last find. */
static int take_places(const request *r, const char *places) {
  hpar_action *last = r->rule && r->rule->count ? &r->rule->actions[r->rule->count - 1] : NULL;
  if (!last || last->kind != HPAR_ACTION_FIND) return hp_bad_usage(&command, "--in needs a --find before it");
  last->name = places;
  return -1;
}

static int take_rules_file(request *r, const char *path) {
  int code = end_rule(r);
  if (code >= 0) return code;
  size_t length = 0;
  char *bytes = hp_load(path, 0, &length);
  if (!bytes) return HP_EXIT_FAILED;
  hp_refusal refusal;
  hpar_status status = hp_edit_rules_read(&r->rewriting.rules, hp_shown_name(path), bytes, length, &refusal);
  free(bytes);
  if (status == HPAR_ERROR_UNSUPPORTED) return hp_bad_usage(&command, "--rules: %s", refusal.text);
  if (status == HPAR_ERROR_MEMORY) return no_memory();
  if (status) hp_complain("%s", refusal.text);
  return status ? HP_EXIT_USAGE : -1;
}

static int take_stats(request *r, const char *value) {
  r->rewriting.report = value ? HP_REPORT_JSON : HP_REPORT;
  return value && strcmp(value, "json") != 0 ? hp_bad_usage(&command, "--stats: '%s' is not json", value) : -1;
}

/* Returns an exit code, or -1 to go on. */
static int take(request *r, hp_arguments *arguments, int id) {
  static const char *const switches[] = {"off", "on", NULL}, *const forms[] = {"decode", "pass", "refuse", NULL};
  static const char *const modes[] = {"auto", "sequential", "parallel", NULL}; /* as hpar_mode */
  static const char *const failures[] = {"stop", "pass", NULL};
  hp_rewriting *w = &r->rewriting;
  size_t index = 0;
  uint64_t number = 0;
  if (id >= ACTION && id <= ACTION + HPAR_ACTION_REBASE_URLS)
    return take_action(r, arguments, (hpar_action_kind)(id - ACTION));
  switch (id) {
    case HP_ARGUMENT_OPERAND: r->operands[r->operand_count++] = arguments->value; return -1;
    case SELECTOR: return begin_rule(r, arguments->value);
    case DOCUMENT: return begin_rule(r, NULL);
    case TEXT:
    case LIMIT:
    case ACROSS_TAGS:
    case IMPLIED: return take_rule_option(r, arguments, id);
    case IN: return take_places(r, arguments->value);
    case RULES: return take_rules_file(r, arguments->value);
    case OUTPUT: w->output = arguments->value; return -1;
    case IN_PLACE: w->in_place = true; return -1;
    case MANY: r->many = true; return -1;
    case MODE:
      if (!hp_value_word(arguments, modes, &index)) return HP_EXIT_USAGE;
      w->options.mode = (hpar_mode)index;
      return -1;
    case THREADS:
      if (!hp_value_number(arguments, 0, HPAR_MAX_THREADS, &number)) return HP_EXIT_USAGE;
      w->options.threads = (unsigned)number;
      return -1;
    case BACKUP:
      w->backup_suffix = arguments->value;
      r->names_backup = true;
      return strchr(arguments->value, '/') ? hp_bad_usage(&command, "--backup: a suffix contains no /") : -1;
    case FEED: return hp_value_number(arguments, 1, UINT32_MAX, &w->feed) ? -1 : HP_EXIT_USAGE;
    case REQUIRE: w->requires_matches = true; return -1;
    case CHECK: w->checks = true; return -1;
    case EXPLAIN: w->explains = true; return -1;
    case TRACE: w->trace = arguments->value; return -1;
    case STATS: return take_stats(r, arguments->value);
    case FRAGMENT: w->options.fragment = hp_value_fragment(arguments); return w->options.fragment ? -1 : HP_EXIT_USAGE;
    case SCRIPTING:
      if (!hp_value_word(arguments, switches, &index)) return HP_EXIT_USAGE;
      w->options.no_scripting = index == 0;
      return -1;
    case ENCODING: w->options.encoding = hp_value_encoding(arguments); return w->options.encoding ? -1 : HP_EXIT_USAGE;
    case UTF16:
      if (!hp_value_word(arguments, forms, &index)) return HP_EXIT_USAGE;
      w->options.utf16 = (hpar_utf16)index;
      return -1;
    case ON_FAILURE:
      if (!hp_value_word(arguments, failures, &index)) return HP_EXIT_USAGE;
      w->options.on_failure = (hpar_on_failure)index;
      return -1;
    case FILTER: w->options.filter = true; return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    default: return HP_EXIT_USAGE;
  }
}

/* A folder with one page is one, too: the checks of the output name the operand, not its pages. */
static bool is_folder(const char *operand) {
  struct stat about;
  return strcmp(operand, "-") != 0 && !stat(operand, &about) && S_ISDIR(about.st_mode);
}

/* Checks that the options fit together. Returns an exit code, or -1. */
static int check(const request *r) {
  const hp_rewriting *w = &r->rewriting;
  if (!r->operand_count) return hp_bad_usage(&command, "name a FILE, or - for standard input");
  if (!w->rules.count)
    return hp_bad_usage(&command, "there is no rule: begin one with -s SELECTOR, or name --rules FILE");
  if (r->many && !w->in_place) return hp_bad_usage(&command, "--many needs --in-place");
  if (!r->many && r->operand_count > 1) return hp_bad_usage(&command, "several FILEs need --many --in-place");
  if (!r->many && is_folder(r->operands[0])) return hp_bad_usage(&command, "a folder needs --many --in-place");
  if (r->many && w->trace) return hp_bad_usage(&command, "--trace needs one FILE");
  if (w->trace && !strcmp(w->trace, "-")) return hp_bad_usage(&command, "--trace needs a file");
  if (r->names_backup && !w->in_place) return hp_bad_usage(&command, "--backup needs --in-place");
  const hpar_rewrite_options *o = &w->options;
  if (o->filter && (o->utf16 == HPAR_UTF16_PASS || o->on_failure == HPAR_FAIL_PASS))
    return hp_bad_usage(&command, "--filter excludes --utf16 pass and --on-failure pass");
  if (w->output && w->in_place) return hp_bad_usage(&command, "--output and --in-place exclude each other");
  for (size_t i = 0; w->in_place && i < r->operand_count; i++)
    if (!strcmp(r->operands[i], "-")) return hp_bad_usage(&command, "--in-place: standard input is no file");
  if (w->output && hp_is_input(w->output, r->operands[0]))
    return hp_bad_usage(&command, "--output: %s is the input; use --in-place", w->output);
  if (w->trace && hp_is_input(w->trace, r->operands[0]))
    return hp_bad_usage(&command, "--trace: %s is the input", w->trace);
  if (w->trace && w->output && (!strcmp(w->trace, w->output) || hp_is_input(w->trace, w->output)))
    return hp_bad_usage(&command, "--trace: %s is the output", w->trace);
  return -1;
}

static int run(request *r) {
  int code = end_rule(r);
  if (code < 0) code = check(r);
  for (size_t i = 0; code < 0 && i < r->operand_count; i++) {
    hp_pages *pages = &r->rewriting.pages;
    if (!hp_pages_add(pages, r->operands[i])) code = no_memory();
  }
  hpar_rewrite_options *o = &r->rewriting.options;
  if (o->mode == HPAR_MODE_AUTO && !o->threads) o->threads = hp_default_threads();
#ifdef __GLIBC__
  /* An arena for each thread would reserve 64 MB of address space. */
  if (o->mode != HPAR_MODE_SEQUENTIAL) mallopt(M_ARENA_MAX, 2);
#endif
  return code < 0 ? hp_rewrite_pages(&r->rewriting) : code;
}

int hp_run_rewrite(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  request r = {
      .rewriting = {.command = &command,
                    .options = {HPAR_REWRITE_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_token = SIZE_MAX},
                    .backup_suffix = ".bak"},
      .operands = calloc((size_t)count + 1, sizeof *r.operands)};
  int code = r.operands && !hpar_rules_create(&r.rewriting.compiled) ? -1 : no_memory();
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&r, &arguments, id);
  if (code < 0) code = run(&r);
  hpar_rules_destroy(r.rewriting.compiled);
  hp_edit_rules_free(&r.rewriting.rules);
  hp_pages_free(&r.rewriting.pages);
  free(r.operands);
  return code;
}
