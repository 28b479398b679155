/* parse(rewrite(x)) = edit(parse(x)): the tree of the output is the edited tree of the input.
 * Generated rules, with all actions and random selectors, edit generated documents, and with the
 * argument "fixtures" outside pages. The edit of the tree is that of `hpar rewrite --check`.
 *
 * The equation holds for edits that tree construction does not undo or extend:
 * - attributes that it does not read; of formatting elements, if each has its own end tag
 * - insertions into elements that accept any content, such as div, p, li, td and body. At the end
 *   of such an element, its descendants have their own end tags
 * - rename, unwrap, remove, replace and inner of div, span and the like, if the element and its
 *   descendants have their own end tags, and so has its previous sibling
 * - the same, except inner, of elements whose content is text
 * The test applies an action only where these conditions hold. rewrite_moved_test.c has the
 * exceptions. */

#include "check.h"
#include "support/compare.h"
#include "support/edited_tree.h"
#include "support/generate.h"
#include "support/rewriting.h"
#include "support/shared.h"

#include <stdlib.h>
#include <strings.h>

enum { MAX_ELEMENTS = 100000, MAX_SEEN = 200000 };

typedef struct element {
  hpar_node node;
  uint64_t start, end;           /* of the start tag */
  uint64_t end_start, end_after; /* of the end tag; 0: none */
  bool takes_content;            /* insertions into it stay there */
  bool in_content;               /* insertions beside it stay there */
  bool is_nested;                /* it and its descendants have their own end tags */
  bool has_items;                /* a descendant is an item of a list, or a heading */
  bool may_change;               /* its tags may be changed or removed */
} element;

static hpar_parser *parser;
static hpar_document *before, *after;
static hpar_rewriter *rewriter;
static element *elements;
static size_t element_count;
static bool has_copies; /* selectedcontent has copies of an option's content */
static bool is_clean;   /* the elements of the tree are nested like their tags */
static hp_seen *seen;
static size_t seen_count;
static rewriting made;
static hp_edit_rule edit_rules[REWRITING_MAX_RULES];
static const compare_case *page;
static uint64_t applied, refused;

/*** the elements of the input ***/

static bool is_one_of(hpar_string name, const char *list) {
  char padded[64];
  if (name.length > 60) return false;
  snprintf(padded, sizeof padded, " %.*s ", (int)name.length, name.bytes);
  return strstr(list, padded);
}

static const char formatting[] = " a b big code em font i nobr s small strike strong tt u ";
static const char implied[] = " html head body tbody colgroup tr ";
static const char voids[] = " area base br col embed hr img input link meta source track wbr basefont bgsound frame "
                            "keygen param image ";
static const char containers[] = " div section article span li td th body blockquote p center form main header footer "
                                 "nav aside figure dd dt h1 h2 h3 h4 h5 h6 address label fieldset x-y cite abbr ";
static const char neutral[] = " div section article span x-y cite abbr main header footer nav aside ";
static const char raw[] = " textarea style script iframe noembed ";
static const char phrasing[] = " span x-y cite abbr ";
static const char opaque[] = " select template noscript object applet marquee button a nobr ruby frameset ";

static bool is_html(hpar_node node) { return hpar_node_namespace(before, node) == HPAR_NAMESPACE_HTML; }
static bool is_element(hpar_node node) { return node && hpar_node_kind(before, node) == HPAR_NODE_ELEMENT; }

static element *find_element(uint64_t start) {
  size_t low = 0, high = element_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (elements[middle].start < start)
      low = middle + 1;
    else
      high = middle;
  }
  return low < element_count && elements[low].start == start ? &elements[low] : NULL;
}

/* Returns true if content inserted into the node stays there. */
static bool accepts(hpar_node node) {
  if (!is_element(node) || !is_html(node) || !is_one_of(hpar_node_name(before, node), containers)) return false;
  for (hpar_node up = node; is_element(up); up = hpar_node_parent(before, up))
    if (!is_html(up) || is_one_of(hpar_node_name(before, up), opaque)) return false;
  return true;
}

