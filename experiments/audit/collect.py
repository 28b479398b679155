"""collect.py BUILD CHUNKS GROUP: runs hpar-audit on a group of pages and prints its JSON object."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import pages  # noqa: E402

build, chunks, group = sys.argv[1:4]
found = pages.Pages(build)
files = [found.get(name).path for name in found.names(group)]
sys.exit(subprocess.run([os.path.join(build, "hpar-audit"), "pages", chunks, *files], check=False).returncode)
