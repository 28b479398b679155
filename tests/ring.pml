/* The token buffer (src/pipeline/ring.h) with what stages.c does on both of its sides, for spin: batches, waiting asleep,
 * rollback, draining. A token is its position in the input, with the rollbacks that its reader knew of. The tree builder
 * takes a token once rolled back, at most ROLLBACKS times; then every token must come once, in order, none of them
 * read before the last rollback, from a slot that nobody has written to since, and both sides must come to their ends.
 *
 *   spin -a -DLENGTH=2 -DBATCH=2 ring.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * Interleavings are those of sequential consistency. What stands on release and acquire alone - slots between
 * shared_tail and shared_head, the snapshot and `resume` - is each written before, and read after, one of the stores that
 * are modelled, and never in between. Between a store that a sleeper waits for and the look at `sleepers` there is a full
 * barrier in C, too, made by the sleeper (src/pipeline/parking.h). A tokenizer that is halted while the tree builder reads
 * by itself is one that has ended, and is asked back later. */

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
#define SLOTS (LENGTH + 1)

byte slot[SLOTS], slot_known[SLOTS];
byte shared_tail, shared_head, request, answered, resume, drained, restart_at;
byte sleepers;
bool builder_asleep, tokenizer_asleep, lock, stop;
byte held = 255; /* the slot that the tree builder is reading */

/* Under the lock in C: whoever sleeps wakes up and looks again. */
inline unpark() {
  if
  :: sleepers > 0 -> atomic { builder_asleep = false; tokenizer_asleep = false }
  :: else
  fi
}

/* Spinning is left out: a sleeper may look at any time before it sleeps. `ready` is looked at once more after the
 * sleeper is counted, and between this look and sleep nobody can unpark, since that takes the lock. */
#define PARK(asleep, ready) \
  sleepers++; \
  do \
  :: atomic { (ready) -> break } \
  :: atomic { !(ready) -> asleep = true }; !asleep \
  od; \
  sleepers--

active proctype tokenizer() {
  byte tail, tail_shown, head_seen, known, at;
  bool ended;
  do
  :: if
     :: request != answered ->
        known = request;
        at = restart_at;
        ended = false;
        tail_shown = tail;
        shared_tail = tail;
        resume = tail;
        answered = known;
        unpark()
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
        :: tail != tail_shown -> tail_shown = tail; shared_tail = tail; unpark()
        :: else
        fi;
        if
        :: ended -> PARK(tokenizer_asleep, request != answered || stop)
        :: else -> PARK(tokenizer_asleep, request != answered || stop || shared_head != head_seen)
        fi
     :: else ->
        /* Any token may be too long for the window. */
        if
        :: true
        :: if
           :: tail != tail_shown -> tail_shown = tail; shared_tail = tail; unpark()
           :: else
           fi;
           PARK(tokenizer_asleep, request != answered || stop || drained == tail);
           if
           :: request == answered && !stop -> assert(drained == tail)
           :: else -> goto again
           fi
        fi;
        assert(tail % SLOTS != held);
        slot[tail % SLOTS] = at;
        slot_known[tail % SLOTS] = known;
        at++;
        tail++;
        ended = (at == TOKENS);
        if
        :: tail - tail_shown >= BATCH -> tail_shown = tail; shared_tail = tail; unpark()
        :: else
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
        held = 255;
        if
        :: head != head_shown -> head_shown = head; shared_head = head
        :: else
        fi;
        drained = head;
        unpark();
        PARK(builder_asleep, shared_tail != head)
     :: else ->
        assert(tail_seen - head <= LENGTH);
        held = head % SLOTS;
        head++;
        if
        :: head - head_shown >= BATCH -> head_shown = head; shared_head = head; unpark()
        :: else
        fi;
        assert(slot[held] == expected && slot_known[held] == rollbacks);
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
           request = rollbacks;
           unpark();
           PARK(builder_asleep, request == answered);
           head = resume;
           tail_seen = head;
           head_shown = head;
           held = 255;
           shared_head = head;
           unpark()
        :: expected++
        fi
     fi
  od;
  held = 255;
  stop = true;
  unpark()
}
