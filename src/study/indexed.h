#ifndef HP_STUDY_INDEXED_H
#define HP_STUDY_INDEXED_H

/* Drivers that index the structural bytes of the text first, as simdjson does: one bit for each
 * byte and class of <, >, both quotes, &, and NUL or CR. The fused builder then searches in the
 * index instead of the text. Its probes of the next 16 to 32 bytes stay, because they are cheaper
 * than any look-up.
 *
 * `indexed` makes two passes on one thread. With `index-ahead`, a second thread indexes while the
 * builder reads. Where the index is not ready, the builder searches in the text and does not
 * wait. */

#include <hpar/study.h>

extern const hpar_driver hp_indexed_driver, hp_index_ahead_driver;

#endif
