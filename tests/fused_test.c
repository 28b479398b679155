/* Checks that the kinds of tags that the fused loop processes agree with the bits of their names,
 * which the general path uses. */

#include "check.h"
#include "html/dom/tag.h"
#include "html/tree/fused_kinds.h"

enum {
  LINKS = HP_TAG_SPECIAL | HP_TAG_SCOPE | HP_TAG_LI_BARRIER,
  RELEVANT = LINKS | HP_TAG_FORMATTING | HP_TAG_HEADING | HP_TAG_TABLE_CONTEXT | HP_TAG_VOID | HP_TAG_TABLE_PART |
             HP_TAG_OUTWARD | HP_TAG_RAW_TEXT | HP_TAG_ITEM
};

/* Returns the bits that all names of the kind have. */
static unsigned bits_of(hp_fused_kind kind) {
  unsigned block = HP_TAG_SPECIAL | HP_TAG_LI_BARRIER;
  switch (kind) {
    case HP_FUSED_DIV: return HP_TAG_SPECIAL;
    case HP_FUSED_BLOCK: return block;
    case HP_FUSED_HEADING: return block | HP_TAG_HEADING;
    case HP_FUSED_ITEM: return block | HP_TAG_ITEM;
    case HP_FUSED_FORMATTING: return HP_TAG_FORMATTING;
    case HP_FUSED_VOID: return block | HP_TAG_VOID;
    case HP_FUSED_CELL: return block | HP_TAG_SCOPE | HP_TAG_TABLE_PART | HP_TAG_OUTWARD;
    case HP_FUSED_ROW: return block | HP_TAG_TABLE_CONTEXT | HP_TAG_TABLE_PART | HP_TAG_OUTWARD;
    default: return 0;
  }
}

int main(void) {
  unsigned starts = 0, ends = 0;
  for (hp_atom name = 1; name < HP_KNOWN_ATOMS; name++) {
    hp_fused_kind start = hp_fused_starts[name];
    unsigned bits = hp_html_tag(name);
    if (start == HP_FUSED_OTHER) continue;
    starts++;
    CHECK(name < HP_TESTED_TAGS);
    CHECK((bits & RELEVANT) == bits_of(start));
  }
  for (hp_atom name = 1; name < HP_TESTED_TAGS; name++) {
    hp_fused_kind end = hp_fused_ends[name];
    unsigned bits = hp_html_tag(name);
    if (end == HP_FUSED_OTHER) continue;
    ends++;
    CHECK(hp_fused_starts[name] != HP_FUSED_VOID);
    CHECK((end == HP_FUSED_FORMATTING) == ((bits & HP_TAG_FORMATTING) != 0));
  }
  CHECK(starts > 50 && ends > 50);
  return check_report();
}
