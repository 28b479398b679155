"""peers.py FILE...: prints the speed of Python's HTML parsers on pages, in MB of input per second of CPU time.

The time of a page is the least of several runs, without the collection of cycles. The speed is that of all pages
together. A parser that is not installed is left out.
"""
import gc
import importlib
import sys
import time
import warnings

RUNS = 5

# (what, the module that it needs, the program)
CALLS = [
    ("hpar.parse", "hpar", "hpar.parse(page, mode='sequential')"),
    ("hpar.parse, the targets of links", "hpar",
     "[a.attrs['href'] for a in hpar.parse(page, mode='sequential').css('a[href]')]"),
    ("hpar.parse, to_etree", "hpar", "hpar.parse(page, mode='sequential').to_etree()"),
    ("hpar.parse, to_lxml", "lxml.html", "hpar.parse(page, mode='sequential').to_lxml()"),
    ("selectolax, lexbor", "selectolax.lexbor", "selectolax.lexbor.LexborHTMLParser(page)"),
    ("selectolax, the targets of links", "selectolax.lexbor",
     "[a.attrs['href'] for a in selectolax.lexbor.LexborHTMLParser(page).css('a[href]')]"),
    ("resiliparse, lexbor", "resiliparse.parse.html",
     "resiliparse.parse.html.HTMLTree.parse_from_bytes(page, 'utf-8')"),
    ("resiliparse, the targets of links", "resiliparse.parse.html",
     "[a.getattr('href') for a in "
     "resiliparse.parse.html.HTMLTree.parse_from_bytes(page, 'utf-8').document.query_selector_all('a[href]')]"),
    ("turbohtml", "turbohtml", "turbohtml.parse(page)"),
    ("turbohtml, no positions", "turbohtml", "turbohtml.parse(page, positions=False)"),
    ("turbohtml, the targets of links", "turbohtml",
     "[a.attrs['href'] for a in turbohtml.parse(page, positions=False).select('a[href]')]"),
    ("lxml.html", "lxml.html", "lxml.html.document_fromstring(page)"),
    ("lxml.html, the targets of links", "lxml.html", "lxml.html.document_fromstring(page).xpath('//a/@href')"),
    ("html5-parser, lxml", "html5_parser", "html5_parser.parse(page)"),
    ("html5lib, etree", "html5lib", "html5lib.parse(page)"),
    ("Beautiful Soup, hpar", "hpar.bs4", "bs4.BeautifulSoup(page, 'hpar')"),
    ("Beautiful Soup, lxml", "bs4", "bs4.BeautifulSoup(page, 'lxml')"),
    ("Beautiful Soup, html.parser", "bs4", "bs4.BeautifulSoup(page, 'html.parser')"),
    ("Beautiful Soup, html5lib", "bs4", "bs4.BeautifulSoup(page, 'html5lib')"),
]


def least_time(function, page):
    """Returns the least CPU time of the runs in nanoseconds."""
    best = None
    for _ in range(RUNS):
        gc.collect()
        gc.disable()
        begin = time.process_time_ns()
        result = function(page)
        end = time.process_time_ns()
        gc.enable()
        del result
        best = end - begin if best is None else min(best, end - begin)
    return best


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    pages = []
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            pages.append(file.read())
    names = {}
    for module in ("hpar", "hpar.bs4", "bs4", "html5lib", "html5_parser", "lxml.html", "resiliparse.parse.html",
                   "selectolax.lexbor", "turbohtml"):
        try:
            importlib.import_module(module)
            names[module.split(".")[0]] = sys.modules[module.split(".")[0]]
        except ImportError:
            pass
    print("| call | MB/s |\n| --- | ---: |")
    for what, module, program in CALLS:
        if module not in sys.modules:
            continue
        function = eval(f"lambda page: {program}", names)  # the programs above
        for page in pages:  # the allocator of the process takes its thresholds from the first pages
            function(page)
        total = sum(least_time(function, page) for page in pages)
        print(f"| {what} | {sum(map(len, pages)) * 1000 / total:.1f} |", flush=True)


if __name__ == "__main__":
    main()
