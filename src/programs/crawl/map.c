/* The map step: selects the records with pages, parses each page and counts. */

#include "programs/crawl/map_internal.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "programs/crawl/sha256.h"

#include <hpar/study.h>
#include <string.h>

enum {
  KEPT_BODY = 4 << 20,
  MAX_ERRORS = 10000,
  TREE_PROFILES = HP_PROFILE_SIZES | HP_PROFILE_ELEMENTS | HP_PROFILE_LINKS | HP_PROFILE_TEXT
};

hpar_status hp_map_create(hp_map **map, const hp_map_options *options, hp_tally *tally) {
  hp_map *m = hp_allocate_zeroed(sizeof *m);
  if (!m) return HPAR_ERROR_MEMORY;
  m->options = *options;
  m->tally = tally;
  hpar_status status = hpar_parser_create(&m->parser);
  if (!status) status = hpar_document_create(&m->document);
  if (!status) status = hpar_selectors_create(&m->selectors);
  for (size_t i = 0; !status && i < options->selector_count; i++)
    status = hpar_selectors_add(m->selectors, options->selectors[i], strlen(options->selectors[i]), NULL);
  if (!status && (options->fields || options->groups)) status = hp_rows_create(&m->rows, &m->options, tally);
  char digits[65];
  if (!status && options->python &&
      (!hp_sha256_of_file(options->python, digits) || strcmp(digits, options->python_digest)))
    status = HPAR_ERROR_ARGUMENT;
  if (!status && options->python) status = hp_python_create(&m->python, &m->options);
  if (status) {
    hp_map_destroy(m);
    return status;
  }
  hp_map_open_names(m);
  *map = m;
  return HPAR_OK;
}

void hp_map_destroy(hp_map *m) {
  if (!m) return;
  hpar_document_destroy(m->document);
  hpar_parser_destroy(m->parser);
  hpar_selectors_destroy(m->selectors);
  hp_rows_destroy(m->rows);
  hp_python_destroy(m->python);
  hp_http_memory_free(&m->memory);
  hp_free(m->other_elements.names);
  hp_free(m->other_elements.used);
  hp_free(m->other_attributes.names);
  hp_free(m->other_attributes.used);
  hp_map_close_links(m);
  hp_free(m);
}

static bool count(hp_map *m, const char *key, uint64_t more) {
  return hp_tally_add_text(m->tally, HP_COUNTERS, key, more);
}

static const hp_family last_families[HP_MAP_LASTS] = {[HP_LAST_STATUS] = HP_HTTP_STATUS,
                                                      [HP_LAST_TYPE] = HP_CONTENT_TYPES,
                                                      [HP_LAST_ENCODING] = HP_ENCODINGS,
                                                      [HP_LAST_QUIRKS] = HP_QUIRKS};

static bool finish_last(hp_map *m, int family) {
  hp_map_last *last = &m->lasts[family];
  uint64_t more = last->count;
  last->count = 0;
  return !more || hp_tally_add(m->tally, last_families[family], last->key, last->length, more);
}

/* Counts a key that many records have. */
static bool count_last(hp_map *m, int family, const char *key, size_t length) {
  hp_map_last *last = &m->lasts[family];
  if (last->length == length && last->count && !memcmp(last->key, key, length)) {
    last->count++;
    return true;
  }
  if (!finish_last(m, family)) return false;
  if (length > sizeof last->key) return hp_tally_add(m->tally, last_families[family], key, length, 1);
  memcpy(last->key, key, length);
  last->length = (uint32_t)length;
  last->count = 1;
  return true;
}

/* Adds the counters to the tally. Those of a profile are there if a page is, others if they have a
 * count. */
