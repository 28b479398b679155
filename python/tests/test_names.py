"""The names that users of Beautiful Soup, lxml and parsel know: finding, containers, changes, inputs, representations."""
import collections.abc
import io
import os
import pathlib
import re
import tempfile
import unittest

import hpar

try:
    from bs4 import BeautifulSoup, NavigableString

    import hpar.bs4
except ImportError:
    BeautifulSoup = None

PAGE = ("<!doctype html><title> A  page </title><body id=b><p class='a b' id=x>one<b data-n=1>two</b><!--c--> three</p>"
        "<p class=b title='say &quot;hi&quot;'>four<p>five<i>six</i><script>s()</script></p><img alt>"
        "<svg viewBox=1 xlink:href=y><path d='M0 0'/></svg><a href=one>1</a><a href=TWO>2</a><a>3</a></body>")


def text_of(tag):
    """The text of a node of Beautiful Soup, with that of scripts."""
    return str(tag) if isinstance(tag, str) else "".join(text for text in tag.descendants if type(text) is NavigableString)


class Find(unittest.TestCase):
    QUERIES = (
        ("p",), ("p", {"class": "b"}), ("p", "a"), (None, {"id": "x"}), (["b", "i"],), (re.compile("^[bi]$"),), (True,),
        ("a", {"href": True}), ("a", {"href": None}), ("a", {"href": "TWO"}), ("a", {"href": "two"}),
        ("a", {"href": re.compile("^o")}), ("a", {"href": ["one", "TWO"]}), ("p", {"title": 'say "hi"'}),
        (None, {"class": "a b"}), (None, {"class": "b a"}), (None, {"class": re.compile("^b")}),
        (None, {"data-n": "1"}), ("img", {"alt": ""}), ("path",), (None, {"viewBox": "1"}), ("none",), ([],),
        (None, {"class": ["a", "z"]}), (None, {"alt": True}),
    )

    @unittest.skipIf(BeautifulSoup is None, "bs4 not found (Debian: python3-bs4)")
    def test_against_beautiful_soup(self):
        document, soup = hpar.parse(PAGE), BeautifulSoup(PAGE, "hpar")
        for query in self.QUERIES:
            with self.subTest(query):
                expected = [(tag.name, text_of(tag)) for tag in soup.find_all(*query)]
                if query == ([],):
                    expected = []  # Beautiful Soup takes an empty list for no condition
                self.assertEqual([(node.name, node.text()) for node in document.find_all(*query)], expected)
                first = document.find(*query)
                self.assertEqual(first and first.name, expected[0][0] if expected else None)
        for options in ({"id": "x"}, {"class_": "b"}, {"id": True}, {"string": "two"}, {"id": None, "name": "p"}):
            with self.subTest(options):
                self.assertEqual([node.text() for node in document.find_all(**options)],
                                 [text_of(tag) for tag in soup.find_all(**options)])

    @unittest.skipIf(BeautifulSoup is None, "bs4 not found (Debian: python3-bs4)")
    def test_lists_of_words(self):
        page = "<a rel='nofollow  noopener'>1</a><a rel=nofollow>2</a><p rel='nofollow x'>3</p><td headers='a b'>4<b class='c d'>5"
        document, soup = hpar.parse(page), BeautifulSoup(page, "hpar")
        for query in ({"rel": "nofollow"}, {"rel": "nofollow noopener"}, {"rel": re.compile("^no")}, {"rel": ["noopener", "x"]},
                      {"headers": "b"}, {"class": "c d"}, {"class": lambda value: value == "d"}, {"rel": "nofollow x"}):
            self.assertEqual([node.text() for node in document.find_all(attrs=query)],
                             [text_of(tag) for tag in soup.find_all(attrs=query)], query)
        self.assertEqual(document.find_all(text="5"), document.find_all(string="5"))
        self.assertEqual(document.find("b", text="5").name, "b")

    def test_conditions(self):
        document = hpar.parse(PAGE)
        self.assertEqual([n.name for n in document.find_all(lambda node: node.get("href"))], ["a", "a"])
        self.assertEqual([n["href"] for n in document.find_all("a", href=lambda value: value and value.islower())], ["one"])
        self.assertEqual([n.text() for n in document.find_all("a", limit=2)], ["1", "2"])
        self.assertEqual(document.body.find_all(recursive=False), list(document.body.iter()))
        self.assertEqual(document.find("b", string="two")["data-n"], "1")
        self.assertEqual(document.find_all(string=re.compile("^t"))[0].data, "two")
        self.assertIsInstance(document.find_all("p"), hpar.Nodes)
        self.assertEqual(document.find_all("p"), document.select("p"))
        self.assertEqual(document.select_one("p"), document.find("p"))
        self.assertEqual(document.select_one("q", "none"), "none")
        b = document.find("b")
        self.assertEqual(b.closest("p")["id"], "x")
        self.assertEqual((b.closest("b"), b.closest("q")), (b, None))

    def test_quotes_and_escapes(self):
        for value in ('a"b', "a\\b", "a\nb", "a'b", "]", "\x7f", "ä", "1 s", ""):
            document = hpar.parse("<i></i><b></b>", editable=True)
            document.find("b")["x"] = value
            self.assertEqual(document.find_all(x=value), [document.find("b")], repr(value))


