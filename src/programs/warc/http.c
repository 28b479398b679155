#include "programs/warc/http.h"

#include "base/bytes.h"
#include "programs/warc/coding.h"
#include "programs/warc/warc.h"

#include <string.h>

enum { MAX_CODINGS = 4, KEPT = 1 << 20 };

const char *hp_http_problem_name(hp_http_problem problem) {
  static const char *const names[HP_HTTP_PROBLEMS] = {"fine", "http-head", "content-coding", "damaged-body",
                                                      "body-too-large"};
  return problem < HP_HTTP_PROBLEMS ? names[problem] : "unknown";
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static hpar_string trimmed(const char *from, const char *to) {
  while (from < to && is_blank(*from)) from++;
  while (to > from && is_blank(to[-1])) to--;
  return (hpar_string){from, (size_t)(to - from)};
}

static void copy(char *to, size_t size, hpar_string text) {
  size_t length = text.length < size - 1 ? text.length : size - 1;
  if (length) memcpy(to, text.bytes, length);
  to[length] = 0;
}

/* Returns the length of the head with its empty line. Without an empty line the head is all. */
static size_t head_length(hpar_string block) {
  const char *at = block.bytes, *end = at + block.length;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
    at++;
    if (at < end && *at == '\n') return (size_t)(at + 1 - block.bytes);
    if (end - at > 1 && at[0] == '\r' && at[1] == '\n') return (size_t)(at + 2 - block.bytes);
  }
  return block.length;
}

/* Reads "HTTP/1.1 200 OK". */
static bool read_status(hpar_string head, unsigned *status) {
  if (head.length < 5 || memcmp(head.bytes, "HTTP/", 5)) return false;
  const char *end = head.bytes + head.length, *at = head.bytes + 5;
  while (at < end && !is_blank(*at)) at++;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  if (end - at < 3) return false;
  *status = 0;
  for (int i = 0; i < 3; i++) {
    if (!hp_ascii_is_digit(at[i])) return false;
    *status = *status * 10 + (unsigned)(at[i] - '0');
  }
  return end - at == 3 || !hp_ascii_is_digit(at[3]);
}

/* Reads "text/html; charset=utf-8". */
static void read_content_type(hpar_string value, hp_http_message *m) {
  m->content_type = (hpar_string){"", 0};
  if (!value.bytes) return;
  const char *end = value.bytes + value.length, *at = memchr(value.bytes, ';', value.length);
  m->content_type = trimmed(value.bytes, at ? at : end);
  while (at && at < end) {
    const char *from = at + 1, *stop = memchr(from, ';', (size_t)(end - from));
    hpar_string parameter = trimmed(from, stop ? stop : end);
    at = stop;
    if (parameter.length < 8 || !hp_ascii_equal(parameter.bytes, "charset", 7)) continue;
    hpar_string label = trimmed(parameter.bytes + 7, parameter.bytes + parameter.length);
    if (!label.length || *label.bytes != '=') continue;
    label = trimmed(label.bytes + 1, label.bytes + label.length);
    if (label.length > 1 && (*label.bytes == '"' || *label.bytes == '\'') &&
        label.bytes[label.length - 1] == *label.bytes)
      label = trimmed(label.bytes + 1, label.bytes + label.length - 1);
    copy(m->charset, sizeof m->charset, label);
    return;
  }
}

/* Reads the line with the size of a chunk. Returns false if there is none. */
static bool chunk_size(const char **at, const char *end, size_t *size) {
  const char *line = memchr(*at, '\n', (size_t)(end - *at));
  hpar_string text = trimmed(*at, line ? line : end);
  size_t digits = 0;
  *size = 0;
  for (; digits < text.length; digits++) {
    char c = hp_ascii_lower(text.bytes[digits]);
    int value = hp_ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) break;
    if (*size >> 56) return false;
    *size = *size << 4 | (size_t)value;
  }
  size_t after = digits;
  while (after < text.length && is_blank(text.bytes[after])) after++;
  if (!line || !digits || (after < text.length && text.bytes[after] != ';')) return false;
  *at = line + 1;
  return true;
}

/* Joins the chunks of a body. A body that does not begin with a chunk is plain: archives often
 * store bodies without their transfer coding. */
