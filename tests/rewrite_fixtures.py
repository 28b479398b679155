#!/usr/bin/python3
"""rewrite_fixtures.py HPAR FOLDER: checks `hpar rewrite` with LOL HTML's fixtures.

A rule puts markers around each matched element, and around the texts and comments inside it. The
output must equal the expected page byte for byte. The pages come whole; samples of them come by
single bytes, in pieces of random lengths, and in other encodings. The inputs on which LOL HTML gives
up must pass unchanged under a rule that matches nothing. Prints the failures and a tally; exit
status 1 if a case fails."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

hpar, folder = sys.argv[1:3]
lengths = random.Random(16)
step = 1 if int(os.environ.get("HPAR_TEST_SCALE", "100")) >= 100 else 5
passed = failed = checked = 0
ENCODINGS = ["windows-1251", "shift_jis", "big5", "gb18030", "euc-kr", "koi8-r", "iso-8859-8", "macintosh"]


def marks(kind, selector):
    return {"before": {"html": f"<!--[{kind}('{selector}')]-->"}, "after": {"html": f"<!--[/{kind}('{selector}')]-->"}}


def check(name, rule, source, expected, encoding, feed):
    """Runs hpar on the source and compares its output with the expected bytes."""
    global passed, failed, checked
    checked += 1
    if checked % step:
        return
    with open(rules_path, "w", encoding="utf-8") as file:
        json.dump({"rules": [rule]}, file)
    arguments = [hpar, "rewrite", "--rules", rules_path, "--encoding", encoding, "-"]
    if feed:
        arguments[2:2] = ["--feed", str(feed)]
    run = subprocess.run(arguments, input=source, capture_output=True)
    if run.returncode == 0 and run.stdout == expected:
        passed += 1
    else:
        failed += 1
        print(f"failed: {name} in {encoding}, fed by {feed or 'any number of'} bytes: exit {run.returncode}, "
              f"{run.stderr.decode(errors='replace').strip()}")


def check_selectors():
    count = 0
    for line in open(os.path.join(folder, "selector_matching.jsonl"), encoding="utf-8"):
        fixture = json.loads(line)
        for case in fixture["cases"]:
            selector = case["selector"]
            if case["level"] not in ("lol", "stream"):
                continue
            if re.search(r"not\(\|", selector):
                continue  # the expected result ignores that no HTML element is without a namespace
            element = marks("ELEMENT", selector)
            if selector.lstrip("*").startswith(":root"):
                element = {}  # the fixtures put no marker around <html>
            rule = {"select": selector, **element, "comment": marks("COMMENT", selector),
                    "text": marks("TEXT", selector)}
            name, source = f"{fixture['id']}, {selector}", fixture["source"]
            expected = case.get("expected", source)
            check(name, rule, source.encode(), expected.encode(), "utf-8", 0)
            if count % 6 == 0:
                check(name, rule, source.encode(), expected.encode(), "utf-8", 1)
            if count % 6 == 2:
                check(name, rule, source.encode(), expected.encode(), "utf-8", lengths.randrange(2, 200))
            if count % 6 == 4:
                encoding = ENCODINGS[count // 6 % len(ENCODINGS)]
                check(name, rule, source.encode(encoding), expected.encode(encoding), encoding, 0)
            count += 1


def check_identity():
    for suite in ("foreign_content", "script", "text_parsing_ambiguity", "limits_bailouts"):
        with open(os.path.join(folder, suite + ".dat"), "rb") as file:
            blocks = file.read().split(b"#data\n")[1:]
        for number, block in enumerate(blocks, 1):
            source = re.sub(rb"\n(#[^\n]*)?\n*\Z", b"", block)
            rule = {"select": "x-none > y", "remove": True, "text": {"remove": True}, "comment": {"remove": True}}
            for feed in (0, 1, 7):
                check(f"{suite} {number}", rule, source, source, "utf-8", feed)


with tempfile.TemporaryDirectory() as temporary:
    rules_path = os.path.join(temporary, "rules.json")
    check_selectors()
    check_identity()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
