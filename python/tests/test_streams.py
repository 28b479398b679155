"""Input in pieces: Parser, Rewriter and parse_async. The results are those of the whole input for every division."""
import asyncio
import gc
import os
import subprocess
import sys
import threading
import unittest
import weakref

import hpar

PAGE = ("<!doctype html><title>t &amp; ü</title><p class=a>one<b>two</p><table>x<td>y</table><!--c--><script>if (a<b)"
        "</script><svg><path/></svg>\r\n𝄞").encode()


def parsed(pieces, **options):
    parser = hpar.Parser(**options)
    for piece in pieces:
        parser.feed(piece)
    return parser.close()


class Feeds(unittest.TestCase):
    def test_every_division(self):
        whole = hpar.parse(PAGE)
        for cut in range(len(PAGE) + 1):
            self.assertEqual(parsed([PAGE[:cut], PAGE[cut:]]).tree, whole.tree, cut)
        self.assertEqual(parsed(PAGE[i:i + 1] for i in range(len(PAGE))).tree, whole.tree)
        text = PAGE.decode()
        self.assertEqual(parsed(text).tree, hpar.parse(text).tree)

    def test_document(self):
        options = {"positions": True, "max_errors": 99, "scripting": True, "editable": True}
        document, whole = parsed([PAGE[:50], PAGE[50:]], **options), hpar.parse(PAGE, **options)
        self.assertEqual((document.errors, document.encoding, document.quirks), (whole.errors, whole.encoding, whole.quirks))
        self.assertEqual(document.find("p").start_tag, whole.find("p").start_tag)
        self.assertEqual(document.stats["bytes"], whole.stats["bytes"])
        self.assertIsNone(document.data)
        document.find("b").decompose()
        self.assertEqual(parsed(["<td>a", "<td>b"], fragment="tr").html, "<td>a</td><td>b</td>")
        self.assertEqual(parsed([]).tree, hpar.parse(b"").tree)
        self.assertEqual(parsed([b"", "\u0436".encode("cp1251")], encoding="cp1251").text(), "\u0436")
        self.assertEqual(parsed([bytearray(b"<p>"), memoryview(b"a")]).text(), "a")

    def test_text(self):
        self.assertEqual(parsed(["<p>\ud800", "ä"]).text(), "\ufffdä")
        self.assertEqual(parsed(["<meta charset=latin1>ä"]).text(), "ä")
        for first, second in (("a", b"b"), (b"a", "b")):
            parser = hpar.Parser()
            parser.feed(first)
            self.assertRaises(TypeError, parser.feed, second)
            self.assertEqual(parser.close().text(), "a")
        self.assertRaises(ValueError, hpar.Parser, encoding="none")
        self.assertRaises(TypeError, hpar.Parser().feed, 3)
        self.assertRaises(TypeError, hpar.Parser, unknown=1)

    def test_end(self):
        parser = hpar.Parser()
        parser.feed(b"<p>a")
        self.assertEqual(parser.close().text(), "a")
        self.assertRaises(hpar.Error, parser.feed, b"b")
        self.assertRaises(hpar.Error, parser.close)
        for _ in range(20):
            parser = hpar.Parser()
            parser.feed(PAGE * 100)  # abandoned

    def test_limits(self):
        parser = hpar.Parser(limits={"nodes": 10})
        with self.assertRaises(hpar.LimitError) as raised:
            for _ in range(1000):
                parser.feed(b"<br>" * 400)
            parser.close()
        self.assertLess(len(raised.exception.document.find_all("br")), 20)
        self.assertRaises(hpar.Error, parser.close)

    def test_threads(self):
        """The parser refuses a second thread, and neither crashes nor loses the tree."""
        parser = hpar.Parser(mode="sequential")
        piece, refused = b"<p>a<b>c</b>" * 4000, []

        def feed():
            for _ in range(10):
                try:
                    parser.feed(piece)
                except hpar.Error:
                    refused.append(1)
        threads = [threading.Thread(target=feed) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(parser.close().css("b")), (40 - len(refused)) * 4000)

    def test_modes(self):
        page = PAGE * 300
        whole = hpar.parse(page).tree
        for mode in ("sequential", "parallel", "pipelined"):
            self.assertEqual(parsed([page[i:i + 7000] for i in range(0, len(page), 7000)], mode=mode).tree, whole)


