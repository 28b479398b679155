/* Checks the names: the table of short names against the complete table, end tags of the current
 * node's name, the cache of longer names, and the hash tables of a document's names.
 *
 *   names_test slots   prints the slots of some names in the hash table of a document */

#include "base/atom.h"
#include "base/process.h"
#include "check.h"
#include "support/recorded_tags.h"
#include "support/tokens.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

enum { PADDED = 160 };

/* Copies a name in front of bytes that are not part of it. */
static void write_padded(char *to, const char *name, size_t length) {
  memset(to, 'x', PADDED);
  memcpy(to, name, length);
}

static bool is_lower(const char *name) {
  for (; *name; name++)
    if (*name >= 'A' && *name <= 'Z') return false;
  return true;
}

/* Returns the atom of the lower-case form of a name, or HP_NO_ATOM. */
static hp_atom known_atom(const char *name, size_t length) {
  char lower[PADDED];
  for (size_t i = 0; i < length; i++) lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
  return hp_known_atom(lower, length, hp_name_key_of(lower, length));
}

/* Replaces each byte of the name by all others that a name can have. */
static void check_other_names(hp_atom atom) {
  hp_known_name name = hp_known_names[atom];
  char padded[PADDED];
  unsigned wrong = 0;
  for (unsigned i = 0; i < name.length; i++)
    for (unsigned byte = ' ' + 1; byte < 256; byte++) {
      write_padded(padded, name.bytes, name.length);
      padded[i] = (char)byte;
      hp_atom found = hp_short_name_atom(padded, name.length);
      wrong += found && found != known_atom(padded, name.length);
    }
  CHECK_EQ(wrong, 0);
}

static void test_short_names(void) {
  unsigned found = 0, missing_tags = 0;
  for (hp_atom atom = 1; atom < HP_KNOWN_ATOMS; atom++) {
    hp_known_name name = hp_known_names[atom];
    if (!is_lower(name.bytes) || known_atom(name.bytes, name.length) != atom) continue;
    char padded[PADDED];
    write_padded(padded, name.bytes, name.length);
    hp_atom got = hp_short_name_atom(padded, name.length > 8 ? 16 : name.length);
    if (name.length > 8) {
      CHECK_EQ(got, HP_NO_ATOM);
      continue;
    }
    CHECK(got == atom || got == HP_NO_ATOM);
    found += got == atom;
    missing_tags += got != atom && atom < HP_TESTED_TAGS;
    for (unsigned i = 0; i < name.length; i++)
      if (padded[i] >= 'a' && padded[i] <= 'z') padded[i] ^= 0x20;
    CHECK_EQ(hp_short_name_atom(padded, name.length), got);
    check_other_names(atom);
  }
  CHECK(found > 300);
  CHECK_EQ(missing_tags, 0);
  for (unsigned length = 0; length < 18; length += length ? 1 : 9)
    CHECK_EQ(hp_short_name_atom("\0\0\0\0\0\0\0", length), HP_NO_ATOM);
}

typedef struct first_token {
  int kind;
  hp_atom name;
  const char *at;
} first_token;

static first_token read_first(tokens *tokens, const char *input, hp_atom current) {
  hp_tokenizer *t = &tokens->tokenizer;
  hp_token token;
  t->base = t->at = input;
  t->end = input + PADDED;
  t->last = true;
  t->content = HP_TEXT_STATE_DATA;
  t->errors.list = NULL;
  first_token first = {hp_next_token_inside(t, &token, current), HP_NO_ATOM, t->at};
  if (first.kind == HPAR_TOKEN_START_TAG || first.kind == HPAR_TOKEN_END_TAG) first.name = token.name;
  return first;
}

