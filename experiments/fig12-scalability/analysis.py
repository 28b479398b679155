"""Figure 12: speed-up against threads, measured and projected, and against size."""
from lab import draw, numbers
from lab.cells import AGREES, CANNOT, DIFFERS, NOT_GIVEN, Number, Plot, Section, Table, not_yet
from lab.data import PAPER, speedup
from lab.pages import PAPER as PAGES


def projection(data, page, part="project"):
    """[(cores, speed-up)] of hpar project, or None."""
    for record in data.ran(part=part, page=page):
        return [(row["cores"], numbers.Value(row["speedup_projected"])) for row in record["output"]["pages"][0]["cores"]]
    return None


def trust(data, result):
    """Compares projections with measurements where both exist."""
    rows = {}
    for part in ("project", "project-large"):
        for record in data.ran(part=part):
            for row in record["output"]["pages"][0]["cores"]:
                if row.get("speedup_measured"):
                    rows.setdefault((part, row["cores"]), []).append(row)
    if not rows:
        return
    table = result.add(Table("fig12-trust", "Projections beside measurements, geometric means",
                             ["pages, cores", "projected", "measured by the same program", "projected / measured"],
                             "The aim is 10%. Each figure is the median of 15 runs."))
    for (part, cores), found in sorted(rows.items()):
        means = [numbers.geometric([numbers.Value(row[name]) for row in found]) for name in ("speedup_projected", "speedup_measured")]
        pages = "large" if part == "project-large" else "the paper's"
        table.row(f"{pages}, {cores}", Number(means[0], "", 2, True), Number(means[1], "", 2),
                  Number(means[0].mean / means[1].mean, "", 2))


def large(data, result):
    projected = {page: projection(data, page, "project-large") for page in data.values("page") if data.ran(part="project-large", page=page)}
    if not projected:
        return
    cores = sorted({n for rows in projected.values() for n, _ in rows if n > 2})
    table = result.add(Table("fig12-large", "Large documents (not in the paper): projected speed-up by cores",
                             ["document", *(f"{n} projected" for n in cores)],
                             "The paper's mean on the 4 cores of its laptop, over its own pages, is 1.73."))
    for page, rows in projected.items():
        table.row(page, *(Number(next(value for m, value in rows if m == n), "", 2, True) for n in cores))
    table.row("geometric mean", *(Number(numbers.geometric([value for rows in projected.values() for m, value in rows if m == n]), "", 2, True)
                                  for n in cores))


def by_cores(data, result):
    cores = data.cores()
    threads = [n for n in data.values("threads") if isinstance(n, int)]
    pages = [page for page in PAGES if threads and all(data.ran(part="threads", page=page, threads=n) for n in threads)]
    if not pages:
        return
    ours = {(page, n): speedup(data.ran(part="threads", page=page, threads=n)) for page in pages for n in threads}
    projected = {page: projection(data, page) for page in pages}
    further = sorted({n for rows in projected.values() if rows for n, _ in rows if n > cores})
    table = result.add(Table(
        "fig12-cores", "Figure 12 (a): speed-up by threads",
        ["page", *(f"{n} measured" for n in threads), *([f"{n} projected" for n in further] or ["more cores"])],
        f"The paper gives two numbers: facebook is best with {PAPER['fig12']['facebook']['value']}, and the mean is highest at "
        f"{PAPER['fig12']['peak_cores']['value']} cores of its server."))
    for page in pages:
        beyond = [next((Number(value, "", 2, True) for n, value in projected[page] or [] if n == m), None) for m in further]
        if not further or None in beyond:
            beyond = [not_yet(data.why_not(part="project", page=page))] * max(1, len(further))
        table.row(page, *(Number(ours[page, n], "", 2) for n in threads), *beyond, stand_in=data.stand_in(page))
    means = {n: numbers.geometric([ours[page, n] for page in pages]) for n in threads}
    far = {n: numbers.geometric([value for page in pages for m, value in projected[page] or [] if m == n]) for n in further}
    table.row("geometric mean", *(Number(means[n], "", 2) for n in threads),
              *([Number(far[n], "", 2, True) for n in further] or [not_yet(data.why_not(part="project"))]))

    def show(figure):
        series = [("measured", sorted(means.items()), True)]
        if further:
            last = max(threads)
            series.append(("projected", [(last, means[last])] + sorted(far.items()), False))
        axes = figure.subplots()
        draw.lines(axes, series, "cores", "speed-up,\nabove 2 cores projected" if further else "speed-up", log_x=2)
        axes.plot([*threads, *further], [*threads, *further], color=draw.GREY, linewidth=0.8, linestyle=":")
        axes.set_ylim(0, max(value.mean for _, points, _ in series for _, value in points) * 1.25)
        axes.set_xticks([*threads, *further], [str(n) for n in [*threads, *further]])
        axes.minorticks_off()

    result.add(Plot("fig12-cores", "Figure 12 (a): speed-up by cores",
                    "Geometric means over the pages. Measured points are filled, projected ones hollow and dashed. The dotted line is linear speed-up.", show,
                    (5.2, 3.4)))
    result.picture = Plot("summary-cores", "Speed-up by cores", "Geometric mean over the paper's pages. Projections are hollow and dashed.", show, (4.3, 3.1))
    if 4 in far:
        result.headline("projected speed-up on 4 cores, the paper's pages", "1.69, measured", f"{far[4].mean:.2f}, projected", CANNOT)