static hpar_node previous_element(hpar_node node) {
  do node = hpar_node_previous(before, node);
  while (node && !is_element(node));
  return node;
}

/* Adds the elements below `top` in tree order. */
static void collect(hpar_node top) {
  for (hpar_node node = top; (node = hpar_node_walk(before, top, node));) {
    if (!is_element(node)) continue;
    hpar_string name = hpar_node_name(before, node);
    element e = {.node = node};
    if (is_one_of(name, " frameset ")) is_clean = false;
    if (is_one_of(name, " selectedcontent ")) has_copies = true;
    if (!hpar_node_start_tag_range(before, node, &e.start, &e.end)) {
      if (!is_one_of(name, implied)) is_clean = false;
      continue;
    }
    if (page->bytes[e.start + 1] == '/' || element_count == MAX_ELEMENTS) {
      is_clean = false;
      continue;
    }
    hpar_node_end_tag_range(before, node, &e.end_start, &e.end_after);
    if (element_count && elements[element_count - 1].start >= e.start) is_clean = false;
    if (is_html(node) && is_one_of(name, formatting) && !e.end_after) is_clean = false;
    elements[element_count++] = e;
    hpar_node contents = hpar_node_template_contents(before, node);
    if (contents) collect(contents);
  }
}

static bool is_closed(const element *e) {
  if (e->end_after) return true;
  hpar_string name = hpar_node_name(before, e->node);
  return is_html(e->node) ? is_one_of(name, voids) : page->bytes[e->end - 2] == '/';
}

/* Each element has its descendants between its tags. */
static void check_containment(void) {
  for (size_t i = 0; i < element_count && is_clean; i++) {
    element *e = &elements[i];
    hpar_node parent = hpar_node_parent(before, e->node);
    uint64_t start, end;
    if (!is_element(parent) || !hpar_node_start_tag_range(before, parent, &start, &end)) continue;
    const element *p = find_element(start);
    uint64_t last = e->end_after ? e->end_after : e->end;
    if (!p || e->start < end || (p->end_after && last > p->end_start)) is_clean = false;
  }
}

static void classify(void) {
  for (size_t i = element_count; i-- > 0;) {
    element *e = &elements[i];
    e->is_nested = is_closed(e);
    e->has_items = false;
    for (hpar_node child = hpar_node_first_child(before, e->node); child; child = hpar_node_next(before, child)) {
      uint64_t start, end;
      if (!is_element(child)) continue;
      const element *c = hpar_node_start_tag_range(before, child, &start, &end) ? find_element(start) : NULL;
      if (!c || !c->is_nested) e->is_nested = false;
      if (!c || c->has_items || is_one_of(hpar_node_name(before, child), " li dd dt h1 h2 h3 h4 h5 h6 "))
        e->has_items = true;
    }
  }
  for (size_t i = 0; i < element_count; i++) {
    element *e = &elements[i];
    hpar_node parent = hpar_node_parent(before, e->node), previous = previous_element(e->node);
    uint64_t start, end;
    const element *p =
        previous && hpar_node_start_tag_range(before, previous, &start, &end) ? find_element(start) : NULL;
    bool parent_has_tag = is_element(parent) && hpar_node_start_tag_range(before, parent, &start, &end);
    bool is_beside = previous ? p && p->is_nested : parent_has_tag;
    hpar_string name = hpar_node_name(before, e->node);
    bool is_known = is_html(e->node) && (is_one_of(name, neutral) || is_one_of(name, raw));
    e->takes_content = e->end_after && accepts(e->node);
    e->in_content = is_beside && e->is_nested && is_known && accepts(parent);
    e->may_change = e->in_content && e->takes_content;
  }
}

/* Returns true if the body or the page may end before a position. */
static bool has_end_before(uint64_t position) {
  const char *end = page->bytes + position;
  for (const char *at = page->bytes; at < end && (at = memmem(at, (size_t)(end - at), "</", 2)); at += 2)
    if (!strncasecmp(at, "</body", 6) || !strncasecmp(at, "</html", 6)) return true;
  return false;
}

