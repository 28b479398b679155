#ifndef HP_REWRITE_PAGE_SCAN_H
#define HP_REWRITE_PAGE_SCAN_H

/* Scans of pages for resources, without a tree. The calling thread scans the whole text and reports
 * CONFIRMED. Other threads are scouts: each scans a later part of the text at the same time, from a
 * predicted state, and reports FOUND. */

#include "session/config.h"
#include "session/session.h"

/* Reports the resources of the bytes to config->resources. */
hpar_status hp_scan_page(hp_session *session, hp_config *config, const char *bytes, size_t length);

#endif
