#include "study/frequency.h"

#include "base/memory.h"
#include "speculation/strategy.h"
#include "study/true_state.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>

static const hp_frequency_row *row_of(const hpar_frequency_table *table, const hp_cut_key *key) {
  size_t low = 0, high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = memcmp(&table->rows[middle].key, key, sizeof *key);
    if (!order) return &table->rows[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

hp_state hp_most_frequent(const hpar_frequency_table *table, const hp_cut_key *key) {
  const hp_frequency_row *row = row_of(table, key);
  if (!row) {
    hp_cut_key any = *key;
    memset(any.before, 0, sizeof any.before);
    row = row_of(table, &any);
  }
  return row ? (hp_state)row->state : HP_STATE_DATA;
}

/* Sets the raw-text element, which the state does not name: the element whose end tag is at the
 * cut, or the likeliest one. */
static void inside_raw_text(const hp_request *request, uint32_t cut, hp_text_state content, hp_atom likeliest,
                            hp_start_state *state) {
  const char *at = request->text + cut, *end = request->text + request->length;
  bool closer = end - at > 2 && at[0] == '<' && at[1] == '/';
  const hp_raw_text *raw = closer ? hp_raw_text_at(at + 2, end, request->scripting) : NULL;
  state->content = content;
  state->raw_name = raw && raw->content == content ? raw->atom : likeliest;
}

void hp_predict_by_frequency(const hp_predictor_input *input, hp_start_state *state) {
  const hp_request *request = input->request;
  hp_cut_key key = hp_cut_key_at(request->text, request->length, input->cut);
  switch (hp_most_frequent(input->data ? input->data : &hp_default_frequencies, &key)) {
    case HP_STATE_RCDATA: inside_raw_text(request, input->cut, HP_TEXT_STATE_RCDATA, HP_ATOM_TEXTAREA, state); return;
    case HP_STATE_RAWTEXT: inside_raw_text(request, input->cut, HP_TEXT_STATE_RAWTEXT, HP_ATOM_STYLE, state); return;
    case HP_STATE_SCRIPT_DATA:
    case HP_STATE_SCRIPT_DATA_ESCAPED:
    case HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED:
      inside_raw_text(request, input->cut, HP_TEXT_STATE_SCRIPT_DATA, HP_ATOM_SCRIPT, state);
      return;
    case HP_STATE_PLAINTEXT: state->first = HP_START_BEYOND; return;
    case HP_STATE_CDATA_SECTION:
      state->content = HP_TEXT_STATE_CDATA_SECTION;
      state->ns = HPAR_NAMESPACE_SVG;
      return;
    case HP_STATE_COMMENT: state->inside = HP_INSIDE_COMMENT; return;
    case HP_STATE_DOUBLE_QUOTED: state->inside = HP_INSIDE_DOUBLE_QUOTES; return;
    case HP_STATE_SINGLE_QUOTED: state->inside = HP_INSIDE_SINGLE_QUOTES; return;
    case HP_STATE_DATA:
    case HP_STATE_CHARACTER_REFERENCE: return;
    default: state->inside = HP_INSIDE_TAG; return; /* all of these are left by ">" */
  }
}

/*** tables ***/

typedef struct entry {
  hp_cut_key key;
  hp_state state;
  uint64_t count;
} entry;

static bool copy(char *to, const char *text) {
  size_t length = text ? strlen(text) : 0;
  if (!length || length >= HP_CUT_KEY) return false;
  memcpy(to, text, length);
  return true;
}

static bool read_row(const hpar_frequency *row, entry *to) {
  memset(to, 0, sizeof *to);
  if (!copy(to->key.before, row->before) || !copy(to->key.at, row->at) || !row->state) return false;
  int state = 0;
  while (state < HP_STATES && strcmp(hp_state_name((hp_state)state), row->state) != 0) state++;
  to->state = (hp_state)state;
  to->count = row->count;
  return state < HP_STATES;
}

static int by_key_and_state(const void *a, const void *b) {
  const entry *x = a, *y = b;
  int order = memcmp(&x->key, &y->key, sizeof x->key);
  return order ? order : (int)x->state - (int)y->state;
}

static uint64_t sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

/* The rows of sorted entries; of states that are as frequent the first. */
static size_t reduce(const entry *entries, size_t count, hp_frequency_row *rows) {
  size_t n = 0;
  for (size_t i = 0; i < count;) {
    hp_frequency_row row = {.key = entries[i].key};
    while (i < count && !memcmp(&entries[i].key, &row.key, sizeof row.key)) {
      hp_state state = entries[i].state;
      uint64_t same = 0;
      for (; i < count && entries[i].state == state && !memcmp(&entries[i].key, &row.key, sizeof row.key); i++)
        same = sum(same, entries[i].count);
      row.cuts = sum(row.cuts, same);
      if (same > row.right) {
        row.right = same;
        row.state = (uint8_t)state;
      }
    }
    if (row.cuts) rows[n++] = row;
  }
  return n;
}

hpar_status hpar_frequency_table_create(const hpar_frequency *given, size_t count, hpar_frequency_table **table,
                                        size_t *wrong) {
  if (!table || (!given && count)) return HPAR_ERROR_ARGUMENT;
  if (count > SIZE_MAX / (4 * sizeof(hp_frequency_row))) return HPAR_ERROR_TOO_LARGE;
  hpar_status status = HPAR_ERROR_MEMORY;
  hpar_frequency_table *made = hp_allocate(sizeof *made + 1);
  hp_frequency_row *rows = hp_allocate(2 * count * sizeof *rows + 1);
  entry *entries = hp_allocate(2 * count * sizeof *entries + 1);
  if (made && rows && entries) {
    status = HPAR_OK;
    for (size_t i = 0; i < count && status == HPAR_OK; i++) {
      entry *each = &entries[2 * i];
      if (!read_row(&given[i], each)) {
        status = HPAR_ERROR_ARGUMENT;
        if (wrong) *wrong = i;
      }
      each[1] = each[0];
      memset(each[1].key.before, 0, HP_CUT_KEY);
    }
  }
  if (status == HPAR_OK) {
    qsort(entries, 2 * count, sizeof *entries, by_key_and_state);
    *made = (hpar_frequency_table){rows, reduce(entries, 2 * count, rows)};
    *table = made;
  } else {
    hp_free(rows);
    hp_free(made);
  }
  hp_free(entries);
  return status;
}

void hpar_frequency_table_destroy(hpar_frequency_table *table) {
  if (!table) return;
  hp_free((void *)table->rows);
  hp_free(table);
}