class Async(unittest.TestCase):
    def test_pages(self):
        async def pieces():
            for i in range(0, len(PAGE), 7):
                yield PAGE[i:i + 7]

        async def run():
            return await asyncio.gather(hpar.parse_async(PAGE), hpar.parse_async(PAGE.decode(), editable=True),
                                        hpar.parse_async(pieces()))
        documents = asyncio.run(run())
        self.assertEqual({document.tree for document in documents}, {hpar.parse(PAGE).tree})
        self.assertTrue(documents[1].editable)
        self.assertRaises(hpar.LimitError, asyncio.run, hpar.parse_async(PAGE, limits={"nodes": 3}))


    def test_generators_are_closed(self):
        closed = []

        async def pieces():
            try:
                while True:
                    yield b"<br>" * 400
            finally:
                closed.append(1)

        self.assertRaises(hpar.LimitError, asyncio.run, hpar.parse_async(pieces(), limits={"nodes": 3}))
        self.assertEqual(closed, [1])

    def test_import(self):
        script = "import sys, hpar; sys.exit('asyncio' in sys.modules)"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self.assertEqual(subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode, 0)


class Rewriters(unittest.TestCase):
    RULES = [("b", "rename", "i"), ("p", "set", "id", "x"), ("title", "text:find", "t", "u")]

    def rewritten(self, pieces, rules, **options):
        rewriter = hpar.Rewriter(rules, **options)
        output = b"".join(map(rewriter.feed, pieces)) + rewriter.close()
        return output, rewriter.stats

    def test_every_division(self):
        stats = {}
        expected = hpar.rewrite(PAGE, self.RULES, stats=stats)
        self.assertIn(b"<i>two", expected)
        rules = hpar.Rules(self.RULES)
        for cut in range(len(PAGE) + 1):
            self.assertEqual(self.rewritten([PAGE[:cut], PAGE[cut:]], rules), (expected, stats), cut)
        self.assertEqual(self.rewritten(PAGE.decode(), rules)[0], expected)

    def test_asynchronous_functions(self):
        log = []

        def rules(is_late):
            def function(name, edit):
                def now(unit):
                    log.append(name)
                    edit(unit)

                async def late(unit):
                    log.append(name)
                    await asyncio.sleep(0)
                    edit(unit)
                    await asyncio.sleep(0)
                return late if is_late else now

            def element(unit):
                unit.set("n", str(len(unit.attributes)))
                unit.on_end(function("on_end", lambda end: end.after("|")))
            return [("*", function("element", element)), ("*", "element:end", function("end", lambda e: e.before("/"))),
                    (None, "text", function("text", lambda text: text.before("{"))),
                    (None, "comment", function("comment", lambda comment: comment.set_text("new"))),
                    (None, "doctype", function("doctype", lambda doctype: None)),
                    (None, "end", function("document", lambda end: end.append("E")))]

        async def rewritten(pieces):
            rewriter = hpar.Rewriter(rules(True))
            output = b"".join([await rewriter.feed_async(piece) for piece in pieces]) + await rewriter.close_async()
            return output, rewriter.stats
        for pieces in ([PAGE], [bytes([byte]) for byte in PAGE], [PAGE[:20], bytearray(PAGE[20:])], list(PAGE.decode())):
            log.clear()
            expected, calls = self.rewritten(pieces, rules(False)), list(log)
            log.clear()
            self.assertEqual(asyncio.run(rewritten(pieces)), expected)
            self.assertEqual(log, calls)
        self.assertEqual(set(log), {"element", "on_end", "end", "text", "comment", "doctype", "document"})

    def test_answers(self):
        async def answer(result, error=None):
            await asyncio.sleep(0)
            if error:
                raise error
            return result

        async def rewritten(function):
            rewriter = hpar.Rewriter([("b", function)])
            try:
                return await rewriter.feed_async(b"<b><b>c") + await rewriter.close_async()
            finally:
                self.assertRaises(hpar.Error, rewriter.feed, b"x")
        seen = []
        self.assertEqual(asyncio.run(rewritten(lambda e: seen.append(e.name) or answer("retire"))), b"<b><b>c")
        self.assertEqual(seen, ["b"])
        self.assertRaises(KeyError, asyncio.run, rewritten(lambda e: answer(None, KeyError())))
        self.assertRaises(TypeError, asyncio.run, rewritten(lambda e: answer(3)))

        async def two(other):
            rewriter = hpar.Rewriter([("b", lambda e: waits)])
            waits = asyncio.get_running_loop().create_future()
            task = asyncio.ensure_future(rewriter.feed_async(b"<b>"))
            await asyncio.sleep(0)
            self.assertRaisesRegex(hpar.Error, "another call", rewriter.feed, b"x")
            other(task, waits)
            return await task
        self.assertEqual(asyncio.run(two(lambda task, waits: waits.set_result(None))), b"<b>")
        self.assertRaises(asyncio.CancelledError, asyncio.run, two(lambda task, waits: task.cancel()))

        # Without the asynchronous call, a coroutine is no answer.
        rewriter, coroutine = hpar.Rewriter([("b", lambda e: coroutine)]), answer(None)
        self.assertRaisesRegex(TypeError, "must return None", rewriter.feed, b"<b>")
        coroutine.close()

        async def kept():
            owner = hpar.Rewriter([("b", lambda e: asyncio.get_running_loop().create_future())])
            task = asyncio.ensure_future(owner.feed_async(b"<b>"))
            await asyncio.sleep(0)
            return weakref.ref(task)
        lost = asyncio.run(kept())
        gc.collect()
        self.assertIsNone(lost())

    def test_surrogates(self):
        self.assertEqual(hpar.rewrite("a\ud800b", []), "a\ufffdb".encode())
        self.assertEqual(self.rewritten(["a\ud800b"], [])[0], "a\ufffdb".encode())
        for call in (lambda document: document.rewrite([]), lambda document: document.explain()):
            self.assertRaisesRegex(ValueError, "no input", call, parsed(["a"]))

    def test_functions(self):
        seen = []

        def element(e):
            seen.append(e.name)
            e.on_end(lambda end: seen.append("/" + end.name))
        rewriter = hpar.Rewriter([("p, b", element)])
        for byte in b"<p>a<b>c</b></p>":
            rewriter.feed(bytes([byte]))
            gc.collect()
        rewriter.close()
        self.assertEqual(seen, ["p", "b", "/b", "/p"])

    def test_errors(self):
        def fail(_):
            raise KeyError("own")
        rewriter = hpar.Rewriter([("b", fail)])
        self.assertEqual(rewriter.feed(b"<p>"), b"<p>")
        self.assertRaises(KeyError, rewriter.feed, b"<b>x")
        self.assertRaises(hpar.Error, rewriter.feed, b"y")
        self.assertRaises(hpar.Error, rewriter.close)
        limits = {"input": 300}
        rewriter = hpar.Rewriter([("b", "remove")], limits=limits)
        self.assertRaises(hpar.LimitError, lambda: (rewriter.feed(b"<p a='" + b"x" * 5000), rewriter.close()))
        output, stats = self.rewritten([b"<b>y</b><p a='", b"x" * 5000, b"'>z"], [("b", "remove")], limits=limits,
                                       on_failure="pass")
        self.assertEqual(output, b"<p a='" + b"x" * 5000 + b"'>z")
        self.assertIsNotNone(stats["failure"])
        self.assertRaises(ValueError, hpar.Rewriter, [], utf16="other")
        self.assertRaises(TypeError, hpar.Rewriter([]).feed, 3)
        mixed = hpar.Rewriter([])
        mixed.feed("a")
        self.assertRaises(TypeError, mixed.feed, b"b")

    def test_reentrance(self):
        errors = []

        def again(_):
            for call in (lambda: rewriter.feed(b"z"), rewriter.close):
                try:
                    call()
                except hpar.Error as error:
                    errors.append(str(error))
        rewriter = hpar.Rewriter([("b", again)])
        self.assertEqual(rewriter.feed(b"<b>c") + rewriter.close(), b"<b>c")
        self.assertEqual(len(errors), 2)

    def test_cycles(self):
        class Owner:
            pass
        owner = Owner()
        owner.rewriter = hpar.Rewriter([("b", lambda e, o=owner: e.on_end(lambda end: o))])
        owner.rewriter.feed(b"<b>")
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    unittest.main()
