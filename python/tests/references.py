"""references.py [PATTERN]: runs each test of the files five times, and lists those that leave references behind each time.

Needs a debug interpreter, which counts references: see tests/python.sh. PATTERN is test*.py by default.
"""
import array
import gc
import os
import sys
import unittest


# Why tests may leave references: lxml (one or two for each element), numpy and pandas do so without hpar as well, and the
# module keeps up to 256 expressions.
LISTED = {"test_arguments.Trees.test_comments_and_instructions": "lxml", "test_calls.Methods.test_calls": "numpy, pandas",
          "test_docs.Examples.test_pages": "lxml", "test_extended.Values.test_against_parsel": "lxml", "test_migration": "lxml",
          "test_peers.Lxml": "lxml", "test_values.Tables.test_numpy": "numpy", "test_xpath.Calls.test_objects": "expressions",
          "test_xpath_lxml": "lxml"}


def tests_of(suite):
    for test in suite:
        yield from tests_of(test) if isinstance(test, unittest.TestSuite) else (test,)


def growth_of(test):
    """The least growth of a round, and whether all rounds have passed. What a cache keeps does not grow again."""
    counts, passed = array.array("q"), True  # a list would keep an object for each round
    for _ in range(5):
        result = unittest.TestResult()
        unittest.TestSuite([type(test)(test._testMethodName)]).run(result)
        passed = passed and result.wasSuccessful()
        if result.skipped:
            break
        del result
        gc.collect()
        counts.append(sys.gettotalrefcount())
    return min((after - before for before, after in zip(counts[1:], counts[2:])), default=0), passed


def main():
    if not hasattr(sys, "gettotalrefcount"):
        sys.exit("references.py needs a debug interpreter (Debian: python3-dbg)")
    wrong = count = 0
    suite = unittest.defaultTestLoader.discover(os.path.dirname(os.path.abspath(__file__)), sys.argv[1] if sys.argv[1:] else "test*.py")
    for test in tests_of(suite):
        growth, passed = growth_of(test)
        count += 1
        if (growth > 0 and not test.id().startswith(tuple(LISTED))) or not passed:
            wrong += 1
            print(f"{test.id()}: {growth} references a round{'' if passed else ', failed'}", flush=True)
    print(f"{count - wrong} passed, {wrong} failed")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
