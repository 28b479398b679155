#include "programs/crawl/python.h"

#include "base/memory.h"
#include "programs/warc/octets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHANNEL = 3, SHARED = 4, TEXTS = 7, FIRST_BYTES = 1 << 20 };

const char hp_python_script[] =
    "import gc, importlib.util, json, mmap, os, re, resource, struct, sys, traceback\n"
    "path = sys.argv[1]\n"
    "try:\n"
    "    spec = importlib.util.spec_from_file_location('hpar_record', path)\n"
    "    module = importlib.util.module_from_spec(spec)\n"
    "    sys.modules['hpar_record'] = module\n"
    "    spec.loader.exec_module(module)\n"
    "    function = module.record\n"
    "    if not callable(function):\n"
    "        raise TypeError('record is no function')\n"
    "except BaseException as error:\n"
    "    sys.exit('hpar: ' + path + ': ' + ' '.join(traceback.format_exception_only(error)[-1].split()))\n"
    "if len(sys.argv) < 3:\n"
    "    sys.exit()\n"
    "def text(octets):\n"
    "    try:\n"
    "        return str(octets, 'utf-8')\n"
    "    except UnicodeDecodeError:\n"
    "        return str(octets, 'latin-1')\n"
    "def fields(head):\n" /* a line that begins with white space continues the one before */
    "    lines = re.split(rb'\\r?\\n(?![ \\t])', head)[1:]\n"
    "    pairs = (line.partition(b':') for line in lines)\n"
    "    return {text(name.strip()).lower(): text(value.strip()) for name, colon, value in reversed(list(pairs)) if "
    "colon}\n"
    "class Record:\n"
    "    __slots__ = 'url date type encoding offset inner status body _head _http'.split()\n"
    "    headers = property(lambda self: fields(self._head))\n"
    "    http_headers = property(lambda self: fields(self._http))\n"
    "    def document(self, **options):\n"
    "        import hpar\n"
    "        options.setdefault('encoding', self.encoding)\n"
    "        options.setdefault('threads', 1)\n"
    "        return hpar.parse(self.body, **options)\n"
    "pack, unpack = struct.Struct('QQ').pack, struct.Struct('11Q').unpack\n"
    "encode = json.JSONEncoder(allow_nan=False).encode\n"
    "def receive(size):\n"
    "    data = b''\n"
    "    while len(data) < size:\n"
    "        piece = os.read(3, size - len(data))\n"
    "        if not piece:\n"
    "            os._exit(0)\n"
    "        data += piece\n"
    "    return data\n"
    "def send(kind, data):\n"
    "    data = pack(kind, len(data)) + data\n"
    "    while data:\n"
    "        data = data[os.write(3, data):]\n"
    "def call(region, numbers):\n"
    "    record = Record()\n"
    "    _, record.offset, record.inner, record.status, url, date, kind, label, head, http, body = numbers\n"
    "    date += url\n"
    "    kind += date\n"
    "    label += kind\n"
    "    head += label\n"
    "    http += head\n"
    "    record.url, record.date = text(region[:url]), text(region[url:date])\n"
    "    record.type, record.encoding = text(region[date:kind]), text(region[kind:label]) or None\n"
    "    record._head, record._http, record.body = region[label:head], region[head:http], region[http:http + body]\n"
    "    try:\n"
    "        rows = function(record)\n"
    "        if isinstance(rows, (dict, str)):\n"
    "            raise TypeError('record() returns a %s: yield it' % type(rows).__name__)\n"
    "        send(0, b''.join(encode(row).encode() + b'\\n' for row in rows or ()))\n"
    "    except Exception as error:\n"
    "        trace = error.__traceback__\n"
    "        while trace.tb_next and trace.tb_frame.f_code.co_filename == '<string>':\n"
    "            trace = trace.tb_next\n"
    "        lines = traceback.format_exception(type(error), error, trace)\n"
    "        send(1, ('python: ' + ''.join(lines)).encode('utf-8', 'replace')[:10000])\n"
    "with open('/proc/self/statm') as file:\n"
    "    used = int(file.read().split()[5]) * mmap.PAGESIZE\n"
    "resource.setrlimit(resource.RLIMIT_DATA, (used + int(sys.argv[2]),) * 2)\n"
    "size, region = 0, None\n"
    "gc.freeze()\n"
    "send(0, b'')\n"
    "while True:\n"
    "    numbers = unpack(receive(88))\n"
    "    if numbers[0] != size:\n"
    "        size = numbers[0]\n"
    "        region = memoryview(mmap.mmap(4, size, mmap.MAP_SHARED, mmap.PROT_READ))\n"
    "    call(region, numbers)\n";

