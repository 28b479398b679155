"""Plots: colours that colour-blind readers tell apart (Okabe and Ito), always with a second mark: a hatch or a marker."""
import io
import os

import matplotlib

matplotlib.use("Agg")
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#888888")
COLOURS = [BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY]
# Lines differ by their marks and their dashes, so two greys are enough for them.
_STROKES = ["-", (0, (6, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (2, 1))]
_GREY_SERIES = ["#303030", "#b8b8b8", "#787878", "#a0a0a0", "#505050", "#c4c4c4", "#909090"]
_GREYS = {"COLOURS": _GREY_SERIES, "BLUE": "#303030", "SKY": "#c4c4c4", "GREY": "#787878"}
MARKS = ["o", "s", "^", "D", "v", "P", "X"]
HATCHES = ["", "//", "..", "xx", "\\\\", "++", "oo"]

matplotlib.rcParams.update({
    "svg.hashsalt": "hpar", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "legend.frameon": False,
    "errorbar.capsize": 2, "hatch.linewidth": 0.6, "lines.markersize": 4.5, "pdf.fonttype": 42})


def figure(plot):
    fig = Figure(figsize=plot.size, layout="constrained")
    plot.draw(fig)
    return fig


def svg(plot):
    file = io.StringIO()
    figure(plot).savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def pdf(plot, path, size):
    """Writes a plot for the paper, in grey. Hatches, markers and line styles tell the series apart."""
    colours = {name: globals()[name] for name in _GREYS}
    globals().update(_GREYS)
    try:
        with matplotlib.rc_context({"font.size": 7, "lines.markersize": 3.5, "axes.linewidth": 0.6, "hatch.linewidth": 0.5}):
            fig = Figure(figsize=size, layout="constrained")
            plot.draw(fig)
            fig.savefig(path, format="pdf", metadata={"CreationDate": None})
    finally:
        globals().update(colours)


def errors(values):
    """The errors of Values in the form of errorbar. Times and ratios are never below 0, even if the interval of few
    processes is."""
    low = [0 if one.low is None else one.mean - max(0, one.low) for one in values]
    high = [0 if one.high is None else one.high - one.mean for one in values]
    return [low, high]


def limit(axes, values):
    """Keeps an interval of two processes from flattening everything else."""
    top = max((one.mean for one in values), default=0)
    if max((one.high or 0 for one in values), default=0) > 2 * top > 0:
        axes.set_ylim(0, 2 * top)


def bars(axes, labels, series, unit, baseline=None, rotate=30):
    """Draws groups of bars. `series`: (name, [Value or None for each label], filled); unfilled bars have an outline only.
    A bar of the paper has no interval."""
    width = 0.8 / len(series)
    for i, (name, values, filled) in enumerate(series):
        at = [x + (i - (len(series) - 1) / 2) * width for x, value in enumerate(values) if value is not None]
        there = [value for value in values if value is not None]
        if not there:
            continue
        colour = COLOURS[i % len(COLOURS)]
        axes.bar(at, [value.mean for value in there], width * 0.92, label=name, color=colour if filled else "white",
                 edgecolor=colour if not filled else "black", linewidth=1 if not filled else 0.4,
                 hatch=HATCHES[i % len(HATCHES)] if filled else "", linestyle="-" if filled else "--")
        axes.errorbar(at, [value.mean for value in there], yerr=errors(there), fmt="none", ecolor="black", elinewidth=0.9)
    limit(axes, [value for _, values, _ in series for value in values if value is not None])
    axes.set_xticks(range(len(labels)), labels, rotation=rotate, ha="right" if rotate else "center")
    axes.set_ylabel(unit)
    axes.grid(axis="x", visible=False)
    if baseline is not None:
        axes.axhline(baseline, color="black", linewidth=0.8, linestyle=":")
    legend(axes)


def lines(axes, series, x_label, y_label, log_x=False, log_y=False):
    """Draws lines. `series`: (name, [(x, Value)], measured); projections are hollow and dashed."""
    for i, (name, points, is_measured) in enumerate(series):
        if not points:
            continue
        values = [value for _, value in points]
        in_grey = COLOURS is _GREY_SERIES
        colour = ("#000000", "#777777")[i % 2] if in_grey else COLOURS[i % len(COLOURS)]
        stroke = (_STROKES[i % len(_STROKES)] if in_grey else "-") if is_measured else "--"
        axes.errorbar([x for x, _ in points], [value.mean for value in values], yerr=errors(values), label=name,
                      color=colour, marker=MARKS[i % len(MARKS)], markerfacecolor=colour if is_measured else "white",
                      linestyle=stroke, linewidth=1.0 if in_grey else 1.2, elinewidth=0.5 if in_grey else 0.9)
    limit(axes, [value for _, points, _ in series for _, value in points])
    if log_x == 2:
        ticks = sorted({x for _, points, _ in series for x, _ in points})
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    elif log_x:
        axes.set_xscale("log")
        spread = max(x for _, points, _ in series for x, _ in points) / min(x for _, points, _ in series for x, _ in points)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if spread < 200 else (1,)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    if log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    legend(axes)


def legend(axes):
    """Puts the legend above the axes."""
    handles, names = axes.get_legend_handles_labels()
    if handles:
        wide = axes.figure.get_size_inches()[0] > 4
        columns = 4 if wide else 3 if max(map(len, names)) < 12 else 2 if max(map(len, names)) < 24 else 1
        axes.legend(handles, names, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(len(names), columns), borderaxespad=0.2,
                    columnspacing=1.2, handlelength=1.6)
