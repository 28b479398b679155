"""shell_examples.py HPAR: runs each block ```sh and ```console of the Markdown pages with this program.

A block runs as one script of `sh -e`, in a folder of its own with pages, archives and rules. All its commands must
succeed. Nothing reads the network: `curl` prints a page. A block may have a marker after ```sh:

  (not run: REASON)   the block does not run
  (needs PROGRAM)     the block runs where this program is installed

In a block ```console, lines that begin with "$ " are the commands, and the other lines are exactly what they print. A block
```html (NAME) of the page is the file NAME. A block that needs a library which this build lacks does not count.

Of a block that does not run, the commands, scripts, presets and options must exist.
"""
import glob
import gzip
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ.get("HPAR_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"^```(sh|bash|shell|console)(?: \((not run|needs):? ([^)\n]+)\))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELLS = ("sh", "bash", "shell", "console")
LACKS_LIBRARY = re.compile(r"^hpar: .*(: install \S+ \(Debian\) and build again|; build it with \S+ \(Debian: )", re.MULTILINE)
FENCE = re.compile(r"^```(\w*)", re.MULTILINE)
PAGE = """<!DOCTYPE html><html lang=en><head><title>A page</title><base href=https://example.org/><script src=a.js></script>
<link rel=stylesheet href=a.css></head><body><main><p class=x>One colour <a href="http://example.org/b">link</a><img src=c.png>
<table><tr><td>cell<script class=track>f()</script></table>
</main></body></html>
"""


def names():
    for pattern in ("*.md", "docs/**/*.md", "python/*.md", "experiments/**/*.md", "corpus/*.md", "src/*.md", "tests/*.md"):
        yield from sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def archive(count):
    """A web archive with some pages, compressed by member."""
    records = []
    for number in range(count):
        body = (PAGE + f"<p>{number}").encode()
        http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        head = (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/{number}\r\n"
                f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012}>\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n").encode()
        records.append(gzip.compress(head + http + b"\r\n\r\n"))
    return b"".join(records)


def fill(folder, program, page):
    """Makes the files that the examples name. `page` is the Markdown page: its JSON block is rules.json."""
    os.chdir(folder)
    for path in ("page.html", "other.html", "pages/a.html", "pages/b.html", "site/a.html", "site/b/c.html"):
        write(path, PAGE * 40 if path == "page.html" else PAGE)
    write("snippet.html", "<meta name=added>")
    for name, text in re.findall(r"^```html \(([\w.]+)\)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        write(name, text)
    rules = re.search(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if rules:
        write("rules.json", rules[1])
    os.makedirs("data")
    for path in ("data/1.warc.gz", "CC-MAIN-1.warc.gz"):
        with open(path, "wb") as file:
            file.write(archive(5))
    write("bin/curl", "#!/bin/sh\ncat page.html\n")
    write("bin/less", "#!/bin/sh\ncat \"$@\"\n")
    for name in ("curl", "less"):
        os.chmod(os.path.join("bin", name), 0o755)
    os.symlink(os.path.abspath(program), "bin/hpar")
    log = os.path.join(os.path.dirname(os.path.abspath(program)), "hpar-log")
    if os.path.exists(log):
        os.symlink(log, "bin/hpar-log")


def installed(program):
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in os.environ["PATH"].split(os.pathsep))


def features(program):
    """None, or what the program lacks for the examples."""
    done = subprocess.run([program, "crawl", "--help"], capture_output=True, text=True, check=False)
    if done.returncode:
        return "this build has no command crawl"
    done = subprocess.run([program, "compare", "-"], input="<p>", capture_output=True, text=True, check=False)
    return "this build has no parallel parser" if done.returncode else None


def split_console(code):
    """The commands of a block ```console, and what they print."""
    lines = code.splitlines(keepends=True)
    return "".join(line[2:] for line in lines if line.startswith("$ ")), "".join(line for line in lines if not line.startswith("$ "))


def run_block(program, page, code):
    with tempfile.TemporaryDirectory(prefix="hpar-shell.") as folder:
        try:
            fill(folder, program, page)
            environment = {**os.environ, "PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"],
                           "HOME": folder}
            return subprocess.run(["sh", "-exu"], input=code, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=environment, timeout=120, check=False)
        finally:
            os.chdir("/")


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def unknown_words(program, code):
    """Yields what the commands of a block name and nothing has: a command, a script, a preset or an option."""
    for line in re.sub(r"\\\n", " ", code).splitlines():
        for command in re.split(r"[|;&]+", re.sub(r"(^|\s)#.*", "", line)):
            words = [word for word in command.split() if not re.match(r"\w+=", word)]
            options = [word.split("=")[0] for word in words if word.startswith("--")]
            if not words:
                continue
            if words[0] == "hpar" and len(words) > 1:
                text = help_of(program, *([words[1]] if not words[1].startswith("-") else []))
                if text is None:
                    yield f"hpar {words[1]}"
                    continue
            elif "/" in words[0] and not words[0].startswith(("build/", "/", "~")):
                path = os.path.join(ROOT, words[0])
                if not os.path.exists(path):
                    yield words[0]
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            elif words[0] == "cmake" and "--preset" in words:
                with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as file:
                    preset = words[words.index("--preset") + 1]
                    if f'"{preset}"' not in file.read():
                        yield f"--preset {preset}"
                continue
            else:
                continue
            yield from (f"{words[0]} {option}" for option in options
                           if not re.search(re.escape(option) + r"(?![\w-])", text))


def check_unknown_words(program):
    """The check itself."""
    bad = "hpar chop x | hpar parse --thread 4\nscripts/nothing\ncmake --preset fast\nX=1 scripts/reproduce --slow # --x"
    good = "hpar parse --threads=4 x\nscripts/reproduce --quick\ncmake --preset release && build/x --y\n# hpar chop"
    expected = ["hpar chop", "hpar --thread", "scripts/nothing", "--preset fast", "scripts/reproduce --slow"]
    found = [*unknown_words(program, bad), *unknown_words(program, good)]
    return found == expected or print(f"unknown_words finds {found}, and not {expected}")


def main():
    program = os.path.abspath(sys.argv[1])
    lacking = features(program)
    if lacking:
        print(f"skipped: {lacking}")
        sys.exit(77)
    ran = left = 0
    failed = 0 if check_unknown_words(program) else 1
    for path in names():
        with open(path, encoding="utf-8") as file:
            page = file.read()
        name = os.path.relpath(path, ROOT)
        fences = [match[1] for match in FENCE.finditer(page)][::2]
        blocks = list(BLOCK.finditer(page))
        if len(blocks) != sum(language in SHELLS for language in fences):
            print(f"{name}: a marker is not of the form (not run: REASON) or (needs PROGRAM)")
            failed += 1
        for match in blocks:
            language, marker, argument, code = match.groups()
            prints = None
            if language == "console":
                code, prints = split_console(code)
            line = page.count("\n", 0, match.start()) + 1
            if marker == "not run" or (marker == "needs" and not installed(argument)):
                left += 1
                for word in unknown_words(program, code):
                    failed += 1
                    print(f"{name}:{line}: there is no {word}")
                continue
            if "hpar-log " in code and not os.path.exists(os.path.join(os.path.dirname(program), "hpar-log")):
                left += 1
                continue
            done = run_block(program, page, code)
            if done.returncode and LACKS_LIBRARY.search(done.stderr):
                left += 1
                continue
            ran += 1
            if done.returncode:
                failed += 1
                print(f"{name}:{line}: exit status {done.returncode}:\n{done.stderr}")
            elif prints is not None and done.stdout != prints:
                failed += 1
                print(f"{name}:{line}: the commands print something else:\n{done.stdout}")
    print(f"{ran - failed} passed, {failed} failed, {left} not run")
    sys.exit(1 if failed or ran + left < 20 or ran < 5 else 0)


main()