struct hp_python {
  const hp_map_options *options;
  pid_t process; /* 0: none */
  int channel, shared;
  char *region; /* of `size` bytes, which the process sees */
  size_t size;
  hp_octets reply; /* with a NUL at its end */
};

hpar_status hp_python_create(hp_python **python, const hp_map_options *options) {
  hp_python *p = hp_allocate_zeroed(sizeof *p);
  if (!p) return HPAR_ERROR_MEMORY;
  p->options = options;
  p->channel = -1;
  p->shared = memfd_create("hpar-record", MFD_CLOEXEC);
  if (p->shared < 0) {
    hp_python_destroy(p);
    return HPAR_ERROR_MEMORY;
  }
  *python = p;
  return HPAR_OK;
}

/* Ends the process. Returns its status. */
static int end_process(hp_python *p) {
  int status = 0;
  if (!p->process) return 0;
  close(p->channel);
  p->channel = -1;
  kill(p->process, SIGKILL);
  while (waitpid(p->process, &status, 0) < 0 && errno == EINTR) {
  }
  p->process = 0;
  return status;
}

void hp_python_destroy(hp_python *p) {
  if (!p) return;
  end_process(p);
  if (p->region) munmap(p->region, p->size);
  if (p->shared >= 0) close(p->shared);
  hp_octets_free(&p->reply);
  hp_free(p);
}

const char *hp_python_reason(const hp_python *p) { return p->reply.at ? p->reply.at : ""; }

/*** the process ***/

static _Noreturn void run_script(const hp_python *p, int channel, pid_t parent) {
  char memory[24];
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)p->options->memory);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* Copies above both numbers, because one may be the other. */
  int from = fcntl(channel, F_DUPFD, SHARED + 1), shared = fcntl(p->shared, F_DUPFD, SHARED + 1);
  bool fine = getppid() == parent && from >= 0 && shared >= 0 && dup2(from, CHANNEL) >= 0 &&
              dup2(shared, SHARED) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
  close(from);
  close(shared);
  setenv("PYTHONHASHSEED", "0", 1); /* the order of a set is the same in each process */
  if (fine) execlp("python3", "python3", "-c", hp_python_script, p->options->python, memory, (char *)NULL);
  _exit(127);
}

/* Waits until the process answers. Returns false with errno ETIME after the limit of time in ns,
 * unless that is 0. */
static bool wait_for_answer(const hp_python *p, uint64_t time_ns) {
  struct pollfd ready = {.fd = p->channel, .events = POLLIN};
  uint64_t limit = time_ns / 1000000 + 1;
  int got;
  do got = poll(&ready, 1, time_ns ? (int)(limit < INT32_MAX ? limit : INT32_MAX) : -1);
  while (got < 0 && errno == EINTR);
  if (!got) errno = ETIME;
  return got > 0;
}

static bool receive(const hp_python *p, void *bytes, size_t length, uint64_t time_ns) {
  for (char *at = bytes; length;) {
    ssize_t got = wait_for_answer(p, time_ns) ? recv(p->channel, at, length, 0) : -1;
    if (got < 0 && errno == EINTR) continue;
    if (!got) errno = EPIPE;
    if (got <= 0) return false;
    at += got;
    length -= (size_t)got;
  }
  return true;
}

