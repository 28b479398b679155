"""The examples in the docstrings of the package and in the pages, and the type stubs."""
import ast
import doctest
import glob
import importlib
import inspect
import os
import pkgutil
import re
import unittest

import hpar
import hpar._core

FOLDER = os.path.dirname(hpar.__file__)
OPTIONAL = {"hpar.bs4": "bs4"}


def docstrings(module):
    """(name, docstring) of a module, its functions and classes, and all members of classes."""
    yield module.__name__, module.__doc__
    for name, value in vars(module).items():
        if inspect.ismodule(value) or getattr(value, "__module__", module.__name__) != module.__name__:
            continue
        yield f"{module.__name__}.{name}", getattr(value, "__doc__", None)
        if inspect.isclass(value):
            for member, function in vars(value).items():
                yield f"{module.__name__}.{name}.{member}", getattr(function, "__doc__", None)


def modules():
    for info in pkgutil.iter_modules([FOLDER], "hpar."):
        try:
            yield importlib.import_module(info.name)
        except ImportError as error:
            if error.name != OPTIONAL.get(info.name):
                raise
    yield hpar


class Examples(unittest.TestCase):
    def test_docstrings(self):
        runner = doctest.DocTestRunner(verbose=False)
        count = 0
        for module in modules():
            for name, text in docstrings(module):
                if not isinstance(text, str) or ">>>" not in text:
                    continue
                if "lxml" in name:
                    try:
                        import lxml
                    except ImportError:
                        continue
                globs = {**vars(module), "hpar": hpar}
                runner.run(doctest.DocTestParser().get_doctest(text, globs, name, None, None))
                count += 1
        self.assertEqual(runner.failures, 0)
        self.assertGreater(count, 25)


    def test_pages(self):
        """Runs the Python blocks of the Markdown pages. Those of a page share their names."""
        project = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        above = os.path.dirname(project)
        paths = [path for name in ("README.md", "MIGRATION.md") for path in glob.glob(os.path.join(project, name))]
        if os.path.isdir(os.path.join(above, "docs", "migrate")):
            paths += [os.path.join(above, "README.md")] + glob.glob(os.path.join(above, "docs", "**", "*.md"), recursive=True)
        if not paths:
            self.skipTest("the pages are not beside the tests")
        runner = doctest.DocTestRunner(verbose=False)
        count = 0
        for path in sorted(paths):
            with open(path, encoding="utf-8") as file:
                blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
            text = "\n".join(block if ">>>" in block else as_doctest(block) for block in blocks)
            missing = [name for name in ("bs4", "html5lib", "lxml", "numpy")
                       if re.search(rf"(\b|_){name}\b", text) and importlib.util.find_spec(name) is None]
            if not missing:
                count += len(blocks)
                runner.run(doctest.DocTestParser().get_doctest(text, {}, os.path.basename(path), path, None))
        self.assertEqual(runner.failures, 0)
        self.assertGreater(count, 0)


def as_doctest(block):
    """The lines of an example that runs a program without showing its output."""
    return f">>> import contextlib, io\n>>> with contextlib.redirect_stdout(io.StringIO()): exec({block!r})\n"


class Stubs(unittest.TestCase):
    def test_members(self):
        with open(os.path.join(FOLDER, "_core.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        for name in ("Document", "Node", "Nodes", "Attributes", "Selector", "RewriteElement", "RewriteEnd", "RewriteText",
                     "RewriteComment", "RewriteDoctype", "RewriteDocumentEnd"):
            stubbed = {item.name for item in classes[name].body if isinstance(item, ast.FunctionDef)}
            stubbed |= {item.target.id for item in classes[name].body if isinstance(item, ast.AnnAssign)}
            members = {member for member in vars(getattr(hpar._core, name)) if not member.startswith("_")}
            self.assertEqual({member for member in stubbed if not member.startswith("_")}, members, name)


class Annotations(unittest.TestCase):
    def test_public_functions(self):
        """Each public function of the Python part has types."""
        for name in hpar.__all__:
            value = getattr(hpar, name)
            if inspect.isfunction(value):
                self.assertIn("return", value.__annotations__, name)


if __name__ == "__main__":
    unittest.main()
