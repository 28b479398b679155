"""The speed of two threads and of the automatic mode over one thread, by the size of the page."""
import math

from lab import numbers
from lab.cells import MEETS, MISSES, Missing, Number, Section, Table

CLASSES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256]  # KB; a class goes up to the next
GAIN, LOSS = 1.10, 0.97
AIM = 32  # KB
POOLS = {"spinning": "the pool spins", "asleep": "the pool sleeps"}


def ratios(record):
    """(class, parallel over sequential, auto over sequential) of each page, by the shortest times."""
    output = record["output"]
    for row in output["pages"]:
        page = dict(zip(output["columns"], row))
        size = max((kilobytes for kilobytes in CLASSES if kilobytes << 10 <= page["bytes"]), default=None)
        if size:
            yield size, *(page["sequential"][0] / page[mode][0] for mode in ("parallel", "auto"))


def mean(ratios_of_pages):
    return math.exp(sum(map(math.log, ratios_of_pages)) / len(ratios_of_pages))


def share(ratios_of_pages, holds):
    return 100 * sum(map(holds, ratios_of_pages)) / len(ratios_of_pages)


def analyse(data):
    result = Section(MEETS, "")
    for pool in data.values("pool"):
        processes = {}
        for record in data.ran(pool=pool):
            processes.setdefault(record["variables"]["process"], []).extend(ratios(record))
        if not processes:
            continue
        table = result.add(Table(f"break-even-{pool}", f"Times of one thread over those of two, {POOLS[pool]}",
                                 ["from, KB", "pages", "two threads", "gain 10%, % of pages", "auto", "auto loses 3%, % of pages"],
                                 "Geometric means over pages of shortest times, with reused documents. Up to 16 KB: the first bytes of the paper's "
                                 "pages; from 16 KB on: whole pages."))
        even, worst = None, None
        for size in CLASSES:
            runs = [[row for row in rows if row[0] == size] for rows in processes.values()]
            if not all(runs):
                continue
            two = numbers.value([mean([row[1] for row in run]) for run in runs])
            auto = numbers.value([mean([row[2] for row in run]) for run in runs])
            table.row(str(size), Number(len(runs[0]), "", 0), Number(two, "", 2),
                      Number(numbers.value([share([row[1] for row in run], lambda x: x >= GAIN) for run in runs]), "%", 0),
                      Number(auto, "", 2),
                      Number(numbers.value([share([row[2] for row in run], lambda x: x < LOSS) for run in runs]), "%", 0))
            even = None if two.mean < GAIN else even or size
            worst = min(worst or auto.mean, auto.mean)
        result.why += f"{'; ' if result.why else ''}{POOLS[pool]}: two threads gain 10% in the mean from " \
                      f"{f'{even} KB' if even else 'no size'} on, auto has at least {worst:.2f} times the speed of one thread"
        result.fact(f"{pool}, gain from KB", Number(even, "KB", 0) if even else Missing("no size"))
        result.fact(f"{pool}, worst of auto", Number(worst, "", 2))
        if pool == "spinning" and (not even or even > AIM):
            result.missed(MISSES, f"Two threads gain 10% from {f'{even} KB' if even else 'no size'} on, because waking and merging cost "
                                  f"more than smaller pages save.")
        elif worst < LOSS:
            result.missed(MISSES, "While the pool sleeps, auto parses pages below 256 KB sequentially, so "
                                  f"{worst:.2f} in one class is the noise of a pause."
                          if pool == "asleep" else f"The automatic mode loses more than 3% in one class of pages while {POOLS[pool]}.")

    return result
