"""measure_users.py BUILD USER PLACES REPETITIONS PAGE...: runs hpar-late-users on the pages and prints its rows as JSON."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, user, places, repetitions, *names = sys.argv[1:]
found = pages.Pages(build)
chosen = [found.get(name) for name in names]
done = subprocess.run([os.path.join(build, "hpar-late-users"), user, places, repetitions, *(page.path for page in chosen)],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
if done.returncode:
    sys.exit(done.stderr.strip() or f"hpar-late-users: exit status {done.returncode}")
print(json.dumps({"columns": ["call", "sleeps", "alone", "again", "together", "late"], "load": os.getloadavg(),
                  "pages": [{"page": name, **page} for name, page in zip(names, json.loads(done.stdout)["pages"])]}))
