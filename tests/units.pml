/* The model of src/runtime, for spin: three threads share four units, and the system may stop a
 * thread at any step. A thread that is stopped for long is late: the calling thread may find that
 * at any time, which covers every clock. The comments of units.h, crew.h and stragglers.h name the
 * steps: claim, begin, end, publish, admit, consume, hold, release, give up, cancel, leave, fork.
 *
 * CLIENT is who uses the units:
 *
 *   QUEUE   slices, pages and batches (units.c): any thread admits published units in order. The
 *           calling thread repeats the units of a late one in the same memory, to which threads
 *           write only between begin and end, and then consumes the rest alone
 *   MERGER  the parser (drivers/parallel): a worker joins units; the merger takes their logs in
 *           order, and parses the text of a late worker itself; workers compose neighbouring logs
 *   SLOTS   the rewriter (rewrite/team.c): a unit is free again when the merger has used it
 *
 * The model checks:
 *
 *   - Each unit is used once, in order, and only when its result is complete.
 *   - No two threads write one result, and none changes a result that another one uses.
 *   - No late thread uses a text, job or count that is freed or replaced, or changes the names that
 *     the caller reads.
 *   - No published unit is left behind, and no thread waits forever, also not in a forked child,
 *     where the other threads are lost.
 *
 * A store that precedes a release is visible to a thread that has read its value. OMIT removes one
 * condition, for example a release: the model must then find an error. Cancellation needs no
 * condition: it only ends the other threads earlier.
 *
 *   spin -a -DCLIENT=1 units.pml && cc -O2 -DSAFETY -DHC4 -o pan pan.c && ./pan -m200000 */

#define RELEASE 1         /* the publication is a release: the result does not follow it */
#define ACQUIRE 2         /* a look at a unit is an acquire: the result is not read before it */
#define ONE_STEP 3        /* a claim is one step */
#define LOOKS_AGAIN 4     /* who admits looks for units again, after it has cleared `admits` */
#define ENDS_WRITES 5     /* who gives a unit up waits for the end of a write */
#define FREES_LATER 6     /* the late thread frees the slot that was given up */
#define SKIPS_BEGUN 7     /* the merger skips what it has parsed of a late unit */
#define HOLDS_LEFT 8      /* who composes holds the left unit, too */
#define MERGER_HOLDS 9    /* the merger holds its unit */
#define HOLDS_COMPLETE 10 /* a thread holds published units only */
#define DOCUMENT_WAITS 11 /* the destruction of the document waits for late threads */
#define TEAM_WAITS 12     /* the next job waits for late threads */
#define CLOSES_NAMES 13   /* the end of a parse makes the table of names constant */
#define COUNTS_FIRST 14   /* a thread counts itself before it looks for sleepers */
#define KNOWS_FORK 15     /* the child does not wait for lost threads */
#define GIVES_UP_FREE 16  /* a unit that is given up may be free: its thread has only its number */
#define AWAITS_USE 17     /* who consumes the rest waits for threads that consume */
#define ENDS_LAST 18      /* the end of a write is a release */

#ifndef OMIT
#define OMIT 0
#endif
#define QUEUE 1
#define MERGER 2
#define SLOTS 3
#ifndef CLIENT
#define CLIENT QUEUE
#endif
#ifndef UNITS
#define UNITS 4
#endif
#ifndef WORKERS
#define WORKERS 2 /* beside the calling thread */
#endif

#define FREE 0
#define CLAIMED 1
#define WRITING 2
#define GIVEN_UP 3
#define PUBLISHED 4
#define CONSUMED 5
#define HELD 6

byte state[UNITS];
byte written[UNITS]; /* stores to the result of a unit; 2: it is complete */
byte writers[UNITS]; /* threads that write it now */
byte used[UNITS];
bool cancelled, batch_is_closed, lost;
byte entered, exited;
short left; /* of hp_stragglers */
byte sleepers, references = 1;
bool caller_sleeps, text_is_freed, job_is_replaced, is_late;
bool names_lock, names_are_closed, names_change;

#define USES_JOB assert(!text_is_freed && !job_is_replaced)

/*** steps ***/

