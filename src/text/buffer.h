#ifndef HP_TEXT_BUFFER_H
#define HP_TEXT_BUFFER_H

/* Text that grows and never moves: nodes point into it while a parser adds more. The first use
 * reserves address space. Memory is taken as it is written to and kept for the next text. A
 * buffer of zeros is empty. */

#include "base/arena.h"

#include <hpar/node.h>
#include <stddef.h>

typedef struct hp_buffer {
  char *base;    /* NULL: no address space is reserved */
  size_t length; /* <= size */
  size_t size;
  size_t reached; /* bytes that were ever prepared for use */
  hp_block block;
} hp_buffer;

/* Returns space for `n` bytes after the text, or NULL if memory or address space is short.
 * hp_buffer_take makes them part of the text. */
char *hp_buffer_room(hp_buffer *buffer, size_t n);
/* Returns the same for text that will take about `expected` bytes: requests huge pages for it. */
char *hp_buffer_room_for(hp_buffer *buffer, size_t n, size_t expected);
void hp_buffer_take(hp_buffer *buffer, size_t n);

/* Appends bytes. Returns HPAR_ERROR_MEMORY if no space is left. */
hpar_status hp_buffer_add(hp_buffer *buffer, const char *bytes, size_t n);

void hp_buffer_clear(hp_buffer *buffer); /* memory is kept */
/* Gives back the address space after the text. The next text gets a reservation again. */
void hp_buffer_trim(hp_buffer *buffer);
void hp_buffer_close(hp_buffer *buffer);

#endif
