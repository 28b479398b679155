"""Parses whose second thread sleeps for 100 ms at one place of the text."""
from lab.cells import MEETS, MISSES, Missing, Number, Section, Table

MEDIAN, TAIL, LONGEST = range(3)
AIM_NS = 500000
TIMES = ["median, ms", "95th percentile, ms", "longest, ms", "sequential: 95th percentile, ms", "longest, ms "]
NAMES = {"chain": "merged as a chain", "tree": "merged as a tree", "auto": "automatic mode"}


def milliseconds(times, what):
    return Number(times[what] / 1e6, "ms", 3) if times else Missing("no thread slept")


def analyse(data):
    result = Section(MEETS, "")
    sleeps = within = 0
    missed = []
    for mode in data.values("mode"):
        for record in data.ran(mode=mode):
            output = record["output"]
            elapsed = Table(f"late-{mode}", f"Time after the median of sequential parses: {NAMES[mode]}",
                            ["page", "sequential, ms", "sleeps", "rescued chunks", "at most 0.5 ms", *TIMES])
            processor = Table(f"late-processor-{mode}",
                              f"Processor time after the median of sequential parses: {NAMES[mode]}",
                              ["page", "sleeps", "parses that waited asleep", "at most 0.5 ms", *TIMES])
            for row in output["pages"]:
                page = dict(zip(output["columns"], row))
                numbers = {column: Number(page[column], "", 0)
                           for column in ("sleeps", "rescued", "waited", "within", "processor_within")}
                elapsed.row(page["page"], Number(page["sequential"] / 1e6, "ms", 3), numbers["sleeps"],
                            numbers["rescued"], numbers["within"],
                            *(milliseconds(page["late"], what) for what in (MEDIAN, TAIL, LONGEST)),
                            *(milliseconds(page["noise"], what) for what in (TAIL, LONGEST)))
                processor.row(page["page"], numbers["sleeps"], numbers["waited"], numbers["processor_within"],
                              *(milliseconds(page["processor_late"], what) for what in (MEDIAN, TAIL, LONGEST)),
                              *(milliseconds(page["processor_noise"], what) for what in (TAIL, LONGEST)))
                sleeps += page["sleeps"]
                within += page["within"]
                if page["late"] and page["late"][MEDIAN] > AIM_NS:
                    missed.append(f"{page['page']}, {NAMES[mode]}: median {page['late'][MEDIAN] / 1e6:.2f} ms")
            result.add(elapsed)
            result.add(processor)
    result.why = f"{within} of {sleeps} parses with a sleeping thread end at most 0.5 ms after the sequential parse"
    result.fact("sleeps", Number(sleeps, "", 0))
    result.fact("within 0.5 ms", Number(within, "", 0))
    if missed:
        result.missed(MISSES, "The calling thread parses the text of the sleeping thread again.")
        result.why += "".join(f"; above the aim: {one}" for one in missed)
    return result