static hpar_status join_chunks(hp_http_message *m, hp_octets *joined) {
  const char *at = m->body.bytes, *end = at + m->body.length;
  size_t size = 0;
  joined->length = 0;
  for (bool first = true; chunk_size(&at, end, &size); first = false) {
    size_t left = (size_t)(end - at);
    if (first && size + 1 < left && !is_blank(at[size])) break;
    m->chunked = true;
    if (!size) {
      m->body = (hpar_string){joined->at ? joined->at : "", joined->length};
      return HPAR_OK;
    }
    if (!hp_octets_add(joined, at, size < left ? size : left)) return HPAR_ERROR_MEMORY;
    at = size < left ? at + size : end;
    if (at < end && *at == '\r') at++;
    if (at < end && *at == '\n') at++;
  }
  if (!m->chunked) {
    m->not_coded = true;
    return HPAR_OK;
  }
  m->problem = HP_HTTP_DAMAGED;
  m->body = (hpar_string){joined->at ? joined->at : "", joined->length};
  return HPAR_OK;
}

/* Returns whether the body may have this coding. Archives often store bodies without it. */
static bool may_have_coding(hpar_string name, hpar_string body) {
  if (name.length == 8 && hp_ascii_equal(name.bytes, "identity", 8)) return true;
  if (hp_ascii_equal(name.bytes, "gzip", name.length < 4 ? name.length : 4) || name.bytes[0] == 'x')
    return body.length > 2 && !memcmp(body.bytes, "\x1f\x8b", 2);
  const char *at = body.bytes, *end = at + body.length;
  while (at < end && is_blank(*at)) at++;
  return at == end || *at != '<';
}

/* `held` has the body, or is NULL if the block has it. The buffers have at most `limit` bytes
 * together. */
static hpar_status decode_content(hp_http_message *m, hpar_string codings, size_t limit, hp_http_memory *memory,
                                  hp_octets *held) {
  hpar_string names[MAX_CODINGS];
  size_t count = 0;
  const char *end = codings.bytes + codings.length;
  for (const char *at = codings.bytes; at < end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    hpar_string name = trimmed(at, comma ? comma : end);
    at = comma ? comma + 1 : end;
    if (!name.length) continue;
    if (count == MAX_CODINGS) {
      m->problem = HP_HTTP_CODING;
      return HPAR_OK;
    }
    names[count++] = name;
  }
  for (size_t i = count; i-- > 0;) {
    hp_octets *out = &memory->decoded[held == &memory->decoded[0]];
    size_t most = held ? limit - held->length : limit;
    if (!may_have_coding(names[i], m->body)) {
      m->not_coded = true;
      continue;
    }
    out->length = 0;
    hp_coding_result result =
        hp_coding_decode(names[i].bytes, names[i].length, m->body.bytes, m->body.length, most, out);
    if (result == HP_CODING_MEMORY) return HPAR_ERROR_MEMORY;
    if (result == HP_CODING_UNSUPPORTED) m->problem = HP_HTTP_CODING;
    if (result == HP_CODING_TOO_LARGE) m->problem = HP_HTTP_TOO_LARGE;
    if (result == HP_CODING_DAMAGED) m->problem = HP_HTTP_DAMAGED;
    if (result == HP_CODING_FINE || result == HP_CODING_DAMAGED) {
      m->body = (hpar_string){out->at ? out->at : "", out->length};
      if (held) hp_octets_clear(held, KEPT);
      held = out;
    }
    if (result) return HPAR_OK;
  }
  return HPAR_OK;
}

hpar_status hp_http_read(hpar_string block, size_t limit, hp_http_memory *memory, hp_http_message *m) {
  *m = (hp_http_message){.head = {"", 0}, .content_type = {"", 0}, .body = block};
  size_t length = head_length(block);
  hpar_string head = {block.bytes, length};
  if (!read_status(head, &m->status)) {
    m->problem = HP_HTTP_HEAD;
    return HPAR_OK;
  }
  m->head = head;
  m->body = (hpar_string){block.bytes + length, block.length - length};
  read_content_type(hp_warc_field(head, "Content-Type"), m);
  hpar_string transfer = hp_warc_field(head, "Transfer-Encoding"), coding = hp_warc_field(head, "Content-Encoding");
  bool is_chunked = transfer.length >= 7 && hp_ascii_equal(transfer.bytes + transfer.length - 7, "chunked", 7);
  if (is_chunked) {
    hpar_status status = join_chunks(m, &memory->joined);
    if (status) return status;
  }
  if (!coding.bytes) return HPAR_OK;
  copy(m->coding, sizeof m->coding, coding);
  return decode_content(m, coding, limit, memory, m->chunked ? &memory->joined : NULL);
}

void hp_http_memory_clear(hp_http_memory *memory, size_t keep) {
  hp_octets_clear(&memory->joined, keep);
  hp_octets_clear(&memory->decoded[0], keep);
  hp_octets_clear(&memory->decoded[1], keep);
}

void hp_http_memory_free(hp_http_memory *memory) { hp_http_memory_clear(memory, 0); }
