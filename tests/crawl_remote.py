#!/usr/bin/python3
"""crawl_remote.py HPAR CORPUS: archives of other machines give hpar crawl the results of local ones.

A server on loopback ends most answers early, and a program in place of aws does the same. Lines of an index name single
records, and filters choose among them. A server without ranges, and
one that has no such file, cost their unit only.
"""
import gzip
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

AWS = """#!/usr/bin/python3
import os, sys
arguments = dict(zip(sys.argv[3:-1:2], sys.argv[4::2]))
begin = int(arguments["--range"][len("bytes="):-1])
with open(os.path.join(%r, arguments["--bucket"], arguments["--key"]), "rb") as file:
    file.seek(begin)
    part = file.read(20000 + begin %% 7000)
    rest = file.read(1)
with open(sys.argv[-1], "wb") as out:
    out.write(part)
print("{}")
sys.exit(1 if rest else 0)
"""


class Handler(http.server.BaseHTTPRequestHandler):
    folder = ""
    requests = 0

    def do_GET(self):
        Handler.requests += 1
        kind, _, name = self.path[1:].partition("/")
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            data = file.read()
        found = re.fullmatch("bytes=([0-9]+)-", self.headers.get("Range", "")) if kind == "ranges" else None
        begin = int(found.group(1)) if found else 0
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, len(data) - 1, len(data)))
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        self.wfile.write(data[begin:begin + 30000 + begin % 9000])
        self.close_connection = True

    def log_message(self, *_):
        pass


