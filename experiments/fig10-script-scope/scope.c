/* hpar-script-scope FILE CHUNKS CUT broken|late: runs the scripts of a page as the parser of the
 * paper would, and compares the effect of each script with its exact effect. CUT is a cut policy.
 * With "broken", a script that a chunk boundary divides runs after the merge of the chunk in which
 * it ends. With "late", every script runs after the merge of its chunk.
 *
 * The strategy hpar2013 chooses the chunks. The parser receives them as feeds, and a callback
 * postpones scripts to the end of the feed. So the tree is that of a merge without other errors.
 * With anchors, the callback hides all content after the script while the script runs. A script
 * that writes then runs at its position, because the scheme parses the later chunks again. Without
 * anchors, a late write has no effect.
 *
 * Prints one JSON object. Exit status: 0 success, 1 failure, 2 wrong usage. */

#include "programs/javascript/javascript.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SCRIPTS = 4096, MAX_DEPTH = 512 };

/* A script of the page, by the offset of its start tag, with its exact effect. */
typedef struct script {
  uint64_t start, end;
  hpar_node node; /* in the exact run */
  uint64_t effect;
  bool writes, broken;
} script;

typedef struct page {
  char *bytes;
  size_t length;
  script scripts[MAX_SCRIPTS];
  size_t script_count, broken;
  uint64_t *bounds; /* of the chunks, the last is the length */
  size_t bound_count;
  hpar_parser *parser;
  hpar_document *document;
  bool late; /* every script, not only broken ones */
} page;

/* A run of the page by the scheme. */
typedef struct run {
  page *page;
  hp_javascript *engine;
  bool exact, anchors;
  size_t postponed, differs, again; /* scripts */
  uint64_t ns;                      /* in postponed scripts, with hiding */
  bool seen[MAX_SCRIPTS], waited[MAX_SCRIPTS];
} run;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the script of the page, or NULL for a script that another script has made. */
static script *find(page *p, const hpar_document *document, hpar_node node) {
  uint64_t start, end;
  if (!hpar_node_start_tag_range(document, node, &start, &end) || start == end) return NULL;
  for (size_t i = 0; i < p->script_count; i++)
    if (p->scripts[i].start == start) return &p->scripts[i];
  return NULL;
}

/* Adds a script with its exact effect, or compares its effect with the exact one. */
static void note(void *context, const hpar_document *document, const hp_javascript_effect *effect) {
  run *r = context;
  page *p = r->page;
  uint64_t start, end;
  if (!hpar_node_start_tag_range(document, effect->node, &start, &end) || start == end) return;
  if (!r->exact) {
    const script *s = find(p, document, effect->node);
    bool lost = s && s->writes && r->waited[s - p->scripts]; /* its writes */
    r->differs += !s || lost || s->effect != effect->effect;
    if (s) r->seen[s - p->scripts] = true;
    return;
  }
  if (p->script_count == MAX_SCRIPTS) return;
  p->scripts[p->script_count++] =
      (script){.start = start, .end = end, .node = effect->node, .effect = effect->effect, .writes = effect->writes};
}

/*** anchors ***/

/* A level of the hidden content: the nodes after the script or one of its ancestors. */
typedef struct hidden {
  hpar_node parent, holder;
} hidden;

static size_t hide(hpar_editor *editor, hpar_node node, hidden *levels) {
  const hpar_document *document = hpar_editor_document(editor);
  size_t count = 0;
  for (hpar_node parent; (parent = hpar_node_parent(document, node)) && count < MAX_DEPTH; node = parent) {
    hpar_node box, next;
    if (!hpar_node_next(document, node)) continue;
    if (hpar_node_create_element(editor, HPAR_NAMESPACE_HTML, "template", 8, &box)) break;
    levels[count] = (hidden){parent, hpar_node_template_contents(document, box)};
    while ((next = hpar_node_next(document, node)))
      if (hpar_node_append(editor, levels[count].holder, next)) break;
    count++;
  }
  return count;
}

