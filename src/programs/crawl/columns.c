#include "programs/crawl/columns.h"

#include "base/memory.h"

#include <string.h>

typedef enum argument_rule { NO_ARGUMENT, MAY_HAVE_ARGUMENT, HAS_ARGUMENT } argument_rule;

static const struct {
  const char *name;
  argument_rule argument;
} kinds[HP_COLUMN_KINDS] = {
    [HP_COLUMN_DATE] = {"date", NO_ARGUMENT},           [HP_COLUMN_YEAR] = {"year", NO_ARGUMENT},
    [HP_COLUMN_MONTH] = {"month", NO_ARGUMENT},         [HP_COLUMN_STATUS] = {"status", NO_ARGUMENT},
    [HP_COLUMN_TYPE] = {"type", NO_ARGUMENT},           [HP_COLUMN_RECORD_TYPE] = {"record-type", NO_ARGUMENT},
    [HP_COLUMN_ENCODING] = {"encoding", NO_ARGUMENT},   [HP_COLUMN_LANGUAGE] = {"language", NO_ARGUMENT},
    [HP_COLUMN_TITLE] = {"title", NO_ARGUMENT},         [HP_COLUMN_BYTES] = {"bytes", NO_ARGUMENT},
    [HP_COLUMN_DIGEST] = {"digest", NO_ARGUMENT},       [HP_COLUMN_FILE] = {"file", NO_ARGUMENT},
    [HP_COLUMN_OFFSET] = {"offset", NO_ARGUMENT},       [HP_COLUMN_META] = {"meta", HAS_ARGUMENT},
    [HP_COLUMN_HEADER] = {"header", HAS_ARGUMENT},      [HP_COLUMN_WARC] = {"warc", HAS_ARGUMENT},
    [HP_COLUMN_URL] = {"url", MAY_HAVE_ARGUMENT},       [HP_COLUMN_HOST] = {"host", MAY_HAVE_ARGUMENT},
    [HP_COLUMN_DOMAIN] = {"domain", MAY_HAVE_ARGUMENT}, [HP_COLUMN_TLD] = {"tld", MAY_HAVE_ARGUMENT},
    [HP_COLUMN_SELECTOR] = {"selector", NO_ARGUMENT},   [HP_COLUMN_TAG] = {"tag", NO_ARGUMENT},
    [HP_COLUMN_TEXT] = {"text", NO_ARGUMENT},           [HP_COLUMN_CONTENT] = {"content", NO_ARGUMENT},
    [HP_COLUMN_HTML] = {"html", NO_ARGUMENT},           [HP_COLUMN_ATTR] = {"attr", HAS_ARGUMENT}};

/* Reads a name such as "attr:href", which stays in the text of the columns. */
static bool read_column(hp_column *column, const char *name) {
  const char *colon = strchr(name, ':');
  size_t length = colon ? (size_t)(colon - name) : strlen(name);
  const char *argument = colon && colon[1] ? colon + 1 : NULL;
  for (int kind = 0; kind < HP_COLUMN_KINDS; kind++) {
    argument_rule rule = kinds[kind].argument;
    if (strlen(kinds[kind].name) != length || memcmp(kinds[kind].name, name, length)) continue;
    *column = (hp_column){(hp_column_kind)kind, name, argument};
    return argument ? rule != NO_ARGUMENT : !colon && rule != HAS_ARGUMENT;
  }
  return false;
}

static bool has_name(const hp_columns *columns, const char *name) {
  for (size_t i = 0; i < columns->count; i++)
    if (!strcmp(columns->items[i].name, name)) return true;
  return false;
}

bool hp_columns_read(hp_columns *columns, const char *list, const char **wrong) {
  *columns = (hp_columns){0};
  *wrong = NULL;
  if (!list || !*list) return true;
  size_t length = strlen(list), most = 1;
  for (const char *at = list; (at = strchr(at, ',')); at++) most++;
  columns->text = hp_allocate(length + 1);
  columns->items = hp_allocate(most * sizeof *columns->items);
  if (!columns->text || !columns->items) return false;
  memcpy(columns->text, list, length + 1);
  for (char *name = columns->text, *comma; name; name = comma) {
    comma = strchr(name, ',');
    if (comma) *comma++ = 0;
    if (has_name(columns, name) || !read_column(&columns->items[columns->count], name)) {
      *wrong = name;
      return false;
    }
    columns->count++;
  }
  return true;
}

void hp_columns_free(hp_columns *columns) {
  hp_free(columns->text);
  hp_free(columns->items);
  *columns = (hp_columns){0};
}

bool hp_column_is_of_page(const hp_column *c) {
  return c->kind < HP_COLUMN_URL || (c->kind <= HP_COLUMN_TLD && !c->argument);
}

bool hp_column_is_number(const hp_column *c) {
  return c->kind == HP_COLUMN_STATUS || c->kind == HP_COLUMN_BYTES || c->kind == HP_COLUMN_OFFSET;
}

bool hp_columns_need_suffixes(const hp_columns *columns) {
  for (size_t i = 0; i < columns->count; i++)
    if (columns->items[i].kind == HP_COLUMN_DOMAIN) return true;
  return false;
}
