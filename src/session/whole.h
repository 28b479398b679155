#ifndef HP_SESSION_WHOLE_H
#define HP_SESSION_WHOLE_H

/* Parses of a complete input. */

#include "session/session.h"

/* Parses `length` bytes into `document`, and fills session->result. `begin` is the time of the
 * call. The bytes must stay valid as long as the document unless the configuration requests a
 * copy. */
hpar_status hp_parse_whole(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document);

/* Parses like hp_parse_whole, with the options' binding, copy and trace. hpar_parse calls it
 * after its argument checks. */
hpar_status hp_parse_input(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document);

#endif
