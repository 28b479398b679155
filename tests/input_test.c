/* Checks the way from files and bytes to valid UTF-8, and from offsets back to their sources. */

#include "base/memory.h"
#include "text/input.h"
#include "text/position.h"
#include "text/scan/scan.h"

#include "check.h"
#include "support/growth.h"

#include <errno.h>
#include <fcntl.h>
#include <hpar/parse.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t seed = 0xD1B54A32D192ED03;

static uint32_t draw(uint32_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)((seed >> 32) * below >> 32);
}

/* Decodes with the UTF-8 decoder of the Encoding Standard, one byte and one state at a time. For
 * each byte of text that starts a character, `from` gets the offset of its source; for the other
 * bytes UINT64_MAX. */
typedef struct decoded {
  char *text;
  uint64_t *from;
  size_t length;
} decoded;

static void emit(decoded *to, uint32_t value, size_t from) {
  size_t at = to->length;
  if (value < 0x80) {
    to->text[to->length++] = (char)value;
  } else {
    int more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
    to->text[to->length++] = (char)(marks[more] | value >> (6 * more));
    while (more--) to->text[to->length++] = (char)(0x80 | (value >> (6 * more) & 0x3F));
  }
  for (size_t i = at; i < to->length; i++) to->from[i] = i == at ? from : UINT64_MAX;
}

static void decode_slowly(decoded *to, const unsigned char *bytes, size_t length) {
  uint32_t value = 0;
  unsigned seen = 0, needed = 0, lower = 0x80, upper = 0xBF;
  size_t begin = 0, i = 0;
  to->length = 0;
  if (length >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF) i = 3;
  while (i < length) {
    unsigned c = bytes[i];
    if (!needed) {
      begin = i++;
      if (c <= 0x7F) {
        emit(to, c, begin);
      } else if (c >= 0xC2 && c <= 0xDF) {
        needed = 1;
        value = c & 0x1F;
      } else if (c >= 0xE0 && c <= 0xEF) {
        if (c == 0xE0) lower = 0xA0;
        if (c == 0xED) upper = 0x9F;
        needed = 2;
        value = c & 0xF;
      } else if (c >= 0xF0 && c <= 0xF4) {
        if (c == 0xF0) lower = 0x90;
        if (c == 0xF4) upper = 0x8F;
        needed = 3;
        value = c & 7;
      } else {
        emit(to, 0xFFFD, begin);
      }
    } else if (c < lower || c > upper) {
      value = seen = needed = 0;
      lower = 0x80;
      upper = 0xBF;
      emit(to, 0xFFFD, begin);
    } else {
      i++;
      lower = 0x80;
      upper = 0xBF;
      value = value << 6 | (c & 0x3F);
      if (++seen == needed) {
        emit(to, value, begin);
        value = seen = needed = 0;
      }
    }
  }
  if (needed) emit(to, 0xFFFD, begin);
}

/* Invalid sequences and their replacements. A digit is a U+FFFD that replaces this number of bytes;
 * any other character is itself. */
