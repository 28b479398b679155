#include "warc/warc.h"

#include "base/ascii.h"
#include "base/memory.h"
#include "warc/octets.h"

#include <string.h>

enum { MAX_HEAD = 64 << 10, SIGNATURE = 5, KEPT_BLOCK = 4 << 20, FIRST_BLOCK = 1 << 20, SEPARATOR_BREAKS = 2 };
static const uint64_t usual_max_block = UINT64_C(1) << 30;
static const char signature[] = "WARC/";

typedef enum reader_state {
  BETWEEN, /* records: line breaks */
  PREFIX,  /* the first bytes of a record */
  HEAD,
  BLOCK,
  SEARCH /* for a line that begins with the signature */
} reader_state;

struct hp_warc_reader {
  hp_unpack *unpack;
  hp_warc_options options;
  hp_warc_callback callback;
  void *context;
  hpar_status status;
  uint64_t index;
  /* Positions of the input. */
  uint64_t member, inner;
  bool packed;
  /* The current record. */
  reader_state state;
  bool pending;      /* it is complete, and not yet reported */
  bool checks_start; /* a member begins within it, and may be another record */
  char prefix[SIGNATURE];
  uint32_t prefix_length, matched;
  uint32_t breaks;                      /* line breaks after the record */
  uint64_t offset, offset_inner;        /* of the record */
  uint64_t prefix_offset, prefix_inner; /* of the bytes in `prefix` */
  hp_octets head, block;
  uint64_t content_length, block_read;
  bool too_large;
};

const char *hp_warc_problem_name(hp_warc_problem problem) {
  static const char *const names[HP_WARC_PROBLEMS] = {"fine", "truncated", "length",     "too-large",
                                                      "head", "garbage",   "compression"};
  return problem < HP_WARC_PROBLEMS ? names[problem] : "unknown";
}

/*** heads ***/

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static hpar_string trimmed(const char *from, const char *to) {
  while (from < to && is_blank(*from)) from++;
  while (to > from && is_blank(to[-1])) to--;
  return (hpar_string){from, (size_t)(to - from)};
}

/* Returns the next field at or after *at, and moves *at after it. The name is empty at the end. */
static hpar_string next_field(const char **at, const char *end, hpar_string *value) {
  while (*at < end) {
    const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
    for (; stop && stop + 1 < end && (stop[1] == ' ' || stop[1] == '\t');)
      stop = memchr(stop + 1, '\n', (size_t)(end - stop - 1));
    if (!stop) stop = end;
    *at = stop < end ? stop + 1 : end;
    const char *colon = memchr(line, ':', (size_t)(stop - line));
    if (!colon) continue;
    hpar_string name = trimmed(line, colon);
    if (!name.length || memchr(name.bytes, '\n', name.length)) continue;
    *value = trimmed(colon + 1, stop);
    return name;
  }
  return (hpar_string){"", 0};
}

static const char *after_first_line(hpar_string head) {
  const char *line = head.length ? memchr(head.bytes, '\n', head.length) : NULL;
  return line ? line + 1 : head.bytes + head.length;
}

hpar_string hp_warc_field(hpar_string head, const char *name) {
  size_t length = strlen(name);
  hpar_string value, found;
  const char *end = head.bytes + head.length, *at = after_first_line(head);
  while ((found = next_field(&at, end, &value)).length) {
    if (found.length == length && hp_ascii_equal(found.bytes, name, length)) return value;
  }
  return (hpar_string){NULL, 0};
}

/* Returns whether the head has a length. Several equal lengths count as one. */
static bool read_length(hpar_string head, uint64_t *length) {
  static const char name[] = "content-length";
  bool found = false;
  hpar_string value, field;
  const char *end = head.bytes + head.length, *at = after_first_line(head);
  while ((field = next_field(&at, end, &value)).length) {
    if (field.length != sizeof name - 1 || !hp_ascii_equal(field.bytes, name, sizeof name - 1)) continue;
    uint64_t number = 0;
    for (size_t i = 0; i < value.length; i++) {
      if (!hp_ascii_is_digit(value.bytes[i]) || number > UINT64_MAX / 20) return false;
      number = number * 10 + (uint64_t)(value.bytes[i] - '0');
    }
    if (!value.length || (found && number != *length)) return false;
    found = true;
    *length = number;
  }
  return found;
}

/* Returns whether the head has two types: the end of a head is missing, and the fields of the next
 * record follow. */
static bool is_joined(hpar_string head) {
  static const char name[] = "warc-type";
  unsigned types = 0;
  hpar_string value, field;
  const char *end = head.bytes + head.length, *at = after_first_line(head);
  while ((field = next_field(&at, end, &value)).length)
    types += field.length == sizeof name - 1 && hp_ascii_equal(field.bytes, name, sizeof name - 1);
  return types > 1;
}

