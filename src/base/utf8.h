#ifndef HP_BASE_UTF8_H
#define HP_BASE_UTF8_H

/* One UTF-8 sequence at a time: what the kernels fall back on, and what the decoder repairs by. */

/* The length of the well-formed sequence at `at` < `end`; where there is none, minus the length
 * of the maximal subpart, that is of what the Encoding Standard's decoder replaces by one
 * U+FFFD. */
static inline int hp_utf8_sequence(const char *at, const char *end) {
  unsigned char first = (unsigned char)at[0], least = 0x80, most = 0xBF;
  int more;
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return -1;
  if (first < 0xE0) {
    more = 1;
  } else if (first < 0xF0) {
    more = 2;
    if (first == 0xE0) least = 0xA0;
    if (first == 0xED) most = 0x9F;
  } else {
    more = 3;
    if (first == 0xF0) least = 0x90;
    if (first == 0xF4) most = 0x8F;
  }
  for (int i = 1; i <= more; i++) {
    if (at + i == end) return -i;
    unsigned char next = (unsigned char)at[i];
    if (next < least || next > most) return -i;
    least = 0x80;
    most = 0xBF;
  }
  return more + 1;
}

#endif
