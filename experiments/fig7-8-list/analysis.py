"""Figures 6 to 9: the example, the cost of each phase, steps of the merge."""
from lab import draw, numbers
from lab.cells import AGREES, DIFFERS, Number, Plot, Section, Table, not_yet
from lab.data import median

PHASES = ["partition", "parse", "merge"]


def phase(records, name):
    return numbers.value([median(record["output"][f"ns_{name}"]) / 1e6 for record in records])


def total(records):
    result = numbers.value([median(record["output"]["ns_total"]) / 1e6 for record in records])
    result.best = min(min(record["output"]["ns_total"]) for record in records) / 1e6
    return result


def phases(data, result, size, threads):
    table = result.add(Table(f"list-{size // 1000000}mb", f"{size // 1000000} MB, {threads} threads: milliseconds by phase, and speed-up",
                             ["document, scheme", *PHASES, "total", "speed-up", "units", "largest piece, %", "steps of merging"]))
    for shape in [shape for shape in data.values("shape") if data.ran(shape=shape, size=size)]:
        alone = data.ran(scheme="sequential", shape=shape, size=size, threads=threads)
        for scheme in data.values("scheme"):
            runs = data.ran(scheme=scheme, shape=shape, size=size, threads=threads)
            if not runs or not alone:
                table.row(f"{shape}, {scheme}", *[not_yet(data.why_not(scheme=scheme, shape=shape, size=size))] * 8)
                continue
            one = runs[0]["output"]
            faster = numbers.value([median(before["output"]["ns_total"]) / median(after["output"]["ns_total"])
                                    for before, after in zip(alone, runs)])
            table.row(f"{shape}, {scheme}", *(Number(phase(runs, name), "ms", 3) for name in PHASES), Number(total(runs), "ms", 2),
                      Number(faster, "", 2), Number(one["units"], "", 0), Number(100 * one["largest_piece"] / one["bytes"], "%", 0),
                      Number(one["merge_steps"], "", 0))


def analyse(data):
    sizes = sorted(size for size in data.values("size") if data.ran(size=size))
    threads = max(data.values("threads"))
    example = next((record["output"] for record in data.ran() if record["step"] == "example"), "")
    result = Section(AGREES, "")
    lines = [line if ": " in line else f"merged: {line}" for line in example.strip().split("\n") if line]
    if lines:
        table = result.add(Table("list-example", "The example, cut as in Figure 8", ["tree", "elements"],
                                 "A star marks a missing end, and a caret marks a missing start."))
        for line in lines:
            table.row(*line.split(": ", 1))
    for size in sizes:
        phases(data, result, size, threads)
    grow = []
    for small, large in zip(sizes, sizes[1:]):
        before, after = (data.ran(scheme="fixed", shape="nested", size=size, threads=threads) for size in (small, large))
        if before and after:
            grow.append(phase(after, "partition").mean / phase(before, "partition").mean / (large / small))
    steps = {shape: [data.ran(scheme="temppa", shape=shape, size=size, threads=threads)[0]["output"]["merge_steps"] for size in sizes
                     if data.ran(scheme="temppa", shape=shape, size=size, threads=threads)] for shape in data.values("shape")}
    linear = all(0.5 <= one <= 2 for one in grow)
    logarithmic = all(max(one) <= 2 * min(one) for shape, one in steps.items() if len(one) > 1)
    result.verdict = AGREES if linear and logarithmic else DIFFERS
    text = ", ".join(f"{shape} {' to '.join(f'{n:,}' for n in sorted({one[0], one[-1]}))}" for shape, one in steps.items() if one)
    result.why = (("preparse is linear" if linear else "preparse is not linear") if grow else "the run has one size only") + \
        f"; steps of one merge by document: {text}"
    if result.verdict == DIFFERS:
        result.reason = ("A merge visits each child of the root after the cut, so its steps are linear where one list has many items." if linear
                         else "The time of preparse does not grow in proportion to the document on this machine.")

    def show(figure):
        size = sizes[-1]
        shapes = [shape for shape in data.values("shape") if data.ran(shape=shape, size=size)]
        axes = figure.subplots(1, len(shapes), sharey=True, squeeze=False)[0]
        for at, shape in zip(axes, shapes):
            schemes = [scheme for scheme in data.values("scheme") if data.ran(scheme=scheme, shape=shape, size=size, threads=threads)]
            bottom = [0.0] * len(schemes)
            for i, name in enumerate(PHASES):
                values = [phase(data.ran(scheme=scheme, shape=shape, size=size, threads=threads), name).mean for scheme in schemes]
                at.bar(range(len(schemes)), values, bottom=bottom, label=name if at is axes[0] else None, color=draw.COLOURS[i],
                       hatch=draw.HATCHES[i], edgecolor="black", linewidth=0.4, width=0.7)
                bottom = [a + b for a, b in zip(bottom, values)]
            at.set_xticks(range(len(schemes)), schemes, rotation=60, ha="right")
            at.set_xlabel(shape)
            at.grid(axis="x", visible=False)
        axes[0].set_ylabel(f"ms for {size // 1000000} MB")
        draw.legend(axes[0])
        axes[0].get_legend().set_in_layout(False)  # or the first axes become as wide as it
        axes[0].set_title(" ")  # which keeps its place free

    result.add(Plot("list-phases", "The LIST language: cost of each phase", f"{threads} threads. The sequential parser is beside the schemes.", show, (7.2, 3.4)))
    points = {shape: [(n, phase(runs, "merge")) for n in data.values("pieces") for runs in [data.ran(part="pieces", shape=shape, pieces=n)] if runs]
              for shape in data.values("shape")}
    points = {shape: rows for shape, rows in points.items() if rows}
    if points:
        table = result.add(Table("list-merge", "Temppa: milliseconds of merging 10 MB by number of chunks",
                                 ["document", *(str(n) for n in data.values("pieces"))]))
        for shape, rows in points.items():
            found = dict(rows)
            table.row(shape, *(Number(found[n], "ms", 3) if n in found else not_yet(data.why_not(part="pieces", shape=shape, pieces=n))
                               for n in data.values("pieces")))

        def merging(figure):
            draw.lines(figure.subplots(), [(shape, rows, True) for shape, rows in points.items()], "chunks", "merging, ms", log_x=2, log_y=True)

        result.add(Plot("list-merge", "Temppa: merging by number of chunks", "Documents of 10 MB.", merging, (5.2, 3.2)))
    return result
