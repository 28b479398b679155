"""Nodes, attributes, selections, text and positions."""
import collections.abc
import unittest

import hpar

PAGE = (b"<!doctype html><title>t &amp; u</title><p class='a b' id=x>one<b>two</b><!--c--> three</p>"
        b"<svg xlink:href=y viewbox=1><path/></svg><template><i>in</i></template><script>s()</script>")


class Nodes(unittest.TestCase):
    def setUp(self):
        self.document = hpar.parse(PAGE, positions=True)
        self.p = self.document.css_first("p")

    def test_walks(self):
        p = self.p
        self.assertEqual([n.tag for n in p.iter()], ["b", "-comment"])
        self.assertEqual([n.tag for n in p.iter(include_text=True)], ["-text", "b", "-comment", "-text"])
        self.assertEqual([n.tag for n in p.traverse()], ["p", "b", "-comment"])
        self.assertEqual([n.tag for n in p.traverse(include_text=True)], ["p", "-text", "b", "-text", "-comment", "-text"])
        self.assertEqual(p.first_child.next.tag, "b")
        self.assertEqual(p.last_child.prev.tag, "-comment")
        self.assertEqual(p.child, p.first_child)
        self.assertEqual(p.parent.parent.parent.tag, "-document")
        self.assertIsNone(self.document.node.parent)
        self.assertEqual(self.document.css_first("template").contents.first_child.tag, "i")
        text = p.first_child
        self.assertEqual([n.tag for n in text.traverse()], ["-text"])

    def test_identity(self):
        again = self.document.css_first("p")
        self.assertEqual(self.p, again)
        self.assertEqual(len({self.p, again}), 1)
        self.assertNotEqual(self.p, self.p.parent)
        self.assertNotEqual(self.p, hpar.parse(PAGE).css_first("p"))
        self.assertIsNot(self.p, None)
        self.assertEqual(repr(self.p), '<p class="a b" id="x">')

    def test_properties(self):
        doctype = self.document.node.first_child
        self.assertEqual((doctype.tag, doctype.type, doctype.name), ("-doctype", "doctype", "html"))
        self.assertEqual(self.p.id, "x")
        self.assertIsNone(self.document.body.id)
        self.assertEqual(self.document.css_first("path").namespace, "svg")
        self.assertEqual(self.p.first_child.data, "one")
        self.assertEqual(self.p.html, '<p class="a b" id="x">one<b>two</b><!--c--> three</p>')
        self.assertEqual(self.p.inner_html, "one<b>two</b><!--c--> three")

    def test_attributes(self):
        self.assertEqual(self.p.attributes, {"class": "a b", "id": "x"})
        svg = self.document.css_first("svg")
        self.assertEqual(svg.attributes, {"xlink:href": "y", "viewBox": "1"})
        attrs = svg.attrs
        self.assertIsInstance(attrs, collections.abc.Mapping)
        self.assertEqual((attrs["xlink:href"], attrs.get("viewBox"), attrs.get("no"), attrs.get("no", 3)),
                         ("y", "1", None, 3))
        self.assertEqual((attrs.sget("no"), attrs.sget("viewBox"), attrs.sget("no", "d")), ("", "1", "d"))
        self.assertIn("viewBox", attrs)
        self.assertNotIn("viewbox", attrs)
        self.assertNotIn(3, attrs)
        self.assertEqual((len(attrs), list(attrs), attrs.keys(), attrs.values()),
                         (2, ["xlink:href", "viewBox"], ["xlink:href", "viewBox"], ["y", "1"]))
        self.assertEqual(attrs.items(), [("xlink:href", "y"), ("viewBox", "1")])
        self.assertRaises(KeyError, lambda: attrs["no"])
        self.assertEqual(self.p.first_child.attributes, {})

    def test_text(self):
        self.assertEqual(self.p.text(), "onetwo three")
        self.assertEqual(self.p.text(deep=False), "one three")
        self.assertEqual(self.p.text(separator="|"), "one|two| three")
        self.assertEqual(self.p.text(True, "|", True), "one|two|three")
        self.assertEqual(self.p.first_child.text(), "one")
        blank = hpar.parse("<p> <b>a</b>\n").css_first("p")
        self.assertEqual(blank.text(separator="|", strip=True), "|a|")
        self.assertEqual(blank.text(separator="|", strip=True, skip_empty=True), "a")
        spaces = "".join(chr(c) for c in range(0x110000) if chr(c).isspace() and c != 13)
        self.assertEqual(hpar.parse(f"<p>{spaces}a{spaces}").css_first("p").text(strip=True), "a")
        self.assertEqual(self.document.readable_text(), "onetwo three")
        hidden = hpar.parse("<p hidden>a</p><details>b<summary>c</summary></details>")
        self.assertEqual(hidden.readable_text(), "c")
        self.assertEqual(hidden.css_first("body").readable_text(all=True), "a\nb\nc")
        self.assertRaises(TypeError, hidden.readable_text, True)
        self.assertRaises(TypeError, self.p.text, separator=1)

    def test_positions(self):
        self.assertEqual(PAGE[slice(*self.p.start_tag)], b"<p class='a b' id=x>")
        self.assertEqual(PAGE[slice(*self.p.end_tag)], b"</p>")
        ranges = self.p.attribute_positions
        self.assertEqual(PAGE[slice(*ranges["class"][2:])], b"a b")
        self.assertEqual(PAGE[slice(*ranges["id"][:2])], b"id")
        self.assertIsNone(self.document.body.start_tag)
        with self.assertRaises(ValueError):
            hpar.parse(PAGE).body.start_tag
        many = " ".join(f"a{i}={i}" for i in range(40))
        page = f"<p {many}>"
        for name, range_ in hpar.parse(page, positions=True).css_first("p").attribute_positions.items():
            self.assertEqual(page[range_[0]:range_[3]], f"{name}={name[1:]}")


