"""crawl_attacks.py HPAR CORPUS [--cases N] [--first N] [--keep DIR]: attacks hpar crawl with generated archives.

Each case has a few archives: plain, gzip or Zstandard, with hostile records, lengths, heads, chunks, codings and bombs,
and then with random damage. The summary and the quarantine are equal with one process and with two, after a resume from
damaged results, and for units by number. Each record is counted once, each problem has a line in the quarantine, no
process crashes, and the memory is bounded. A damaged plan never gives another summary without an error.

--keep stores the archives of cases that fail.
"""
import argparse
import glob
import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import zlib

LIMIT = 16 << 20  # --limit memory
MEMORY = 100 << 20  # of a process: the block, two buffers for codings, the text and the tree are below LIMIT each
NUMBERS = [b"0", b"1", b"-1", b"007", b"12345678901234567890123", b"18446744073709551615", b"9223372036854775807",
           b"4294967296", b"0x10", b"+5", b"", b" 7 ", b"1e3", b"16777216", b"999999"]
SIZES = [b"0", b"ffffffffffffffff", b"-1", b"0x10", b"g", b"", b"7fffffffffffffff", b"1;x=y", b"00000000000000000001", b" 4 "]


def member(random_, data):
    """Returns a member of gzip whose header has the optional fields, perhaps wrong ones."""
    packed = zlib.compressobj(random_.choice([0, 1, 9]), zlib.DEFLATED, -15)
    body = packed.compress(data) + packed.flush()
    flags, extra = 0, b""
    if random_.random() < 0.3:
        flags |= 4
        extra += random_.choice([b"\0\0", b"\xff\xff", b"\4\0abcd", b"\4\0ab"])
    if random_.random() < 0.2:
        flags |= 8
        extra += random_.choice([b"name\0", b"name", b"\0"])
    if random_.random() < 0.1:
        flags |= random_.choice([2, 16, 32, 128])
    crc, size = zlib.crc32(data), len(data) & 0xffffffff
    if random_.random() < 0.1:
        crc ^= 1
    if random_.random() < 0.1:
        size ^= 0x80
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + extra + body + crc.to_bytes(4, "little") + size.to_bytes(4, "little")


def page(random_):
    kind = random_.randrange(9)
    if kind == 0:
        return b"<div>" * random_.choice([10, 1000, 30000])
    if kind == 1:
        return b"<p a=" + b"x" * random_.choice([10, 100000]) + b">"
    if kind == 2:
        return bytes(random_.randrange(256) for _ in range(random_.randrange(400)))
    if kind == 3:
        return b"<meta charset=" + random_.choice([b"utf-16", b"gbk", b"x", b"utf-7"]) + b"><a href='http://\xff\xe4/'>"
    if kind == 4:
        return b"\xff\xfe<\0p\0>\0" + bytes(random_.randrange(5))
    if kind == 5:
        return b"<table><b>" * random_.choice([5, 500])
    if kind == 6:
        return b"WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
    return b"<!doctype html><title>t</title><p>text <a href='/x'>link</a><img src=i>" * random_.randrange(1, 30)


def chunked(random_, body):
    out, at = b"", 0
    while at < len(body) and len(out) < 1 << 20:
        size = random_.choice([1, 7, 100, 5000, len(body)])
        if random_.random() < 0.03:
            out += random_.choice(SIZES) + b"\r\n"
        piece = body[at:at + size]
        out += b"%x%s" % (len(piece), random_.choice([b"\r\n", b"\r\n", b"\n", b";a=b\r\n"])) + piece + random_.choice([b"\r\n"] * 9 + [b""])
        at += size
    return out + random_.choice([b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"", b"0"])


def bomb(random_):
    """Returns a body that unpacks to less than the limit of memory or more, or to a large tree."""
    unpacked = random_.choice([bytes(1 << 20), bytes(40 << 20), b"<p>" * 1000000, b"<a b=c d=e>" * 300000, b"x" * (LIMIT - 1000)])
    packed = zlib.compress(unpacked, 9)
    return gzip.compress(packed, mtime=0) if random_.random() < 0.3 else packed


