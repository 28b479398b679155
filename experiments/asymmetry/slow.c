/* hpar-slow PROCESSOR PERCENT PERIOD: keeps a processor busy for PERCENT of each PERIOD of
 * microseconds, before all other threads. Other threads see a processor that is slower by as much.
 * Writes a line when it starts, and runs until its standard input ends. Needs the right to
 * real-time priorities. Exit status: 1 if the system refuses something. */

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECOND = 1000000000, MICROSECOND = 1000, PRIORITY = 50, PERIODS_TO_POLL = 1000 };

static long since(const struct timespec *begin) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - begin->tv_sec) * SECOND + now.tv_nsec - begin->tv_nsec;
}

static int refused(const char *what) {
  fprintf(stderr, "hpar-slow: %s: %s\n", what, strerror(errno));
  return 1;
}

int main(int count, char **arguments) {
  long processor = count == 4 ? atol(arguments[1]) : -1, percent = count == 4 ? atol(arguments[2]) : 0;
  long period = count == 4 ? atol(arguments[3]) * MICROSECOND : 0;
  if (processor < 0 || percent < 1 || percent > 90 || period < 10 * MICROSECOND || period >= SECOND) {
    fputs("usage: hpar-slow PROCESSOR PERCENT PERIOD\n", stderr);
    return 2;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)processor, &one);
  if (sched_setaffinity(0, sizeof one, &one)) return refused("processor");
  if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = PRIORITY})) return refused("priority");
  puts("begins");
  fflush(stdout);
  struct timespec begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  for (unsigned periods = 0;; periods++) {
    while (since(&begin) < period / 100 * percent) {
    }
    begin.tv_nsec += period;
    if (begin.tv_nsec >= SECOND) {
      begin.tv_nsec -= SECOND;
      begin.tv_sec++;
    }
    if (periods % PERIODS_TO_POLL == 0 && poll(&input, 1, 0)) return 0;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &begin, NULL);
  }
}
