"""collect.py BUILD ROUNDS: runs hpar-rewriter on the paper's pages and prints its JSON object."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, rounds = sys.argv[1:3]
found = pages.Pages(build)
files = [found.get(name).path for name in pages.PAPER]
sys.exit(subprocess.run([os.path.join(build, "hpar-rewriter"), rounds, *files], check=False).returncode)
