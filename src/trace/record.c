#include "trace/record.h"

#include "base/memory.h"
#include "inspect/state.h"

#include <string.h>
#include <time.h>

/* Room for one more of `size` bytes, or NULL. */
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

uint64_t hp_record_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void hp_record_open(hp_record *r, uint64_t now) {
  if (!r->has_lock) pthread_mutex_init(&r->lock, NULL);
  r->has_lock = true;
  r->chunk_count = r->failure_count = r->again_count = r->event_count = r->met_count = 0;
  r->lost = false;
  r->begin = now;
}

void hp_record_free(hp_record *r) {
  hp_free(r->chunks);
  hp_free(r->failures);
  hp_free(r->again);
  hp_free(r->events);
  hp_free(r->mets);
  if (r->has_lock) pthread_mutex_destroy(&r->lock);
}

hpar_chunk *hp_record_last(hp_record *r) { return r->chunk_count ? &r->chunks[r->chunk_count - 1] : &r->nowhere; }

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
  hp_record_event(r, HPAR_EVENT_ROLL_BACK, 0, index, begin_ns, hp_record_now(), begin, end);
  hpar_chunk *c = hp_record_last(r);
  c->bytes_reparsed += end - begin;
  if (c->again_count && r->again[r->again_count - 1].end == begin) {
    r->again[r->again_count - 1].end = end;
    return;
  }
  hpar_stretch *s = one_more((void **)&r->again, &r->again_count, &r->again_capacity, sizeof *s);
  if (!s) {
    lose(r);
    return;
  }
  *s = (hpar_stretch){begin, end};
  c->again_count++;
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

void hp_record_met(hp_record *r, const hpar_met_hazard *met) {
  pthread_mutex_lock(&r->lock);
  hpar_met_hazard *m = ONE_MORE(r, met);
  if (m)
    *m = *met;
  else
    r->lost = true;
  pthread_mutex_unlock(&r->lock);
}

/*** closing: true states, and offsets and times as the caller knows them ***/

static hpar_status survey(hp_record *r, const hp_request *task, const char *fragment) {
  size_t n = r->chunk_count;
  hp_true_state *states = hp_allocate(n * sizeof *states);
  uint32_t *places = hp_allocate(n * sizeof *places);
  hpar_status status = states && places ? HPAR_OK : HPAR_ERROR_MEMORY;
  for (size_t i = 0; status == HPAR_OK && i < n; i++) places[i] = (uint32_t)r->chunks[i].text_begin;
  if (status == HPAR_OK) status = hp_true_states(task, fragment, places, (uint32_t)n, states);
  for (size_t i = 0; status == HPAR_OK && i < n; i++) {
    const hp_true_state *s = &states[i];
    r->chunks[i].actual = (hpar_start){.state = hp_state_name(s->state),
                                       .element = s->raw_name < HP_KNOWN_ATOMS ? hp_known_names[s->raw_name].bytes : "",
                                       .mode = hp_mode_name(s->mode),
                                       .ns = (hpar_namespace)s->ns,
                                       .first = s->first < r->chunks[i].text_end ? s->first : UINT64_MAX};
  }
  hp_free(states);
  hp_free(places);
  return status;
}

static uint64_t since(const hp_record *r, uint64_t time) { return time > r->begin ? time - r->begin : 0; }

static hpar_chunk_outcome outcome_of(const hpar_chunk *c) {
  if (c->outcome != HPAR_CHUNK_CLEAN) return c->outcome;
  if (!c->failure_count && !c->again_count && c->right_start) return c->segments ? HPAR_CHUNK_CLEAN : HPAR_CHUNK_PASSED;
  return c->taken ? HPAR_CHUNK_REPAIRED : HPAR_CHUNK_DISCARDED;
}

hpar_status hp_record_close(hp_record *r, const hp_request *task, const char *fragment) {
  const hp_input *input = &task->document->input;
  if (!r->chunk_count) {
    uint64_t end = hp_record_now(), begin = r->begin;
    for (size_t i = 0; i < r->event_count; i++)
      if (r->events[i].kind == HPAR_EVENT_DECODE) begin = r->events[i].end_ns;
    hpar_chunk *c = hp_record_chunk(r, 0, task->length);
    c->outcome = HPAR_CHUNK_EXACT;
    c->right_start = true;
    c->ns.merge_begin = begin;
    c->ns.merge_end = end;
    hp_record_event(r, HPAR_EVENT_EXACT, 0, 0, begin, end, 0, task->length);
  }
  if (r->lost) return HPAR_ERROR_MEMORY;
  hpar_status status = survey(r, task, fragment);
  if (status != HPAR_OK) return status;
  size_t failure = 0, again = 0;
  for (size_t i = 0; i < r->chunk_count; i++) {
    hpar_chunk *c = &r->chunks[i];
    c->begin = i ? hp_input_offset(input, c->text_begin) : 0; /* a byte order mark is of the first */
    c->end = hp_input_offset(input, c->text_end);
    if (c->predicted.first != UINT64_MAX) c->predicted.first = hp_input_offset(input, c->predicted.first);
    if (c->actual.first != UINT64_MAX) c->actual.first = hp_input_offset(input, c->actual.first);
    c->outcome = outcome_of(c);
    c->failures = c->failure_count ? r->failures + failure : NULL;
    failure += c->failure_count;
    c->again = c->again_count ? r->again + again : NULL;
    again += c->again_count;
    c->ns.parse_begin = since(r, c->ns.parse_begin);
    c->ns.parse_end = since(r, c->ns.parse_end);
    c->ns.merge_begin = since(r, c->ns.merge_begin);
    c->ns.merge_end = since(r, c->ns.merge_end);
  }
  for (size_t i = 0; i < r->failure_count; i++) {
    r->failures[i].begin = hp_input_offset(input, r->failures[i].begin);
    r->failures[i].end = hp_input_offset(input, r->failures[i].end);
  }
  for (size_t i = 0; i < r->again_count; i++) {
    r->again[i].begin = hp_input_offset(input, r->again[i].begin);
    r->again[i].end = hp_input_offset(input, r->again[i].end);
  }
  for (size_t i = 0; i < r->event_count; i++) {
    hpar_event *e = &r->events[i];
    e->begin = hp_input_offset(input, e->begin);
    e->end = hp_input_offset(input, e->end);
    e->begin_ns = since(r, e->begin_ns);
    e->end_ns = since(r, e->end_ns);
  }
  for (size_t i = 0; i < r->met_count; i++) {
    r->mets[i].at = hp_input_offset(input, r->mets[i].text_at);
    r->mets[i].ns = since(r, r->mets[i].ns);
  }
  return HPAR_OK;
}
