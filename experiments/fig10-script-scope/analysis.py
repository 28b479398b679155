"""Figure 10: the document. HPar has no script engine yet."""
import re

from lab.cells import NOT_YET, Number, Section, Table, not_yet
from lab.data import PAPER


def analyse(data):
    why = data.why_not()
    result = Section(NOT_YET, why)
    table = result.add(Table("fig10", "Headings that the script changes", ["result", "paper", "HPar"]))
    table.row("the script runs at its position", Number(PAPER["fig10"]["right"], "", 0), not_yet(why))
    table.row("the script runs after the merge", Number(PAPER["fig10"]["after_merge"], "", 0), not_yet(why))
    tree = next((record["output"] for record in data.records if record["step"] == "document" and "output" in record), "")
    before, _, after = tree.partition("<script>")
    table.row("headings before and after the script in HPar's tree", not_yet("the paper counts what changes"),
              f"{len(re.findall('<h2>', before))} and {len(re.findall('<h2>', after))}")
    return result
