"""Web archives: the records of hpar.warc."""
import gc
import gzip
import io
import os
import tempfile
import threading
import unittest
import weakref
import zlib

import hpar
import hpar._core
from hpar import warc


def record(block, kind="response", url="http://a/", more="", length=None):
    return (f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n{more}"
            f"Content-Length: {len(block) if length is None else length}\r\n\r\n").encode() + block + b"\r\n\r\n"


def response(body, head="Content-Type: text/html"):
    return record(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + body)


def read(archive, **options):
    records = warc.records(io.BytesIO(archive), **options)
    return list(records), records.errors


PAGES = [b"<title>%d</title><p>page" % number for number in range(20)]
PLAIN = record(b"software: x\r\n", "warcinfo", "") + b"".join(response(page) for page in PAGES)


class Records(unittest.TestCase):
    def test_record(self):
        body = "<p>\u0436".encode("cp1251")
        (r,), errors = read(response(body, "content-type: text/html; charset=CP1251\r\nX-A: 1\r\nx-a: 2"))
        self.assertEqual((r.type, r.url, r.date, r.offset, r.inner), ("response", "http://a/", "2026-01-02T03:04:05Z", 0, 0))
        self.assertEqual((r.status, r.payload, r.payload_problem, errors), (200, body, None, []))
        self.assertEqual(r.document().text(), "\u0436")
        self.assertEqual(r.document(encoding="latin1").text(), "\u00e6")
        self.assertEqual(r.headers["warc-type"], "response")
        self.assertEqual(list(r.headers), ["WARC-Type", "WARC-Target-URI", "WARC-Date", "Content-Length"])
        self.assertEqual(r.http_headers["X-a"], "1")
        self.assertEqual(r.http_headers.get("none"), None)
        self.assertEqual(r.http_headers.fields[1:], [("X-A", "1"), ("x-a", "2")])
        self.assertEqual(len(r.http_headers), 2)
        self.assertEqual(r.block[:15], b"HTTP/1.1 200 OK")
        self.assertEqual(repr(r), f"<Record response http://a/ {len(r.block)} bytes>")

    def test_other_types(self):
        (r, s), errors = read(record(b"<p>a", "resource", "<file:a>") + record(b"GET / HTTP/1.1\r\n\r\n", "request"))
        self.assertEqual((r.url, r.status, r.payload, r.document().text(), len(r.http_headers)), ("file:a", None, b"<p>a", "a", 0))
        self.assertEqual((s.payload, s.payload_problem, errors), (b"GET / HTTP/1.1\r\n\r\n", None, []))

    def test_codings(self):
        page = b"<p>a" * 1000
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (page[:7], page[7:], b""))
        for head, body in (("Content-Encoding: gzip", gzip.compress(page)), ("Content-Encoding: deflate", zlib.compress(page)),
                           ("Transfer-Encoding: chunked", chunks)):
            (r,), _ = read(response(body, head))
            self.assertEqual((r.payload, r.payload_problem), (page, None), head)
        varied = b"<p>a" + b"".join(b"%d " % (number * number) for number in range(9999))
        (r,), _ = read(response(gzip.compress(varied)[:-99], "Content-Encoding: gzip"))
        self.assertEqual(r.payload_problem, "damaged-body")
        self.assertEqual(r.document().find("p").text()[:4], "a0 1")
        (r,), _ = read(response(b"x", "Content-Encoding: unknown"))
        self.assertEqual((r.payload, r.payload_problem), (b"x", "content-coding"))
        self.assertRaisesRegex(hpar.Error, "unknown", r.document)
        (r,), _ = read(response(gzip.compress(bytes(9000)), "Content-Encoding: gzip"), max_record=8000)
        self.assertEqual(r.payload_problem, "body-too-large")
        self.assertRaises(hpar.Error, r.document)
        (r,), _ = read(record(b"no message"))
        self.assertEqual((r.payload, r.payload_problem, r.status), (b"no message", "http-head", None))

    def test_texts_that_are_not_utf8(self):
        (r,), _ = read(record(b"", url="http://\u00e4/").replace("\u00e4".encode(), b"\xe4"))
        self.assertEqual((r.url, r.headers["WARC-Target-URI"]), ("http://\ufffd/", "http://\ufffd/"))

    def test_files(self):
        members = [gzip.compress(response(page)) for page in PAGES]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.warc.gz")
            with open(path, "wb") as file:
                file.write(b"".join(members))
            for source in (path, type("Path", (), {"__fspath__": lambda self: path})(), io.BytesIO(PLAIN)):
                titles = [r.document().title for r in warc.records(source) if r.type == "response"]
                self.assertEqual(titles, [str(number) for number in range(20)])
            with warc.records(path) as records:
                next(records)
            self.assertTrue(records._opened.closed)
            with open(path, "rb") as file:
                list(warc.records(file))
                self.assertFalse(file.closed)
            self.assertRaises(OSError, warc.records, os.path.join(folder, "none"))
        offsets = [r.offset for r in warc.records(io.BytesIO(b"".join(members)))]
        self.assertEqual(offsets, [len(b"".join(members[:number])) for number in range(len(PAGES))])
        self.assertRaises(TypeError, next, warc.records(io.StringIO("WARC/1.0")))
        self.assertRaises(TypeError, warc.records, io.BytesIO(), max_record="a")

    def test_every_division(self):
        """The records do not depend on the pieces that the file returns."""
        archive = response(PAGES[0]) + b"garbage\r\n" + gzip.compress(response(PAGES[1]))[:9] + response(PAGES[2])
        for archive in (archive, gzip.compress(response(PAGES[0])) + b"xx" + gzip.compress(response(PAGES[2]))):
            expected = [(r.offset, r.block) for r in read(archive)[0]], read(archive)[1]
            for size in (1, 2, 3, 7, 64):
                class Pieces(io.BytesIO):
                    def read(self, _):
                        return super().read(size)
                records = warc.records(Pieces(archive))
                self.assertEqual(([(r.offset, r.block) for r in records], records.errors), expected, size)

    def test_damage(self):
        archive = response(PAGES[0]) + record(b"x" * 50, "resource", "b", length=9) + response(PAGES[1])
        good, errors = read(archive)
        self.assertEqual([r.payload for r in good], PAGES[:2])
        self.assertEqual([(e.problem, e.offset, e.url) for e in errors], [("length", len(response(PAGES[0])), "b")])
        good, errors = read(response(PAGES[0]) + response(PAGES[1])[:-9])
        self.assertEqual([e.problem for e in errors], ["truncated"])
        members = [gzip.compress(response(page)) for page in PAGES[:3]]
        damaged = bytearray(members[1])
        damaged[60] ^= 255
        good, errors = read(members[0] + damaged + members[2])
        self.assertEqual([r.payload for r in good], [PAGES[0], PAGES[2]])
        self.assertEqual([(e.problem, e.offset) for e in errors], [("compression", len(members[0]))])
        good, errors = read(response(bytes(100)) + response(PAGES[0]), max_record=90)
        self.assertEqual([e.problem for e in errors], ["too-large"])
        self.assertEqual([r.payload for r in good], [PAGES[0]])
        self.assertEqual(read(b""), ([], []))
        self.assertEqual([e.problem for e in read(b"no archive")[1]], ["garbage"])

    def test_end(self):
        records = warc.records(io.BytesIO(PLAIN))
        first = next(records)
        records.close()
        self.assertEqual(first.type, "warcinfo")
        self.assertEqual(len(list(records)), 19)  # they have been read; the last one has not ended
        self.assertRaises(StopIteration, next, records)

        class Fails(io.BytesIO):
            def read(self, _):
                raise ZeroDivisionError
        records = warc.records(Fails())
        self.assertRaises(ZeroDivisionError, next, records)
        self.assertRaises(StopIteration, next, records)
        reference = weakref.ref(records)
        del records
        gc.collect()
        self.assertIsNone(reference())

    def test_non_blocking_files(self):
        end, source = os.pipe()
        os.set_blocking(end, False)
        with os.fdopen(source, "wb", buffering=0) as writer, os.fdopen(end, "rb", buffering=0) as file:
            records = warc.records(file)
            self.assertRaisesRegex(BlockingIOError, "has no bytes yet", next, records)
            writer.write(PLAIN[:-9])
            self.assertEqual(len([next(records) for _ in PAGES]), len(PAGES))
            self.assertRaises(BlockingIOError, next, records)
            writer.write(PLAIN[-9:])
            writer.close()
            self.assertEqual((len(list(records)), records.errors), (1, []))

    def test_core(self):
        archive = hpar._core._open_archive(0)
        self.assertIsNone(archive.next())
        archive.feed(PLAIN)
        archive.close()
        self.assertRaises(hpar.Error, archive.feed, b"")
        self.assertRaises(hpar.Error, archive.close)
        self.assertEqual(archive.next()[5], "warcinfo")
        self.assertRaises(TypeError, hpar._core._message, b"")
        self.assertRaises(TypeError, hpar._core._fields, "a")

    def test_large(self):
        page = b"<p>" + bytes(3 << 20)
        (r,), _ = read(response(page))
        self.assertEqual(r.payload, page)

    def test_threads(self):
        """Threads that read one archive get each record once, or hpar.Error."""
        archive = hpar._core._open_archive(0)
        found, busy = [], []

        def work():
            for _ in range(200):
                try:
                    archive.feed(response(b"<p>a" * 999))
                    value = archive.next()
                except hpar.Error as error:
                    busy.append(str(error))
                else:
                    found.extend([value] if value else [])
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(busy) - {"another thread reads the archive"}, set())
        self.assertEqual({value[0] for value in found}, {None})


if __name__ == "__main__":
    unittest.main()
