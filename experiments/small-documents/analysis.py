"""Small documents: the sequential parser beside lexbor, by size."""
from lab.cells import CANNOT, MEETS, MISSES, NOT_YET, Missing, Number, Section, Table

AIM, AIMED = 3, ("1000 bytes", "2000 bytes", "4000 bytes")


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    output = data.ran()[-1]["output"]
    peers = {peer["name"]: peer for peer in output["peers"]}
    ours, others = peers["hpar"], [peers[name] for name in ("lexbor", "lexbor-warm") if name in peers]
    if not others:
        return Section(NOT_YET, output["missing"].get("lexbor", "lexbor is missing"))
    ratios = [peer["sets"][size]["ours_over_new"] for peer in others for size in AIMED if size in peer["sets"]]
    if ratios:
        meets = min(ratios) >= AIM
        result = Section(MEETS if meets else MISSES, f"at least {min(ratios):.1f} times lexbor from 1 to 4 KB; the aim is {AIM}")
    else:
        result = Section(CANNOT, "no page has 1,000 bytes")
    table = result.add(Table("small-documents", "A new parser and a new document each, by size",
                             ["document", "HPar", *[f"over {peer['version']}" for peer in others]],
                             f"The shortest of {output['rounds']} rounds; geometric means over the first bytes of the paper's pages."))
    for size, cell in ours["sets"].items():
        table.row(size, Number(int(size.split()[0]) / cell["new"], "us", 2),
                  *[Number(peer["sets"][size]["ours_over_new"], "", 2) if size in peer["sets"] else Missing("not measured") for peer in others])
    return result
