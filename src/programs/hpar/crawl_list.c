/* Lists of inputs, one on each line: @FILE. The file may be packed, and on another machine, as the
 * lists and the index of Common Crawl are. */

#include "programs/crawl/remote.h"
#include "programs/hpar/crawl.h"
#include "programs/warc/octets.h"
#include "programs/warc/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 16 };

typedef struct list {
  hp_crawl *crawl;
  const char *path;
  hp_octets line;
  int code; /* an exit code after a message, or -1 */
} list;

char *hp_crawl_join(const hp_crawl *c, const char *line) {
  char *path;
  if (!c->base || strchr("/@-", *line) || hp_remote_program(line)) return strdup(line);
  const char *slash = *c->base && c->base[strlen(c->base) - 1] == '/' ? "" : "/";
  return asprintf(&path, "%s%s%s", c->base, slash, line) < 0 ? NULL : path;
}

static int add_line(hp_crawl *c, const char *line) {
  if (hp_crawl_is_index_line(line)) return hp_crawl_add_index_line(c, line);
  char *path = hp_crawl_join(c, line);
  int code = path ? hp_crawl_add_input(c, path) : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  free(path);
  return code;
}

/* Adds the line that is complete. */
static bool end_line(list *l) {
  while (l->line.length && l->line.at[l->line.length - 1] == '\r') l->line.length--;
  if (!l->line.length) return true;
  if (!hp_octets_add(&l->line, "", 1))
    l->code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  else
    l->code = add_line(l->crawl, l->line.at);
  l->line.length = 0;
  return l->code < 0;
}

static bool take_contents(void *context, const char *bytes, size_t length) {
  list *l = context;
  for (const char *at = bytes, *end = bytes + length, *next; at < end; at = next) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    next = line_end ? line_end + 1 : end;
    if (!hp_octets_add(&l->line, at, (size_t)((line_end ? line_end : end) - at)))
      l->code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
    if (l->code >= 0 || (line_end && !end_line(l))) return false;
  }
  return true;
}

static bool begin_member(void *context, uint64_t offset) {
  (void)context;
  (void)offset;
  return true;
}

static bool end_member(void *context, hp_unpack_end end, uint64_t offset) {
  list *l = context;
  if (end == HP_UNPACK_WHOLE) return true;
  hp_complain("%s: is damaged at byte %llu; copy it again", l->path, (unsigned long long)offset);
  l->code = HP_EXIT_FAILED;
  return false;
}

static void read_list(list *l, hp_unpack *unpack, int file, hp_remote *remote) {
  char *bytes = malloc(PIECE_BYTES); /* lists may contain lists */
  ssize_t got = 1;
  hpar_status status = bytes ? HPAR_OK : HPAR_ERROR_MEMORY;
  while (!status && got) {
    got = remote ? hp_remote_read(remote, bytes, PIECE_BYTES) : read(file, bytes, PIECE_BYTES);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      hp_complain("%s: cannot be read: %s", l->path, strerror(errno));
      l->code = HP_EXIT_FAILED;
      break;
    }
    status = got ? hp_unpack_feed(unpack, bytes, (size_t)got) : hp_unpack_finish(unpack);
  }
  free(bytes);
  if (!status && l->code < 0) end_line(l);
  if (!status || l->code >= 0) return;
  if (status == HPAR_ERROR_UNSUPPORTED) {
    hp_complain("%s: %s", l->path, hp_unpack_missing(unpack));
    l->code = HP_EXIT_USAGE;
  } else {
    l->code = hp_complain_status(NULL, status);
  }
}

int hp_crawl_add_list(hp_crawl *c, const char *path) {
  list l = {.crawl = c, .path = path, .code = -1};
  const hp_unpack_sink sink = {&l, begin_member, take_contents, end_member};
  bool is_remote = hp_remote_program(path);
  int code = is_remote ? hp_crawl_check_remote(path) : -1;
  if (code >= 0) return code;
  hp_remote remote;
  hp_remote_open(&remote, path, 0);
  int file = is_remote ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  hp_unpack *unpack = NULL;
  if (!is_remote && file < 0) {
    hp_complain("%s: cannot be read: %s", path, strerror(errno));
    return HP_EXIT_FAILED;
  }
  if (hp_unpack_create(&unpack, &sink, HP_UNPACK_DETECT, 0))
    l.code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  else
    read_list(&l, unpack, file, is_remote ? &remote : NULL);
  hp_unpack_destroy(unpack);
  hp_octets_free(&l.line);
  hp_remote_close(&remote);
  if (file >= 0) close(file);
  return l.code;
}
