#ifndef HP_RESOURCES_CSS_IMPORTS_H
#define HP_RESOURCES_CSS_IMPORTS_H

/* The @import rules of a style sheet, which come before all rules but @charset and @layer
 * statements: https://drafts.csswg.org/css-cascade/#at-import. */

#include <hpar/node.h>

/* The bytes of a URL with escapes; a longer one keeps them. `\0` becomes three bytes. */
enum { HP_CSS_MAX_ESCAPED = 4096, HP_CSS_TEXT = HP_CSS_MAX_ESCAPED / 2 * 3 };

typedef struct hp_css_import {
  hpar_string url;  /* without escapes: in the sheet or in `text` */
  hpar_string rest; /* layer, supports() and media, without white space around it */
  char text[HP_CSS_TEXT];
} hp_css_import;

/* Finds the next @import rule. `*at` is the position in the sheet: 0 before the first call. Returns
 * false after the last rule. All calls together take linear time. */
bool hp_next_css_import(hpar_string sheet, size_t *at, hp_css_import *import);

#endif
