#!/usr/bin/python3
"""test.py [OPTION...] MODULE HPAR: checks the module for nginx with a real nginx, as a proxy on 127.0.0.1.

The server behind it sends pages in random pieces, compressed, with errors and with ends that come too early. The client
is slow at times, or leaves early, or asks for the header only. Each body must be what `hpar rewrite` writes, and a
response that the module must not touch has the bytes of the page.

  --requests N    the random requests (1000)
  --seed N        of the random numbers (1)
  --pages FOLDER  HTML files; without it, the pages are made of random tags
  --large BYTES   the size of the largest body (20000000)
  --run COMMAND   what starts nginx, as "valgrind -q"; nginx is then one process. Otherwise it is reloaded meanwhile
  --preload LIB   LD_PRELOAD of nginx
  --keep          keep the folder, and print its name

Exit status: 0 all checks pass, 1 a check failed, 77 nginx or the module is missing.
"""
import argparse
import asyncio
import collections
import gzip
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

RULES = {"rules": [
    {"select": "a[href]", "set": {"rel": "nofollow"}, "prefix": ["href", "http:", "https:"]},
    {"select": "img", "unset": ["width"], "before": {"html": "<i>image</i>"}},
    {"select": "script", "remove": True},
    {"select": "title", "append": {"text": " & more"}},
    {"select": "p", "text": {"find": [["the", "THE"]]}},
    {"end": {"append": {"html": "<!-- end -->"}}},
]}
OTHER = {"rules": [{"select": "p", "rename": "div"}, {"select": "div", "after": {"html": "<hr>"}}]}
DECLARATION = b"<meta charset=iso-2022-jp>" # the rewriter refuses this encoding
NONE = {"rules": [{"select": "no-such-element", "remove": True}]}

CONFIGURATION = """
load_module {module};
daemon off;
master_process {master};
worker_processes 2;
{user}
pid nginx.pid;
error_log error.log info;
events {{ worker_connections 1024; }}
http {{
  log_format counts '$request_uri $status $hpar_status $hpar_matches $hpar_bytes_in $hpar_bytes_out';
  access_log access.log counts;
  client_body_temp_path temporary_body;
  proxy_temp_path temporary_proxy;
  fastcgi_temp_path temporary_fastcgi;
  uwsgi_temp_path temporary_uwsgi;
  scgi_temp_path temporary_scgi;
  upstream behind {{ server 127.0.0.1:{behind}; keepalive 16; }}
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  send_timeout 300s;
  proxy_read_timeout 300s;
  sendfile on;
  hpar_rewrite on;
  hpar_rules rules.json;
  charset_map windows-1251 utf-8 {{ E4 D0B4; E0 D0B0; }}
  types {{ text/html html; text/plain txt; }}
  server {{
    listen 127.0.0.1:{port};
    location /buffered/ {{ proxy_pass http://behind/; }}
    location /unbuffered/ {{ proxy_buffering off; proxy_pass http://behind/; }}
    location /tiny/ {{
      hpar_buffers 2 300;
      proxy_buffer_size 2k;
      proxy_buffers 4 2k;
      proxy_busy_buffers_size 4k;
      proxy_pass http://behind/;
    }}
    location /disk/ {{ proxy_buffers 2 4k; proxy_buffer_size 4k; proxy_busy_buffers_size 4k; proxy_pass http://behind/; }}
    location /packed/ {{ gunzip on; proxy_pass http://behind/; }}
    location /packs/ {{ gzip on; gzip_min_length 0; proxy_pass http://behind/; }}
    location /other/ {{ hpar_rules other.json; proxy_pass http://behind/; }}
    location /none/ {{ hpar_rules none.json; proxy_pass http://behind/; }}
    location /off/ {{ hpar_rewrite off; proxy_pass http://behind/; }}
    location /pass/ {{ hpar_max_memory 6k; proxy_pass http://behind/; }}
    location /abort/ {{ hpar_max_memory 6k; hpar_on_failure abort; proxy_pass http://behind/; }}
    location /converted/ {{ charset utf-8; source_charset windows-1251; override_charset on; proxy_pass http://behind/; }}
    location /texts/ {{ hpar_types text/plain; proxy_pass http://behind/; }}
    location /files/ {{ alias files/; }}
    location /small_reads/ {{ alias files/; output_buffers 1 512; }}
    location /ssi/ {{ ssi on; ssi_last_modified on; alias files/; }}
  }}
}}
"""

