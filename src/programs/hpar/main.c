#include "programs/hpar/cli.h"

#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MIN_STACK = 128 << 10 };

/* Ends the program if its stack is too small. Otherwise a library's constructor, or a command,
 * would crash. */
__attribute__((no_sanitize_address, no_sanitize_thread)) static void check_stack(void) {
  static const char message[] =
      "hpar: the limit of the stack is below 128 KB; raise it, for example by 'ulimit -s 8192'\n";
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= MIN_STACK) return;
  ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
  (void)ignored;
  _exit(HP_EXIT_FAILED);
}

/* glibc calls these functions before the constructors of libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const before_constructors)(void) = check_stack;

static const struct {
  const char *name;
  int (*run)(int count, char **arguments);
  const char *summary;
} commands[] = {
    {"parse", hp_run_parse, "parse a page and print its tree, its HTML or nothing"},
    {"text", hp_run_text, "print the text of pages"},
    {"links", hp_run_links, "print the links of pages, resolved"},
    {"resources", hp_run_resources, "print the resources of pages, or when a parse finds them"},
    {"compare", hp_run_compare, "parse pages in every mode: equal trees, times, speed-up, accuracy"},
    {"select", hp_run_select, "print the elements that CSS selectors match"},
    {"rewrite", hp_run_rewrite, "edit pages by rules, while they are read"},
    {"tokens", hp_run_tokens, "print a page's tokens in the html5lib tokenizer-test format"},
    {"explain", hp_run_explain, "print the outcome of each chunk of a parallel parse, with its reason"},
    {"trace", hp_run_trace, "write the timeline of a parallel parse as Chrome trace events"},
    {"profile", hp_run_profile, "count properties of pages: states at cuts, modes, switches, lists"},
    {"project", hp_run_project, "project the speed-up on more cores from measured tasks"},
    {"crawl", hp_run_crawl, "count properties of the pages in web archives"},
    {"bench", hp_run_bench, "measure the modules of HPar, each alone, and store the results"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *file) {
  fputs("usage: hpar COMMAND [options] FILE...\n       hpar --version | --help\n\n"
        "HPar parses HTML by the Living Standard, on one thread or on many, to the same tree.\n\ncommands:\n",
        file);
  for (size_t i = 0; i < COMMANDS; i++) fprintf(file, "  %-9s %s\n", commands[i].name, commands[i].summary);
  fputs("\nhpar COMMAND --help explains a command. The FILE - is standard input.\n"
        "Exit status: 0 success, 1 a difference or an unreadable file, 2 wrong usage.\n",
        file);
}

/* Prints the version, and in a second line whether the build of the library used a profile. */
static void print_version(void) {
  static const char profile[] = HPAR_PROFILE;
  const char *state = !*profile                ? "no profile"
                      : strcmp(profile, "USE") ? "records a profile"
                                               : "optimised by a profile";
  printf("hpar %s\nbuild: %s\n", hpar_version(), state);
}

int main(int count, char **arguments) {
  check_stack(); /* again, because not every C library calls it before */
  hp_occupy_standard_streams();
  signal(SIGPIPE, SIG_IGN);
  /* Both streams are fully buffered, because --errors can print millions of lines. No other thread
   * writes to them. */
  hp_open_standard_output();
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  setvbuf(stderr, NULL, _IOFBF, 1 << 16);
  __fsetlocking(stdout, FSETLOCKING_BYCALLER);
  __fsetlocking(stderr, FSETLOCKING_BYCALLER);
  if (count < 2) {
    print_usage(stderr);
    return HP_EXIT_USAGE;
  }
  const char *first = arguments[1];
  if (!strcmp(first, "--help") || !strcmp(first, "-h")) {
    print_usage(stdout);
    return hp_finish_output(HP_EXIT_FINE);
  }
  if (!strcmp(first, "--version")) {
    print_version();
    return hp_finish_output(HP_EXIT_FINE);
  }
  for (size_t i = 0; i < COMMANDS; i++) {
    if (!strcmp(first, commands[i].name)) return commands[i].run(count - 2, arguments + 2);
  }
  hp_complain("there is no command '%s': it is parse, text, links, resources, compare, select, rewrite, tokens, "
              "explain, trace, "
              "profile, project, crawl or bench (see 'hpar --help')",
              first);
  return HP_EXIT_USAGE;
}
