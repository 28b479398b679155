#include "study/profile.h"

#include "base/memory.h"
#include "dom/tag.h"
#define HP_HAS_NODES 1
#include "study/true_state.h"
#include "tree/builder.h"
#include "tree/listed.inc"

#include <hpar/study.h>
#include <string.h>

const hp_atom hp_profile_table_tags[HP_PROFILE_TABLE_TAGS] = {
    HP_ATOM_TABLE, HP_ATOM_CAPTION, HP_ATOM_COLGROUP, HP_ATOM_COL, HP_ATOM_THEAD,
    HP_ATOM_TBODY, HP_ATOM_TFOOT,   HP_ATOM_TR,       HP_ATOM_TD,  HP_ATOM_TH};
const hp_atom hp_profile_switch_tags[HP_PROFILE_SWITCHES] = {
    HP_ATOM_TITLE,   HP_ATOM_TEXTAREA, HP_ATOM_STYLE,    HP_ATOM_XMP,    HP_ATOM_IFRAME,
    HP_ATOM_NOEMBED, HP_ATOM_NOFRAMES, HP_ATOM_NOSCRIPT, HP_ATOM_SCRIPT, HP_ATOM_PLAINTEXT};

const char *hp_profile_mode_name(int mode) {
  return mode == HP_PROFILE_IN_TABLE_TEXT ? "in table text" : hp_mode_name((uint8_t)mode);
}

static int index_of(const hp_atom *names, int count, hp_atom name) {
  for (int i = 0; i < count; i++)
    if (names[i] == name) return i;
  return -1;
}

/*** a page ***/

enum { LAST_LENGTH = HP_PROFILE_LENGTHS - 1 };

static hp_profile_row *row_of(hp_profile *p, const hp_cut_key *key) {
  for (uint32_t i = 0; i < p->row_count; i++)
    if (!memcmp(&p->rows[i].key, key, sizeof *key)) return &p->rows[i];
  if (p->row_count == p->row_capacity) {
    uint32_t capacity = p->row_capacity ? p->row_capacity * 2 : 256;
    hp_profile_row *grown = hp_reallocate(p->rows, capacity * sizeof *grown);
    if (!grown) return NULL;
    p->rows = grown;
    p->row_capacity = capacity;
  }
  hp_profile_row *row = &p->rows[p->row_count++];
  memset(row, 0, sizeof *row);
  row->key = *key;
  return row;
}

typedef struct cut_list {
  uint32_t *at;
  hp_true_state *states;
  uint32_t count;
} cut_list;

static hpar_status find_cuts(const hp_profile *p, int policy, const hp_request *request, cut_list *cuts) {
  for (size_t from = p->cut_distance; from < request->length; from += p->cut_distance) {
    size_t cut = hp_find_cut(hp_cut_policies[policy], request->text, request->length, from);
    if (cut >= request->length) break;
    if (cuts->count && cuts->at[cuts->count - 1] >= cut) continue;
    cuts->at[cuts->count++] = (uint32_t)cut;
  }
  return hp_true_states(request, NULL, cuts->at, cuts->count, cuts->states);
}

static hpar_status count_cuts(hp_profile *p, int policy, const hp_request *request, const cut_list *cuts) {
  for (uint32_t i = 0; i < cuts->count; i++) {
    const hp_true_state *s = &cuts->states[i];
    p->states[policy][s->state]++;
    hp_cut_key key = hp_cut_key_at(request->text, request->length, s->place);
    hp_profile_row *row = row_of(p, &key);
    if (!row) return HPAR_ERROR_MEMORY;
    row->states[s->state]++;
    if (policy == HP_CUT_BEFORE_TAG) p->modes_at_cuts[s->mode]++;
  }
  return HPAR_OK;
}

typedef struct census {
  hp_profile *profile;
  const cut_list *cuts; /* before tags */
  uint32_t next;        /* the first cut that is not passed */
  bool waiting;         /* for the first table tag of the chunk that begins at the cut before */
} census;

