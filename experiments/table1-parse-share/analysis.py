"""Table I: shares by the paper's figures, and with HPar in place of a browser's parser."""
from lab import numbers
from lab.cells import AGREES, DIFFERS, Number, Section, Table, not_yet
from lab.data import PAPER
from lab.pages import PAPER as PAGES


def share(s, k):
    return 100 * s / (s + (1 - s) / k)


def analyse(data):
    paper = PAPER["table1"]["pages"]
    result = Section(AGREES, "")
    table = result.add(Table("table1", "Parsing as percent of the time of loading a page, the rest 1, 2 and 4 times faster",
                             ["page", "load, ms (paper)", "1x, paper", "2x, paper", "2x, computed", "4x, paper", "4x, computed", "verdict"]))
    off = 0
    for page in PAGES:
        row = paper[page]
        two, four = share(row["x1"] / 100, 2), share(row["x1"] / 100, 4)
        near = abs(two - row["x2"]) <= 0.15 and abs(four - row["x4"]) <= 0.15
        off += not near
        table.row(page, Number(row["load"], "ms", 0), Number(row["x1"], "%", 1), Number(row["x2"], "%", 1), Number(two, "%", 1),
                  Number(row["x4"], "%", 1), Number(four, "%", 1), AGREES if near else DIFFERS)
    mean = PAPER["table1"]["mean"]
    computed = [numbers.geometric([share(paper[page]["x1"] / 100, k) for page in PAGES]) for k in (2, 4)]
    table.row("geometric mean", Number(mean["load"], "ms", 0), Number(mean["x1"], "%", 1), Number(mean["x2"], "%", 1), Number(computed[0], "%", 1),
              Number(mean["x4"], "%", 1), Number(computed[1], "%", 1),
              AGREES if abs(computed[0] - mean["x2"]) <= 0.15 and abs(computed[1] - mean["x4"]) <= 0.15 else DIFFERS)
    traced = [page for page in PAGES if data.ran(page=page)]
    version = next((record["output"]["chromium"] for page in traced for record in data.ran(page=page)), None)
    ours = result.add(Table("table1-ours", "With HPar in place of a browser's parser",
                            ["page", "Chromium's parsing, ms", "HPar, ms", "Chromium's share of loading from disk, %", "1x, HPar", "2x, HPar", "4x, HPar"],
                            f"Against a trace of headless {version}." if version else "Chromium is not installed: the shares are the paper's."))
    all_shares = {1: [], 2: [], 4: []}
    for page in PAGES:
        runs = data.ran(page=page)
        if not runs:
            ours.row(page, *[not_yet(data.why_not(page=page))] * 6)
            continue
        theirs = numbers.value([record["output"]["parse_ms"] for record in runs])
        own = numbers.value([record["output"]["hpar_ms"] for record in runs])
        s = paper[page]["x1"] / 100
        r = own.mean / theirs.mean
        t = s * r / (s * r + 1 - s)
        for k in all_shares:
            all_shares[k].append(share(t, k))
        ours.row(page, Number(theirs, "ms", 2), Number(own, "ms", 3), Number(numbers.value([100 * record["output"]["parse_ms"] / record["output"]["load_ms"] for record in runs]), "%", 1),
                 *(Number(all_shares[k][-1], "%", 2) for k in all_shares), stand_in=data.stand_in(page))
    if traced:
        ours.row("geometric mean", *["of the pages above"] * 3, *(Number(numbers.geometric(all_shares[k]), "%", 2) for k in all_shares))
    if off:
        result.missed(DIFFERS, "The paper's shares at 2x and 4x do not follow from its share at 1x on some page.")
    result.why = f"2x and 4x follow from 1x on {len(PAGES) - off} of {len(PAGES)} pages; the parsing share is " + \
        (f"computed again from a trace of headless {version}" if version else f"the paper's: {data.why_not()}")
    return result