static void restore(hpar_editor *editor, const hidden *levels, size_t count) {
  const hpar_document *document = hpar_editor_document(editor);
  for (size_t i = 0; i < count; i++) {
    hpar_node first;
    while ((first = hpar_node_first_child(document, levels[i].holder)))
      if (hpar_node_append(editor, levels[i].parent, first)) break;
  }
}

static hpar_status run_script(hpar_editor *editor, const hpar_script *script_element, void *context) {
  run *r = context;
  hidden levels[MAX_DEPTH];
  const script *s = find(r->page, hpar_editor_document(editor), script_element->node);
  if (!r->exact && script_element->time == HPAR_SCRIPT_NOW && s && (r->page->late || s->broken)) {
    bool again = r->anchors && s->writes;
    r->again += again;
    if (!again && hpar_script_postpone(editor) == HPAR_OK) {
      r->postponed++;
      r->waited[s - r->page->scripts] = true;
      return HPAR_OK;
    }
  }
  if (script_element->time != HPAR_SCRIPT_LATE) return hp_javascript_run(editor, script_element, r->engine);
  uint64_t begin = now();
  size_t count = r->anchors ? hide(editor, script_element->node, levels) : 0;
  hpar_status status = hp_javascript_run(editor, script_element, r->engine);
  restore(editor, levels, count);
  r->ns += now() - begin;
  return status;
}

/*** parses ***/

static hpar_status open_run(run *r, page *p, hpar_options *options) {
  hp_javascript_options engine = {.memory = 256 << 20, .note = note, .context = r};
  r->page = p;
  r->engine = hp_javascript_create(&engine);
  options->mode = HPAR_MODE_SEQUENTIAL;
  options->encoding = "utf-8";
  options->source_offsets = true;
  options->script.callback = run_script;
  options->script.context = r;
  return r->engine ? HPAR_OK : HPAR_ERROR_MEMORY;
}

static hpar_status run_exactly(run *r, page *p) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  r->exact = true;
  hpar_status status = open_run(r, p, &options);
  if (!status) status = hpar_parse(p->parser, &options, p->bytes, p->length, p->document, NULL);
  hp_javascript_destroy(r->engine);
  uint64_t begin;
  for (size_t i = 0; i < p->script_count; i++)
    hpar_node_end_tag_range(p->document, p->scripts[i].node, &begin, &p->scripts[i].end);
  return status;
}

/* Feeds the chunks. */
static hpar_status run_scheme(run *r, page *p) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  hpar_status status = open_run(r, p, &options);
  if (!status) status = hpar_parser_begin(p->parser, &options, p->document);
  for (size_t i = 0, at = 0; i < p->bound_count && !status; at = (size_t)p->bounds[i++])
    status = hpar_parser_feed(p->parser, p->bytes + at, (size_t)p->bounds[i] - at);
  if (!status) status = hpar_study_finish(p->parser, NULL);
  hp_javascript_destroy(r->engine);
  for (size_t i = 0; i < p->script_count; i++) r->differs += !r->seen[i];
  return status;
}

static hpar_status append(const char *bytes, size_t length, void *to) {
  page *p = to;
  char *grown = realloc(p->bytes, p->length + length + 1);
  if (!grown) return HPAR_ERROR_MEMORY;
  p->bytes = grown;
  memcpy(p->bytes + p->length, bytes, length);
  p->length += length;
  return HPAR_OK;
}

/* Converts the page to UTF-8, so that its offsets are those of the parser's text. */
static hpar_status convert(page *p) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  char *bytes = p->bytes;
  size_t length = p->length;
  hpar_status status = hpar_study_parse(p->parser, &options, bytes, length, p->document, &stats);
  hpar_document_clear(p->document);
  p->bytes = NULL;
  p->length = 0;
  if (!status) status = hpar_decode(stats.encoding, bytes, length, append, p);
  free(bytes);
  return status;
}

