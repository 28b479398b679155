#ifndef HP_SESSION_PARSER_H
#define HP_SESSION_PARSER_H

/* The parser: parses of a whole input, of an input that arrives in pieces, and of many inputs. */

#include "base/call.h"
#include "base/target.h"
#include "session/session.h"
#include "text/stream.h"

/*** whole input ***/

/* Parses `length` bytes into `document`, and fills session->result. `begin` is the time of the
 * call. The bytes must stay valid as long as the document unless the configuration requests a
 * copy. */
hpar_status hp_parse_input(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document);

/*** arriving input ***/

/* Parses of an input that arrives in pieces. The session decodes each piece into the document's
 * own buffer, so that nodes can point there. It parses the text up to the last complete token. A
 * new encoding restarts the parse. */

typedef enum hp_feed_way {
  HP_FEED_UNDECIDED, /* too few bytes have come to choose the driver */
  HP_FEED_SEQUENTIAL,
  HP_FEED_PARALLEL,
  HP_FEED_AT_FINISH /* feeds only collect bytes: the driver or a limit needs the whole input */
} hp_feed_way;

/* Zeros are no feed. */
typedef struct hp_feed {
  hp_session *session;
  bool active;             /* between begin and finish */
  hpar_status failed;      /* the status of later calls, which return no document */
  hpar_status limit;       /* the limit that was reached; the feed then takes no more bytes */
  bool ended;              /* the parse has reached it; else only the input ends there */
  uint64_t taken;          /* bytes */
  hpar_document *document; /* NULL: the caller took it away, or a call failed */
  hp_config config;
  hp_feed_way way;
  bool open;          /* the engine is open */
  bool agreed;        /* a meta element declared UTF-8, which the feed had assumed */
  hp_request request; /* without a length */
  hp_stream stream;
  hp_published_input published; /* with a callback for resources */
  uint64_t begin, decode_ns;
} hp_feed;

/* Begins a feed into the document. The configuration is copied; what it borrows must stay until
 * finish. */
hpar_status hp_feed_begin(hp_feed *feed, hp_session *session, const hp_config *config, hpar_document *document);
/* Takes `length` bytes, at least one. */
hpar_status hp_feed_add(hp_feed *feed, const char *bytes, size_t length);
/* Ends the feed and fills session->result. */
hpar_status hp_feed_finish(hp_feed *feed);
/* Ends a feed without a result, if there is one. The document becomes empty. */
void hp_feed_abandon(hp_feed *feed);

/*** batches ***/

/* Parses of many inputs at once, each by the sequential parser on one thread. Each thread takes the
 * longest input that is left, so that no thread is alone with a long input at the end. All threads
 * first parse those for which one thread would take longer than all for the rest. */

/* What a thread keeps between batches. */
typedef struct hp_batch_thread {
  hpar_parser *parser;     /* NULL for the calling thread, which has the caller's parser */
  hpar_document *document; /* for inputs without a document; NULL: not created yet */
} hp_batch_thread;

/* Zeros are a batch without memory. */
typedef struct hp_batch {
  hp_batch_thread *threads;
  unsigned count;
} hp_batch;

typedef struct hp_batch_request { // value
  hpar_parser *parser;            /* the caller's */
  hp_config *config;
  hpar_input *inputs;
  size_t count;
  hpar_batch_callback callback; /* NULL: none */
  void *context;
} hp_batch_request;

/* Parses all inputs and fills `stats`. Returns HPAR_ERROR_MEMORY if not one thread has memory; then
 * nothing is parsed. */
hpar_status hp_batch_parse(hp_batch *batch, const hp_batch_request *request, uint64_t begin, hpar_many_stats *stats);

void hp_batch_close(hp_batch *batch);

/*** the parser ***/

struct hpar_parser { // value
  hp_in_use use;
  hp_feed feed;
  hp_batch batch;
  hp_session session;
};

/*** calls on a parser ***/

/* The frame of a call on a parser (api/parser.c), for calls of other modules: see hpar_parse and
 * hpar_parser_finish for what they return. */

/* Where the statistics of a call go. `stats` may be NULL; the functions accept that. */
typedef struct hp_stats_target {
  void *stats;
  hpar_status (*check)(void *stats, hpar_error *error); /* before the parse */
  void (*write)(const hp_session *session, void *stats);
} hp_stats_target;

/* Begins a call: ends a feed, and forgets the last error and result. Returns the error that the
 * call fills. Returns NULL if the parser is missing, or if a callback of another call makes it. */
HP_SHARED hpar_error *hp_begin_parser_call(hpar_parser *parser);
/* Ends a call. A callback may have destroyed the parser: then it is freed. Returns `status`. */
HP_SHARED hpar_status hp_end_parser_call(hpar_parser *parser, hpar_status status);
/* Explains that the bytes are missing. */
HP_SHARED hpar_status hp_explain_no_bytes(hpar_error *error, size_t length);

HP_SHARED hpar_status hp_parse_call(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                    hpar_document *document, hp_stats_target target);
HP_SHARED hpar_status hp_finish_call(hpar_parser *parser, hp_stats_target target);
/* hpar_parse without statistics, for a caller that uses the document already. */
hpar_status hp_parse_call_inside(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                 hpar_document *document);

#endif
