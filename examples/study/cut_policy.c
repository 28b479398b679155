/* A cut policy: cuts before the start tag of a block, because text and inline elements before such
 * a tag are usually complete. Builds with
 *   cc -shared -fPIC $(pkg-config --cflags hpar) cut_policy.c -o cut_policy.so
 * and runs with
 *   hpar compare --plugin cut_policy.so --cut blocks PAGE.html */

#include <hpar/study.h>

enum { REACH = 4 << 10 }; /* bytes after the even cut; then any tag is good enough */

static const char *const blocks[] = {"div", "p", "li", "ul", "ol", "table", "section", "article", "h1", "h2", "h3"};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Returns whether the tag name at `at` is `name`, in lower case. */
static bool is_name(const char *at, const char *end, const char *name) {
  for (; *name; at++, name++)
    if (at == end || (*at | 0x20) != (*name | 0x20)) return false;
  return at < end && !is_letter(*at) && !(*at >= '0' && *at <= '9');
}

static bool is_block(const char *name, const char *end) {
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    if (is_name(name, end, blocks[i])) return true;
  return false;
}

/* The library moves a cut out of a character, so that no result is wrong. */
static size_t cut(const char *text, size_t length, size_t even, void *context) {
  (void)context;
  const char *end = text + length;
  size_t any_tag = length;
  for (size_t at = even; at + 1 < length; at++) {
    if (text[at] != '<' || !is_letter(text[at + 1])) continue;
    if (is_block(text + at + 1, end)) return at;
    if (any_tag == length) any_tag = at;
    if (at - even >= REACH) return any_tag;
  }
  return any_tag;
}

static const hpar_cut_policy policy = {HPAR_CUT_POLICY_INIT, .name = "blocks", .cut = cut,
                                       .summary = "before the start tag of a block"};
static const hpar_cut_policy *const policies[] = {&policy, NULL};
static const hpar_plugin plugin = {HPAR_PLUGIN_VERSION, .name = "cut_policy", .cut_policies = policies};

HPAR_PLUGIN { return &plugin; }
