"""Figure 10: headings that a script changes after a merge, without and with anchors, and the scripts of pages."""
from lab.cells import AGREES, DIFFERS, NOT_YET, Number, Section, Table, not_yet
from lab.data import PAPER

WHEN = {"broken": "scripts that a chunk boundary divides", "late": "all scripts"}


def count(value, unit=""):
    return Number(value, unit, 0)


def figure(data, result):
    """Adds the table of the figure. Returns True if HPar agrees with the paper, None without a run."""
    runs = [record["output"] for record in data.ran(when="broken") if record["step"] == "figure.broken"]
    table = result.add(Table("fig10", "Headings that the script changes", ["result", "paper", "HPar"],
                             "A chunk boundary divides the script. The strategy is hpar2013, with two chunks."))
    right, late = PAPER["fig10"]["right"], PAPER["fig10"]["after_merge"]
    run = runs[0] if runs else None
    missing = not_yet(data.why_not(when="broken"))
    rows = [("exact strategy", right, run and run["exact"]["headings"]),
            ("after the merge, with anchors", right, run and run["anchors"]["headings"]),
            ("after the merge, without anchors", late, run and run["no_anchors"]["headings"])]
    for name, paper, got in rows:
        table.row(name, count(paper), missing if got is None else count(got))
    return all(paper == got for _, paper, got in rows) if run else None


def pages(data, result):
    """Adds a table for each kind of postponed scripts. Returns the sums of the last one."""
    sums = None
    for when, title in WHEN.items():
        table = Table(f"fig10-{when}", f"Scripts whose effect differs: {title} run after the merge",
                      ["chunks, cut", "scripts", "postponed", "differ without anchors", "differ with anchors",
                       "chunks parsed again", "time in scripts with anchors over without"],
                      "Without anchors, a late document.write has no effect. With anchors, a script that writes runs at its position, and "
                      "the scheme parses the later chunks again.")
        for chunks in data.values("chunks"):
            for cut in data.values("cut"):
                outputs = [record["output"] for record in data.ran(when=when, chunks=chunks, cut=cut)]
                if not outputs:
                    continue
                sums = {name: sum(output[kind][name] for output in outputs) for kind, name in (
                    ("no_anchors", "postponed"), ("anchors", "parsed_again"))}
                sums["off"], sums["on"] = (sum(output[kind]["differs"] for output in outputs)
                                           for kind in ("no_anchors", "anchors"))
                sums["scripts"] = sum(output["scripts"] for output in outputs)
                off, on = (sum(output[kind]["ns"] for output in outputs) for kind in ("no_anchors", "anchors"))
                table.row(f"{chunks}, {cut}", count(sums["scripts"]), count(sums["postponed"]), count(sums["off"]),
                          count(sums["on"]), count(sums["parsed_again"]), Number(on / off if off else 1.0, "", 2))
        if table.rows:
            result.add(table)
    return sums


def analyse(data):
    result = Section(NOT_YET, data.why_not(when="broken"))
    agrees = figure(data, result)
    if agrees is None:
        return result
    result.verdict = AGREES if agrees else DIFFERS
    result.reason = "" if agrees else "The program counts other headings than the paper's figure shows."
    sums = pages(data, result)
    result.why = "two headings at the script's position and with anchors, three without anchors"
    if sums:
        for name in ("scripts", "off", "on"):
            result.fact(name, count(sums[name]))
        result.why += f"; of {sums['scripts']} scripts that run after the merge, {sums['off']} differ without anchors and " \
                      f"{sums['on']} with anchors"
    return result
