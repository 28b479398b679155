"""measure.py BUILD CORES WAKE ARGUMENT...: runs hpar-work-span under callgrind and prints its rows as JSON."""
import json
import os
import subprocess
import sys
import tempfile


# The C library copies and fills long blocks with string instructions. callgrind would count one instruction for each
# byte of them. With these thresholds the library uses vectors.
TUNABLES = "glibc.cpu.x86_rep_movsb_threshold=0x40000000:glibc.cpu.x86_rep_stosb_threshold=0x40000000"


def rows(build, cores, wake, arguments):
    """The rows of hpar-work-span: a dictionary for each file and each number of cores."""
    with tempfile.NamedTemporaryFile(prefix="hpar-work-span-") as log:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log.name}",
                               os.path.join(build, "hpar-work-span"), log.name, cores, str(wake), *arguments],
                              env=dict(os.environ, GLIBC_TUNABLES=TUNABLES), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip() or f"hpar-work-span: exit status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    print(json.dumps({"rows": rows(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])}))
