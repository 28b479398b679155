"""docs.py: checks README.md, SECURITY.md and docs/ against the sources.

  examples   every fenced C block compiles against include/: with an #include it is a whole file, otherwise it is the body
             of a function. README.md's example is examples/page.c. tests/shell_examples.py runs the shell blocks,
             python/tests/test_docs.py the Python blocks. A block of another language is a finding
  links      every relative link leads to a file, and its anchor to a heading there
  functions  a link from `name` to a source file, and `src/FILE:name`, promise that this file defines the function. A path
             in code leads to a file, and a name such as hp_x or HPAR_X is in the sources
  tables     the modules of docs/architecture.md are the folders of src/ in the order of scripts/check-layers, and its
             instances are the files that include the template
  size       README.md has at most 150 lines, docs/ at most 20,000 words and twelve decisions, a decision at most 600 words
  runs       a run that a page names is in results/, or is listed there as removed
  figures    a measured speed has one home, the report of the runs. A page prints it by reference: see REFERENCE
  commands   scripts/run and scripts/test, the two commands of README.md, explain themselves
  picture    README.md's picture is the one that scripts/readme-picture draws, with matplotlib"""
import glob
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, finish

ROOT = os.environ.get("HPAR_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CC = os.environ.get("CC", "cc")
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(ROOT, "include")]
BODY = "#include <hpar/hpar.h>\n#include <hpar/study.h>\n#include <stdio.h>\n#include <string.h>\nvoid example(void);\nvoid example(void) {\n%s\n}\n"


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


def anchors(path):
    """The anchors of a Markdown file: its own, and those of the headings as GitHub makes them."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"<a (?:id|name)=\"?([^\">]+)", text)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower().replace(" ", "-")


def check_links(name, text):
    for match in re.finditer(r"\]\(([^)#:]*)(#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        path = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), match[1])) if match[1] else os.path.join(ROOT, name)
        check(os.path.exists(path), f"{name}: {match[1]} does not exist")
        if match[2] and path.endswith(".md") and os.path.exists(path):
            check(match[2][1:] in anchors(path), f"{name}: {match[1]}{match[2]} is no heading")


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
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:c|h|inc)):(\w+)`", text)
    for path, function in named:
        full = os.path.join(ROOT, path)
        check(os.path.exists(full), f"{name}: {path} does not exist")
        if os.path.exists(full):
            with open(full, encoding="utf-8") as file:
                check(defines(file.read(), function), f"{name}: {path} does not define {function}")
    return len(links) + len(named)


def check_paths(name, text):
    """A code span that is the path of a file leads to one: from the root, from src/, or from the page's folder."""
    folders = (ROOT, os.path.join(ROOT, "src"), os.path.join(ROOT, "include"), os.path.join(ROOT, os.path.dirname(name)))
    for path in re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:c|h|inc|md|py|sh|pml|svg|json))`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        check(any(os.path.exists(os.path.join(folder, path)) for folder in folders), f"{name}: there is no file {path}")


IDENTIFIERS = set()


def check_names(name, text):
    """A function, type or constant of HPar in code is one of the sources."""
    if not IDENTIFIERS:
        for top in ("src", "include", "CMakeLists.txt", "python", "scripts", "experiments", "tests"):
            for path in glob.glob(os.path.join(ROOT, top, "**"), recursive=True) if os.path.isdir(os.path.join(ROOT, top)) else [os.path.join(ROOT, top)]:
                if os.path.isfile(path) and not path.endswith((".md", ".pyc", ".so")):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        IDENTIFIERS.update(re.findall(r"\b(?:hp|hpar|HP|HPAR)_\w+", file.read()))
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        for identifier in re.findall(r"\b(?:hp|hpar|HP|HPAR)_\w+", span):
            check(identifier in IDENTIFIERS, f"{name}: the sources have no {identifier}")


# Sphinx's directives; what a block of data is for is tested by shell_examples.py.
LANGUAGES = {"c", "sh", "console", "python", "json", "html", "text", "{toctree}", "{doxygenfile}"}


def check_languages(name, text):
    for language in re.findall(r"^ *```(\S*)", text, re.MULTILINE)[::2]:
        check(language in LANGUAGES, f"{name}: a block of {language or 'no language'}, which no test checks")