static const struct {
  const char *bytes, *expected;
} invalid[] = {
    {"\x80", "1"},
    {"\xBF", "1"},
    {"\x80\x80", "11"},
    {"\x80\xBF\x80", "111"},
    {"a\x80z", "a1z"},
    {"\xC0", "1"},
    {"\xC1", "1"},
    {"\xC0\x80", "11"},
    {"\xC0\xAF", "11"},
    {"\xC1\xBF", "11"},
    {"\xC2", "1"},
    {"\xDF", "1"},
    {"\xC2z", "1z"},
    {"\xC2\xC2\x80", "1\xC2\x80"},
    {"\xC2\xC0", "11"},
    {"\xDF\x7F", "1\x7F"},
    {"\xDF\xFF", "11"},
    {"\xC3\xA9\xC3", "\xC3\xA9"
                     "1"},
    {"\xC3\xA9\xA9", "\xC3\xA9"
                     "1"},
    {"\xE0", "1"},
    {"\xE0\x80", "11"},
    {"\xE0\x80\x80", "111"},
    {"\xE0\x80\xAF", "111"},
    {"\xE0\x9F\xBF", "111"},
    {"\xE0\xA0", "2"},
    {"\xE0\xA0z", "2z"},
    {"\xE0\xA0\xC0", "21"},
    {"\xE0\xA0\xE0\xA0\x80", "2\xE0\xA0\x80"},
    {"\xE1", "1"},
    {"\xE1z", "1z"},
    {"\xE1\x80", "2"},
    {"\xE1\x80z", "2z"},
    {"\xE1\x80\xE1\x80", "22"},
    {"\xE1\xC2\x80", "1\xC2\x80"},
    {"\xE2\x82", "2"},
    {"\xE2\x82\xE2\x82\xAC", "2\xE2\x82\xAC"},
    {"\xE2\x82\xAC\xAC", "\xE2\x82\xAC"
                         "1"},
    {"\xED\xA0", "11"},
    {"\xED\xA0\x80", "111"},
    {"\xED\xAF\xBF", "111"},
    {"\xED\xB0\x80", "111"},
    {"\xED\xBF\xBF", "111"},
    {"\xED\xA0\x80\xED\xB0\x80", "111111"},
    {"\xED\x9F", "2"},
    {"\xED\x80z", "2z"},
    {"\xEF", "1"},
    {"\xEF\xBB", "2"},
    {"\xEF\xBB\xBE\xEF\xBB", "\xEF\xBB\xBE"
                             "2"},
    {"\xEF\xBF", "2"},
    {"\xEF\xBF\xFF", "21"},
    {"\xF0", "1"},
    {"\xF0\x80", "11"},
    {"\xF0\x80\x80", "111"},
    {"\xF0\x80\x80\x80", "1111"},
    {"\xF0\x8F\xBF\xBF", "1111"},
    {"\xF0\x90", "2"},
    {"\xF0\x90\x80", "3"},
    {"\xF0\x90z", "2z"},
    {"\xF0\x9F\x98", "3"},
    {"\xF0\x9F\x98z", "3z"},
    {"\xF0\x9F\x98\xF0\x9F\x98\x80", "3\xF0\x9F\x98\x80"},
    {"\xF0\x9F\x98\xC0", "31"},
    {"\xF0\x9F\xF0\x9F", "22"},
    {"\xF0\x9F\x98\x80\x80", "\xF0\x9F\x98\x80"
                             "1"},
    {"\xF1\x80\x80", "3"},
    {"\xF1\x80\x80\xE1\x80\xC2z", "321z"},
    {"\xF1\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", "221b1c11d"},
    {"\xF3\xBF\xBF\xFF", "31"},
    {"\xF4", "1"},
    {"\xF4\x8F\xBF", "3"},
    {"\xF4\x8Fz", "2z"},
    {"\xF4\x90", "11"},
    {"\xF4\x90\x80\x80", "1111"},
    {"\xF4\xBF\xBF\xBF", "1111"},
    {"\xF5", "1"},
    {"\xF5\x80\x80\x80", "1111"},
    {"\xF7\xBF\xBF\xBF", "1111"},
    {"\xF8\x88\x80\x80\x80", "11111"},
    {"\xFB\xBF\xBF\xBF\xBF", "11111"},
    {"\xFC\x84\x80\x80\x80\x80", "111111"},
    {"\xFD\xBF\xBF\xBF\xBF\xBF", "111111"},
    {"\xFE", "1"},
    {"\xFF", "1"},
    {"\xFE\xFE\xFF\xFF", "1111"},
    {"\xFF\xFE"
     "a",
     "11a"},
    {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82z", "11111111z"},
    {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF"
     "A",
     "11111111A"},
    {"\xF4\x91\x92\x93\xFF"
     "A\x80\xBF"
     "B",
     "11111A11B"},
    {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
     "A",
     "2132A"},
};

static void test_invalid(void) {
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    char text[64];
    uint64_t from[64], source = 0;
    size_t length = 0;
    for (const char *p = invalid[i].expected; *p; p++) {
      bool replaced = *p >= '1' && *p <= '3';
      from[length] = source;
      memcpy(text + length, replaced ? "\xEF\xBF\xBD" : p, replaced ? 3 : 1);
      length += replaced ? 3 : 1;
      source += replaced ? (uint64_t)(*p - '0') : 1;
      if (replaced) from[length - 1] = from[length - 2] = UINT64_MAX;
    }
    hp_input input;
    CHECK_EQ(source, strlen(invalid[i].bytes));
    if (!CHECK(!hp_input_open(&input, invalid[i].bytes, strlen(invalid[i].bytes)))) continue;
    CHECK_BYTES(input.bytes, input.length, text, length);
    CHECK(input.owned == input.bytes);
    for (size_t j = 0; j < length; j++) {
      if (from[j] != UINT64_MAX) CHECK_EQ(hp_input_offset(&input, j), from[j]);
    }
    CHECK_EQ(hp_input_offset(&input, length), source);
    hp_input_close(&input);
    CHECK(!input.owned && !input.repairs);
  }
}

