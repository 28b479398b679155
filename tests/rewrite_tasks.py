#!/usr/bin/python3
"""Compares usual tasks of `hpar rewrite` with the same edits of a tree in Python.

usage: rewrite_tasks.py HPAR [FOLDER...]

For each page, html5lib parses the output of hpar, and it parses the input, whose tree a function below edits. The two trees
must be equal. Node resolves URLs; without it, the task that does so is left out. A removed script may change the tree of what
follows it, as behind </body>: such a difference counts only if `hpar rewrite --check` does not report it.

The pages are those of the shared corpus, of /usr/share/doc and of the FOLDERs: a sample, or with HPAR_TEST_FULL=1 all
of the corpus and PER_FOLDER of each folder, up to LARGEST bytes.
"""

import codecs
import copy
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from multiprocessing import Pool

import html5lib

HTML = "{http://www.w3.org/1999/xhtml}"
SNIPPET = "<meta name=theme content=dark>"
PAGE = "https://example.org/a/b/page.html"
LARGEST = 300_000
PER_FOLDER = 12
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


# URLs: where they are, from the standard, and not from HPar's table
WHITE = "\t\n\f\r "
CONTROLS = "".join(map(chr, range(0x21)))
SVG = "{http://www.w3.org/2000/svg}"
URLS = {
    "href": "a area base link",
    "src": "audio bgsound embed frame iframe img input script source track video",
    "longdesc": "frame iframe img",
    "cite": "blockquote del ins q",
    "action": "form",
    "formaction": "button input",
    "data": "object",
    "poster": "video",
    "background": "body table tbody td tfoot th thead tr",
    "manifest": "html",
}
CANDIDATES = {("img", "srcset"), ("source", "srcset"), ("link", "imagesrcset")}
CSS = re.compile(
    r"""(?s)/\*.*?(?:\*/|$)
    | (?P<namespace>@namespace\b[^;{}]*)
    | (?P<before>@import(?:\s|/\*.*?\*/)*) (?P<quote>["']) (?P<string>(?:\\.|(?!(?P=quote))[^\\\n])*) (?P=quote)
    | url\(\s* (?P<quote2>["']) (?P<quoted>(?:\\.|(?!(?P=quote2))[^\\\n])*) (?P=quote2) \s*\)
    | url\(\s* (?P<bare>(?:\\.|[^\\\s)"'(])+) \s*(?:\)|$)
    | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?
    | (?:[-\w]|\\.|[^\x00-\x7f])+""",
    re.VERBOSE | re.IGNORECASE,
)