inline claim(u) {
  if
  :: OMIT == ONE_STEP -> ok = state[u] == FREE; if :: ok -> state[u] = CLAIMED :: else fi
  :: else -> atomic { ok = state[u] == FREE; if :: ok -> state[u] = CLAIMED :: else fi }
  fi
}

/* A publication ends a write, too. */
inline publish(u) {
  atomic { ok = state[u] == CLAIMED || state[u] == WRITING; if :: ok -> state[u] = PUBLISHED :: else fi }
}

inline give_up(u) {
  atomic {
    state[u] != WRITING || OMIT == ENDS_WRITES;
    ok = state[u] == CLAIMED || state[u] == WRITING || (state[u] == FREE && OMIT != GIVES_UP_FREE);
    if :: ok -> state[u] = GIVEN_UP :: else fi
  }
}

inline hold(u) {
  if
  :: OMIT == HOLDS_COMPLETE -> atomic { ok = state[u] != HELD; if :: ok -> state[u] = HELD :: else fi }
  :: else -> atomic { ok = state[u] == PUBLISHED; if :: ok -> state[u] = HELD :: else fi }
  fi
}

inline begin_write(u) {
  d_step { USES_JOB; assert(writers[u] == 0 && state[u] != CONSUMED); writers[u]++; written[u]++ }
}

inline end_write(u) {
  d_step { USES_JOB; assert(!used[u] || CLIENT == MERGER); written[u]++; writers[u]-- }
}

/* Runs the unit and publishes it. Sets `ok` if somebody wants the result. */
inline run_and_publish(u) {
  begin_write(u);
  if
  :: OMIT == RELEASE -> publish(u); end_write(u)
  :: else -> atomic { end_write(u); publish(u) } /* no thread sees the step between */
  fi
}

/* Does the same in two writes. Between them, the unit may be given up. */
inline write_and_publish(u) {
  atomic { ok = state[u] == CLAIMED; if :: ok -> state[u] = WRITING :: else fi };
  if
  :: ok ->
     begin_write(u);
     if
     :: OMIT == ENDS_LAST -> state[u] = CLAIMED; d_step { written[u]--; writers[u]-- }
     :: else -> d_step { written[u]--; writers[u]--; state[u] = CLAIMED }
     fi;
     atomic { ok = state[u] == CLAIMED; if :: ok -> state[u] = WRITING :: else fi };
     if :: ok -> run_and_publish(u) :: else fi
  :: else
  fi
}

/* Looks at the unit: sets `ok` if it is published, and then reads the result. */
inline look(u) {
  if
  :: OMIT == ACQUIRE -> seen = written[u]; ok = state[u] == PUBLISHED
  :: else -> ok = state[u] == PUBLISHED; if :: ok -> seen = written[u] :: else fi
  fi
}

inline use(u) {
  d_step { assert(used[u] == 0 && (u == 0 || used[u - 1])); used[u]++ }
}

/*** QUEUE ***/

byte next_unit, admitted, consuming;
bool admits;

/* As consume_next, until no unit is left for the thread. */
inline consume_all() {
  do
  :: admitted == UNITS || state[admitted] != PUBLISHED -> break
  :: else ->
     atomic { ok = !admits; admits = true };
     if
     :: !ok -> break
     :: else ->
        atomic {
          u = admitted;
          ok = u < UNITS && state[u] == PUBLISHED;
          if
          :: ok -> USES_JOB; assert(written[u] == 2); use(u); admitted++; consuming++
          :: else
          fi
        };
        admits = false;
        if
        :: ok -> d_step { state[u] = CONSUMED; consuming-- }
        :: !ok && OMIT == LOOKS_AGAIN -> break
        :: else
        fi
     fi
  od;
  atomic { ok = false; u = 0 }
}

inline work_at_queue() {
  do
  :: next_unit == UNITS -> break
  :: else ->
     atomic { k = next_unit; if :: k < UNITS -> next_unit++ :: else fi };
     if
     :: k < UNITS -> claim(k); if :: ok -> write_and_publish(k); consume_all() :: else fi
     :: else
     fi
  od;
  k = 0
}

/*** MERGER ***/

