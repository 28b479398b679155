#include "support/toy.h"

#include <stdio.h>
#include <string.h>

/*** text ***/

void toy_escape(buffer *to, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    switch (bytes[i]) {
      case '<': buffer_text(to, "\\l"); break;
      case '\n': buffer_text(to, "\\n"); break;
      case '\r': buffer_text(to, "\\r"); break;
      case 0: buffer_text(to, "\\0"); break;
      case '\\': buffer_text(to, "\\b"); break;
      default: buffer_byte(to, bytes[i]);
    }
  }
}

/* Appends the text without its escapes. */
static void unescape(buffer *to, const char *at, const char *end) {
  for (; at < end; at++) {
    if (*at != '\\' || at + 1 == end) {
      buffer_byte(to, *at);
      continue;
    }
    switch (*++at) {
      case 'l': buffer_byte(to, '<'); break;
      case 'n': buffer_byte(to, '\n'); break;
      case 'r': buffer_byte(to, '\r'); break;
      case '0': buffer_byte(to, 0); break;
      case 'b': buffer_byte(to, '\\'); break;
      default: buffer_byte(to, *at);
    }
  }
}

/* Returns the length of the character at `at`. */
static size_t character(const char *at, const char *end) {
  size_t n = 1;
  while (at + n < end && ((unsigned char)at[n] & 0xC0) == 0x80) n++;
  return n;
}

/*** views ***/

static uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static uint64_t mix_string(uint64_t hash, hpar_string string) {
  for (size_t i = 0; i < string.length; i++) hash = (hash ^ (unsigned char)string.bytes[i]) * UINT64_C(0x100000001B3);
  return mix(hash, string.length);
}

static uint64_t hash_node(const hpar_document *document, hpar_node node, uint64_t hash) {
  hpar_attribute attribute;
  hash = mix(hash, hpar_node_kind(document, node));
  hash = mix(hash, hpar_node_namespace(document, node));
  hash = mix_string(hash, hpar_node_name(document, node));
  hash = mix_string(hash, hpar_node_data(document, node));
  for (size_t i = 0; hpar_node_attribute_at(document, node, i, &attribute); i++) {
    hash = mix_string(hash, attribute.local_name);
    hash = mix_string(hash, attribute.value);
  }
  return hash;
}

static uint64_t hash_below(const hpar_document *document, hpar_node top, uint64_t hash) {
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    hpar_node contents = hpar_node_template_contents(document, node);
    hash = hash_node(document, node, hash);
    hash = mix(hash, hpar_node_first_child(document, node) != HPAR_NO_NODE);
    hash = mix(hash, hpar_node_next(document, node) != HPAR_NO_NODE);
    if (contents) hash = hash_below(document, contents, mix(hash, 1));
  }
  return hash;
}

uint64_t toy_hash(const hpar_document *document) { return hash_below(document, hpar_document_root(document), 1); }

/*** commands ***/

typedef struct run {
  toy *of;
  hpar_editor *editor;
  const hpar_document *document;
  const char *at, *end; /* the rest of the command */
  buffer text;
} run;

static unsigned long number(run *r) {
  unsigned long value = 0;
  while (r->at < r->end && *r->at == ' ') r->at++;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') value = value * 10 + (unsigned long)(*r->at++ - '0');
  return value;
}

/* Returns the element with the next number of the command, and HPAR_NO_NODE without elements. */
static hpar_node element(run *r) {
  unsigned long wanted = number(r), count = 0;
  hpar_node root = hpar_document_root(r->document);
  for (hpar_node node = root; node; node = hpar_node_walk(r->document, root, node))
    count += hpar_node_kind(r->document, node) == HPAR_NODE_ELEMENT;
  if (!count) return HPAR_NO_NODE;
  wanted %= count;
  for (hpar_node node = root; node; node = hpar_node_walk(r->document, root, node))
    if (hpar_node_kind(r->document, node) == HPAR_NODE_ELEMENT && !wanted--) return node;
  return HPAR_NO_NODE;
}

/* Returns the next word of the command. */
static hpar_string word(run *r) {
  while (r->at < r->end && *r->at == ' ') r->at++;
  hpar_string found = {r->at, 0};
  while (r->at < r->end && *r->at != ' ') r->at++, found.length++;
  return found;
}

static hpar_string rest(run *r) {
  if (r->at < r->end && *r->at == ' ') r->at++;
  buffer_clear(&r->text);
  unescape(&r->text, r->at, r->end);
  return (hpar_string){r->text.length ? r->text.bytes : "", r->text.length};
}

static hpar_status write_text(run *r, const char *bytes, size_t length) {
  if (r->of->log && r->of->depth == 1) buffer_add(r->of->log, bytes, length);
  return hpar_script_write(r->editor, bytes, length);
}

static hpar_status write_characters(run *r) {
  hpar_string text = rest(r);
  hpar_status status = HPAR_OK;
  for (const char *at = text.bytes, *end = at + text.length; at < end && status == HPAR_OK;) {
    size_t n = character(at, end);
    status = write_text(r, at, n);
    at += n;
  }
  return status;
}

static hpar_status write_view(run *r) {
  unsigned long elements = 0, texts = 0, bytes = 0;
  hpar_node root = hpar_document_root(r->document);
  for (hpar_node node = root; node; node = hpar_node_walk(r->document, root, node)) {
    elements += hpar_node_kind(r->document, node) == HPAR_NODE_ELEMENT;
    texts += hpar_node_kind(r->document, node) == HPAR_NODE_TEXT;
    if (hpar_node_kind(r->document, node) == HPAR_NODE_TEXT) bytes += hpar_node_data(r->document, node).length;
  }
  char text[80];
  int n = snprintf(text, sizeof text, "%lu %lu %lu", elements, texts, bytes);
  return write_text(r, text, (size_t)n);
}

