/* sanitise: keeps the elements and attributes of a list, see docs/guides/filters.md. It is a recipe
 * and not a promise. Throw the output away if the exit status is not 0. */

#include <hpar/hpar.h>
#include <stdio.h>
#include <string.h>

static const char *const elements[] = {"html", "head", "body", "p",  "b",  "i",  "em", "strong", "a",
                                       "ul",   "ol",   "li",   "br", "hr", "h1", "h2", "pre",    NULL};
static const char *const attributes[] = {"class", "title", "lang", "dir", NULL};

static bool is_one_of(hpar_string name, const char *const *names) {
  for (; *names; names++)
    if (strlen(*names) == name.length && !memcmp(*names, name.bytes, name.length)) return true;
  return false;
}

static hpar_status keep_attribute(hpar_attribute_unit *attribute, void *context) {
  const hpar_string name = attribute->name, value = attribute->value;
  (void)context;
  bool is_web =
      name.length == 4 && !memcmp(name.bytes, "href", 4) && value.length > 8 && !memcmp(value.bytes, "https://", 8);
  attribute->removes = !is_web && !is_one_of(name, attributes);
  return HPAR_OK;
}

static hpar_status keep_element(hpar_element *element, void *context) {
  if (element->ns != HPAR_NAMESPACE_HTML || !is_one_of(element->name, elements)) return hpar_element_remove(element);
  return hpar_element_attributes(element, keep_attribute, context);
}

hpar_status sanitise(const char *page, size_t length, hpar_write_callback write, void *context) {
  const hpar_action no_comments = {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "*", .element = keep_element, .pure = true},
                             {HPAR_RULE_INIT, .actions = &no_comments, .action_count = 1}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .filter = true,
                                        .max_depth = 500, .max_memory = 16 << 20};
  hpar_rules *rules = NULL;
  hpar_rewriter *rewriter = NULL;
  hpar_status status = hpar_rules_create(&rules);
  for (size_t i = 0; i < 2 && !status; i++) status = hpar_rules_add(rules, &given[i], NULL);
  if (!status) status = hpar_rules_compile(rules);
  if (!status) status = hpar_rewriter_create(&rewriter);
  if (!status) status = hpar_rewrite(rewriter, rules, &options, page, length, NULL, write, context);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  return status;
}

#ifndef SANITISE_WITHOUT_MAIN
static hpar_status print(const char *bytes, size_t length, void *file) {
  return fwrite(bytes, 1, length, file) == length ? HPAR_OK : HPAR_ERROR_IO;
}

int main(void) {
  static char page[1 << 20];
  const size_t length = fread(page, 1, sizeof page, stdin);
  if (length == sizeof page || ferror(stdin)) return 2;
  return sanitise(page, length, print, stdout) != HPAR_OK;
}
#endif
