"""collect.py BUILD ROUNDS PAGE: runs hpar-rewriter-parallel on a page and prints its JSON object."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, rounds, name = sys.argv[1:4]
program = os.path.join(build, "hpar-rewriter-parallel")
sys.exit(subprocess.run([program, rounds, pages.Pages(build).get(name).path], check=False).returncode)
