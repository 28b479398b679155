"""Tables, rewriting, studies, and many documents at once."""
import pathlib
import threading
import unittest

import hpar

PAGE = "<!doctype html><title>t</title><p class=a>one<b>two</b><!--c-->\u00e4<svg><path/></svg>"


class Tables(unittest.TestCase):
    def test_columns(self):
        document = hpar.parse(PAGE, positions=True)
        table = document.table()
        nodes = list(document.traverse(include_text=True))
        self.assertEqual(len(table), len(nodes))
        self.assertEqual(table.nodes, nodes)
        rows = {node: row for row, node in enumerate(nodes)}
        for row, node in enumerate(nodes):
            name = table["name"][row]
            self.assertEqual(node.name, table.names[name] if name >= 0 else "")
            self.assertEqual(table["parent"][row], rows[node.parent] if node.parent else -1)
            self.assertEqual(table["next"][row], rows[node.next] if node.next else -1)
            self.assertEqual(table["stop"][row], row + len(list(node.traverse(include_text=True))))
            self.assertEqual(table["attributes"][row], len(node.attributes))
            self.assertEqual(table.data(row), node.data)
            self.assertEqual((table["start"][row], table["end"][row]), node.start_tag or (-1, -1))
            self.assertEqual((table["close_start"][row], table["close_end"][row]), node.end_tag or (-1, -1))
        self.assertEqual(max(table["depth"]), 5)
        self.assertEqual(set(table), set(table.keys()))
        self.assertTrue(all(column.readonly and column.contiguous for column in table.columns.values()))
        with self.assertRaises(TypeError):
            table["depth"][0] = 1

    def test_large(self):
        table = hpar.parse("".join(f"<x{i}>" for i in range(5000))).table()
        self.assertEqual(len(table.names), 5003)
        self.assertEqual([table.names[i] for i in table["name"][4:]], [f"x{i}" for i in range(5000)])
        self.assertEqual(table["depth"][-1], 5002)

    def test_outlives_document(self):
        column = hpar.parse(PAGE).table()["kind"]
        self.assertEqual(column[0], 1)

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy not found (Debian: python3-numpy)")
        table = hpar.parse(PAGE).table()
        depth = numpy.asarray(table["depth"])
        self.assertEqual((depth.dtype, depth.tolist()), (numpy.int32, table["depth"].tolist()))
        self.assertEqual(table.to_numpy()["start"].dtype, numpy.int64)


