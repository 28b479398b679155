"""Faults and attacks: what was tried, what came of it, and the time at two sizes."""
from lab.cells import AGREES, DIFFERS, NOT_YET, Missing, Number, Section, Table

LINEAR, BOUND = 1.5, 1.5
SHORT = 0.3  # milliseconds: of such a document the figures say nothing


def best(records, name, field, at):
    """The shortest of all processes, in milliseconds."""
    found = [attack[field][at] for record in records for attack in record["output"]["attacks"] if attack["name"] == name and field in attack]
    return min(found) / 1e6 if found else None


def faults(result, records):
    if not records:
        return None
    output = records[-1]["output"]
    small, large = output["lines"]
    table = result.add(Table("hostile-faults", "Faults",
                             ["fault", "tried", "what came of it", f"{small} lines, ms", f"{large} lines, ms"],
                             "Processor time of the longest try, of the process as a whole. The tree: that of an undisturbed sequential parse."))
    for fault in output["faults"]:
        outcomes = ", ".join(f"{name} ({count})" for name, count in sorted(fault["outcomes"].items(), key=lambda one: -one[1]))
        table.row(fault["name"], Number(fault["tried"], "", 0), outcomes, *(Number(ns / 1e6, "ms", 1) for ns in fault["ns"]))
    return output["wrong"]


def attacks(result, records):
    """The largest growth of the time for a byte, and the largest ratio of two threads to one, with their names."""
    table = result.add(Table("hostile-attacks", "Attacks: time at two sizes, and against the speculation",
                             ["document", "KB", "KB ", "ms", "ms ", "for a byte, large / small", "parallel tree", "bytes parsed again, %", "two threads, ms",
                              "two / one", "asking thread, two / one"],
                             "One thread: processor time, the shortest of all runs. Two threads: until all is done, the shortest, over that of one; and"
                             " the processor time of the thread that asked, which begins, merges and ends last."))
    growth, ratio, lost = (0, None), (0, None), []
    for attack in records[-1]["output"]["attacks"]:
        name = attack["name"]
        times = [best(records, name, "ns", at) for at in (0, 1)]
        grown = times[1] / times[0] * attack["bytes"][0] / attack["bytes"][1] if times[0] else 1
        if times[1] > SHORT:
            growth = max(growth, (grown, name))
        cells = [Number(size / 1e3, "KB", 0) for size in attack["bytes"]] + [Number(time, "ms", 3) for time in times] + [Number(grown, "", 2)]
        if "equal" in attack:
            wall = best(records, name, "ns_wall", 1) / best(records, name, "ns_wall", 0)
            asking = best(records, name, "ns_asking", 1) / best(records, name, "ns_asking", 0)
            if times[1] > SHORT:
                ratio = max(ratio, (asking, name))
            if not all(one["equal"] for record in records for one in record["output"]["attacks"] if one["name"] == name):
                lost.append(name)
            again = 100 * attack["bytes_reparsed"] / attack["bytes"][1]
            cells += ["equal" if name not in lost else "another", Number(again, "%", 1), Number(best(records, name, "ns_wall", 1), "ms", 3),
                      Number(wall, "", 2), Number(asking, "", 2)]
        else:
            cells += [Missing("no parallel parser")] * 5
        table.row(name, *cells)
    return growth, ratio, lost


def analyse(data):
    result = Section(AGREES, "")
    said, wrong = [], faults(result, data.ran(part="faults"))
    if wrong is None:
        said.append(f"faults: {data.why_not(part='faults')}")
    elif wrong:
        result.verdict = DIFFERS
        said.append("faults lost something: " + "; ".join(wrong[:5]))
    else:
        tried = sum(fault["tried"] for fault in data.ran(part="faults")[-1]["output"]["faults"])
        said.append(f"{tried} faults: each ended in the tree or in a word, none in another tree, a crash or a hang")
    records = data.ran(part="attacks")
    if not records:
        result.verdict = DIFFERS if wrong else NOT_YET
        said.append(f"attacks: {data.why_not(part='attacks')}")
    else:
        growth, ratio, lost = attacks(result, records)
        if growth[0] > LINEAR or ratio[0] > BOUND or lost:
            result.verdict = DIFFERS
        said.append(f"of {len(records[-1]['output']['attacks'])} documents the time for a byte grows at most {growth[0]:.2f} times from one size to"
                    f" the fourfold one ({growth[1]}); two threads take at most {ratio[0]:.2f} times the asking thread's time ({ratio[1]}), of {BOUND} allowed"
                    + (f"; another tree: {', '.join(lost)}" if lost else ""))
    result.why = "; ".join(said)
    return result
