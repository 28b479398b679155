#include "tokenizer/tag_cache.h"

#include "base/memory.h"

_Static_assert(HP_CACHED_TAGS == 1 << 8, "a hash has 8 bits");

void hp_tag_cache_open(hp_tokenizer *t) {
  bool is_exact = hp_range_is_exact(t->nodes->range);
  t->cached_tags = is_exact ? NULL : t->cache_memory;
  t->cache_from = is_exact || t->cache_memory ? SIZE_MAX : HP_UNCACHED_BYTES;
  if (++t->cache_generation) return;
  t->cache_generation = 1;
  if (t->cache_memory) memset(t->cache_memory, 0, HP_CACHED_TAGS * sizeof *t->cache_memory);
}

void hp_tag_cache_make(hp_tokenizer *t) {
  t->cached_tags = t->cache_memory = hp_allocate_zeroed(HP_CACHED_TAGS * sizeof *t->cache_memory);
  t->cache_from = SIZE_MAX;
}