/* The name of the current node changes no token. */
static void test_current_names(tokens *tokens) {
  static const char *const forms[] = {"</%s>",  "</%s >",     "</%sx>",    "</%s/>", "</%s\x1e>", "</%s a>", "<%s>",
                                      "</ %s>", "</%s\x1e x", "</%s\t>",   "</%s<>", "</%s?>",    "%s>",     "</%s",
                                      "</x%s>", "<//%s>",     "</%s\n\n>", "</%s=>", "</%s~>"};
  buffer out = {0};
  tokens_run(tokens, HP_TEXT_STATE_DATA, NULL, "", 0, 0, &out);
  unsigned checked = 0, differing = 0;
  for (hp_atom atom = 1; atom < HP_KNOWN_ATOMS; atom++)
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
      for (int upper = 0; upper < 2; upper++) {
        char text[PADDED], padded[PADDED];
        int length = snprintf(text, sizeof text, forms[i], hp_known_names[atom].bytes);
        for (char *c = text; upper && *c; c++)
          if (*c >= 'a' && *c <= 'z') *c ^= 0x20;
        write_padded(padded, text, (size_t)length);
        first_token expected = read_first(tokens, padded, HP_NO_ATOM);
        for (hp_atom current = 0; current < HP_KNOWN_ATOMS; current += current + 1 < atom ? 7 : 1) {
          first_token got = read_first(tokens, padded, current);
          checked++;
          differing += got.kind != expected.kind || got.name != expected.name || got.at != expected.at;
          if (current > atom + 2) break;
        }
      }
  CHECK(checked > 100000);
  CHECK_EQ(differing, 0);
  char padded[PADDED];
  write_padded(padded, "div>", 4);
  CHECK_EQ(hp_end_name_length(padded, HP_ATOM_DIV), 3);
  write_padded(padded, "caption>", 8);
  CHECK_EQ(hp_end_name_length(padded, HP_ATOM_CAPTION), 7);
  write_padded(padded, "fieldset>", 9);
  CHECK_EQ(hp_end_name_length(padded, HP_ATOM_FIELDSET), 0);
  buffer_free(&out);
}

/* Returns the largest number of adjacent slots that are in use. A search looks at no more slots. */
static unsigned longest_run(const tokens *tokens) {
  unsigned longest[2] = {0};
  for (unsigned table = 0; table < 2; table++) {
    uint32_t count = table ? tokens->interner.slot_count : tokens->atoms.slot_count;
    for (uint32_t i = 0, run = 0; i < count; i++) {
      run = (table ? tokens->interner.slots[i].atom : tokens->atoms.slots[i]) ? run + 1 : 0;
      if (run > longest[table]) longest[table] = run;
    }
  }
  return longest[0] > longest[1] ? longest[0] : longest[1];
}

/* Returns the longest run after names that differ only in the number in the format. */
static unsigned intern_numbered(tokens *tokens, const char *format, unsigned count) {
  buffer out = {0};
  tokens_run(tokens, HP_TEXT_STATE_DATA, NULL, "", 0, 0, &out);
  buffer_free(&out);
  for (unsigned i = 0; i < count; i++) {
    char name[PADDED];
    int length = snprintf(name, sizeof name, format, i);
    hp_intern(&tokens->interner, name, (size_t)length);
  }
  CHECK(tokens->atoms.count >= count);
  return longest_run(tokens);
}

/* The number of names is the largest that the test can enter quickly if all names collide. Then the
 * run has all of them. A key of the hash that is worse than most has once made runs of 600. */
static void test_similar_names(tokens *tokens) {
  enum { NAMES = 6000, LONG_RUN = NAMES / 2 };
  static const char *const formats[] = {"n%u",
                                        "n%06u",
                                        "%06uname",
                                        "prefix-of-a-name-%06u",
                                        "%06u-and-a-long-suffix",
                                        "aaaaaaaa%08ubbbbbbbb",
                                        "aaaaaaaa%07ubbbbbbbb",
                                        "aaaaaaaa%016xbbbbbbbb",
                                        "aaaaaaaabbbbbbbb%08xccccccc",
                                        "aaaaaaaabbbbbbbbccccc%06xdddddddd"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (!CHECK(intern_numbered(tokens, formats[i], NAMES) < LONG_RUN)) printf("  %s\n", formats[i]);
}

static void print_slots(tokens *tokens) {
  intern_numbered(tokens, "name%u", 100);
  for (uint32_t i = 0; i < tokens->atoms.slot_count; i++) printf("%u ", (unsigned)tokens->atoms.slots[i]);
}

/* The slots differ between processes. The author of a page therefore cannot compute names that
 * collide. HPAR_TEST_EMULATOR runs programs of another processor. */
static void test_key(const char *program) {
  char command[1024], slots[2][4096] = {{0}};
  const char *emulator = getenv("HPAR_TEST_EMULATOR");
  int length = snprintf(command, sizeof command, "%s '%s' slots", emulator ? emulator : "", program);
  CHECK(length < (int)sizeof command);
  for (unsigned i = 0; i < 2; i++) {
    FILE *output = popen(command, "r");
    if (!CHECK(output)) return;
    CHECK(fread(slots[i], 1, sizeof slots[i] - 1, output) > 200);
    CHECK_EQ(pclose(output), 0);
  }
  CHECK(strcmp(slots[0], slots[1]) != 0);
  CHECK(hp_hash_key[0] && hp_hash_key[1] & 1);
}

/* Returns true if attribute `index` of `element` has this name. */
static bool has_name(const hpar_document *document, hpar_node element, size_t index, const char *name, size_t length) {
  hpar_attribute attribute;
  return hpar_node_attribute_at(document, element, index, &attribute) && attribute.local_name.length == length &&
         !memcmp(attribute.local_name.bytes, name, length);
}

/* Names of 8 to 40 bytes that differ in one byte, each in two elements. The third attribute is a
 * duplicate. The space after the elements is `rest` bytes. */
static void check_long_names(hpar_parser *parser, hpar_document *document, size_t length, size_t rest) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  for (size_t at = 0; at < length; at++) {
    char left[64] = {0}, right[64] = {0}, html[1024];
    memset(left, 'n', length);
    memset(right, 'n', length);
    right[at] = 'm';
    int bytes = snprintf(html, sizeof html, "<body><p %s=1 %s='2' %s=3><p %s=1 %s='2' %s=3>%*s", left, right, left,
                         left, right, right, (int)rest, "");
    if (!CHECK(!hpar_parse(parser, &options, html, (size_t)bytes, document, NULL))) return;
    hpar_node body = hpar_node_last_child(document, hpar_node_first_child(document, hpar_document_root(document)));
    for (hpar_node p = hpar_node_first_child(document, body); p; p = hpar_node_next(document, p)) {
      if (hpar_node_kind(document, p) != HPAR_NODE_ELEMENT) continue;
      CHECK_EQ(hpar_node_attribute_count(document, p), 2);
      CHECK(has_name(document, p, 0, left, length) && has_name(document, p, 1, right, length));
    }
  }
}

