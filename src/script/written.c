/* The text that scripts have written, as an input of the engine's tokenizer.
 *
 * A token may begin in one piece and end in a later piece or in the page. The tokenizer then reads
 * it from a copy of the bytes. The copy grows by factors of two until the token is complete. */

#include "base/memory.h"
#include "script/scripts.h"
#include "tokenizer/parts.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

void hp_written_push(hp_scripts *s) {
  hp_grow(&s->written.pieces, &s->written.capacity, s->written.count + 1, &s->engine->unwind);
  static char no_text[1];
  s->written.pieces[s->written.count++] = (hp_written){.bytes = no_text};
}

void hp_written_pop(hp_scripts *s, uint32_t bottom) {
  while (s->written.count > bottom + 1 &&
         s->written.pieces[s->written.count - 1].at == s->written.pieces[s->written.count - 1].end)
    s->written.count--;
}

/* Returns true if a comment that goes on with `bytes` has no end in them. Requires: it has at least
 * two characters before them. */
static bool comment_goes_on(const char *end, const char *bytes, size_t length) {
  const char *at = bytes, *stop = bytes + length;
  while ((at = memchr(at, '>', (size_t)(stop - at)))) {
    char before[3]; /* the last byte first */
    for (ptrdiff_t i = 0; i < 3; i++) before[i] = at - bytes > i ? at[-1 - i] : end[at - bytes - 1 - i];
    if (before[0] == '-' && before[1] == '-') return false;
    if (before[0] == '!' && before[1] == '-' && before[2] == '-') return false;
    at++;
  }
  return true;
}

/* Returns true if a tag, a comment or other markup begins here. */
static bool begins_markup(const char bytes[3]) {
  if (bytes[0] != '<') return false;
  if (bytes[1] == '/') return bytes[2] != '>'; /* "</>" has no token */
  return ((bytes[1] | 0x20) >= 'a' && (bytes[1] | 0x20) <= 'z') || bytes[1] == '!' || bytes[1] == '?';
}

/* Returns true if a text that goes on with `bytes` has no end in them. Requires: two bytes of the
 * text or more are before `end`. */
static bool text_goes_on(const char *end, const char *bytes, size_t length) {
  char window[3] = {0, end[-2], end[-1]};
  for (size_t i = 0; i < length; i++) {
    window[0] = window[1];
    window[1] = window[2];
    window[2] = bytes[i];
    if (begins_markup(window) || begins_markup((char[3]){window[1], window[2], '>'})) return false;
  }
  return true;
}

/* Returns true if no byte of `bytes` ends the tag of the piece, because each ">" is in quotes. */
static bool tag_goes_on(hp_written *piece, const char *bytes, size_t length) {
  const char *tag = piece->bytes + piece->at, *end = bytes + length;
  const size_t n = piece->end - piece->at, name = tag[1] == '/' ? 2 : 1;
  hp_state state = piece->tag_bytes ? piece->tag_state : HP_STATE_TAG_NAME;
  state = hp_state_of_tag(state, tag + (piece->tag_bytes ? piece->tag_bytes : name), tag + n);
  for (const char *stop; (stop = memchr(bytes, '>', (size_t)(end - bytes))); bytes = stop) {
    state = hp_state_of_tag(state, bytes, stop++);
    if (state != HP_STATE_DOUBLE_QUOTED && state != HP_STATE_SINGLE_QUOTED) return false;
  }
  piece->tag_state = hp_state_of_tag(state, bytes, end);
  piece->tag_bytes = n + length;
  return true;
}

/* Returns true if no byte of `bytes` can complete the token that begins at `at`. Otherwise each
 * write would read the token again from its beginning. */
static bool stays_unfinished(const hp_scripts *s, hp_written *piece, const char *bytes, size_t length) {
  const char *at = piece->bytes + piece->at, *end = piece->bytes + piece->end;
  size_t n = piece->end - piece->at;
  if (!piece->waits || n < 3 || s->engine->tokenizer.content != HP_CONTENT_DATA) return false;
  if (!begins_markup(at)) return text_goes_on(end, bytes, length);
  if (n >= 6 && !memcmp(at, "<!--", 4)) return comment_goes_on(end, bytes, length);
  char name = at[at[1] == '/' ? 2 : 1] | 0x20;
  return name >= 'a' && name <= 'z' ? tag_goes_on(piece, bytes, length) : !memchr(bytes, '>', length);
}

