"""A folder of results, results/<host>/<date>-<commit>[-quick]: run.json, machine.json, topology.xml, for each experiment
a folder with runs.jsonl, a line for each command that was run, and index.json.

The index has the number of valid bytes of each file and their SHA-256. The store writes a line first, then the index.
Bytes after the valid ones are a line that an interrupted run was writing; the next run removes them."""
import datetime
import glob
import hashlib
import json
import os

from . import machine

RUNS = "runs.jsonl"


class Damaged(Exception):
    """A file is not what was written by a run."""


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def _digest(path, length=None):
    with open(path, "rb") as file:
        data = file.read() if length is None else file.read(length)
    return len(data), hashlib.sha256(data).hexdigest()


class Store:
    def __init__(self, path):
        self.path = path
        index = os.path.join(path, "index.json")
        self.index = {}
        if os.path.exists(index):
            with open(index, encoding="utf-8") as file:
                self.index = json.load(file)["files"]
        self._open = {}

    def file(self, *parts):
        return os.path.join(self.path, *parts)

    def _write_index(self):
        machine.write_json(self.file("index.json"), {
            "note": "bytes of each file that count, and their SHA-256", "files": dict(sorted(self.index.items()))})

    def put(self, name, value):
        """Writes a JSON file and indexes it."""
        os.makedirs(os.path.dirname(self.file(name)), exist_ok=True)
        machine.write_json(self.file(name), value)
        self.add(name)

    def add(self, name):
        length, digest = _digest(self.file(name))
        self.index[name] = {"bytes": length, "sha256": digest}
        self._write_index()

    def get(self, name):
        try:
            with open(self.file(name), encoding="utf-8") as file:
                return json.load(file)
        except OSError:
            return None

    def append(self, experiment, record):
        """Adds a line to an experiment's runs."""
        name = f"{experiment}/{RUNS}"
        if name not in self._open:
            os.makedirs(self.file(experiment), exist_ok=True)
            length = self.index.get(name, {"bytes": 0})["bytes"]
            file = open(self.file(name), "a+b")
            file.truncate(length)
            file.seek(0)
            self._open[name] = (file, hashlib.sha256(file.read()))
        file, digest = self._open[name]
        line = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        file.write(line)
        file.flush()
        digest.update(line)
        self.index[name] = {"bytes": file.tell(), "sha256": digest.hexdigest()}
        self._write_index()

    def runs(self, experiment):
        """Records of an experiment, in the order in which they were run."""
        name = f"{experiment}/{RUNS}"
        if name not in self.index:
            return []
        with open(self.file(name), "rb") as file:
            data = file.read(self.index[name]["bytes"])
        return [json.loads(line) for line in data.decode().splitlines()]

    def experiments(self):
        return sorted(name.split("/")[0] for name in self.index if name.endswith("/" + RUNS))

    def damage(self):
        """The defects, a line each: files that were edited, shortened or removed, and files that are not in the index."""
        found = []
        for name, entry in sorted(self.index.items()):
            path = self.file(name)
            if not os.path.exists(path):
                found.append(f"{name}: missing")
            elif _digest(path, entry["bytes"]) != (entry["bytes"], entry["sha256"]):
                found.append(f"{name}: changed after it was written: its SHA-256 differs from the index")
        for path in glob.glob(self.file("*", RUNS)):
            name = os.path.relpath(path, self.path)
            if name not in self.index and os.path.getsize(path):
                found.append(f"{name}: not in the index")
        if not self.index:
            found.append("index.json: missing or empty")
        return found

    def check(self):
        damage = self.damage()
        if damage:
            raise Damaged("\n".join(f"{self.path}: {line}" for line in damage))


def default_folder(root, commit, quick, again=False):
    """The folder of an interrupted run, or a new one: the newest for this host, commit and extent, unless it is complete
    and `again` requests another one."""
    base = os.path.join(root, machine.host())
    tail = f"{commit}{'-quick' if quick else ''}"
    found = [path for path in glob.glob(os.path.join(glob.escape(base), f"*-{tail}*"))
             if os.path.basename(path)[11:] == tail or os.path.basename(path)[11:].startswith(tail + "-run")]
    found.sort(key=lambda path: (os.path.basename(path)[:10], len(path), path))
    if found:
        run = Store(found[-1]).get("run.json")
        if not again or not (run or {}).get("ended"):
            return found[-1]
    name = f"{now():%Y-%m-%d}-{tail}"
    path, number = os.path.join(base, name), 1
    while os.path.exists(path):
        number += 1
        path = os.path.join(base, f"{name}-run{number}")
    return path
