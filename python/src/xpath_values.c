/* String-values, conversions, comparisons and the core function library. */

#include "xpath.h"

#include "base/bytes.h"
#include "dom/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/*** string-values ***/

hpar_string hp_xpath_attribute_value(const hpar_document *document, hp_xpath_item item) {
  const hp_node *n = hp_node_at(document->range.base, hp_xpath_node(item));
  const hp_attributes *block = hp_at(document->range.base, n->attributes);
  return hp_attribute_value(document, block, &block->items[hp_xpath_attribute(item) - 1]);
}

/* Returns whether the item has its string itself, and sets it. */
static bool has_own_string(const hp_xpath_evaluation *e, hp_xpath_item item, hpar_string *string) {
  const hp_node *n = hp_node_at(e->base, hp_xpath_node(item));
  if (hp_xpath_attribute(item))
    *string = hp_xpath_attribute_value(e->document, item);
  else if (!hp_can_have_children(n))
    *string = hpar_node_data(e->document, hp_xpath_node(item));
  else
    return false;
  return true;
}

/* Returns the first text below `top` after `ref`, or 0. */
static hp_ref next_text(const hp_xpath_evaluation *e, hp_ref ref, hp_ref top) {
  do ref = hp_next_in_tree(e->base, ref, top);
  while (ref && hp_node_at(e->base, ref)->kind != HPAR_NODE_TEXT);
  return ref;
}

static hpar_string text_of(const hp_xpath_evaluation *e, hp_ref text) {
  return hp_text_of(e->base, e->document->input.bytes, hp_node_at(e->base, text));
}

static void check_length(hp_xpath_evaluation *e, size_t length) {
  if (length > HP_XPATH_STRING) hp_xpath_fail(e, HPAR_ERROR_ARGUMENT, "a string is longer than 256 MB");
}

hpar_string hp_xpath_string_of(hp_xpath_evaluation *e, hp_xpath_item item, void **memory) {
  hpar_string string = {"", 0};
  *memory = NULL;
  if (has_own_string(e, item, &string)) return string;
  const hp_ref top = hp_xpath_node(item), first = next_text(e, top, top);
  hp_xpath_work(e);
  if (!first) return string;
  string = text_of(e, first);
  hp_ref ref = next_text(e, first, top);
  if (!ref) return string;
  size_t length = string.length;
  for (; ref; ref = next_text(e, ref, top)) length += text_of(e, ref).length;
  check_length(e, length);
  char *bytes = *memory = hp_xpath_take(e, length + 1), *at = bytes;
  for (ref = first; ref; ref = next_text(e, ref, top)) {
    string = text_of(e, ref);
    memcpy(at, string.bytes, string.length);
    at += string.length;
  }
  return (hpar_string){bytes, length};
}

/* Compares the string-value with a string, without a copy of it. */
static bool item_equals(hp_xpath_evaluation *e, hp_xpath_item item, hpar_string wanted) {
  hpar_string string;
  if (has_own_string(e, item, &string))
    return string.length == wanted.length && !memcmp(string.bytes, wanted.bytes, wanted.length);
  const hp_ref top = hp_xpath_node(item);
  hp_xpath_work(e);
  for (hp_ref ref = next_text(e, top, top); ref; ref = next_text(e, ref, top)) {
    string = text_of(e, ref);
    if (string.length > wanted.length || memcmp(string.bytes, wanted.bytes, string.length)) return false;
    wanted.bytes += string.length;
    wanted.length -= string.length;
  }
  return !wanted.length;
}

/*** numbers ***/

static bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Returns the number with these digits times a power of ten. More digits than these change the
 * result only by being there. The locale has no effect, because the text has no decimal point. */
static double scale(const char *digits, size_t count, int64_t exponent) {
  enum { MOST = 800 };
  uint64_t value = 0;
  if (count <= 15 && exponent >= -22 && exponent <= 0) {
    for (size_t i = 0; i < count; i++) value = value * 10 + (uint64_t)(digits[i] - '0');
    return (double)value / powers[-exponent];
  }
  char buffer[MOST + 32];
  size_t kept = count < MOST ? count : MOST;
  memcpy(buffer, digits, kept);
  if (count > kept) {
    exponent += (int64_t)(count - kept) - 1;
    buffer[kept++] = '1';
  }
  if (exponent > 9999) exponent = 9999;
  if (exponent < -99999) exponent = -99999;
  snprintf(buffer + kept, 32, "e%d", (int)exponent);
  return strtod(buffer, NULL);
}