void hp_written_add(hp_scripts *s, uint32_t index, const char *bytes, size_t length) {
  hp_written *piece = &s->written.pieces[index];
  bool waits = stays_unfinished(s, piece, bytes, length);
  if (piece->capacity - piece->end < length) {
    size_t left = piece->end - piece->at, capacity = left + length;
    if (left) capacity *= 2;
    char *moved = hp_arena_take(&s->engine->bytes, capacity);
    if (left) memcpy(moved, piece->bytes + piece->at, left);
    piece->bytes = moved;
    piece->at = 0;
    piece->end = left;
    piece->capacity = capacity;
  }
  memcpy(piece->bytes + piece->end, bytes, length);
  piece->end += length;
  piece->waits = waits;
  if (!waits) piece->tag_bytes = 0;
}

/* Sets the offsets of a token, and of the errors since `count`, to the position in the page. */
static void place_token(hp_scripts *s, hp_token *token, uint32_t count) {
  hp_tokenizer *t = &s->engine->tokenizer;
  uint32_t position = hp_tokenizer_offset(t);
  token->start = token->end = position;
  const hp_errors *errors = hp_tokenizer_errors(t);
  for (uint32_t i = count; errors && i < errors->count; i++) errors->items[i].offset = position;
}

static uint32_t error_count(const hp_scripts *s) {
  const hp_errors *errors = hp_tokenizer_errors(&s->engine->tokenizer);
  return errors ? errors->count : 0;
}

/* Reads a token that ends in the piece. */
static int read_in_piece(hp_scripts *s, uint32_t index, hp_token *token) {
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_written *piece = &s->written.pieces[index];
  if (piece->at == piece->end || piece->waits) return HP_TOKEN_NEED_MORE;
  uint32_t count = error_count(s);
  hp_tokenizer_input saved = hp_tokenizer_set_input(t, piece->bytes + piece->at, piece->bytes + piece->end, false);
  int kind = hp_next_token_inside(t, token, s->engine->builder.stack.top->name);
  piece->at = (size_t)(t->at - piece->bytes);
  piece->waits = kind == HP_TOKEN_NEED_MORE;
  hp_tokenizer_restore_input(t, &saved);
  place_token(s, token, count);
  return kind;
}

/* Copies the next `length` bytes of the input stream, down to the piece `bottom`. Returns the
 * number of copied bytes. */
static size_t copy_stream(const hp_scripts *s, uint32_t bottom, char *to, size_t length) {
  size_t copied = 0;
  for (uint32_t i = s->written.count; i-- > bottom && copied < length;) {
    const hp_tokenizer *t = &s->engine->tokenizer;
    const char *at = i ? s->written.pieces[i].bytes + s->written.pieces[i].at : t->at;
    size_t n = i ? s->written.pieces[i].end - s->written.pieces[i].at : (size_t)(t->end - t->at);
    if (n > length - copied) n = length - copied;
    if (n) memcpy(to + copied, at, n);
    copied += n;
  }
  return copied;
}

static size_t stream_length(const hp_scripts *s, uint32_t bottom) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  size_t length = bottom ? 0 : (size_t)(t->end - t->at);
  for (uint32_t i = s->written.count; i-- > (bottom ? bottom : 1);)
    length += s->written.pieces[i].end - s->written.pieces[i].at;
  return length;
}

/* Skips `length` bytes of the input stream. */
static void skip_stream(hp_scripts *s, uint32_t bottom, size_t length) {
  for (uint32_t i = s->written.count; i-- > (bottom ? bottom : 1) && length;) {
    hp_written *piece = &s->written.pieces[i];
    size_t n = piece->end - piece->at < length ? piece->end - piece->at : length;
    piece->at += n;
    piece->waits = false;
    piece->tag_bytes = 0;
    length -= n;
  }
  if (!bottom) s->engine->tokenizer.at += length;
  hp_written_pop(s, bottom);
}

/* Reads a token from a copy of the next `length` bytes of the stream. */
static int read_copy(hp_scripts *s, uint32_t bottom, size_t length, bool last, hp_token *token) {
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_arena mark = s->engine->bytes;
  char *copy = hp_arena_take(&s->engine->bytes, length + 1);
  copy_stream(s, bottom, copy, length);
  uint32_t count = error_count(s);
  hp_tokenizer_input saved = hp_tokenizer_set_input(t, copy, copy + length, last);
  int kind = hp_next_token_inside(t, token, s->engine->builder.stack.top->name);
  size_t used = (size_t)(t->at - copy);
  hp_tokenizer_restore_input(t, &saved);
  place_token(s, token, count);
  if (kind == HP_TOKEN_NEED_MORE)
    hp_arena_return(&s->engine->bytes, &mark);
  else
    skip_stream(s, bottom, used);
  return kind;
}

