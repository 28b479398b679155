/* A model of late threads in a merge tree (docs/decisions/05-late-threads.md), for spin. It covers
 * the merger (src/drivers/parallel/merge_loop.c) and three workers that the system may stop at any
 * step (merge_tree.c). Each worker parses one chunk. The worker that arrives last at a node
 * composes the logs below the node. The merger may find a worker late at any time, which covers
 * every clock. It then closes the tree and takes single logs. The model checks:
 *
 *   - No two threads access a log at the same time, unless both read it.
 *   - The merger reads no part of a log that is not complete.
 *   - Each chunk is merged once, by its log or by the merger's own parse.
 *   - No thread waits forever.
 *
 * Stores that precede a release are visible to a thread that has read its value: the model has no
 * store buffers. OMIT removes one condition; the model must then find an error. */

#define WAITS 1  /* the merger waits for the compositions that run */
#define ATOMIC 2 /* a thread enters a composition only while the tree is open, in one step */

#ifndef OMIT
#define OMIT 0
#endif
#define CHUNKS 4 /* the tree has the nodes {0, 1}, {2, 3} and {0, 1, 2, 3} */

bool done[CHUNKS], arrived[CHUNKS + 1]; /* of a node: at its first right chunk, the root at CHUNKS */
byte writers[CHUNKS], merged[CHUNKS];
byte running, composed;
bool closed, reads_single;

inline write(low, high) {
  d_step {
    for (k : low .. high) {
      assert(!merged[k] && writers[k] == 0);
      writers[k]++
    }
  };
  d_step {
    for (k : low .. high) {
      assert(!merged[k]);
      writers[k]--
    }
  }
}

/* Sets `open` if the thread may compose. */
inline begin_composition() {
  if
  :: OMIT == ATOMIC -> open = !closed; running = running + open
  :: else -> atomic { open = !closed; running = running + open }
  fi
}

inline arrive(node, low, high) {
  if
  :: goes_on ->
     atomic { goes_on = arrived[node]; arrived[node] = true };
     if
     :: goes_on ->
        begin_composition();
        if
        :: open -> write(low, high); atomic { running-- }
        :: else -> goes_on = false
        fi
     :: else
     fi
  :: else
  fi
}

proctype worker(byte chunk) {
  byte k;
  bool goes_on = true, open;
  write(chunk, chunk);
  done[chunk] = true;
  if
  :: chunk < 2 -> arrive(1, 0, 1)
  :: else -> arrive(3, 2, 3)
  fi;
  arrive(CHUNKS, 0, 3);
  composed++
}

init {
  byte k, at;
  atomic {
    for (k : 0 .. CHUNKS - 1) { run worker(k) }
  };
  if
  :: composed == CHUNKS
  :: closed = true; /* some worker is late */
     if
     :: OMIT == WAITS
     :: else -> running == 0
     fi;
     reads_single = true
  fi;
  for (at : 0 .. CHUNKS - 1) {
    if
    :: done[at] -> d_step { assert(writers[at] == 0); merged[at] = true }
    :: !done[at] && reads_single -> skip /* the merger parses the chunk */
    fi
  }
}
