#!/usr/bin/env python3
"""Checks real pages that are not UTF-8: the encoding that hpar chooses, and the tree. The tree equals that of
the same page after Python's codecs have decoded it.

usage: encoding_pages.py HPAR [--table]    (--table prints page, encoding, source of the encoding, title)
"""

import codecs
import json
import os
import re
import subprocess
import sys

# The codec that comes closest, where it has another name, and the characters that it reads otherwise.
CODECS = {"GBK": "gb18030", "Shift_JIS": "cp932", "EUC-KR": "cp949"}
READ_OTHERWISE = {"EUC-JP": str.maketrans("\u301c\u2016\u2212\u00a2\u00a3\u00ac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2")}


def standard_errors(error):
    """One U+FFFD for a lead byte and what follows it, which stays if it is ASCII; C1 controls for windows-125x."""
    data, start = error.object, error.start
    if error.encoding.startswith(("cp125", "charmap")):
        return (chr(data[start]), start + 1)
    follower = data[start + 1] if start + 1 < len(data) else 0
    lead = 0x81 <= data[start] <= 0xFE
    return ("\ufffd", start + (2 if lead and follower >= 0x80 else 1))


codecs.register_error("standard", standard_errors)


def run(hpar, *arguments, given=None):
    done = subprocess.run([hpar, "parse", *arguments], input=given, capture_output=True, timeout=120)
    if done.returncode:
        sys.exit(f"hpar parse {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout


def title_of(tree):
    found = re.search(r"^\| +<title>\n\| +\"(.*?)\"$", tree, re.M | re.S)
    return " ".join(found.group(1).split()) if found else ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    hpar, table = sys.argv[1], "--table" in sys.argv
    source = os.environ.get("HPAR_SOURCE_DIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    shared = os.environ.get("HPAR_SHARED") or os.path.join(source, "..", "shared")
    folder = os.path.join(shared, "corpus", "pages")
    if not os.path.isdir(folder):
        print(f"skipped: {folder} not found")
        sys.exit(77)
    # A build without the parallel parser has the sequential tree alone to show.
    modes = [["--mode", "sequential"], ["--mode", "parallel", "--chunk-size", "4096"]]
    if subprocess.run([hpar, "parse", "--mode", "parallel", "-"], input=b"", capture_output=True).returncode:
        modes.pop()
    checked = failed = 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not name.endswith(".html"):
            continue
        with open(path, "rb") as file:
            data = file.read()
        try:
            data.decode("utf-8")
            continue
        except UnicodeDecodeError:
            pass
        stats = json.loads(run(hpar, "--format", "none", "--stats=json", path))
        encoding = stats["encoding"]
        trees = [run(hpar, *mode, path) for mode in modes]
        tree = trees[0]
        if encoding == "UTF-8":
            text = data.decode("utf-8-sig", "replace")
        else:
            if encoding == "EUC-JP":  # the tilde of JIS X 0212, which Python reads as that of ASCII
                data = data.replace(b"\x8f\xa2\xb7", b"\xa1\xc1")
            text = data.decode(CODECS.get(encoding, encoding), "standard")
            text = text.translate(READ_OTHERWISE.get(encoding, {}))
        expected = run(hpar, "--encoding", "utf-8", "-", given=text.encode())
        equal = all(tree == expected for tree in trees)
        checked += 1
        failed += not equal
        if not equal:
            print(f"{path}: the tree is not that of the page decoded as {encoding} by Python")
            for ours, theirs in zip(tree.decode().split("\n"), expected.decode().split("\n")):
                if ours != theirs:
                    print(f"  {ours[:200]!r}\n  {theirs[:200]!r}")
                    break
        if table:
            print(f"{name[:-5]:34} {encoding:12} {stats['encoding_source']:10} {title_of(tree.decode())[:90]}")
    print(f"{checked - failed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
