"""instructions.py HPAR PAGE: instructions of one sequential parse, counted by callgrind, as JSON."""
import json
import os
import re
import subprocess
import sys

hpar, page = sys.argv[1:]
done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no", "--toggle-collect=hpar_study_parse", hpar,
                       "parse", "--mode", "sequential", "--format", "none", page], stderr=subprocess.PIPE, text=True, check=False)
found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
if done.returncode or not found or not int(found.group(1)):
    sys.exit(f"instructions.py: valgrind counted nothing:\n{done.stderr[-500:]}")
print(json.dumps({"instructions": int(found.group(1)), "bytes": os.path.getsize(page)}))
