#include "text/buffer.h"

#include "base/memory.h"
#include "platform/address_range.h"

#include <string.h>

/* Bytes that are prepared at a time: ASan's poison covers those after the text. */
enum { STEP = 1 << 18 };

/* Requires an empty buffer, because its bytes may move. */
static bool reserve(hp_buffer *buffer) {
  const size_t bytes = (size_t)4 << 30;
  if (!hp_block_open(&buffer->block, bytes, STEP)) return false;
  if (buffer->base != buffer->block.base) buffer->reached = 0;
  buffer->base = buffer->block.base;
  buffer->size = buffer->block.size;
  return true;
}

char *hp_buffer_room(hp_buffer *buffer, size_t n) {
  if (!buffer->block.open && !reserve(buffer)) return NULL;
  if (buffer->size - buffer->length < n) return NULL;
  size_t end = buffer->length + n;
  if (end > buffer->block.touched) buffer->block.touched = end;
  if (end > buffer->reached) {
    if (!hp_memory_may()) return NULL;
    size_t reached = buffer->size - end > STEP ? end + STEP : buffer->size;
    HP_POISON(buffer->base + buffer->reached, reached - buffer->reached);
    buffer->reached = reached;
  }
  HP_UNPOISON(buffer->base + buffer->length, n);
  return buffer->base + buffer->length;
}

char *hp_buffer_room_for(hp_buffer *buffer, size_t n, size_t expected) {
  if (!buffer->block.open && !reserve(buffer)) return NULL;
  hp_block_expect(&buffer->block, buffer->length + expected);
  return hp_buffer_room(buffer, n);
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

void hp_buffer_trim(hp_buffer *buffer) {
  if (!buffer->block.open) return;
  HP_UNPOISON(buffer->base, buffer->reached);
  hp_block_trim(&buffer->block, buffer->length);
  buffer->base = buffer->block.base;
  buffer->size = buffer->block.size;
  if (buffer->reached > buffer->size) buffer->reached = buffer->size;
  if (buffer->base) HP_POISON(buffer->base + buffer->length, buffer->reached - buffer->length);
}

void hp_buffer_close(hp_buffer *buffer) {
  if (!buffer->base) return;
  HP_UNPOISON(buffer->base, buffer->reached);
  hp_block_release(&buffer->block);
  *buffer = (hp_buffer){0};
}
