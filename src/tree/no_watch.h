#ifndef HP_TREE_NO_WATCH_H
#define HP_TREE_NO_WATCH_H

/* For builders that test whether they have a watch (tree/builder.h). */

enum { HP_WATCHED = 0 };

#endif
