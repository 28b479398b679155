"""docs.py: checks README.md, SECURITY.md and docs/ against the sources.

Every fenced C block must compile against include/: with an #include it is a whole file, otherwise it is the body of a
function. python/tests/test_docs.py runs the Python blocks. Every relative link must lead to a file. A link from
`name` to a source file is a promise that this file defines the function. README.md has at
most 150 lines, its example is examples/page.c, and its picture is the one that scripts/readme-picture draws (with matplotlib, which the analyses
import)."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ.get("HPAR_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CC = os.environ.get("CC", "cc")
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(ROOT, "include")]
BODY = "#include <hpar/hpar.h>\n#include <hpar/study.h>\n#include <stdio.h>\n#include <string.h>\nvoid example(void);\nvoid example(void) {\n%s\n}\n"

passed, failed = 0, 0


def check(condition, text):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(text)


def blocks(text):
    """(line, code) of each fenced C block."""
    for match in re.finditer(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 2, match[1]


def compile_block(name, line, code, folder):
    path = os.path.join(folder, "block.c")
    body = "#include" not in code
    with open(path, "w", encoding="utf-8") as file:
        file.write(BODY % code if body else code)
    flags = FLAGS + (["-Wno-unused-variable", "-Wno-unused-but-set-variable"] if body else [])
    done = subprocess.run([CC, *flags, path], stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == 0, f"{name}:{line}: the example does not compile:\n{done.stderr}")


def check_links(name, text):
    for match in re.finditer(r"\]\(([^)#:]+)(#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), match[1]))
        check(os.path.exists(path), f"{name}: {match[1]} does not exist")


def defines(source, function):
    """True if the text of a C file has the body of the function."""
    return re.search(rf"^(?!static const )[a-z][^;{{}}=()]*\b{function}\([^;{{}}]*\) {{", source, re.MULTILINE)


def check_functions(name, text):
    """The number of links from a function's name to its file."""
    links = re.findall(r"\[`(\w+)`\]\(([^)#:]+\.(?:c|h|inc))\)", text)
    for function, path in links:
        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), path))
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                check(defines(file.read(), function), f"{name}: {os.path.relpath(path, ROOT)} does not define {function}")
    return len(links)


def check_defines():
    """The check itself: a call, a declaration and a longer name define nothing."""
    check(defines("static bool is_a(const b *b,\n            int c) {", "is_a"), "a definition over two lines is not found")
    for text in ("bool is_a(b *b);", "  is_a(b) {", "bool was_is_a(b *b) {", "  if (is_a(b)) {", "// bool is_a(b *b) {"):
        check(not defines(text, "is_a"), f"{text} counts as a definition of is_a")


def main():
    names = [os.path.relpath(path, ROOT) for pattern in ("*.md", "docs/**/*.md", "experiments/**/*.md", "corpus/*.md", "paper/*.md", "src/*.md", "python/*.md", "results/*.md")
             for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))]
    examples = functions = 0
    check_defines()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                text = file.read()
            check_links(name, text)
            functions += check_functions(name, text)
            for line, code in blocks(text):
                examples += 1
                compile_block(name, line, code, folder)
            if name == "README.md":
                with open(os.path.join(ROOT, "examples", "page.c"), encoding="utf-8") as file:
                    check(next(blocks(text))[1] in file.read(), "README.md: its example is not that of examples/page.c")
                check(text.count("\n") <= 150, f"README.md has {text.count(chr(10))} lines; at most 150")
    check(examples > 5, f"only {examples} examples were found")
    check(functions > 5, f"only {functions} links to functions were found")
    if subprocess.run([sys.executable, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "readme-picture"), "--check"], check=False)
        check(done.returncode == 0, "docs/images/speed.svg is not current")
    else:
        print("skipped: the picture of README.md; matplotlib not found (Debian: python3-matplotlib)")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
