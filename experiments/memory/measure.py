"""measure.py BUILD MODE THREADS SET free|paced: hpar-memory on a set of pages: each page's figures, a row each, as one JSON object."""
import glob
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, mode, threads, name, pace = sys.argv[1:]
folder = pages.shared()
files = sorted(glob.glob(os.path.join(folder, "corpus", name, "*.html"))) if folder else []
if not files:
    found = pages.Pages(build)
    files = [found.get(page).path for page in (found.names("large") if name == "large" else pages.PAPER)]
result = subprocess.run([os.path.join(build, "hpar-memory"), *(["--paced"] if pace == "paced" else []), mode, threads, *files], stdout=subprocess.PIPE, check=True)
COLUMNS = ["bytes", "threads", "chunks", "resident", "heap", "document"]
rows = [[os.path.basename(page["file"]), *(page[column] for column in COLUMNS)] for page in json.loads(result.stdout)["pages"]]
print(json.dumps({"columns": ["file", *COLUMNS], "pages": rows}))
