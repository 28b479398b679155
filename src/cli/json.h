#ifndef HP_CLI_JSON_H
#define HP_CLI_JSON_H

/* JSON as a stream. Commas come by themselves; hp_json_break puts what follows on a line of its own. A value inside
 * an object is given after its key. */

#include <hpar/document.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct hp_json {
  FILE *file;
  bool comma, line; /* due before the next item */
} hp_json;

void hp_json_open(hp_json *json, char bracket);  /* '{' or '[' */
void hp_json_close(hp_json *json, char bracket); /* '}' or ']' */
void hp_json_break(hp_json *json);
void hp_json_key(hp_json *json, const char *key);

/* Controls are escaped; what is not UTF-8 (a file name may be anything) becomes U+FFFD. */
void hp_json_string(hp_json *json, hpar_string string);
void hp_json_text(hp_json *json, const char *text); /* NULL: null */
void hp_json_number(hp_json *json, uint64_t number);
void hp_json_real(hp_json *json, double number); /* four decimals */
void hp_json_bool(hp_json *json, bool value);

#endif
