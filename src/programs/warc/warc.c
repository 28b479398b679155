#include "programs/warc/warc.h"

#include "base/memory.h"
#include "programs/warc/fields.h"
#include "programs/warc/octets.h"
#include "programs/warc/search.h"

#include <string.h>

enum {
  MAX_HEAD = 64 << 10,
  KEPT_BLOCK = 4 << 20,
  FIRST_BLOCK = 1 << 20,
  SEPARATOR_BREAKS = 2,
  MAX_BREAKS = 8 /* bytes of line breaks that the reader keeps */
};
static const uint64_t usual_max_block = UINT64_C(1) << 30;

typedef enum reader_state {
  BETWEEN, /* records: line breaks */
  PREFIX,  /* the first bytes of a record */
  HEAD,
  BLOCK,
  SEARCH,      /* for a line that begins with the signature */
  SEARCH_BLOCK /* for hp_warc_beginning, in a block that the file's end cuts */
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
  char prefix[HP_WARC_SIGNATURE];
  uint32_t prefix_length, matched;
  uint32_t breaks;                      /* line breaks after the record */
  uint64_t offset, offset_inner;        /* of the record */
  uint64_t prefix_offset, prefix_inner; /* of the bytes in `prefix` */
  hp_octets head, block;
  bool block_is_lent; /* the block is a part of the bytes that the reader reads again */
  uint64_t content_length, block_read;
  bool too_large;
  char line_breaks[MAX_BREAKS]; /* after the block */
  uint32_t line_break_count;    /* also those beyond MAX_BREAKS */
  /* The bytes that the reader reads again, from `again_from` on. */
  hp_octets again;
  size_t again_from;
  bool reads_again;
  uint64_t repeated; /* bytes of the member that it has read again */
};

const char *hp_warc_problem_name(hp_warc_problem problem) {
  static const char *const names[HP_WARC_PROBLEMS] = {"fine", "truncated", "length",     "too-large",
                                                      "head", "garbage",   "compression"};
  return problem < HP_WARC_PROBLEMS ? names[problem] : "unknown";
}

/*** the block ***/

static void drop_block(hp_warc_reader *r) {
  if (r->block_is_lent)
    r->block = (hp_octets){0};
  else
    hp_octets_clear(&r->block, KEPT_BLOCK);
  r->block_is_lent = false;
}

/* Begins a block. If the reader reads bytes again, the block remains a part of them. */
static bool begin_block(hp_warc_reader *r, const char *at) {
  uint64_t first = r->content_length < FIRST_BLOCK ? r->content_length : FIRST_BLOCK;
  if (r->too_large) return true;
  if (!r->reads_again) return hp_octets_reserve(&r->block, (size_t)first);
  hp_octets_free(&r->block);
  r->block.at = (char *)at;
  r->block_is_lent = true;
  return true;
}

static bool add_to_block(hp_warc_reader *r, const char *bytes, size_t length) {
  if (!r->block_is_lent) return hp_octets_add(&r->block, bytes, length);
  r->block.length += length;
  return true;
}

/* Frees the bytes that the reader has read again. If the current block is a part of them, it
 * becomes the owner of their memory. */
static void free_again(hp_warc_reader *r, hp_octets *bytes) {
  if (!r->block_is_lent) return hp_octets_free(bytes);
  if (r->block.length) memmove(bytes->at, r->block.at, r->block.length);
  bytes->length = r->block.length;
  r->block = *bytes;
  r->block_is_lent = false;
}

/*** reports ***/

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
                           .uri = hp_warc_uri(head),
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
  r->head.length = 0;
  drop_block(r);
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
  bool in_block = r->state == SEARCH_BLOCK;
  size_t used = (in_block ? hp_warc_search_beginning : hp_warc_search_line)(&r->matched, *at, (size_t)(end - *at));
  *at += used;
  r->inner += used;
  if (r->matched < (in_block ? HP_WARC_BEGINNING : HP_WARC_SIGNATURE + 1)) return true;
  size_t length = in_block ? HP_WARC_BEGINNING - HP_WARC_EMPTY_LINE : HP_WARC_SIGNATURE;
  r->matched = 0;
  if (!hp_octets_add(&r->head, hp_warc_beginning + HP_WARC_EMPTY_LINE, length)) return false;
  begin_head(r, r->packed ? r->member : r->member + r->inner - length, r->packed ? r->inner - length : 0);
  return !r->options.last || r->offset < r->options.last || refuse(r, false);
}

