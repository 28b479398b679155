"""Documents whose parse time grows faster than the input and the tree."""
from lab.cells import MEETS, MISSES, Number, Section, Table


def analyse(data):
    result = Section(MEETS, "")
    searches = result.add(Table("complexity", "Searches", ["parser", "documents of", "searched", "not linear", "groups stopped"],
                                "Each document is a sequence of repeated fragments."))
    found = result.add(Table("complexity-found", "Documents whose time is not linear",
                             ["parser", "fragments", "KB", "ms", "growth"], "Growth: 1 is linear, 4 is quadratic."))
    documents = faster = stopped = 0
    for record in data.ran():
        output, settings = record["output"], record["variables"]
        searches.row(settings["mode"], settings["what"], Number(output["documents"], "", 0), Number(len(output["faster"]), "", 0),
                     Number(output["stopped"], "", 0))
        for case in output["faster"]:
            found.row(settings["mode"], " ".join(case["fragments"]), Number(case["bytes"][1] / 1e3, "KB", 0),
                      Number(case["seconds"][1] * 1e3, "ms", 1), Number(case["growth"], "", 2))
        documents += output["documents"]
        faster += len(output["faster"])
        stopped += output["stopped"]
    if faster or stopped:
        result.missed(MISSES, "The table lists the documents.")
    result.fact("documents", Number(documents, "", 0))
    result.fact("not linear", Number(faster, "", 0))
    result.fact("stopped", Number(stopped, "", 0))
    result.why = f"of {documents} documents, the time of {faster} grows faster than the input and the tree; {stopped} groups were stopped"
    return result
