"""Text and macros for LaTeX."""
import re

_SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
            "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
            "±": r"$\pm$", "×": r"$\times$", "–": "--", "…": r"\ldots{}", "≤": r"$\le$", "≥": r"$\ge$", "µ": r"\textmu{}"}


def safe(text):
    return "".join(_SPECIAL.get(character, character) for character in str(text))


def command(name):
    """A control word from a table's name: letters only."""
    digits = dict(zip("0123456789", ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")))
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join("".join(digits.get(c, c) for c in word[:1].upper() + word[1:]) for word in words)


def facts(lines):
    """Macros \\hpMachine and so on, from (name, text)."""
    return [rf"\newcommand{{\hp{command(name)}}}{{{safe(text)}}}" for name, text in lines]


def verdicts(parts):
    """Macros \\hpVerdict<Experiment>."""
    return [rf"\newcommand{{\hpVerdict{command(one.name)}}}{{{safe(one.section.verdict)}}}" for one in parts]
