#include "growth/entries.h"

#include "growth/count.h"

#include <hpar/study.h>

#define PARSE(name, variant) \
  { "parse " name, run_parse, variant }
#define SELECT(variant) \
  { "select " #variant, run_select, variant }
#define REWRITE(variant) \
  { "rewrite " #variant, run_rewrite, variant }

const entry entries[] = {
    PARSE("sequential", 0),
    PARSE("errors", 1),
    PARSE("source offsets", 2),
    PARSE("scripting", 3),
    PARSE("untrusted", 4),
    PARSE("parallel, four chunks", 5),
    PARSE("parallel, small chunks", 6),
    PARSE("parallel, small chunks, tree", 7),
    PARSE("parallel, small chunks, errors", 8),
    PARSE("fed", 9),
    PARSE("fed, errors", 10),
    PARSE("fed, parallel", 11),
    PARSE("fragment", 12),
    PARSE("fragment, parallel", 13),
    PARSE("resources", 14),
    {"scan", run_scan, 0},
    {"scan, fragment", run_scan, 1},
    {"write whole", run_writes, 0},
    {"write characters", run_writes, 1},
    {"write from scripts", run_writes, 2},
    {"write nothing", run_writes, 3},
    SELECT(0),
    SELECT(1),
    SELECT(2),
    SELECT(3),
    SELECT(4),
    SELECT(5),
    SELECT(6),
    SELECT(7),
    SELECT(8),
    SELECT(9),
    SELECT(10),
    SELECT(11),
    {"text", run_text, 0},
    {"text, all", run_text, 1},
    {"links", run_links, 0},
    {"resources", run_resources, 0},
    {"serialize", run_serialize, 0},
    {"serialize tree", run_serialize, 1},
    {"walk", run_walk, 0},
    REWRITE(0),
    REWRITE(1),
    REWRITE(2),
    REWRITE(3),
    REWRITE(4),
    REWRITE(5),
    REWRITE(6),
    REWRITE(7),
    REWRITE(8),
    REWRITE(9),
    REWRITE(10),
    REWRITE(11),
    {"edit: remove", run_edit, 0},
    {"edit: remove from the end", run_edit, 1},
    {"edit: move", run_edit, 2},
    {"edit: attributes", run_edit, 3},
    {"edit: insert", run_edit, 4},
    {"edit: clone", run_edit, 5},
    {"edit: data", run_edit, 6},
    {"edit: inner HTML", run_edit, 7},
    {"edit: many attributes of one element", run_edit, 8},
};
const unsigned entry_count = sizeof entries / sizeof *entries;

hpar_parser *entry_parser;
hpar_document *entry_document;

bool entries_open(void) {
  return hpar_parser_create(&entry_parser) == HPAR_OK && hpar_document_create(&entry_document) == HPAR_OK &&
         open_selectors() && open_rules();
}

void entries_close(void) {
  close_rules();
  close_selectors();
  hpar_document_destroy(entry_document);
  hpar_parser_destroy(entry_parser);
}

void page_parse(page *of) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_study_parse(entry_parser, &options, of->text.bytes, of->text.length, of->document, &stats);
  of->nodes = stats.nodes;
}

static uint64_t begun;

void entry_begin(void) { begun = count_work; }

uint64_t entry_measure(const entry *of, const page *on, uint64_t *size) {
  entry_begin();
  *size = of->run(on, of->variant);
  return count_work - begun;
}
