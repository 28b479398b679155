#ifndef HPAR_STATUS_H
#define HPAR_STATUS_H

/* The results of calls. Malformed HTML is never an error: every byte sequence has a tree. */

#include <hpar/version.h>
#include <stdint.h>

#if defined(HPAR_STATIC) || !defined(__GNUC__)
#define HPAR_API
#else
#define HPAR_API __attribute__((visibility("default")))
#endif

/* What the macros HPAR_..._INIT stand for. All fields but `size` are zero, which is their default:
 *
 *   hpar_options options = {HPAR_OPTIONS_INIT};
 *
 * In C, fields may follow by their names, as in {HPAR_OPTIONS_INIT, .threads = 4}. In C++, assign
 * them after the initialisation. C++11 to C++17 have no such names, and C++20 compilers warn of
 * each field that is not named. */
#if defined __cplusplus && __cplusplus >= 201103L
extern "C++" {
template <class type> inline type hpar_sized() {
  type made = type();
  made.size = sizeof(type);
  return made;
}
}
#define HPAR_SIZED(type) hpar_sized<type>()
#else
#define HPAR_SIZED(type) .size = sizeof(type)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hpar_status {
  HPAR_OK = 0,
  HPAR_ERROR_MEMORY,      /* the library cannot allocate memory or reserve address space */
  HPAR_ERROR_ARGUMENT,    /* an option or argument is outside its documented range */
  HPAR_ERROR_IO,          /* a file cannot be read or written; errno has the reason */
  HPAR_ERROR_TOO_LARGE,   /* the input is longer than HPAR_MAX_INPUT bytes */
  HPAR_ERROR_UNSUPPORTED, /* this build or this system lacks the requested part */
  HPAR_ERROR_CALLBACK,    /* a callback of the caller failed */

  /* A limit of hpar_limits was reached. The document has the tree so far, and the statistics count
   * the parsed part. */
  HPAR_LIMIT_DEPTH = 16,
  HPAR_LIMIT_NODES,
  HPAR_LIMIT_MEMORY,
  HPAR_LIMIT_ATTRIBUTES,
  HPAR_LIMIT_TIME,
  HPAR_LIMIT_INPUT
} hpar_status;

/* Why a call failed, for the functions that take one. Each of them accepts NULL, and sets all
 * fields otherwise, after a success too: `status` is HPAR_OK then, and `text` is empty. */
typedef struct hpar_error {
  hpar_status status;
  uint64_t offset; /* of the problem in a text that the caller gave, a selector say; otherwise 0 */
  char text[256];  /* a sentence without a full stop: the argument, its value, what is accepted */
} hpar_error;

/* Returns a short English sentence without a full stop for any value. The text is never NULL and
 * has static storage. Any number of threads may call this at once. */
HPAR_API const char *hpar_status_text(hpar_status status);

/* Returns the library's version, "MAJOR.MINOR.PATCH", in static storage. Any number of threads may
 * call this at once. */
HPAR_API const char *hpar_version(void);

#ifdef __cplusplus
}
#endif
#endif
