#include "programs/hpar/frequencies.h"

#if HPAR_PARALLEL && HPAR_JSONC

#include <hpar/study.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY "entry %zu of \"states_by_bytes\" "

static hpar_frequency_table *table;

static __attribute__((format(printf, 2, 3))) int bad(const char *path, const char *format, ...) {
  char problem[256];
  va_list values;
  va_start(values, format);
  vsnprintf(problem, sizeof problem, format, values);
  va_end(values);
  hp_complain("%s: is no profile: %s; make one with 'hpar profile FILE... -o %s'", hp_shown_name(path), problem,
              strcmp(path, "-") ? path : "FILE");
  return HP_EXIT_FAILED;
}

static const char *text_of(json_object *object, const char *key) {
  json_object *value = NULL;
  if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_string)) return NULL;
  const char *text = json_object_get_string(value);
  return strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

/* The states of an entry. */
static json_object *states_of(json_object *entry) {
  json_object *states = NULL;
  bool found = json_object_is_type(entry, json_type_object) && json_object_object_get_ex(entry, "states", &states);
  return found && json_object_is_type(states, json_type_object) ? states : NULL;
}

static int read_entries(const char *path, json_object *entries, hpar_frequency *rows, size_t *entry_of, size_t *count) {
  for (size_t i = 0; i < json_object_array_length(entries); i++) {
    json_object *entry = json_object_array_get_idx(entries, i), *states = states_of(entry);
    const char *before = states ? text_of(entry, "before") : NULL, *at = states ? text_of(entry, "at") : NULL;
    if (!before || !at) return bad(path, ENTRY "has no \"before\", \"at\" and \"states\"", i + 1);
    json_object_object_foreach(states, state, number) {
      if (!json_object_is_type(number, json_type_int) || json_object_get_int64(number) < 0)
        return bad(path, ENTRY "has a count that is no whole number", i + 1);
      entry_of[*count] = i;
      rows[(*count)++] = (hpar_frequency){before, at, state, (uint64_t)json_object_get_int64(number)};
    }
  }
  return -1;
}

static int make_table(const char *path, json_object *entries) {
  size_t most = 0, count = 0, wrong = 0;
  for (size_t i = 0; i < json_object_array_length(entries); i++) {
    json_object *states = states_of(json_object_array_get_idx(entries, i));
    if (states) most += (size_t)json_object_object_length(states);
  }
  hpar_frequency *rows = calloc(most + 1, sizeof *rows);
  size_t *entry_of = calloc(most + 1, sizeof *entry_of);
  int code;
  if (!rows || !entry_of) {
    code = hp_complain_status(path, HPAR_ERROR_MEMORY);
  } else if ((code = read_entries(path, entries, rows, entry_of, &count)) < 0) {
    hpar_frequency_table *made = NULL;
    hpar_status status = hpar_frequency_table_create(rows, count, &made, &wrong);
    if (status == HPAR_ERROR_ARGUMENT) {
      code = bad(path, ENTRY "has an unknown state \"%.40s\", or texts that are none of a profile's",
                 entry_of[wrong] + 1, rows[wrong].state);
    } else if (status != HPAR_OK) {
      code = hp_complain_status(path, status);
    } else {
      hpar_frequency_table_destroy(table);
      table = made;
    }
  }
  free(entry_of);
  free(rows);
  return code;
}

static int read_profile(const char *path, json_object *profile) {
  if (!json_object_is_type(profile, json_type_object)) return bad(path, "the JSON is no object");
  const char *format = text_of(profile, "format");
  if (!format) return bad(path, "\"format\" is missing");
  if (strcmp(format, "hpar-profile-1") != 0)
    return bad(path, "\"format\" is \"%.32s\", not \"hpar-profile-1\"", format);
  json_object *entries = NULL;
  if (!json_object_object_get_ex(profile, "states_by_bytes", &entries) ||
      !json_object_is_type(entries, json_type_array))
    return bad(path, "\"states_by_bytes\" is no list");
  return make_table(path, entries);
}

static int parse(const char *path, const char *bytes, size_t length) {
  if (length > INT_MAX) return bad(path, "it is too long");
  json_tokener *tokener = json_tokener_new();
  if (!tokener) return hp_complain_status(path, HPAR_ERROR_MEMORY);
  json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
  json_object *profile = json_tokener_parse_ex(tokener, bytes, (int)length);
  enum json_tokener_error error = json_tokener_get_error(tokener);
  int code;
  if (error == json_tokener_success)
    code = read_profile(path, profile);
  else
    code = bad(path, "it is no JSON: %s",
               error == json_tokener_continue ? "it ends too early" : json_tokener_error_desc(error));
  json_object_put(profile);
  json_tokener_free(tokener);
  return code;
}

int hp_take_profile(const hp_arguments *arguments, hpar_study *study) {
  size_t length = 0;
  char *bytes = hp_load(arguments->value, 0, &length);
  if (!bytes) return HP_EXIT_FAILED;
  int code = parse(arguments->value, bytes, length);
  free(bytes);
  if (code >= 0) return code;
  study->frequencies = table;
  if (!study->predictor) study->predictor = "frequency";
  return -1;
}

#else

int hp_take_profile(const hp_arguments *arguments, hpar_study *study) {
  (void)study;
  hp_complain("--%s: this build %s", arguments->option->name,
              HPAR_PARALLEL ? "cannot read profiles; build it with json-c (Debian: libjson-c-dev)"
                            : "has no parallel parser");
  return HP_EXIT_USAGE;
}

#endif
