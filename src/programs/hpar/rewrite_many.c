#include "programs/hpar/rewrite_many.h"

#include "programs/hpar/replace_file.h"

#include <stdlib.h>

/* Input that is in memory at once, except for a longer file. */
enum { BATCH_BYTES = 64 << 20, BATCH_PAGES = 512 };

typedef struct batch {
  const hp_rewriting *rewriting;
  const char *paths[BATCH_PAGES];
  hpar_rewrite_page pages[BATCH_PAGES];
  hp_text outputs[BATCH_PAGES];
  size_t count, bytes;
  bool has_failed[BATCH_PAGES];
  int code;
} batch;

static void take_code(batch *b, int code) {
  if (code > b->code) b->code = code;
}

static void add_page(batch *b, const char *path) {
  size_t length = 0;
  char *bytes = hp_load(path, b->rewriting->options.max_input, &length);
  if (!bytes) {
    take_code(b, HP_EXIT_FAILED);
    return;
  }
  hp_text *output = &b->outputs[b->count];
  *output = (hp_text){0};
  b->pages[b->count] = (hpar_rewrite_page){HPAR_REWRITE_PAGE_INIT, .bytes = bytes, .length = length,
                                           .write = hp_append_text, .context = output};
  b->paths[b->count] = path;
  b->has_failed[b->count++] = false;
  b->bytes += length;
}

/* Replaces the file of a page with edits. Frees the memory of the page. */
static void finish_page(size_t index, hpar_rewrite_page *page, void *context) {
  batch *b = context;
  hp_text *output = &b->outputs[index];
  hp_replacement replacement;
  b->has_failed[index] = page->status;
  if (!page->status && (page->stats.edits || page->stats.passed_through))
    hp_warn_of_utf16(b->paths[index], &page->stats);
  if (!page->status && page->stats.edits) {
    if (!hp_replacement_open(&replacement, b->paths[index])) {
      take_code(b, HP_EXIT_FAILED);
    } else if (hp_write_file(output->bytes, output->length, replacement.file)) {
      hp_complain_status(b->paths[index], HPAR_ERROR_IO);
      hp_replacement_drop(&replacement);
      take_code(b, HP_EXIT_FAILED);
    } else if (!hp_replacement_finish(&replacement, b->rewriting->backup_suffix)) {
      take_code(b, HP_EXIT_FAILED);
    }
  }
  free(output->bytes);
  free((char *)(uintptr_t)page->bytes);
}

/* Rewrites the pages of the batch, and empties it. */
static void run_batch(batch *b, hp_rewrite_alone_fn rewrite_alone, void *context) {
  hpar_status status =
      hpar_rewrite_many(b->rewriting->compiled, &b->rewriting->options, b->pages, b->count, finish_page, b);
  for (size_t i = 0; i < b->count; i++) {
    if (status) free((char *)(uintptr_t)b->pages[i].bytes);
    if (status || b->has_failed[i]) take_code(b, rewrite_alone(b->paths[i], context));
  }
  b->count = b->bytes = 0;
}

int hp_rewrite_many_pages(const hp_rewriting *w, hp_rewrite_alone_fn rewrite_alone, void *context) {
  batch *b = calloc(1, sizeof *b);
  if (!b) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  b->rewriting = w;
  b->code = w->pages.failures ? HP_EXIT_FAILED : HP_EXIT_FINE;
  for (size_t i = 0; i < w->pages.count; i++) {
    add_page(b, w->pages.paths[i]);
    if (b->count == BATCH_PAGES || b->bytes >= BATCH_BYTES) run_batch(b, rewrite_alone, context);
  }
  if (b->count) run_batch(b, rewrite_alone, context);
  int code = b->code;
  free(b);
  return code;
}
