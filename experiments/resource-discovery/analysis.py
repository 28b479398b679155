"""The times at which methods see the resources of a page, how often they are right, and the effect on loading."""
import heapq

from lab.cells import MEETS, MISSES, NOT_YET, Missing, Number, Section, Table

METHODS = ["sequential scan", "sequential parse", "parallel parse, found", "parallel parse, confirmed", "parallel scan"]
SCAN, PARSE, FOUND = METHODS[0], METHODS[1], METHODS[2]
MOST_OF_SCAN, LEAST_PRECISION = 0.6, 0.995
CORES = [2, 4, 8, 16]
# The paper's Table I: the load time in ms, and the share of parsing in it.
LOADS = {"youtube": (2357, 0.085), "bbc": (3081, 0.056), "linkedin": (7950, 0.164), "yahoo": (3962, 0.063), "amazon": (2476, 0.198),
         "qq": (6198, 0.101), "twitter": (3520, 0.119), "taobao": (10891, 0.141), "wikipedia": (4771, 0.104), "facebook": (4209, 0.171)}
# The page-load model: connections, latency in ms, ms for 20 KB at 10 Mbit/s.
CONNECTIONS, LATENCY_MS, TRANSFER_MS = 6, 100, 16


def project(times, total, cores):
    """The times on so many cores: each parses an equal part, a worker at 10/11 of the sequential speed."""
    part = total / cores
    return [(time % part) * (1 if time < part else 1.1) for time in times]


def load(times, scale):
    """The ms until the last resource has arrived. Each takes the first free connection; connections share the bandwidth."""
    free = [0.0] * CONNECTIONS
    end = 0.0
    for time in sorted(times):
        begin = max(time / 1e6 * scale, heapq.heappop(free))
        arrival = begin + LATENCY_MS + TRANSFER_MS * CONNECTIONS
        heapq.heappush(free, arrival)
        end = max(end, arrival)
    return end


def ms(time, projected=False):
    return Number(time / 1e6, "ms", 3, projected)


def add_times(result, records):
    sums = {method: 0 for method in METHODS}
    table = result.add(Table("discovery-times", "Time at which the resources are seen, 1 and 2 threads",
                             ["page", "resources", *(f"{method}: sum, ms" for method in METHODS), "first, ms", "last, ms"],
                             "The run with the smallest sum. First and last: parallel parse, found."))
    for record in records:
        output = record["output"]
        methods = output["methods"]
        for method in METHODS:
            sums[method] += sum(methods[method])
        found = methods[FOUND]
        table.row(record["page"]["name"], Number(len(found), "", 0), *(ms(sum(methods[method])) for method in METHODS),
                  ms(min(found)), ms(max(found)), stand_in=record["page"]["stand_in"])
    table.row("all", Number(sum(len(record["output"]["offsets"]) for record in records), "", 0),
              *(ms(sums[method]) for method in METHODS), Missing("a sum only"), Missing("a sum only"))
    return sums


def add_projection(result, records):
    table = result.add(Table("discovery-projected", "Sum of the times over that of the sequential scan, projected",
                             ["page", *(f"parse, {cores} cores (projected)" for cores in CORES),
                              *(f"scan, {cores} cores (projected)" for cores in CORES)],
                             "Computed from the sequential times: each core has an equal part, and no core starts late."))
    for record in records:
        output = record["output"]
        methods, totals = output["methods"], dict(zip(METHODS, output["totals"]))
        base = sum(methods[SCAN])
        table.row(record["page"]["name"], *(Number(sum(project(methods[method], totals[method], cores)) / base, "", 2, True)
                                            for method in (PARSE, SCAN) for cores in CORES))


def add_loads(result, records):
    table = result.add(Table("discovery-load", "Arrival of the last resource in a model of page loading, ms",
                             ["page", "paper: load time", "parse takes", *(f"{method} (model)" for method in (PARSE, FOUND)), "earlier"],
                             f"{CONNECTIONS} connections, {LATENCY_MS} ms latency, 20 KB a resource, 10 Mbit/s. All text is present at the "
                             "begin. The times are scaled so that the sequential parse takes the paper's share of the paper's load time."))
    for record in records:
        name, output = record["page"]["name"], record["output"]
        whole, share = LOADS[name]
        scale = whole * share / (output["totals"][METHODS.index(PARSE)] / 1e6)
        ends = {method: load(output["methods"][method], scale) for method in (PARSE, FOUND)}
        table.row(name, Number(whole, "ms", 0), Number(whole * share, "ms", 0), *(Number(ends[method], "ms", 0) for method in ends),
                  Number(ends[PARSE] - ends[FOUND], "ms", 0), stand_in=record["page"]["stand_in"])


def add_accuracy(result, records):
    """Returns the smallest precision, and whether each list is complete."""
    least, complete = 1.0, True
    table = result.add(Table("discovery-accuracy", "Tags that are found by speculation, on the collection",
                             ["parts", "confirmed", "parse: found", "wrong", "precision", "scan: found", "wrong ", "precision "],
                             "A tag is wrong if it is found and never confirmed. All parts are parsed before the merge."))
    for record in records:
        output = record["output"]
        cells = []
        for way in ("parse", "scan"):
            precision = 1 - output[way]["wrong"] / max(output[way]["found"], 1)
            least = min(least, precision)
            complete &= output[way]["confirmed"] == output["sequential"]["confirmed"]
            cells += [Number(output[way]["found"], "", 0), Number(output[way]["wrong"], "", 0), Number(100 * precision, "%", 2)]
        table.row(str(output["parts"]), Number(output["sequential"]["confirmed"], "", 0), *cells)
    return least, complete


def analyse(data):
    times, accuracy = data.ran(part="times"), data.ran(part="accuracy")
    if not times:
        return Section(NOT_YET, data.why_not(part="times"))
    result = Section(MEETS, "")
    sums = add_times(result, times)
    best = min(METHODS[2:], key=sums.get)
    ratio = sums[best] / sums[SCAN]
    result.fact("two threads over the scan", Number(ratio, "", 2))
    result.why = f"2 threads ({best}): {ratio:.2f} of the sequential scan's sum"
    add_projection(result, times)
    add_loads(result, times)
    missed = ratio > MOST_OF_SCAN
    if accuracy:
        least, complete = add_accuracy(result, accuracy)
        result.fact("precision", Number(100 * least, "%", 2))
        result.why += f"; precision at least {100 * least:.2f}%; recall {'100%' if complete else 'below 100%'}"
        missed |= least < LEAST_PRECISION or not complete
    if missed:
        result.missed(MISSES, "The pages take 0.05 to 0.3 ms, in which the second thread must start; other processes delay it.")
    return result
