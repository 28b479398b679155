/* Measures the scan kernels: each set that this processor can run, over bytes outside the kernel's
 * set. */

#include "text/scan/scan.h"

#include "programs/bench/suite.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 64, MOST = 64 << 10 };

typedef enum kernel {
  TEXT,
  RAW,
  QUOTED,
  QUOTE,
  NOT_WHITE,
  BYTE,
  NEXT_OPENER,
  IN_SCRIPT,
  INVALID_UTF8,
  CONTROL,
  KERNELS
} kernel;

static const char *const names[KERNELS] = {"text", "raw",         "quoted",    "quote",        "not_white",
                                           "byte", "next_opener", "in_script", "invalid_utf8", "control"};

static const char *run_kernel(const hp_scan_kernels *set, kernel which, const char *at, const char *end) {
  switch (which) {
    case TEXT: return set->text(at, end);
    case RAW: return set->raw(at, end);
    case QUOTE: return set->quote(at, end, '"');
    case QUOTED: return set->quoted(at, end, '"');
    case NOT_WHITE: return set->not_white(at, end);
    case BYTE: return set->byte(at, end, '>');
    case NEXT_OPENER: return set->next_opener(at, end);
    case IN_SCRIPT: return set->in_script(at, end);
    case INVALID_UTF8: return set->invalid_utf8(at, end);
    default: return set->control(at, end);
  }
}

/* Returns lines of 64 bytes with a word of another script, or white space. */
static const char *field(kernel which) {
  static char letters[MOST + BATCH], spaces[MOST + BATCH];
  if (!letters[0]) {
    static const char line[] = "an early harbour opens, \xC3\xA9t\xC3\xA9, and the quiet engine follows it; ";
    for (size_t i = 0; i < sizeof letters; i++) letters[i] = line[i % (sizeof line - 1)];
    memset(spaces, ' ', sizeof spaces);
  }
  return which == NOT_WHITE ? spaces : letters;
}

static void scan(hp_bench_run *run, const hp_bench *self) {
  const hp_scan_kernels *set = self->subject;
  kernel which = (kernel)self->arguments[0];
  size_t length = (size_t)self->arguments[1];
  const char *bytes = field(which);
  /* Uses every alignment, except for UTF-8, where half a character would end the search. */
  size_t step = which == INVALID_UTF8 ? 0 : 1;
  while (hp_bench_next_batch(run, BATCH))
    for (size_t i = 0; i < BATCH; i++) {
      const char *at = bytes + i * step;
      hp_bench_keep(run_kernel(set, which, at, at + length));
    }
}

void hp_bench_add_scan(void) {
  static const size_t lengths[] = {8, 64, 1024, MOST};
  const hp_scan_kernels *set;
  for (size_t s = 0; (set = hp_scan_at(s)); s++)
    for (int k = 0; k < KERNELS; k++)
      for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char name[96];
        snprintf(name, sizeof name, "scan/%s/%s/%zu", names[k], set->name, lengths[i]);
        hp_bench_add(&(hp_bench){.name = name,
                                 .function = scan,
                                 .subject = set,
                                 .arguments = {k, (int64_t)lengths[i]},
                                 .bytes = lengths[i]});
      }
}
