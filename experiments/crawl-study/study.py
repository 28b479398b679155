#!/usr/bin/python3
"""study.py [--build DIR] [--pages DIR] [--documents N] [--work DIR] [--scheduler ADDRESS] [--report] [--out DIR]

Speculation over a crawl. Dask workers (two processes of this machine, or those of a scheduler) generate parts of N pages and
pipe each part to `hpar crawl --profile speculation`. A complete part has a file in the folder of --work, so the same command
continues an interrupted run. Then it writes cells.tsv.xz, tables.md and sizes.svg to the folder of --out. With --report it runs
no part, and writes the results of those that are complete.
"""
import argparse
import collections
import csv
import gzip
import itertools
import json
import lzma
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PART = 4000  # pages
COST_PAGES = 20000
CORES = ("2", "4", "8", "16", "32", "64")
PREDICTORS = ("lookback", "prescan", "context", "frequency", "data", "oracle")
# Common Crawl: pages of a crawl and their unpacked bytes; see experiments/crawl-scale.
CRAWL_PAGES, CRAWL_BYTES = 2.6e9, 432e12
DEVIATION = 1.2  # of the logarithm of a page's size: as pages.c
EDGES = [0] + [4096 << i for i in range(9)]  # of the classes of sizes
REPLICATES = 500


# ---- parts ----

def wait(process):
    """The processor time of a process and of those that it waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def size_class(length):
    return sum(length >= edge for edge in EDGES) - 1


def values_of(record):
    """What is added up: pages, bytes, chunks, clean chunks, bytes parsed again, right guesses, guesses, times."""
    guesses = record["predictors"]
    times = [record["time"][cores] for cores in CORES]
    return [1, record["text_bytes"], record["chunks"], record["chunks_clean"], record["bytes_reparsed"],
            *(guesses[name][0] for name in PREDICTORS), *(guesses[name][1] for name in PREDICTORS),
            *itertools.accumulate(times, min)]  # a parse may leave cores unused


def add(sums, values):
    for i, value in enumerate(values):
        sums[i] += value


def run_part(build, pages, number, first, count, work, real, niceness):
    """Runs a part of the pages, and writes its sums to a file of `work`."""
    path = part_path(work, number)
    if os.path.exists(path):
        return
    os.nice(max(0, niceness - os.nice(0)))
    with tempfile.TemporaryDirectory(prefix="hpar-study-") as folder:
        out = os.path.join(folder, "out")
        made = subprocess.Popen([os.path.join(build, "hpar-study-pages"), pages, str(first), str(count)], stdout=subprocess.PIPE)
        crawl = subprocess.Popen([os.path.join(build, "hpar"), "crawl", "-", "--out", out, "--records", "jsonl", "--threads", "1", "--profile",
                                  "speculation", "--study-sample", "1/1", "--study-size", "1", "--progress", "none"], stdin=made.stdout)
        made.stdout.close()
        seconds = {"crawl": wait(crawl), "pages": wait(made)}
        if crawl.returncode or made.returncode:
            raise OSError("part %d: hpar crawl ended with %d, hpar-study-pages with %d" % (number, crawl.returncode, made.returncode))
        cells = {}
        for name in os.listdir(os.path.join(out, "records")):
            with open(os.path.join(out, "records", name), encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    page, index = record["url"].split("/")[3:5]
                    kind = "real" if int(index) < real else "like"
                    key = "%s\t%s\t%s\t%d" % (page, record["encoding"], kind, size_class(record["bytes"]))
                    values = values_of(record)
                    add(cells.setdefault(key, [0] * len(values)), values)
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "cells": cells}, file)
    os.rename(path + ".tmp", path)


def part_path(work, number):
    return os.path.join(work, "%06d.json" % number)


def run_parts(arguments, parts, pages, real):
    """Runs the parts with these numbers. Returns how many failed."""
    from distributed import Client, LocalCluster, as_completed
    if arguments.scheduler:
        cluster, client = None, Client(arguments.scheduler)
    else:
        cluster = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None)
        client = Client(cluster)
    done, failed = 0, 0
    futures = [client.submit(run_part, arguments.build, pages, number, number * PART, min(PART, arguments.documents - number * PART),
                             arguments.work, real, arguments.nice, pure=False) for number in parts]
    for future in as_completed(futures):
        done += 1
        if future.exception():
            failed += 1
            print(future.exception(), file=sys.stderr)
        if done % 20 == 0:
            print("%d of %d parts" % (done, len(parts)), file=sys.stderr, flush=True)
    client.close()
    if cluster:
        cluster.close()
    return failed


# ---- real pages ----

def generator_of(text):
    found = re.search(rb"<meta[^>]+name=[\"']?generator[\"']?[^>]*?content=[\"']?([\w. -]+)", text, re.I)
    return found.group(1).split()[0].decode().strip(".-").lower() if found else "none"


def read_manifests(folder):
    """The real pages: path, name, host, charset, class of host, generator, kind."""
    pages = []
    for part in ("pages", "paper", "large"):
        with open(os.path.join(folder, part, "MANIFEST.tsv"), encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                path = os.path.join(folder, part, row["file"])
                with open(path, "rb") as page:
                    text = page.read(1 << 20)
                host = row["site"].split()[0]
                tld = host.rpartition(".")[2]
                declared = row["charset_declared"]
                pages.append({"path": path, "name": row["file"].partition(".")[0], "host": host if "." in host else "localhost",
                              "charset": declared[5:] if declared.startswith("http:") else "-",
                              "class": "none" if "." not in host else "country" if len(tld) == 2 else tld,
                              "generator": generator_of(text), "kind": row["tags"].split(",")[0]})
    return pages


def write_list(path, pages):
    with open(path, "w", encoding="utf-8") as file:
        for page in pages:
            file.write("\t".join((page["path"], page["name"], page["host"], page["charset"])) + "\n")


# ---- cost ----

def measure_cost(arguments, pages, real):
    """Processor seconds of `hpar crawl` on an archive of gzip members: with the default counts, and with the profile."""
    with tempfile.TemporaryDirectory(prefix="hpar-study-") as folder:
        path = os.path.join(folder, "a.warc.gz")
        made = subprocess.Popen([os.path.join(arguments.build, "hpar-study-pages"), pages, str(real), str(COST_PAGES)], stdout=subprocess.PIPE)
        unpacked = 0
        with open(path, "wb") as file:
            while True:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = made.stdout.readline()
                    if not line:
                        break
                    head += line
                if not head:
                    break
                block = made.stdout.read(int(re.search(rb"Content-Length: (\d+)", head).group(1)) + 4)
                file.write(gzip.compress(head + block, 6))
                unpacked += len(head + block)
        wait(made)
        seconds = {}
        for name, options in (("default", []), ("study", ["--profile", "speculation", "--study-sample", "1/1", "--study-size", "1"])):
            crawl = subprocess.Popen([os.path.join(arguments.build, "hpar"), "crawl", path, "--out", os.path.join(folder, name), "--threads", "1",
                                      "--progress", "none", *options])
            seconds[name] = wait(crawl)
        return {"seconds": seconds, "unpacked": unpacked, "pages": COST_PAGES}


# ---- estimates ----

def normal(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def shares():
    """The shares of pages and of bytes by class of sizes, if sizes are lognormal with Common Crawl's mean."""
    middle = math.log(CRAWL_BYTES / CRAWL_PAGES) - DEVIATION ** 2 / 2

    def below(edge, shift):
        return normal((math.log(edge) - middle) / DEVIATION - shift) if edge else 0

    edges = EDGES + [math.inf]
    return [[(1 if high == math.inf else below(high, shift)) - below(low, shift) for low, high in zip(edges, edges[1:])]
            for shift in (0, DEVIATION)]


