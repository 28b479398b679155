"""Section 5.1: the slowdown of N parsers at once."""
from lab import numbers
from lab.cells import CANNOT, Number, Section, Table, beside, BESIDE
from lab.data import PAPER
from lab.pages import PAPER as PAGES


def analyse(data):
    cores = data.cores()
    copies = [n for n in data.values("copies") if n != 1]
    pages = [page for page in PAGES if data.ran(page=page)]
    why = None if cores == PAPER["contention"]["parsers"] else f"this machine has {cores} cores, the paper's tablet has 4"
    result = Section(CANNOT, why or "the memory is another one")
    table = result.add(Table("contention", "Time of a sequential parse beside others, over the time alone",
                             ["page", "alone, ms", *(f"{n} at once" + (" (sharing cores)" if n > cores else "") for n in copies)]))
    slower = {n: [] for n in copies}
    for page in pages:
        alone = {record["variables"]["process"]: record["output"]["ns_mean"][0] for record in data.ran(page=page, copies=1)}
        row = []
        for n in copies:
            ratios = [sum(record["output"]["ns_mean"]) / n / alone[record["variables"]["process"]]
                      for record in data.ran(page=page, copies=n) if record["variables"]["process"] in alone]
            slower[n].append(numbers.value(ratios))
            row.append(Number(slower[n][-1], "", 2))
        table.row(page, Number(numbers.value([ns / 1e6 for ns in alone.values()]), "ms", 3), *row, stand_in=data.stand_in(page))
    means = {n: numbers.geometric(slower[n]) for n in copies}
    table.row("geometric mean", Number(numbers.geometric(
        [numbers.value([record["output"]["ns_mean"][0] / 1e6 for record in data.ran(page=page, copies=1)]) for page in pages]),
        "ms", 3), *(Number(means[n], "", 2) for n in copies))
    against = result.add(Table("contention-paper", "Beside the paper", ["what", *BESIDE]))
    against.row("four at once", *beside(PAPER["contention"]["slowdown"], means.get(4), 0.25, why=why))
    return result
