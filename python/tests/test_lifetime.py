"""Memory, cycles, threads, forks and interpreters. HPAR_TEST_FULL=1 tests 100,000 live documents and 1,000,000 parses.
Otherwise HPAR_TEST_SCALE is a percentage of smaller counts."""
import gc
import os
import subprocess
import sys
import threading
import unittest
import weakref

import hpar

FULL = "HPAR_TEST_FULL" in os.environ
SANITIZED = "HPAR_TEST_SANITIZER" in os.environ
PAGE = ("<!doctype html><title>t</title>" + "<p class=a id=b>one &amp; two<b>three</b><a href=c>d</a>" * 180).encode()

# The collector clears the objects of a cycle in the order of their creation here: the view before its document.
VIEWS = """
import array, ctypes, gc, weakref
import hpar

class Page:
    pass

for data in (b"<p>x", bytearray(b"<p>x"), array.array("B", b"<p>x"), (ctypes.c_char * 4)(*b"<p>x")):
    for make in (lambda view: hpar.parse(view, copy=False), lambda view: hpar.parse(view, copy=False).body,
                 lambda view: list(hpar.parse_many([view], copy=False))):
        view, page = memoryview(data), Page()
        page.me, page.made, reference = page, make(view), weakref.ref(page)
        del page, view
        gc.collect()
        assert reference() is None
    if isinstance(data, bytearray):
        data.append(0)  # BufferError, if a document or a view still had it
"""


def scaled(full, usual, sanitized):
    """The count of a test."""
    if FULL and not SANITIZED:
        return full
    percent = float(os.environ.get("HPAR_TEST_SCALE", "100"))
    return max(30, int((sanitized if SANITIZED else usual) * percent / 100))


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Lifetime(unittest.TestCase):
    def test_many_documents_live_at_once(self):
        count = scaled(100_000, 10_000, 500)
        documents = [hpar.parse(PAGE) for _ in range(count)]
        self.assertTrue(all(d.css_first("b").text() == "three" for d in documents[::97]))

    def test_parses_do_not_grow(self):
        count = scaled(1_000_000, 50_000, 1000)
        small = b"<p class=a>b&amp;c<i>d</i>"
        before = 0
        for i in range(count):
            document = hpar.parse(small if i % 50 else PAGE, max_errors=i % 3)
            document.css("b, i")[0].text()
            document.css_first("p").attrs["class"]
            document.html
            if i == count // 3:
                before = resident_bytes()
        if not SANITIZED:
            self.assertLess(resident_bytes() - before, 4 << 20)

    def test_other_calls_do_not_grow(self):
        document = hpar.parse(PAGE, positions=True)
        rules = [("p", "set", "a", "b")]
        before = 0
        rounds = scaled(2000, 100, 30)
        for i in range(rounds):
            document.table()
            document.rewrite(rules)
            document.to_etree()
            document.links("https://example.org/")
            document.resources()
            document.stats, document.errors, document.tree
            list(document.traverse())[-1].parent
            list(hpar.parse_many([PAGE] * 4, threads=2))
            hpar.explain(PAGE, chunks=4)
            for wrong in ("p[", "p:x"):
                self.assertRaises(hpar.SelectorError, document.css, wrong)
            if i == rounds // 3:
                before = resident_bytes()
        if not SANITIZED:
            self.assertLess(resident_bytes() - before, 4 << 20)

    def test_changes_and_callbacks_do_not_grow(self):
        other = hpar.parse("<section>s<template>t</template></section>", fragment="div").css_first("section")
        before = 0
        rounds = scaled(100_000, 1000, 100)

        def change(element):
            element.set("a", "b")
            element.on_end(lambda end: end.after("c"))

        def fail(text):
            raise KeyError(text.text)

        rules, failing = hpar.Rules([("p", change)]), hpar.Rules([("p", "text", fail)])
        for i in range(rounds):
            document = hpar.parse(PAGE, editable=True)
            first = document.css_first("p")
            first.insert_before(other)
            first.inner_html = "<x-new>1</x-new>" * (1 + i % 500)
            first.clone().attrs["a"] = "b"
            document.unwrap_tags(["b"])
            document.freeze().edit().create_tag("i")
            hpar.rewrite(PAGE, rules)
            self.assertRaises(KeyError, hpar.rewrite, PAGE, failing)
            self.assertRaises(ValueError, first.insert_child, document.node)
            if i == rounds // 3:
                before = resident_bytes()
        if not SANITIZED:
            self.assertLess(resident_bytes() - before, 4 << 20)

    def test_node_keeps_document(self):
        node = hpar.parse(bytes(PAGE)).css("b")[5]
        gc.collect()
        self.assertEqual(node.text(), "three")
        iterator = hpar.parse(PAGE).traverse()
        gc.collect()
        self.assertGreater(len(list(iterator)), 500)

    def test_document_is_freed(self):
        document = hpar.parse(PAGE)
        reference = weakref.ref(document)
        node = document.body
        del document
        self.assertIsNotNone(reference())
        del node
        self.assertIsNone(reference())

    def test_cycles(self):
        class Page(bytes):
            pass

        class Mark:
            pass

        def started(page):
            iterator = hpar.parse_many([page] * 3)
            next(iterator)
            return iterator

        for make in (lambda page: hpar.parse(page), lambda page: hpar.parse(page).body,
                     lambda page: hpar.parse(page).css("p"), lambda page: hpar.parse(page).body.attrs,
                     lambda page: hpar.parse(page).traverse(), lambda page: hpar.parse(page).table(), started):
            page = Page(PAGE)
            page.value, page.mark = make(page), Mark()
            reference = weakref.ref(page.mark)
            del page
            gc.collect()
            self.assertIsNone(reference())

    def test_cycles_beside_a_view(self):
        # A crash of the collector would end this process.
        subprocess.run([sys.executable, "-c", VIEWS], check=True)


