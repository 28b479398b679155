/* hpar-study-pages LIST FIRST COUNT: writes a web archive of pages to standard output. LIST has a
 * line for each real page: path, name, host and charset ("-": none), with tabs between them. The
 * pages from number 0 on are the real ones. Each further page takes the parts of one of them: an
 * element keeps its tags, and its children follow each other as children of that element do. The
 * length has a lognormal distribution: for SHARE_OF_CRAWL percent of the pages that of Common
 * Crawl's pages, for the others a smaller one. A page depends on its number and the list only. */

#include "support/buffer.h"
#include "support/random.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FEW = 6,
  MAX_DEPTH = 400,
  SHORT_TEXT = 64,
  SHARE_OF_CRAWL = 3,
  JUMP_PERCENT = 12,
  TRIES = 8,
  MIN_PAGE = 1 << 10,
  MAX_PAGE = 4 << 20
};
/* The mean is 166 KB with the first pair, and 8 KB with the second one. */
static const double crawl_median = 80875, crawl_deviation = 1.2, median = 4800, deviation = 1;

typedef enum part_kind { PART_TEXT, PART_COMMENT, PART_TAG, PART_ELEMENT, PART_ROOT } part_kind;

/* A part of a real page. A tag without a partner is one, too, so that wrong pages stay wrong. */
typedef struct part {
  part_kind kind;
  uint32_t name;      /* a hash of the tag's name; 0: none */
  size_t begin, end;  /* of the tag or the text */
  size_t tail, limit; /* of the end tag */
  uint32_t *children;
  uint32_t count;
} part;

typedef struct page {
  buffer bytes;
  char name[128], host[256], charset[64];
  part *parts;
  uint32_t part_count, capacity;
} page;

typedef struct author {
  const page *model;
  buffer *out;
  random_state random;
} author;

static void fail(const char *what, const char *about) {
  fprintf(stderr, "hpar-study-pages: %s %s\n", what, about);
  exit(1);
}

static void *grow(void *items, size_t count, size_t size) {
  void *grown = realloc(items, count * size);
  if (!grown) fail("no memory", "");
  return grown;
}

/*** the parts of a page ***/

static uint32_t hash_of(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (uint32_t)tolower((unsigned char)name[i])) * 16777619u;
  return hash;
}

static uint32_t hash_of_text(const char *name) { return hash_of(name, strlen(name)); }

static bool is_one_of(uint32_t name, const char *const *names) {
  for (; *names; names++)
    if (hash_of_text(*names) == name) return true;
  return false;
}

static const char *const voids[] = {"area", "base", "br",    "col",    "embed", "hr",  "img", "input",
                                    "link", "meta", "param", "source", "track", "wbr", NULL},
                         *const raws[] = {"script", "style",   "title",    "textarea", "xmp",
                                          "iframe", "noembed", "noframes", NULL},
                         *const outermost[] = {"html", "body", NULL};

static part *add_part(page *p, part_kind kind, uint32_t name, size_t begin, size_t end) {
  if (p->part_count == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 1024;
    p->parts = grow(p->parts, p->capacity, sizeof *p->parts);
  }
  part *added = &p->parts[p->part_count++];
  *added = (part){.kind = kind, .name = name, .begin = begin, .end = end, .tail = end, .limit = end};
  return added;
}

/* Returns the end of the tag at `at`. */
static size_t end_of_tag(const page *p, size_t at) {
  const char *text = p->bytes.bytes;
  char quote = 0, last = 0;
  for (; at < p->bytes.length; last = text[at++]) {
    if (quote) {
      if (text[at] == quote) quote = 0;
    } else if (text[at] == '>') {
      return at + 1;
    } else if (last == '=' && (text[at] == '"' || text[at] == '\'')) {
      quote = text[at];
    }
  }
  return at;
}

static size_t find(const page *p, size_t at, const char *wanted) {
  const char *found = memmem(p->bytes.bytes + at, p->bytes.length - at, wanted, strlen(wanted));
  return found ? (size_t)(found - p->bytes.bytes) : p->bytes.length;
}

