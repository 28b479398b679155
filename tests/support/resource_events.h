#ifndef TESTS_SUPPORT_RESOURCE_EVENTS_H
#define TESTS_SUPPORT_RESOURCE_EVENTS_H

/* The events of a parse or scan with a callback for resources. */

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct resource_keys {
  uint64_t *items;
  size_t count, capacity;
} resource_keys;

typedef struct resource_events {
  pthread_mutex_t lock;
  buffer confirmed;     /* a line for each resource that is confirmed and not cancelled */
  resource_keys closed; /* the confirmed ones */
  resource_keys open;   /* those that are found, and neither confirmed nor cancelled */
  unsigned found, confirmations, cancelled;
  unsigned written; /* confirmed ones that a script wrote */
  unsigned errors;  /* cancelled ones that the parse did not report as found, events out of order */
  bool in_order;    /* the parse has the option `in_order` */
  pthread_t caller;
  bool any_thread;                     /* a caller's executor: from another thread, too */
  uint64_t last_found, last_confirmed; /* offsets + 1 */
} resource_events;

/* Initialises the events. resource_events_free releases what they hold. */
void resource_events_init(resource_events *events);
void resource_events_free(resource_events *events);

/* Forgets the events of the last parse. The caller is the thread of the next one. */
void resource_events_reset(resource_events *events);

/* Is a callback for resources. The context is a resource_events. */
void resource_events_receive(const hpar_resource *resource, hpar_resource_event event, void *context);

/* Resets the events and feeds the parser random pieces of up to `most` bytes. Returns the status of
 * the parse. */
hpar_status resource_events_feed(resource_events *events, hpar_parser *parser, const hpar_options *options,
                                 hpar_document *document, const buffer *html, size_t most, random_state *random);

/* Returns NULL if the confirmed resources are the expected ones and each found one is closed.
 * Otherwise returns the problem. */
const char *resource_events_problem(const resource_events *events, const buffer *expected);

/* Compares the events with the sequential list. */
static inline void resource_events_check(const resource_events *e, const buffer *expected, const buffer *html,
                                         const char *what, size_t cut) {
  const char *problem = resource_events_problem(e, expected);
  if (CHECK(!problem)) return;
  printf("  %s, cut %zu: %s: %.*s\n", what, cut, problem, (int)html->length, html->bytes);
  printf("  got\n%.*s  expected\n%.*s", (int)e->confirmed.length, e->confirmed.bytes, (int)expected->length,
         expected->bytes);
}

#endif
