#include "trace/record.h"

#include "base/clock.h"
#include "base/memory.h"

#include <hpar/study.h>
#include <string.h>

/* Returns a new last item of `size` bytes, or NULL if memory is short. */
static void *one_more(void **items, size_t *count, size_t *capacity, size_t size) {
  if (*count == *capacity) {
    size_t wanted = *capacity ? *capacity * 2 : 64;
    void *grown = hp_reallocate(*items, wanted * size);
    if (!grown) return NULL;
    *items = grown;
    *capacity = wanted;
  }
  return (char *)*items + size * (*count)++;
}

#define ONE_MORE(record, noun) \
  one_more((void **)&(record)->noun##s, &(record)->noun##_count, &(record)->noun##_capacity, sizeof *(record)->noun##s)

static void lose(hp_record *r) {
  pthread_mutex_lock(&r->lock);
  r->lost = true;
  pthread_mutex_unlock(&r->lock);
}

void hp_record_open(hp_record *r, uint64_t now) {
  if (!r->has_lock) pthread_mutex_init(&r->lock, NULL);
  r->has_lock = true;
  r->chunk_count = r->failure_count = r->again_count = r->event_count = r->pipeline_event_count = 0;
  r->lost = false;
  r->begin = now;
}

void hp_record_free(hp_record *r) {
  hp_free(r->chunks);
  hp_free(r->failures);
  hp_free(r->again);
  hp_free(r->events);
  hp_free(r->pipeline_events);
  if (r->has_lock) pthread_mutex_destroy(&r->lock);
}

hpar_chunk *hp_record_last(hp_record *r) { return r->chunk_count ? &r->chunks[r->chunk_count - 1] : &r->discarded; }

hpar_chunk *hp_record_chunk(hp_record *r, size_t begin, size_t end) {
  if (!ONE_MORE(r, chunk)) lose(r);
  hpar_chunk *c = hp_record_last(r);
  memset(c, 0, sizeof *c);
  c->text_begin = begin;
  c->text_end = end;
  return c;
}

void hp_record_failure(hp_record *r, hpar_hazard hazard, hpar_assumption assumption, size_t begin, size_t end) {
  hpar_failure *f = ONE_MORE(r, failure);
  if (!f) {
    lose(r);
    return;
  }
  *f = (hpar_failure){hazard, assumption, begin, end};
  hp_record_last(r)->failure_count++;
}

void hp_record_again(hp_record *r, size_t begin, size_t end, uint64_t begin_ns) {
  if (begin == end) return;
  uint32_t index = r->chunk_count ? (uint32_t)r->chunk_count - 1 : UINT32_MAX;
  hp_record_event(r, HPAR_EVENT_ROLL_BACK, 0, index, begin_ns, hp_now(), begin, end);
  hpar_chunk *c = hp_record_last(r);
  c->bytes_reparsed += end - begin;
  if (c->reparsed_count && r->again[r->again_count - 1].end == begin) {
    r->again[r->again_count - 1].end = end;
    return;
  }
  hpar_byte_range *s = one_more((void **)&r->again, &r->again_count, &r->again_capacity, sizeof *s);
  if (!s) {
    lose(r);
    return;
  }
  *s = (hpar_byte_range){begin, end};
  c->reparsed_count++;
}

void hp_record_event(hp_record *r, hpar_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                     uint64_t end_ns, size_t begin, size_t end) {
  pthread_mutex_lock(&r->lock);
  hpar_event *e = ONE_MORE(r, event);
  if (e)
    *e = (hpar_event){kind, thread, chunk, begin_ns, end_ns, begin, end};
  else
    r->lost = true;
  pthread_mutex_unlock(&r->lock);
}

void hp_record_pipeline_event(hp_record *r, const hpar_hazard_event *event) {
  pthread_mutex_lock(&r->lock);
  hpar_hazard_event *added = ONE_MORE(r, pipeline_event);
  if (added)
    *added = *event;
  else
    r->lost = true;
  pthread_mutex_unlock(&r->lock);
}