/*** lengths that are too large ***/

/* The bytes after the record's length are no record, or the file ends before them. If another
 * record begins in the block, reports the record with the problem and makes the reader read again
 * from there: moves `*at` back if the block is before it, and sets `again` otherwise. Returns false
 * and changes nothing if no record begins in the block. The reader reads at most as many bytes
 * again as it reads once, so the work stays linear. `at` is NULL at the end of the file. */
static bool begin_again(hp_warc_reader *r, hp_warc_problem problem, const char **at, bool *goes_on) {
  bool continues = r->pending;
  size_t own = r->block.length;
  if (r->too_large || (r->packed && r->offset != r->member) || r->repeated > r->inner) return false;
  if (continues && (r->breaks >= SEPARATOR_BREAKS || r->line_break_count > MAX_BREAKS)) return false;
  if (continues &&
      !(add_to_block(r, r->line_breaks, r->line_break_count) && add_to_block(r, r->prefix, r->prefix_length))) {
    r->status = HPAR_ERROR_MEMORY;
    *goes_on = false;
    return true;
  }
  size_t from = r->block.length ? hp_warc_find_beginning(r->block.at, r->block.length, continues) : 0;
  if (from == r->block.length) {
    r->block.length = own;
    return false;
  }
  size_t count = r->block.length - from;
  if (r->block_is_lent) {
    *at -= count;
    drop_block(r);
  } else {
    r->again = r->block;
    r->again_from = from;
    r->block = (hp_octets){0};
  }
  r->repeated += count;
  r->inner -= count;
  *goes_on = refuse(r, report_record(r, problem));
  r->state = BETWEEN;
  r->prefix_length = 0;
  return true;
}

static bool take_prefix(hp_warc_reader *r, const char **at) {
  if (!r->prefix_length) {
    r->prefix_offset = offset_of(r);
    r->prefix_inner = inner_of(r);
  }
  r->prefix[r->prefix_length++] = *(*at)++;
  r->inner++;
  if (memcmp(r->prefix, hp_warc_signature, r->prefix_length)) {
    bool goes_on = true;
    if (r->pending && begin_again(r, HP_WARC_LENGTH, at, &goes_on)) return goes_on;
    goes_on = close_record(r, HP_WARC_FINE);
    r->state = SEARCH;
    r->matched = 0;
    hp_warc_search_line(&r->matched, r->prefix, r->prefix_length);
    r->prefix_length = 0;
    return refuse(r, goes_on);
  }
  if (r->prefix_length < HP_WARC_SIGNATURE) return true;
  if (r->pending && !refuse(r, report_record(r, HP_WARC_FINE))) return false;
  if (r->options.last && r->prefix_offset >= r->options.last) return refuse(r, false);
  if (!hp_octets_add(&r->head, hp_warc_signature, HP_WARC_SIGNATURE)) return false;
  begin_head(r, r->prefix_offset, r->prefix_inner);
  return true;
}

/* Returns whether the head ends with an empty line. */
static bool head_ends(const hp_octets *head) {
  size_t n = head->length;
  return n > 1 && head->at[n - 1] == '\n' &&
         (head->at[n - 2] == '\n' || (n > 2 && head->at[n - 2] == '\r' && head->at[n - 3] == '\n'));
}

/* Returns whether a known end of the file is within the block. */
static bool is_beyond_end(const hp_warc_reader *r) {
  uint64_t at = offset_of(r), end = r->options.size;
  return !r->packed && at <= end && r->content_length > end - at;
}

/* `at` is the first byte after the head. */
static bool finish_head(hp_warc_reader *r, const char *at) {
  hpar_string head = {r->head.at, r->head.length};
  uint64_t max_block = r->options.max_block ? r->options.max_block : usual_max_block;
  if (!hp_warc_length(head, &r->content_length) || hp_warc_is_joined(head)) {
    r->content_length = 0;
    bool goes_on = report_record(r, HP_WARC_HEAD);
    r->state = SEARCH;
    r->matched = 1;
    return refuse(r, goes_on);
  }
  r->too_large = r->content_length > max_block;
  if (is_beyond_end(r)) {
    r->state = SEARCH_BLOCK;
    r->matched = 0;
    return refuse(r, report_record(r, HP_WARC_TRUNCATED));
  }
  if (!begin_block(r, at)) return false;
  r->state = r->content_length ? BLOCK : BETWEEN;
  r->pending = !r->content_length;
  r->breaks = r->line_break_count = 0;
  return true;
}

