#include "speculation/cuts/work.h"

enum { BLOCK = 64, LEAST_DISTANCE = 256 };
/* By least squares over 47 pages: a tag takes as long as 800 bytes without tags. */
enum { BLOCK_WORK = 1, TAG_WORK = 13 };

static uint32_t tags_in_block(const char *at) {
  uint8_t count = 0;
  for (int i = 0; i < BLOCK; i++) count = (uint8_t)(count + (at[i] == '<'));
  return count;
}

/* Returns the first block at or after `at` that is a whole cache line. */
static const char *block_at(const char *at) { return at + (-(uintptr_t)at & (BLOCK - 1)); }

void hp_estimate_work(hp_work_estimate *estimate, const char *text, size_t length) {
  size_t distance = length / HP_WORK_SAMPLES + 1;
  if (distance < LEAST_DISTANCE) distance = LEAST_DISTANCE;
  uint32_t count = (uint32_t)(length / distance);
  estimate->length = length;
  estimate->distance = distance;
  estimate->count = count;
  /* Another thread may have decoded a part of the text. */
  for (uint32_t i = 0; i < count; i++) __builtin_prefetch(block_at(text + i * distance));
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += BLOCK_WORK + TAG_WORK * tags_in_block(block_at(text + i * distance));
    estimate->until[i] = sum;
  }
}

uint64_t hp_work_until(const hp_work_estimate *estimate, size_t place) {
  size_t sample = place / estimate->distance;
  if (sample > estimate->count) sample = estimate->count;
  return sample ? (uint64_t)estimate->until[sample - 1] * estimate->distance : 0;
}

size_t hp_work_place(const hp_work_estimate *estimate, uint64_t part, uint64_t whole) {
  if (!estimate->count) return (size_t)((uint64_t)estimate->length * part / whole);
  uint64_t wanted = (uint64_t)estimate->until[estimate->count - 1] * part / whole;
  uint32_t low = 0, high = estimate->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (estimate->until[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  size_t place = (low + (size_t)1) * estimate->distance;
  return place < estimate->length ? place : estimate->length;
}
