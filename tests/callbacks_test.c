/* Callbacks that destroy what the running call uses, or start another call with it. A destruction
 * takes effect when the call returns; ASan finds one that comes too early. A call that would change
 * an object in use returns HPAR_ERROR_ARGUMENT. */

#include "check.h"

#include <hpar/hpar.h>
#include <hpar/study.h>

#include <stdatomic.h>
#include <string.h>

static const char page[] = "<!doctype html><base href=/b/><p class=a id=b title=c>x<a href=y>z</a><img src=i><!--c-->"
                           "<script>s</script><p>&amp;<ul><li>a<li>b</ul><script>t</script><img src=j>";
enum { LENGTH = sizeof page - 1 };

/* What the callback does. */
typedef enum deed { DESTROYS, CALLS } deed;

typedef struct stage {
  deed deed;
  hpar_parser *parser, *other;
  hpar_document *document;
  hpar_editor *edit; /* of the document; NULL: none */
  hpar_selectors *selectors;
  hpar_rules *rules;
  hpar_rewriter *rewriter;
  _Atomic unsigned calls; /* resource events come from several threads */
} stage;

static hpar_status drop(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_OK;
}

static hpar_status go_on(hpar_node element, uint32_t selector, void *context) {
  (void)context, (void)element, (void)selector;
  return HPAR_OK;
}

/* Without a parse, the document is in use by a call that reads it. */
static void try_to_edit(stage *s) {
  hpar_editor *editor;
  hpar_error error;
  CHECK_EQ(hpar_document_edit(s->document, NULL, &editor, &error), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(error.text, "another call reads it"));
  CHECK(editor == s->edit);
  CHECK_EQ(hpar_node_remove(s->edit, hpar_document_body(s->document)), HPAR_ERROR_ARGUMENT);
}

/* Does what a callback of a call with these objects may try. NULL: the call does not use it. */
static void act(stage *s) {
  if (atomic_fetch_add(&s->calls, 1)) return;
  if (s->deed == DESTROYS) {
    hpar_parser_destroy(s->parser);
    hpar_document_destroy(s->document);
    hpar_selectors_destroy(s->selectors);
    hpar_rules_destroy(s->rules);
    hpar_rewriter_destroy(s->rewriter);
    if (s->document && !s->parser) try_to_edit(s); /* the call still reads it */
    return;
  }
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  if (s->parser) {
    CHECK_EQ(hpar_parse(s->parser, NULL, page, LENGTH, s->document, NULL), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_parser_begin(s->parser, NULL, s->document), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_parser_feed(s->parser, page, LENGTH), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_parser_finish(s->parser, NULL), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_parser_prepare(s->parser, NULL), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_parse_many(s->parser, NULL, NULL, 0, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_scan_resources(s->parser, NULL, page, LENGTH), HPAR_ERROR_ARGUMENT);
  }
  if (s->document) {
    hpar_document_clear(s->document);
    if (!s->parser) try_to_edit(s);
    CHECK_EQ(hpar_parse(s->other, NULL, page, LENGTH, s->document, NULL), HPAR_ERROR_ARGUMENT);
    CHECK(strstr(hpar_parser_error(s->other)->text, "in use"));
    CHECK_EQ(hpar_parser_begin(s->other, NULL, s->document), HPAR_ERROR_ARGUMENT);
    hpar_input input = {HPAR_INPUT_INIT, .bytes = page, .length = LENGTH, .document = s->document};
    CHECK_EQ(hpar_parse_many(s->other, NULL, &input, 1, NULL, NULL, NULL), HPAR_OK);
    CHECK_EQ(input.status, HPAR_ERROR_ARGUMENT);
  }
  if (s->selectors) CHECK_EQ(hpar_selectors_add(s->selectors, "b", 1, NULL), HPAR_ERROR_ARGUMENT);
  if (s->rewriter) {
    CHECK_EQ(hpar_rewriter_begin(s->rewriter, s->rules, NULL, drop, NULL), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_rewriter_feed(s->rewriter, page, LENGTH), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_rewriter_finish(s->rewriter, &stats), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_rewrite(s->rewriter, s->rules, NULL, page, LENGTH, NULL, drop, NULL), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_rewriter_trace(s->rewriter, NULL, NULL), HPAR_ERROR_ARGUMENT);
  }
}

/* Ends a case: destroys what the callback has left. */
static void end(const stage *s) {
  CHECK(s->calls > 0);
  if (s->deed == DESTROYS) return;
  hpar_parser_destroy(s->parser);
  hpar_document_destroy(s->document);
  hpar_selectors_destroy(s->selectors);
  hpar_rules_destroy(s->rules);
  hpar_rewriter_destroy(s->rewriter);
}

/*** documents ***/

static hpar_status act_on_output(const char *bytes, size_t length, void *context) {
  act(context);
  return drop(bytes, length, context);
}

static hpar_status act_on_match(hpar_node element, uint32_t selector, void *context) {
  act(context);
  return go_on(element, selector, context);
}

static hpar_status act_on_link(const hpar_link *link, void *context) {
  act(context);
  return link->url.bytes ? HPAR_OK : HPAR_STOP;
}

static hpar_status act_on_resource(const hpar_resource *resource, void *context) {
  act(context);
  return resource ? HPAR_OK : HPAR_STOP;
}

typedef hpar_status reader(stage *s, hpar_node root);

static hpar_status html(stage *s, hpar_node root) {
  return hpar_serialize_html(s->document, root, HPAR_HTML_SCRIPTING, act_on_output, s);
}
static hpar_status outer(stage *s, hpar_node root) {
  return hpar_serialize_html(s->document, root, HPAR_HTML_OUTER | HPAR_HTML_SCRIPTING, act_on_output, s);
}
static hpar_status tree(stage *s, hpar_node root) { return hpar_serialize_tree(s->document, root, act_on_output, s); }
static hpar_status text(stage *s, hpar_node root) { return hpar_text(s->document, root, NULL, act_on_output, s); }
static hpar_status links(stage *s, hpar_node root) { return hpar_links(s->document, root, NULL, act_on_link, s); }
static hpar_status resources(stage *s, hpar_node root) { return hpar_resources(s->document, root, act_on_resource, s); }

static hpar_status selects(stage *s, hpar_node root) {
  CHECK_EQ(hpar_selectors_create(&s->selectors), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(s->selectors, "p, li", 5, NULL), HPAR_OK);
  return hpar_select(s->selectors, s->document, root, NULL, act_on_match, s);
}

static hpar_status selects_ahead(stage *s, hpar_node root) {
  CHECK_EQ(hpar_selectors_create(&s->selectors), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(s->selectors, "ul:has(li), p", 13, NULL), HPAR_OK);
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL};
  return hpar_select(s->selectors, s->document, root, &options, act_on_match, s);
}

