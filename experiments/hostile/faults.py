"""faults.py BUILD all|some: runs the program hpar while the system fails it, at two sizes of page. Prints the number of
tries, the outcomes and the CPU time of the longest try as JSON. tests/refuse is preloaded to refuse memory, threads and so
on. Exit status 1 if data was lost: another tree, an end without a message, a signal, a hang."""
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

build, extent = sys.argv[1:]
HPAR, REFUSE = os.path.join(build, "hpar"), os.path.join(build, "tests", "librefuse.so")
LINES = (500, 2000) if extent == "all" else (100, 400)
HANG = 30
wrong = []


class Fault:
    def __init__(self, name, expected):
        self.name, self.expected = name, expected  # expected: the permitted outcomes
        self.tried, self.outcomes, self.ns = 0, {}, [0, 0]

    def note(self, size, outcome, ns):
        self.tried += 1
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.ns[size] = max(self.ns[size], ns)
        if outcome not in self.expected:
            wrong.append(f"{self.name}: {outcome}")


def run(arguments, environment=None, limit=None, before=None, output=None, meanwhile=None, given=None):
    """Status (negative for a signal, None for a hang), output, error output, processor time."""
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if before:
            before()

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([HPAR, *arguments], stdin=given or subprocess.DEVNULL, stdout=output or out, stderr=err,
                                 env=dict(os.environ, **(environment or {})), preexec_fn=prepare)
        if meanwhile:
            meanwhile(child)
        deadline = time.monotonic() + HANG
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                child.kill()
                os.wait4(child.pid, 0)
                return None, b"", b"", 0
            time.sleep(0.0005)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read(), err.read(), int((used.ru_utime + used.ru_stime) * 1e9)


TREE, SAID, ENDED = "the tree", "a message", "ended by the signal"


def outcome(result, expected, said, ended=None):
    status, out, err, _ = result
    if status is None:
        return "hung"
    if status == 0:
        return TREE if out == expected else "another tree"
    if ended is not None and status == -ended:
        return ENDED
    if status == 1 and said in err and out != expected:
        return SAID
    return f"status {status}"


def refused(fault, size, what, arguments, expected, said=b"out of memory", log=None):
    """Whether anything was refused."""
    environment = {"LD_PRELOAD": REFUSE, "HPAR_REFUSE": what, "HPAR_REFUSE_LOG": log}
    if os.path.exists(log):
        os.remove(log)
    result = run(arguments, environment)
    counts = {}
    if os.path.exists(log):
        with open(log, encoding="ascii") as file:
            counts = {kind: int(times) for kind, _, times in (line.split() for line in file)}
    times = counts.get(what.split(":")[0], 1)
    if times or fault.name.startswith("huge"):
        fault.note(size, outcome(result, expected, said), result[3])
    return times > 0


def page(folder, lines):
    path = os.path.join(folder, f"page{lines}.html")
    with open(path, "w", encoding="ascii") as file:
        for i in range(lines):
            file.write(f"<div><p class=a{i}>paragraph <b>{i}</b><i>x</div>\n")
    return path


