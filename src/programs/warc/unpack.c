#include "programs/warc/unpack.h"

#include "base/memory.h"
#include "programs/warc/codec.h"

#include <string.h>

enum {
  PIECE = 64 << 10,      /* compressed bytes that decode() gets at once */
  OUTPUT = 256 << 10,    /* contents that the sink gets at once */
  WHOLE_BYTES = 1 << 20, /* that are in memory before whole() */
  MAX_DICTIONARY = 64 << 20,
  DICTIONARY_HEADER = 8,
};

static const char dictionary_magic[] = "\x5D\x2A\x4D\x18";

typedef enum unpack_state { DETECT, PLAIN, DICTIONARY, START, MEMBER, SEARCH } unpack_state;

struct hp_unpack {
  hp_unpack_sink sink;
  hp_unpack_format format;
  unpack_state state;
  const hp_codec_kind *kind;
  hp_codec *codec;
  hp_octets in; /* bytes of the file */
  uint64_t base;
  size_t at;       /* in `in` */
  uint64_t member; /* the offset of the current one */
  bool ended, is_part;
  hpar_status status;
  const char *missing;
  char *output; /* OUTPUT bytes */
  hp_octets contents;
};

hpar_status hp_unpack_create(hp_unpack **unpack, const hp_unpack_sink *sink, hp_unpack_format format, uint64_t first) {
  hp_unpack *u = hp_allocate_zeroed(sizeof *u);
  if (!u) return HPAR_ERROR_MEMORY;
  u->sink = *sink;
  u->format = format;
  u->base = first ? first - 1 : 0;
  u->is_part = first;
  u->missing = "";
  *unpack = u;
  return HPAR_OK;
}

void hp_unpack_destroy(hp_unpack *u) {
  if (!u) return;
  if (u->codec) u->kind->destroy(u->codec);
  hp_octets_free(&u->in);
  hp_octets_free(&u->contents);
  hp_free(u->output);
  hp_free(u);
}

const char *hp_unpack_missing(const hp_unpack *u) { return u->missing; }

bool hp_unpack_is_packed(const hp_unpack *u) { return u->kind; }

static size_t left(const hp_unpack *u) { return u->in.length - u->at; }
static const char *here(const hp_unpack *u) { return u->in.at ? u->in.at + u->at : ""; }
static uint64_t offset_here(const hp_unpack *u) { return u->base + u->at; }

static bool fail(hp_unpack *u, hpar_status status) {
  u->status = status;
  return false;
}

static bool tell(hp_unpack *u, bool goes_on) { return goes_on || fail(u, HPAR_ERROR_CALLBACK); }

/*** the format of the file ***/

const char *hp_unpack_lacks(hp_unpack_format format) {
  if (format == HP_UNPACK_GZIP && !hp_codec_gzip) return "gzip needs zlib: install zlib1g-dev (Debian) and build again";
  if (format == HP_UNPACK_ZSTD && !hp_codec_zstd)
    return "Zstandard needs libzstd: install libzstd-dev (Debian) and build again";
  return NULL;
}

static bool use_codec(hp_unpack *u, const hp_codec_kind *kind, unpack_state next) {
  if (!kind) {
    u->missing = hp_unpack_lacks(u->format);
    return fail(u, HPAR_ERROR_UNSUPPORTED);
  }
  u->kind = kind;
  u->codec = kind->create();
  u->output = hp_allocate(OUTPUT);
  u->state = next;
  return (u->codec && u->output) || fail(u, HPAR_ERROR_MEMORY);
}

hp_unpack_format hp_unpack_detect(const char *b, size_t length) {
  if (length < HP_UNPACK_DETECT_BYTES) return HP_UNPACK_PLAIN;
  if (!memcmp(b, "\x1f\x8b\x08", 3)) return HP_UNPACK_GZIP;
  return memcmp(b, "\x28\xB5\x2F\xFD", 4) && memcmp(b, dictionary_magic, 4) ? HP_UNPACK_PLAIN : HP_UNPACK_ZSTD;
}

