#ifndef HP_PROGRAMS_CRAWL_UNIT_H
#define HP_PROGRAMS_CRAWL_UNIT_H

/* A unit of a crawl: a file, or a part of it. Its results are files with the name of the unit's id,
 * which is a hash of the input, the options and the version. Any program that runs a unit writes
 * the same bytes, so a unit may run twice. */

#include "programs/crawl/map.h"

#include <stdatomic.h>

typedef struct hp_unit {
  char id[65];
  char *path;
  uint64_t size;        /* of the file; 0 for a stream */
  uint64_t first, last; /* records that begin in this part; `last` 0: to the end */
  hp_unpack_format format;
  bool is_stream, is_of_index; /* a record that an index names: for the plan only */
} hp_unit;

/* Sets the id. `options` is the text of all options that change results. */
void hp_unit_name(hp_unit *unit, const char *options);

/* The state of a running unit, in memory that processes share. */
typedef struct hp_unit_progress {
  _Atomic uint64_t records, bytes_in, bytes_out;
  int error; /* errno of a failure */
  char message[256];
} hp_unit_progress;

typedef enum hp_unit_result {
  HP_UNIT_DONE,
  HP_UNIT_MEMORY,
  HP_UNIT_INPUT,      /* the file cannot be read */
  HP_UNIT_OUTPUT,     /* the results cannot be written */
  HP_UNIT_UNSUPPORTED /* the build lacks a library: see the message */
} hp_unit_result;

typedef struct hp_unit_job {
  const hp_unit *unit;
  const hp_map_options *options;
  const char *folder;      /* of all results; NULL: the job writes no files */
  uint64_t from, to;       /* reports with these numbers are counted; the others are read */
  const uint64_t *killers; /* reports that end the process: they are refused */
  size_t killer_count;
  hp_unit_progress *progress; /* may be NULL */
} hp_unit_job;

/* Runs the job. The file of the unit appears complete or not at all. */
hp_unit_result hp_unit_run(const hp_unit_job *job);

/* A record that the results leave out. */
typedef struct hp_refusal {
  const char *path; /* of the unit */
  uint64_t offset, inner, record;
  char *reason, *url;
} hp_refusal;

typedef struct hp_unit_results {
  hp_tally tally;
  hp_refusal *refusals;
  size_t refusal_count, refusal_capacity;
} hp_unit_results;

/* Reads a text whose last line is "end" and the hash of all lines before it, and leaves this line
 * out. The caller frees the text. Returns HPAR_ERROR_IO with errno 0 if the hash is another one. */
hpar_status hp_load_complete(const char *path, char **text, size_t *length);

/* Adds the results of a unit. Returns HPAR_ERROR_IO if there is no complete file, with errno, or
 * errno 0 if its contents are not valid. */
hpar_status hp_unit_read(const hp_unit *unit, const char *folder, hp_unit_results *results);
/* Returns whether the unit has results. */
bool hp_unit_is_done(const hp_unit *unit, const char *folder);
void hp_unit_results_free(hp_unit_results *results);

/* Opens a temporary file beside `path`, and gives it the name `path` when it is complete and on the
 * disk. */
typedef struct hp_new_file {
  FILE *file;
  char path[4096], temporary[4096];
} hp_new_file;

bool hp_new_file_open(hp_new_file *file, const char *folder, const char *name); /* false: errno */
bool hp_new_file_finish(hp_new_file *file);                                     /* false: errno */
void hp_new_file_drop(hp_new_file *file);

/* Writes a text with \t, \n, \r and \\ for a tab, line breaks and a backslash. */
void hp_write_escaped(FILE *file, const char *text, size_t length);
/* Replaces the escapes of a text in place. Returns the new length. */
size_t hp_read_escaped(char *text, size_t length);

#endif
