"""Queries of analyses about the runs of an experiment."""
import json
import os
import statistics

from . import numbers
from .machine import ROOT

with open(os.path.join(ROOT, "paper", "paper-values.json"), encoding="utf-8") as _file:
    PAPER = json.load(_file)


def no_result(record):
    """Why a record has no result: it was left out, failed, or is invalid. None if it has one."""
    return record.get("skipped") or record.get("failure") or record.get("invalid")


class Data:
    """The runs of one experiment: the last record of each step."""

    def __init__(self, name, records, machine):
        self.name, self.machine = name, machine or {}
        latest = {}
        for record in records:
            latest[record["step"]] = record
        self.records = list(latest.values())

    def cores(self):
        """Of the machine; 0 if its description is missing."""
        return self.machine.get("cores") or 0

    def ran(self, **variables):
        """Records that gave a valid output and have these variables."""
        return [record for record in self.records if not no_result(record)
                and all(record["variables"].get(name) == value for name, value in variables.items())]

    def why_not(self, **variables):
        """Why there is no run with these variables."""
        for record in self.records:
            if all(record["variables"].get(name) == value for name, value in variables.items()):
                reason = no_result(record)
                if reason:
                    return reason
        return "not part of this run"

    def values(self, name):
        """Of a variable, in the order of the runs."""
        return list(dict.fromkeys(record["variables"][name] for record in self.records if name in record["variables"]))

    def stand_in(self, page):
        for record in self.records:
            if record.get("page", {}).get("name") == page and "page" in record:
                return record["page"]["stand_in"]
        return None

    def page_bytes(self, page):
        return next((record["page"]["bytes"] for record in self.records
                     if "page" in record and record["page"]["name"] == page), None)


def page_of(record):
    """The one page of an output of `hpar compare --json`."""
    return record["output"]["pages"][0]


def speedup(records, mode="parallel"):
    """Of records of compare: by medians, a process a sample; best: of the shortest runs over all processes."""
    if not records:
        return None
    result = numbers.value([page_of(record)["modes"][mode]["speedup_median"] for record in records])
    shortest = {name: min(page_of(record)["modes"][name]["ns_min"] for record in records) for name in ("sequential", mode)}
    result.best = shortest["sequential"] / shortest[mode]
    return result


def time_ms(records, mode):
    """Median time of a mode, a process a sample; best: the shortest run of all."""
    if not records:
        return None
    result = numbers.value([page_of(record)["modes"][mode]["ns_median"] / 1e6 for record in records])
    result.best = min(page_of(record)["modes"][mode]["ns_min"] for record in records) / 1e6
    return result


def stats(record, mode="parallel"):
    return page_of(record)["modes"][mode]["stats"]


def median(samples):
    return statistics.median(samples) if samples else None
