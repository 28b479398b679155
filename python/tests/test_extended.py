"""Selectors beyond the standard: ::text, ::attr(), :contains() and relative ones, compared with parsel where it is."""
import unittest
import unittest.mock

import hpar

try:
    import parsel
except ImportError:
    parsel = None

PAGE = ("<!doctype html><title>t</title><body><div id=a>one<div class=x>two<b>three</b> four</div>five</div>"
        "<ul><li><a href=1 title='x, y'>Ab</a></li><li><a href=2>c</a></li><li><a>d</a></li></ul>"
        "<table><tr><td>1<table><tr><td>2</td></tr></table></td></tr></table><script>s</script></body>")


class Values(unittest.TestCase):
    SELECTORS = ("div::text", "div ::text", "#a::text", "div.x *::text", "a::attr(href)", "li > a::attr(title)", "b",
                 "a[title='x, y']::text", "none::text", "::text", "li:nth-child(2) ::text", "li a, b", "b::text, a::text",
                 "a[href]::attr(href), none::attr(href)", "div > ::text", "*::attr(href)", "a:not([href])::text")

    @unittest.skipIf(parsel is None, "parsel not found (Debian: python3-parsel)")
    def test_against_parsel(self):
        tree = hpar.parse(PAGE).html
        document, root = hpar.parse(tree), parsel.Selector(tree)
        for selector in self.SELECTORS:
            with self.subTest(selector):
                expected = root.css(selector).getall()
                self.assertEqual(document.getall(selector), expected)
                self.assertEqual(document.getfirst(selector, "none"), root.css(selector).get("none"))

    def test_own(self):
        document = hpar.parse(PAGE)
        self.assertEqual(document.getall("#a::text"), ["one", "five"])
        self.assertEqual(document.getall("div::text"), ["one", "two", " four", "five"])
        self.assertEqual(document.find("ul").getall("::attr(href)"), ["1", "2"])
        self.assertEqual(document.find("li").getall("::text"), ["Ab"])
        self.assertEqual(document.find("div").getall("::text"), ["two", "three", " four"])
        self.assertEqual(document.getfirst("none"), None)
        self.assertRaises(hpar.SelectorError, document.getall, "a::text, a::attr(href)")
        self.assertRaises(hpar.SelectorError, document.getall, "a::before")
        self.assertRaises(hpar.SelectorError, document.css, "a::text")


class Errors(unittest.TestCase):
    def test_offsets(self):
        document = hpar.parse(PAGE)
        for selector, offset in (("p > [", 5), ("> p[", None), ("p::text", None), ("p:contains(a), b[", None)):
            with self.assertRaises(hpar.SelectorError) as raised:
                document.css(selector)
            if offset is None:
                self.assertIsNone(raised.exception.offset, selector)
            else:
                self.assertIsInstance(raised.exception.offset, int)
        with self.assertRaises(hpar.SelectorError) as raised:
            document.getall("a::text, a::attr(href)")
        self.assertIsNone(raised.exception.offset)
        with self.assertRaises(hpar.SelectorError) as raised:
            hpar.Rules([("b", "remove"), ("p[", "remove")])
        self.assertEqual(raised.exception.offset, 2)
        self.assertIn("rule 1", str(raised.exception))

    def test_css_first_checks_what_it_calls(self):
        document = hpar.parse(PAGE)
        for value in ([1], 5, None, (), hpar.parse(PAGE).css("a")):
            with unittest.mock.patch("hpar.extended.css", return_value=value), self.assertRaises(TypeError):
                document.css_first("> p")
        kept = document.css("li")
        with unittest.mock.patch("hpar.extended.css", return_value=kept):
            self.assertEqual(document.css_first("> p"), kept[0])
        self.assertEqual(len(list(kept)), 3)


class Contains(unittest.TestCase):
    def found(self, selector, top=None):
        return [node.get("href") or node.get("id") or node.name for node in (top or hpar.parse(PAGE)).css(selector)]

    def test_contains(self):
        self.assertEqual(self.found("li > a:contains('b')"), ["1"])
        self.assertEqual(self.found("a:contains(B)"), [])
        self.assertEqual(self.found('a:lexbor-contains("B" i)'), ["1"])
        self.assertEqual(self.found("div:contains('onetwo')"), ["a"])
        self.assertEqual(self.found("div:-soup-contains(two):contains(three)"), ["a", "div"])
        self.assertEqual(self.found("a:contains('c'), b, li:contains(d)"), ["b", "2", "li"])
        self.assertEqual(self.found("a:contains('')"), ["1", "2", "a"])
        self.assertEqual(self.found(r"b:contains('th\72 ee')"), ["b"])
        self.assertEqual(hpar.parse(PAGE).select_one("a:contains(c)")["href"], "2")
        self.assertIsNone(hpar.parse(PAGE).css_first("a:contains(z)"))
        self.assertEqual(hpar.parse(PAGE).getall("a:contains('c')::attr(href)"), ["2"])
        self.assertEqual(hpar.parse(PAGE).getall("a:contains('c')::text"), ["c"])
        self.assertEqual(hpar.parse("<p>äö<p>ö").css("p:contains('ä')")[0].text(), "äö")
        for escape in (r"\0", r"\d800", r"\DFFF", r"\110000", r"\ffffff"):
            self.assertEqual(hpar.parse("<p>a<p>\ufffdb").css_first(f"p:contains('{escape} b')").text(), "\ufffdb")
        self.assertEqual(hpar.parse("<p>\U0010ffff").css_first(r"p:contains('\10ffff')").text(), "\U0010ffff")
        for bad in ("a:contains(b) > c", "a:contains(", "a:contains()", "a:contains(b)c", ":contains(a", "a:unknown(b)"):
            self.assertRaises(hpar.SelectorError, hpar.parse(PAGE).css, bad)
        self.assertRaises(TypeError, hpar.parse(PAGE).css, 3)

    def test_ranges(self):
        """Against the text of each element, with texts that end and begin inside the needle."""
        document = hpar.parse("<div>ab<i>a<b>b</b></i>aab<u></u><i>b</i><p>ba</p></div>" * 3)
        for needle in ("a", "ab", "aba", "abab", "bb", "ba", "aa", "baab", "abba", "c"):
            for selector in ("div, i, b, u, p", "*", "i"):
                expected = [node for node in document.css(selector) if needle in node.text()]
                self.assertEqual(document.css(", ".join(f"{one}:contains({needle})" for one in selector.split(", "))),
                                 expected, (needle, selector))

    def test_deep(self):
        document = hpar.parse("<div>a" * 100_000 + "x")
        self.assertEqual(len(document.css("div:contains('x')")), 100_000)
        self.assertEqual(len(document.css("div:contains('y')")), 0)
        self.assertEqual(len(document.getall("div::text")), 100_000)

    def test_relative(self):
        rows = hpar.parse(PAGE).css("table")
        self.assertEqual(len(rows[0].css("tr")), 2)
        self.assertEqual(len(rows[0].css("> tbody > tr")), 1)
        self.assertEqual(self.found("> li, >li>a", hpar.parse(PAGE).find("ul")), ["li", "1", "li", "2", "li", "a"])
        self.assertEqual(self.found("> body"), ["body"])  # :scope of a document is its root
        self.assertEqual(rows[0].getall("> tbody > tr > td::text"), ["1"])
        self.assertRaises(hpar.SelectorError, rows[0].css, "+ table")
        self.assertRaises(hpar.SelectorError, rows[0].css, "> ")


if __name__ == "__main__":
    unittest.main()
