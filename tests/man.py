"""man.py HPAR: compares the man page, README.md's options of CMake and CMakeLists.txt with what `hpar --help` prints.

  synopsis   the man page has the usage line of each command
  options    a command's section has the options of its --help with their values, or a section before it describes them.
             It has no other options
  build      README.md's table has each option of CMakeLists.txt with its default
  pages      scripts/generate-man makes a page for each function, names only pages that exist, and groff has no warning

--help is the source of names and values. The man page is written by hand, because it says more about an option than
--help has room for, and because a build for another machine installs it without a program that it could ask."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, finish

ROOT = os.environ.get("HPAR_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def plain(line):
    """The text of a line of the man page, without its macro and its fonts."""
    match = re.match(r"\.(B|I|BR|RB|BI|IB|RI|IR|TP|PP)\b ?(.*)", line)
    if match:
        macro, rest = match.groups()
        parts = re.findall(r'"((?:[^"])*)"|((?:\\.|[^\s"])+)', rest.replace("\\(dq", "\0"))
        line = ("" if len(macro) == 2 else " ").join(quoted or word for quoted, word in parts)
    return re.sub(r"\\f.", "", line).replace("\\-", "-").replace("\\ ", " ").replace("\\&", "").replace("\0", '"')


def sections(text):
    """{heading: lines} of the sections and subsections."""
    found, heading = {}, ""
    for line in text.splitlines():
        match = re.match(r'\.S[SH] "?([^"]*)"?', line)
        if match:
            heading = match[1]
        found.setdefault(heading, []).append(line)
    return found


def options_of_man(lines):
    """{option: value} of the tagged paragraphs. Options that share a paragraph have the value None."""
    found = {}
    for before, line in zip(lines, lines[1:]):
        if not before.startswith(".TP"):
            continue
        tag = plain(line)
        names = re.findall(r"--[a-z][a-z0-9-]*", tag)
        value = re.sub(r"^.*?--[a-z][a-z0-9-]*", "", tag).split(", -")[0].strip(" =")
        for name in names:
            found[name] = value if len(names) == 1 else None
    return found


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


def options_of_help(text):
    return {name: (value or optional or "").strip(" =") for name, optional, value in
            re.findall(r"^  (--[a-z][a-z0-9-]*)(\[=[^\]]*\])?(?: (\S+(?: \S+)*))?(?:  .*|)$", text, re.MULTILINE)}


def check_commands(program):
    with open(os.path.join(ROOT, "src", "programs", "hpar", "hpar.1"), encoding="utf-8") as file:
        parts = sections(file.read())
    commands = re.findall(r"^  ([a-z]+) ", help_of(program).split("commands:")[1], re.MULTILINE)
    described = {heading.split()[1] for heading in parts if heading.startswith("hpar ")}
    check(described == set(commands), f"hpar.1 describes {sorted(described)}, and hpar --help lists {sorted(commands)}")
    synopsis = " ".join(" ".join(plain(line) for line in parts["SYNOPSIS"][1:]).split())
    everything = {}
    for command in commands:
        text = help_of(program, command)
        usage = " ".join(re.match(r"usage: (.*(?:\n {7}.*)*)", text)[1].split())
        squeezed = re.sub(r"[\s|]", "", usage)
        check(squeezed in re.sub(r"[\s|]", "", synopsis), f"hpar.1: SYNOPSIS lacks: {usage}")
        own = options_of_man(parts.get(f"hpar {command}", []))
        wanted = options_of_help(text)
        wanted.pop("--help", None)
        everything.update({name: value for name, value in own.items() if name not in everything})
        for name in sorted(set(own) - set(wanted)):
            check(False, f"hpar.1: {command} has no {name}")
        for name, value in wanted.items():
            check(name in own or name in everything, f"hpar.1: {name} of {command} is missing")
            if own.get(name) is not None:
                check(own[name] == value, f"hpar.1: {command} {name} takes {own[name]!r}, and --help says {value!r}")


def check_build_options():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        text = file.read()
    found = dict(re.findall(r'^option\((HPAR_\w+) ".*" (\S+?)\)$', text, re.MULTILINE))
    found.update(re.findall(r"^set\((HPAR_\w+) (\S+) CACHE STRING", text, re.MULTILINE))
    for names in re.findall(r"^foreach\(name ([A-Z ]*)\)\n(?:.*\n){1,2} *set\(HPAR_\$\{name\} \$\{HPAR_AUTO\} CACHE", text, re.MULTILINE):
        found.update({f"HPAR_{name}": "${HPAR_AUTO}" for name in names.split()})
    named = {"${HPAR_AUTO}": "AUTO", "${PROJECT_IS_TOP_LEVEL}": "ON", '""': "none"}
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| (`HPAR_.*?) \| (.*?) \|", file.read(), re.MULTILINE)
    table = {}
    for names, defaults in rows:
        names, defaults = re.findall(r"`(\w+)`", names), re.sub("`", "", defaults).split(", ")
        table.update(zip(names, defaults if len(defaults) == len(names) else defaults * len(names)))
    check(set(table) == set(found), f"README.md: options of CMake that differ: {sorted(set(table) ^ set(found))}")
    for name in sorted(set(table) & set(found)):
        default = named.get(found[name], found[name])
        check(table[name] == default or (found[name] == "${PROJECT_IS_TOP_LEVEL}" and table[name] == "OFF in a subproject"), f"README.md: the default of {name} is {default}, and not {table[name]}")


def check_pages():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(ROOT, "scripts", "generate-man"), folder], check=True)
        pages = {}
        for path in glob.glob(folder + "/*.3"):
            with open(path, encoding="utf-8") as file:
                pages[os.path.basename(path)] = file.read()
        for header in glob.glob(os.path.join(ROOT, "include", "hpar", "*.h")):
            with open(header, encoding="utf-8") as file:
                for name in re.findall(r"^HPAR_API .*?\b(hpar_\w+)\(", file.read(), re.MULTILINE):
                    home = re.sub(r"\.so man3/(.*)\n", r"\1", pages.get(name + ".3", ""))
                    check(name in pages.get(home, home).split(".SH SEE ALSO")[0], f"no man page describes {name}")
        for name, text in pages.items():
            for other in re.findall(r"^\\fB(\S+)\\fR\(3\)", text, re.MULTILINE):
                check(other.replace("\\-", "-") + ".3" in pages, f"{name}: there is no {other}(3)")
        if shutil.which("groff"):
            whole = sorted(f"{folder}/{name}" for name, text in pages.items() if not text.startswith(".so"))
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8", *whole], capture_output=True, text=True, check=False)
            check(not done.stderr, f"groff: {done.stderr[:500]}")


def main():
    check_commands(sys.argv[1])
    check_pages()
    check_build_options()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
