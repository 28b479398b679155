#ifndef HP_PROGRAMS_HPAR_CLI_H
#define HP_PROGRAMS_HPAR_CLI_H

/* The program hpar: one file for each subcommand, and shared functions. Standard output carries
 * results only. Messages go to standard error; each line begins with "hpar: ". */

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
  HP_EXIT_FINE = 0,
  HP_EXIT_FAILED = 1, /* a difference, an unreadable file, no memory, or failed output */
  HP_EXIT_USAGE = 2
};

int hp_run_parse(int count, char **arguments);
int hp_run_text(int count, char **arguments);
int hp_run_links(int count, char **arguments);
int hp_run_resources(int count, char **arguments);
int hp_run_compare(int count, char **arguments);
int hp_run_select(int count, char **arguments);
int hp_run_rewrite(int count, char **arguments);
int hp_run_tokens(int count, char **arguments);
int hp_run_explain(int count, char **arguments);
int hp_run_trace(int count, char **arguments);
int hp_run_profile(int count, char **arguments);
int hp_run_project(int count, char **arguments);
int hp_run_bench(int count, char **arguments);
int hp_run_crawl(int count, char **arguments);

void hp_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a line to standard error that the next line or message replaces. Writes nothing unless
 * standard error is a terminal. */
void hp_show_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hp_clear_progress(void);

/* An hpar_write_callback to a FILE, its context. */
hpar_status hp_write_file(const char *bytes, size_t length, void *file);

/* Bytes in memory. Zero is the empty text; the owner frees `bytes` with free. */
typedef struct hp_text {
  char *bytes;
  size_t length, capacity;
} hp_text;

/* An hpar_write that appends to an hp_text, its context. */
hpar_status hp_append_text(const char *bytes, size_t length, void *text);

/* Replaces stdout by a stream that keeps the reason of a failed write. Requires: no output yet. */
void hp_open_standard_output(void);
/* Flushes standard output. Returns `code`, or HP_EXIT_FAILED after a message if the output failed.
 * A reader that has closed its end of a pipe causes no message. */
int hp_finish_output(int code);

/* Returns the contents of a file, standard input for "-"; the caller frees them with free.
 * `limit`: see hp_read_file. Returns NULL after a message if the file cannot be read. */
char *hp_load(const char *path, uint64_t limit, size_t *length);

/* Makes sure that no file opened later has the number of a standard stream that the caller closed.
 * Messages would go into it. Using the stream still fails. */
void hp_occupy_standard_streams(void);

/* Returns whether opening a file for results would destroy a regular file of the input, standard
 * input for "-". */
bool hp_is_input(const char *output, const char *input);
/* Opens a file for results, standard output for "-". Returns NULL after a message. */
FILE *hp_open_output(const char *path);
/* Closes it. Returns an exit code, after a message with the reason if a write failed. */
int hp_close_output(FILE *file, const char *path);

/* Returns "standard input" for "-", else the path. */
const char *hp_shown_name(const char *path);

/* Prints a message for a status other than HPAR_OK. Returns its exit code. */
int hp_complain_status(const char *path, hpar_status status);
/* Prints a message for the status of the parser's last call. The message for an option that is not
 * accepted or not supported names the field. Returns the exit code. */
int hp_complain_call(const char *path, const hpar_parser *parser, hpar_status status);

#endif