/*** reports ***/

static hpar_string without_brackets(hpar_string uri) {
  if (uri.length > 1 && uri.bytes[0] == '<' && uri.bytes[uri.length - 1] == '>')
    return (hpar_string){uri.bytes + 1, uri.length - 2};
  return uri;
}

static bool report(hp_warc_reader *r, hp_warc_problem problem, uint64_t offset, uint64_t inner) {
  hpar_string head = {r->head.at, r->head.length};
  if (!head.bytes) head.bytes = "";
  hp_warc_record record = {.problem = problem,
                           .offset = offset,
                           .inner = inner,
                           .content_length = r->content_length,
                           .head = head,
                           .block = {r->block.at ? r->block.at : "", r->block.length},
                           .type = hp_warc_field(head, "WARC-Type"),
                           .uri = without_brackets(hp_warc_field(head, "WARC-Target-URI")),
                           .date = hp_warc_field(head, "WARC-Date"),
                           .content_type = hp_warc_field(head, "Content-Type"),
                           .truncated = hp_warc_field(head, "WARC-Truncated")};
  hpar_string *const texts[] = {&record.type, &record.uri, &record.date, &record.content_type, &record.truncated};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (!texts[i]->bytes) texts[i]->bytes = "";
  bool goes_on = true;
  if (!r->options.last || offset < r->options.last) {
    record.index = r->index++;
    goes_on = r->callback(r->context, &record);
  }
  r->head.length = r->block.length = 0;
  hp_octets_clear(&r->block, KEPT_BLOCK);
  r->content_length = r->block_read = 0;
  r->pending = r->too_large = r->checks_start = false;
  return goes_on;
}

/* Reports the current record, complete or not. */
static bool report_record(hp_warc_reader *r, hp_warc_problem problem) {
  if (r->too_large && (problem == HP_WARC_FINE || problem == HP_WARC_LENGTH)) problem = HP_WARC_TOO_LARGE;
  return report(r, problem, r->offset, r->offset_inner);
}

static bool is_incomplete(const hp_warc_reader *r) { return r->state == HEAD || r->state == BLOCK; }

/* Ends what the reader has, before a position where a new record may begin. */
static bool close_record(hp_warc_reader *r, hp_warc_problem problem) {
  bool goes_on = true, garbage = r->state == PREFIX;
  if (r->pending) {
    bool separated = !garbage || r->breaks >= SEPARATOR_BREAKS;
    garbage = garbage && separated;
    goes_on = report_record(r, separated ? problem : HP_WARC_LENGTH);
  } else if (is_incomplete(r)) {
    goes_on = report_record(r, problem ? problem : HP_WARC_TRUNCATED);
  }
  if (goes_on && garbage) goes_on = report(r, HP_WARC_GARBAGE, r->prefix_offset, r->prefix_inner);
  r->state = BETWEEN;
  return goes_on;
}

/*** the contents ***/

static uint64_t offset_of(const hp_warc_reader *r) { return r->packed ? r->member : r->member + r->inner; }
static uint64_t inner_of(const hp_warc_reader *r) { return r->packed ? r->inner : 0; }

/* Continues the search with these bytes. Returns the number of bytes before the signature's end. */
static size_t search(hp_warc_reader *r, const char *bytes, size_t length) {
  size_t i = 0;
  while (i < length && r->matched <= SIGNATURE) {
    if (!r->matched) {
      const char *line = memchr(bytes + i, '\n', length - i);
      if (!line) return length;
      i = (size_t)(line - bytes) + 1;
      r->matched = 1;
      continue;
    }
    char c = bytes[i++];
    r->matched = c == signature[r->matched - 1] ? r->matched + 1 : c == '\n';
  }
  return i;
}

static void begin_head(hp_warc_reader *r, uint64_t offset, uint64_t inner) {
  r->offset = offset;
  r->offset_inner = inner;
  r->state = HEAD;
  r->prefix_length = 0;
}

static bool refuse(hp_warc_reader *r, bool goes_on) {
  if (!goes_on) r->status = HPAR_ERROR_CALLBACK;
  return goes_on;
}

static bool take_search(hp_warc_reader *r, const char **at, const char *end) {
  size_t used = search(r, *at, (size_t)(end - *at));
  *at += used;
  r->inner += used;
  if (r->matched <= SIGNATURE) return true;
  r->matched = 0;
  if (!hp_octets_add(&r->head, signature, SIGNATURE)) return false;
  begin_head(r, r->packed ? r->member : r->member + r->inner - SIGNATURE, r->packed ? r->inner - SIGNATURE : 0);
  return !r->options.last || r->offset < r->options.last || refuse(r, false);
}