static bool finish_sums(hp_map *m) {
  static const struct {
    const char *name;
    unsigned profiles; /* 0: a counter that may be missing */
  } sums[HP_SUM_LINKS_HTTP] = {[HP_SUM_RECORDS] = {"records", 0},
                               [HP_SUM_RECORD_BYTES] = {"record_bytes", 0},
                               [HP_SUM_TYPE_WARCINFO] = {"records_warcinfo", 0},
                               [HP_SUM_TYPE_RESPONSE] = {"records_response", 0},
                               [HP_SUM_TYPE_RESOURCE] = {"records_resource", 0},
                               [HP_SUM_TYPE_REQUEST] = {"records_request", 0},
                               [HP_SUM_TYPE_METADATA] = {"records_metadata", 0},
                               [HP_SUM_TYPE_CONVERSION] = {"records_conversion", 0},
                               [HP_SUM_TYPE_CONTINUATION] = {"records_continuation", 0},
                               [HP_SUM_TYPE_REVISIT] = {"records_revisit", 0},
                               [HP_SUM_TYPE_OTHER] = {"records_other", 0},
                               [HP_SUM_NOT_SAMPLED] = {"records_not_sampled", 0},
                               [HP_SUM_WAT] = {"records_metadata_json", 0},
                               [HP_SUM_PAGES] = {"pages", HP_PROFILE_ALL},
                               [HP_SUM_PAGE_BYTES] = {"page_bytes", HP_PROFILE_ALL},
                               [HP_SUM_NODES] = {"nodes", HP_PROFILE_SIZES},
                               [HP_SUM_TOKENS] = {"tokens", HP_PROFILE_SIZES},
                               [HP_SUM_ELEMENTS] = {"elements", HP_PROFILE_SIZES},
                               [HP_SUM_ATTRIBUTES] = {"attributes", HP_PROFILE_SIZES},
                               [HP_SUM_TEXT_BYTES] = {"text_bytes", HP_PROFILE_TEXT},
                               [HP_SUM_LINKS] = {"links", HP_PROFILE_LINKS},
                               [HP_SUM_LINKS_INVALID] = {"links_invalid", 0},
                               [HP_SUM_LINKS_SAME] = {"links_to_same_host", 0},
                               [HP_SUM_LINKS_OTHER] = {"links_to_other_hosts", 0}};
  bool pages = m->sums[HP_SUM_PAGES];
  for (int i = 0; i < HP_SUM_LINKS_HTTP; i++) {
    if (!m->sums[i] && !(pages && sums[i].profiles & m->options.profiles)) continue;
    if (!count(m, sums[i].name, m->sums[i])) return false;
    m->sums[i] = 0;
  }
  return true;
}

static bool finish_histograms(hp_map *m) {
  for (int f = 0; f < HP_MAP_HISTOGRAMS; f++)
    for (uint64_t i = 0; i < HP_MAP_BUCKETS; i++) {
      char key[24];
      uint64_t least = i < 16 ? i : (16 + i % 16) << (i / 16 - 1);
      if (!m->histograms[f][i]) continue;
      int length = snprintf(key, sizeof key, "%llu", (unsigned long long)least);
      if (!hp_tally_add(m->tally, (hp_family)(HP_SIZE_BYTES + f), key, (size_t)length, m->histograms[f][i]))
        return false;
      m->histograms[f][i] = 0;
    }
  return true;
}

hpar_status hp_map_finish(hp_map *m) {
  for (int i = 0; i < HP_MAP_LASTS; i++)
    if (!finish_last(m, i)) return HPAR_ERROR_MEMORY;
  return finish_sums(m) && finish_histograms(m) && hp_map_finish_names(m) && hp_map_finish_links(m) ? HPAR_OK
                                                                                                    : HPAR_ERROR_MEMORY;
}

void hp_map_report_to(hp_map *m, const char *file, FILE *records, FILE *rows, hp_map_refuse refuse, void *context) {
  m->file = file;
  m->records = records;
  m->row_file = rows;
  m->refuse = refuse;
  m->context = context;
}

bool hp_map_host(hpar_string url, hpar_string *host) {
  const char *at = url.bytes, *end = at + url.length;
  while (at < end && *at != ':') at++;
  if (end - at < 3 || at[1] != '/' || at[2] != '/') return false;
  at += 3;
  const char *stop = at;
  while (stop < end && *stop != '/' && *stop != '?' && *stop != '#') {
    if (*stop == '@') at = stop + 1;
    stop++;
  }
  *host = (hpar_string){at, (size_t)(stop - at)};
  return stop > at;
}