/* A tree that is large enough for several threads, without a parser. */
static hpar_status selects_in_parallel(stage *s, hpar_node root) {
  (void)root;
  enum { COPIES = 60000 };
  static char large[COPIES * 12];
  for (size_t i = 0; i < COPIES; i++) memcpy(large + i * 12, "<p>a<b>b</b>", 12);
  CHECK_EQ(hpar_parse(s->other, NULL, large, sizeof large, s->document, NULL), HPAR_OK);
  CHECK_EQ(hpar_selectors_create(&s->selectors), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(s->selectors, "p", 1, NULL), HPAR_OK);
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .threads = 2};
  return hpar_select(s->selectors, s->document, hpar_document_root(s->document), &options, act_on_match, s);
}

static void documents(hpar_parser *other) {
  static reader *const readers[] = {
      html, outer, tree, text, links, resources, selects, selects_ahead, selects_in_parallel};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    for (unsigned way = 0; way < 4; way++) {
      const deed deed = way & 1 ? CALLS : DESTROYS;
      stage s = {.deed = deed, .other = other};
      CHECK_EQ(hpar_document_create(&s.document), HPAR_OK);
      CHECK_EQ(hpar_parse(other, NULL, page, LENGTH, s.document, NULL), HPAR_OK);
      if (way & 2 && readers[i] != selects_in_parallel) /* that one parses another tree */
        CHECK_EQ(hpar_document_edit(s.document, NULL, &s.edit, NULL), HPAR_OK);
      CHECK_EQ(readers[i](&s, hpar_document_root(s.document)), HPAR_OK);
      if (s.edit && deed == CALLS) CHECK_EQ(hpar_node_remove(s.edit, hpar_document_body(s.document)), HPAR_OK);
      end(&s);
    }
}

/* The parser is fed for the document that another call reads. The callback ends the feed. */
static hpar_status end_feed(hpar_node element, uint32_t selector, void *context) {
  stage *s = context;
  if (!s->calls++ && s->deed == DESTROYS) hpar_parser_destroy(s->parser);
  if (s->calls == 1 && s->deed == CALLS) CHECK_EQ(hpar_parser_feed(s->parser, page, LENGTH), HPAR_ERROR_ARGUMENT);
  if (s->calls == 2 && s->deed == CALLS) CHECK_EQ(hpar_parser_prepare(s->parser, NULL), HPAR_OK);
  return go_on(element, selector, context);
}

