#ifndef HP_SESSION_MANY_H
#define HP_SESSION_MANY_H

/* What a parser keeps for parsing many inputs side by side. Zeros are none yet. */

#include <hpar/parse.h>

typedef struct hp_helper {
  hpar_parser *parser;     /* NULL for the first: it is the parser itself */
  hpar_document *document; /* for inputs that have none; NULL: none had yet */
} hp_helper;

typedef struct hp_many {
  hp_helper *helpers;
  unsigned count;
} hp_many;

void hp_many_close(hp_many *many);

#endif
