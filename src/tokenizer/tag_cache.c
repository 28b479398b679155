#include "tokenizer/tag_cache.h"

#include "base/memory.h"

_Static_assert(HP_CACHED_TAGS == 1 << 8, "a hash has 8 bits");

void hp_tag_cache_open(hp_tokenizer *t) {
  bool is_exact = hp_range_is_exact(t->nodes->range);
  t->tags.cached = is_exact ? NULL : t->tags.memory;
  t->tags.from = is_exact || t->tags.memory ? SIZE_MAX : HP_UNCACHED_BYTES;
  if (++t->tags.generation) return;
  t->tags.generation = 1;
  if (t->tags.memory) memset(t->tags.memory, 0, HP_CACHED_TAGS * sizeof *t->tags.memory);
}

void hp_tag_cache_make(hp_tokenizer *t) {
  t->tags.cached = t->tags.memory = hp_allocate_zeroed(HP_CACHED_TAGS * sizeof *t->tags.memory);
  t->tags.from = SIZE_MAX;
}