def main():
    hpar, corpus = sys.argv[1:3]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        bucket = os.path.join(work, "bucket")
        os.makedirs(os.path.join(bucket, "sub"))
        for name in "a.warc", "sub/b.warc":
            with open(os.path.join(bucket, name), "wb") as file:
                subprocess.run([corpus, "generate", "--warc", "200", "--seed", str(len(name)), "--small"], stdout=file, check=True)
        with open(os.path.join(work, "aws"), "w", encoding="utf-8") as file:
            file.write(AWS % work)
        os.chmod(os.path.join(work, "aws"), 0o755)
        with open(os.path.join(work, "paths"), "w", encoding="utf-8") as file:
            file.write("a.warc\nsub/b.warc\n")
        Handler.folder = bucket
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = "http://127.0.0.1:%d/" % server.server_port
        environment = {**os.environ, "PATH": work + ":" + os.environ["PATH"], "no_proxy": "127.0.0.1"}

        # An index of the pages, in the order of another file.
        subprocess.run([hpar, "crawl", bucket, "--out", os.path.join(work, "all"), "--fields", "file,offset,url,date,content", "--progress",
                        "none"], check=True)
        with open(os.path.join(work, "all", "rows.jsonl"), encoding="utf-8") as file:
            pages = [json.loads(line) for line in file][:20]
        with open(os.path.join(work, "index"), "w", encoding="utf-8") as file:
            for i in reversed(range(len(pages))):
                page = pages[i]
                fields = {"digest": "filename", "url": page["url"], "mime": "text/html", "mime-detected": ["text/html", "text/plain"][i % 3 == 0], "status": "200",
                          "length": "10", "offset": str(page["offset"]), "filename": os.path.relpath(page["file"], bucket),
                          "languages": ["eng,deu", "fra"][i % 2]}
                file.write("key) 20240101000000 %s\n" % json.dumps(fields).replace('"http', r'"\u0068ttp'))

        def crawl(out, *inputs):
            done = subprocess.run([hpar, "crawl", *inputs, "--out", os.path.join(work, out), "--threads", "2", "--fields", "url,date,content",
                                   "--group-by", "host", "--progress", "none"], env=environment, stderr=subprocess.PIPE, text=True)
            results = []
            for name in ("summary.json", "rows.jsonl", "groups.csv") if done.returncode < 2 else ():
                with open(os.path.join(work, out, name), "rb") as file:
                    results.append(file.read())
            return done.returncode, done.stderr, results

        _, _, local = crawl("local", bucket)
        checks = []
        status, message, results = crawl("web", address + "ranges/a.warc", address + "ranges/sub/b.warc")
        checks.append(("web", status == 0 and results == local and Handler.requests > 8, message))
        status, message, results = crawl("list", "@" + os.path.join(work, "paths"), "--base", address + "ranges")
        checks.append(("list", status == 0 and results == local, message))
        status, message, results = crawl("s3", "s3://bucket/a.warc", "s3://bucket/sub/b.warc")
        checks.append(("s3", status == 0 and results == local, message))
        status, message, results = crawl("plain", address + "plain/a.warc", os.path.join(bucket, "sub/b.warc"))
        checks.append(("no ranges", status == 1 and "curl cannot read it; add --resume" in message and b'"units_done":1' in results[0], message))
        status, message, results = crawl("none", address + "ranges/none.warc", os.path.join(bucket, "a.warc"))
        checks.append(("no file", status == 1 and b'"units_done":1' in results[0], message))
        def check_index():
            for base in bucket, address + "ranges", "s3://bucket":
                out = "index%d" % len(checks)
                status, message, results = crawl(out, "@" + os.path.join(work, "index"), "--base", base)
                checks.append(("index of " + base, status == 0 and results[1].splitlines() == local[1].splitlines()[:len(pages)], message))
            with open(os.path.join(bucket, "index.gz"), "wb") as file, open(os.path.join(work, "index"), "rb") as lines:
                file.write(gzip.compress(lines.read()))
            before = Handler.requests
            status, message, results = crawl("packed", "@" + address + "ranges/index.gz", "--base", bucket)
            if "needs zlib" not in message:
                checks.append(("packed index", status == 0 and results[1].splitlines() == local[1].splitlines()[:len(pages)] and
                               Handler.requests > before, message))
            # Neighbours in a file are one unit, and so are lines that overlap.
            size = os.path.getsize(os.path.join(bucket, "a.warc"))
            middle, other = pages[3]["offset"], pages[9]["offset"]
            parts = [(other, size - other), (0, middle), (middle, other - middle), (middle, 5), (0, middle)]
            with open(os.path.join(work, "parts"), "w", encoding="utf-8") as file:
                for offset, length in parts:
                    file.write('key 2024 {"filename": "a.warc", "offset": "%d", "length": "%d"}\n' % (offset, length))
            whole = crawl("whole", os.path.join(bucket, "a.warc"))[2]
            status, message, results = crawl("joined", "@" + os.path.join(work, "parts"), "--base", bucket)
            checks.append(("neighbours", status == 0 and results == whole, message))
            with open(os.path.join(work, "paths"), "w", encoding="utf-8") as file:
                file.write('key 2024 {"filename": "a.warc", "offset": "-1", "length": "5"}\n')
            done = subprocess.run([hpar, "crawl", "@" + os.path.join(work, "paths"), "--out", os.path.join(work, "x")], stderr=subprocess.PIPE, text=True)
            checks.append(("wrong line", done.returncode == 2 and "is no line of an index" in done.stderr, done.stderr))
            status, message, results = crawl("some", "@" + os.path.join(work, "index"), "--base", bucket, "--mime", "text/plain", "--lang", "deu",
                                             "--urls", "http*1*")
            wanted = [page["url"] for i, page in enumerate(pages) if i % 6 == 0 and "1" in page["url"]]
            found = [json.loads(line)["url"] for line in results[1].splitlines()]
            checks.append(("filters", status == 0 and wanted and found == wanted, message))

        probe = subprocess.run([hpar, "crawl", "@" + os.path.join(work, "index"), "--out", os.path.join(work, "probe"), "--base", bucket,
                                "--progress", "none"], stderr=subprocess.PIPE, text=True)
        if "cannot read an index" in probe.stderr:
            print("skipped: this build has no json-c")
        else:
            check_index()
        server.shutdown()
    for what, fine, message in checks:
        passed += fine
        failed += not fine
        if not fine:
            print("wrong: %s: %s" % (what, message))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
