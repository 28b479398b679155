#include "programs/hpar/rewrite_tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The edits of one element: `count` elements of the list from `first` on. */
typedef struct edits {
  const hp_seen *first;
  size_t count;
  bool is_clone; /* only its tag has the edits */
} edits;

typedef struct frame {
  hpar_node node, next;
  edits edits;
  bool has_tags, hides_content;
  char *name;
} frame;

enum { FORMATTING = 14 };
static const char *const formatting[FORMATTING] = {"a",    "b", "big",   "code",   "em",     "font", "i",
                                                   "nobr", "s", "small", "strike", "strong", "tt",   "u"};

typedef struct writer {
  hp_lines *lines;
  const hpar_document *document;
  const hp_explanation *explanation; /* NULL: no edits */
  frame *frames;
  size_t depth, capacity;
  edits last[FORMATTING]; /* of the last element with this name */
} writer;

typedef struct attribute {
  char *name;
  char *value;
  size_t length;
} attribute;

/*** lines ***/

static void put(hp_lines *lines, const char *bytes, size_t length) {
  if (!lines->status) lines->status = hp_append_text(bytes, length, &lines->text);
}

static void put_text(hp_lines *lines, const char *text) { put(lines, text, strlen(text)); }

/* Writes bytes with escaped line breaks. */
static void put_escaped(hp_lines *lines, const char *bytes, size_t length) {
  for (const char *at = bytes, *end = bytes + length; at < end;) {
    const char *line = memchr(at, '\n', (size_t)(end - at));
    put(lines, at, (size_t)((line ? line : end) - at));
    if (line) put_text(lines, "\\n");
    at = line ? line + 1 : end;
  }
}

static void put_lower(hp_lines *lines, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char c = bytes[i];
    if (c >= 'A' && c <= 'Z') c |= 0x20;
    put(lines, &c, 1);
  }
}

static void begin_line(hp_lines *lines, const char *start) {
  if (lines->in_text) put_text(lines, "\n");
  lines->in_text = false;
  lines->nodes++;
  put_text(lines, start);
}

/* Adjacent texts become one line. */
static void write_text(hp_lines *lines, hpar_string text) {
  if (!text.length) return;
  if (!lines->in_text) begin_line(lines, "\"");
  lines->in_text = true;
  put_escaped(lines, text.bytes, text.length);
}

static void write_data(hp_lines *lines, const char *start, hpar_string data) {
  begin_line(lines, start);
  put_escaped(lines, data.bytes, data.length);
  put_text(lines, "\n");
}

/*** edits ***/

static bool is_at(const hp_seen *seen, uint64_t start) { return seen->start == start; }

/* Returns the edits of the element with a start tag at this position. */
static edits find_edits(const hp_explanation *x, uint64_t start) {
  size_t low = 0, high = x->seen_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (x->seen[middle].start < start)
      low = middle + 1;
    else
      high = middle;
  }
  edits found = {x->seen + low, 0, false};
  while (low + found.count < x->seen_count && is_at(&x->seen[low + found.count], start)) found.count++;
  return found;
}

static int formatting_index(hpar_string name) {
  for (int i = 0; i < FORMATTING; i++)
    if (strlen(formatting[i]) == name.length && !memcmp(formatting[i], name.bytes, name.length)) return i;
  return -1;
}

/* Returns the edits of an element. A clone of a formatting element has those of the tag. */
static edits edits_of(writer *w, hpar_node node) {
  edits none = {NULL, 0, false};
  uint64_t start, end;
  if (!w->explanation) return none;
  bool is_html = hpar_node_namespace(w->document, node) == HPAR_NAMESPACE_HTML;
  int index = is_html ? formatting_index(hpar_node_name(w->document, node)) : -1;
  if (hpar_node_start_tag_range(w->document, node, &start, &end)) {
    edits found = find_edits(w->explanation, start);
    if (index >= 0) w->last[index] = found;
    return found;
  }
  if (index < 0) return none;
  none = w->last[index];
  none.is_clone = true;
  return none;
}

/* Calls `use` for each action on elements, in the order of the rules or in reverse. */
typedef void (*use_fn)(writer *writer, const hpar_action *action, const hp_seen *seen, void *context);
static void each_action(writer *w, edits e, bool in_reverse, use_fn use, void *context) {
  for (size_t i = 0; i < e.count; i++) {
    const hp_seen *seen = &e.first[in_reverse ? e.count - 1 - i : i];
    for (size_t k = 0; k < seen->rule->count; k++)
      use(w, &seen->rule->actions[in_reverse ? seen->rule->count - 1 - k : k], seen, context);
  }
}

/*** inserted content ***/

static void write_children(writer *w, hpar_node top);