/* Starts the process, if there is none, and waits until it has loaded the file. */
static bool start_process(hp_python *p) {
  int ends[2];
  uint64_t answer[2];
  if (p->process) return true;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return false;
  pid_t parent = getpid(), child = fork();
  if (!child) run_script(p, ends[1], parent);
  close(ends[1]);
  p->channel = ends[0];
  p->process = child > 0 ? child : 0;
  if (child < 0) close(ends[0]);
  return child > 0 && receive(p, answer, sizeof answer, 0);
}

static bool send_all(const hp_python *p, const void *bytes, size_t length) {
  for (const char *at = bytes; length;) {
    ssize_t sent = send(p->channel, at, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    length -= (size_t)sent;
  }
  return true;
}

/*** records ***/

/* Makes the shared memory have at least `length` bytes. */
static bool reserve(hp_python *p, size_t length) {
  size_t size = p->size ? p->size : FIRST_BYTES;
  while (size < length) size *= 2;
  if (size == p->size) return true;
  if (p->region) munmap(p->region, p->size);
  p->region = NULL;
  p->size = 0;
  if (ftruncate(p->shared, (off_t)size)) return false;
  char *region = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, p->shared, 0);
  if (region == MAP_FAILED) return false;
  p->region = region;
  p->size = size;
  return true;
}

static bool set_reply(hp_python *p, const char *text) {
  p->reply.length = 0;
  return hp_octets_add(&p->reply, text, strlen(text) + 1);
}

/* The process has ended, or takes too long. The next record has a new one. */
static hp_python_result refuse_end(hp_python *p) {
  bool late = errno == ETIME;
  int status = end_process(p);
  char reason[80] = "python: time";
  if (!late && WIFEXITED(status))
    snprintf(reason, sizeof reason, "python: ended with status %d", WEXITSTATUS(status));
  else if (!late)
    snprintf(reason, sizeof reason, "python: ended by signal %d", WTERMSIG(status));
  return set_reply(p, reason) ? HP_PYTHON_REFUSED : HP_PYTHON_FAILED;
}

hp_python_result hp_python_record(hp_python *p, const hp_warc_record *record, const hp_http_message *message,
                                  FILE *file) {
  const char *label = message && hpar_encoding_name(message->charset) ? message->charset : "";
  const hpar_string texts[TEXTS] = {record->uri,
                                    record->date,
                                    record->type,
                                    {label, strlen(label)},
                                    record->head,
                                    message ? message->head : (hpar_string){"", 0},
                                    message ? message->body : record->block};
  uint64_t numbers[4 + TEXTS] = {0, record->offset, record->inner, message ? message->status : 0}, answer[2];
  size_t length = 0;
  for (int i = 0; i < TEXTS; i++) length += texts[i].length;
  if (!reserve(p, length + 1) || !start_process(p)) return HP_PYTHON_FAILED;
  numbers[0] = p->size;
  length = 0;
  for (int i = 0; i < TEXTS; i++) {
    if (texts[i].length) memcpy(p->region + length, texts[i].bytes, texts[i].length);
    numbers[4 + i] = texts[i].length;
    length += texts[i].length;
  }
  errno = 0;
  if (!send_all(p, numbers, sizeof numbers) || !receive(p, answer, sizeof answer, p->options->time_ns))
    return refuse_end(p);
  p->reply.length = 0;
  if (answer[1] > p->options->memory) {
    end_process(p);
    return set_reply(p, "python: rows") ? HP_PYTHON_REFUSED : HP_PYTHON_FAILED;
  }
  if (!hp_octets_reserve(&p->reply, (size_t)answer[1] + 1)) return HP_PYTHON_FAILED;
  if (!receive(p, p->reply.at, (size_t)answer[1], p->options->time_ns)) return refuse_end(p);
  p->reply.at[answer[1]] = 0;
  if (answer[0]) return HP_PYTHON_REFUSED;
  if (file) fwrite(p->reply.at, 1, (size_t)answer[1], file);
  return HP_PYTHON_DONE;
}