def http(random_):
    body, coding, transfer = page(random_), [], []
    if random_.random() < 0.06:
        body = bomb(random_)
        coding = [b"deflate"] + ([b"gzip"] if body[:2] == b"\x1f\x8b" else [])
    for _ in range(random_.choice([0, 0, 0, 1, 1, 2, 3, 5])):
        name = random_.choice([b"gzip", b"deflate", b"deflate", b"br", b"identity", b"x-gzip", b"zz"])
        if name in (b"gzip", b"x-gzip"):
            body = member(random_, body)
        elif name == b"deflate":
            body = zlib.compress(body) if random_.random() < 0.7 else zlib.compress(body)[2:-4]
        coding.append(name)
    for _ in range(random_.choice([0, 0, 0, 1, 1, 2, 4])):
        body = chunked(random_, body)
        transfer.append(b"chunked")
    head = [random_.choice([b"HTTP/1.1 200 OK"] * 9 + [b"HTTP/1.1 99999", b"HTTP/2 200", b"ICY 200 OK", b"HTTP/1.0 404 No", b""]),
            b"Content-Type: " + random_.choice([b"text/html", b"text/html; charset=latin1", b"text/html;charset=\"", b"image/png", b";", b"TEXT/HTML;;charset==x"])]
    if coding:
        head.append(b"Content-Encoding: " + random_.choice([b", ", b",", b" , ,"]).join(coding))
    if transfer:
        head.append(b"Transfer-Encoding: " + b", ".join(transfer))
    if random_.random() < 0.1:
        head.insert(1, random_.choice([b"X" * 70000, b": y", b"\0: \0", b" folded", b"\t\\n\\", b"Content-Encoding: " + b"gzip," * 9]))
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def record(random_, number):
    block = http(random_)
    kind = random_.choice([b"response"] * 8 + [b"resource", b"conversion", b"request", b"revisit", b"", b"other\tkind"])
    uri = random_.choice([b"http://host%d/" % number] * 6 + [b"", b"<http://x/>", b"http://a\tb\\n\\/", b"\xff\xfe", b"x" * 9000])
    length = random_.choice(NUMBERS) if random_.random() < 0.06 else b"%d" % (len(block) + random_.choice([0] * 30 + [-3, 5, 4000, -len(block)]))
    head = [b"WARC/" + random_.choice([b"1.0"] * 6 + [b"1.1", b"0.17", b"x"]), b"WARC-Type: " + kind, b"WARC-Target-URI: " + uri,
            b"Content-Type: application/http", b"Content-Length: " + length]
    if random_.random() < 0.05:
        head.append(random_.choice([b"Content-Length: 3", b"x" * 66000, b"WARC-Truncated: length", b"\0\0", b"no colon", b": none", b"WARC/1.0"]))
    ending = random_.choice([b"\r\n"] * 20 + [b"\n"])
    return ending.join(head) + ending * 2 + block + random_.choice([b"\r\n\r\n"] * 20 + [b"", b"\n", b"\r\n" * 40, b"garbage\r\n"])


