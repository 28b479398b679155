"""Functions as callbacks of the rewriter."""
import gc
import threading
import unittest
import weakref

import hpar
from hpar import rewriting


class Callbacks(unittest.TestCase):
    def test_elements(self):
        seen = []

        def change(element):
            self.assertIsInstance(element, rewriting.Element)
            seen.append((element.name, element.namespace, element.attributes, element.range, element.depth,
                         element.implied, element.removed, element.has_content))
            element.set("a", "1 & \"2\"")
            element.unset("b")
            self.assertEqual(element.get("a"), "1 & \"2\"")
            self.assertEqual((element.get("b"), element.get("b", 5)), (None, 5))
            element.before("<i>")
            element.after("&", html=False)
            element.prepend("p")
            element.append("<", html=False)
            element.rename("q")
            element.on_end(lambda end: end.after(f"{end.name}{end.range}{end.implied}"))

        self.assertEqual(hpar.rewrite(b"<u a=0 b=3>x</u>", [("u", change)]),
                         b'<i><q a="1 & &quot;2&quot;">px&lt;</q>u(12, 16)False&amp;')
        self.assertEqual(seen, [("u", "html", {"a": "0", "b": "3"}, (0, 11), 2, False, False, True)])

    def test_element_edits(self):
        for method, expected in (("inner", b"<b><p>n</b>"), ("replace", b"<p>n")):
            self.assertEqual(hpar.rewrite(b"<b>x</b>", [("b", lambda e: getattr(e, method)("<p>n"))]), expected)
        self.assertEqual(hpar.rewrite(b"1<b>x</b>2", [("b", rewriting.Element.remove)]), b"12")
        self.assertEqual(hpar.rewrite(b"1<b>x</b>2", [("b", rewriting.Element.unwrap)]), b"1x2")

    def test_names_with_a_null_character(self):
        for change in (lambda e: e.get("a\0b"), lambda e: e.get("a\0b", 1), lambda e: e.set("a\0b", "1"),
                       lambda e: e.unset("a\0b"), lambda e: e.rename("i\0b"),
                       lambda e: e.on_end(lambda end: end.rename("i\0b"))):
            self.assertRaisesRegex(ValueError, "embedded null", hpar.rewrite, "<p a=0>", [("p", change)])

    def test_other_units(self):
        log = []

        def text(piece):
            log.append((piece.text, piece.raw, piece.kind, piece.offset, piece.is_last))
            if piece.text.strip():
                piece.replace(piece.text + "<")

        def comment(c):
            log.append((c.raw, c.offset))
            c.set_text("new")
            c.before("1")
            c.after("2")

        def doctype(d):
            log.append((d.name, d.public_id, d.system_id))
            d.remove()

        def end(e):
            e.before("B")
            e.rename("x-p")

        page = b"<!doctype html><p>a&amp;b<!--old--></p><script>s</script>"
        rules = [("p", "text", text), ("p", "comment", comment), (None, "doctype", doctype), ("p", "element:end", end),
                 (None, "end", lambda e: e.append("<!--end-->")), ("script", "text", lambda t: log.append(t.kind))]
        self.assertEqual(hpar.rewrite(page, rules),
                         b"<p>a&amp;b&lt;1<!--new-->2B</x-p><script>s</script><!--end-->")
        self.assertEqual(log, [(b"html", None, None), ("a&b", b"a&amp;b", "data", 18, True), (b"old", 25), "script"])

    def test_text_is_text_by_default(self):
        page = "<p>1 &lt; 2"
        self.assertEqual(hpar.rewrite(page, [("p", "text", lambda t: t.replace(t.text))]), b"<p>1 &lt; 2")
        self.assertEqual(hpar.rewrite(page, [("p", "text", lambda t: t.replace("<i>", html=True))]), b"<p><i>")
        self.assertEqual(hpar.rewrite(page, [("p", "text", rewriting.Text.remove)]), b"<p>")
        self.assertEqual(hpar.rewrite("<!--a-->", [(None, "comment", rewriting.Comment.remove)]), b"")

    def test_exceptions(self):
        class Own(BaseException):
            pass

        def fail(unit):
            raise Own(7)

        calls = []
        for rule in (("p", fail), ("p", "text", fail), ("p", "comment", fail), ("p", "element:end", fail),
                     (None, "doctype", fail), (None, "end", fail), ("p", lambda e: e.on_end(fail))):
            with self.assertRaises(Own) as raised:
                hpar.rewrite(b"<!doctype html><p>a<!--b--></p><p>c", [rule, ("p", calls.append)])
            self.assertEqual(raised.exception.args, (7,))
        self.assertRaises(TypeError, hpar.rewrite, b"<p>", [("p", lambda e: 5)])
        self.assertRaises(ValueError, hpar.rewrite, b"<p>", [("p", lambda e: e.rename("<"))])
        self.assertRaises(TypeError, hpar.rewrite, b"<p>", [("p", lambda e: e.before(5))])
        self.assertRaises(TypeError, hpar.rewrite, b"<p>", [("p", lambda e: e.on_end(5))])
        self.assertRaises(ValueError, hpar.rewrite, b"<p>", [("p", "text")])
        self.assertRaises(ValueError, hpar.rewrite, b"<p>", [("p", "text", 5)])
        self.assertRaises(hpar.SelectorError, hpar.rewrite, b"<p>", [("p", "doctype", fail)])

    def test_objects_end_with_their_callback(self):
        kept = []
        hpar.rewrite(b"<p>a", [("p", kept.append), ("p", "text", kept.append)])
        for unit in kept:
            self.assertRaises(ValueError, unit.before, "x")
        self.assertRaises(ValueError, lambda: kept[0].name)
        self.assertRaises(ValueError, lambda: kept[1].text)
        self.assertRaises(ValueError, kept[0].on_end, print)

    def test_retire(self):
        seen = []
        rule = ("p", lambda e: seen.append(e.range) or "retire")
        hpar.rewrite(b"<p>a<p>b<p>c", [rule])
        self.assertEqual(seen, [(0, 3)])

    def test_a_callback_may_rewrite(self):
        inner = hpar.Rules([("i", lambda e: e.set("n", "1"))])

        def outer(piece):
            piece.replace(hpar.rewrite(piece.text, inner).decode(), html=True)

        self.assertEqual(hpar.rewrite("<p>&lt;i>", [("p", "text", outer)]), b'<p><i n="1">')

    def test_end_functions_belong_to_their_element(self):
        seen = []

        def nested(element):
            hpar.rewrite("<i>", [("i", lambda _: element.on_end(lambda end: seen.append(end.name)))])

        def threaded(element):
            thread = threading.Thread(target=lambda: element.on_end(lambda end: seen.append(end.range)))
            thread.start()
            thread.join()

        hpar.rewrite("<p>x</p>", [("p", nested), ("p", threaded)])
        self.assertEqual(seen, ["p", (4, 8)])

    def test_end_functions_go_after_their_call(self):
        class Mark:
            pass

        marks = []

        def element(e):
            mark = Mark()
            marks.append(weakref.ref(mark))
            e.on_end(lambda end, kept=mark: None)

        rewriter = hpar.Rewriter([("p", element)])
        rewriter.feed("<p>a</p><p>b")
        gc.collect()
        self.assertEqual([mark() is None for mark in marks], [True, False])
        rewriter.close()
        gc.collect()
        self.assertIsNone(marks[1]())

    def test_input_stays_as_it_was(self):
        """A callback, or another thread, may change the bytes that the rewrite reads."""
        for rewrite in (lambda data, rules: hpar.rewrite(data, rules), lambda data, rules: hpar.Rewriter(rules).feed(data)):
            data = bytearray(b"<p>a</p>" * 9)
            copy = bytes(data)

            def change(_):
                data[:] = b"x" * len(data)
                data.append(1)

            self.assertEqual(rewrite(data, [("p", change)]), copy)

    def test_threads_share_rules(self):
        counts, failures = [], []
        rules = hpar.Rules([("li", lambda e: e.set("t", str(threading.get_ident())))])

        def work():
            try:
                own = str(threading.get_ident()).encode()
                for _ in range(20):
                    counts.append(hpar.rewrite(b"<li>x" * 200, rules).count(own))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((failures, set(counts), len(counts)), ([], {200}, 80))

    def test_reference_cycles(self):
        class Holder:
            pass

        holder = Holder()
        holder.rules = hpar.Rules([("p", lambda e, h=holder: None)])
        hpar.rewrite(b"<p>", holder.rules)
        gone = weakref.ref(holder)
        del holder
        gc.collect()
        self.assertIsNone(gone())

    def test_document(self):
        doc = hpar.parse("<p>\u00e4".encode("latin-1"), encoding="windows-1252")
        self.assertEqual(doc.rewrite([("p", "text", lambda t: t.after("\u00fc"))]), b"<p>\xe4\xfc")


if __name__ == "__main__":
    unittest.main()
