/* The names of counters, hazards, outcomes and events in messages, in JSON and in tables. */

#include "base/error.h"
#include "merge/merge.h"
#include "study/true_state.h"

#include <hpar/study.h>

/* The numbers of the library are those of the header. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
SAME(HP_LOG_SPLICE, HPAR_LOG_SPLICE);
SAME(HP_LOG_REPLAY, HPAR_LOG_REPLAY);
SAME(HP_LOG_ASSUME, HPAR_LOG_ASSUME);
SAME(HP_LOG_HAZARD, HPAR_LOG_HAZARD);
SAME(HP_LOG_END_MISSING, HPAR_LOG_END_MISSING);
SAME(HP_LOG_KINDS, HPAR_LOG_KINDS);
SAME(HP_ASSUME_NO_P_IN_BUTTON_SCOPE, HPAR_ASSUME_NO_P_IN_BUTTON_SCOPE);
SAME(HP_ASSUME_NOT_IN_SCOPE, HPAR_ASSUME_NOT_IN_SCOPE);
SAME(HP_ASSUME_NO_LI, HPAR_ASSUME_NO_LI);
SAME(HP_ASSUME_NO_DD_DT, HPAR_ASSUME_NO_DD_DT);
SAME(HP_ASSUME_FORMATTING_CLEAN, HPAR_ASSUME_FORMATTING_CLEAN);
SAME(HP_ASSUME_NOAHS_ARK, HPAR_ASSUME_NOAHS_ARK);
SAME(HP_ASSUME_NO_FORMATTING, HPAR_ASSUME_NO_FORMATTING);
SAME(HP_ASSUME_NO_TEMPLATE, HPAR_ASSUME_NO_TEMPLATE);
SAME(HP_ASSUME_FORM_NULL, HPAR_ASSUME_FORM_NULL);
SAME(HP_ASSUME_NO_SELECTEDCONTENT, HPAR_ASSUME_NO_SELECTEDCONTENT);
SAME(HP_ASSUME_TOP_NOT_IMPLIED, HPAR_ASSUME_TOP_NOT_IMPLIED);
SAME(HP_ASSUME_NAMESPACE, HPAR_ASSUME_NAMESPACE);
SAME(HP_ASSUME_MODE, HPAR_ASSUME_MODE);
SAME(HP_ASSUME_START_STATE, HPAR_ASSUME_START_STATE);
SAME(HP_ASSUMPTION_KINDS, HPAR_ASSUMPTIONS);
SAME(HP_HAZARD_NONE, HPAR_HAZARD_NONE);
SAME(HP_HAZARD_UNENDED_TEXT, HPAR_HAZARD_UNENDED_TEXT);
SAME(HP_HAZARD_INPUT_TO_COME, HPAR_HAZARD_INPUT_TO_COME);
SAME(HP_HAZARD_UNFORESEEN, HPAR_HAZARD_UNFORESEEN);
SAME(HP_HAZARDS, HPAR_HAZARDS);
SAME(HP_TOKEN_EOF, HPAR_TOKEN_EOF);
SAME(HP_TOKEN_TEXT, HPAR_TOKEN_TEXT);
SAME(HP_TOKEN_START_TAG, HPAR_TOKEN_START_TAG);
SAME(HP_TOKEN_END_TAG, HPAR_TOKEN_END_TAG);
SAME(HP_TOKEN_COMMENT, HPAR_TOKEN_COMMENT);
SAME(HP_TOKEN_DOCTYPE, HPAR_TOKEN_DOCTYPE);
SAME(HP_TOKEN_PROCESSING_INSTRUCTION, HPAR_TOKEN_PROCESSING_INSTRUCTION);
SAME(HP_EVENT_DECODE, HPAR_EVENT_DECODE);
SAME(HP_EVENT_CUT, HPAR_EVENT_CUT);
SAME(HP_EVENT_PRESCAN, HPAR_EVENT_PRESCAN);
SAME(HP_EVENT_PARSE, HPAR_EVENT_PARSE);
SAME(HP_EVENT_EXACT, HPAR_EVENT_EXACT);
SAME(HP_EVENT_MERGE, HPAR_EVENT_MERGE);
SAME(HP_EVENT_ROLL_BACK, HPAR_EVENT_ROLL_BACK);
SAME(HP_EVENT_WAIT, HPAR_EVENT_WAIT);
SAME(HP_EVENT_COMPOSE, HPAR_EVENT_COMPOSE);
SAME(HP_EVENT_TOKENIZE, HPAR_EVENT_TOKENIZE);
SAME(HP_EVENT_SCRIPT, HPAR_EVENT_SCRIPT);
SAME(HP_EVENT_SCRIPT + 1, HPAR_EVENT_KINDS);
SAME(HP_MERGE_LEVELS, HPAR_MERGE_LEVELS);
_Static_assert(sizeof(hp_merge_level) == sizeof(hpar_merge_level), "the counters are copied");
#undef SAME

const char *hpar_log_kind_name(hpar_log_kind kind) {
  switch (kind) {
    case HPAR_LOG_SPLICE: return "splice";
    case HPAR_LOG_REPLAY: return "replay";
    case HPAR_LOG_ASSUME: return "assume";
    case HPAR_LOG_HAZARD: return "hazard";
    case HPAR_LOG_END_MISSING: return "end_missing";
    case HPAR_LOG_KINDS: break;
  }
  return "unknown";
}

const char *hpar_undetected_error_name(hpar_undetected_error error) {
  switch (error) {
    case HPAR_UNDETECTED_START_STATE: return "start_state";
    case HPAR_UNDETECTED_NAMESPACE: return "namespace";
    case HPAR_UNDETECTED_MODE: return "mode";
    case HPAR_UNDETECTED_TOP: return "top";
    case HPAR_UNDETECTED_END_TAG: return "end_tag";
    case HPAR_UNDETECTED_IMPLIED_END: return "implied_end";
    case HPAR_UNDETECTED_FORMATTING: return "formatting";
    case HPAR_UNDETECTED_FOSTER: return "foster";
    case HPAR_UNDETECTED_TEXT: return "text";
    case HPAR_UNDETECTED_OTHER: return "other";
    case HPAR_UNDETECTED_ERRORS: break;
  }
  return "unknown";
}

const char *hpar_assumption_name(hpar_assumption assumption) {
  switch (assumption) {
    case HPAR_ASSUME_NO_P_IN_BUTTON_SCOPE: return "no_p_in_button_scope";
    case HPAR_ASSUME_NOT_IN_SCOPE: return "not_in_scope";
    case HPAR_ASSUME_NO_LI: return "no_li";
    case HPAR_ASSUME_NO_DD_DT: return "no_dd_dt";
    case HPAR_ASSUME_FORMATTING_CLEAN: return "formatting_clean";
    case HPAR_ASSUME_NOAHS_ARK: return "noahs_ark";
    case HPAR_ASSUME_NO_FORMATTING: return "no_formatting";
    case HPAR_ASSUME_NO_TEMPLATE: return "no_template";
    case HPAR_ASSUME_FORM_NULL: return "form_null";
    case HPAR_ASSUME_NO_SELECTEDCONTENT: return "no_selectedcontent";
    case HPAR_ASSUME_TOP_NOT_IMPLIED: return "top_not_implied";
    case HPAR_ASSUME_NAMESPACE: return "namespace";
    case HPAR_ASSUME_MODE: return "mode";
    case HPAR_ASSUME_START_STATE: return "start_state";
    case HPAR_ASSUMPTIONS: break;
  }
  return "unknown";
}

const char *hpar_pipeline_hazard_name(hpar_pipeline_hazard hazard) {
  switch (hazard) {
    case HPAR_PIPELINE_TITLE: return "title";
    case HPAR_PIPELINE_NOFRAMES: return "noframes";
    case HPAR_PIPELINE_STYLE: return "style";
    case HPAR_PIPELINE_SCRIPT: return "script";
    case HPAR_PIPELINE_XMP: return "xmp";
    case HPAR_PIPELINE_IFRAME: return "iframe";
    case HPAR_PIPELINE_NOEMBED: return "noembed";
    case HPAR_PIPELINE_NOSCRIPT: return "noscript";
    case HPAR_PIPELINE_PLAINTEXT: return "plaintext";
    case HPAR_PIPELINE_TEXTAREA: return "textarea";
    case HPAR_PIPELINE_SELF_CLOSING: return "self_closing";
    case HPAR_PIPELINE_CDATA: return "cdata";
    case HPAR_PIPELINE_FOREIGN_RAW_TEXT: return "foreign_raw_text";
    case HPAR_PIPELINE_IGNORED_TAG: return "ignored_tag";
    case HPAR_PIPELINE_HAZARDS: break;
  }
  return "unknown";
}

static const struct {
  const char *name, *summary;
} hazards[HPAR_HAZARDS] = {
    [HPAR_HAZARD_NONE] = {"none", "nothing"},
    [HPAR_HAZARD_UNENDED_TEXT] = {"unended_text", "raw text that begins in the chunk has no end tag"},
    [HPAR_HAZARD_INPUT_TO_COME] = {"input_to_come", "raw text goes on beyond what had come of the input"},
    [HPAR_HAZARD_UNFORESEEN] = {"unforeseen", "a token that the merger should have run was run by the worker"},
};

static const char *const assumptions[HPAR_ASSUMPTIONS] = {
    [HPAR_ASSUME_NO_P_IN_BUTTON_SCOPE] = "no p from before the cut is in button scope",
    [HPAR_ASSUME_NOT_IN_SCOPE] = "no select, button, nobr, ruby, option or optgroup from before the cut is in scope",
    [HPAR_ASSUME_NO_LI] = "no li from before the cut is open",
    [HPAR_ASSUME_NO_DD_DT] = "no dd or dt from before the cut is open",
    [HPAR_ASSUME_FORMATTING_CLEAN] = "no formatting element from before the cut is to be reconstructed",
    [HPAR_ASSUME_NOAHS_ARK] = "three equal formatting elements are not exceeded by those from before the cut",
    [HPAR_ASSUME_NO_FORMATTING] = "the formatting element that is named is not in the list from before the cut",
    [HPAR_ASSUME_NO_TEMPLATE] = "no template from before the cut is open",
    [HPAR_ASSUME_FORM_NULL] = "the form pointer is null",
    [HPAR_ASSUME_NO_SELECTEDCONTENT] = "there is no selectedcontent element",
    [HPAR_ASSUME_TOP_NOT_IMPLIED] = "the current node is no heading, option or optgroup",
    [HPAR_ASSUME_NAMESPACE] = "the current node is in the namespace that was predicted",
    [HPAR_ASSUME_MODE] = "the insertion mode is one under which the tokens do the same as under the predicted one",
    [HPAR_ASSUME_START_STATE] = "a token begins here, in the data state",
};

static const char *const outcomes[HPAR_CHUNK_OUTCOMES] = {"exact",    "clean",     "passed",
                                                          "repaired", "discarded", "unreached"};

static const char *const events[HPAR_EVENT_KINDS] = {"decode",    "cut",  "prescan", "parse",    "exact", "merge",
                                                     "roll_back", "wait", "compose", "tokenize", "script"};

static const char *const states[HP_STATES] = {
    [HP_STATE_DATA] = "data",
    [HP_STATE_RCDATA] = "RCDATA",
    [HP_STATE_RAWTEXT] = "RAWTEXT",
    [HP_STATE_SCRIPT_DATA] = "script data",
    [HP_STATE_SCRIPT_DATA_ESCAPED] = "script data escaped",
    [HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED] = "script data double escaped",
    [HP_STATE_PLAINTEXT] = "PLAINTEXT",
    [HP_STATE_CDATA_SECTION] = "CDATA section",
    [HP_STATE_CHARACTER_REFERENCE] = "character reference",
    [HP_STATE_TAG_OPEN] = "tag open",
    [HP_STATE_END_TAG_OPEN] = "end tag open",
    [HP_STATE_TAG_NAME] = "tag name",
    [HP_STATE_BEFORE_ATTRIBUTE_NAME] = "before attribute name",
    [HP_STATE_ATTRIBUTE_NAME] = "attribute name",
    [HP_STATE_AFTER_ATTRIBUTE_NAME] = "after attribute name",
    [HP_STATE_BEFORE_ATTRIBUTE_VALUE] = "before attribute value",
    [HP_STATE_DOUBLE_QUOTED] = "attribute value (double-quoted)",
    [HP_STATE_SINGLE_QUOTED] = "attribute value (single-quoted)",
    [HP_STATE_UNQUOTED] = "attribute value (unquoted)",
    [HP_STATE_AFTER_QUOTED] = "after attribute value (quoted)",
    [HP_STATE_SELF_CLOSING] = "self-closing start tag",
    [HP_STATE_MARKUP_DECLARATION_OPEN] = "markup declaration open",
    [HP_STATE_COMMENT] = "comment",
    [HP_STATE_BOGUS_COMMENT] = "bogus comment",
    [HP_STATE_PROCESSING_INSTRUCTION] = "processing instruction",
    [HP_STATE_DOCTYPE] = "DOCTYPE",
};

static const char *const modes[HP_INSERTION_MODES] = {
    "initial",         "before html",   "before head",    "in head",          "in head noscript",
    "after head",      "in body",       "text",           "in table",         "in caption",
    "in column group", "in table body", "in row",         "in cell",          "in template",
    "after body",      "in frameset",   "after frameset", "after after body", "after after frameset"};

#define NAME(table, count, i) ((unsigned)(i) < (unsigned)(count) ? (table)[i] : "unknown")

const char *hpar_hazard_name(hpar_hazard hazard) {
  return (unsigned)hazard < HPAR_HAZARDS ? hazards[hazard].name : "unknown";
}

const char *hpar_hazard_summary(hpar_hazard hazard) {
  return (unsigned)hazard < HPAR_HAZARDS ? hazards[hazard].summary : "unknown";
}

const char *hpar_assumption_summary(hpar_assumption a) { return NAME(assumptions, HPAR_ASSUMPTIONS, a); }
const char *hpar_chunk_outcome_name(hpar_chunk_outcome outcome) { return NAME(outcomes, HPAR_CHUNK_OUTCOMES, outcome); }
const char *hpar_event_kind_name(hpar_event_kind kind) { return NAME(events, HPAR_EVENT_KINDS, kind); }
const char *hp_state_name(hp_state state) { return NAME(states, HP_STATES, state); }
const char *hp_mode_name(uint8_t mode) { return NAME(modes, HP_INSERTION_MODES, mode); }
