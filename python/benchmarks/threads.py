"""threads.py FILE...: whether two threads do the work of one in half the time, and who keeps the interpreter's lock.

Prints for each kind of call, over all files:

  two threads    how much work two threads do in the time of one, the best of five. Needs an idle machine with two cores.
  without lock   how much of the call's CPU time runs without the lock
  longest hold   the longest CPU time for which a call keeps the lock, and the size of its page; then the longest for pages up to
                 256 KB, and up to 1 MB. The least of five, because an interrupt counts for the thread that it finds.

The last two depend little on other work. They need a C compiler, and an interpreter that is in a shared library.
"""
import ctypes
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time

import hpar


def read(document):
    document.select("a[href], div p")
    document.links("https://example.org/")
    document.text()


CALLS = {
    "all of the next four": lambda page, document: read(hpar.parse(page, threads=1)),
    "parse": lambda page, document: hpar.parse(page, threads=1),
    "select": lambda page, document: document.select("a[href], div p"),
    "links": lambda page, document: document.links("https://example.org/"),
    "text": lambda page, document: document.text(),
    "readable_text": lambda page, document: document.readable_text(),
    "html": lambda page, document: document.html,
    "xpath": lambda page, document: document.xpath("//a/@href"),
    "getall": lambda page, document: document.getall("p::text"),
    "resources": lambda page, document: document.resources(),
    "descendants": lambda page, document: document.descendants,
    "table": lambda page, document: document.table(),
    "rewrite": lambda page, document: hpar.rewrite(page, [("a", "set", "rel", "nofollow")]),
    "pickle": lambda page, document: document._save(),
    "events (to_etree, Beautiful Soup)": lambda page, document: document._events(),
    "xml (to_lxml)": lambda page, document: document._xml(),
}


def seconds_of(threads, work):
    """The time in which each of some threads does the work once."""
    running = [threading.Thread(target=work) for _ in range(threads)]
    begin = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return time.perf_counter() - begin


def scaling_of(call, inputs):
    """How much work two threads do in the time of one."""
    def fixed(rounds):
        def run():
            for _ in range(rounds):
                for page, document in inputs:
                    call(page, document)
        return run
    fixed(1)()
    begin = time.thread_time()
    fixed(1)()
    rounds = max(1, int(0.3 / max(time.thread_time() - begin, 1e-6)))
    return max(2 * seconds_of(1, fixed(rounds)) / seconds_of(2, fixed(rounds)) for _ in range(5))


SIZES = (256 << 10, 1 << 20)


def holds_of(call, inputs):
    """The share of the time without the lock, and (nanoseconds, bytes of the page) of the longest hold for each limit of sizes."""
    library = ctypes.PyDLL(os.environ["LD_PRELOAD"])
    library.lock_longest.restype = library.lock_outside.restype = ctypes.c_int64
    total = outside = 0
    holds = []
    for page, document in inputs:
        found = []
        for _ in range(5):
            library.lock_begin()
            begin = time.thread_time_ns()
            result = call(page, document)
            end = time.thread_time_ns()
            found.append((library.lock_longest(), end - begin, library.lock_outside()))
            del result
        least = min(found)
        holds.append((least[0], len(page)))
        total += least[1]
        outside += least[2]
    return outside / total, [max((hold for hold in holds if hold[1] <= size), default=(0, 0)) for size in (float("inf"), *SIZES)]


def run_with_lock(paths):
    """The result of holds_of for each call, from a process in which benchmarks/lock.c measures the lock; {}: impossible."""
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") or "libpython" not in open("/proc/self/maps", encoding="utf-8").read():
        print(f"{sys.executable} is not in a shared library, so that the lock cannot be measured")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "lock.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lock.c")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        done = subprocess.run([sys.executable, __file__, "--lock", *paths], env={**os.environ, "LD_PRELOAD": library},
                              stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    paths = [path for path in sys.argv[1:] if path != "--lock"]
    if not paths:
        sys.exit(__doc__)
    inputs = []
    for path in paths:
        with open(path, "rb") as file:
            page = file.read()
        inputs.append((page, hpar.parse(page)))
    if "--lock" in sys.argv:
        print(json.dumps({name: holds_of(call, inputs) for name, call in CALLS.items()}))
        return
    locks = run_with_lock(paths)
    print(f"{len(paths)} pages, {sum(len(page) for page, _ in inputs) / 1e6:.1f} MB; load of the machine {os.getloadavg()[0]:.2f}")
    print("| call | two threads | without lock | longest hold, ms | page, KB | up to 256 KB, ms | up to 1 MB, ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, call in CALLS.items():
        line = f"| {name} | {scaling_of(call, inputs):.2f} |"
        if name in locks:
            outside, (longest, *others) = locks[name]
            line += f" {outside:.0%} | {longest[0] / 1e6:.2f} | {longest[1] >> 10:,} |"
            line += "".join(f" {hold / 1e6:.2f} |" for hold, _ in others)
        print(line, flush=True)


if __name__ == "__main__":
    main()