/* Returns the number of entries after the last marker, at most LAST_LENGTH. */
static uint32_t count_entries(const hp_builder *b, uint32_t marker) {
  uint32_t entries = 0;
  for (uint32_t i = b->formatting.count; i > marker && entries < LAST_LENGTH; i--)
    entries += b->formatting.entries[i - 1].node != HP_FORMATTING_TOMBSTONE;
  return entries;
}

/* Returns the number of markers up to the last marker, at most LAST_LENGTH. */
static uint32_t count_markers(const hp_builder *b, uint32_t marker) {
  uint32_t markers = 0;
  for (; marker > b->formatting.linked && markers < LAST_LENGTH; marker--)
    markers += !b->formatting.entries[marker - 1].node;
  if (marker > last_marker(b)) marker = last_marker(b);
  for (; marker && markers < LAST_LENGTH; marker = b->formatting.entries[marker - 1].previous) markers++;
  return markers;
}

/* Counts the list in a bounded number of steps, except for removed entries. */
static void count_list(hp_profile_lists *lists, const hp_builder *b) {
  uint32_t marker = last_marker(b);
  lists->lists++;
  lists->entries[count_entries(b, marker)]++;
  lists->markers[count_markers(b, marker)]++;
  if (marker == b->formatting.count) return;
  /* The open entries come first, because each new entry follows a reconstruction. */
  hp_ref last = b->formatting.entries[b->formatting.count - 1].node;
  lists->unclean += !(hp_node_at(b->base, last)->flags & HP_FLAG_OPEN);
}

static void finish_chunk(census *c) {
  if (c->waiting) c->profile->table_tags[2 * HP_PROFILE_TABLE_TAGS][c->cuts->states[c->next - 1].mode]++;
  c->waiting = false;
}

static void before(void *context, const hp_engine *engine, const hp_token *t, hp_text_state content, uint32_t start) {
  census *c = context;
  hp_profile *p = c->profile;
  const hp_builder *b = &engine->builder;
  (void)content;
  for (; c->next < c->cuts->count && c->cuts->at[c->next] < t->end; c->next++) {
    finish_chunk(c);
    c->waiting = true;
    count_list(&p->lists_at_cuts, b);
  }
  if (t->kind == HP_TOKEN_EOF) return;
  bool table = b->mode == HP_IN_TABLE || b->mode == HP_IN_TABLE_BODY || b->mode == HP_IN_ROW;
  int mode = table && t->kind == HP_TOKEN_TEXT ? HP_PROFILE_IN_TABLE_TEXT : b->mode;
  p->tokens++;
  p->mode_tokens[mode]++;
  p->mode_bytes[mode] += t->end - start;
  count_list(&p->lists_at_tokens, b);
  bool end = t->kind == HP_TOKEN_END_TAG;
  if (c->waiting && (end || t->kind == HP_TOKEN_START_TAG) && t->start >= c->cuts->at[c->next - 1]) {
    int tag = index_of(hp_profile_table_tags, HP_PROFILE_TABLE_TAGS, t->name);
    if (tag >= 0) {
      p->table_tags[tag + end * HP_PROFILE_TABLE_TAGS][c->cuts->states[c->next - 1].mode]++;
      c->waiting = false;
    }
  }
}

static void after(void *context, const hp_engine *engine, const hp_token *t) {
  census *c = context;
  hp_profile *p = c->profile;
  if (t->kind != HP_TOKEN_START_TAG) return;
  const hp_builder *b = &engine->builder;
  p->start_tags++;
  int tag = index_of(hp_profile_switch_tags, HP_PROFILE_SWITCHES, t->name);
  if (tag >= 0 && engine->tokenizer.content != HP_TEXT_STATE_DATA)
    p->switches[tag][b->mode == HP_IN_TEXT ? b->original_mode : b->mode]++;
  /* A self-closed foreign element is not on the stack any more. The namespace of its parent is
   * enough. */
  bool slash = t->flags & HP_TOKEN_SELF_CLOSING;
  bool foreign =
      hp_exact_adjusted_current_node(b)->ns != HPAR_NAMESPACE_HTML || t->name == HP_ATOM_SVG || t->name == HP_ATOM_MATH;
  bool is_void = hp_html_tag(t->name) & HP_TAG_VOID;
  if (foreign) {
    *(slash ? &p->self_closing.foreign_slash : &p->self_closing.foreign_plain) += 1;
    return;
  }
  if (is_void)
    *(slash ? &p->self_closing.void_slash : &p->self_closing.void_plain) += 1;
  else
    p->self_closing.other_slash += slash;
  if (t->name < HP_KNOWN_ATOMS) p->seen[t->name] = is_void ? 2 : 1;
}

