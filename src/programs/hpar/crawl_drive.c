/* Runs units in child processes. A child that ends by a signal costs a try of its unit. After three
 * tries, probes find the first report that ends a child, by bisection. The unit then leaves this
 * record out. */

#include "programs/hpar/crawl_progress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 3, ROUNDS = 4, MAX_KILLERS = 1000, CONFIRMATIONS = 2, TICK_NS = 200000000 };

typedef enum phase {
  PHASE_RUN,     /* the whole unit */
  PHASE_ENDS,    /* does a probe of [0, high) end? */
  PHASE_BISECT,  /* [0, low) does not end the child, [0, high) does */
  PHASE_CONFIRM, /* the record `low` alone */
  PHASE_AGAIN    /* [0, low + 1) once more */
} phase;

typedef enum unit_status { WAITING, RUNNING, DONE, FAILED } unit_status;

typedef struct unit_state {
  unit_status status;
  phase phase;
  unsigned tries, rounds, confirmations;
  uint64_t low, high;
  uint64_t *killers;
  size_t killer_count;
} unit_state;

typedef struct driver {
  const hp_crawl *crawl;
  size_t first, last;
  unit_state *states;
  struct {
    pid_t pid; /* 0: free */
    size_t unit;
  } * workers;
  hp_unit_progress *progress; /* by worker, shared with the children */
  size_t again;               /* units before the next one that wait */
  hp_crawl_state all;
} driver;

/*** children ***/

static uint64_t probe_end(const unit_state *s) {
  return s->phase == PHASE_RUN       ? UINT64_MAX
         : s->phase == PHASE_BISECT  ? s->low + (s->high - s->low) / 2
         : s->phase == PHASE_CONFIRM ? s->low + 1
         : s->phase == PHASE_AGAIN   ? s->low + 1
                                     : s->high;
}

static _Noreturn void run_child(const driver *d, size_t worker, size_t unit, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(HP_UNIT_MEMORY);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  const unit_state *s = &d->states[unit];
  hp_unit_job job = {.unit = &d->crawl->units[unit],
                     .options = &d->crawl->map,
                     .folder = s->phase == PHASE_RUN ? d->crawl->folder : NULL,
                     .from = s->phase == PHASE_CONFIRM ? s->low : 0,
                     .to = probe_end(s),
                     .killers = s->killers,
                     .killer_count = s->killer_count,
                     .progress = &d->progress[worker]};
  _exit((int)hp_unit_run(&job));
}

static bool start(driver *d, size_t worker, size_t unit) {
  memset((void *)&d->progress[worker], 0, sizeof d->progress[worker]);
  fflush(stdout);
  fflush(stderr);
  pid_t parent = getpid(), child = fork();
  if (!child) run_child(d, worker, unit, parent);
  if (child < 0) return false;
  d->workers[worker].pid = child;
  d->workers[worker].unit = unit;
  d->states[unit].status = RUNNING;
  return true;
}

/*** results of children ***/

static void fail_unit(driver *d, size_t unit, const char *reason) {
  hp_complain("%s: %s", hp_shown_name(d->crawl->units[unit].path), reason);
  d->states[unit].status = FAILED;
  d->all.failed++;
}

static void next_round(driver *d, size_t unit) {
  unit_state *s = &d->states[unit];
  s->tries = 0;
  s->phase = PHASE_RUN;
  if (++s->rounds >= ROUNDS) fail_unit(d, unit, "its process ends again and again, and no record is the cause");
}

static void add_killer(driver *d, size_t unit) {
  unit_state *s = &d->states[unit];
  uint64_t *grown = realloc(s->killers, (s->killer_count + 1) * sizeof *grown);
  if (!grown || s->killer_count >= MAX_KILLERS) {
    if (grown) s->killers = grown;
    fail_unit(d, unit, "has too many records that end its process");
    return;
  }
  s->killers = grown;
  grown[s->killer_count++] = s->low;
  s->tries = s->rounds = 0;
  s->phase = PHASE_RUN;
}

static void bisect(unit_state *s) {
  s->phase = s->high - s->low > 1 ? PHASE_BISECT : PHASE_CONFIRM;
  s->confirmations = 0;
}

/* The process of a probe has ended: `died` before its end, or at it. */
static void take_probe(driver *d, size_t unit, bool died) {
  unit_state *s = &d->states[unit];
  uint64_t end = probe_end(s);
  switch (s->phase) {
    case PHASE_ENDS:
      if (!died) {
        next_round(d, unit);
        break;
      }
      s->low = 0;
      bisect(s);
      break;
    case PHASE_BISECT:
      *(died ? &s->high : &s->low) = end;
      bisect(s);
      break;
    case PHASE_CONFIRM:
      if (!died)
        s->phase = PHASE_AGAIN;
      else if (++s->confirmations >= CONFIRMATIONS)
        add_killer(d, unit);
      break;
    default:
      if (died)
        add_killer(d, unit);
      else
        next_round(d, unit);
  }
}

