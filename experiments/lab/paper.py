"""Values, tables and plots of paper.tex. The paper names them; a number in its text is never typed.

paper.tex has these macros:
  \\hpv{KEY}, \\hpci{KEY}, \\hpbest{KEY}   a figure: its mean, with the 95% interval, the best single run
  \\hpifv{KEY}{TEXT}{OTHER}               TEXT if the report has the figure, else OTHER
  \\hpp{PATH}                             a value of the paper by Zhao and others: a path in paper-values.json

A KEY is TABLE/ROW/COLUMN or EXPERIMENT/FACT. Each part is in lower case, with a hyphen for all other characters.
ROW* is the first row with that beginning. max:, min: and sum: before a KEY with the row * take a column together.

selection.json lists the tables and plots. A table takes its rows from one table of the report, and its columns from
tables with the same rows."""
import json
import os
import re

from . import cells, latex
from .data import PAPER

_USES = re.compile(r"\\(hpv|hpci|hpbest|hpp|hpifv)\{([^}]*)\}")
_MEANS = ("geometric-mean", "arithmetic-mean", "mean", "aim")
_FUNCTIONS = {"max": max, "min": min, "sum": sum}
MAX_REASON = 150  # characters of a reason in a table


class NoValue(Exception):
    """The run has no such value; the message is the reason."""


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def shorten(text, limit):
    """The beginning of a text, at a word."""
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0].rstrip(" ,;:(") + " …"


class Found:
    """All tables and facts of a report by their slugs."""

    def __init__(self, parts):
        self.parts = parts
        self.tables = {item.name: item for part in parts for item in part.section.parts if isinstance(item, cells.Table)}
        self.plots = {item.name: item for part in parts for item in part.section.parts if isinstance(item, cells.Plot)}

    def reason(self, name):
        """Why there is no table `name`: the reason of the experiment whose name it begins with."""
        for part in self.parts:
            if (name == part.name or name.startswith(part.name.split("-")[0])) and part.section.verdict == cells.NOT_YET:
                return part.section.why
        return "not part of this run"

    def table(self, name):
        if name not in self.tables:
            raise NoValue(self.reason(name))
        return self.tables[name]

    def column(self, table, wanted):
        seen = {}
        for i, heading in enumerate(table.columns):
            name = slug(heading)
            seen[name] = seen.get(name, 0) + 1
            if wanted == (name if seen[name] == 1 else f"{name}-{seen[name]}"):
                return i - 1
        raise NoValue(f"{table.name} has no column {wanted}")

    def row(self, table, wanted):
        for label, row, _ in table.rows:
            name = slug(label)
            if name == wanted or (wanted.endswith("*") and name.startswith(wanted[:-1])):
                return row
        raise NoValue(f"{table.name} has no row {wanted}")

    def fact(self, experiment, name):
        for part in self.parts:
            if part.name == experiment:
                for fact, number in part.section.facts.items():
                    if slug(fact) == name:
                        return number
                raise NoValue(part.section.why if part.section.verdict == cells.NOT_YET else f"{experiment} has no fact {name}")
        raise NoValue(f"no experiment {experiment}")

    def cell(self, key):
        """The cell of a key."""
        function, _, rest = key.rpartition(":")
        names = rest.split("/")
        if len(names) == 2:
            return self.fact(*names)
        if len(names) != 3:
            raise NoValue(f"{key} is not TABLE/ROW/COLUMN")
        table = self.table(names[0])
        at = self.column(table, names[2])
        if not function:
            return self.row(table, names[1])[at]
        numbers = [row[at] for label, row, _ in table.rows if slug(label) not in _MEANS and isinstance(row[at], cells.Number)]
        if function not in _FUNCTIONS or names[1] != "*" or not numbers:
            raise NoValue(f"{key}: no numbers")
        return cells.Number(_FUNCTIONS[function](number.value.mean for number in numbers), numbers[0].unit, numbers[0].digits)


def number(item, what):
    """The text of a cell in the running text."""
    if isinstance(item, cells.Missing):
        raise NoValue(item.reason)
    if not isinstance(item, cells.Number):
        return str(item)
    if what == "hpbest" and item.value.best is not None:
        return item.best_text()
    return item.text() if what == "hpci" else f"{item.value.mean:,.{item.digits}f}"


def of_paper(path):
    """A value of the paper by its path in paper-values.json."""
    at = PAPER
    for name in path.split("/"):
        at = at.get(name) if isinstance(at, dict) else None
    if at is None or isinstance(at, (dict, list)):
        raise NoValue(f"the paper gives no {path}")
    return f"{at:,g}" if isinstance(at, (int, float)) else str(at)


