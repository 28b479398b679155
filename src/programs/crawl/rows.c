#include "programs/crawl/rows.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "programs/crawl/suffixes.h"
#include "programs/crawl/unit.h"
#include "programs/warc/octets.h"
#include "url/links.h"

#include <string.h>

enum { MAX_GROUP_VALUE = 1000, KEPT = 1 << 20 };

/* A value in one of the runs of bytes below. */
typedef struct value {
  size_t from, length;
  bool is_null;
} value;

/* The values of a list of columns. Those of the page are computed once a record. */
typedef struct value_list {
  hp_columns columns;
  value *values;
  bool read_page; /* the values of the page are there */
} value_list;

struct hp_rows {
  const hp_map_options *options;
  hp_tally *tally;
  value_list fields, groups;
  hp_suffixes suffixes;
  const hp_row_source *source;
  hp_octets page, row; /* values of the page and of the row */
  hp_octets key;       /* of the group */
  hp_octets out;       /* what the file receives */
  FILE *lines;         /* writes to `out` */
  hp_tally_table keys; /* of the groups of the record */
  hp_url address, base, link;
  bool read_address, has_address, read_base;
  uint64_t work; /* bytes of values and visited nodes: at most the limit of memory */
  bool failed, too_large;
};

static ssize_t write_out(void *cookie, const char *bytes, size_t length) {
  hp_rows *r = cookie;
  if (!hp_octets_add(&r->out, bytes, length)) r->failed = true;
  return (ssize_t)length;
}

static bool open_list(value_list *list, const char *text) {
  const char *wrong;
  if (!hp_columns_read(&list->columns, text, &wrong)) return false;
  list->values = hp_allocate((list->columns.count + 1) * sizeof *list->values);
  return list->values;
}

static hpar_status open_suffixes(hp_rows *r) {
  char digits[65];
  if (!hp_columns_need_suffixes(&r->fields.columns) && !hp_columns_need_suffixes(&r->groups.columns)) return HPAR_OK;
  if (!r->options->suffixes) return HPAR_ERROR_ARGUMENT;
  hpar_status status = hp_suffixes_read(&r->suffixes, r->options->suffixes, digits);
  if (status == HPAR_ERROR_MEMORY) return status;
  return status || strcmp(digits, r->options->suffix_digest) ? HPAR_ERROR_ARGUMENT : HPAR_OK;
}

hpar_status hp_rows_create(hp_rows **rows, const hp_map_options *options, hp_tally *tally) {
  hp_rows *r = hp_allocate_zeroed(sizeof *r);
  if (!r) return HPAR_ERROR_MEMORY;
  r->options = options;
  r->tally = tally;
  r->lines = fopencookie(r, "wb", (cookie_io_functions_t){.write = write_out});
  hpar_status status = HPAR_ERROR_MEMORY;
  if (r->lines && open_list(&r->fields, options->fields) && open_list(&r->groups, options->groups))
    status = open_suffixes(r);
  if (status) {
    hp_rows_destroy(r);
    return status;
  }
  *rows = r;
  return HPAR_OK;
}

void hp_rows_destroy(hp_rows *r) {
  if (!r) return;
  if (r->lines) fclose(r->lines);
  hp_columns_free(&r->fields.columns);
  hp_columns_free(&r->groups.columns);
  hp_free(r->fields.values);
  hp_free(r->groups.values);
  hp_suffixes_free(&r->suffixes);
  hp_octets_free(&r->page);
  hp_octets_free(&r->row);
  hp_octets_free(&r->key);
  hp_octets_free(&r->out);
  hp_tally_table_free(&r->keys);
  hp_url_close(&r->address);
  hp_url_close(&r->base);
  hp_url_close(&r->link);
  hp_free(r);
}

/*** values ***/

static void charge(hp_rows *r, uint64_t work) {
  r->work += work;
  if (r->work > r->options->memory) r->too_large = true;
}

static hpar_status add_text(const char *bytes, size_t length, void *context) {
  hp_rows *r = context;
  charge(r, length);
  if (r->too_large) return HPAR_ERROR_CALLBACK;
  if (hp_octets_add(&r->row, bytes, length)) return HPAR_OK;
  r->failed = true;
  return HPAR_ERROR_CALLBACK;
}