static bool parse(const char *bytes, size_t length, hpar_document *document) {
  hpar_options options = {HPAR_OPTIONS_INIT, .scripting = page->scripting, .fragment = page->fragment,
                          .encoding = "utf-8", .source_offsets = true};
  return CHECK_EQ(hpar_parse(parser, &options, bytes, length, document, NULL), HPAR_OK);
}

static bool read_page(void) {
  if (!parse(page->bytes, page->length, before)) return false;
  element_count = 0;
  is_clean = true;
  has_copies = false;
  collect(hpar_document_root(before));
  if (has_copies) return false;
  if (element_count && has_end_before(elements[element_count - 1].start)) is_clean = false;
  if (is_clean) check_containment();
  if (!is_clean) {
    /* the order by position finds an element by its tag */
    for (size_t i = 1; i < element_count; i++)
      if (elements[i - 1].start >= elements[i].start) return false;
  }
  if (is_clean) classify();
  return true;
}

/*** edits ***/

/* Text that ends like this forms a character reference or a line break with what follows. */
static bool ends_openly(uint64_t position) { return position && strchr("&#\r", page->bytes[position - 1]); }

static bool is_allowed(const element *e, const hpar_action *action) {
  hpar_string name = hpar_node_name(before, e->node);
  switch (action->kind) {
    case HPAR_ACTION_SET_ATTRIBUTE:
    case HPAR_ACTION_UNSET_ATTRIBUTE:
    case HPAR_ACTION_PREFIX_ATTRIBUTE:
      return is_html(e->node) ? !is_one_of(name, " html body option select font ") &&
                                    (is_clean || !is_one_of(name, formatting)) && strcmp(action->name, "xlink:href")
                              : is_clean;
    case HPAR_ACTION_BEFORE:
    case HPAR_ACTION_AFTER: return is_clean && e->in_content && !ends_openly(e->start);
    case HPAR_ACTION_PREPEND: return is_clean && e->takes_content;
    case HPAR_ACTION_APPEND:
      return is_clean && e->takes_content && e->is_nested && !ends_openly(e->end_start) && !is_one_of(name, " body ");
    case HPAR_ACTION_RENAME: /* only block elements close a p */
      if (is_one_of(name, raw)) return is_clean && e->in_content && !strcmp(action->name, "x-z");
      return is_clean && e->may_change && is_one_of(name, phrasing) == !strcmp(action->name, "x-z") &&
             strcmp(action->name, "em") != 0;
    case HPAR_ACTION_UNWRAP:          /* an item ends the item around it */
      if (e->has_items) return false; // fall through
    case HPAR_ACTION_REMOVE:
    case HPAR_ACTION_REPLACE:
      if (is_one_of(name, raw)) return is_clean && e->in_content && !ends_openly(e->start);
      // fall through
    default: return is_clean && e->may_change && !ends_openly(e->start) && !ends_openly(e->end_start);
  }
}

static hpar_status act(hpar_element *e, const hpar_action *a) {
  switch (a->kind) {
    case HPAR_ACTION_BEFORE:
    case HPAR_ACTION_AFTER:
    case HPAR_ACTION_PREPEND:
    case HPAR_ACTION_APPEND:
    case HPAR_ACTION_INNER:
    case HPAR_ACTION_REPLACE:
      return hpar_element_insert(e, (hpar_where)a->kind, a->value.bytes, a->value.length, a->format);
    case HPAR_ACTION_REMOVE: return hpar_element_remove(e);
    case HPAR_ACTION_UNWRAP: return hpar_element_unwrap(e);
    case HPAR_ACTION_RENAME: return hpar_element_rename(e, a->name);
    case HPAR_ACTION_SET_ATTRIBUTE: return hpar_element_set(e, a->name, a->value.bytes, a->value.length);
    case HPAR_ACTION_UNSET_ATTRIBUTE: return hpar_element_unset(e, a->name);
    default: break;
  }
  hpar_string old = hpar_element_attribute(e, strcmp(a->name, "B") ? a->name : "b");
  if (!old.bytes || old.length < a->value.length || memcmp(old.bytes, a->value.bytes, a->value.length) != 0)
    return HPAR_OK;
  buffer value = {0};
  buffer_add(&value, a->replacement.bytes, a->replacement.length);
  buffer_add(&value, old.bytes + a->value.length, old.length - a->value.length);
  hpar_status status = hpar_element_set(e, a->name, value.bytes, value.length);
  buffer_free(&value);
  return status;
}

