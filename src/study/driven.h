#ifndef HP_STUDY_DRIVEN_H
#define HP_STUDY_DRIVEN_H

/* The parse of a driver of hpar_study. A driver parses the text of a request on the session's
 * engine, step by step. Each step catches the failures that unwind through the engine, so that no
 * failure leaves the function of a driver. */

#include "session/session.h"
#include "study/show_token.h"

#include <hpar/study.h>

/* The choice of a configuration: hp_config.other_data. */
extern const hp_other_driver hp_study_driver;

/* What the parse of a driver is to the library. A driver of the library may cast. */
typedef struct hp_driven {
  hpar_driven_parse shown; /* first */
  hp_session *session;
  const hp_config *config;
  const hp_request *request;
  unsigned threads;
  bool has_ended;
  bool failed; /* the step that ended the parse has unwound */
  hpar_status status;
  size_t near;                    /* where a step goes to */
  bool has_token, token_is_shown; /* `token` is read and not built; `shown_token` has it */
  hp_token token;
  hpar_token shown_token;
  hp_shown_attributes attributes;
  bool works;     /* the pool has a batch of the driver, which is the function below */
  bool not_bound; /* the system has refused to bind a thread of the driver */
} hp_driven;

/* Calls the function, whose failures end the parse. Returns false if the parse has ended. */
bool hp_drive_step(hp_driven *driven, void (*step)(hp_driven *driven));

#endif
