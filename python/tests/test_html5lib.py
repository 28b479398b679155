"""html5lib's own tests of parsers, tree walkers and the serialiser, with the parser of hpar.html5lib. HPAR_HTML5LIB names
the sources of html5lib, because packages leave its tests out:

  git clone https://github.com/html5lib/html5lib-python && HPAR_HTML5LIB=html5lib-python python3 -m unittest test_html5lib"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import hpar

SOURCES = os.environ.get("HPAR_HTML5LIB", "")
TESTS = ("test_parser2", "test_treewalkers", "test_serializer")
PLUGIN = """
import html5lib
import html5lib.html5parser
import html5lib.tests.support
import hpar.html5lib as own

class HTMLParser(own.HTMLParser):
    def __init__(self, tree="etree", **options):
        if not isinstance(tree, str):
            tree = tree.__module__.rpartition(".")[2]
        super().__init__(tree, **options)

for module in html5lib, html5lib.html5parser:
    module.HTMLParser, module.parse, module.parseFragment = HTMLParser, own.parse, own.parseFragment
html5lib.tests.support.treeTypes["lxml"] = None  # there is no tree builder for lxml: Document.to_lxml makes other names
"""
KNOWN = ["test_debug_log"]  # a log of html5lib's phases


@unittest.skipUnless(os.path.isdir(SOURCES), "no sources of html5lib: set HPAR_HTML5LIB")
@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest not found (Debian: python3-pytest)")
class OwnTests(unittest.TestCase):
    def test_own_tests(self):
        sources = os.path.abspath(SOURCES)
        packages = os.path.dirname(os.path.dirname(os.path.abspath(hpar.__file__)))
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "with_hpar.py"), "w", encoding="utf-8") as file:
                file.write(PLUGIN)
            files = [os.path.join("html5lib", "tests", f"{name}.py") for name in TESTS]
            done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "with_hpar", "-p", "no:cacheprovider",
                                   "--noconftest", "-q", "-rf", "--tb=no", *files], cwd=sources, text=True, capture_output=True,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join((sources, packages, folder))}, check=False)
        failures = re.findall(r"^FAILED \S+?::(\S+)", done.stdout, re.MULTILINE)
        self.assertEqual(failures, KNOWN, done.stdout + done.stderr)
        self.assertGreater(int(re.search(r"(\d+) passed", done.stdout)[1]), 330, done.stdout)


if __name__ == "__main__":
    unittest.main()
