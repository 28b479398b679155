#ifndef HP_DOM_TAG_SCAN_H
#define HP_DOM_TAG_SCAN_H

/* Finds the positions of attributes in the source of a start tag. */

#include <hpar/node.h>

/* A position in a start tag, and the attribute before it. */
typedef struct hp_tag_scan {
  const char *at, *end;
  const char *name, *name_end, *value, *value_end; /* without a value: all at name_end */
} hp_tag_scan;

/* Returns a scan that is after the tag's name. Requires: `tag` to `end` is a whole start tag, from
 * "<" to ">". */
hp_tag_scan hp_tag_scan_open(const char *tag, const char *end);

/* Finds the next attribute. Returns false if there is none. */
bool hp_tag_scan_next(hp_tag_scan *scan);

/* Returns whether the attribute in the source has the name of `attribute`. */
bool hp_tag_scan_is(const hp_tag_scan *scan, const hpar_attribute *attribute);

#endif
