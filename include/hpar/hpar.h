#ifndef HPAR_HPAR_H
#define HPAR_HPAR_H

/* HPar: an HTML parser, sequential and parallel. One header a noun; this one has them all. */

#include <hpar/document.h>
#include <hpar/encoding.h>
#include <hpar/inspect.h>
#include <hpar/parse.h>
#include <hpar/predictor.h>
#include <hpar/select.h>
#include <hpar/serialize.h>
#include <hpar/stats.h>
#include <hpar/status.h>
#include <hpar/tokenizer.h>

#endif
