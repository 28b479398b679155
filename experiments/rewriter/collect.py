"""collect.py BUILD ROUNDS: runs hpar-rewriter on the paper's pages and prints its JSON object.

If HPAR_OTHER_REWRITER names a program, it runs in turn with hpar-rewriter, on the same pages. Its times become `other`."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

TURNS = 5

build, rounds = sys.argv[1], int(sys.argv[2])
other = os.environ.get("HPAR_OTHER_REWRITER")
found = pages.Pages(build)
files = [found.get(name).path for name in pages.PAPER]
turns = min(TURNS, rounds) if other else 1


def measure(program):
    output = subprocess.run([program, str(rounds // turns), *files], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(output)


def add(result, new):
    """Keeps the shortest time of each case."""
    if result is None:
        return new
    for name, time in new["cases"].items():
        result["cases"][name] = min(time, result["cases"].get(name, time))
    return result


result, others = None, None
for _ in range(turns):
    result = add(result, measure(os.path.join(build, "hpar-rewriter")))
    if other:
        others = add(others, measure(other))
result["rounds"] = rounds // turns * turns
if others:
    if (others["pages"], others["bytes"]) != (result["pages"], result["bytes"]):
        sys.exit(f"{other} has read {others['pages']} pages of {others['bytes']} bytes, hpar-rewriter {result['pages']} of {result['bytes']}")
    result["other"] = {"name": others.get("name", "the other rewriter"), "cases": others["cases"]}
print(json.dumps(result))
