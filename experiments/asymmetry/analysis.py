"""A fast and a slow core: work ranges by capacity beside equal ones."""
import statistics

from lab import draw, numbers
from lab.cells import MEETS, MISSES, Missing, Number, Plot, Section, Table

FAST, SLOW = "fast core alone", "slow core alone"
FIXED, EQUAL, CAPACITY, MEASURED, SLOW_MERGER = SCHEMES = ["equal, no stealing", "equal", "by capacity", "measured",
                                                           "equal, merger on the slow core"]
NAMES = {"kinds": "two kinds of cores", "core": "60% of one core taken", "quota": "a quota of 40% for one thread"}
OVER_FIXED, OVER_EQUAL = 1.25, 1.05


def speedup(page, scheme):
    """The speed of a scheme over that of the fast core alone, by the medians of each round."""
    rounds = zip(page["schemes"][FAST], page["schemes"][scheme])
    return numbers.value([statistics.median(alone) / statistics.median(times) for alone, times in rounds])


def over(pages, scheme):
    """The speed of ranges by capacity over that of another scheme, as a mean over pages."""
    return numbers.geometric([speedup(page, CAPACITY).mean / speedup(page, scheme).mean for page in pages])


def analyse(data):
    result = Section(MEETS, "")
    summary = result.add(Table("asymmetry", "Speed of work ranges by capacity on a fast and a slow core",
                               ["slow core", "over equal, no stealing", "over equal, merger on the fast core", "over equal, merger on the slow core",
                                "over the fast core alone", "worst page"], "Geometric means over pages of medians."))
    measured, found, missed = {}, [], []
    for how in data.values("how"):
        outputs = [record["output"] for record in data.ran(how=how)]
        pages = [page for output in outputs for page in output.get("pages", [])]
        if not pages:
            reason = next((output["reason"] for output in outputs if "reason" in output), data.why_not(how=how))
            summary.row(NAMES[how], *(Missing(reason) for _ in range(5)))
            continue
        measured[how] = pages
        table = result.add(Table(f"asymmetry-{how}", f"Speed over the fast core alone: {NAMES[how]}",
                                 ["page", "KB", "fast core alone, ms", "slow core alone", *SCHEMES],
                                 "Capacity of the slow core: " + ", ".join(
                                     f"{min(output['capacity'].values()) / max(output['capacity'].values()):.2f}"
                                     for output in outputs if "capacity" in output) + "."))
        for page in pages:
            alone = numbers.value([statistics.median(times) / 1e6 for times in page["schemes"][FAST]])
            table.row(page["page"], Number(page["bytes"] / 1000, "KB", 0), Number(alone, "ms", 3),
                      *(Number(speedup(page, scheme), "", 2) for scheme in (SLOW, *SCHEMES)))
        fixed, equal, slow_merger = (over(pages, scheme) for scheme in (FIXED, EQUAL, SLOW_MERGER))
        mean = numbers.geometric([speedup(page, CAPACITY) for page in pages])
        worst = min(pages, key=lambda page: speedup(page, CAPACITY).mean)
        summary.row(NAMES[how], *(Number(value, "", 2) for value in (fixed, equal, slow_merger, mean, speedup(worst, CAPACITY))))
        for name, value in (("over equal without stealing", fixed), ("over equal", equal), ("over equal, merger on the slow core", slow_merger),
                            ("over the fast core alone", mean)):
            result.fact(f"{how}, {name}", Number(value, "", 2))
        missed += [f"{NAMES[how]}: {text}" for below, text in (
            (fixed < OVER_FIXED, f"{fixed:.2f} times equal ranges without stealing"),
            (equal < OVER_EQUAL, f"{equal:.2f} times equal ranges, merger on the fast core"),
            (speedup(worst, CAPACITY).mean < 1, f"{worst['page']} has {speedup(worst, CAPACITY).mean:.2f} times the speed of the fast core alone"))
            if below]
        facts = (f"{fixed:.2f} times equal ranges without stealing", f"{equal:.2f} times equal ranges",
                 f"{slow_merger:.2f} times those with the merger on the slow core", f"{mean.mean:.2f} times the fast core alone")
        found += [f"{NAMES[how]}: {fact}" for fact in facts]
    if not measured:
        result.why = "no slow core could be made"
        result.missed(MISSES, "The table has the reasons.")
    else:
        result.why = "; ".join([*found, *(f"missed: {one}" for one in missed)])
    if missed:
        result.missed(MISSES, "Short parses end before a slow core gains what its start costs.")
    if measured:
        def draw_bars(figure):
            hows = list(measured)
            draw.bars(figure.subplots(), [NAMES[how] for how in hows],
                      [(scheme, [numbers.geometric([speedup(page, scheme) for page in measured[how]]) for how in hows], True)
                       for scheme in (SLOW, *SCHEMES)], "speed", 1, rotate=0)

        result.add(Plot("asymmetry", "Speed on a fast and a slow core",
                        "Geometric means over pages. The dotted line is the fast core alone.", draw_bars))
    return result
