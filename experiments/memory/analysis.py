"""Memory for a byte of input, and the parallel peak over the sequential one."""
import itertools

from lab import numbers
from lab.cells import CANNOT, MEETS, MISSES, Number, Section, Table

MAX = 1.25
TITLES = {"paper": "the paper's pages", "pages": "the collection", "large": "the large pages"}

PACES = {None: "", "free": "", "paced": ", paced"}


def per_byte(record):
    """Resident and allocated bytes for a byte of input, over all pages of a set."""
    output = record["output"]
    pages = [dict(zip(output["columns"], row)) for row in output["pages"]]
    size = sum(page["bytes"] for page in pages)
    return sum(page["resident"] for page in pages) / size, sum(page["heap"] + page["document"] for page in pages) / size


def analyse(data):
    result = Section(MEETS, "")
    worst = {}
    for name in data.values("set"):
        alone = [per_byte(record) for record in data.ran(set=name, mode="sequential")]
        if not alone:
            continue
        base = [numbers.value([run[i] for run in alone]) for i in (0, 1)]
        table = result.add(Table(f"memory-{name}", f"Bytes of memory for a byte of input, {TITLES[name]}",
                                 ["mode and threads", "resident", "over sequential", "allocated", "over sequential "],
                                 "Resident: VmHWM less the resident memory before. Allocated: the peak of malloc, and the tree. Sums over the pages of the set."))
        table.row("sequential", Number(base[0], "", 3), Number(1, "", 3), Number(base[1], "", 3), Number(1, "", 3))
        for mode, pace in itertools.product(("auto", "parallel"), data.values("pace") or [None]):
            for threads in data.values("threads"):
                runs = [per_byte(record) for record in data.ran(set=name, mode=mode, pace=pace, threads=threads)]
                if not runs:
                    continue
                values = [numbers.value([run[i] for run in runs]) for i in (0, 1)]
                ratios = [values[i].mean / base[i].mean for i in (0, 1)]
                worst[name, mode] = max(worst.get((name, mode), 0), *ratios)
                table.row(f"{mode}, {threads} threads{PACES[pace]}", Number(values[0], "", 3), Number(ratios[0], "", 3),
                          Number(values[1], "", 3), Number(ratios[1], "", 3))
    aim = {key: value for key, value in worst.items() if key[1] == "auto" and key[0] != "paper"} or worst
    if not aim:
        return Section(CANNOT, "no parallel run is there to compare")
    if max(aim.values()) > MAX:
        result.missed(MISSES, "Each further thread takes about 20 KB, and nodes of wrong guesses come on top.")
    result.fact("worst of auto", Number(max(aim.values()), "", 2))
    result.headline("peak memory on 1 to 8 threads, over sequential", "not given",
                    f"at most {max(aim.values()):.2f} times", result.verdict)
    result.why = "the table gives the parallel peak over the sequential one; " + "; ".join(
        f"at most {value:.2f} on {TITLES[name]} ({mode})" for (name, mode), value in worst.items())
    return result
