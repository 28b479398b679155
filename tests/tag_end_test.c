/* Compares the kernel that finds the end of a tag with the tokenizer states of the standard, on
 * generated lists of attributes. The memory after each list is not readable. */

#include "text/scan/scan.h"

#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BYTES = 700, SPACE = 64 << 10, LISTS = 30000 };

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint32_t draw(uint32_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)((seed >> 32) * below >> 32);
}

/*** the states of the standard ***/

typedef enum state {
  BEFORE_NAME,
  NAME,
  AFTER_NAME,
  BEFORE_VALUE,
  DOUBLE_QUOTED,
  SINGLE_QUOTED,
  UNQUOTED,
  AFTER_QUOTED,
  SELF_CLOSING
} state;

static bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

static state before_name(char c) {
  if (is_white(c)) return BEFORE_NAME;
  return c == '/' ? SELF_CLOSING : NAME;
}

/* Returns the state after `c`, which is not the ">" that ends the tag. */
static state next(state s, char c) {
  switch (s) {
    case BEFORE_NAME:
    case AFTER_QUOTED:
    case SELF_CLOSING: return before_name(c);
    case NAME:
      if (is_white(c)) return AFTER_NAME;
      if (c == '/') return SELF_CLOSING;
      return c == '=' ? BEFORE_VALUE : NAME;
    case AFTER_NAME:
      if (is_white(c)) return AFTER_NAME;
      return c == '=' ? BEFORE_VALUE : before_name(c);
    case BEFORE_VALUE:
      if (is_white(c)) return BEFORE_VALUE;
      return c == '"' ? DOUBLE_QUOTED : c == '\'' ? SINGLE_QUOTED : UNQUOTED;
    case DOUBLE_QUOTED: return c == '"' ? AFTER_QUOTED : s;
    case SINGLE_QUOTED: return c == '\'' ? AFTER_QUOTED : s;
    case UNQUOTED: return is_white(c) ? BEFORE_NAME : s;
  }
  return s;
}

static const char *expected(const char *at, const char *end, bool *self_closing) {
  state s = BEFORE_NAME;
  *self_closing = false;
  for (; at < end; at++) {
    if (*at == '>' && s != DOUBLE_QUOTED && s != SINGLE_QUOTED) {
      *self_closing = s == SELF_CLOSING;
      return at;
    }
    s = next(s, *at);
  }
  return end;
}

/*** generated lists ***/

static char *put(char *to, const char *from) {
  size_t length = strlen(from);
  memcpy(to, from, length);
  return to + length;
}

static char *put_some(char *to, const char *bytes, uint32_t most) {
  for (uint32_t n = draw(most + 1); n; n--) *to++ = bytes[draw((uint32_t)strlen(bytes))];
  return to;
}

/* Most attributes are regular, so that long lists stay so. */
static char *put_attribute(char *to) {
  static const char *const odd[] = {" =\"x>\"", " a=b", " a='\"'", " a= \">\"", " a =\">\"", " a==\">\"", " a\"b",
                                    "/",        "/ ",   " a=/",    " '",        " \"",       " a",        " a=\"\"b"};
  if (draw(12) == 0) return put(to, odd[draw(sizeof odd / sizeof *odd)]);
  if (draw(200) == 0) return put_some(to, "\"'>=/ ab\t\x80\xFF", 6);
  *to++ = " \n\t\f\r"[draw(20) ? 0 : draw(5)];
  to = put_some(to, "abcx-:.", 10);
  *to++ = "az\x90"[draw(3)];
  if (draw(6) == 0) return to;
  to = put(to, "=\"");
  to = put_some(to, draw(2) ? "abc /:'>=<" : "abcdefgh", draw(8) ? 12 : 150);
  return put(to, "\"");
}

static size_t make_list(char *list) {
  char *to = list;
  uint32_t attributes = draw(9);
  *to++ = " /\n"[draw(20) ? 0 : draw(3)];
  while (attributes-- && to - list < MAX_BYTES - 200) to = put_attribute(to);
  if (draw(10)) to = put(to, draw(6) ? ">" : "/>");
  to = put_some(to, "abc<>\"= ", draw(3) ? 3 : 100);
  return (size_t)(to - list);
}

static bool is_right(const hp_scan_kernels *kernels, const char *at, const char *end) {
  bool self_closing = false, expected_closing;
  const char *want = expected(at, end, &expected_closing), *got = kernels->tag_end(at, end, &self_closing);
  return got == want && (got == end || self_closing == expected_closing);
}

int main(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, SPACE + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && !mprotect(memory + SPACE, page, PROT_NONE));
  char list[MAX_BYTES + 1024];
  bool fine = true;
  for (int i = 0; fine && i < LISTS; i++) {
    size_t length = make_list(list);
    char *near_end = memory + SPACE - length;
    memcpy(near_end, list, length);
    memcpy(memory, list, length);
    for (size_t k = 0; fine && hp_scan_at(k); k++)
      fine = is_right(hp_scan_at(k), near_end, near_end + length) && is_right(hp_scan_at(k), memory, memory + length);
    if (!fine) printf("  %.*s\n", (int)length, list);
  }
  CHECK(fine);
  return check_report();
}
