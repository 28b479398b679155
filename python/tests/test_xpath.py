"""XPath 1.0: each rule of the standard by example, places of errors, and hostile expressions."""
import math
import pickle
import random
import signal
import threading
import unittest

import hpar

PAGE = """<title>T</title><div class=x id=d1><p>one <b>bold</b></p><p class="a b">two</p><ul><li>1<li>2<li>3<ul><li>n1</ul></ul></div><div
id=d2><a href="/x?a=1&amp;b=2">L</a><a href=/y>M</a><!--c--><svg viewBox="0 0 1 1"><path d=z
xlink:href=q xml:lang=en /></svg></div><my-tag Own=1></my-tag>"""

VALUES = {
    # paths
    "//a/@href": ["/x?a=1&b=2", "/y"],
    "//@href": ["/x?a=1&b=2", "/y"],
    "//li[1]/text()": ["1", "n1"],
    "//li[last()]/text()": ["3", "n1"],
    "(//li)[2]/text()": ["2"],
    "//li[position()>1]/text()": ["2", "3"],
    "//li[position()>1][1]/text()": ["2"],
    "//li[1][position()>1]": [],
    "//li[1.5] | //li[-1] | //li[0]": [],
    "//ul/li/text()": ["1", "2", "3", "n1"],
    "//li/../@id | //p/../@id": ["d1"],
    "/html/body/div[2]/a[2]/text()": ["M"],
    "//div/p[1]/b/text()": ["bold"],
    "//a[2]/preceding-sibling::node()/@href": ["/x?a=1&b=2"],
    "//li[3]/preceding-sibling::li[1]/text()": ["2"],
    "//li[1]/following-sibling::li/text()": ["2", "3"],
    "//b/ancestor::*[1]/@class | //b/ancestor::*[2]/@class": ["x"],
    "name(//b/ancestor::*[last()])": "html",
    "name(//b/ancestor-or-self::*[1])": "b",
    "//comment()/preceding::a/@href": ["/x?a=1&b=2", "/y"],
    "//comment()/preceding::*[1]/@href": ["/y"],
    "name(//a[2]/following::*[1])": "svg",
    "count(//a/following::*)": 4.0,
    "count(//a/@href/following::text())": 2.0,
    "count(//b/following::node() | //b/preceding::node() | //b/ancestor::node() | //b/descendant-or-self::node())"
    " = count(//node()) + 1": True,
    "//a[@href='/y']/text()": ["M"],
    "//a['/y'=@href]/text()": ["M"],
    "count(//a/@href/..)": 2.0,
    "count(//a/@href/descendant-or-self::node())": 2.0,
    "count(//a/@href/self::*)": 0.0,
    "count(//*[self::p or self::b])": 3.0,
    "//div[p]/@id": ["d1"],
    "//div[not(p)]/@id": ["d2"],
    "count(//p | //a | //p)": 4.0,
    "count(//.)": None,
    "count(.//li)": 4.0,
    "count(./html/./body)": 1.0,
    "count(/descendant::li[2])": 1.0,
    "id('d2 d1 d1')/@id": ["d1", "d2"],
    "id(//div/@id)[2]/@id": ["d2"],
    "count(//processing-instruction('a'))": 0.0,
    # names
    "count(//svg)": 1.0,
    "count(//svg:svg)": 1.0,
    "count(//html:svg)": 0.0,
    "count(//svg:*)": 2.0,
    "count(//my-tag)": 1.0,
    "count(//html:my-tag)": 1.0,
    "//my-tag/@own": ["1"],
    "count(//@href)": 2.0,
    "//path/@xlink:href": ["q"],
    "//path/@xlink:*": ["q"],
    "//path/@xml:lang": ["en"],
    "count(//@svg:href) + count(//@xml:href) + count(//@xlink:lang)": 0.0,
    "name(//path/@xlink:href)": "xlink:href",
    "local-name(//path/@xlink:href)": "href",
    "namespace-uri(//path)": "http://www.w3.org/2000/svg",
    "namespace-uri(//path/@xlink:href)": "http://www.w3.org/1999/xlink",
    "namespace-uri(//p)": "",
    "name(/)": "",
    "name(//comment())": "",
    "boolean(//path[lang('EN')])": True,
    "boolean(//path[lang('e')])": False,
    # numbers
    "1 + 2 * 3 - 4 div 2": 5.0,
    "-7 mod 3": -1.0,
    "7 mod -3": 1.0,
    "1.5 mod .5": 0.0,
    "- - 2": 2.0,
    "2 - -1": 3.0,
    "6-2": 4.0,
    "1 div 0": math.inf,
    "-1 div 0": -math.inf,
    "1 div round(-0.2)": -math.inf,
    "round(2.5)": 3.0,
    "round(-2.5)": -2.0,
    "round(0.49999999999999994)": 0.0,
    "floor(-1.5)": -2.0,
    "ceiling(-1.5)": -1.0,
    "number(' 12.5 ')": 12.5,
    "number('.5')": 0.5,
    "number('5.')": 5.0,
    "number('-.5')": -0.5,
    "sum(//li[. < 4])": 3.0,
    "9007199254740993": 9007199254740992.0,
    "0.1 + 0.2": 0.1 + 0.2,
    "123456789.123456789": 123456789.123456789,
    "number(true()) + number(false())": 1.0,
    # strings
    "string(0.1 + 0.2)": "0.30000000000000004",
    "string(1 div 3)": "0.3333333333333333",
    "string(0.000001)": "0.000001",
    "string(1000000 * 1000000 * 1000000)": "1000000000000000000",
    "string(-0.5)": "-0.5",
    "string(round(-0.2))": "0",
    "string(-1 div 0)": "-Infinity",
    "string(0 div 0)": "NaN",
    "string(//p)": "one bold",
    "string(//nothing)": "",
    "string()": None,
    "concat('a', 1, true(), //p[2])": "a1truetwo",
    "substring('12345', 2, 3)": "234",
    "substring('12345', 2)": "2345",
    "substring('12345', 1.5, 2.6)": "234",
    "substring('12345', 0, 3)": "12",
    "substring('12345', 0 div 0, 3)": "",
    "substring('12345', 1, 0 div 0)": "",
    "substring('12345', -42, 1 div 0)": "12345",
    "substring('12345', -1 div 0, 1 div 0)": "",
    "substring('\u00e4\u00f6\u20ac\U0001d4b3', 3, 2)": "\u20ac\U0001d4b3",
    "string-length('\u00e4\u00f6\u20ac\U0001d4b3')": 4.0,
    "translate('bar', 'abc', 'AB')": "BAr",
    "translate('--aaa--', 'abc-', 'ABC')": "AAA",
    "translate('aa', 'aa', 'xy')": "xx",
    "translate('\u00e4\u20acx', '\u20ac\u00e4', '\U0001d4b3')": "\U0001d4b3x",
    "normalize-space('  a \t\r\n b ')": "a b",
    "normalize-space('a\u00a0\u00a0b')": "a\u00a0\u00a0b",
    "starts-with('abc', '')": True,
    "starts-with('a', 'ab')": False,
    "contains('abc', 'c')": True,
    "contains('', '')": True,
    "substring-before('1999/04/01', '/')": "1999",
    "substring-before('a', 'b')": "",
    "substring-after('1999/04/01', '/')": "04/01",
    "substring-after('ab', '')": "ab",
    '"it\'s"': "it's",
    # comparisons
    "//p = 'two'": True,
    "//p != 'two'": True,
    "//nothing = //nothing": False,
    "//nothing != 'a'": False,
    "//li = 2": True,
    "//li > 1": True,
    "2 < //li": False,
    "3 < //li": False,
    "//li = //li[2]": True,
    "//p = //li": False,
    "//p != //p": True,
    "//li[2] != //li[2]": False,
    "//li < //li": True,
    "//p[2] = true()": True,
    "//nothing = false()": True,
    "//nothing < true()": True,
    "'1' = 1": True,
    "'a' < 'b'": False,
    "true() = 'false'": True,
    "1 = 1 = 1": True,
    "3 > 2 > 1": False,
    "0 div 0 != 0 div 0": True,
    "1 or 1 div 0 and 0": True,
    "boolean('false') and not(0) and not('') and not(0 div 0)": True,
    # names that are operators elsewhere
    "count(//div/div)": 0.0,
    "count(//*[name()='or' or name()='p'])": 2.0,
    "count(and | or | mod | div)": 0.0,
    "2*3": 6.0,
    "4 div 2 mod 2": 0.0,
}

