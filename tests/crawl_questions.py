#!/usr/bin/python3
"""crawl_questions.py HPAR [--records N] [--pages DIR] [--warcio DIR] [--seed N] [--keep DIR]

Answers the questions of examples/crawl/questions.txt twice: by `hpar crawl`, and by this script with html5lib. The answers must
be equal. The script has its own reader of archives, or takes npm's warcio in the folder of --warcio. Node resolves URLs, where it
is installed, otherwise urllib, which does not follow the URL Standard. The archives have N generated records of many types,
hosts, dates, languages, statuses, charsets and codings, and with Node the real pages of --pages.
"""
import argparse
import base64
import collections
import csv
import gzip
import hashlib
import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

import html5lib

HERE = os.path.dirname(os.path.abspath(__file__))
HELPER = os.path.join(HERE, "crawl_questions.mjs")
QUESTIONS = os.path.join(HERE, "..", "examples", "crawl", "questions.txt")
SUFFIXES = "/usr/share/publicsuffix/public_suffix_list.dat"
OWN_SUFFIXES = ["com", "org", "uk", "co.uk", "de", "jp", "*.kawasaki.jp", "!city.kawasaki.jp", "ck", "*.ck", "!www.ck",
                "io"]

# ---- archives ----

HOSTS = ["www.example.com", "example.com", "news.bbc.co.uk", "shop.example.co.uk", "co.uk", "a.b.c.example.org",
         "www.city.kawasaki.jp", "x.y.kawasaki.jp", "www.ck", "shop.www.ck", "me.other.ck", "project.github.io",
         "127.0.0.1", "localhost", "EXAMPLE.de", "www.example.com:8080"]
LANGUAGES = ["en", "de-AT", "EN-us", "fr", " pt", "", "zh-Hant", "123"]
LINKS = ["/", "a/b?c=d#e", "../up/./x", "?q=1&amp;r=2", "#top", "", "//cdn.example.org/lib.js", "HTTP://Example.COM:80",
         "https://sub.shop.example.co.uk/a b", "/caf\u00e9/", "mailto:someone@example.org", "javascript:void(0)",
         "http://[bad", " /spaces\n ", "https://user:pw@login.example.de:8443/x", "http://10.0.0.1/numbers"]
PIECES = [
    "<p>One &amp; two<p>three", "<h1>Title <em>of</em> the page</h1>", "<H2 id=x{n}>Second\tlevel</H2>",
    "<h2 id='y&lt;{n}'>a<!-- no text -->b</h3>", "<a href='{link}'>link &copy; {n}</a>", "<a href=\"{link}\">open<p>more",
    "<a name=old>no link</a><a href='{link}'><b>bold</a></b>", "<table><tr><td>cell<h1>in table</h1>",
    "<table><a href='{link}'>foster</a><tr><td>x</table>", "<script src='{link}'></script>",
    "<script>document.write('<a href=x>')</script>", "<img src=a.png><img alt src=b.png><img src=c.png alt='text'>",
    "<script type=\"application/ld+json\">{\"@type\": \"Thing\", \"name\": \"n{n}, \\\"quoted\\\"\"}\n</script>",
    "<svg><a href='{link}'><text>svg</text></a></svg>", "<textarea><a href=none>raw</textarea>", "<select><option>a</select>",
    "<!-- <a href=comment> -->", "<div><span>\u4e2d\u6587 text\u00a0here</span>", "<br>tab\there, \"quotes\"",
    "<title>second title</title>", "<iframe><h1>raw text</h1></iframe>", "<noscript><img src=n.png></noscript>",
]
HEADS = ["<title>Page {n}\n  of   many</title>", "<TITLE>&lt;tag&gt; \u00fcber, \"all\"</TITLE>", "",
         "<meta name=description content='Describes, page {n}'>", "<meta property='og:title' content='Open \"graph\" {n}'>",
         "<meta name=Description content=\"\"><meta name=description content=second>", "<base href='/base/{n}/'>",
         "<base href='https://other.example.org/dir/'>"]
DOCTYPES = ["<!DOCTYPE html>", "<!doctype html public \"-//W3C//DTD HTML 3.2//EN\">", ""]


def fill(text, random):
    n = str(random.randrange(1000))
    return re.sub("{n}|{link}", lambda found: n if found.group() == "{n}" else random.choice(LINKS), text)


