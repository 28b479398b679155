/* The token buffer (src/drivers/pipelined/ring.h) with what stages.c and parking.h do on both of its sides, for spin: batches,
 * waiting asleep, rollback, draining. A token is its position in the input, with the rollbacks that its reader knew of.
 * The tree builder takes a token once rolled back, at most ROLLBACKS times; then every token must come once, in order,
 * none of them read before the last rollback, and both sides must come to their ends.
 *
 *   spin -a -DLENGTH=2 -DBATCH=2 ring.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * Interleavings are those of a machine on which a store may wait in its processor's buffer while later loads are done
 * (x86): so it is with the stores of shared_tail and shared_head, which are followed by a look at `sleepers`. What in C
 * is sequentially consistent - request, answered, drained, sleepers, the lock - empties the buffer of who does it.
 * BARRIER tells how the store and that look are kept in order:
 *   1  by the sleeper, who with membarrier empties the buffers of all
 *   2  by the look itself, which changes `sleepers` by nothing: where there is no membarrier
 *   0  not at all, which must not work
 * What stands on release and acquire alone - slots between shared_tail and shared_head, the snapshot and `resume` - is
 * each written before, and read after, one of the stores that are modelled, and never in between. A tokenizer that is
 * halted while the tree builder reads by itself is one that has ended, and is asked back later. */

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
byte late_tail, late_head; /* in the tokenizer's buffer and the tree builder's, while these are late */
bool tail_is_late, head_is_late;
byte sleepers;
bool builder_asleep, tokenizer_asleep, stop;

inline let_tail_be_seen() {
  if
  :: tail_is_late -> shared_tail = late_tail; tail_is_late = false
  :: else
  fi
}

inline let_head_be_seen() {
  if
  :: head_is_late -> shared_head = late_head; head_is_late = false
  :: else
  fi
}

active proctype processors() {
end:
  do
  :: atomic { tail_is_late -> let_tail_be_seen() }
  :: atomic { head_is_late -> let_head_be_seen() }
  od
}

/* Under the lock in C: whoever sleeps wakes up and looks again. */
#define UNPARK(let_be_seen) \
  atomic { \
    if \
    :: BARRIER == 2 -> let_be_seen() \
    :: else \
    fi \
  }; \
  if \
  :: sleepers > 0 -> atomic { let_be_seen(); builder_asleep = false; tokenizer_asleep = false } \
  :: else \
  fi

/* Spinning is left out: a sleeper may look at any time before it sleeps. `ready` is looked at once more after the
 * sleeper is counted, and between this look and sleep nobody can unpark, since that takes the lock. */
#define PARK(asleep, ready, let_be_seen) \
  atomic { let_be_seen(); sleepers++ }; \
  atomic { \
    if \
    :: BARRIER == 1 -> let_tail_be_seen(); let_head_be_seen() \
    :: else \
    fi \
  }; \
  do \
  :: atomic { (ready) -> break } \
  :: atomic { !(ready) -> asleep = true }; !asleep \
  od; \
  sleepers--

#define SHOW_TAIL atomic { let_tail_be_seen(); tail_shown = tail; late_tail = tail; tail_is_late = true }
#define SHOW_HEAD atomic { let_head_be_seen(); head_shown = head; late_head = head; head_is_late = true }

active proctype tokenizer() {
  byte tail, tail_shown, head_seen, known, at;
  bool ended;
  do
  :: if
     :: request != answered ->
        known = request;
        at = restart_at;
        ended = false;
        SHOW_TAIL;
        resume = tail;
        atomic { let_tail_be_seen(); answered = known };
        UNPARK(let_tail_be_seen)
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
        :: tail != tail_shown -> SHOW_TAIL; UNPARK(let_tail_be_seen)
        :: else
        fi;
        if
        :: ended -> PARK(tokenizer_asleep, request != answered || stop, let_tail_be_seen)
        :: else -> PARK(tokenizer_asleep, request != answered || stop || shared_head != head_seen, let_tail_be_seen)
        fi
     :: else ->
        /* Any token may be too long for the window. */
        if
        :: true
        :: true ->
           if
           :: tail != tail_shown -> SHOW_TAIL; UNPARK(let_tail_be_seen)
           :: else
           fi;
           PARK(tokenizer_asleep, request != answered || stop || drained == tail, let_tail_be_seen);
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
        /* A batch, or fewer tokens that took long to read. */
        if
        :: tail - tail_shown >= 1 -> SHOW_TAIL; UNPARK(let_tail_be_seen)
        :: tail - tail_shown < BATCH
        fi
     fi;
again: skip
  od
}

active proctype builder() {
  byte head, head_shown, tail_seen, expected, rollbacks;
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
        :: head != head_shown -> SHOW_HEAD
        :: else
        fi;
        atomic { let_head_be_seen(); drained = head };
        UNPARK(let_head_be_seen);
        PARK(builder_asleep, shared_tail != head, let_head_be_seen)
     :: else ->
        assert(tail_seen - head <= LENGTH);
        assert(slot[head % LENGTH] == expected && slot_known[head % LENGTH] == rollbacks);
        head++;
        if
        :: head - head_shown >= BATCH -> SHOW_HEAD; UNPARK(let_head_be_seen)
        :: else
        fi;
        if
        :: rollbacks < ROLLBACKS ->
           /* A hazard: the token after this one, or, at "<![CDATA[", this one again. */
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
           atomic { let_head_be_seen(); request = rollbacks };
           UNPARK(let_head_be_seen);
           PARK(builder_asleep, request == answered, let_head_be_seen);
           head = resume;
           tail_seen = head;
           SHOW_HEAD;
           UNPARK(let_head_be_seen)
        :: expected++
        fi
     fi
  od;
  atomic { let_head_be_seen(); stop = true };
  UNPARK(let_head_be_seen)
}
