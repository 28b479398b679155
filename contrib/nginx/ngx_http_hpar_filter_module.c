/* A body filter of nginx that edits HTML by the rules of `hpar rewrite`, while the response passes.
 *
 * The filter lies behind the postpone filter and before gzip. It therefore sees the page that the
 * client is to see: unpacked, converted by the charset filter, with all that SSI includes.
 *
 * The pieces of a response, each a buffer of the filters before, wait in `in`. take_input feeds
 * them to the rewriter, which writes to buffers of its own size in `out`. `busy` has those that the
 * filters behind have not sent. While `buffers` of them are in use, the filter takes no input.
 *
 * A buffer of input that has been read stays in `read` until all output from before its end is
 * sent. Only then does its owner see it as empty. The owner thus waits for a slow client as if the
 * filter was not there, and nginx calls the filters again when the client can take more. */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "programs/hpar/read.h"
#include "programs/rules/edit_rules.h"

#include <stdlib.h>

enum {
  PIECE = 16 << 10,       /* bytes that the rewriter receives at a time */
  RULES_LIMIT = 64 << 20, /* bytes of a file of rules */
  HELD = 0x40             /* in ngx_connection_t.buffered; nginx has 0x10, 0x20, and lower ones */
};
enum { PASS, ABORT }; /* of hpar_on_failure */

typedef struct location {
  ngx_flag_t rewrites;
  hpar_rules *rules;
  ngx_uint_t on_failure;
  size_t max_memory;
  ngx_bufs_t buffers;
  ngx_hash_t types;
  ngx_array_t *type_keys;
} location;

/* A buffer of input that the rewriter has read. */
typedef struct input_read input_read;
struct input_read {
  ngx_buf_t *buffer;
  off_t made; /* response.bytes_out at its end */
  input_read *next;
};

typedef struct response {
  hpar_rewriter *rewriter; /* NULL: the response passes untouched */
  ngx_http_request_t *request;
  const char *status; /* $hpar_status */
  ngx_chain_t *in, *out, **out_end, *busy, *free;
  u_char *at;         /* in the first buffer of `in`; NULL: at its beginning */
  ngx_buf_t *current; /* the last buffer of `out`, if it has room */
  ngx_int_t used;     /* own buffers in `out` and `busy` */
  input_read *read, **read_end, *unused_read;
  off_t bytes_in, bytes_out;
  uint64_t matches;
  bool finished, failed, lacks_memory;
} response;

ngx_module_t ngx_http_hpar_filter_module;
static ngx_http_output_header_filter_pt next_header_filter;
static ngx_http_output_body_filter_pt next_body_filter;

/*** output ***/

static void append(response *s, ngx_chain_t *link) {
  link->next = NULL;
  *s->out_end = link;
  s->out_end = &link->next;
}

/* Appends an empty buffer for output. */
static bool add_buffer(response *s) {
  ngx_pool_t *pool = s->request->pool;
  ngx_chain_t *link = s->free;
  if (link) {
    s->free = link->next;
  } else {
    const location *l = ngx_http_get_module_loc_conf(s->request, ngx_http_hpar_filter_module);
    link = ngx_alloc_chain_link(pool);
    if (!link || !(link->buf = ngx_create_temp_buf(pool, l->buffers.size))) return false;
    link->buf->tag = (ngx_buf_tag_t)&ngx_http_hpar_filter_module;
  }
  link->buf->flush = 0;
  append(s, link);
  s->current = link->buf;
  s->used++;
  return true;
}

/* Appends a buffer without bytes: it marks the end, or asks to send what is there. */
static ngx_buf_t *add_mark(response *s) {
  ngx_chain_t *link = ngx_alloc_chain_link(s->request->pool);
  if (!link || !(link->buf = ngx_calloc_buf(s->request->pool))) return NULL;
  append(s, link);
  s->current = NULL;
  return link->buf;
}

static hpar_status write_output(const char *bytes, size_t length, void *context) {
  response *s = context;
  s->bytes_out += (off_t)length;
  while (length) {
    if ((!s->current || s->current->last == s->current->end) && !add_buffer(s)) {
      s->lacks_memory = true;
      return HPAR_ERROR_MEMORY;
    }
    ngx_buf_t *to = s->current;
    size_t room = (size_t)(to->end - to->last), part = length < room ? length : room;
    to->last = ngx_cpymem(to->last, bytes, part);
    bytes += part;
    length -= part;
  }
  return HPAR_OK;
}

