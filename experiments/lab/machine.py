"""Describes the machine, the compiler and the versions."""
import glob
import json
import os
import platform
import re
import subprocess

from . import board

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def output(command, **options):
    """Standard output of a command, stripped, or None where it cannot be run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                              timeout=30, **options)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip("\0\n ")
    except OSError:
        return None


def host():
    return re.sub(r"[^A-Za-z0-9._-]", "-", os.environ.get("HPAR_HOST") or platform.node() or "unknown")


def commit():
    """Short commit of the source, with -dirty if tracked files differ from it."""
    name = output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT)
    if not name:
        return "unknown"
    changed = output(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!results", ":!paper"], cwd=ROOT)
    return name + ("-dirty" if changed else "")


def _caches():
    """Data and unified caches as seen by the first processor."""
    found = []
    for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        kind, level, size = (_read(f"{index}/{name}") for name in ("type", "level", "size"))
        if kind and kind != "Instruction":
            found.append({"level": int(level), "size": size, "shared_by": _read(f"{index}/shared_cpu_list")})
    return found


def _flags(build):
    text = _read(os.path.join(build, "CMakeCache.txt"))
    if not text:
        return None
    kept = {}
    for line in text.splitlines():
        match = re.match(r"(CMAKE_BUILD_TYPE|CMAKE_C_FLAGS\w*|CMAKE_C_COMPILER|HPAR_\w+):\w+=(.*)", line)
        if match and (match[1] != "CMAKE_C_COMPILER" or match[2]):
            kept[match[1]] = match[2]
    kind = kept.get("CMAKE_BUILD_TYPE", "").upper()
    return {name: value for name, value in kept.items()
            if not name.startswith("CMAKE_C_FLAGS_") or name == f"CMAKE_C_FLAGS_{kind}"}


def describe(builds):
    """Everything that stays the same during a run; `builds` by name."""
    cpu = re.search(r"^model name\s*: (.*)$", _read("/proc/cpuinfo") or "", re.M)
    memory = re.search(r"^MemTotal:\s+(\d+)", _read("/proc/meminfo") or "", re.M)
    compiler = None
    flags = {name: _flags(path) for name, path in builds.items()}
    for one in flags.values():
        if one and one.get("CMAKE_C_COMPILER"):
            compiler = (output([one["CMAKE_C_COMPILER"], "--version"]) or "").split("\n")[0]
            break
    lstopo = next((name for name in ("lstopo-no-graphics", "lstopo") if output([name, "--version"])), None)
    about = board.describe()
    return {
        "host": host(),
        "cpu": cpu[1] if cpu else _read("/proc/device-tree/model") or about["cores"] or platform.processor() or "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "caches": _caches(),
        "architecture": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "distribution": platform.freedesktop_os_release().get("PRETTY_NAME") if os.path.exists("/etc/os-release") else None,
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "not shown by this system",
        "turbo_off": _read("/sys/devices/system/cpu/intel_pstate/no_turbo"),
        "huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "hypervisor": " hypervisor" in (_read("/proc/cpuinfo") or ""),
        "board": about,
        "compiler": compiler,
        "flags": flags,
        "versions": {
            "hpar": (output([os.path.join(builds["hpar"], "hpar"), "--version"]) or "").replace("\n", "; ") or None,
            "python": platform.python_version(),
            "hwloc": output([lstopo, "--version"]) if lstopo else None,
            "libc": " ".join(platform.libc_ver()),
        },
    }


def topology(path):
    """Writes lstopo's XML; False where there is no lstopo."""
    for name in ("lstopo-no-graphics", "lstopo"):
        if output([name, "-f", "--of", "xml", path]) is not None:
            return True
    return False


def load():
    return [round(part, 2) for part in os.getloadavg()]


def write_json(path, value):
    """Whole or not at all."""
    unfinished = f"{path}.new"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.write("\n")
    os.replace(unfinished, path)
