"""Time for a byte against size."""
from lab import draw, numbers
from lab.cells import AGREES, DIFFERS, Number, Plot, Section, Table
from lab.data import speedup, time_ms


def analyse(data):
    pages = [page for page in data.values("page") if data.ran(page=page)]
    points = {}
    for page in pages:
        model, size = page.split("@")
        runs, length = data.ran(page=page), data.page_bytes(page)
        points.setdefault(model, []).append((length, time_ms(runs, "sequential").scaled(1e6 / length),
                                             time_ms(runs, "parallel").scaled(1e6 / length), speedup(runs)))
    result = Section(AGREES, "")
    table = result.add(Table("linear", "Time for a byte against size, nanoseconds", ["size, MB", "sequential", "parallel", "speed-up"]))
    worst = 0
    for model, rows in points.items():
        rows.sort(key=lambda row: row[0])
        for length, sequential, parallel, faster in rows:
            table.row(f"{model}, {length / 1e6:.2f}", Number(sequential, "ns", 3), Number(parallel, "ns", 3), Number(faster, "", 2))
        long = [row for row in rows if row[0] >= 900000]
        for before, after in zip(long, long[1:]):
            worst = max(worst, abs(after[1].mean / before[1].mean - 1))
    result.verdict = AGREES if worst < 0.1 else DIFFERS
    result.why = f"from 1 MB on the sequential time for a byte changes by {100 * worst:.0f}% at most from one size to the next"

    def show(figure):
        draw.lines(figure.subplots(), [(f"{model}, {name}", [(row[0] / 1e6, row[i]) for row in rows], True)
                                       for model, rows in points.items() for i, name in ((1, "sequential"), (2, "parallel"))],
                   "size, MB", "ns for a byte", log_x=True)

    result.add(Plot("linear", "Time for a byte against size", "Level where time is linear in size", show))
    return result
