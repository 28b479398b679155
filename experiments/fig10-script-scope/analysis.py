"""Figure 10: the document; the script engine comes later."""
import re

from lab.cells import NOT_YET, Number, Section, Table, not_yet
from lab.data import PAPER


def analyse(data):
    why = data.why_not()
    result = Section(NOT_YET, why)
    table = result.add(Table("fig10", "Headings that the script changes", ["what", "paper", "ours"]))
    table.row("run where it stands", Number(PAPER["fig10"]["right"], "", 0), not_yet(why))
    table.row("run after the merge", Number(PAPER["fig10"]["after_merge"], "", 0), not_yet(why))
    tree = next((record["output"] for record in data.records if record["step"] == "document" and "output" in record), "")
    before, _, after = tree.partition("<script>")
    table.row("headings before and behind the script in our tree", not_yet("the paper counts what changes"),
              f"{len(re.findall('<h2>', before))} and {len(re.findall('<h2>', after))}")
    return result