static bool take_prefix(hp_warc_reader *r, const char **at) {
  if (!r->prefix_length) {
    r->prefix_offset = offset_of(r);
    r->prefix_inner = inner_of(r);
  }
  r->prefix[r->prefix_length++] = *(*at)++;
  r->inner++;
  if (memcmp(r->prefix, signature, r->prefix_length)) {
    bool goes_on = close_record(r, HP_WARC_FINE);
    r->state = SEARCH;
    r->matched = 0;
    search(r, r->prefix, r->prefix_length);
    r->prefix_length = 0;
    return refuse(r, goes_on);
  }
  if (r->prefix_length < SIGNATURE) return true;
  if (r->pending && !refuse(r, report_record(r, HP_WARC_FINE))) return false;
  if (r->options.last && r->prefix_offset >= r->options.last) return refuse(r, false);
  if (!hp_octets_add(&r->head, signature, SIGNATURE)) return false;
  begin_head(r, r->prefix_offset, r->prefix_inner);
  return true;
}

/* Returns whether the head ends with an empty line. */
static bool head_ends(const hp_octets *head) {
  size_t n = head->length;
  return n > 1 && head->at[n - 1] == '\n' &&
         (head->at[n - 2] == '\n' || (n > 2 && head->at[n - 2] == '\r' && head->at[n - 3] == '\n'));
}

static bool finish_head(hp_warc_reader *r) {
  hpar_string head = {r->head.at, r->head.length};
  uint64_t max_block = r->options.max_block ? r->options.max_block : usual_max_block;
  if (!read_length(head, &r->content_length) || is_joined(head)) {
    r->content_length = 0;
    bool goes_on = report_record(r, HP_WARC_HEAD);
    r->state = SEARCH;
    r->matched = 1;
    return refuse(r, goes_on);
  }
  r->too_large = r->content_length > max_block;
  uint64_t first = r->content_length < FIRST_BLOCK ? r->content_length : FIRST_BLOCK;
  if (!r->too_large && !hp_octets_reserve(&r->block, (size_t)first)) return false;
  r->state = r->content_length ? BLOCK : BETWEEN;
  r->pending = !r->content_length;
  r->breaks = 0;
  return true;
}

/* If the last line of the head begins another record, reports the head and begins again with that
 * line. */
static bool check_line(hp_warc_reader *r) {
  const char *last = r->head.at + r->head.length - 1, *line = last;
  while (line > r->head.at && line[-1] != '\n') line--;
  size_t length = (size_t)(last - line) + 1;
  if (line == r->head.at || length <= SIGNATURE || memcmp(line, signature, SIGNATURE)) return true;
  hp_octets copy = {0};
  if (!hp_octets_add(&copy, line, length)) return false;
  r->head.length -= length;
  bool fine = refuse(r, report_record(r, HP_WARC_HEAD)) && hp_octets_add(&r->head, copy.at, copy.length);
  hp_octets_free(&copy);
  begin_head(r, r->packed ? r->member : r->member + r->inner - length, r->packed ? r->inner - length : 0);
  return fine && (!r->options.last || r->offset < r->options.last || refuse(r, false));
}

static bool take_head(hp_warc_reader *r, const char **at, const char *end) {
  while (*at < end) {
    const char *line = memchr(*at, '\n', (size_t)(end - *at));
    size_t length = (size_t)((line ? line + 1 : end) - *at);
    if (r->head.length + length > MAX_HEAD) {
      bool goes_on = report_record(r, HP_WARC_HEAD);
      r->state = SEARCH;
      r->matched = 0;
      return refuse(r, goes_on);
    }
    if (!hp_octets_add(&r->head, *at, length)) return false;
    *at += length;
    r->inner += length;
    if (head_ends(&r->head)) return finish_head(r);
    if (line && !check_line(r)) return false;
  }
  return true;
}

static bool take_block(hp_warc_reader *r, const char **at, const char *end) {
  uint64_t missing = r->content_length - r->block_read;
  size_t length = (uint64_t)(end - *at) < missing ? (size_t)(end - *at) : (size_t)missing;
  if (!r->too_large && !hp_octets_add(&r->block, *at, length)) return false;
  *at += length;
  r->inner += length;
  r->block_read += length;
  if (r->block_read < r->content_length) return true;
  r->state = BETWEEN;
  r->pending = true;
  return true;
}

static bool step(hp_warc_reader *r, const char **at, const char *end) {
  switch (r->state) {
    case BETWEEN:
      while (*at < end && (**at == '\n' || **at == '\r')) {
        r->breaks += **at == '\n';
        (*at)++;
        r->inner++;
      }
      if (*at < end) r->state = PREFIX;
      return true;
    case PREFIX: return take_prefix(r, at);
    case HEAD: return take_head(r, at, end);
    case BLOCK: return take_block(r, at, end);
    case SEARCH: return take_search(r, at, end);
  }
  return false;
}

