"""The errors that the 2013 scheme does not detect: the shortest documents, and counts on pages."""
from lab.cells import DIFFERS, NOT_YET, Missing, Number, Section, Table

KINDS = {
    "start_state": "start state", "namespace": "namespace", "mode": "insertion mode", "top": "current node",
    "end_tag": "end tag", "implied_end": "implied end tag", "formatting": "formatting", "foster": "foster parenting",
    "text": "text node", "other": "form pointer and others"}
CUT = " | "


def analyse(data):
    searches, chunks = data.ran(part="search"), data.values("chunks")
    pages = {(part, count): record["output"] for part in ("paper", "collection") for count in chunks
             for record in data.ran(part=part, chunks=count)}
    if not searches:
        return Section(NOT_YET, data.why_not(part="search"))
    found = searches[-1]["output"]
    most = max(chunks)
    result = Section(DIFFERS, "", "The paper reports no tree that differs, and its parser compares no trees. The audit compares each "
                                  "decision of the scheme with the true state.")
    table = result.add(Table("audit-documents", "The shortest documents with an error that the scheme does not detect",
                             ["kind", "document after <body>", "bytes", "chunks of the paper's pages", "chunks of the collection"],
                             f"The bar is the cut. {found['documents']:,} documents of up to {found['most']} of {found['fragments']} "
                             f"fragments were searched. Pages are in {most} chunks."))
    for kind in found["kinds"]:
        counts = [Number(pages[part, most]["kinds"][kind["kind"]], "", 0) if (part, most) in pages
                  else Missing(f"not measured: {data.why_not(part=part, chunks=most)}") for part in ("paper", "collection")]
        shown = [kind["before"] + CUT + kind["after"], Number(kind["bytes"], "", 0)] if kind.get("bytes") else [
            Missing(f"none of up to {found['most']} fragments"), Missing("none")]
        table.row(KINDS[kind["kind"]], *shown, *counts)
    table = result.add(Table("audit-pages", "Pages and chunks with errors that the scheme does not detect",
                             ["pages, chunks a page", "pages", "pages with errors", "chunks", "chunks with errors", "share, %",
                              "chunks that the scheme restarts", "drops"]))
    for (part, count), output in pages.items():
        table.row(f"{'the paper' if part == 'paper' else 'the collection'}, {count}", Number(output["pages"], "", 0),
                  Number(output["pages_wrong"], "", 0), Number(output["chunks"], "", 0), Number(output["chunks_wrong"], "", 0),
                  Number(100 * output["chunks_wrong"] / max(1, output["chunks"]), "%", 1), Number(output["respeculations"], "", 0),
                  Number(output["rollbacks"] + output["aborts"], "", 0))
    wrong = {part: pages[part, most] for part in ("paper", "collection") if (part, most) in pages}
    result.why = "; ".join(f"{output['chunks_wrong']} of {output['chunks']} chunks on {output['pages_wrong']} of {output['pages']} pages of "
                           f"{'the paper' if part == 'paper' else 'the collection'} have undetected errors" for part, output in wrong.items())
    result.fact("documents", Number(found["documents"], "", 0))
    result.fact("documents with errors, %", Number(100 * found["wrong"] / found["documents"], "%", 1))
    return result