/* Appends digits without leading zeros. */
static const char *read_digits(const char *at, const char *end, char *digits, size_t room, size_t *count) {
  for (; at < end && hp_ascii_is_digit(*at); at++)
    if (*count || *at != '0') {
      if (*count < room) digits[*count] = *at;
      ++*count;
    }
  return at;
}

double hp_xpath_number(const char *bytes, size_t length) {
  enum { ROOM = 1000 };
  char digits[ROOM];
  const char *at = bytes, *end = bytes + length;
  while (at < end && is_white(*at)) at++;
  while (end > at && is_white(end[-1])) end--;
  bool negative = at < end && *at == '-';
  at += negative;
  const char *start = at;
  size_t count = 0;
  int64_t exponent = 0;
  at = read_digits(at, end, digits, ROOM, &count);
  size_t read = (size_t)(at - start);
  if (at < end && *at == '.') {
    const char *fraction = ++at;
    at = read_digits(at, end, digits, ROOM, &count);
    exponent = fraction - at;
    read += (size_t)(at - fraction);
  }
  if (at != end || !read) return NAN;
  if (count > ROOM) exponent += (int64_t)(count - ROOM);
  double number = count ? scale(digits, count < ROOM ? count : ROOM, exponent) : 0;
  return negative ? -number : number;
}

/* The fewest digits that a reader needs to find the number again. */
static size_t format_fraction(double number, char *buffer) {
  char text[64], digits[24];
  size_t count, length = 0;
  int exponent = 0;
  for (int precision = 14; precision <= 16; precision++) {
    snprintf(text, sizeof text, "%.*e", precision, number);
    count = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
      if (hp_ascii_is_digit(*at)) digits[count++] = *at;
    exponent = atoi(at + 1);
    if (scale(digits, count, exponent - precision) == number) break;
  }
  while (count > 1 && digits[count - 1] == '0') count--;
  if (exponent < 0) {
    buffer[length++] = '0';
    buffer[length++] = '.';
    for (int i = -1; i > exponent; i--) buffer[length++] = '0';
  }
  for (size_t i = 0; i < count; i++) {
    if (exponent >= 0 && i == (size_t)exponent + 1) buffer[length++] = '.';
    buffer[length++] = digits[i];
  }
  return length;
}

size_t hp_xpath_format(double number, char buffer[HP_XPATH_DIGITS]) {
  size_t length = 0;
  if (isnan(number)) return (size_t)snprintf(buffer, HP_XPATH_DIGITS, "NaN");
  if (number == 0) return (size_t)snprintf(buffer, HP_XPATH_DIGITS, "0");
  if (number < 0) {
    buffer[length++] = '-';
    number = -number;
  }
  if (isinf(number)) return length + (size_t)snprintf(buffer + length, HP_XPATH_DIGITS - 1, "Infinity");
  if (number == floor(number)) return length + (size_t)snprintf(buffer + length, HP_XPATH_DIGITS - 1, "%.0f", number);
  return length + format_fraction(number, buffer + length);
}

double hp_xpath_item_number(hp_xpath_evaluation *e, hp_xpath_item item) {
  void *memory;
  hpar_string string = hp_xpath_string_of(e, item, &memory);
  double number = hp_xpath_number(string.bytes, string.length);
  hp_xpath_drop(memory);
  return number;
}

/*** conversions ***/

void hp_xpath_drop_value(hp_xpath_evaluation *e, hp_xpath_value *value) {
  if (value->type == HP_XPATH_SET) hp_xpath_drop_set(e, &value->set);
  hp_xpath_drop(value->memory);
  value->memory = NULL;
}

void hp_xpath_to_string(hp_xpath_evaluation *e) {
  hp_xpath_value v = hp_xpath_pop(e);
  hpar_string string = {"", 0};
  void *memory = v.memory;
  char buffer[HP_XPATH_DIGITS];
  switch (v.type) {
    case HP_XPATH_SET:
      hp_xpath_sort(e, &v.set);
      if (v.set.count) string = hp_xpath_string_of(e, v.set.items[0], &memory);
      hp_xpath_drop_set(e, &v.set);
      break;
    case HP_XPATH_NUMBER: {
      string.length = hp_xpath_format(v.number, buffer);
      string.bytes = memory = hp_xpath_take(e, string.length + 1);
      memcpy(memory, buffer, string.length);
      break;
    }
    case HP_XPATH_BOOLEAN: string = v.truth ? (hpar_string){"true", 4} : (hpar_string){"false", 5}; break;
    default: string = v.string;
  }
  hp_xpath_push_string(e, string, memory);
}

