#ifndef HPAR_STATUS_H
#define HPAR_STATUS_H

/* What a call came to. Malformed HTML is never an error: every byte sequence has a tree. */

#if defined(HPAR_STATIC) || !defined(__GNUC__)
#define HPAR_API
#else
#define HPAR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hpar_status {
  HPAR_OK = 0,
  HPAR_ERROR_MEMORY,      /* an allocation, or the reservation of address space, failed */
  HPAR_ERROR_ARGUMENT,    /* an option or argument is outside its documented range */
  HPAR_ERROR_IO,          /* a file could not be read or written; errno says why */
  HPAR_ERROR_TOO_LARGE,   /* the input is longer than HPAR_MAX_INPUT bytes */
  HPAR_ERROR_UNSUPPORTED, /* this build was made without the part that was asked for */

  /* From here on: a limit of hpar_options was reached. The document holds the tree as it was then, and the statistics
   * are those of what was parsed. */
  HPAR_LIMIT_DEPTH = 16,
  HPAR_LIMIT_NODES,
  HPAR_LIMIT_MEMORY,
  HPAR_LIMIT_ATTRIBUTES,
  HPAR_LIMIT_TIME,
  HPAR_LIMIT_INPUT
} hpar_status;

/* A short English sentence, without a full stop, for any status. Never NULL; static storage. */
HPAR_API const char *hpar_status_text(hpar_status status);

/* The library's version, "MAJOR.MINOR.PATCH". Static storage. */
HPAR_API const char *hpar_version(void);

#ifdef __cplusplus
}
#endif
#endif
