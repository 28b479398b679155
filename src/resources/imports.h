#ifndef HP_RESOURCES_IMPORTS_H
#define HP_RESOURCES_IMPORTS_H

#include <hpar/node.h>

/*** CSS ***/

/* The @import rules of a style sheet, which come before all rules but @charset and @layer
 * statements: https://drafts.csswg.org/css-cascade/#at-import. */

/* The bytes of an import's URL with escapes; a longer one keeps them. */
enum { HP_CSS_MAX_ESCAPED = 4096 };
/* Returns the space for a text without its escapes: `\0` becomes three bytes. */
#define HP_CSS_TEXT(length) ((length) / 2 * 3 + 1)

typedef struct hp_css_import {
  hpar_string url;  /* without escapes: in the sheet or in `text` */
  hpar_string rest; /* layer, supports() and media, without white space around it */
  char text[HP_CSS_TEXT(HP_CSS_MAX_ESCAPED)];
} hp_css_import;

/* Finds the next @import rule. `*at` is the position in the sheet: 0 before the first call. Returns
 * false after the last rule. All calls together take linear time. */
bool hp_next_css_import(hpar_string sheet, size_t *at, hp_css_import *import);

/* The URLs of url() and @import in a style sheet or in the value of a `style` attribute. The names
 * of @namespace are no URLs. */

/* A place in a sheet that comes in parts. All fields are 0 at its begin. */
typedef struct hp_css_place {
  size_t at;       /* in the part */
  uint8_t inside;  /* what the part before has left open: see imports.c */
  bool after_rule; /* a string here is the URL of @import */
  bool is_name;    /* of @namespace: no URL here */
  bool is_last;    /* the sheet ends with the part, which closes what is open */
} hp_css_place;

typedef struct hp_css_url {
  hpar_string url; /* without escapes: in the sheet or in `text` */
  size_t from, to; /* of the URL in the sheet, without quotes */
  char quote;      /* 0: none */
  char *text;      /* the caller's HP_CSS_TEXT(part.length) bytes; NULL: escapes stay */
} hp_css_url;

/* Finds the next URL. A URL that the end of the part cuts is none. All calls together take linear
 * time. */
bool hp_next_css_url(hpar_string part, hp_css_place *place, hp_css_url *url);
/* Returns the last position in [1, limit] where no URL, string or comment is open. Without one, it
 * returns a position that divides no escape, and not the end of a comment. */
size_t hp_css_boundary(hpar_string part, const hp_css_place *place, size_t limit);

/*** JavaScript ***/

/* The static imports and re-exports of a module: https://tc39.es/ecma262/#sec-modules. */

/* The bytes of a specifier with escapes; a longer one keeps them. No escape grows. */
enum { HP_JS_MAX_ESCAPED = 4096, HP_JS_MAX_TEMPLATES = 32 };

/* A position in a module. All fields are 0 at its begin. */
typedef struct hp_js_place {
  size_t at;
  uint32_t depth;                          /* of brackets */
  uint32_t templates[HP_JS_MAX_TEMPLATES]; /* the depth at which a substitution ends */
  uint32_t template_count;
  char previous;        /* the last byte of the last token; 0: none */
  bool expects_operand; /* after that token, which is a keyword */
} hp_js_place;

typedef struct hp_js_import {
  hpar_string specifier; /* without escapes: in the module or in `text` */
  char text[HP_JS_MAX_ESCAPED];
} hp_js_import;

/* Finds the next import. Returns false after the last one. The function knows tokens, and not the
 * grammar: a module with an error of syntax has imports, too, and "/" after ")" is a division. All
 * calls together take linear time. */
bool hp_next_js_import(hpar_string module, hp_js_place *place, hp_js_import *import);

#endif