void hp_xpath_to_number(hp_xpath_evaluation *e) {
  hp_xpath_value v = hp_xpath_pop(e);
  double number = NAN;
  switch (v.type) {
    case HP_XPATH_SET:
      hp_xpath_sort(e, &v.set);
      if (v.set.count) number = hp_xpath_item_number(e, v.set.items[0]);
      break;
    case HP_XPATH_NUMBER: number = v.number; break;
    case HP_XPATH_BOOLEAN: number = v.truth; break;
    default: number = hp_xpath_number(v.string.bytes, v.string.length);
  }
  hp_xpath_drop_value(e, &v);
  hp_xpath_push_number(e, number);
}

static bool truth_of(const hp_xpath_value *v) {
  switch (v->type) {
    case HP_XPATH_SET: return v->set.count > 0;
    case HP_XPATH_NUMBER: return v->number != 0 && !isnan(v->number);
    case HP_XPATH_BOOLEAN: return v->truth;
    default: return v->string.length > 0;
  }
}

void hp_xpath_to_boolean(hp_xpath_evaluation *e) {
  hp_xpath_value v = hp_xpath_pop(e);
  bool truth = truth_of(&v);
  hp_xpath_drop_value(e, &v);
  hp_xpath_push_truth(e, truth);
}

/*** comparisons ***/

static bool compare_numbers(hp_xpath_operation op, double left, double right) {
  switch (op) {
    case HP_OP_EQUAL: return left == right;
    case HP_OP_NOT_EQUAL: return left != right;
    case HP_OP_LESS: return left < right;
    case HP_OP_LESS_EQUAL: return left <= right;
    case HP_OP_GREATER: return left > right;
    default: return left >= right;
  }
}

static double number_of(const hp_xpath_value *v) {
  if (v->type == HP_XPATH_NUMBER) return v->number;
  return v->type == HP_XPATH_BOOLEAN ? v->truth : hp_xpath_number(v->string.bytes, v->string.length);
}

static bool is_order(hp_xpath_operation op) { return op >= HP_OP_LESS; }

/* Neither is a set. */
static bool compare_plain(hp_xpath_operation op, const hp_xpath_value *left, const hp_xpath_value *right) {
  const bool equal_wanted = op == HP_OP_EQUAL;
  if (is_order(op) || ((left->type == HP_XPATH_NUMBER || right->type == HP_XPATH_NUMBER) &&
                       left->type != HP_XPATH_BOOLEAN && right->type != HP_XPATH_BOOLEAN))
    return compare_numbers(op, number_of(left), number_of(right));
  if (left->type == HP_XPATH_BOOLEAN || right->type == HP_XPATH_BOOLEAN)
    return (truth_of(left) == truth_of(right)) == equal_wanted;
  hpar_string a = left->string, b = right->string;
  return (a.length == b.length && !memcmp(a.bytes, b.bytes, a.length)) == equal_wanted;
}

/* The set is on the left. */
static bool compare_set(hp_xpath_evaluation *e, hp_xpath_operation op, const hp_xpath_set *set,
                        const hp_xpath_value *value) {
  if (value->type == HP_XPATH_BOOLEAN) {
    hp_xpath_value truth = {.type = HP_XPATH_BOOLEAN, .truth = set->count > 0};
    return compare_plain(op, &truth, value);
  }
  if (value->type == HP_XPATH_NUMBER || is_order(op)) {
    double number = number_of(value);
    for (size_t i = 0; i < set->count; i++)
      if (compare_numbers(op, hp_xpath_item_number(e, set->items[i]), number)) return true;
    return false;
  }
  for (size_t i = 0; i < set->count; i++)
    if (item_equals(e, set->items[i], value->string) == (op == HP_OP_EQUAL)) return true;
  return false;
}

/* Returns the least or the greatest number of the set; NaN: it has no number. */
static double extreme(hp_xpath_evaluation *e, const hp_xpath_set *set, bool greatest) {
  double found = NAN;
  for (size_t i = 0; i < set->count; i++) {
    double number = hp_xpath_item_number(e, set->items[i]);
    if (isnan(found) || (greatest ? number > found : number < found)) found = number;
  }
  return found;
}

