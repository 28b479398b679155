"""Beautiful Soup's own tests with the builder "hpar": those that fail also fail with "html5lib", or have a reason.
Line numbers are those of "html5lib"."""
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import hpar
from test_peers import SHARED, pages

try:
    import bs4
    import html5lib

    import hpar.bs4
except ImportError:
    bs4 = None

# The standard's reason: since 2025 it makes processing instructions of what were comments.
PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(hpar.__file__)))
KNOWN = {"test_html5lib::TestHTML5LibBuilder::test_processing_instruction"}
CONFTEST = """
import bs4.builder, bs4.builder._html5lib, bs4.tests, hpar.bs4
builder = {builder}
bs4.builder._html5lib.HTML5TreeBuilder = bs4.builder.HTML5TreeBuilder = builder
bs4.tests.default_builder = builder
"""


def failures(builder):
    """The names of the tests that fail with a builder, and the number of the others."""
    tests = os.path.dirname(importlib.util.find_spec("bs4.tests").origin)
    names = [os.path.basename(path)[:-3] for path in sorted(glob.glob(os.path.join(tests, "test_*.py")))]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "conftest.py"), "w", encoding="utf-8") as file:
            file.write(CONFTEST.format(builder=builder))
        for name in names:
            if name not in ("test_builder_registry", "test_docs", "test_htmlparser", "test_lxml"):  # of other builders
                with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
                    file.write(f"from bs4.tests.{name} import *\n")
        done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "."],
                              cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGES},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode("utf-8", "replace")
    passed = re.search(r"(\d+) passed", output)
    return set(re.findall(r"^FAILED (\w+)\.py(::\S+)", output, re.MULTILINE)), int(passed[1]) if passed else 0, output


def available(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@unittest.skipIf(bs4 is None, "bs4 or html5lib not found (Debian: python3-bs4 python3-html5lib)")
class BeautifulSoup(unittest.TestCase):
    @unittest.skipUnless(available("bs4.tests") and available("pytest"), "no tests of bs4, or no pytest (Debian: python3-pytest)")
    def test_own_tests(self):
        ours, passed, output = failures("hpar.bs4.HparTreeBuilder")
        theirs, _, _ = failures("bs4.builder._html5lib.HTML5TreeBuilder")
        self.assertGreater(passed, 380, output)
        self.assertEqual({"".join(name) for name in ours - theirs}, KNOWN)

    def test_places(self):
        markup = "\n   <p>\r\n\r<i\n>ä<b></b></i>"
        places = {tag.name: (tag.sourceline, tag.sourcepos) for tag in bs4.BeautifulSoup(markup, "hpar").find_all(True)}
        self.assertEqual(places, {"html": (None, None), "head": (None, None), "body": (None, None), "p": (2, 5), "i": (5, 0),
                                  "b": (5, 4)})
        self.assertEqual(bs4.BeautifulSoup(markup.encode("latin-1"), "hpar").b.sourcepos, 4)
        self.assertEqual(bs4.BeautifulSoup(markup.encode("utf-16"), "hpar").b.sourceline, None)
        soup = bs4.BeautifulSoup("<p><sourceline>", "hpar", store_line_numbers=False)
        self.assertEqual(soup.p.sourceline.name, "sourceline")

    @unittest.skipUnless(os.path.isdir(SHARED), "no pages: set HPAR_SHARED")
    def test_places_of_pages(self):
        count = 0
        for name, page in pages():
            text = page.decode(hpar.parse(page).encoding, "replace")
            ours, theirs = (bs4.BeautifulSoup(text, builder) for builder in ("hpar", "html5lib"))
            if str(ours) != str(theirs):
                continue
            for mine, other in zip(ours.find_all(True), theirs.find_all(True)):
                if mine.sourceline is not None:
                    count += 1
                    self.assertEqual((mine.sourceline, mine.sourcepos), (other.sourceline, other.sourcepos), (name, mine.name))
        self.assertGreater(count, 500)


if __name__ == "__main__":
    unittest.main()
