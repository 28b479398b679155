"""The share of a parse that threads hide beside scripts, and the speculation that writes lose."""
from lab import numbers
from lab.cells import MEETS, MISSES, NOT_YET, Number, Section, Table

AIM = 0.9
LARGE = 100000  # bytes
WRITES = {"none": "nothing", "balanced": "a balanced element", "open": "an open element"}


def fastest(output, name):
    return output["ns"][name][0]


def hidden(output):
    """The share of the parse that does not lengthen the parse with scripts."""
    saved = fastest(output, "run_sequential") - fastest(output, "run_parallel")
    return saved / fastest(output, "off_sequential")


def bound(output, name):
    """The hidden share that the positions of the scripts allow; None in runs before this figure."""
    return (fastest(output, "run_sequential") - output[name]) / fastest(output, "off_sequential") if name in output else None


def cell(value):
    return Number(value) if value is not None else ""


def speedup(output, kind):
    return fastest(output, f"{kind}_sequential") / fastest(output, f"{kind}_parallel")


def analyse(data):
    result = Section(NOT_YET, data.why_not())
    shares, bounds, lost, differs = [], {"bound": [], "bound_of_threads": []}, 0, 0
    for writes, title in WRITES.items():
        table = Table(f"script-speedup-{writes}", f"Each script writes {title}",
                      ["page, threads, cost of scripts", "scripts", "speed-up without scripts", "with scripts", "hidden share of the parse",
                       "bound", "bound of these threads", "segments lost", "KB lost", "KB lost by the rule of equal states"],
                      "Shortest times. Cost: the time of all scripts over that of the sequential parse. The hidden share is the time that "
                      "threads save, over the sequential parse without scripts. Its bound: a script starts after the script before it, and "
                      "after all threads have parsed the page up to it. The threads lose no time, or are as fast as without scripts. A parser with the rule of equal states, such as Gecko's, "
                      "loses all speculation after a script that changes the state.")
        for record in data.ran(writes=writes):
            output, variables = record["output"], record["variables"]
            share = hidden(output)
            table.row(f"{variables['page']}, {variables['threads']}, {variables['cost']}", Number(output["scripts"], "", 0),
                      Number(speedup(output, "off")), Number(speedup(output, "run")), Number(share), cell(bound(output, "bound")),
                      cell(bound(output, "bound_of_threads")),
                      Number(output["segments_lost"], "", 0), Number(output["bytes_lost"] / 1e3, "", 1),
                      Number(output["bytes_after_change"] / 1e3, "", 1))
            differs += not output["equal"]
            lost += output["segments_lost"] if writes == "balanced" else 0
            if writes == "none" and output["bytes"] >= LARGE and output["scripts"]:
                shares.append(share)
                for name, values in bounds.items():
                    values += [bound(output, name)] if name in output else []
        if table.rows:
            result.add(table)
    if not shares:
        return result
    mean = numbers.value(shares).mean
    result.fact("hidden", Number(mean, "", 2))
    result.fact("least hidden", Number(min(shares), "", 2))
    result.fact("most hidden", Number(max(shares), "", 2))
    result.fact("segments lost to balanced writes", Number(lost, "", 0))
    result.fact("runs", Number(len(data.ran()), "", 0))
    result.fact("trees that differ", Number(differs, "", 0))
    result.verdict = MEETS if mean >= AIM and not lost and not differs else MISSES
    if result.verdict == MISSES:
        result.reason = "Scripts late in a page wait for the parse before them, and two threads parse less than twice as fast as one."
    result.why = f"scripts hide {mean:.2f} of the parse in the mean of pages from 100 KB on (aim: {AIM}); balanced writes lose {lost} " \
                 f"segments; {differs} trees differ"
    if bounds["bound"]:
        result.why += f"; by their positions, two threads could hide {numbers.value(bounds['bound']).mean:.2f} without losses, and " \
                      f"{numbers.value(bounds['bound_of_threads']).mean:.2f} at the speed of these threads"
    return result