def values(found, text):
    """The macros for each value that `text` uses, and the reasons of those that are missing."""
    lines, missing = [], []
    text = re.sub(r"(?m)^%.*", "", text)
    for what, key in sorted({("hpv" if what == "hpifv" else what, key) for what, key in _USES.findall(text)}):
        try:
            shown = latex.safe(of_paper(key) if what == "hpp" else number(found.cell(key), what))
        except NoValue as error:
            shown = r"\hpmissing"
            missing.append(f"{key}: {error}")
        lines.append(rf"\hpset{{{what}}}{{{key}}}{{{shown}}}")
    return lines, missing


def _cell(item, kind, missing=None):
    """A cell of a table: its mean, "ci" with its interval, or the "best" run."""
    with_interval = kind == "ci"
    if isinstance(item, cells.Missing):
        if missing:
            return latex.safe(missing)
        return rf"\textit{{{latex.safe(shorten(item.reason.split(':')[0], 24))}}}"
    if isinstance(item, cells.Number) and kind == "best":
        return latex.safe(item.best_text() if item.value.best is not None else "--")
    if isinstance(item, cells.Number):
        return latex.safe(item.text() if with_interval else f"{item.value.mean:,.{item.digits}f}")
    return latex.safe(str(item).split(":")[0] if not with_interval else item)


def _tabular(heads, rows, layout=None):
    lines = ["% Made by scripts/report; do not edit.", rf"\begin{{tabular}}{{{layout or 'l' + 'r' * (len(heads) - 1)}}}", r"\toprule",
             " & ".join(latex.safe(head) for head in heads) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def table(found, one):
    """A table of selection.json. It has the rows of the table "from", and the columns [COLUMN or TABLE/COLUMN, heading], with
    "ci" as third member for figures with their interval, and "best" for the shortest run. "missing" is what missing figures show. "label" is the heading of the rows, whose names end at "label_end"
    and have at most "label_limit" characters. "layout" is the argument of tabular."""
    try:
        source = found.table(one["from"])
    except NoValue as error:
        return _tabular([one["label"], "this run"], [[r"\textit{all}", rf"\textit{{{latex.safe(shorten(str(error), 60))}}}"]])
    rows = []
    for label, _, stand_in in source.rows:
        shown = shorten(label.split(one.get("label_end", "\0"))[0], one.get("label_limit", len(label)))
        row = [latex.safe(shown) + ("$^*$" if stand_in else "")]
        for column in one["columns"]:
            name, _, rest = column[0].rpartition("/")
            try:
                home = found.table(name or one["from"])
                item = found.row(home, slug(label))[found.column(home, rest)]
            except NoValue:
                item = cells.Missing("none")
            row.append(_cell(item, (column[2:] or [None])[0], one.get("missing")))
        rows.append(row)
    return _tabular([one["label"], *(column[1] for column in one["columns"])], rows, one.get("layout"))


def missed(parts):
    """Results that differ from the paper or miss their aim, with their reasons."""
    rows = [[latex.safe(part.description["title"]), latex.safe(part.section.verdict), latex.safe(shorten(part.section.reason, MAX_REASON))]
            for part in parts if part.section.verdict in (cells.DIFFERS, cells.MISSES)]
    rows += [[latex.safe(part.description["title"]), latex.safe(part.section.verdict), latex.safe(shorten(part.section.why, MAX_REASON))]
             for part in parts if part.section.verdict == cells.NOT_YET]
    return _tabular(["result", "verdict", "reason"], rows, r"p{0.28\linewidth}lp{0.52\linewidth}")


def run_name(parts):
    """The commit and the machine of the one run that all parts are of, for the captions."""
    folders = {part.folder for part in parts if part.folder}
    if len(folders) != 1:
        return "several ones"
    host, name = os.path.abspath(folders.pop()).split(os.sep)[-2:]
    return f"{name[11:]}, {host}"


def runs(parts):
    """The runs from which the report has its figures. The run with most experiments comes first."""
    by_folder = {}
    for part in parts:
        if part.folder:
            by_folder.setdefault(part.folder, []).append(part)
    rows = []
    for i, (folder, here) in enumerate(sorted(by_folder.items(), key=lambda pair: (-len(pair[1]), pair[0]))):
        loads = ", ".join(f"{load:.2f}" for load in here[0].loads)
        rows.append([latex.safe(os.path.basename(folder)), loads or "unknown", latex.safe("all others" if not i else ", ".join(part.name for part in here))])
    return _tabular(["run", "load", "experiments"], rows, r"llp{0.4\linewidth}")


def selection(folder):
    path = os.path.join(folder, "selection.json")
    if not os.path.exists(path):
        return {"tables": {}, "plots": {}}
    with open(path, encoding="utf-8") as file:
        return json.load(file)