static hpar_status insert_element(run *r) {
  hpar_node parent = element(r), made;
  hpar_string name = word(r);
  hpar_status status = hpar_node_create_element(r->editor, HPAR_NAMESPACE_HTML, name.bytes, name.length, &made);
  return status == HPAR_OK ? hpar_node_append(r->editor, parent, made) : status;
}

static hpar_status insert_text(run *r, hpar_node parent) {
  hpar_node made;
  hpar_string text = rest(r);
  hpar_status status = hpar_node_create_text(r->editor, text.bytes, text.length, &made);
  return status == HPAR_OK ? hpar_node_append(r->editor, parent, made) : status;
}

static hpar_status insert_script(run *r) {
  hpar_node parent = element(r), made;
  hpar_status status = hpar_node_create_element(r->editor, HPAR_NAMESPACE_HTML, "script", 6, &made);
  if (status == HPAR_OK) status = insert_text(r, made);
  return status == HPAR_OK ? hpar_node_append(r->editor, parent, made) : status;
}

static hpar_status insert_copy(run *r) {
  hpar_node from = element(r), into = element(r), copy;
  /* Repeated copies of copies double the tree. */
  unsigned nodes = 0;
  for (hpar_node node = from; node; node = hpar_node_walk(r->document, from, node))
    if (++nodes > 100) return HPAR_OK;
  hpar_status status = hpar_node_clone(r->editor, from, true, &copy);
  return status == HPAR_OK ? hpar_node_append(r->editor, into, copy) : status;
}

static hpar_status set_data(run *r) {
  hpar_node node = hpar_node_first_child(r->document, element(r));
  while (node && hpar_node_kind(r->document, node) != HPAR_NODE_TEXT) node = hpar_node_next(r->document, node);
  hpar_string text = rest(r);
  return hpar_node_set_text(r->editor, node, text.bytes, text.length);
}

static hpar_status set_attribute(run *r) {
  hpar_node node = element(r);
  hpar_string name = word(r), value = word(r);
  return hpar_node_set_attribute(r->editor, node, name.bytes, name.length, value.bytes, value.length);
}

static hpar_status execute(run *r) {
  hpar_node node;
  hpar_string string;
  char command = *r->at++;
  switch (command) {
    case 'w': string = rest(r); return write_text(r, string.bytes, string.length);
    case 'c': return write_characters(r);
    case 's': return write_view(r);
    case 'r': return hpar_node_remove(r->editor, element(r));
    case 'm': node = element(r); return hpar_node_insert_before(r->editor, element(r), node, HPAR_NO_NODE);
    case 'b': {
      node = element(r);
      hpar_node before = element(r);
      return hpar_node_insert_before(r->editor, hpar_node_parent(r->document, before), node, before);
    }
    case 'n': return insert_element(r);
    case 't': node = element(r); return insert_text(r, node);
    case 'd': return set_data(r);
    case 'a': return set_attribute(r);
    case 'u':
      node = element(r);
      string = word(r);
      return hpar_node_remove_attribute(r->editor, node, string.bytes, string.length);
    case 'h':
      node = element(r);
      string = rest(r);
      return hpar_node_set_inner_html(r->editor, node, string.bytes, string.length);
    case 'k': return insert_copy(r);
    case 'p': return insert_script(r);
    case 'x': return HPAR_ERROR_CALLBACK;
    default: return HPAR_OK;
  }
}

/* Appends the child text content of the script. */
static void read_program(const hpar_document *document, hpar_node script, buffer *program) {
  for (hpar_node child = hpar_node_first_child(document, script); child; child = hpar_node_next(document, child)) {
    if (hpar_node_kind(document, child) != HPAR_NODE_TEXT) continue;
    hpar_string data = hpar_node_data(document, child);
    buffer_add(program, data.bytes, data.length);
  }
}

static void note_view(run *r) {
  if (r->of->keeps_views) r->of->views = mix(r->of->views, toy_hash(r->document));
}

hpar_status toy_run(hpar_editor *editor, const hpar_script *script, void *context) {
  toy *of = context;
  run r = {.of = of, .editor = editor, .document = hpar_editor_document(editor)};
  of->views = mix(of->views, script->time * 16 + script->type);
  note_view(&r);
  if (++of->scripts > 1 && of->only_first) return HPAR_OK;
  if (of->max_scripts && of->scripts > of->max_scripts) return HPAR_OK;
  if (of->depth > 40) return HPAR_OK;
  buffer program = {0};
  hpar_status status = HPAR_OK;
  buffer_text(&program, "");
  read_program(r.document, script->node, &program);
  of->depth++;
  if (of->log && of->depth == 1 && of->log_count < TOY_MAX_LOG) {
    of->log_nodes[of->log_count] = script->node;
    of->log_starts[of->log_count++] = of->log->length;
  }
  for (const char *at = program.bytes, *end = at + program.length; at < end && status == HPAR_OK;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
    r.at = at;
    r.end = stop;
    if (at < stop) status = execute(&r);
    if (status != HPAR_OK && status != HPAR_ERROR_ARGUMENT && !of->unusual) of->unusual = status;
    if (status == HPAR_ERROR_ARGUMENT) status = HPAR_OK;
    note_view(&r);
    at = stop + 1;
  }
  of->depth--;
  buffer_free(&program);
  buffer_free(&r.text);
  return status;
}