def by_size(data, result):
    names = [name for name in data.values("page") if "*" in name]
    models = list(dict.fromkeys(name.split("*")[0] for name in names))
    points = {}
    for name in names:
        runs = data.ran(part="size", page=name)
        if runs:
            points.setdefault(name.split("*")[0], []).append((int(name.split("*")[1]), data.page_bytes(name), speedup(runs)))
    if not points:
        return None
    times = sorted({n for rows in points.values() for n, _, _ in rows})
    table = result.add(Table("fig12-size", "Figure 12 (b): speed-up of pages made longer by duplicating",
                             ["page", *(f"{n} times" for n in times), "paper"]))
    for model in models:
        found = {n: value for n, _, value in points.get(model, [])}
        table.row(model, *(Number(found[n], "", 2) if n in found else not_yet(data.why_not(page=f"{model}*{n}")) for n in times),
                  NOT_GIVEN, stand_in=data.stand_in(f"{model}*1"))

    def show(figure):
        panels = figure.subplots(1, len(points), sharey=True, squeeze=False)[0]
        for axes, (model, rows) in zip(panels, points.items()):
            values = [value for _, _, value in rows]
            axes.errorbar([n for n, _, _ in rows], [value.mean for value in values], yerr=draw.errors(values), color="black", marker="o",
                          linewidth=0.9, elinewidth=0.7)
            axes.set_xscale("log", base=2)
            axes.set_xticks([1, 4, 16], ["1", "4", "16"])
            axes.minorticks_off()
            axes.set_title(f"{model}\n{rows[0][1] / 1e6:.2f} MB", fontsize="medium")
        panels[0].set_ylabel("speed-up")
        figure.supxlabel("times that the body of the page is present", fontsize="medium")

    result.add(Plot("fig12-size", "Figure 12 (b): speed-up by size", "A panel for each page. Its body is present 1 to 16 times.", show, (7.2, 3)))
    return all(rows[-1][2].mean > rows[0][2].mean for rows in points.values())


def analyse(data):
    result = Section(CANNOT, "(a) the paper's server has 10 cores")
    by_cores(data, result)
    large(data, result)
    trust(data, result)
    grows = by_size(data, result)
    if grows is not None:
        result.verdict = AGREES if grows else DIFFERS
        result.why = ("(b) the speed-up grows with the page, as in the paper" if grows
                      else "(b) on some page the speed-up does not grow") + "; (a) cannot be compared: the number of cores differs"
        if not grows:
            result.reason = "The repeated body of that page has few places where a chunk can start."
    return result
