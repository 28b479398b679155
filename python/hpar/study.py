"""Studies of speculation, as values: the outcome of chunks, profiles, comparisons and projections."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import _core
from .copies import input_of
from .types import Mode


def _data_of(page: Any) -> Any:
    return input_of(page) if isinstance(page, _core.Document) else page


def explain(page: Any, threads: int = 4, chunks: int = 0) -> dict[str, Any]:
    """Parses a page in parallel on the calling thread, and returns the record of the parse as a dict.

    The dict has the statistics of the parse, and these lists: 'chunks' with the cut, the predicted and the true
    start state, and the outcome of each chunk; 'events' with the times of each thread's work.

    >>> record = hpar.explain('<p>a' * 1000, chunks=4)
    >>> [chunk['outcome'] for chunk in record['chunks']]
    ['exact', 'clean', 'clean', 'clean']
    """
    record: dict[str, Any] = _core._inspect(_data_of(page), threads, chunks)
    return record


@dataclass
class Profile:
    """Counts of properties that speculation can use. Profiles of different pages can be added.

    `states_at_cuts` has the tokenizer's states for each cut policy. `modes_at_cuts`, `tokens_by_mode` and
    `bytes_by_mode` have the insertion modes.
    """
    pages: int = 0
    bytes: int = 0
    tokens: int = 0
    start_tags: int = 0
    states_at_cuts: dict[str, dict[str, int]] = field(default_factory=dict)
    modes_at_cuts: dict[str, dict[str, int]] = field(default_factory=dict)
    tokens_by_mode: dict[str, int] = field(default_factory=dict)
    bytes_by_mode: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Profile) -> Profile:
        if not isinstance(other, Profile):
            return NotImplemented
        return Profile(**{name: _sum(value, getattr(other, name)) for name, value in vars(self).items()})

    def share(self, policy: str = "before-tag", state: str = "data") -> float:
        """Returns the share of the cuts of a policy that lie in a state of the tokenizer."""
        states = self.states_at_cuts.get(policy, {})
        total = sum(states.values())
        return states.get(state, 0) / total if total else 0.0


def _sum(a: Any, b: Any) -> Any:
    if not isinstance(a, dict):
        return a + b
    return {key: _sum(a[key], b[key]) if key in a and key in b else a.get(key, b.get(key)) for key in {**a, **b}}


def profile(pages: Any, cut_distance: int = 4096) -> Profile:
    """Returns the Profile of a page, or of an iterable of pages.

    >>> (hpar.profile('<p>a') + hpar.profile(['<p>b', '<p>c'])).pages
    3
    """
    if isinstance(pages, (str, bytes, bytearray, memoryview, _core.Document)):
        pages = [pages]
    total = Profile()
    for page in pages:
        total += Profile(**_core._profile(_data_of(page), cut_distance))
    return total


@dataclass
class Comparison:
    """The sequential and another parse of a page. The times are the least of all repeats, in nanoseconds."""
    equal: bool
    bytes: int
    ns_sequential: int
    ns_other: int
    stats: dict[str, Any]

    @property
    def speedup(self) -> float:
        """The sequential time divided by the other time."""
        return self.ns_sequential / self.ns_other if self.ns_other else 0.0


def compare(page: Any, threads: int = 0, mode: Mode = "parallel", repeats: int = 5, **options: Any) -> Comparison:
    """Parses a page sequentially and in another mode, in turn, and compares the trees and the times.

    >>> hpar.compare('<p>a' * 100, threads=2, repeats=1).equal
    True
    """
    data = _data_of(page)
    times: dict[Mode, int] = {}
    documents: dict[Mode, _core.Document] = {}
    modes: tuple[Mode, Mode] = ("sequential", mode)
    for _ in range(max(1, repeats)):
        for name in modes:
            document = documents[name] = _core.parse(data, mode=name, threads=threads, **options)
            times[name] = min(times.get(name, document.stats["ns_total"]), document.stats["ns_total"])
    sequential, other = documents["sequential"], documents[mode]
    return Comparison(sequential.tree == other.tree, sequential.stats["bytes"], times["sequential"], times[mode],
                      other.stats)


@dataclass
class Projection:
    """The projected time of a parse on a number of cores, in nanoseconds."""
    cores: int
    ns_sequential: int
    ns_projected: int
    chunks: int

    @property
    def speedup(self) -> float:
        """The sequential time divided by the projected time."""
        return self.ns_sequential / self.ns_projected if self.ns_projected else 0.0


def project(page: Any, cores: Iterable[int] = (2, 4, 8, 16), repeats: int = 3, ns_wake: int = 0) -> list[Projection]:
    """Measures the tasks of a parallel parse on one core, and schedules them on virtual cores.

    Returns a list with a Projection for each number of `cores`. `ns_wake` is the time until a thread starts. The
    model has no limit of the memory's bandwidth.

    >>> [projection.cores for projection in hpar.project('<p>a' * 1000, cores=(2, 4))]
    [2, 4]
    """
    data = _data_of(page)
    repeats = max(1, repeats)
    sequential = min(_core.parse(data, mode="sequential").stats["ns_total"] for _ in range(repeats))
    projections = []
    for count in cores:
        records = [_core._inspect(data, count, 0) for _ in range(repeats)]
        prelude = min(record["ns_prelude"] for record in records)
        tasks = _tasks(records, sequential, prelude)
        time = _core._schedule(tasks, records[0]["bytes"], count, prelude, ns_wake)
        projections.append(Projection(count, sequential, time, len(tasks)))
    return projections


def _tasks(records: list[Any], sequential: int, prelude: int) -> list[tuple[int, int, int, int]]:
    """(parse, merge, exact, cut) of each chunk, from the least times of all records."""
    rows = []
    for chunks in zip(*(record["chunks"] for record in records)):
        exact = chunks[0]["outcome"] == "exact"
        parse, merge = (min(chunk[name] for chunk in chunks) for name in ("ns_parse", "ns_merge"))
        rows.append((0, 0, merge, chunks[0]["text_begin"]) if exact else (parse, merge, None, chunks[0]["text_begin"]))
    by_workers = sum(row[0] for row in rows)
    by_merger = prelude + sum(row[2] or 0 for row in rows)
    # The merger alone needs the worker's time without the cost of speculation.
    less = min(1.0, max(0, sequential - by_merger) / by_workers) if by_workers else 1.0
    return [(parse, merge, int(parse * less) if exact is None else exact, cut) for parse, merge, exact, cut in rows]
