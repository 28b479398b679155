"""Splitting one document beside parsing several at once."""
from lab import draw, numbers
from lab.cells import CANNOT, MEETS, MISSES, Number, Plot, Section, Table
from lab.data import speedup, time_ms

# (class, set, least bytes, most bytes, aim for two threads over two copies side by side)
CLASSES = [("the paper's, 300 KB and more", "paper", 300000, None, 0.93), ("large", "large", 0, None, 0.98),
           ("collection, 64 KB and more", "classes", 64 << 10, None, 0.90), ("collection, 32 to 64 KB", "classes", 32 << 10, 64 << 10, 0.75)]


def classes(data, result, cores):
    """Two threads over two copies by size. A process is a sample: its geometric mean over the pages of a class."""
    table = Table("many-classes", f"{cores} threads on one page beside {cores} copies, over the sequential parser",
                  ["class", "pages", "one document split", "side by side", "split over side by side", "aim"],
                  "Geometric means over pages of quotients of medians. All runs of a page are in one process, in turns.")
    missed = []
    for title, name, least, most, aim in CLASSES:
        processes = {}
        for record in data.ran(set=name):
            for page in record["output"]["pages"]:
                if least <= page["bytes"] < (most or float("inf")):
                    modes = page["modes"]
                    pair = [modes[mode]["speedup_median"] for mode in ("parallel", "side-by-side")]
                    processes.setdefault(record["variables"]["process"], []).append((*pair, pair[0] / pair[1]))
        if not processes:
            continue
        cells = [numbers.value([numbers.geometric([row[i] for row in rows]) for rows in processes.values()]) for i in range(3)]
        table.row(title, Number(len(next(iter(processes.values()))), "", 0), *(Number(cell, "", 3) for cell in cells), Number(aim, "", 2))
        if cells[2].mean < aim:
            missed.append(f"{title}: {cells[2].mean:.3f} of {aim:.2f}")
    if table.rows:
        result.add(table)
        result.verdict = MEETS
    if missed:
        result.missed(MISSES, "A short page pays the fixed costs of waking, cutting and merging as a long one does.")
        result.why += "".join(f"; below the aim: {one}" for one in missed)


def analyse(data):
    cores = data.cores()
    result = Section(CANNOT, "the paper does not measure this")
    shown = []
    for name, title in (("paper", "the paper's pages"), ("large", "the large pages")):
        pages = [page for page in data.values("page") if data.ran(set=name, page=page)]
        if not pages:
            continue
        table = result.add(Table(f"many-{name}", f"Speed-up over one sequential parse, {title}, {cores} threads",
                                 ["page", "sequential, ms", "one document split", "side by side", "split over side by side, %"]))
        split, beside = [], []
        for page in pages:
            runs = data.ran(set=name, page=page)
            split.append(speedup(runs))
            beside.append(speedup(runs, "side-by-side"))
            table.row(page, Number(time_ms(runs, "sequential"), "ms", 3), Number(split[-1], "", 2), Number(beside[-1], "", 2),
                      Number(100 * split[-1].mean / beside[-1].mean, "%", 1), stand_in=data.stand_in(page))
            shown.append((page, split[-1], beside[-1]))
        means = numbers.geometric(split), numbers.geometric(beside)
        table.row("geometric mean", "of speed-ups", Number(means[0], "", 3), Number(means[1], "", 3),
                  Number(100 * means[0].mean / means[1].mean, "%", 1))
        result.why += f"; on {title}, splitting gains {means[0].mean:.2f}, side by side {means[1].mean:.2f}"
    classes(data, result, cores)
    rows = data.ran(set="collection")
    if rows:
        table = result.add(Table("many-throughput", "The collection, each page once, documents fresh", ["threads", "MB/s", "over one thread"]))
        speeds = {threads: numbers.value([record["output"]["bytes"] * 1e3 / record["output"]["ns"]["total"]
                                          for record in data.ran(set="collection", threads=threads)]) for threads in data.values("threads")}
        for threads, speed in speeds.items():
            table.row(str(threads), Number(speed, "MB/s", 1), Number(speed.mean / speeds[1].mean, "", 2))

    def show(figure):
        draw.bars(figure.subplots(), [page for page, _, _ in shown],
                  [("one document split", [split for _, split, _ in shown], True), ("side by side", [beside for _, _, beside in shown], True)],
                  "speed-up", 1)

    result.add(Plot("many", "Splitting one document, and parsing several at once", "The dotted line is one sequential parse.", show))
    return result
