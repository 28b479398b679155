"""crawl_memory.py HPAR: checks the memory of hpar crawl with large records, which it generates while hpar reads.

A record of 1 GB is above --limit memory=256M: it goes to the quarantine, and hpar does not keep it. A page of 48 MB
needs less than twice its size and 32 MB. The record before a record of 40 MB has a length that is 40 MB too large: hpar
reads the bytes again, and keeps them once. Bodies whose codings unpack to more than 32 MB need no more than that under
--limit memory=32M, whether one coding does it or two, or chunks and a coding.
"""
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile

BLOCK = b"<p class=text>" + b"some text that is as long as a usual paragraph " * 4 + b"</p>\n"
BLOCK *= 65536 // len(BLOCK)
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def write_record(to, url, blocks, excess=0):
    length = len(HTTP) + blocks * len(BLOCK) + excess
    to.write(b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n" % (url, length))
    to.write(HTTP)
    for _ in range(blocks):
        to.write(BLOCK)
    to.write(b"\r\n\r\n")


def crawl(hpar, folder, blocks, excess=0, arguments=()):
    """Crawls a stream with a record of this size between small ones. The length of the first one is too large by
    `excess` bytes. Returns the counters and the refusals."""
    command = [hpar, "crawl", "-", "--out", folder, "--limit", "memory=256M", "--progress", "none", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        write_record(process.stdin, b"http://a/", 1, excess)
        for url, count in ((b"http://large/", blocks), (b"http://b/", 1)):
            write_record(process.stdin, url, count)
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        counters = json.load(file)["counters"]
    with open(os.path.join(folder, "quarantine.jsonl"), encoding="utf-8") as file:
        return process.returncode, counters, [json.loads(line) for line in file]


def bombs():
    """Yields the heads and bodies of responses that are small and unpack to 33 to 64 MB in all."""
    text = BLOCK * ((32 << 20) // len(BLOCK))
    yield "gzip", b"Content-Encoding: gzip\r\n", gzip.compress(text + text)
    stored = gzip.compress(text[:20 << 20], 0)
    yield "gzip twice", b"Content-Encoding: gzip, gzip\r\n", gzip.compress(stored)
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(stored), stored)
    yield "gzip in chunks", b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunks


def write_bombs(folder):
    """Writes the archives in another process, because the memory of this one counts as that of its children."""
    if not os.fork():
        for name, head, body in bombs():
            http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head + b"\r\n" + body
            with open(os.path.join(folder, name + ".warc"), "wb") as file:
                file.write(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(http), http))
        os._exit(0)
    os.wait()
    return sorted(name for name in os.listdir(folder) if name.endswith(".warc"))


def crawl_bomb(hpar, archive, folder):
    """Returns the reasons of the quarantine, and the memory of the process in bytes."""
    command = [hpar, "crawl", archive, "--out", folder, "--limit", "memory=32M", "--progress", "none"]
    memory = os.wait4(os.spawnv(os.P_NOWAIT, hpar, command), 0)[2].ru_maxrss << 10
    with open(os.path.join(folder, "quarantine.jsonl"), encoding="utf-8") as file:
        return [json.loads(line)["reason"] for line in file], memory


def main():
    hpar = sys.argv[1]
    failed = []
    def check(what, holds, value):
        if not holds:
            failed.append(what)
            print(f"{what}: {value}")
    def most_memory():
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    with tempfile.TemporaryDirectory() as work:
        code, counters, refused = crawl(hpar, os.path.join(work, "huge"), (1 << 30) // len(BLOCK) + 1)
        check("1 GB: the status", code == 0, code)
        check("1 GB: the pages", counters["pages"] == 2 and counters["quarantined"] == 1, counters)
        check("1 GB: the quarantine", [(r["reason"], r["url"]) for r in refused] == [("too-large", "http://large/")], refused)
        check("1 GB: the memory", most_memory() < 64 << 20, most_memory())
        blocks = (40 << 20) // len(BLOCK)
        code, counters, refused = crawl(hpar, os.path.join(work, "length"), blocks, (blocks - 2) * len(BLOCK),
                                        ["--limit", "nodes=1000"])
        check("a wrong length: the status", code == 0, code)
        check("a wrong length: the quarantine", [(r["reason"], r["url"]) for r in refused] == [("length", "http://a/"), ("nodes", "http://large/")],
              refused)
        check("a wrong length: the memory", most_memory() < 64 << 20, most_memory())
        blocks = (48 << 20) // len(BLOCK)
        code, counters, refused = crawl(hpar, os.path.join(work, "large"), blocks)
        check("48 MB: the pages", code == 0 and counters["pages"] == 3 and not refused, (code, counters, refused))
        check("48 MB: the memory", most_memory() < 2 * blocks * len(BLOCK) + (32 << 20), most_memory())
        print(f"a record of 48 MB: {most_memory() >> 20} MB")
    with tempfile.TemporaryDirectory() as work:
        for name in write_bombs(work):
            archive = os.path.join(work, name)
            reasons, memory = crawl_bomb(hpar, archive, archive + ".out")
            check(f"{name}: the quarantine", reasons == ["body-too-large"], reasons)
            check(f"{name}: the memory", memory < os.path.getsize(archive) + ((32 + 12) << 20), memory)
    return 1 if failed else 0


sys.exit(main())