class Rewriting(unittest.TestCase):
    def test_actions(self):
        page = "<!doctype html><!--c--><p a=http:x>one<img></p>"
        for action, expected in {
                ("p", "before", "<i>"): "<!doctype html><!--c--><i><p a=http:x>one<img></p>",
                ("p", "after", "<i>"): "<!doctype html><!--c--><p a=http:x>one<img></p><i>",
                ("p", "prepend", "<i>"): "<!doctype html><!--c--><p a=http:x><i>one<img></p>",
                ("p", "append", "<i>"): "<!doctype html><!--c--><p a=http:x>one<img><i></p>",
                ("p", "inner", "<i>"): "<!doctype html><!--c--><p a=http:x><i></p>",
                ("p", "replace", "<i>"): "<!doctype html><!--c--><i>",
                ("p", "remove"): "<!doctype html><!--c-->",
                ("p", "unwrap"): "<!doctype html><!--c-->one<img>",
                ("p", "rename", "q"): "<!doctype html><!--c--><q a=http:x>one<img></q>",
                ("p", "set", "a", "b"): '<!doctype html><!--c--><p a=b>one<img></p>',
                ("p", "unset", "a"): "<!doctype html><!--c--><p>one<img></p>",
                ("p", "prefix", "a", "http:", "https:"): '<!doctype html><!--c--><p a=https:x>one<img></p>',
                ("p", "text:find", "n", "N"): "<!doctype html><!--c--><p a=http:x>oNe<img></p>",
                ("p", "text:remove"): "<!doctype html><!--c--><p a=http:x><img></p>",
                (None, "comment:remove"): "<!doctype html><p a=http:x>one<img></p>",
                ("p", "text:replace", "<i>"): "<!doctype html><!--c--><p a=http:x><i><img></p>",
                (None, "doctype:remove"): "<!--c--><p a=http:x>one<img></p>",
                (None, "end:append", "<i>"): "<!doctype html><!--c--><p a=http:x>one<img></p><i>"}.items():
            with self.subTest(action):
                self.assertEqual(hpar.rewrite(page, [action]).decode(), expected)

    def test_conditional_comments_and_instructions(self):
        page = "<?xml v?><!--a--><!--[if IE]><p>b<![endif]--><!--[if !IE]><!--><p>c<!--<![endif]-->"
        for action, expected in {
                ("conditional:remove",): "<?xml v?><!--a--><p>c",
                ("conditional:unwrap",): "<?xml v?><!--a--><p>b<p>c",
                ("conditional:replace", "<i>"): "<?xml v?><!--a--><i><i><p>c<i>",
                ("instruction:remove",): page[9:],
                ("instruction:before", "<i>"): "<i>" + page,
                ("comment:remove",): "<?xml v?><p>c"}.items():
            with self.subTest(action):
                self.assertEqual(hpar.rewrite(page, [(None, *action)]).decode(), expected)
        self.assertEqual(hpar.rewrite(page, [("p", "conditional:remove")]).decode(), page[:-16])

    def test_texts_across_tags(self):
        page = "<p>a<b>b</b><!--c--><p>ab"
        rules = [("p", "text:find", "ab", "x"), ("p", lambda element: None)]
        self.assertEqual(hpar.rewrite(page, rules), b"<p>a<b>b</b><!--c--><p>x")
        self.assertEqual(hpar.rewrite(page, hpar.Rules(rules, across_tags=True)), b"<p>x<b></b><!--c--><p>x")

    def test_errors(self):
        for rule in (("p", "conditional:find", "a", "b"), ("p", "instruction:unwrap"), ("p", "colour"), ("p", "set", "a"), ("p", "text:set", "a", "b"), ("p:has(b)", "remove"),
                     ("p", "image:remove"), (None, "remove"), ("p[", "remove")):
            with self.subTest(rule), self.assertRaises((ValueError, hpar.Error)):
                hpar.Rules([rule])
        self.assertRaisesRegex(ValueError, "hpar.Rules", hpar.Rules, [("p", "colour")])
        self.assertRaisesRegex(ValueError, "'size'.* memory, .* time_ns", hpar.rewrite, b"a", [], limits={"size": 1})
        self.assertRaises(hpar.Error, hpar.rewrite, b"a", [], encoding="iso-2022-jp")
        self.assertRaises(TypeError, hpar.rewrite, 3, [])

    def test_document(self):
        stats = {}
        document = hpar.parse("<p>\u0436".encode("windows-1251"), encoding="windows-1251")
        self.assertEqual(document.rewrite([("p", "append", "\u0436\u00e4")], stats=stats), b"<p>\xe6\xe6&#228;")
        self.assertEqual((stats["edits"], stats["encoding"]), (1, "windows-1251"))
        self.assertEqual(hpar.parse("<p>\u0436").rewrite([]), "<p>\u0436".encode())

    def test_shared_rules(self):
        rules = hpar.Rules([("p", "set", "a", "b")])
        outputs = []
        threads = [threading.Thread(target=lambda: outputs.append(hpar.rewrite("<p>x" * 5000, rules))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outputs, [b'<p a="b">x' * 5000] * 4)


class Studies(unittest.TestCase):
    page = "<div><p>a<b>b</b><script>s</script></div>" * 500

    def test_explain(self):
        record = hpar.parse(self.page).explain(threads=2, chunks=8)
        chunks = record["chunks"]
        self.assertGreater(len(chunks), 4)
        self.assertEqual((chunks[0]["begin"], chunks[-1]["end"]), (0, len(self.page)))
        self.assertTrue(all(a["end"] == b["begin"] for a, b in zip(chunks, chunks[1:])))
        self.assertIsNone(chunks[0]["predicted"])
        self.assertEqual(chunks[1]["actual"]["state"], "data")
        self.assertTrue(any(event["kind"] == "parse" for event in record["events"]))

    def test_profile(self):
        one = hpar.profile(self.page, cut_distance=256)
        two = hpar.profile([self.page, self.page.encode()], cut_distance=256)
        self.assertEqual(one + one, two)
        self.assertEqual(two.bytes, 2 * len(self.page))
        self.assertGreater(one.share("before-tag"), 0.5)
        self.assertEqual(one.share("no such policy"), 0.0)
        self.assertRaises(ValueError, hpar.profile, "a", cut_distance=0)

    def test_compare_and_project(self):
        comparison = hpar.compare(self.page, threads=2, repeats=2)
        self.assertTrue(comparison.equal)
        self.assertGreater(comparison.speedup, 0)
        projections = hpar.project(self.page, cores=(1, 2, 8), repeats=2)
        self.assertEqual([p.cores for p in projections], [1, 2, 8])
        self.assertTrue(all(p.ns_projected > 0 for p in projections))
        self.assertRaises(ValueError, hpar.project, self.page, cores=(0,))


class Many(unittest.TestCase):
    inputs = [f"<p>{i}" + "<b>x" * (i % 50) for i in range(700)]

    def test_ordered(self):
        for batch in (1, 7, 256, 10000):
            texts = [d.css_first("p").first_child.text() for d in hpar.parse_many(self.inputs, threads=2, batch=batch)]
            self.assertEqual(texts, [str(i) for i in range(700)])

    def test_as_completed(self):
        found = {i: d.css_first("p").first_child.text()
                 for i, d in hpar.parse_many((s.encode() for s in self.inputs), threads=3, ordered=False, batch=100)}
        self.assertEqual(found, {i: str(i) for i in range(700)})

    def test_limits(self):
        inputs = ["<p>a", "<div>" * 100, "<p>b"]
        options = {"limits": {"depth": 20}}
        values = list(hpar.parse_many(inputs, return_errors=True, **options))
        self.assertIsInstance(values[1], hpar.LimitError)
        self.assertEqual((values[0].text(), values[2].text()), ("a", "b"))
        self.assertGreater(len(values[1].document.css("div")), 5)
        with self.assertRaises(hpar.LimitError):
            list(hpar.parse_many(inputs, **options))

    def test_edges(self):
        self.assertEqual(list(hpar.parse_many([])), [])
        self.assertRaises(TypeError, list, hpar.parse_many(["a", b"b"]))
        self.assertRaises(TypeError, list, hpar.parse_many([None]))
        self.assertRaises(ValueError, list, hpar.parse_many([b"a"], encoding="no-such"))
        self.assertRaises(TypeError, list, hpar.parse_many([b"a"], unknown=1))
        self.assertRaises(ValueError, hpar.parse_many, [b"a"], batch=0)

    def test_late_errors(self):
        """An input of the next batch that cannot be read takes no result of this one away."""
        inputs = ["<p>a"] * 10 + [pathlib.Path("/none/none")]
        for ordered in (True, False):
            found = []
            with self.assertRaises(FileNotFoundError):
                for document in hpar.parse_many(inputs, batch=6, ordered=ordered):
                    found.append(document)
            self.assertEqual(len(found), 6)
        self.assertRaises(ValueError, list, hpar.parse_many(["a"], encoding="nope"))

    def test_abandoned(self):
        for _ in range(20):
            iterator = hpar.parse_many(self.inputs, threads=2)
            next(iterator)
            del iterator


if __name__ == "__main__":
    unittest.main()
