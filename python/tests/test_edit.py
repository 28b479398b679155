"""Changes of editable documents."""
import gc
import random
import threading
import types
import unittest

import hpar

PAGE = "<!doctype html><p id=one class='a&amp;b'>text<b>bold</b></p><p id=two>more</p>"


def editable(page=PAGE, **options):
    return hpar.parse(page, editable=True, **options)


class Changes(unittest.TestCase):
    def test_immutable_by_default(self):
        doc = hpar.parse(PAGE)
        node = doc.css_first("b")
        text = node.child
        self.assertFalse(doc.editable)
        for change in (node.decompose, node.remove, node.unwrap, node.clone, node.merge_text_nodes,
                       lambda: node.replace_with("x"), lambda: node.insert_before("x"), lambda: node.insert_after("x"),
                       lambda: node.insert_child("x"), lambda: doc.create_tag("p"), lambda: doc.create_text("x"),
                       lambda: doc.create_comment("x"), lambda: doc.strip_tags(["b"]), lambda: doc.unwrap_tags(["b"]),
                       lambda: setattr(node, "inner_html", "x"), lambda: setattr(text, "data", "x"),
                       lambda: node.attrs.__setitem__("a", "b"), lambda: node.attrs.__delitem__("a")):
            if change == node.merge_text_nodes:
                continue  # there is nothing to merge
            self.assertRaises(TypeError, change)
        self.assertIn("<p id=\"one\" class=\"a&amp;b\">text<b>bold</b></p>", doc.html)

    def test_many_attributes(self):
        """The places of attributes, by name, when an element has many and they change in any order."""
        generator = random.Random(1)
        document = hpar.parse("<p><b>", editable=True)
        elements = [document.find("p"), document.find("b")]
        expected = [{}, {}]
        for _ in range(6000):
            which = generator.random() < 0.1
            attributes, model, name = elements[which].attrs, expected[which], f"a{generator.randrange(120)}"
            if generator.random() < 0.6:
                attributes[name] = model[name] = str(generator.random())
            elif name in model:
                del attributes[name], model[name]
            elif generator.random() < 0.01:
                attributes.clear()
                model.clear()
            elif model and generator.random() < 0.3:  # the last, after which no attribute moves
                name = list(model)[-1]
                del attributes[name], model[name]
        for element, model in zip(elements, expected):
            self.assertEqual(element.attrs.items(), list(model.items()))
        elements[0].clone().attrs["a1"] = "x"
        self.assertEqual(elements[0].attributes, expected[0])

    def test_methods(self):
        doc = editable()
        first, second = doc.css("p")
        bold = doc.css_first("b")
        bold.insert_before("1<")
        bold.insert_after(b"2")
        bold.insert_child("3")
        self.assertEqual(first.html, '<p id="one" class="a&amp;b">text1&lt;<b>bold3</b>2</p>')
        bold.unwrap()
        first.merge_text_nodes()
        self.assertEqual(first.child.data, "text1<bold32")
        self.assertIsNone(first.child.next)
        second.replace_with(first)
        self.assertEqual([p.id for p in doc.css("p")], ["one"])
        self.assertEqual(second.html, '<p id="two">more</p>')
        second.insert_child(doc.create_comment("c"))
        doc.body.insert_child(second)  # a node without a parent moves
        self.assertEqual(second.parent, doc.body)
        self.assertEqual(doc.body.last_child.html, '<p id="two">more<!--c--></p>')
        self.assertRaises(ValueError, second.insert_child, doc.node)
        self.assertRaises(ValueError, doc.root.insert_before, "text")
        self.assertRaises(TypeError, second.insert_child, 5)
        self.assertRaises(ValueError, doc.create_tag("i").insert_before, "x")
        self.assertRaises(ValueError, doc.create_tag, "i", namespace="x")
        self.assertEqual(doc.create_tag("path", namespace="svg").namespace, "svg")
        self.assertRaises(UnicodeEncodeError, second.insert_child, "\ud800")
        self.assertRaises(ValueError, second.insert_child, b"\xff")

    def test_unwrap_empty(self):
        doc = editable("<p>a<i></i><b>c</b>")
        doc.unwrap_tags(["i", "b"])
        self.assertEqual(doc.body.inner_html, "<p>a<i></i>c</p>")
        doc.unwrap_tags(["i"], delete_empty=True)
        self.assertEqual(doc.body.inner_html, "<p>ac</p>")
        doc.strip_tags([])
        doc.strip_tags(["p"])
        self.assertEqual(doc.body.inner_html, "")

    def test_data(self):
        doc = hpar.parse(PAGE, editable=True)
        first = doc.css_first("#one")
        with self.assertRaisesRegex(ValueError, "only a text"):
            first.data = "z"
        self.assertEqual(first.child.data, "text")
        first.child.data = "<z"
        self.assertIn("&lt;z<b>bold</b>", first.html)

    def test_attributes(self):
        doc = editable()
        attrs = doc.css_first("p").attrs
        attrs["title"] = "\"<&"
        attrs["class"] = None
        del attrs["id"]
        self.assertEqual(dict(attrs), {"class": "", "title": "\"<&"})
        with self.assertRaises(KeyError):
            del attrs["id"]
        self.assertEqual(doc.css("p[title]")[0].attributes, {"class": "", "title": "\"<&"})
        svg = editable("<svg><a xlink:href=b>").css_first("a")
        with self.assertRaises(ValueError):
            svg.attrs["xlink:href"] = "c"
        with self.assertRaises(TypeError):
            attrs[5] = "x"

    def test_removed_nodes_stay(self):
        doc = editable()
        bold = doc.css_first("b")
        texts = [bold.child]
        bold.decompose()
        bold.decompose()
        for number in range(2000):
            doc.body.insert_child(f"{number} " * 50)
        self.assertEqual((bold.html, bold.parent, texts[0].data), ("<b>bold</b>", None, "bold"))
        handles = {bold.handle}
        self.assertNotIn(bold.handle, {node.handle for node in doc.traverse(True)})
        doc.css_first("p").insert_child(bold)
        self.assertEqual({doc.css_first("b").handle}, handles)
        del doc
        gc.collect()
        bold.insert_child("!")
        self.assertEqual(bold.text(), "bold!")

    def test_changes_during_iteration(self):
        doc = editable("<p>1<p>2<p>3<p>4")
        for node in doc.body.iter():
            node.decompose()
        self.assertEqual(doc.body.inner_html, "")
        for page, name, left in (("<p><b>x</b><p><b>y</b>", "b", "<p></p><p></p>"), ("<b><i>1<b>2</b></i></b>3<b>4</b>", "b", "3"),
                                 ("<i><b>1</b></i><u>2</u><b></b>", "b", "<i></i><u>2</u>"), ("<p>1<p>2<p>3", "p", ""),
                                 ("<div><p><b>x</b></p></div><b>y</b>", "p", "<div></div><b>y</b>")):
            for include_text in (False, True):
                doc = editable(page)
                for node in doc.traverse(include_text):
                    if node.tag == name:
                        node.decompose()
                self.assertEqual(doc.body.inner_html, left)
        doc = editable("<b>1<b>2<i>3</i></b></b><b>4</b>")
        for node in doc.traverse():
            if node.tag == "b":
                node.unwrap()
        self.assertEqual(doc.body.inner_html, "12<i>3</i>4")
        doc = editable("<div><p>1</div><p>2")
        seen = []
        for node in doc.body.traverse(include_text=True):
            seen.append(node)
            if node.tag == "p":
                node.parent.decompose()  # the loop ends here, as all that would follow has gone
        self.assertEqual(len(seen), 3)
        items = iter(doc.css_first("body").iter())
        self.assertEqual(list(items), list(doc.body.iter()))
        doc = editable("<p>1<p>2<p>3")
        for node in doc.body.iter():
            doc.root.append(node)
            if node.next is None:
                break
        deep = editable("<b>" * 50_000)
        self.assertEqual(sum(not node.append("x") for node in deep.find("b").traverse()), 50_000)

    def test_nodes_of_other_documents(self):
        source = hpar.parse("<div a=1><template><i>t</i></template><svg><a xlink:href=x>s</a></svg><!--c-->d<p>e</div>")
        doc = editable()
        doc.css_first("b").replace_with(source.css_first("div"))
        self.assertEqual(doc.css_first("div").html, source.css_first("div").html)
        self.assertEqual(doc.css_first("template").contents.inner_html, "<i>t</i>")
        self.assertEqual(doc.css_first("svg").namespace, "svg")
        self.assertRaises(ValueError, doc.body.insert_child, source.node)
        link = doc.css_first("svg").child
        self.assertIn("xlink href", doc.tree)
        with self.assertRaises(ValueError):
            link["xlink:href"] = "y"  # it has its namespace
        source = hpar.parse("<!doctype html><div><?x y?></div><template>a<i>b</i></template>")
        self.assertRaises(ValueError, doc.body.insert_child, source.children[0])
        doc.body.inner_html = ""
        doc.body.append(source.find("div"))
        doc.body.append(source.find("template").contents)
        self.assertEqual(doc.body.inner_html, "<div><?x y?></div>a<i>b</i>")
        instruction = doc.find("div").child
        self.assertEqual((instruction.type, instruction.name, instruction.data), ("processing-instruction", "x", "y"))
        instruction.data = "z"
        self.assertEqual(doc.find("div").html, "<div><?x z?></div>")
        with self.assertRaises(ValueError):
            doc.find("div").data = "z"

    def test_deep_nodes_of_other_documents(self):
        for name in ("template", "div", "svg"):
            doc = editable("")
            source = hpar.parse(f"<{name}>" * 200_000)
            doc.body.append(source.find(name))
            self.assertEqual(doc.find(name).html, source.find(name).html)

    def test_moves(self):
        doc = editable("<p>a</p><p>b<i>c</i></p>")
        first, second = doc.css("p")
        for move, expected in ((lambda: first.insert_after(second), "<p>a</p><p>b<i>c</i></p>"),
                               (lambda: first.insert_before(second), "<p>b<i>c</i></p><p>a</p>"),
                               (lambda: first.insert_before(first), "<p>b<i>c</i></p><p>a</p>"),
                               (lambda: first.insert_after(first), "<p>b<i>c</i></p><p>a</p>"),
                               (lambda: first.replace_with(first), "<p>b<i>c</i></p><p>a</p>"),
                               (lambda: doc.body.insert_child(second), "<p>a</p><p>b<i>c</i></p>"),
                               (lambda: doc.body.insert(-9, second), "<p>b<i>c</i></p><p>a</p>"),
                               (lambda: doc.body.insert(1 << 70, second), "<p>a</p><p>b<i>c</i></p>"),
                               (lambda: first.insert_before(doc.find("i")), "<i>c</i><p>a</p><p>b</p>"),
                               (lambda: second.replace_with(first), "<i>c</i><p>a</p>")):
            move()
            self.assertEqual(doc.body.inner_html, expected)
        self.assertEqual((second.html, second.parent), ("<p>b</p>", None))
        self.assertRaises(TypeError, doc.body.insert, "0", first)

    def test_refused_moves_change_nothing(self):
        doc = editable("<p>a<b>c</b></p>")
        p, b, text, loose = doc.find("p"), doc.find("b"), doc.find("p").child, doc.create_tag("i")
        other = hpar.parse("<u>").find("u")
        template = doc.create_tag("template")
        template.contents.append(doc.create_tag("q"))
        doc.body.append(template)
        before = doc.html
        for move in (lambda: text.append(b), lambda: text.insert(0, b), lambda: b.append(p), lambda: b.insert_before(p),
                     lambda: b.replace_with(p), lambda: b.wrap(text), lambda: loose.wrap(b), lambda: b.wrap(p), lambda: b.wrap(b),
                     lambda: b.wrap(other), lambda: doc.node.wrap(b), lambda: loose.replace_with(b), lambda: loose.insert_after(b),
                     lambda: doc.node.append(b), lambda: doc.root.insert_before(b), lambda: doc.root.replace_with("x"),
                     lambda: b.wrap("<"), lambda: b.append(doc.node), lambda: template.contents.find("q").wrap(template),
                     lambda: template.contents.append(template), lambda: template.contents.wrap(b)):
            self.assertRaises(ValueError, move)
            self.assertEqual(doc.html, before)
        for value in (5, None, doc, b.attrs):
            self.assertRaises(TypeError, b.wrap, value)
            self.assertRaises(TypeError, b.append, value)
        self.assertEqual(doc.html, before)
        whole = editable("<!doctype html><p>a")
        self.assertRaises(ValueError, whole.children[0].wrap, "p")
        self.assertEqual(whole.root.wrap("main").name, "main")
        self.assertEqual(whole.html, "<!DOCTYPE html><main><html><head></head><body><p>a</p></body></html></main>")
        self.assertEqual(p.wrap(b).html, "<b>c<p>a</p></b>")

    def test_arguments(self):
        doc = editable("<svg a=1 xlink:href=x b=2></svg><p a=1 b=2>x<s>y</s>")
        before = doc.html
        self.assertRaises(ValueError, doc.find("svg").attrs.clear)
        self.assertRaises(TypeError, doc.strip_tags, "ps")
        self.assertRaises(TypeError, doc.find("p").unwrap_tags, "s")
        self.assertEqual(doc.html, before)
        doc.find("p").attrs.clear()
        self.assertEqual(doc.find("p").attributes, {})
        self.assertRaises(TypeError, hpar.parse("<p a>").find("p").attrs.clear)
        self.assertEqual(len(doc.edit(limits=types.MappingProxyType({"nodes": 1})).css("p")), 1)
        with self.assertRaises(hpar.LimitError) as raised:
            doc.body.append(hpar.parse("<p>" * 9).body)
        self.assertIsNone(raised.exception.document)

    def test_names(self):
        doc = editable("<p>")
        for name in ("x onclick=alert(1) y", "", "a/b", "a>", "a\0", "a=b"):
            with self.assertRaisesRegex(ValueError, "is not the name of an attribute"):
                doc.css_first("p").attrs[name] = "1"
        for name in ("p onclick=alert(1)", "", "1", "<p>"):
            with self.assertRaisesRegex(ValueError, "is not the name of an element"):
                doc.create_tag(name)
        self.assertEqual(doc.css_first("p").html, "<p></p>")

    def test_clone(self):
        doc = editable()
        first = doc.css_first("p")
        copy, shallow = first.clone(), first.clone(deep=False)
        copy.attrs["id"] = "copy"
        self.assertEqual((first.id, copy.id, copy.text(), shallow.text()), ("one", "copy", "textbold", ""))

    def test_everything_reads_the_change(self):
        doc = editable(b"<a href=x>1</a><img src=y>", positions=True, encoding="utf-8")
        doc.css_first("a").attrs["href"] = "new"
        doc.body.insert_child(hpar.parse("<script src=z></script><a href=q>2</a>", fragment="div").css_first("script"))
        self.assertEqual([link["value"] for link in doc.links()][:1], ["new"])
        self.assertEqual([r["url"] for r in doc.resources()], ["y", "z"])
        self.assertEqual(doc.css_first("a").start_tag, (0, 10))
        self.assertIsNone(doc.css_first("script").start_tag)
        self.assertEqual(doc.table().names.count("script"), 1)
        self.assertIn("src=\"z\"", doc.tree)
        self.assertEqual(doc.readable_text(), "1")
        self.assertEqual(doc.to_etree(namespaceHTMLElements=False).find("body/script").get("src"), "z")
        self.assertEqual(bytes(doc.data), b"<a href=x>1</a><img src=y>")

    def test_inputs(self):
        for options in ({"encoding": "utf-16le"}, {"mode": "parallel", "threads": 2}, {"mode": "pipelined"},
                        {"fragment": "td"}, {"copy": True}, {"limits": "untrusted"}, {"positions": True}):
            data = PAGE.encode("utf-16le") if options.get("encoding") else PAGE.encode()
            doc = editable(data, **options)
            doc.css_first("b").unwrap()
            doc.css_first("p").insert_child("x" * 100000)
            self.assertEqual(len(doc.css_first("p").text()), 100008)
        fragment = editable("a<b>c</b>", fragment="td")
        fragment.css_first("b").insert_after("d")
        self.assertEqual(fragment.html, "a<b>c</b>d")
        for doc in hpar.parse_many([PAGE, PAGE], threads=2, editable=True):
            doc.strip_tags(["p"])
            self.assertEqual(doc.body.html, "<body></body>")

    def test_limits(self):
        doc = editable(limits={"nodes": 20, "memory": 400000})
        with self.assertRaises(hpar.LimitError):
            doc.body.insert_child("x" * 500000)
        with self.assertRaises(hpar.LimitError):
            for _ in range(30):
                doc.create_tag("p")
        self.assertEqual(doc.css_first("b").html, "<b>bold</b>")
        doc.edit().body.insert_child("x" * 500000)
        doc.edit(limits={"attributes": 2})
        with self.assertRaises(hpar.LimitError):
            doc.css_first("p").attrs["a"] = "b"
        self.assertRaises(ValueError, doc.edit, limits={"x": 1})


