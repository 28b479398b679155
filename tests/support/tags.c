#include "support/tags.h"

#include "study/true_state.h"
#include "support/tags_state.h"
#include "tree/active_formatting.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tag_reader {
  tag_scanner scanner;
  tag_list parsed;
  buffer text;
  uint64_t stops; /* compared states at the ends of pieces */
  char message[200];
};

static hp_name name_of_document(const void *table, hp_atom atom) { return hp_atom_name(table, atom); }
static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

/* A NUL in a tag's name is the replacement character. */
uint64_t tag_hash_name(hp_name name) {
  static const unsigned char replacement[] = {0xEF, 0xBF, 0xBD};
  uint64_t hash = 0;
  for (uint32_t i = 0; i < name.length; i++) {
    char c = name.bytes[i];
    if (c)
      hash = mixed(hash, (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    else
      for (size_t k = 0; k < sizeof replacement; k++) hash = mixed(hash, replacement[k]);
  }
  return hash;
}

uint64_t tag_hash_atom(hp_atom atom, tag_name_fn name_of, const void *table) {
  return atom < HP_KNOWN_ATOMS ? atom : tag_hash_name(name_of(table, atom));
}

uint64_t tag_hash_state(const hp_builder *b, hpar_quirks quirks, tag_name_fn name_of, const void *table) {
  uint64_t hash = mixed(b->mode, b->stack.depth - hp_tombstones(b));
  for (uint32_t i = 1; i <= b->stack.depth; i++) {
    const hp_open_element *e = &b->stack.entries[i];
    if (e->node) hash = mixed(hash, tag_hash_atom(e->name, name_of, table) << 2 | e->ns);
  }
  for (uint32_t i = 0; i < b->formatting.count; i++) {
    const hp_atom name = hp_listed_name_of(b, i);
    if (name != HP_NO_ATOM) hash = mixed(hash, name);
  }
  for (uint32_t i = 0; i < b->templates.count; i++) hash = mixed(hash, b->templates.modes[i]);
  hash = mixed(hash, (unsigned)b->flags.frameset_ok | (unsigned)hp_ignores_lf(b) << 1 |
                         (unsigned)!b->pointers.head << 2 | (unsigned)!hp_form_pointer(b) << 3);
  return mixed(hash, quirks);
}

void tag_add(tag_list *to, tag added) {
  if (to->count == to->capacity) {
    to->capacity = to->capacity ? 2 * to->capacity : 256;
    to->items = realloc(to->items, to->capacity * sizeof *to->items);
    if (!to->items) abort();
  }
  to->items[to->count++] = added;
}

static void note_token(void *context, const hp_engine *engine, const hp_token *t) {
  tag_reader *reader = context;
  if (t->kind != HPAR_TOKEN_START_TAG && t->kind != HPAR_TOKEN_END_TAG) return;
  const hp_builder *b = &engine->builder;
  const hp_atoms *atoms = &b->document->atoms;
  tag_add(&reader->parsed, (tag){.start = t->start,
                                 .end = t->end,
                                 .name = tag_hash_atom(t->name, name_of_document, atoms),
                                 .state = tag_hash_state(b, b->document->quirks, name_of_document, atoms),
                                 .is_end = t->kind == HPAR_TOKEN_END_TAG,
                                 .content = (uint8_t)b->tokenizer->content});
}

/* Returns what differs. The scanner need not read a plain tag. With `of_bytes` the offsets and the
 * names are those of bytes instead of characters. */
static const char *compare_tag(const tag *parsed, const tag *scanned, bool of_bytes) {
  if (!of_bytes && parsed->end != scanned->end) return "offset";
  if (scanned->start != UINT64_MAX) {
    if (!of_bytes && parsed->start != scanned->start) return "offset";
    if (parsed->is_end != scanned->is_end) return "kind";
    if (!of_bytes && parsed->name != scanned->name) return "name";
  }
  if (parsed->content != scanned->content) return "following content";
  return parsed->state != scanned->state ? "state of the builder" : NULL;
}

static const char *compare_tags(tag_reader *reader, bool of_bytes) {
  const tag_list *a = &reader->parsed, *b = &reader->scanner.tags;
  for (size_t i = 0; i < a->count && i < b->count; i++) {
    const tag *x = &a->items[i], *y = &b->items[i];
    const char *what = compare_tag(x, y, of_bytes);
    if (!what) continue;
    snprintf(reader->message, sizeof reader->message, "tag %zu at %llu..%llu and %lld..%llu: another %s", i,
             (unsigned long long)x->start, (unsigned long long)x->end, (long long)y->start, (unsigned long long)y->end,
             what);
    return reader->message;
  }
  if (a->count == b->count) return NULL;
  snprintf(reader->message, sizeof reader->message, "the parser takes %zu tags, the scanner reports %zu", a->count,
           b->count);
  return reader->message;
}

/* Compares the states where a piece ends with a tag. */
static const char *compare_stops(tag_reader *reader) {
  const tag_list *parsed = &reader->parsed;
  for (size_t i = 0; i < reader->scanner.stop_count; i++) {
    const tag_stop *stop = &reader->scanner.stops[i];
    if (stop->tags > parsed->count) return "the rewriter counts too many tags";
    const tag *last = stop->tags ? &parsed->items[stop->tags - 1] : NULL;
    if (!last || last->end != stop->end) continue;
    reader->stops++;
    if (last->state == stop->state && last->content == stop->content) continue;
    snprintf(reader->message, sizeof reader->message, "a piece ends at %llu: another state of the builder",
             (unsigned long long)stop->end);
    return reader->message;
  }
  return NULL;
}

/* Scans in pieces of many tags, which the rewriter mostly skips. */
static const char *compare_pieces(tag_reader *reader, const compare_case *document, bool of_bytes) {
  const char *difference = NULL;
  for (unsigned rules = 0; rules < TAG_RULES && !difference; rules++) {
    uint64_t tags;
    bool same;
    if (tag_scan_pieces(&reader->scanner, rules, document, &tags, &same)) return "the rewriter fails";
    if (!same) return "the output is not the input";
    if (tags != reader->parsed.count) return "the rewriter counts other tags than the parser";
    if (!of_bytes) difference = compare_stops(reader);
  }
  return difference;
}

/* Scans with the first two sets of rules tag by tag, and with all sets in pieces. */
static const char *scan_and_compare(tag_reader *reader, const compare_case *document, bool each_byte, bool of_bytes) {
  const char *difference = NULL;
  for (unsigned rules = 0; rules < 2 && !difference; rules++) {
    reader->scanner.tags.count = 0;
    if (tag_scan(&reader->scanner, rules, document, each_byte)) return "the rewriter fails, or counts wrong tags";
    difference = compare_tags(reader, of_bytes);
  }
  return difference ? difference : compare_pieces(reader, document, of_bytes);
}

static hpar_status add_text(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

/* A byte order mark overrides the encoding. */
static bool is_utf16(const compare_case *document) {
  const char *bytes = document->bytes;
  return document->length >= 2 && (!memcmp(bytes, "\xFF\xFE", 2) || !memcmp(bytes, "\xFE\xFF", 2));
}

const char *tag_difference(tag_reader *reader, const compare_case *document, bool each_byte, uint64_t *tags) {
  buffer *text = &reader->text;
  buffer_clear(text);
  if (hpar_decode("utf-8", document->bytes, document->length, add_text, text)) return "the text cannot be decoded";
  /* the rewriter would skip a second mark */
  if (text->length >= 3 && !memcmp(text->bytes, "\xEF\xBB\xBF", 3)) return NULL;
  compare_case decoded = *document;
  decoded.bytes = text->length ? text->bytes : "";
  decoded.length = text->length;
  hp_request request = {.text = decoded.bytes, .length = decoded.length, .scripting = document->scripting};
  hp_observer observer = {.context = reader, .after = note_token};
  reader->parsed.count = 0;
  if (hp_observe(&request, document->fragment, &observer)) return "the text cannot be parsed";
  *tags += reader->parsed.count;
  const char *difference = scan_and_compare(reader, &decoded, each_byte, false);
  bool is_same = text->length == document->length && !memcmp(decoded.bytes, document->bytes, text->length);
  if (difference || is_same || is_utf16(document)) return difference;
  return scan_and_compare(reader, document, each_byte, true);
}

uint64_t tag_reader_stops(const tag_reader *reader) { return reader->stops; }

tag_reader *tag_reader_create(void) {
  tag_reader *reader = calloc(1, sizeof *reader);
  if (!reader) abort();
  tag_scanner_open(&reader->scanner);
  return reader;
}

void tag_reader_destroy(tag_reader *reader) {
  tag_scanner_close(&reader->scanner);
  free(reader->parsed.items);
  buffer_free(&reader->text);
  free(reader);
}
