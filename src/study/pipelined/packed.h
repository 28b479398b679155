#ifndef HP_STUDY_PIPELINED_PACKED_H
#define HP_STUDY_PIPELINED_PACKED_H

/* A token in the buffer: 16 bytes, four in a cache line. A packed token begins at the end of the
 * token before it. Its string is part of the input or of the document's memory. Any other token is
 * stored whole in the document's memory. */

#include "tokenizer/tokenizer.h"

#include <hpar/study.h>

/* Kinds of slots without a token, in addition to HP_TOKEN_NEED_MORE. */
enum {
  HP_SLOT_ERRORS = HP_TOKEN_NEED_MORE + 1, /* `where`: parse errors of the next token */
  HP_SLOT_FAILED,                          /* out of memory */
  HP_NO_TOKEN = 64                         /* a bit that all three kinds have */
};

_Static_assert(HP_TOKEN_NEED_MORE &HP_SLOT_ERRORS &HP_SLOT_FAILED &HP_NO_TOKEN, "the bit");

/* In addition to the flags of a token. */
enum { HP_PACKED_WHOLE = 64, HP_PACKED_ELSEWHERE = 128 };

/* Two words, each written and read with one access. Fields begin at the lowest bits:
 *
 *   what    8 bits each: kind, flags, content, notes;
 *           then the name of a tag, or the length of a string
 *   where   attributes of a tag, offset of a string, or an hp_ref (ELSEWHERE, WHOLE);
 *           then the end of the token */
typedef struct hp_packed {
  uint64_t what, where;
} hp_packed;

static inline hp_packed hp_pack_words(unsigned kind, unsigned flags, unsigned content, unsigned notes, uint32_t name,
                                      uint32_t where, uint32_t end) {
  return (hp_packed){kind | flags << 8 | content << 16 | (uint32_t)notes << 24 | (uint64_t)name << 32,
                     where | (uint64_t)end << 32};
}

/* Packs the token that begins at offset `from` of `text`. Returns false if the token must be
 * stored whole; `*to` is then unusable.
 *
 * The function reads each field with the width of its last store. A wider load would wait until
 * the cache has the stores, and all earlier stores to lines that the other thread holds. */
static inline bool hp_pack(hp_packed *to, const hp_token *t, unsigned kind, unsigned content, uint32_t from,
                           const char *text, const char *base) {
  if (kind == HP_TOKEN_START_TAG || kind == HP_TOKEN_END_TAG) {
    *to = hp_pack_words(kind, t->flags, content, 0, t->name, t->attributes, t->end);
  } else if (kind == HP_TOKEN_TEXT || kind == HP_TOKEN_COMMENT) {
    uintptr_t offset = (uintptr_t)t->data - (uintptr_t)text;
    bool here = offset <= t->end;
    uint32_t where = here ? (uint32_t)offset : hp_ref_of(base, t->data);
    *to = hp_pack_words(kind, t->flags | (here ? 0 : HP_PACKED_ELSEWHERE), content, 0, t->length, where, t->end);
    if (!here && hp_at(base, where) != t->data) return false;
  } else if (kind == HP_TOKEN_EOF) {
    *to = hp_pack_words(kind, t->flags, content, 0, 0, 0, t->end);
  } else {
    return false;
  }
  return t->start == from;
}

/* Returns the slot of a token whose copy in the document's memory is `whole`. */
static inline hp_packed hp_pack_whole(const hp_token *t, const hp_token *whole, const char *base) {
  return hp_pack_words(t->kind, t->flags | HP_PACKED_WHOLE, t->content, 0, 0, hp_ref_of(base, whole), t->end);
}

static inline unsigned hp_packed_kind(hp_packed p) { return p.what & 255; }
static inline hp_text_state hp_packed_content(hp_packed p) { return (hp_text_state)(p.what >> 16 & 255); }
static inline unsigned hp_packed_notes(hp_packed p) { return p.what >> 24 & 255; }
static inline uint32_t hp_packed_ref(hp_packed p) { return (uint32_t)p.where; }
static inline uint32_t hp_packed_end(hp_packed p) { return (uint32_t)(p.where >> 32); }

/* Returns true for a packed token without notes, except EOF. */
static inline bool hp_packed_is_plain(hp_packed p) {
  return !(p.what & (255u << 24 | HP_PACKED_WHOLE << 8 | HP_NO_TOKEN)) && hp_packed_kind(p) != HP_TOKEN_EOF;
}

static inline void hp_unpack_plain(hp_token *to, hp_packed p, uint32_t from, const char *text, const char *base) {
  to->kind = (uint8_t)p.what;
  to->flags = p.what >> 8 & (HP_TOKEN_SELF_CLOSING | HP_TOKEN_FORCE_QUIRKS | HP_TEXT_WHITE | HP_TEXT_NUL);
  to->name = to->length = (uint32_t)(p.what >> 32);
  to->attributes = hp_packed_ref(p);
  to->data = p.what >> 8 & HP_PACKED_ELSEWHERE ? hp_at(base, hp_packed_ref(p)) : text + hp_packed_ref(p);
  to->start = from;
  to->end = hp_packed_end(p);
}

static inline void hp_unpack(hp_token *to, hp_packed p, uint32_t from, const char *text, const char *base) {
  if (p.what >> 8 & HP_PACKED_WHOLE)
    *to = *(const hp_token *)hp_at(base, hp_packed_ref(p));
  else
    hp_unpack_plain(to, p, from, text, base);
  to->content = (uint8_t)hp_packed_content(p);
  to->notes = (uint8_t)hp_packed_notes(p);
}

#endif
