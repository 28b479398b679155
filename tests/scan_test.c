/* Compares every set of kernels that this processor can run with definitions that check byte by
 * byte. The memory around the text is not readable. */

#include "text/scan/scan.h"

#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORT = 300, LONG = 1 << 18, KINDS = 11 };

typedef enum kind {
  TEXT,
  RAW,
  QUOTED,
  QUOTE,
  NOT_WHITE,
  BYTE,
  CONTROL,
  NEXT_OPENER,
  LAST_OPENER,
  IN_SCRIPT,
  INVALID_UTF8
} kind;

static const char *const kind_names[KINDS] = {"text",        "raw",       "quoted",      "quote",
                                              "not_white",   "byte",      "control",     "next_opener",
                                              "last_opener", "in_script", "invalid_utf8"};

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint32_t draw(uint32_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)((seed >> 32) * below >> 32);
}

static bool one_of(int c, const char *set) { return c && strchr(set, c); }

static bool is_in(kind kind, unsigned char c, char extra) {
  switch (kind) {
    case TEXT: return !c || one_of(c, "<&\r");
    case RAW: return !c || one_of(c, "<\r");
    case QUOTE: return !c || c == '\r' || c == (unsigned char)extra;
    case QUOTED: return !c || one_of(c, "&\r") || c == (unsigned char)extra;
    case NOT_WHITE: return !one_of(c, "\t\n\f\r ");
    case BYTE: return c == (unsigned char)extra;
    default: return (c >= 1 && c <= 8) || c == 11 || (c >= 14 && c <= 31) || c == 0x7F || c == 0xC2 || c >= 0xEF;
  }
}

/* Uses the arithmetic of UTF-8 instead of its table of well-formed sequences. */
static size_t good_sequence(const char *at, const char *end) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char c = (unsigned char)*at;
  if (c < 0x80) return 1;
  size_t length = c >= 0xF8 ? 0 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 0;
  if (!length || (size_t)(end - at) < length) return 0;
  uint32_t value = c & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++) {
    if (((unsigned char)at[i] & 0xC0) != 0x80) return 0;
    value = value << 6 | ((unsigned char)at[i] & 0x3F);
  }
  return value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0 : length;
}

static bool begins_marker(const char *p, const char *end) {
  static const char *const names[] = {"scr", "sty", "svg", "tex", "tit", "mat", "xm", "if", "no"};
  if (end - p >= 2 && !memcmp(p, "!-", 2)) return true;
  if (p < end && *p == '/') p++;
  for (size_t i = 0; end - p >= 2 && i < sizeof names / sizeof *names; i++) {
    size_t length = end - p >= 3 ? strlen(names[i]) : 2;
    if (!strncasecmp(p, names[i], length)) return true;
  }
  return false;
}

static const char *expected(kind kind, const char *at, const char *end, char extra) {
  const char *p = at;
  if (kind == NEXT_OPENER) {
    while (p != end && !(*p == '<' && begins_marker(p + 1, end) && p[1] != '/')) p++;
    return p;
  }
  if (kind == LAST_OPENER) {
    for (p = end; p-- != at;)
      if (*p == '<' && begins_marker(p + 1, end) && p[1] != '/') return p;
    return at - 1;
  }
  if (kind == IN_SCRIPT) {
    for (; end - p > 2; p++)
      if (!memcmp(p, "<!-", 3) || !strncasecmp(p, "<sc", 3) ||
          (end - p > 3 && (!strncasecmp(p, "</sc", 4) || !strncasecmp(p, "</st", 4))))
        return p;
    return end;
  }
  if (kind == INVALID_UTF8) {
    while (p != end) {
      size_t length = good_sequence(p, end);
      if (!length) break;
      p += length;
    }
    return p;
  }
  while (p != end && !is_in(kind, (unsigned char)*p, extra)) p++;
  return p;
}

static const char *found(const hp_scan_kernels *set, kind kind, const char *at, const char *end, char extra) {
  switch (kind) {
    case TEXT: return set->text(at, end);
    case RAW: return set->raw(at, end);
    case QUOTE: return set->quote(at, end, extra);
    case QUOTED: return set->quoted(at, end, extra);
    case NOT_WHITE: return set->not_white(at, end);
    case BYTE: return set->byte(at, end, extra);
    case CONTROL: return set->control(at, end);
    case NEXT_OPENER: return set->next_opener(at, end);
    case LAST_OPENER: return set->last_opener(at, end);
    case IN_SCRIPT: return set->in_script(at, end);
    default: return set->invalid_utf8(at, end);
  }
}

