#ifndef HP_SESSION_PARSER_H
#define HP_SESSION_PARSER_H

#include "base/call.h"
#include "session/batch.h"
#include "session/incremental.h"
#include "session/session.h"

struct hpar_parser { // value
  hp_in_use use;
  hp_feed feed;
  hp_batch batch;
  hp_session session;
};

#endif
