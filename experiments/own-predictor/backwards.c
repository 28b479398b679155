#include "backwards.h"

#include <hpar/study.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

static bool begins(const char *at, const char *end, const char *with) {
  size_t length = strlen(with);
  return (size_t)(end - at) >= length && !strncasecmp(at, with, length);
}

/* Returns the element whose raw text the tag at `at` starts or, with `closer`, ends. */
static const char *raw_text_tag(const char *at, const char *end, bool *closer) {
  static const char *const names[] = {"script", "style", "textarea", "title"};
  *closer = end - at > 1 && at[1] == '/';
  at += 1 + *closer;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (begins(at, end, names[i]) && !is_letter(at[strlen(names[i])])) return names[i];
  return NULL;
}

/* Walks from quote to quote: the cut lies in the tag that starts at `at`, or after it. */
static hpar_start_context in_tag(const char *at, const char *cut) {
  char quote = 0, before = 0;
  for (; at < cut; at++) {
    if (quote) {
      if (*at == quote) quote = 0;
    } else if (*at == '>') {
      return HPAR_CONTEXT_NONE;
    } else if ((*at == '"' || *at == '\'') && before == '=') {
      quote = *at;
    }
    if (!strchr(" \t\n\f\r", *at)) before = *at;
  }
  return quote == '"' ? HPAR_CONTEXT_DOUBLE_QUOTES : quote ? HPAR_CONTEXT_SINGLE_QUOTES : HPAR_CONTEXT_TAG;
}

/* Returns the first token for a cut within text: the next "<". */
static size_t behind_text(const hpar_cut *cut) {
  const char *at = cut->text + cut->begin, *end = cut->text + cut->length;
  if (at[-1] == '>') return 0;
  for (; (at = memchr(at, '<', (size_t)(end - at))); at++)
    if (end - at > 1 && (is_letter(at[1]) || strchr("/!?", at[1]))) return (size_t)(at - cut->text);
  return SIZE_MAX;
}

static void look_back(const backwards_settings *settings, const hpar_cut *cut, hpar_guess *guess) {
  const char *end = cut->text + cut->length, *place = cut->text + cut->begin;
  const char *least = cut->begin > settings->reach ? place - settings->reach : cut->text;
  bool closer, tag_seen = false, comment_ended = false;
  for (const char *at = place; at-- > least;) {
    if (*at == '>' && at - least >= 2 && at[-1] == '-' && at[-2] == '-') comment_ended = true;
    if (*at != '<' || end - at < 9) continue;
    if (begins(at, place, "<!--")) {
      if (comment_ended) continue;
      *guess = (hpar_guess){.context = HPAR_CONTEXT_COMMENT, .ns = HPAR_NAMESPACE_HTML};
      return;
    }
    const char *element = raw_text_tag(at, end, &closer);
    if (element && closer && tag_seen) return; /* this raw text started before the tag */
    if (!element && (tag_seen || !(is_letter(at[1]) || (at[1] == '/' && is_letter(at[2]))))) continue;
    hpar_start_context inside = in_tag(at, place);
    if (!tag_seen || inside == HPAR_CONTEXT_NONE) guess->context = inside;
    tag_seen = true;
    if (!element) continue;
    if (!closer && inside == HPAR_CONTEXT_NONE) {
      guess->context = HPAR_CONTEXT_RAW_TEXT;
      guess->element = element;
    }
    return;
  }
}

void backwards_predict(const hpar_cut *cut, hpar_guess *guess, void *context) {
  look_back(context, cut, guess);
  if (guess->context == HPAR_CONTEXT_NONE) guess->first = behind_text(cut);
}