class Containers(unittest.TestCase):
    def setUp(self):
        self.document = hpar.parse(PAGE)
        self.p = self.document.find("p")

    def test_node(self):
        p = self.p
        self.assertEqual([child.type for child in p], ["text", "element", "comment", "text"])
        self.assertEqual((len(p), p.children[1:3], list(p)), (4, [p.children[1], p.children[2]], list(p.children)))
        self.assertEqual([n.type for n in p.descendants], ["text", "element", "text", "comment", "text"])
        self.assertEqual([n.tag for n in p.find("b").parents], ["p", "body", "html", "-document"])
        self.assertEqual([n.type for n in p.children[1].next_siblings], ["comment", "text"])
        self.assertEqual([n.type for n in p.children[2].previous_siblings], ["element", "text"])
        self.assertTrue(self.document.find("img"))
        self.assertEqual(len(self.document.find("img")), 0)
        self.assertIn(p.find("b"), p)
        self.assertEqual((p["id"], p.get("id"), p.get("no"), p.get("no", 1)), ("x", "x", None, 1))
        self.assertRaises(KeyError, lambda: p["no"])
        self.assertRaises(TypeError, lambda: p[0])
        self.assertRaises(KeyError, lambda: p.children[0]["id"])

    def test_document(self):
        self.assertEqual([n.tag for n in self.document], ["-doctype", "html"])
        self.assertEqual((len(self.document), self.document.children), (2, list(self.document)))
        self.assertEqual(len(self.document.descendants), len(list(self.document.node.traverse(include_text=True))) - 1)
        self.assertTrue(hpar.parse("", fragment="div"))
        self.assertEqual(self.document.title, "A page")
        self.assertIsNone(hpar.parse("a").title)

    def test_text(self):
        self.assertEqual(self.p.string, None)
        self.assertEqual((self.p.find("b").string, self.p.children[0].string, self.p.children[2].string),
                         ("two", "one", "c"))
        self.assertIsNone(self.document.find("img").string)
        last = self.document.select("p")[-1]
        self.assertEqual(last.strings, ["five", "six", "s()"])
        self.assertEqual(last.get_text("|"), "five|six")
        self.assertEqual(last.find("script").get_text(), "s()")
        self.assertEqual(hpar.parse("<p> a <b>\xa0</b>\n<i> c").find("p").stripped_strings, ["a", "c"])
        self.assertEqual(hpar.parse("<p> a <b>\xa0</b>\n<i> c").get_text("-", strip=True), "a-c")
        edited = hpar.parse("<p>a<script>b</script>c", editable=True)
        edited.find("script").insert_child(edited.create_tag("i"))
        edited.find("i").insert_child("d")
        self.assertEqual(edited.get_text(), "ac")
        self.assertRaises(TypeError, self.p.get_text, 3)

    def test_attributes(self):
        document = hpar.parse("<p a=1 b=2>", editable=True)
        p = document.find("p")
        attrs = p.attrs
        self.assertIsInstance(attrs, collections.abc.MutableMapping)
        self.assertEqual(attrs, {"a": "1", "b": "2"})
        self.assertEqual(attrs, p.attrs)
        self.assertNotEqual(attrs, {"a": "1"})
        self.assertNotEqual(attrs, 3)
        self.assertEqual((attrs.pop("a"), attrs.pop("a", None), attrs.setdefault("c", "3"), attrs.setdefault("b", "4")),
                         ("1", None, "3", "2"))
        self.assertRaises(KeyError, attrs.pop, "a")
        attrs.update({"b": "5"}, d="6")
        attrs.update([("e", "7")])
        self.assertEqual(p.attributes, {"b": "5", "c": "3", "d": "6", "e": "7"})
        self.assertEqual(attrs.popitem(), ("b", "5"))
        attrs.clear()
        self.assertEqual((attrs.setdefault("g"), attrs.pop("g"), p.html), ("", "", "<p></p>"))
        p["x"] = "y"
        self.assertEqual(p.html, '<p x="y"></p>')
        del p["x"]
        with self.assertRaises(KeyError):
            del p["x"]
        with self.assertRaises(TypeError):
            self.p["x"] = "y"
        self.assertRaises(TypeError, self.p.attrs.pop, "id")
        self.assertRaises(TypeError, hash, attrs)