static void add_string(hp_rows *r, hpar_string text) { add_text(text.bytes ? text.bytes : "", text.length, r); }

static void add_number(hp_rows *r, uint64_t number) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  add_text(digits, (size_t)length, r);
}

static bool is_utf8(hpar_string text) {
  for (const char *at = text.bytes, *end = at + text.length; at < end;) {
    const int step = hp_utf8_sequence(at, end);
    if (step <= 0) return false;
    at += step;
  }
  return true;
}

/* Adds bytes of a head, which are UTF-8 by the standard of WARC. If they are not, a byte beyond
 * ASCII is the character with its number. */
static bool add_octets(hp_rows *r, hpar_string text) {
  if (text.bytes && is_utf8(text)) return add_string(r, text), true;
  for (size_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.bytes[i];
    char two[2] = {(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))};
    if (add_text(c < 0x80 ? (const char *)&c : two, c < 0x80 ? 1 : 2, r)) break;
  }
  return text.bytes != NULL;
}

/* Returns the host of a URL without user and port. */
static hpar_string host_of(const hp_url *url) {
  if (!url->has_host || url->authority_end < url->scheme_end + 2) return (hpar_string){"", 0};
  const char *at = url->bytes + url->scheme_end + 2, *end = url->bytes + url->authority_end;
  const char *user = memrchr(at, '@', (size_t)(end - at));
  if (user) at = user + 1;
  const char *colon = memrchr(at, ':', (size_t)(end - at));
  if (colon && !memchr(colon, ']', (size_t)(end - colon))) end = colon;
  return (hpar_string){at, (size_t)(end - at)};
}

/* Sets r->address to the URL of the record. Returns false if it has none that is valid. */
static bool read_address(hp_rows *r) {
  hpar_string uri = r->source->record->uri;
  if (!r->read_address) r->has_address = hp_url_parse(&r->address, uri.bytes, uri.length, NULL);
  r->failed = r->failed || r->address.failed;
  r->read_address = true;
  return r->has_address;
}

/* Sets r->base to the base URL of the page, if it has one. */
static void read_base(hp_rows *r) {
  r->read_base = true;
  hp_octets url = {0};
  bool has_url = read_address(r);
  r->base.queries = r->link.queries = r->source->document->input.encoding;
  if (has_url && !(hp_octets_add(&url, r->address.bytes, r->address.length) && hp_octets_add(&url, "", 1)))
    r->failed = true;
  else if (hp_find_link_base(r->source->document, has_url ? url.at : NULL, &r->base) == HPAR_ERROR_MEMORY)
    r->failed = true;
  hp_octets_free(&url);
}

/* Sets r->link to the URL in an attribute. Returns false if there is none that is valid. */
static bool read_link(hp_rows *r, hpar_node element, const char *name) {
  const hpar_document *document = r->source->document;
  hpar_string text = element != HPAR_NO_NODE ? hpar_node_attribute_value(document, element, name) : (hpar_string){0};
  if (!text.bytes) return false;
  if (!r->read_base) read_base(r);
  bool valid = hp_url_parse(&r->link, text.bytes, text.length, r->base.length ? &r->base : NULL);
  r->failed = r->failed || r->link.failed;
  return valid;
}

/* Adds a URL, or a part of it. Returns false for null. */
static bool add_url(hp_rows *r, const hp_column *c, const hp_url *url) {
  hpar_string part = c->kind == HP_COLUMN_URL ? (hpar_string){url->bytes, url->length} : host_of(url);
  if (c->kind == HP_COLUMN_DOMAIN) part = hp_registered_domain(&r->suffixes, part);
  if (c->kind == HP_COLUMN_TLD) part = hp_top_level_domain(part);
  add_string(r, part);
  return part.length;
}

/* Visits the elements of a tree, which a text or the search for an element reads. */
static void charge_nodes(hp_rows *r, hpar_node top) {
  const hpar_document *document = r->source->document;
  for (hpar_node at = top; at != HPAR_NO_NODE && !r->too_large; at = hpar_node_walk(document, top, at)) charge(r, 1);
}

static bool is_same_name(hpar_string text, const char *name) {
  return text.bytes && text.length == strlen(name) && hp_ascii_equal(text.bytes, name, text.length);
}

