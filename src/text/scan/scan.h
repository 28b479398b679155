#ifndef HP_TEXT_SCAN_SCAN_H
#define HP_TEXT_SCAN_SCAN_H

/* Searching bytes at memory speed. Each function returns a pointer to the first byte in [at,
 * end) that is in its set, or `end`; none reads outside [at, end). One source per instruction
 * set, chosen once at run time; all are equal to the plain ones and are tested against them. */

#include <stdbool.h>
#include <stddef.h>

enum { HP_SCAN_COUNTED = 256 };

typedef struct hp_scan_kernels {                                      // value
  const char *name;                                                   /* "avx2", "neon" ... */
  const char *(*text)(const char *at, const char *end);               /* < & CR NUL */
  const char *(*raw)(const char *at, const char *end);                /* < CR NUL */
  const char *(*quoted)(const char *at, const char *end, char quote); /* quote & CR NUL */
  const char *(*quote)(const char *at, const char *end, char quote);  /* quote CR NUL */
  const char *(*not_white)(const char *at, const char *end);          /* no white space */
  const char *(*byte)(const char *at, const char *end, char byte);
  /* Returns the ">" that ends a tag, whose name ends at `at`. `*self_closing` becomes true if the
   * "/" before it is not part of a value. */
  const char *(*tag_end)(const char *at, const char *end, bool *self_closing);
  /* Searches for an opener, after which the tokenizer's state may be another one, and returns its
   * address, or `end`: <!-, or <XY where XY is, in either case, one of scr sty svg tex tit mat xm
   * if no, of which the third letter may lie beyond `end`. All of its bytes lie in [at, end). */
  const char *(*next_opener)(const char *at, const char *end);
  const char *(*last_opener)(const char *at, const char *end); /* the same backwards; `at - 1` */
  /* Searches forwards for bytes that may change the state of a script or a style sheet: <!- and,
   * in either case, <sc, </sc and </st. All of the bytes lie before `end`. */
  const char *(*in_script)(const char *at, const char *end);
  /* The first byte of the first sequence that is not well-formed UTF-8, one that `end` cuts
   * short included. */
  const char *(*invalid_utf8)(const char *at, const char *end);
  /* In valid UTF-8, the first byte of a character that may be a parse error in the input stream,
   * being a control or a noncharacter: 01..08 0B 0E..1F 7F C2 and all from EF on. NUL is none of
   * them. */
  const char *(*control)(const char *at, const char *end);
  /* Returns the number of those of the `length` bytes for which byte & mask == value. Requires:
   * `length` is at most HP_SCAN_COUNTED. Reads HP_SCAN_COUNTED bytes from `at` on. */
  unsigned (*count)(const char *at, unsigned length, unsigned char mask, unsigned char value);
} hp_scan_kernels;

/* The best for this processor; HPAR_SIMD=plain|sse2|avx2|neon in the environment picks
 * another of those that it can run. */
const hp_scan_kernels *hp_scan(void);

/* All that this processor can run, the best first, NULL past the last; for tests. */
const hp_scan_kernels *hp_scan_at(size_t index);

/* The kernels of each instruction set that this architecture has; to be called only where the
 * processor can. */

extern const hp_scan_kernels hp_scan_plain;
#if defined(__x86_64__)
extern const hp_scan_kernels hp_scan_sse2, hp_scan_avx2;
#elif defined(__aarch64__)
extern const hp_scan_kernels hp_scan_neon;
#endif

#define HP_SCAN_INLINE static inline __attribute__((always_inline)) TARGET

#endif
