"""Properties of a board that change its speed: frequency policies, kinds of cores, temperature, throttling.

HPAR_SYSTEM_ROOT replaces / in all paths here, for tests."""
import glob
import os
import re
import subprocess
import time

CPUS = "/sys/devices/system/cpu"
# A Raspberry Pi reports bits 0 to 3 for now, and bits 16 to 19 for the time since it started.
PI_BITS = ("under-voltage", "frequency capped", "throttled", "temperature limit")
PI_SINCE_START = 16
PI_FILES = ("/sys/devices/platform/soc/soc:firmware/get_throttled", "/sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled")
PARTS = {0xd03: "Cortex-A53", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57", 0xd08: "Cortex-A72", 0xd09: "Cortex-A73", 0xd0a: "Cortex-A75",
         0xd0b: "Cortex-A76", 0xd0c: "Neoverse-N1", 0xd40: "Neoverse-V1", 0xd41: "Cortex-A78", 0xd44: "Cortex-X1", 0xd49: "Neoverse-N2",
         0xd4f: "Neoverse-V2"}
ARM = 0x41
HOT, COOL = 75.0, 65.0  # degrees Celsius
PAUSE, LONGEST = 5, 900  # seconds


def at(path):
    """The path below the root of the system."""
    return os.environ.get("HPAR_SYSTEM_ROOT", "").rstrip("/") + path


def read(path):
    try:
        with open(at(path), encoding="utf-8", errors="replace") as file:
            return file.read().strip("\0\n ")
    except OSError:
        return None


def number(path, base=10):
    try:
        return int(read(path) or "", base)
    except ValueError:
        return None


def found(pattern):
    """Paths of the system, without its root, in the order of their numbers."""
    paths = [path[len(at("/")) - 1:] for path in glob.glob(at(pattern))]
    return sorted(paths, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)])


def policies():
    return [{"name": os.path.basename(path), "cpus": read(f"{path}/related_cpus"), "governor": read(f"{path}/scaling_governor"),
             "governors": (read(f"{path}/scaling_available_governors") or "").split(),
             "min_khz": number(f"{path}/scaling_min_freq"), "max_khz": number(f"{path}/scaling_max_freq")}
            for path in found(f"{CPUS}/cpufreq/policy[0-9]*")]


def _by_cpu(name, base=10):
    values = {re.search(r"cpu(\d+)/", path)[1]: number(path, base) for path in found(f"{CPUS}/cpu[0-9]*/{name}")}
    return {cpu: value for cpu, value in values.items() if value is not None}


def pmus():
    """The units that count events, by name, with their cores: one for each kind of core. perf calls a counter NAME/cycles/."""
    return {os.path.basename(path): read(f"{path}/cpus") for path in found("/sys/bus/event_source/devices/*") if read(f"{path}/cpus")}


def core_names(midr):
    """The cores of a machine by their MIDR: "4 Cortex-A76, 4 Cortex-A55", or None."""
    names = [PARTS.get(value >> 4 & 0xfff) if value >> 24 & 0xff == ARM else None for value in midr.values()]
    if not names or None in names:
        return None
    return ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))


def zones():
    return [{"type": read(f"{path}/type"), "millidegrees": number(f"{path}/temp")} for path in found("/sys/class/thermal/thermal_zone[0-9]*")]


def celsius():
    """The highest temperature of all zones, or None."""
    known = [zone["millidegrees"] for zone in zones() if zone["millidegrees"] is not None]
    return max(known) / 1000 if known else None


def pi_bits():
    """The throttling bits of a Raspberry Pi, or None."""
    for path in PI_FILES:
        bits = number(path, 16)
        if bits is not None:
            return bits
    try:
        done = subprocess.run([at("/usr/bin/vcgencmd"), "get_throttled"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=10, check=False)
        match = re.match(r"throttled=0x([0-9a-fA-F]+)", done.stdout)
        return int(match[1], 16) if match else None
    except (OSError, subprocess.TimeoutExpired):
        return None


def cooling():
    """The states of devices that cool by a lower frequency: 0 is full speed."""
    return {os.path.basename(path): number(f"{path}/cur_state") for path in found("/sys/class/thermal/cooling_device[0-9]*")
            if re.search("cpufreq|processor", (read(f"{path}/type") or "").lower())}


def throttle_counts():
    """Throttling events of x86 since the system started, or None."""
    counts = _by_cpu("thermal_throttle/core_throttle_count")
    return sum(counts.values()) if counts else None


NOTHING = {"pi_bits": None, "cooling": {}, "throttle_counts": None}


def state():
    """What can change during a run."""
    return {"celsius": celsius(), "khz": {policy["name"]: number(f"{CPUS}/cpufreq/{policy['name']}/scaling_cur_freq") for policy in policies()},
            "pi_bits": pi_bits(), "cooling": cooling(), "throttle_counts": throttle_counts()}


def is_shown(one):
    """Whether the system shows anything from which throttling follows."""
    return one["pi_bits"] is not None or bool(one["cooling"]) or one["throttle_counts"] is not None


def throttling(before, after):
    """The signs of throttling between two states, as text."""
    signs = []
    for name, one in (("before", before), ("after", after)):
        bits = one["pi_bits"] or 0
        signs += [f"{PI_BITS[i]} {name} the run" for i in range(len(PI_BITS)) if bits >> i & 1]
        signs += [f"{device} slows the processor {name} the run" for device, level in one["cooling"].items() if level]
    fresh = (after["pi_bits"] or 0) & ~(before["pi_bits"] or 0) if before["pi_bits"] is not None else 0
    signs += [f"{PI_BITS[i]} during the run" for i in range(len(PI_BITS)) if fresh >> (PI_SINCE_START + i) & 1]
    if (after["throttle_counts"] or 0) > (before["throttle_counts"] or 0):
        signs.append("the processor counted throttling during the run")
    return list(dict.fromkeys(signs))


def describe():
    """The part of machine.json about the board."""
    bits = pi_bits()
    names = None if bits is None else {
        "now": [PI_BITS[i] for i in range(len(PI_BITS)) if bits >> i & 1],
        "since_start": [PI_BITS[i] for i in range(len(PI_BITS)) if bits >> (PI_SINCE_START + i) & 1]}
    midr = _by_cpu("regs/identification/midr_el1", 16)
    return {"policies": policies(), "capacity": _by_cpu("cpu_capacity"), "midr": {cpu: f"{value:#x}" for cpu, value in midr.items()},
            "cores": core_names(midr), "pmus": pmus(), "page_bytes": os.sysconf("SC_PAGE_SIZE"),
            "swap": [line.split()[0] for line in (read("/proc/swaps") or "").splitlines()[1:]], "thermal_zones": zones(),
            "cooling": cooling(), "throttling": names, "throttle_counts": throttle_counts(),
            "perf_event_paranoid": number("/proc/sys/kernel/perf_event_paranoid")}


class Hot(Exception):
    """The board does not cool down."""


def wait_until_cool(say, wait=time.sleep):
    """Returns the seconds of the pause: 0 below HOT; otherwise the time until the board is at COOL."""
    now, waited = celsius(), 0
    if now is None or now < HOT:
        return 0
    say(f"{now:.0f} degrees: a pause until {COOL:.0f}")
    while now is not None and now > COOL:
        if waited >= LONGEST:
            raise Hot(f"still {now:.0f} degrees after {waited} s; the same command continues here")
        wait(PAUSE)
        waited += PAUSE
        now = celsius()
    return waited
