#ifndef HP_REWRITE_RULES_H
#define HP_REWRITE_RULES_H

/* Rules: selectors, actions and callbacks. They are immutable after hpar_rules_compile. */

#include "select/match.h"

#include <hpar/rewriter.h>

enum { HP_RULE_DOCUMENT = -1 };

typedef struct hp_rule {
  hpar_rule given;      /* without `actions` and `selector` */
  hpar_action *actions; /* copies, as are their strings */
  bool is_document;     /* no selector */
  bool edits_text, edits_comments, edits_doctype;
} hp_rule;

struct hpar_rules {
  hpar_selectors *selectors; /* of the rules that have one, in order */
  hp_rule *rules;
  uint32_t count, capacity;
  uint32_t *of_selector; /* index of the rule */
  uint32_t selector_count, selector_capacity;
  hpar_document *document; /* its atoms are the names of the selectors */
  hp_matcher matcher;      /* bound to them; rewriters copy it */
  bool is_compiled;
  bool reads_attribute[HP_KNOWN_ATOMS]; /* of HTML elements; the rules read all others by name */
  bool needs_frames;                    /* matching needs the open elements */
  bool needs_every_tag;                 /* matching counts elements */
  bool needs_attributes;                /* some compound is found by an attribute alone */
  bool has_universal;                   /* some compound matches any name */
  bool reads_implied;                   /* some rule matches elements without a tag */
};

#endif