static int compare_strings(hpar_string a, hpar_string b) {
  int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
  return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int compare_places(const void *left, const void *right) {
  return compare_strings(*(const hpar_string *)left, *(const hpar_string *)right);
}

/* Returns the string-values, sorted. A page cannot make that slow, unlike a table by hashes. The
 * memory of the strings belongs to the evaluation. */
static hpar_string *sorted_strings(hp_xpath_evaluation *e, const hp_xpath_set *set) {
  hpar_string *list = hp_xpath_take(e, set->count * sizeof *list);
  void *memory;
  for (size_t i = 0; i < set->count; i++) list[i] = hp_xpath_string_of(e, set->items[i], &memory);
  qsort(list, set->count, sizeof *list, compare_places);
  return list;
}

static bool sets_share_a_string(hp_xpath_evaluation *e, const hp_xpath_set *left, const hp_xpath_set *right) {
  const hp_xpath_set *few = left->count < right->count ? left : right, *many = few == left ? right : left;
  void *memory;
  bool found = false;
  if (!few->count) return false;
  if (few->count == 1) {
    hpar_string string = hp_xpath_string_of(e, few->items[0], &memory);
    for (size_t i = 0; i < many->count && !found; i++) found = item_equals(e, many->items[i], string);
    hp_xpath_drop(memory);
    return found;
  }
  hpar_string *list = sorted_strings(e, few);
  for (size_t i = 0; i < many->count && !found; i++) {
    hpar_string string = hp_xpath_string_of(e, many->items[i], &memory);
    found = bsearch(&string, list, few->count, sizeof *list, compare_places) != NULL;
    hp_xpath_drop(memory);
  }
  hp_xpath_drop(list);
  return found;
}

/* All strings are equal if each equals the first one. */
static bool sets_differ(hp_xpath_evaluation *e, const hp_xpath_set *left, const hp_xpath_set *right) {
  if (!left->count || !right->count) return false;
  void *memory;
  bool differ = false;
  hpar_string first = hp_xpath_string_of(e, left->items[0], &memory);
  for (size_t i = 0; i < left->count && !differ; i++) differ = !item_equals(e, left->items[i], first);
  for (size_t i = 0; i < right->count && !differ; i++) differ = !item_equals(e, right->items[i], first);
  hp_xpath_drop(memory);
  return differ;
}

static bool compare_sets(hp_xpath_evaluation *e, hp_xpath_operation op, const hp_xpath_set *left,
                         const hp_xpath_set *right) {
  if (op == HP_OP_EQUAL) return sets_share_a_string(e, left, right);
  if (op == HP_OP_NOT_EQUAL) return sets_differ(e, left, right);
  const bool less = op == HP_OP_LESS || op == HP_OP_LESS_EQUAL;
  return compare_numbers(op, extreme(e, left, !less), extreme(e, right, less));
}

static hp_xpath_operation mirrored(hp_xpath_operation op) {
  switch (op) {
    case HP_OP_LESS: return HP_OP_GREATER;
    case HP_OP_LESS_EQUAL: return HP_OP_GREATER_EQUAL;
    case HP_OP_GREATER: return HP_OP_LESS;
    case HP_OP_GREATER_EQUAL: return HP_OP_LESS_EQUAL;
    default: return op;
  }
}

bool hp_xpath_compare(hp_xpath_evaluation *e, hp_xpath_operation op, hp_xpath_value *left, hp_xpath_value *right) {
  const bool set_left = left->type == HP_XPATH_SET, set_right = right->type == HP_XPATH_SET;
  if (set_left && set_right) return compare_sets(e, op, &left->set, &right->set);
  if (set_left) return compare_set(e, op, &left->set, right);
  if (set_right) return compare_set(e, mirrored(op), &right->set, left);
  return compare_plain(op, left, right);
}

/*** functions of strings ***/

static hp_xpath_value pop(hp_xpath_evaluation *e) { return hp_xpath_pop(e); }

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Returns the length of the character at the beginning, which may be wrong UTF-8. */
static size_t character_length(const char *at, size_t left) {
  size_t length = 1;
  while (length < left && length < 4 && continues(at[length])) length++;
  return length;
}

static void call_concat(hp_xpath_evaluation *e, unsigned count) {
  const hp_xpath_value *arguments = e->stack + (e->count - count);
  size_t length = 0;
  for (unsigned i = 0; i < count; i++) length += arguments[i].string.length;
  check_length(e, length);
  char *bytes = hp_xpath_take(e, length + 1), *at = bytes;
  for (unsigned i = 0; i < count; i++) {
    memcpy(at, arguments[i].string.bytes, arguments[i].string.length);
    at += arguments[i].string.length;
  }
  while (count--) {
    hp_xpath_value v = pop(e);
    hp_xpath_drop_value(e, &v);
  }
  hp_xpath_push_string(e, (hpar_string){bytes, length}, bytes);
}

static const char *find(hpar_string in, hpar_string what) {
  return what.length ? memmem(in.bytes, in.length, what.bytes, what.length) : in.bytes;
}

static void call_contains(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value what = pop(e), in = pop(e);
  bool found = find(in.string, what.string) != NULL;
  hp_xpath_drop_value(e, &what);
  hp_xpath_drop_value(e, &in);
  hp_xpath_push_truth(e, found);
}

static void call_starts_with(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value what = pop(e), in = pop(e);
  bool found =
      in.string.length >= what.string.length && !memcmp(in.string.bytes, what.string.bytes, what.string.length);
  hp_xpath_drop_value(e, &what);
  hp_xpath_drop_value(e, &in);
  hp_xpath_push_truth(e, found);
}

static void call_substring_before(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value what = pop(e), in = pop(e);
  const char *found = find(in.string, what.string);
  hp_xpath_drop_value(e, &what);
  hp_xpath_push_string(e, (hpar_string){in.string.bytes, found ? (size_t)(found - in.string.bytes) : 0}, in.memory);
}

static void call_substring_after(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value what = pop(e), in = pop(e);
  const char *found = find(in.string, what.string), *end = in.string.bytes + in.string.length;
  if (found) found += what.string.length;
  hp_xpath_drop_value(e, &what);
  hp_xpath_push_string(e, (hpar_string){found ? found : end, found ? (size_t)(end - found) : 0}, in.memory);
}

static double round_up_half(double number) {
  if (isnan(number) || isinf(number) || number == floor(number)) return number;
  if (number >= -0.5 && number < 0) return -0.0;
  double below = floor(number);
  return number - below >= 0.5 ? below + 1 : below;
}

/* The characters at the positions from `first` on, and below `end`; the first position is 1. */
static hpar_string characters(hpar_string s, double first, double end) {
  size_t at = 0, start = 0;
  bool begun = false;
  double position = 1;
  for (; at < s.length; position++) {
    if (!begun && position >= first) {
      if (!(position < end)) break;
      begun = true;
      start = at;
    }
    if (begun && !(position < end)) break;
    at += character_length(s.bytes + at, s.length - at);
  }
  return begun ? (hpar_string){s.bytes + start, at - start} : (hpar_string){s.bytes, 0};
}

static void call_substring(hp_xpath_evaluation *e, unsigned count) {
  double length = INFINITY;
  if (count == 3) length = round_up_half(pop(e).number);
  double first = round_up_half(pop(e).number);
  hp_xpath_value s = pop(e);
  /* A bound that is not a number has no positions on its right side. */
  double end = count == 3 ? first + length : INFINITY;
  hpar_string part = isnan(first) ? (hpar_string){s.string.bytes, 0} : characters(s.string, first, end);
  hp_xpath_push_string(e, part, s.memory);
}

static void call_string_length(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value s = pop(e);
  size_t characters = 0;
  for (size_t i = 0; i < s.string.length; characters++) i += character_length(s.string.bytes + i, s.string.length - i);
  hp_xpath_drop_value(e, &s);
  hp_xpath_push_number(e, (double)characters);
}

/* Returns whether the string has no white space but single spaces inside. */
static bool is_normal(hpar_string s) {
  bool after_white = true;
  for (size_t i = 0; i < s.length; i++) {
    bool white = is_white(s.bytes[i]);
    if (white && (after_white || s.bytes[i] != ' ')) return false;
    after_white = white;
  }
  return !s.length || !after_white;
}

static void call_normalize_space(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value s = pop(e);
  if (is_normal(s.string)) {
    hp_xpath_push(e, s);
    return;
  }
  char *bytes = hp_xpath_take(e, s.string.length + 1), *at = bytes;
  bool pending = false;
  for (size_t i = 0; i < s.string.length; i++) {
    char c = s.string.bytes[i];
    if (is_white(c)) {
      pending = at > bytes;
      continue;
    }
    if (pending) *at++ = ' ';
    pending = false;
    *at++ = c;
  }
  hp_xpath_drop_value(e, &s);
  hp_xpath_push_string(e, (hpar_string){bytes, (size_t)(at - bytes)}, bytes);
}

/* A character of the second argument of translate(), and what replaces it. */
typedef struct replacement {
  uint32_t character; /* its bytes as a number */
  uint32_t order;
  hpar_string with;
} replacement;

static uint32_t packed(const char *at, size_t length) {
  uint32_t word = 0;
  memcpy(&word, at, length);
  return word;
}

static int compare_replacements(const void *left, const void *right) {
  const replacement *a = left, *b = right;
  if (a->character != b->character) return a->character < b->character ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

/* Returns the replacements, sorted by their characters, each of which is there once. */
static replacement *read_replacements(hp_xpath_evaluation *e, hpar_string from, hpar_string to, size_t *count) {
  replacement *list = hp_xpath_take(e, (from.length + 1) * sizeof *list);
  size_t used = 0, with = 0;
  for (size_t at = 0; at < from.length;) {
    size_t length = character_length(from.bytes + at, from.length - at);
    size_t other = with < to.length ? character_length(to.bytes + with, to.length - with) : 0;
    list[used] = (replacement){packed(from.bytes + at, length), (uint32_t)used, {to.bytes + with, other}};
    used++;
    at += length;
    with += other;
  }
  qsort(list, used, sizeof *list, compare_replacements);
  *count = 0;
  for (size_t i = 0; i < used; i++)
    if (!i || list[i].character != list[i - 1].character) list[(*count)++] = list[i];
  return list;
}

static const replacement *find_replacement(const replacement *list, size_t count, uint32_t character) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (list[middle].character < character)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && list[low].character == character ? &list[low] : NULL;
}

static void call_translate(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value to = pop(e), from = pop(e), s = pop(e);
  size_t replacements, room = 4 * s.string.length;
  replacement *list = read_replacements(e, from.string, to.string, &replacements);
  check_length(e, s.string.length);
  char *bytes = hp_xpath_take(e, room + 1), *at = bytes;
  for (size_t i = 0; i < s.string.length;) {
    const size_t length = character_length(s.string.bytes + i, s.string.length - i);
    hpar_string part = {s.string.bytes + i, length};
    const replacement *r = find_replacement(list, replacements, packed(part.bytes, length));
    if (r) part = r->with;
    memcpy(at, part.bytes, part.length);
    at += part.length;
    i += length;
  }
  hp_xpath_drop(list);
  hp_xpath_drop_value(e, &to);
  hp_xpath_drop_value(e, &from);
  hp_xpath_drop_value(e, &s);
  check_length(e, (size_t)(at - bytes));
  hp_xpath_push_string(e, (hpar_string){bytes, (size_t)(at - bytes)}, bytes);
}

/*** functions of numbers ***/

static void call_floor(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_push_number(e, floor(pop(e).number));
}

static void call_ceiling(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_push_number(e, ceil(pop(e).number));
}

static void call_round(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_push_number(e, round_up_half(pop(e).number));
}

/*** functions of node-sets ***/

static void call_count(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value v = pop(e);
  if (!v.set.unique) hp_xpath_sort(e, &v.set);
  size_t found = v.set.count;
  hp_xpath_drop_value(e, &v);
  hp_xpath_push_number(e, (double)found);
}

static void call_sum(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value v = pop(e);
  double sum = 0;
  if (!v.set.unique) hp_xpath_sort(e, &v.set);
  for (size_t i = 0; i < v.set.count; i++) sum += hp_xpath_item_number(e, v.set.items[i]);
  hp_xpath_drop_value(e, &v);
  hp_xpath_push_number(e, sum);
}

/* Pops a set. Returns its first item, or 0. */
static hp_xpath_item pop_first(hp_xpath_evaluation *e) {
  hp_xpath_value v = pop(e);
  hp_xpath_sort(e, &v.set);
  hp_xpath_item first = v.set.count ? v.set.items[0] : 0;
  hp_xpath_drop_value(e, &v);
  return first;
}

static hpar_attribute attribute_of(const hp_xpath_evaluation *e, hp_xpath_item item) {
  hpar_attribute attribute;
  hpar_node_attribute_at(e->document, hp_xpath_node(item), hp_xpath_attribute(item) - 1, &attribute);
  return attribute;
}

static bool has_name(const hp_xpath_evaluation *e, hp_ref ref) {
  return ref && hp_node_at(e->base, ref)->kind != HPAR_NODE_DOCTYPE;
}

static void push_name(hp_xpath_evaluation *e, bool with_prefix) {
  hp_xpath_item first = pop_first(e);
  hpar_string name = {"", 0};
  if (hp_xpath_attribute(first)) {
    hpar_attribute a = attribute_of(e, first);
    name = a.local_name;
    if (with_prefix && a.prefix.length) {
      char *bytes = hp_xpath_take(e, a.prefix.length + 1 + name.length);
      memcpy(bytes, a.prefix.bytes, a.prefix.length);
      bytes[a.prefix.length] = ':';
      memcpy(bytes + a.prefix.length + 1, name.bytes, name.length);
      hp_xpath_push_string(e, (hpar_string){bytes, a.prefix.length + 1 + name.length}, bytes);
      return;
    }
  } else if (has_name(e, hp_xpath_node(first))) {
    name = hpar_node_name(e->document, hp_xpath_node(first));
  }
  hp_xpath_push_string(e, name, NULL);
}

static void call_name(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  push_name(e, true);
}

static void call_local_name(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  push_name(e, false);
}

/* HTML elements have none, as in lxml.html. */
static void call_namespace_uri(hp_xpath_evaluation *e, unsigned count) {
  static const char *const uris[] = {"",
                                     "",
                                     "http://www.w3.org/2000/svg",
                                     "http://www.w3.org/1998/Math/MathML",
                                     "http://www.w3.org/1999/xlink",
                                     "http://www.w3.org/XML/1998/namespace",
                                     ""};
  (void)count;
  hp_xpath_item first = pop_first(e);
  hpar_namespace ns = HPAR_NAMESPACE_NONE;
  if (hp_xpath_attribute(first))
    ns = attribute_of(e, first).ns;
  else if (first)
    ns = hpar_node_namespace(e->document, hp_xpath_node(first));
  hp_xpath_push_string(e, (hpar_string){uris[ns], strlen(uris[ns])}, NULL);
}

/* Returns the language of the element itself; `bytes` is NULL if it has none. */
static hpar_string own_language(const hp_xpath_evaluation *e, hp_ref element) {
  hpar_attribute a;
  for (size_t i = 0; hpar_node_attribute_at(e->document, element, i, &a); i++)
    if (a.ns == HPAR_NAMESPACE_XML && a.local_name.length == 4 && !memcmp(a.local_name.bytes, "lang", 4))
      return a.value;
  return hpar_node_attribute_value(e->document, element, "lang");
}

//§ attr-lang
static void call_lang(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  hp_xpath_value wanted = pop(e);
  hpar_string own = {NULL, 0}, w = wanted.string;
  for (hp_ref ref = hp_xpath_node(e->context); ref && !own.bytes; ref = hp_parent_of(e->base, hp_node_at(e->base, ref)))
    own = own_language(e, ref);
  bool fits = own.bytes && own.length >= w.length && (own.length == w.length || own.bytes[w.length] == '-');
  for (size_t i = 0; fits && i < w.length; i++) fits = hp_ascii_lower(own.bytes[i]) == hp_ascii_lower(w.bytes[i]);
  hp_xpath_drop_value(e, &wanted);
  hp_xpath_push_truth(e, fits);
}

/*** id() ***/

static hpar_string id_of(const hp_xpath_evaluation *e, hp_xpath_item item) {
  return hpar_node_attribute_value(e->document, hp_xpath_node(item), "id");
}

typedef struct identified {
  hpar_string id;
  hp_xpath_item element;
  size_t order;
} identified;

static int compare_ids(const void *left, const void *right) {
  const identified *a = left, *b = right;
  int order = compare_strings(a->id, b->id);
  return order ? order : a->order < b->order ? -1 : 1;
}

/* Lists the first element with each id, by the ids. */
static void list_ids(hp_xpath_evaluation *e) {
  hp_xpath_set all = hp_xpath_new_set(e);
  const hp_ref root = hp_xpath_root_of(e, hp_xpath_node(e->context));
  for (hp_ref ref = root; ref; ref = hp_next_in_tree(e->base, ref, root)) {
    const hp_node *n = hp_node_at(e->base, ref);
    if (n->kind == HPAR_NODE_ELEMENT && n->attributes && id_of(e, ref).bytes) hp_xpath_add(e, &all, ref);
  }
  identified *list = hp_xpath_take(e, (all.count + 1) * sizeof *list);
  for (size_t i = 0; i < all.count; i++) list[i] = (identified){id_of(e, all.items[i]), all.items[i], i};
  qsort(list, all.count, sizeof *list, compare_ids);
  size_t count = all.count;
  all.count = 0;
  for (size_t i = 0; i < count; i++)
    if (!i || compare_strings(list[i].id, list[i - 1].id)) all.items[all.count++] = list[i].element;
  hp_xpath_drop(list);
  e->ids = all;
  e->has_ids = true;
}

static void add_identified(hp_xpath_evaluation *e, hp_xpath_set *to, hpar_string ids) {
  for (size_t at = 0; at < ids.length;) {
    size_t start = at;
    while (at < ids.length && !is_white(ids.bytes[at])) at++;
    hpar_string id = {ids.bytes + start, at - start};
    at += at < ids.length;
    size_t low = 0, high = id.length ? e->ids.count : 0;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (compare_strings(id_of(e, e->ids.items[middle]), id) < 0)
        low = middle + 1;
      else
        high = middle;
    }
    if (id.length && low < e->ids.count && !compare_strings(id_of(e, e->ids.items[low]), id))
      hp_xpath_add(e, to, e->ids.items[low]);
  }
}