static hpar_status edit(hpar_element *e, void *context) {
  const hp_edit_rule *rule = context;
  const element *found = find_element(e->start);
  bool fits = found && seen_count < MAX_SEEN;
  for (size_t i = 0; i < rule->count && fits; i++) fits = is_allowed(found, &rule->actions[i]);
  refused += !fits;
  if (!fits) return HPAR_OK;
  for (size_t i = 0; i < rule->count; i++) CHECK_EQ(act(e, &rule->actions[i]), HPAR_OK);
  seen[seen_count++] = (hp_seen){rule, e->start, e->has_content, NULL};
  applied++;
  return HPAR_OK;
}

static hpar_rules *compile(bool declares) {
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (size_t i = 0; i < made.count; i++) {
    hpar_rule rule = made.rules[i];
    edit_rules[i] = (hp_edit_rule){.rule = rule, .actions = made.actions[i], .count = rule.action_count};
    if (!declares) {
      rule.element = edit;
      rule.context = &edit_rules[i];
      rule.action_count = 0;
    }
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  }
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static bool rewrite(bool declares, buffer *out) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .fragment = page->fragment,
                                  .no_scripting = !page->scripting};
  hpar_rules *rules = compile(declares);
  rewriting run = {.compiled = rules};
  hpar_status status = rewriting_run(&run, rewriter, &options, page->bytes, page->length, 0, 0);
  hpar_rules_destroy(rules);
  *out = run.out;
  return CHECK_EQ(status, HPAR_OK);
}

/*** comparison ***/

static void compare_trees(const buffer *out, uint64_t number) {
  if (!parse(out->length ? out->bytes : "", out->length, after)) return;
  hp_text edited = edited_tree(before, page->scripting, seen, seen_count);
  hp_text got = edited_tree(after, page->scripting, NULL, 0);
  if (!CHECK(edited_tree_equal(&edited, &got))) {
    printf("  page %llu; rules:\n", (unsigned long long)number);
    rewriting_print(&made);
    edited_tree_print(&edited, &got);
    if (page->length < 3000)
      printf("  input:  %.*s\n  output: %.*s\n", (int)page->length, page->bytes, (int)out->length, out->bytes);
  }
  free(edited.bytes);
  free(got.bytes);
}

/* Applies generated rules to the page, which read_page has read. */
static void check_rules(uint64_t number) {
  random_state random = {number * 1234567};
  rewriting_make(&made, &random, 0);
  hpar_rules_destroy(made.compiled);
  made.compiled = NULL;
  buffer out = {0}, again = {0};
  seen_count = 0;
  refused = 0;
  if (rewrite(false, &out)) compare_trees(&out, number);
  /* actions give the output of callbacks that do the same */
  if (!refused && rewrite(true, &again)) CHECK_BYTES(again.bytes, again.length, out.bytes, out.length);
  buffer_free(&out);
  buffer_free(&again);
}

/*** documents ***/

