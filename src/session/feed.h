#ifndef HP_SESSION_FEED_H
#define HP_SESSION_FEED_H

/* A parse whose input comes piece by piece. */

#include "html/tree/engine.h"
#include "text/stream.h"

#include <hpar/parse.h>

typedef enum hp_feed_way {
  HP_FEED_UNDECIDED, /* too little has come to say which parser it is for */
  HP_FEED_SEQUENTIAL,
  HP_FEED_PARALLEL,
  HP_FEED_AT_FINISH /* only collected: the inline executor and the pipelined parser want all of it */
} hp_feed_way;

typedef struct hp_feed {
  bool active;             /* between begin and finish */
  hpar_status failed;      /* what later calls answer without a document */
  hpar_status limit;       /* that was reached; then no more input is taken */
  uint64_t taken;          /* bytes fed */
  hpar_document *document; /* NULL: it has been taken away, or a call has failed */
  hpar_options options;
  hp_feed_way way;
  bool open;       /* the engine is */
  bool agreed;     /* a meta element named UTF-8, which was taken for granted */
  hp_request task; /* without a length */
  hp_stream stream;
  hpar_stats stats;
  uint64_t begin, decode_ns;
} hp_feed;

/* Ends what is being fed, if anything is. The document is left empty. */
void hp_feed_abandon(hpar_parser *parser);

#endif