SPEED = re.compile(r"(\d[\d.,]*\s*([KMG]B|bytes|pages|documents|records)/s\b|\d[\d.,]*\s+times\s+(as fast|faster|the speed)|\b\d[\d.,]*x (faster|slower))")


# A figure by reference: <!-- hpv KEY -->VALUE<!-- -->. The report gives the paper the value by the same key.
REFERENCE = re.compile(r"<!-- (hpv|hpci|hpbest) (\S+) -->(.*?)<!-- -->", re.DOTALL)


def check_references(name, text):
    """The number of figures by reference, all of which are those of the report."""
    with open(os.path.join(ROOT, "paper", "tables", "values.tex"), encoding="utf-8") as file:
        values = {(kind, key): value.replace("$\\pm$", "±") for kind, key, value in
                  re.findall(r"^\\hpset\{(\w+)\}\{([^}]*)\}\{(.*)\}$", file.read(), re.MULTILINE)}
    found = REFERENCE.findall(text)
    for kind, key, shown in found:
        check(values.get((kind, key)) == shown, f"{name}: {kind} {key} is {values.get((kind, key))}, and not {shown}")
    return len(found)


SPEED_COLUMN = re.compile(r"^\|.*MB/s.*\|\n\| -", re.MULTILINE)


def check_figures(name, text):
    """Speeds of the current run are in its report, which scripts/report writes. An experiment's page may type its aims,
    which are constants of its analysis."""
    aims = ""
    if name.startswith("experiments/"):
        path = os.path.join(ROOT, os.path.dirname(name), "analysis.py")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                aims = file.read()
    for match in [*SPEED.finditer(text), *SPEED_COLUMN.finditer(text)]:
        number = re.match(r"[\d.,]*", match[0])[0].replace(",", "")
        if number and re.search(rf"\b{re.escape(number)}\b", aims):
            continue
        check(False, f"{name}:{text.count(chr(10), 0, match.start()) + 1}: the typed speed {match[0]!r}; its home is paper/report.md")


def check_runs(name, text):
    """A run that a page names is in results/, or results/README.md lists it as removed."""
    with open(os.path.join(ROOT, "results", "README.md"), encoding="utf-8") as file:
        removed = file.read().split("## Removed runs")[1]
    for path in set(re.findall(r"results/[\w-]+/\d{4}-\d\d-\d\d-\w+(?:/[\w-]+)?", text)):
        known = os.path.isdir(os.path.join(ROOT, path)) or path.split("/")[2] in removed
        check(known, f"{name}: {path} is not there, and results/README.md does not list it as removed")


