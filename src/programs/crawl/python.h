#ifndef HP_PROGRAMS_CRAWL_PYTHON_H
#define HP_PROGRAMS_CRAWL_PYTHON_H

/* A function of the user in Python, which runs in a process of its own beside that of the unit. The
 * record is in memory that both share. A process that ends, or takes too long, costs its record and
 * is started again. */

#include "programs/crawl/map.h"

typedef struct hp_python hp_python;

typedef enum hp_python_result {
  HP_PYTHON_DONE,
  HP_PYTHON_REFUSED, /* the record has no rows: see hp_python_reason */
  HP_PYTHON_FAILED   /* no process, or no memory */
} hp_python_result;

/* What `python3 -c` runs. Its arguments are the file of the function and the limit of memory in
 * bytes; without a limit it only loads the file, and reports what is wrong with it. */
extern const char hp_python_script[];

/* HPAR_ERROR_MEMORY. */
hpar_status hp_python_create(hp_python **python, const hp_map_options *options);
void hp_python_destroy(hp_python *python);

/* Calls the function for a record, and writes its rows to the file unless that is NULL. A record
 * without an HTTP message has the `message` NULL. */
hp_python_result hp_python_record(hp_python *python, const hp_warc_record *record, const hp_http_message *message,
                                  FILE *file);
/* Returns why the last record was refused. */
const char *hp_python_reason(const hp_python *python);

#endif
