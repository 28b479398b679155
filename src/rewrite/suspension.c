#include "rewrite/state.h"

#include "base/memory.h"

/*** on the own stack ***/

hpar_status hp_suspension_call(hpar_rewriter *r, hp_unit_call call, void *unit, const void *callback) {
  hp_suspension *s = r->suspension;
  s->call = call;
  s->unit = unit;
  s->callback = callback;
  hp_coroutine_pause(s->coroutine);
  return s->answer;
}

typedef struct piece {
  const char *bytes;
  size_t length;
} piece;

static hpar_status call_write(void *unit, const void *callback) {
  const piece *p = unit;
  const hp_suspension *s = callback;
  const hpar_status status = s->write(p->bytes, p->length, s->context);
  return status == HPAR_SUSPEND ? HPAR_ERROR_ARGUMENT : status;
}

static hpar_status write_outside(const char *bytes, size_t length, void *context) {
  hpar_rewriter *r = context;
  piece p = {bytes, length};
  return hp_suspension_call(r, call_write, &p, r->suspension);
}

/*** on the caller's stack ***/

hpar_status hp_suspension_open(hpar_rewriter *r, hpar_write_callback *write, void **context) {
  hp_suspension *s = r->suspension ? r->suspension : hp_allocate_zeroed(sizeof *s);
  if (!s) return HPAR_ERROR_MEMORY;
  r->suspension = s;
  if (!s->coroutine) s->coroutine = hp_coroutine_create();
  if (!s->coroutine) {
    hp_suspension_close(r);
    return HPAR_ERROR_MEMORY;
  }
  s->write = *write;
  s->context = *context;
  if (*write) *write = write_outside;
  *context = r;
  return HPAR_OK;
}

void hp_suspension_close(hpar_rewriter *r) {
  if (!r->suspension) return;
  hp_coroutine_destroy(r->suspension->coroutine);
  hp_free(r->suspension);
  r->suspension = NULL;
}

size_t hp_suspension_memory(const hpar_rewriter *r) {
  return r->suspension ? sizeof *r->suspension + hp_coroutine_bytes() : 0;
}

/* Runs what the own stack asks for, until it has ended or a callback suspends. */
static bool serve(hpar_rewriter *r, bool has_ended) {
  hp_suspension *s = r->suspension;
  while (!has_ended) {
    s->answer = s->call(s->unit, s->callback);
    if (s->answer == HPAR_SUSPEND && !hp_is_destroyed(&r->calls.use)) {
      s->waits = true;
      return false;
    }
    has_ended = hp_coroutine_continue(s->coroutine);
  }
  return true;
}

bool hp_suspension_run(hpar_rewriter *r, void (*function)(void *), void *argument) {
  return serve(r, hp_coroutine_start(r->suspension->coroutine, function, argument));
}

bool hp_suspension_resume(hpar_rewriter *r, hpar_status answer) {
  r->suspension->waits = false;
  r->suspension->answer = answer;
  return serve(r, hp_coroutine_continue(r->suspension->coroutine));
}

void hp_suspension_abandon(hpar_rewriter *r) {
  hp_suspension *s = r->suspension;
  s->waits = false;
  do s->answer = HPAR_ERROR_CALLBACK;
  while (!hp_coroutine_continue(s->coroutine));
}