/* Runs all sets on one buffer. Returns true if they are right, and prints errors otherwise. */
static bool right(kind kind, const char *at, size_t length, char extra) {
  const char *end = at + length, *want = expected(kind, at, end, extra);
  for (size_t i = 0; hp_scan_at(i); i++) {
    const char *got = found(hp_scan_at(i), kind, at, end, extra);
    if (got == want) continue;
    printf("  %s %s, %zu bytes at %p: got %td, expected %td\n", hp_scan_at(i)->name, kind_names[kind], length,
           (const void *)at, got - at, want - at);
    return false;
  }
  return true;
}

/* Returns `size` bytes between two inaccessible pages. */
static char *fenced(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size = (size + page - 1) / page * page;
  char *memory = mmap(NULL, size + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) || mprotect(memory + page + size, page, PROT_NONE)) {
    perror("mmap");
    exit(1);
  }
  return memory + page;
}

static const char *memory, *memory_end; /* fenced, whole pages */

/* Checks `bytes` at the start of the memory, before its end, and at an offset between. */
static bool right_everywhere(kind kind, const char *bytes, size_t length, char extra) {
  char *places[3] = {(char *)(uintptr_t)memory, (char *)(uintptr_t)memory_end - length,
                     (char *)(uintptr_t)memory + 1024 + draw(64)};
  for (int i = 0; i < 3; i++) {
    if (length) memcpy(places[i], bytes, length);
    if (!right(kind, places[i], length, extra)) return false;
  }
  return true;
}

/* Returns a byte that is in a set, or that a lookup by half a byte, a sign or a carry could mistake
 * for one. */
static char adversary(void) {
  static const char members[] = "<&\r\0\"'->\t\n\f ><!/sStTxXiInNpPmMyYgG-\x7F\xC2\xEF\xF0\xF4\x01\x08\x0B\x0E\x1F";
  char c = members[draw(sizeof members)];
  switch (draw(8)) {
    case 0: return (char)(c ^ 0x80);
    case 1: return (char)(c + 1);
    case 2: return (char)(c - 1);
    case 3: return (char)(c ^ (1 << draw(8)));
    case 4: return (char)draw(256);
    default: return c;
  }
}

static void put_character(char **at, uint32_t value) {
  unsigned char *p = (unsigned char *)*at;
  if (value < 0x80) {
    *p++ = (unsigned char)value;
  } else if (value < 0x800) {
    *p++ = (unsigned char)(0xC0 | value >> 6);
    *p++ = (unsigned char)(0x80 | (value & 63));
  } else if (value < 0x10000) {
    *p++ = (unsigned char)(0xE0 | value >> 12);
    *p++ = (unsigned char)(0x80 | (value >> 6 & 63));
    *p++ = (unsigned char)(0x80 | (value & 63));
  } else {
    *p++ = (unsigned char)(0xF0 | value >> 18);
    *p++ = (unsigned char)(0x80 | (value >> 12 & 63));
    *p++ = (unsigned char)(0x80 | (value >> 6 & 63));
    *p++ = (unsigned char)(0x80 | (value & 63));
  }
  *at = (char *)p;
}

static uint32_t some_character(uint32_t widest) {
  static const uint32_t edges[] = {0x7F,   0x80,   0x7FF,  0x800,   0xFFF,   0x1000,  0xCFFF,  0xD000,   0xD7FF,
                                   0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF};
  switch (draw(widest)) {
    case 0: return ' ' + draw(95);
    case 1: return 0x80 + draw(0x780);
    case 2: return 0x800 + draw(0xD000);
    case 3: return 0x10000 + draw(0x100000);
    default: return edges[draw(sizeof edges / sizeof *edges)];
  }
}