/*** records ***/

/* Returns whether a body without a media type begins as HTML does. */
static bool begins_as_html(hpar_string body) {
  static const char *const beginnings[] = {"<!doctype html", "<html", "<head", "<body", "<title", "<!--"};
  size_t at = 0;
  while (at < body.length && at < 512 && strchr(" \t\r\n\f\xEF\xBB\xBF", body.bytes[at])) at++;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    size_t length = strlen(beginnings[i]);
    if (body.length - at >= length && hp_ascii_equal(body.bytes + at, beginnings[i], length)) return true;
  }
  return false;
}

static bool is_text(hpar_string text, const char *other) {
  return text.length == strlen(other) && hp_ascii_equal(text.bytes, other, text.length);
}

static bool is_html(hpar_string type, hpar_string body) {
  if (!type.length) return begins_as_html(body);
  return is_text(type, "text/html") || is_text(type, "application/xhtml+xml");
}

static void refuse(hp_map *m, const hp_warc_record *record, const char *reason) {
  if (m->refuse) m->refuse(m->context, record, reason);
}

static uint64_t first_hash(const hp_map *m) {
  return UINT64_C(0xcbf29ce484222325) ^ m->options.seed * UINT64_C(0x9E3779B97F4A7C15);
}

/* Chooses pages by the hash of their URL, so that each unit has its part of the sample. */
static bool is_studied(const hp_map *m, hpar_string url) {
  uint64_t hash = hp_map_hash(first_hash(m), url);
  hash ^= hash >> 32;
  return (hash * UINT64_C(0xD6E8FEB86659FD93) >> 32) % m->options.sample_of == 0;
}

/* Chooses records by the hash of their URL and date, which the records of one fetch share. */
static bool is_sampled(const hp_map *m, const hp_warc_record *record) {
  if (!m->options.share) return true;
  uint64_t hash = hp_map_hash(first_hash(m), record->uri);
  hash = hp_map_hash(hp_map_hash(hash, (hpar_string){" ", 1}), record->date);
  hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  return (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93) < m->options.share;
}

/* Ends the rows of a record. Those above the limit of memory are left out. */
static bool end_rows(hp_map *m, const hp_warc_record *record) {
  hp_rows_result result = hp_rows_end(m->rows, m->row_file);
  if (result != HP_ROWS_TOO_LARGE) return result == HP_ROWS_DONE;
  refuse(m, record, "rows");
  return count(m, "quarantined", 1);
}

/* Calls the function of the user. */
static bool call_function(hp_map *m, const hp_warc_record *record, const hp_http_message *message) {
  hp_python_result result = hp_python_record(m->python, record, message, m->row_file);
  if (result != HP_PYTHON_REFUSED) return result == HP_PYTHON_DONE;
  refuse(m, record, hp_python_reason(m->python));
  return count(m, "quarantined", 1);
}

/* Adds the row of a record that is no page. */
static bool add_plain_row(hp_map *m, const hp_warc_record *record, const hp_http_message *message, hp_row_kind kind) {
  if (m->options.row_kind < kind) return true;
  if (m->python && !call_function(m, record, message)) return false;
  if (!m->rows || m->options.selector_count) return true;
  hp_row_source source = {.record = record, .message = message, .file = m->file};
  hp_rows_begin(m->rows, &source);
  hp_rows_add(m->rows, HPAR_NO_NODE, 0);
  return end_rows(m, record);
}

/* Counts the matches of the selectors, and adds the rows. */
static bool count_matches(hp_map *m, const hp_warc_record *record, const hp_http_message *message,
                          const hpar_study_stats *stats) {
  hp_row_source source = {.record = record,
                          .message = message->head.length ? message : NULL,
                          .document = m->document,
                          .encoding = stats->encoding,
                          .file = m->file};
  if (m->rows) hp_rows_begin(m->rows, &source);
  if (m->options.selector_count && !hp_map_selectors(m)) return false;
  if (m->rows && !m->options.selector_count) hp_rows_add(m->rows, hpar_document_html(m->document), 0);
  return !m->rows || end_rows(m, record);
}

