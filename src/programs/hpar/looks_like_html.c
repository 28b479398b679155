#include "programs/hpar/looks_like_html.h"

#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { LOOK = 4096, NUL_SHARE = 64 };

static const struct {
  const char *name, *bytes;
  size_t at, length;
} beginnings[] = {
    {"a PNG image", "\x89PNG\r\n\x1A\n", 0, 8},
    {"a JPEG image", "\xFF\xD8\xFF", 0, 3},
    {"a GIF image", "GIF8", 0, 4},
    {"a WebP image", "WEBP", 8, 4},
    {"an AVIF or HEIF image, or MPEG-4 data", "ftyp", 4, 4},
    {"a TIFF image", "II*\0", 0, 4},
    {"a TIFF image", "MM\0*", 0, 4},
    {"an icon", "\0\0\1\0", 0, 4},
    {"a PDF document", "%PDF-", 0, 5},
    {"a PostScript document", "%!PS", 0, 4},
    {"an RTF document", "{\\rtf", 0, 5},
    {"a ZIP archive", "PK\3\4", 0, 4},
    {"gzip data", "\x1F\x8B", 0, 2},
    {"bzip2 data", "BZh", 0, 3},
    {"xz data",
     "\xFD"
     "7zXZ\0",
     0, 6},
    {"Zstandard data", "\x28\xB5\x2F\xFD", 0, 4},
    {"a 7z archive", "7z\xBC\xAF\x27\x1C", 0, 6},
    {"a RAR archive", "Rar!\x1A\7", 0, 6},
    {"a tar archive", "ustar", 257, 5},
    {"an ELF binary",
     "\x7F"
     "ELF",
     0, 4},
    {"WebAssembly", "\0asm", 0, 4},
    {"a WOFF font", "wOFF", 0, 4},
    {"a WOFF2 font", "wOF2", 0, 4},
    {"Ogg data", "OggS", 0, 4},
    {"MP3 data", "ID3", 0, 3},
    {"WAVE data", "WAVE", 8, 4},
    {"Matroska or WebM data", "\x1A\x45\xDF\xA3", 0, 4},
    {"an SQLite database", "SQLite format 3", 0, 15},
};

static bool is_wide(const char *encoding) { return !strncasecmp(encoding, "utf-16", strlen("utf-16")); }

static bool has_tag(const char *at, const char *end) {
  for (; (at = memchr(at, '<', (size_t)(end - at))) && end - at > 1; at++) {
    if (hp_ascii_is_letter(at[1]) || at[1] == '!' || at[1] == '/' || at[1] == '?') return true;
  }
  return false;
}

const char *hp_looks_like_else(const char *bytes, size_t length, const char *encoding) {
  size_t seen = length < LOOK ? length : LOOK, nuls = 0;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    size_t at = beginnings[i].at, n = beginnings[i].length;
    if (seen >= at + n && !memcmp(bytes + at, beginnings[i].bytes, n)) return beginnings[i].name;
  }
  if (is_wide(encoding)) return NULL;
  for (size_t i = 0; i < seen; i++) nuls += !bytes[i];
  if (nuls > seen / NUL_SHARE) return "binary data";
  const char *at = bytes, *end = bytes + seen;
  if (seen >= 3 && !memcmp(at, "\xEF\xBB\xBF", 3)) at += 3;
  while (at < end && strchr(" \t\n\f\r", *at) && *at) at++;
  if (at == end || *at == '<' || has_tag(at, end)) return NULL;
  if ((unsigned char)*at < ' ' && *at != 0x1B) return "binary data";
  return *at == '{' || *at == '[' ? "JSON" : "plain text";
}
