"""Arguments that do not fit, and the options of rewrite."""
import unittest
import warnings

import hpar

try:
    from bs4 import BeautifulSoup
    from bs4.builder import builder_registry

    import hpar.bs4
except ImportError:
    BeautifulSoup = None
try:
    import lxml
except ImportError:
    lxml = None


class Arguments(unittest.TestCase):
    def test_encodings(self):
        for page in ("a", b"a"):
            with self.assertRaises(ValueError):
                hpar.parse(page, encoding="nope")
            with self.assertRaises(ValueError):
                hpar.rewrite(page, [("p", "remove")], encoding="nope")
        self.assertEqual(hpar.parse("\xe9", encoding="latin1").text(), "\xe9")

    def test_numbers(self):
        for wrong in (-1, 1 << 64, 10_000):
            with self.assertRaises(ValueError):
                hpar.parse("a", threads=wrong)
            with self.assertRaises(ValueError):
                hpar.parse("a").css("p", threads=wrong)
            with self.assertRaises(ValueError):
                hpar.parse("a").explain(threads=wrong)
        for wrong in (-1, 1 << 64):
            with self.assertRaises(ValueError):
                hpar.parse("a", max_errors=wrong)
            with self.assertRaises(ValueError):
                hpar.parse("a", limits={"depth": wrong})
            with self.assertRaises(ValueError):
                hpar.parse("a").explain(chunks=wrong)
            with self.assertRaises(ValueError):
                hpar.rewrite("a", [("p", "remove")], limits={"depth": wrong})
        for name, call in (("threads", lambda n: hpar.parse("a", threads=n)), ("depth", lambda n: hpar.parse("a", limits={"depth": n})),
                           ("max_errors", lambda n: hpar.parse("a", max_errors=n)),
                           ("token", lambda n: hpar.rewrite("a", [], limits={"token": n})),
                           ("max_record", lambda n: hpar.warc.records("none", max_record=n))):
            self.assertRaisesRegex(TypeError, f"^{name} must be int, not <class 'str'>$", call, "2")
            self.assertRaisesRegex(ValueError, f"^{name} must be from 0 to .*, not -1$", call, -1)


class Rewrites(unittest.TestCase):
    def test_rules_that_are_none(self):
        for error, rules, text in ((TypeError, ("div", "remove"), "^rule 0 must be a tuple .*, not 'div'$"),
                                   (TypeError, [("p", "remove"), ("p",)], "^rule 1 must be a tuple .*, not ..p.,.$"),
                                   (ValueError, [("p", 5)], "^rule 0: there is no action 5; "),
                                   (ValueError, [("p", "text", 5)], "^rule 0: the unit 'text' needs one function$"),
                                   (ValueError, [("p", "set", "a")], "^rule 0: the action 'set' has 2 arguments: name, value$"),
                                   (TypeError, [("p", "set", "a", 5)], "^rule 0: value must be str or bytes, not <class 'int'>$")):
            self.assertRaisesRegex(error, text, hpar.rewrite, b"<p>", rules)
        self.assertRaisesRegex(TypeError, "limits must be a mapping", hpar.rewrite, b"<p>", [], limits="untrusted")
        self.assertEqual(hpar.rewrite(b"<p>", [["p", "set", "a", b"b"]]), b'<p a="b">')

    def test_scripting(self):
        page, rules = b"<noscript><p onx>a</p></noscript>", [("[onx]", "unset", "onx")]
        self.assertEqual(hpar.rewrite(page, rules), page)
        self.assertEqual(hpar.rewrite(page, rules, scripting=False), b"<noscript><p>a</p></noscript>")

    def test_utf16(self):
        page, rules = "\ufeff<p onx>\xe9".encode("utf-16-le"), [("[onx]", "unset", "onx")]
        self.assertEqual(hpar.rewrite(page, rules), "<p>\xe9".encode())
        stats = {}
        self.assertEqual(hpar.rewrite(page, rules, utf16="pass", stats=stats), page)
        self.assertTrue(stats["passed_through"])
        with self.assertRaises(hpar.Error):
            hpar.rewrite(page, rules, utf16="refuse")
        with self.assertRaises(ValueError):
            hpar.rewrite(page, rules, utf16="ignore")

    def test_filter(self):
        page, rules = b"<img><head onx>a", [("[onx]", "remove"), ("img", "remove")]
        self.assertEqual(hpar.rewrite(page, rules), b"<head onx>a")
        self.assertEqual(hpar.rewrite(page, rules, filter=True), b"a")

    def test_limits(self):
        page, rules = b"<p>" + b"<b>" * 100 + b"<p>", [("p", "unwrap")]
        for limits in ({"depth": 10}, {"input": 20}, {"memory": 100}):
            with self.assertRaises(hpar.LimitError):
                hpar.rewrite(page, rules, limits=limits)
            stats = {}
            self.assertIn(b"<b>", hpar.rewrite(page, rules, limits=limits, on_failure="pass", stats=stats))
            self.assertIsInstance(stats["failure"], str)
        stats = {}
        hpar.rewrite(page, rules, limits={"depth": 1000}, on_failure="pass", stats=stats)
        self.assertIsNone(stats["failure"])
        with self.assertRaises(ValueError):
            hpar.rewrite(page, rules, limits={"deep": 1})


@unittest.skipUnless(BeautifulSoup, "Beautiful Soup not found (Debian: python3-bs4)")
class Soups(unittest.TestCase):
    def test_other_builders_stay(self):
        for name in ("html", "html5", "permissive"):
            self.assertIsNot(builder_registry.lookup(name), hpar.bs4.HparTreeBuilder)
        self.assertIs(builder_registry.lookup("hpar"), hpar.bs4.HparTreeBuilder)

    def test_warns_of_xml(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            BeautifulSoup('<?xml version="1.0"?><a><b/></a>', "hpar")
        self.assertEqual([w.category.__name__ for w in caught], ["XMLParsedAsHTMLWarning"])


class Trees(unittest.TestCase):
    @unittest.skipUnless(lxml, "lxml not found (Debian: python3-lxml)")
    def test_comments_and_instructions(self):
        body = hpar.parse("<!doctype html><body><!-- a --- b ----><?php echo 1?><?XML y?>z").to_lxml().find("body")
        self.assertEqual([child.text for child in body], [" a - - - b - - ", "echo 1", "?XML y?"])
        self.assertEqual((body[1].target, body[2].tail), ("php", "z"))

    def test_dom_keeps_the_order(self):
        page = "<!--a--><!doctype html><p>b<i>c<b>d</b>e</i>f<!--g--><p>h"
        dom = hpar.parse(page).to_dom()
        self.assertEqual("".join(child.toxml() for child in dom.getElementsByTagName("body")[0].childNodes),
                         "<p>b<i>c<b>d</b>e</i>f<!--g--></p><p>h</p>")
        self.assertEqual([child.nodeType for child in dom.childNodes], [8, 10, 1])


if __name__ == "__main__":
    unittest.main()
