"""A folder of results, results/<host>/<date>-<commit>[-quick]: run.json, machine.json, topology.xml, for each experiment
a folder with runs.jsonl, a line for each command that was run, and index.json.

The index has the number of valid bytes of each file and their SHA-256. The store writes a line first, then the index.
Bytes after the valid ones are a line that an interrupted run was writing; the next run removes them.

A complete run can be packed: runs.jsonl.xz takes the place of runs.jsonl, with the same bytes inside. The index stays, so
that its hashes are those of the run that was measured."""
import datetime
import glob
import hashlib
import json
import lzma
import os

from . import machine

RUNS = "runs.jsonl"
PACKED = ".xz"


class Damaged(Exception):
    """A file is not what was written by a run."""


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def _read(path, length=None):
    """The bytes of a file, or of its packed form."""
    if not os.path.exists(path) and os.path.exists(path + PACKED):
        with lzma.open(path + PACKED) as file:
            return file.read()  # to the end, where damage shows
    with open(path, "rb") as file:
        return file.read() if length is None else file.read(length)


def _digest(path, length=None):
    data = _read(path, length)
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
            self._unpack(name)
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
        data = _read(self.file(name), self.index[name]["bytes"])
        return [json.loads(line) for line in data.decode().splitlines()]

    def _unpack(self, name):
        path = self.file(name)
        if os.path.exists(path + PACKED):
            data = _read(path)
            with open(path, "wb") as file:
                file.write(data)
            os.remove(path + PACKED)

    def pack(self):
        """Packs the runs of each experiment. Requires: nothing is damaged."""
        self.check()
        for experiment in self.experiments():
            name = f"{experiment}/{RUNS}"
            path = self.file(name)
            if not os.path.exists(path):
                continue
            with lzma.open(path + PACKED + ".new", "wb", preset=9 | lzma.PRESET_EXTREME) as file:
                file.write(_read(path, self.index[name]["bytes"]))
            os.replace(path + PACKED + ".new", path + PACKED)
            os.remove(path)

    def drop(self, experiment):
        """Removes an experiment."""
        for name in [name for name in self.index if name.startswith(experiment + "/")]:
            for path in (self.file(name), self.file(name) + PACKED):
                if os.path.exists(path):
                    os.remove(path)
            del self.index[name]
        os.rmdir(self.file(experiment))
        self._write_index()

    def experiments(self):
        return sorted(name.split("/")[0] for name in self.index if name.endswith("/" + RUNS))

    @staticmethod
    def _differs(path, entry):
        """Returns whether the bytes that count are not those that were written. A packed file has no others."""
        try:
            return _digest(path, entry["bytes"]) != (entry["bytes"], entry["sha256"])
        except (lzma.LZMAError, EOFError):
            return True

    def damage(self):
        """The defects, a line each: files that were edited, shortened or removed, and files that are not in the index."""
        found = []
        for name, entry in sorted(self.index.items()):
            path = self.file(name)
            if not os.path.exists(path) and not os.path.exists(path + PACKED):
                found.append(f"{name}: missing")
            elif self._differs(path, entry):
                found.append(f"{name}: changed after it was written: its SHA-256 differs from the index")
        for path in glob.glob(self.file("*", RUNS)) + glob.glob(self.file("*", RUNS + PACKED)):
            name = os.path.relpath(path, self.path)
            if name.removesuffix(PACKED) not in self.index and os.path.getsize(path):
                found.append(f"{name}: not in the index")
        if not self.index:
            found.append("index.json: missing or empty")
        return found

    def check(self):
        damage = self.damage()
        if damage:
            raise Damaged("\n".join(f"{self.path}: {line}" for line in damage))


def current(root):
    """The folders of the runs that the report and the paper are made of, or of the newest run if there is no list."""
    path = os.path.join(root, "results", "current")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return [os.path.join(root, "results", line) for line in file.read().splitlines() if line and not line.startswith("#")]
    runs = glob.glob(os.path.join(root, "results", "*", "*", "run.json"))
    return [os.path.dirname(max(runs, key=os.path.getmtime))] if runs else []


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
