"""collect.py BUILD ROUNDS: the sequential parser beside lexbor on the beginnings of the paper's pages, as one JSON object."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from lab import pages  # noqa: E402

build, rounds = sys.argv[1], int(sys.argv[2])
found = pages.Pages(build)
files = [found.get(name).path for name in pages.PAPER]
with tempfile.TemporaryDirectory() as work:
    subprocess.run([os.path.join(HERE, "..", "peers", "hpar-peers"), "--build", build, "--rounds", str(rounds), "--warm",
                    "2" if rounds > 1 else "0.2", "--small", "--shortest", "--only", "hpar,lexbor,lexbor-warm", "--out", work, *files],
                   stdout=sys.stderr, check=True)
    with open(os.path.join(work, "peers.json"), encoding="utf-8") as file:
        print(json.dumps(json.load(file)))
