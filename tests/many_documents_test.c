/* Checks many live documents: 70,000 of 10 KB, with all of the address space, with 8 GB, and with
 * the 39 bits of small ARM systems. The kernel allows 65,530 mappings, so documents must share
 * mappings. Reused documents keep their trees separate, and most parses make no system call for
 * memory.
 *
 *   HPAR_TEST_SCALE=P   percent of the documents, below 100 (100) */

#include <hpar/hpar.h>
#include <hpar/study.h>

#include "base/arena.h"
#include "platform/address_range.h"

#include "check.h"
#include "support/compare.h"
#include "support/mode.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || HP_ASAN
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum { PAGE_BYTES = 10 << 10, TEXT_BYTES = 180, DOCUMENTS = SANITIZED ? 9000 : 70000, LIVE_LARGE = 20 };
enum { WHOLE, FED, DECODED, FED_DECODED, AT_FINISH, WAYS };

static char page[PAGE_BYTES + 1];

/* Writes the text of paragraph `i`, with leading zeros: printf would take a quarter of the test. */
static void write_text(char text[TEXT_BYTES], unsigned i) {
  memset(text, '0', TEXT_BYTES);
  for (char *at = text + TEXT_BYTES; i; i /= 10) *--at = (char)('0' + i % 10);
}

/* Writes about 50 paragraphs, each with its number, so that trees differ. */
static void make_page(unsigned number) {
  size_t length = (size_t)sprintf(page, "<!DOCTYPE html><title>page %u</title>", number);
  for (unsigned i = 0; length + 300 < PAGE_BYTES; i++) {
    length += (size_t)sprintf(page + length, "<p id=p%u>", number);
    write_text(page + length, i);
    length += TEXT_BYTES;
    length += (size_t)sprintf(page + length, " &amp; caf\xe9</p>");
  }
  memset(page + length, 'x', PAGE_BYTES - length);
}

static hpar_status parse(hpar_parser *parser, unsigned number, unsigned way, hpar_document *document) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  /* no strategy: the build has no parallel parser */
  bool pipelined = way == AT_FINISH && hpar_strategy_name(0);
  hpar_study study = {HPAR_STUDY_INIT};
  mode_choose(&options, &study, pipelined ? MODE_PIPELINED : HPAR_MODE_SEQUENTIAL);
  options.parallel.executor = way == AT_FINISH ? HPAR_EXECUTOR_INLINE : options.parallel.executor;
  options.encoding = way == DECODED || way == FED_DECODED ? "windows-1252" : "utf-8";
  make_page(number);
  if (way == WHOLE) options.copy_input = true;
  if (way == WHOLE || way == DECODED) return hpar_parse(parser, &options, page, PAGE_BYTES, document, NULL);
  hpar_status status = hpar_parser_begin(parser, &options, document);
  for (size_t at = 0; !status && at < PAGE_BYTES; at += PAGE_BYTES / 2)
    status = hpar_parser_feed(parser, page + at, PAGE_BYTES / 2);
  return status ? status : hpar_parser_finish(parser, NULL);
}

/* Returns whether this is the tree of page `number`. */
static bool is_page(const hpar_document *document, unsigned number, unsigned way) {
  char id[16], text[TEXT_BYTES + 32];
  unsigned paragraphs = 0;
  snprintf(id, sizeof id, "p%u", number);
  snprintf(text + TEXT_BYTES, 32, " & caf%s", way == DECODED || way == FED_DECODED ? "\xc3\xa9" : "\xef\xbf\xbd");
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string name = hpar_node_name(document, node);
    if (name.length != 1 || name.bytes[0] != 'p') continue;
    hpar_string value = hpar_node_attribute_value(document, node, "id");
    hpar_string data = hpar_node_data(document, hpar_node_first_child(document, node));
    write_text(text, paragraphs++);
    if (value.length != strlen(id) || memcmp(value.bytes, id, value.length)) return false;
    if (data.length != strlen(text) || memcmp(data.bytes, text, data.length)) return false;
  }
  return paragraphs > 30;
}

static unsigned mappings(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned lines = 0;
  for (int c; maps && (c = fgetc(maps)) != EOF;) lines += c == '\n';
  if (maps) fclose(maps);
  return lines;
}

/* Limits the address space. A smaller limit of the test's own process stays. */
static void limit_address_space(size_t bytes) {
  struct rlimit limit;
  if (!bytes || !CHECK(!getrlimit(RLIMIT_AS, &limit)) || limit.rlim_max < bytes) return;
  limit.rlim_cur = limit.rlim_max = bytes;
  CHECK(!setrlimit(RLIMIT_AS, &limit));
}

/* Keeps `count` documents at once, parsed alternately in `ways` ways. Then parses every second one
 * again, or destroys it and creates a new one. */
