/* A model of late threads in the parallel parser (docs/decisions/05-late-threads.md), for spin. It
 * covers the merger (src/drivers/parallel/merge_loop.c), a worker that the system may stop at any
 * step (team.c), the end of the parse, and the caller, who then uses or destroys the document and
 * the parser (src/runtime/stragglers.c).
 *
 * The text has CHUNKS chunks of LENGTH tokens. Chunk 0 is the merger's. A segment is a token. The
 * worker may join the next chunk to its own one. The merger may find the worker late at any time,
 * which covers every clock. The model checks:
 *
 *   - The tree has each token once, and in order.
 *   - The merger reads no part of a log that is not complete, and links no node of it.
 *   - No late thread reads text that is freed, a job that has been replaced, or a count that is
 *     freed. None changes the names that the caller reads.
 *   - No thread waits forever.
 *
 *   spin -a -DLENGTH=2 late.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * Stores that precede a release are visible to a thread that has read its value: the model has no
 * store buffers. OMIT removes one condition; the model must then find an error. */

#define COMPLETE_LOG 1   /* the merger reads the log of a chunk after it has seen `done` */
#define SKIPS_BEGUN 2    /* the merger skips segments before its position after a rescue */
#define DOCUMENT_WAITS 3 /* the destruction of the document waits for late threads */
#define TEAM_WAITS 4     /* the next job of the parser waits for late threads */
#define CLOSES_NAMES 5   /* the end of the parse makes the table of names constant */
#define COUNTS_FIRST 6   /* a thread counts itself before it looks for sleepers */

#ifndef OMIT
#define OMIT 0
#endif
#ifndef LENGTH
#define LENGTH 2
#endif
#ifndef CHUNKS
#define CHUNKS 3
#endif
#define TOKENS (CHUNKS * LENGTH)

#define NOBODY 0
#define WORKER 1
#define MERGER 2

byte claimed[CHUNKS]; /* NOBODY, WORKER or MERGER */
bool owned[CHUNKS], done[CHUNKS];
byte span[CHUNKS];
bool logged[TOKENS], linked[TOKENS];
byte built[TOKENS];
byte wanted;
bool cancelled, closed, batch_is_closed;
byte entered, exited;
short left; /* of hp_stragglers */
byte sleepers, references = 1;   /* likewise; the team has a reference */
bool caller_sleeps;
bool text_is_freed, job_is_replaced;
bool names_lock, names_are_closed, names_change;

#define USES_JOB assert(!text_is_freed && !job_is_replaced)

/* A token may have a new name. Sets `stops` if the table is closed. */
inline enter_name() {
  atomic { !names_lock -> names_lock = true };
  if
  :: names_are_closed -> stops = true
  :: else -> names_change = true; names_change = false
  fi;
  names_lock = false
}

active proctype worker() {
  byte chunk, at, end, k;
  bool stops;
  atomic {
    if
    :: batch_is_closed -> goto skipped
    :: else -> entered++
    fi
  };
  do
  :: cancelled || closed && claimed[CHUNKS - 1] != NOBODY -> break
  :: else ->
     /* Claims the first chunk that nobody has claimed. */
     atomic {
       chunk = 0;
       for (k : 1 .. CHUNKS - 1) {
         if
         :: claimed[k] == NOBODY && chunk == 0 -> chunk = k
         :: else
         fi
       };
       if
       :: chunk == 0 -> break
       :: else -> claimed[chunk] = WORKER
       fi
     };
     USES_JOB;
     owned[chunk] = true;
     at = chunk * LENGTH;
     end = at + LENGTH;
     do
     :: cancelled || stops -> break
     :: !cancelled && !stops && at < end ->
        USES_JOB;
        assert(!linked[at]);
        if
        :: true
        :: enter_name()
        fi;
        logged[at] = true;
        at++
     :: !cancelled && !stops && at == end ->
        USES_JOB;
        if
        :: wanted == chunk || end == TOKENS -> break
        :: wanted != chunk && end < TOKENS -> break /* it is published early */
        :: wanted != chunk && end < TOKENS ->
           atomic {
             if
             :: claimed[end / LENGTH] == NOBODY -> claimed[end / LENGTH] = WORKER
             :: else -> break
             fi
           };
           span[chunk]++;
           end = end + LENGTH
        fi
     od;
     USES_JOB;
     done[chunk] = true
  od;
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
  exited++;
skipped: skip
}

