#ifndef HP_REWRITE_RULES_H
#define HP_REWRITE_RULES_H

/* Rules: selectors, actions and callbacks. They are immutable after hpar_rules_compile. */

#include "base/call.h"
#include "rewrite/scan.h"
#include "select/match.h"

#include <hpar/rewrite.h>

/* Returns true if a rule may give an element or an attribute this name. Stricter than the DOM: such
 * a name is the same in each encoding and has no parse error. */
bool hp_is_rule_name(const char *name, bool of_attribute);

typedef struct hp_rule {
  hpar_rule given;      /* without `actions` and `selector` */
  hpar_action *actions; /* copies, as are their strings */
  bool is_document;     /* no selector */
  bool edits_text, edits_comments, edits_doctype;
  bool edits_urls;         /* of elements, and the texts of style elements */
  bool edits_sheets_only;  /* no other texts */
  uint32_t runs;           /* with across_tags: the first action's index in hp_units.runs */
  bool finds_base;         /* the library's own rule: it notes the base element */
  bool value_needs_quotes; /* of `setting` */
  /* Of a rule that only sets one attribute to a value that all encodings and quotes write alike:
   * the attribute with a space before it, for example ` href="/"`. Otherwise NULL. */
  char *setting;
  uint32_t name_length, setting_length; /* of the attribute's name; of `setting` */
} hp_rule;

/* Returns true if a callback of the rule may run between two elements. */
static inline bool hp_rule_calls_units(const hp_rule *rule) {
  return rule->given.text || rule->given.comment || rule->given.doctype || rule->given.url;
}
static inline bool hp_rule_has_callbacks(const hp_rule *rule) {
  return rule->given.element || rule->given.end || hp_rule_calls_units(rule);
}

/* Returns true if the merger must run the rule: it has callbacks that are not pure, or its limit is
 * below `min_limit`. */
static inline bool hp_rule_needs_merger(const hp_rule *rule, uint64_t min_limit) {
  return (hp_rule_has_callbacks(rule) && !rule->given.pure) || (rule->given.limit && rule->given.limit < min_limit);
}

/* Returns true if a match can end the rule. */
static inline bool hp_rule_may_retire(const hp_rule *rule) { return hp_rule_has_callbacks(rule) || rule->given.limit; }

/* What selectors read of an attribute. */
typedef enum hp_reading { HP_READS_NOTHING, HP_READS_NAME, HP_READS_VALUE } hp_reading;

/* What the rules read of attributes. */
typedef struct hp_attribute_reading {
  uint8_t of[HP_KNOWN_ATOMS]; /* hp_reading, in HTML elements; the rules read all others */
  uint64_t names;             /* bits of hp_attribute_bit: what HTML elements need */
  uint32_t count;             /* of the entries of `of` that read */
  bool known_only;            /* selectors read no other attributes of HTML elements */
} hp_attribute_reading;

struct hpar_rules {
  hp_in_use use;             /* each stream is one */
  hpar_selectors *selectors; /* of the rules that have one, in order */
  hp_rule *rules;
  uint32_t count, capacity;
  uint32_t *unit_rules; /* indexes of the rules for texts, comments or the doctype, ascending */
  uint32_t unit_rule_count;
  bool edits_texts, has_scopes; /* some rule edits texts; some selector has texts or comments */
  bool edits_urls;
  uint32_t run_count;    /* actions of the rules with across_tags */
  uint32_t *of_selector; /* index of the rule */
  uint32_t selector_count, selector_capacity;
  hpar_document *document; /* its atoms are the names of the selectors */
  hp_matcher matcher;      /* bound to them; rewriters copy it */
  bool is_compiled;
  hp_attribute_reading reading;
  bool needs_frames;              /* matching needs the open elements */
  bool needs_every_tag;           /* matching counts elements */
  bool needs_attributes;          /* some compound is found by an attribute alone */
  bool has_universal;             /* some compound matches any name */
  bool reads_implied;             /* some rule matches elements without a tag */
  bool skips_tags;                /* tags that match nothing have no effect on matching */
  uint8_t starts[HP_KNOWN_ATOMS]; /* for hp_outline_fast: OTHER for tags that may match */
};

/* Ends a use of the rules. A callback may have destroyed them: then they are freed. */
void hp_rules_end_use(const hpar_rules *rules);

/*** while a stream runs ***/

/* The rules of a stream while it runs. A rule for texts, comments or the doctype has a scope: the
 * document, or the open elements that match. The counters tell the loop what no rule is for. */

typedef struct hp_rule_state {
  uint64_t matches;
  uint32_t open;    /* elements in scope; 1 more for a rule for the document */
  bool is_complete; /* it matches no more elements: because of its limit, or as it is retired */
  bool is_retired;
} hp_rule_state;

typedef struct hp_running_rules {
  const hpar_rules *held; /* that a stream from hpar_rewriter_begin keeps alive; NULL: none */
  hp_rule_state *states;  /* by rule */
  uint32_t capacity;
  uint32_t active; /* that are not complete, and may still edit something */
  /* Those of them whose scope is open here. */
  uint32_t texts, whole_texts, comments, doctypes;
  uint32_t across; /* those of `texts` with across_tags */
  uint32_t ends;   /* for the end of the document */
  bool confirms;   /* the rewriter only reads the output of another one: see window.c */
} hp_running_rules;

/* Begins with all rules, or with `confirms` those for elements. */
void hp_running_rules_open(hp_running_rules *running, const hpar_rules *rules, hp_unwind *unwind);
/* Ends the stream's use of the rules. */
void hp_running_rules_release(hp_running_rules *running);
void hp_running_rules_close(hp_running_rules *running);

/* Sets which scopes are open, by rule. */
void hp_running_rules_set_scopes(hp_running_rules *running, const hpar_rules *rules, const hp_bits *open);
/* One more element is in the scope of a rule, or one less. */
void hp_running_rules_change_scope(hp_running_rules *running, const hpar_rules *rules, uint32_t rule, bool opens);
/* Ends the matches of a rule. Returns false if they have ended before. */
bool hp_running_rules_complete(hp_running_rules *running, const hpar_rules *rules, uint32_t rule);
/* Ends a complete rule, also inside the elements that it has matched. */
void hp_running_rules_retire(hp_running_rules *running, const hpar_rules *rules, uint32_t rule);

/* Returns true if the rule runs for units in the current scopes. */
static inline bool hp_running_rules_reach(const hp_running_rules *running, uint32_t rule) {
  return running->states[rule].open && !running->states[rule].is_retired;
}

#endif
