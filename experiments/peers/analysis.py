"""Peers: speed, memory, equal trees, beside HPar's sequential and parallel parsers."""
from lab import draw, numbers
from lab.cells import CANNOT, NOT_YET, Missing, Number, Plot, Section, Table


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    output = data.ran()[-1]["output"]
    result = Section(CANNOT, "the paper measures jsoup only, on a Java virtual machine of 2012")
    table = result.add(Table("peers", "MB/s on the paper's pages, geometric mean over pages of the median of the rounds, one core",
                             ["parser", "fresh document", "HPar over it", "reused document", "HPar over it ", "memory for a byte", "trees equal to HPar's"],
                             f"Pages are decoded to UTF-8 first. {output['rounds']} rounds, all parsers alternately. The interval is of the mean over rounds."))
    speeds = []
    for peer in output["peers"]:
        cell = next(iter(peer["sets"].values()))
        fresh = numbers.value(peer["fresh_by_round"]) if peer.get("fresh_by_round") else numbers.Value(cell["fresh"])
        speeds.append((peer["name"], fresh))
        none = Missing("cannot reuse a document")
        table.row(peer["version"], Number(fresh, "MB/s", 1), Number(cell["ours_over_fresh"], "", 2),
                  Number(cell["reused"], "MB/s", 1) if "reused" in cell else none,
                  Number(cell["ours_over_reused"], "", 2) if "reused" in cell else none, Number(peer["memory_per_byte"], "", 1),
                  Missing("not compared") if peer["trees_equal"] is None else f"{peer['trees_equal']} of {output['pages']}")
    parallel = output.get("parallel")
    if parallel:
        speed = Number(numbers.value(parallel), "MB/s", 1)
        table.row(f"hpar, {data.machine.get('cores')} threads", Missing("documents are reused"), Missing("documents are reused"), speed,
                  Missing("HPar"), Missing("see memory"), "equal on all" if output.get("parallel_equal") else "not all equal")
    for name, why in output["missing"].items():
        table.row(name, *[Missing(f"missing: {why}")] * 6)

    def show(figure):
        axes = figure.subplots()
        rows = sorted(speeds, key=lambda pair: pair[1].mean)
        axes.barh(range(len(rows)), [value.mean for _, value in rows], color=[draw.BLUE if name == "hpar" else draw.SKY for name, _ in rows],
                  hatch="", edgecolor="black", linewidth=0.4)
        axes.errorbar([value.mean for _, value in rows], range(len(rows)), xerr=draw.errors([value for _, value in rows]), fmt="none", ecolor="black")
        for i, (_, value) in enumerate(rows):
            axes.annotate(f"{value.mean:.0f}", (value.mean if value.high is None else max(value.high, value.mean), i), xytext=(5, 0),
                          textcoords="offset points", va="center")
        axes.set_yticks(range(len(rows)), [name for name, _ in rows])
        axes.set_xlabel("MB/s, fresh documents, one core")
        axes.grid(axis="y", visible=False)
        axes.margins(x=0.12)

    cells_by_name = {peer["name"]: next(iter(peer["sets"].values())) for peer in output["peers"]}
    if "hpar" in dict(speeds):
        own = dict(speeds)["hpar"].mean
        over = ", ".join(f"{cells_by_name[name]['ours_over_fresh']:.1f} times {name}" for name in ("jsoup", "lexbor") if name in cells_by_name)
        result.headline("sequential speed on one core, fresh documents", "jsoup is the baseline", f"{own:,.0f} MB/s{': ' if over else ''}{over}", CANNOT)
        result.picture = Plot("summary-peers", "Parsers side by side", "MB/s of one core on the paper's pages.", show, (4.3, 3.1))
    result.add(Plot("peers", "Parsers side by side", "Sequential, on the paper's pages. HPar is the darker bar.", show, (6.4, 0.8 + 0.34 * len(speeds))))
    return result
