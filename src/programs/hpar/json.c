#include "programs/hpar/json.h"

#include <string.h>

/* Without a lock, because one thread writes to the stream. A stream of fopencookie, as standard
 * output is one, would take it for each byte. */
static void before_item(hp_json *json) {
  if (json->comma) putc_unlocked(',', json->file);
  if (json->line) putc_unlocked('\n', json->file);
  json->comma = true;
  json->line = false;
}

void hp_json_open(hp_json *json, char bracket) {
  before_item(json);
  putc_unlocked(bracket, json->file);
  json->comma = false;
}

void hp_json_close(hp_json *json, char bracket) {
  if (json->line) putc_unlocked('\n', json->file);
  putc_unlocked(bracket, json->file);
  json->comma = true;
  json->line = false;
}

void hp_json_break(hp_json *json) { json->line = true; }

/* Bytes of the UTF-8 sequence at the start of [at, end), 0 if there is none. */
static size_t sequence(const unsigned char *at, const unsigned char *end) {
  unsigned lead = at[0];
  size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length > (size_t)(end - at)) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  if ((lead == 0xE0 && at[1] < 0xA0) || (lead == 0xED && at[1] > 0x9F)) return 0;
  if ((lead == 0xF0 && at[1] < 0x90) || (lead == 0xF4 && at[1] > 0x8F)) return 0;
  return length;
}

static void write_quoted(FILE *file, const char *bytes, size_t length) {
  const unsigned char *at = (const unsigned char *)bytes, *end = at + length, *run = at;
  putc_unlocked('"', file);
  while (at < end) {
    size_t step = sequence(at, end);
    if (step > 1 || (step && *at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7F)) {
      at += step;
      continue;
    }
    fwrite(run, 1, (size_t)(at - run), file);
    switch (*at) {
      case '"': fputs("\\\"", file); break;
      case '\\': fputs("\\\\", file); break;
      case '\n': fputs("\\n", file); break;
      case '\t': fputs("\\t", file); break;
      case '\r': fputs("\\r", file); break;
      default: fprintf(file, "\\u%04x", step ? *at : 0xFFFDu); break;
    }
    run = ++at;
  }
  fwrite(run, 1, (size_t)(end - run), file);
  putc_unlocked('"', file);
}

void hp_json_string(hp_json *json, hpar_string string) {
  before_item(json);
  write_quoted(json->file, string.bytes, string.length);
}

void hp_json_key(hp_json *json, const char *key) {
  before_item(json);
  write_quoted(json->file, key, strlen(key));
  putc_unlocked(':', json->file);
  json->comma = false;
}

void hp_json_text(hp_json *json, const char *text) {
  before_item(json);
  if (text)
    write_quoted(json->file, text, strlen(text));
  else
    fputs("null", json->file);
}

void hp_json_number(hp_json *json, uint64_t number) {
  before_item(json);
  fprintf(json->file, "%llu", (unsigned long long)number);
}

void hp_json_real(hp_json *json, double number) {
  before_item(json);
  fprintf(json->file, "%.4f", number);
}

void hp_json_bool(hp_json *json, bool value) {
  before_item(json);
  fputs(value ? "true" : "false", json->file);
}

void hp_json_text_member(hp_json *json, const char *key, const char *text) {
  hp_json_key(json, key);
  hp_json_text(json, text);
}

void hp_json_number_member(hp_json *json, const char *key, uint64_t number) {
  hp_json_key(json, key);
  hp_json_number(json, number);
}