/* Returns the begin of the end tag of raw text. */
static size_t end_of_raw_text(const page *p, size_t at, uint32_t name) {
  const char *text = p->bytes.bytes;
  for (; (at = find(p, at, "</")) < p->bytes.length; at += 2) {
    size_t end = at + 2;
    while (end < p->bytes.length && isalpha((unsigned char)text[end])) end++;
    if (hash_of(text + at + 2, end - at - 2) == name) break;
  }
  return at;
}

/* Lists tags, comments and texts. An end tag has the kind PART_ELEMENT until it has a partner. */
static void find_tokens(page *p) {
  const char *text = p->bytes.bytes;
  size_t at = 0, length = p->bytes.length, from = 0;
  while (at < length) {
    size_t next = at + 1;
    bool is_end = next < length && text[next] == '/';
    if (text[at] != '<' || next + is_end >= length ||
        !(isalpha((unsigned char)text[next + is_end]) || text[next] == '!')) {
      at = at + 1 < length ? find(p, at + 1, "<") : length;
      continue;
    }
    if (at > from) add_part(p, PART_TEXT, 0, from, at);
    if (text[next] == '!') {
      size_t end = length - at > 4 && !memcmp(text + at, "<!--", 4) ? find(p, at + 4, "-->") + 3 : find(p, at, ">") + 1;
      from = end < length ? end : length;
      add_part(p, PART_COMMENT, 0, at, from);
    } else {
      size_t name = next + is_end, stop = name;
      while (stop < length && !strchr(" \t\r\n\f/>", text[stop])) stop++;
      uint32_t hash = hash_of(text + name, stop - name);
      from = end_of_tag(p, stop);
      add_part(p, is_end ? PART_ELEMENT : PART_TAG, hash, at, from);
      if (!is_end && is_one_of(hash, raws)) {
        size_t end = end_of_raw_text(p, from, hash);
        if (end > from) add_part(p, PART_TEXT, hash, from, end);
        from = end;
      }
    }
    at = from;
  }
  if (length > from) add_part(p, PART_TEXT, 0, from, length);
}

/* Finds the partners of start tags, and sets partner[i] to the index after that of the end. */
static void find_partners(page *p, uint32_t *partner) {
  uint32_t *open = grow(NULL, p->part_count + 1, sizeof *open), depth = 0;
  for (uint32_t i = 0; i < p->part_count; i++) {
    part *tag = &p->parts[i];
    if (tag->kind == PART_TAG && !is_one_of(tag->name, voids)) open[depth++] = i;
    if (tag->kind != PART_ELEMENT) continue;
    tag->kind = PART_TAG;
    uint32_t at = depth;
    while (at && p->parts[open[at - 1]].name != tag->name) at--;
    if (!at) continue;
    for (uint32_t k = at; k < depth; k++)
      if (is_one_of(p->parts[open[k]].name, outermost)) partner[open[k]] = i;
    partner[open[at - 1]] = i + 1;
    p->parts[open[at - 1]].tail = tag->begin;
    p->parts[open[at - 1]].limit = tag->end;
    depth = at - 1;
  }
  for (uint32_t k = 0; k < depth; k++)
    if (is_one_of(p->parts[open[k]].name, outermost)) partner[open[k]] = p->part_count;
  free(open);
}

/* Lists the children from `i` to before `end`, where the end tag is no child. */
static void list_children(part *of, uint32_t i, uint32_t end, const uint32_t *partner) {
  uint32_t capacity = 0;
  for (; i < end; i = partner[i] ? partner[i] : i + 1) {
    if (of->count == capacity) {
      capacity = capacity ? 2 * capacity : 4;
      of->children = grow(of->children, capacity, sizeof *of->children);
    }
    of->children[of->count++] = i;
  }
}

