"""What setup.py refuses."""
import os
import subprocess
import sys
import unittest

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


if __name__ == "__main__":
    unittest.main()
