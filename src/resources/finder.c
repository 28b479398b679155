#include "resources/finder.h"

#include "base/memory.h"
#include "dom/value.h"
#include "resources/finder_parts.h"

#include <stdlib.h>
#include <string.h>

static const hp_resource_origin no_origin = {0, 0, 0};

/*** the input of a fed parse ***/

void hp_published_input_open(hp_published_input *p) {
  pthread_mutex_init(&p->lock, NULL);
  p->copy = (hp_input_copy){0};
}

void hp_published_input_close(hp_published_input *p) { pthread_mutex_destroy(&p->lock); }

void hp_publish_input(hp_published_input *p, const hp_input *input) {
  pthread_mutex_lock(&p->lock);
  p->copy.input = *input;
  if (input->part_count) p->copy.part = *input->checkpoints;
  pthread_mutex_unlock(&p->lock);
}

/* Lets the worker convert the offsets of all text that it has. */
static void copy_published(hp_finder *f) {
  hp_published_input *from = f->report->published;
  pthread_mutex_lock(&from->lock);
  f->input = from->copy;
  pthread_mutex_unlock(&from->lock);
  f->input.input.checkpoints = &f->input.part;
  f->own_report.input = &f->input.input;
}

void hp_sightings_free(hp_sightings *sightings) {
  hp_free(sightings->items);
  *sightings = (hp_sightings){0};
}

/*** events ***/

/* The resources of an element. Their strings may last only for the callback, so that a hash stands
 * for them. */
typedef struct resource_sum {
  uint64_t hash;
  uint32_t count;
} resource_sum;