static void take_failure(driver *d, size_t unit, hp_unit_result result, const hp_unit_progress *p) {
  char reason[400];
  if (result == HP_UNIT_UNSUPPORTED)
    snprintf(reason, sizeof reason, "%s", p->message);
  else if (result == HP_UNIT_INPUT && *p->message)
    snprintf(reason, sizeof reason, "%s cannot read it; add --resume to try again", p->message);
  else if (result == HP_UNIT_INPUT)
    snprintf(reason, sizeof reason, "cannot be read: %s", strerror(p->error));
  else
    snprintf(reason, sizeof reason, "its results cannot be written to %s: %s; %s", d->crawl->folder, strerror(p->error),
             hp_crawl_remedy(p->error));
  fail_unit(d, unit, reason);
}

static void finish(driver *d, size_t worker, int status) {
  size_t unit = d->workers[worker].unit;
  const hp_unit_progress *p = &d->progress[worker];
  unit_state *s = &d->states[unit];
  d->workers[worker].pid = 0;
  s->status = WAITING;
  int result = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  bool died = result < 0 || result == HP_UNIT_MEMORY || result > HP_UNIT_UNSUPPORTED;
  if (!died && result != HP_UNIT_DONE) {
    take_failure(d, unit, (hp_unit_result)result, p);
  } else if (s->phase != PHASE_RUN) {
    take_probe(d, unit, died);
  } else if (!died) {
    s->status = DONE;
    d->all.done++;
    d->all.records += atomic_load(&p->records) + (atomic_load(&p->bytes_out) > 0);
    d->all.bytes_in += atomic_load(&p->bytes_in);
    d->all.bytes_out += atomic_load(&p->bytes_out);
  } else if (d->crawl->units[unit].is_stream) {
    fail_unit(d, unit, "its process ended, and a stream cannot be read again; store it in a file");
  } else if (++s->tries >= TRIES) {
    s->high = atomic_load(&p->records) + 1;
    s->phase = PHASE_ENDS;
  }
  d->again += s->status == WAITING;
}

static void show_progress(driver *d) {
  uint64_t records = 0, in = 0, out = 0;
  for (size_t i = 0; i < d->crawl->threads; i++) {
    if (!d->workers[i].pid || d->states[d->workers[i].unit].phase != PHASE_RUN) continue;
    records += atomic_load(&d->progress[i].records);
    in += atomic_load(&d->progress[i].bytes_in);
    out += atomic_load(&d->progress[i].bytes_out);
  }
  hp_crawl_progress_show(&d->all, records, in, out);
}

/*** the loop ***/

static void collect(driver *d) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (size_t i = 0; i < d->crawl->threads; i++)
      if (d->workers[i].pid == pid) finish(d, i, status);
}

/* Returns the unit to start: one that waits for a further try, or the next one; `last`: none. */
static size_t choose_unit(driver *d, size_t *next) {
  for (size_t i = d->first; d->again && i < *next; i++) {
    if (d->states[i].status != WAITING) continue;
    d->again--;
    return i;
  }
  while (*next < d->last && d->states[*next].status != WAITING) ++*next;
  return *next < d->last ? (*next)++ : d->last;
}

static bool start_all(driver *d, size_t *next) {
  for (size_t i = 0; i < d->crawl->threads; i++) {
    if (d->workers[i].pid) continue;
    size_t unit = choose_unit(d, next);
    if (unit == d->last) return true;
    if (!start(d, i, unit)) return false;
  }
  return true;
}

static int drive(driver *d) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  size_t next = d->first;
  int code = HP_EXIT_FINE;
  while (d->all.done + d->all.reused + d->all.failed < d->all.units) {
    if (!start_all(d, &next)) {
      hp_complain("no process can be started: %s", strerror(errno));
      code = HP_EXIT_FAILED;
      break;
    }
    struct timespec tick = {0, TICK_NS};
    sigtimedwait(&children, NULL, &tick);
    collect(d);
    if (hp_crawl_progress_due(&d->all)) show_progress(d);
  }
  show_progress(d);
  hp_clear_progress();
  return d->all.failed ? HP_EXIT_FAILED : code;
}

int hp_crawl_drive(const hp_crawl *c, size_t first, size_t last) {
  driver d = {.crawl = c, .first = first, .last = last};
  hp_crawl_progress_open(&d.all, c, last - first);
  size_t bytes = c->threads * sizeof *d.progress;
  d.progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  d.states = calloc(last ? last : 1, sizeof *d.states);
  d.workers = calloc(c->threads, sizeof *d.workers);
  int code = HP_EXIT_FAILED;
  if (d.progress != MAP_FAILED && d.states && d.workers) {
    for (size_t i = first; i < last; i++) {
      if (!c->units[i].is_stream && hp_unit_is_done(&c->units[i], c->folder)) {
        d.states[i].status = DONE;
        d.all.reused++;
      } else {
        d.all.bytes_known += hp_crawl_bytes_of(&c->units[i]);
      }
    }
    code = drive(&d);
  } else {
    hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  }
  if (d.progress != MAP_FAILED) munmap(d.progress, bytes);
  for (size_t i = first; d.states && i < last; i++) free(d.states[i].killers);
  free(d.states);
  free(d.workers);
  return code;
}
