"""Several threads rewrite one page: the speed of two threads, and the work and span of more."""
from lab.cells import MEETS, MISSES, NOT_YET, Number, Section, Table

AIMS = {2: 1.8, 4: 3.3, 8: 6}
LEAST = 1 << 20  # bytes of a page in the verdict


def mean(values):
    """The geometric mean."""
    product = 1
    for value in values:
        product *= value
    return product ** (1 / len(values))


def speed_up(case, threads):
    """By work and span: the merger rewrites a share of the page on the true state while the other
    threads work on the rest. Then it adopts their results. The share is such that all threads end
    at the same time."""
    merger, worker = case["inline"] - case["workers"], case["workers"] / (threads - 1)
    share = max(0, (worker - merger) / (case["sequential"] + worker - merger))
    return case["sequential"] / max((1 - share) * worker, share * case["sequential"] + (1 - share) * merger)


def bound(case):
    """The speed-up of two threads that never wait: each of two sequential rewriters at once has half
    their speed, and a worker takes longer."""
    return case["sequential"] / case["copies"] * (1 + case["sequential"] / case["workers"])


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    by_case = {}
    for run in data.ran():
        for case in run["output"]["cases"]:
            size = "256 KB" if case["bytes"] <= 1 << 18 else "1 MB" if case["bytes"] <= 1 << 20 else "whole pages"
            by_case.setdefault((case["selector"], size), []).append(case)
    verdict = [case for cases in by_case.values() for case in cases if case["bytes"] >= LEAST]
    reached = {2: mean([case["sequential"] / case["two"] for case in verdict])}
    reached.update({threads: mean([speed_up(case, threads) for case in verdict]) for threads in (4, 8)})
    missed = [f"{reached[threads]:.2f} on {threads} cores, the aim is {aim}"
              for threads, aim in AIMS.items() if reached[threads] < aim]
    result = Section(MEETS, ", ".join(f"{value:.2f} on {threads} cores" for threads, value in reached.items()))
    if missed:
        result.why = "; ".join(missed)
        result.missed(MISSES, "Other programs used the processors, or the merger rewrites too much.")
    has_bound = all("copies" in case for cases in by_case.values() for case in cases)
    columns = ["selector", "input", "two threads", *(["bound"] if has_bound else []), "4 cores", "8", "16", "64", "adopted segments", "rewritten by the merger"]
    table = result.add(Table("rewriter-parallel", "Speed-up over one thread", columns,
                             "Geometric means. Two threads are measured. Their bound is the speed of two sequential rewriters at once, with the time of a worker for one half. 4 to 64 cores are work and span, by time on one thread."))
    for (selector, size), cases in by_case.items():
        segments = sum(case["segments"] for case in cases) or 1
        table.row(selector, size, Number(mean([case["sequential"] / case["two"] for case in cases]), "", 2),
                  *([Number(mean([bound(case) for case in cases]), "", 2)] if has_bound else []),
                  *(Number(mean([speed_up(case, threads) for case in cases]), "", 2) for threads in (4, 8, 16, 64)),
                  Number(100 * sum(case["adopted"] for case in cases) / segments, "%", 1),
                  Number(100 * sum(case["rewritten"] for case in cases) / len(cases), "%", 1))
    return result