static bool sum_resource(const hpar_resource *resource, void *context) {
  resource_sum *sum = context;
  sum->hash = hp_hash_resource(sum->hash, resource);
  sum->count++;
  return true;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool keep_resource(const hpar_resource *resource, void *context) {
  hp_finder *f = context;
  hp_grow(&f->kept.hashes, &f->kept.capacity, f->kept.count + 1, f->builder->unwind);
  f->kept.hashes[f->kept.count++] = hp_hash_resource(0, resource);
  return true;
}

static bool is_kept(const hp_kept_resources *kept, const hpar_resource *resource) {
  uint64_t hash = hp_hash_resource(0, resource);
  return bsearch(&hash, kept->hashes, kept->count, sizeof hash, by_number);
}

typedef struct event_source {
  const hp_finder *finder;
  hpar_resource_event event;
  uint32_t skipped, most, reported; /* the first ones, which are not reported; the number of all */
  const hp_kept_resources *kept;    /* these are not reported; NULL: none */
  uint32_t start;                   /* of the tag */
  bool has_passed;                  /* FOUND: the exact builder has passed the tag meanwhile */
} event_source;

static bool report_event(const hpar_resource *resource, void *context) {
  event_source *source = context;
  if (source->skipped) {
    source->skipped--;
    return true;
  }
  if (source->reported == source->most) return true;
  if (source->event == HPAR_RESOURCE_FOUND) {
    source->has_passed = source->has_passed || !hp_report_found(source->finder, source->start, resource);
    source->reported += !source->has_passed;
    return true;
  }
  source->reported++;
  if (!source->kept || !is_kept(source->kept, resource))
    source->finder->report->callback(resource, source->event, source->finder->report->context);
  return true;
}

/* Reports the resources of a sighting, found by the thread. */
static void report_by(hp_finder *f, const hp_sighting *sighting, event_source *source, hp_input_cursor *cursor,
                      unsigned thread) {
  uint64_t offset = hp_source_offset(f->report->input, cursor, sighting->start);
  hp_tree_view view = hp_finder_view(f);
  hp_resource_origin origin = {offset, thread, sighting->is_written ? HPAR_RESOURCE_WRITTEN : 0};
  source->finder = f;
  source->start = sighting->start;
  hp_describe_resources(&view, sighting->element, origin, report_event, source);
}

static void report(hp_finder *f, const hp_sighting *sighting, hpar_resource_event event) {
  event_source source = {.event = event, .most = UINT32_MAX};
  report_by(f, sighting, &source, &f->cursor, f->thread);
}

/* Reports the resources of a sighting as FOUND by the thread. */
static void report_found(hp_finder *f, hp_sighting *sighting, hp_input_cursor *cursor, unsigned thread) {
  event_source source = {.event = HPAR_RESOURCE_FOUND, .most = UINT32_MAX};
  report_by(f, sighting, &source, cursor, thread);
  sighting->found = source.reported;
  sighting->is_cut = source.has_passed;
}

static bool count_resource(const hpar_resource *resource, void *context) {
  (void)resource;
  ++*(uint32_t *)context;
  return true;
}

/* Cancels the resources of a found sighting, except those that the document has (NULL: none). A
 * segment that was spliced in may have more source elements before the img of a picture than the
 * worker has found. */
static void cancel_except(hp_finder *f, const hp_sighting *sighting, const hp_kept_resources *kept) {
  hp_tree_view view = hp_finder_view(f);
  uint32_t count = 0;
  if (!sighting->found) return;
  hp_describe_resources(&view, sighting->element, no_origin, count_resource, &count);
  event_source source = {.event = HPAR_RESOURCE_CANCELLED,
                         .skipped = sighting->is_cut ? 0 : count - sighting->found,
                         .most = sighting->found,
                         .kept = kept};
  report_by(f, sighting, &source, &f->cursor, f->thread);
}

static void cancel(hp_finder *f, const hp_sighting *sighting) { cancel_except(f, sighting, NULL); }

/* Cancels the found sightings of the chunk before the number `end`. */
static void cancel_expected(hp_finder *f, uint32_t end) {
  for (; f->expected_at < end; f->expected_at++) cancel(f, &f->expected->items[f->expected_at]);
}

/* Returns whether the elements of one tag have the same resources. The builders may have put them
 * into different namespaces and pictures. */
static bool have_same_resources(const hp_finder *f, const hp_sighting *found, hp_ref confirmed) {
  hp_tree_view view = hp_finder_view(f);
  resource_sum a = {0, 0}, b = {0, 0};
  if (found->element == confirmed) return true;
  hp_describe_resources(&view, found->element, no_origin, sum_resource, &a);
  hp_describe_resources(&view, confirmed, no_origin, sum_resource, &b);
  return a.count == found->found && a.count == b.count && a.hash == b.hash;
}

/* Passes the found sighting of the chunk that the confirmed one repeats. Cancels those before it,
 * and one with other resources. The found sightings are in ascending order. */
static void match_expected(hp_finder *f, const hp_sighting *confirmed) {
  uint32_t start = confirmed->start;
  const hp_sighting *items = f->expected->items;
  uint32_t at = f->expected_at, count = f->expected->count;
  while (at < count && (!items[at].found || items[at].start < start)) at++;
  cancel_expected(f, at);
  if (at == count || items[at].start != start) return;
  if (have_same_resources(f, &items[at], confirmed->element))
    f->expected_at++;
  else
    cancel_expected(f, at + 1);
}

static bool hash_resource(const hpar_resource *resource, void *context) {
  uint64_t *hash = context;
  *hash = hp_hash_resource(*hash, resource);
  return true;
}

/* Returns the hash of the resources that the element of the sighting has now. */
static uint64_t hash_resources(const hp_finder *f, const hp_sighting *s) {
  hp_tree_view view = hp_finder_view(f);
  uint64_t hash = 0;
  hp_describe_resources(&view, s->element, no_origin, hash_resource, &hash);
  return hash;
}

static void settle_exactly(hp_finder *f, hp_sighting *s) {
  if (s->is_inert) return;
  if (f->expected && !s->is_written) match_expected(f, s);
  if (f->report->runs_scripts) s->hash = hash_resources(f, s);
  hp_pass_tag(f, s->start);
  report(f, s, HPAR_RESOURCE_CONFIRMED);
}

/* Another start hypothesis may have found the same tag. */
static void settle_speculatively(hp_finder *f, hp_sighting *s) {
  if (s->is_inert || s->start < f->found_to) return;
  f->found_to = s->start + 1;
  if (f->report->in_order)
    s->is_held = true;
  else
    report_found(f, s, &f->cursor, f->thread);
}

/* Reports a sighting for which all is known. */
static void settle(hp_finder *f, hp_sighting *s) {
  if (f->is_exact)
    settle_exactly(f, s);
  else
    settle_speculatively(f, s);
}

/* Reports all sightings before the number `end`. */
static __attribute__((noinline)) void settle_until(hp_finder *f, uint32_t end) {
  while (f->reported < end) settle(f, &f->sightings->items[f->reported++]);
}

/*** sightings ***/

/* Returns true if an open template element makes resources inert. Sets `*unsure` to the template
 * that may do so. */
static bool is_inert(const hp_finder *f, hp_ref *unsure) {
  const hp_builder *b = f->builder;
  hp_tree_view view = hp_finder_view(f);
  unsigned depth = 0;
  for (uint32_t i = b->stack.last[HP_ATOM_TEMPLATE]; i; i = b->stack.entries[i].previous_same) {
    hp_ref template = b->stack.entries[i].node;
    hp_shadow_root is_root = hp_is_shadow_root(&view, template);
    if (++depth > HP_MAX_SHADOW_DEPTH || is_root == HP_SHADOW_NO) return true;
    if (is_root == HP_SHADOW_UNSURE) *unsure = template;
  }
  return false;
}

bool hp_finder_is_inert(const hp_finder *f) {
  hp_ref unsure = 0;
  return is_inert(f, &unsure) || unsure;
}

/* By name: the attribute that each HTML element with resources has; 0: none, or a function of its
 * own tests it. */
static const hp_atom required_attributes[HP_KNOWN_ATOMS] = {
    [HP_ATOM_INPUT] = HP_ATOM_TYPE,       [HP_ATOM_BASE] = HP_ATOM_HREF,        [HP_ATOM_IFRAME] = HP_ATOM_SRC,
    [HP_ATOM_FRAME] = HP_ATOM_SRC,        [HP_ATOM_OBJECT] = HP_ATOM_DATA,      [HP_ATOM_EMBED] = HP_ATOM_SRC,
    [HP_ATOM_AUDIO] = HP_ATOM_SRC,        [HP_ATOM_TRACK] = HP_ATOM_SRC,        [HP_ATOM_SOURCE] = HP_ATOM_SRC,
    [HP_ATOM_USE] = HP_ATOM_HREF,         [HP_ATOM_BODY] = HP_ATOM_BACKGROUND,  [HP_ATOM_TABLE] = HP_ATOM_BACKGROUND,
    [HP_ATOM_THEAD] = HP_ATOM_BACKGROUND, [HP_ATOM_TBODY] = HP_ATOM_BACKGROUND, [HP_ATOM_TFOOT] = HP_ATOM_BACKGROUND,
    [HP_ATOM_TR] = HP_ATOM_BACKGROUND,    [HP_ATOM_TD] = HP_ATOM_BACKGROUND,    [HP_ATOM_TH] = HP_ATOM_BACKGROUND,
};

/* Returns true if the value of the attribute may have `length` bytes. */
static inline bool may_have_length(const hp_attributes *block, uint32_t index, size_t length) {
  return block->items[index].length == length || hp_is_deferred(block, index);
}

/* Returns true if the value of the attribute may be "viewport" or "referrer". */
static bool may_be_meta_name(const hp_attributes *block, uint32_t index) {
  if (hp_is_deferred(block, index)) return true;
  char first = block->items[index].length == strlen("viewport") ? (char)(*block->items[index].value | 0x20) : 0;
  return first == 'v' || first == 'r';
}

/* Returns false for most meta elements without resources. */
static bool may_be_watched_meta(const hp_attributes *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    hp_atom name = block->items[i].name;
    if (name == HP_ATOM_NAME && may_be_meta_name(block, i)) return true;
    if (name == HP_ATOM_HTTP_EQUIV &&
        (may_have_length(block, i, strlen("content-security-policy")) || may_have_length(block, i, strlen("refresh"))))
      return true;
  }
  return false;
}

