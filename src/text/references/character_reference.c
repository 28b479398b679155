#include "text/references/character_reference.h"

#include "base/atom.h"
#include "text/references/entities.h"
#include "text/references/frequent.h"

#include <string.h>

/* The code points of 0x80 to 0x9F in windows-1252. 0: the byte is its own code point. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

static bool is_alphanumeric(char c) { return (unsigned char)((c | 0x20) - 'a') < 26 || (unsigned char)(c - '0') < 10; }

static const hp_entity *find(const char *name, size_t length) {
  hp_name_key key = hp_name_key_of(name, length);
  uint64_t slot = (((key.low * HP_ENTITY_K1) ^ (key.high * HP_ENTITY_K2)) + length) >> HP_ENTITY_SHIFT;
  for (;; slot = (slot + 1) & (HP_ENTITY_SLOTS - 1)) {
    unsigned index = hp_entity_slots[slot];
    if (!index) return NULL;
    const hp_entity *entity = &hp_entities[index];
    if (entity->length == length && !memcmp(hp_entity_names + entity->name, name, length)) return entity;
  }
}

static unsigned encode(uint32_t code, char *bytes) {
  if (code < 0x80) {
    bytes[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    bytes[0] = (char)(0xC0 | code >> 6);
    bytes[1] = (char)(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    bytes[0] = (char)(0xE0 | code >> 12);
    bytes[1] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[2] = (char)(0x80 | (code & 0x3F));
    return 3;
  }
  bytes[0] = (char)(0xF0 | code >> 18);
  bytes[1] = (char)(0x80 | (code >> 12 & 0x3F));
  bytes[2] = (char)(0x80 | (code >> 6 & 0x3F));
  bytes[3] = (char)(0x80 | (code & 0x3F));
  return 4;
}

static void report(hp_errors *errors, hp_error_code code, const char *at, const char *base) {
  if (errors) hp_errors_add(errors, code, (size_t)(at - base));
}

static hp_reference literal(const char *end) {
  hp_reference reference;
  reference.end = end;
  reference.length = 0;
  return reference;
}

//§ numeric-character-reference-state
static hp_reference numeric(const char *p, const char *end, const char *base, hp_errors *errors) {
  uint32_t code = 0;
  const char *digits;
  p++;
  if (p < end && (*p | 0x20) == 'x') {
    //§ hexadecimal-character-reference-start-state
    digits = ++p;
    //§ hexadecimal-character-reference-state
    for (; p < end; p++) {
      unsigned digit = (unsigned char)(*p - '0');
      if (digit > 9) {
        digit = (unsigned char)((*p | 0x20) - 'a');
        if (digit > 5) break;
        digit += 10;
      }
      if (code < 0x110000) code = code << 4 | digit;
    }
  } else {
    //§ decimal-character-reference-start-state
    digits = p;
    //§ decimal-character-reference-state
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
      if (code < 0x110000) code = code * 10 + (unsigned char)(*p - '0');
  }
  if (p == digits) {
    report(errors, HP_ERROR_ABSENCE_OF_DIGITS, p, base);
    return literal(p);
  }
  if (p < end && *p == ';')
    p++;
  else
    report(errors, HP_ERROR_MISSING_SEMICOLON_AFTER_CHARACTER_REFERENCE, p, base);
  //§ numeric-character-reference-end-state
  if (code == 0) {
    report(errors, HP_ERROR_NULL_CHARACTER_REFERENCE, p, base);
    code = 0xFFFD;
  } else if (code > 0x10FFFF) {
    report(errors, HP_ERROR_CHARACTER_REFERENCE_OUTSIDE_UNICODE_RANGE, p, base);
    code = 0xFFFD;
  } else if (code >= 0xD800 && code < 0xE000) {
    report(errors, HP_ERROR_SURROGATE_CHARACTER_REFERENCE, p, base);
    code = 0xFFFD;
  } else if ((code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF)) {
    report(errors, HP_ERROR_NONCHARACTER_CHARACTER_REFERENCE, p, base);
  } else if ((code < 0x20 && code != '\t' && code != '\n' && code != '\f') || (code >= 0x7F && code < 0xA0)) {
    report(errors, HP_ERROR_CONTROL_CHARACTER_REFERENCE, p, base);
    if (code >= 0x80 && windows_1252[code - 0x80]) code = windows_1252[code - 0x80];
  }
  hp_reference reference;
  reference.end = p;
  reference.length = encode(code, reference.bytes);
  return reference;
}

//§ character-reference-state
hp_reference hp_read_reference(const char *at, const char *end, bool in_attribute, const char *base,
                               hp_errors *errors) {
  const char *name = at + 1;
  if (end - name >= 8) {
    const hp_frequent_reference *frequent = hp_find_frequent_reference(name);
    if (frequent) {
      hp_reference reference = {.end = name + frequent->length, .length = frequent->value_length};
      memcpy(reference.bytes, frequent->value, sizeof frequent->value);
      return reference;
    }
  }
  if (name == end) return literal(name);
  if (*name == '#') return numeric(name, end, base, errors);
  if (!is_alphanumeric(*name)) return literal(name);

  //§ named-character-reference-state
  size_t room = (size_t)(end - name), length = 1;
  if (room > HP_LONGEST_ENTITY + 1) room = HP_LONGEST_ENTITY + 1;
  while (length < room && is_alphanumeric(name[length])) length++;
  const hp_entity *entity = NULL;
  hp_reference reference;
  if (length < room && name[length] == ';' && (entity = find(name, length))) {
    reference.end = name + length + 1;
  } else {
    size_t known = length < HP_LONGEST_LEGACY ? length : HP_LONGEST_LEGACY;
    for (; known >= HP_SHORTEST_LEGACY; known--)
      if ((entity = find(name, known)) && entity->legacy) break;
    if (known < HP_SHORTEST_LEGACY) {
      //§ ambiguous-ampersand-state
      name += length;
      if (errors) {
        while (name < end && is_alphanumeric(*name)) name++;
        if (name < end && *name == ';') report(errors, HP_ERROR_UNKNOWN_NAMED_CHARACTER_REFERENCE, name, base);
      }
      return literal(name);
    }
    reference.end = name + known;
    if (in_attribute && reference.end < end && (*reference.end == '=' || is_alphanumeric(*reference.end)))
      return literal(reference.end);
    report(errors, HP_ERROR_MISSING_SEMICOLON_AFTER_CHARACTER_REFERENCE, reference.end, base);
  }
  reference.length = entity->value_length;
  memcpy(reference.bytes, entity->value, sizeof entity->value);
  return reference;
}

hp_reference hp_read_named_reference(const char *name, size_t length, bool semicolon) {
  const hp_entity *entity = semicolon || length <= HP_LONGEST_LEGACY ? find(name, length) : NULL;
  if (!entity || !(semicolon || entity->legacy)) return literal(name + length);
  hp_reference reference = {.end = name + length + semicolon, .length = entity->value_length};
  memcpy(reference.bytes, entity->value, sizeof entity->value);
  return reference;
}

static bool is_hexadecimal(char c) { return (unsigned char)(c - '0') < 10 || (unsigned char)((c | 0x20) - 'a') < 6; }

bool hp_reference_may_continue(const char *at, const char *end) {
  if (at == end) return true;
  if (*at == '#') {
    bool hexadecimal = ++at < end && (*at | 0x20) == 'x';
    if (hexadecimal) at++;
    while (at < end && (hexadecimal ? is_hexadecimal(*at) : (unsigned char)(*at - '0') < 10)) at++;
    return at == end;
  }
  size_t length = (size_t)(end - at);
  if (length > HP_LONGEST_ENTITY) return false;
  for (unsigned i = 1; i <= HP_ENTITIES; i++)
    if (hp_entities[i].length >= length && !memcmp(hp_entity_names + hp_entities[i].name, at, length)) return true;
  return false;
}
