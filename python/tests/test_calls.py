"""Random calls of random methods with random arguments: any exception is fine, except SystemError, and no crash.

HPAR_TEST_FULL=1 makes 1,000,000 calls. HPAR_TEST_SEED chooses others. A debug interpreter also counts references."""
import asyncio
import copy
import gc
import io
import os
import pathlib
import pickle
import random
import sys
import unittest

import hpar

CALLS = 1_000_000 if "HPAR_TEST_FULL" in os.environ else 20_000
SEED = int(os.environ.get("HPAR_TEST_SEED", "1"))
PAGES = ("<!doctype html><title>t</title><p class='a b' id=x>one<b>two</b><!--c--> three<p><a href=u>v</a><ul><li>1<li>2</ul>",
         "<table><tr><td>1<td>2<template><i>in</i></template></table><svg xlink:href=y><path/></svg><?pi x?>",
         "<div><div><div>deep</div></div></div><script>s</script><form><input name=q></form>", "")
NAMES = ("a", "b", "p", "div", "class", "id", "href", "xlink:href", "", "<", "ä", "\ud800", "a b", "template", "svg")
SELECTORS = ("p", "*", "a[href]", "> p", "p:contains('o')", "p::text", "a::attr(href)", ":scope > *", "li:nth-child(2)", "[", "b, i",
             ":has(b)", "::text", "p:contains(x), b", "template", ":not(p)")
EXPRESSIONS = ("//p", "..", "//@*", "//b | $x", "//text()[last()]/following::node()", "$x/ancestor::*[1]", "count(//*) + $x", "//p[$x]",
               "//*[preceding-sibling::*]/..", "string($x)", "id('x')/descendant-or-self::node()", "translate(., $x, 'y')", "/..", "[")
