/* Entries that parse a page in many ways, and scan it. */

#include "growth/entries.h"
#include "support/toy.h"

#include <hpar/study.h>
#include <string.h>

enum { SMALL_CHUNK = 256, PIECE = 61, MANY = 1 << 30 };

static const char *const contexts[] = {"div",      "table", "select",    "template", "svg desc", "math mi",
                                       "frameset", "td",    "svg title", "html",     "tr",       "title"};

static const char *context_of(const page *of) {
  return contexts[of->text.length % (sizeof contexts / sizeof *contexts)];
}

static void ignore_resource(const hpar_resource *resource, hpar_resource_event event, void *context) {
  (void)resource, (void)event;
  ++*(uint64_t *)context;
}

static uint64_t reported;

static const hpar_study merged_as_tree = {HPAR_STUDY_INIT, .merge = HPAR_MERGE_TREE};

static hpar_options options_of(const page *of, unsigned variant) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  options.threads = 2;
  switch (variant) {
    case 1:
    case 10: options.max_errors = MANY; break;
    case 2: options.source_offsets = true; break;
    case 3: options.scripting = true; break;
    case 4: options.limits = (hpar_limits)HPAR_LIMITS_UNTRUSTED; break;
    case 7: options.study = &merged_as_tree; break;
    case 8:
      options.max_errors = MANY;
      options.source_offsets = true;
      break;
    case 14: options.resources = (hpar_resource_options){.callback = ignore_resource, .context = &reported}; break;
    default: break;
  }
  switch (variant) {
    case 5: options.mode = HPAR_MODE_PARALLEL; break;
    case 6:
    case 7:
    case 8:
    case 11:
    case 13:
      options.mode = HPAR_MODE_PARALLEL;
      options.parallel.chunk_size = SMALL_CHUNK;
      break;
    default: break;
  }
  if (variant == 12 || variant == 13) options.fragment = context_of(of);
  if (options.mode == HPAR_MODE_PARALLEL && !hpar_strategy_name(0)) options.mode = HPAR_MODE_SEQUENTIAL;
  return options;
}

static void feed(const page *of, const hpar_options *options, hpar_study_stats *stats) {
  hpar_parser_begin(entry_parser, options, entry_document);
  for (size_t at = 0; at < of->text.length; at += PIECE) {
    size_t left = of->text.length - at;
    hpar_parser_feed(entry_parser, of->text.bytes + at, left < PIECE ? left : PIECE);
  }
  hpar_study_finish(entry_parser, stats);
}

uint64_t run_parse(const page *of, unsigned variant) {
  hpar_options options = options_of(of, variant);
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  reported = 0;
  if (variant >= 9 && variant <= 11)
    feed(of, &options, &stats);
  else
    hpar_study_parse(entry_parser, &options, of->text.bytes, of->text.length, entry_document, &stats);
  return stats.nodes;
}

/* The size of a fragment's result is that of its tree, which may be larger than the page's. */
uint64_t run_scan(const page *of, unsigned variant) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  if (variant) {
    options.fragment = context_of(of);
    hpar_study_parse(entry_parser, &options, of->text.bytes, of->text.length, entry_document, &stats);
    entry_begin();
  }
  reported = 0;
  options.resources = (hpar_resource_options){.callback = ignore_resource, .context = &reported};
  hpar_scan_resources(entry_parser, &options, of->text.bytes, of->text.length);
  return reported > stats.nodes ? reported : stats.nodes;
}

/*** scripts ***/

/* Appends a script that writes the bytes, or each character by itself. */
static void add_script(buffer *to, const char *command, const char *bytes, size_t length) {
  buffer_text(to, "<script>");
  buffer_text(to, command);
  toy_escape(to, bytes, length);
  buffer_text(to, "</script>");
}

static void write_page(const page *of, unsigned variant, buffer *to) {
  buffer_clear(to);
  if (variant == 0) add_script(to, "w ", of->text.bytes, of->text.length);
  if (variant == 1) add_script(to, "c ", of->text.bytes, of->text.length);
  for (size_t at = 0; variant == 2 && at < of->text.length; at += PIECE) {
    size_t left = of->text.length - at;
    add_script(to, "w ", of->text.bytes + at, left < PIECE ? left : PIECE);
  }
  if (variant == 3) buffer_add(to, of->text.bytes, of->text.length);
}

/* Runs the scripts that add_script has made. Others may be commands of the toy engine by chance. */
static hpar_status run_own(hpar_editor *scripting, const hpar_script *script, void *context) {
  const hpar_document *document = hpar_editor_document(scripting);
  hpar_string program = hpar_node_data(document, hpar_node_first_child(document, script->node));
  bool is_own = program.length > 1 && program.bytes[1] == ' ' && (*program.bytes == 'w' || *program.bytes == 'c');
  return is_own ? toy_run(scripting, script, context) : HPAR_OK;
}

uint64_t run_writes(const page *of, unsigned variant) {
  static buffer text;
  toy engine = {0};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  options.script.callback = run_own;
  options.script.context = &engine;
  write_page(of, variant, &text);
  hpar_study_parse(entry_parser, &options, text.bytes, text.length, entry_document, &stats);
  return stats.nodes;
}
