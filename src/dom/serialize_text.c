/* The text of a subtree. One walk without a stack writes through a small buffer. */

#include "base/bytes.h"
#include "base/call.h"
#include "base/names.h"
#include "dom/node.h"
#include "dom/serialize.h"

#include <hpar/node.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

const uint8_t hp_text_classes[HP_KNOWN_ATOMS] = {
    [HP_ATOM_ADDRESS] = HP_TEXT_BLOCK,    [HP_ATOM_ARTICLE] = HP_TEXT_BLOCK,
    [HP_ATOM_ASIDE] = HP_TEXT_BLOCK,      [HP_ATOM_BLOCKQUOTE] = HP_TEXT_BLOCK,
    [HP_ATOM_BODY] = HP_TEXT_BLOCK,       [HP_ATOM_CAPTION] = HP_TEXT_BLOCK,
    [HP_ATOM_CENTER] = HP_TEXT_BLOCK,     [HP_ATOM_DD] = HP_TEXT_BLOCK,
    [HP_ATOM_DETAILS] = HP_TEXT_BLOCK,    [HP_ATOM_DIALOG] = HP_TEXT_BLOCK,
    [HP_ATOM_DIR] = HP_TEXT_BLOCK,        [HP_ATOM_DIV] = HP_TEXT_BLOCK,
    [HP_ATOM_DL] = HP_TEXT_BLOCK,         [HP_ATOM_DT] = HP_TEXT_BLOCK,
    [HP_ATOM_FIELDSET] = HP_TEXT_BLOCK,   [HP_ATOM_FIGCAPTION] = HP_TEXT_BLOCK,
    [HP_ATOM_FIGURE] = HP_TEXT_BLOCK,     [HP_ATOM_FOOTER] = HP_TEXT_BLOCK,
    [HP_ATOM_FORM] = HP_TEXT_BLOCK,       [HP_ATOM_FRAMESET] = HP_TEXT_BLOCK,
    [HP_ATOM_H1] = HP_TEXT_BLOCK,         [HP_ATOM_H2] = HP_TEXT_BLOCK,
    [HP_ATOM_H3] = HP_TEXT_BLOCK,         [HP_ATOM_H4] = HP_TEXT_BLOCK,
    [HP_ATOM_H5] = HP_TEXT_BLOCK,         [HP_ATOM_H6] = HP_TEXT_BLOCK,
    [HP_ATOM_HEADER] = HP_TEXT_BLOCK,     [HP_ATOM_HGROUP] = HP_TEXT_BLOCK,
    [HP_ATOM_HR] = HP_TEXT_BLOCK,         [HP_ATOM_HTML] = HP_TEXT_BLOCK,
    [HP_ATOM_LEGEND] = HP_TEXT_BLOCK,     [HP_ATOM_LI] = HP_TEXT_BLOCK,
    [HP_ATOM_MAIN] = HP_TEXT_BLOCK,       [HP_ATOM_MENU] = HP_TEXT_BLOCK,
    [HP_ATOM_NAV] = HP_TEXT_BLOCK,        [HP_ATOM_OL] = HP_TEXT_BLOCK,
    [HP_ATOM_OPTGROUP] = HP_TEXT_BLOCK,   [HP_ATOM_OPTION] = HP_TEXT_BLOCK,
    [HP_ATOM_P] = HP_TEXT_BLOCK,          [HP_ATOM_SEARCH] = HP_TEXT_BLOCK,
    [HP_ATOM_SECTION] = HP_TEXT_BLOCK,    [HP_ATOM_SUMMARY] = HP_TEXT_BLOCK,
    [HP_ATOM_TABLE] = HP_TEXT_BLOCK,      [HP_ATOM_TBODY] = HP_TEXT_BLOCK,
    [HP_ATOM_TFOOT] = HP_TEXT_BLOCK,      [HP_ATOM_THEAD] = HP_TEXT_BLOCK,
    [HP_ATOM_TR] = HP_TEXT_BLOCK,         [HP_ATOM_UL] = HP_TEXT_BLOCK,
    [HP_ATOM_TD] = HP_TEXT_CELL,          [HP_ATOM_TH] = HP_TEXT_CELL,
    [HP_ATOM_BR] = HP_TEXT_BREAK,         [HP_ATOM_LISTING] = HP_TEXT_KEEPS,
    [HP_ATOM_PLAINTEXT] = HP_TEXT_KEEPS,  [HP_ATOM_PRE] = HP_TEXT_KEEPS,
    [HP_ATOM_XMP] = HP_TEXT_KEEPS,        [HP_ATOM_TEXTAREA] = HP_TEXT_INLINE_KEEPS,
    [HP_ATOM_AREA] = HP_TEXT_OMITTED,     [HP_ATOM_BASE] = HP_TEXT_OMITTED,
    [HP_ATOM_BASEFONT] = HP_TEXT_OMITTED, [HP_ATOM_DATALIST] = HP_TEXT_OMITTED,
    [HP_ATOM_HEAD] = HP_TEXT_OMITTED,     [HP_ATOM_IFRAME] = HP_TEXT_OMITTED,
    [HP_ATOM_LINK] = HP_TEXT_OMITTED,     [HP_ATOM_META] = HP_TEXT_OMITTED,
    [HP_ATOM_NOEMBED] = HP_TEXT_OMITTED,  [HP_ATOM_NOFRAMES] = HP_TEXT_OMITTED,
    [HP_ATOM_NOSCRIPT] = HP_TEXT_OMITTED, [HP_ATOM_PARAM] = HP_TEXT_OMITTED,
    [HP_ATOM_RP] = HP_TEXT_OMITTED,       [HP_ATOM_SCRIPT] = HP_TEXT_OMITTED,
    [HP_ATOM_STYLE] = HP_TEXT_OMITTED,    [HP_ATOM_TEMPLATE] = HP_TEXT_OMITTED,
    [HP_ATOM_TITLE] = HP_TEXT_OMITTED,    [HP_ATOM_VIDEO] = HP_TEXT_OMITTED,
    [HP_ATOM_AUDIO] = HP_TEXT_OMITTED,    [HP_ATOM_CANVAS] = HP_TEXT_OMITTED,
    [HP_ATOM_METER] = HP_TEXT_OMITTED,    [HP_ATOM_PROGRESS] = HP_TEXT_OMITTED,
};