/* Adds the content of the first `meta` with this name or property. */
static bool add_meta(hp_rows *r, const char *name) {
  const hpar_document *document = r->source->document;
  if (!document) return false;
  hpar_node root = hpar_document_root(document);
  for (hpar_node at = root; at != HPAR_NO_NODE; at = hpar_node_walk(document, root, at)) {
    if (hpar_node_tag(document, at) != HPAR_TAG_META) continue;
    if (!is_same_name(hpar_node_attribute_value(document, at, "name"), name) &&
        !is_same_name(hpar_node_attribute_value(document, at, "property"), name))
      continue;
    hpar_string content = hpar_node_attribute_value(document, at, "content");
    add_string(r, content);
    return content.bytes;
  }
  return false;
}

/* Adds the primary language that the page declares: by the attribute of `html`, or by the field
 * Content-Language. */
static bool add_language(hp_rows *r) {
  const hpar_document *document = r->source->document;
  hpar_node html = document ? hpar_document_html(document) : HPAR_NO_NODE;
  hpar_string text = {0};
  if (html != HPAR_NO_NODE) text = hpar_node_attribute_value(document, html, "lang");
  if (!text.length && r->source->message) text = hp_warc_field(r->source->message->head, "Content-Language");
  size_t at = 0, length = 0;
  while (at < text.length && hp_ascii_is_white(text.bytes[at])) at++;
  while (at + length < text.length && hp_ascii_is_letter(text.bytes[at + length])) length++;
  for (size_t i = 0; i < length; i++) {
    char lower = hp_ascii_lower(text.bytes[at + i]);
    add_text(&lower, 1, r);
  }
  return length;
}

static bool add_title(hp_rows *r) {
  const hpar_document *document = r->source->document;
  hpar_node title = document ? hpar_document_title(document) : HPAR_NO_NODE;
  if (title == HPAR_NO_NODE) return false;
  hpar_text(document, title, NULL, add_text, r);
  return true;
}

static bool add_media_type(hp_rows *r) {
  const hp_http_message *message = r->source->message;
  hpar_string type = message ? message->content_type : r->source->record->content_type;
  for (size_t i = 0; i < type.length && type.bytes[i] != ';'; i++) {
    char lower = hp_ascii_lower(type.bytes[i]);
    if (!hp_ascii_is_white(lower)) add_octets(r, (hpar_string){&lower, 1});
  }
  return type.length;
}

/* Adds a value of the page. Returns false for null. */
static bool add_page_value(hp_rows *r, const hp_column *c) {
  const hp_row_source *s = r->source;
  const hp_warc_record *record = s->record;
  size_t part = c->kind == HP_COLUMN_YEAR ? 4 : c->kind == HP_COLUMN_MONTH ? 7 : record->date.length;
  hpar_string head = s->message ? s->message->head : (hpar_string){"", 0};
  switch (c->kind) {
    case HP_COLUMN_DATE:
    case HP_COLUMN_YEAR:
    case HP_COLUMN_MONTH:
      if (record->date.length < part || !part) return false;
      return add_octets(r, (hpar_string){record->date.bytes, part});
    case HP_COLUMN_STATUS:
      if (!s->message || !s->message->status) return false;
      add_number(r, s->message->status);
      return true;
    case HP_COLUMN_TYPE: return add_media_type(r);
    case HP_COLUMN_RECORD_TYPE: return add_octets(r, record->type) && record->type.length;
    case HP_COLUMN_ENCODING:
      if (!s->encoding) return false;
      add_string(r, (hpar_string){s->encoding, strlen(s->encoding)});
      return true;
    case HP_COLUMN_LANGUAGE: return add_language(r);
    case HP_COLUMN_TITLE: return add_title(r);
    case HP_COLUMN_BYTES: add_number(r, s->message ? s->message->body.length : record->block.length); return true;
    case HP_COLUMN_DIGEST: return add_octets(r, hp_warc_field(record->head, "WARC-Payload-Digest"));
    case HP_COLUMN_FILE: add_string(r, (hpar_string){s->file, strlen(s->file)}); return true;
    case HP_COLUMN_OFFSET: add_number(r, record->offset); return true;
    case HP_COLUMN_META: return add_meta(r, c->argument);
    case HP_COLUMN_HEADER: return add_octets(r, hp_warc_field(head, c->argument));
    case HP_COLUMN_WARC: return add_octets(r, hp_warc_field(record->head, c->argument));
    case HP_COLUMN_URL: return add_octets(r, record->uri) && record->uri.length;
    default: return read_address(r) && add_url(r, c, &r->address);
  }
}