@functools.lru_cache(1)
def node():
    script = """require("readline").createInterface({input: process.stdin}).on("line", (line) => {
      let found = null;
      try { found = new URL(...JSON.parse(line)).href; } catch {}
      console.log(JSON.stringify(found));
    })"""
    return subprocess.Popen(["node", "-e", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii")


@functools.lru_cache(100_000)
def resolve(*url_and_base):
    """Returns the absolute URL, or None."""
    if not shutil.which("node"):
        return url_and_base[0] if re.match("[A-Za-z][-+.A-Za-z0-9]*:", url_and_base[0]) else None
    node().stdin.write(json.dumps(url_and_base) + "\n")
    node().stdin.flush()
    return json.loads(node().stdout.readline())


def encode_query(url, encoding):
    """Writes the query in the encoding of the page: Node knows UTF-8 only."""
    front, mark, query = url.partition("#")[0].partition("?")
    fragment = url[len(front + mark + query) :]
    if mark and encoding.lower() not in ("utf-8", "utf-16le", "utf-16be"):
        made = ""
        for c in query:
            try:
                made += c if c < "\x80" else "".join(f"%{b:02X}" if b >= 0x7F else chr(b) for b in c.encode(encoding))
            except UnicodeEncodeError:
                made += f"%26%23{ord(c)}%3B"
        query = made
    return front + mark + query + fragment


def edit_css(css, edit):
    def replace(match):
        kind = next((k for k in ("string", "quoted", "bare") if match[k] is not None), None)
        if not kind:
            return match[0]
        at, to = match.start(kind) - match.start(), match.end(kind) - match.start()
        number = r"\\([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\n\f\r])?"
        url = re.sub(number + r"|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else m[2].strip("\n"), match[kind], flags=re.S)
        new = edit(url)
        if new is None:
            return match[0]
        quote = match["quote"] or match["quote2"]
        new = re.sub(r"([\\%s])" % (quote or "\"'()"), r"\\\1", new)
        new = re.sub("[\x00-\x1f<\x7f]" if quote else "[\x00- <\x7f]", lambda m: f"\\{ord(m[0]):x} ", new)
        return match[0][:at] + new + match[0][to:]

    return CSS.sub(replace, css)


def edit_candidates(value, edit):
    made, at = "", 0
    while True:
        begin = re.compile(r"[\t\n\f\r ,]*").match(value, at).end()
        made += value[at:begin]
        if begin == len(value):
            return made
        at = re.compile(r"[^\t\n\f\r ]*").match(value, begin).end()
        url = value[begin:at].rstrip(",")
        new = edit(url)
        made += (url if new is None else new) + value[begin + len(url) : at]
        if begin + len(url) == at:
            end = re.compile(r"(?:\([^)]*(?:\)|$)|[^,(])*").match(value, at).end()
            made += value[at:end]
            at = end


def edit_url_of(element, attribute, value, edit):
    if attribute == "style":
        return edit_css(value, edit)
    if not element.tag.startswith(HTML):
        is_link = element.tag.startswith(SVG) and attribute in ("href", "{http://www.w3.org/1999/xlink}href")
        return edit(value) if is_link else None
    name = element.tag[len(HTML) :]
    if (name, attribute) in CANDIDATES:
        return edit_candidates(value, edit)
    if attribute == "ping" and name in ("a", "area"):
        return re.sub(r"[^\t\n\f\r ]+", lambda word: edit(word[0]) or word[0], value)
    if (name, attribute) == ("meta", "content") and element.get("http-equiv", "").lower() == "refresh":
        refresh = re.compile(r"""(?is)\s*(?:\d+|(?=\.))[\d.]*(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?P<quote>["']?)(?P<url>.*)""")
        match = refresh.fullmatch(value)
        if not match or not match["url"]:
            return None
        url = match["url"].split(match["quote"])[0] if match["quote"] else match["url"]
        return value[: match.start("url")] + (edit(url) or url) + match["url"][len(url) :]
    return edit(value) if name in URLS.get(attribute, "").split() else None


def edit_urls(tree, edit):
    """Calls edit(URL, href of the base element that counts) for each URL."""
    href = None
    for element in elements(tree):
        is_base = element.tag == HTML + "base"
        old = element.get("href")
        for attribute, value in list(element.attrib.items()):
            new = edit_url_of(element, attribute, value, lambda url: edit(url, None if is_base else href))
            if new is not None:
                element.set(attribute, new)
        if is_base and href is None:
            href = old
        is_sheet = element.tag in (HTML + "style", SVG + "style") and element.get("type", "").strip(WHITE).lower() in ("", "text/css")
        if is_sheet and element.text:
            element.text = edit_css(element.text, lambda url: edit(url, href))


def mirror(tree):
    def prefix(url, href):
        leads_away = href is not None and (re.match(r"[/\\]{2}", href.strip(CONTROLS)) or resolve(href))
        url = url.strip(CONTROLS)
        return "/mirror" + url if re.match(r"[/\\](?![/\\])", url) and not leads_away else None

    edit_urls(tree, prefix)


def rebase(tree):
    def absolute(url, href):
        base = PAGE if href is None else resolve(href, PAGE) or PAGE
        trimmed = url.strip(CONTROLS)
        if not trimmed or trimmed[0] == "#":
            return None
        scheme = re.match(r"[A-Za-z][-+.A-Za-z0-9]*:", trimmed)
        if scheme and resolve(trimmed) and (re.match(r"[/\\]", trimmed[scheme.end() :]) or not base.startswith(scheme[0].lower())):
            return None
        return resolve(encode_query(url, tree.encoding), base)

    edit_urls(tree, absolute)


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
    (mirror, ["-s", "*", "--prefix-urls", "/mirror"]),
    (rebase, ["-s", "*", "--rebase", PAGE]),
    (replace_text, ["-s", "body", "--find", "the", "THE", "--implied"]),
]


class Tree:
    """An element tree and the encoding of its page."""

    def __init__(self, page):
        parser = html5lib.HTMLParser()
        self.root = parser.parse(page, likely_encoding="windows-1252", useChardet=False, scripting=True)
        self.encoding = codecs.lookup(parser.documentEncoding).name

    def iter(self):
        return self.root.iter()


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
    """Returns the differences of a page, the number of those that --check reports, and what the page has."""
    hpar, path = work
    warnings.simplefilter("ignore")  # html5lib, of control characters
    sys.setrecursionlimit(20000)
    with open(path, "rb") as file:
        page = file.read()
    found, reported = [], 0
    tree = Tree(page)
    for edit, command in TASKS:
        if edit is rebase and not shutil.which("node"):
            continue
        done = subprocess.run([hpar, "rewrite", *command, "-"], input=page, capture_output=True, timeout=120)
        if done.returncode:
            found.append(f"{path}: {edit.__name__}: {done.stderr.decode()}")
            continue
        edited = copy.deepcopy(tree)
        edit(edited)
        got = list(lines((Tree(done.stdout) if done.stdout != page else tree).root))
        expected = list(lines(edited.root))
        if got == expected:
            continue
        if edit is remove_scripts:
            if subprocess.run([hpar, "rewrite", *command, "--check", "-"], input=page, capture_output=True, timeout=120).returncode == 1:
                reported += 1
                continue
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        found.append(f"{path}: {edit.__name__}: line {at}\n  got      {got[at:at + 1]}\n  expected {expected[at:at + 1]}")
    return found, reported, b"../" in page, any(e.get("href") for e in elements(tree, "base"))


def find_pages(folder, most=None):
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if re.search(r"\.x?html?$", name)]
    paths = sorted(path for path in paths if os.path.isfile(path) and 500 <= os.path.getsize(path) <= LARGEST)
    return paths[:: -(-len(paths) // most)] if most and paths else paths


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = os.environ.get("HPAR_SOURCE_DIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    shared = os.environ.get("HPAR_SHARED") or os.path.join(source, "..", "shared")
    is_full = os.environ.get("HPAR_TEST_FULL")
    paths = find_pages(os.path.join(shared, "corpus"), None if is_full else 8)
    for folder in ["/usr/share/doc", *sys.argv[2:]]:
        packages = sorted(os.scandir(folder), key=lambda entry: entry.name) if os.path.isdir(folder) else []
        pages = [path for package in packages if package.is_dir() for path in find_pages(package.path, PER_FOLDER)]
        paths += pages if is_full else pages[:: max(1, len(pages) // 4)]
    if not paths:
        print("skipped: no pages")
        sys.exit(77)
    failed = reported = above = based = 0
    with Pool() as pool:
        for found, *counts in pool.imap_unordered(check, [(sys.argv[1], path) for path in paths]):
            failed += len(found)
            reported, above, based = reported + counts[0], above + counts[1], based + counts[2]
            print("\n".join(found), end="\n" if found else "", flush=True)
    print(f"{len(paths)} pages ({above} with ../, {based} with a base), {len(TASKS)} tasks, {failed} differences, {reported} reported by --check")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