static void test_long_names(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  if (CHECK(!hpar_parser_create(&parser)) && CHECK(!hpar_document_create(&document)))
    for (size_t length = 8; length <= 40; length++)
      for (size_t rest = 1; rest <= 400; rest += 57) check_long_names(parser, document, length, rest);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

/* The public numbers of tags are those that scripts/generate-names has recorded. */
static void test_tags(void) {
  static const struct {
    hpar_tag recorded, tag;
    const char *name;
  } rows[] = {
#define X(number, tag, name) {(hpar_tag)(number), HPAR_TAG_##tag, name},
      RECORDED_TAGS(X)
#undef X
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  hpar_document *document = hpar_parse_bytes("<svg><title></title><rect></rect></svg>x", 40, NULL, NULL);
  hpar_editor *editor;
  hpar_node made;
  if (!CHECK(document) || !CHECK(!hpar_document_edit(document, NULL, &editor, NULL))) return;
  for (size_t i = 0; i < ROWS; i++) {
    CHECK_EQ(rows[i].tag, rows[i].recorded);
    CHECK_EQ(hpar_node_create_element(editor, HPAR_NAMESPACE_HTML, rows[i].name, strlen(rows[i].name), &made), HPAR_OK);
    CHECK_EQ(hpar_node_tag(document, made), rows[i].tag);
  }
  CHECK_EQ(rows[ROWS - 1].tag + 1, HPAR_TAGS); /* a new tag is recorded */
  static const char *const others[] = {"x-div", "foreignobject", "viewBox", "href", "diV"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    CHECK_EQ(hpar_node_create_element(editor, HPAR_NAMESPACE_HTML, others[i], strlen(others[i]), &made), HPAR_OK);
    CHECK_EQ(hpar_node_tag(document, made), HPAR_TAG_UNKNOWN);
  }
  hpar_node root = hpar_document_root(document), svg = hpar_select_first(document, root, "svg", NULL);
  CHECK_EQ(hpar_node_tag(document, svg), HPAR_TAG_SVG);
  CHECK_EQ(hpar_node_tag(document, hpar_node_first_child(document, svg)), HPAR_TAG_TITLE);
  CHECK_EQ(hpar_node_tag(document, hpar_node_last_child(document, svg)), HPAR_TAG_UNKNOWN);
  CHECK_EQ(hpar_node_tag(document, hpar_node_next(document, svg)), HPAR_TAG_NONE);
  CHECK_EQ(hpar_node_tag(document, root), HPAR_TAG_NONE);
  hpar_document_destroy(document);
}

int main(int count, char **arguments) {
  tokens tokens;
  tokens_open(&tokens);
  if (check_part(count, arguments, "slots")) {
    print_slots(&tokens);
    tokens_close(&tokens);
    return 0;
  }
  test_short_names();
  test_current_names(&tokens);
  test_similar_names(&tokens);
  test_long_names();
  test_tags();
  test_key(arguments[0]);
  tokens_close(&tokens);
  return check_report();
}
