"""measure.py BUILD CORES WAKE FILE...: runs hpar-work-span under callgrind and prints its rows as JSON."""
import json
import os
import subprocess
import sys
import tempfile


def rows(build, cores, wake, paths):
    """The rows of hpar-work-span: a dictionary for each file and each number of cores."""
    with tempfile.NamedTemporaryFile(prefix="hpar-work-span-") as log:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log.name}",
                               os.path.join(build, "hpar-work-span"), log.name, cores, str(wake), *paths],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip() or f"hpar-work-span: exit status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    print(json.dumps({"rows": rows(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])}))
