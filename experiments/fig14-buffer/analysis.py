"""Figure 14: time of the pipeline by buffer length."""
from lab import draw, numbers
from lab.cells import AGREES, DIFFERS, NOT_GIVEN, NOT_YET, Number, Plot, Section, Table, not_yet
from lab.data import time_ms
from lab.pages import PAPER as PAGES


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    pages = [page for page in PAGES if data.ran(page=page)]
    buffers = data.values("buffer")
    times = {(page, n): time_ms(data.ran(page=page, buffer=n), "pipelined") for page in pages for n in buffers}
    result = Section(AGREES, "")
    table = result.add(Table("fig14", "Milliseconds of a pipelined parse by tokens in the buffer", ["page", "paper", *(str(n) for n in buffers)]))
    for page in pages:
        table.row(page, NOT_GIVEN, *(Number(times[page, n], "ms", 3) if times[page, n] else not_yet(data.why_not(page=page, buffer=n))
                                     for n in buffers), stand_in=data.stand_in(page))
    means = {n: numbers.geometric([times[page, n] for page in pages]) for n in buffers}
    table.row("geometric mean", NOT_GIVEN, *(Number(means[n], "ms", 3) if means[n] else not_yet("not run") for n in buffers))
    there = [value.mean for value in means.values() if value]
    result.verdict = AGREES if max(there) < 1.15 * min(there) else DIFFERS
    result.why = f"the means differ by up to {100 * (max(there) / min(there) - 1):.0f}%; the paper reports no clear relation"
    if result.verdict == DIFFERS:
        result.reason = "Writing a slot again that the other core has read is expensive, so a buffer that a page fills is slow."
    result.add(Plot("fig14", "Figure 14: time by buffer length", "Geometric mean over the pages. The paper gives no numbers.", lambda figure: draw.lines(
        figure.subplots(), [("pipelined", [(n, means[n]) for n in buffers if means[n]], True)], "tokens in the buffer", "ms", log_x=2), (5.2, 3)))
    return result