failures = []


def check(is_right, *words):
    if not is_right:
        failures.append(" ".join(map(str, words)))
        print("failed:", *words, flush=True)
    return is_right


# pages

def made_page(rng, size):
    parts = ["<!doctype html><title>the page</title>"]
    names = ["p", "div", "a href='http://e/'", "b", "i", "ul", "li", "table", "td", "script", "img width=3 src=x", "!-- c --", "style"]
    length = 0
    while length < size:
        name = rng.choice(names)
        part = f"<{name}>" if rng.random() < 0.6 else f"</{name.split()[0].strip('!-')}>"
        parts.append(part + rng.choice(["", "the text &amp; more", "\u00e9\u4e16", "<", "the" * rng.randrange(50)]))
        length += len(parts[-1])
    return "".join(parts).encode()


def load_pages(folder, rng):
    pages = [b"", b"x", b"<", b"<p>the<script>no</script>"]
    if folder:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".html"))
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                pages.append(file.read())
        return [page for page in pages if len(page) < 700000]
    return pages + [made_page(rng, size) for size in [100, 1000, 4000, 8192, 16384, 20000, 60000, 100000, 300000] * 2]


class Expected:
    """What the program writes for a page. The runs are kept."""

    def __init__(self, hpar, folder, pages):
        self.hpar, self.folder, self.pages, self.kept = hpar, folder, pages, {}

    def of(self, number, rules="rules.json", charset=None, page=None):
        key = number, rules, charset
        if key not in self.kept:
            command = [self.hpar, "rewrite", "--utf16", "pass", "--rules", os.path.join(self.folder, rules), "-"]
            if charset:
                command[2:2] = ["--encoding", charset]
            self.kept[key] = subprocess.run(command, input=self.pages[number] if page is None else page,
                                            stdout=subprocess.PIPE, check=True).stdout
        return self.kept[key]


# the server behind nginx: /KIND/NUMBER/SEED