static bool write_record(hp_map *m, const hp_warc_record *record, const hp_http_message *message,
                         const hp_map_page *page, const hpar_study_stats *stats, const hp_map_study *study);

static const char *quirks_name(hpar_quirks quirks) {
  return quirks == HPAR_QUIRKS ? "quirks" : quirks == HPAR_LIMITED_QUIRKS ? "limited-quirks" : "no-quirks";
}

static void count_sizes(hp_map *m, const hp_map_page *page, const hpar_study_stats *stats) {
  hp_map_value(m, HP_SIZE_BYTES, page->length);
  hp_map_value(m, HP_SIZE_NODES, stats->nodes);
  hp_map_value(m, HP_SIZE_TOKENS, stats->tokens);
  hp_map_value(m, HP_SIZE_ELEMENTS, page->elements);
  hp_map_value(m, HP_SIZE_DEPTH, page->depth);
  hp_map_value(m, HP_SIZE_ATTRIBUTES, page->attributes);
  m->sums[HP_SUM_NODES] += stats->nodes;
  m->sums[HP_SUM_TOKENS] += stats->tokens;
  m->sums[HP_SUM_ELEMENTS] += page->elements;
  m->sums[HP_SUM_ATTRIBUTES] += page->attributes;
}

static bool count_encoding(hp_map *m, const hpar_study_stats *stats) {
  char key[96];
  int length = snprintf(key, sizeof key, "%s by %s", stats->encoding ? stats->encoding : "unknown",
                        stats->encoding_source ? stats->encoding_source : "unknown");
  const char *quirks = quirks_name(hpar_document_quirks(m->document));
  return count_last(m, HP_LAST_ENCODING, key, (size_t)length) && count_last(m, HP_LAST_QUIRKS, quirks, strlen(quirks));
}

static bool count_page(hp_map *m, const hp_warc_record *record, const hp_http_message *message, hp_map_page *page,
                       const hpar_study_stats *stats) {
  unsigned profiles = m->options.profiles;
  hpar_string host;
  bool fine = true;
  m->sums[HP_SUM_PAGES]++;
  m->sums[HP_SUM_PAGE_BYTES] += page->length;
  if (fine && (profiles & TREE_PROFILES || m->options.records)) fine = hp_map_tree(m, page);
  if (fine && profiles & HP_PROFILE_SIZES) count_sizes(m, page, stats);
  if (fine && profiles & HP_PROFILE_ENCODINGS) fine = count_encoding(m, stats);
  if (fine && profiles & HP_PROFILE_LINKS && hp_map_host(page->url, &host))
    fine = hp_tally_add(m->tally, HP_PAGE_HOSTS, host.bytes, host.length, 1);
  if (fine && profiles & HP_PROFILE_TEXT) {
    hp_map_value(m, HP_TEXT_BYTES, page->text_bytes);
    m->sums[HP_SUM_TEXT_BYTES] += page->text_bytes;
  }
  if (fine && profiles & HP_PROFILE_ERRORS) fine = hp_map_errors(m);
  if (fine) fine = count_matches(m, record, message, stats);
  hp_map_study study = {0};
  if (fine && profiles & (HP_PROFILE_STATES | HP_PROFILE_SPECULATION) && is_studied(m, page->url)) {
    fine = count(m, "sampled_pages", 1);
    if (fine && profiles & HP_PROFILE_STATES) fine = hp_map_states(m, page);
    if (fine && profiles & HP_PROFILE_SPECULATION && page->length >= m->options.study_bytes)
      fine = hp_map_speculation(m, page, &study);
  }
  return fine && (!m->options.records || write_record(m, record, message, page, stats, &study));
}