static void fed_documents(void) {
  const hpar_options utf8 = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  for (deed deed = DESTROYS; deed <= CALLS; deed++) {
    stage s = {.deed = deed};
    CHECK_EQ(hpar_document_create(&s.document), HPAR_OK);
    CHECK_EQ(hpar_parser_create(&s.parser), HPAR_OK);
    CHECK_EQ(hpar_selectors_create(&s.selectors), HPAR_OK);
    CHECK_EQ(hpar_selectors_add(s.selectors, "p, li", 5, NULL), HPAR_OK);
    CHECK_EQ(hpar_parser_begin(s.parser, &utf8, s.document), HPAR_OK);
    CHECK_EQ(hpar_parser_feed(s.parser, page, LENGTH), HPAR_OK);
    CHECK_EQ(hpar_select(s.selectors, s.document, hpar_document_root(s.document), NULL, end_feed, &s), HPAR_OK);
    CHECK(s.calls > 1);
    hpar_document_destroy(s.document);
    hpar_selectors_destroy(s.selectors);
    if (deed == CALLS) hpar_parser_destroy(s.parser);
  }
}

/*** parses ***/

static void act_on_event(const hpar_resource *resource, hpar_resource_event event, void *context) {
  (void)resource, (void)event;
  act(context);
}

static hpar_status act_on_script(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)editor, (void)script;
  act(context);
  return HPAR_OK;
}

static void act_in_batch(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                         const hpar_stats *stats, unsigned thread, void *context) {
  (void)index, (void)input, (void)stats, (void)thread;
  stage *s = context;
  act(s);
  if (s->deed == DESTROYS) { /* lent by the call: it keeps both */
    if (!input->document) hpar_document_destroy((hpar_document *)(uintptr_t)document);
    if (parser != s->parser) hpar_parser_destroy((hpar_parser *)(uintptr_t)parser);
  }
}

static hpar_status act_on_token(const hpar_token *token, void *context) {
  (void)token;
  act(context);
  return HPAR_OK;
}

static void run_inline(unsigned count, hpar_task_callback task, void *job, void *context) {
  act(context);
  for (unsigned i = 1; i < count; i++) task(job, i);
}

typedef hpar_status parse_way(stage *s, const hpar_options *options);

static hpar_status whole(stage *s, const hpar_options *options) {
  hpar_stats stats = {HPAR_STATS_INIT};
  return hpar_parse(s->parser, options, page, LENGTH, s->document, &stats);
}

static hpar_status fed(stage *s, const hpar_options *options) {
  hpar_status status = hpar_parser_begin(s->parser, options, s->document);
  for (size_t i = 0; !status && i < LENGTH && !s->calls; i++) status = hpar_parser_feed(s->parser, page + i, 1);
  if (s->calls && s->deed == DESTROYS) return HPAR_OK; /* neither object exists */
  hpar_status finished = hpar_parser_finish(s->parser, NULL);
  return status ? status : finished;
}

static hpar_status scans(stage *s, const hpar_options *options) {
  hpar_document_destroy(s->document);
  s->document = NULL;
  return hpar_scan_resources(s->parser, options, page, LENGTH);
}

static hpar_status in_batch(stage *s, const hpar_options *options) {
  hpar_input inputs[] = {{HPAR_INPUT_INIT, .bytes = page, .length = LENGTH, .document = s->document},
                         {HPAR_INPUT_INIT, .bytes = page, .length = LENGTH}};
  return hpar_parse_many(s->parser, options, inputs, 2, NULL, act_in_batch, s);
}

static hpar_status tokens(stage *s, const hpar_options *options) {
  (void)options;
  hpar_document_destroy(s->document);
  s->document = NULL;
  return hpar_tokenize(s->parser, NULL, NULL, 0, page, LENGTH, act_on_token, s);
}

static void parses(hpar_parser *other) {
  stage s;
  const hpar_options events = {HPAR_OPTIONS_INIT, .resources = {.callback = act_on_event, .context = &s}};
  const hpar_options parallel = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2,
                                 .resources = {.callback = act_on_event, .context = &s}};
  const hpar_options scripts = {HPAR_OPTIONS_INIT, .script = {.callback = act_on_script, .context = &s}};
  const hpar_options executor = {
      HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2,
      .parallel = {.executor = HPAR_EXECUTOR_CALLER, .run = run_inline, .run_context = &s, .chunk_size = 32}};
  /* One thread: when the second input has its callback, the first document is in use no more. */
  const hpar_options batch = {HPAR_OPTIONS_INIT, .parallel = {.executor = HPAR_EXECUTOR_INLINE}};
  const hpar_options batch_scripts = {HPAR_OPTIONS_INIT, .script = {.callback = act_on_script, .context = &s},
                                      .parallel = {.executor = HPAR_EXECUTOR_INLINE}};
  const struct {
    parse_way *way;
    const hpar_options *options;
  } cases[] = {{whole, &events}, {whole, &parallel}, {whole, &scripts},          {whole, &executor}, {fed, &events},
               {fed, &scripts},  {scans, &events},   {in_batch, &batch_scripts}, {in_batch, &batch}, {tokens, &batch}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (deed deed = DESTROYS; deed <= CALLS; deed++) {
      s = (stage){.deed = deed, .other = other};
      CHECK_EQ(hpar_parser_create(&s.parser), HPAR_OK);
      CHECK_EQ(hpar_document_create(&s.document), HPAR_OK);
      hpar_status status = cases[i].way(&s, cases[i].options);
      if (status == HPAR_ERROR_UNSUPPORTED)
        s = (stage){.deed = CALLS, .calls = 1, .parser = s.parser, .document = s.document};
      CHECK(status == HPAR_OK || status == HPAR_ERROR_UNSUPPORTED);
      end(&s);
    }
}

