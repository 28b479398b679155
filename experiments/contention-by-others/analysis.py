"""Two threads and the automatic mode over one thread, while other processes use the processors."""
from lab import numbers
from lab.cells import MEETS, MISSES, Missing, Number, Section, Table

MEDIAN, TAIL, RESCUED = 0, 1, 3  # of a mode's list; 2 is the longest time
AIMS = {MEDIAN: 0.97, TAIL: 0.9}
MODES = {"parallel": "two threads", "auto": "auto"}


def name(load):
    if load.startswith("quota-"):
        return f"a quota of {load[len('quota-'):]}% of a core"
    loops = load.removesuffix("-pinned")
    return "no other process" if loops == "0" else f"{loops} busy loop{'' if loops == '1' else 's'}{', pinned' if '-' in load else ''}"


def ratio(page, mode, what):
    return page["sequential"][what] / page[mode][what]


def page_table(load, pages):
    table = Table(f"others-{load}", f"Times of one thread over those of two: {name(load)}",
                  ["page", "one thread, median, ms", "95th percentile, ms",
                   *(f"{label}, {what}" for label in MODES.values() for what in ("median", "95th percentile")),
                   "rescued chunks, two threads"])
    for page in pages:
        table.row(page["page"], *(Number(page["sequential"][what] / 1e6, "ms", 3) for what in (MEDIAN, TAIL)),
                  *(Number(ratio(page, mode, what), "", 2) for mode in MODES for what in (MEDIAN, TAIL)),
                  Number(page["parallel"][RESCUED], "", 0))
    return table


def analyse(data):
    result = Section(MEETS, "")
    summary = Table("others", "Times of one thread over those of two, beside other processes",
                    ["load", *(f"{label}, {what}" for label in MODES.values()
                               for what in ("mean of medians", "mean of 95th percentiles", "worst median", "worst 95th percentile"))],
                    "Geometric means over pages, 200 parses a page and mode.")
    missed = []
    tables = []
    for load in data.values("load"):
        for record in data.ran(load=load):
            output = record["output"]
            if "reason" in output:
                summary.row(name(load), *(Missing(output["reason"]) for _ in range(8)))
                continue
            pages = [dict(zip(output["columns"], row)) for row in output["pages"]]
            ratios = {(mode, what): [ratio(page, mode, what) for page in pages] for mode in MODES for what in AIMS}
            summary.row(name(load), *(Number(value, "", 2) for mode in MODES
                                      for value in (numbers.geometric(ratios[mode, MEDIAN]), numbers.geometric(ratios[mode, TAIL]),
                                                    min(ratios[mode, MEDIAN]), min(ratios[mode, TAIL]))))
            tables.append(page_table(load, pages))
            missed += [f"{page['page']} beside {name(load)}: {'median' if what == MEDIAN else '95th percentile'} {ratio(page, 'auto', what):.2f}"
                       for page in pages for what, aim in AIMS.items() if ratio(page, "auto", what) < aim]
    result.add(summary)
    for table in tables:
        result.add(table)
    cells = sum(len(table.rows) for table in tables) * len(AIMS)
    result.why = f"the automatic mode meets its aim in {cells - len(missed)} of {cells} cells"
    result.fact("cells", Number(cells, "", 0))
    result.fact("cells that meet the aim", Number(cells - len(missed), "", 0))
    if missed:
        result.missed(MISSES, "The calling thread or a worker waited for a processor.")
        result.why += "".join(f"; below the aim: {one}" for one in missed[:12]) + (f"; and {len(missed) - 12} more" if len(missed) > 12 else "")
    return result
