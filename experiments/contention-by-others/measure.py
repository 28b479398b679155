"""measure.py BUILD LOAD RUNS PAGE...: hpar-others beside other processes, as one JSON object. LOAD is N (N busy loops, free to
move), N-pinned (each bound to a core, from the last core on) or quota-P (no loops, but P percent of a core for this process)."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

PERIOD = 10000  # us
CONTROLLERS = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"]


def limit(folder, percent):
    """Gives the processes in a new control group the quota. Version 1 has two files, version 2 has one."""
    quota = PERIOD * percent // 100
    if os.path.exists(os.path.join(folder, "cpu.cfs_quota_us")):
        settings = [("cpu.cfs_period_us", PERIOD), ("cpu.cfs_quota_us", quota)]
    else:
        settings = [("cpu.max", f"{quota} {PERIOD}")]
    for file, value in settings:
        with open(os.path.join(folder, file), "w", encoding="ascii") as setting:
            setting.write(str(value))


def group(percent):
    """The folder of a new control group with the quota, or the reason why there is none."""
    reason = "the machine has no controller of CPU quotas"
    for controller in CONTROLLERS:
        folder = os.path.join(controller, f"hpar-others-{os.getpid()}")
        if not os.path.isdir(controller):
            continue
        try:
            os.mkdir(folder)
        except OSError as error:
            reason = f"the system refuses a control group: {error.strerror}"
            continue
        try:
            limit(folder, percent)
            return folder, None
        except OSError as error:
            os.rmdir(folder)
            reason = f"the system refuses a CPU quota: {error.strerror}"
    return None, reason


def enter(folder):
    with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as processes:
        processes.write(str(os.getpid()))


build, load, runs, *names = sys.argv[1:]
found = pages.Pages(build)
chosen = [found.get(name) for name in names]
command = [os.path.join(build, "hpar-others"), runs, *(page.path for page in chosen)]
cores = sorted(os.sched_getaffinity(0), reverse=True)
loops, folder, prepare = [], None, None
try:
    if load.startswith("quota-"):
        folder, reason = group(int(load[len("quota-"):]))
        if reason:
            print(json.dumps({"reason": reason}))
            sys.exit(0)
        prepare = lambda: enter(folder)  # noqa: E731
    else:
        pinned = load.endswith("-pinned")
        for i in range(int(load.removesuffix("-pinned"))):
            core = cores[i % len(cores)]
            loops.append(subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                          preexec_fn=(lambda core=core: os.sched_setaffinity(0, {core})) if pinned else None))
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True, preexec_fn=prepare)
finally:
    for loop in loops:
        loop.kill()
        loop.wait()
    if folder:
        os.rmdir(folder)
COLUMNS = ["bytes", "sequential", "parallel", "auto"]
rows = [[page.name, *(row[column] for column in COLUMNS)] for page, row in zip(chosen, json.loads(result.stdout)["pages"])]
print(json.dumps({"columns": ["page", *COLUMNS], "pages": rows}))
