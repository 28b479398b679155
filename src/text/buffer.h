#ifndef HP_TEXT_BUFFER_H
#define HP_TEXT_BUFFER_H

/* Text that grows and never moves: nodes point into it while more is added at its end. Address space is reserved
 * once, memory is taken as it is written to and kept for the next text. All zero is an empty buffer. */

#include <hpar/status.h>
#include <stddef.h>

typedef struct hp_buffer {
  char *base;          /* NULL: nothing is reserved yet */
  size_t length, size; /* length <= size */
  size_t reached;      /* the most that was ever in use, and a little more */
} hp_buffer;

/* Room for `n` bytes behind the text, which hp_buffer_take makes part of it. NULL: memory or address space is short. */
char *hp_buffer_room(hp_buffer *buffer, size_t n);
void hp_buffer_take(hp_buffer *buffer, size_t n);

/* HPAR_ERROR_MEMORY */
hpar_status hp_buffer_add(hp_buffer *buffer, const char *bytes, size_t n);

void hp_buffer_clear(hp_buffer *buffer); /* memory is kept */
void hp_buffer_close(hp_buffer *buffer);

#endif
