"""Speed-up by work and span in instructions, by cores."""
from lab import draw, numbers
from lab.cells import MEETS, MISSES, Number, Plot, Section, Table

AIMS = {"large": {4: 3.6, 8: 7.0, 16: 13.0, 64: 45.0}, "paper": {4: 3.3, 16: 10.0}}
TITLES = {"large": "large documents", "paper": "the paper's pages of 300 KB and more"}
LEAST = 300000
SHARES = (("decode", "decoding"), ("predict", "start states"), ("merge", "merging"))


def rows_of(data, name):
    """{page: {cores: row}} of the pages of a set."""
    found = {}
    for page in data.values("page"):
        for record in data.ran(set=name, page=page):
            rows = record["output"]["rows"]
            if name != "paper" or rows[0]["bytes"] >= LEAST:
                found[page] = {row["cores"]: row for row in rows}
    return found


def speedup(row):
    return row["sequential"] / row["span"]


def mean(values):
    return numbers.geometric([numbers.Value(value) for value in values]).mean


def analyse(data):
    result = Section(MEETS, "")
    means, missed = {}, []
    for name in AIMS:
        found = rows_of(data, name)
        if not found:
            continue
        cores = sorted(set.intersection(*(set(rows) for rows in found.values())))
        table = result.add(Table(f"work-span-{name}", f"Speed-up in instructions, {TITLES[name]}", ["page", *(f"{n} cores" for n in cores)],
                                 "A projection: instructions of the sequential parse over the span of the parallel parse. No core was measured."))
        for page, rows in found.items():
            table.row(page, *(Number(speedup(rows[n]), "", 2) for n in cores))
        means[name] = {n: mean([speedup(rows[n]) for rows in found.values()]) for n in cores}
        table.row("geometric mean", *(Number(means[name][n], "", 2) for n in cores))
        table.row("aim", *(Number(AIMS[name].get(n), "", 1) if n in AIMS[name] else "none" for n in cores))
        share = result.add(Table(f"work-span-{name}-16", f"Instructions on 16 cores in % of the sequential parse, {TITLES[name]}",
                                 ["page", "work", *(title for _, title in SHARES), "chunks", "bytes parsed again"],
                                 "Start states are part of the workers' instructions; decoding is the time of the calling thread."))
        for page, rows in found.items():
            row = rows.get(16)
            if row:
                share.row(page, *(Number(100 * row[key] / row["sequential"], "%", 1) for key in ("work", *(key for key, _ in SHARES))),
                          str(row["chunks"]), str(row["bytes_reparsed"]))
        missed += [f"{TITLES[name]} on {n} cores: {means[name][n]:.1f} of {aim:.1f}"
                   for n, aim in AIMS[name].items() if n in means[name] and means[name][n] < aim]
    if missed:
        result.missed(MISSES, "Start states, decoding and log entries take a larger share of short chunks.")
    result.why = "".join(f"below the aim: {one}; " for one in missed) + "; ".join(f"{TITLES[name]}: " + ", ".join(f"{value:.1f} on {n} cores" for n, value in by_cores.items())
                           for name, by_cores in means.items())
    if 16 in means.get("large", {}):
        result.headline("speed-up in instructions on 16 cores, large documents", "not given", f"{means['large'][16]:.1f}",
                        MEETS if means["large"][16] >= AIMS["large"][16] else MISSES)

    def show(figure):
        axes = figure.subplots()
        draw.lines(axes, [(TITLES[name], [(n, numbers.Value(value)) for n, value in by_cores.items()], False)
                          for name, by_cores in means.items()], "virtual cores", "projected speed-up", log_x=2)
        every = sorted({n for by_cores in means.values() for n in by_cores})
        axes.plot(every, every, color=draw.GREY, linewidth=0.8, linestyle=":")
        axes.set_ylim(0, 1.25 * max((value for by_cores in means.values() for value in by_cores.values()), default=1))

    result.add(Plot("work-span", "Projected speed-up in instructions by cores", "Geometric means. No core was measured. The dotted line is linear speed-up.", show))
    return result
