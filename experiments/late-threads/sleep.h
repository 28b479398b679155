/* A thread that sleeps until another one wakes it, for late.c and users.c. */

#include <errno.h>
#include <semaphore.h>
#include <time.h>

/* Sleeps for so many nanoseconds, below a second, or until the semaphore is posted. */
static void sleep_until_woken(sem_t *woken, long nanoseconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += nanoseconds;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  while (sem_timedwait(woken, &until) && errno == EINTR) {
  }
}
