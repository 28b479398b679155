"""Ablation: one part changes at a time. hpar-variants times all variants of a part in turns, so that a quotient of two
variants is one of two times that were measured side by side."""
import statistics

from lab import draw, numbers
from lab.cells import MEETS, MISSES, NOT_YET, Number, Plot, Section, Table, not_yet
from lab.data import page_of, speedup

GROUPS = [("strategy", "strategy", "Strategies"), ("predictor", "predictor", "Start-state predictors"),
          ("mode", "predictor", "Insertion-mode predictors"), ("cut", "cut", "Cut policies"), ("chunks", "chunks", "Number of chunks"),
          ("merge", "merge", "Shape of the merge"), ("driver", "driver", "Drivers beside the parallel parser")]
PARTS = [("allocator", "allocator", "Allocator"), ("bind", "bind", "Binding to cores")]
FASTER, SLOWER, EQUAL, BASE = "faster", "slower", "no difference", "the base"


class Group:
    """The runs of a part, and what its variants are called."""

    def __init__(self, data, group, **variables):
        self.records = data.ran(group=group, **variables)
        self.pages = list(dict.fromkeys(record["variables"]["page"] for record in self.records))
        self.processes = sorted({record["variables"]["process"] for record in self.records})
        self.names = [one["name"] for one in self.records[0]["output"]["variants"]][1:] if self.records else []

    def variants(self, name):
        return [next(one for one in record["output"]["variants"] if one["name"] == name) for record in self.records]

    def times(self, record, name):
        return next(one["times"] for one in record["output"]["variants"] if one["name"] == name)

    def over(self, name, base):
        """How many times as fast as `base` a variant is. A process is a sample: its geometric mean over the pages of the
        median quotient of two times of one round."""
        samples = []
        for process in self.processes:
            here = [record for record in self.records if record["variables"]["process"] == process]
            quotients = [statistics.median(b / t for b, t in zip(self.times(record, base), self.times(record, name))) for record in here]
            samples.append(numbers.geometric(quotients))
        return numbers.value(samples)

    def speedup(self, name):
        """Over the sequential parser. Best: by the shortest runs of all processes."""
        found = self.over(name, "sequential")
        shortest = []
        for page in self.pages:
            here = [record for record in self.records if record["variables"]["page"] == page]
            shortest.append(min(min(self.times(record, "sequential")) for record in here) / min(min(self.times(record, name)) for record in here))
        found.best = numbers.geometric(shortest)
        return found

    def counts(self, name):
        """Clean chunks and bytes parsed again in percent, and unequal trees."""
        found = self.variants(name)
        length = sum(record["output"]["bytes"] for record in self.records)
        return (100 * sum(one["chunks_clean"] for one in found) / max(1, sum(one["chunks"] for one in found)),
                100 * sum(one["bytes_reparsed"] for one in found) / max(1, length), sum(not one["equal"] for one in found))


def difference(value):
    """Whether an interval is on one side of 1."""
    if value.low is None:
        return "one process"
    return FASTER if value.low > 1 else SLOWER if value.high < 1 else EQUAL


def shown(name):
    """"cut=even" as "even"; "merge=tree+chunks=8" as "tree, 8 chunks"."""
    first, _, chunks = name.partition("+chunks=")
    return first.split("=")[1] + (f", {chunks} chunks" if chunks else "")


def add_rows(table, group, base, means, key):
    for name in group.names:
        over = group.over(name, base)
        clean, again, unequal = group.counts(name)
        means[key, shown(name)] = group.speedup(name)
        table.row(shown(name), Number(means[key, shown(name)], "", 3), Number(over, "", 3), BASE if name == base else difference(over),
                  Number(clean, "%", 1), Number(again, "%", 3), Number(unequal, "", 0))


def variants(data, result, means):
    """The tables of all parts that hpar-variants measured."""
    for key, variable, title in GROUPS:
        sets = [Group(data, key, chunks=n) for n in (8, 32, 128)] if key == "merge" else [Group(data, key)]
        sets = [group for group in sets if group.records]
        if not sets:
            continue
        base = "chain" if key == "merge" else shown(sets[0].names[0])
        table = result.add(Table(f"strategies-{key}", f"{title}: geometric mean of speed-ups, {data.machine.get('cores')} threads",
                                 [variable, "speed-up", f"over {base}", "difference", "clean chunks, %", "bytes parsed again, %", "unequal trees"],
                                 f"over {base}: quotients of times of one round. Difference: whether their interval is on one side of 1."))
        for group in sets:
            add_rows(table, group, group.names[0], means, key)


