/* A program that is older or newer than its library: tests/compatibility.sh compiles it against
 * headers whose hpar_options has other fields. Its structures end where readable memory ends. */

#include <hpar/hpar.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int failures;

static void check(bool is_fine, const char *what, const char *detail) {
  if (is_fine) return;
  printf("failed: %s: %s\n", what, detail);
  failures++;
}

/* Returns zeroed memory before a page that cannot be accessed; NULL: there is none. */
static void *guarded(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (size + page - 1) / page * page;
  char *memory = mmap(NULL, mapped + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + mapped, page, PROT_NONE)) return NULL;
  return memory + mapped - size;
}

static hpar_status parse(hpar_parser *parser, const hpar_options *options, hpar_document *document, hpar_stats *stats) {
  static const char page[] = "<!DOCTYPE html><p>one<p>two<p>three";
  return hpar_parse(parser, options, page, sizeof page - 1, document, stats);
}

int main(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_options *options = guarded(sizeof *options);
  hpar_stats *stats = guarded(sizeof *stats);
  hpar_many_stats *many = guarded(sizeof *many);
  if (!options || !stats || !many || hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  *options = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  stats->size = sizeof *stats;
  many->size = sizeof *many;
  check(!parse(parser, options, document, stats), "default options", hpar_parser_error(parser)->text);
  check(stats->size == sizeof *stats && stats->nodes == 11, "statistics", stats->mode ? stats->mode : "none");
  options->limits.nodes = 3;
  check(parse(parser, options, document, stats) == HPAR_LIMIT_NODES, "limits", hpar_parser_error(parser)->text);
  options->limits.nodes = 0;
  options->parallel.wait = (hpar_wait_policy)9;
  hpar_status status = parse(parser, options, document, stats);
  check(status == HPAR_ERROR_ARGUMENT, "parallel options", hpar_status_text(status));
  options->parallel.wait = HPAR_WAIT_ADAPTIVE;
  check(!hpar_parser_begin(parser, options, document), "begin", hpar_parser_error(parser)->text);
  check(!hpar_parser_feed(parser, "<p>x", 4), "feed", hpar_parser_error(parser)->text);
  check(!hpar_parser_finish(parser, stats), "finish", hpar_parser_error(parser)->text);
  hpar_input input = {HPAR_INPUT_INIT, .bytes = "<p>x", .length = 4};
  check(!hpar_parse_many(parser, options, &input, 1, many, NULL, NULL), "many", hpar_parser_error(parser)->text);
  check(many->inputs == 1 && many->failed == 0 && many->ns.total > 0, "statistics of many", "counters differ");
#ifdef ADDED
  options->added = 1;
  status = parse(parser, options, document, stats);
  bool is_known = ADDED;
  check(status == (is_known ? HPAR_OK : HPAR_ERROR_ARGUMENT), "a new option", hpar_status_text(status));
  check(is_known || strstr(hpar_parser_error(parser)->text, "hpar_options"), "its error text",
        hpar_parser_error(parser)->text);
#endif
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return failures != 0;
}
