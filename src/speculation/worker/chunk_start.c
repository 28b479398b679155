#include "speculation/worker/chunk_run.h"

#include "speculation/start/markup.h"
#include "speculation/start/prescan.h"
#include "speculation/worker/segment.h"
#include "text/scan/scan.h"

/* Returns the first place from `at` on that may escape the script or end it, or NULL if no end tag
 * of a script follows. */
static const char *script_text_end(const char *at, const char *limit) {
  const hp_scan_kernels *scan = hp_scan();
  const char *first = NULL;
  for (; (at = scan->in_script(at, limit)) < limit; at++) {
    bool is_end_tag = at[1] == '/', ends = is_end_tag && hp_tag_is(at + 2, limit, "script");
    if (!first && (ends || !is_end_tag)) first = at;
    if (ends) return first;
  }
  return NULL;
}

/* Skips the raw text in which the chunk begins. The merger parses that text. Returns false if the
 * text fills the rest of the chunk. */
static bool skip_raw_text_before(hp_tokenizer *tokenizer, const char *limit) {
  if (tokenizer->content == HP_CONTENT_SCRIPT_DATA) {
    const char *at = script_text_end(tokenizer->at, limit);
    if (!at) return false;
    tokenizer->at = at;
  }
  const char *end = tokenizer->end;
  bool last = tokenizer->last;
  tokenizer->end = limit;
  tokenizer->last = last && limit == end;
  int kind = hp_read_raw_text(tokenizer);
  tokenizer->end = end;
  tokenizer->last = last;
  return kind != HP_TOKEN_NEED_MORE;
}

/* Skips the tag in which the chunk begins. `quote` is the open quotation mark, or 0. Returns false
 * if the tag does not end before `limit`. */
static bool skip_tag(hp_tokenizer *tokenizer, const char *limit, char quote) {
  char before = 0;
  for (const char *at = tokenizer->at; at < limit; at++) {
    char c = *at;
    if (quote) {
      at = memchr(at, quote, (size_t)(limit - at));
      if (!at) return false;
      before = quote;
      quote = 0;
    } else if (c == '>') {
      tokenizer->at = at + 1;
      return true;
    } else if ((c == '"' || c == '\'') && before == '=') {
      quote = c;
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f') {
      before = c;
    }
  }
  return false;
}

/* Skips the end tag of raw text that is empty: the skipped tag may have started such text. */
static void skip_raw_text_end(hp_tokenizer *tokenizer, bool scripting) {
  const char *at = tokenizer->at, *end = tokenizer->end;
  if (end - at < 3 || at[0] != '<' || at[1] != '/' || !hp_raw_text_name(at + 2, end, scripting)) return;
  const char *close = memchr(at, '>', (size_t)(end - at));
  if (close) tokenizer->at = close + 1;
}

/* Skips the comment in which the chunk begins. Returns false if it does not end before `limit`. */
static bool skip_comment(hp_tokenizer *tokenizer, const char *limit) {
  const char *from = tokenizer->at, *at = from;
  while ((at = memchr(at, '>', (size_t)(limit - at)))) {
    at++;
    if ((at - from >= 3 && at[-2] == '-' && at[-3] == '-') ||
        (at - from >= 4 && at[-2] == '!' && at[-3] == '-' && at[-4] == '-')) {
      tokenizer->at = at;
      return true;
    }
  }
  return false;
}

bool hp_find_chunk_start(hp_tokenizer *tokenizer, const hp_start_state *state, const char *limit, bool scripting) {
  tokenizer->content = HP_CONTENT_DATA;
  if (state->first) {
    if (state->first != HP_START_BEYOND) tokenizer->at = tokenizer->base + state->first;
    return state->first != HP_START_BEYOND;
  }
  bool found = true;
  switch (state->inside) {
    case HP_INSIDE_COMMENT: return skip_comment(tokenizer, limit);
    case HP_INSIDE_TAG: found = skip_tag(tokenizer, limit, 0); break;
    case HP_INSIDE_DOUBLE_QUOTES: found = skip_tag(tokenizer, limit, '"'); break;
    case HP_INSIDE_SINGLE_QUOTES: found = skip_tag(tokenizer, limit, '\''); break;
    default: break;
  }
  if (state->inside) {
    if (found) skip_raw_text_end(tokenizer, scripting);
    return found;
  }
  tokenizer->content = state->content;
  if (tokenizer->content == HP_CONTENT_DATA) return true;
  tokenizer->last_start_tag = state->raw_name;
  found = skip_raw_text_before(tokenizer, limit);
  tokenizer->content = HP_CONTENT_DATA;
  return found;
}