/* The last part is the root. */
static void find_parts(page *p) {
  find_tokens(p);
  uint32_t count = p->part_count, *partner = calloc(count + 1, sizeof *partner);
  if (!partner) fail("no memory", "");
  find_partners(p, partner);
  for (uint32_t i = 0; i < count; i++) {
    part *of = &p->parts[i];
    if (!partner[i]) continue;
    of->kind = PART_ELEMENT;
    bool has_tail = of->limit > of->tail;
    list_children(of, i + 1, partner[i] - has_tail, partner);
    if (!has_tail) of->tail = of->limit = partner[i] < count ? p->parts[partner[i]].begin : p->bytes.length;
  }
  list_children(add_part(p, PART_ROOT, 0, 0, 0), 0, count, partner);
  p->parts[count].tail = p->parts[count].limit = p->bytes.length;
  free(partner);
}

/*** new pages ***/

static size_t size_of(const part *of) { return of->limit - of->begin; }
static void write_part(author *by, const part *of, size_t budget, int depth);

/* Cuts a long text where it has a character that no encoding uses as a part of another one. */
static void write_text(author *by, const part *of, size_t budget) {
  size_t length = of->end - of->begin, end = budget;
  const char *text = by->model->bytes.bytes + of->begin;
  if (length <= SHORT_TEXT || end > length) end = length;
  while (end < length && !strchr("\n ,;", text[end])) end++;
  buffer_add(by->out, text, end);
}

/* Shares the budget out by the sizes of the children. The last one of html, and html in the root,
 * gets what is left. */
static void write_few(author *by, const part *of, size_t budget, int depth, bool grows) {
  const page *p = by->model;
  size_t first = by->out->length, inner = of->tail - of->end;
  double share = (double)budget / (double)(inner ? inner : 1);
  do {
    size_t before = by->out->length;
    for (uint32_t i = 0; i < of->count; i++) {
      const part *child = &p->parts[of->children[i]];
      size_t used = by->out->length - first, left = budget > used ? budget - used : 0;
      bool rest = !grows && is_one_of(child->name, outermost) && child->kind == PART_ELEMENT;
      write_part(by, child, rest ? left : (size_t)((double)size_of(child) * (grows || share < 1 ? share : 1)), depth);
    }
    if (by->out->length - before < SHORT_TEXT) break;
  } while (grows && (double)(by->out->length - first) < 0.8 * (double)budget);
}

/* Children follow each other as in the real page. At some, the order continues after another child
 * of the same name. */
static void write_many(author *by, const part *of, size_t budget, int depth) {
  const page *p = by->model;
  size_t first = by->out->length;
  uint32_t i = budget < of->tail - of->end ? (uint32_t)random_below(&by->random, of->count) : 0;
  for (size_t steps = 4 * of->count + budget; steps; steps--, i = (i + 1) % of->count) {
    size_t used = by->out->length - first;
    if (used >= budget) break;
    const part *child = &p->parts[of->children[i]];
    write_part(by, child, size_of(child) < budget - used ? size_of(child) : budget - used, depth);
    if (!random_chance(&by->random, JUMP_PERCENT)) continue;
    for (int tries = 0; tries < TRIES; tries++) {
      uint32_t other = (uint32_t)random_below(&by->random, of->count);
      if (p->parts[of->children[other]].name != child->name) continue;
      i = other;
      break;
    }
  }
}

static void write_part(author *by, const part *of, size_t budget, int depth) {
  const char *text = by->model->bytes.bytes;
  static const char *const fixed[] = {"html", "head", NULL};
  size_t tags = of->end - of->begin + of->limit - of->tail;
  if (depth > MAX_DEPTH || of->kind == PART_TAG) {
    buffer_add(by->out, text + of->begin, size_of(of));
  } else if (of->kind == PART_TEXT) {
    write_text(by, of, budget);
  } else if (of->kind == PART_COMMENT) {
    if (size_of(of) <= 2 * budget + SHORT_TEXT) buffer_add(by->out, text + of->begin, size_of(of));
  } else {
    bool grows = of->kind == PART_ELEMENT && !is_one_of(of->name, fixed);
    budget = budget > tags ? budget - tags : 0;
    buffer_add(by->out, text + of->begin, of->end - of->begin);
    if (of->count > FEW && (grows || of->kind == PART_ROOT))
      write_many(by, of, budget, depth + 1);
    else
      write_few(by, of, budget, depth + 1, grows);
    buffer_add(by->out, text + of->tail, of->limit - of->tail);
  }
}