/* Lets the owners have the buffers of input whose output is sent. */
static void release_input(response *s) {
  off_t sent = s->bytes_out;
  s->used = 0;
  for (ngx_chain_t *link = s->busy; link; link = link->next) {
    sent -= ngx_buf_size(link->buf);
    s->used += link->buf->tag == (ngx_buf_tag_t)&ngx_http_hpar_filter_module;
  }
  while (s->read && s->read->made <= sent) {
    input_read *first = s->read;
    first->buffer->pos = first->buffer->last;
    s->read = first->next;
    first->next = s->unused_read;
    s->unused_read = first;
  }
  if (!s->read) s->read_end = &s->read;
}

/* Passes `out` on, or asks the filters behind to send what they have. */
static ngx_int_t pass_output(response *s) {
  ngx_http_request_t *r = s->request;
  ngx_int_t result = next_body_filter(r, s->out);
  if (result == NGX_ERROR) return NGX_ERROR;
  ngx_chain_update_chains(r->pool, &s->free, &s->busy, &s->out, (ngx_buf_tag_t)&ngx_http_hpar_filter_module);
  s->out_end = &s->out;
  s->current = NULL;
  release_input(s);
  return result;
}

/*** input ***/

/* Ends the stream. `goes_on`: nothing has failed, or the rewriter passes the rest on. */
static ngx_int_t finish(response *s, bool goes_on) {
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_status status = hpar_rewriter_finish(s->rewriter, &stats);
  if (stats.failed_at == UINT64_MAX) stats.failed_at = (uint64_t)s->bytes_in;
  if (s->lacks_memory) goes_on = false;
  if (status)
    ngx_log_error(NGX_LOG_ERR, s->request->connection->log, 0, "hpar: byte %uL: %s; %s", stats.failed_at,
                  hpar_rewriter_error(s->rewriter)->text,
                  goes_on ? "the rest is passed on without edits" : "the response ends there");
  s->matches = stats.matches;
  s->finished = true;
  s->status = status ? "failed" : stats.passed_through ? "passed:utf-16" : "rewritten";
  hpar_rewriter_destroy(s->rewriter);
  s->rewriter = NULL;
  return goes_on ? NGX_OK : NGX_ERROR;
}

/* Keeps a buffer that has been read until its output is sent. */
static bool keep_read(response *s, ngx_buf_t *buffer) {
  input_read *item = s->unused_read;
  if (item)
    s->unused_read = item->next;
  else if (!(item = ngx_palloc(s->request->pool, sizeof *item)))
    return false;
  *item = (input_read){.buffer = buffer, .made = s->bytes_out};
  *s->read_end = item;
  s->read_end = &item->next;
  return true;
}

/* Feeds a piece of the first buffer of `in`. */
static ngx_int_t take_input(response *s) {
  const location *l = ngx_http_get_module_loc_conf(s->request, ngx_http_hpar_filter_module);
  ngx_chain_t *link = s->in;
  ngx_buf_t *from = link->buf;
  if (ngx_buf_in_memory(from) && !s->finished) {
    if (!s->at) s->at = from->pos;
    size_t left = (size_t)(from->last - s->at), part = left < PIECE ? left : PIECE;
    hpar_status status = part ? hpar_rewriter_feed(s->rewriter, (const char *)s->at, part) : HPAR_OK;
    if (status) return finish(s, false);
    s->bytes_in += (off_t)part;
    s->at += part;
    if (part < left) return NGX_OK;
  } else if (ngx_buf_size(from)) {
    /* r->main_filter_need_in_memory lets the copy filter read files */
    ngx_log_error(NGX_LOG_ALERT, s->request->connection->log, 0, "hpar: a buffer of the response is in no memory");
    return NGX_ERROR;
  }
  s->at = NULL;
  s->in = link->next;
  bool ends = from->last_buf && !s->finished, flushes = from->flush || from->recycled;
  if (ends && finish(s, l->on_failure == PASS) != NGX_OK) return NGX_ERROR;
  if (ends || (flushes && (s->out || s->busy || from->flush))) {
    ngx_buf_t *marked = s->current ? s->current : add_mark(s);
    if (!marked) return NGX_ERROR;
    marked->last_buf = marked->last_in_chain = ends;
    marked->flush |= flushes;
  }
  bool kept = !ngx_buf_in_memory(from) || from->pos == from->last || keep_read(s, from);
  ngx_free_chain(s->request->pool, link);
  return kept ? NGX_OK : NGX_ERROR;
}

