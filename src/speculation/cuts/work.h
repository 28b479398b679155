#ifndef HP_SPECULATION_CUTS_WORK_H
#define HP_SPECULATION_CUTS_WORK_H

/* An estimate of the work by place. A parse takes little time for the bytes of scripts and text,
 * and much more for tags. The estimate counts tags in blocks of 64 bytes at equal distances. */

#include <stddef.h>
#include <stdint.h>

enum { HP_WORK_SAMPLES = 256 };

typedef struct hp_work_estimate {
  size_t length, distance;             /* of the text, between samples */
  uint32_t count;                      /* of the samples */
  uint32_t until[HP_WORK_SAMPLES + 1]; /* the work up to the end of each sample's distance */
} hp_work_estimate;

void hp_estimate_work(hp_work_estimate *estimate, const char *text, size_t length);

/* Returns the work in the text up to `place`, in the unit of a byte without tags. */
uint64_t hp_work_until(const hp_work_estimate *estimate, size_t place);

/* Returns the place that divides the work part : whole - part. Requires: part <= whole, and
 * whole > 0. */
size_t hp_work_place(const hp_work_estimate *estimate, uint64_t part, uint64_t whole);

#endif
