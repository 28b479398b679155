"""collect.py BUILD ROUNDS: `hpar bench --peers` on the paper's pages, and the parallel parser on the same, as one JSON object."""
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, rounds = sys.argv[1], int(sys.argv[2])
found = pages.Pages(build)
files = [found.get(name).path for name in pages.PAPER]


def geometric(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


with tempfile.TemporaryDirectory() as work:
    subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "hpar-peers"), "--build", build, "--rounds", str(rounds),
                    "--warm", "3" if rounds > 1 else "0.5", "--out", work, *files], stdout=sys.stderr, check=True)
    with open(os.path.join(work, "peers.json"), encoding="utf-8") as file:
        result = json.load(file)
    with open(os.path.join(work, "rounds.tsv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
for peer in result["peers"]:
    for form in ("fresh", "reused"):
        by_round = {}
        for row in rows:
            if row["peer"] == peer["name"] and row["form"] == form:
                by_round.setdefault(row["round"], []).append(int(row["bytes"]) * 1e3 / int(row["nanoseconds"]))
        peer[f"{form}_by_round"] = [geometric(speeds) for speeds in by_round.values()]
result["pages"] = len(files)
result["rounds_raw"] = rows
parallel, equal = [], True
for _ in range(min(rounds, 5)):
    output = json.loads(subprocess.run([os.path.join(build, "hpar"), "compare", "--json", "--repeat", "15", *files], stdout=subprocess.PIPE,
                                       check=False).stdout)
    equal = equal and all(page["equal"] for page in output["pages"])
    parallel.append(geometric(page["modes"]["parallel"]["stats"]["bytes"] * 1e3 / page["modes"]["parallel"]["ns_median"] for page in output["pages"]))
result["parallel"], result["parallel_equal"] = parallel, equal
print(json.dumps(result))