static void write_html(hp_lines *lines, hpar_string html, const char *context) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .fragment = context, .scripting = lines->scripting};
  hpar_document *document = NULL;
  hpar_status status = hpar_document_create(&document);
  if (!status) status = hpar_parse(lines->parser, &options, html.bytes, html.length, document, NULL);
  if (status == HPAR_ERROR_ARGUMENT) { /* the context is no element of HTML */
    options.fragment = "body";
    status = hpar_parse(lines->parser, &options, html.bytes, html.length, document, NULL);
  }
  if (!status) {
    writer w = {.lines = lines, .document = document};
    write_children(&w, hpar_document_root(document));
  } else if (!lines->status) {
    lines->status = status;
  }
  hpar_document_destroy(document);
}

typedef struct insertion {
  hpar_action_kind kind, second; /* actions whose content is written */
  const char *context;
} insertion;

static void insert(writer *w, const hpar_action *action, const hp_seen *seen, void *context) {
  insertion *i = context;
  (void)seen;
  if (action->unit != HPAR_UNIT_ELEMENT || (action->kind != i->kind && action->kind != i->second)) return;
  if (action->format == HPAR_CONTENT_TEXT)
    write_text(w->lines, action->value);
  else if (action->value.length)
    write_html(w->lines, action->value, i->context);
}

/* Keeps the content of the element: what the last INNER does not replace. */
typedef struct content {
  const hpar_action *last_inner;
  bool is_void, is_reached, is_append;
  const char *context;
} content;

static void find_inner(writer *w, const hpar_action *action, const hp_seen *seen, void *context) {
  content *c = context;
  (void)w;
  c->is_void |= !seen->has_content;
  if (action->unit == HPAR_UNIT_ELEMENT && action->kind == HPAR_ACTION_INNER) c->last_inner = action;
}

static void insert_inside(writer *w, const hpar_action *action, const hp_seen *seen, void *context) {
  content *c = context;
  insertion i = {c->is_append ? HPAR_ACTION_APPEND : HPAR_ACTION_PREPEND, HPAR_ACTION_INNER, c->context};
  bool is_inner = action == c->last_inner;
  if (c->is_append) {
    if (c->is_reached && !is_inner && action->kind != HPAR_ACTION_INNER) insert(w, action, seen, &i);
    c->is_reached |= is_inner;
  } else if (!c->is_reached) {
    insert(w, action, seen, &i);
    c->is_reached = is_inner;
  }
}

/* Writes the content inserted at the beginning or at the end of the element. Returns true if the
 * content replaces the children. */
static bool write_inside(writer *w, edits e, const char *context, bool is_append) {
  content c = {.is_append = is_append, .context = context};
  each_action(w, e, false, find_inner, &c);
  if (c.is_void) return false;
  c.is_reached = is_append && !c.last_inner;
  each_action(w, e, !is_append, insert_inside, &c);
  return c.last_inner != NULL;
}

static void write_around(writer *w, edits e, const char *context, bool is_after) {
  insertion i = {is_after ? HPAR_ACTION_AFTER : HPAR_ACTION_BEFORE, is_after ? HPAR_ACTION_AFTER : HPAR_ACTION_REPLACE,
                 context};
  each_action(w, e, is_after, insert, &i);
}

/*** tags ***/

typedef struct tag {
  const char *name; /* NULL: unchanged */
  bool is_removed, is_unwrapped, lacks_memory;
  attribute *attributes;
  size_t count;
} tag;

static void set(attribute *a, hpar_string first, hpar_string second) {
  char *value = malloc(first.length + second.length + 1);
  if (value) {
    if (first.length) memcpy(value, first.bytes, first.length);
    if (second.length) memcpy(value + first.length, second.bytes, second.length);
  }
  free(a->value);
  a->value = value;
  a->length = first.length + second.length;
}

static void edit_attribute(tag *t, const hpar_action *action) {
  attribute *a = t->attributes, *end = t->attributes + t->count;
  const hpar_string nothing = {NULL, 0};
  while (a < end && strcasecmp(a->name, action->name) != 0) a++;
  if (action->kind == HPAR_ACTION_SET_ATTRIBUTE) {
    if (a == end) {
      *a = (attribute){strdup(action->name), NULL, 0};
      t->count++;
    }
    set(a, action->value, nothing);
  } else if (a == end) {
    return;
  } else if (action->kind == HPAR_ACTION_UNSET_ATTRIBUTE) {
    free(a->name);
    free(a->value);
    memmove(a, a + 1, (size_t)(end - a - 1) * sizeof *a);
    t->count--;
    return;
  } else if (a->length >= action->value.length && !memcmp(a->value, action->value.bytes, action->value.length)) {
    char *old = a->value;
    a->value = NULL;
    set(a, action->replacement, (hpar_string){old + action->value.length, a->length - action->value.length});
    free(old);
  }
  t->lacks_memory |= !a->name || !a->value;
}