static bool detect(hp_unpack *u) {
  if (left(u) < HP_UNPACK_DETECT_BYTES && !u->ended) return false;
  if (!u->format) u->format = hp_unpack_detect(here(u), left(u));
  if (u->format == HP_UNPACK_GZIP) {
    u->at += u->is_part && left(u);
    return use_codec(u, hp_codec_gzip, u->is_part ? SEARCH : START);
  }
  if (u->format == HP_UNPACK_ZSTD)
    return use_codec(u, hp_codec_zstd, left(u) >= 4 && !memcmp(here(u), dictionary_magic, 4) ? DICTIONARY : START);
  u->state = PLAIN;
  return tell(u, u->sink.begin(u->sink.context, u->base));
}

static uint32_t read_u32(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Reads the frame at the start of the file that has the dictionary of all other frames. */
static bool read_dictionary(hp_unpack *u) {
  if (left(u) < DICTIONARY_HEADER && !u->ended) return false;
  size_t length = left(u) < DICTIONARY_HEADER ? MAX_DICTIONARY : read_u32(here(u) + 4);
  u->state = SEARCH;
  if (length >= MAX_DICTIONARY) return tell(u, u->sink.end(u->sink.context, HP_UNPACK_DAMAGED, offset_here(u)));
  if (left(u) < DICTIONARY_HEADER + length) {
    if (u->ended) return tell(u, u->sink.end(u->sink.context, HP_UNPACK_TRUNCATED, offset_here(u)));
    u->state = DICTIONARY;
    return false;
  }
  hp_decoded result = u->kind->take_dictionary(u->codec, here(u) + DICTIONARY_HEADER, length);
  if (result == HP_DECODED_MEMORY) return fail(u, HPAR_ERROR_MEMORY);
  uint64_t offset = offset_here(u);
  u->at += DICTIONARY_HEADER + length;
  u->state = START;
  return result == HP_DECODED_END || tell(u, u->sink.end(u->sink.context, HP_UNPACK_DAMAGED, offset));
}

/*** members ***/

static bool start_member(hp_unpack *u) {
  size_t need = u->kind->whole ? WHOLE_BYTES : PIECE;
  if ((left(u) < need && !u->ended) || !left(u)) return false;
  u->member = offset_here(u);
  if (left(u) < u->kind->start_bytes || !u->kind->is_start(here(u))) {
    u->state = SEARCH;
    return tell(u, u->sink.end(u->sink.context, HP_UNPACK_GARBAGE, u->member));
  }
  size_t most = left(u) < WHOLE_BYTES ? left(u) : WHOLE_BYTES;
  size_t used = u->kind->whole ? u->kind->whole(u->codec, here(u), most, &u->contents) : 0;
  if (used) {
    u->at += used;
    const hp_unpack_sink *s = &u->sink;
    return tell(u, s->begin(s->context, u->member) && s->contents(s->context, u->contents.at, u->contents.length) &&
                       s->end(s->context, HP_UNPACK_WHOLE, u->member));
  }
  if (!u->kind->reset(u->codec)) return fail(u, HPAR_ERROR_MEMORY);
  u->state = MEMBER;
  return tell(u, u->sink.begin(u->sink.context, u->member));
}

/* Decodes one piece. */
static bool decode_member(hp_unpack *u) {
  if (left(u) < PIECE && !u->ended) return false;
  size_t length = left(u) < PIECE ? left(u) : PIECE;
  bool last = left(u) <= PIECE && u->ended, full = true;
  const char *in = here(u), *end = in + length;
  while (in < end || full) {
    char *out = u->output;
    const char *before = in;
    hp_decoded result = u->kind->decode(u->codec, &in, end, &out, u->output + OUTPUT);
    full = out == u->output + OUTPUT;
    if (result == HP_DECODED_MEMORY) return fail(u, HPAR_ERROR_MEMORY);
    if (out > u->output && !u->sink.contents(u->sink.context, u->output, (size_t)(out - u->output)))
      return fail(u, HPAR_ERROR_CALLBACK);
    if (result == HP_DECODED_END) {
      u->at += (size_t)(in - here(u));
      u->state = START;
      return tell(u, u->sink.end(u->sink.context, HP_UNPACK_WHOLE, u->member));
    }
    if (result == HP_DECODED_DAMAGED || (in == before && out == u->output && in < end)) {
      u->at += offset_here(u) == u->member;
      u->state = SEARCH;
      return tell(u, u->sink.end(u->sink.context, HP_UNPACK_DAMAGED, u->member));
    }
  }
  u->at += length;
  if (!last) return true;
  u->state = START;
  return tell(u, u->sink.end(u->sink.context, HP_UNPACK_TRUNCATED, u->member));
}

/* Returns whether a member begins here whose contents begin with "WARC/". */
static bool is_archive(hp_unpack *u) {
  enum { SIGNATURE = 5 };
  size_t length = left(u) < u->kind->trial_bytes ? left(u) : u->kind->trial_bytes;
  const char *in = here(u), *end = in + length;
  char *out = u->output;
  if (length < u->kind->start_bytes || !u->kind->is_start(in)) return false;
  if (!u->kind->reset(u->codec)) return fail(u, HPAR_ERROR_MEMORY);
  while (in < end && out < u->output + SIGNATURE) {
    const char *in_before = in, *out_before = out;
    if (u->kind->decode(u->codec, &in, end, &out, u->output + SIGNATURE) != HP_DECODED_MORE) break;
    if (in == in_before && out == out_before) break;
  }
  return out == u->output + SIGNATURE && !memcmp(u->output, "WARC/", SIGNATURE);
}

static bool search_member(hp_unpack *u) {
  while (left(u)) {
    const char *found = memchr(here(u), u->kind->first, left(u));
    u->at = found ? (size_t)(found - u->in.at) : u->in.length;
    if (!found || (left(u) < u->kind->trial_bytes && !u->ended)) return false;
    if (is_archive(u)) {
      u->state = START;
      return true;
    }
    if (u->status) return false;
    u->at++;
  }
  return false;
}

static bool pass_plain(hp_unpack *u) {
  size_t length = left(u);
  const char *bytes = here(u);
  u->at += length;
  return length && tell(u, u->sink.contents(u->sink.context, bytes, length));
}

/* Returns whether another step may be possible. */
static bool step(hp_unpack *u) {
  switch (u->state) {
    case DETECT: return detect(u);
    case PLAIN: return pass_plain(u);
    case DICTIONARY: return read_dictionary(u);
    case START: return start_member(u);
    case MEMBER: return decode_member(u);
    case SEARCH: return search_member(u);
  }
  return false;
}

static hpar_status work(hp_unpack *u) {
  while (step(u)) continue;
  hp_octets_drop(&u->in, u->at);
  u->base += u->at;
  u->at = 0;
  return u->status;
}

hpar_status hp_unpack_feed(hp_unpack *u, const char *bytes, size_t length) {
  if (u->status || !length) return u->status;
  if (u->state == PLAIN) { /* without a copy */
    u->base += length;
    if (!u->sink.contents(u->sink.context, bytes, length)) u->status = HPAR_ERROR_CALLBACK;
    return u->status;
  }
  if (!hp_octets_add(&u->in, bytes, length)) return u->status = HPAR_ERROR_MEMORY;
  return work(u);
}

hpar_status hp_unpack_finish(hp_unpack *u) {
  if (u->status) return u->status;
  u->ended = true;
  if (work(u)) return u->status;
  if (u->state == PLAIN) tell(u, u->sink.end(u->sink.context, HP_UNPACK_WHOLE, 0));
  return u->status;
}