static void live(unsigned count, unsigned ways) {
  hpar_parser *parser = NULL;
  hpar_document **documents = calloc(count, sizeof *documents);
  unsigned made = 0, right = 0, before = mappings();
  if (!CHECK(documents) || !CHECK(!hpar_parser_create(&parser))) exit(check_report());
  for (; made < count; made++)
    if (hpar_document_create(&documents[made]) || parse(parser, made, made % ways, documents[made])) break;
  CHECK_EQ(made, count);
  for (unsigned i = 0; i < made; i++) right += is_page(documents[i], i, i % ways);
  CHECK_EQ(right, made);
  if (!SANITIZED) CHECK(mappings() < before + 1000);
  unsigned again = 0;
  right = 0;
  for (unsigned i = 0; i < made; i += 2) {
    if (i % 4) {
      hpar_document_destroy(documents[i]);
      if (hpar_document_create(&documents[i])) break;
    }
    again += !parse(parser, i + 1, i % ways, documents[i]);
  }
  CHECK_EQ(again, (made + 1) / 2);
  for (unsigned i = 0; i < made; i++) right += is_page(documents[i], i % 2 ? i : i + 1, i % ways);
  CHECK_EQ(right, made);
  for (unsigned i = 0; i < made; i++) hpar_document_destroy(documents[i]);
  hpar_parser_destroy(parser);
  free(documents);
}

/* Runs in a separate process, because a limit cannot be removed. */
static void in_child(size_t limit, unsigned count, unsigned ways) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    check_passed = check_failed = 0;
    limit_address_space(limit);
    live(count, ways);
    fflush(stdout);
    _exit(check_failed ? 1 : 0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  if (!CHECK_EQ(status, 0)) printf("  with %zu bytes of address space, %u documents, %u ways\n", limit, count, ways);
}

/* Checks that a document that grows and shrinks between parses, beside other documents, keeps its
 * tree correct. */
static void sizes(void) {
  enum { LARGE = 3 << 20 };
  hpar_parser *parser = NULL;
  hpar_document *documents[LIVE_LARGE] = {NULL};
  char *large = malloc(LARGE);
  if (!CHECK(large) || !CHECK(!hpar_parser_create(&parser))) return;
  for (size_t i = 0; i < LARGE; i += 4) memcpy(large + i, "<b>x", 4);
  for (unsigned round = 0; round < 4; round++) {
    for (unsigned i = 0; i < LIVE_LARGE; i++) {
      if (!documents[i] && !CHECK(!hpar_document_create(&documents[i]))) return;
      if ((i + round) % 3)
        CHECK(!parse(parser, i, i % WAYS, documents[i]));
      else
        CHECK(!hpar_parse(parser, &(hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL}, large,
                          LARGE / 8 * (1 + i % 8), documents[i], NULL));
    }
    for (unsigned i = 0; i < LIVE_LARGE; i++)
      if ((i + round) % 3) CHECK(is_page(documents[i], i, i % WAYS));
  }
  for (unsigned i = 0; i < LIVE_LARGE; i++) hpar_document_destroy(documents[i]);
  hpar_parser_destroy(parser);
  free(large);
}

/* Spare bytes end at the limit of the range. */
static void spare_bytes(void) {
  static char memory[256];
  hp_range range = {.base = memory, .size = sizeof memory, .limit = 200};
  atomic_init(&range.top, 144);
  CHECK(!hp_range_spare(&range, 64));
  CHECK(hp_range_spare(&range, 56) && range.spare_end == range.limit);
  CHECK(!hp_range_spare(&range, 8));
}

/* A copy has the objects of all parts and of the rest at their places. */
static void copied_parts(void) {
  struct rlimit limit;
  CHECK(!getrlimit(RLIMIT_AS, &limit));
  limit.rlim_cur = limit.rlim_max; /* parts need 16 GB of addresses */
  CHECK(!setrlimit(RLIMIT_AS, &limit));
  enum { PARTS = 3, BYTES = 100 };
  hp_range range = {0}, copy = {0};
  hp_unwind unwind = {0};
  CHECK_EQ(hp_range_open(&range, 0, false), HPAR_OK);
  CHECK_EQ(hp_range_open(&copy, 0, false), HPAR_OK);
  bool divides = !HP_ASAN && range.size >= (size_t)16 << 30;
  if (CHECK_EQ(hp_range_divide(&range, PARTS, 0), divides) && divides) {
    char *made[PARTS + 1];
    for (unsigned i = 0; i <= PARTS; i++) {
      hp_arena arena;
      hp_arena_open(&arena, i < PARTS ? hp_range_part(&range, i) : &range, &unwind);
      made[i] = memset(hp_arena_take(&arena, BYTES), "abcd"[i], BYTES);
      hp_arena_close(&arena);
    }
    hp_range_copy(&range, copy.base);
    for (unsigned i = 0; i <= PARTS; i++) CHECK(!memcmp(copy.base + (made[i] - range.base), made[i], BYTES));
  }
  hp_range_release(&copy);
  hp_range_release(&range);
}

int main(void) {
  const size_t gigabyte = (size_t)1 << 30, kilobyte = 1 << 10;
  long pages = sysconf(_SC_AVPHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && (size_t)pages * (size_t)page_size < 6 * gigabyte) {
    printf("skipped: less than 6 GB of memory\n");
    return 77;
  }
  spare_bytes();
  unsigned percent = compare_scale();
  unsigned count = percent < 100 ? DOCUMENTS * percent / 100 + WAYS : DOCUMENTS;
  in_child(0, count, 1);
  in_child(0, count / 10, WAYS);
  if (!SANITIZED) {
    in_child(8000000 * kilobyte, count, 1);
    in_child(8000000 * kilobyte, count / 10, WAYS);
    in_child(512 * gigabyte, count / 10, WAYS);
  }
  /* last, because children would inherit their reservations */
  copied_parts();
  sizes();
  return check_report();
}
