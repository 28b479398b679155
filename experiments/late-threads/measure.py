"""measure.py BUILD MODE PLACES PAGE...: runs hpar-late on the pages and prints its rows as JSON."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, mode, places, *names = sys.argv[1:]
found = pages.Pages(build)
chosen = [found.get(name) for name in names]
done = subprocess.run([os.path.join(build, "hpar-late"), places, mode, *(page.path for page in chosen)],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
if done.returncode:
    sys.exit(done.stderr.strip() or f"hpar-late: exit status {done.returncode}")
columns = ["page", "sequential", "sleeps", "rescued", "waited", "within", "processor_within", "noise", "late",
           "processor_noise", "processor_late"]
rows = [[name, *(row[column] for column in columns[1:])] for name, row in zip(names, json.loads(done.stdout)["pages"])]
print(json.dumps({"columns": columns, "pages": rows}))
