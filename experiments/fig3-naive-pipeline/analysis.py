"""Figure 3: tokens of a tokenizer without feedback beside the right ones."""
from lab.cells import AGREES, DIFFERS, Number, Section, Table
from lab.data import PAPER


def analyse(data):
    first = next((record["output"] for record in data.ran() if record["step"] == "figure-2"), {"parts": []})
    wrong = sorted(set(part["behind"] for part in first["parts"] if part["differs"]))
    expected = sorted(PAPER["fig3"]["wrong_behind"])
    result = Section(AGREES if wrong == expected else DIFFERS, f"tokens are wrong after {' and '.join(wrong) or 'no tag'}",
                     "" if wrong == expected else "The document has other tags that switch the tokenizer.")
    table = result.add(Table("fig3", "Figure 2's document: the tokens after each tag that switches the tokenizer",
                             ["after", "right tokens", "tokens without feedback", "their kinds"]))
    for part in first["parts"]:
        table.row(f"<{part['behind']}>", Number(part["right"], "", 0), Number(part["naive"], "", 0), " ".join(part["shown"]) or "the same")
    pages = result.add(Table("fig3-pages", "The same for pages", ["page", "places", "wrong places", "right tokens", "tokens without feedback"]))
    for record in data.ran():
        if "page" not in record:
            continue
        parts = record["output"]["parts"]
        pages.row(record["page"]["name"], Number(len(parts), "", 0), Number(sum(part["differs"] for part in parts), "", 0),
                  Number(record["output"]["right"], "", 0), Number(record["output"]["naive"], "", 0),
                  stand_in=record["page"]["stand_in"])
    return result