/* Reads a token that begins in the last piece and ends after it. */
static int read_across(hp_scripts *s, uint32_t bottom, hp_token *token) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  size_t all = stream_length(s, bottom),
         length = s->written.pieces[s->written.count - 1].end - s->written.pieces[s->written.count - 1].at;
  if (!bottom && !t->last && (size_t)(t->end - t->base) < s->starved.retry) return HP_TOKEN_NEED_MORE;
  for (length += 64;; length *= 2) {
    if (length > all) length = all;
    bool last = length == all && !bottom && t->last;
    int kind = read_copy(s, bottom, length, last, token);
    if (kind == HP_TOKEN_EOF) return HP_TOKEN_NEED_MORE; /* the page reads it, too */
    if (kind != HP_TOKEN_NEED_MORE) return kind;
    if (length == all) break;
  }
  if (!bottom) s->starved.retry = (size_t)(t->end - t->base) + all / 2 + 16;
  return HP_TOKEN_NEED_MORE;
}

/* Makes one piece of the unfinished token, whose bytes are in several pieces. */
static void join_pieces(hp_scripts *s, uint32_t bottom) {
  size_t length = stream_length(s, bottom);
  char *joined = hp_arena_take(&s->engine->bytes, length + 1);
  copy_stream(s, bottom, joined, length);
  s->written.count = bottom + 1;
  s->written.pieces[bottom] = (hp_written){.bytes = joined, .end = length, .capacity = length, .waits = true};
}

/* Reads the next token before the end of the piece `bottom`; 0: before the page, or a token that
 * page text completes. Returns HP_TOKEN_NEED_MORE if there is no complete token. */
static int next_written(hp_scripts *s, uint32_t bottom, hp_token *token) {
  hp_written_pop(s, bottom);
  uint32_t top = s->written.count - 1;
  if (!top) return HP_TOKEN_NEED_MORE;
  int kind = read_in_piece(s, top, token);
  if (kind != HP_TOKEN_NEED_MORE || top == bottom) return kind;
  kind = read_across(s, bottom, token);
  if (kind == HP_TOKEN_NEED_MORE && bottom) join_pieces(s, bottom);
  return kind;
}

/* Builds a token that begins in written text. It may run a script that writes. */
static void build(hp_engine *engine, const hp_token *token) {
  hp_tag_watch *watch = hp_watch_of(&engine->builder);
  if (watch) watch->text_is_written = true;
  engine->tokens++;
  if (hp_engine_is_limited(engine))
    hp_engine_build_limited(engine, token);
  else
    hp_exact_token(&engine->builder, token);
  if (watch) watch->text_is_written = false;
  hp_engine_check(engine);
}

/* Inserts the text of an unfinished run that a script can see already. */
static void flush(hp_scripts *s, uint32_t index) {
  hp_engine *engine = s->engine;
  hp_tokenizer *t = &engine->tokenizer;
  hp_written *piece = &s->written.pieces[index];
  hp_text_use use = hp_exact_use_of_text(&engine->builder);
  if (piece->at == piece->end || use == HP_TEXT_WHOLE) return;
  uint32_t count = error_count(s);
  hp_tokenizer_input saved = hp_tokenizer_set_input(t, piece->bytes + piece->at, piece->bytes + piece->end, false);
  hp_tokenizer_begin_errors(t, count);
  hp_token token;
  bool read = hp_flush_text(t, &token, use == HP_TEXT_WHITE_FIRST);
  piece->at = (size_t)(t->at - piece->bytes);
  hp_tokenizer_restore_input(t, &saved);
  place_token(s, &token, count);
  if (!read) return;
  build(engine, &token);
}

void hp_written_parse(hp_scripts *s, uint32_t bottom) {
  hp_token token;
  while (!s->paused) {
    if (next_written(s, bottom, &token) == HP_TOKEN_NEED_MORE) {
      if (bottom) flush(s, bottom);
      return;
    }
    build(s->engine, &token);
  }
}