/* Returns false for most use elements: they refer to elements of the document. */
static bool may_be_watched_use(const hp_attributes *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const hp_attribute *item = &block->items[i];
    if (item->name != HP_ATOM_HREF && item->name != HP_ATOM_ADJUSTED_XLINK_HREF) continue;
    if (hp_is_deferred(block, i) || (item->length && *item->value != '#')) return true;
  }
  return false;
}

/* Returns false for most elements without resources, after a quick look. */
static inline bool may_have_resources(const char *base, const hp_node *node) {
  if (!node->attributes) return node->name == HP_ATOM_STYLE;
  const hp_attributes *block = hp_at(base, node->attributes);
  if (node->name == HP_ATOM_USE && node->ns == HPAR_NAMESPACE_SVG) return may_be_watched_use(block);
  if (node->name == HP_ATOM_IMG || node->ns != HPAR_NAMESPACE_HTML) return true;
  if (node->name == HP_ATOM_META) return may_be_watched_meta(block);
  if (node->name == HP_ATOM_LINK) return hp_may_be_watched_link(block);
  hp_atom required = required_attributes[node->name];
  if (!required) return true;
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == required) return required != HP_ATOM_TYPE || may_have_length(block, i, strlen("image"));
  return false;
}

void hp_see_resources(hp_finder *f, const hp_node *node, uint32_t start) {
  const hp_builder *b = f->builder;
  hp_sighting *added = hp_add_sighting(f, start, hp_ref_of(b->base, node));
  added->is_written = f->watch.text_is_written;
  added->is_inert = b->stack.last[HP_ATOM_TEMPLATE] && is_inert(f, &added->unsure);
  if (hp_is_incomplete(b->base, node)) return;
  settle(f, &f->sightings->items[f->reported++]);
}