BY_PAGES, BY_BYTES = shares()
FIRST_RIGHT, FIRST_ALL, FIRST_TIME = 5, 5 + len(PREDICTORS), 5 + 2 * len(PREDICTORS)
MEASURES = [("accuracy of " + name, FIRST_RIGHT + i, FIRST_ALL + i, BY_PAGES, False) for i, name in enumerate(PREDICTORS)] + \
    [("clean chunks", 3, 2, BY_PAGES, False), ("bytes parsed again", 4, 1, BY_BYTES, False)] + \
    [("speed-up on %s cores" % cores, FIRST_TIME + i, 1, BY_BYTES, True) for i, cores in enumerate(CORES)]


def estimate(by_class, measure, weights=None):
    """A measure of a population: the classes of sizes have the shares of Common Crawl, or `weights`."""
    _, over, under, own, inverse = measure
    total = of = 0
    for sums, weight in zip(by_class, weights or own):
        if sums and sums[under]:
            total += weight * sums[over] / sums[under]
            of += weight
    if not of:
        return None
    return (of / total if total else math.inf) if inverse else total / of


def sums_of(cells, counts):
    """The sums by class of sizes of pages that occur so often. `cells` has lists by page and class. Each real page has the same
    weight in a class: some have many pages in one class, because their parts leave no other size."""
    classes = [None] * len(EDGES)
    for page, count in counts.items():
        for number, values in cells[page].items():
            if classes[number] is None:
                classes[number] = [0] * len(values)
            for i, value in enumerate(values):
                classes[number][i] += count * value / values[0]
    return classes