class Behind:
    def __init__(self, pages, charsets):
        self.pages, self.charsets = pages, charsets

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if not await self.answer(head.decode("latin-1"), writer):
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass
        finally:
            writer.close()

    async def send_pieces(self, writer, body, rng, chunked):
        most = rng.choice([1 if len(body) < 5000 else 500, 100, 5000, 100000]) if len(body) < 1000000 else 100000
        at = 0
        while at < len(body):
            piece = body[at:at + rng.randint(1, most)]
            at += len(piece)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if writer.is_closing():
                raise ConnectionError
            if rng.random() < 0.02:
                await writer.drain()
                await asyncio.sleep(rng.choice([0, 0, 0.001]))
        await writer.drain()

    async def answer(self, head, writer):
        _, kind, number, seed = head.split(" ", 2)[1].split("?")[0].split("/")
        rng, body = random.Random(seed), self.pages[int(number)]
        lines = ["HTTP/1.1 200 OK", "Content-Type: text/html" + (f"; charset={self.charsets[int(number)]}" if kind == "charset" else ""),
                 'ETag: "1"', "Accept-Ranges: bytes"]
        if kind == "match":
            found = re.search(r"If-None-Match: (.*)\r\n", head)
            if found:
                writer.write(b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n')
                return True
        if kind == "part":
            lines[0] = "HTTP/1.1 206 Partial Content"
            lines.append(f"Content-Range: bytes 0-{len(body) - 1}/{len(body)}")
        if kind == "missing":
            lines[0] = "HTTP/1.1 404 Not Found"
        if kind == "text":
            lines[1] = "Content-Type: text/plain"
        if kind == "replacement":
            lines[1] = "Content-Type: text/html; charset=iso-2022-jp"
        if kind == "declared":
            body = DECLARATION + body
        if kind == "unknown":
            lines[1] = "Content-Type: text/html; charset=no-such"
        if kind == "gzip":
            body = gzip.compress(body, 1, mtime=0)
            lines.append("Content-Encoding: gzip")
        closes = kind in ("close", "early_close", "early_length", "early_chunks")
        chunked = kind in ("chunks", "early_chunks", "match", "charset")
        if chunked:
            lines.append("Transfer-Encoding: chunked")
        elif kind not in ("close", "early_close"):
            lines.append(f"Content-Length: {len(body)}")
        if closes:
            lines.append("Connection: close")
        writer.write("\r\n".join(lines + ["", ""]).encode())
        if head.startswith("HEAD "):
            return not closes
        if kind.startswith("early"):
            body = body[:rng.randrange(len(body) + 1)]
        await self.send_pieces(writer, body, rng, chunked)
        if chunked and not kind.startswith("early"):
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return not closes


# the client

class Answer:
    def __init__(self, status, headers):
        self.status, self.headers, self.body, self.complete = status, headers, b"", False


class Client:
    """A connection that is kept, and made again when the server has closed it."""

    def __init__(self, port, rng):
        self.port, self.rng, self.reader, self.writer, self.again = port, rng, None, None, 0

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.writer = None

    async def connect(self, is_slow):
        self.close()
        connection = socket.socket()
        if is_slow:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        self.reader, self.writer = await asyncio.open_connection(sock=connection, limit=8192 if is_slow else 1 << 18)

    async def read_body(self, answer, amount, slow, leave):
        while amount is None or amount > 0:
            piece = await self.reader.read(2048 if slow else min(amount or 1 << 17, 1 << 17))
            if not piece:
                return amount is None
            answer.body += piece
            if amount is not None:
                amount -= len(piece)
            if leave is not None and len(answer.body) >= leave:
                return False
            if slow and self.rng.random() < slow:
                await asyncio.sleep(0.001)
        return True

    async def read_answer(self, method, slow, leave):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        answer = Answer(int(head[0].split()[1]), {})
        for line in head[1:-2]:
            name, _, value = line.partition(": ")
            answer.headers[name.lower()] = value
        try:
            if method == "HEAD" or answer.status in (204, 304):
                answer.complete = True
            elif answer.headers.get("transfer-encoding") == "chunked":
                answer.complete = await self.read_chunks(answer, slow, leave)
            else:
                length = answer.headers.get("content-length")
                answer.complete = await self.read_body(answer, int(length) if length else None, slow, leave)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        if not answer.complete or answer.headers.get("connection") == "close":
            self.close()
        return answer

    async def read_chunks(self, answer, slow, leave):
        pieces = []
        total = 0
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            left = size
            while left:
                piece = await self.reader.read(min(left, 2048 if slow else 1 << 17))
                if not piece:
                    answer.body = b"".join(pieces)
                    return False
                left -= len(piece)
                pieces.append(piece)
                total += len(piece)
                if leave is not None and total >= leave:
                    return False
                if slow and self.rng.random() < slow:
                    await asyncio.sleep(0.001)
            await self.reader.readexactly(2)
            answer.body = b"".join(pieces) if size == 0 else b""
            if size == 0:
                return True

    async def get(self, path, method="GET", headers=(), slow=0, leave=None):
        """`slow`: the share of reads after which the client waits. `leave`: it closes after these bytes."""
        for attempt in range(3):
            is_new = not self.writer or slow or attempt
            if is_new:
                await self.connect(bool(slow))
            lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers, "", ""]
            try:
                self.writer.write("\r\n".join(lines).encode())
                return await self.read_answer(method, slow, leave)
            except (asyncio.IncompleteReadError, ConnectionError) as problem:
                self.close()
                self.again += 1
                if is_new and attempt == 2:
                    raise problem
        return None


