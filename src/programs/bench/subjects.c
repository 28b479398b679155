#include "programs/bench/subjects.h"

#include "support/corpus.h"
#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
  hp_page page;
  const corpus_page *generated;
  char *path;
  bool read;
} source;

static source *sources;
static size_t source_count, source_capacity;
static hp_subject *subjects;
static size_t subject_count, subject_capacity;

static void *grown(void *items, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return items;
  *capacity = *capacity ? *capacity * 2 : 64;
  items = realloc(items, *capacity * size);
  if (!items) abort();
  return items;
}

static size_t add_source(const corpus_page *generated, const char *path) {
  sources = grown(sources, source_count, &source_capacity, sizeof *sources);
  sources[source_count] = (source){.generated = generated, .path = path ? strdup(path) : NULL};
  if (path && !sources[source_count].path) abort();
  return source_count++;
}

/* Adds `count` pages from `first` on. The name is "set", or "set/page" where `page` has its
 * length. */
static void add_subject(const char *set, const char *page, size_t page_length, size_t first, size_t count) {
  subjects = grown(subjects, subject_count, &subject_capacity, sizeof *subjects);
  hp_subject *made = &subjects[subject_count++];
  size_t size = strlen(set) + page_length + 2;
  *made = (hp_subject){.name = malloc(size), .members = malloc((count + 1) * sizeof *made->members), .count = count};
  if (!made->name || !made->members) abort();
  snprintf(made->name, size, "%s%s%.*s", set, page_length ? "/" : "", (int)page_length, page);
  for (size_t i = 0; i < count; i++) made->members[i] = first + i;
}

static void add_generated(void) {
  size_t first = source_count;
  for (size_t i = 0; i < corpus_page_count; i++) add_source(&corpus_pages[i], NULL);
  add_subject("generated", "", 0, first, corpus_page_count);
  for (size_t i = 0; i < corpus_page_count; i++)
    add_subject("generated", corpus_pages[i].name, strlen(corpus_pages[i].name), first + i, 1);
}

static void add_shared(const char *set, bool singly) {
  char below[64], path[4096];
  snprintf(below, sizeof below, "corpus/%s", set);
  shared_list files;
  if (!shared_path(path, sizeof path, below) || !shared_files(path, ".html", &files)) return;
  size_t first = source_count;
  for (size_t i = 0; i < files.count; i++) add_source(NULL, files.paths[i]);
  if (files.count) add_subject(set, "", 0, first, files.count);
  for (size_t i = 0; singly && i < files.count; i++) {
    const char *name = strrchr(files.paths[i], '/') + 1;
    add_subject(set, name, strlen(name) - strlen(".html"), first + i, 1);
  }
  shared_list_free(&files);
}

void hp_subjects_open(void) {
  add_generated();
  add_shared("paper", true);
  add_shared("pages", false);
  add_shared("large", true);
}

void hp_subjects_close(void) {
  for (size_t i = 0; i < source_count; i++) {
    free(sources[i].path);
    free(sources[i].page.bytes);
  }
  for (size_t i = 0; i < subject_count; i++) {
    free(subjects[i].name);
    free(subjects[i].members);
  }
  free(sources);
  free(subjects);
  sources = NULL;
  subjects = NULL;
  source_count = source_capacity = subject_count = subject_capacity = 0;
}

const hp_subject *hp_subject_at(size_t index, unsigned kinds) {
  for (size_t i = 0; i < subject_count; i++) {
    unsigned kind = strchr(subjects[i].name, '/') ? HP_SINGLE_PAGES : HP_SETS;
    if (kind & kinds && !index--) return &subjects[i];
  }
  return NULL;
}

const hp_subject *hp_subject_named(const char *name) {
  for (size_t i = 0; i < subject_count; i++)
    if (!strcmp(subjects[i].name, name)) return &subjects[i];
  return NULL;
}

const hp_page *hp_subject_page(const hp_subject *subject, size_t index) {
  source *s = &sources[subject->members[index]];
  if (!s->read && s->generated) {
    buffer page = {0};
    s->generated->write(&page);
    s->page = (hp_page){page.bytes, page.length};
  } else if (!s->read) {
    s->page.bytes = shared_read(s->path, &s->page.length);
  }
  s->read = true;
  return s->page.bytes ? &s->page : NULL;
}

size_t hp_subject_bytes(const hp_subject *subject) {
  size_t bytes = 0;
  for (size_t i = 0; i < subject->count; i++) {
    const hp_page *page = hp_subject_page(subject, i);
    if (!page) return 0;
    bytes += page->length;
  }
  return bytes;
}
