/* Texts as finds see them, and the places of finds in the input. */

#include "rewrite/readable.h"

#include "base/bytes.h"
#include "text/references/references.h"

#include <string.h>

unsigned hp_find_places(const char *list) {
  static const struct {
    const char *name;
    unsigned places;
  } words[] = {{"text", HP_TEXT_VISIBLE},   {"script", HP_TEXT_IN_SCRIPT},  {"style", HP_TEXT_IN_STYLE},
               {"title", HP_TEXT_IN_TITLE}, {"comment", HP_FINDS_COMMENTS}, {"all", HP_FINDS_ALL}};
  unsigned places = 0;
  if (!list) return HP_TEXT_VISIBLE;
  for (const char *at = list + strspn(list, " ,"); *at; at += strspn(at, " ,")) {
    const size_t length = strcspn(at, " ,");
    size_t i = 0;
    while (i < sizeof words / sizeof *words &&
           (strlen(words[i].name) != length || memcmp(words[i].name, at, length) != 0))
      i++;
    if (i == sizeof words / sizeof *words) return 0;
    places |= words[i].places;
    at += length;
  }
  return places;
}

/*** the text ***/

typedef struct writer {
  hpar_rewriter *rewriter;
  hp_readable *to;
  char *bytes;
  const char *from; /* the input's text */
} writer;

static void put_shift(writer *w, const char *from, const char *to, const char *bytes, size_t length) {
  hp_readable *text = w->to;
  text->shifts[text->count++] = (hp_shift){.at = (uint32_t)text->length,
                                           .length = (uint32_t)length,
                                           .from = (uint32_t)(from - w->from),
                                           .to = (uint32_t)(to - w->from)};
  memcpy(w->bytes + text->length, bytes, length);
  text->length += length;
}

/* Writes the characters of a reference, or a NUL if the encoding lacks one of them: texts to find
 * have none. */
static const char *put_reference(writer *w, const char *at, const char *end) {
  hpar_rewriter *r = w->rewriter;
  const hp_reference found = hp_read_reference(at, end, false, w->from, NULL);
  if (!found.length) {
    size_t length = (size_t)(found.end - at);
    memcpy(w->bytes + w->to->length, at, length);
    w->to->length += length;
    return found.end;
  }
  hp_bytes *encoded = &r->units->find_text;
  const uint32_t old = encoded->length;
  if (hp_rewriter_writes_utf8(r))
    put_shift(w, at, found.end, found.bytes, found.length);
  else if (hp_encode(encoded, found.bytes, found.length, HP_PLACE_RAW, hp_rewriter_target(r), &r->unwind))
    put_shift(w, at, found.end, encoded->data + old, encoded->length - old);
  else
    put_shift(w, at, found.end, "", 1);
  encoded->length = old;
  return found.end;
}

static bool begins(const char *at, const char *end, const char *marker) {
  const size_t length = strlen(marker);
  return (size_t)(end - at) >= length && !memcmp(at, marker, length);
}

static void write_text(writer *w, const char *end, bool has_references, bool has_sections) {
  static const char open[] = "<![CDATA[", close[] = "]]>";
  hp_readable *text = w->to;
  bool in_section = false;
  for (const char *at = w->from; at < end;) {
    if (*at == '&' && has_references && !in_section) {
      at = put_reference(w, at, end);
    } else if (*at == '\r') {
      const char *next = at + 1 < end && at[1] == '\n' ? at + 2 : at + 1;
      put_shift(w, at, next, "\n", 1);
      at = next;
    } else if (has_sections && begins(at, end, in_section ? close : open)) {
      const size_t length = in_section ? sizeof close - 1 : sizeof open - 1;
      put_shift(w, at, at + length, at, length);
      in_section = !in_section;
      text->shifts[text->count - 1].opens = in_section;
      text->shifts[text->count - 1].closes = !in_section;
      at += length;
    } else {
      w->bytes[text->length++] = *at++;
    }
  }
}

void hp_readable_open(hp_readable *text, hpar_rewriter *r, const hp_text_piece *t) {
  const bool has_references = t->kind <= HPAR_TEXT_RCDATA, has_sections = t->kind == HPAR_TEXT_DATA;
  const char *from = t->raw.bytes, *end = from + t->raw.length;
  size_t shifts = 0;
  *text = (hp_readable){.bytes = from, .length = t->raw.length};
  for (const char *at = from; at < end; at++)
    shifts += (*at == '&' && has_references) || *at == '\r' || ((*at == '<' || *at == ']') && has_sections);
  if (!shifts) return;
  text->shifts = hp_scratch_take(&r->scratch, shifts * sizeof *text->shifts);
  writer w = {r, text, hp_scratch_take(&r->scratch, 3 * t->raw.length + 16), from};
  text->length = 0;
  write_text(&w, end, has_references, has_sections);
  text->bytes = w.bytes;
}

/*** places ***/

/* Returns the place in the input's text, or SIZE_MAX inside of a shift. Moves `*next` and
 * `*in_section` to the place. */
static size_t place_of(const hp_readable *text, size_t at, uint32_t *next, bool *in_section) {
  for (; *next < text->count && text->shifts[*next].at + text->shifts[*next].length <= at; ++*next) {
    const hp_shift *passed = &text->shifts[*next];
    if (passed->opens || passed->closes) *in_section = passed->opens;
  }
  const hp_shift *last = *next ? &text->shifts[*next - 1] : NULL;
  if (*next < text->count && text->shifts[*next].at < at) return SIZE_MAX;
  return last ? last->to + (at - last->at - last->length) : at;
}

void hp_readable_replace(hp_readable *text, hpar_rewriter *r, size_t from, size_t to, hpar_string by,
                         hpar_content format) {
  const size_t begin = place_of(text, from, &text->next, &text->in_section);
  uint32_t next = text->next;
  bool in_section = text->in_section;
  const size_t end = place_of(text, to, &next, &in_section);
  if (begin == SIZE_MAX || end == SIZE_MAX) return;
  if (text->in_section && by.length && memmem(by.bytes, by.length, "]]>", 3)) return;
  const uint64_t offset = r->units->piece.offset;
  hp_units_add_find(r, offset + begin, offset + end, by, format, text->in_section);
}