class Changes(unittest.TestCase):
    def setUp(self):
        self.document = hpar.parse("<ul><li>1<li>2<li>3</ul><p>a<b>c</b>", editable=True)

    def html(self):
        return self.document.body.inner_html.replace("</li>", "")

    def test_moves(self):
        items = self.document.find("ul")
        items.append(items.children[0])
        self.assertEqual(items.text(), "231")
        items.insert(0, items.children[2])
        items.insert(-1, "x")
        items.insert(9, "y")
        self.assertEqual(items.text(), "12x3y")
        items.insert(1, items.children[1])
        self.assertEqual(items.text(), "12x3y")
        self.assertRaises(ValueError, items.append, self.document.body)
        self.assertRaises(ValueError, items.append, items)
        self.assertEqual(items.text(), "12x3y")
        items.append(hpar.parse("<i>z").find("i"))
        self.assertEqual(items.text(), "12x3yz")

    def test_remove(self):
        b = self.document.find("b").extract()
        self.assertEqual((b.text(), b.parent), ("c", None))
        self.document.find("ul").clear()
        self.assertEqual(self.html(), "<ul></ul><p>a</p>")
        p = self.document.find("p")
        self.assertEqual(p.wrap("div").name, "div")
        self.assertEqual(self.html(), "<ul></ul><div><p>a</p></div>")
        self.assertRaises(ValueError, p.wrap, p)
        self.assertRaises(ValueError, p.wrap, self.document.body)
        self.assertRaises(ValueError, p.wrap, hpar.parse("").body)

    def test_text(self):
        p = self.document.find("p")
        p.text = "<x>"
        self.assertEqual(p.html, "<p>&lt;x&gt;</p>")
        self.assertEqual(p.text(), "<x>")
        p.string = "y"
        self.assertEqual(p.inner_html, "y")
        p.children[0].text = "z"
        self.assertEqual(p.string, "z")
        with self.assertRaises(AttributeError):
            del p.text
        with self.assertRaises(AttributeError):
            p.unknown = 1
        with self.assertRaises(TypeError):
            hpar.parse("<p>").find("p").text = "x"


class Inputs(unittest.TestCase):
    def test_files(self):
        data = "<title>t</title>ä".encode()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.html")
            path.write_bytes(data)
            self.assertEqual(hpar.parse(path).title, "t")
            with open(path, "rb") as file:
                self.assertEqual(hpar.parse(file).html, hpar.parse(data).html)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(hpar.parse(file).text(), "ä")
            self.assertEqual([d.title for d in hpar.parse_many([path, data, io.BytesIO(data)])], ["t"] * 3)
            self.assertRaises(FileNotFoundError, hpar.parse, pathlib.Path(folder, "no"))
            self.assertRaises(FileNotFoundError, list, hpar.parse_many([data, pathlib.Path(folder, "no")]))
        self.assertEqual(hpar.parse(io.StringIO("<p>a")).text(), "a")
        self.assertRaises(TypeError, hpar.parse, 3)
        self.assertRaises(TypeError, hpar.parse, os)


class Representations(unittest.TestCase):
    def test_nodes(self):
        document = hpar.parse(PAGE)
        self.assertEqual([repr(n) for n in document.find("p").traverse(include_text=True)],
                         ['<p class="a b" id="x">', "<text 'one'>", '<b data-n="1">', "<text 'two'>", "<comment 'c'>",
                          "<text ' three'>"])
        self.assertEqual(repr(document.find("svg")), '<svg viewBox="1" xlink:href="y">')
        self.assertEqual(repr(document.find("img")), "<img alt>")
        self.assertEqual([repr(n) for n in (document.node, *document)], ["<document>", "<!DOCTYPE html>", "<html>"])
        self.assertEqual(repr(hpar.parse("<template>a").find("template").contents), "<fragment>")
        long = hpar.parse(f"<p title={'ä' * 50} " + " ".join(f"a{i}" for i in range(9)) + f">{'b' * 61}").find("p")
        self.assertEqual(repr(long), f'<p title="{"ä" * 30}…" a0 a1 a2 a3 a4 a5 a6 …>')
        self.assertEqual(repr(long.child), f"<text '{'b' * 60}…'>")

    def test_document(self):
        self.assertEqual(repr(hpar.parse("<title>t</title>" + "<br>" * 2000)), "<Document 't' 2,006 nodes>")
        self.assertEqual(repr(hpar.parse("", fragment="div")), "<Document 1 nodes>")


if __name__ == "__main__":
    unittest.main()
