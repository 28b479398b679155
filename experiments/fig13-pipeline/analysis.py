"""Figure 13: the pipeline against the sequential parser."""
from lab import draw, numbers
from lab.cells import AGREES, BESIDE, DIFFERS, NOT_GIVEN, NOT_YET, Number, Plot, Section, Table, beside, not_yet
from lab.data import PAPER, speedup
from lab.pages import PAPER as PAGES

PARTS = [("paper", "the paper's design"), ("ours", "HPar"), ("O0", "the paper's design, -O0 build")]


def faster(data, part, page):
    runs = [record for record in data.ran(part=part, page=page) if "pipelined" in record["output"]["pages"][0]["modes"]]
    return speedup(runs, "pipelined") if runs else None


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    paper = PAPER["fig13"]
    pages = [page for page in PAGES if data.ran(part="paper", page=page)]
    values = {(part, page): faster(data, part, page) for part, _ in PARTS for page in pages}
    result = Section(DIFFERS, "")
    table = result.add(Table("fig13", "Speed-up of the pipeline over the sequential parser of the same build",
                             ["page", "paper", *(name for _, name in PARTS)]))
    means = {part: numbers.geometric([values[part, page] for page in pages]) for part, _ in PARTS}
    for page in pages:
        table.row(page, NOT_GIVEN, *(Number(values[part, page], "", 2) if values[part, page] else not_yet(data.why_not(part=part, page=page))
                                     for part, _ in PARTS), stand_in=data.stand_in(page))
    table.row("geometric mean", NOT_GIVEN, *(Number(means[part], "", 2) if means[part] else not_yet(data.why_not(part=part)) for part, _ in PARTS))
    against = result.add(Table("fig13-paper", "Beside the paper", ["what", *BESIDE]))
    four = beside(paper["laptop"]["value"], means["paper"] and numbers.Value(means["paper"].mean, means["paper"].low, means["paper"].high), 0.11)
    against.row("laptop", *four)
    against.row("laptop without JIT; HPar: an -O0 build, the nearest analogue", *beside(
        paper["laptop_without_jit"]["value"], means["O0"] and numbers.Value(means["O0"].mean, means["O0"].low, means["O0"].high), 0.15))
    result.verdict = AGREES if four[3] == AGREES else DIFFERS
    result.why = f"the paper's design has {means['paper'].mean:.2f}, HPar {means['ours'].mean:.2f} times the sequential speed" \
        if means["paper"] and means["ours"] else "some parts were not run"
    if result.verdict == DIFFERS:
        result.reason = ("HPar reads a token in about 170 instructions, so handing over each token by itself, with two cache-line "
                         "transfers, costs more.")
    if means["paper"] and means["ours"]:
        result.headline("speed-up of the pipeline", f"{paper['laptop']['value']}", f"{means['ours'].mean:.2f} (the paper's design: "
                        f"{means['paper'].mean:.2f})", result.verdict)
    result.add(Plot("fig13", "Figure 13: the pipeline per page", "The dotted line is the sequential parser of the same build.", lambda figure: draw.bars(
        figure.subplots(), pages, [(name, [values[part, page] for page in pages], True) for part, name in PARTS], "speed-up", 1)))
    return result
