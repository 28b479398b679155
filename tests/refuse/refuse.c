/* A library for LD_PRELOAD that refuses system services to a program. HPAR_REFUSE lists the
 * services:
 *
 *   memory     malloc, calloc, realloc           threads    pthread_create
 *   map        mmap
 *   policy     madvise, mbind, set_mempolicy, huge pages by mmap
 *   affinity   sched_setaffinity                 processors sched_getaffinity
 *   read       read                              fork       fork
 *   pipe       pipe
 *
 * `name` refuses each call, `name:N` only the N-th call (from 1), `name:N+` the N-th call and
 * all later ones. The library counts and refuses only calls from the program's code, except for
 * policy, where it handles all calls. At the end of the process it writes a line `name called
 * refused` for each service to the file HPAR_REFUSE_LOG.
 *
 * HPAR_PROCESSORS=N simulates the processors 0 to N-1 for all calls that set or report the
 * affinity of the calling thread. With N:CALL:LEFT, only the first LEFT of them remain from the
 * program's CALL-th sched_setaffinity on, as if the others were taken away. The last line of the
 * file is then `main P 0`, where P is the number of the main thread's processors. HPAR_PROCESSOR=N
 * lets each thread run on processor N, as far as it asks. */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

enum { MEMORY, THREADS, MAP, POLICY, AFFINITY, PROCESSORS, READ, FORK, PIPE, KINDS };
static const char *const names[KINDS] = {"memory",     "threads", "map",  "policy", "affinity",
                                         "processors", "read",    "fork", "pipe"};

/* The library refuses the calls first .. last. The first call has the number 1. */
static struct {
  unsigned long first, last;
  atomic_ulong called, refused;
} kinds[KINDS];
static atomic_bool ready;
static atomic_flag begun = ATOMIC_FLAG_INIT;
static uintptr_t begin, end; /* of the program's code */

/* Calls after main has returned do not count: a build for coverage then writes its counts, with
 * memory from malloc. */
static void pause_at_exit(void) { atomic_store(&ready, false); }

static bool refuses(int kind, const void *caller) {
  if (!atomic_load(&ready)) return false;
  uintptr_t from = (uintptr_t)caller;
  if (kind != POLICY && (from < begin || from >= end)) return false;
  /* Registers at the program's first call. The handler that is registered last runs first. libc
   * registers the program's destructors when it starts the program, which is after start(). */
  if (!atomic_flag_test_and_set(&begun)) atexit(pause_at_exit);
  unsigned long call = atomic_fetch_add(&kinds[kind].called, 1) + 1;
  if (!kinds[kind].first || call < kinds[kind].first || call > kinds[kind].last) return false;
  atomic_fetch_add(&kinds[kind].refused, 1);
  return true;
}
#define REFUSES(kind) refuses(kind, __builtin_return_address(0))

/*** simulated processors ***/

static unsigned long simulated, vanish_at, remaining; /* HPAR_PROCESSORS; 0: none */
static atomic_bool vanished;
static _Thread_local cpu_set_t own; /* the affinity of the thread, if it has set one */
static _Thread_local int has_own;
static cpu_set_t *main_own;
static int *main_has_own;

static void simulate(void) {
  const char *setting = getenv("HPAR_PROCESSORS");
  if (!setting || sscanf(setting, "%lu:%lu:%lu", &simulated, &vanish_at, &remaining) < 1) return;
  main_own = &own;
  main_has_own = &has_own;
}

static unsigned long processors_now(void) { return atomic_load(&vanished) ? remaining : simulated; }

/* Writes those of the processors that exist. Returns their number. */
static int existing(const cpu_set_t *from, cpu_set_t *to) {
  CPU_ZERO(to);
  for (unsigned long i = 0; i < processors_now(); i++)
    if (!from || CPU_ISSET(i, from)) CPU_SET(i, to);
  return CPU_COUNT(to);
}

static int set_simulated(size_t size, const cpu_set_t *set) {
  cpu_set_t given, now;
  CPU_ZERO(&given);
  memcpy(&given, set, size < sizeof given ? size : sizeof given);
  if (vanish_at && atomic_load(&kinds[AFFINITY].called) >= vanish_at) atomic_store(&vanished, true);
  if (!existing(&given, &now)) {
    errno = EINVAL;
    return -1;
  }
  own = now;
  has_own = 1;
  return 0;
}