/* The separator before the next text; a higher one takes the place of a lower one. */
typedef enum separator { NOTHING, SPACE, TAB, LINE } separator;

enum { BUFFER = 8192, PIECE = 1024, MOST_CLOSED = 64 };

typedef struct writer {
  char buffer[BUFFER];
  size_t used;
  hpar_write_callback write;
  void *context;
  hpar_status status;
  const char *low, *high; /* a block at `low` to `high` lies in the document's input */
  bool all, collapses, breaks;
  bool line_is_empty; /* the current line has no text yet */
  separator due;
  unsigned keeping; /* open elements that keep white space */
  /* The summaries of closed details elements that the walk is in. It has no stack for all elements,
   * so that the number is limited. */
  hp_ref summaries[MOST_CLOSED];
  unsigned summary_count;
  hp_atom open, popover; /* names of attributes */
} writer;

static void flush(writer *w) {
  if (!w->status && w->used) w->status = w->write(w->buffer, w->used, w->context);
  w->used = 0;
}

static void write_byte(writer *w, char byte) {
  if (w->used == BUFFER) flush(w);
  w->buffer[w->used++] = byte;
}

static void write_bytes(writer *w, const char *bytes, size_t length) {
  if (length > BUFFER - w->used) flush(w);
  if (length > BUFFER) {
    if (!w->status) w->status = w->write(bytes, length, w->context);
    return;
  }
  memcpy(w->buffer + w->used, bytes, length);
  w->used += length;
}

