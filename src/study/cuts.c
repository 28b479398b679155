#include "study/cuts.h"

#include "base/bytes.h"

#include <hpar/study.h>
#include <string.h>

static size_t before_tag(const char *text, size_t length, size_t from, unsigned max_misses) {
  const char *end = text + length, *at = text + from;
  for (; max_misses && at < end && (at = memchr(at, '<', (size_t)(end - at))) && end - at > 2; max_misses--, at++)
    if (hp_ascii_is_letter(at[at[1] == '/' ? 2 : 1])) return (size_t)(at - text);
  return length;
}

static size_t after_tag(const char *text, size_t length, size_t from, unsigned max_misses) {
  (void)max_misses;
  const char *tag_end = from < length ? memchr(text + from, '>', length - from) : NULL;
  return tag_end ? (size_t)(tag_end - text) + 1 : length;
}

static size_t between_characters(const char *text, size_t length, size_t from, unsigned max_misses) {
  (void)max_misses;
  while (from < length && ((unsigned char)text[from] & 0xc0) == 0x80) from++;
  return from;
}

const hp_cut_policy hp_cuts_before_tags = {"before-tag", "before a tag, as in the paper", before_tag};
static const hp_cut_policy of_after_tag = {"after-tag", "after a \">\", as in the paper's prototype", after_tag};
static const hp_cut_policy of_even = {"even", "at equal distances, wherever that is", between_characters};
static const hp_cut_policy of_exact = {"exact", "where a token begins, by a sequential parse before: the upper bound",
                                       NULL};

const hp_cut_policy *const hp_cut_policies[HP_CUT_POLICIES] = {&hp_smart_cuts, &hp_cuts_before_tags, &of_after_tag,
                                                               &of_even, &of_exact};

const hp_cut_policy *hp_cut_policy_named(const char *name) {
  for (int i = 0; i < HP_CUT_POLICIES; i++)
    if (!strcmp(hp_cut_policies[i]->name, name)) return hp_cut_policies[i];
  return NULL;
}

const char *hpar_cut_policy_name(size_t index) { return index < HP_CUT_POLICIES ? hp_cut_policies[index]->name : NULL; }

const char *hpar_cut_policy_summary(size_t index) {
  return index < HP_CUT_POLICIES ? hp_cut_policies[index]->summary : NULL;
}
