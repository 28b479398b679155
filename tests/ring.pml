/* A model of the token buffer of the pipelined parser (src/study/pipelined/ring.h), for spin. It
 * covers both sides of the buffer in stages.c, producer.c and consumer.c, and the event count
 * (src/platform/event_count.h): batches, sleeping, rollback and draining.
 *
 * A token is its position in the input, with the number of rollbacks that the tokenizer had answered
 * when it read the token. The tree builder rolls back at most ROLLBACKS times. The model checks that
 * every token arrives once and in order, that no token is older than the last rollback, and that
 * both processes end.
 *
 *   spin -a -DLENGTH=2 -DBATCH=2 ring.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * The interleavings are those of x86: a store may wait in the buffer of its processor while the
 * processor executes later loads. In the model, the stores of shared_tail and shared_head wait so. A
 * load of `sleepers` follows each of them. Sequentially consistent accesses in C empty the store
 * buffer of their processor: request, answered, drained, sleepers, the futex. BARRIER selects the
 * order of the store and that load:
 *   1  the sleeper calls membarrier, which empties the buffers of all processors
 *   2  the load is an atomic addition of 0 to `sleepers`, if membarrier is missing
 *   0  no order; the model must find an error
 *
 * Some data relies on release and acquire only: the slots between shared_tail and shared_head, the
 * snapshot and `resume`. Each access to them precedes or follows one of the modelled stores. While
 * the tree builder reads tokens itself, the tokenizer has ended, and a rollback starts it again. */

#ifndef LENGTH
#define LENGTH 2
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef TOKENS
#define TOKENS 4
#endif
#ifndef ROLLBACKS
#define ROLLBACKS 2
#endif
#ifndef BARRIER
#define BARRIER 1
#endif

byte slot[LENGTH], slot_known[LENGTH];
byte shared_tail, shared_head, request, answered, resume, drained, restart_at;
byte late_tail, late_head; /* in the store buffers of both processors */
bool tail_is_late, head_is_late;
byte sleepers;
bool builder_asleep, tokenizer_asleep, stop;

inline commit_tail() {
  if
  :: tail_is_late -> shared_tail = late_tail; tail_is_late = false
  :: else
  fi
}

inline commit_head() {
  if
  :: head_is_late -> shared_head = late_head; head_is_late = false
  :: else
  fi
}

active proctype processors() {
end:
  do
  :: atomic { tail_is_late -> commit_tail() }
  :: atomic { head_is_late -> commit_head() }
  od
}

/* Wakes all sleepers, which test their conditions again. */
#define WAKE(commit) \
  atomic { \
    if \
    :: BARRIER == 2 -> commit() \
    :: else \
    fi \
  }; \
  if \
  :: sleepers > 0 -> atomic { commit(); builder_asleep = false; tokenizer_asleep = false } \
  :: else \
  fi

/* The model omits spinning, because a thread may test the condition at any time before it sleeps.
 * The thread increments `sleepers` and then tests `ready` again. If another thread wakes it between
 * this test and its sleep, the futex has changed, and it tests once more. */
#define WAIT(asleep, ready, commit) \
  atomic { commit(); sleepers++ }; \
  atomic { \
    if \
    :: BARRIER == 1 -> commit_tail(); commit_head() \
    :: else \
    fi \
  }; \
  do \
  :: atomic { (ready) -> break } \
  :: atomic { !(ready) -> asleep = true }; !asleep \
  od; \
  sleepers--

#define PUBLISH_TAIL atomic { commit_tail(); published_tail = tail; late_tail = tail; tail_is_late = true }
#define PUBLISH_HEAD atomic { commit_head(); published_head = head; late_head = head; head_is_late = true }

active proctype tokenizer() {
  byte tail, published_tail, head_seen, known, at;
  bool ended;
  do
  :: if
     :: request != answered ->
        known = request;
        at = restart_at;
        ended = false;
        PUBLISH_TAIL;
        resume = tail;
        atomic { commit_tail(); answered = known };
        WAKE(commit_tail)
     :: else
     fi;
     if
     :: stop -> break
     :: else
     fi;
     if
     :: !ended && tail - head_seen >= LENGTH -> head_seen = shared_head
     :: else
     fi;
     if
     :: ended || tail - head_seen >= LENGTH ->
        if
        :: tail != published_tail -> PUBLISH_TAIL; WAKE(commit_tail)
        :: else
        fi;
        if
        :: ended -> WAIT(tokenizer_asleep, request != answered || stop, commit_tail)
        :: else -> WAIT(tokenizer_asleep, request != answered || stop || shared_head != head_seen, commit_tail)
        fi
     :: else ->
        /* Any token may exceed the window. */
        if
        :: true
        :: true ->
           if
           :: tail != published_tail -> PUBLISH_TAIL; WAKE(commit_tail)
           :: else
           fi;
           WAIT(tokenizer_asleep, request != answered || stop || drained == tail, commit_tail);
           if
           :: request == answered && !stop -> assert(drained == tail)
           :: else -> goto again
           fi
        fi;
        slot[tail % LENGTH] = at;
        slot_known[tail % LENGTH] = known;
        at++;
        tail++;
        ended = (at == TOKENS);
        /* A full batch, or a smaller batch after a slow token. */
        if
        :: tail - published_tail >= 1 -> PUBLISH_TAIL; WAKE(commit_tail)
        :: tail - published_tail < BATCH
        fi
     fi;
again: skip
  od
}

active proctype builder() {
  byte head, published_head, tail_seen, expected, rollbacks;
  do
  :: expected == TOKENS -> break
  :: else ->
     if
     :: head == tail_seen -> tail_seen = shared_tail
     :: else
     fi;
     if
     :: head == tail_seen ->
        if
        :: head != published_head -> PUBLISH_HEAD
        :: else
        fi;
        atomic { commit_head(); drained = head };
        WAKE(commit_head);
        WAIT(builder_asleep, shared_tail != head, commit_head)
     :: else ->
        assert(tail_seen - head <= LENGTH);
        assert(slot[head % LENGTH] == expected && slot_known[head % LENGTH] == rollbacks);
        head++;
        if
        :: head - published_head >= BATCH -> PUBLISH_HEAD; WAKE(commit_head)
        :: else
        fi;
        if
        :: rollbacks < ROLLBACKS ->
           /* A hazard: restarts after this token, or, at "<![CDATA[", at this token. */
           if
           :: expected++
           :: skip
           fi;
           restart_at = expected;
           rollbacks++;
           if
           :: expected == TOKENS -> break
           :: else
           fi;
           atomic { commit_head(); request = rollbacks };
           WAKE(commit_head);
           WAIT(builder_asleep, request == answered, commit_head);
           head = resume;
           tail_seen = head;
           PUBLISH_HEAD;
           WAKE(commit_head)
        :: expected++
        fi
     fi
  od;
  atomic { commit_head(); stop = true };
  WAKE(commit_head)
}
