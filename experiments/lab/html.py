"""Writes a report as one self-contained HTML file."""
import base64
from html import escape

from . import cells, draw, summary

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem 1.2rem 4rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; padding-bottom: .2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0 1rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { padding: .18rem .5rem; text-align: right; border-bottom: 1px solid #e2e2e2; vertical-align: top; }
th { border-bottom: 1px solid #888; vertical-align: bottom; } th:first-child, td:first-child, td.text, th.text { text-align: left; } .number { white-space: nowrap; }
tbody th { font-weight: 400; border-bottom: 1px solid #e2e2e2; vertical-align: top; white-space: nowrap; }
.missing { color: #666; font-style: italic; text-align: left; }
.best { color: #555; font-size: .86em; }
.verdict { display: inline-block; padding: 0 .5rem; border: 1px solid; border-radius: .3rem; font-weight: 600; }
.agrees, .meets { color: #005a87; } .differs, .misses { color: #a33b00; } .cannot { color: #555; } .not { color: #6b3f5d; }
.summary table { width: 100%; margin: .4rem 0; } .summary td, .summary th { text-align: left; padding: .12rem .5rem; } .summary td:last-child, .misses-table td:nth-child(2) { white-space: nowrap; }
.pictures { display: grid; grid-template-columns: repeat(3, 1fr); gap: .6rem; } .pictures figure { margin: .3rem 0; }
.lead { margin: .2rem 0; color: #444; } .counts { margin: .3rem 0; } .counts span { margin-right: .4rem; }
img { max-width: 100%; height: auto; } figure { margin: 1rem 0; } figcaption, .note { color: #444; font-size: .92em; max-width: 54rem; }
code { font-size: .92em; } nav ol { columns: 2; } details { margin: .5rem 0; } summary { cursor: pointer; }
pre { overflow-x: auto; background: #f5f5f5; padding: .5rem; font-size: .82em; }
@media (max-width: 40rem) { nav ol { columns: 1; } .pictures { grid-template-columns: 1fr; } }
"""


def _class(verdict):
    return verdict.split(":")[0].split()[0]


def cell(item):
    if isinstance(item, cells.Missing):
        return f'<td class="missing">{escape(item.reason)}</td>'
    if isinstance(item, cells.Number):
        best = f'<br><span class="best">best {item.best_text()}</span>' if item.value.best is not None else ""
        return f'<td class="number">{escape(item.text())}{best}</td>'
    word = str(item)
    if word.split(":")[0] in cells.VERDICTS:
        return f'<td class="text {_class(word)}">{escape(word)}</td>'
    return f'<td class="text">{escape(word)}</td>'


def table(item, marks):
    out = ['<div class="scroll"><table>', f"<caption>{escape(item.title)}</caption>", "<thead><tr>"]
    for i, column in enumerate(item.columns):
        text = i and not any(isinstance(row[i - 1], cells.Number) for _, row, _ in item.rows)
        mark = ' class="text"' if text else ""
        out.append(f'<th scope="col"{mark}>{escape(column.strip())}</th>')
    out.append("</tr></thead><tbody>")
    for label, row, stand_in in item.rows:
        mark = ""
        if stand_in:
            marks.setdefault(stand_in, len(marks) + 1)
            mark = f"<sup>{marks[stand_in]}</sup>"
        reasons = {one.reason if isinstance(one, cells.Missing) else None for one in row}
        if len(row) > 1 and len(reasons) == 1 and None not in reasons:  # one cell for the whole row
            shown = f'<td class="missing" colspan="{len(row)}">{escape(reasons.pop())}</td>'
        else:
            shown = "".join(cell(one) for one in row)
        out.append(f'<tr><th scope="row">{escape(label)}{mark}</th>{shown}</tr>')
    out.append("</tbody></table></div>")
    if item.note:
        out.append(f'<p class="note">{escape(item.note)}</p>')
    return "\n".join(out)


def plot(item):
    data = base64.b64encode(draw.svg(item).encode()).decode()
    return (f'<figure><img alt="{escape(item.title)}. {escape(item.text)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{escape(item.title)}. {escape(item.text)}</figcaption></figure>")


def opening(facts, parts):
    """The first screen: headlines, three plots, counts of verdicts."""
    about = dict(facts)
    rows = "".join(f'<tr><th scope="row">{escape(line.label)}</th><td>{escape(line.paper)}</td><td>{escape(line.ours)}</td>'
                   f'<td class="text {_class(line.verdict)}">{escape(line.verdict)}</td></tr>' for line in summary.headlines(parts))
    counts = "".join(f'<span class="verdict {_class(verdict)}">{escape(verdict)}: {number}</span>' for verdict, number in summary.counts(parts))
    pictures = "".join(plot(item) for item in summary.pictures(parts))
    return f"""<section class="summary" id="summary">
<p class="lead">{escape(about.get("machine", "").split(",")[0])}, {escape(about.get("version", ""))}, run of {escape(about.get("run", "")[:10])}</p>
<div class="scroll"><table><thead><tr><th scope="col">result</th><th scope="col">paper</th><th scope="col">HPar</th><th scope="col">verdict</th></tr></thead>
<tbody>{rows}</tbody></table></div>
<div class="pictures">{pictures}</div>
<p class="counts">{counts}</p>
</section>"""


def misses(parts):
    """Results that differ or miss their aim, each with its reason."""
    rows = "".join(f'<tr><th scope="row"><a href="#{one.name}">{escape(one.description["title"])}</a></th>'
                   f'<td class="text {_class(one.section.verdict)}">{escape(one.section.verdict)}</td>'
                   f'<td class="text">{escape(one.section.reason)}</td></tr>' for one in summary.misses(parts))
    if not rows:
        return ""
    return f"""<h2 id="misses">Results that differ or miss their aim</h2>
<div class="scroll"><table class="misses-table"><thead><tr><th scope="col">experiment</th><th scope="col" class="text">verdict</th>
<th scope="col" class="text">reason</th></tr></thead><tbody>{rows}</tbody></table></div>"""


def part(one):
    section = one.section
    out = [f'<section id="{one.name}">', f"<h2>{escape(one.description['title'])}</h2>",
           f"<p>{escape(one.description.get('paper', ''))} <code>{one.name}</code> "
           f'<span class="verdict {_class(section.verdict)}">{escape(section.verdict)}</span> {escape(section.why)}</p>']
    if section.reason:
        out.append(f"<p><strong>Reason:</strong> {escape(section.reason)}</p>")
    marks = {}
    for item in section.parts:
        if isinstance(item, cells.Table):
            out.append(table(item, marks))
        elif isinstance(item, cells.Plot):
            out.append(plot(item))
        else:
            out.append(f"<p>{escape(item)}</p>")
    if marks:
        out.append("<p class=\"note\">" + "<br>".join(
            f"<sup>{number}</sup> Not the paper's page: {escape(reason)}." for reason, number in marks.items()) + "</p>")
    commands = [record["command"] for record in one.records if not record.get("skipped")]
    if commands:
        words = " ".join(word.rsplit("/", 1)[-1] if word.startswith("/") else word for word in commands[0])
        out.append(f"<details><summary>{len(commands)} commands</summary><pre>{escape(words)}\n…</pre></details>")
    out.append("</section>")
    return "\n".join(out)


def page(title, facts, parts):
    """`facts`: (name, text) about the machine and the run."""
    contents = "".join(f'<li><a href="#{one.name}">{escape(one.description["title"])}</a>: {escape(one.section.verdict)}</li>'
                       for one in parts)
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td class="text">{escape(text)}</td></tr>' for name, text in facts)
    body = "\n".join(part(one) for one in parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{opening(facts, parts)}
{misses(parts)}
<h2>Method</h2>
<p>This report measures every table and figure of Zhao, Bebenita, Herman, Sun and Shen, <cite>HPar: A Practical Parallel Parser for HTML</cite> (ACM TACO 10(4), 2013) again with this parser. It adds results that the paper does not have.</p>
<p>A result <em>agrees</em> with the paper, <em>differs</em>, or <em>cannot be compared</em>. A result that the paper does not have <em>meets</em> or <em>misses its aim</em>. The README of each experiment states the rule.</p>
<div class="scroll"><table><caption>Machine and run</caption><tbody>{rows}</tbody></table></div>
<p class="note">± is half the 95% interval of the mean over processes (Student's t). Each process gives the median of its runs. <em>Best</em> is the paper's policy: the shortest run of all after a warm-up. A ratio is HPar's figure over the paper's. Projections are computed, not measured, and drawn hollow and dashed.</p>
<nav aria-label="Contents"><ol>{contents}</ol></nav>
{body}
</body>
</html>
"""