class Selections(unittest.TestCase):
    def setUp(self):
        self.document = hpar.parse("<div><p class=a>1<p class=b>2<p class=a>3</div><p>4")

    def test_sequence(self):
        nodes = self.document.css("p")
        self.assertIsInstance(nodes, collections.abc.Sequence)
        self.assertEqual((len(nodes), nodes[0].text(), nodes[-1].text()), (4, "1", "4"))
        self.assertEqual([n.text() for n in nodes[1:3]], ["2", "3"])
        self.assertEqual([n.text() for n in nodes[::-2]], ["4", "2"])
        self.assertEqual(nodes, list(nodes))
        self.assertEqual(nodes, self.document.css("p"))
        self.assertNotEqual(nodes, nodes[1:])
        self.assertEqual(self.document.css("i"), [])
        self.assertFalse(self.document.css("i"))
        self.assertIn(nodes[2], nodes)
        self.assertEqual((nodes.index(nodes[2]), nodes.count(nodes[2])), (2, 1))
        self.assertRaises(IndexError, lambda: nodes[4])
        self.assertRaises(IndexError, lambda: nodes[-5])
        self.assertRaises(TypeError, lambda: nodes["a"])
        self.assertEqual(repr(nodes[:1]), '[<p class="a">]')
        self.assertEqual([n.text() for n in reversed(nodes)], ["4", "3", "2", "1"])

    def test_selectors(self):
        document = self.document
        selector = hpar.Selector("p.a")
        self.assertEqual(len(document.css(selector)), 2)
        self.assertEqual(len(document.css("p.a", threads=4)), 2)
        self.assertEqual(len(document.css_first("div").css("p")), 3)
        self.assertEqual(document.css_first("i", default=7), 7)
        self.assertIsNone(document.css_first("i"))
        self.assertEqual(document.css_first("p.b", strict=True).text(), "2")
        self.assertRaises(ValueError, document.css_first, "p", strict=True)
        self.assertTrue(document.css_matches("p.b"))
        self.assertFalse(document.css_matches("i"))
        self.assertTrue(document.any_css_matches(["i", "p"]))
        self.assertFalse(document.any_css_matches(()))
        self.assertTrue(document.css_first("p.b").matches("div > p + p"))
        self.assertTrue(document.css_first("p.b").css_matches("p"))
        self.assertFalse(document.css_first("p.b").css_matches("div"))
        self.assertRaises(TypeError, document.css, 3)
        self.assertRaises(TypeError, document.css)
        self.assertEqual(repr(selector), "Selector('p.a')")

    def test_selector_errors(self):
        with self.assertRaises(hpar.SelectorError) as caught:
            self.document.css("p:nonsense")
        self.assertIsInstance(caught.exception, ValueError)
        self.assertGreater(caught.exception.offset, 0)
        self.assertIn("p:nonsense", str(caught.exception))

    def test_cache_of_selectors(self):
        for i in range(1000):
            self.assertEqual(len(self.document.css(f"p:nth-child({i + 1})")), int(i < 3) + int(i == 1))


