"""The first screen of a report: headline figures beside the paper's, three plots, and the count of each verdict."""
from . import cells

# Experiments with headlines, and with plots for the first screen, in the order of the report.
HEADLINES = ["fig11-speedup", "fig12-scalability", "peers", "table4-accuracy", "fig13-pipeline", "costs", "memory", "linear"]
PICTURES = ["fig11-speedup", "fig12-scalability", "peers"]


def _named(parts, names):
    found = {part.name: part for part in parts}
    return [found[name] for name in names if name in found]


def headlines(parts):
    return [line for part in _named(parts, HEADLINES) for line in part.section.headlines]


def pictures(parts):
    return [part.section.picture for part in _named(parts, PICTURES) if part.section.picture]


def counts(parts):
    """(verdict, number of experiments), without verdicts that no experiment has."""
    numbers = [(verdict, sum(part.section.verdict == verdict for part in parts)) for verdict in cells.VERDICTS]
    return [(verdict, number) for verdict, number in numbers if number]


def misses(parts):
    """Parts that differ from the paper or miss their aim."""
    return [part for part in parts if part.section.verdict in (cells.DIFFERS, cells.MISSES)]
