#ifndef HP_SESSION_PARSER_H
#define HP_SESSION_PARSER_H

/* The parser: parses of a whole input, and of an input that arrives in pieces. */

#include "base/call.h"
#include "session/batch.h"
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

/*** the parser ***/

struct hpar_parser { // value
  hp_in_use use;
  hp_feed feed;
  hp_batch batch;
  hp_session session;
};

#endif
