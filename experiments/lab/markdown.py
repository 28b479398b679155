"""A report as Markdown; plots are files beside it."""
from . import cells


def _safe(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def cell(item):
    if isinstance(item, cells.Missing):
        return f"*{_safe(item.reason)}*"
    if isinstance(item, cells.Number):
        best = f" (best {item.best_text()})" if item.value.best is not None else ""
        return _safe(item.text() + best)
    return _safe(item)


def part(one):
    section = one.section
    out = [f"## {one.description['title']}", "",
           f"{one.description.get('paper', '')} `{one.name}`. **{section.verdict}**: {_safe(section.why)}", ""]
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
                out += [_safe(item.note), ""]
        elif isinstance(item, cells.Plot):
            out += [f"![{_safe(item.title)}](plots/{item.name}.svg)", "", f"{_safe(item.title)}. {_safe(item.text)}", ""]
        else:
            out += [_safe(item), ""]
    for reason, number in marks.items():
        out += [f"({number}) Not the paper's page: {_safe(reason)}.", ""]
    return "\n".join(out)


def page(title, facts, parts):
    head = [f"# {title}", "", "Every table and figure of Zhao, Bebenita, Herman, Sun and Shen, *HPar: A Practical Parallel Parser for HTML* "
            "(ACM TACO 10(4), 2013), measured again with this parser, and what the paper does not have.", "", "| | |", "| --- | --- |"]
    head += [f"| {_safe(name)} | {_safe(text)} |" for name, text in facts]
    head += ["", "± is half the 95% interval of the mean over processes (Student's t), each process giving the median of its runs. "
             "*Best* is the paper's policy: the shortest run of all after a warm-up. What is projected was computed, not measured.", ""]
    head += [f"- [{one.description['title']}](#{one.name}): {one.section.verdict}" for one in parts]
    return "\n".join(head) + "\n\n" + "\n".join(f'<a id="{one.name}"></a>\n\n{part(one)}' for one in parts)