/*** rewriting ***/

static hpar_status act_on_element(hpar_element *element, void *context) {
  (void)element;
  act(context);
  return HPAR_OK;
}

static hpar_status act_on_text(hpar_text_piece *piece, void *context) {
  (void)piece;
  act(context);
  return HPAR_OK;
}

static hpar_status act_at_end(hpar_document_end *end_of_document, void *context) {
  (void)end_of_document;
  act(context);
  return HPAR_OK;
}

static void act_on_page(size_t index, hpar_rewrite_page *pages, void *context) {
  (void)index, (void)pages;
  act(context);
}

typedef enum rewrite_way { AT_ONCE, IN_FEEDS, BY_BYTES, AS_PAGES, REWRITE_WAYS } rewrite_way;
typedef enum place { IN_ELEMENT, IN_TEXT, AT_END, IN_OUTPUT, PLACES } place;

static hpar_status rewrite(stage *s, rewrite_way way, hpar_write_callback write) {
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rewrite_page pages[] = {{HPAR_REWRITE_PAGE_INIT, .bytes = page, .length = LENGTH, .write = write, .context = s},
                               {HPAR_REWRITE_PAGE_INIT, .bytes = page, .length = LENGTH, .write = write, .context = s}};
  if (way == AT_ONCE) return hpar_rewrite(s->rewriter, s->rules, NULL, page, LENGTH, &stats, write, s);
  if (way == AS_PAGES) {
    hpar_rewriter_destroy(s->rewriter);
    s->rewriter = NULL;
    hpar_status status = hpar_rewrite_many(s->rules, NULL, pages, 2, act_on_page, s);
    CHECK_EQ(pages[0].status, HPAR_OK);
    CHECK_EQ(pages[1].status, HPAR_OK);
    return status;
  }
  hpar_status status = hpar_rewriter_begin(s->rewriter, s->rules, NULL, write, s);
  size_t step = way == BY_BYTES ? 1 : LENGTH;
  for (size_t i = 0; !status && i < LENGTH; i += step) status = hpar_rewriter_feed(s->rewriter, page + i, step);
  if (s->calls && s->deed == DESTROYS) return status;
  return status ? status : hpar_rewriter_finish(s->rewriter, &stats);
}

static void rewriters(void) {
  for (rewrite_way way = 0; way < REWRITE_WAYS; way++)
    for (place place = 0; place < PLACES; place++)
      for (deed deed = DESTROYS; deed <= CALLS; deed++) {
        stage s = {.deed = deed};
        const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "n", .value = {"v", 1}};
        const hpar_rule element = {HPAR_RULE_INIT,
                                   .selector = "p",
                                   .actions = &set,
                                   .action_count = 1,
                                   .element = place == IN_ELEMENT ? act_on_element : NULL,
                                   .text = place == IN_TEXT ? act_on_text : NULL,
                                   .context = &s};
        const hpar_rule document = {HPAR_RULE_INIT, .document_end = place == AT_END ? act_at_end : NULL, .context = &s};
        CHECK_EQ(hpar_rules_create(&s.rules), HPAR_OK);
        CHECK_EQ(hpar_rules_add(s.rules, &element, NULL), HPAR_OK);
        CHECK_EQ(hpar_rules_add(s.rules, &document, NULL), HPAR_OK);
        CHECK_EQ(hpar_rules_compile(s.rules), HPAR_OK);
        CHECK_EQ(hpar_rewriter_create(&s.rewriter), HPAR_OK);
        hpar_status status = rewrite(&s, way, place == IN_OUTPUT ? act_on_output : drop);
        bool destroyed = deed == DESTROYS && way != AS_PAGES;
        CHECK_EQ(status, destroyed ? HPAR_ERROR_ARGUMENT : HPAR_OK);
        end(&s);
      }
}

int main(void) {
  hpar_parser *other;
  CHECK_EQ(hpar_parser_create(&other), HPAR_OK);
  documents(other);
  fed_documents();
  parses(other);
  rewriters();
  hpar_parser_destroy(other);
  return check_report();
}
