#include "base/bytes.h"
#include "programs/hpar/json.h"
#include "programs/hpar/options.h"
#include "text/position.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { STATE = 1, LAST_START_TAG, ENCODING };

static const hp_option options[] = {
    {STATE, "state", "NAME",
     "the initial state: \"Data state\" (the default), \"RCDATA state\",\n"
     "\"RAWTEXT state\", \"Script data state\", \"PLAINTEXT state\",\n"
     "\"CDATA section state\"; case and the word state do not matter"},
    {LAST_START_TAG, "last-start-tag", "NAME", "the tag whose end tag ends RCDATA, RAWTEXT and script data"},
    {ENCODING, "encoding", "LABEL", "the encoding of FILE (utf-8); lines and columns are those of the text"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "tokens", "FILE|-",
    "Prints the tokens of FILE, or of standard input for -, and the parse errors, as one JSON\n"
    "object in the format of the html5lib tokenizer tests. No tree builder runs,\n"
    "so only --state switches the tokenizer to raw text.",
    options};

static const char *const states[] = {"Data state",        "RCDATA state",    "RAWTEXT state",
                                     "Script data state", "PLAINTEXT state", "CDATA section state"};

static const char *find_state(const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    size_t brief = strlen(states[i]) - strlen(" state");
    if (!strcasecmp(name, states[i]) || (length == brief && !strncasecmp(name, states[i], brief))) return states[i];
  }
  return NULL;
}

static void identifier(hp_json *json, bool there, hpar_string string) {
  if (there)
    hp_json_string(json, string);
  else
    hp_json_text(json, NULL);
}

static void write_attributes(hp_json *json, const hpar_token *token) {
  hp_json_open(json, '{');
  for (size_t i = 0; i < token->attribute_count; i++) {
    hp_json_string(json, token->attributes[i].local_name);
    fputc(':', json->file);
    json->comma = false;
    hp_json_string(json, token->attributes[i].value);
  }
  hp_json_close(json, '}');
}

static hpar_status write_token(const hpar_token *token, void *context) {
  hp_json *json = context;
  if (token->kind == HPAR_TOKEN_EOF) return HPAR_OK;
  hp_json_break(json);
  hp_json_open(json, '[');
  switch (token->kind) {
    case HPAR_TOKEN_EOF: break;
    case HPAR_TOKEN_TEXT:
      hp_json_text(json, "Character");
      hp_json_string(json, token->data);
      break;
    case HPAR_TOKEN_START_TAG:
      hp_json_text(json, "StartTag");
      hp_json_string(json, token->name);
      write_attributes(json, token);
      if (token->self_closing) hp_json_bool(json, true);
      break;
    case HPAR_TOKEN_END_TAG:
      hp_json_text(json, "EndTag");
      hp_json_string(json, token->name);
      break;
    case HPAR_TOKEN_COMMENT:
      hp_json_text(json, "Comment");
      hp_json_string(json, token->data);
      break;
    case HPAR_TOKEN_DOCTYPE:
      hp_json_text(json, "DOCTYPE");
      identifier(json, token->has_name, token->name);
      identifier(json, token->has_public_id, token->public_id);
      identifier(json, token->has_system_id, token->system_id);
      hp_json_bool(json, !token->force_quirks);
      break;
    case HPAR_TOKEN_PROCESSING_INSTRUCTION:
      hp_json_text(json, "ProcessingInstruction");
      hp_json_string(json, token->name);
      hp_json_string(json, token->data);
      break;
  }
  hp_json_close(json, ']');
  return ferror(json->file) ? HPAR_STOP : HPAR_OK;
}

/* The tests count columns in UTF-16 code units: one more for each character beyond U+FFFF. */
typedef struct column_finder {
  hp_line_finder lines;
  const char *counted; /* `wide` such characters precede it on the current line */
  uint64_t line, wide;
} column_finder;

