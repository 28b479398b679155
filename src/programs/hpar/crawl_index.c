/* Lines of an index in the form CDXJ, as Common Crawl has it: a key, a time, and a JSON object that
 * names the file, the offset and the length of a record. */

#include "programs/crawl/remote.h"
#include "programs/hpar/crawl.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool hp_crawl_is_index_line(const char *line) { return strstr(line, " {\"") && strstr(line, "\"filename\""); }

/* Returns the text after the name of a member and its colon, or NULL. A quote within a value
 * follows a backslash, so that no value looks like a name. */
static const char *find_member(const char *line, const char *name) {
  char quoted[32];
  snprintf(quoted, sizeof quoted, "\"%s\"", name);
  const char *at = strstr(line, quoted);
  if (!at) return NULL;
  at += strlen(quoted);
  at += strspn(at, " ");
  if (*at != ':') return NULL;
  return at + 1 + strspn(at + 1, " ");
}

/* Returns a value without its quotes and backslashes, which the caller frees, or NULL. */
static char *copy_member(const char *line, const char *name) {
  const char *at = find_member(line, name);
  char *value = at ? malloc(strlen(at) + 1) : NULL, *to = value;
  if (!value) return NULL;
  bool quoted = *at == '"';
  for (at += quoted; *at && (quoted ? *at != '"' : !strchr(",} ", *at)); at++) {
    if (quoted && *at == '\\' && at[1]) at++;
    *to++ = *at;
  }
  *to = 0;
  return value;
}

static bool read_number(const char *line, const char *name, uint64_t *number) {
  char *text = copy_member(line, name), *end = NULL;
  if (text) *number = strtoull(text, &end, 10);
  bool fine = text && end != text && !*end && *text != '-';
  free(text);
  return fine;
}

/* Returns whether a list with commas has an item. */
static bool has_item(const char *list, const char *item) {
  size_t length = strlen(item);
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, item, length) && (!at[length] || at[length] == ',')) return true;
  return false;
}

/* Returns whether the filters of the crawl let a line pass. */
static bool passes(const hp_crawl *c, const char *line) {
  char *url = copy_member(line, "url"), *language = copy_member(line, "languages"),
       *mime = copy_member(line, "mime-detected");
  if (!mime) mime = copy_member(line, "mime");
  bool fine = (!c->urls || (url && !fnmatch(c->urls, url, 0))) && (!c->mime || (mime && !strcmp(mime, c->mime))) &&
              (!c->language || (language && has_item(language, c->language)));
  free(url);
  free(language);
  free(mime);
  return fine;
}

int hp_crawl_add_index_line(hp_crawl *c, const char *line) {
  if (!passes(c, line)) return -1;
  uint64_t offset, length;
  char *name = copy_member(line, "filename"), *path = NULL;
  bool fine = name && read_number(line, "offset", &offset) && read_number(line, "length", &length) && length;
  if (fine) path = hp_crawl_join(c, name);
  size_t end = path ? strlen(path) : 0;
  int code = -1;
  if (!fine) {
    hp_complain("'%.60s': is no line of an index with filename, offset and length", line);
    code = HP_EXIT_USAGE;
  } else if (!path) {
    code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  } else {
    bool packed = end > 3 && !strcmp(path + end - 3, ".gz");
    hp_unit unit = {.format = packed ? HP_UNPACK_GZIP : HP_UNPACK_PLAIN, .first = offset, .last = offset + length};
    code = hp_crawl_add_part(c, path, &unit);
  }
  free(name);
  free(path);
  return code;
}
