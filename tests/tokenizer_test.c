/* Runs the tokenizer tests of html5lib-tests: tokens, errors and their positions, in every initial
 * state that a test names, and, for short inputs, with a split at each byte. The first argument may
 * be the directory of html5lib-tests. */

#include "check.h"
#include "support/shared.h"
#include "support/tokens.h"

#include <json-c/json.h>
#include <stdlib.h>

enum { LONGEST_SPLIT = 200 };

static unsigned long excluded, splits, older;

static const char *member_text(json_object *object, const char *key) {
  json_object *value = json_object_object_get(object, key);
  return value ? json_object_get_string(value) : NULL;
}

static unsigned hex4(const char *at) {
  char digits[5] = {at[0], at[1], at[2], at[3], 0};
  return (unsigned)strtoul(digits, NULL, 16);
}

static void put_utf8(buffer *out, unsigned code) {
  if (code < 0x80) {
    buffer_byte(out, (char)code);
  } else if (code < 0x800) {
    buffer_byte(out, (char)(0xC0 | code >> 6));
    buffer_byte(out, (char)(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    buffer_byte(out, (char)(0xE0 | code >> 12));
    buffer_byte(out, (char)(0x80 | (code >> 6 & 0x3F)));
    buffer_byte(out, (char)(0x80 | (code & 0x3F)));
  } else {
    buffer_byte(out, (char)(0xF0 | code >> 18));
    buffer_byte(out, (char)(0x80 | (code >> 12 & 0x3F)));
    buffer_byte(out, (char)(0x80 | (code >> 6 & 0x3F)));
    buffer_byte(out, (char)(0x80 | (code & 0x3F)));
  }
}

/* Writes the bytes of a test's string. Returns false if it has a lone surrogate, which UTF-8 cannot
 * represent. */
static bool unescape(const char *text, size_t n, bool twice, buffer *out) {
  buffer_clear(out);
  for (size_t i = 0; i < n;) {
    if (!twice || n - i < 6 || text[i] != '\\' || text[i + 1] != 'u') {
      buffer_byte(out, text[i++]);
      continue;
    }
    unsigned code = hex4(text + i + 2);
    i += 6;
    if (code >= 0xD800 && code < 0xDC00 && n - i >= 6 && text[i] == '\\' && text[i + 1] == 'u') {
      unsigned low = hex4(text + i + 2);
      if (low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    } else if (code >= 0xD800 && code < 0xE000) {
      return false;
    }
    put_utf8(out, code);
  }
  return true;
}

static bool unescape_object(json_object *text, bool twice, buffer *out) {
  return unescape(json_object_get_string(text), (size_t)json_object_get_string_len(text), twice, out);
}

/* Writes the n-th part of a token, a string or null. */
static void put_part(buffer *out, json_object *token, size_t index, bool twice) {
  static buffer plain;
  json_object *part = json_object_array_get_idx(token, index);
  if (!part) {
    buffer_byte(out, '-');
    return;
  }
  unescape_object(part, twice, &plain);
  tokens_put_string(out, plain.bytes, plain.length);
}

static void put_expected_attributes(buffer *out, json_object *object, bool twice) {
  token_attribute attributes[64];
  buffer parts[64] = {{0}};
  size_t n = 0;
  json_object_object_foreach(object, name, value) {
    if (n == 32) break;
    buffer *key = &parts[2 * n], *text = &parts[2 * n + 1];
    unescape(name, strlen(name), twice, key);
    unescape_object(value, twice, text);
    attributes[n++] = (token_attribute){key->bytes, text->bytes, key->length, text->length};
  }
  tokens_put_attributes(out, attributes, n);
  for (size_t i = 0; i < 2 * n; i++) buffer_free(&parts[i]);
}

static void put_expected(buffer *out, json_object *test, bool twice) {
  buffer_clear(out);
  json_object *output = json_object_object_get(test, "output"), *errors = json_object_object_get(test, "errors");
  for (size_t i = 0; i < json_object_array_length(output); i++) {
    json_object *token = json_object_array_get_idx(output, i);
    const char *kind = json_object_get_string(json_object_array_get_idx(token, 0));
    if (!strcmp(kind, "Character")) {
      buffer_text(out, "text ");
      put_part(out, token, 1, twice);
    } else if (!strcmp(kind, "Comment")) {
      buffer_text(out, "comment ");
      put_part(out, token, 1, twice);
    } else if (!strcmp(kind, "ProcessingInstruction")) {
      buffer_text(out, "pi ");
      put_part(out, token, 1, twice);
      buffer_byte(out, ' ');
      put_part(out, token, 2, twice);
    } else if (!strcmp(kind, "EndTag")) {
      buffer_text(out, "end ");
      put_part(out, token, 1, twice);
    } else if (!strcmp(kind, "StartTag")) {
      buffer_text(out, "start ");
      put_part(out, token, 1, twice);
      put_expected_attributes(out, json_object_array_get_idx(token, 2), twice);
      if (json_object_array_length(token) > 3 && json_object_get_boolean(json_object_array_get_idx(token, 3)))
        buffer_text(out, " /");
    } else if (!strcmp(kind, "DOCTYPE")) {
      buffer_text(out, "doctype");
      for (size_t part = 1; part < 4; part++) {
        buffer_byte(out, ' ');
        put_part(out, token, part, twice);
      }
      if (!json_object_get_boolean(json_object_array_get_idx(token, 4))) buffer_text(out, " quirks");
    } else {
      buffer_format(out, "unknown %s", kind);
    }
    buffer_byte(out, '\n');
  }
  size_t n = errors ? json_object_array_length(errors) : 0;
  token_error *places = malloc((n + 1) * sizeof *places);
  if (!places) exit(1);
  for (size_t i = 0; i < n; i++) {
    json_object *error = json_object_array_get_idx(errors, i);
    places[i].line = (unsigned)json_object_get_int(json_object_object_get(error, "line"));
    places[i].column = (unsigned)json_object_get_int(json_object_object_get(error, "col"));
    places[i].code = member_text(error, "code");
  }
  tokens_put_errors(out, places, n);
  free(places);
}

static hp_text_state content_of(const char *state) {
  static const struct {
    const char *state;
    hp_text_state content;
  } contents[] = {
      {"Data state", HP_TEXT_STATE_DATA},           {"RCDATA state", HP_TEXT_STATE_RCDATA},
      {"RAWTEXT state", HP_TEXT_STATE_RAWTEXT},     {"Script data state", HP_TEXT_STATE_SCRIPT_DATA},
      {"PLAINTEXT state", HP_TEXT_STATE_PLAINTEXT}, {"CDATA section state", HP_TEXT_STATE_CDATA_SECTION},
  };
  for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
    if (!strcmp(state, contents[i].state)) return contents[i].content;
  fprintf(stderr, "unknown state %s\n", state);
  exit(1);
}

/* Copies the input to memory of its exact size, so that a sanitizer detects a read past the end. */
static void run(tokens *tokens, json_object *test, const char *file, const char *state, const buffer *input,
                const buffer *expected) {
  static buffer got;
  const char *last = member_text(test, "lastStartTag"), *description = member_text(test, "description");
  size_t n = input->length, first = n <= LONGEST_SPLIT ? 0 : n;
  char *copy = malloc(n ? n : 1);
  if (!copy) exit(1);
  if (n) memcpy(copy, input->bytes, n);
  for (size_t split = first; split <= n; split++) {
    buffer_clear(&got);
    tokens_run(tokens, content_of(state), last, copy, n, split, &got);
    bool same = got.length == expected->length && (!got.length || !memcmp(got.bytes, expected->bytes, got.length));
    if (split < n) splits++;
    if (same && split < n) continue;
    if (same) {
      check_passed++;
      break;
    }
    check_failed++;
    buffer shown = {0};
    buffer_escaped(&shown, input->bytes, n);
    printf("%s: %s: %s: cut at %zu of %zu\ninput %s\nexpected\n%sgot\n%s\n", file, description, state, split, n,
           shown.bytes, expected->length ? expected->bytes : "", got.length ? got.bytes : "");
    buffer_free(&shown);
    break;
  }
  free(copy);
}

/* Returns true for a test older than processing instructions: "<?" has no such error any more. */
static bool is_older(const buffer *expected) {
  static const char code[] = "unexpected-question-mark-instead-of-tag-name";
  return expected->length && memmem(expected->bytes, expected->length, code, sizeof code - 1);
}

static void run_test(tokens *tokens, json_object *test, const char *file) {
  static buffer input, expected;
  bool twice = json_object_get_boolean(json_object_object_get(test, "doubleEscaped"));
  if (!unescape_object(json_object_object_get(test, "input"), twice, &input)) {
    excluded++;
    return;
  }
  put_expected(&expected, test, twice);
  if (is_older(&expected)) {
    older++;
    return;
  }
  json_object *states = json_object_object_get(test, "initialStates");
  if (!states) {
    run(tokens, test, file, "Data state", &input, &expected);
    return;
  }
  for (size_t i = 0; i < json_object_array_length(states); i++)
    run(tokens, test, file, json_object_get_string(json_object_array_get_idx(states, i)), &input, &expected);
}

int main(int argc, char **argv) {
  char path[4096], folder[4200];
  const char *fixtures = argc > 1 ? argv[1] : shared_path(path, sizeof path, "html5lib-tests");
  if (!fixtures) return CHECK_SKIPPED;
  snprintf(folder, sizeof folder, "%s/tokenizer", fixtures);
  shared_list files;
  if (!shared_files(folder, ".test", &files)) {
    printf("skipped: %s not found\n", folder);
    return CHECK_SKIPPED;
  }
  tokens tokens;
  tokens_open(&tokens);
  for (size_t i = 0; i < files.count; i++) {
    const char *name = strrchr(files.paths[i], '/') + 1;
    json_object *file = json_object_from_file(files.paths[i]), *tests;
    if (!CHECK(file)) {
      printf("%s: %s\n", files.paths[i], json_util_get_last_err());
      continue;
    }
    if ((tests = json_object_object_get(file, "xmlViolationTests"))) {
      excluded += json_object_array_length(tests);
    } else {
      tests = json_object_object_get(file, "tests");
      for (size_t j = 0; j < json_object_array_length(tests); j++)
        run_test(&tokens, json_object_array_get_idx(tests, j), name);
    }
    json_object_put(file);
  }
  shared_list_free(&files);
  tokens_close(&tokens);
  if (older) printf("%lu not run: they expect the older rule for \"<?\"\n", older);
  printf("%lu not run: lone surrogates, and coercion to an XML infoset; %lu runs in two parts\n", excluded, splits);
  return check_report();
}
