#ifndef HPAR_HPAR_H
#define HPAR_HPAR_H

/* HPar: a sequential and parallel HTML parser. This header includes all others but hpar/study.h. */

#include <hpar/document.h>
#include <hpar/edit.h>
#include <hpar/encoding.h>
#include <hpar/links.h>
#include <hpar/options.h>
#include <hpar/parse.h>
#include <hpar/resources.h>
#include <hpar/rewriter.h>
#include <hpar/script.h>
#include <hpar/select.h>
#include <hpar/serialize.h>
#include <hpar/stats.h>
#include <hpar/status.h>
#include <hpar/text.h>
#include <hpar/version.h>

#endif