/* Writes valid UTF-8 of exactly `length` bytes: runs of ASCII and of other characters. */
static void fill_valid(char *bytes, size_t length) {
  char *p = bytes, *end = bytes + length;
  while (end - p >= 4) {
    uint32_t widest = draw(2) ? 1 : 1 + draw(5);
    for (uint32_t run = draw(100); run-- && end - p >= 4;) put_character(&p, some_character(widest));
  }
  while (p != end) *p++ = 'z';
}

static void fill(char *bytes, size_t length, uint32_t style) {
  for (size_t i = 0; i < length; i++) {
    bytes[i] = style == 0   ? (char)draw(256)
               : style == 1 ? adversary()
               : style == 2 ? "<-->!/st"[draw(8)]
               : style == 3 ? (char)(draw(30) ? 'a' : adversary())
               : style == 4 ? "\t\n\f\r "[draw(5)]
                            : (char)(draw(200) ? ' ' + draw(6) : 0x80 + draw(128));
  }
}

static void test_short(void) {
  char bytes[SHORT];
  for (size_t length = 0; length <= SHORT; length++) {
    for (int kind = 0; kind < KINDS; kind++) {
      bool fine = true;
      for (uint32_t style = 0; fine && style < 18; style++) {
        char extra = draw(2) ? '"' : draw(2) ? '\'' : adversary();
        fill(bytes, length, style % 6);
        fine = right_everywhere((enum kind)kind, bytes, length, extra);
      }
      CHECK(fine);
    }
  }
}

/* Checks each byte value alone among bytes outside of all sets, at each offset. */
static void test_single(void) {
  char bytes[SHORT];
  for (int kind = 0; kind < KINDS; kind++) {
    bool backwards = kind == LAST_OPENER;
    for (size_t length = 1; length <= 200; length += length < 70 ? 1 : 13) {
      bool fine = true;
      for (size_t i = 0; fine && i < length; i++) {
        int values = length < 40 || i % 16 == 0 ? 256 : 8;
        for (int c = 0; fine && c < values; c++) {
          memset(bytes, kind == NOT_WHITE ? ' ' : backwards ? '-' : 'a', length);
          if (backwards && i + 1 < length) bytes[i + 1] = "s/a\x0f"[draw(4)];
          bytes[i] = values == 256 ? (char)c : adversary();
          fine = right((enum kind)kind, memcpy((char *)(uintptr_t)memory_end - length, bytes, length), length, '"');
          if (backwards && fine && i + 1 < length) {
            char *p = memset((char *)(uintptr_t)memory, 'a', length);
            p[i] = '<';
            p[i + 1] = (char)c;
            if (i + 2 < length) p[i + 2] = "ctveiamfo-/S"[draw(12)];
            if (i + 3 < length && p[i + 1] == '/') p[i + 3] = "ctveiamfo"[draw(9)];
            fine = right((enum kind)kind, p, length, 0);
          }
        }
      }
      CHECK(fine);
    }
  }
}

static void test_valid_utf8(void) {
  char bytes[SHORT + 4];
  for (size_t length = 0; length <= SHORT; length++) {
    bool fine = true;
    for (int i = 0; fine && i < 30; i++) {
      fill_valid(bytes, length);
      fine = right_everywhere(INVALID_UTF8, bytes, length, 0);
      for (uint32_t broken = draw(3); fine && length && broken < 3; broken++) {
        char *p = bytes + draw((uint32_t)length);
        *p = (char)(draw(2) ? draw(256) : (unsigned char)*p ^ 1u << draw(8));
        fine = right_everywhere(INVALID_UTF8, bytes, length, 0);
        if (fine) fine = right_everywhere(INVALID_UTF8, bytes, draw((uint32_t)length), 0);
      }
    }
    CHECK(fine);
  }
}

/* Checks a sequence of `length` bytes in the middle of ASCII and of other characters, and at the
 * end. */
static bool sequence_right(const unsigned char *sequence, size_t length) {
  enum { BEFORE = 128 };
  static char ascii[BEFORE], others[BEFORE];
  if (!ascii[0]) {
    memset(ascii, 'a', sizeof ascii);
    for (size_t i = 0; i < BEFORE; i += 2) memcpy(others + i, "\xD0\xB6", 2);
  }
  size_t before = 60 + draw(6) / 2 * 2, after = draw(4) ? 70 : draw(3);
  char *p = (char *)(uintptr_t)memory_end - before - length - after;
  memcpy(p, draw(2) ? ascii : others, before);
  memcpy(p + before, sequence, length);
  memset(p + before + length, 'a', after);
  return right(INVALID_UTF8, p, before + length + after, 0);
}