class Sharing(unittest.TestCase):
    def test_freeze(self):
        doc = hpar.parse(PAGE)
        self.assertIs(doc.edit(), doc)
        self.assertTrue(doc.editable)
        doc.css_first("b").decompose()
        self.assertIs(doc.freeze(), doc)
        self.assertFalse(doc.editable)
        self.assertRaises(TypeError, doc.css_first("p").decompose)
        doc.edit().css_first("p").decompose()
        self.assertEqual(doc.body.inner_html, '<p id="two">more</p>')

    def test_several_threads_change_one_document(self):
        doc = editable("<ul></ul>")
        target, failures = doc.css_first("ul"), []

        def work(number):
            try:
                for i in range(200):
                    target.insert_child(doc.create_tag("li"))
                    if i % 3 == 0:
                        doc.css_first("li").attrs["n"] = str(number)
                    if i % 50 == 0:
                        doc.html, doc.text(), doc.css("li[n]")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(doc.css("li")), 800)

    def test_edit_refused_while_a_thread_reads(self):
        """A document that another thread reads is refused, or the read is complete: never a torn tree."""
        doc = hpar.parse("<p>a</p>" * 20000)
        stop = threading.Event()

        def read():
            while not stop.is_set():
                doc.html

        thread = threading.Thread(target=read)
        thread.start()
        try:
            for _ in range(50):
                try:
                    doc.edit()
                    doc.css_first("p").attrs["a"] = "b"
                    doc.freeze()
                except hpar.Error as error:
                    self.assertIn("another thread", str(error))
        finally:
            stop.set()
            thread.join()
        self.assertEqual(doc.edit().freeze().html.count("<p"), 20000)

    def test_many_documents(self):
        docs = [editable() for _ in range(3000)]
        for doc in docs:
            doc.css_first("b").replace_with("x" * 300)
        self.assertEqual({len(doc.css_first("p").text()) for doc in docs}, {304})

    def test_random_changes_keep_the_tree_whole(self):
        choose = random.Random(7)
        doc = editable(PAGE * 3)
        for _ in range(500):
            nodes = list(doc.body.traverse(include_text=True))[1:] or [doc.create_tag("p")]
            node = choose.choice(nodes)
            if choose.random() < 0.3:
                doc.body.insert_child(choose.choice((doc.create_tag("i"), "t", node)))
            elif choose.random() < 0.3:
                node.decompose()
            elif node.type == "element" and choose.random() < 0.5:
                node.inner_html = "<u>1<p>2"
            elif node.parent is not None:
                node.unwrap(delete_empty=True)
            again = hpar.parse(doc.body.html)
            self.assertEqual(doc.body.text(), again.body.text())


if __name__ == "__main__":
    unittest.main()