/* Sets the boundaries that the scheme chooses, and the scripts that they divide. */
static hpar_status cut(page *p, size_t chunks, const char *policy) {
  const hpar_study study = {HPAR_STUDY_INIT, .strategy = "hpar2013", .cut_policy = policy, .inspect = true};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .encoding = "utf-8", .study = &study};
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  options.parallel.chunk_size = (p->length + chunks - 1) / chunks;
  hpar_status status = hpar_parse(p->parser, &options, p->bytes, p->length, p->document, NULL);
  p->bound_count = hpar_chunk_count(p->parser);
  p->bounds = calloc(p->bound_count + 1, sizeof *p->bounds);
  if (status || !p->bounds) return status ? status : HPAR_ERROR_MEMORY;
  for (size_t i = 0; i < p->bound_count; i++) p->bounds[i] = hpar_chunk_at(p->parser, i)->end;
  p->bounds[p->bound_count++] = p->length;
  for (size_t i = 0; i < p->script_count; i++) {
    script *s = &p->scripts[i];
    for (size_t k = 0; k < p->bound_count; k++) s->broken |= p->bounds[k] > s->start && p->bounds[k] < s->end;
    p->broken += s->broken;
  }
  return HPAR_OK;
}

static bool load(page *p, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return false;
  long length = ftell(file);
  rewind(file);
  p->bytes = malloc((size_t)length + 1);
  bool read = p->bytes && fread(p->bytes, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  p->length = (size_t)length;
  return read;
}

/* Returns the number of h2 elements whose text is "Changed", as in the document of the figure. */
static size_t changed_headings(const hpar_document *document) {
  size_t count = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string name = hpar_node_name(document, node),
                text = hpar_node_data(document, hpar_node_first_child(document, node));
    count += name.length == 2 && !memcmp(name.bytes, "h2", 2) && text.length == 7 && !memcmp(text.bytes, "Changed", 7);
  }
  return count;
}

static int fail(const char *path, hpar_status status) {
  fprintf(stderr, "hpar-script-scope: %s: %s\n", path, hpar_status_text(status));
  return 1;
}

int main(int count, char **arguments) {
  static page p;
  static run exact, off = {.anchors = false}, on = {.anchors = true};
  static run *const schemes[] = {&off, &on};
  size_t headings[3];
  if (count != 5 || (strcmp(arguments[4], "broken") && strcmp(arguments[4], "late")) || !atol(arguments[2])) {
    fputs("usage: hpar-script-scope FILE CHUNKS CUT broken|late\n", stderr);
    return 2;
  }
  p.late = !strcmp(arguments[4], "late");
  if (!load(&p, arguments[1])) return fail(arguments[1], HPAR_ERROR_IO);
  hpar_status status = hpar_parser_create(&p.parser);
  if (!status) status = hpar_document_create(&p.document);
  if (!status) status = convert(&p);
  if (!status) status = run_exactly(&exact, &p);
  if (!status) headings[2] = changed_headings(p.document);
  if (!status) status = cut(&p, (size_t)atol(arguments[2]), arguments[3]);
  for (size_t i = 0; i < 2 && !status; i++) {
    status = run_scheme(schemes[i], &p);
    headings[i] = changed_headings(p.document);
  }
  if (status) return fail(arguments[1], status);
  size_t writes = 0;
  for (size_t i = 0; i < p.script_count; i++) writes += p.scripts[i].writes;
  printf("{\"scripts\":%zu,\"broken\":%zu,\"writing\":%zu,\"chunks\":%zu,\"exact\":{\"headings\":%zu}", p.script_count,
         p.broken, writes, p.bound_count - 1, headings[2]);
  for (size_t i = 0; i < 2; i++)
    printf(",\"%s\":{\"headings\":%zu,\"postponed\":%zu,\"differs\":%zu,\"parsed_again\":%zu,\"ns\":%llu}",
           i ? "anchors" : "no_anchors", headings[i], schemes[i]->postponed, schemes[i]->differs, schemes[i]->again,
           (unsigned long long)schemes[i]->ns);
  puts("}");
  hpar_document_destroy(p.document);
  hpar_parser_destroy(p.parser);
  free(p.bytes);
  free(p.bounds);
  return 0;
}
