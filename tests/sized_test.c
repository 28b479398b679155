/* Structures that begin with their size, from programs that are older or newer than the library. A
 * field that an older program lacks is zero. A newer program may set no field that the library
 * lacks; in structures that the library fills, such a field becomes zero. */

#include "base/memory.h"
#include "check.h"

#include <hpar/hpar.h>

#include <stddef.h>
#include <string.h>

static const char page[] = "<p class=a>x<a href=y>z</a>";
enum { LENGTH = sizeof page - 1 };

static hpar_status drop(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_OK;
}

static hpar_status count_match(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(int *)context;
  return HPAR_OK;
}

static hpar_status count_link(const hpar_link *link, void *context) {
  ++*(int *)context;
  return link ? HPAR_OK : HPAR_STOP;
}

static hpar_parser *parser;
static hpar_document *document;
static hpar_selectors *selectors;
static hpar_rules *rules;
static hpar_rewriter *rewriter;

static hpar_status use_options(const void *given) { return hpar_parse(parser, given, page, LENGTH, document, NULL); }

static hpar_status use_select(const void *given) {
  int count = 0;
  return hpar_select(selectors, document, hpar_document_root(document), given, count_match, &count);
}

static hpar_status use_text(const void *given) {
  return hpar_text(document, hpar_document_root(document), given, drop, NULL);
}

static hpar_status use_links(const void *given) {
  int count = 0;
  return hpar_links(document, hpar_document_root(document), given, count_link, &count);
}

static hpar_status use_rule(const void *given) {
  hpar_rules *own;
  hpar_error error;
  CHECK_EQ(hpar_rules_create(&own), HPAR_OK);
  hpar_status status = hpar_rules_add(own, given, &error);
  if (status) CHECK(strstr(error.text, "hpar_rule"));
  if (!status) CHECK_EQ(hpar_rules_compile(own), HPAR_OK);
  hpar_rules_destroy(own);
  return status;
}

static hpar_status use_rewrite(const void *given) {
  hpar_status status = hpar_rewrite(rewriter, rules, given, page, LENGTH, NULL, drop, NULL);
  if (status) CHECK(strstr(hpar_rewriter_error(rewriter)->text, "hpar_rewrite_options"));
  return status;
}

static hpar_status use_many(const void *given) {
  hpar_rewrite_page one = {HPAR_REWRITE_PAGE_INIT, .bytes = page, .length = LENGTH};
  hpar_status status = hpar_rewrite_many(rules, given, &one, 1, NULL, NULL);
  if (!status) CHECK_EQ(one.status, HPAR_OK);
  return status;
}

typedef union room {
  size_t size;
  uint64_t words[512];
} room;

/* `first` bytes are those of the oldest version. */
static void check_input(hpar_status (*use)(const void *), size_t full, size_t first) {
  room given;
  for (size_t size = first; size <= full + 64; size += 8) {
    memset(&given, 0, sizeof given);
    given.size = size;
    /* Bytes that are no part of the older structure. */
    if (size < full) memset((char *)&given + size, 0xAA, full - size);
    CHECK_EQ(use(&given), HPAR_OK);
    if (size <= full) continue;
    ((char *)&given)[size - 1] = 1;
    CHECK_EQ(use(&given), HPAR_ERROR_ARGUMENT);
  }
  static const size_t wrong[] = {0, 7, SIZE_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    memset(&given, 0, sizeof given);
    given.size = wrong[i];
    CHECK_EQ(use(&given), HPAR_ERROR_ARGUMENT);
  }
}

/*** structures that the library fills ***/

static hpar_status fill_parse(void *stats) { return hpar_parse(parser, NULL, page, LENGTH, document, stats); }
static hpar_status fill_many(void *stats) {
  hpar_input input = {HPAR_INPUT_INIT, .bytes = page, .length = LENGTH};
  return hpar_parse_many(parser, NULL, &input, 1, stats, NULL, NULL);
}
static hpar_status fill_rewrite(void *stats) {
  return hpar_rewrite(rewriter, rules, NULL, page, LENGTH, stats, drop, NULL);
}

