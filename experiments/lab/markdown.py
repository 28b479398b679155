"""Writes a report as Markdown; its plots are files beside it."""
import textwrap

from . import cells, summary


def _safe(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def wrapped(text):
    """Prose in lines of at most 98 columns."""
    return "\n".join(textwrap.wrap(text, 98, break_long_words=False, break_on_hyphens=False))


def cell(item):
    if isinstance(item, cells.Missing):
        return f"*{_safe(item.reason)}*"
    if isinstance(item, cells.Number):
        best = f" (best {item.best_text()})" if item.value.best is not None else ""
        return _safe(item.text() + best)
    return _safe(item)


def part(one):
    section = one.section
    out = [f"## {one.description['title']}", "", f"{one.description.get('paper', '')} `{one.name}`: **{section.verdict}**", ""]
    out += [wrapped(f"- {_safe(line)}") for line in section.why.split("; ") if line]
    out += ["", wrapped(f"Reason: {_safe(section.reason)}"), ""] if section.reason else [""]
    marks = {}
    for item in section.parts:
        if isinstance(item, cells.Table):
            out += [f"**{_safe(item.title)}**", "", "| " + " | ".join(_safe(column) for column in item.columns) + " |",
                    "| --- |" + " ---: |" * (len(item.columns) - 1)]
            for label, row, stand_in in item.rows:
                mark = ""
                if stand_in:
                    marks.setdefault(stand_in, len(marks) + 1)
                    mark = f" ({marks[stand_in]})"
                out.append(f"| {_safe(label)}{mark} | " + " | ".join(cell(one_cell) for one_cell in row) + " |")
            out.append("")
            if item.note:
                out += [wrapped(_safe(item.note)), ""]
        elif isinstance(item, cells.Plot):
            out += [f"![{_safe(item.title)}](plots/{item.name}.svg)", "", wrapped(f"{_safe(item.title)}. {_safe(item.text)}"), ""]
        else:
            out += [wrapped(_safe(item)), ""]
    for reason, number in marks.items():
        out += [wrapped(f"({number}) Not the paper's page: {_safe(reason)}."), ""]
    return "\n".join(out)


def opening(parts):
    """Headlines, three plots, counts of verdicts, and the results that differ or miss their aim."""
    out = ["| result | paper | HPar | verdict |", "| --- | --- | --- | --- |"]
    out += [f"| {_safe(line.label)} | {_safe(line.paper)} | {_safe(line.ours)} | {_safe(line.verdict)} |" for line in summary.headlines(parts)]
    out += ["", *(f"![{_safe(item.title)}](plots/{item.name}.svg)" for item in summary.pictures(parts)), ""]
    out += [wrapped("Experiments: " + ", ".join(f"{verdict} {number}" for verdict, number in summary.counts(parts)) + "."), ""]
    missed = summary.misses(parts)
    if missed:
        out += ["## Results that differ or miss their aim", "", "| experiment | verdict | reason |", "| --- | --- | --- |"]
        out += [f"| [{one.description['title']}](#{one.name}) | {one.section.verdict} | {_safe(one.section.reason)} |" for one in missed]
        out.append("")
    return out


METHOD = [
    "This report measures every table and figure of the HPar paper again with this parser. It adds results that the paper does not "
    "have. The paper is Zhao, Bebenita, Herman, Sun and Shen, *HPar: A Practical Parallel Parser for HTML*, ACM TACO 10(4), 2013.",
    "A result *agrees* with the paper, *differs*, or *cannot be compared*. A result that the paper does not have *meets* or "
    "*misses its aim*. The README of each experiment states the rule.",
    "± is half the 95% interval of the mean over processes (Student's t). Each process gives the median of its runs. *Best* is the "
    "paper's policy: the shortest run of all after a warm-up. Projections are computed, not measured."]


def page(title, facts, parts):
    head = [f"# {title}", "", *opening(parts), "## Method", ""]
    for paragraph in METHOD:
        head += [wrapped(paragraph), ""]
    head += ["| | |", "| --- | --- |"]
    head += [f"| {_safe(name)} | {_safe(text)} |" for name, text in facts]
    head += [""]
    head += [f"- [{one.description['title']}](#{one.name}): {one.section.verdict}" for one in parts]
    return "\n".join(head) + "\n\n" + "\n".join(f'<a id="{one.name}"></a>\n\n{part(one)}' for one in parts)
