#ifndef TESTS_SUPPORT_CORPUS_H
#define TESTS_SUPPORT_CORPUS_H

/* A small corpus of pages like those of the web, from 1 KB to 2 MB, equal on every machine. */

#include "support/buffer.h"

typedef struct corpus_page {
  const char *name; /* of its file, without ".html" */
  void (*write)(buffer *page);
} corpus_page;

extern const corpus_page corpus_pages[];
extern const size_t corpus_page_count;

#endif