static void check_output(hpar_status (*fill)(void *), size_t full) {
  room got;
  for (size_t size = sizeof size; size <= full + 64 && size <= sizeof got; size += 8) {
    memset(&got, 0x55, sizeof got);
    got.size = size;
    CHECK_EQ(fill(&got), HPAR_OK);
    CHECK_EQ(got.size, size);
    const char *end = (char *)&got + size;
    for (size_t i = 0; i + size < sizeof got; i++)
      if (!CHECK_EQ(end[i], 0x55)) return; /* the library writes nothing after the structure */
    for (size_t i = full; i < size; i++) CHECK_EQ(((char *)&got)[i], 0);
  }
  memset(&got, 0, sizeof got);
  CHECK_EQ(fill(&got), HPAR_ERROR_ARGUMENT);
}

/*** arrays ***/

/* An element of an older or newer program: `size` bytes. */
static void *element_at(room *array, size_t size, size_t index) { return (char *)array + index * size; }

/* The size of the first element is the distance of all. An older program lacks the fields from
 * `status` on; a newer one has more. */
static void check_inputs(void) {
  enum { COUNT = 3 };
  for (size_t size = offsetof(hpar_input, status); size <= sizeof(hpar_input) + 64; size += 8) {
    static room array[COUNT];
    memset(array, 0, sizeof array);
    for (size_t i = 0; i < COUNT; i++) {
      hpar_input *input = element_at(array, size, i);
      input->size = i ? 0 : size;
      input->bytes = page;
      input->length = LENGTH - i;
      if (size > offsetof(hpar_input, status)) input->status = HPAR_ERROR_IO;
    }
    memset(element_at(array, size, COUNT), 0x55, 64);
    hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
    CHECK_EQ(hpar_parse_many(parser, NULL, (hpar_input *)array, COUNT, &stats, NULL, NULL), HPAR_OK);
    CHECK_EQ(stats.bytes, COUNT * LENGTH - 3);
    CHECK_EQ(stats.failed, 0);
    for (size_t i = 0; i < COUNT && size > offsetof(hpar_input, status); i++)
      CHECK_EQ(((hpar_input *)element_at(array, size, i))->status, HPAR_OK);
    for (size_t i = 0; i < 64; i++) CHECK_EQ(((char *)element_at(array, size, COUNT))[i], 0x55);
    if (size == sizeof(hpar_input)) continue;
    ((hpar_input *)element_at(array, size, 0))->size = size + 1; /* no structure has this size */
    CHECK_EQ(hpar_parse_many(parser, NULL, (hpar_input *)array, 1, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
    CHECK(strstr(hpar_parser_error(parser)->text, "hpar_input.size"));
  }
}

static void check_pages(void) {
  enum { COUNT = 3 };
  const size_t at = offsetof(hpar_rewrite_page, stats);
  for (size_t size = offsetof(hpar_rewrite_page, status); size <= sizeof(hpar_rewrite_page) + 64; size += 8) {
    static room array[COUNT + 1];
    memset(array, 0, sizeof array);
    for (size_t i = 0; i < COUNT; i++) {
      hpar_rewrite_page *one = element_at(array, size, i);
      one->size = i ? 0 : size;
      one->bytes = page;
      one->length = LENGTH - i;
    }
    memset(element_at(array, size, COUNT), 0x55, 64);
    CHECK_EQ(hpar_rewrite_many(rules, NULL, (hpar_rewrite_page *)array, COUNT, NULL, NULL), HPAR_OK);
    for (size_t i = 0; i < COUNT; i++) {
      const hpar_rewrite_page *one = element_at(array, size, i);
      if (size > offsetof(hpar_rewrite_page, status)) CHECK_EQ(one->status, HPAR_OK);
      if (size < at + sizeof one->stats) continue;
      CHECK_EQ(one->stats.size, sizeof one->stats);
      CHECK_EQ(one->stats.input_bytes, LENGTH - i);
    }
    for (size_t i = 0; i < 64; i++) CHECK_EQ(((char *)element_at(array, size, COUNT))[i], 0x55);
    if (size <= sizeof(hpar_rewrite_page)) continue;
    ((char *)element_at(array, size, 2))[-1] = 1;
    CHECK_EQ(hpar_rewrite_many(rules, NULL, (hpar_rewrite_page *)array, COUNT, NULL, NULL), HPAR_ERROR_ARGUMENT);
  }
}

/*** callbacks that overwrite their element ***/

static void clear_input(size_t index, hpar_input *input, const hpar_document *made, const hpar_parser *by,
                        const hpar_stats *stats, unsigned thread, void *context) {
  (void)made, (void)by, (void)thread;
  ((uint64_t *)context)[index] = input->status == HPAR_OK ? stats->bytes : 0;
  memset(input, index % 2 ? 0xFF : 0, sizeof *input);
}

static void clear_inputs(const hpar_options *options) {
  enum { COUNT = 9 };
  hpar_input inputs[COUNT];
  uint64_t bytes[COUNT] = {0};
  for (size_t i = 0; i < COUNT; i++)
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = page, .length = LENGTH - i, .status = HPAR_ERROR_IO};
  CHECK_EQ(hpar_parse_many(parser, options, inputs, COUNT, NULL, clear_input, bytes), HPAR_OK);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_EQ(bytes[i], LENGTH - i);
    CHECK_EQ(inputs[i].size, i % 2 ? SIZE_MAX : 0);
  }
}

