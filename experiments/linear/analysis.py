"""Time and instructions for a byte of input, by size."""
from lab import draw, numbers
from lab.cells import MEETS, MISSES, Missing, Number, Plot, Section, Table
from lab.data import speedup, time_ms

LONG = 900000  # bytes; the aim applies from here on
INSTRUCTIONS, TIME, SPEEDUP = 0.03, 0.10, 0.05


def model_of(page):
    """The page that documents of different length repeat."""
    model, _, generated = page.split("^")[0].partition("@")
    return f"like {model}" if generated else model


def changes(values):
    return [abs(after / before - 1) for before, after in zip(values, values[1:])]


def analyse(data):
    pages = [page for page in data.values("page") if data.ran(page=page, part="reused")]
    points = {}
    for page in pages:
        model = model_of(page)
        runs, length = data.ran(page=page, part="reused"), data.page_bytes(page)
        counted = data.ran(page=page, part="instructions")
        fresh = data.ran(page=page, part="fresh")
        points.setdefault(model, []).append({
            "length": length, "sequential": time_ms(runs, "sequential").scaled(1e6 / length),
            "parallel": time_ms(runs, "parallel").scaled(1e6 / length), "speedup": speedup(runs),
            "instructions": counted[0]["output"]["instructions"] / length if counted else None,
            "fresh": numbers.value([record["output"]["ns"]["total"] / length for record in fresh]) if fresh else None})
    result = Section(MEETS, "")
    table = result.add(Table("linear", "For a byte of input, by size",
                             ["size, MB", "instructions", "sequential, reused, ns", "sequential, fresh, ns", "parallel, reused, ns", "speed-up"],
                             "Instructions: callgrind, of a fresh document. Reused: one document for all runs. Fresh: a new process and document."))
    counted, timed, fallen, fallen_best = [0], [0], [0], [0]
    for model, rows in points.items():
        rows.sort(key=lambda row: row["length"])
        for row in rows:
            table.row(f"{model}, {row['length'] / 1e6:.2f}",
                      Number(row["instructions"], "", 3) if row["instructions"] else Missing("not counted below 1 MB"),
                      Number(row["sequential"], "ns", 3), Number(row["fresh"], "ns", 3) if row["fresh"] else Missing("not measured below 1 MB"),
                      Number(row["parallel"], "ns", 3), Number(row["speedup"], "", 2))
        long = [row for row in rows if row["length"] >= LONG]
        counted += changes([row["instructions"] for row in long if row["instructions"]])
        timed += changes([row["sequential"].best if row["sequential"].best else row["sequential"].mean for row in long])
        fallen += [1 - after["speedup"].mean / before["speedup"].mean for before, after in zip(long, long[1:])]
        fallen_best += [1 - after["speedup"].best / before["speedup"].best for before, after in zip(long, long[1:])]
    linear = max(counted) <= INSTRUCTIONS and max(timed) <= TIME and max(fallen) <= SPEEDUP
    result.why = (f"at each doubling from 1 MB on, instructions for a byte change by at most {100 * max(counted):.1f}%; the shortest"
                  f" sequential time for a byte changes by at most {100 * max(timed):.0f}%; the speed-up falls by at most {100 * max(fallen):.0f}%")
    result.fact("change of instructions, %", Number(100 * max(counted), "%", 1))
    result.fact("change of time, %", Number(100 * max(timed), "%", 0))
    result.fact("fall of speed-up, %", Number(100 * max(fallen), "%", 0))
    if not linear:
        slow = max(counted) <= INSTRUCTIONS and max(timed) <= TIME
        result.missed(MISSES, f"Single processes had slow parallel runs; by the shortest runs the speed-up falls by at most {100 * max(fallen_best):.0f}%."
                      if slow else "A part of the parser takes more work for a byte of a longer document.")
    result.headline("change of instructions for a byte, 1 to 256 MB", "not given", f"at most {100 * max(counted):.1f}% at each doubling",
                    MEETS if max(counted) <= INSTRUCTIONS else MISSES)

    def show(figure):
        draw.lines(figure.subplots(), [(f"{model}, {name}", [(row["length"] / 1e6, row[name]) for row in rows], True)
                                       for model, rows in points.items() for name in ("sequential", "parallel")],
                   "size, MB", "ns for a byte", log_x=True)

    result.add(Plot("linear", "Time for a byte by size", "A level line means linear time.", show))
    return result