bool owned[UNITS], complete[UNITS]; /* of a unit whose log is complete */
byte span[UNITS];
bool merged[UNITS]; /* the merger has taken the log */
byte merging;

/* A token may have a new name. Sets `stops` if the table is closed. */
inline enter_name() {
  atomic { !names_lock -> names_lock = true; if :: names_are_closed -> stops = true :: else -> names_change = true fi };
  d_step { names_change = false; names_lock = false }
}

inline change_log(u) {
  d_step { USES_JOB; assert(writers[u] == 0 && !merged[u]); writers[u]++ };
  d_step { USES_JOB; assert(!merged[u]); writers[u]-- }
}

/* Composes the log before the unit with its log, if both are free. */
inline compose(u) {
  hold(u);
  if
  :: ok ->
     if
     :: u - 1 > merging && !span[u - 1] && OMIT != HOLDS_LEFT -> hold(u - 1)
     :: else -> ok = OMIT == HOLDS_LEFT && u - 1 > merging && complete[u - 1]
     fi;
     if
     :: ok ->
        change_log(u - 1);
        change_log(u);
        if :: OMIT != HOLDS_LEFT -> state[u - 1] = PUBLISHED :: else fi
     :: else
     fi;
     state[u] = PUBLISHED
  :: else
  fi
}

inline work_for_merger() {
  do
  :: cancelled -> break
  :: else ->
     u = 0;
     ok = false;
     do
     :: u == UNITS || ok -> break
     :: else -> if :: state[u] == FREE -> claim(u) :: else fi; if :: !ok -> u++ :: else fi
     od;
     if :: !ok -> break :: else fi;
     owned[u] = true;
     end = u;
     do
     :: begin_write(end);
        if :: end + 1 == UNITS -> enter_name() :: else fi;
        end_write(end);
        if
        :: end + 1 == UNITS || stops || cancelled -> break
        :: break
        :: end + 1 < UNITS && !stops && !cancelled ->
           claim(end + 1);
           if :: ok -> end++; span[u]++ :: else -> break fi
        fi
     od;
     atomic { complete[u] = true; publish(u) };
     if
     :: u > 0 && !stops && !span[u] -> compose(u)
     :: true
     fi;
     atomic { u = 0; end = 0 }
  od
}

/* The merger takes the log of a unit, and of those that its worker has joined. */
inline merge_log() {
  for (k : u .. u + span[u]) {
    if
    :: used[k] && OMIT != SKIPS_BEGUN -> skip /* the merger has parsed it, because it was late */
    :: else -> use(k)
    fi;
    atomic { assert(written[k] == 2 && writers[k] == 0); merged[k] = true }
  };
  u = u + span[u] + 1
}

/* Parses the units of a late worker, until its log is free, or another thread's unit begins. */
inline rescue() {
  next = u;
  do
  :: state[u] == PUBLISHED -> break
  :: state[u] != PUBLISHED && next == UNITS -> u = UNITS; break
  :: state[u] != PUBLISHED && next < UNITS ->
     if
     :: next == u -> use(next); next++
     :: next > u && owned[next] -> u = next; break
     :: next > u && !owned[next] ->
        claim(next);
        if
        :: ok -> use(next); u = next + 1; break
        :: else -> if :: owned[next] :: else -> use(next); next++ fi
        fi
     fi
  od
}

/* The first unit is the merger's own one. */
inline merge() {
  u = 1;
  do
  :: u == UNITS -> break
  :: else ->
     merging = u;
     claim(u);
     if
     :: ok -> use(u); u++
     :: else ->
        if
        :: OMIT == MERGER_HOLDS -> look(u)
        :: else -> hold(u); seen = written[u]
        fi;
        if
        :: ok -> merge_log()
        :: !ok && state[u] != PUBLISHED && !used[u] -> rescue() /* it is late */
        :: else /* the merger looks again */
        fi
     fi
  od
}

/*** SLOTS ***/

#define SLOTS_IN_USE 2
byte rounds;