/* Writes the separator that is due before text. */
static void separate(writer *w) {
  separator due = w->due;
  w->due = NOTHING;
  if (due == LINE) {
    if (!w->line_is_empty) write_byte(w, '\n');
    w->line_is_empty = true;
  } else if (due == TAB) {
    write_byte(w, '\t');
  } else if (!w->line_is_empty) {
    write_byte(w, ' ');
  }
}

static void require(writer *w, separator due) {
  if (w->due < due) w->due = due;
}

/* Masks of a block of WIDTH bytes. Byte i is the bit i * STRIDE + STRIDE - 1. */
#if defined(__SSE2__)
enum { WIDTH = 16, STRIDE = 1 };

/* Sets `*blank` to the bytes up to 0x20, and `*space` to the bytes 0x20. */
static inline void find_blanks(const char *at, uint64_t *blank, uint64_t *space) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at), limit = _mm_set1_epi8(' ');
  *blank = (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, limit), bytes));
  *space = (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, limit));
}
#else
enum { WIDTH = 8, STRIDE = 8 };
#define EACH UINT64_C(0x0101010101010101)

static inline void find_blanks(const char *at, uint64_t *blank, uint64_t *space) {
  uint64_t bytes = hp_load_64(at), other = bytes ^ EACH * ' ';
  *blank = ~(((bytes & EACH * 0x7F) + EACH * 0x5F) | bytes) & EACH * 0x80;
  *space = ~(((other & EACH * 0x7F) + EACH * 0x7F) | other) & EACH * 0x80;
}
#endif

/* Copies 1 to WIDTH - 1 bytes to a block. */
static inline void copy_short(char block[WIDTH], const char *at, size_t length) {
  memset(block, 0, WIDTH);
  if (length >= 8) {
    memcpy(block, at, 8);
    memcpy(block + length - 8, at + length - 8, 8);
  } else if (length >= 4) {
    memcpy(block, at, 4);
    memcpy(block + length - 4, at + length - 4, 4);
  } else {
    block[0] = at[0];
    block[length / 2] = at[length / 2];
    block[length - 1] = at[length - 1];
  }
}

/* Writes at most PIECE bytes with white space collapsed. The buffer has space for them and for a
 * block. The first byte is not white. */
static inline void collapse_piece(writer *w, const char *at, const char *end) {
  char *to = w->buffer + w->used;
  uint64_t last = 0; /* the bit of byte 0: the last byte at `to` is a space */
  const uint64_t first = UINT64_C(1) << (STRIDE - 1);
  while (at < end) {
    char block[WIDTH];
    size_t length = WIDTH;
    const char *from = at;
    if (end - at < WIDTH) {
      length = (size_t)(end - at);
      if (at < w->low || at > w->high) {
        copy_short(block, at, length);
        from = block;
      }
    }
    uint64_t blank, space;
    find_blanks(from, &blank, &space);
    if (length < WIDTH) {
      const uint64_t valid = (UINT64_C(1) << (length * STRIDE)) - 1;
      blank &= valid;
      space &= valid;
    }
    uint64_t bad = (blank ^ space) | (space & (space << STRIDE | last));
    memcpy(to, from, WIDTH);
    if (!bad) {
      to += length;
      at += length;
      last = space >> (length * STRIDE - STRIDE) & first;
      continue;
    }
    size_t plain = (size_t)__builtin_ctzll(bad) / STRIDE;
    if (plain) last = space >> (plain * STRIDE - STRIDE) & first;
    to += plain;
    at += plain;
    if (!hp_ascii_is_white(*at)) {
      *to++ = *at++;
      last = 0;
      continue;
    }
    if (!last) *to++ = ' ';
    last = first;
    do at++;
    while (at < end && hp_ascii_is_white(*at));
  }
  if (last) {
    to--;
    require(w, SPACE);
  }
  w->used = (size_t)(to - w->buffer);
}

