"""mypy --strict and pyright on the package, and the types that a program sees. Skipped without the checkers."""
import os
import shutil
import subprocess
import tempfile
import unittest

import hpar

PACKAGE = os.path.dirname(hpar.__file__)
PROJECT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyproject.toml")
PROGRAM = '''\
import asyncio
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple, Union
import hpar
from hpar.rewriting import Comment, Doctype, DocumentEnd, Element, ElementEnd, Rule, Text

def rename(element: Element) -> None:
    element.rename("i")

rules: List[Rule] = [("b", rename)]
document: hpar.Document = hpar.parse(Path("page.html"), limits="untrusted")
nodes: hpar.Nodes = document.select("a")
part: hpar.Nodes = nodes[1:]
first: Optional[hpar.Node] = document.find("a", {"class": "b"}, id=True)
link: hpar.Node = nodes[0]
href: str = link["href"]
rel: Optional[str] = link.get("rel")
name: str = link.attrs.get("name", "none")
texts: List[str] = document.getall("p::text")
for child in link:
    text: str = child.text(strip=True)
    child.string = "new"
link.attrs.update({"a": "b"}, c="d")
link.inner_html = "<b>"
links: hpar.Links = document.links("https://example.org/")
converted: bool = "host_not_converted" not in links[0]
urls: List[Optional[str]] = [found["url"] for found in links[1:]]
attributes: Dict[str, str] = link.attributes
pages: Iterator[hpar.Document] = hpar.parse_many([b"a", b"b"])
results: Iterator[Union[hpar.Document, hpar.LimitError]] = hpar.parse_many([b"a"], return_errors=True)
pairs: Iterator[Tuple[int, hpar.Document]] = hpar.parse_many([b"a"], ordered=False)
parser = hpar.Parser(threads=1)
parser.feed(b"a")
whole: hpar.Document = parser.close()
output: bytes = hpar.Rewriter([("b", "remove")]).feed("a")
later: hpar.Document = asyncio.run(hpar.parse_async("a"))
'''
WRONG = '''\
import hpar
number: int = hpar.parse("a").title
hpar.parse(3)
hpar.parse("a", mode="other")
hpar.parse("a").css("a")["b"]
hpar.parse("a").css("a")[0].name = "b"
hpar.parse("a").title = "b"
'''


def run(folder, *command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE), "PYTHONPATH": os.path.dirname(PACKAGE)})
    return done.returncode, done.stdout


@unittest.skipUnless(os.path.exists(PROJECT), "pyproject.toml is not beside the tests")
class Checkers(unittest.TestCase):
    @unittest.skipUnless(shutil.which("mypy"), "mypy not found (Debian: mypy)")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            mypy = ("mypy", "--strict", "--config-file", PROJECT, "--cache-dir", folder)
            status, output = run(folder, *mypy, PACKAGE)
            self.assertEqual(status, 0, output)
            for program, errors in ((PROGRAM, 0), (WRONG, 6)):
                path = os.path.join(folder, "program.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(program)
                _, output = run(folder, *mypy, path)
                self.assertEqual(output.count("error:"), errors, output)

    @unittest.skipUnless(shutil.which("pyright"), "pyright not found (npm: pyright)")
    def test_pyright(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(PACKAGE, os.path.join(folder, "hpar"))
            shutil.copy(PROJECT, folder)
            status, output = run(folder, "pyright", "-p", folder)
            self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main()
