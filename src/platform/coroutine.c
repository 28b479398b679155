#include "platform/coroutine.h"

#include "base/memory.h"
#include "platform/address_range.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* makecontext makes a stack for any processor, but each switch of swapcontext is a system call. For
 * two processors, the switch is therefore written here. With shadow stacks, which the C library
 * knows how to switch, it stays with swapcontext. */
#if !defined(HP_COROUTINE_PORTABLE) && defined(__x86_64__) && !(defined(__CET__) && (__CET__ & 2))
#define HP_SWITCH_WORDS 8
#elif !defined(HP_COROUTINE_PORTABLE) && defined(__aarch64__)
#define HP_SWITCH_WORDS 20
#else
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HP_SANITIZED 1
#endif
#endif
/* Sanitizers know the stack of each thread, and have to learn of others. Each function is missing
 * in the other sanitizer. */
#ifdef HP_SANITIZED
void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t bytes) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *bytes) __attribute__((weak));
void *__tsan_get_current_fiber(void) __attribute__((weak));
void *__tsan_create_fiber(unsigned flags) __attribute__((weak));
void __tsan_destroy_fiber(void *fiber) __attribute__((weak));
void __tsan_switch_to_fiber(void *fiber, unsigned flags) __attribute__((weak));
enum { STACK_BYTES = 256 << 10 };
#else
enum { STACK_BYTES = 32 << 10 };
#endif

struct hp_coroutine {
#ifdef HP_SWITCH_WORDS
  void *outside, *inside; /* the stack pointers of the two while they wait; `outside` is first */
#else
  ucontext_t outside, inside;
#endif
  char *stack;
  void (*function)(void *);
  void *argument;
  bool has_ended;
#ifdef HP_SANITIZED
  void *fake;                 /* the fake stack of the function while it waits */
  const void *outside_bottom; /* of the stack of the thread that runs the function */
  size_t outside_bytes;
  void *own_fiber, *outside_fiber;
#endif
};

/*** the switch ***/

#ifdef HP_SWITCH_WORDS
/* Saves what a call preserves on the running stack, stores its stack pointer in `*save`, and
 * returns on the stack of `load`. */
void hp_switch_stacks(void **save, void *load) __attribute__((visibility("hidden")));
#endif

#if defined(HP_SWITCH_WORDS) && defined(__x86_64__)
enum { RETURN_WORD = 6 };
__asm__(".text\n.p2align 4\n.globl hp_switch_stacks\n.hidden hp_switch_stacks\n.type hp_switch_stacks, @function\n"
        "hp_switch_stacks:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size hp_switch_stacks, . - hp_switch_stacks\n");
#elif defined(HP_SWITCH_WORDS)
enum { RETURN_WORD = 11 }; /* x30 */
__asm__(".text\n.p2align 4\n.globl hp_switch_stacks\n.hidden hp_switch_stacks\n.type hp_switch_stacks, %function\n"
        "hp_switch_stacks:\n"
        "  hint #34\n  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n  str x2, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n"
        ".size hp_switch_stacks, . - hp_switch_stacks\n");
#endif

static void go_inside(hp_coroutine *c) {
#ifdef HP_SANITIZED
  void *fake = NULL;
  if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&fake, c->stack, STACK_BYTES);
  if (__tsan_get_current_fiber) {
    c->outside_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(c->own_fiber, 0);
  }
#endif
#ifdef HP_SWITCH_WORDS
  hp_switch_stacks(&c->outside, c->inside);
#else
  swapcontext(&c->outside, &c->inside);
#endif
#ifdef HP_SANITIZED
  if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void go_outside(hp_coroutine *c) {
#ifdef HP_SANITIZED
  if (__sanitizer_start_switch_fiber)
    __sanitizer_start_switch_fiber(c->has_ended ? NULL : &c->fake, c->outside_bottom, c->outside_bytes);
  if (__tsan_get_current_fiber) __tsan_switch_to_fiber(c->outside_fiber, 0);
#endif
#ifdef HP_SWITCH_WORDS
  hp_switch_stacks(&c->inside, c->outside);
#else
  swapcontext(&c->inside, &c->outside);
#endif
#ifdef HP_SANITIZED
  if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(c->fake, &c->outside_bottom, &c->outside_bytes);
#endif
}

/*** the function's first frame ***/

static void run_function(hp_coroutine *c) {
#ifdef HP_SANITIZED
  if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(NULL, &c->outside_bottom, &c->outside_bytes);
#endif
  c->function(c->argument);
  c->has_ended = true;
  go_outside(c);
  __builtin_unreachable();
}

#ifdef HP_SWITCH_WORDS
/* The first argument of the switch is still in its register: the address of `outside`. */
static void begin_inside(void **save) { run_function((hp_coroutine *)(void *)save); }

static void prepare(hp_coroutine *c) {
  uintptr_t *words = (uintptr_t *)(void *)(c->stack + STACK_BYTES) - HP_SWITCH_WORDS;
  for (int i = 0; i < HP_SWITCH_WORDS; i++) words[i] = 0;
  words[RETURN_WORD] = (uintptr_t)begin_inside;
  c->inside = words;
}
#else
/* makecontext passes only numbers of the type int. */
static void begin_inside(unsigned high, unsigned low) {
  run_function((hp_coroutine *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void prepare(hp_coroutine *c) {
  const uint64_t address = (uintptr_t)c;
  getcontext(&c->inside);
  c->inside.uc_stack.ss_sp = c->stack;
  c->inside.uc_stack.ss_size = STACK_BYTES;
  c->inside.uc_link = NULL;
  makecontext(&c->inside, (void (*)(void))begin_inside, 2, (unsigned)(address >> 32), (unsigned)address);
}
#endif

/*** the interface ***/

static size_t guard_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

hp_coroutine *hp_coroutine_create(void) {
  hp_coroutine *c = hp_allocate_zeroed(sizeof *c);
  if (!c) return NULL;
  const size_t guard = guard_bytes();
  char *base = hp_memory_may() ? hp_map(guard + STACK_BYTES) : NULL;
  if (!base || mprotect(base, guard, PROT_NONE)) {
    if (base) hp_unmap(base, guard + STACK_BYTES);
    hp_free(c);
    return NULL;
  }
  c->stack = base + guard;
#ifdef HP_SANITIZED
  if (__tsan_create_fiber) c->own_fiber = __tsan_create_fiber(0);
#endif
  return c;
}

void hp_coroutine_destroy(hp_coroutine *c) {
  if (!c) return;
#ifdef HP_SANITIZED
  if (__tsan_destroy_fiber) __tsan_destroy_fiber(c->own_fiber);
#endif
  hp_unmap(c->stack - guard_bytes(), guard_bytes() + STACK_BYTES);
  hp_free(c);
}

size_t hp_coroutine_bytes(void) { return STACK_BYTES; }

bool hp_coroutine_start(hp_coroutine *c, void (*function)(void *), void *argument) {
  c->function = function;
  c->argument = argument;
  c->has_ended = false;
  prepare(c);
  return hp_coroutine_continue(c);
}

bool hp_coroutine_continue(hp_coroutine *c) {
  go_inside(c);
  return c->has_ended;
}

void hp_coroutine_pause(hp_coroutine *c) { go_outside(c); }
