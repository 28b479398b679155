#include "study/record.h"

#include "base/memory.h"
#include "base/process.h"
#include "study/true_state.h"
#include "tree/builder.h"

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

static void add_event(hp_trace *trace, hp_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                      uint64_t end_ns, size_t begin, size_t end) {
  hp_record *r = (hp_record *)trace; /* its first member */
  pthread_mutex_lock(&r->lock);
  hpar_event *e = ONE_MORE(r, event);
  if (e)
    *e = (hpar_event){(hpar_event_kind)kind, thread, chunk, begin_ns, end_ns, begin, end};
  else
    r->lost = true;
  pthread_mutex_unlock(&r->lock);
}

void hp_record_open(hp_record *r, uint64_t now) {
  if (!r->has_lock) pthread_mutex_init(&r->lock, NULL);
  r->has_lock = true;
  r->chunk_count = r->failure_count = r->again_count = r->event_count = r->pipeline_event_count = 0;
  r->lost = false;
  r->convergence = (hpar_convergence_sums){0};
  r->trace.event = add_event;
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
  hp_record_event(r, HP_EVENT_ROLL_BACK, 0, index, begin_ns, hp_now(), begin, end);
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

void hp_record_pipeline_event(hp_record *r, const hpar_hazard_event *event) {
  pthread_mutex_lock(&r->lock);
  hpar_hazard_event *added = ONE_MORE(r, pipeline_event);
  if (added)
    *added = *event;
  else
    r->lost = true;
  pthread_mutex_unlock(&r->lock);
}

/*** after the parse ***/

static hpar_start_state describe_state(const hp_true_state *s, uint64_t chunk_end) {
  return (hpar_start_state){.state = hp_state_name(s->state),
                            .element = s->raw_name < HP_KNOWN_ATOMS ? hp_known_names[s->raw_name].bytes : "",
                            .mode = hp_mode_name(s->mode),
                            .ns = (hpar_namespace)s->ns,
                            .first = s->first < chunk_end ? s->first : UINT64_MAX};
}

/* Finds the true state at each cut by a sequential parse. */
static hpar_status add_true_states(hp_record *r, const hp_request *request, const char *fragment) {
  size_t n = r->chunk_count;
  hp_true_state *states = hp_allocate(n * sizeof *states);
  uint32_t *places = hp_allocate(n * sizeof *places);
  hpar_status status = states && places ? HPAR_OK : HPAR_ERROR_MEMORY;
  for (size_t i = 0; status == HPAR_OK && i < n; i++) places[i] = (uint32_t)r->chunks[i].text_begin;
  if (status == HPAR_OK) status = hp_true_states(request, fragment, places, (uint32_t)n, states);
  for (size_t i = 0; status == HPAR_OK && i < n; i++)
    r->chunks[i].actual = describe_state(&states[i], r->chunks[i].text_end);
  hp_free(states);
  hp_free(places);
  return status;
}

static uint64_t since_begin(const hp_record *r, uint64_t time) { return time > r->begin ? time - r->begin : 0; }

static hpar_chunk_outcome outcome_of(const hpar_chunk *c) {
  if (c->outcome != HPAR_CHUNK_CLEAN) return c->outcome;
  if (!c->failure_count && !c->reparsed_count && c->right_start)
    return c->segments ? HPAR_CHUNK_CLEAN : HPAR_CHUNK_PASSED;
  return c->taken ? HPAR_CHUNK_REPAIRED : HPAR_CHUNK_DISCARDED;
}

/* Records the whole text as one exact chunk. The sequential parser records no chunk. */
static void add_only_chunk(hp_record *r, size_t length) {
  uint64_t end = hp_now(), begin = r->begin;
  for (size_t i = 0; i < r->event_count; i++)
    if (r->events[i].kind == HPAR_EVENT_DECODE) begin = r->events[i].end_ns;
  hpar_chunk *c = hp_record_chunk(r, 0, length);
  c->outcome = HPAR_CHUNK_EXACT;
  c->right_start = true;
  c->ns.merge_begin = begin;
  c->ns.merge_end = end;
  hp_record_event(r, HP_EVENT_EXACT, 0, 0, begin, end, 0, length);
}

static void convert_start(hpar_start_state *start, const hp_input *input) {
  if (start->first != UINT64_MAX) start->first = hp_input_offset(input, start->first);
}

static void convert_chunks(hp_record *r, const hp_input *input) {
  size_t failure = 0, again = 0;
  for (size_t i = 0; i < r->chunk_count; i++) {
    hpar_chunk *c = &r->chunks[i];
    /* The first chunk includes the byte order mark. */
    c->begin = i ? hp_input_offset(input, c->text_begin) : 0;
    c->end = hp_input_offset(input, c->text_end);
    convert_start(&c->predicted, input);
    convert_start(&c->actual, input);
    c->outcome = outcome_of(c);
    c->failures = c->failure_count ? r->failures + failure : NULL;
    failure += c->failure_count;
    c->reparsed = c->reparsed_count ? r->again + again : NULL;
    again += c->reparsed_count;
    c->ns.parse_begin = since_begin(r, c->ns.parse_begin);
    c->ns.parse_end = since_begin(r, c->ns.parse_end);
    c->ns.merge_begin = since_begin(r, c->ns.merge_begin);
    c->ns.merge_end = since_begin(r, c->ns.merge_end);
  }
}

static void convert_range(uint64_t *begin, uint64_t *end, const hp_input *input) {
  *begin = hp_input_offset(input, *begin);
  *end = hp_input_offset(input, *end);
}

static void convert_events(hp_record *r, const hp_input *input) {
  for (size_t i = 0; i < r->failure_count; i++) convert_range(&r->failures[i].begin, &r->failures[i].end, input);
  for (size_t i = 0; i < r->again_count; i++) convert_range(&r->again[i].begin, &r->again[i].end, input);
  for (size_t i = 0; i < r->event_count; i++) {
    hpar_event *e = &r->events[i];
    convert_range(&e->begin, &e->end, input);
    e->begin_ns = since_begin(r, e->begin_ns);
    e->end_ns = since_begin(r, e->end_ns);
  }
  for (size_t i = 0; i < r->pipeline_event_count; i++) {
    r->pipeline_events[i].at = hp_input_offset(input, r->pipeline_events[i].text_at);
    r->pipeline_events[i].ns = since_begin(r, r->pipeline_events[i].ns);
  }
}

hpar_status hp_record_complete(hp_record *r, const hp_request *request, const char *fragment) {
  const hp_input *input = &request->document->input;
  if (!r->chunk_count) add_only_chunk(r, request->length);
  if (r->lost) return HPAR_ERROR_MEMORY;
  hpar_status status = add_true_states(r, request, fragment);
  if (status != HPAR_OK) return status;
  convert_chunks(r, input);
  convert_events(r, input);
  return HPAR_OK;
}