/* Adds a value of an element. Returns false for null. */
static bool add_element_value(hp_rows *r, const hp_column *c, hpar_node element, uint32_t selector) {
  const hpar_document *document = r->source->document;
  if (element == HPAR_NO_NODE) return false;
  hpar_text_options options = {HPAR_TEXT_OPTIONS_INIT};
  hpar_string text;
  switch (c->kind) {
    case HP_COLUMN_SELECTOR:
      if (selector >= r->options->selector_count) return false;
      text = (hpar_string){r->options->selectors[selector], strlen(r->options->selectors[selector])};
      break;
    case HP_COLUMN_TAG: text = hpar_node_name(document, element); break;
    case HP_COLUMN_ATTR: text = hpar_node_attribute_value(document, element, c->argument); break;
    case HP_COLUMN_TEXT:
    case HP_COLUMN_CONTENT:
      options.all_elements = options.keep_white_space = options.no_breaks = c->kind == HP_COLUMN_CONTENT;
      charge_nodes(r, element);
      if (!r->too_large && hpar_text(document, element, &options, add_text, r) == HPAR_ERROR_MEMORY) r->failed = true;
      return true;
    case HP_COLUMN_HTML:
      charge_nodes(r, element);
      if (!r->too_large && hpar_serialize_html(document, element, HPAR_HTML_OUTER, add_text, r) == HPAR_ERROR_MEMORY)
        r->failed = true;
      return true;
    default: return read_link(r, element, c->argument) && add_url(r, c, &r->link);
  }
  add_string(r, text);
  return text.bytes;
}

/* Sets the values of a row, in r->page and r->row. */
static void read_values(hp_rows *r, value_list *list, hpar_node element, uint32_t selector) {
  for (size_t i = 0; i < list->columns.count && !r->failed && !r->too_large; i++) {
    const hp_column *c = &list->columns.items[i];
    bool of_page = hp_column_is_of_page(c);
    if (of_page && list->read_page) continue;
    value *v = &list->values[i];
    size_t from = r->row.length;
    v->is_null = !(of_page ? add_page_value(r, c) : add_element_value(r, c, element, selector));
    v->from = from;
    v->length = r->row.length - from;
    if (!of_page) continue;
    v->from = r->page.length;
    if (v->length && !hp_octets_add(&r->page, r->row.at + from, v->length)) r->failed = true;
    r->row.length = from;
  }
  list->read_page = true;
}

static hpar_string bytes_of(const hp_rows *r, const value_list *list, size_t i) {
  const hp_octets *run = hp_column_is_of_page(&list->columns.items[i]) ? &r->page : &r->row;
  const value *v = &list->values[i];
  return (hpar_string){run->at ? run->at + v->from : "", v->is_null ? 0 : v->length};
}

/*** lines ***/

static void write_json_string(FILE *file, const char *text, size_t length) {
  size_t run = 0;
  putc_unlocked('"', file);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
    fwrite(text + run, 1, i - run, file);
    fprintf(file, c == '"' || c == '\\' ? "\\%c" : "\\u%04x", c);
    run = i + 1;
  }
  fwrite(text + run, 1, length - run, file);
  putc_unlocked('"', file);
}

static void write_csv_cell(FILE *file, const char *text, size_t length) {
  bool quoted = false;
  for (size_t i = 0; i < length && !quoted; i++)
    quoted = text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
  if (quoted) fputc('"', file);
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') fputc('"', file);
    fputc(text[i], file);
  }
  if (quoted) fputc('"', file);
}

void hp_write_cell(FILE *file, const char *text, size_t length, hp_row_format format) {
  switch (format) {
    case HP_ROWS_JSON: write_json_string(file, text, length); break;
    case HP_ROWS_CSV: write_csv_cell(file, text, length); break;
    case HP_ROWS_TSV: hp_write_escaped(file, text, length); break;
  }
}

const char *hp_row_ending(hp_row_format format) {
  static const char *const endings[] = {"jsonl", "csv", "tsv"};
  return endings[format];
}

