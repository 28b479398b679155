/* A model of late threads in a batch of slices (docs/decisions/05-late-threads.md), for spin. It
 * covers the calling thread (src/drivers/parallel/slices.c, src/text), a thread that the system may
 * stop at any step, and the caller, who then uses or destroys the document and the parser.
 *
 * Both threads claim slices. The calling thread may find the other thread late at any time, which
 * covers every clock. It then repeats the slices of this thread in other memory. The model checks:
 *
 *   - The calling thread uses the result of each slice, and no result that is not complete.
 *   - The late thread does not change the result of a slice that the calling thread has repeated.
 *   - The late thread uses no job, source or text that is freed.
 *   - No thread waits forever.
 *
 * Stores that precede a release are visible to a thread that has read its value: the model has no
 * store buffers. OMIT removes one condition; the model must then find an error. */

#define COMPLETE_SLICE 1 /* the calling thread uses a slice after it has seen its bit in `done` */
#define OTHER_MEMORY 2   /* the calling thread repeats slices in other memory */
#define DOCUMENT_WAITS 3 /* the destruction of the document waits for late threads */
#define DROPS_LATER 4    /* the team drops the job when the late thread has left */

#ifndef OMIT
#define OMIT 0
#endif
#ifndef SLICES
#define SLICES 3
#endif

bool claimed[SLICES], done[SLICES]; /* the bits of two words */
byte written[SLICES];               /* stores to the shared result of a slice; 2: it is complete */
bool used[SLICES];                  /* the calling thread uses the shared result */
bool text_is_freed, job_is_dropped, batch_is_closed;
byte entered, exited;
short left; /* of hp_stragglers */

inline run_slice(i) {
  assert(!text_is_freed && !job_is_dropped);
  written[i]++;
  assert(!text_is_freed && !job_is_dropped && !used[i]);
  written[i]++;
  done[i] = true
}

inline run_slices() {
  for (k : 0 .. SLICES - 1) {
    atomic { claims = !claimed[k]; claimed[k] = true };
    if
    :: claims -> run_slice(k)
    :: else
    fi
  }
}

active proctype thread() {
  byte k;
  bool claims;
  atomic {
    if
    :: batch_is_closed -> goto skipped
    :: else -> entered++
    fi
  };
  run_slices();
  left++;
  exited++;
skipped: skip
}

inline use_document() {
  if
  :: is_late && OMIT != DOCUMENT_WAITS -> left == 0
  :: else
  fi;
  text_is_freed = true
}

inline use_parser() {
  exited == entered;
  job_is_dropped = true
}

active proctype caller() {
  byte k;
  bool claims, is_late;
  run_slices();
  batch_is_closed = true;
  if
  :: exited == entered
  :: exited != entered -> is_late = true; left = left - entered
  fi;
  for (k : 0 .. SLICES - 1) {
    if
    :: done[k] || OMIT == COMPLETE_SLICE -> assert(written[k] == 2); used[k] = true
    :: else ->
       assert(is_late);
       used[k] = OMIT == OTHER_MEMORY
    fi
  };
  if
  :: !is_late || OMIT == DROPS_LATER -> job_is_dropped = true
  :: else
  fi;
  if
  :: use_document(); use_parser()
  :: use_parser(); use_document()
  fi
}
