#ifndef HP_STUDY_DRIVERS_H
#define HP_STUDY_DRIVERS_H

/* The study's own drivers. They have the structure that a plug-in would have. */

#include <hpar/study.h>

/* Returns the driver of that name; NULL: there is none. */
const hpar_driver *hp_driver_named(const char *name);

#endif
