"""collect.py BUILD PARTS FOLDER: runs hpar-discovery --accuracy on the pages of the folder and prints its JSON object."""
import os
import subprocess
import sys

build, parts, folder = sys.argv[1:4]
files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".html"))
command = [os.path.join(build, "hpar-discovery"), "--accuracy", parts, *files]
sys.exit(subprocess.run(command, check=False).returncode)
