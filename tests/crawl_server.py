#!/usr/bin/python3
"""crawl_server.py HPAR: fetches pages from a local server with wget, which writes a WARC, and counts them with hpar crawl.

The server sends charsets, codings, chunks, redirects and errors. The counts of the crawl must be those of the server.
"""
import gzip
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import zlib

PAGES = 60


def body(number):
    text = f"<!DOCTYPE html><title>{number}</title><p>caf\u00e9 {number}<a href=/page/{number + 1}>next</a>"
    return text.encode("iso-8859-1" if number % 3 == 1 else "utf-8")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[1]) if self.path.startswith("/page/") else -1
        if not 0 <= number < PAGES:
            self.send_error(404)
            return
        if number % 10 == 7 and "moved" not in self.path:
            self.send_response(301)
            self.send_header("Location", f"/page/moved/{number}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content, coding = body(number), None
        if number % 4 == 1:
            content, coding = gzip.compress(content), "gzip"
        elif number % 4 == 2:
            content, coding = zlib.compress(content), "deflate"
        self.send_response(200)
        charset = ("utf-8", "iso-8859-1")[number % 3 == 1]
        self.send_header("Content-Type", f"text/html; charset={charset}")
        if coding:
            self.send_header("Content-Encoding", coding)
        if number % 5 == 0:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(content), 30):
                piece = content[at:at + 30]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)


def main():
    hpar = os.path.abspath(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        urls = [f"http://127.0.0.1:{server.server_address[1]}/page/{number}" for number in range(PAGES + 3)]
        subprocess.run(["wget", "--quiet", "--warc-file=pages", "--no-warc-keep-log", "--no-warc-compression",
                        "--delete-after", "--no-directories", *urls], cwd=folder, check=False, env={**os.environ, "no_proxy": "127.0.0.1"})
        server.shutdown()
        subprocess.run([hpar, "crawl", "pages.warc", "--out", "out", "--select", "a"], cwd=folder, check=True)
        with open(os.path.join(folder, "out", "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
    moved = sum(number % 10 == 7 for number in range(PAGES))
    expected = {
        "pages": PAGES,
        "http_status": {"200": PAGES, "301": moved, "404": 3},
        "page_bytes": sum(len(body(number)) for number in range(PAGES)),
        "matches": PAGES,
        "problems": {},
    }
    got = {
        "pages": summary["counters"]["pages"],
        "http_status": summary["http_status"],
        "page_bytes": summary["counters"]["page_bytes"],
        "matches": summary["selector_matches"]["a"],
        "problems": summary.get("problems", {}),
    }
    print(got)
    if got != expected:
        print("expected", expected)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