def main():
    step = 1 if extent == "all" else 25
    modes = [["--mode", "sequential"], ["--mode", "parallel", "--threads", "4"]]
    if run(["parse", "--predictor", "help"])[0]:
        modes = modes[:1]
    memory = Fault("the n-th allocation fails, alone", {TREE, SAID})
    later = Fault("the n-th allocation fails, and all later ones", {TREE, SAID})
    space = Fault("little address space (ulimit -v)", {TREE, SAID, "not begun"})
    shrinking = Fault("the file is cut short while it is read", {"the tree of the rest"})
    threads = Fault("threads cannot be created", {TREE})
    stacks = Fault("no space for the threads' stacks", {TREE})
    policy = Fault("huge pages and NUMA are refused", {TREE})
    affinity = Fault("binding to processors is refused", {TREE})
    one = Fault("one processor", {TREE})
    blind = Fault("hwloc sees nothing", {TREE})
    disk = Fault("full disk", {SAID})
    closed = Fault("closed output", {SAID})
    pipe = Fault("closed pipe", {"exit status 1"})
    reading = Fault("reading fails", {SAID})
    stopped = Fault("stopped and continued", {TREE})
    told = Fault("SIGTERM", {ENDED})
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        for size, lines in enumerate(LINES):
            path = page(folder, lines)
            expected = run(["parse", *modes[0], path])[1]
            for mode in modes:
                parse = ["parse", *mode, path]
                for fault, form in (memory, "memory:{}"), (later, "memory:{}+"):
                    n = 1
                    while refused(fault, size, form.format(n), parse, expected, log=log):
                        n += step
                for megabytes in (12, 16, 20, 30, 40, 70, 130, 250, 1000, 8000)[:: 1 if step == 1 else 3]:
                    result = run(parse, limit=megabytes << 20)
                    loader = result[0] in (126, 127) or (result[0] is not None and result[0] < 0 and megabytes < 16)
                    space.note(size, "not begun" if loader else outcome(result, expected, b"out of memory"), result[3])
                for what in "policy", "policy:1":
                    refused(policy, size, what, parse, expected, log=log)
                if hasattr(os, "sched_setaffinity"):
                    processor = max(os.sched_getaffinity(0))
                    result = run(parse, before=lambda number=processor: os.sched_setaffinity(0, {number}))
                    one.note(size, outcome(result, expected, b""), result[3])
                for variable in "HWLOC_COMPONENTS=-linux", "HWLOC_FSROOT=/nonexistent", "HWLOC_XMLFILE=/dev/null", "HWLOC_SYNTHETIC=x":
                    if step > 1 and variable[6:9] != "COM":
                        continue
                    result = run(parse, dict([variable.split("=")], HWLOC_HIDE_ERRORS="2"))
                    blind.note(size, outcome(result, expected, b""), result[3])
                with open("/dev/full", "wb") as full:
                    result = run(parse, output=full)
                disk.note(size, SAID if result[0] == 1 and b"cannot be written" in result[2] else f"status {result[0]}", result[3])
                result = run(parse, before=lambda: os.close(1))
                closed.note(size, SAID if result[0] == 1 and result[2] else f"status {result[0]}", result[3])
                end, far = os.pipe()
                os.close(end)
                result = run(parse, output=far)
                os.close(far)
                silent = result[0] == 1 and not result[2]
                pipe.note(size, "exit status 1" if silent else f"status {result[0]}", result[3])
                for n in 1, 2:
                    refused(reading, size, f"read:{n}", parse, expected, b"cannot be read", log)
                for _ in range(8 // step + 1):
                    shrunk = os.path.join(folder, "shrinking.html")
                    with open(path, "rb") as whole, open(shrunk, "wb") as copy:
                        copy.write(whole.read() * 4)

                    def cut(_):
                        time.sleep(random.random() * 0.003)
                        os.truncate(shrunk, random.randrange(100))

                    result = run(["parse", *mode, "--format", "none", shrunk], meanwhile=cut)
                    shrinking.note(size, "the tree of the rest" if result[0] == 0 else f"status {result[0]}", result[3])
                for sent in "continue", "end":
                    end, far = os.pipe()
                    with open(path, "rb") as file:
                        text = file.read()

                    def signals(child):
                        os.close(end)
                        try:
                            half = len(text) // 2
                            os.write(far, text[:half][:60000])
                            if sent == "end":
                                child.send_signal(signal.SIGTERM)
                            else:
                                child.send_signal(signal.SIGSTOP)
                                time.sleep(0.01)
                                child.send_signal(signal.SIGCONT)
                                written = min(half, 60000)
                                while written < len(text):
                                    written += os.write(far, text[written:])
                        finally:
                            os.close(far)

                    result = run(["parse", *mode, "-"], given=end, meanwhile=signals)
                    fault = told if sent == "end" else stopped
                    fault.note(size, outcome(result, expected, b"", signal.SIGTERM), result[3])
            if len(modes) > 1:
                parallel = ["parse", *modes[1], path]
                for what in "threads", "threads:2+", "threads:2", "threads:3":
                    refused(threads, size, what, parallel, expected, log=log)
                result = run(["parse", "--mode", "parallel", "--threads", "250", path], limit=1500 << 20)
                stacks.note(size, outcome(result, expected, b""), result[3])
                for what in "affinity", "affinity:2+", "processors":
                    refused(affinity, size, what, [*parallel, "--bind", "cores"], expected, log=log)
    faults = [memory, later, space, shrinking, threads, stacks, policy, affinity, one, blind, disk, closed, pipe, reading, stopped, told]
    print(json.dumps({"lines": LINES, "wrong": wrong, "faults": [
        {"name": fault.name, "tried": fault.tried, "outcomes": fault.outcomes, "ns": fault.ns} for fault in faults if fault.tried]}))
    return 1 if wrong else 0


sys.exit(main())