inline build(token) {
  d_step {
    assert(token == 0 || built[token - 1] == 1);
    built[token]++;
    assert(built[token] == 1)
  }
}

/* Builds the tokens of a chunk that the merger has claimed. */
inline parse_exactly(to) {
  do
  :: position < to -> build(position); position++
  :: else -> break
  od
}

/* Splices the segments of a complete log that the merger has not parsed itself. The chunk may have
 * joined others. */
inline merge_log() {
  at = chunk * LENGTH;
  end = at + (1 + span[chunk]) * LENGTH;
  do
  :: at == end -> break
  :: at < end && at < rescued_to && OMIT != SKIPS_BEGUN -> at++
  :: at < end && (at >= rescued_to || OMIT == SKIPS_BEGUN) ->
     assert(logged[at]);
     linked[at] = true;
     build(at);
     at++;
     position = at
  od;
  chunk = chunk + 1 + span[chunk]
}

/* Parses the chunk of a late worker, until its log is complete. */
inline rescue() {
  next = chunk + 1;
  do
  :: done[chunk] -> rescued_to = position; break
  :: !done[chunk] && position < next * LENGTH -> build(position); position++
  :: !done[chunk] && position >= next * LENGTH && next == CHUNKS -> chunk = CHUNKS; break
  :: !done[chunk] && position >= next * LENGTH && next < CHUNKS ->
     if
     :: owned[next] -> chunk = next; break
     :: else ->
        atomic {
          if
          :: claimed[next] == NOBODY -> claimed[next] = MERGER; claims = true
          :: else -> claims = false
          fi
        };
        if
        :: claims -> parse_exactly((next + 1) * LENGTH); chunk = next + 1; break
        :: else -> next++
        fi
     fi
  od
}

inline use_document() {
  assert(!names_change);
  if
  :: OMIT == DOCUMENT_WAITS
  :: else ->
     if
     :: is_late ->
        sleepers++;
        do
        :: atomic { left == 0 -> break }
        :: atomic { left != 0 -> caller_sleeps = true }; !caller_sleeps
        od;
        sleepers--;
        references--
     :: else
     fi
  fi;
  text_is_freed = true
}

inline use_parser() {
  if
  :: OMIT == TEAM_WAITS
  :: else -> exited == entered
  fi;
  job_is_replaced = true;
  references--
}

active proctype caller() {
  byte position, chunk = 1, at, end, next, rescued_to;
  bool claims, is_late;
  parse_exactly(LENGTH);
  do
  :: chunk == CHUNKS -> break
  :: else ->
     atomic {
       if
       :: claimed[chunk] == NOBODY -> claimed[chunk] = MERGER; claims = true
       :: else -> claims = false
       fi
     };
     if
     :: claims -> parse_exactly((chunk + 1) * LENGTH); chunk++
     :: else ->
        if
        :: done[chunk] || OMIT == COMPLETE_LOG -> merge_log()
        :: !done[chunk] -> wanted = chunk
        :: !done[chunk] -> wanted = 0; rescue()
        fi
     fi
  od;
  assert(position == TOKENS && built[TOKENS - 1] == 1);
  closed = true;
  cancelled = true;
  batch_is_closed = true;
  is_late = exited != entered;
  if
  :: is_late ->
     d_step { left = left - entered; references++ };
     if
     :: OMIT == CLOSES_NAMES
     :: else -> atomic { !names_lock -> names_are_closed = true }
     fi
  :: else
  fi;
  assert(!names_change);
  if
  :: use_document(); use_parser()
  :: use_parser(); use_document()
  fi
}
