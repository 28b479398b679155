/* Where a text is divided into chunks, how long these are, and how the work is spread over the
 * text, by samples of its tags. */

#include "speculation/cut.h"

#include "base/bytes.h"
#include "speculation/strategy.h"

#include <string.h>

/* After `max_misses` "<" that begin no tag, the search would take longer than the parse. */
static size_t find_smart_cut(const char *text, size_t length, size_t from, unsigned max_misses) {
  const char *end = text + length, *at = text + from;
  for (unsigned misses = 0; misses < max_misses && at < end; misses++, at++) {
    at = memchr(at, '<', (size_t)(end - at));
    if (!at || end - at < 3) break;
    if (hp_ascii_is_letter(at[1])) return (size_t)(at - text);
    if (at[1] == '/' && hp_ascii_is_letter(at[2]) && !hp_raw_text_at(at + 2, end, true)) return (size_t)(at - text);
  }
  return length;
}

const hp_cut_policy hp_smart_cuts = {
    .name = "smart", .summary = "before a tag, but after one that ends raw text", .find = find_smart_cut};

size_t hp_find_cut(const hp_cut_policy *policy, const char *text, size_t length, size_t from) {
  enum { MAX_MISSES = 1000 };
  return policy->find(text, length, from, MAX_MISSES);
}

size_t hp_cut_by(const hp_cut_choice *choice, const char *text, size_t length, size_t from) {
  if (!choice->find) return hp_find_cut(choice->policy, text, length, from);
  size_t cut = choice->find(choice->data, text, length, from);
  if (cut < from) cut = from;
  while (cut < length && ((unsigned char)text[cut] & 0xc0) == 0x80) cut++;
  return cut < length ? cut : length;
}

uint32_t hp_lazy_cut(const hp_lazy_cuts *cuts, uint32_t chunk) {
  enum { LONGEST_TAG = 16 }; /* a policy reads so many bytes after a cut */
  enum { MAX_MISSES = 32 };  /* in `distance` bytes */
  if (!chunk) return 0;
  for (size_t from = chunk * cuts->distance, end; from < cuts->length; from = end) {
    end = from + cuts->distance < cuts->length ? from + cuts->distance : cuts->length;
    size_t readable = end + LONGEST_TAG < cuts->length ? end + LONGEST_TAG : cuts->length;
    size_t cut = cuts->policy->find(cuts->text, readable, from, MAX_MISSES);
    if (cut < end) return (uint32_t)cut;
  }
  return (uint32_t)cuts->length;
}

uint32_t hp_lazy_end(const hp_lazy_cuts *cuts, uint32_t chunk, uint32_t begin) {
  return begin >= (chunk + (size_t)1) * cuts->distance ? begin : hp_lazy_cut(cuts, chunk + 1);
}

size_t hp_joinable_chunk_size(size_t length, unsigned threads) {
  enum { LEAST = 4 << 10, MOST = 32 << 10, PARTS = 24 };
  size_t size = length / ((size_t)threads * PARTS) + 1;
  if (size < LEAST) size = LEAST;
  return size > MOST ? MOST : size;
}

size_t hp_chunk_size(size_t come, unsigned threads) {
  enum { LEAST = 16 << 10, MOST = 128 << 10 };
  size_t size = come / (threads * 4) + 1;
  if (size < LEAST) size = LEAST;
  return size > MOST ? MOST : size;
}

/*** the work by place ***/

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

void hp_estimate_cost(hp_cost_estimate *estimate, const char *text, size_t length) {
  size_t distance = length / HP_COST_SAMPLES + 1;
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

uint64_t hp_cost_until(const hp_cost_estimate *estimate, size_t place) {
  size_t sample = place / estimate->distance;
  if (sample > estimate->count) sample = estimate->count;
  return sample ? (uint64_t)estimate->until[sample - 1] * estimate->distance : 0;
}

size_t hp_cost_place(const hp_cost_estimate *estimate, uint64_t part, uint64_t whole) {
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
