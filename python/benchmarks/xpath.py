"""xpath.py FILE...: prints how many times the speed of lxml XPath has here, on the same trees.

The tree of lxml is that of to_lxml. Each round times the two by turns, and counts CPU time. The ratio of a page is that
of its least times. The table has the median of the pages, the quartiles, and the ratio of the sums. X is the class that
most div elements of the page have.
"""
import collections
import gc
import statistics
import sys
import time

import hpar
from lxml import etree

ROUNDS = 7
LEAST_NS = 200000  # of a measurement
EXPRESSIONS = ("//a/@href", "//div[@class='X']//p", "//p/text()", "//*[contains(@class, 'a')]", "//li[1]", "//ul/li/a",
               "count(//*)", "string(//title)", "//a[@href]/ancestor::div[1]")


def times(function, of, count):
    begin = time.process_time_ns()
    for _ in range(count):
        function(of)
    return (time.process_time_ns() - begin) / count


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pages = []
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            document = hpar.parse(file.read())
        root = document.to_lxml()
        if root is not None:
            classes = collections.Counter(document.xpath("//div/@class")).most_common(1)
            pages.append((document, root, classes[0][0] if classes else "x"))
    print(f"{len(pages)} pages\n\n| expression | median | quartiles | of the sums |\n| --- | ---: | ---: | ---: |")
    for expression in EXPRESSIONS:
        ratios, sums = [], [0.0, 0.0]
        for document, root, name in pages:
            text = expression.replace("'X'", repr(name))
            ours, theirs = hpar.XPath(text), etree.XPath(text)
            ours(document), theirs(root)
            counts = [1 + int(LEAST_NS // (1 + times(function, of, 1))) for function, of in ((ours, document), (theirs, root))]
            least = [float("inf")] * 2
            gc.collect()
            gc.disable()
            for _ in range(ROUNDS):
                least[0] = min(least[0], times(ours, document, counts[0]))
                least[1] = min(least[1], times(theirs, root, counts[1]))
            gc.enable()
            ratios.append(least[1] / least[0])
            sums[0] += least[0]
            sums[1] += least[1]
        low, median, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        print(f"| `{expression}` | {median:.1f} | {low:.1f} to {high:.1f} | {sums[1] / sums[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
