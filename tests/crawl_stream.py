#!/usr/bin/python3
"""crawl_stream.py HPAR CORPUS [--megabytes N]

Sends N megabytes of gzip members through one process of `hpar crawl`, as a stream, with damage in between: flipped bits,
a member that ends early, garbage, a head without a length, a length that is too large, a bomb, and a response whose
coding is damaged. The quarantine must list each place with its offset and reason and no other place, all other pages must
be counted, and the memory of the process must stay below 300 MB.
"""
import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

MEMORY = 300 << 20
LIMIT = 32 << 20


def record(kind, url, block, length=None):
    return (b"WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" %
            (kind, url, len(block) if length is None else length, block))


def response(head, body):
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head + b"\r\n" + body


def member(data, level=6):
    return gzip.compress(data, level, mtime=0)


def damages(generator):
    """Yields bytes and the reasons that they may have."""
    noise = bytes(generator.getrandbits(8) for _ in range(4000))
    fine = member(record(b"response", b"http://damaged/", response(b"", b"<p>" + noise.hex().encode())))
    flipped = bytearray(fine)
    flipped[len(fine) // 2] ^= 0x5A
    yield bytes(flipped), ("compression",)
    yield fine[:-6] + b"\0\0" + fine[-4:], ("compression",)
    yield fine[:len(fine) // 3], ("compression",)  # the next member continues it
    yield b"no member " * 20, ("garbage",)
    yield member(record(b"response", b"http://no-length/", response(b"", b"x")).replace(b"Content-Length: ", b"Content-Long: ")), ("head",)
    yield member(record(b"response", b"http://length/", response(b"", b"x"), 10 ** 6)), ("truncated",)
    bomb = response(b"Content-Encoding: gzip\r\n", member(b"<b>" * (LIMIT // 2)))
    yield member(record(b"response", b"http://bomb/", bomb)), ("body-too-large",)
    yield member(record(b"response", b"http://coding/", response(b"Content-Encoding: gzip\r\n", fine[:100]))), ("damaged-body",)
    yield member(record(b"response", b"http://large/", response(b"", bytes(LIMIT + 1)))), ("too-large",)


def make_part(corpus, generator, images):
    """Returns the bytes of a part without damage."""
    made = subprocess.run([corpus, "generate", "--warc", "100", "--seed", "1", "--gzip"], capture_output=True)
    if made.returncode:
        return None
    parts = [made.stdout]
    for number in range(images):
        image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + generator.randbytes(1 << 19)
        parts.append(member(record(b"response", b"http://images/%d" % number, image), 1))
    return b"".join(parts)


def crawl(hpar, out):
    return subprocess.Popen([hpar, "crawl", "-", "--out", out, "--threads", "1", "--profile", "none", "--limit",
                             "memory=%d" % LIMIT, "--group-by", "host", "--progress", "none"], stdin=subprocess.PIPE)


def read_results(out):
    """Returns the counters, and the reasons by offset."""
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        counters = json.load(file)["counters"]
    reasons = {}
    with open(os.path.join(out, "quarantine.jsonl"), encoding="utf-8") as file:
        for line in map(json.loads, file):
            reasons.setdefault(line["offset"], set()).add(line["reason"])
    for found in reasons.values(): # the record in a damaged member may also have a wrong length
        found -= {"length"} if "compression" in found else set()
    return counters, reasons


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hpar")
    parser.add_argument("corpus")
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--unbounded", action="store_true", help="do not check the memory, as under a sanitizer")
    arguments = parser.parse_args()
    generator = random.Random(1)
    large = arguments.megabytes >= 1000
    part = make_part(arguments.corpus, generator, 56 if large else 4)
    if part is None:
        print("skipped: this build writes no gzip")
        return 77
    fine = member(record(b"response", b"http://fine/", response(b"", b"<p>fine")))
    wrong_parts = list(damages(random.Random(2)))
    sent = parts = 0
    expected = {}
    with tempfile.TemporaryDirectory() as work:
        process = crawl(arguments.hpar, os.path.join(work, "part"))
        process.communicate(part)
        part_counters, reasons = read_results(os.path.join(work, "part"))
        assert not reasons
        process = crawl(arguments.hpar, os.path.join(work, "out"))
        while sent < arguments.megabytes << 20:
            process.stdin.write(part)
            sent += len(part)
            parts += 1
            if parts % (20 if large else 1) != 1 % (20 if large else 1):
                continue
            for damage, reason in wrong_parts:
                process.stdin.write(damage + fine)
                expected[sent] = set(reason)
                sent += len(damage + fine)
        process.stdin.close()
        status = process.wait()
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        counters, found = read_results(os.path.join(work, "out"))
    pages = parts * part_counters["pages"] + len(expected)
    differences = [(offset, found.get(offset), expected.get(offset)) for offset in sorted(found.keys() | expected.keys())
                   if found.get(offset) != expected.get(offset)]
    failed = 0
    for what, fine in (("status %d" % status, status == 0),
                       ("%d pages, not %d" % (counters["pages"], pages), counters["pages"] == pages),
                       ("quarantine: %s" % differences[:9], not differences),
                       ("%d bytes of memory" % most, arguments.unbounded or most < MEMORY)):
        if not fine:
            print("wrong: " + what)
            failed += 1
    print("%d MB, %d records, %d pages, %d damaged, %d MB of memory at most: %d passed, %d failed" %
          (sent >> 20, counters["records"], counters["pages"], len(found), most >> 20, 4 - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