static hpar_status add_length(const char *bytes, size_t length, void *context) {
  *(size_t *)context += bytes ? length : 0;
  return HPAR_OK;
}

static void clear_page(size_t index, hpar_rewrite_page *one, void *context) {
  CHECK_EQ(one->status, HPAR_OK);
  CHECK_EQ(one->stats.input_bytes, LENGTH - index);
  memset(one, index % 2 ? 0xFF : 0, sizeof *one);
  ++*(size_t *)context;
}

/* The pages have rules of their own, which the call uses until its end. */
static void clear_pages(unsigned threads) {
  enum { COUNT = 9 };
  hpar_rewrite_page pages[COUNT];
  size_t lengths[COUNT] = {0}, calls = 0;
  for (size_t i = 0; i < COUNT; i++)
    pages[i] = (hpar_rewrite_page){HPAR_REWRITE_PAGE_INIT, .bytes = page,       .length = LENGTH - i,
                                   .rules = rules,         .write = add_length, .context = &lengths[i]};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = threads};
  CHECK_EQ(hpar_rewrite_many(NULL, &options, pages, COUNT, clear_page, &calls), HPAR_OK);
  CHECK_EQ(calls, COUNT);
  for (size_t i = 0; i < COUNT; i++) CHECK_EQ(lengths[i], LENGTH - i);
}