static bool has_room(const response *s) {
  const location *l = ngx_http_get_module_loc_conf(s->request, ngx_http_hpar_filter_module);
  return s->used < l->buffers.num;
}

/* `asks`: nginx asks to send what waits. The filters behind refuse this when nothing waits. */
static ngx_int_t rewrite(response *s, bool asks) {
  ngx_int_t result = NGX_OK;
  for (;;) {
    while (s->in && has_room(s))
      if (take_input(s) != NGX_OK) return NGX_ERROR;
    bool is_full = !has_room(s), adds = s->out;
    if (adds || asks || is_full) result = pass_output(s);
    if (result == NGX_ERROR) return NGX_ERROR;
    asks = false;
    if (!s->in || (!adds && is_full && !has_room(s))) break;
  }
  release_input(s);
  if (!s->in) {
    s->request->connection->buffered &= (unsigned char)~HELD;
    return result;
  }
  s->request->connection->buffered |= HELD;
  return NGX_AGAIN;
}

static ngx_int_t filter_body(ngx_http_request_t *r, ngx_chain_t *in) {
  response *s = ngx_http_get_module_ctx(r, ngx_http_hpar_filter_module);
  if (!s || (!s->rewriter && !s->finished)) return next_body_filter(r, in);
  if (s->failed) return NGX_ERROR;
  if (in && ngx_chain_add_copy(r->pool, &s->in, in) != NGX_OK) return NGX_ERROR;
  ngx_int_t result = rewrite(s, !in);
  if (result == NGX_ERROR) {
    s->failed = true;
    r->connection->buffered &= (unsigned char)~HELD;
  }
  return result;
}

/*** the header ***/

static void drop_rewriter(void *data) {
  response *s = data;
  hpar_rewriter_destroy(s->rewriter);
  s->rewriter = NULL;
}

/* Returns why the response passes untouched, or NULL. */
static const char *find_obstacle(ngx_http_request_t *r, location *l) {
  ngx_uint_t status = r->headers_out.status;
  if (!l->rules) return "passed:rules";
  if (status < NGX_HTTP_OK || status == NGX_HTTP_NO_CONTENT || status == NGX_HTTP_PARTIAL_CONTENT ||
      status == NGX_HTTP_NOT_MODIFIED)
    return "passed:status";
  if (r->headers_out.content_encoding && r->headers_out.content_encoding->value.len) return "passed:content-encoding";
  if (!ngx_http_test_content_type(r, &l->types)) return "passed:type";
  return NULL;
}

/* Begins the stream in the encoding that the header declares. */
static hpar_status begin(response *s, const location *l) {
  ngx_str_t charset = s->request->headers_out.charset;
  char label[64];
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,
                                  .on_failure = l->on_failure == PASS ? HPAR_FAIL_PASS : HPAR_FAIL_STOP,
                                  .utf16 = HPAR_UTF16_PASS, .max_memory = l->max_memory, .mode = HPAR_MODE_SEQUENTIAL};
  if (charset.len && charset.len < sizeof label) {
    ngx_cpystrn((u_char *)label, charset.data, charset.len + 1);
    if (hpar_encoding_name(label)) options.encoding = label; /* else as browsers do */
  }
  return hpar_rewriter_begin(s->rewriter, l->rules, &options, write_output, s);
}

/* Makes the rewriter of a response. */
static hpar_status open_rewriter(response *s, const location *l) {
  ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(s->request->pool, 0);
  if (!cleanup) return HPAR_ERROR_MEMORY;
  cleanup->handler = drop_rewriter;
  cleanup->data = s;
  hpar_status status = hpar_rewriter_create(&s->rewriter);
  if (!status) status = begin(s, l);
  if (status)
    ngx_log_error(NGX_LOG_ERR, s->request->connection->log, 0, "hpar: %s; %s",
                  s->rewriter ? hpar_rewriter_error(s->rewriter)->text : hpar_status_text(status),
                  l->on_failure == PASS ? "the response is passed on without edits" : "the response is an error");
  if (status) drop_rewriter(s);
  return status;
}

