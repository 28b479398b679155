"""collect.py BUILD ROUNDS: the steps of a crawl on an archive of the paper's pages, and other parsers on these pages, as one
JSON object."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from lab import pages  # noqa: E402

PEERS = ("lexbor", "html5ever", "jsoup")
ARCHIVE_BYTES = 64 << 20  # unpacked: the pages repeat

build, rounds = sys.argv[1], int(sys.argv[2])
found = pages.Pages(build)
files = [found.get(name).path for name in pages.PAPER]


def member(kind, url, block):
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: {len(block)}\r\n\r\n"
    pack = zlib.compressobj(6, zlib.DEFLATED, 31)
    return pack.compress(head.encode() + block + b"\r\n\r\n") + pack.flush()


def write_archive(path):
    """A request, a response and metadata for each page, each record a gzip member, as Common Crawl writes them."""
    records = []
    for number, name in enumerate(files):
        with open(name, "rb") as file:
            body = file.read()
        url = f"http://site{number}.example/page"
        http = f"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        request = f"GET /page HTTP/1.1\r\nHost: site{number}.example\r\nAccept: text/html\r\n\r\n".encode()
        records.append((len(body), member("request", url, request) + member("response", url, http + body)
                        + member("metadata", url, b"fetchTimeMs: 100\r\n")))
    written = 0
    with open(path, "wb") as file:
        while written < (ARCHIVE_BYTES if rounds > 1 else 1):
            for length, packed in records:
                file.write(packed)
                written += length


def measure_peers(work):
    """The shortest time of each page by parser, and the reasons for missing parsers."""
    subprocess.run([os.path.join(os.path.dirname(HERE), "peers", "hpar-peers"), "--build", build, "--rounds", str(rounds), "--warm",
                    "2" if rounds > 1 else "0.1", "--only", ",".join(PEERS), "--out", work, *files], stdout=sys.stderr, check=True)
    with open(os.path.join(work, "peers.json"), encoding="utf-8") as file:
        result = json.load(file)
    shortest = {}
    with open(os.path.join(work, "rounds.tsv"), encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["form"] == "fresh":
                times, time = shortest.setdefault(row["peer"], {}), int(row["nanoseconds"])
                times[row["page"]] = min(time, times.get(row["page"], time))
    sums = {name: sum(times.values()) for name, times in shortest.items()}
    return {"nanoseconds": sums, "versions": {peer["name"]: peer["version"] for peer in result["peers"]}, "missing": result["missing"]}


with tempfile.TemporaryDirectory() as work:
    archive = os.path.join(work, "a.warc.gz")
    write_archive(archive)
    done = subprocess.run([os.path.join(build, "hpar-crawl-scale"), str(rounds), archive], stdout=subprocess.PIPE, check=True)
    result = json.loads(done.stdout)
    result["peers"] = measure_peers(work)
print(json.dumps(result))