/* The error names the first refused element. */
static void check_refused_inputs(void) {
  struct {
    hpar_input input;
    uint64_t added;
  } inputs[3] = {{{.size = sizeof *inputs}, 0}, {.added = 0}, {.added = 1}};
  CHECK_EQ(hpar_parse_many(parser, NULL, &inputs->input, 3, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_error(parser)->item, 2);
  inputs->input.size = 1;
  CHECK_EQ(hpar_parse_many(parser, NULL, &inputs->input, 3, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_error(parser)->item, 0);
}

/*** the error in the options ***/

static hpar_error kept;

/* Returns whether the call has failed, and the error in its options has all of this. */
static bool explains(hpar_status status, const char *text, size_t item) {
  return status == HPAR_ERROR_ARGUMENT && kept.status == status && strstr(kept.text, text) && !kept.offset &&
         kept.item == item;
}

/* Returns whether the call has this status, and the error has the sentence of the status. */
static bool reports(hpar_status status, hpar_status wanted) {
  return status == wanted && kept.status == wanted && !strcmp(kept.text, wanted ? hpar_status_text(wanted) : "");
}

static hpar_status fail(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_ERROR_IO;
}

static hpar_status fail_link(const hpar_link *link, void *context) {
  (void)link, (void)context;
  return HPAR_ERROR_CALLBACK;
}

static hpar_status fail_match(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector, (void)context;
  return HPAR_STOP;
}

static void check_read_errors(void) {
  const hpar_node root = hpar_document_root(document);
  int count = 0;
  const hpar_text_options text = {HPAR_TEXT_OPTIONS_INIT, .error = &kept};
  CHECK(explains(hpar_text(NULL, root, &text, drop, NULL), "document is NULL", SIZE_MAX));
  CHECK(explains(hpar_text(document, root, &text, NULL, NULL), "write is NULL", SIZE_MAX));
  CHECK(reports(hpar_text(document, root, &text, fail, NULL), HPAR_ERROR_IO));
  CHECK(reports(hpar_text(document, root, &text, drop, NULL), HPAR_OK));
  CHECK_EQ(hpar_text_copy(NULL, root, &text, NULL, 0), 0);
  CHECK_STRING(kept.text, "document is NULL");
  hpar_link_options links = {HPAR_LINK_OPTIONS_INIT, .document_url = "none", .error = &kept};
  CHECK(explains(hpar_links(document, root, &links, count_link, &count), "hpar_link_options.document_url is \"none\"",
                 SIZE_MAX));
  hpar_error other;
  CHECK(!hpar_links_all(document, root, &links, &other));
  CHECK(other.status == kept.status && !strcmp(other.text, kept.text));
  links.document_url = "http://a.b/";
  CHECK(reports(hpar_links(document, root, &links, fail_link, NULL), HPAR_ERROR_CALLBACK));
  hpar_link_list *all = hpar_links_all(document, root, &links, NULL);
  CHECK(all && reports(HPAR_OK, HPAR_OK));
  hpar_list_destroy(all);
  hpar_select_options selects = {HPAR_SELECT_OPTIONS_INIT, .threads = HPAR_MAX_THREADS + 1, .error = &kept};
  CHECK(explains(hpar_select(selectors, document, root, &selects, count_match, &count),
                 "hpar_select_options.threads is 257; accepted: 0 to 256", SIZE_MAX));
  selects = (hpar_select_options){HPAR_SELECT_OPTIONS_INIT, .mode = (hpar_mode)3, .error = &kept};
  CHECK(explains(hpar_select(selectors, document, root, &selects, count_match, &count), "hpar_select_options.mode is 3",
                 SIZE_MAX));
  selects.mode = HPAR_MODE_AUTO;
  CHECK(explains(hpar_select(NULL, document, root, &selects, count_match, &count), "selectors is NULL", SIZE_MAX));
  CHECK(reports(hpar_select(selectors, document, root, &selects, fail_match, NULL), HPAR_OK));
}

static void check_rewrite_errors(void) {
  hpar_rewrite_page pages[2] = {{HPAR_REWRITE_PAGE_INIT, .bytes = page, .length = LENGTH},
                                {HPAR_REWRITE_PAGE_INIT, .length = 1}};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .error = &kept};
  CHECK(explains(hpar_rewrite_many(rules, &options, NULL, 1, NULL, NULL), "pages is NULL", SIZE_MAX));
  CHECK(explains(hpar_rewrite_many(rules, &options, pages, 2, NULL, NULL), "hpar_rewrite_page.bytes is NULL", 1));
  CHECK(explains(hpar_rewrite_many(NULL, &options, pages, 1, NULL, NULL), "hpar_rewrite_page.rules is NULL", 0));
  CHECK(reports(hpar_rewrite_many(rules, &options, pages, 1, NULL, NULL), HPAR_OK));
  CHECK(explains(hpar_rewrite(NULL, rules, &options, page, LENGTH, NULL, drop, NULL), "rewriter is NULL", SIZE_MAX));
  CHECK(reports(hpar_rewrite(rewriter, rules, &options, page, LENGTH, NULL, fail, NULL), HPAR_ERROR_IO));
  static const struct {
    hpar_rewrite_options options;
    const char *text;
  } refused[] = {
      {{HPAR_REWRITE_OPTIONS_INIT, .encoding = "none"}, "hpar_rewrite_options.encoding is \"none\""},
      {{HPAR_REWRITE_OPTIONS_INIT, .fragment = "a b"}, "hpar_rewrite_options.fragment is \"a b\""},
      {{HPAR_REWRITE_OPTIONS_INIT, .threads = 1000}, "hpar_rewrite_options.threads is 1000"},
      {{HPAR_REWRITE_OPTIONS_INIT, .mode = (hpar_mode)3}, "hpar_rewrite_options.mode is 3"},
      {{HPAR_REWRITE_OPTIONS_INIT, .utf16 = (hpar_utf16)3}, "hpar_rewrite_options.utf16 is 3"},
      {{HPAR_REWRITE_OPTIONS_INIT, .on_failure = (hpar_on_failure)2}, "hpar_rewrite_options.on_failure is 2"},
      {{HPAR_REWRITE_OPTIONS_INIT, .filter = true, .on_failure = HPAR_FAIL_PASS}, "because `filter` is set"},
      {{HPAR_REWRITE_OPTIONS_INIT, .filter = true, .utf16 = HPAR_UTF16_PASS}, "because `filter` is set"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    options = refused[i].options;
    options.error = &kept;
    CHECK(explains(hpar_rewrite_many(rules, &options, pages, 1, NULL, NULL), refused[i].text, SIZE_MAX));
    CHECK(explains(hpar_rewrite(rewriter, rules, &options, page, LENGTH, NULL, drop, NULL), refused[i].text, SIZE_MAX));
    CHECK_STRING(hpar_rewriter_error(rewriter)->text, kept.text);
    CHECK(explains(hpar_rewriter_begin(rewriter, rules, &options, drop, NULL), refused[i].text, SIZE_MAX));
  }
}

/* The error of the options needs no memory. */
static void check_error_without_memory(void) {
  hpar_rewriter *other;
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "none", .error = &kept};
  CHECK_EQ(hpar_rewriter_create(&other), HPAR_OK);
  hp_memory_fail_after(0);
  CHECK(explains(hpar_rewrite(other, rules, &options, page, LENGTH, NULL, drop, NULL), "a structure is not valid",
                 SIZE_MAX));
  hp_memory_fail_after(UINT64_MAX);
  hpar_rewriter_destroy(other);
}

int main(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p"};
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, page, LENGTH, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_selectors_create(&selectors), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(selectors, "a", 1, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  check_input(use_options, sizeof(hpar_options), offsetof(hpar_options, mode));
  check_input(use_select, sizeof(hpar_select_options), sizeof(size_t));
  check_input(use_text, sizeof(hpar_text_options), sizeof(size_t));
  check_input(use_links, sizeof(hpar_link_options), sizeof(size_t));
  check_input(use_rule, sizeof(hpar_rule), sizeof(size_t));
  check_input(use_rewrite, sizeof(hpar_rewrite_options), sizeof(size_t));
  check_input(use_many, sizeof(hpar_rewrite_options), sizeof(size_t));
  check_output(fill_parse, sizeof(hpar_stats));
  check_output(fill_rewrite, sizeof(hpar_rewrite_stats));
  check_output(fill_many, sizeof(hpar_many_stats));
  check_inputs();
  check_pages();
  const hpar_options one = {HPAR_OPTIONS_INIT, .parallel = {.executor = HPAR_EXECUTOR_INLINE}};
  const hpar_options several = {HPAR_OPTIONS_INIT, .threads = 3};
  clear_inputs(&one);
  clear_inputs(&several);
  clear_pages(1);
  clear_pages(3);
  check_refused_inputs();
  check_read_errors();
  check_rewrite_errors();
  check_error_without_memory();
  /* Its layout never changes: programs do not initialise it. */
  CHECK_EQ(sizeof(hpar_error), 280);
  CHECK_EQ(offsetof(hpar_error, text), 24);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  hpar_selectors_destroy(selectors);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