ERRORS = {
    "": 0, " ": 1, "//": 2, "//a[": 4, "//a]": 3, "a b": 2, "a/": 2, "'abc": 0, "foo()": 0, "count()": 6, "count(1)": 7,
    "count(//a, 1)": 11, "1 | 2": 2, "//a | 2": 7, "(1)[1]": 3, "1/a": 1, "//a/namespace::*": 4, "x::a": 0, "a::b": 0,
    "q:a": 0, "$": 0, "$a:b": 0, "1e3": 1, "a!b": 1, "@": 1, "@@a": 1, "..[1]": 2, ".[1]": 1, "concat('a')": 10,
    "true(1)": 5, "a[1": 3, "\u00e4\u00e4 \u20ac": 3, "/ /": 2, "text(": 5, "node(1)": 5, "//a::": 2, "-": 1, "1 + ": 4,
    "position(": 9, "a[]": 2, "svg:": 4,
}


class Values(unittest.TestCase):
    def test_values(self):
        doc = hpar.parse(PAGE)
        for expression, value in VALUES.items():
            with self.subTest(expression):
                found = doc.xpath(expression)
                if value is not None:
                    self.assertEqual(found, value)
                    self.assertIs(type(found), type(value))
        self.assertTrue(math.isnan(doc.xpath("number('1e3')")))
        self.assertTrue(math.isnan(doc.xpath("//nothing + 1")))
        self.assertTrue(math.isnan(doc.xpath("number('1 2') + number('-') + number('.') + number('')")))

    def test_nodes(self):
        doc = hpar.parse(PAGE)
        self.assertEqual(doc.xpath("//div"), list(doc.css("div")))
        self.assertEqual(doc.xpath("/"), [doc.node])
        self.assertEqual(doc.xpath("//comment()")[0].data, "c")
        for node in doc.css("body *"):
            self.assertEqual(node.xpath("."), [node])
            self.assertEqual(node.xpath(".."), [node.parent])
            self.assertEqual(node.xpath("ancestor::*"), [n for n in reversed(node.parents) if n.type == "element"])
            self.assertEqual(node.xpath("descendant::*"), list(node.css("*")))
            self.assertEqual(node.xpath("/html"), [doc.root])
            self.assertEqual(node.xpath("string()"), node.text())
        li = doc.css("li")
        self.assertEqual(li[2].xpath("count(following::li) + count(preceding::li)"), 2.0)

    def test_document_order(self):
        """Formatting elements and table contents have places in memory that are not in the order of the tree."""
        doc = hpar.parse("<table>a<b>b<tr><td>c</table><p>d<i>e<p>f</i>g<ul><li>h<ul><li>i</ul><li>j</ul>", mode="sequential")
        texts = [node.data for node in doc.descendants if node.type == "text"]
        self.assertEqual(doc.xpath("//text()"), texts)
        self.assertEqual(doc.xpath("//*/text()"), texts)
        self.assertEqual(doc.xpath("//text()/../text()"), texts)
        self.assertEqual(doc.xpath("//i//text() | //td//text() | //text() | //li/text()"), texts)
        self.assertEqual(doc.xpath("//text()[last()]/ancestor-or-self::node()/text()"), texts)
        li = list(doc.css("li"))
        self.assertEqual(doc.xpath("//ul/li"), li)
        self.assertEqual(doc.xpath("$nodes", nodes=li[::-1] + li), li)

    def test_editable(self):
        doc = hpar.parse("<ul><li>1<li>2<li>3</ul>", editable=True)
        self.assertEqual(doc.xpath("//li/text() | //ul"), [doc.css_first("ul"), "1", "2", "3"])
        first = doc.css_first("li")
        doc.css_first("ul").append(first)
        self.assertEqual(doc.xpath("//li/text() | //li/text()"), ["2", "3", "1"])
        first.decompose()
        self.assertEqual(first.xpath("/text()"), ["1"])
        self.assertEqual(first.xpath("$a | .", a=doc.css("li"))[-1], first)
        doc.freeze()
        self.assertEqual(doc.xpath("//li/text() | //li/text()"), ["2", "3"])
        doc.edit().css_first("li").insert_before(hpar.parse("<li>0", fragment="ul").css_first("li"))
        self.assertEqual(doc.xpath("//li/text() | //li/text()"), ["0", "2", "3"])

    def test_templates_and_fragments(self):
        doc = hpar.parse("<template><p>a</template><p>b")
        self.assertEqual(doc.xpath("//p/text()"), ["b"])
        self.assertEqual(doc.css_first("template").contents.xpath("/p/text() | //p/text()"), ["a"])
        self.assertEqual(hpar.parse("a<b>c</b>d", fragment="div").xpath("/text()"), ["a", "d"])
        self.assertEqual(hpar.parse("", fragment="div").xpath("count(//node())"), 0.0)


