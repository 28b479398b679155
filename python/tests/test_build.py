"""What setup.py refuses, and the versions of Python that the extension serves."""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import unittest

import hpar._core

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@unittest.skipUnless(os.path.exists(os.path.join(PROJECT, "setup.py")), "setup.py is not beside the tests")
class Build(unittest.TestCase):
    def test_free_threaded(self):
        code = ("import runpy, sys, sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1; "
                "sys.argv = ['setup.py', '--name']; runpy.run_path('setup.py')")
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", code], cwd=PROJECT, capture_output=True, text=True)
        if "setuptools" in done.stderr:
            self.skipTest("setuptools not found (Debian: python3-setuptools)")
        self.assertEqual(done.returncode, 1)
        self.assertIn("without the interpreter's lock", done.stderr)

# What the extension imports that is not in the limited API of 3.9, although each Python since 3.9 has it: src/stable.h.
LATER = {"PyUnicode_AsUTF8AndSize", "PyObject_CheckBuffer", "PyObject_GetBuffer", "PyBuffer_Release"}
SMOKE = """
import pickle, sys
import hpar, hpar.html5lib, hpar.rewriting, hpar.study
doc = hpar.parse(bytearray(b'<ul><li class=a>one<li>two</ul>'), editable=True)
doc.select_one('li').attrs.update({'id': 'b'}, title='c')
assert doc.find_all('li', class_='a')[0].html == '<li class="a" id="b" title="c">one</li>', doc.html
assert pickle.loads(pickle.dumps(doc)).html == doc.html
assert [d.text() for d in hpar.parse_many(['<p>a', '<p>b'])] == ['a', 'b']
assert hpar.rewrite('<p>a', [('p', lambda p: p.set('b', 'c'))]) == b'<p b="c">a'
assert sum(memoryview(doc.table()['depth'])) > 0 and hpar.html5lib.parse('a') is not None
for kind in (hpar.Document, hpar.Node, hpar.Nodes, hpar.Attributes, type(iter(doc))):
    try:
        kind()
    except TypeError:
        continue
    raise SystemExit(f'{kind} can be made')
"""


def other_pythons():
    """The programs of Python 3.9 to 3.13 on this machine."""
    for minor in range(9, 14):
        found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python3.{minor}"))
        path = found[0] if found else shutil.which(f"python3.{minor}")
        if path and minor != sys.version_info[1]:
            yield path


class StableInterface(unittest.TestCase):
    def test_symbols(self):
        """The extension imports what the headers declare for the limited API of Python 3.9, and LATER."""
        compiler = shlex.split(os.environ.get("CC", "cc"))
        header = os.path.join(sysconfig.get_path("include"), "Python.h")
        if not shutil.which("nm") or not shutil.which(compiler[0]) or not os.path.exists(header):
            self.skipTest("nm, a compiler or Python.h not found")
        used = subprocess.run(["nm", "-D", "--undefined-only", hpar._core.__file__], capture_output=True, text=True, check=True)
        names = set(re.findall(r" U (_?Py\w+)", used.stdout))
        self.assertGreater(len(names), 80)
        declared = subprocess.run([*compiler, "-E", "-P", "-DPy_LIMITED_API=0x03090000", f"-I{os.path.dirname(header)}", "-x",
                                   "c", "-"], input="#include <Python.h>", capture_output=True, text=True, check=True)
        # With PY_SSIZE_T_CLEAN, functions that take lengths have a suffix.
        known = set(re.findall(r"\b_?Py\w+", declared.stdout))
        self.assertEqual({name for name in names if re.sub("^_(.*)_SizeT$", r"\1", name) not in known}, LATER & names)

    def test_versions(self):
        folder = os.path.dirname(os.path.dirname(os.path.abspath(hpar.__file__)))
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        debug = hasattr(sys, "gettotalrefcount")
        if debug or "HPAR_TEST_SANITIZER" in os.environ or not hpar._core.__file__.endswith("abi3.so"):
            self.skipTest("a build for one interpreter")
        for path in other_pythons():
            done = subprocess.run([path, "-B", "-c", SMOKE], env={**environment, "PYTHONPATH": folder}, capture_output=True,
                                  text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)


if __name__ == "__main__":
    unittest.main()