void hp_rows_write_head(FILE *file, const hp_columns *columns, hp_row_format format) {
  if (format == HP_ROWS_JSON) return;
  for (size_t i = 0; i < columns->count; i++) {
    if (i) fputc(format == HP_ROWS_CSV ? ',' : '\t', file);
    hp_write_cell(file, columns->items[i].name, strlen(columns->items[i].name), format);
  }
}

static void write_line(hp_rows *r) {
  const hp_columns *columns = &r->fields.columns;
  hp_row_format format = r->options->row_format;
  FILE *file = r->lines;
  if (format == HP_ROWS_JSON) fputc('{', file);
  for (size_t i = 0; i < columns->count; i++) {
    const hp_column *c = &columns->items[i];
    hpar_string text = bytes_of(r, &r->fields, i);
    if (i) fputc(format == HP_ROWS_TSV ? '\t' : ',', file);
    if (format == HP_ROWS_JSON) {
      write_json_string(file, c->name, strlen(c->name));
      fputc(':', file);
    }
    if (format == HP_ROWS_JSON && r->fields.values[i].is_null)
      fputs("null", file);
    else if (hp_column_is_number(c))
      fwrite(text.bytes, 1, text.length, file);
    else
      hp_write_cell(file, text.bytes, text.length, format);
  }
  fputs(format == HP_ROWS_JSON ? "}\n" : "\n", file);
}

/*** groups ***/

/* Returns the length of a value in a key: a character stays whole. */
static size_t key_length(hpar_string text) {
  size_t length = text.length;
  if (length <= MAX_GROUP_VALUE) return length;
  for (length = MAX_GROUP_VALUE; length && (text.bytes[length] & 0xC0) == 0x80;) length--;
  return length;
}

/* The key of a group has its values with tabs between them. */
static bool add_key(hp_rows *r) {
  hp_octets *key = &r->key;
  key->length = 0;
  for (size_t i = 0; i < r->groups.columns.count; i++) {
    hpar_string text = bytes_of(r, &r->groups, i);
    size_t length = key_length(text), from = key->length + (i > 0);
    if (!hp_octets_add(key, "\t", i > 0) || !hp_octets_add(key, text.bytes, length)) return false;
    for (size_t at = from; at < key->length; at++)
      if (key->at[at] == '\t') key->at[at] = ' ';
  }
  return hp_tally_table_add(&r->keys, key->at ? key->at : "", key->length, 1);
}

static bool count_keys(hp_rows *r) {
  for (uint32_t i = 0; i < r->keys.capacity; i++) {
    const hp_tally_entry *e = &r->keys.entries[i];
    if (e->key && (!hp_tally_table_add(&r->tally->tables[HP_GROUPS], e->key, e->length, e->count) ||
                   !hp_tally_table_add(&r->tally->tables[HP_GROUP_PAGES], e->key, e->length, 1)))
      return false;
  }
  return true;
}

/*** records ***/

void hp_rows_begin(hp_rows *r, const hp_row_source *source) {
  r->source = source;
  r->fields.read_page = r->groups.read_page = false;
  r->read_address = r->read_base = r->too_large = r->failed = false;
  r->work = 0;
  hp_octets_clear(&r->page, KEPT);
  hp_octets_clear(&r->row, KEPT);
  hp_octets_clear(&r->out, KEPT);
  if (r->keys.count) hp_tally_table_free(&r->keys);
}

void hp_rows_add(hp_rows *r, hpar_node element, uint32_t selector) {
  if (r->failed || r->too_large) return;
  r->row.length = 0;
  if (r->fields.columns.count) {
    read_values(r, &r->fields, element, selector);
    if (!r->failed && !r->too_large) write_line(r);
  }
  if (r->groups.columns.count) {
    read_values(r, &r->groups, element, selector);
    if (!r->failed && !r->too_large && !add_key(r)) r->failed = true;
  }
}

hp_rows_result hp_rows_end(hp_rows *r, FILE *file) {
  if (fflush(r->lines)) r->failed = true;
  hp_url_close(&r->base);
  if (r->failed) return HP_ROWS_NO_MEMORY;
  if (r->too_large) return HP_ROWS_TOO_LARGE;
  if (file && r->out.length) fwrite(r->out.at, 1, r->out.length, file);
  return count_keys(r) ? HP_ROWS_DONE : HP_ROWS_NO_MEMORY;
}
