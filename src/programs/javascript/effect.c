#include "programs/javascript/engine.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
  return mix(hash, length);
}

void hp_javascript_note_text(hp_javascript *engine, hp_javascript_text text) {
  if (engine->options.note) engine->effect.effect = mix_bytes(engine->effect.effect, text.bytes, text.length);
}

void hp_javascript_note_node(hp_javascript *engine, const char *change, hpar_node node) {
  const hpar_document *document = engine->document;
  if (!engine->options.note) return;
  uint64_t hash = mix_bytes(engine->effect.effect, change, strlen(change));
  for (; node; node = hpar_node_parent(document, node)) {
    uint64_t index = 0;
    hpar_string name = hpar_node_name(document, node);
    for (hpar_node other = node; (other = hpar_node_previous(document, other));) index++;
    hash = mix_bytes(mix(mix(hash, index), hpar_node_kind(document, node)), name.bytes, name.length);
  }
  engine->effect.effect = hash;
}