/* Notes what the source elements in the media element need to know of it. They would take quadratic
 * time to search many attributes. */
static void note_media(const hp_finder *f, const hp_node *node) {
  hp_tree_view view = hp_finder_view(f);
  hp_resource_values values;
  hp_ref media = hp_ref_of(f->builder->base, node);
  hp_read_resource_values(&view, media, &values);
  hp_node_at(f->builder->base, media)->flags |= (uint16_t)(hp_media_of(&values) << HP_FLAG_MEDIA_SHIFT);
}

/* Sees a tag that is no script in HTML. */
static __attribute__((noinline)) void see_other(hp_finder *f, const hp_node *node, uint32_t start) {
  if ((node->name == HP_ATOM_VIDEO || node->name == HP_ATOM_AUDIO) && node->ns == HPAR_NAMESPACE_HTML)
    note_media(f, node);
  if (may_have_resources(f->builder->base, node)) hp_see_resources(f, node, start);
}

/* Sees a tag after the last one has been reported. Its calls are the last step: most pages have
 * many scripts without `src`, which take this path. */
static inline void see_next(hp_finder *f, const hp_node *node, uint32_t start) {
  if (node->name != HP_ATOM_SCRIPT || node->ns != HPAR_NAMESPACE_HTML) {
    see_other(f, node, start);
    return;
  }
  if (!node->attributes) return;
  const hp_attributes *block = hp_at(f->builder->base, node->attributes);
  const hp_attribute *at = block->items, *end = at + block->count;
  while (at < end && at->name != HP_ATOM_SRC) at++;
  if (at < end)
    hp_see_script(f, node, start);
  else if (hp_may_be_inline_script(block))
    hp_see_resources(f, node, start);
}

static __attribute__((noinline)) void see_after_report(hp_finder *f, const hp_node *node, uint32_t start) {
  settle_until(f, f->sightings->count);
  see_next(f, node, start);
}

static void see(hp_tag_watch *watch, hp_ref element, uint32_t start) {
  hp_finder *f = (hp_finder *)watch;
  const hp_node *node = hp_node_at(f->builder->base, element);
  if (__builtin_expect(f->reported < f->sightings->count, 0))
    see_after_report(f, node, start);
  else
    see_next(f, node, start);
}

/* Reports what a script can change: the resources before the script, and that those which are not
 * confirmed are not in the document. */
static void before_script(hp_tag_watch *watch) {
  hp_finder *f = (hp_finder *)watch;
  const hp_tokenizer *t = f->builder->tokenizer;
  uint32_t passed = hp_tokenizer_offset(t), at = f->expected_at;
  hp_finder_flush(f);
  if (!f->expected) return;
  const hp_sighting *items = f->expected->items;
  while (at < f->expected->count && (!items[at].found || items[at].start < passed)) at++;
  cancel_expected(f, at);
}

static const uint8_t watched_names[HP_KNOWN_ATOMS] = {
    [HP_ATOM_SCRIPT] = 1, [HP_ATOM_LINK] = 1,   [HP_ATOM_IMG] = 1,           [HP_ATOM_IMAGE] = 1, [HP_ATOM_INPUT] = 1,
    [HP_ATOM_VIDEO] = 1,  [HP_ATOM_STYLE] = 1,  [HP_ATOM_BASE] = 1,          [HP_ATOM_META] = 1,  [HP_ATOM_IFRAME] = 1,
    [HP_ATOM_FRAME] = 1,  [HP_ATOM_OBJECT] = 1, [HP_ATOM_EMBED] = 1,         [HP_ATOM_AUDIO] = 1, [HP_ATOM_TRACK] = 1,
    [HP_ATOM_SOURCE] = 1, [HP_ATOM_USE] = 1,    [HP_ATOM_FEIMAGE_MIXED] = 1, [HP_ATOM_BODY] = 1,  [HP_ATOM_TABLE] = 1,
    [HP_ATOM_THEAD] = 1,  [HP_ATOM_TBODY] = 1,  [HP_ATOM_TFOOT] = 1,         [HP_ATOM_TR] = 1,    [HP_ATOM_TD] = 1,
    [HP_ATOM_TH] = 1,
};

