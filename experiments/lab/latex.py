"""Writes tables for LaTeX, one file each, and the values that the text of the paper uses."""
import re

from . import cells

_SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
            "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
            "±": r"$\pm$", "×": r"$\times$", "–": "--", "…": r"\ldots{}", "≤": r"$\le$", "≥": r"$\ge$", "µ": r"\textmu{}"}


def safe(text):
    return "".join(_SPECIAL.get(character, character) for character in str(text))


def cell(item):
    if isinstance(item, cells.Missing):
        return rf"\textit{{{safe(item.reason.split(':')[0])}}}"
    if isinstance(item, cells.Number):
        return safe(item.text())
    return safe(str(item).split(":")[0])


def table(item):
    lines = ["% Made by scripts/report; do not edit.", r"\begin{tabular}{l" + "r" * (len(item.columns) - 1) + "}", r"\toprule",
             " & ".join(safe(column) for column in item.columns) + r" \\", r"\midrule"]
    for label, row, stand_in in item.rows:
        mark = "$^*$" if stand_in else ""
        lines.append(" & ".join([safe(label) + mark] + [cell(one) for one in row]) + r" \\")
    return "\n".join(lines + [r"\bottomrule", r"\end{tabular}", ""])


def command(name):
    """A control word from a table's name: letters only."""
    digits = dict(zip("0123456789", ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")))
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join("".join(digits.get(c, c) for c in word[:1].upper() + word[1:]) for word in words)


def values(facts, parts):
    """Macros: \\hpMachine and so on, and \\hpVerdict<Experiment>."""
    lines = ["% Made by scripts/report; do not edit."]
    lines += [rf"\newcommand{{\hp{command(name)}}}{{{safe(text)}}}" for name, text in facts]
    for one in parts:
        lines.append(rf"\newcommand{{\hpVerdict{command(one.name)}}}{{{safe(one.section.verdict)}}}")
        lines.append(rf"\newcommand{{\hpWhy{command(one.name)}}}{{{safe(one.section.why)}}}")
    return "\n".join(lines) + "\n"


def document(parts):
    """All tables and plots in order. paper.tex has the text and includes this file."""
    lines = ["% Made by scripts/report; do not edit."]
    for one in parts:
        lines.append(rf"\subsection{{{safe(one.description['title'])}}}")
        lines.append(rf"\textit{{{safe(one.section.verdict)}}}. {safe(one.section.why)}. {safe(one.section.reason)}")
        for item in one.section.parts:
            if isinstance(item, cells.Table):
                lines += [r"\begin{table}[htbp]\centering\footnotesize", rf"\caption{{{safe(item.title)}}}",
                          rf"\resizebox{{\ifdim\width>\linewidth\linewidth\else\width\fi}}{{!}}{{\input{{tables/{item.name}}}}}",
                          r"\end{table}"]
            elif isinstance(item, cells.Plot):
                lines += [r"\begin{figure}[htbp]\centering", rf"\includegraphics[width=\linewidth]{{plots/{item.name}.pdf}}",
                          rf"\caption{{{safe(item.title)}. {safe(item.text)}}}", r"\end{figure}"]
            else:
                lines.append(safe(item) + "\n")
        lines.append(r"\FloatBarrier")
    return "\n".join(lines) + "\n"