static void edit_tag(writer *w, const hpar_action *action, const hp_seen *seen, void *context) {
  tag *t = context;
  (void)w, (void)seen;
  if (action->unit != HPAR_UNIT_ELEMENT || t->lacks_memory) return;
  switch (action->kind) {
    case HPAR_ACTION_REPLACE:
    case HPAR_ACTION_REMOVE: t->is_removed = true; break;
    case HPAR_ACTION_UNWRAP: t->is_unwrapped = true; break;
    case HPAR_ACTION_RENAME: t->name = action->name; break;
    case HPAR_ACTION_SET_ATTRIBUTE:
    case HPAR_ACTION_UNSET_ATTRIBUTE:
    case HPAR_ACTION_PREFIX_ATTRIBUTE: edit_attribute(t, action); break;
    default: break;
  }
}

/* Returns true if tags may add attributes to the element: the first html, and its body. */
static bool may_merge(const writer *w, hpar_node node, const char *name) {
  hpar_node root = hpar_document_root(w->document), parent = hpar_node_parent(w->document, node);
  if (hpar_node_namespace(w->document, node) != HPAR_NAMESPACE_HTML || !w->explanation) return false;
  if (!strcmp(name, "html")) return parent == root;
  return !strcmp(name, "body") && hpar_node_parent(w->document, parent) == root;
}

/* Returns true if an earlier one of these edits has the same rule. */
static bool is_repeated(edits e, const hp_seen *first, const hp_seen *seen) {
  for (size_t i = 0; i < e.count; i++)
    if (e.first[i].rule == seen->rule) return true;
  for (const hp_seen *other = first; other < seen; other++)
    if (other->merges_into && !strcmp(other->merges_into, seen->merges_into) && other->rule == seen->rule) return true;
  return false;
}

/* Edits the attributes of html or body by the rules that a later tag of it has met. The rules of
 * the first tag have edited them already. */
static void edit_merged(writer *w, const char *name, edits e, tag *t) {
  const hp_explanation *x = w->explanation;
  for (const hp_seen *seen = x->seen, *end = seen + x->seen_count; seen < end; seen++) {
    if (!seen->merges_into || strcmp(seen->merges_into, name) != 0 || is_repeated(e, x->seen, seen)) continue;
    for (size_t k = 0; k < seen->rule->count; k++) {
      const hpar_action *action = &seen->rule->actions[k];
      bool is_setting = action->kind >= HPAR_ACTION_SET_ATTRIBUTE && action->kind <= HPAR_ACTION_PREFIX_ATTRIBUTE;
      if (action->unit == HPAR_UNIT_ELEMENT && is_setting && !t->lacks_memory) edit_attribute(t, action);
    }
  }
}

/* Returns the number of attributes that rules of later tags may set. */
static size_t merged_room(const writer *w) {
  size_t room = 0;
  const hp_explanation *x = w->explanation;
  for (size_t i = 0; x && i < x->seen_count; i++)
    if (x->seen[i].merges_into) room += x->seen[i].rule->count;
  return room;
}

static void read_attributes(writer *w, hpar_node node, edits e, size_t more, tag *t) {
  size_t count = hpar_node_attribute_count(w->document, node), room = count + 1 + more;
  for (size_t i = 0; i < e.count; i++) room += e.first[i].rule->count;
  t->attributes = calloc(room, sizeof *t->attributes);
  t->lacks_memory = !t->attributes;
  hpar_attribute a;
  for (size_t i = 0; !t->lacks_memory && hpar_node_attribute_at(w->document, node, i, &a); i++) {
    attribute *to = &t->attributes[t->count++];
    size_t size = a.prefix.length + a.local_name.length + 2;
    to->name = malloc(size);
    if (to->name)
      snprintf(to->name, size, "%.*s%s%.*s", (int)a.prefix.length, a.prefix.bytes, a.prefix.length ? ":" : "",
               (int)a.local_name.length, a.local_name.bytes);
    set(to, a.value, (hpar_string){NULL, 0});
    t->lacks_memory = !to->name || !to->value;
  }
}

static void free_tag(tag *t) {
  for (size_t i = 0; t->attributes && i < t->count; i++) {
    free(t->attributes[i].name);
    free(t->attributes[i].value);
  }
  free(t->attributes);
}

static int compare_names(const void *left, const void *right) {
  return strcasecmp(((const attribute *)left)->name, ((const attribute *)right)->name);
}

/* The order of attributes is no property of the tree. */
static void write_start(writer *w, hpar_node node, tag *t, const char *name) {
  static const char *const spaces[] = {"<", "<", "<svg ", "<math "};
  hp_lines *lines = w->lines;
  if (t->count > 1) qsort(t->attributes, t->count, sizeof *t->attributes, compare_names);
  begin_line(lines, spaces[hpar_node_namespace(w->document, node) & 3]);
  put_lower(lines, name, strlen(name));
  for (size_t i = 0; i < t->count; i++) {
    put_text(lines, " ");
    put_lower(lines, t->attributes[i].name, strlen(t->attributes[i].name));
    put_text(lines, "=\"");
    put_escaped(lines, t->attributes[i].value, t->attributes[i].length);
    put_text(lines, "\"");
  }
  put_text(lines, ">\n");
}