static hp_position find(column_finder *finder, uint64_t offset) {
  const char *counted = finder->counted;
  hp_position position = hp_line_at(&finder->lines, offset);
  const char *at = finder->lines.at;
  if (at < counted) counted = finder->lines.bytes;
  if (position.line != finder->line || at < finder->counted) {
    const char *start = at;
    if (start > counted && start < finder->lines.end && *start == '\n' && start[-1] == '\r') start--;
    while (start > counted && start[-1] != '\n' && start[-1] != '\r') start--;
    counted = start;
    finder->line = position.line;
    finder->wide = 0;
  }
  for (; counted < at; counted++) finder->wide += hp_utf8_sequence(counted, finder->lines.end) == 4;
  finder->counted = counted;
  position.column += finder->wide;
  return position;
}

static void write_errors(hp_json *json, const hpar_parser *parser, const char *bytes, size_t length) {
  column_finder finder = {.line = 1};
  hp_line_open(&finder.lines, bytes, length);
  finder.counted = finder.lines.bytes;
  size_t count = hpar_parse_error_count(parser);
  for (size_t i = 0; i < count; i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    hp_position position = find(&finder, error.offset);
    hp_json_break(json);
    hp_json_open(json, '{');
    hp_json_key(json, "code");
    hp_json_text(json, error.code);
    hp_json_key(json, "line");
    hp_json_number(json, position.line);
    hp_json_key(json, "col");
    hp_json_number(json, position.column);
    hp_json_close(json, '}');
  }
}

static int run(const char *path, const char *state, const char *last_start_tag, const char *encoding) {
  size_t length = 0;
  char *loaded = hp_load(path, 0, &length);
  if (!loaded) return HP_EXIT_FAILED;
  const char *bytes = loaded;
  hp_text text = {0};
  hpar_parser *parser = NULL;
  hp_json json = {.file = stdout};
  hpar_status status = hpar_parser_create(&parser);
  if (!status && encoding && strcasecmp(hpar_encoding_name(encoding), "utf-8") != 0) {
    status = hpar_decode(encoding, loaded, length, hp_append_text, &text);
    bytes = text.bytes ? text.bytes : "";
    length = text.length;
  }
  if (!status) {
    hp_json_open(&json, '{');
    hp_json_key(&json, "tokens");
    hp_json_open(&json, '[');
    status = hpar_tokenize(parser, state, last_start_tag, UINT32_MAX, bytes, length, write_token, &json);
    if (status == HPAR_STOP) status = HPAR_OK; /* hp_finish_output reports the failure */
  }
  int code = HP_EXIT_FINE;
  if (status) {
    code = hp_complain_call(path, parser, status);
  } else {
    hp_json_break(&json);
    hp_json_close(&json, ']');
    hp_json_key(&json, "errors");
    hp_json_open(&json, '[');
    write_errors(&json, parser, bytes, length);
    hp_json_close(&json, ']');
    hp_json_close(&json, '}');
    fputc('\n', stdout);
  }
  hpar_parser_destroy(parser);
  free(text.bytes);
  free(loaded);
  return hp_finish_output(code);
}

int hp_run_tokens(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  const char *path = NULL, *state = NULL, *last_start_tag = NULL, *encoding = NULL;
  for (int id; (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) {
    switch (id) {
      case STATE:
        state = find_state(arguments.value);
        if (!state) return hp_bad_usage(&command, "--state: there is no state '%s' to begin in", arguments.value);
        break;
      case LAST_START_TAG: last_start_tag = arguments.value; break;
      case ENCODING:
        encoding = hp_value_encoding(&arguments);
        if (!encoding) return HP_EXIT_USAGE;
        break;
      case HP_ARGUMENT_OPERAND:
        if (path) return hp_bad_usage(&command, "one FILE is read, '%s' is a second", arguments.value);
        path = arguments.value;
        break;
      case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
      default: return HP_EXIT_USAGE;
    }
  }
  if (!path) return hp_bad_usage(&command, "name a FILE, or - for standard input");
  return run(path, state, last_start_tag, encoding);
}
