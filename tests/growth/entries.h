#ifndef TESTS_GROWTH_ENTRIES_H
#define TESTS_GROWTH_ENTRIES_H

/* The entry points of the library, each as a function of a page. */

#include "support/buffer.h"

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stdint.h>

/* A page and its tree, which entries read. */
typedef struct page {
  buffer text;
  hpar_document *document;
  uint64_t nodes;
} page;

/* Runs the work. Returns the size of the result: nodes, bytes or reports, which the standard
 * defines. Work that is in proportion to it is not too much. */
typedef uint64_t (*entry_run)(const page *of, unsigned variant);

typedef struct entry {
  const char *name;
  entry_run run;
  unsigned variant;
} entry;

extern const entry entries[];
extern const unsigned entry_count;

/* Makes what the entries share. Returns false without memory. */
bool entries_open(void);
void entries_close(void);

/* Parses the text of the page into its document. */
void page_parse(page *of);

/* Runs the entry and returns its work. Sets `*size` to the size of the result. */
uint64_t entry_measure(const entry *of, const page *on, uint64_t *size);

/*** parsing.c, reading.c, rewriting.c, editing.c ***/

extern hpar_parser *entry_parser;
/* Holds what an entry parses. */
extern hpar_document *entry_document;

/* Begins what is counted. An entry that prepares nothing need not call it. */
void entry_begin(void);

enum { PARSE_VARIANTS = 15, SCAN_VARIANTS = 2, SELECT_VARIANTS = 12, REWRITE_VARIANTS = 12, EDIT_VARIANTS = 8 };
enum { WRITE_VARIANTS = 4 };

uint64_t run_parse(const page *of, unsigned variant);
uint64_t run_scan(const page *of, unsigned variant);
uint64_t run_writes(const page *of, unsigned variant);

bool open_selectors(void);
void close_selectors(void);
uint64_t run_select(const page *of, unsigned variant);
uint64_t run_text(const page *of, unsigned variant);
uint64_t run_links(const page *of, unsigned variant);
uint64_t run_resources(const page *of, unsigned variant);
uint64_t run_serialize(const page *of, unsigned variant);
uint64_t run_walk(const page *of, unsigned variant);

bool open_rules(void);
void close_rules(void);
uint64_t run_rewrite(const page *of, unsigned variant);

uint64_t run_edit(const page *of, unsigned variant);

#endif
