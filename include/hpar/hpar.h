#ifndef HPAR_HPAR_H
#define HPAR_HPAR_H

/* HPar: a sequential and parallel HTML parser. This header includes all others but hpar/study.h. */

#include <hpar/encoding.h>
#include <hpar/links.h>
#include <hpar/node.h>
#include <hpar/options.h>
#include <hpar/parse.h>
#include <hpar/resources.h>
#include <hpar/rewriter.h>
#include <hpar/script.h>
#include <hpar/select.h>
#include <hpar/stats.h>

#endif