static void test_sequences(void) {
  static const unsigned char edges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F,
                                        0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xF0, 0xFF};
  enum { EDGES = sizeof edges };
  for (int a = 0; a < 256; a++) {
    bool fine = sequence_right((unsigned char[]){(unsigned char)a}, 1);
    for (int b = 0; fine && b < 256; b++) {
      unsigned char s[4] = {(unsigned char)a, (unsigned char)b};
      fine = sequence_right(s, 2);
      for (int c = 0; fine && c < EDGES; c++) {
        s[2] = edges[c];
        fine = sequence_right(s, 3);
        for (int d = 0; fine && a >= 0xE0 && d < EDGES; d++) {
          s[3] = edges[d];
          fine = sequence_right(s, 4);
        }
      }
    }
    CHECK(fine);
  }
}

static void test_long(void) {
  char *bytes = fenced(LONG);
  for (int kind = 0; kind < KINDS; kind++) {
    for (int round = 0; round < 8; round++) {
      if (kind == INVALID_UTF8) {
        fill_valid(bytes, LONG);
      } else {
        memset(bytes, kind == NOT_WHITE ? ' ' : kind == LAST_OPENER ? "-<"[round % 2] : 'a', LONG);
      }
      bool fine = right((enum kind)kind, bytes, LONG, '"');
      for (int i = 0; fine && i < 4; i++) {
        bytes[draw(LONG)] = draw(3) ? adversary() : (char)(0x80 + draw(128));
        size_t from = draw(200);
        fine = right((enum kind)kind, bytes + from, LONG - from - (draw(2) ? draw(200) : 0), '"');
      }
      CHECK(fine);
    }
  }
}

static bool choice_is(const char *wish, const char *name) {
  pid_t child = fork();
  if (!child) {
    setenv("HPAR_SIMD", wish, 1);
    _exit(!strcmp(hp_scan()->name, name) && hp_scan() == hp_scan());
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void test_choice(void) {
  size_t count = 0;
  while (hp_scan_at(count)) count++;
  CHECK(count >= 1);
  CHECK_STRING(hp_scan_at(count - 1)->name, "plain");
  CHECK(!hp_scan_at(count + 1));
  for (size_t i = 0; i < count; i++) CHECK(choice_is(hp_scan_at(i)->name, hp_scan_at(i)->name));
  CHECK(choice_is("abacus", hp_scan_at(0)->name));
  CHECK(choice_is("", hp_scan_at(0)->name));
}

/* With --list, prints only the names of the sets of kernels, for scripts/test-simd. */
/* The text ends where no memory is readable. */
static void test_count(void) {
  const unsigned char masks[][2] = {{0xC0, 0x80}, {0xF0, 0xE0}, {0xFF, 'a'}, {0, 0}};
  char *at = (char *)(uintptr_t)memory_end - HP_SCAN_COUNTED;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < HP_SCAN_COUNTED; i++)
      at[i] = round ? (char)(draw(2) ? 0x80 + draw(128) : draw(128)) : (char)0xE0;
    for (unsigned length = 0; length <= HP_SCAN_COUNTED; length++) {
      const unsigned char *m = masks[draw(4)];
      unsigned n = 0;
      for (unsigned i = 0; i < length; i++) n += ((unsigned char)at[i] & m[0]) == m[1];
      for (size_t k = 0; hp_scan_at(k); k++) CHECK(hp_scan_at(k)->count(at, length, m[0], m[1]) == n);
    }
  }
}

int main(int count, char **arguments) {
  for (size_t i = 0; count == 2 && !strcmp(arguments[1], "--list") && hp_scan_at(i); i++) puts(hp_scan_at(i)->name);
  if (count > 1) return 0;
  memory = fenced(4096);
  memory_end = memory + sysconf(_SC_PAGESIZE);
  test_choice();
  test_short();
  test_single();
  test_valid_utf8();
  test_sequences();
  test_count();
  test_long();
  return check_report();
}
