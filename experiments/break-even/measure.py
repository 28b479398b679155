"""measure.py BUILD asleep|spinning RUNS whole|BYTES: hpar-break-even on the collection's pages up to 256 KB, or on the first
BYTES of each of the paper's; where the collection is not there, on generated pages: a row a page, as one JSON object."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

MOST = 256 << 10
GENERATED = [f"{model}@{kilobytes << 10}" for kilobytes in (16, 24, 32, 48, 64, 96, 128, 192, 256)
             for model in ("bbc", "facebook", "twitter", "wikipedia")]

build, pool, runs, part = sys.argv[1:]
found = pages.Pages(build)
names = pages.PAPER if part != "whole" else found.names("collection") or GENERATED
chosen = [page for page in map(found.get, names) if part != "whole" or page.bytes <= MOST]
command = [os.path.join(build, "hpar-break-even"), pool, runs, "0" if part == "whole" else part]
result = subprocess.run(command + [page.path for page in chosen], stdout=subprocess.PIPE, check=True)
COLUMNS = ["bytes", "sequential", "parallel", "auto"]
rows = [[page.name, *(row[column] for column in COLUMNS)] for page, row in zip(chosen, json.loads(result.stdout)["pages"])]
print(json.dumps({"columns": ["page", *COLUMNS], "pages": rows}))
