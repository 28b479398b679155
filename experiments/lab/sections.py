"""Makes the sections of a report from a folder of results: each experiment's analysis.py makes one section."""
import importlib.util
import os
import sys
import traceback

from . import cells, describe, numbers
from .data import Data
from .store import Store

# The order of the paper, then the results that it does not have.
ORDER = ["table1-parse-share", "table2-hazards", "table3-insertion-mode", "state-distribution", "table4-accuracy", "audit",
         "table5-platforms", "fig3-naive-pipeline", "fig7-8-list", "fig10-script-scope", "fig11-speedup",
         "fig12-scalability", "work-span", "fig13-pipeline", "contention", "contention-by-others", "late-threads", "asymmetry", "fig14-buffer", "costs", "peers", "strategies", "many",
         "break-even", "linear", "small-documents", "rewriter", "rewriter-parallel", "crawl-scale", "script-speedup", "resource-discovery", "memory", "hostile", "complexity",
         "stand-ins"]


def _analysis(name):
    path = os.path.join(describe.FOLDER, name, "analysis.py")
    spec = importlib.util.spec_from_file_location("analysis_" + name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.analyse


# A machine may miss an aim that all recorded machines meet.
UNKNOWN = "reason unknown here"


def _analysed(name, data):
    """The section of one experiment. What a machine has measured never ends the report: an analysis that fails is
    named in its section, and on standard error."""
    try:
        section = _analysis(name)(data)
        if section.verdict.split(":")[0] not in cells.VERDICTS:
            raise ValueError(f"no such verdict: {section.verdict}")
        return section
    except Exception as failure:  # noqa: BLE001: any defect of an analysis
        where = traceback.extract_tb(failure.__traceback__)[-1]
        text = f"the analysis failed: {type(failure).__name__}: {failure} ({os.path.basename(where.filename)}:{where.lineno})"
        print(f"report: {name}: {text}", file=sys.stderr)
        return cells.Section(cells.CANNOT, text)


class Part:
    """One experiment in a report. `folder` has its records; `loads` are the loads at the starts of that run."""

    def __init__(self, name, description, section, records, folder=None, loads=()):
        self.name, self.description, self.section, self.records = name, description, section, records
        self.folder, self.loads = folder, loads


def _part(name, store):
    """The part of an experiment from the runs of one store."""
    machine, description = store.get("machine.json") or {}, describe.load(name)
    records = store.runs(name)
    data = Data(name, records, machine)
    section = _analysed(name, data) if data.ran() else cells.Section(cells.NOT_YET, data.why_not())
    if section.verdict in (cells.DIFFERS, cells.MISSES) and not section.reason:
        section.reason = UNKNOWN
    sessions = (store.get("run.json") or {}).get("sessions", [])
    return Part(name, description, section, records, store.path if data.ran() else None,
                [session["load"][0] for session in sessions if session.get("load")])


def has_result(name, store):
    """Whether the report takes the experiment from this store."""
    return name in describe.names() and _part(name, store).section.verdict != cells.NOT_YET


def make(folder, check=True, others=()):
    """The parts in order, and the run's and the machine's descriptions. An experiment without a result in `folder` comes
    from the first of `others` that has one."""
    stores = [Store(path) for path in (folder, *others)]
    if check:
        for store in stores:
            store.check()
    store = stores[0]
    names = [name for name in ORDER if name in describe.names()]
    names += [name for name in describe.names() if name not in names]
    parts = []
    for name in names:
        first = _part(name, stores[0])
        others = (_part(name, one) for one in stores[1:] if first.section.verdict == cells.NOT_YET)
        parts.append(next((part for part in others if part.section.verdict != cells.NOT_YET), first))
    return parts, store.get("run.json") or {}, store.get("machine.json") or {}


def numbers_of(parts):
    """Every measured figure of the tables, by table, row and column."""
    found = {}
    for part in parts:
        for table in part.section.parts:
            if not isinstance(table, cells.Table):
                continue
            for label, row, _ in table.rows:
                for column, cell in zip(table.columns[1:], row):
                    if isinstance(cell, cells.Number) and column != "paper" and not cell.projected:
                        found[table.name, label, column] = cell.value
    return found


def overlap(first, second):
    """The share of cells of two runs with overlapping intervals, and lines that list the others. Cells without an
    interval (counts) must be equal."""
    a, b = (numbers_of(make(folder)[0]) for folder in (first, second))
    shared = sorted(set(a) & set(b))
    apart = [key for key in shared if not numbers.overlap(a[key], b[key])]
    share = 1 - len(apart) / len(shared) if shared else 0
    lines = [f"{' / '.join(key)}: {a[key].mean:.4g} [{a[key].low}, {a[key].high}] against "
             f"{b[key].mean:.4g} [{b[key].low}, {b[key].high}]" for key in apart]
    measured = [key for key in shared if a[key].low is not None]
    apart_measured = [key for key in apart if a[key].low is not None]
    if measured:
        lines.append(f"{100 * (1 - len(apart_measured) / len(measured)):.1f}% of {len(measured)} cells with an interval")
    lines.append(f"{100 * share:.1f}% of {len(shared)} cells overlap; {len(set(a) ^ set(b))} are in one run only")
    return share, lines