/* Returns true if the finder compares no sighting with another one, and holds none. */
static bool reports_directly(const hp_finder *f) {
  if (f->report->runs_scripts) return false;
  return f->is_exact ? !f->expected : !f->report->in_order;
}

void hp_finder_open(hp_finder *f, const hp_resource_report *to, hp_builder *builder, unsigned thread, bool is_exact) {
  hp_sightings own = f->own;
  const hp_kept_resources kept = f->kept;
  own.count = 0;
  memset(f, 0, offsetof(hp_finder, values));
  hp_clear_values(&f->values);
  f->watch = (hp_tag_watch){.see = see,
                            .see_image = is_exact ? hp_see_exact_image : hp_see_found_image,
                            .before_script = before_script,
                            .names = watched_names};
  f->own_report = *to;
  f->report = &f->own_report;
  f->builder = builder;
  f->thread = thread;
  f->is_exact = is_exact;
  f->own = own;
  f->kept = kept;
  f->sightings = &f->own;
  f->is_direct = reports_directly(f);
}

void hp_finder_gate_open(hp_finder_gate *gate) {
  pthread_mutex_init(&gate->lock, NULL);
  gate->passed = 0;
}

void hp_finder_gate_close(hp_finder_gate *gate) { pthread_mutex_destroy(&gate->lock); }

void hp_finder_gate_pass(hp_finder_gate *gate, uint32_t passed) {
  pthread_mutex_lock(&gate->lock);
  gate->passed = passed;
  pthread_mutex_unlock(&gate->lock);
}

void hp_finder_set_gate(hp_finder *f, hp_finder_gate *gate) { f->gate = f->report->in_order ? NULL : gate; }

void hp_finder_close(hp_finder *f) {
  hp_sightings_free(&f->own);
  hp_free(f->kept.hashes);
  f->kept = (hp_kept_resources){0};
}

void hp_finder_begin_log(hp_finder *f, hp_sightings *sightings) {
  sightings->count = 0;
  f->sightings = sightings;
  f->reported = f->found_to = 0;
  if (f->report->published) copy_published(f);
}

void hp_finder_cut_log(hp_finder *f, uint32_t count) {
  for (uint32_t i = count; i < f->sightings->count; i++) cancel(f, &f->sightings->items[i]);
  f->sightings->count = count;
  if (f->reported > count) f->reported = count;
  f->found_to = 0;
  for (uint32_t i = 0; i < count; i++)
    if (f->sightings->items[i].found || f->sightings->items[i].is_held) f->found_to = f->sightings->items[i].start + 1;
}

void hp_finder_flush(hp_finder *f) {
  uint32_t count = f->sightings->count;
  if (f->reported == count) return;
  const hp_sighting *last = &f->sightings->items[count - 1];
  settle_until(f, f->builder->stack.top->node == last->element ? count - 1 : count);
}

void hp_finder_end_segment(hp_finder *f) {
  uint32_t count = f->sightings->count;
  if (f->reported < count && f->builder->stack.top->node == f->sightings->items[count - 1].element) f->reported = count;
}

/*** the exact builder ***/

void hp_finder_share(hp_finder *f, hp_finder_pass pass, void *context) {
  pass(context, f->reported ? f->own.items[f->reported - 1].start + 1 : 0);
  f->pass = f->report->in_order ? NULL : pass;
  f->pass_context = context;
}

/* Returns the confirmed sighting of the found tag, or NULL. The finder's own sightings are in
 * ascending order. */
static const hp_sighting *find_confirmed(const hp_finder *f, const hp_sighting *found) {
  uint32_t low = 0, high = f->reported;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->own.items[middle].start < found->start)
      low = middle + 1;
    else
      high = middle;
  }
  while (low < f->reported && f->own.items[low].start == found->start && f->own.items[low].is_written) low++;
  if (low == f->reported) return NULL;
  const hp_sighting *own = &f->own.items[low];
  return own->start != found->start || own->is_inert ? NULL : own;
}