static void call_id(hp_xpath_evaluation *e, unsigned count) {
  (void)count;
  if (e->stack[e->count - 1].type != HP_XPATH_SET) hp_xpath_to_string(e);
  if (!e->has_ids) list_ids(e);
  hp_xpath_value of = pop(e), found = {.type = HP_XPATH_SET, .set = hp_xpath_new_set(e)};
  if (of.type == HP_XPATH_SET) {
    for (size_t i = 0; i < of.set.count; i++) {
      void *memory;
      add_identified(e, &found.set, hp_xpath_string_of(e, of.set.items[i], &memory));
      hp_xpath_drop(memory);
    }
  } else {
    add_identified(e, &found.set, of.string);
  }
  hp_xpath_drop_value(e, &of);
  hp_xpath_push(e, found);
}

enum { MANY = 1 << 20 };

/* Those without a function are instructions. */
const hp_xpath_function hp_xpath_functions[] = {
    {"boolean", 1, 1, "b", HP_XPATH_BOOLEAN, NULL},
    {"ceiling", 1, 1, "n", HP_XPATH_NUMBER, call_ceiling},
    {"concat", 2, MANY, "s", HP_XPATH_STRING_VALUE, call_concat},
    {"contains", 2, 2, "s", HP_XPATH_BOOLEAN, call_contains},
    {"count", 1, 1, "e", HP_XPATH_NUMBER, call_count},
    {"false", 0, 0, "", HP_XPATH_BOOLEAN, NULL},
    {"floor", 1, 1, "n", HP_XPATH_NUMBER, call_floor},
    {"id", 1, 1, ".", HP_XPATH_SET, call_id},
    {"lang", 1, 1, "s", HP_XPATH_BOOLEAN, call_lang},
    {"last", 0, 0, "", HP_XPATH_NUMBER, NULL},
    {"local-name", 0, 1, "e", HP_XPATH_STRING_VALUE, call_local_name},
    {"name", 0, 1, "e", HP_XPATH_STRING_VALUE, call_name},
    {"namespace-uri", 0, 1, "e", HP_XPATH_STRING_VALUE, call_namespace_uri},
    {"normalize-space", 0, 1, "s", HP_XPATH_STRING_VALUE, call_normalize_space},
    {"not", 1, 1, "b", HP_XPATH_BOOLEAN, NULL},
    {"number", 0, 1, "n", HP_XPATH_NUMBER, NULL},
    {"position", 0, 0, "", HP_XPATH_NUMBER, NULL},
    {"round", 1, 1, "n", HP_XPATH_NUMBER, call_round},
    {"starts-with", 2, 2, "s", HP_XPATH_BOOLEAN, call_starts_with},
    {"string", 0, 1, "s", HP_XPATH_STRING_VALUE, NULL},
    {"string-length", 0, 1, "s", HP_XPATH_NUMBER, call_string_length},
    {"substring", 2, 3, "snn", HP_XPATH_STRING_VALUE, call_substring},
    {"substring-after", 2, 2, "s", HP_XPATH_STRING_VALUE, call_substring_after},
    {"substring-before", 2, 2, "s", HP_XPATH_STRING_VALUE, call_substring_before},
    {"sum", 1, 1, "e", HP_XPATH_NUMBER, call_sum},
    {"translate", 3, 3, "s", HP_XPATH_STRING_VALUE, call_translate},
    {"true", 0, 0, "", HP_XPATH_BOOLEAN, NULL},
    {NULL, 0, 0, "", HP_XPATH_ANY, NULL},
};