static ngx_int_t filter_header(ngx_http_request_t *r) {
  location *l = ngx_http_get_module_loc_conf(r, ngx_http_hpar_filter_module);
  response *s = ngx_http_get_module_ctx(r, ngx_http_hpar_filter_module);
  if (!l->rewrites || r != r->main || (s && s->failed)) return next_header_filter(r);
  if (!(s = ngx_pcalloc(r->pool, sizeof *s))) return NGX_ERROR;
  s->request = r;
  s->out_end = &s->out;
  s->read_end = &s->read;
  ngx_http_set_ctx(r, s, ngx_http_hpar_filter_module);
  if ((s->status = find_obstacle(r, l))) return next_header_filter(r);
  bool has_body = r->method != NGX_HTTP_HEAD && !r->header_only;
  s->status = has_body ? "incomplete" : "passed:head";
  if (open_rewriter(s, l)) { /* for HEAD too: a charset that is refused decides on the header */
    s->status = "failed";
    if (l->on_failure == PASS) return next_header_filter(r);
    s->failed = true;
    return ngx_http_filter_finalize_request(r, &ngx_http_hpar_filter_module, NGX_HTTP_INTERNAL_SERVER_ERROR);
  }
  if (!has_body) drop_rewriter(s);
  r->main_filter_need_in_memory = 1;
  ngx_http_clear_content_length(r);
  ngx_http_clear_accept_ranges(r);
  ngx_http_weak_etag(r);
  return next_header_filter(r);
}

/*** variables ***/

enum { MATCHES, BYTES_IN, BYTES_OUT, STATUS };

static ngx_int_t get_variable(ngx_http_request_t *r, ngx_http_variable_value_t *value, uintptr_t which) {
  const response *s = ngx_http_get_module_ctx(r->main, ngx_http_hpar_filter_module);
  bool counts = s && (s->rewriter || s->finished);
  value->not_found = 1;
  if (!s || (which != STATUS && !counts) || (which == MATCHES && !s->finished)) return NGX_OK;
  value->valid = 1;
  value->no_cacheable = 1;
  value->not_found = 0;
  if (which == STATUS) {
    value->data = (u_char *)s->status;
    value->len = (unsigned)ngx_strlen(s->status) & 0xFFFFFFF; // the field has 28 bits
    return NGX_OK;
  }
  if (!(value->data = ngx_pnalloc(r->pool, NGX_INT64_LEN))) return NGX_ERROR;
  uint64_t number = which == MATCHES ? s->matches : (uint64_t)(which == BYTES_IN ? s->bytes_in : s->bytes_out);
  value->len = (unsigned)(ngx_sprintf(value->data, "%uL", number) - value->data) & 0xFFFFFFF;
  return NGX_OK;
}

static ngx_http_variable_t variables[] = {
    {ngx_string("hpar_matches"), NULL, get_variable, MATCHES, NGX_HTTP_VAR_NOCACHEABLE, 0},
    {ngx_string("hpar_bytes_in"), NULL, get_variable, BYTES_IN, NGX_HTTP_VAR_NOCACHEABLE, 0},
    {ngx_string("hpar_bytes_out"), NULL, get_variable, BYTES_OUT, NGX_HTTP_VAR_NOCACHEABLE, 0},
    {ngx_string("hpar_status"), NULL, get_variable, STATUS, NGX_HTTP_VAR_NOCACHEABLE, 0},
    ngx_http_null_variable,
};

static ngx_int_t add_variables(ngx_conf_t *cf) {
  for (ngx_http_variable_t *v = variables; v->name.len; v++) {
    ngx_http_variable_t *added = ngx_http_add_variable(cf, &v->name, v->flags);
    if (!added) return NGX_ERROR;
    added->get_handler = v->get_handler;
    added->data = v->data;
  }
  return NGX_OK;
}

/*** the configuration ***/

static void drop_rules(void *rules) { hpar_rules_destroy(rules); }

/* Reads a file of rules and compiles them. Writes a message if that fails. */
static hpar_status compile_rules(ngx_conf_t *cf, const char *path, hpar_rules *rules) {
  hp_edit_rules read = {.items = NULL};
  hp_refusal refusal = {.selector = NULL};
  char *bytes = NULL;
  size_t length = 0;
  hpar_status status = hp_read_file(path, RULES_LIMIT, &bytes, &length);
  ngx_err_t number = status == HPAR_ERROR_IO ? ngx_errno : 0;
  if (!status && length > RULES_LIMIT) status = HPAR_ERROR_TOO_LARGE;
  bool is_read = !status;
  if (!status) status = hp_edit_rules_read(&read, path, bytes, length, &refusal);
  if (!status) status = hp_edit_rules_compile(&read, NULL, NULL, rules, &refusal);
  if (is_read && (status == HPAR_ERROR_ARGUMENT || status == HPAR_ERROR_UNSUPPORTED))
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "hpar_rules: %s%s%s", refusal.text, refusal.selector ? ": " : "",
                       refusal.selector ? refusal.selector : "");
  else if (status)
    ngx_conf_log_error(NGX_LOG_EMERG, cf, number, "hpar_rules: %s: %s", path,
                       number ? "cannot be read" : hpar_status_text(status));
  hp_edit_rules_free(&read);
  free(bytes);
  return status;
}

