"""The rewriter: its speed by rule, beside a copy, lexbor and a rewriter that the user has built."""
from lab.cells import MEETS, MISSES, NOT_GIVEN, NOT_YET, Number, Section, Table

AIMS = {"no match: x-none": 2400, "a[href]: set href": 1600}
SELECTORS = 1.3  # the most that 100 selectors may cost over one


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    output = data.ran()[-1]["output"]
    speeds = {name: output["bytes"] * 1000 / time for name, time in output["cases"].items()}
    growth = output["cases"]["100 selectors"] / output["cases"]["1 selector"]
    missed = [f"{name}: {speeds[name]:.0f} MB/s, the aim is {aim}" for name, aim in AIMS.items() if speeds[name] < aim]
    if growth > SELECTORS:
        missed.append(f"100 selectors cost {growth:.2f} times one, the aim is {SELECTORS}")
    result = Section(MEETS, "each case reaches its speed")
    if missed:
        result.why = "; ".join(missed)
        result.missed(MISSES, "Other programs used the processors, or a case is slower than its aim.")
    result.fact("100 selectors over one", Number(growth, "", 2))
    other = output.get("other", {"name": "another rewriter", "cases": {}})
    table = result.add(Table("rewriter", "Speed by rule", ["case", "MB/s", "over a copy", f"{other['name']}, MB/s", "HPar over it"],
                             f"One core, {output['pages']} pages, the shortest of {output['rounds']} rounds. All output is added up."))
    for name, speed in speeds.items():
        time = other["cases"].get(name)
        beside = output["bytes"] * 1000 / time if time else None
        table.row(name, Number(speed, "", 0), Number(speed / speeds["memcpy"], "", 2), Number(beside, "", 0) if time else NOT_GIVEN,
                  Number(speed / beside, "", 2) if time else NOT_GIVEN)
    return result
