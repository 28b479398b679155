#ifndef HPAR_VERSION_H
#define HPAR_VERSION_H

/* The version of these headers. hpar_version() returns the version of the library. */

#define HPAR_VERSION_MAJOR 0
#define HPAR_VERSION_MINOR 3
#define HPAR_VERSION_PATCH 0
#define HPAR_VERSION "0.3.0"

/* MAJOR * 10000 + MINOR * 100 + PATCH, for comparisons in #if. */
#define HPAR_VERSION_NUMBER (HPAR_VERSION_MAJOR * 10000 + HPAR_VERSION_MINOR * 100 + HPAR_VERSION_PATCH)

#endif