/* Writes a document whose elements are nested. */
static void write_nested(random_state *random, buffer *to) {
  static const char *const names[] = {"div", "span", "section", "p", "ul", "li", "x-y", "b", "a", "cite", "table", "i"};
  static const char *const texts[] = {"x",
                                      " lorem ",
                                      "&amp;",
                                      "a < b",
                                      "\n",
                                      "\xC3\xA9",
                                      "<!--c-->",
                                      "<br>",
                                      "<img a=1>",
                                      "b <",
                                      "img c>",
                                      "<textarea>a <b>&lt;c&d</textarea>",
                                      "<style><i> a='&lt;'</style>",
                                      "<iframe></b>&amp;<</iframe>",
                                      "<script>\"<!-- <\" & 1</script>"};
  static const char *const attributes[] = {
      "", "", " class=x", " id='y' b=2", " a class=\"x y\"", " href=z title=\"&lt;\""};
  const char *open[20];
  size_t depth = 0;
  buffer_text(to, random_chance(random, 50) ? "<!DOCTYPE html><html><head><title>t</title></head><body>" : "<body>");
  for (size_t n = 10 + random_below(random, 60); n; n--) {
    const char *name = RANDOM_OF(random, names);
    bool in_phrasing = false, in_a = false;
    for (size_t i = 0; i < depth; i++) {
      in_phrasing |= strchr("pabi", open[i][0]) && !open[i][1];
      in_a |= !strcmp(open[i], "a");
    }
    bool is_block = !strchr("sxbaic", name[0]) || !strcmp(name, "section");
    if (random_chance(random, 45) && depth < 20 && !(in_phrasing && is_block) && !(in_a && !strcmp(name, "a"))) {
      buffer_format(to, "<%s%s>", name, RANDOM_OF(random, attributes));
      open[depth++] = name;
      if (!strcmp(name, "table")) {
        buffer_format(to, "<tr><td>x<td>%s</table>", random_chance(random, 50) ? "<div class=x>y</div>" : "y");
        depth--;
      }
    } else if (depth && random_chance(random, 55)) {
      buffer_format(to, "</%s>", open[--depth]);
    } else {
      buffer_text(to, RANDOM_OF(random, texts));
    }
  }
  while (depth) buffer_format(to, "</%s>", open[--depth]);
}

static void generated_documents(void) {
  uint64_t count = compare_full() ? 200000 : 20 * (uint64_t)compare_scale();
  buffer text = {0};
  generated adversarial = {0};
  for (uint64_t seed = 1; seed <= count && check_failed < 3; seed++) {
    random_state random = {seed};
    compare_case of = {0};
    if (seed % 2) {
      buffer_clear(&text);
      write_nested(&random, &text);
      of = (compare_case){.bytes = text.bytes, .length = text.length};
    } else {
      generate(seed, &adversarial);
      of = (compare_case){.bytes = adversarial.text.bytes,
                          .length = adversarial.text.length,
                          .fragment = adversarial.fragment,
                          .scripting = adversarial.scripting};
    }
    page = &of;
    if (read_page()) check_rules(seed);
  }
  buffer_free(&text);
  generate_free(&adversarial);
}

static bool fixtures(void) {
  static const char *const folders[] = {"corpus/pages", "corpus/paper"};
  for (size_t k = 0; k < 2; k++) {
    char directory[4096];
    shared_list files;
    if (!shared_path(directory, sizeof directory, folders[k])) return false;
    if (!CHECK(shared_files(directory, ".html", &files))) return false;
    for (size_t i = 0; i < files.count && check_failed < 3; i += compare_full() ? 1 : 8) {
      compare_case of = {0};
      char *bytes = shared_read(files.paths[i], &of.length);
      of.bytes = bytes;
      page = &of;
      if (bytes && read_page())
        for (uint64_t n = 0; n < (compare_full() ? 20 : 4) && check_failed < 3; n++) check_rules(i * 100 + n);
      free(bytes);
    }
    shared_list_free(&files);
  }
  return true;
}

int main(int count, char **arguments) {
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&before), HPAR_OK);
  CHECK_EQ(hpar_document_create(&after), HPAR_OK);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  elements = malloc(MAX_ELEMENTS * sizeof *elements);
  seen = malloc(MAX_SEEN * sizeof *seen);
  bool skipped = false;
  if (check_part(count, arguments, "fixtures")) {
    skipped = !fixtures();
  } else {
    generated_documents();
  }
  CHECK(skipped || applied > 0);
  printf("%llu elements edited\n", (unsigned long long)applied);
  rewriting_free(&made);
  hpar_parser_destroy(parser);
  hpar_document_destroy(before);
  hpar_document_destroy(after);
  hpar_rewriter_destroy(rewriter);
  free(elements);
  free(seen);
  return skipped ? CHECK_SKIPPED : check_report();
}
