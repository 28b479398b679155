#ifndef HP_PROGRAMS_HPAR_JSON_H
#define HP_PROGRAMS_HPAR_JSON_H

/* Writes JSON as a stream, with commas where needed. hp_json_break starts a new line. The caller
 * writes the key of a member before its value. */

#include <hpar/node.h>
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

/* Writes a string. Escapes control characters, and writes U+FFFD for bytes that are not UTF-8, as
 * in file names. */
void hp_json_string(hp_json *json, hpar_string string);
void hp_json_text(hp_json *json, const char *text); /* NULL: null */
void hp_json_number(hp_json *json, uint64_t number);
void hp_json_real(hp_json *json, double number); /* four decimals */
void hp_json_bool(hp_json *json, bool value);

/* Write a member with its key. */
void hp_json_text_member(hp_json *json, const char *key, const char *text); /* NULL: null */
void hp_json_number_member(hp_json *json, const char *key, uint64_t number);

#endif