class Threads(unittest.TestCase):
    def run_threads(self, function, count=4):
        failures = []

        def run():
            try:
                function()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_shared_document(self):
        document = hpar.parse(b"<p title='a&amp;b&nGt;'>x" * 2000, positions=True)
        reference = hpar.parse(b"<p title='a&amp;b&nGt;'>x" * 2000)
        html, count = reference.html, len(reference.css("p"))

        def use():
            for _ in range(3):
                self.assertEqual(document.css("p")[7].attributes, {"title": "a&b\u226b\u20d2"})
                self.assertEqual(len(document.css("p[title]")), count)
                self.assertEqual(document.html, html)
                self.assertEqual(len(document.text()), count)
                self.assertEqual(len(document.table()), count * 2 + 4)
                self.assertEqual(document.css_first("p").start_tag, (0, 24))
                self.assertEqual(len(list(document.traverse())), count + 4)

        self.run_threads(use)

    def test_parses_at_once(self):
        page = PAGE * 30
        html = hpar.parse(page).html

        def use():
            for _ in range(3):
                self.assertEqual(hpar.parse(page, threads=2, mode="parallel").html, html)
                self.assertEqual(hpar.parse(page).css("b")[-1].text(), "three")

        self.run_threads(use, 6)

    def test_fork(self):
        if SANITIZED:
            self.skipTest("the thread sanitizer does not support threads after a fork")
        hpar.parse(PAGE * 30, threads=2, mode="parallel")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = int(hpar.parse(PAGE * 30, threads=2, mode="parallel").css_first("b").text() != "three")
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Interpreters(unittest.TestCase):
    def test_subinterpreters(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            self.skipTest("this Python has no module for sub-interpreters")
        script = "import hpar\nfor _ in range(3):\n assert hpar.parse('<p>a').css('p')[0].text() == 'a'\n"
        for _ in range(3):
            interpreter = interpreters.create()
            try:
                interpreters.run_string(interpreter, f"import sys\nsys.path[:] = {sys.path!r}\n{script}")
            finally:
                interpreters.destroy(interpreter)
        self.assertEqual(hpar.parse("<p>a").css("p")[0].text(), "a")

    def test_exit_with_live_objects(self):
        script = ("import hpar, threading\nd = hpar.parse('<p>a' * 1000)\nn = d.css('p')\n"
                  "class X:\n    def __del__(self): n[0].text(); d.css('p')\nx = X(); x.x = x\n"
                  "i = hpar.parse_many(['<p>a'] * 500, threads=2); next(i)\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        done = subprocess.run([sys.executable, "-c", script], env=environment, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
