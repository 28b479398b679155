#ifndef HP_BASE_FORK_H
#define HP_BASE_FORK_H

/* Returns a number that differs between a process and its forked children. A child has only the
 * thread that forked: other threads are lost, perhaps with a lock or in the middle of a change. */
unsigned hp_fork_generation(void);

#endif