def make_page(random, charset, declare):
    language = random.choice(LANGUAGES)
    parts = [random.choice(DOCTYPES), "<html%s>" % (" lang='%s'" % language if random.random() < .7 else ""), "<head>"]
    if declare:
        parts.append("<meta charset=%s>" % charset)
    parts += [fill(random.choice(HEADS), random) for _ in range(random.randrange(4))]
    parts.append("<body>")
    parts += [fill(random.choice(PIECES), random) for _ in range(random.randrange(12))]
    return "".join(parts).encode(charset, "xmlcharrefreplace")


def make_record(kind, url, date, block, fields=()):
    lines = ["WARC/1.0", "WARC-Type: " + kind, "WARC-Date: " + date] + list(fields)
    if url:
        lines.append("WARC-Target-URI: " + url)
    lines.append("Content-Length: %d" % len(block))
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def chunked(random, body):
    out = b""
    while body:
        size = random.randrange(1, 400)
        out += b"%x\r\n%s\r\n" % (len(body[:size]), body[:size])
        body = body[size:]
    return out + b"0\r\n\r\n"


def make_response(random):
    status = random.choice([200] * 8 + [404, 301, 500])
    charset = random.choice(["utf-8"] * 4 + ["windows-1252", "shift_jis"])
    declare = random.random() < .5
    kind = random.choice(["text/html"] * 6 + ["application/xhtml+xml", "Text/HTML", "image/png", "text/plain"])
    body = make_page(random, charset, declare)
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    head = ["HTTP/1.1 %d Reason" % status, "Content-Type: " + kind + ("" if declare else "; charset=" + charset)]
    if random.random() < .3:
        head.append("Content-Language: " + random.choice(["es", "IT-it", ""]))
    coding = random.choice(["", "", "gzip", "deflate"])
    if coding:
        head.append("Content-Encoding: " + coding)
        body = gzip.compress(body, mtime=0) if coding == "gzip" else zlib.compress(body)
    if random.random() < .3:
        head.append("Transfer-Encoding: chunked")
        body = chunked(random, body)
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body, digest


# html5lib 1.1 leaves 1 and 4 elements out, which parse5 has.
WRONG_IN_HTML5LIB = ("balkinization-blog.html", "thebookplace-2006-shop.html")


def real_pages(folder):
    """Responses with real pages. Their charset is in the head, because readers guess differently without one."""
    with open(os.path.join(folder, "MANIFEST.tsv"), encoding="utf-8") as manifest:
        for row in csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["file"] in WRONG_IN_HTML5LIB:
                continue
            with open(os.path.join(folder, row["file"]), "rb") as file:
                body = file.read()
            charset = row["charset_declared"].rpartition(":")[2]
            if charset == "-":
                try:
                    body.decode()
                    charset = "utf-8"
                except UnicodeDecodeError:
                    charset = "windows-1252"
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%s\r\n\r\n" % charset.encode()
            yield make_record("response", "https://www.%s/%s" % (row["site"].split()[0].lower(), row["file"]), "2024-05-06T07:08:09Z",
                              head + body)


def write_archives(folder, count, seed, pages):
    generator = random.Random(seed)
    files = [[], [], list(real_pages(pages)) if pages else []]
    earlier = []
    for i in range(count):
        url = "http%s://%s/%s" % (generator.choice(["", "s"]), generator.choice(HOSTS),
                                  generator.choice(["", "page%d" % i, "a/b/c%d?x=%d" % (i, i), "dir/"]))
        date = "20%02d-%02d-%02dT00:00:%02dZ" % (generator.randrange(14, 25), generator.randrange(1, 13),
                                                 generator.randrange(1, 29), i % 60)
        kind = generator.choice(["response"] * 8 + ["request", "metadata", "revisit", "resource"])
        fields = ["WARC-Record-ID: <urn:uuid:%032x>" % generator.getrandbits(128)]
        if kind in ("response", "revisit"):
            block, digest = make_response(generator)
            if earlier and generator.random() < .1:
                block, digest = generator.choice(earlier)
            earlier.append((block, digest))
            fields += ["WARC-Payload-Digest: sha1:" + digest, "Content-Type: application/http; msgtype=response"]
        elif kind == "resource":
            block = make_page(generator, "utf-8", True)
            fields.append("Content-Type: text/html")
        else:
            block = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
            fields.append("Content-Type: application/http; msgtype=request")
        files[generator.randrange(len(files))].append(make_record(kind, url, date, block, fields))
    for i, records in enumerate(files):
        records.insert(0, make_record("warcinfo", "", "2020-01-01T00:00:00Z", b"software: a test\r\n"))
        with open(os.path.join(folder, "%d.warc%s" % (i, ".gz" if i else "")), "wb") as file:
            for record in records:
                file.write(gzip.compress(record, mtime=0) if i else record)