static int get_simulated(size_t size, cpu_set_t *set) {
  cpu_set_t now;
  if (size * 8 < simulated) {
    errno = EINVAL;
    return -1;
  }
  existing(has_own ? &own : NULL, &now);
  memset(set, 0, size);
  memcpy(set, &now, size < sizeof now ? size : sizeof now);
  return 0;
}

/* The first object is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  (void)context;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    begin = info->dlpi_addr + part->p_vaddr;
    end = begin + part->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void start(void) {
  const char *setting = getenv("HPAR_REFUSE");
  dl_iterate_phdr(find_program, NULL);
  while (setting && *setting) {
    size_t length = strcspn(setting, ":,");
    const char *next = setting + strcspn(setting, ",");
    for (int kind = 0; kind < KINDS; kind++) {
      if (strlen(names[kind]) != length || strncmp(names[kind], setting, length) != 0) continue;
      char *after = NULL;
      kinds[kind].first = setting[length] == ':' ? strtoul(setting + length + 1, &after, 10) : 1;
      kinds[kind].last = after && *after != '+' ? kinds[kind].first : (unsigned long)-1;
    }
    setting = *next ? next + 1 : next;
  }
  simulate();
  atomic_store(&ready, true);
}

__attribute__((destructor)) static void stop(void) {
  const char *path = getenv("HPAR_REFUSE_LOG");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  for (int kind = 0; kind < KINDS; kind++)
    fprintf(file, "%s %lu %lu\n", names[kind], atomic_load(&kinds[kind].called), atomic_load(&kinds[kind].refused));
  if (main_own) {
    cpu_set_t now;
    fprintf(file, "main %d 0\n", existing(*main_has_own ? main_own : NULL, &now));
  }
  fclose(file);
}

/* The function that the program would call without this library. */
#define NEXT(name) ((__typeof__(name) *)(uintptr_t)dlsym(RTLD_NEXT, #name))

void *malloc(size_t bytes) {
  if (!REFUSES(MEMORY)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return NULL;
}

void *calloc(size_t count, size_t bytes) {
  if (!REFUSES(MEMORY)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return NULL;
}

void *realloc(void *old, size_t bytes) {
  if (!REFUSES(MEMORY)) return __libc_realloc(old, bytes);
  errno = ENOMEM;
  return NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  return REFUSES(THREADS) ? EAGAIN : NEXT(pthread_create)(thread, attributes, run, argument);
}

void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset) {
  if (!((flags & MAP_HUGETLB) && REFUSES(POLICY)) && !REFUSES(MAP))
    return NEXT(mmap)(at, length, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

int madvise(void *at, size_t length, int advice) {
  if (!REFUSES(POLICY)) return NEXT(madvise)(at, length, advice);
  errno = EPERM;
  return -1;
}

long syscall(long number, ...) {
  va_list values;
  long a[6];
  va_start(values, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(values, long);
  va_end(values);
  bool policy = number == SYS_mbind || number == SYS_set_mempolicy || number == SYS_madvise;
  if (!policy || !REFUSES(POLICY)) return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  errno = EPERM;
  return -1;
}

int sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set) {
  if (!REFUSES(AFFINITY)) return simulated ? set_simulated(size, set) : NEXT(sched_setaffinity)(process, size, set);
  errno = EPERM;
  return -1;
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) {
  if (!REFUSES(PROCESSORS)) return simulated ? get_simulated(size, set) : NEXT(sched_getaffinity)(process, size, set);
  errno = EPERM;
  return -1;
}

int sched_getcpu(void) {
  const char *number = getenv("HPAR_PROCESSOR");
  return number ? atoi(number) : NEXT(sched_getcpu)();
}

ssize_t read(int file, void *bytes, size_t most) {
  if (!REFUSES(READ)) return NEXT(read)(file, bytes, most);
  errno = EIO;
  return -1;
}

pid_t fork(void) {
  if (!REFUSES(FORK)) return NEXT(fork)();
  errno = EAGAIN;
  return -1;
}

int pipe(int ends[2]) {
  if (!REFUSES(PIPE)) return NEXT(pipe)(ends);
  errno = EMFILE;
  return -1;
}
