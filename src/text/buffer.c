#include "text/buffer.h"

#include "base/arena.h"
#include "base/memory.h"

#include <hpar/parse.h>
#include <string.h>

/* How far memory is prepared at a time: under ASan what lies beyond the text is poisoned. */
enum { STEP = 1 << 18 };

static bool reserve(hp_buffer *buffer) {
  size_t most = SIZE_MAX >> 1 > HPAR_MAX_INPUT ? (size_t)4 << 30 : (size_t)1 << 30;
  size_t size;
  char *base = hp_reserve(most, STEP, &size);
  if (base) *buffer = (hp_buffer){.base = base, .size = size};
  return base != NULL;
}

char *hp_buffer_room(hp_buffer *buffer, size_t n) {
  if (!buffer->base && !reserve(buffer)) return NULL;
  if (buffer->size - buffer->length < n) return NULL;
  size_t end = buffer->length + n;
  if (end > buffer->reached) {
    if (!hp_memory_may()) return NULL;
    size_t reached = buffer->size - end > STEP ? end + STEP : buffer->size;
    HP_POISON(buffer->base + buffer->reached, reached - buffer->reached);
    buffer->reached = reached;
  }
  HP_UNPOISON(buffer->base + buffer->length, n);
  return buffer->base + buffer->length;
}

void hp_buffer_take(hp_buffer *buffer, size_t n) { buffer->length += n; }

hpar_status hp_buffer_add(hp_buffer *buffer, const char *bytes, size_t n) {
  char *room = hp_buffer_room(buffer, n);
  if (!room) return HPAR_ERROR_MEMORY;
  if (n) memcpy(room, bytes, n);
  hp_buffer_take(buffer, n);
  return HPAR_OK;
}

void hp_buffer_clear(hp_buffer *buffer) {
  HP_POISON(buffer->base, buffer->length);
  buffer->length = 0;
}

void hp_buffer_close(hp_buffer *buffer) {
  if (!buffer->base) return;
  HP_UNPOISON(buffer->base, buffer->reached);
  hp_unreserve(buffer->base, buffer->size);
  *buffer = (hp_buffer){0};
}
