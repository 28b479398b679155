#ifndef HP_TREE_IS_WATCHED_H
#define HP_TREE_IS_WATCHED_H

/* For loops of builders that always have a watch (tree/builder.h). */

enum { HP_WATCHED = 1 };

#endif
