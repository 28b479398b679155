#ifndef HP_RESOURCES_JS_IMPORTS_H
#define HP_RESOURCES_JS_IMPORTS_H

/* The static imports and re-exports of a module: https://tc39.es/ecma262/#sec-modules. */

#include <hpar/node.h>

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