/*** the walk ***/

static const char *context_of(const writer *w) {
  const char *name = w->depth && w->frames[w->depth - 1].name ? w->frames[w->depth - 1].name : "body";
  return !strcmp(name, "html") ? "body" : name;
}

/* Returns the name as a fragment's context: "svg g" in svg. */
static char *name_context(const writer *w, hpar_node node, const char *name) {
  static const char *const prefixes[] = {"", "", "svg ", "math "};
  const char *prefix = prefixes[hpar_node_namespace(w->document, node) & 3];
  size_t size = strlen(prefix) + strlen(name) + 1;
  char *context = malloc(size);
  if (context) snprintf(context, size, "%s%s", prefix, name);
  return context;
}

static void push(writer *w, frame f) {
  if (w->depth == w->capacity) {
    size_t capacity = w->capacity ? w->capacity * 2 : 64;
    frame *grown = realloc(w->frames, capacity * sizeof *grown);
    if (!grown) {
      free(f.name);
      w->lines->status = HPAR_ERROR_MEMORY;
      return;
    }
    w->frames = grown;
    w->capacity = capacity;
  }
  w->frames[w->depth++] = f;
}

static void enter(writer *w, hpar_node node) {
  edits e = edits_of(w, node), around = e.is_clone ? (edits){0} : e;
  tag t = {0};
  hpar_string own = hpar_node_name(w->document, node);
  char *name = strndup(own.bytes, own.length);
  bool merges = name && may_merge(w, node, name);
  read_attributes(w, node, e, merges ? merged_room(w) : 0, &t);
  each_action(w, e, false, edit_tag, &t);
  if (merges) edit_merged(w, name, e, &t);
  if (t.name) {
    free(name);
    name = strdup(t.name);
  }
  if (t.lacks_memory || !name) w->lines->status = HPAR_ERROR_MEMORY;
  if (!w->lines->status) {
    write_around(w, around, context_of(w), false);
    hpar_node contents = hpar_node_template_contents(w->document, node);
    frame f = {.node = node, .edits = around, .has_tags = !t.is_removed && !t.is_unwrapped};
    f.next = hpar_node_first_child(w->document, contents ? contents : node);
    f.hides_content = t.is_removed;
    f.name = name_context(w, node, name);
    if (f.has_tags) write_start(w, node, &t, name);
    if (!t.is_removed && write_inside(w, around, f.name, false)) f.hides_content = true;
    if (f.hides_content) f.next = HPAR_NO_NODE;
    f.hides_content = t.is_removed;
    push(w, f);
  }
  free(name);
  free_tag(&t);
}

static void leave(writer *w) {
  frame f = w->frames[--w->depth];
  if (!f.hides_content) write_inside(w, f.edits, f.name, true);
  if (f.has_tags) {
    begin_line(w->lines, "</>\n");
    w->lines->nodes--;
  }
  write_around(w, f.edits, context_of(w), true);
  free(f.name);
}

static void visit(writer *w, hpar_node node) {
  const hpar_document *document = w->document;
  switch (hpar_node_kind(document, node)) {
    case HPAR_NODE_ELEMENT: enter(w, node); break;
    case HPAR_NODE_TEXT: write_text(w->lines, hpar_node_data(document, node)); break;
    case HPAR_NODE_COMMENT: write_data(w->lines, "<!--", hpar_node_data(document, node)); break;
    case HPAR_NODE_DOCTYPE: write_data(w->lines, "<!DOCTYPE ", hpar_node_name(document, node)); break;
    default: write_data(w->lines, "<?", hpar_node_data(document, node)); break;
  }
}

static void write_children(writer *w, hpar_node top) {
  hpar_node next = hpar_node_first_child(w->document, top);
  while (!w->lines->status && (next || w->depth)) {
    hpar_node *from = w->depth ? &w->frames[w->depth - 1].next : &next;
    hpar_node node = *from;
    if (!node) {
      leave(w);
      continue;
    }
    *from = hpar_node_next(w->document, node);
    visit(w, node);
  }
  while (w->depth) free(w->frames[--w->depth].name);
  free(w->frames);
}

hpar_status hp_write_lines(hp_lines *lines, const hpar_document *document, const hp_explanation *explanation) {
  writer w = {.lines = lines, .document = document, .explanation = explanation};
  write_children(&w, hpar_document_root(document));
  if (lines->in_text) put_text(lines, "\n");
  lines->in_text = false;
  return lines->status;
}