static hpar_status count_page(hp_profile *p, const hp_request *request, cut_list *cuts) {
  for (int policy = 0; policy < HP_CUT_BY_BYTES; policy++) {
    if (policy == HP_CUT_BEFORE_TAG) continue;
    cuts->count = 0;
    hpar_status status = find_cuts(p, policy, request, cuts);
    if (status == HPAR_OK) status = count_cuts(p, policy, request, cuts);
    if (status != HPAR_OK) return status;
  }
  cuts->count = 0;
  hpar_status status = find_cuts(p, HP_CUT_BEFORE_TAG, request, cuts);
  if (status == HPAR_OK) status = count_cuts(p, HP_CUT_BEFORE_TAG, request, cuts);
  if (status != HPAR_OK) return status;
  census c = {.profile = p, .cuts = cuts};
  hp_observer observer = {&c, before, after};
  status = hp_observe(request, NULL, &observer);
  if (status == HPAR_OK) finish_chunk(&c);
  return status;
}

hpar_status hp_profile_page(hp_profile *p, hpar_parser *parser, hpar_document *document, const char *bytes,
                            size_t length, const hpar_options *options) {
  hpar_options o = *options;
  o.mode = HPAR_MODE_SEQUENTIAL;
  /* This parse finds the encoding. */
  hpar_status status = hpar_parse(parser, &o, bytes, length, document, NULL);
  if (status != HPAR_OK) return status;
  hp_request request = {.document = document,
                        .text = document->input.bytes,
                        .length = document->input.length,
                        .scripting = options->scripting};
  size_t most = request.length / p->cut_distance + 1;
  cut_list cuts = {.at = hp_allocate(most * sizeof *cuts.at), .states = hp_allocate(most * sizeof *cuts.states)};
  status = cuts.at && cuts.states ? count_page(p, &request, &cuts) : HPAR_ERROR_MEMORY;
  hp_free(cuts.at);
  hp_free(cuts.states);
  if (status != HPAR_OK) return status;
  p->pages++;
  p->bytes += request.length;
  return HPAR_OK;
}

/*** sums ***/

static void add_counters(void *sum, const void *more, size_t bytes) {
  uint64_t *to = sum;
  const uint64_t *from = more;
  for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] += from[i];
}

bool hp_profile_add(hp_profile *sum, const hp_profile *more) {
  for (uint32_t i = 0; i < more->row_count; i++) {
    hp_profile_row *row = row_of(sum, &more->rows[i].key);
    if (!row) return false;
    add_counters(row->states, more->rows[i].states, sizeof row->states);
  }
#define ADD(field) add_counters(&sum->field, &more->field, sizeof sum->field)
  ADD(pages);
  ADD(bytes);
  ADD(tokens);
  ADD(start_tags);
  ADD(states);
  ADD(modes_at_cuts);
  ADD(mode_tokens);
  ADD(mode_bytes);
  ADD(table_tags);
  ADD(switches);
  ADD(self_closing);
  ADD(lists_at_tokens);
  ADD(lists_at_cuts);
#undef ADD
  for (int i = 0; i < HP_KNOWN_ATOMS; i++) sum->seen[i] |= more->seen[i];
  return true;
}

void hp_profile_free(hp_profile *p) { hp_free(p->rows); }