static inline void write_collapsed(writer *w, const char *at, const char *end) {
  while (at < end) {
    if (hp_ascii_is_white(*at)) {
      do at++;
      while (at < end && hp_ascii_is_white(*at));
      require(w, SPACE);
      continue;
    }
    if (w->due) separate(w);
    w->line_is_empty = false;
    const char *stop = end - at > PIECE ? at + PIECE : end;
    if (BUFFER - w->used < PIECE + WIDTH) flush(w);
    collapse_piece(w, at, stop);
    at = stop;
  }
}

static inline void write_text(writer *w, const char *bytes, size_t length) {
  if (w->collapses && !w->keeping) {
    write_collapsed(w, bytes, bytes + length);
  } else if (length) {
    if (w->due) separate(w);
    write_bytes(w, bytes, length);
    w->line_is_empty = bytes[length - 1] == '\n';
  }
}

/* Processes the start of an element. Returns true if its descendants are part of the text. */
static bool enter(writer *w, uint8_t class) {
  switch (class) {
    case HP_TEXT_OMITTED: return w->all;
    case HP_TEXT_KEEPS:
    case HP_TEXT_INLINE_KEEPS: w->keeping++; break;
    default: break;
  }
  if (!w->breaks) return true;
  if (class == HP_TEXT_BLOCK || class == HP_TEXT_KEEPS) {
    require(w, LINE);
  } else if (class == HP_TEXT_CELL) {
    if (!w->line_is_empty) require(w, TAB);
  } else if (class == HP_TEXT_BREAK) {
    if (w->due >= TAB) separate(w);
    w->due = NOTHING;
    write_byte(w, '\n');
    w->line_is_empty = true;
  }
  return true;
}

static void leave(writer *w, uint8_t class) {
  if (class == HP_TEXT_KEEPS || class == HP_TEXT_INLINE_KEEPS) w->keeping--;
  if (w->breaks && (class == HP_TEXT_BLOCK || class == HP_TEXT_KEEPS)) require(w, LINE);
}

/* Returns true if an HTML element is hidden or closed by one of its attributes. */
static bool is_hidden(const writer *w, const char *base, const hp_node *element) {
  bool hidden = false, popover = false, open = false, dialog = element->name == HP_ATOM_DIALOG;
  if (!element->attributes) return dialog;
  const hp_attributes *block = hp_at(base, element->attributes);
  for (const hp_attribute *item = block->items, *end = item + block->count; item < end; item++) {
    hidden |= item->name == HP_ATOM_HIDDEN;
    popover |= item->name == w->popover;
    open |= item->name == w->open;
  }
  return hidden || (dialog ? !open : popover);
}

static bool has_attribute(const char *base, const hp_node *element, hp_atom name) {
  if (!element->attributes) return false;
  const hp_attributes *block = hp_at(base, element->attributes);
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == name) return true;
  return false;
}

/* Returns the first summary among the children of a details element, or 0. */
static hp_ref first_summary(const char *base, const hp_node *details) {
  hp_ref ref = details->first;
  for (const hp_node *node; ref; ref = node->next) {
    node = hp_node_at(base, ref);
    if (node->kind == HPAR_NODE_ELEMENT && node->ns == HPAR_NAMESPACE_HTML && node->name == HP_ATOM_SUMMARY) break;
  }
  return ref;
}

/* Returns the child of an element with which its text begins, or 0: it has no text. */
static hp_ref first_shown(writer *w, const char *base, const hp_node *element) {
  if (w->all || element->ns != HPAR_NAMESPACE_HTML) return element->first;
  bool closed = element->name == HP_ATOM_DETAILS && w->summary_count < MOST_CLOSED;
  if (!closed || has_attribute(base, element, w->open)) return element->first;
  hp_ref summary = first_summary(base, element);
  if (summary) w->summaries[w->summary_count++] = summary;
  return summary;
}

