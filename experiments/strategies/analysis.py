"""Ablation: one part changes at a time."""
from lab import draw, numbers
from lab.cells import MEETS, MISSES, NOT_YET, Number, Plot, Section, Table, not_yet
from lab.data import page_of, speedup, stats

PARTS = [("strategy", "strategy", "Strategies"), ("predictor", "predictor", "Start-state predictors"),
         ("mode", "predictor", "Insertion-mode predictors"), ("cut", "cut", "Cut policies"), ("chunks", "chunks", "Number of chunks"),
         ("merge", "merge", "Shape of the merge"), ("allocator", "allocator", "Allocator"), ("bind", "bind", "Binding to cores")]


def summary(data, pages, **variables):
    values = [speedup(data.ran(page=page, **variables)) for page in pages if data.ran(page=page, **variables)]
    runs = data.ran(**variables)
    clean = [(stats(record)["chunks_clean"], stats(record)["chunks"]) for record in runs]
    again = [(stats(record)["bytes_reparsed"], stats(record)["bytes"]) for record in runs]
    unequal = sum(not record["output"]["pages"][0]["equal"] for record in runs)
    return (numbers.geometric(values), 100 * sum(a for a, _ in clean) / max(1, sum(b for _, b in clean)),
            100 * sum(a for a, _ in again) / max(1, sum(b for _, b in again)), unequal)


def drivers(data, result):
    """The drivers beside the parallel parser: whole parses in another way."""
    if not data.values("driver"):
        return
    table = result.add(Table("strategies-driver", f"Drivers: geometric mean of speed-ups, {data.machine.get('cores')} threads",
                             ["driver", "speed-up", "unequal trees"]))
    for name in data.values("driver"):
        runs = data.ran(part="driver", driver=name)
        if not runs:
            table.row(name, *[not_yet(data.why_not(part="driver", driver=name))] * 2)
            continue
        by_page = [data.ran(part="driver", driver=name, page=page) for page in data.values("page")]
        faster = numbers.geometric([speedup(records, name) for records in by_page if records])
        table.row(name, Number(faster, "", 3), Number(sum(not page_of(record)["equal"] for record in runs), "", 0))


def convergence(data, result):
    """How many start hypotheses of a chunk are left after so many bytes."""
    runs = {page: data.ran(part="strategy", strategy="enumerate", page=page) for page in data.values("page")}
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


def analyse(data):
    result = Section(NOT_YET, "")
    pages = data.values("page")
    means = {}
    for part, variable, title in PARTS:
        records = [record for record in data.records if record["variables"].get("part") == part]
        if not records:
            continue
        keys = list(dict.fromkeys((record["variables"][variable], record["variables"].get("chunks") if part == "merge" else None)
                                  for record in records))
        table = result.add(Table(f"strategies-{part}", f"{title}: geometric mean of speed-ups, {data.machine.get('cores')} threads",
                                 [variable, "speed-up", "clean chunks, %", "bytes parsed again, %", "unequal trees"]))
        for name, chunks in keys:
            label = str(name) if chunks is None else f"{name}, {chunks} chunks"
            variables = {"part": part, variable: name, **({} if chunks is None else {"chunks": chunks})}
            if not data.ran(**variables):
                table.row(label, *[not_yet(data.why_not(**variables))] * 4)
                continue
            faster, clean, again, unequal = summary(data, pages, **variables)
            means[part, name, chunks] = faster
            table.row(label, Number(faster, "", 3), Number(clean, "%", 1), Number(again, "%", 3), Number(unequal, "", 0))
    drivers(data, result)
    convergence(data, result)
    result.fact("runs", Number(len(data.ran()), "", 0))
    result.fact("runs with another tree", Number(sum(not record["output"]["pages"][0]["equal"] for record in data.ran()), "", 0))
    by_strategy = {name: value for (part, name, _), value in means.items() if part == "strategy"}
    if {"exact", "temppa", "hpar2013"} <= set(by_strategy):
        pays = min(by_strategy["exact"].mean, by_strategy["hpar2013"].mean) > by_strategy["temppa"].mean
        result.verdict = MEETS if pays else MISSES
        if not pays:
            cuts = {name: numbers.arithmetic([stats(record)["chunks"] for record in data.ran(part="strategy", strategy=name)])
                    for name in ("exact", "temppa", "hpar2013")}
            result.reason = (f"A page has {cuts['exact']:.1f} chunk boundaries with exact and {cuts['temppa']:.1f} with temppa, so wrong guesses cost "
                             f"little; hpar2013 has {cuts['hpar2013']:.1f}.")
        result.why = ", ".join(f"{name} {value.mean:.2f}" for name, value in by_strategy.items()) + " times the sequential speed"
    else:
        result.why = data.why_not(strategy="hpar2013")

    def show_strategies(figure):
        names = [key for key in means if key[0] in ("strategy", "cut")]
        draw.bars(figure.subplots(), [f"{part}: {name}" for part, name, _ in names],
                  [("geometric mean of speed-ups", [means[key] for key in names], True)], "speed-up", 1)

    def show_chunks(figure):
        points = sorted((name, value) for (part, name, _), value in means.items() if part == "chunks")
        axes = figure.subplots()
        draw.lines(axes, [("geometric mean over the pages", points, True)], "chunks", "speed-up", log_x=2)
        axes.set_xticks([n for n, _ in points], [str(n) for n, _ in points])
        axes.minorticks_off()

    result.add(Plot("strategies", "Strategies and cuts", "The dotted line is the sequential parser.", show_strategies))
    if any(part == "chunks" for part, _, _ in means):
        result.add(Plot("strategies-chunks", "Speed-up by number of chunks", "As many threads as cores.", show_chunks, (5.2, 3)))
    return result