static void test_valid(void) {
  hp_input input;
  static const char plain[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD"
                              "\xF4\x8F\xBF\xBF\xED\x9F\xBF\xEE\x80\x80";
  hp_memory_fail_after(0); /* nothing is allocated */
  CHECK(!hp_input_open(&input, plain, sizeof plain));
  CHECK(input.bytes == plain && input.length == sizeof plain && !input.owned && !input.repair_count);
  CHECK_EQ(hp_input_offset(&input, 5), 5);
  hp_input_close(&input);
  CHECK(!hp_input_open(&input, "\xEF\xBB\xBFxy", 5));
  CHECK_BYTES(input.bytes, input.length, "xy", 2);
  CHECK_EQ(hp_input_offset(&input, 0), 3);
  CHECK_EQ(hp_input_offset(&input, 2), 5);
  CHECK(!hp_input_open(&input, "\xEF\xBB\xBF", 3));
  CHECK_EQ(input.length, 0);
  CHECK(!hp_input_open(&input, "\xEF\xBB\xBF\xEF\xBB\xBF", 6));
  CHECK_BYTES(input.bytes, input.length, "\xEF\xBB\xBF", 3);
  CHECK(!hp_input_open(&input, NULL, 0));
  CHECK(!input.length && input.bytes);
  CHECK_EQ(hp_input_offset(&input, 0), 0);
  hp_memory_fail_after(UINT64_MAX);
}

static bool same_as_slow(const char *bytes, size_t length, decoded *slow) {
  decode_slowly(slow, (const unsigned char *)bytes, length);
  hp_input input;
  if (hp_input_open(&input, bytes, length)) return false;
  bool fine = input.length == slow->length && !memcmp(input.bytes, slow->text, slow->length);
  uint64_t before = 0;
  for (size_t i = 0; fine && i <= slow->length; i++) {
    uint64_t from = hp_input_offset(&input, i);
    fine = i == slow->length ? from == length : slow->from[i] == UINT64_MAX || from == slow->from[i];
    fine = fine && from >= before && from <= length;
    before = from;
  }
  for (size_t i = 0; fine && i < input.repair_count; i++) {
    const hp_repair *a = &input.repairs[i], *b = i ? a - 1 : &(hp_repair){0, input.bom};
    fine = a->offset > b->offset && a->source > b->source;
  }
  fine = fine && input.repair_count * 3 <= length * 2 + 2;
  fine = fine && hp_scan()->invalid_utf8(input.bytes, input.bytes + input.length) == input.bytes + input.length;
  hp_input_close(&input);
  return fine;
}

/* Writes parts of sequences, whole characters, and arbitrary bytes, each in runs. */
static size_t some_bytes(char *bytes, size_t capacity) {
  static const char *const pieces[] = {
      "a",    "\xFF",     "\x80",         "\xE1\x80",         "\xF0\x9F\x98", "\xF0\x9F",
      "\xC3", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\xA0\x80", "\xEF\xBB\xBF",
      "<p>"};
  size_t length = 0;
  for (uint32_t runs = draw(8); runs--;) {
    uint32_t piece = draw(sizeof pieces / sizeof *pieces + 2), count = draw(4) ? draw(5) : draw(70);
    for (; count && length + 4 < capacity; count--) {
      if (piece >= sizeof pieces / sizeof *pieces) {
        bytes[length++] = (char)(draw(3) ? 0x80 + draw(128) : draw(256));
      } else {
        memcpy(bytes + length, pieces[piece], strlen(pieces[piece]));
        length += strlen(pieces[piece]);
      }
    }
  }
  return length;
}

static void test_random(void) {
  enum { CASES = 100000, BATCH = 1000, ROOM = 600 };
  static char bytes[ROOM], text[3 * ROOM];
  static uint64_t from[3 * ROOM];
  decoded slow = {.text = text, .from = from};
  for (int batch = 0; batch < CASES / BATCH; batch++) {
    bool fine = true;
    for (int i = 0; fine && i < BATCH; i++) {
      size_t length = i % 2 ? some_bytes(bytes, ROOM) : draw(24);
      if (i % 2 == 0) {
        for (size_t j = 0; j < length; j++) bytes[j] = (char)draw(256);
      }
      fine = same_as_slow(bytes, length, &slow);
      if (fine) continue;
      printf("  case %d:", batch * BATCH + i);
      for (size_t j = 0; j < length; j++) printf(" %02X", (unsigned char)bytes[j]);
      printf("\n");
    }
    CHECK(fine);
  }
}

/* Large broken input: a repeated piece, its bytes of text, and the maximum number of repairs per
 * 100 pieces. */
typedef struct broken_input {
  const char *piece;
  size_t text, repairs;
} broken_input;

static const broken_input broken_inputs[] = {{"\xFF", 3, 1},         {"a\xFF", 4, 100},  {"\xFF\xE1\x80", 6, 200},
                                             {"\xF0\x9F\x98", 3, 1}, {"\xE1\x80", 3, 1}, {"\xC3", 3, 1}};

/* Opens an input of about a million bytes, or four million, and checks its contents. Returns the
 * seconds of the call. */
static double open_broken_input(void *context, int size) {
  const broken_input *of = context;
  size_t step = strlen(of->piece), count = (size_t)(size ? 4 : 1) * 1000000 / step, length = count * step;
  char *bytes = malloc(length);
  if (!bytes) exit(1);
  for (size_t j = 0; j < length; j++) bytes[j] = of->piece[j % step];
  hp_input input;
  double start = growth_thread_seconds();
  if (!CHECK(!hp_input_open(&input, bytes, length))) exit(1);
  double seconds = growth_thread_seconds() - start;
  CHECK_EQ(input.length, count * of->text);
  CHECK(input.repair_count <= count * of->repairs / 100 + 2);
  CHECK_EQ(hp_input_offset(&input, (count - 1) * of->text), (count - 1) * step);
  CHECK_EQ(hp_input_offset(&input, input.length), length);
  hp_input_close(&input);
  free(bytes);
  return seconds;
}

static void test_large(void) {
  for (size_t i = 0; i < sizeof broken_inputs / sizeof *broken_inputs; i++)
    for (int size = 0; size < 2; size++) open_broken_input((void *)(uintptr_t)&broken_inputs[i], size);
}

static void test_growth(void) {
  for (size_t i = 0; i < sizeof broken_inputs / sizeof *broken_inputs; i++)
    CHECK(
        growth_is_below(GROWTH_BOUND, broken_inputs[i].piece, open_broken_input, (void *)(uintptr_t)&broken_inputs[i]));
}

static void test_limits(void) {
  hp_input input = {.length = 42};
  if (SIZE_MAX > HPAR_MAX_INPUT) {
    CHECK_EQ(hp_input_open(&input, "x", (size_t)(HPAR_MAX_INPUT + 1)), HPAR_ERROR_TOO_LARGE);
    CHECK_EQ(hp_input_open(&input, "x", SIZE_MAX), HPAR_ERROR_TOO_LARGE);
  }
  for (uint64_t n = 0; n < 2; n++) {
    hp_memory_fail_after(n);
    CHECK_EQ(hp_input_open(&input, "a\xFF", 2), HPAR_ERROR_MEMORY);
  }
  hp_memory_fail_after(UINT64_MAX);
  CHECK_EQ(input.length, 42);
}

/* Returns the position by the definition, from the beginning of the text each time. */
static hp_position slow_position(const char *bytes, size_t length, size_t offset, decoded *slow) {
  hp_position position = {1, 1};
  decode_slowly(slow, (const unsigned char *)bytes, length);
  size_t last = 0; /* offset in the text of the character that contains the byte */
  for (size_t i = 0; i < slow->length; i++) {
    if (slow->from[i] != UINT64_MAX && slow->from[i] <= offset) last = i;
  }
  if (offset >= length) last = slow->length;
  for (size_t i = 0; i < last; i++) {
    char c = slow->text[i];
    if (slow->from[i] == UINT64_MAX) continue;
    position.column++;
    bool crlf = c == '\r' && i + 1 < slow->length && slow->text[i + 1] == '\n';
    if (c == '\n' || (c == '\r' && !crlf)) position = (hp_position){position.line + 1, 1};
  }
  return position;
}

static void check_position(hp_line_finder *finder, uint64_t offset, uint64_t line, uint64_t column) {
  hp_position position = hp_line_at(finder, offset);
  CHECK_EQ(position.line, line);
  CHECK_EQ(position.column, column);
}

static void test_lines(void) {
  hp_line_finder finder;
  static const char bytes[] = "ab\ncd\r\n\r\re\n\n\xC3\xA9\xF0\x9F\x98\x80x\xFF\xE1\x80y";
  hp_line_open(&finder, bytes, sizeof bytes - 1);
  static const unsigned char expected[][3] = {
      {0, 1, 1},  {1, 1, 2},  {2, 1, 3},  {3, 2, 1},  {5, 2, 3},  {6, 2, 4},  {7, 3, 1},  {8, 4, 1},  {9, 5, 1},
      {10, 5, 2}, {11, 6, 1}, {12, 7, 1}, {13, 7, 1}, {14, 7, 2}, {17, 7, 2}, {18, 7, 3}, {19, 7, 4}, {20, 7, 5},
      {21, 7, 5}, {22, 7, 6}, {23, 7, 7}, {99, 7, 7}, {3, 2, 1},  {3, 2, 1},  {0, 1, 1}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    check_position(&finder, expected[i][0], expected[i][1], expected[i][2]);
  hp_line_open(&finder,
               "\xEF\xBB\xBF"
               "ab\r",
               6);
  check_position(&finder, 0, 1, 1);
  check_position(&finder, 3, 1, 1);
  check_position(&finder, 4, 1, 2);
  check_position(&finder, 6, 2, 1);
  hp_line_open(&finder, NULL, 0);
  check_position(&finder, 0, 1, 1);
  check_position(&finder, UINT64_MAX, 1, 1);

  enum { ROOM = 300 };
  static char random[ROOM], text[3 * ROOM];
  static uint64_t from[3 * ROOM];
  decoded slow = {.text = text, .from = from};
  for (int i = 0; i < 2000; i++) {
    size_t length = some_bytes(random, ROOM);
    for (size_t j = 0; j < length; j++) {
      if (!draw(6)) random[j] = "\r\n\n"[draw(3)];
    }
    bool fine = true;
    hp_line_open(&finder, random, length);
    for (size_t offset = 0; fine && offset <= length; offset += draw(4)) {
      hp_position want = slow_position(random, length, offset, &slow), got = hp_line_at(&finder, offset);
      fine = want.line == got.line && want.column == got.column;
    }
    CHECK(fine);
  }

  /* One long line, with a lookup at each byte. */
  size_t length = 1000000;
  char *one = malloc(length);
  if (!one) exit(1);
  memset(one, 'a', length);
  hp_line_open(&finder, one, length);
  bool fine = true;
  for (size_t offset = 0; offset < length; offset++) {
    hp_position position = hp_line_at(&finder, offset);
    fine = fine && position.line == 1 && position.column == offset + 1;
  }
  CHECK(fine);
  memset(one, '\r', length);
  hp_line_open(&finder, one, length);
  check_position(&finder, length, length + 1, 1);
  free(one);
}

/* Long texts that are repaired or copied lie in the buffer, and short ones in the heap. */
static void test_buffered(void) {
  enum { LONG = 300000, SHORT = 3000, INVALID_AT = 1000 };
  char *bytes = malloc(LONG);
  if (!CHECK(bytes)) return;
  for (int round = 0; round < 4; round++) {
    size_t length = round & 1 ? SHORT : LONG;
    memset(bytes, 'a', length);
    if (round & 2) bytes[INVALID_AT] = '\xFF';
    hp_buffer buffer = {0};
    hp_input expected, input;
    hp_sniffed sniffed = {.encoding = &hp_utf8};
    CHECK(!hp_input_open(&expected, bytes, length));
    CHECK(!hp_input_decode_sniffed(&input, bytes, length, &sniffed, &(hp_slice_executor){.buffer = &buffer}));
    CHECK(!hp_input_keep(&input, &buffer, false));
    CHECK_BYTES(input.bytes, input.length, expected.bytes, expected.length);
    CHECK_EQ(hp_input_offset(&input, length), hp_input_offset(&expected, length));
    CHECK(length == SHORT ? input.bytes == input.owned : input.bytes == buffer.base && !input.owned);
    CHECK_EQ(buffer.length, length == SHORT ? 0 : expected.length);
    hp_input_close(&input);
    hp_input_close(&expected);
    hp_buffer_close(&buffer);
  }
  free(bytes);
}

int main(int count, char **arguments) {
  if (check_part(count, arguments, "growth")) {
    if (!growth_can_be_measured()) return CHECK_SKIPPED;
    test_growth();
    return check_report();
  }
  test_invalid();
  test_valid();
  test_random();
  test_large();
  test_limits();
  test_lines();
  test_buffered();
  return check_report();
}
