"""The parts of a report: tables, plots, remarks and headlines. A cell is text, a Number, or Missing with its reason. An
empty cell is an error."""
from .numbers import Value


class Missing:
    """The reason for a missing figure: "not given" by the paper, or "not yet: ..." if it cannot be measured yet."""

    def __init__(self, reason):
        self.reason = reason


NOT_GIVEN = Missing("not given")


def not_yet(reason):
    return Missing(f"not yet: {reason}")


class Number:
    """A figure with its unit and the number of decimals. `projected`: computed, not measured; the heading of the column
    must state that."""

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
    """`columns` are headings; a row is (label, cells, mark). The mark gives the reason why a row is a stand-in, or None."""

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
    """`draw(figure)` draws on a figure of matplotlib; `text` describes the plot in words."""

    def __init__(self, name, title, text, draw, size=(7.2, 3.6)):
        self.name, self.title, self.text, self.draw, self.size = name, title, text, draw, size


class Headline:
    """One row of the report's summary: the paper's figure and HPar's, as text."""

    def __init__(self, label, paper, ours, verdict):
        self.label, self.paper, self.ours, self.verdict = label, paper, ours, verdict


class Section:
    """The result of an analysis. `verdict` is one of VERDICTS, and `why` gives the figures behind it. `reason` explains
    in a sentence why a result differs or misses its aim. `headlines` and `picture` go into the report's summary. `facts`
    are figures of the paper's text that no table has."""

    def __init__(self, verdict, why, reason=""):
        self.verdict, self.why, self.reason = verdict, why, reason
        self.parts, self.headlines, self.picture, self.facts = [], [], None, {}

    def headline(self, label, paper, ours, verdict):
        self.headlines.append(Headline(label, paper, ours, verdict))

    def fact(self, name, number):
        self.facts[name] = number

    def missed(self, verdict, reason):
        self.verdict, self.reason = verdict, reason

    def add(self, part):
        self.parts.append(part)
        return part


# Beside the paper's value; beside the project's own aim, for results that the paper does not have.
AGREES, DIFFERS, CANNOT, NOT_YET = "agrees", "differs", "cannot be compared", "not yet"
MEETS, MISSES = "meets its aim", "misses its aim"
VERDICTS = [AGREES, MEETS, DIFFERS, MISSES, CANNOT, NOT_YET]


def beside(paper, ours, tolerance=None, digits=2, unit="", why=None):
    """Paper, HPar, ratio, verdict: four cells. They agree if HPar's figure is within `tolerance` (a fraction) of the
    paper's, or if the paper's figure is within the interval of HPar's. With `why` they cannot be compared."""
    ours_cell = ours if isinstance(ours, (Missing, Number)) else Number(ours, unit, digits) if ours is not None else not_yet(
        "not run")
    if paper is None:
        return [NOT_GIVEN, ours_cell, Missing("no paper value"), f"{CANNOT}: {why or 'the paper gives no value'}"]
    paper_cell = Number(paper, unit, digits)
    if isinstance(ours_cell, Missing):
        return [paper_cell, ours_cell, Missing("no HPar value"), NOT_YET]
    value = ours_cell.value
    ratio = Number(value.scaled(1 / paper), "", 2) if paper else Missing("the paper's value is 0")
    if why:
        return [paper_cell, ours_cell, ratio, f"{CANNOT}: {why}"]
    inside = value.low is not None and value.low <= paper <= value.high
    near = abs(value.mean - paper) <= (tolerance or 0) * abs(paper)
    return [paper_cell, ours_cell, ratio, AGREES if inside or near else DIFFERS]


BESIDE = ["paper", "HPar", "HPar / paper", "verdict"]