static bool take_all(hp_warc_reader *r, const char *bytes, size_t length) {
  const char *at = bytes, *end = bytes + length;
  while (at < end) {
    if (step(r, &at, end)) continue;
    if (!r->status) r->status = HPAR_ERROR_MEMORY;
    return false;
  }
  return true;
}

/* A member begins within a record. If its first bytes are the signature, the record has ended. */
static bool check_start(hp_warc_reader *r, const char **bytes, size_t *length) {
  while (*length && r->prefix_length < SIGNATURE && !memcmp(r->prefix, signature, r->prefix_length)) {
    r->prefix[r->prefix_length++] = **bytes;
    ++*bytes;
    --*length;
  }
  bool same = !memcmp(r->prefix, signature, r->prefix_length);
  if (same && r->prefix_length < SIGNATURE) return true;
  r->checks_start = false;
  if (same && !refuse(r, report_record(r, HP_WARC_TRUNCATED))) return false;
  char prefix[SIGNATURE];
  size_t count = r->prefix_length;
  memcpy(prefix, r->prefix, count);
  r->prefix_length = 0;
  if (same) r->state = BETWEEN;
  return take_all(r, prefix, count);
}

static bool take_contents(void *context, const char *bytes, size_t length) {
  hp_warc_reader *r = context;
  if (r->checks_start && !check_start(r, &bytes, &length)) return false;
  return take_all(r, bytes, length);
}

static bool begin_member(void *context, uint64_t offset) {
  hp_warc_reader *r = context;
  r->packed = hp_unpack_is_packed(r->unpack);
  if (r->options.last && r->packed && !is_incomplete(r) && !r->pending && offset >= r->options.last)
    return refuse(r, false);
  r->member = offset;
  r->inner = 0;
  r->checks_start = is_incomplete(r);
  if (r->state == SEARCH && r->packed) r->matched = 1;
  return true;
}

static bool end_member(void *context, hp_unpack_end end, uint64_t offset) {
  hp_warc_reader *r = context;
  if (end == HP_UNPACK_WHOLE) {
    if (r->checks_start) { /* the whole member is shorter than the signature */
      char prefix[SIGNATURE];
      size_t count = r->prefix_length;
      memcpy(prefix, r->prefix, count);
      r->checks_start = false;
      r->prefix_length = 0;
      if (!take_all(r, prefix, count)) return false;
    }
    return !r->pending || r->state == PREFIX || refuse(r, report_record(r, HP_WARC_FINE));
  }
  bool open = r->pending || is_incomplete(r);
  hp_warc_problem problem = end == HP_UNPACK_TRUNCATED ? HP_WARC_TRUNCATED
                            : end == HP_UNPACK_DAMAGED ? HP_WARC_PACKED
                                                       : HP_WARC_GARBAGE;
  bool goes_on;
  if (open && end == HP_UNPACK_GARBAGE) /* between members: an incomplete record ends here */
    goes_on = close_record(r, HP_WARC_TRUNCATED) && report(r, problem, offset, 0);
  else
    goes_on = open ? report_record(r, problem) : report(r, problem, offset, 0);
  r->state = BETWEEN;
  r->prefix_length = 0;
  return refuse(r, goes_on);
}

/*** the reader ***/

hpar_status hp_warc_create(hp_warc_reader **reader, const hp_warc_options *options, hp_warc_callback callback,
                           void *context) {
  hp_warc_reader *r = hp_allocate_zeroed(sizeof *r);
  if (!r) return HPAR_ERROR_MEMORY;
  if (options) r->options = *options;
  r->callback = callback;
  r->context = context;
  if (r->options.first && r->options.format == HP_UNPACK_PLAIN) r->state = SEARCH;
  hp_unpack_sink sink = {r, begin_member, take_contents, end_member};
  hpar_status status = hp_unpack_create(&r->unpack, &sink, r->options.format, r->options.first);
  if (status) {
    hp_free(r);
    return status;
  }
  *reader = r;
  return HPAR_OK;
}

void hp_warc_destroy(hp_warc_reader *r) {
  if (!r) return;
  hp_unpack_destroy(r->unpack);
  hp_octets_free(&r->head);
  hp_octets_free(&r->block);
  hp_free(r);
}

const char *hp_warc_missing(const hp_warc_reader *r) { return hp_unpack_missing(r->unpack); }

hpar_status hp_warc_feed(hp_warc_reader *r, const char *bytes, size_t length) {
  hpar_status status = hp_unpack_feed(r->unpack, bytes, length);
  return r->status ? r->status : status;
}

hpar_status hp_warc_finish(hp_warc_reader *r) {
  hpar_status status = hp_unpack_finish(r->unpack);
  if (r->status || status) return r->status ? r->status : status;
  if (!refuse(r, close_record(r, HP_WARC_FINE))) return r->status;
  return HPAR_OK;
}
