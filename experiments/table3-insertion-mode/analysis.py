"""Table III: the mode at a cut by the first tag of a table part after it."""
from lab.cells import AGREES, CANNOT, DIFFERS, NOT_YET, Missing, Number, Section, Table
from lab.data import PAPER

# The paper's InTableText means the mode that owns the white space.
OWNER = {"</tr>": ["in row", "in table body"], "</thead>": ["in table body", "in table"], "</tbody>": ["in table body", "in table"],
         "</tfoot>": ["in table body", "in table"], "</td>": ["in cell"], "</th>": ["in cell"]}


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    whole = data.ran(part="collection") or data.ran(part="each")
    counts = {}
    for record in whole:
        for tag, modes in record["output"]["first_table_tag"].items():
            for mode, count in modes.items():
                counts.setdefault(tag, {}).setdefault(mode, 0)
                counts[tag][mode] += count
    result = Section(AGREES, "")
    table = result.add(Table("table3", f"First tag of a table part after a cut, and the mode at the cut, on "
                             f"{'the collection' if data.ran(part='collection') else 'the pages of the paper'}",
                             ["tag", "paper", "commonest mode", "its share, %", "next", "cuts", "verdict"]))
    verdicts = []
    known = {tag: mode for tag, mode in PAPER["table3"]["rows"]}
    for tag in [*known, *(tag for tag in sorted(counts) if tag not in known and tag != "none")]:
        modes = sorted(counts.get(tag, {}).items(), key=lambda pair: -pair[1])
        total = sum(count for _, count in modes)
        if not modes:
            table.row(tag, known[tag], Missing("not met"), Missing("not met"), Missing("not met"), Number(0, "", 0), f"{CANNOT}: not met")
            continue
        verdict = f"{CANNOT}: not in the paper" if tag not in known else f"{CANNOT}: {total} cuts" if total < 20 else (
            AGREES if modes[0][0] in OWNER[tag] else DIFFERS)
        verdicts.append(verdict)
        table.row(tag, known.get(tag, Missing("not given")), modes[0][0], Number(100 * modes[0][1] / total, "%", 1),
                  f"{modes[1][0]} {100 * modes[1][1] / total:.1f}%" if len(modes) > 1 else "none", Number(total, "", 0), verdict)
    agree, differ = verdicts.count(AGREES), verdicts.count(DIFFERS)
    result.verdict = CANNOT if not agree + differ else AGREES if agree >= differ else DIFFERS
    if result.verdict == DIFFERS:
        result.reason = "The pages use tables in another way than the paper's sites of 2012."
    result.why = f"{agree} of {agree + differ} rows with at least 20 cuts"
    return result
