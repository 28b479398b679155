"""threads.py [--lock] FILE...: whether two threads do the work of one in half the time, and who keeps the lock.

Prints for each kind of call how much work two threads do in the time of one, which needs an idle machine with two cores. With --lock, it prints from CPU times how much of a call runs without the interpreter's
lock, the speed that two threads can therefore reach, and the longest time for which a call keeps the lock. That depends
little on other work. It needs a C compiler, and an interpreter that is in a shared library.
"""
import ctypes
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


def print_scaling(inputs):
    print("| call | work of two threads in the time of one |\n| --- | ---: |")
    for name, call in CALLS.items():
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
        best = max(2 * seconds_of(1, fixed(rounds)) / seconds_of(2, fixed(rounds)) for _ in range(5))
        print(f"| {name} | {best:.2f} |", flush=True)


def print_holds(inputs):
    library = ctypes.PyDLL(os.environ["LD_PRELOAD"])
    library.lock_longest.restype = library.lock_outside.restype = ctypes.c_int64
    print("| call | without the lock | two threads reach | longest hold, ms | page |\n| --- | ---: | ---: | ---: | ---: |")
    for name, call in CALLS.items():
        total = outside = longest = size = 0
        for page, document in inputs:
            best = None
            for _ in range(5):  # the least, because an interrupt counts for the thread that it finds
                library.lock_begin()
                begin = time.thread_time_ns()
                result = call(page, document)
                end = time.thread_time_ns()
                found = library.lock_longest(), end - begin, library.lock_outside()
                del result
                best = found if best is None else min(best, found)
            if best[0] > longest:
                longest, size = best[0], len(page)
            total += best[1]
            outside += best[2]
        held = 1 - outside / total
        print(f"| {name} | {1 - held:.0%} | {2 / (1 + held):.2f} | {longest / 1e6:.2f} | {size >> 10:,} KB |", flush=True)


def main():
    paths = [path for path in sys.argv[1:] if path != "--lock"]
    if not paths:
        sys.exit(__doc__)
    if "--lock" in sys.argv and not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        sys.exit(f"{sys.executable} is not in a shared library, so that its functions cannot be replaced")
    if "--lock" in sys.argv and "lock.so" not in os.environ.get("LD_PRELOAD", ""):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "lock.so")
            source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lock.c")
            subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
            sys.exit(subprocess.run([sys.executable, *sys.argv], env={**os.environ, "LD_PRELOAD": library}).returncode)
    inputs = []
    for path in paths:
        with open(path, "rb") as file:
            page = file.read()
        inputs.append((page, hpar.parse(page)))
    (print_holds if "--lock" in sys.argv else print_scaling)(inputs)


if __name__ == "__main__":
    main()
