#ifndef TESTS_SUPPORT_TOY_H
#define TESTS_SUPPORT_TOY_H

/* A script engine for tests. Any bytes are a program: a list of commands, each on a line. The first
 * byte is the command, other commands do nothing. N and M are numbers of elements in tree order,
 * modulo the number of elements. TEXT is escaped: see toy_escape.
 *
 *   w TEXT      writes the text        c TEXT      writes it character by character
 *   s           writes the number of elements, texts and bytes of text that the script sees
 *   r N         removes element N      m N M       moves element N to the end of M
 *   b N M       moves N before M       n M NAME    appends a new element to M
 *   t M TEXT    appends a text to M    d N TEXT    sets the data of the first text child of N
 *   a N NAME V  sets an attribute      u N NAME    removes an attribute
 *   h M TEXT    sets the inner HTML    k N M       appends a deep copy of N to M
 *   p M TEXT    appends a new script with this program to M
 *   x           fails: the parse ends with HPAR_ERROR_CALLBACK */

#include "support/buffer.h"

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stdint.h>

enum { TOY_MAX_LOG = 64 };

typedef struct toy {
  bool only_first;    /* other scripts do nothing */
  bool keeps_views;   /* hash the tree at the beginning of each script and after each command */
  size_t scripts;     /* that ran */
  size_t max_scripts; /* later ones do nothing */
  size_t depth;       /* of running scripts */
  uint64_t views;     /* the hash of all views */
  /* NULL, or the text that the outermost scripts write; its parts by script */
  buffer *log;
  size_t log_count, log_starts[TOY_MAX_LOG];
  hpar_node log_nodes[TOY_MAX_LOG];
  hpar_status unusual; /* the first status except HPAR_OK and HPAR_ERROR_ARGUMENT */
} toy;

/* An hpar_script_callback. Its context is a toy. */
hpar_status toy_run(hpar_editor *editor, const hpar_script *script, void *context);

/* Appends text so that toy_run reads it back, and so that it ends neither a script nor a command:
 * "\l" is '<', "\n" is LF, "\r" is CR, "\0" is NUL, "\b" is '\'. */
void toy_escape(buffer *to, const char *bytes, size_t length);

/* Returns the hash of the tree below the document node. */
uint64_t toy_hash(const hpar_document *document);

#endif
