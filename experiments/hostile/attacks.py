"""attacks.py BUILD all|some: what each document of tests/hostile_test.c takes, as JSON."""
import os
import sys

build, extent = sys.argv[1:]
program = os.path.join(build, "tests", "hostile_test")
os.execv(program, [program, "--json", *(["--quick"] if extent == "some" else [])])
