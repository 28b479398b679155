"""processes.py FILE...: whether two processes do the work of one in half the time, when documents travel between them.

Takes 1,000 pages, which are the files again and again. The work on each page is that of three scripts of MIGRATION.md: article,
table and links. Prints how much work a pool of two processes does in the time of one process without a pool:

  pages to workers      the workers parse, and return values
  documents to workers  the documents, which are pickled, go to the workers, which return values
  documents back        the workers parse, and return values and the document, which is pickled

It also prints the CPU time of each part in one process. Needs an idle machine with two cores.
"""
import csv
import io
import multiprocessing
import os
import pickle
import sys
import time

import hpar

PAGES = 1000
TOGETHER = 10  # pages in a message


def values_of(document):
    article = document.title or "", [p.text().strip() for p in document.select("p")]
    rows = [[cell.text().strip() for cell in row.css("> td, > th")] for row in document.select("tr")]
    output = io.StringIO()
    csv.writer(output).writerows(rows)
    links = [(link["url"], link["attribute"]) for link in document.links("https://example.org/")]
    return len(article[1]), len(output.getvalue()), len(links)


def from_page(page):
    return values_of(hpar.parse(page, threads=1))


def with_document(page):
    document = hpar.parse(page, threads=1)
    return values_of(document), document


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    files = []
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            files.append(file.read())
    pages = [files[i % len(files)] for i in range(PAGES)]
    documents = [hpar.parse(page, threads=1) for page in pages]
    pickles = [pickle.dumps(document, pickle.HIGHEST_PROTOCOL) for document in documents]
    print(f"{PAGES} pages, {sum(map(len, pages)) / 1e6:.1f} MB; load of the machine {os.getloadavg()[0]:.2f}")
    for name, part in {"parse": lambda: [hpar.parse(page, threads=1) for page in pages],
                       "work": lambda: [values_of(document) for document in documents],
                       "dumps": lambda: [pickle.dumps(document, pickle.HIGHEST_PROTOCOL) for document in documents],
                       "loads": lambda: [pickle.loads(data) for data in pickles]}.items():
        begin = time.process_time()
        part()
        print(f"  {name:5} {time.process_time() - begin:.3f} s", flush=True)
    ways = {"pages to workers": (from_page, pages), "documents to workers": (values_of, documents),
            "documents back": (with_document, pages)}
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for name, (work, inputs) in ways.items():
            def alone():
                for value in inputs:
                    work(value)

            def together():
                for _ in pool.imap(work, inputs, TOGETHER):
                    pass
            together()
            ratios = [seconds(alone) / seconds(together) for _ in range(3)]
            print(f"{name}: {max(ratios):.2f}", flush=True)


if __name__ == "__main__":
    main()