/* Writes the text of all descendants of `top`, which has children. */
static void write_below(writer *w, const char *base, hp_ref top) {
  hp_ref ref = hp_node_at(base, top)->first;
  while (ref && !w->status) {
    const hp_node *node = hp_node_at(base, ref);
    if (node->kind == HPAR_NODE_TEXT) {
      hpar_string text = hp_text_of(base, w->low, node);
      write_text(w, text.bytes, text.length);
    } else if (node->kind == HPAR_NODE_ELEMENT) {
      uint8_t class = hp_text_class(node);
      if (!w->all && node->ns == HPAR_NAMESPACE_HTML && is_hidden(w, base, node)) class = HP_TEXT_OMITTED;
      if (enter(w, class)) {
        hp_ref first = first_shown(w, base, node);
        if (first) {
          ref = first;
          continue;
        }
        leave(w, class);
      }
    }
    for (;;) {
      if (w->summary_count && w->summaries[w->summary_count - 1] == ref) {
        w->summary_count--;
        while (node->next) node = hp_node_at(base, node->next); /* the rest of closed details */
      }
      if (node->next) break;
      ref = hp_parent_of(base, node);
      if (ref == top) return;
      node = hp_node_at(base, ref);
      leave(w, hp_text_class(node));
    }
    ref = node->next;
  }
}

static hpar_status write_text_of(const hpar_document *document, hpar_node node, const hpar_text_options *wanted,
                                 hpar_write_callback write, void *context) {
  hp_begin_reading(&document->use);
  writer w;
  w.used = 0;
  w.write = write;
  w.context = context;
  w.status = HPAR_OK;
  w.low = document->input.bytes;
  w.high = document->input.length < WIDTH ? NULL : w.low + document->input.length - WIDTH;
  w.all = wanted->all_elements;
  w.collapses = !wanted->keep_white_space;
  w.breaks = !wanted->no_breaks;
  w.line_is_empty = true;
  w.due = NOTHING;
  w.keeping = w.summary_count = 0;
  w.open = hp_atoms_find(&document->atoms, "open", 4);
  w.popover = hp_atoms_find(&document->atoms, "popover", 7);
  const hp_node *top = hp_node_at(document->range.base, node);
  switch (top->kind) {
    case HPAR_NODE_TEXT: {
      hpar_string text = hp_text_of(document->range.base, w.low, top);
      write_text(&w, text.bytes, text.length);
      break;
    }
    case HPAR_NODE_ELEMENT: {
      uint8_t class = hp_text_class(top);
      w.keeping = class == HP_TEXT_KEEPS || class == HP_TEXT_INLINE_KEEPS;
      write_below(&w, document->range.base, node);
      break;
    }
    case HPAR_NODE_DOCUMENT:
    case HPAR_NODE_FRAGMENT: write_below(&w, document->range.base, node); break;
    default: break;
  }
  flush(&w);
  hp_document_end_reading(document);
  return w.status;
}

hpar_status hpar_text(const hpar_document *document, hpar_node node, const hpar_text_options *options,
                      hpar_write_callback write, void *context) {
  hpar_text_options wanted = {HPAR_TEXT_OPTIONS_INIT};
  hpar_status status =
      hp_read_options(&wanted, sizeof wanted, options, "hpar_text_options", "HPAR_TEXT_OPTIONS_INIT", &wanted.error);
  if (status == HPAR_OK && (!document || !write))
    status = hp_explain(wanted.error, HPAR_ERROR_ARGUMENT, "%s is NULL", document ? "write" : "document");
  if (status == HPAR_OK && node) status = write_text_of(document, node, &wanted, write, context);
  return hp_explain_status(wanted.error, status);
}

size_t hpar_text_copy(const hpar_document *document, hpar_node node, const hpar_text_options *options, char *buffer,
                      size_t capacity) {
  hp_copy c = {buffer, 0, buffer ? capacity : 0};
  hpar_text(document, node, options, hp_copy_piece, &c);
  return c.length;
}