static hpar_status parse_page(hp_map *m, const hp_warc_record *record, const hp_http_message *message) {
  hp_map_page page = {.bytes = message->body.bytes,
                      .length = message->body.length,
                      .url = record->uri,
                      .encoding = hpar_encoding_name(message->charset) ? message->charset : NULL};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = page.encoding};
  options.limits = (hpar_limits){
      .nodes = m->options.nodes, .depth = m->options.depth, .memory = m->options.memory, .time_ns = m->options.time_ns};
  if (m->options.profiles & HP_PROFILE_ERRORS) options.max_errors = MAX_ERRORS;
  if (m->options.split_bytes && page.length >= m->options.split_bytes) {
    options.mode = HPAR_MODE_PARALLEL;
    options.threads = m->options.threads;
  }
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_status status = hpar_study_parse(m->parser, &options, page.bytes, page.length, m->document, &stats);
  if (status == HPAR_ERROR_UNSUPPORTED) {
    refuse(m, record, "encoding");
    return count(m, "unsupported_encodings", 1) ? HPAR_OK : HPAR_ERROR_MEMORY;
  }
  bool fine = true;
  if (status >= HPAR_LIMIT_DEPTH || status == HPAR_ERROR_MEMORY || status == HPAR_ERROR_TOO_LARGE) {
    static const char *const limits[] = {"depth", "nodes", "memory", "attributes", "time", "input"};
    refuse(m, record, status >= HPAR_LIMIT_DEPTH ? limits[status - HPAR_LIMIT_DEPTH] : "memory");
    fine = count(m, "quarantined", 1);
  } else if (!status) {
    fine = count_page(m, record, message, &page, &stats);
  }
  hpar_document_clear(m->document);
  if (status == HPAR_ERROR_ARGUMENT) return status;
  return fine ? HPAR_OK : HPAR_ERROR_MEMORY;
}

/* Returns whether something other than the function of the user needs the tree of a page. */
static bool needs_tree(const hp_map *m) {
  return !m->python || m->options.profiles || m->options.selector_count || m->options.records || m->rows;
}

static hpar_status take_page(hp_map *m, const hp_warc_record *record, const hp_http_message *message) {
  if (m->python && !call_function(m, record, message->head.length ? message : NULL)) return HPAR_ERROR_MEMORY;
  if (needs_tree(m)) return parse_page(m, record, message);
  m->sums[HP_SUM_PAGES]++;
  m->sums[HP_SUM_PAGE_BYTES] += message->body.length;
  return HPAR_OK;
}

static hpar_status take_response(hp_map *m, const hp_warc_record *record) {
  hp_http_message message;
  hpar_status status = hp_http_read(record->block, m->options.memory, &m->memory, &message);
  if (status == HPAR_ERROR_MEMORY) {
    refuse(m, record, "memory");
    return count(m, "quarantined", 1) ? HPAR_OK : HPAR_ERROR_MEMORY;
  }
  char code[16];
  int length = snprintf(code, sizeof code, "%u", message.status);
  bool fine = message.problem == HP_HTTP_HEAD ? hp_tally_add_text(m->tally, HP_HTTP_STATUS, "none", 1)
                                              : count_last(m, HP_LAST_STATUS, code, (size_t)length);
  if (fine && message.content_type.length)
    fine = count_last(m, HP_LAST_TYPE, message.content_type.bytes, message.content_type.length);
  if (fine && *message.coding) fine = hp_tally_add_text(m->tally, HP_CODINGS, message.coding, 1);
  if (fine && message.chunked) fine = count(m, "chunked", 1);
  if (fine && message.not_coded) fine = count(m, "stored_without_coding", 1);
  if (fine && message.problem) {
    fine = hp_tally_add_text(m->tally, HP_PROBLEMS, hp_http_problem_name(message.problem), 1);
    refuse(m, record, hp_http_problem_name(message.problem));
    if (fine && message.problem == HP_HTTP_TOO_LARGE) fine = count(m, "quarantined", 1);
  } else if (fine) {
    bool is_page = message.status == 200 && is_html(message.content_type, message.body);
    if (m->options.duplicates) fine = hp_map_stored(m, record, is_page);
    if (fine && is_page)
      status = take_page(m, record, &message);
    else if (fine)
      fine = add_plain_row(m, record, &message, HP_ROWS_OF_RESPONSES);
  }
  hp_http_memory_clear(&m->memory, KEPT_BODY);
  return fine ? status : HPAR_ERROR_MEMORY;
}

