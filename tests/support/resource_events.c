#include "support/resource_events.h"

#include <stdlib.h>
#include <string.h>

static uint64_t key_of(const hpar_resource *r) {
  uint64_t key = (r->offset * 31 + (uint64_t)r->kind) * 2 + ((r->flags & HPAR_RESOURCE_WRITTEN) != 0);
  for (size_t i = 0; i < r->url.length; i++) key = key * 1099511628211u + (unsigned char)r->url.bytes[i];
  for (size_t i = 0; i < r->srcset.length; i++) key = key * 1099511628211u + (unsigned char)r->srcset.bytes[i];
  return key;
}

static void add_key(resource_keys *to, uint64_t key) {
  if (to->count == to->capacity) {
    to->capacity = to->capacity * 2 + 16;
    to->items = realloc(to->items, to->capacity * sizeof *to->items);
    if (!to->items) abort();
  }
  to->items[to->count++] = key;
}

static size_t find_key(const resource_keys *in, uint64_t key) {
  size_t i = 0;
  while (i < in->count && in->items[i] != key) i++;
  return i;
}

/* Returns whether the key was there. */
static bool remove_key(resource_keys *from, uint64_t key) {
  size_t i = find_key(from, key);
  if (i == from->count) return false;
  from->items[i] = from->items[--from->count];
  return true;
}

static void format(buffer *to, const hpar_resource *r) {
  buffer_format(to, "%u %s", (unsigned)r->offset, hpar_resource_kind_name(r->kind));
  for (const hpar_string *string = &r->url; string <= &r->content; string++)
    buffer_format(to, " %.*s", (int)string->length, string->length ? string->bytes : "");
  buffer_format(to, " %u\n", r->flags);
}

/* Counts an event that breaks the order as an error. */
static void check_order(resource_events *e, const hpar_resource *r, hpar_resource_event event) {
  uint64_t place = r->offset + 1;
  if (!e->any_thread && !pthread_equal(pthread_self(), e->caller)) e->errors++;
  if (event == HPAR_RESOURCE_FOUND) {
    if (place < e->last_found || place <= e->last_confirmed) e->errors++;
    e->last_found = place;
  } else if (event == HPAR_RESOURCE_CONFIRMED) {
    if (place < e->last_confirmed) e->errors++;
    e->last_confirmed = place;
  } else if (find_key(&e->closed, key_of(r)) < e->closed.count) { /* the parse begins again */
    e->last_found = e->last_confirmed = 0;
  }
}

void resource_events_init(resource_events *e) {
  *e = (resource_events){0};
  if (pthread_mutex_init(&e->lock, NULL)) abort();
}

void resource_events_free(resource_events *e) {
  buffer_free(&e->confirmed);
  free(e->open.items);
  free(e->closed.items);
  pthread_mutex_destroy(&e->lock);
}

void resource_events_reset(resource_events *e) {
  buffer_clear(&e->confirmed);
  e->open.count = e->closed.count = 0;
  e->found = e->confirmations = e->cancelled = e->written = e->errors = 0;
  e->last_found = e->last_confirmed = 0;
  e->caller = pthread_self();
}

void resource_events_receive(const hpar_resource *r, hpar_resource_event event, void *context) {
  resource_events *e = context;
  pthread_mutex_lock(&e->lock);
  uint64_t key = key_of(r);
  if (e->in_order) check_order(e, r, event);
  if (event == HPAR_RESOURCE_FOUND) {
    e->found++;
    if (find_key(&e->closed, key) < e->closed.count) e->errors++;
    add_key(&e->open, key);
  } else if (event == HPAR_RESOURCE_CONFIRMED) {
    e->confirmations++;
    e->written += (r->flags & HPAR_RESOURCE_WRITTEN) != 0;
    remove_key(&e->open, key);
    add_key(&e->closed, key);
    format(&e->confirmed, r);
  } else {
    e->cancelled++;
    if (remove_key(&e->closed, key)) /* the parse begins again */
      buffer_clear(&e->confirmed);
    else if (!remove_key(&e->open, key))
      e->errors++;
    else if (!e->open.count && !e->closed.count) /* it may begin again */
      e->last_found = 0;
  }
  pthread_mutex_unlock(&e->lock);
}

hpar_status resource_events_feed(resource_events *e, hpar_parser *parser, const hpar_options *options,
                                 hpar_document *document, const buffer *html, size_t most, random_state *random) {
  resource_events_reset(e);
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t at = 0, n; at < html->length && status == HPAR_OK; at += n) {
    n = 1 + random_below(random, most);
    if (n > html->length - at) n = html->length - at;
    status = hpar_parser_feed(parser, html->bytes + at, n);
  }
  return status == HPAR_OK ? hpar_parser_finish(parser, NULL) : status;
}

const char *resource_events_problem(const resource_events *e, const buffer *expected) {
  if (e->errors) return "an event that the parse may not report";
  if (e->open.count) return "a found resource that is neither confirmed nor cancelled";
  bool same = e->confirmed.length == expected->length &&
              (!expected->length || !memcmp(e->confirmed.bytes, expected->bytes, expected->length));
  return same ? NULL : "other confirmed resources";
}
