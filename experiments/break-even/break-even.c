/* break-even asleep|spinning RUNS FILE...: times of the sequential parser, of two threads and of the automatic mode on
 * the first 1 to 256 KB of each FILE from byte 5000 on, by turns; a line each. Asleep: 3 ms before each parse. */

#include <hpar/hpar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODES = 3, SKIPPED = 5000, WARM = 3 };

static const struct {
  const char *name;
  hpar_options options;
} modes[MODES] = {
    {"sequential", {.mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"}},
    {"parallel", {.mode = HPAR_MODE_PARALLEL, .threads = 2, .encoding = "utf-8"}},
    {"auto", {.mode = HPAR_MODE_AUTO, .threads = 2, .encoding = "utf-8"}},
};
static hpar_parser *parser; /* one, so that no other threads spin */
static hpar_document *documents[MODES];

static unsigned long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

static int by_number(const void *a, const void *b) {
  unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
  return (x > y) - (x < y);
}

/* Spinning, each parse follows one in its own mode, so that no pool has had time to fall asleep. */
static unsigned long long parse(int mode, const char *bytes, size_t length, int asleep) {
  hpar_options options = modes[mode].options;
  options.pool = asleep ? HPAR_POOL_SLEEP : HPAR_POOL_SPIN;
  if (asleep)
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  else
    hpar_parse(parser, &options, bytes, length, documents[mode], NULL);
  unsigned long long begin = now();
  hpar_parse(parser, &options, bytes, length, documents[mode], NULL);
  return now() - begin;
}

static void measure(const char *path, int kilobytes, const char *bytes, size_t length, int asleep, int runs) {
  unsigned long long *times = malloc(MODES * (size_t)runs * sizeof *times);
  for (int run = -WARM; run < runs; run++)
    for (int turn = 0; turn < MODES; turn++) {
      int mode = run & 1 ? MODES - 1 - turn : turn;
      times[mode * runs + (run < 0 ? 0 : run)] = parse(mode, bytes, length, asleep);
    }
  for (int mode = 0; mode < MODES; mode++) {
    unsigned long long *own = times + mode * runs;
    qsort(own, (size_t)runs, sizeof *own, by_number);
    printf("%d\t%s\t%s\t%s\t%llu\t%llu\t%d\n", kilobytes, path, asleep ? "asleep" : "spinning", modes[mode].name,
           own[0], own[runs / 2], runs);
  }
  free(times);
}

int main(int count, char **arguments) {
  static const int sizes[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256};
  if (count < 4 || atoi(arguments[2]) < 1) return 2;
  int asleep = !strcmp(arguments[1], "asleep");
  if (hpar_parser_create(&parser)) return 1;
  for (int mode = 0; mode < MODES; mode++)
    if (hpar_document_create(&documents[mode])) return 1;
  printf("size_kb\tpage\tpool\tmode\tns_min\tns_median\truns\n");
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int i = 3; i < count; i++) {
      size_t length = (size_t)sizes[s] << 10;
      char *bytes = malloc(length);
      FILE *file = fopen(arguments[i], "rb");
      if (file && !fseek(file, SKIPPED, SEEK_SET) && fread(bytes, 1, length, file) == length)
        measure(arguments[i], sizes[s], bytes, length, asleep, atoi(arguments[2]));
      if (file) fclose(file);
      free(bytes);
    }
  return 0;
}