# ---- the independent reader ----

# The codecs of Python that are nearest to the Encoding Standard, and the characters for which they differ from it.
CODECS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc-jp": "euc_jp", "euc-kr": "cp949",
          "windows-1252": "latin-1", "iso-8859-1": "latin-1"}
JAPANESE = {0x301C: 0xFF5E, 0x2016: 0x2225, 0x2212: 0xFF0D, 0x00A2: 0xFFE0, 0x00A3: 0xFFE1, 0x00AC: 0xFFE2}
WESTERN = {i: bytes([i]).decode("cp1252") for i in range(0x80, 0xA0) if i not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
CHARACTERS = {"shift_jis": JAPANESE, "euc-jp": JAPANESE, "windows-1252": WESTERN, "iso-8859-1": WESTERN}


class Record:
    """A record and, of a response, its status, fields and decoded body."""

    def __init__(self, fields, status, http, body):
        self.fields, self.status, self.http, self.body = fields, status, http, body
        self.kind = fields["warc-type"]
        self.url = fields.get("warc-target-uri", "")
        self.date = fields.get("warc-date", "")
        self.type = (http if self.kind == "response" else fields).get("content-type", "")
        self.media_type = self.type.partition(";")[0].strip().lower()
        self.is_page = (self.kind == "resource" or (self.kind == "response" and self.status == 200)) and \
            self.media_type in ("text/html", "application/xhtml+xml")
        self.tree, self.encoding, self.links = None, None, {}

    def parse(self):
        found = re.search("charset=(.*)", self.type)
        charset = found and found.group(1).lower()
        parser = html5lib.HTMLParser()
        if charset in CODECS:
            self.tree = parser.parse(self.body.decode(CODECS[charset], "replace").translate(CHARACTERS.get(charset, {})))
            self.encoding = charset
        else:
            self.tree = parser.parse(self.body, transport_encoding=charset)
            self.encoding = parser.documentEncoding


def lower_names(fields):
    return {name.strip().lower(): value.strip() for name, value in fields}


def parse_fields(head):
    return lower_names(line.partition(":")[::2] for line in head.decode("latin-1").split("\r\n")[1:])


def decode(body, fields):
    if fields.get("transfer-encoding") == "chunked":
        rest, body = body, b""
        while True:
            size, _, rest = rest.partition(b"\r\n")
            size = int(size, 16)
            if not size:
                break
            body += rest[:size]
            rest = rest[size + 2:]
    coding = fields.get("content-encoding")
    return gzip.decompress(body) if coding == "gzip" else zlib.decompress(body) if coding == "deflate" else body


def read_archives(folder):
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as file:
            contents = file.read()
        while contents:
            head, _, contents = contents.partition(b"\r\n\r\n")
            fields = parse_fields(head)
            length = int(fields["content-length"])
            block, status, http = contents[:length], None, {}
            contents = contents[length + 4:]
            if fields["warc-type"] == "response":
                first, _, rest = block.partition(b"\r\n\r\n")
                status, http = int(first.split(b" ")[1]), parse_fields(first)
                block = decode(rest, http)
            yield Record(fields, status, http, block)


def read_by_warcio(folder, warcio):
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    with subprocess.Popen(["node", HELPER, "records", warcio, *files], stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            record = json.loads(line)
            fields = lower_names(record["fields"])
            is_response = fields["warc-type"] == "response"
            yield Record(fields, int(record["status"].split(" ")[1]) if is_response else None,
                         lower_names(record["http"]) if is_response else {}, base64.b64decode(record["body"]))
    assert process.returncode == 0


# ---- values ----

def local(element):
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else None


def elements(tree, *names):
    return [element for element in tree.iter() if local(element) in names]


def content(element):
    """The text of an element without comments."""
    parts = [element.text or ""]
    for child in element:
        parts += [content(child) if local(child) else "", child.tail or ""]
    return "".join(parts)


def title(tree):
    found = [element for element in tree.iter() if element.tag == "{http://www.w3.org/1999/xhtml}title"]
    return re.sub("[ \t\n\f\r]+", " ", content(found[0])).strip(" ") if found else None


def language(record):
    text = record.tree.get("lang") or record.http.get("content-language", "")
    return re.match("[a-z]*", text.strip().lower()).group() or None


def meta(tree, name):
    for element in elements(tree, "meta"):
        if name in (element.get("name", "").lower(), element.get("property", "").lower()):
            return element.get("content")
    return None


def host_of(url):
    return (urllib.parse.urlsplit(url).hostname or "") if url else ""


def normal(url):
    """The serialisation of a URL whose scheme has a host."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return url
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else ":%d" % parts.port
    user = parts.netloc.rpartition("@")
    return urllib.parse.urlunsplit((parts.scheme, user[0] + user[1] + parts.hostname + port,
                                    urllib.parse.quote(parts.path or "/", "/%:@!$&'()*+,;=~"), parts.query, parts.fragment))


def base_of(record):
    found = [element.get("href") for element in elements(record.tree, "base") if element.get("href") is not None]
    return found[0] if found else None


def with_encoded_query(text, encoding):
    """The text with the characters of its query in the encoding of the page. Node knows UTF-8 only, and the standard takes that for
    other schemes than these."""
    scheme = re.match("[ \\t\\r\\n]*([A-Za-z][A-Za-z0-9+.-]*):", text)
    if scheme and scheme.group(1).lower() not in ("http", "https", "ftp", "file"):
        return text
    before, mark, query = text.partition("?")
    query, hash_mark, fragment = query.partition("#")
    if encoding == "utf-8" or query.isascii() or "#" in before:
        return text
    codec = "cp1252" if encoding in ("windows-1252", "iso-8859-1") else CODECS.get(encoding, encoding)
    characters = (character if character.isascii() else urllib.parse.quote(character.encode(codec, "xmlcharrefreplace"))
                  for character in query)
    return before + mark + "".join(characters) + hash_mark + fragment


def resolve_by_node(records):
    """Sets the URL of each text that a question resolves."""
    lines = []
    for record in records:
        texts = [element.get(name) for element in elements(record.tree, "a", "script") for name in ("href", "src")]
        record.links = dict.fromkeys(text for text in texts if text is not None)
        lines.append(json.dumps([record.url, base_of(record), [with_encoded_query(text, record.encoding) for text in record.links]]))
    done = subprocess.run(["node", HELPER, "urls"], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True)
    for record, line in zip(records, done.stdout.splitlines()):
        record.links = dict(zip(record.links, json.loads(line)))


def resolve(record, text):
    if text is None:
        return None
    if text in record.links:
        return record.links[text]
    try:
        base = normal(record.url)
        if base_of(record) is not None:
            base = urllib.parse.urljoin(base, base_of(record))
        text = text.strip(" \n\t\r\f").replace("\n", "").replace("\t", "")
        return normal(urllib.parse.urljoin(base, text)) + ("#" if text.endswith("#") else "")
    except ValueError:
        return None


class Suffixes:
    """The registry's part of the public suffix list."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read().partition("===BEGIN PRIVATE DOMAINS===")[0]
        lines = [line.split()[0] for line in text.split("\n") if line.strip() and not line.startswith("//")]
        self.rules = set(lines)

    def domain(self, host):
        labels = host.rstrip(".").split(".")
        if not labels[-1] or labels[-1][0].isdigit():
            return ""
        matches = []
        for i in range(len(labels)):
            if "!" + ".".join(labels[i:]) in self.rules:
                return ".".join(labels[i:])
            if ".".join(labels[i:]) in self.rules or ".".join(["*"] + labels[i + 1:]) in self.rules:
                matches.append(i)
        first = (matches[0] if matches else len(labels) - 1) - 1
        return ".".join(labels[first:]) if first >= 0 else ""


def tld(host):
    last = host.rstrip(".").rpartition(".")[2]
    return "" if last[:1].isdigit() else last


def is_sampled(record, share):
    bits = (1 << 64) - 1
    value = 0xcbf29ce484222325 ^ 0x9E3779B97F4A7C15
    for byte in (record.url + " " + record.date).encode():
        value = (value ^ byte) * 0x100000001b3 & bits
    for _ in range(2):
        value = (value ^ value >> 32) * 0xD6E8FEB86659FD93 & bits
    return value < share * 2 ** 64


# ---- answers ----

def count_groups(names, rows):
    """Rows are (record, values). The groups have the most rows first, then the order of their bytes."""
    counts, pages = collections.Counter(), collections.defaultdict(set)
    for record, values in rows:
        key = tuple(str(value or "") for value in values)
        counts[key] += 1
        pages[key].add(id(record))
    order = sorted(counts, key=lambda key: (-counts[key], "\t".join(key).encode()))
    return [names + ["rows", "pages"]] + [list(key) + [str(counts[key]), str(len(pages[key]))] for key in order]


def answers(records, suffixes):
    pages = [record for record in records if record.is_page]
    responses = [record for record in records if record.kind == "response" or record.is_page]
    domain = suffixes.domain
    yield [{"url": r.url, "date": r.date, "title": title(r.tree)} for r in pages]
    yield [["url", "url:href", "content"]] + [[r.url, resolve(r, a.get("href")) or "", content(a)]
                                              for r in pages for a in elements(r.tree, "a") if a.get("href") is not None]
    yield count_groups(["domain"], [(r, [domain(host_of(r.url))]) for r in pages])
    yield count_groups(["tld", "language"], [(r, [tld(host_of(r.url)), language(r)]) for r in pages])
    yield count_groups(["month"], [(r, [r.date[:7]]) for r in pages])
    yield count_groups(["host", "status"], [(r, [host_of(r.url), r.status]) for r in responses])
    yield count_groups(["domain:src"], [(r, [domain(host_of(resolve(r, s.get("src"))))]) for r in pages
                                        for s in elements(r.tree, "script") if s.get("src") is not None])
    yield [["url", "content"]] + [[r.url, content(s)] for r in pages for s in elements(r.tree, "script")
                                  if s.get("type") == "application/ld+json"]
    yield count_groups(["domain"], [(r, [domain(host_of(r.url))]) for r in pages for image in elements(r.tree, "img")
                                    if image.get("alt") is None])
    yield [["url", "language", "meta:description", "meta:og:title"]] + \
        [[r.url, language(r) or "", meta(r.tree, "description") or "", meta(r.tree, "og:title") or ""] for r in pages]
    yield count_groups(["digest"], [(r, [r.fields.get("warc-payload-digest")]) for r in responses])
    yield [{"host": host_of(r.url), "year": r.date[:4], "tag": local(h), "content": content(h), "attr:id": h.get("id")}
           for r in pages if is_sampled(r, .2) for h in elements(r.tree, "h1", "h2")]


def read_answer(path):
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            return [json.loads(line) for line in file]
        if path.endswith(".csv"):
            return list(csv.reader(file))
        escapes = {"\\t": "\t", "\\n": "\n", "\\\\": "\\"}
        return [[re.sub(r"\\.", lambda found: escapes[found.group()], cell) for cell in line.split("\t")]
                for line in file.read().split("\n")[:-1]]


def read_questions():
    with open(QUESTIONS, encoding="utf-8") as file:
        for part in file.read().split("\n\n")[1:]:
            yield part.strip().split("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hpar")
    parser.add_argument("--records", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", help="a folder of real pages with MANIFEST.tsv")
    parser.add_argument("--warcio", help="the folder of npm's package warcio")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = arguments.keep or work
        data = os.path.join(work, "data")
        os.makedirs(data)
        node = shutil.which("node")
        write_archives(data, arguments.records, arguments.seed, arguments.pages if node else None)
        suffixes = SUFFIXES
        if not os.path.exists(suffixes):
            suffixes = os.path.join(work, "suffixes")
            with open(suffixes, "w", encoding="utf-8") as file:
                file.write("\n".join(OWN_SUFFIXES) + "\n")
        records = list(read_by_warcio(data, arguments.warcio) if arguments.warcio else read_archives(data))
        for record in records:
            if record.is_page:
                record.parse()
        if node:
            resolve_by_node([record for record in records if record.is_page])
        failed = 0
        questions = list(read_questions())
        expected = list(answers(records, Suffixes(suffixes)))
        assert len(questions) == len(expected) == 12
        for number, ((question, options, answer), wanted) in enumerate(zip(questions, expected), 1):
            out = os.path.join(work, str(number))
            made = subprocess.run([arguments.hpar, "crawl", data, "--out", out, "--profile", "none", "--suffixes", suffixes] +
                                  shlex.split(options), stderr=subprocess.PIPE, text=True)
            if "needs zlib" in made.stderr:
                print("skipped: this build has no zlib")
                return 77
            if made.returncode:
                print(made.stderr)
            found = [] if made.returncode else read_answer(os.path.join(out, answer))
            if found == wanted and len(wanted) > 1:
                continue
            failed += 1
            differences = [pair for pair in zip(found, wanted) if pair[0] != pair[1]]
            print("%s: %d lines, not %d, %d of them differ: %s" % (question, len(found), len(wanted), len(differences), differences[:3]))
        print("%d records, %d pages: %d passed, %d failed" %
              (len(records), sum(record.is_page for record in records), len(questions) - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
