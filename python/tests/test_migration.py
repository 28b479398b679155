"""MIGRATION.md: the names in its tables exist, each method of the other libraries is in it, and its scripts give equal
results on the same trees. HPAR_SHARED names the folder with pages."""
import glob
import os
import re
import unittest

import hpar
from test_peers import FULL, SHARED, pages

DOCUMENTATION = "/usr/share/doc"
PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "MIGRATION.md")
try:
    import bs4
    import lxml.html

    import hpar.bs4
except ImportError:
    bs4 = None


def sections(level):
    with open(PATH, encoding="utf-8") as file:
        parts = re.split(rf"^{'#' * level} (.*)$", file.read(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def rows(section):
    return re.findall(r"^\| (.*?) \| (.*) \|$", section, re.MULTILINE)[2:]


@unittest.skipUnless(os.path.exists(PATH), "MIGRATION.md is not beside the tests")
class Tables(unittest.TestCase):
    def test_own_names(self):
        document = hpar.parse("<p a=b>", positions=True)
        owners = {"doc": document, "node": document.find("p"), "hpar": hpar}
        count = 0
        for section in sections(2).values():
            for _, right in rows(section):
                for owner, name, call in re.findall(r"\b(doc|node|hpar)\.(\w+)(\(?)", right):
                    if name == "bs4":  # a module that needs Beautiful Soup
                        continue
                    value = getattr(owners[owner], name)
                    if owner == "node" and call:
                        self.assertTrue(callable(value), name)
                    count += 1
        self.assertGreater(count, 120)

    @unittest.skipIf(bs4 is None, "bs4 or lxml not found (Debian: python3-bs4 python3-lxml)")
    def test_other_names(self):
        own = {"BeautifulSoup": set(dir(bs4.BeautifulSoup("", "hpar").new_tag("p"))),
               "lxml.html": set(dir(lxml.html.fromstring("<p>")))}
        try:
            import parsel
            own["parsel"] = set(dir(parsel.Selector("a"))) | {"extract_first"}
        except ImportError:
            pass
        # Data of the objects of Beautiful Soup that are not part of its interface.
        internal = {"parser_class", "can_be_empty_element", "cdata_list_attributes", "hidden", "interesting_string_types",
                    "known_xml", "namespace", "parserClass", "prefix", "preserve_whitespace_tags"}
        names = {"BeautifulSoup": "Beautiful Soup", "lxml.html": "lxml.html", "parsel": "parsel and Scrapy"}
        for library, members in own.items():
            text = sections(2)[names[library]]
            missing = {name for name in members if not name.startswith("_") and not re.search(rf"\b{name}\b", text)}
            self.assertEqual(missing - (internal if library == "BeautifulSoup" else set()), set())


def documentation():
    """Pages of the packages of this machine."""
    paths = glob.glob(os.path.join(DOCUMENTATION, "**", "*.html"), recursive=True)
    for path in sorted(path for path in paths if 4096 < os.path.getsize(path) < 65536)[:120]:
        with open(path, "rb") as file:
            yield file.read()


def compiled(block):
    space = {}
    exec(block, space)
    return next(value for name, value in space.items() if callable(value) and getattr(value, "__module__", "") is None
                or getattr(value, "__code__", None) and value.__code__.co_filename == "<string>"), space


def code_lines(block):
    return len([line for line in block.splitlines() if line.strip()])


@unittest.skipUnless(os.path.exists(PATH) and bs4 and os.path.isdir(SHARED), "no MIGRATION.md, bs4, lxml or pages")
class Scripts(unittest.TestCase):
    def test_scripts(self):
        """The parsers of the other libraries make other trees of many pages, so that they take the tree of HPar here."""
        own_pages = [page for _, page in pages()] + (list(documentation()) if FULL else [])
        own_pages = [page.decode(hpar.parse(page).encoding, "replace") for page in own_pages]
        own_pages = [page for page in own_pages if not hpar.parse(page).css_matches("svg, math, template")]
        self.assertGreater(len(own_pages), 200 if FULL and os.path.isdir(DOCUMENTATION) else 15)
        for name, section in sections(3).items():
            own, soup, tree = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
            self.assertLessEqual(code_lines(own), min(code_lines(soup), code_lines(tree)), name)
            own, soup = compiled(own)[0], compiled(soup.replace('"html5lib"', '"hpar"'))[0]
            tree = compiled(tree.replace("lxml.html.fromstring(page)", "hpar.parse(page).to_lxml()") + "\nimport hpar\n")[0]
            if name == "Many pages":
                self.assertEqual(own(own_pages), soup(own_pages))
                self.assertEqual(own(own_pages), tree(own_pages))
                continue
            for page in own_pages:
                expected = own(page)
                with self.subTest(name + page[:60]):
                    if name == "Edit and serialise":  # the serialisers quote in other ways, and too much in raw texts
                        if hpar.parse(page).css_matches("iframe, noembed, noframes, noscript, plaintext, xmp"):
                            continue
                        expected = hpar.parse(expected).getall("*::attr(rel)"), hpar.parse(expected).text().split()
                        for result in (soup(page), tree(page)):
                            result = hpar.parse(result)
                            self.assertEqual((result.getall("*::attr(rel)"), result.text().split()), expected)
                    else:
                        self.assertEqual(soup(page), expected)
                        self.assertEqual(tree(page), expected)


if __name__ == "__main__":
    unittest.main()
