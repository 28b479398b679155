"""What a report is made of: tables, plots and remarks. A cell is text, a Number, or Missing with its reason; there is no
empty one."""
from .numbers import Value


class Missing:
    """Why there is no figure: "not given" by the paper, "not yet: ..." for what cannot be measured yet."""

    def __init__(self, reason):
        self.reason = reason


NOT_GIVEN = Missing("not given")


def not_yet(reason):
    return Missing(f"not yet: {reason}")


class Number:
    """A figure with its unit and how many decimals are shown. `projected`: computed, not measured, which the heading
    of its column must say."""

    def __init__(self, value, unit="", digits=2, projected=False):
        self.value = value if isinstance(value, Value) else Value(float(value))
        self.unit, self.digits, self.projected = unit, digits, projected

    def text(self):
        shown = f"{self.value.mean:,.{self.digits}f}"
        if self.value.low is not None:
            half = (self.value.high - self.value.low) / 2
            shown += f" ± {half:,.{self.digits}f}"
        return shown

    def best_text(self):
        return f"{self.value.best:,.{self.digits}f}"


class Table:
    """`columns` are headings; a row is (label, cells, mark), mark saying why a row is a stand-in, or None."""

    def __init__(self, name, title, columns, note=None):
        self.name, self.title, self.columns, self.note = name, title, columns, note
        self.rows = []

    def row(self, label, *cells, stand_in=None):
        if len(cells) + 1 != len(self.columns):
            raise ValueError(f"{self.name}: {label}: {len(cells)} cells for {len(self.columns) - 1} columns")
        if any(cell is None or cell == "" for cell in cells):
            raise ValueError(f"{self.name}: {label}: an empty cell without a reason")
        self.rows.append((label, list(cells), stand_in))


class Plot:
    """`draw(figure)` draws on a figure of matplotlib; `text` says in words what is to be seen."""

    def __init__(self, name, title, text, draw, size=(7.2, 3.6)):
        self.name, self.title, self.text, self.draw, self.size = name, title, text, draw, size


class Section:
    """What an analysis gives. `verdict` is agrees, differs, cannot be compared, or not yet; `why` says why."""

    def __init__(self, verdict, why):
        self.verdict, self.why = verdict, why
        self.parts = []

    def add(self, part):
        self.parts.append(part)
        return part


AGREES, DIFFERS, CANNOT, NOT_YET = "agrees", "differs", "cannot be compared", "not yet"


def beside(paper, ours, tolerance=None, digits=2, unit="", why=None):
    """Paper, ours, ratio, verdict: four cells. They agree if ours is within `tolerance` (a fraction) of the paper's, or the
    paper's within the interval of ours. With `why` they cannot be compared."""
    ours_cell = ours if isinstance(ours, (Missing, Number)) else Number(ours, unit, digits) if ours is not None else not_yet(
        "not run")
    if paper is None:
        return [NOT_GIVEN, ours_cell, Missing("no paper value"), f"{CANNOT}: {why or 'the paper gives no value'}"]
    paper_cell = Number(paper, unit, digits)
    if isinstance(ours_cell, Missing):
        return [paper_cell, ours_cell, Missing("no value of ours"), NOT_YET]
    value = ours_cell.value
    ratio = Number(value.scaled(1 / paper), "", 2) if paper else Missing("the paper's value is 0")
    if why:
        return [paper_cell, ours_cell, ratio, f"{CANNOT}: {why}"]
    inside = value.low is not None and value.low <= paper <= value.high
    near = abs(value.mean - paper) <= (tolerance or 0) * abs(paper)
    return [paper_cell, ours_cell, ratio, AGREES if inside or near else DIFFERS]


BESIDE = ["paper", "ours", "ours / paper", "verdict"]
