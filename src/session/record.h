#ifndef HP_SESSION_RECORD_H
#define HP_SESSION_RECORD_H

/* Completion of the record of a parse (trace/record.h) after the parse. */

#include "trace/record.h"
#include "tree/engine.h"

/* Adds the true state at each chunk's cut and the outcome of each chunk. Converts offsets in the
 * text to offsets in the input, and times to times since the begin. The request has the complete
 * text; `fragment` is as in hpar_options. Returns HPAR_OK, or HPAR_ERROR_MEMORY if the record is
 * incomplete. */
hpar_status hp_record_complete(hp_record *record, const hp_request *request, const char *fragment);

#endif