static char *set_rules(ngx_conf_t *cf, ngx_command_t *command, void *data) {
  location *l = data;
  ngx_str_t path = ((ngx_str_t *)cf->args->elts)[1];
  (void)command;
  if (l->rules) return "is duplicate";
  if (ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK) return NGX_CONF_ERROR;
  ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(cf->pool, 0);
  if (!cleanup || hpar_rules_create(&l->rules)) return NGX_CONF_ERROR;
  cleanup->handler = drop_rules;
  cleanup->data = l->rules;
  return compile_rules(cf, (const char *)path.data, l->rules) ? NGX_CONF_ERROR : NGX_CONF_OK;
}

static void *create_location(ngx_conf_t *cf) {
  location *l = ngx_pcalloc(cf->pool, sizeof *l);
  if (!l) return NULL;
  l->rewrites = NGX_CONF_UNSET;
  l->on_failure = NGX_CONF_UNSET_UINT;
  l->max_memory = NGX_CONF_UNSET_SIZE;
  return l;
}

static char *merge_location(ngx_conf_t *cf, void *parent, void *child) {
  location *from = parent, *to = child;
  ngx_conf_merge_value(to->rewrites, from->rewrites, 0);
  if (!to->rules) to->rules = from->rules;
  ngx_conf_merge_uint_value(to->on_failure, from->on_failure, PASS);
  ngx_conf_merge_size_value(to->max_memory, from->max_memory, (size_t)16 << 20);
  ngx_conf_merge_bufs_value(to->buffers, from->buffers, 8, (size_t)16 << 10);
  if (ngx_http_merge_types(cf, &to->type_keys, &to->types, &from->type_keys, &from->types,
                           ngx_http_html_default_types) != NGX_OK)
    return NGX_CONF_ERROR;
  return NGX_CONF_OK;
}

static ngx_conf_enum_t failures[] = {{ngx_string("pass"), PASS}, {ngx_string("abort"), ABORT}, {ngx_null_string, 0}};

#define EVERYWHERE (NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF)
static ngx_command_t commands[] = {
    {ngx_string("hpar_rewrite"), EVERYWHERE | NGX_CONF_FLAG, ngx_conf_set_flag_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(location, rewrites), NULL},
    {ngx_string("hpar_rules"), EVERYWHERE | NGX_CONF_TAKE1, set_rules, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("hpar_on_failure"), EVERYWHERE | NGX_CONF_TAKE1, ngx_conf_set_enum_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(location, on_failure), failures},
    {ngx_string("hpar_max_memory"), EVERYWHERE | NGX_CONF_TAKE1, ngx_conf_set_size_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(location, max_memory), NULL},
    {ngx_string("hpar_buffers"), EVERYWHERE | NGX_CONF_TAKE2, ngx_conf_set_bufs_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(location, buffers), NULL},
    {ngx_string("hpar_types"), EVERYWHERE | NGX_CONF_1MORE, ngx_http_types_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(location, type_keys), &ngx_http_html_default_types[0]},
    ngx_null_command,
};

static ngx_int_t add_filter(ngx_conf_t *cf) {
  (void)cf;
  next_header_filter = ngx_http_top_header_filter;
  ngx_http_top_header_filter = filter_header;
  next_body_filter = ngx_http_top_body_filter;
  ngx_http_top_body_filter = filter_body;
  return NGX_OK;
}

static ngx_http_module_t contexts = {.preconfiguration = add_variables,
                                     .postconfiguration = add_filter,
                                     .create_loc_conf = create_location,
                                     .merge_loc_conf = merge_location};

ngx_module_t ngx_http_hpar_filter_module = {NGX_MODULE_V1, &contexts, commands, NGX_HTTP_MODULE,
                                            NULL,          NULL,      NULL,     NULL,
                                            NULL,          NULL,      NULL,     NGX_MODULE_V1_PADDING};