def load_order():
    loader = importlib.machinery.SourceFileLoader("check_layers", os.path.join(ROOT, "scripts", "check-layers"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
    loader.exec_module(module)
    return module.ORDER


def check_architecture():
    with open(os.path.join(ROOT, "docs", "architecture.md"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^\| `([\w/]+)/` \|", text, re.MULTILINE)
    modules = [row for row in rows if not row.startswith("include/")]
    source = os.path.join(ROOT, "src")
    folders = {os.path.relpath(folder, source) for folder, _, files in os.walk(source) if any(f.endswith((".c", ".h", ".inc", ".cc")) for f in files)}
    for folder in sorted(folders ^ set(modules)):
        check(False, f"docs/architecture.md: {folder} is " + ("not in the table of modules" if folder in folders else "no folder of src/"))
    order = load_order()
    tops = []
    for row in modules:
        top = next((name for name in order if row == name or row.startswith(name + "/")), row)
        if top not in tops:
            tops.append(top)
    check(tops == [name for name in order if name in tops], f"docs/architecture.md: the modules are not in the order of scripts/check-layers: {tops}")
    tree = os.path.join(source, "tree")
    found = {}
    for name in sorted(os.listdir(tree)):
        with open(os.path.join(tree, name), encoding="utf-8") as file:
            code = file.read()
        if '#include "tree/tree_builder.inc"' in code:
            found[name] = ("tree" if "HP_HAS_NODES 1" in code else "none", "outer context" if "HP_HAS_OUTER 1" in code else "nothing")
    table = {row[0]: (row[1], row[2]) for row in re.findall(r"^\| `(\w+\.c)` \| ([^|]*) \| ([^|]*) \|", text, re.MULTILINE)}
    check(table == found, f"docs/architecture.md: the instances are {found}, and the table has {table}")


def words(path):
    """The words of a page: the pieces between white space that have a letter or a digit."""
    with open(path, encoding="utf-8") as file:
        return sum(any(map(str.isalnum, piece)) for piece in file.read().split())


def check_guards():
    """The tests that docs/soundness.md names exist."""
    with open(os.path.join(ROOT, "docs", "soundness.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| [A-Z] \|.*\| (.*) \|$", file.read(), re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    check(len(names) > 10, "docs/soundness.md names no tests")
    for name in names:
        places = (f"{name}_test.c", f"{name}.sh", f"fuzz/{name.removeprefix('fuzz_')}_fuzz.c")
        check(any(os.path.exists(os.path.join(ROOT, "tests", place)) for place in places), f"docs/soundness.md: there is no test {name}")


def check_size():
    pages = glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
    total = sum(map(words, pages))
    check(total <= 20000, f"docs/ has {total} words; at most 20,000")
    decisions = glob.glob(os.path.join(ROOT, "docs", "decisions", "[0-9]*.md"))
    check(0 < len(decisions) <= 12, f"{len(decisions)} decisions; at most twelve")
    for path in decisions:
        check(words(path) <= 600, f"{os.path.relpath(path, ROOT)} has {words(path)} words; at most 600")


def check_defines():
    """The check itself: a call, a declaration and a longer name define nothing."""
    check(defines("static bool is_a(const b *b,\n            int c) {", "is_a"), "a definition over two lines is not found")
    for text in ("bool is_a(b *b);", "  is_a(b) {", "bool was_is_a(b *b) {", "  if (is_a(b)) {", "// bool is_a(b *b) {"):
        check(not defines(text, "is_a"), f"{text} counts as a definition of is_a")


def check_commands():
    """The two commands of README.md explain themselves, without a compiler, and begin nothing."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(shutil.which("sed"), os.path.join(folder, "sed"))
        for name, argument, status in (("run", "--help", 0), ("test", "--help", 0), ("test", "release", 2)):
            done = subprocess.run([os.path.join(ROOT, "scripts", name), argument], env={"PATH": folder}, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False)
            check(done.returncode == status and done.stdout.startswith(f"{name}"), f"scripts/{name} {argument}: {done.returncode}")


def main():
    names = [os.path.relpath(path, ROOT) for pattern in ("*.md", "docs/**/*.md", "experiments/**/*.md", "corpus/*.md", "paper/*.md", "src/*.md", "python/*.md", "results/*.md",
                                                                       "tests/*.md", "examples/*.md")
             for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))]
    examples = functions = references = 0
    check_defines()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                text = file.read()
            check_links(name, text)
            functions += check_functions(name, text)
            check_runs(name, text)
            if name.startswith("docs/") or "/" not in name:
                check_paths(name, text)
                check_languages(name, text)
                if name != "CHANGELOG.md":
                    check_names(name, text)
            references += check_references(name, text)
            text = REFERENCE.sub(" ", text)
            if name != "CHANGELOG.md" and not name.startswith(("results/", "paper/")):
                check_figures(name, text)
            for line, code in blocks(text):
                examples += 1
                compile_block(name, line, code, folder)
            if name == "README.md":
                with open(os.path.join(ROOT, "examples", "page.c"), encoding="utf-8") as file:
                    check(next(blocks(text))[1] in file.read(), "README.md: its example is not that of examples/page.c")
                check(text.count("\n") <= 150, f"README.md has {text.count(chr(10))} lines; at most 150")
    check_architecture()
    check_guards()
    check_commands()
    check_size()
    check(examples > 5, f"only {examples} examples were found")
    check(references > 1, "README.md has no figures by reference")
    check(functions > 5, f"only {functions} links to functions were found")
    if subprocess.run([sys.executable, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "readme-picture"), "--check"], check=False)
        check(done.returncode == 0, "docs/images/speed.svg is not current")
    else:
        print("skipped: the picture of README.md; matplotlib not found (Debian: python3-matplotlib)")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
