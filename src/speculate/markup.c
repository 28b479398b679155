#include "speculate/markup.h"

#include <string.h>

static const hp_raw_text raw_texts[] = {
    {"script", HP_SCRIPT, HP_CONTENT_SCRIPT_DATA}, {"style", HP_STYLE, HP_CONTENT_RAWTEXT},
    {"textarea", HP_TEXTAREA, HP_CONTENT_RCDATA},  {"title", HP_TITLE, HP_CONTENT_RCDATA},
    {"xmp", HP_XMP, HP_CONTENT_RAWTEXT},           {"iframe", HP_IFRAME, HP_CONTENT_RAWTEXT},
    {"noembed", HP_NOEMBED, HP_CONTENT_RAWTEXT},   {"noframes", HP_NOFRAMES, HP_CONTENT_RAWTEXT},
    {"noscript", HP_NOSCRIPT, HP_CONTENT_RAWTEXT},
};

static bool ends_name(char c) {
  return c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r';
}

bool hp_tag_goes_on(const char *at, const char *end, const char *name) {
  for (; *name; name++, at++)
    if (at >= end || (*at | 0x20) != *name) return false;
  return at < end && ends_name(*at);
}

const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting) {
  for (size_t i = 0; i < sizeof raw_texts / sizeof *raw_texts; i++)
    if (at < end && (*at | 0x20) == raw_texts[i].name[0] && hp_tag_is(at, end, raw_texts[i].name))
      return raw_texts[i].atom == HP_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

const hp_raw_text *hp_raw_text_named(const char *name, bool scripting) {
  for (size_t i = 0; i < sizeof raw_texts / sizeof *raw_texts; i++)
    if (!strcasecmp(name, raw_texts[i].name))
      return raw_texts[i].atom == HP_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

uint8_t hp_raw_text_index(const hp_raw_text *raw) { return (uint8_t)(raw - raw_texts); }

const hp_raw_text *hp_raw_text_of(uint8_t index) { return &raw_texts[index]; }

bool hp_is_self_closing(const char *at, const char *end) {
  const char *close = memchr(at, '>', (size_t)(end - at));
  return close && close[-1] == '/';
}
