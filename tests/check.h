#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

/* Checks for a test program. Each check counts. A check that fails prints its place and the
 * value that it got, and the program continues. `return check_report();` ends main.
 *
 * A program may have parts, each a ctest of its own: see HPAR_TEST_PARTS in CMakeLists.txt. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exit status of a test, or of its part, that lacks what it needs: ctest counts it as
 * skipped. */
enum { CHECK_SKIPPED = 77 };

/* Whether parts of a test that use one thread run. ThreadSanitizer finds nothing there, and takes
 * ten times as long. */
#ifdef __SANITIZE_THREAD__
enum { CHECK_ONE_THREAD = false };
#else
enum { CHECK_ONE_THREAD = true };
#endif

static unsigned long check_passed, check_failed;

/* Returns whether the first argument of main selects the part `name`. */
static inline bool check_part(int count, char **arguments, const char *name) {
  return count > 1 && !strcmp(arguments[1], name);
}

static inline bool check_at(bool fine, const char *what, const char *file, int line) {
  if (fine) {
    check_passed++;
  } else {
    check_failed++;
    printf("%s:%d: failed: %s\n", file, line, what);
#ifdef CHECK_STOPS /* scripts/mutate: one failure is enough */
    _Exit(1);
#endif
  }
  return fine;
}

static inline bool check_integers_at(long long got, long long expected, const char *what, const char *file, int line) {
  bool fine = check_at(got == expected, what, file, line);
  if (!fine) printf("  got %lld, expected %lld\n", got, expected);
  return fine;
}

static inline bool check_bytes_at(const char *got, size_t got_length, const char *expected, size_t expected_length,
                                  const char *what, const char *file, int line) {
  bool fine =
      check_at(got_length == expected_length && (!got_length || !memcmp(got, expected, got_length)), what, file, line);
  if (!fine) {
    printf("  got      (%zu bytes) %.*s\n", got_length, (int)got_length, got ? got : "");
    printf("  expected (%zu bytes) %.*s\n", expected_length, (int)expected_length, expected ? expected : "");
  }
  return fine;
}

static inline int check_report(void) {
  printf("%lu passed, %lu failed\n", check_passed, check_failed);
  return check_failed ? 1 : 0;
}

#define CHECK(condition) check_at((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, expected) \
  check_integers_at((long long)(got), (long long)(expected), #got " == " #expected, __FILE__, __LINE__)
#define CHECK_STRING(got, expected)                                                                             \
  check_bytes_at((got), (got) ? strlen(got) : 0, (expected), strlen(expected), #got " is " #expected, __FILE__, \
                 __LINE__)
#define CHECK_BYTES(got, got_length, expected, expected_length) \
  check_bytes_at((got), (got_length), (expected), (expected_length), #got, __FILE__, __LINE__)

#endif
