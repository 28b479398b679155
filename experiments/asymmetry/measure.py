"""measure.py BUILD HOW ROUNDS RUNS PAGE...: times of parses on a fast and a slow core, as one JSON object.

HOW is one of these:
  kinds  the fastest and the slowest kind of core of this machine
  core   another program takes 60% of the second core, in periods of 100 us
  quota  a control group gives 40% of a core to one thread, in periods of 10 ms"""
import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import board, pages  # noqa: E402

PERCENT, PERIOD, QUOTA_PERIOD = 40, 100, 10000  # of a core, us, us
SHARES = 262144  # the most: only the quota limits the thread
CONTROLLERS = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]
FULL = 1000


class Unavailable(Exception):
    """The machine does not have what the measurement needs."""


class SlowCore:
    """Makes one core slow while the context is open."""

    def __init__(self, build, core):
        self.command = [os.path.join(build, "hpar-slow"), str(core), str(100 - PERCENT), str(PERIOD)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise Unavailable(self.process.communicate()[1].strip() or "hpar-slow ended")
        return self

    def __exit__(self, *_):
        self.process.communicate()


class Quota:
    """A control group of threads with a quota (version 1 of control groups)."""

    def __init__(self):
        reason = "the machine has no CPU quotas for single threads"
        for controller in CONTROLLERS:
            self.folder = os.path.join(controller, f"hpar-asymmetry-{os.getpid()}")
            try:
                if os.path.isdir(controller):
                    os.mkdir(self.folder)
                    self._write("cpu.cfs_period_us", QUOTA_PERIOD)
                    self._write("cpu.cfs_quota_us", QUOTA_PERIOD * PERCENT // 100)
                    self._write("cpu.shares", SHARES)
                    return
            except OSError as error:
                reason = f"the system refuses a CPU quota: {error.strerror}"
                self.close()
        raise Unavailable(reason)

    def _write(self, file, value):
        with open(os.path.join(self.folder, file), "w", encoding="ascii") as setting:
            setting.write(str(value))

    def limit(self, process, is_merger):
        """Limits the thread of a process that merges, or the other thread, as soon as both exist."""
        threads = []
        while len(threads) < 2 and process.poll() is None:
            time.sleep(0.0005)
            threads = sorted(os.listdir(f"/proc/{process.pid}/task"), key=int)
        if process.poll() is None:
            self._write("tasks", threads[0 if is_merger else -1])

    def close(self):
        if os.path.isdir(self.folder):
            os.rmdir(self.folder)


def kinds():
    """The fastest and the slowest core, and the capacity of each core by its number."""
    capacity = board.describe()["capacity"] or {core: board.number(f"{board.CPUS}/cpu{core}/cpufreq/cpuinfo_max_freq") or 0
                                                for core in map(str, os.sched_getaffinity(0))}
    known = {int(core): value for core, value in capacity.items() if int(core) in os.sched_getaffinity(0)}
    if not known or min(known.values()) * 10 > max(known.values()) * 9:
        raise Unavailable("all cores are of one kind")
    by_speed = sorted(known, key=lambda core: (-known[core], core))
    return by_speed[0], by_speed[-1], known


def listed(capacity):
    """HPAR_CPU_CAPACITY for these cores."""
    return ",".join(str(capacity.get(core, FULL)) for core in range(max(capacity) + 1))


class Measurement:
    def __init__(self, build, how, runs, chosen):
        self.build, self.how, self.runs, self.chosen = build, how, runs, chosen
        self.quota = Quota() if how == "quota" else None
        if how == "kinds":
            self.fast, self.slow, capacity = kinds()
        else:
            cores = sorted(os.sched_getaffinity(0))
            if len(cores) < 2:
                raise Unavailable("only one core")
            self.fast, self.slow = cores[:2]
            capacity = {}
        self.capacity = {self.fast: capacity.get(self.fast, FULL), self.slow: capacity.get(self.slow, FULL * PERCENT // 100)}
        self.equal = {core: FULL for core in self.capacity}
        if how == "core":
            self.capacity[self.slow] = self.measured_capacity()

    def compare(self, capacity, *options, merger_is_slow=False, cores=None):
        """[{mode: times in ns}] of hpar compare, for the pages."""
        environment = dict(os.environ)
        environment.pop("HPAR_CPU_CAPACITY", None)
        if capacity:
            environment["HPAR_CPU_CAPACITY"] = listed(capacity)
        command = [os.path.join(self.build, "hpar"), "compare", "--json", "--threads", "2", "--bind", "cores", "--repeat", str(self.runs),
                   *options, *(page.path for page in self.chosen)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores or set(self.capacity)))
        if self.quota:
            self.quota.limit(process, merger_is_slow)
        output = process.communicate()[0]
        if process.returncode:
            sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
        measured = json.loads(output)["pages"]
        if not all(page["equal"] for page in measured):
            sys.exit("trees differ")
        return [{mode: page["modes"][mode]["ns_runs"] for mode in ("sequential", "parallel")} for page in measured]

    def measured_capacity(self):
        """The capacity of the slow core, by the sequential parser."""
        chosen, self.chosen = self.chosen, self.chosen[-1:]
        speeds = []
        for core in (self.slow, self.fast):
            with SlowCore(self.build, self.slow):
                speeds.append(statistics.median(self.compare(None, cores={core})[0]["sequential"]))
        self.chosen = chosen
        return round(FULL * speeds[1] / speeds[0])

    def with_fast_merger(self):
        """Times of the schemes with the merger on the fast core, and of that core alone."""
        by_capacity = self.compare(self.capacity)
        found = {"fast core alone": [one["sequential"] for one in by_capacity], "by capacity": [one["parallel"] for one in by_capacity]}
        for name, capacity, options in (("equal, no stealing", self.equal, ["--chunks", "2"]), ("equal", self.equal, []), ("measured", None, [])):
            found[name] = [one["parallel"] for one in self.compare(capacity, *options)]
        return found

    def with_slow_merger(self):
        """Times of equal ranges with the merger on the slow core, and of that core alone."""
        equal = self.compare(self.equal, merger_is_slow=True)
        return {"slow core alone": [one["sequential"] for one in equal], "equal, merger on the slow core": [one["parallel"] for one in equal]}

    def round(self):
        if self.how != "core":
            return {**self.with_fast_merger(), **self.with_slow_merger()}
        with SlowCore(self.build, self.slow):
            found = self.with_fast_merger()
        with SlowCore(self.build, self.fast):
            return {**found, **self.with_slow_merger()}


def main():
    build, how, rounds, runs, *names = sys.argv[1:]
    found = pages.Pages(build)
    chosen = [found.get(name) for name in names]
    try:
        measurement = Measurement(build, how, int(runs), chosen)
        try:
            all_rounds = [measurement.round() for _ in range(int(rounds))]
        finally:
            if measurement.quota:
                measurement.quota.close()
    except Unavailable as error:
        print(json.dumps({"reason": str(error)}))
        return
    rows = [{"page": page.name, "bytes": page.bytes,
             "schemes": {scheme: [one[scheme][i] for one in all_rounds] for scheme in all_rounds[0]}} for i, page in enumerate(chosen)]
    print(json.dumps({"capacity": measurement.capacity, "pages": rows}))


main()