# nginx

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    def __init__(self, options, folder, behind):
        self.options, self.folder, self.port = options, folder, free_port()
        self.one = bool(options.run)
        user = "user root;" if os.getuid() == 0 else ""
        self.text = CONFIGURATION.format(module=os.path.abspath(options.module), master="off" if self.one else "on",
                                         user=user, behind=behind, port=self.port)
        self.environment = {**os.environ}
        if options.preload:
            self.environment["LD_PRELOAD"] = options.preload
        self.process = None

    def command(self, configuration, log="error.log"):
        return ["nginx", "-p", self.folder, "-c", configuration, "-e", os.path.join(self.folder, log)]

    def refuses(self, rules, *wanted, directives=""):
        """nginx -t fails, and says what is wanted."""
        with open(os.path.join(self.folder, "bad.json"), "w", encoding="utf-8") as file:
            file.write(rules)
        text = self.text.replace("hpar_rules rules.json;", "hpar_rules bad.json;" + directives)
        with open(os.path.join(self.folder, "bad.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*self.command("bad.conf", "bad.log"), "-t"], stderr=subprocess.PIPE, env=self.environment, check=False)
        said = done.stderr.decode()
        check(done.returncode and all(word in said for word in wanted), "nginx -t with", rules, "says", said)

    async def start(self):
        with open(os.path.join(self.folder, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(self.text)
        command = [*shlex.split(self.options.run or ""), *self.command("nginx.conf")]
        self.process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"nginx ended: {self.log()}")
                await asyncio.sleep(0.02)
        sys.exit("nginx does not start")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def log(self):
        with open(os.path.join(self.folder, "error.log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def counts(self, path):
        """The line of the access log with this path."""
        for _ in range(200):
            with open(os.path.join(self.folder, "access.log"), encoding="latin-1") as file:
                found = [line.split() for line in file if line.startswith(path + " ")]
            if found:
                return found[-1][1:]
            time.sleep(0.02)
        return []

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "a signal, because it does not end"


def refusals(nginx):
    nginx.refuses('{"rules": [{"select": "p", "remov": true}]}', "bad.json: rule 1: remov: no field", "bad.conf:")
    nginx.refuses('{"rules": [{"select": "p:has(a)", "remove": true}]}', "bad.json: rule 1: selector, byte 2", "p:has(a)")
    nginx.refuses('{"rules": [{"select": "p", "text": {"find": ["a"]}}]}', 'text.find: is not a list of ["FROM", "TO"]')
    nginx.refuses('{"rules": [', "bad.json: the JSON ends too early")
    nginx.refuses('{"rules": []}', '"hpar_rules" directive is duplicate', directives="hpar_rules bad.json;")
    nginx.refuses('{"rules": []}', 'invalid value "never"', directives="hpar_on_failure never;")
    nginx.refuses('{"rules": []}', "no-such.json: cannot be read", directives="server { hpar_rules no-such.json; }")


# checks

async def single(nginx, expected, charsets, large):
    """One request for each property."""
    client, pages = Client(nginx.port, random.Random(1)), expected.pages
    middle = next(i for i, page in enumerate(pages) if len(page) > 50000)

    def without_date(answer):
        return {name: value for name, value in answer.headers.items() if name != "date"}

    def same(answer, body, what):
        check(answer.complete and answer.body == body, what, answer.status, answer.headers, len(answer.body), len(body))

    for number in range(4):
        answer = await client.get(f"/buffered/length/{number}/e")
        same(answer, expected.of(number), f"short page {number}")
    answer = await client.get(f"/buffered/length/{middle}/1")
    same(answer, expected.of(middle), "a page")
    check(answer.headers.get("etag") == 'W/"1"' and "content-length" not in answer.headers and
          "accept-ranges" not in answer.headers, "header", answer.headers)
    page, written = len(pages[middle]), len(expected.of(middle))
    counts = nginx.counts(f"/buffered/length/{middle}/1")
    check(counts[:2] == ["200", "rewritten"] and int(counts[2]) > 0 and counts[3:] == [str(page), str(written)],
          "variables", counts)
    answer = await client.get(f"/buffered/length/{middle}/head", method="HEAD")
    check(answer.headers.get("etag") == 'W/"1"' and "content-length" not in answer.headers, "HEAD", answer.headers)
    check(nginx.counts(f"/buffered/length/{middle}/head")[1:] == ["passed:head", "-", "-", "-"], "variables of HEAD")
    answer = await client.get(f"/buffered/match/{middle}/1", headers=['If-None-Match: W/"1"'])
    check(answer.status == 304 and answer.complete, "304", answer.status)
    same(await client.get(f"/buffered/length/{middle}/2", headers=["Range: bytes=0-9"]), expected.of(middle), "a range")
    for kind in ("part", "text"):
        answer = await client.get(f"/buffered/{kind}/{middle}/3")
        same(answer, pages[middle], kind)
        check(answer.headers.get("content-length") == str(page) and answer.headers.get("etag") == '"1"', kind, answer.headers)
    check(nginx.counts(f"/buffered/part/{middle}/3")[1] == "passed:status", "part")
    check(nginx.counts(f"/buffered/text/{middle}/3")[1] == "passed:type", "text")
    same(await client.get(f"/texts/text/{middle}/3"), expected.of(middle), "hpar_types")
    same(await client.get(f"/buffered/missing/{middle}/4"), expected.of(middle), "404")
    same(await client.get(f"/buffered/unknown/{middle}/4"), expected.of(middle), "an unknown charset")
    same(await client.get(f"/buffered/charset/{middle}/4"), expected.of(middle, charset=charsets[middle]), "a charset")
    same(await client.get(f"/off/length/{middle}/5"), pages[middle], "off")
    same(await client.get(f"/other/length/{middle}/5"), expected.of(middle, "other.json"), "other rules")
    same(await client.get(f"/none/length/{middle}/5"), pages[middle], "no match")
    # compression
    answer = await client.get(f"/packed/gzip/{middle}/6")
    same(answer, expected.of(middle), "gunzip")
    answer = await client.get(f"/packed/gzip/{middle}/7", headers=["Accept-Encoding: gzip"])
    same(answer, gzip.compress(pages[middle], 1, mtime=0), "gzip for the client")
    answer = await client.get(f"/buffered/gzip/{middle}/8")
    same(answer, gzip.compress(pages[middle], 1, mtime=0), "gzip")
    check(nginx.counts(f"/buffered/gzip/{middle}/8")[1] == "passed:content-encoding", "gzip")
    answer = await client.get(f"/packs/length/{middle}/9", headers=["Accept-Encoding: gzip"])
    check(gzip.decompress(answer.body) == expected.of(middle), "gzip after the module")
    # failures
    answer = await client.get(f"/buffered/replacement/{middle}/10")
    same(answer, pages[middle], "an encoding that cannot be rewritten")
    check(answer.headers.get("content-length") == str(page) and answer.headers.get("etag") == '"1"', "its header", answer.headers)
    head = await client.get(f"/buffered/replacement/{middle}/10", method="HEAD")
    check(without_date(head) == without_date(answer), "its HEAD", head.headers, answer.headers)
    answer = await client.get(f"/abort/replacement/{middle}/11")
    check(answer.status == 500 and answer.complete, "an encoding, abort", answer.status)
    head = await client.get(f"/abort/replacement/{middle}/11", method="HEAD")
    check(head.status == 500 and without_date(head) == without_date(answer), "its HEAD", head.status, head.headers, answer.headers)
    answer = await client.get(f"/pass/length/{middle}/12")
    check(answer.complete and nginx.counts(f"/pass/length/{middle}/12")[1] == "failed", "a limit, pass")
    full, failed_at = expected.of(middle), int(re.search(r"hpar: byte (\d+): .*the rest is passed on", nginx.log()).group(1))
    rest = pages[middle][failed_at:]
    before = answer.body[:len(answer.body) - len(rest)]
    check(answer.body.endswith(rest) and full.startswith(before[:-1]), "the rest after a limit", failed_at, len(answer.body))
    try: # nothing of the response may have left before
        answer = await client.get(f"/abort/length/{middle}/13")
        check(not answer.complete and full.startswith(answer.body), "a limit, abort", answer.status, len(answer.body))
    except asyncio.IncompleteReadError:
        pass
    check(nginx.counts(f"/abort/length/{middle}/13")[1] == "failed", "a limit, abort")
    # the page, not the header, declares that encoding
    answer = await client.get(f"/buffered/declared/{middle}/10")
    same(answer, DECLARATION + pages[middle], "an encoding in the page")
    check(answer.headers.get("etag") == 'W/"1"' and "content-length" not in answer.headers, "its header", answer.headers)
    try:
        answer = await client.get(f"/abort/declared/{middle}/11")
        check(not answer.complete and not answer.body, "an encoding in the page, abort", answer.status, answer.body)
    except asyncio.IncompleteReadError:
        pass
    # files, SSI, charset
    for place in ("files", "small_reads"):
        answer = await client.get(f"/{place}/{middle}.html")
        same(answer, expected.of(middle), place)
        check(answer.headers.get("etag", "").startswith("W/"), place, answer.headers)
    for tag in (answer.headers.get("etag", ""), answer.headers.get("etag", "")[2:]):
        answer = await client.get(f"/files/{middle}.html", headers=[f"If-None-Match: {tag}"])
        check(answer.status == 304 and answer.complete, "304 of a file", tag, answer.status)
    answer = await client.get("/ssi/ssi.html")
    same(answer, expected.of(-1, page=b"<p>the<a href=http:x>" + pages[middle] + b"<p>the end"), "SSI")
    cyrillic = "<p>the \u0434\u0430".encode("windows-1251")
    number = pages.index(cyrillic)
    answer = await client.get(f"/converted/length/{number}/14")
    same(answer, b"<p>THE \xd0\xb4\xd0\xb0<!-- end -->", "converted")
    # a large body
    number, whole = len(pages) - 1, expected.of(len(pages) - 1)
    check(len(pages[number]) >= large, "large")
    for place in ("buffered", "unbuffered", "disk"):
        for kind in ("chunks", "length"):
            same(await client.get(f"/{place}/{kind}/{number}/15"), whole, f"large, {place}, {kind}")
    same(await client.get(f"/unbuffered/chunks/{number}/16", slow=0.001), whole, "large, slow")
    same(await client.get(f"/files/{number}.html", slow=0.001), whole, "large file, slow")
    client.close()


async def one_random(client, rng, expected, charsets, tally):
    pages = expected.pages
    number = rng.randrange(len(pages) - 1)
    place = rng.choice(["buffered"] * 4 + ["unbuffered"] * 2 + ["tiny", "disk", "packed", "packs", "other", "none", "off", "files"])
    kind = rng.choice(["chunks"] * 5 + ["length"] * 3 + ["close", "charset", "gzip", "early_close", "early_length", "early_chunks",
                                                       "match", "part", "missing"])
    seed, way = rng.randrange(1 << 30), rng.random()
    rules = {"other": "other.json", "none": "none.json"}.get(place, "rules.json")
    path = f"/files/{number}.html" if place == "files" else f"/{place}/{kind}/{number}/{seed}"
    if place == "files":
        kind = "length"
    untouched = place == "off" or kind == "part" or (kind == "gzip" and place != "packed")
    wanted = pages[number] if untouched else expected.of(number, rules, charsets[number] if kind == "charset" else None)
    if kind == "gzip" and place != "packed":
        wanted = gzip.compress(wanted, 1, mtime=0)
    headers, method, slow, leave = [], "GET", 0, None
    if way < 0.04:
        slow = 0.2 if len(wanted) < 50000 else 0.01
    elif way < 0.10:
        leave = rng.randrange(1, len(wanted) + 2)
    elif way < 0.13:
        method = "HEAD"
    elif way < 0.16 and place != "files":
        headers = ["Range: bytes=0-99"] if place != "off" else []
    elif way < 0.20 and kind == "match":
        headers = ['If-None-Match: "1"']
    packed = place == "packs" and kind not in ("gzip", "part") and method == "GET"
    if packed:
        headers.append("Accept-Encoding: gzip")
    answer = await client.get(path, method, headers, slow, leave)
    tally[f"{place}"] += 1
    tally[kind] += 1
    tally["left early" if leave is not None else "slow" if slow else method] += 1
    if method == "HEAD" or leave is not None or answer.status == 304:
        if method == "HEAD" and not untouched:
            check("content-length" not in answer.headers, path, "HEAD", answer.headers)
        return
    body = answer.body
    if kind.startswith("early"):
        if not packed and kind != "early_close":
            check(wanted.startswith(body), path, "is no beginning", len(body), len(wanted))
        return
    if packed and answer.headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if not answer.complete and answer.headers.get("connection") == "close" and tally["reloads"]:
        tally["cut"] += 1
        return
    tally["compared"] += 1
    if not check(answer.complete and body == wanted, path, method, headers, "slow" if slow else "", answer.status, "complete" if
                 answer.complete else "incomplete", len(body), "bytes, not", len(wanted), answer.headers):
        tally["different"] += 1


async def load(nginx, expected, charsets, options, tally):
    left = options.requests

    async def run(number):
        nonlocal left
        rng = random.Random(f"{options.seed} {number}")
        client = Client(nginx.port, rng)
        while left > 0 and len(failures) < 20:
            left -= 1
            if left % 500 == 250 and not nginx.one: # one process does not survive that
                nginx.reload()
                tally["reloads"] += 1
            await one_random(client, rng, expected, charsets, tally)
        tally["connections again"] += client.again
        client.close()

    await asyncio.gather(*(run(number) for number in range(16)))


def worker_memory(nginx):
    """The most resident memory of a process of nginx, in kB."""
    most = 0
    for process in [str(nginx.process.pid), *subprocess.run(["pgrep", "-P", str(nginx.process.pid)], stdout=subprocess.PIPE,
                                                             check=False).stdout.decode().split()]:
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            most = max(most, *(int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0)
    return most


async def test(options, folder):
    rng = random.Random(options.seed)
    pages = load_pages(options.pages, rng)
    pages.append("<p>the \u0434\u0430".encode("windows-1251"))
    unit = max(pages, key=len)
    pages.append(unit * (options.large // len(unit) + 1))
    for name, rules in (("rules.json", RULES), ("other.json", OTHER), ("none.json", NONE)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(rules, file)
    os.mkdir(os.path.join(folder, "files"))
    for number, page in enumerate(pages):
        with open(os.path.join(folder, "files", f"{number}.html"), "wb") as file:
            file.write(page)
    middle = next(i for i, page in enumerate(pages) if len(page) > 50000)
    with open(os.path.join(folder, "files", "ssi.html"), "wb") as file:
        file.write(b'<p>the<a href=http:x><!--#include virtual="/off/chunks/%d/9" --><p>the end' % middle)
    expected = Expected(os.path.abspath(options.hpar), folder, pages)
    names = ["utf-8", "windows-1252", "shift_jis", "gbk"]
    charsets = [names[i % 4] for i in range(len(pages))]
    behind = Behind(pages, charsets)
    server = await asyncio.start_server(behind.serve, "127.0.0.1", 0, limit=1 << 16)
    nginx = Nginx(options, folder, server.sockets[0].getsockname()[1])
    refusals(nginx)
    await nginx.start()
    tally = collections.Counter()
    try:
        await single(nginx, expected, charsets, options.large)
        await load(nginx, expected, charsets, options, tally)
        memory = worker_memory(nginx)
    finally:
        status = nginx.stop()
        server.close()
    check(status == 0, "nginx ends with", status)
    # A worker of nginx 1.22 that a reload ends may leave a request, without this module too. It says so.
    left = re.findall(r"\[alert\].* open socket #.*|\[alert\].*: aborting", nginx.log())
    check(tally["cut"] <= len(left), tally["cut"], "responses are cut, and", len(left), "sockets left at reloads")
    for line in nginx.log().split("\n"):
        check(any(found in line for found in left) or not re.search(r"\[alert\]|\[emerg\]|exited on signal", line), "the log has", line)
    print(", ".join(f"{count} {name}" for name, count in tally.items()))
    print(f"the most memory of a process of nginx: {memory} kB")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("module")
    parser.add_argument("hpar")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages")
    parser.add_argument("--large", type=int, default=20000000)
    parser.add_argument("--run")
    parser.add_argument("--preload")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    for missing, words in ((not os.path.exists(options.module), "this build has no module for nginx (Debian: nginx-dev)"),
                           (not shutil.which("nginx"), "nginx is missing")):
        if missing:
            print("skipped:", words)
            return 77
    folder = tempfile.mkdtemp(prefix="hpar-nginx-")
    try:
        return asyncio.run(test(options, folder))
    finally:
        if options.keep:
            print(folder)
        else:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
