#ifndef HP_BASE_FORK_H
#define HP_BASE_FORK_H

/* Returns a number that differs between a process and its forked children. A child has only the
 * thread that forked: other threads are lost, and may leave a lock held or data inconsistent. */
unsigned hp_fork_generation(void);

#endif