hpar_status hp_map_record(hp_map *m, const hp_warc_record *record) {
  m->sums[HP_SUM_RECORDS]++;
  if (record->problem) {
    refuse(m, record, hp_warc_problem_name(record->problem));
    bool fine = hp_tally_add_text(m->tally, HP_PROBLEMS, hp_warc_problem_name(record->problem), 1);
    if (fine && record->problem == HP_WARC_TOO_LARGE) fine = count(m, "quarantined", 1);
    return fine ? HPAR_OK : HPAR_ERROR_MEMORY;
  }
  if (!is_sampled(m, record)) {
    m->sums[HP_SUM_NOT_SAMPLED]++;
    return HPAR_OK;
  }
  static const char *const types[] = {"warcinfo", "response",   "resource",     "request",
                                      "metadata", "conversion", "continuation", "revisit"};
  int type = 0;
  while (type < HP_SUM_TYPE_OTHER - HP_SUM_TYPE_WARCINFO && !is_text(record->type, types[type])) type++;
  m->sums[HP_SUM_TYPE_WARCINFO + type]++;
  m->sums[HP_SUM_RECORD_BYTES] += record->block.length;
  if (record->truncated.length && !count(m, "truncated_by_crawler", 1)) return HPAR_ERROR_MEMORY;
  if (is_text(record->type, "response")) return take_response(m, record);
  if (is_text(record->type, "conversion")) hp_map_value(m, HP_TEXT_BYTES, record->block.length);
  if (is_text(record->type, "metadata") && is_text(record->content_type, "application/json")) m->sums[HP_SUM_WAT]++;
  if (m->options.duplicates && is_text(record->type, "revisit") && !hp_map_revisit(m, record)) return HPAR_ERROR_MEMORY;
  if (is_text(record->type, "resource") && is_html(record->content_type, record->block)) {
    hp_http_message message = {.body = record->block};
    if (m->options.duplicates && !hp_map_stored(m, record, true)) return HPAR_ERROR_MEMORY;
    return take_page(m, record, &message);
  }
  return add_plain_row(m, record, NULL, HP_ROWS_OF_RECORDS) ? HPAR_OK : HPAR_ERROR_MEMORY;
}

/*** lines of JSON ***/

static void write_string(FILE *file, hpar_string text) {
  fputc('"', file);
  for (size_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.bytes[i];
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20 || c >= 0x7F)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}

/* A byte beyond ASCII in a URL is written as the character with its number. */
static bool write_record(hp_map *m, const hp_warc_record *record, const hp_http_message *message,
                         const hp_map_page *page, const hpar_study_stats *stats, const hp_map_study *study) {
  FILE *file = m->records;
  if (!file) return true;
  fputs("{\"file\":", file);
  hp_write_cell(file, m->file, strlen(m->file), HP_ROWS_JSON);
  fprintf(file, ",\"offset\":%llu,\"inner\":%llu,\"record\":%llu,\"url\":", (unsigned long long)record->offset,
          (unsigned long long)record->inner, (unsigned long long)record->index);
  write_string(file, page->url);
  fputs(",\"date\":", file);
  write_string(file, record->date);
  fprintf(file, ",\"status\":%u,\"bytes\":%zu,\"encoding\":\"%s\",\"encoding_source\":\"%s\",\"quirks\":\"%s\"",
          message->status, page->length, stats->encoding, stats->encoding_source,
          quirks_name(hpar_document_quirks(m->document)));
  fprintf(file, ",\"tokens\":%llu,\"nodes\":%llu,\"elements\":%llu,\"attributes\":%llu,\"depth\":%llu",
          (unsigned long long)stats->tokens, (unsigned long long)stats->nodes, (unsigned long long)page->elements,
          (unsigned long long)page->attributes, (unsigned long long)page->depth);
  if (study->length) hp_map_write_study(file, study);
  fputs("}\n", file);
  return true;
}
