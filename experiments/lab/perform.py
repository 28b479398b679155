"""Runs the steps of experiments in order and estimates the time left."""
import json
import os
import signal
import subprocess
import sys
import time

from . import board, machine
from .data import no_result
from .store import now


class Progress:
    """A line on standard error: the running step and the estimated time left. `expected` has seconds by experiment."""

    def __init__(self, plans, expected, file=sys.stderr):
        self.total = sum(len(steps) for _, steps in plans)
        self.expected = {name: expected[name] / max(1, len(steps)) for name, steps in plans}
        self.left = {name: len(steps) for name, steps in plans}
        self.spent = {}
        self.done = 0
        self.file = file
        self.live = file.isatty()

    def seconds_left(self):
        ran = {name: (sum(seconds), len(seconds)) for name, seconds in self.spent.items() if seconds}
        expected = sum(self.expected[name] * count for name, (_, count) in ran.items())
        pace = sum(total for total, _ in ran.values()) / expected if expected else 1
        left = 0
        for name, count in self.left.items():
            total, known = ran.get(name, (0, 0))
            left += count * (total / known if known >= 3 else self.expected[name] * pace)
        return left

    def show(self, step):
        left = self.seconds_left()
        text = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
        line = f"[{self.done + 1}/{self.total}] {step.experiment}: {step.key}; about {text} left"
        print(f"\r\033[K{line[:118]}" if self.live else line, end="" if self.live else "\n", file=self.file, flush=True)

    def finished(self, step, seconds=None):
        self.done += 1
        self.left[step.experiment] -= 1
        if seconds is not None:
            self.spent.setdefault(step.experiment, []).append(seconds)

    def end(self):
        if self.live:
            print("\r\033[K", end="", file=self.file, flush=True)


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def run(step):
    """The record of one command."""
    record = {"step": step.key, "variables": step.variables, "command": step.command, "began": f"{now():%Y-%m-%dT%H:%M:%SZ}",
              "load": machine.load()}
    if step.page:
        record["page"] = {"name": step.page.name, "bytes": step.page.bytes, "origin": step.page.origin,
                          "stand_in": step.page.stand_in}
    before = board.state()
    start = time.monotonic()
    process = subprocess.Popen(step.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True, cwd=machine.ROOT)
    try:
        out, err = process.communicate(timeout=step.seconds)
        record["exit"] = process.returncode
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as stop:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if isinstance(stop, KeyboardInterrupt):
            raise
        record["exit"] = None
        record["failure"] = f"stopped after {step.seconds} s"
    record["seconds"] = round(time.monotonic() - start, 3)
    record["load_after"] = machine.load()
    after = board.state()
    if board.is_shown(after) or after["celsius"] is not None:
        record["board"] = {"before": before, "after": after}
    signs = board.throttling(before, after)
    if signs:
        record["invalid"] = "throttled: " + ", ".join(signs)
    record["output"] = _parsed(out)
    if err.strip():
        record["errors"] = err.strip()[-2000:]
    if record["exit"] not in (0, None) and not step.fails:
        record["failure"] = f"exit status {record['exit']}"
    return record


def perform(store, plans, expected, builds, progress=None, cool_down=None):
    """Runs the steps that have no result yet, and those with an invalid one. Returns the number of failures and of invalid
    results. A step whose needs are not met is recorded, and the next run checks it again. `cool_down` runs before each step."""
    plans = list(plans)
    done = {}
    for name, _ in plans:
        latest = {}
        for record in store.runs(name):
            latest[record["step"]] = record
        done[name] = {key for key, record in latest.items() if not no_result(record)}
        done[name, "skipped"] = {key: record["skipped"] for key, record in latest.items() if record.get("skipped")}
    left = [(name, [step for step in steps if step.key not in done[name]]) for name, steps in plans]
    progress = progress or Progress(left, {name: expected[name] * len(steps) / max(1, len(dict(plans)[name]))
                                           for name, steps in left})
    failures = 0
    for name, steps in left:
        for step in steps:
            reason = next(filter(None, (builds.lacks(need) for need in step.needs)), None)
            if reason:
                if done[name, "skipped"].get(step.key) != reason:
                    store.append(name, {"step": step.key, "variables": step.variables, "command": step.command,
                                        "skipped": reason})
                progress.finished(step)
                continue
            if cool_down:
                cool_down()
            progress.show(step)
            record = run(step)
            store.append(name, record)
            progress.finished(step, record["seconds"])
            if record.get("invalid"):
                failures += 1
                progress.end()
                print(f"{name}: {step.key}: invalid, {record['invalid']}", file=sys.stderr)
            if record.get("failure"):
                failures += 1
                progress.end()
                lines = record.get("errors", "").splitlines()
                print(f"{name}: {step.key}: {record['failure']}{': ' + lines[-1] if lines else ''}", file=sys.stderr)
    progress.end()
    return failures
