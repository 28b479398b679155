"""Pickle, copy and deepcopy: equal trees, of changed documents as well. Any bytes are either a tree or an error."""
import copy
import multiprocessing
import pickle
import random
import unittest

import hpar
from hpar import _core
from test_peers import SHARED, fixtures, pages

PAGE = ("<!--a--><!doctype html public 'x\"y' \"z\"><!--b--><title>t</title><body><p class='a &amp; \"b\"' id=x>one<b>two</p>"
        "<svg xlink:href='a&quot;&amp;' viewbox=1 xml:lang=de><foreignobject><p>z</foreignobject><g XLINK:TITLE=c>"
        "<path/></svg><math definitionurl=u xlink:href=v><mi>m</math><template id=t>in<template><i>deep</template></template>"
        "<?target some data?><pre>\n\nx</pre><plaintext>&lt;</body>")
DOCTYPES = ("", "<!doctype>", "<!doctype html>", "<!doctype html public>", "<!doctype html system 'about:legacy-compat'>",
            "<!doctype html public '-//W3C//DTD HTML 4.01 Frameset//EN'>", "<!doctype html public \"a'b\">",
            "<!doctype html public '-//W3C//DTD HTML 4.01 Frameset//EN' ''>", "<!doctype html system ''>",
            "<!doctype html public '-//W3C//DTD XHTML 1.0 Frameset//EN' 'x'>", "<!doctype html public 'a' 'b",
            "<!doctype html public 'a' x>", "<!doctype \"q\">", "<!doctype html system 'a\"b'>", "<!doctype html public ''>")


def same(test, document, other):
    test.assertEqual(other.tree, document.tree)
    test.assertEqual(other.html, document.html)
    test.assertEqual((other.quirks, other.encoding, other.editable), (document.quirks, document.encoding, document.editable))


def by_nodes(document):
    """The copy of a document that travels as its nodes."""
    return _core._load(document._save(), document.editable)


def title_of(page):
    return hpar.parse(page)