def intervals(cells, measures, weights=None, seed=1):
    """(mean, low, high) of each measure: 95%, by a bootstrap over the real pages, because pages like one page are alike."""
    generator = random.Random(seed)
    names = sorted(cells)
    whole = sums_of(cells, dict.fromkeys(names, 1))
    found = [[] for _ in measures]
    for _ in range(REPLICATES if len(names) > 1 else 0):
        replicate = sums_of(cells, collections.Counter(generator.choices(names, k=len(names))))
        for values, measure in zip(found, measures):
            value = estimate(replicate, measure, weights)
            if value is not None:
                values.append(value)
    result = []
    for values, measure in zip(found, measures):
        values.sort()
        mean = estimate(whole, measure, weights)
        result.append((mean, values[len(values) // 40], values[-1 - len(values) // 40]) if values else (mean, None, None))
    return result


# ---- tables ----

def shown(value, inverse):
    mean, low, high = value
    if mean is None:
        return "-"
    if inverse:
        return "%.2f" % mean + (" (%.2f to %.2f)" % (low, high) if low is not None else "")
    return "%.2f%%" % (100 * mean) + (" (%.2f to %.2f)" % (100 * low, 100 * high) if low is not None else "")


def table(head, rows):
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]


def chosen(*names):
    return [measure for measure in MEASURES if measure[0] in names]


COLUMNS = chosen("accuracy of lookback", "accuracy of data", "clean chunks", "bytes parsed again", "speed-up on 4 cores", "speed-up on 16 cores")
HEAD = ["lookback right", "data right", "clean chunks", "bytes parsed again", "4 cores", "16 cores"]


def class_name(number):
    def text(edge):
        return "%d KB" % (edge >> 10) if edge < 1 << 20 else "%d MB" % (edge >> 20)
    if not number:
        return "below " + text(EDGES[1])
    return text(EDGES[number]) + (" and more" if number + 1 == len(EDGES) else " to " + text(EDGES[number + 1]))


def pages_in(cells):
    return sum(values[0] for classes in cells.values() for values in classes.values())


def row(name, cells, measures, weights=None):
    return [name, "%d" % len(cells), "%d" % pages_in(cells),
            *(shown(value, measure[4]) for value, measure in zip(intervals(cells, measures, weights), measures))]


def select(cells, wanted):
    """The cells with keys (page, encoding, kind, class), as lists by page and class."""
    result = {}
    for (page, encoding, kind, number), values in cells.items():
        if wanted(page, encoding, kind, number):
            into = result.setdefault(page, {}).setdefault(number, [0] * len(values))
            add(into, values)
    return result


def write_tables(cells, about, cost, seconds):
    like = select(cells, lambda page, encoding, kind, number: kind == "like")
    real = {}
    for page, classes in select(cells, lambda page, encoding, kind, number: kind == "real").items():
        real[page] = {0: [sum(values) for values in zip(*classes.values())]}
    total = sum(values[1] for values in cells.values())
    load = os.getloadavg()[0]
    out = ["# Speculation over a crawl", "",
           "%d pages like %d real ones, and these. Sizes as those of Common Crawl (mean %d KB), unless a row has a class of sizes."
           % (pages_in(like), len(like), CRAWL_BYTES / CRAWL_PAGES / 1e3),
           "Intervals: 95%, by a bootstrap over the real pages. Speed-ups are projected.", "", "## Predictors", ""]
    names = [measure for measure in MEASURES if measure[0].startswith("accuracy")]
    as_it_is = [1] + [0] * (len(EDGES) - 1)
    values, own = intervals(like, names), intervals(real, names, as_it_is)
    out += table(["predictor", "right of chunks", "right, real pages as they are"],
                 [[name, shown(value, False), shown(other, False)] for name, value, other in zip(PREDICTORS, values, own)])
    out += ["", "## Merge", ""]
    others = [measure for measure in MEASURES if not measure[0].startswith("accuracy")]
    values, own = intervals(like, others), intervals(real, others, as_it_is)
    out += table(["figure", "value", "real pages as they are"],
                 [[measure[0], shown(value, measure[4]), shown(other, measure[4])] for measure, value, other in zip(others, values, own)])
    head = ["real pages", "pages", *HEAD]
    out += ["", "## Sizes", ""]
    rows = []
    for number in range(len(EDGES)):
        one = select(cells, lambda page, encoding, kind, found, number=number: kind == "like" and found == number)
        if one:
            rows.append(row(class_name(number), one, COLUMNS, [float(k == number) for k in range(len(EDGES))]))
    out += table(["size", *head], rows)
    for title, key in (("Encodings", None), ("Generators", "generator"), ("Hosts", "class"), ("Kinds of pages", "kind")):
        groups = collections.defaultdict(set)
        for page, encoding, kind, number in cells:
            if page in about:
                groups[about[page][key] if key else encoding].add(page)
        groups = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        rare = {page for _, pages in groups if len(pages) < 3 for page in pages}
        parts = [(name, pages) for name, pages in groups if len(pages) >= 3] + ([("others", rare)] if rare else [])
        out += ["", "## " + title, ""]
        out += table([title[:-1].lower() if key != "kind" else "kind", *head],
                     [row(name, {page: like[page] for page in pages if page in like}, COLUMNS) for name, pages in parts])
    default, study = (cost["seconds"][name] * CRAWL_BYTES / cost["unpacked"] / 3600 for name in ("default", "study"))
    out += ["", "## Cost", ""]
    out += table(["work", "measured", "a crawl of %.0f TB, in core-hours (projected)" % (CRAWL_BYTES / 1e12)],
                 [["unpack, read, parse, default counts", "%.1f s" % cost["seconds"]["default"], "%.0f" % default],
                  ["the profile speculation of each page", "%.1f s" % cost["seconds"]["study"], "%.0f" % study],
                  ["default counts of each page, and the profile of one of 100", "-", "%.0f" % (default + study / 100)]])
    out += ["", "Processor time of one process for %d pages of %d MB, packed by gzip; the load of the machine was %.1f."
            % (cost["pages"], cost["unpacked"] / 1e6, load),
            "The study itself took %.0f s for %.1f GB, and its generator of pages %.0f s." % (seconds["crawl"], total / 1e9, seconds["pages"]), ""]
    return "\n".join(out)


def draw(cells, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "hpar", "svg.fonttype": "none"})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    ticks = range(len(EDGES))
    wanted = [MEASURES[i] for i in range(len(PREDICTORS) - 1)]
    speeds = chosen(*("speed-up on %s cores" % cores for cores in ("2", "4", "16", "64")))
    by_class = []
    for number in ticks:
        one = select(cells, lambda page, encoding, kind, found, number=number: kind == "like" and found == number)
        by_class.append(intervals(one, wanted + speeds, [float(k == number) for k in ticks]))
    for i, measure in enumerate(wanted + speeds):
        axis = axes[int(measure[4])]
        scale = 1 if measure[4] else 100
        means = [values[i][0] * scale for values in by_class]
        errors = [[max(0, values[i][0] - values[i][1]) * scale for values in by_class], [max(0, values[i][2] - values[i][0]) * scale for values in by_class]]
        name = measure[0].replace("accuracy of ", "").replace("speed-up on ", "")
        axis.errorbar(ticks, means, yerr=errors, label=name, marker="o", markersize=3, linewidth=1, capsize=2)
    for axis, title in zip(axes, ("right start states (%)", "projected speed-up")):
        axis.set_title(title, fontsize=10)
        axis.set_xticks(list(ticks), [("%dK" % (edge >> 10) if edge < 1 << 20 else "1M") for edge in EDGES], fontsize=7)
        axis.set_xlabel("size of the page from", fontsize=8)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pages", default=os.path.join(os.environ.get("HPAR_SHARED", os.path.join(ROOT, "..", "shared")), "corpus"))
    parser.add_argument("--documents", type=int, default=1000000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "crawl-study"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "crawl-study", "results"))
    arguments = parser.parse_args()
    arguments.build, arguments.work = os.path.abspath(arguments.build), os.path.abspath(arguments.work)
    os.makedirs(arguments.work, exist_ok=True)
    os.makedirs(arguments.out, exist_ok=True)
    pages = read_manifests(arguments.pages)
    names = os.path.join(arguments.work, "pages.tsv")
    write_list(names, pages)
    numbers = range(-(-arguments.documents // PART))
    missing = [number for number in numbers if not os.path.exists(part_path(arguments.work, number))]
    if missing and not arguments.report and run_parts(arguments, missing, names, len(pages)):
        return 1
    cells, seconds = {}, collections.Counter()
    for path in filter(os.path.exists, (part_path(arguments.work, number) for number in numbers)):
        with open(path, encoding="utf-8") as file:
            part = json.load(file)
        seconds.update(part["seconds"])
        for key, values in part["cells"].items():
            page, encoding, kind, number = key.split("\t")
            add(cells.setdefault((page, encoding, kind, int(number)), [0] * len(values)), values)
    cost = measure_cost(arguments, names, len(pages))
    with lzma.open(os.path.join(arguments.out, "cells.tsv.xz"), "wt", encoding="utf-8") as file:
        file.write("\t".join(["page", "encoding", "kind", "class", "pages", "bytes", "chunks", "clean", "again", *("right " + name for name in PREDICTORS),
                              *("all " + name for name in PREDICTORS), *("time " + cores for cores in CORES)]) + "\n")
        for key in sorted(cells):
            file.write("\t".join(map(str, [*key, *cells[key]])) + "\n")
    with open(os.path.join(arguments.out, "tables.md"), "w", encoding="utf-8") as file:
        file.write(write_tables(cells, {page["name"]: page for page in pages}, cost, seconds))
    draw(cells, os.path.join(arguments.out, "sizes.svg"))
    print(arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
