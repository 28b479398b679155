#ifndef HP_PROGRAMS_HPAR_MANY_H
#define HP_PROGRAMS_HPAR_MANY_H

/* hpar parse --many: parses files at once, and prints their trees one after the other. */

#include "programs/hpar/options.h"

typedef enum hp_format { HP_FORMAT_TREE, HP_FORMAT_HTML, HP_FORMAT_NONE } hp_format;
typedef enum hp_report { HP_NO_REPORT, HP_REPORT, HP_REPORT_JSON } hp_report;

/* `operands` are files and folders. Returns the exit code. */
int hp_parse_many_files(char **operands, size_t count, const hpar_options *options, hp_format format, hp_report report);

#endif