inline work_for_slots() {
  do
  :: cancelled -> break
  :: else ->
     u = 0;
     claim(u);
     if :: !ok -> u = 1; claim(u) :: else fi;
     if
     :: ok ->
        begin_write(u);
        atomic { end_write(u); publish(u) };
        if :: !ok -> atomic { written[u] = 0; state[u] = FREE } :: else fi
     :: else -> break
     fi
  od
}

/* Uses, or gives up, the results in any order, which covers each order of the chunks. */
inline merge_slots() {
  do
  :: rounds == UNITS -> break
  :: rounds < UNITS ->
     if :: u = 0; rounds++ :: u = 1; rounds++ fi;
     look(u);
     if
     :: ok -> atomic { assert(seen == 2 && writers[u] == 0); seen = 0; written[u] = 0; state[u] = FREE }
     :: else ->
        if
        :: atomic { state[u] == CLAIMED -> give_up(u) };
           if :: ok && OMIT == FREES_LATER -> state[u] = FREE :: else fi;
           ok = false
        :: true
        fi
     fi
  od
}

/*** threads ***/

proctype worker(byte me) {
  byte u, k, end, seen;
  bool ok, stops;
  {
    atomic {
      if
      :: batch_is_closed -> goto skipped
      :: !batch_is_closed && entered >= me -> entered++ /* the threads are equal: one order is enough */
      fi
    };
#if CLIENT == QUEUE
    work_at_queue();
#elif CLIENT == MERGER
    work_for_merger();
#else
    work_for_slots();
#endif
    USES_JOB;
    assert(references > 0);
    if
    :: OMIT == COUNTS_FIRST ->
       if
       :: sleepers > 0 -> caller_sleeps = false
       :: else
       fi;
       left++
    :: else ->
       left++;
       assert(references > 0);
       if
       :: sleepers > 0 -> caller_sleeps = false
       :: else
       fi
    fi;
    u = 0; k = 0; end = 0; seen = 0; ok = false; stops = false;
    exited++;
skipped: skip
  } unless { lost }
}

inline use_document() {
  assert(lost || !names_change);
  if
  :: OMIT == DOCUMENT_WAITS || !is_late || lost && OMIT != KNOWS_FORK
  :: else ->
     sleepers++;
     do
     :: atomic { left == 0 -> break }
     :: atomic { left != 0 -> caller_sleeps = true }; !caller_sleeps
     od;
     sleepers--;
     references--
  fi;
  text_is_freed = true
}

inline use_parser() {
  if
  :: OMIT == TEAM_WAITS || lost && OMIT != KNOWS_FORK
  :: else -> exited == entered
  fi;
  job_is_replaced = true;
  references--
}

init {
  byte u, k, next, seen;
  bool ok;
  atomic {
#if CLIENT == MERGER
    state[0] = CONSUMED;
    use(0);
#endif
    for (k : 1 .. WORKERS) { run worker(k - 1) }
  };
#if CLIENT == QUEUE
  work_at_queue();
#elif CLIENT == MERGER
  merge();
  for (k : 0 .. UNITS - 1) { assert(used[k] == 1) };
#else
  merge_slots();
#endif
  atomic { cancelled = true; batch_is_closed = true; u = 0; k = 0; next = 0; seen = 0; ok = false };
  if
  :: exited == entered
  :: exited != entered ->
     is_late = true;
     d_step { left = left - entered; references++ };
     if
     :: OMIT == CLOSES_NAMES
     :: else -> atomic { !names_lock -> names_are_closed = true }
     fi
  fi;
#if CLIENT == QUEUE
  if
  :: is_late ->
     for (k : 0 .. UNITS - 1) { give_up(k) };
     atomic { !admits -> admits = true };
     consuming == 0 || OMIT == AWAITS_USE;
     for (k : 0 .. UNITS - 1) {
       if
       :: state[k] == GIVEN_UP -> written[k] = 0; begin_write(k); end_write(k)
       :: else
       fi;
       if
       :: !used[k] -> atomic { assert(written[k] == 2 && consuming == 0); use(k) }
       :: else
       fi
     }
  :: else
  fi;
  for (k : 0 .. UNITS - 1) { assert(used[k] == 1) };
#endif
  if
  :: use_document(); use_parser()
  :: use_parser(); use_document()
  :: lost = true; use_document(); use_parser()
  fi
}