# Those that take long, start threads or processes, or end the test.
ARCHIVE = (b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Length: 48\r\n\r\n"
           b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n<title>a</title><p>b\r\n\r\n")
LEFT_OUT = {"explain", "to_dom", "to_lxml", "__class__", "__init__", "__new__", "__del__", "__init_subclass__", "__subclasshook__",
            "__getattribute__", "__setattr__", "__delattr__", "__dir__", "__doc__", "__sizeof__"}


class Calls:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.objects = []
        self.refused = self.depth = 0

    def new_object(self):
        page = self.random.choice(PAGES)
        kind = self.random.randrange(13)
        if kind < 4:
            return hpar.parse(page, editable=self.random.random() < 0.7, positions=self.random.random() < 0.3,
                              fragment=self.random.choice((None, None, None, "div", "tr")))
        if kind == 4:
            return hpar.Parser(limits=self.random.choice((None, {"nodes": 9})))
        if kind == 5:
            rules = [(choice, unit, self.receive) for unit in ("element", "element:end", "text", "comment")
                     for choice in ("p", "*", "b") if self.random.random() < 0.3]
            rules += [(None, unit, self.receive) for unit in ("doctype", "end", "text")]
            return hpar.Rewriter([("p", "set", "a", "b"), *rules], limits=self.random.choice((None, {"memory": 2000})))
        if kind == 6:
            return hpar.Selector(self.random.choice(("p", "a b", "*")))
        if kind == 7:
            archive = bytearray(ARCHIVE * 2)
            if self.random.random() < 0.5:
                archive[self.random.randrange(len(archive))] = self.random.randrange(256)
            return hpar.warc.records(io.BytesIO(archive))
        if kind == 8:
            return hpar._core._open_archive(self.random.choice((1 << 20, 60)))
        if kind == 9:
            return hpar._core._start_batch([self.random.choice(PAGES) for _ in range(3)], threads=1)
        if kind == 10:
            return hpar.Rules([("p", self.receive)])
        if kind == 11:
            return hpar.XPath(self.random.choice(EXPRESSIONS[:-1]))
        return hpar.parse(page).table()

    def receive(self, unit):
        """A function of a rewriter. It keeps what it receives, and calls methods, perhaps of that rewriter."""
        self.depth += 1
        try:
            if self.depth < 3:
                self.objects.append(unit)
                for _ in range(self.random.randrange(3)):
                    self.step()
            if self.random.random() < 0.05:
                raise ValueError
            return self.random.choice((None, None, None, None, "retire", 1))
        finally:
            self.depth -= 1

    def argument(self):
        choose = self.random.random()
        if choose < 0.05:
            return self.random.choice((ARCHIVE, ARCHIVE[:50], *PAGES))
        if choose < 0.3 and self.objects:
            return self.random.choice(self.objects)
        if choose < 0.5:
            return self.random.choice(SELECTORS)
        if choose < 0.55:
            return self.random.choice(EXPRESSIONS)
        if choose < 0.8:
            return self.random.choice(NAMES)
        return self.random.choice((None, True, False, 0, 1, -1, 2, 1 << 70, 0.5, b"", b"<p>x", "<b>y</b>", [], ["p", "b"], (), {},
                                   {"class": "a"}, slice(0, 2), slice(None, None, -1), lambda *_: True, int, sys, hpar.parse("z")))

    def call(self):
        target = self.random.choice(self.objects)
        if self.random.random() < 0.02:
            way = self.random.choice((copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value)), repr, str, hash, len,
                                      iter, list, bool))
            return way(target)
        name = self.random.choice([name for name in dir(target) if name not in LEFT_OUT])
        if self.random.random() < 0.1:
            return setattr(target, name, self.argument())
        member = getattr(target, name)
        if not callable(member):
            return member
        arguments = [self.argument() for _ in range(self.random.choice((0, 0, 1, 1, 1, 2, 3)))]
        keywords = {}
        if self.random.random() < 0.2:
            keywords[self.random.choice(("default", "strict", "deep", "html", "all", "limit", "name", "separator", "x"))] = self.argument()
        return member(*arguments, **keywords)

    def finish(self, coroutine):
        """Runs a coroutine of a rewriter, or leaves it in the middle."""
        try:
            if self.random.random() < 0.8:
                coroutine.send(None)
        except Exception:
            self.refused += 1
        coroutine.close()

    def step(self):
        if len(self.objects) < 4 or self.random.random() < 0.02:
            self.objects.append(self.new_object())
        try:
            result = self.call()
        except SystemError:
            raise
        except Exception:
            self.refused += 1
            return
        if asyncio.iscoroutine(result):
            self.finish(result)
        elif type(result).__module__.startswith("hpar") or type(result).__name__ in ("Children", "Descendants"):
            self.objects.append(result)
        if len(self.objects) > 60:
            del self.objects[:30]
        # Copies of copies grow.
        self.objects = [value for value in self.objects if not isinstance(value, hpar.Document) or value.memory < 1 << 20]


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except Exception:
        return None


def fail(_):
    raise KeyError