class Calls(unittest.TestCase):
    def test_variables(self):
        doc = hpar.parse("<p id=a>x<p id=b>y")
        by_id = hpar.XPath("//p[@id = $id]/text()")
        self.assertEqual(by_id(doc, id="b"), ["y"])
        self.assertEqual(by_id(doc.root, id="a", other=object()), ["x"])
        self.assertEqual(doc.xpath("//p[$n]/text()", n=2), ["y"])
        self.assertEqual(doc.xpath("//p[$n]/text()", n=2.5), [])
        self.assertEqual(doc.xpath("//p[$n]/text()", n=True), ["x", "y"])
        self.assertEqual(doc.xpath("//p[$n]/text()", n=""), [])
        self.assertEqual(doc.xpath("$p/text()", p=doc.css_first("p")), ["x"])
        self.assertEqual(doc.xpath("$p[2]/text()", p=doc.css("p")), ["y"])
        self.assertEqual(doc.xpath("$t", t="a\udc80\u20ac"), "a\ufffd\u20ac")
        self.assertEqual(doc.xpath("$t + $t", t=0.5), 1.0)
        self.assertEqual(doc.xpath("concat($a, $b, $a)", a="1", b="2"), "121")
        with self.assertRaisesRegex(hpar.XPathError, "no value, at character 2"):
            doc.xpath("1+$none")
        with self.assertRaisesRegex(hpar.XPathError, "not a node-set"):
            doc.xpath("$a/b", a="1")
        other = hpar.parse("<p>").css_first("p")
        for value in (None, b"a", object(), {}, other, [other], ["a"]):
            with self.assertRaises(TypeError):
                doc.xpath("$a", a=value)
        with self.assertRaises(OverflowError):
            doc.xpath("$a", a=10 ** 400)

    def test_errors(self):
        doc = hpar.parse("<p>")
        for expression, offset in ERRORS.items():
            with self.subTest(expression), self.assertRaises(hpar.XPathError) as caught:
                hpar.XPath(expression)
            self.assertEqual(caught.exception.offset, offset, (expression, str(caught.exception)))
        self.assertTrue(issubclass(hpar.XPathError, hpar.Error) and issubclass(hpar.XPathError, ValueError))
        for arguments in ((), ("a", "b"), (1,), (b"a",)):
            with self.assertRaises(TypeError):
                doc.xpath(*arguments)
        with self.assertRaises(TypeError):
            hpar.XPath("a")("a")
        with self.assertRaises(TypeError):
            hpar.XPath("a")()
        with self.assertRaises(UnicodeEncodeError):
            hpar.XPath("'\udc80'")

    def test_objects(self):
        xpath = hpar.XPath("//p")
        self.assertEqual((repr(xpath), xpath.path), ("XPath('//p')", "//p"))
        self.assertEqual(pickle.loads(pickle.dumps(xpath)).path, "//p")
        doc = hpar.parse("<p>")
        self.assertEqual(doc.xpath(xpath), doc.xpath("//p"))
        for number in range(300):  # more than the module keeps
            self.assertEqual(doc.xpath(f"count(//p) + {number}"), number + 1)

    def test_threads(self):
        doc = hpar.parse("<div>" + "<p class=a>x<b>y</b></p>" * 2000)
        expected = doc.xpath("//p/b/text() | //p/text()")
        failures = []

        def run():
            for _ in range(5):
                if doc.xpath("//b/text() | //p/text()") != expected:
                    failures.append(1)
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    @unittest.skipUnless(hasattr(signal, "setitimer"), "no timers")
    def test_interruption(self):
        """A signal ends an expression that would take hours."""
        doc = hpar.parse("<p>a" * 3000)

        def stop(*_):
            raise KeyboardInterrupt
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            with self.assertRaises(KeyboardInterrupt):
                doc.xpath("count(//*[count(//*[count(//*[count(//*) > 1]) > 1]) > 1])")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class Hostile(unittest.TestCase):
    def test_nesting(self):
        doc = hpar.parse("<p>a")
        for before, middle, after in (("(", "1", ")"), ("p[", "1", "]"), ("not(", "1", ")"), ("//*[", "p", "]")):
            self.assertIsNotNone(doc.xpath(before * 99 + middle + after * 99))
            with self.assertRaisesRegex(hpar.XPathError, "nests too deeply"):
                hpar.XPath(before * 100000 + middle + after * 100000)

    def test_long_chains(self):
        doc = hpar.parse("<p>a")
        n = 20000
        self.assertEqual(doc.xpath("1" + "+1" * n), n + 1.0)
        self.assertEqual(doc.xpath("-" * n + "1"), 1.0)
        self.assertEqual(doc.xpath("0" + " or 0" * n + " or 1"), True)
        self.assertEqual(doc.xpath("1" + " = 1" * n), True)
        self.assertEqual(len(doc.xpath("//p" + "|//p" * n)), 1)
        self.assertEqual(len(doc.xpath("//p" + "/." * n)), 1)
        self.assertEqual(len(doc.xpath("//p" + "/../p" * n)), 1)
        self.assertEqual(len(doc.xpath("//p" + "[1]" * n)), 1)
        self.assertEqual(doc.xpath("concat('a'" + ",'b'" * n + ")"), "a" + "b" * n)
        with self.assertRaisesRegex(hpar.XPathError, "too long"):
            hpar.XPath("'" + "a" * (1 << 20) + "'")

    def test_numbers(self):
        doc = hpar.parse("<p>a")
        for text in ("9" * 1000, "1" + "0" * 308, "0." + "0" * 400 + "1", "0." + "3" * 2000, "1" * 100 + "." + "7" * 100,
                     "0" * 1000 + "12.5", "179769313486231580793" + "7" * 288):
            self.assertEqual(doc.xpath(text), float(text), text)
        self.assertEqual(doc.xpath("1" + "0" * 400), math.inf)
        self.assertEqual(doc.xpath("string(1" + "0" * 300 + ")"), str(int(1e300)))
        self.assertEqual(doc.xpath("//p[1" + "0" * 400 + "] | //p[18446744073709551617] | //p[-0.0]"), [])
        self.assertEqual(doc.xpath("substring('abc', -1" + "0" * 400 + ")"), "abc")

    def test_strings(self):
        doc = hpar.parse("<p>" + "ab" * 100000)
        n = 200000
        self.assertEqual(doc.xpath("string-length(translate(//p, $a, $b))", a="a" * n + "b", b="c" * n), 100000.0)
        self.assertEqual(doc.xpath("contains(//p, $a)", a="ab" * 50000 + "c"), False)
        self.assertEqual(doc.xpath("string-length(normalize-space($a))", a=" a " * n), 2.0 * n - 1)
        doc = hpar.parse("<p>" + "x" * (1 << 20))
        with self.assertRaisesRegex(hpar.XPathError, "longer than 256 MB"):
            doc.xpath("concat(//p" + ",//p" * 256 + ")")

    def test_invalid_bytes(self):
        """The bytes of a page that has changed after the parse are not UTF-8."""
        page = bytearray(b"<p title='aaaa'>bbbb</p><a href='" + b"c" * 20 + b"'>d</a>")
        doc = hpar.parse(page, copy=False, encoding="utf-8", mode="sequential")
        for byte in (0x80, 0xC3, 0xE2, 0xF0, 0xFF):
            for i, old in enumerate(bytes(page)):
                if old in b"abcd" and page[i - 1:i] != b"<":
                    page[i] = byte
            for expression in ("string-length(//p/@title)", "substring(//p, 2, 2)", "translate(//p, $x, 'y')",
                               "normalize-space(//p)", "//p/@title", "contains(//p, $x)", "//text()"):
                doc.xpath(expression, x=bytes([byte]).decode("latin-1"))

    def test_token_soup(self):
        """Any sequence of tokens is an expression or an XPathError, and its evaluation ends."""
        tokens = ["a", "*", "@", "/", "//", "[", "]", "(", ")", "|", "+", "-", "=", "!=", "<", "and", "or", "div", "mod", ".",
                  "..", ",", "::", ":", "$v", "$", "'s'", '"', "1", ".5", "1e9", "text()", "node()", "last()", "position()",
                  "child::", "ancestor::", "following::", "namespace::", "svg:", "count(", "concat(", "id(", "string(", "not(",
                  "translate(", "substring(", "\u00e4", "\0", "\x7f", "#", "!", "&", "\U0001d4b3"]
        doc = hpar.parse("<a b=c>d<a>1</a></a><svg>e</svg>")
        r = random.Random(1)
        fine = 0
        for _ in range(20000):
            text = r.choice(("", " ")).join(r.choice(tokens) for _ in range(r.randint(1, 9)))
            try:
                xpath = hpar.XPath(text)
            except hpar.XPathError as error:
                self.assertLessEqual(error.offset, len(text))
                continue
            try:
                xpath(doc, v=r.choice((1, "s", True, doc.css("a"))))
                fine += 1
            except hpar.XPathError as error:
                self.assertRegex(str(error), "not a node-set|no value")
        self.assertGreater(fine, 300)

    def test_positions_from_many_nodes(self):
        """Each node gives its own nodes, whatever the other ones are."""
        r = random.Random(7)
        predicates = ("[1]", "[3]", "[last()]", "[last() - 2]", "[last() - 0.5]", "[position() = 2]", "[position() < 3]",
                      "[position() <= 2.5]", "[position() > 2]", "[position() >= 2.5]", "[position() = last()]", "[position() < 0]",
                      "[. = 'x'][2]", "[2][. = 'x']", "[position() > 1][. = 'y']", "[last()][1]", "[position() > 1][2]")
        for _ in range(5):
            doc = hpar.parse("".join(r.choice(("<b>", "<b>", "</b>", "<i>", "</i>", "x", "y", "<!--x-->")) for _ in range(300)),
                             fragment="div")
            for axis in ("following-sibling", "preceding-sibling", "following", "preceding", "ancestor", "descendant"):
                for predicate in predicates:
                    step = f"{axis}::{r.choice(('b', 'i', '*', 'node()', 'text()'))}{predicate}"
                    expected = {found.handle for node in doc.xpath("//*") for found in node.xpath(f"{step}/self::*")}
                    self.assertEqual({n.handle for n in doc.xpath(f"//*/{step}/self::*")}, expected, step)

    def test_positions_on_long_axes(self):
        """Positions from many siblings take no quadratic time. Otherwise this test would take minutes."""
        n = 30_000
        doc = hpar.parse("<ul>" + "<li>a" * n, mode="sequential")
        for axis in ("following-sibling", "preceding-sibling", "following"):
            for predicate, count in (("[last()]", 1), ("[1]", n - 1), ("[last() - 1]", 1), ("[position() < 3]", n - 1),
                                     ("[position() > 1]", n - 2), ("[15000]", n - 15000), ("[last()][. = 'a']", 1)):
                self.assertEqual(doc.xpath(f"count(//li/{axis}::li{predicate})"), count, (axis, predicate))
            self.assertEqual(doc.xpath(f"count(//li/{axis}::b[1])"), 0)

    def test_deep_and_wide_trees(self):
        """The work is in proportion to the tree, whatever its shape. The count of work would be quadratic otherwise."""
        n = 20000
        deep = hpar.parse("<div>" * n + "x", mode="sequential")
        wide = hpar.parse("<ul>" + "<li>a" * n, mode="sequential")
        for doc, name, depth in ((deep, "div", n), (wide, "li", n)):
            for step in ("//", "/", "/ancestor::", "/ancestor-or-self::", "/following::", "/preceding::",
                         "/following-sibling::", "/preceding-sibling::", "/../descendant::", "/descendant-or-self::"):
                doc.xpath(f"count(//{name}{step}{name})")
            self.assertEqual(doc.xpath(f"count(//{name}[1] | //{name}[last()])"), n if doc is deep else 2)
            self.assertEqual(doc.xpath(f"count(//{name}/../{name}/../{name})"), n)
            self.assertEqual(doc.xpath(f"//{name} = //{name}/@none"), False)
        self.assertEqual(wide.xpath("//li = //li"), True)
        self.assertEqual(wide.xpath("count(//li/following::li) + count(//li/preceding::li)"), 2.0 * n - 2)


if __name__ == "__main__":
    unittest.main()