/* Closes the found sighting of a tag that has been confirmed before its chunk began. What both have
 * stays confirmed. */
static void close_confirmed(hp_finder *f, const hp_sighting *found, const hp_sighting *own) {
  hp_tree_view view = hp_finder_view(f);
  if (f->report->runs_scripts ? own->hash == hash_resources(f, found) : have_same_resources(f, found, own->element))
    return;
  f->kept.count = 0;
  hp_describe_resources(&view, own->element, no_origin, keep_resource, f);
  if (f->kept.count) qsort(f->kept.hashes, f->kept.count, sizeof *f->kept.hashes, by_number);
  cancel_except(f, found, f->kept.count ? &f->kept : NULL);
}

/* Prefetches what the finder reads to confirm the first sightings. Another core has written it. */
static void prefetch_sightings(const hp_finder *f) {
  enum { MAX_PREFETCHED = 32 };
  const char *base = f->builder->base;
  for (uint32_t i = 0; i < f->expected->count && i < MAX_PREFETCHED; i++) {
    const hp_sighting *s = &f->expected->items[i];
    if (s->url) continue;
    __builtin_prefetch(hp_at(base, s->element));
    if (!s->attributes) continue;
    __builtin_prefetch(hp_at(base, s->attributes));
    __builtin_prefetch((const char *)hp_at(base, s->attributes) + 64);
  }
}

/* The exact builder may have passed the cut and confirmed the first tags. */
void hp_finder_begin_chunk(hp_finder *f, const hp_sightings *found) {
  uint32_t passed = f->reported ? f->own.items[f->reported - 1].start + 1 : 0;
  f->expected = found;
  f->expected_at = 0;
  prefetch_sightings(f);
  f->is_direct = false;
  for (uint32_t at = 0; at < found->count; at++) {
    const hp_sighting *s = &found->items[at];
    if (!s->found) continue;
    if (s->start >= passed) break;
    cancel_expected(f, at);
    const hp_sighting *own = find_confirmed(f, s);
    if (!own) continue;
    close_confirmed(f, s, own);
    f->expected_at = at + 1;
  }
}

bool hp_finder_is_settled(hp_finder *f) {
  hp_finder_flush(f);
  return f->reported == f->sightings->count;
}

void hp_finder_deliver(hp_finder *f, hp_sightings *found, uint32_t passed, unsigned thread) {
  for (uint32_t i = 0; i < found->count; i++) {
    hp_sighting *s = &found->items[i];
    if (!s->is_held || s->start < passed) continue;
    s->is_held = false;
    report_found(f, s, &f->found_cursor, thread);
  }
}

/* Confirms a sighting by its element. */
static void confirm(hp_finder *f, const hp_sighting *found, bool is_inert) {
  hp_tree_view view = hp_finder_view(f);
  hp_sighting *added = hp_add_sighting(f, found->start, found->element);
  *added = *found;
  if (found->unsure && hp_is_shadow_root(&view, found->unsure) != HP_SHADOW_YES) added->is_inert = true;
  if (is_inert) added->is_inert = true;
}

void hp_finder_confirm(hp_finder *f, uint32_t from, uint32_t to, bool outer_is_inert) {
  for (uint32_t i = from; i < to;) {
    if (f->reported < f->sightings->count) settle_until(f, f->sightings->count);
    if (f->expected_at == i && !outer_is_inert) {
      i = hp_confirm_urls(f, i, to);
      if (i == to) return;
      if (hp_confirm_directly(f, &f->expected->items[i])) {
        i++;
        continue;
      }
    }
    confirm(f, &f->expected->items[i++], outer_is_inert);
  }
}

void hp_finder_finish(hp_finder *f) { settle_until(f, f->sightings->count); }

void hp_finder_end_chunk(hp_finder *f) {
  if (!f->expected) return;
  hp_finder_flush(f);
  cancel_expected(f, f->expected->count);
  f->expected = NULL;
  f->is_direct = reports_directly(f);
}

void hp_finder_restart(hp_finder *f) {
  for (uint32_t i = 0; i < f->reported; i++)
    if (!f->own.items[i].is_inert) report(f, &f->own.items[i], HPAR_RESOURCE_CANCELLED);
  f->own.count = f->reported = 0;
  f->cursor = f->found_cursor = (hp_input_cursor){0, 0, 0, 0};
}
