"""Table IV: size and accuracy, the paper's scheme and others."""
from lab import draw, numbers
from lab.cells import AGREES, CANNOT, DIFFERS, NOT_YET, Missing, Number, Plot, Section, Table, not_yet
from lab.data import PAPER
from lab.pages import PAPER as PAGES


def chunks_of(record):
    return record["output"]["chunks"][1:]


def accuracy(record):
    """Percent of right merges. For hpar2013, the chunk boundary lies neither in a comment nor in raw text; for others, the
    chunk made no wrong assumption."""
    chunks = chunks_of(record)
    if record["variables"]["strategy"] == "hpar2013":
        right = sum(chunk["true"]["state"] == "data" for chunk in chunks)
    else:
        right = sum(chunk["outcome"] == "clean" for chunk in chunks)
    return 100 * right / len(chunks) if chunks else 100.0


def pipeline_accuracy(record):
    stats = record["output"]
    rollbacks = stats.get("pipeline", {}).get("rollbacks")
    return None if rollbacks is None else 100 * (1 - rollbacks / stats["tokens"])


def found(data, strategy, chunks, page):
    runs = data.ran(part="data", strategy=strategy, chunks=chunks, page=page)
    return accuracy(runs[0]) if runs else None


def verdict(data, page, paper):
    values = [found(data, "hpar2013", chunks, page) for chunks in data.values("chunks")]
    values = [value for value in values if value is not None]
    if not values:
        return NOT_YET
    if data.stand_in(page):
        return f"{CANNOT}: a stand-in"
    return AGREES if any(abs(value - paper) <= 12 for value in values) else DIFFERS


def analyse(data):
    paper = PAPER["table4"]["pages"]
    strategies = data.values("strategy")
    counts = [chunks for chunks in data.values("chunks") if data.ran(part="data", chunks=chunks)]
    pages = [page for page in PAGES if data.ran(part="data", page=page)]
    if not pages:
        return Section(NOT_YET, data.why_not(part="data"))
    result = Section(NOT_YET, "")
    verdicts = {}
    for chunks in counts:
        table = result.add(Table(f"table4-{chunks}", f"Accuracy of the data-level parser in percent, {chunks} chunks",
                                 ["page", "KB", "paper's KB", "paper", *strategies, "verdict of hpar2013"],
                                 "Chunks without a wrong assumption. For hpar2013: merges that are right by its own rule."))
        for page in pages:
            verdicts[page] = verdict(data, page, paper[page]["data"])
            row = []
            for strategy in strategies:
                value = found(data, strategy, chunks, page)
                row.append(not_yet(data.why_not(strategy=strategy, page=page)) if value is None else Number(value, "%", 1))
            table.row(page, Number(-(-data.page_bytes(page) // 4096) * 4, "KB", 0), Number(paper[page]["size"], "KB", 0),
                      Number(paper[page]["data"], "%", 1), *row, verdicts[page], stand_in=data.stand_in(page))
        for name, mean in (("arithmetic mean", numbers.arithmetic), ("geometric mean", numbers.geometric)):
            row = []
            for strategy in strategies:
                values = [found(data, strategy, chunks, page) for page in pages]
                row.append(Number(mean(values), "%", 1) if values and None not in values and min(values) > 0 else Missing(
                    "a page has none" if None not in values else "not yet: some page is missing"))
            table.row(name, Number(mean([-(-data.page_bytes(page) // 4096) * 4 for page in pages]), "KB", 0),
                      Number(mean([paper[page]["size"] for page in pages]), "KB", 0),
                      Number(mean([paper[page]["data"] for page in pages]), "%", 1), *row, f"{CANNOT}: a mean of the above")
    table = result.add(Table("table4-wrong", f"Bytes parsed again, and errors of a scheme without checks, {max(counts)} chunks",
                             ["strategy", "chunks", "without a wrong assumption", "restarted or rolled back", "bytes parsed again, %",
                              "chunks with undetected errors"],
                             "An undetected error is a place where a scheme that does not check its assumptions would make another tree."))
    for strategy in strategies:
        runs = data.ran(part="data", strategy=strategy, chunks=max(counts))
        if not runs:
            table.row(strategy, *[not_yet(data.why_not(strategy=strategy))] * 5)
            continue
        chunks = [chunk for record in runs for chunk in chunks_of(record)]
        size = sum(record["output"]["bytes"] for record in runs)
        table.row(strategy, Number(len(chunks), "", 0), Number(sum(chunk["outcome"] == "clean" for chunk in chunks), "", 0),
                  Number(sum(bool(chunk["respeculations"] or chunk["rolled_back"] or chunk["aborted"]) for chunk in chunks), "", 0),
                  Number(100 * sum(record["output"]["bytes_reparsed"] for record in runs) / size, "%", 2),
                  Number(sum(bool(chunk["silent_errors"]) for chunk in chunks), "", 0))
    table = result.add(Table("table4-pipeline", "Accuracy of the pipeline, percent of tokens without a rollback",
                             ["page", "paper", *data.values("predictor")]))
    for page in pages:
        row = []
        for predictor in data.values("predictor"):
            runs = data.ran(part="pipeline", predictor=predictor, page=page)
            value = pipeline_accuracy(runs[0]) if runs else None
            row.append(not_yet(data.why_not(part="pipeline")) if value is None else Number(value, "%", 3))
        table.row(page, Number(paper[page]["pipeline"], "%", 1), *row, stand_in=data.stand_in(page))
    real = [one for one in verdicts.values() if one in (AGREES, DIFFERS)]
    if real:
        agree = real.count(AGREES)
        result.verdict = AGREES if agree * 2 > len(real) else DIFFERS
        if result.verdict == DIFFERS:
            result.reason = "The position of a chunk boundary depends on how the length is divided, which the paper does not state."
        result.why = f"the paper's scheme is within one chunk of Table IV on {agree} of {len(real)} pages that are the paper's own"
    elif data.ran(part="data", strategy="hpar2013"):
        result.verdict, result.why = CANNOT, "every page is a stand-in"
    else:
        result.verdict, result.why = NOT_YET, data.why_not(strategy="hpar2013")

    means = {strategy: [found(data, strategy, max(counts), page) for page in pages] for strategy in ("exact", "hpar2013")}
    if all(None not in values and min(values, default=0) > 0 for values in means.values()):
        result.headline("accuracy of speculation, geometric mean", "77.6% (printed as 77.5%)",
                        f"hpar2013 {numbers.geometric(means['hpar2013']):.1f}%, exact {numbers.geometric(means['exact']):.1f}%, {max(counts)} chunks",
                        result.verdict)

    def show(figure):
        chunks = max(counts)
        series = [("paper", [numbers.Value(paper[page]["data"]) for page in pages], True)]
        for strategy in strategies:
            values = [found(data, strategy, chunks, page) for page in pages]
            if strategy in ("exact", "hpar2013", "temppa") and any(value is not None for value in values):
                series.append((strategy, [None if value is None else numbers.Value(value) for value in values], True))
        axes = figure.subplots()
        draw.bars(axes, pages, series, "accuracy, percent")
        axes.set_ylim(0, 105)

    result.add(Plot("table4-accuracy", f"Accuracy in {max(counts)} chunks", "The paper's accuracy beside that of three strategies.", show))
    return result
