/* A model of late threads that compose neighbouring logs (docs/decisions/05-late-threads.md), for
 * spin. It covers the merger (src/drivers/parallel/merge_loop.c) and three workers that the system
 * may stop at any step (neighbours.c). Each worker parses one chunk. Then it composes the logs
 * before and after the chunk, if the chunks of both are finished. The merger may find a worker late
 * at any time, which covers every clock. It then parses the text of the chunk itself. The model
 * checks:
 *
 *   - No two threads access a log at the same time.
 *   - The merger reads no part of a log that is not complete, and no thread changes a merged log.
 *   - No thread waits forever.
 *
 * Stores that precede a release are visible to a thread that has read its value: the model has no
 * store buffers. OMIT removes one condition; the model must then find an error. */

#define LEFT 1   /* a thread holds the left chunk, too */
#define MERGER 2 /* the merger holds its chunk */
#define ATOMIC 3 /* a thread holds a chunk in one step */
#define DONE 4   /* a thread holds finished chunks only */

#ifndef OMIT
#define OMIT 0
#endif
#define CHUNKS 3

bool done[CHUNKS], held[CHUNKS], merged[CHUNKS];
byte writers[CHUNKS];
byte merging;

inline write(chunk) {
  d_step {
    assert(!merged[chunk] && writers[chunk] == 0);
    writers[chunk]++
  };
  d_step {
    assert(!merged[chunk]);
    writers[chunk]--
  }
}

/* Sets `holds` if the thread holds the chunk now. */
inline hold(chunk) {
  if
  :: OMIT == ATOMIC -> holds = done[chunk] && !held[chunk]; held[chunk] = held[chunk] || holds
  :: OMIT == DONE -> atomic { holds = !held[chunk]; held[chunk] = true }
  :: else -> atomic { holds = done[chunk] && !held[chunk]; held[chunk] = held[chunk] || holds }
  fi
}

inline compose(left, right) {
  hold(right);
  if
  :: holds ->
     if
     :: OMIT == LEFT
     :: else ->
        holds = false;
        if
        :: left > merging -> hold(left)
        :: else
        fi
     fi;
     if
     :: holds ->
        write(left);
        write(right);
        held[left] = false
     :: else
     fi;
     held[right] = false
  :: else
  fi
}

proctype worker(byte chunk) {
  bool holds;
  write(chunk);
  done[chunk] = true;
  if
  :: chunk > 0 -> compose(chunk - 1, chunk)
  :: else
  fi;
  if
  :: chunk + 1 < CHUNKS -> compose(chunk, chunk + 1)
  :: else
  fi
}

init {
  byte k, at;
  bool holds;
  atomic {
    for (k : 0 .. CHUNKS - 1) { run worker(k) }
  };
  for (at : 0 .. CHUNKS - 1) {
    merging = at;
    do
    :: done[at] && !held[at] ->
       if
       :: OMIT == MERGER -> holds = true
       :: else -> hold(at)
       fi;
       if
       :: holds -> d_step { assert(done[at] && writers[at] == 0); merged[at] = true }; break
       :: else
       fi
    :: break /* the worker is late: the merger parses the text */
    od
  }
}