class LongTexts(unittest.TestCase):
    """Long texts become str in other ways than short ones."""

    def test_characters(self):
        for sample in ("a", "\u00e4", "\u00ff", "\u0100", "\u20ac", "\ufeff", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff"):
            for rest in ("b" * 7, "b" * 40 + "\u00e9", "\u0430"):
                text = (sample + rest) * 1000
                document = hpar.parse(f"<p>.{text}")
                self.assertEqual(document.text(), "." + text)
                self.assertEqual(document.body.html, f"<body><p>.{text}</p></body>")
                self.assertEqual(document.edit().css_first("p").text(), "." + text)

    def test_invalid_bytes(self):
        page = bytearray(b"<p>" + "\u00e4".encode() * 2000)
        document = hpar.parse(page, copy=False, encoding="utf-8", mode="sequential")
        page[-1:] = b"."
        self.assertEqual(document.text(), "\u00e4" * 1999 + "\ufffd.")


class LinksAndResources(unittest.TestCase):
    def test_links(self):
        document = hpar.parse("<base href=/d/><a href=x>a</a><p><img src=i.png srcset='j.png 2x'>")
        links = document.links("https://example.org/a/b")
        self.assertEqual([link["url"] for link in links],
                         [f"https://example.org/d/{name}" for name in ("x", "i.png", "j.png")])
        self.assertEqual(links[0]["element"].tag, "a")
        self.assertIsNone(hpar.parse("<a href=x>").links()[0]["url"])
        self.assertEqual(len(document.css_first("p").links()), 2)
        self.assertRaises(ValueError, document.links, "x")
        self.assertRaises(ValueError, document.links, "https://example.org/\0a")
        self.assertRaises(TypeError, document.links, b"https://example.org/")

    def test_links_as_a_sequence(self):
        document = hpar.parse("<base href=/d/><a href=x>a</a><p><img src=i.png srcset='j.png 2x'><a href=k>")
        links = document.links()
        self.assertIsInstance(links, collections.abc.Sequence)
        self.assertEqual((len(links), bool(links), bool(document.css_first("p a").links()[1:])), (4, True, False))
        self.assertEqual([link["value"] for link in reversed(links[1:])], ["k", "j.png", "i.png"])
        self.assertEqual(links, list(links))
        self.assertEqual(links, document.links())
        self.assertNotEqual(links, links[1:])
        self.assertEqual((links.index(links[2]), links.count(links[2]), links[3] in links, {} in links), (2, 1, True, False))
        self.assertIs(links[-1], links[3])
        links[0]["seen"] = links  # the dict stays, and cycles through it end
        self.assertIs(links[:1][0]["seen"], links)
        self.assertEqual(repr(document.css("p > a")[0].links()), repr(list(document.css("p > a")[0].links())))
        for index in (4, -5):
            self.assertRaises(IndexError, lambda: links[index])
        self.assertRaises(TypeError, hash, links)
        self.assertRaises(TypeError, type(links))

    def test_resources(self):
        document = hpar.parse("<script async src=a.js></script><link rel=stylesheet href=b.css media=print><img src=c>")
        resources = document.resources()
        self.assertEqual([(r["kind"], r["url"]) for r in resources],
                         [("script", "a.js"), ("style", "b.css"), ("image", "c")])
        self.assertTrue(resources[0]["async"])
        self.assertEqual(resources[1]["media"], "print")
        self.assertEqual(document.head.resources(), resources[:2])
        document = hpar.parse("<script type=module>import './a.js'</script><video><source src=b></video><td background=c>"
                              "<table background=d></table><svg><use href=e /></svg>")
        resources = document.resources()
        self.assertEqual([(r["kind"], r["url"]) for r in resources],
                         [("module-import", "./a.js"), ("media", "b"), ("image", "d"), ("image", "e")])
        self.assertEqual(resources[1]["picture"], document.css_first("video"))


if __name__ == "__main__":
    unittest.main()