def compared(data, result, means):
    """The parts that a process has for all its parses."""
    for part, variable, title in PARTS:
        keys = list(dict.fromkeys(record["variables"][variable] for record in data.records if record["variables"].get("part") == part))
        if not keys:
            continue
        table = result.add(Table(f"strategies-{part}", f"{title}: geometric mean of speed-ups, {data.machine.get('cores')} threads",
                                 [variable, "speed-up", "unequal trees"]))
        for name in keys:
            runs = data.ran(part=part, **{variable: name})
            if not runs:
                table.row(name, *[not_yet(data.why_not(part=part, **{variable: name}))] * 2)
                continue
            by_page = [data.ran(part=part, page=page, **{variable: name}) for page in data.values("page")]
            means[part, name] = numbers.geometric([speedup(records) for records in by_page if records])
            table.row(name, Number(means[part, name], "", 3), Number(sum(not page_of(record)["equal"] for record in runs), "", 0))


def convergence(data, result):
    """How many start hypotheses of a chunk are left after so many bytes."""
    runs = {page: data.ran(part="convergence", page=page) for page in data.values("page")}
    found = {page: page_of(records[0])["convergence"] for page, records in runs.items()
             if records and "convergence" in page_of(records[0])}
    if not found:
        return
    steps = list(next(iter(found.values()))["live_after"])
    table = result.add(Table("strategies-convergence", "Start hypotheses of a chunk that are left, strategy enumerate",
                             ["page", "at the cut", *(f"{n} bytes" for n in steps), "at the end", "chunks with one"]))
    for page, c in found.items():
        chunks = max(1, c["chunks"])
        left = [c["hypotheses"], *(c["live_after"][n] for n in steps), c["live"]]
        table.row(page, *(Number(n / chunks, "", 1) for n in left), f"{c['chunks_with_one']} of {c['chunks']}")


def judge(data, result, means):
    """The aim: exact and hpar2013 are faster than temppa."""
    group = Group(data, "strategy")
    if not {"strategy=exact", "strategy=hpar2013", "strategy=temppa"} <= set(group.names):
        result.why = data.why_not(group="strategy")
        return
    over = {name: group.over(f"strategy={name}", "strategy=temppa") for name in ("exact", "hpar2013")}
    pays = all(difference(value) == FASTER for value in over.values())
    result.verdict = MEETS if pays else MISSES
    if not pays:
        cuts = {name: numbers.arithmetic([one["chunks"] for one in group.variants(f"strategy={name}")]) for name in ("exact", "temppa", "hpar2013")}
        result.reason = (f"A page has {cuts['exact']:.1f} chunk boundaries with exact and {cuts['temppa']:.1f} with temppa, so wrong guesses cost "
                         f"little; hpar2013 has {cuts['hpar2013']:.1f}.")
    result.why = ", ".join(f"{name} over temppa: {difference(value)} ({Number(value, '', 3).text()})" for name, value in over.items())


def analyse(data):
    result, means = Section(NOT_YET, ""), {}
    variants(data, result, means)
    compared(data, result, means)
    convergence(data, result)
    trees = [one["equal"] for record in data.ran() if "group" in record["variables"] for one in record["output"]["variants"][1:]]
    trees += [page_of(record)["equal"] for record in data.ran() if "part" in record["variables"]]
    result.fact("runs", Number(len(trees), "", 0))
    result.fact("runs with another tree", Number(trees.count(False), "", 0))
    judge(data, result, means)

    def show_strategies(figure):
        names = [key for key in means if key[0] in ("strategy", "cut")]
        draw.bars(figure.subplots(), [f"{part}: {name}" for part, name in names],
                  [("geometric mean of speed-ups", [means[key] for key in names], True)], "speed-up", 1)

    def show_chunks(figure):
        points = sorted((int(name), value) for (part, name), value in means.items() if part == "chunks")
        axes = figure.subplots()
        draw.lines(axes, [("geometric mean over the pages", points, True)], "chunks", "speed-up", log_x=2)
        axes.set_xticks([n for n, _ in points], [str(n) for n, _ in points])
        axes.minorticks_off()

    if any(part in ("strategy", "cut") for part, _ in means):
        result.add(Plot("strategies", "Strategies and cuts", "The dotted line is the sequential parser.", show_strategies))
    if any(part == "chunks" for part, _ in means):
        result.add(Plot("strategies-chunks", "Speed-up by number of chunks", "As many threads as cores.", show_chunks, (5.2, 3)))
    return result
