"""measure.py BUILD STATE PLACES REPETITIONS PAGE...: runs hpar-late on the pages and prints its rows as JSON."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, state, places, repetitions, *names = sys.argv[1:]
found = pages.Pages(build)
chosen = [found.get(name) for name in names]
done = subprocess.run([os.path.join(build, "hpar-late"), places, repetitions, state, *(page.path for page in chosen)],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
if done.returncode:
    sys.exit(done.stderr.strip() or f"hpar-late: exit status {done.returncode}")
kinds = ["late", "sequential", "control"]
columns = ["slice", "offset", "parses", *(f"{kind}_{what}" for kind in kinds for what in ("shortest", "median")),
           *(f"{kind}_processor_{what}" for kind in kinds for what in ("shortest", "median")),
           "wait", "end", "page_faults", "rescued"]
print(json.dumps({"columns": columns, "repetitions": int(repetitions),
                  "pages": [{"page": name, **page} for name, page in zip(names, json.loads(done.stdout)["pages"])]}))
