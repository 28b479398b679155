"""Section 5.1: shares of the time by phase."""
from lab import draw, numbers
from lab.cells import AGREES, BESIDE, DIFFERS, Number, Plot, Section, Table, beside
from lab.data import PAPER, stats
from lab.pages import PAPER as PAGES

PHASES = ["cut", "decode", "merge"]


def share(records, phase):
    return numbers.value([100 * stats(record)["ns"][phase] / stats(record)["ns"]["total"] for record in records])


def again(records):
    """Percent of the bytes that were parsed again, of a page and of the chunks in which something was parsed again."""
    parts = [stats(record) for record in records]
    of_all = numbers.value([100 * part["bytes_reparsed"] / part["bytes"] for part in parts])
    dirty = [(part["bytes_reparsed"], part["bytes"] * (part["chunks"] - part["chunks_clean"]) / (part["chunks"] + 1))
             for part in parts if part["bytes_reparsed"] and part["chunks"] > part["chunks_clean"]]
    return of_all, numbers.value([100 * min(1, some / whole) for some, whole in dirty if whole])


def analyse(data):
    result = Section(DIFFERS, "")
    means = {}
    for chunks in data.values("chunks"):
        table = result.add(Table(f"costs-{chunks}", f"Percent of a parallel parse by phase, {chunks} chunks, {data.machine.get('cores')} threads",
                                 ["page", *PHASES, "rest", "bytes parsed again"]))
        pages = [page for page in PAGES if data.ran(page=page, chunks=chunks)]
        shares = {page: [share(data.ran(page=page, chunks=chunks), phase) for phase in PHASES] for page in pages}
        for page in pages:
            rest = numbers.value([100 - sum(100 * stats(record)["ns"][phase] / stats(record)["ns"]["total"] for phase in PHASES)
                                  for record in data.ran(page=page, chunks=chunks)])
            table.row(page, *(Number(value, "%", 2) for value in shares[page]), Number(rest, "%", 1),
                      Number(again(data.ran(page=page, chunks=chunks))[0], "%", 3), stand_in=data.stand_in(page))
        means[chunks] = [numbers.arithmetic([shares[page][i] for page in pages]) for i in range(len(PHASES))]
        table.row("mean", *(Number(value, "%", 2) for value in means[chunks]),
                  Number(100 - sum(value.mean for value in means[chunks]), "%", 1),
                  Number(numbers.arithmetic([again(data.ran(page=page, chunks=chunks))[0] for page in pages]), "%", 3))
    merging = means.get(8, means[next(iter(means))])[PHASES.index("merge")]
    of_chunks = [again(data.ran(page=page))[1] for page in data.values("page") if again(data.ran(page=page))[1]]
    table = result.add(Table("costs-paper", "Beside the paper", ["what", *BESIDE]))
    paper = PAPER["costs"]
    verdict = AGREES if 2.5 <= merging.mean <= 10 else DIFFERS  # a factor of two
    table.row("merging, laptop with 8 threads, %", *(beside(paper["merge_percent"]["laptop, 8 threads"], merging, 0)[:3] + [verdict]))
    why = None if of_chunks else "no chunk was parsed again"
    table.row("of a chunk parsed again where speculation failed, %", *beside(
        paper["reparsed_percent_of_a_chunk"], numbers.arithmetic(of_chunks) if of_chunks else numbers.Value(0.0), 0.5, why=why))
    result.verdict = verdict
    result.why = (f"merging takes {merging.mean:.1f}% of the time in 8 chunks, "
                  + ("less than" if merging.mean < 2.5 else "near" if merging.mean <= 10 else "more than") + " the paper's 5%")
    if verdict == DIFFERS:
        result.reason = ("The merger links a run of siblings in constant time, so it does less work than the paper's merge." if merging.mean < 2.5
                         else "The chunks have many log entries for their size, so the merger runs more tokens.")
    result.headline("merging, share of a parallel parse", "about 5%, 8 threads", f"{merging.mean:.1f}%, 8 chunks", verdict)

    def show(figure):
        axes = figure.subplots()
        left = {chunks: 0.0 for chunks in means}
        rows = list(means)
        for i, phase in enumerate(PHASES):
            values = [means[chunks][i].mean for chunks in rows]
            axes.barh(range(len(rows)), values, left=[left[chunks] for chunks in rows], label=phase, color=draw.COLOURS[i],
                      hatch=draw.HATCHES[i], edgecolor="black", linewidth=0.4, height=0.6)
            for chunks, value in zip(rows, values):
                left[chunks] += value
        axes.set_yticks(range(len(rows)), [f"{chunks} chunks" for chunks in rows])
        axes.set_xlabel("percent of a parallel parse")
        axes.grid(axis="y", visible=False)
        draw.legend(axes)

    result.add(Plot("costs", "Where the time goes besides parsing", "Mean over the pages. The rest up to 100% is parsing and waiting.",
                    show, (6.4, 0.9 + 0.5 * len(means))))
    return result