/* If the last line of the head begins another record, reports the head and begins again with that
 * line. */
static bool check_line(hp_warc_reader *r) {
  const char *last = r->head.at + r->head.length - 1, *line = last;
  while (line > r->head.at && line[-1] != '\n') line--;
  size_t length = (size_t)(last - line) + 1;
  if (line == r->head.at || length <= HP_WARC_SIGNATURE || memcmp(line, hp_warc_signature, HP_WARC_SIGNATURE))
    return true;
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
    if (head_ends(&r->head)) return finish_head(r, *at);
    if (line && !check_line(r)) return false;
  }
  return true;
}

static bool take_block(hp_warc_reader *r, const char **at, const char *end) {
  uint64_t missing = r->content_length - r->block_read;
  size_t length = (uint64_t)(end - *at) < missing ? (size_t)(end - *at) : (size_t)missing;
  if (!r->too_large && !add_to_block(r, *at, length)) return false;
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
        if (r->line_break_count < MAX_BREAKS) r->line_breaks[r->line_break_count] = **at;
        r->line_break_count += r->line_break_count <= MAX_BREAKS;
        (*at)++;
        r->inner++;
      }
      if (*at < end) r->state = PREFIX;
      return true;
    case PREFIX: return take_prefix(r, at);
    case HEAD: return take_head(r, at, end);
    case BLOCK: return take_block(r, at, end);
    case SEARCH:
    case SEARCH_BLOCK: return take_search(r, at, end);
  }
  return false;
}

static bool take_step(hp_warc_reader *r, const char **at, const char *end) {
  if (step(r, at, end)) return true;
  if (!r->status) r->status = HPAR_ERROR_MEMORY;
  return false;
}

/* Reads the bytes of `again`. A length in them may also be too large. */
static bool take_again(hp_warc_reader *r) {
  if (!r->again.at) return true;
  bool fine = true;
  hp_octets now = r->again;
  const char *at = now.at + r->again_from, *end = now.at + now.length;
  r->again = (hp_octets){0};
  r->reads_again = true;
  while (fine && at < end) fine = take_step(r, &at, end);
  r->reads_again = false;
  free_again(r, &now);
  return fine;
}

static bool take_all(hp_warc_reader *r, const char *bytes, size_t length) {
  const char *at = bytes, *end = bytes + length;
  while (at < end)
    if (!take_step(r, &at, end) || !take_again(r)) return false;
  return true;
}

/* A member begins within a record. If its first bytes are the signature, the record has ended. */
static bool check_start(hp_warc_reader *r, const char **bytes, size_t *length) {
  while (*length && r->prefix_length < HP_WARC_SIGNATURE && !memcmp(r->prefix, hp_warc_signature, r->prefix_length)) {
    r->prefix[r->prefix_length++] = **bytes;
    ++*bytes;
    --*length;
  }
  bool same = !memcmp(r->prefix, hp_warc_signature, r->prefix_length);
  if (same && r->prefix_length < HP_WARC_SIGNATURE) return true;
  r->checks_start = false;
  if (same && !refuse(r, report_record(r, HP_WARC_TRUNCATED))) return false;
  char prefix[HP_WARC_SIGNATURE];
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
  r->inner = r->repeated = 0;
  r->checks_start = is_incomplete(r);
  if (r->state == SEARCH && r->packed) r->matched = 1;
  return true;
}

static bool end_member(void *context, hp_unpack_end end, uint64_t offset) {
  hp_warc_reader *r = context;
  if (end == HP_UNPACK_WHOLE) {
    if (r->checks_start) { /* the whole member is shorter than the signature */
      char prefix[HP_WARC_SIGNATURE];
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
  hp_octets_free(&r->again);
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
  bool goes_on = true;
  if (!r->packed) r->options.size = offset_of(r);
  while (r->state == BLOCK && begin_again(r, HP_WARC_TRUNCATED, NULL, &goes_on))
    if (!goes_on || !take_again(r)) return r->status;
  if (!refuse(r, close_record(r, HP_WARC_FINE))) return r->status;
  return HPAR_OK;
}