static size_t choose_size(random_state *random) {
  double u = ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0,
         v = (double)(random_next(random) >> 11) / 9007199254740992.0;
  bool is_of_crawl = random_chance(random, SHARE_OF_CRAWL);
  double size = (is_of_crawl ? crawl_median : median) *
                exp((is_of_crawl ? crawl_deviation : deviation) * sqrt(-2 * log(u)) * cos(2 * acos(-1) * v));
  return size < MIN_PAGE ? MIN_PAGE : size > MAX_PAGE ? MAX_PAGE : (size_t)size;
}

/*** the archive ***/

static bool read_page(page *p, char *line) {
  static const size_t sizes[] = {sizeof p->name, sizeof p->host, sizeof p->charset};
  char *const to[] = {p->name, p->host, p->charset}, *rest = line, *path = strsep(&rest, "\t\n");
  for (int i = 0; i < 3; i++) {
    const char *field = strsep(&rest, "\t\n");
    if (!field) return false;
    snprintf(to[i], sizes[i], "%s", field);
  }
  FILE *file = fopen(path, "rb");
  char piece[1 << 16];
  for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;) buffer_add(&p->bytes, piece, got);
  if (!file || fclose(file) || !p->bytes.length) fail("cannot read", path);
  find_parts(p);
  return true;
}

static size_t read_list(const char *path, page **pages) {
  FILE *file = fopen(path, "r");
  char line[8192];
  size_t count = 0;
  if (!file) fail("cannot read", path);
  while (fgets(line, sizeof line, file)) {
    *pages = grow(*pages, count + 1, sizeof **pages);
    (*pages)[count] = (page){.parts = NULL};
    if (!read_page(&(*pages)[count++], line)) fail("a line without four fields in", path);
  }
  fclose(file);
  if (!count) fail("no page in", path);
  return count;
}

static void write_record(const page *p, size_t number, const buffer *body, buffer *out) {
  buffer http = {0};
  bool declared = strcmp(p->charset, "-");
  buffer_format(&http, "HTTP/1.1 200 OK\r\nContent-Type: text/html%s%s\r\n\r\n", declared ? "; charset=" : "",
                declared ? p->charset : "");
  buffer_clear(out);
  buffer_format(
      out,
      "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://%s/%s/%zu\r\n"
      "Content-Type: application/http; msgtype=response\r\nContent-Length: %zu\r\n\r\n%s",
      p->host, p->name, number, http.length + body->length, http.bytes);
  buffer_add(out, body->bytes, body->length);
  buffer_text(out, "\r\n\r\n");
  buffer_free(&http);
  if (fwrite(out->bytes, 1, out->length, stdout) != out->length) fail("cannot write", "");
}

int main(int count, char **arguments) {
  if (count != 4) {
    fputs("usage: hpar-study-pages LIST FIRST COUNT\n", stderr);
    return 2;
  }
  page *pages = NULL;
  size_t page_count = read_list(arguments[1], &pages), first = strtoull(arguments[2], NULL, 10),
         end = first + strtoull(arguments[3], NULL, 10);
  buffer body = {0}, record = {0};
  for (size_t number = first; number < end; number++) {
    random_state random = {number * UINT64_C(0xD1342543DE82EF95)};
    bool is_real = number < page_count;
    const page *model = &pages[is_real ? number : random_below(&random, page_count)];
    author by = {.model = model, .out = &body, .random = random};
    buffer_clear(&body);
    if (!is_real) write_part(&by, &model->parts[model->part_count - 1], choose_size(&by.random), 0);
    write_record(model, number, is_real ? &model->bytes : &body, &record);
  }
  if (fflush(stdout)) fail("cannot write", "");
  for (size_t i = 0; i < page_count; i++) {
    for (uint32_t k = 0; k < pages[i].part_count; k++) free(pages[i].parts[k].children);
    free(pages[i].parts);
    buffer_free(&pages[i].bytes);
  }
  free(pages);
  buffer_free(&body);
  buffer_free(&record);
  return 0;
}
