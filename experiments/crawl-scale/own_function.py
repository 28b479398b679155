#!/usr/bin/python3
"""own_function.py [--build DIR] [--rounds N] [--pages DIR]: the speed of a function in Python beside the built-in count.

`hpar crawl --threads 2` counts the links of each page, built in (--select 'a[href]') and by a function of a file (--python).
The archives have 6,000 generated records, or with --pages the real pages of the folder, with its MANIFEST.tsv, and 40,000 like
them. The last line is the ratio of the speeds by the shortest times: 1 is the speed of the built-in count.
"""
import argparse
import glob
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FUNCTION = """def record(r):
    yield {"url": r.url, "links": len(r.document().select("a[href]"))}
"""


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write_archives(arguments, folder):
    """Two archives, one for each process."""
    if not arguments.pages:
        for seed in 1, 2:
            with open(os.path.join(folder, "%d.warc.gz" % seed), "wb") as file:
                subprocess.run([os.path.join(arguments.build, "hpar-corpus"), "generate", "--warc", "3000", "--seed", str(seed), "--gzip"],
                               stdout=file, check=True)
        return
    with open(os.path.join(arguments.pages, "MANIFEST.tsv"), encoding="utf-8") as file:
        names = [line.split("\t")[0] for line in file][1:]
    listed = os.path.join(os.path.dirname(folder), "pages.tsv")
    with open(listed, "w", encoding="utf-8") as file:
        file.writelines("%s\t%s\texample.org\t-\n" % (os.path.join(arguments.pages, name), name) for name in names)
    half = (len(names) + 40000) // 2
    for part in 0, 1:
        with open(os.path.join(folder, "%d.warc" % part), "wb") as file:
            subprocess.run([os.path.join(arguments.build, "hpar-study-pages"), listed, str(part * half), str(half)], stdout=file, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages")
    arguments = parser.parse_args()
    ways = {"built in": ["--select", "a[href]"], "in Python": ["--python", "FUNCTION"]}
    elapsed, processor = {name: [] for name in ways}, {name: [] for name in ways}
    with tempfile.TemporaryDirectory(prefix="hpar-own-") as work:
        data = os.path.join(work, "data")
        os.mkdir(data)
        write_archives(arguments, data)
        ways["in Python"][1] = os.path.join(work, "count.py")
        with open(ways["in Python"][1], "w", encoding="utf-8") as file:
            file.write(FUNCTION)
        packages = [os.environ.get("PYTHONPATH"), *glob.glob(os.path.join(arguments.build, "python", "lib*"))]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, packages)))
        for number in range(arguments.rounds):
            for name, options in ways.items():
                before, begin = processor_time(), time.monotonic()
                subprocess.run([os.path.join(arguments.build, "hpar"), "crawl", data, "--out", os.path.join(work, name + str(number)), "--threads", "2",
                                "--profile", "none", "--progress", "none", *options], check=True, env=environment)
                elapsed[name].append(time.monotonic() - begin)
                processor[name].append(processor_time() - before)
        with open(os.path.join(work, "in Python0", "quarantine.jsonl"), encoding="utf-8") as file:
            if "python:" in file.read():
                sys.exit("own_function.py: the function failed; ctest -R '^python$' builds the Python package that it needs")
    for name in ways:
        print("%-10s %.2f s elapsed, %.2f s of processor time" % (name, min(elapsed[name]), min(processor[name])))
    ratios = [min(times["built in"]) / min(times["in Python"]) for times in (elapsed, processor)]
    print("ratio      %.2f by the clock, %.2f by processor time" % tuple(ratios))
    return 0


if __name__ == "__main__":
    sys.exit(main())
