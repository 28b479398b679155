"""A crawl of the web: its cost by step, from the steps that were measured on one archive."""
from lab.cells import MEETS, MISSES, NOT_YET, Missing, Number, Section, Table

# One crawl of Common Crawl, as the project's issue states it; not measured here.
PAGES, PACKED, UNPACKED = 2.6e9, 75e12, 432e12
CORES, GIGABITS = 64, 25
SHARE = 0.9  # of the throughput of unpacking and parsing that the crawl must keep
WORKERS = 1.9  # of one worker's throughput that two must reach


def hours(seconds):
    return seconds / 3600


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    output = data.ran()[-1]["output"]
    least = {name: min(times) / 1e9 for name, times in output.items() if isinstance(times, list)}
    scale = UNPACKED / output["unpacked"]  # bytes of the crawl to bytes of the archive
    network = PACKED * 8 / (GIGABITS * 1e9)
    apart = least["read messages"] + least["parse"]
    share, bare = apart / least["crawl"], apart / least["crawl with encodings only"]
    workers = 2 * least["alone"] / least["together"]
    by_processor = 2 * least["processor alone"] / least["processor together"]
    missed = [text for holds, text in (
        (share >= SHARE, f"the crawl reaches {share:.2f} of reading and parsing apart, {bare:.2f} without walks over the tree;"
                          f" the aim is {SHARE}"),
        (workers >= WORKERS, f"two workers reach {workers:.2f} times one by the clock and {by_processor:.2f} by processor time,"
                             f" the aim is {WORKERS}")) if not holds]
    result = Section(MEETS, f"share {share:.2f}, two workers {workers:.2f}")
    if missed:
        result.why = "; ".join(missed)
        result.missed(MISSES, "The default counts walk over each tree, and other processes delay workers.")

    steps = result.add(Table("crawl-steps", "Steps of a crawl", ["step", "ms", "MB/s", "core-hours of a crawl (projected)"],
                             f"One core, the shortest of {len(output['crawl'])} rounds, {output['records']} records,"
                             f" {output['unpacked'] / 1e6:.0f} MB unpacked. MB/s are unpacked bytes."))
    for name in ("unpack by libdeflate", "unpack by zlib", "read records", "read messages", "parse", "crawl with encodings only", "crawl"):
        if name in least:
            steps.row(name, Number(least[name] * 1e3, "", 1), Number(output["unpacked"] / least[name] / 1e6, "", 0),
                      Number(hours(least[name] * scale), "", 0, projected=True))

    ways = result.add(Table("crawl-workers", "Two threads and two workers", ["way", "speed-up"],
                            "A worker is a process with one unit. Processor time leaves out other processes of the machine."))
    ways.row("pages from 64 KB by two threads, by the clock", Number(least["parse by one thread"] / least["parse by two threads"], "", 2))
    ways.row("two workers, by the clock", Number(workers, "", 2))
    ways.row("two workers, by processor time", Number(by_processor, "", 2))

    # Reading is the same for all parsers. Each parser gets the HTML bytes; the counts of the profiles are only HPar's.
    reading, html = least["read messages"], output["page_bytes"]
    lost = by_processor / 2  # of a core's speed when all cores work
    table = result.add(Table("crawl-parsers", "A crawl by parser (projected)",
                             ["parser", "MB/s of HTML", "core-hours", f"hours on {CORES} cores", f"hours at {GIGABITS} Gbit/s"],
                             f"{PAGES / 1e9:.1f} billion pages, {PACKED / 1e12:.0f} TB packed, {UNPACKED / 1e12:.0f} TB unpacked. Reading and"
                             f" parsing; the last column is the longer one of {CORES} cores and the network"
                             f" ({hours(network):.1f} h). HPar's second row also counts the default profiles."))

    def row(name, speed, seconds):
        core = hours(seconds * scale)
        wall = core / CORES / lost
        table.row(name, speed, Number(core, "", 0, projected=True), Number(wall, "", 1, projected=True),
                  Number(max(wall, hours(network)), "", 1, projected=True))

    row("hpar", Number(html / least["parse"] / 1e6, "", 0), reading + least["parse"])
    row("hpar crawl, with counts", Number(html / (least["crawl"] - reading) / 1e6, "", 0), least["crawl"])
    peers = output["peers"]
    for name, time in peers["nanoseconds"].items():
        if name != "hpar":  # by its ratio to HPar in alternate rounds
            seconds = least["parse"] * time / peers["nanoseconds"]["hpar"]
            row(peers["versions"][name], Number(html / seconds / 1e6, "", 0), reading + seconds)
    for name, why in peers["missing"].items():
        reason = Missing(f"not measured: {why}")
        table.row(name, reason, reason, reason, reason)
    return result
