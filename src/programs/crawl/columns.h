#ifndef HP_PROGRAMS_CRAWL_COLUMNS_H
#define HP_PROGRAMS_CRAWL_COLUMNS_H

/* The columns of rows, which --fields and --group-by name: "url", "attr:href". */

#include <stdbool.h>
#include <stddef.h>

typedef enum hp_column_kind {
  /* of the page */
  HP_COLUMN_DATE,
  HP_COLUMN_YEAR,
  HP_COLUMN_MONTH,
  HP_COLUMN_STATUS,
  HP_COLUMN_TYPE,
  HP_COLUMN_RECORD_TYPE,
  HP_COLUMN_ENCODING,
  HP_COLUMN_LANGUAGE,
  HP_COLUMN_TITLE,
  HP_COLUMN_BYTES,
  HP_COLUMN_DIGEST,
  HP_COLUMN_FILE,
  HP_COLUMN_OFFSET,
  HP_COLUMN_META,
  HP_COLUMN_HEADER,
  HP_COLUMN_WARC,
  /* of the page, or with an argument of the link in that attribute of the element */
  HP_COLUMN_URL,
  HP_COLUMN_HOST,
  HP_COLUMN_DOMAIN,
  HP_COLUMN_TLD,
  /* of the element */
  HP_COLUMN_SELECTOR,
  HP_COLUMN_TAG,
  HP_COLUMN_TEXT,
  HP_COLUMN_CONTENT,
  HP_COLUMN_HTML,
  HP_COLUMN_ATTR,
  HP_COLUMN_KINDS
} hp_column_kind;

typedef struct hp_column { // value
  hp_column_kind kind;
  const char *name;     /* as the user wrote it */
  const char *argument; /* after the colon, or NULL */
} hp_column;

typedef struct hp_columns { // value
  hp_column *items;
  size_t count;
  char *text; /* the names */
} hp_columns;

/* Reads a list with commas; NULL is the empty one. Returns false if memory runs out, with `*wrong`
 * NULL. Also returns false at an unknown name or one that occurs twice, to which it sets `*wrong`.
 * The caller calls hp_columns_free in each case, after it has used `*wrong`. */
bool hp_columns_read(hp_columns *columns, const char *list, const char **wrong);
void hp_columns_free(hp_columns *columns);

/* Returns whether the value is one of the page, the same in all of its rows. */
bool hp_column_is_of_page(const hp_column *column);
/* Returns whether the value is a number. */
bool hp_column_is_number(const hp_column *column);
/* Returns whether the columns need the public suffix list. */
bool hp_columns_need_suffixes(const hp_columns *columns);

#endif
