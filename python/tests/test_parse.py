"""Inputs, options and results of parse()."""
import array
import mmap
import tempfile
import unittest

import hpar

PAGE = b"<!doctype html><title>t</title><p class='a b' id=x>one<b>two</b><!--c-->"


class Inputs(unittest.TestCase):
    def test_types(self):
        expected = hpar.parse(PAGE).html
        with tempfile.TemporaryFile() as file:
            file.write(PAGE)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        for data in (PAGE, PAGE.decode(), bytearray(PAGE), memoryview(PAGE), memoryview(b"__" + PAGE)[2:], mapped,
                     array.array("B", PAGE)):
            with self.subTest(type(data).__name__):
                self.assertEqual(hpar.parse(data).html, expected)

    def test_no_copy(self):
        document = hpar.parse(PAGE)
        self.assertIs(document.data.obj, PAGE)
        text = PAGE.decode()
        self.assertIs(hpar.parse(text).data, text)

    def test_writable_buffers_are_copied(self):
        data = bytearray(PAGE)
        document = hpar.parse(data)
        data[:] = b"x" * 1000
        self.assertEqual(document.html, hpar.parse(PAGE).html)

    def test_borrowed_writable_buffer(self):
        data = bytearray(PAGE)
        document = hpar.parse(data, copy=False)
        with self.assertRaises(BufferError):
            data.append(1)
        del document
        data.append(1)

    def test_changed_bytes_are_memory_safe(self):
        """A program breaks the rule of copy=False. The strings then have other contents, and nothing else happens."""
        page = b"<p title='a&amp;b&nGt;c&copy;' id=x class='&lt;&gt;&quot;'>one &amp; two<svg viewBox='&#x41;'></svg><!--c-->"
        for change in (b"&nGt;", b"<p a='", b"\xff", b"'", b"\x00", b">"):
            for times in (1, 40):
                data = bytearray(page * times)
                document = hpar.parse(data, copy=False, positions=True)
                data[:] = (change * len(data))[:len(data)]
                for node in document.traverse(include_text=True):
                    self.assertIsInstance(node.attributes, dict)
                    self.assertIsInstance(node.attribute_positions, dict)
                    self.assertIsInstance(node.data, str)
                self.assertIsInstance(document.html, str)
                self.assertIsInstance(document.text(), str)
                self.assertIsInstance(document.readable_text(), str)
                document.table()
                document.links("https://example.org/")
                document.css("[title^=a]")

    def test_wrong_inputs(self):
        for data in (None, 1, [b"a"], object()):
            self.assertRaises(TypeError, hpar.parse, data)
        self.assertRaises((TypeError, BufferError), hpar.parse, memoryview(b"abcd")[::2])

    def test_text(self):
        self.assertEqual(hpar.parse("<p>\u00e4\U0001f600").css_first("p").text(), "\u00e4\U0001f600")
        self.assertEqual(hpar.parse("<p>a\ud800b").css_first("p").text(), "a\ufffdb")
        self.assertEqual(hpar.parse("<meta charset=windows-1251><p>\u00e4").css_first("p").text(), "\u00e4")
        self.assertEqual(hpar.parse("").html, "<html><head></head><body></body></html>")
        self.assertEqual(hpar.parse(b"").html, "<html><head></head><body></body></html>")

    def test_encodings(self):
        document = hpar.parse("<p>\u0436".encode("windows-1251"), encoding="cp1251")
        self.assertEqual((document.encoding, document.css_first("p").text()), ("windows-1251", "\u0436"))
        self.assertEqual(document.stats["encoding_source"], "hint")
        self.assertEqual(hpar.parse(b"<p>\xe4").encoding, "windows-1252")


class Options(unittest.TestCase):
    def test_wrong_options(self):
        for options in ({"mode": "fast"}, {"limits": {"size": 1}}, {"threads": 1000}, {"encoding": "no-such"},
                        {"fragment": "svg foo bar"}, {"limits": 3}, {"encoding": b"utf-8"}, {"unknown": 1}):
            with self.subTest(options), self.assertRaises((ValueError, TypeError)):
                hpar.parse(PAGE, **options)
        self.assertRaisesRegex(ValueError, "'size'.* depth, .* input", hpar.parse, PAGE, limits={"size": 1})
        self.assertRaises(ValueError, hpar.parse, PAGE, threads=-1)
        self.assertRaises(TypeError, hpar.parse)
        self.assertRaises(TypeError, hpar.parse, PAGE, 2)

    def test_modes_have_equal_trees(self):
        page = PAGE * 2000
        trees = {hpar.parse(page, mode=mode, threads=4).tree for mode in ("auto", "sequential", "parallel", "pipelined")}
        self.assertEqual(len(trees), 1)
        self.assertEqual(hpar.parse(page, mode="parallel", threads=4, encoding="utf-8").stats["mode"], "parallel")

    def test_fragment(self):
        document = hpar.parse("<td>a", fragment="tr")
        self.assertEqual(document.html, "<td>a</td>")
        self.assertEqual(document.root.tag, "td")
        self.assertEqual(hpar.parse("<p>a", fragment="div").text(), "a")

    def test_scripting(self):
        page = "<head><noscript><p>a</noscript>"
        self.assertEqual(len(hpar.parse(page, scripting=True).css("p")), 0)
        self.assertEqual(len(hpar.parse(page).css("p")), 1)
        self.assertIn("<noscript><p>a</noscript>", hpar.parse(page, scripting=True).html)

    def test_limits(self):
        with self.assertRaises(hpar.LimitError) as caught:
            hpar.parse("<div>" * 1000, limits={"depth": 10})
        self.assertEqual(len(caught.exception.document.css("div")), 8)
        self.assertIsInstance(caught.exception, hpar.Error)
        with self.assertRaises(hpar.LimitError):
            hpar.parse("<div>" * 1000, limits="untrusted")

    def test_errors(self):
        self.assertEqual(hpar.parse(PAGE, max_errors=3).errors, [])
        self.assertEqual(hpar.parse("<!doctype html><p a a>", max_errors=1).errors[0][0], "duplicate-attribute")
        self.assertEqual(len(hpar.parse("<p a a>" * 9, max_errors=4).errors), 4)
        self.assertEqual(hpar.parse("<p a a>").errors, [])

    def test_document(self):
        document = hpar.parse(PAGE)
        self.assertEqual([document.root.tag, document.head.tag, document.body.tag], ["html", "head", "body"])
        self.assertEqual((document.quirks, hpar.parse("a").quirks), ("no-quirks", "quirks"))
        self.assertEqual(document.node.tag, "-document")
        self.assertGreater(document.memory, 100)
        self.assertEqual(document.stats["bytes"], len(PAGE))
        self.assertRaises(TypeError, hpar.Document)
        self.assertRaises(TypeError, hpar.Node)
        with self.assertRaises(AttributeError):
            document.root = None

    def test_readme_version(self):
        self.assertEqual(hpar.__version__.count("."), 2)


if __name__ == "__main__":
    unittest.main()
