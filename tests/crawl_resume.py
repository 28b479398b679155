#!/usr/bin/python3
"""crawl_resume.py HPAR CORPUS [--moments N] [--seed N]

Runs a crawl on one process and on two, and then ends it N times by SIGKILL and N times by SIGTERM, each time at a random
moment of its run, and resumes it. All results must have equal bytes. CORPUS is the program hpar-corpus.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

RESULTS = ["summary.json", "summary.md", "quarantine.jsonl", "rows.jsonl", "groups.csv"]
OPTIONS = ["--unit-size", "100000", "--records", "jsonl", "--select", "a[href], h1", "--fields", "url,date,text,url:href",
           "--group-by", "host:href,tag", "--progress", "none"]


def read_results(folder):
    results = {}
    for name in RESULTS:
        with open(os.path.join(folder, name), "rb") as file:
            results[name] = file.read()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hpar")
    parser.add_argument("corpus")
    parser.add_argument("--moments", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    passed = failed = ended = 0
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, "data")
        os.mkdir(data)
        for seed in range(3):
            with open(os.path.join(data, "%d.warc" % seed), "wb") as file:
                subprocess.run([arguments.corpus, "generate", "--warc", "150", "--seed", str(seed), "--small", "--damage", "5"],
                               stdout=file, check=True)

        def command(out, threads):
            return [arguments.hpar, "crawl", data, "--out", os.path.join(work, out), "--threads", str(threads)] + OPTIONS

        begin = time.monotonic()
        subprocess.run(command("one", 1), check=True)
        duration = time.monotonic() - begin
        expected = read_results(os.path.join(work, "one"))
        assert all(expected.values())
        subprocess.run(command("two", 2), check=True)
        passed += read_results(os.path.join(work, "two")) == expected
        for kind in [signal.SIGKILL, signal.SIGTERM] * arguments.moments:
            out = "ended%d" % ended
            moment = generator.uniform(0, duration)
            process = subprocess.Popen(command(out, 1 + ended % 2))
            time.sleep(moment)
            process.send_signal(kind)
            process.wait()
            ended += 1
            subprocess.run(command(out, 2 - ended % 2) + ["--resume"], check=True)
            names = [name for part in ("", "units", "rows", "records") for name in os.listdir(os.path.join(work, out, part))]
            if read_results(os.path.join(work, out)) == expected and not any(name.endswith(".tmp") for name in names):
                passed += 1
            else:
                print("%s after %.3f s of %.3f s: other results" % (kind.name, moment, duration))
        failed = 1 + ended - passed
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
