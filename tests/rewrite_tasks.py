#!/usr/bin/python3
"""Compares eight usual tasks of `hpar rewrite` with the same edits of a tree in Python.

usage: rewrite_tasks.py HPAR [PAGES]

For each page, html5lib parses the output of hpar, and it parses the input, whose tree a function below edits. The two trees
must be equal. A page with a script behind </body> keeps its scripts: the script moves what follows it into the body, so without
it the page has another tree, which `hpar rewrite --check` reports. The pages are those of the shared corpus up to 150 KB: PAGES of them (8), or all with HPAR_TEST_FULL=1.
"""

import os
import re
import subprocess
import sys
import warnings
from multiprocessing import Pool

import html5lib

HTML = "{http://www.w3.org/1999/xhtml}"
SNIPPET = "<meta name=theme content=dark>"
LARGEST = 150_000
RAW = {HTML + name for name in ("script", "style", "title", "noscript", "noembed", "noframes", "iframe", "xmp", "plaintext")}


def elements(tree, *names):
    wanted = {HTML + name for name in names}
    return [e for e in tree.iter() if isinstance(e.tag, str) and (e.tag in wanted or not names)]


def use_https(tree):
    for a in elements(tree, "a"):
        if a.get("href", "").startswith("http:"):
            a.set("href", "https:" + a.get("href")[5:])


def load_lazily(tree):
    for image in elements(tree, "img"):
        image.set("loading", image.get("loading", "lazy"))


def protect_opener(tree):
    for a in elements(tree, "a"):
        if a.get("target", "") == "_blank":
            a.set("rel", "noopener")


def remove_scripts(tree):
    for parent in list(tree.iter()):
        kept = None
        for child in list(parent):
            if child.tag != HTML + "script":
                kept = child
                continue
            if kept is None:
                parent.text = (parent.text or "") + (child.tail or "")
            else:
                kept.tail = (kept.tail or "") + (child.tail or "")
            parent.remove(child)


def remove_handlers(tree):
    for element in elements(tree):
        for name in [n for n in element.attrib if isinstance(n, str) and n.startswith("on")]:
            del element.attrib[name]


def add_to_head(tree):
    head = elements(tree, "head")[0]
    meta = head.makeelement(HTML + "meta", {"name": "theme", "content": "dark"})
    meta.tail, head.text = head.text, None
    head.insert(0, meta)


def mirror(tree):
    for e in elements(tree, "a", "form"):
        name = "href" if e.tag == HTML + "a" else "action"
        value = e.get(name, "").strip("\t\n\f\r ")
        if value.startswith("/") and not re.match(r"[/\\]{2}", value):
            e.set(name, "/mirror" + value)


def replace_text(tree):
    def edit(element, visible):
        visible = visible and element.tag not in RAW
        if not isinstance(element.tag, str):
            visible = False
        if visible and element.text:
            element.text = element.text.replace("the", "THE")
        for child in element:
            edit(child, visible)
            if visible and child.tail:
                child.tail = child.tail.replace("the", "THE")

    for body in elements(tree, "body"):
        edit(body, True)


TASKS = [
    (use_https, ["-s", 'a[href^="http:"]', "--prefix", "href", "http:", "https:"]),
    (load_lazily, ["-s", "img:not([loading])", "--set", "loading", "lazy"]),
    (protect_opener, ["-s", "a[target=_blank]", "--set", "rel", "noopener"]),
    (remove_scripts, ["-s", "script", "--remove"]),
    (remove_handlers, ["-s", "*", "--unset", "on*"]),
    (add_to_head, ["-s", "head", "--prepend", SNIPPET, "--implied"]),
    (mirror, ["-s", "a, form", "--prefix-urls", "/mirror"]),
    (replace_text, ["-s", "body", "--find", "the", "THE", "--implied"]),
]


def parse(page):
    return html5lib.HTMLParser().parse(page, likely_encoding="windows-1252", useChardet=False, scripting=True)


def lines(element, depth=0):
    """The tree as lines. Neighbouring texts are one text in ElementTree."""
    kind = element.tag if isinstance(element.tag, str) else "<comment>"
    yield f"{' ' * depth}{kind} {sorted(map(str, element.attrib.items()))}"
    if element.text:
        yield f"{' ' * depth} {element.text!r}"
    for child in element:
        yield from lines(child, depth + 1)
        if child.tail:
            yield f"{' ' * depth} {child.tail!r}"


def check(work):
    """Returns the differences of a page."""
    hpar, path = work
    warnings.simplefilter("ignore")  # html5lib, of control characters
    sys.setrecursionlimit(20000)
    with open(path, "rb") as file:
        page = file.read()
    found = []
    has_late_script = re.search(rb"(?i)</(body|html)[^<]*<((?!body|html)[^<]*<)*script", page)
    for edit, command in TASKS:
        if edit is remove_scripts and has_late_script:
            continue
        done = subprocess.run([hpar, "rewrite", *command, "-"], input=page, capture_output=True, timeout=120)
        if done.returncode:
            found.append(f"{path}: {edit.__name__}: {done.stderr.decode()}")
            continue
        tree = parse(page)
        edit(tree)
        got, expected = list(lines(parse(done.stdout))), list(lines(tree))
        if got == expected:
            continue
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        found.append(f"{path}: {edit.__name__}: line {at}\n  got      {got[at:at + 1]}\n  expected {expected[at:at + 1]}")
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = os.environ.get("HPAR_SOURCE_DIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    shared = os.environ.get("HPAR_SHARED") or os.path.join(source, "..", "shared")
    folder = os.path.join(shared, "corpus")
    if not os.path.isdir(folder):
        print(f"skipped: {folder} not found")
        sys.exit(77)
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if ".htm" in name)
    paths = [path for path in paths if os.path.getsize(path) <= LARGEST]
    wanted = len(paths) if os.environ.get("HPAR_TEST_FULL") else int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 8
    paths = paths[:: max(1, len(paths) // wanted)]
    failed = 0
    with Pool() as pool:
        for found in pool.imap_unordered(check, [(sys.argv[1], path) for path in paths]):
            failed += len(found)
            print("\n".join(found), end="\n" if found else "", flush=True)
    print(f"{len(paths)} pages, {len(TASKS)} tasks, {failed} differences")
    sys.exit(failed > 0 or not paths)


if __name__ == "__main__":
    main()