def damage(random_, data):
    data = bytearray(data)
    for _ in range(random_.choice([0, 0, 0, 1, 1, 3, 20])):
        if not data:
            break
        at, length = random_.randrange(len(data)), random_.choice([1, 4, 100, 5000])
        kind = random_.randrange(7)
        if kind == 0:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 1:
            del data[at:at + length]
        elif kind == 2:
            data[at:at] = data[max(0, at - length):at]
        elif kind == 3:
            data[at:at] = bytes(random_.randrange(256) for _ in range(min(length, 100)))
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            data[at:at + 1] = random_.choice([b"\x1f\x8b\x08", b"WARC/1.0\r\n", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18\xff\xff\xff\x7f", b"\r\n\r\n"])
        else:
            other = random_.randrange(len(data))
            data[at:at + length] = data[other:other + length]
    return bytes(data)


def archive(random_, corpus):
    """Returns the ending of the name, and the bytes."""
    if random_.random() < 0.25:
        form = random_.choice(["--gzip", "--zstd", "--small"])
        made = subprocess.run([corpus, "generate", "--warc", "12", "--small", "--damage", "10", "--seed", str(random_.randrange(1000)), form],
                              capture_output=True, check=False)
        if not made.returncode:
            return {"--gzip": ".warc.gz", "--zstd": ".warc.zst"}.get(form, ".warc"), damage(random_, made.stdout)
    records = [record(random_, number) for number in range(random_.choice([0, 1, 5, 20]))]
    kind = random_.randrange(6)
    if kind < 3:
        return ".warc", damage(random_, b"".join(records))
    if kind == 3:
        return ".warc.gz", damage(random_, b"".join(member(random_, one) for one in records))
    if kind == 4:
        whole, parts = b"".join(records), []
        while whole:
            size = random_.choice([1, 1000, len(whole)])
            parts.append(member(random_, whole[:size]))
            whole = whole[size:] if len(parts) < 200 else b""
        return ".warc.gz", damage(random_, b"".join(parts))
    return ".warc.gz", damage(random_, b"".join(gzip.compress(one, mtime=0) + gzip.compress(b"", mtime=0) * random_.choice([0, 300]) for one in records))


class Case:
    def __init__(self, hpar, corpus, folder, seed):
        self.hpar, self.folder, self.wrong = hpar, folder, []
        self.random = random.Random(seed)
        self.most = 0
        os.mkdir(os.path.join(folder, "data"))
        for number in range(self.random.choice([1, 2, 4])):
            ending, data = archive(self.random, corpus)
            with open(os.path.join(folder, "data", f"{number}{ending}"), "wb") as file:
                file.write(data)
        options = ["--limit", f"memory={LIMIT},depth={self.random.choice([100, 100000])},nodes={self.random.choice([50, 1000000])}"]
        options += self.random.choice([[], ["--profile", "all", "--study-sample", "1/1", "--study-size", "300"], ["--profile", "errors,links"]])
        options += self.random.choice([[], ["--records", "jsonl"], ["--select", "a[href], b", "--select", "p"]])
        options += self.random.choice([[], ["--fields", "url,host,text,html,attr:href,url:href"], ["--sample", "0.5"],
                                       ["--group-by", "tld,meta:a,header:b", "--rows-of", "records"]][:2 + 2 * ("--select" not in options)])
        options += self.random.choice([[], [], ["--unit-size", str(self.random.choice([1, 300, 20000]))]])
        self.options = ["data", "--progress", "none", *options]
        if "--unit-size" in options and options[-1] == "1" and sum(map(os.path.getsize, glob.glob(folder + "/data/*"))) > 60:
            self.options[-1] = "5000"

    def run(self, *arguments):
        """Returns the status, and what the process printed."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([self.hpar, "crawl", *arguments], cwd=self.folder, stdout=output, stderr=output,
                                       stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.most = max(self.most, usage.ru_maxrss << 10)
            output.seek(0)
            text = output.read().decode(errors="replace")
        if process.returncode not in (0, 1, 2) or "Sanitizer" in text or "runtime error" in text:
            self.wrong.append(f"{arguments}: status {process.returncode}: {text[:3000]}")
        return process.returncode, text

    def results(self, out):
        found = {}
        for name in "summary.json", "summary.md", "quarantine.jsonl", "rows.jsonl", "groups.csv":
            path = os.path.join(self.folder, out, name)
            found[name] = open(path, "rb").read() if os.path.exists(path) else None
        return found

    def same(self, out, expected, what):
        for name, data in self.results(out).items():
            if data != expected[name]:
                self.wrong.append(f"{what}: another {name}")

    def check_counts(self, expected):
        """Each record is of a type or has a problem; each problem and each record above a limit has a line."""
        summary = json.loads(expected["summary.json"])
        counters, problems = summary.get("counters", {}), summary.get("problems", {})
        lines = [json.loads(line) for line in expected["quarantine.jsonl"].splitlines()]
        archive_problems = sum(problems.get(name, 0) for name in ("truncated", "length", "too-large", "head", "garbage", "compression"))
        killed = sum(line["reason"] == "killed" for line in lines)
        if killed:
            self.wrong.append(f"{killed} records end their process")
        types = sum(count for name, count in counters.items() if name.startswith("records_"))
        if counters.get("records", 0) != types + archive_problems + killed:
            self.wrong.append(f"{counters.get('records', 0)} records, {types} of a type, {archive_problems} with a problem")
        reasons = {}
        for line in lines:
            reasons[line["reason"]] = reasons.get(line["reason"], 0) + 1
            size = os.path.getsize(os.path.join(self.folder, "data", os.path.basename(line["file"])))
            if line["offset"] > size:
                self.wrong.append(f"an offset beyond the file: {line}")
        for name, count in problems.items():
            if reasons.get(name, 0) != count:
                self.wrong.append(f"{count} problems {name}, and {reasons.get(name, 0)} lines")
        over = sum(reasons.get(name, 0) for name in ("too-large", "body-too-large", "depth", "nodes", "memory", "attributes", "time", "killed", "rows"))
        if counters.get("quarantined", 0) != over:
            self.wrong.append(f"{counters.get('quarantined', 0)} quarantined, and {over} lines")

    def damage_results(self, out):
        """Damages some units, and leaves what a killed process leaves."""
        for path in glob.glob(os.path.join(self.folder, out, "units", "*")):
            kind = self.random.randrange(6)
            data = open(path, "rb").read()
            if kind == 0:
                os.remove(path)
            elif kind < 3:
                with open(path, "wb") as file:
                    file.write(damage(self.random, data))
            elif kind == 3:
                with open(os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".abcdef.tmp"), "wb") as file:
                    file.write(data[:100])
        for name in "summary.json", "summary.md", "quarantine.jsonl", "plan.tsv":
            if self.random.random() < 0.4:
                path = os.path.join(self.folder, out, name)
                data = open(path, "rb").read()
                with open(path, "wb") as file:
                    file.write(damage(self.random, data))

    def check_plan(self, expected):
        """Damages the plan: a command fails, or the summary is the same."""
        path = os.path.join(self.folder, "two", "plan.tsv")
        plan = open(path, "rb").read()
        for _ in range(3):
            damaged = damage(self.random, plan)
            if damaged == plan:
                continue
            with open(path, "wb") as file:
                file.write(damaged)
            self.run("run", "two", "0", "--threads", "1", "--progress", "none")
            status, _ = self.run("reduce", "two")
            if status == 0:
                self.same("two", expected, "a damaged plan")

    def check(self):
        status, text = self.run(*self.options, "--out", "one", "--threads", "1")
        expected = self.results("one")
        if status == 2 or expected["summary.json"] is None:
            if not text.startswith("hpar: "):
                self.wrong.append(f"status {status} without a sentence: {text[:300]}")
            return
        if status:
            self.wrong.append(f"status {status}: {text[:300]}")
            return
        self.check_counts(expected)
        self.run(*self.options, "--out", "two", "--threads", "2")
        self.same("two", expected, "two processes")
        self.damage_results("two")
        self.run(*self.options, "--out", "two", "--threads", "2", "--resume")
        self.same("two", expected, "a resume from damaged results")
        self.run(*self.options, "--out", "plan", "--engine", "parallel")
        self.run("run", "plan", "0-99999", "--threads", "2", "--progress", "none")
        self.run("reduce", "plan")
        self.same("plan", expected, "units by number")
        self.check_plan(expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hpar")
    parser.add_argument("corpus")
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--unbounded", action="store_true", help="sanitizers keep freed memory")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    failed = most = 0
    for seed in range(arguments.first, arguments.first + arguments.cases):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(os.path.abspath(arguments.hpar), arguments.corpus, folder, seed)
            case.check()
            most = max(most, case.most)
            if case.most > MEMORY and not arguments.unbounded:
                case.wrong.append(f"{case.most >> 20} MB of memory")
            if case.wrong:
                failed += 1
                print(f"case {seed}: {' '.join(case.options)}")
                for wrong in case.wrong[:5]:
                    print(f"  {wrong}")
                if arguments.keep:
                    shutil.copytree(folder, os.path.join(arguments.keep, str(seed)), dirs_exist_ok=True)
    print(f"{arguments.cases - failed} passed, {failed} failed, {most >> 20} MB at most")
    return 1 if failed else 0


sys.exit(main())
