"""The examples in the docstrings of the package, and the type stubs."""
import ast
import doctest
import importlib
import inspect
import os
import pkgutil
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


class Stubs(unittest.TestCase):
    def test_members(self):
        with open(os.path.join(FOLDER, "_core.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        for name in ("Document", "Node", "Nodes", "Attributes", "Selector"):
            stubbed = {item.name for item in classes[name].body if isinstance(item, ast.FunctionDef)}
            stubbed |= {item.target.id for item in classes[name].body if isinstance(item, ast.AnnAssign)}
            members = {member for member in vars(getattr(hpar, name)) if not member.startswith("_")}
            self.assertEqual({member for member in stubbed if not member.startswith("_")}, members, name)


if __name__ == "__main__":
    unittest.main()
