"""Faults and attacks: the tries, their outcomes, and the time at two sizes."""
from lab.cells import MEETS, MISSES, NOT_YET, Missing, Number, Section, Table

LINEAR, BOUND = 1.5, 1.5
# Words of earlier runs, and what the report prints for them.
WORDS = {"said so": "a message", "what was there": "the tree of the rest", "ended with 1, in silence": "exit status 1", "ended by it": "ended by the signal",
         "told to end (SIGTERM)": "SIGTERM", "no room for the threads' stacks": "no space for the threads' stacks",
         "a button behind much else": "a button after much else", "li far behind svg": "li far after svg", "dd far behind svg": "dd far after svg",
         "ends of what stands below HTML": "ends of elements below HTML"}
SHORT = 0.3  # milliseconds: the figures of a shorter document are noise


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
                             ["fault", "tried", "outcome", f"{small} lines, ms", f"{large} lines, ms"],
                             "CPU time of the longest try, of the whole process. the tree is the tree of an undisturbed sequential parse."))
    for fault in output["faults"]:
        outcomes = ", ".join(f"{WORDS.get(name, name)} ({count})" for name, count in sorted(fault["outcomes"].items(), key=lambda one: -one[1]))
        table.row(WORDS.get(fault["name"], fault["name"]), Number(fault["tried"], "", 0), outcomes, *(Number(ns / 1e6, "ms", 1) for ns in fault["ns"]))
    return output["wrong"]


def attacks(result, records):
    """The largest growth of the time for a byte, and the largest ratio of two threads to one, with their names."""
    table = result.add(Table("hostile-attacks", "Attacks: time at two sizes, and cost of speculation",
                             ["document", "KB", "KB ", "ms", "ms ", "for a byte, large / small", "parallel tree", "bytes parsed again, %", "two threads, ms",
                              "two / one", "calling thread, two / one"],
                             "One thread: CPU time, the shortest of all runs. Two threads: wall time, the shortest, over that of one thread. The"
                             " calling thread starts, merges and ends last; its CPU time is the last column."))
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
        table.row(WORDS.get(name, name), *cells)
    return growth, ratio, lost


def analyse(data):
    result = Section(MEETS, "")
    said, wrong = [], faults(result, data.ran(part="faults"))
    if wrong is None:
        said.append(f"faults: {data.why_not(part='faults')}")
    elif wrong:
        result.missed(MISSES, "A fault ended in another tree, a crash or a hang: a defect of the program.")
        said.append("faults lost data: " + "; ".join(wrong[:5]))
    else:
        tried = sum(fault["tried"] for fault in data.ran(part="faults")[-1]["output"]["faults"])
        result.fact("faults", Number(tried, "", 0))
        said.append(f"{tried} faults: each ended in the tree or in a message, none in another tree, a crash or a hang")
    records = data.ran(part="attacks")
    if not records:
        result.verdict = MISSES if wrong else NOT_YET
        said.append(f"attacks: {data.why_not(part='attacks')}")
    else:
        growth, ratio, lost = attacks(result, records)
        if growth[0] > LINEAR or ratio[0] > BOUND or lost:
            result.missed(MISSES, "A document has another tree, grows faster than its size, or slows two threads down: a defect of the parser.")
        result.fact("documents", Number(len(records[-1]["output"]["attacks"]), "", 0))
        result.fact("documents with another tree", Number(len(lost), "", 0))
        result.fact("growth", Number(growth[0], "", 2))
        result.fact("two threads over one", Number(ratio[0], "", 2))
        said.append(f"{len(records[-1]['output']['attacks'])} documents: the time for a byte grows at most {growth[0]:.2f} times at four times the"
                    f" size ({growth[1]}); with two threads the calling thread takes at most {ratio[0]:.2f} times the time of one ({ratio[1]}; allowed: {BOUND})"
                    + (f"; another tree: {', '.join(lost)}" if lost else ""))
    result.why = "; ".join(said)
    return result
