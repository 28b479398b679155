/* Lines of an index in the form CDXJ, as Common Crawl has it: a key, a time, and a JSON object that
 * names the file, the offset and the length of a record. */

#include "programs/crawl/remote.h"
#include "programs/hpar/crawl.h"

#include <string.h>
#if HPAR_JSONC
#include <fnmatch.h>
#include <json-c/json.h>
#include <stdlib.h>
#endif

bool hp_crawl_is_index_line(const char *line) { return strstr(line, " {\"") && strstr(line, "\"filename\""); }

#if HPAR_JSONC

/* Returns a member as text, or NULL. Indices have their numbers as strings or as numbers. */
static const char *member_of(json_object *line, const char *name) {
  json_object *value = NULL;
  return json_object_object_get_ex(line, name, &value) ? json_object_get_string(value) : NULL;
}

static bool read_number(json_object *line, const char *name, uint64_t *number) {
  const char *text = member_of(line, name);
  char *end = NULL;
  if (text) *number = strtoull(text, &end, 10);
  return text && end != text && !*end && *text != '-';
}

/* Returns whether a list with commas has an item. */
static bool has_item(const char *list, const char *item) {
  size_t length = strlen(item);
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, item, length) && (!at[length] || at[length] == ',')) return true;
  return false;
}

/* Returns whether the filters of the crawl let a line pass. */
static bool passes(const hp_crawl *c, json_object *line) {
  const char *url = member_of(line, "url"), *languages = member_of(line, "languages"),
             *mime = member_of(line, "mime-detected");
  if (!mime) mime = member_of(line, "mime");
  return (!c->urls || (url && !fnmatch(c->urls, url, 0))) && (!c->mime || (mime && !strcmp(mime, c->mime))) &&
         (!c->language || (languages && has_item(languages, c->language)));
}

static int add_record(hp_crawl *c, const char *name, uint64_t offset, uint64_t length) {
  char *path = hp_crawl_join(c, name);
  if (!path) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  const size_t end = strlen(path);
  const bool packed = end > 3 && !strcmp(path + end - 3, ".gz");
  hp_unit unit = {.format = packed ? HP_UNPACK_GZIP : HP_UNPACK_PLAIN,
                  .first = offset,
                  .last = offset + length,
                  .is_of_index = true};
  const int code = hp_crawl_add_part(c, path, &unit);
  free(path);
  return code;
}

int hp_crawl_add_index_line(hp_crawl *c, const char *line) {
  json_object *members = json_tokener_parse(strstr(line, " {\"") + 1);
  const char *name = member_of(members, "filename");
  uint64_t offset, length;
  int code = -1;
  if (!name || !read_number(members, "offset", &offset) || !read_number(members, "length", &length) || !length) {
    hp_complain("'%.60s': is no line of an index with filename, offset and length", line);
    code = HP_EXIT_USAGE;
  } else if (passes(c, members)) {
    code = add_record(c, name, offset, length);
  }
  json_object_put(members);
  return code;
}

#else

int hp_crawl_add_index_line(hp_crawl *c, const char *line) {
  (void)c;
  hp_complain("'%.60s': this build cannot read an index; build it with json-c (Debian: libjson-c-dev)", line);
  return HP_EXIT_USAGE;
}

#endif
