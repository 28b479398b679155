#ifndef HP_PROGRAMS_CRAWL_ROWS_H
#define HP_PROGRAMS_CRAWL_ROWS_H

/* The rows of records: one for each match of the selectors, or one for each record. They become
 * lines of a file, and counts of groups. The rows of a record are kept until it is complete, so
 * that a record above a limit leaves none. */

#include "programs/crawl/columns.h"
#include "programs/crawl/map.h"

typedef struct hp_rows hp_rows;

/* What the rows of a record tell. */
typedef struct hp_row_source {
  const hp_warc_record *record;
  const hp_http_message *message; /* NULL: no HTTP message */
  const hpar_document *document;  /* NULL: not parsed */
  const char *encoding;           /* of the document */
  const char *file;
} hp_row_source;

typedef enum hp_rows_result { HP_ROWS_DONE, HP_ROWS_TOO_LARGE, HP_ROWS_NO_MEMORY } hp_rows_result;

/* `tally` receives the counts of groups. HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT: a column or the
 * public suffix list is wrong. */
hpar_status hp_rows_create(hp_rows **rows, const hp_map_options *options, hp_tally *tally);
void hp_rows_destroy(hp_rows *rows);

/* hp_rows_begin for each record, hp_rows_add for each row, and hp_rows_end. */
void hp_rows_begin(hp_rows *rows, const hp_row_source *source);
/* Adds a row of an element; HPAR_NO_NODE: of none. */
void hp_rows_add(hp_rows *rows, hpar_node element, uint32_t selector);
/* Adds the rows to the counts and, unless it is NULL, to the file. */
hp_rows_result hp_rows_end(hp_rows *rows, FILE *file);

/* Writes the names of the columns without a line break; nothing for JSON. */
void hp_rows_write_head(FILE *file, const hp_columns *columns, hp_row_format format);
/* Returns the ending of the files of a format. */
const char *hp_row_ending(hp_row_format format);
/* Writes a value for a format with quotes where needed. */
void hp_write_cell(FILE *file, const char *text, size_t length, hp_row_format format);

#endif