class References:
    """Calls that need equally many references before and after, also those that fail."""

    def __init__(self):
        self.page = PAGES[0] + PAGES[1]
        self.document, self.edited = hpar.parse(self.page), hpar.parse(self.page, editable=True)

    def call_parse(self):
        hpar.parse(self.page)
        hpar.parse(io.BytesIO(self.page.encode()))
        attempt(hpar.parse, pathlib.Path("/none"))
        attempt(lambda: hpar.parse(self.page, limits={"nodes": 5}))
        list(hpar.parse_many([self.page, self.page], threads=2))
        attempt(lambda: list(hpar.parse_many([self.page, b"a"])))

    def call_streams(self):
        parser = hpar.Parser(limits={"nodes": 3})
        attempt(parser.feed, self.page * 300)
        attempt(parser.close)
        hpar.Parser().feed(self.page)
        for function in (fail, lambda element: element.on_end(lambda end: None)):
            rewriter = hpar.Rewriter([("b", function), ("p", "set", "a", "b")])
            attempt(rewriter.feed, self.page)
            attempt(rewriter.close)

    def call_nodes(self):
        repr(self.document), [repr(node) for node in self.document.descendants]
        node = self.document.find("b")
        node.parents, node.next_siblings, node.children, list(node), len(node), bool(node), node.string, node.get("a")
        attempt(lambda: node["none"]), attempt(lambda: node[0]), node.strings, node.closest("p")
        self.document.title, self.document.get_text("|", strip=True)
        self.document._events(), self.document._tag_ends(), self.document._origin()

    def call_xpath(self):
        for expression in EXPRESSIONS:
            for value in (1, "one", self.document.css("b"), [self.document], self.document.find("p")):
                attempt(lambda: self.document.xpath(expression, x=value))
            attempt(lambda: self.edited.xpath(hpar.XPath(expression)))
        attempt(hpar.XPath, "\ud800"), attempt(hpar.XPath("//p"), self.document, 1), attempt(hpar.XPath("//p"), self)

    def call_selections(self):
        document = self.document
        document.find_all("p", {"class": "b"}, id=True), document.find_all(string="two")
        document.getall("p::text"), document.getfirst("b"), document.css("p:contains(two)"), document.find("p").css("> b")
        document.css_first("p:contains(x)")
        attempt(document.css, "["), attempt(document.css, "p::text"), attempt(document.getall, "a::text, a")

    def call_copies(self):
        for value in (self.document, self.edited, self.document.find("p"), self.document.find("template").contents):
            pickle.loads(pickle.dumps(value)), copy.copy(value)
        attempt(hpar._core._load, b"x", False)

    def call_changes(self):
        node = self.edited.find("b")
        node.attrs.update(z="1"), node.attrs.pop("z"), node.attrs == {"a": 1}, node.attrs == node.attrs
        node.text = node.string = "a"
        attempt(setattr, self.document.find("b"), "text", "a"), attempt(delattr, node, "text")
        self.edited.body.append(node), self.edited.body.insert(0, node), node.wrap("i").unwrap()

    def growth(self, call):
        for _ in range(5):
            call()
        gc.collect()
        before = sys.gettotalrefcount()
        for _ in range(50):
            call()
        gc.collect()
        return sys.gettotalrefcount() - before


class Methods(unittest.TestCase):
    def test_calls(self):
        calls = Calls(SEED)
        for number in range(CALLS):
            try:
                calls.step()
            except SystemError as error:
                self.fail(f"call {number} of seed {SEED}: {error!r}")
        self.assertLess(calls.refused, CALLS * 0.9)
        self.assertGreater(calls.refused, CALLS * 0.05)

    @unittest.skipUnless(hasattr(sys, "gettotalrefcount") and "pydebug" in hpar.__file__, "no debug build of the interpreter")
    def test_references(self):
        references = References()
        for name in dir(references):
            if name.startswith("call_"):
                self.assertLess(abs(references.growth(getattr(references, name))), 25, name)

    def test_inputs_that_change_their_list(self):
        class File:
            def read(self):
                inputs.clear()
                return b"<p>a"

        inputs = [File(), File(), "/none"]
        self.assertRaises(TypeError, hpar._core._start_batch, inputs)
        self.assertEqual(inputs, [])

    def test_missing_arguments(self):
        """Each method refuses arguments that it does not take, with TypeError and without a change."""
        document = hpar.parse(PAGES[0], positions=True, editable=True)
        for value in (document, document.find("p"), document.css("p"), document.find("p").attrs):
            for name in dir(type(value)):
                member = getattr(value, name)
                if not name.startswith("_") and callable(member) and type(member).__name__.startswith("builtin"):
                    with self.assertRaises((TypeError, ValueError), msg=name):
                        member(1, 2, 3, 4, 5, 6)
        self.assertEqual(document.html, hpar.parse(PAGES[0]).html)


if __name__ == "__main__":
    unittest.main()
