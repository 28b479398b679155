"""Figure 11: a table with the paper's bars, and bars."""
from lab import draw, numbers
from lab.cells import AGREES, BESIDE, CANNOT, DIFFERS, MEETS, MISSES, Number, Plot, Section, Table, beside
from lab.data import PAPER, speedup, time_ms
from lab.pages import LARGE, PAPER as PAGES


def analyse(data):
    paper = PAPER["fig11"]["pages"]
    cores = data.cores()
    why = None if cores == 4 else f"this machine has {cores} cores, the paper's has 4"
    pages = [page for page in PAGES if data.ran(page=page)]
    ours = {page: speedup(data.ran(page=page)) for page in pages}
    means = {"geometric mean": numbers.geometric, "arithmetic mean": numbers.arithmetic}
    unequal = sum(not record["output"]["pages"][0]["equal"] for record in data.ran())
    result = Section(CANNOT if why else AGREES, why or "every page within 15%")
    table = result.add(Table("fig11-speedup", f"Speed-up over the sequential parser, {cores} threads",
                             ["page", "KB", "sequential, ms", "parallel, ms", *BESIDE],
                             f"Trees differ on {unequal} of {len(data.ran())} runs. The paper's means are computed from its bars."))
    result.fact("runs", Number(len(data.ran()), "", 0))
    result.fact("runs with another tree", Number(unequal, "", 0))
    verdicts = []
    for page in pages:
        runs = data.ran(page=page)
        four = beside(paper[page], ours[page], 0.15, why=why)
        verdicts.append(four[3])
        table.row(page, Number(data.page_bytes(page) / 1000, "KB", 0), Number(time_ms(runs, "sequential"), "ms", 3),
                  Number(time_ms(runs, "parallel"), "ms", 3), *four, stand_in=data.stand_in(page))
    for name, mean in means.items():
        of_paper = mean([paper[page] for page in pages])
        table.row(name, Number(mean([data.page_bytes(page) / 1000 for page in pages]), "KB", 0),
                  Number(mean([time_ms(data.ran(page=page), "sequential") for page in pages]), "ms", 3),
                  Number(mean([time_ms(data.ran(page=page), "parallel") for page in pages]), "ms", 3),
                  *beside(of_paper, mean(list(ours.values())), 0.15, why=why))
    if not why and DIFFERS in verdicts:
        result.why = f"{verdicts.count(DIFFERS)} of {len(verdicts)} pages are off by more than 15%"
        result.missed(DIFFERS, "The baseline is HPar's own sequential parser, which is faster than the paper's jsoup, and the machine is another one.")

    def draw_bars(figure):
        draw.bars(figure.subplots(), pages, [
            (f"HPar, {cores} threads", [ours[page] for page in pages], True),
            ("paper, 4 cores", [numbers.Value(paper[page]) for page in pages], True)], "speed-up", 1)

    result.add(Plot("fig11-speedup", "Figure 11: speed-up per page",
                    "HPar with the 95% interval. The dotted line is the sequential parser.", draw_bars))
    mean, of_paper = numbers.geometric(list(ours.values())), numbers.geometric([paper[page] for page in pages])
    result.headline("speed-up on the paper's pages, geometric mean", f"{of_paper:.2f} (printed as 1.73), 4 cores",
                    f"{mean.mean:.2f} (best runs {mean.best:.2f}), {cores} cores", result.verdict)
    result.headline("trees equal to the sequential tree", "not compared", f"{len(data.ran()) - unequal} of {len(data.ran())} runs",
                    f"{MEETS if not unequal else MISSES}")
    result.picture = Plot("summary-speedup", "Speed-up by page", f"HPar on {cores} cores beside the paper on 4 cores.", draw_bars, (4.3, 3.1))
    large = [page for page in LARGE if data.ran(page=page)]
    if large:
        more = result.add(Table("fig11-large", "The same for large documents (not in the paper)",
                                ["document", "MB", "sequential, ms", "parallel, ms", "speed-up"]))
        for page in large:
            runs = data.ran(page=page)
            more.row(page, Number(data.page_bytes(page) / 1e6, "MB", 1), Number(time_ms(runs, "sequential"), "ms", 2),
                     Number(time_ms(runs, "parallel"), "ms", 2), Number(speedup(runs), "", 2))
        mean = numbers.geometric([speedup(data.ran(page=page)) for page in large])
        result.fact("large mean", Number(mean, "", 2))
        sizes = [data.page_bytes(page) / 1e6 for page in large]
        result.headline(f"speed-up on {len(large)} documents of {min(sizes):.1f} to {max(sizes):.0f} MB", "not given", f"{mean.mean:.2f} (best runs {mean.best:.2f}), {cores} cores", CANNOT)
    return result
