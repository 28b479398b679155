"""together.py HPAR N PAGE: N sequential parsers of a page at once; prints mean, median and minimum of each as JSON."""
import json
import os
import subprocess
import sys

hpar, copies, page = sys.argv[1], int(sys.argv[2]), sys.argv[3]
cores = sorted(os.sched_getaffinity(0))
repeat = max(20, min(4000, 400_000_000 // max(1, os.path.getsize(page))))
running = []
for i in range(copies):
    core = cores[i % len(cores)]
    running.append(subprocess.Popen([hpar, "compare", "--json", "--threads", "1", "--repeat", str(repeat), page],
                                    stdout=subprocess.PIPE, preexec_fn=lambda core=core: os.sched_setaffinity(0, {core})))
outputs = [json.loads(process.communicate()[0]) for process in running]
modes = [output["pages"][0]["modes"]["sequential"] for output in outputs]
print(json.dumps({"copies": copies, "repeat": repeat, "ns_mean": [sum(mode["ns_runs"]) / repeat for mode in modes],
                  "ns_median": [mode["ns_median"] for mode in modes], "ns_min": [mode["ns_min"] for mode in modes]}))
sys.exit(max(process.returncode for process in running))
