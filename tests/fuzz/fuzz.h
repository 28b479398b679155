#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

/* The common part of the fuzz targets. An input is a document and FUZZ_CHOICES bytes after it,
 * which choose how the target uses it. Therefore any document of at least that length is a seed for
 * each target. A target prints an error and ends the process. */

#include "support/compare.h"
#include "support/random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUZZ_CHOICES = 8, FUZZ_ERRORS = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Separates the document from the choices. Returns false if the input is too short. */
static inline bool fuzz_split(const uint8_t *data, size_t size, compare_case *document, const uint8_t **choices) {
  if (size < FUZZ_CHOICES) return false;
  *document = (compare_case){.bytes = (const char *)data, .length = size - FUZZ_CHOICES};
  *choices = data + document->length;
  return true;
}

/* Returns one of the library's names, or NULL. */
static inline const char *fuzz_name(const char *(*name_at)(size_t), size_t choice) {
  size_t count = 0;
  while (name_at(count)) count++;
  return name_at(choice % (count + 1));
}

/* Returns a context element that the standard distinguishes. */
static inline const char *fuzz_context(size_t choice) {
  static const char *const contexts[] = {"div",       "body",     "html",      "head",
                                         "table",     "tbody",    "tr",        "td",
                                         "caption",   "colgroup", "select",    "template",
                                         "form",      "p",        "a",         "title",
                                         "script",    "style",    "textarea",  "svg g",
                                         "svg desc",  "math mi",  "math math", "noscript",
                                         "frameset",  "iframe",   "plaintext", "math annotation-xml",
                                         "svg title", "xmp",      "option",    "svg foreignObject"};
  return contexts[choice % (sizeof contexts / sizeof contexts[0])];
}

static inline void fuzz_wrong(const char *what, const char *bytes, size_t length) {
  buffer text = {0};
  buffer_escaped(&text, bytes, length);
  printf("%s\ndocument (%zu bytes): \"%s\"\n", what, length, text.bytes ? text.bytes : "");
  fflush(stdout);
  abort();
}

#endif