class Documents(unittest.TestCase):
    def test_input(self):
        options = {"positions": True, "max_errors": 9, "scripting": True}
        for data in (PAGE, PAGE.encode(), bytearray(PAGE.encode()), memoryview(PAGE.encode())):
            document = hpar.parse(data, **options)
            for other in (pickle.loads(pickle.dumps(document)), copy.copy(document), copy.deepcopy(document)):
                same(self, document, other)
                self.assertEqual(other.errors, document.errors)
                self.assertEqual(other.find("p").start_tag, document.find("p").start_tag)
        self.assertIs(copy.copy(document := hpar.parse(PAGE)).data, document.data)
        data = PAGE.encode()
        for view in (memoryview(b"<b>x</b>" + data)[8:], memoryview(data + b"<b>")[:-3]):
            same(self, hpar.parse(view), copy.copy(hpar.parse(view)))
        cyrillic = hpar.parse("\u0436".encode("cp1251"), encoding="cp1251")
        same(self, cyrillic, pickle.loads(pickle.dumps(cyrillic)))
        same(self, hpar.parse("<td>a", fragment="tr"), copy.copy(hpar.parse("<td>a", fragment="tr")))

    def test_limits_of_changes(self):
        # The page itself has more nodes, because edit() counts those of changes only.
        for document in (hpar.parse("<p>x", editable=True, limits={"nodes": 20}), hpar.parse(PAGE).edit(limits={"nodes": 2})):
            for other in (pickle.loads(pickle.dumps(document)), copy.copy(copy.copy(document)), copy.deepcopy(document)):
                self.assertRaises(hpar.LimitError, lambda: [other.body.append("<b>") for _ in range(30)])
        document.freeze()
        copy.copy(document).edit().body.append(document.css_first("svg"))

    def test_nodes(self):
        for data in (PAGE, *(doctype + "<p>a" for doctype in DOCTYPES)):
            for editable in (False, True):
                document = hpar.parse(data, editable=editable)
                same(self, document, by_nodes(document))
                same(self, document, by_nodes(by_nodes(document)))
        fragment = hpar.parse("a<td>b<!--c--><template>d</template>", fragment="tr")
        same(self, fragment, by_nodes(fragment))
        same(self, hpar.parse("", fragment="div"), by_nodes(hpar.parse("", fragment="div")))

    def test_changes(self):
        document = hpar.parse(PAGE, editable=True)
        document.find("b").wrap("i")["x"] = "&<>\""
        document.find("template").append("a child of the element itself")
        document.find("title").clear()
        document.children[1].decompose()
        document.body.append("a")
        document.body.append("b")
        document.find("g")["d"] = "e"
        document.body.append(document.create_tag("br", namespace="svg"))
        other = pickle.loads(pickle.dumps(document))
        same(self, document, other)
        self.assertEqual(len(other.find("template").children), 1)
        self.assertIsNone(other.data)
        other.find("g")["d"] = "f"
        self.assertEqual(document.find("g")["d"], "e")
        document.freeze()
        same(self, document, copy.copy(document))

    def test_changes_that_no_parse_makes(self):
        document = hpar.parse("<svg a=1 xlink:href=x b=2><font xlink:href='&#13;&quot;&amp;'/><?a b?></svg><?c?>", editable=True)
        svg, font = document.find("svg"), document.find("font")
        for node in (svg, font):
            node["viewbox"] = node["Upper"] = node["color"] = "1"
            node["b"] = node["c"] = "\r\n\0<>\"&"
        del svg["a"]
        for instruction in (node for node in document.descendants if node.type == "processing-instruction"):
            instruction.string = "x>y?>"
        same(self, document, by_nodes(document))
        for one, other in zip(document.descendants, by_nodes(document).descendants):
            self.assertEqual(list(one.attributes.items()), list(other.attributes.items()))
            self.assertEqual(one.data, other.data)
        self.assertIn('xlink href="x"', by_nodes(document).tree)

    def test_many_attributes(self):
        """Memory that grows with the square of the number of attributes takes 72 MB here."""
        for name in ("p", "x-y", "svg", "path"):
            page = f"<svg><{name} xlink:href=x " if name == "path" else f"<{name} "
            document = hpar.parse(page + " ".join(f"a{i}='&{i}'" for i in range(3000)) + ">", editable=True)
            other = by_nodes(document)
            same(self, document, other)
            self.assertLess(other.memory, 4 << 20)
        document = hpar.parse("<body " + " ".join(f"a{i}" for i in range(100)) + ">")
        same(self, document, by_nodes(document))

    def test_partial(self):
        with self.assertRaises(hpar.LimitError) as raised:
            hpar.parse(PAGE, limits={"nodes": 12})
        error = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual(error.document.tree, raised.exception.document.tree)
        self.assertEqual(str(error), str(raised.exception))
        parser = hpar.Parser()
        parser.feed(PAGE)
        document = parser.close()
        same(self, document, copy.deepcopy(document))

    def test_deep(self):
        for name in ("div", "svg", "b", "template"):
            document = hpar.parse(f"<{name}>" * 100_000)
            self.assertEqual(by_nodes(document).html, document.html)

    def test_processes(self):
        pages_ = [f"<title>{i}</title>" + PAGE for i in range(20)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            for page, document in zip(pages_, pool.map(title_of, pages_)):
                same(self, hpar.parse(page), document)

    def test_other_objects(self):
        selector = pickle.loads(pickle.dumps(hpar.Selector("p > b")))
        self.assertEqual(len(hpar.parse("<p><b>").css(selector)), 1)
        self.assertRaises(TypeError, pickle.dumps, hpar.parse("<p>").css("p"))

    @unittest.skipUnless(SHARED, "no html5lib-tests: set HPAR_SHARED")
    def test_fixtures(self):
        for data, fragment, _ in fixtures():
            document = hpar.parse(data, fragment=fragment)
            with self.subTest(data):
                same(self, document, by_nodes(document))

    @unittest.skipUnless(SHARED, "no pages: set HPAR_SHARED")
    def test_pages(self):
        for name, page in pages():
            document = hpar.parse(page)
            with self.subTest(name):
                same(self, document, by_nodes(document))


class SingleNodes(unittest.TestCase):
    def test_kinds(self):
        document = hpar.parse(PAGE, editable=True)
        for node in document.node.traverse(include_text=True):
            for other in (pickle.loads(pickle.dumps(node)), copy.copy(node), copy.deepcopy(node)):
                self.assertEqual((other.type, other.data, other.attributes), (node.type, node.data, node.attributes))
                if node.type != "text":  # whose HTML depends on the parent
                    self.assertEqual(other.html, node.html)
                self.assertIsNone(other.parent)
                self.assertNotEqual(other.document, document)
                self.assertTrue(other.document.editable)
                self.assertEqual(other.document.quirks, document.quirks)
        contents = copy.copy(document.find("template").contents)
        self.assertEqual((contents.type, contents.inner_html), ("fragment", "in<template><i>deep</i></template>"))

    def test_use(self):
        p = copy.deepcopy(hpar.parse(PAGE, editable=True).find("p"))
        p["id"] = "y"
        p.find("b").decompose()
        self.assertEqual(p.html, '<p class="a &amp; &quot;b&quot;" id="y">one</p>')
        first, second = pickle.loads(pickle.dumps([p, p]))
        self.assertEqual((first.html, first), (p.html, second))


class Bytes(unittest.TestCase):
    def test_damage(self):
        good = hpar.parse(PAGE)._save()
        source = random.Random(5)
        for _ in range(4000):
            bad = bytearray(good)
            for _ in range(source.randrange(1, 4)):
                at = source.randrange(len(bad))
                if source.random() < 0.2:
                    del bad[at:]
                    bad.append(source.randrange(256))
                else:
                    bad[at] = source.choice((0, 255, 0x7B, 0x7D, 0x2F, 0x45, 0x44, source.randrange(256)))
            try:
                loaded = _core._load(bytes(bad), False)
            except (ValueError, MemoryError):
                continue
            (loaded if isinstance(loaded, hpar.Node) else loaded.node).html
        for bad in (b"", b"\x01", b"\x02\x00\x00\x00", b"\x01\x04\x00\x00", b"\x01\x00\x00\x00/", b"\x01\x00\x00\x00}",
                    b"\x01\x04\x00\x00E\x01\x01p\x00", b"\x01\x04\x00\x00E\x01\x01p\x00}", b"\x01\x04\x00\x00E\x01\x01p\x00{}/",
                    b"\x01\x04\x00\x00E\x01\x01p\x01\x04\x00\x01a\x00/"):
            self.assertRaises(ValueError, _core._load, bad, False)
        self.assertRaises(TypeError, _core._load, "a", False)


if __name__ == "__main__":
    unittest.main()
