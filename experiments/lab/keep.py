"""Makes one run the run of the repository: report, paper, README's picture and the figures of its pages come from it."""
import os
import re
import shutil
import subprocess
import sys

from . import data, machine, sections, store

MAX_BYTES = 3_000_000
REFERENCE = re.compile(r"<!-- (hpv|hpci|hpbest) (\S+) -->.*?<!-- -->", re.DOTALL)
BEGIN, END = "<!-- the runs -->\n", "<!-- end -->\n"


def lacks(run):
    """What forbids to keep a run, a line each: it is not complete, or a command gave no result."""
    about = run.get("run.json") or {}
    found = [f"the run is {name}" for name in ("quick", "board") if about.get(name)]
    if not about.get("ended"):
        found.append("the run has not ended: scripts/reproduce goes on with it")
    commits = {about.get("commit"), *(session.get("commit") for session in about.get("sessions", []))}
    if len(commits) > 1:
        found.append(f"the run has more than one commit: {', '.join(sorted(map(str, commits)))}")
    if any(str(commit).endswith("-dirty") for commit in commits):
        found.append("the sources differed from the commit")
    for name in run.experiments():
        latest = {record["step"]: record for record in run.runs(name)}
        found += [f"{name}: {step}: {data.no_result(record)}" for step, record in latest.items() if data.no_result(record)]
    found += [f"{name}: no result" for name in sections.ORDER if name not in run.experiments()]
    return found


def runs_of(root):
    """The folders of the runs in results/."""
    results = os.path.join(root, "results")
    return sorted(os.path.join(results, host, name) for host in os.listdir(results) if os.path.isdir(os.path.join(results, host))
                  for name in os.listdir(os.path.join(results, host))
                  if "-quick" not in name and os.path.exists(os.path.join(results, host, name, "run.json")))


def size(root):
    """The bytes of results/, without quick runs."""
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(os.path.join(root, "results"))
               for name in names if "-quick" not in folder and name != ".lock")


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def listing(root):
    """The table of runs of results/README.md."""
    kept = {os.path.realpath(folder) for folder in store.current(root)}
    lines = ["| run | machine | load at the start | experiments | in the report |", "| --- | --- | --- | --- | --- |"]
    for folder in runs_of(root):
        run = store.Store(folder)
        about = run.get("run.json")
        loads = ", ".join(f"{session['load'][0]:.2f}" for session in about.get("sessions", []) if session.get("load"))
        names = store.Store(folder).experiments()
        others = sorted(set(sections.ORDER) - set(names))
        shown = ", ".join(names) if len(names) < len(others) else "all" + (f" but {', '.join(others)}" if others else "")
        lines.append(f"| {os.path.basename(folder)} | {os.path.basename(os.path.dirname(folder))} | {loads or 'unknown'} | {shown} | "
                     f"{'yes' if os.path.realpath(folder) in kept else 'no'} |")
    return "\n".join([*lines, ""])


def write_readme(root, removed):
    """Lists the runs, and adds those that were `removed` to the list of removed ones."""
    path = os.path.join(root, "results", "README.md")
    before, rest = _read(path).split(BEGIN)
    after = rest.split(END)[1]
    last = machine.output(["git", "log", "-1", "--format=%h", "--", "results/current"], cwd=root)
    for name in sorted(removed):
        if name not in after:
            after += f"* {name} (in {last})\n"
    _write(path, before + BEGIN + "\n" + listing(root) + "\n" + END + after)


def write_figures(root):
    """Writes the figures by reference of README.md and the pages anew, from the values of the paper. Returns the names of
    changed files, and a line for each figure that the run does not have."""
    text = _read(os.path.join(root, "paper", "tables", "values.tex"))
    values = {(kind, key): value.replace("$\\pm$", "±")
              for kind, key, value in re.findall(r"^\\hpset\{(\w+)\}\{([^}]*)\}\{(.*)\}$", text, re.MULTILINE)}
    changed, missing = [], []
    names = machine.output(["git", "ls-files", "*.md"], cwd=root).split("\n")
    for name in names:
        path = os.path.join(root, name)
        old = _read(path)

        def value(match, name=name):
            found = values.get((match[1], match[2]), r"\hpmissing")
            if found == r"\hpmissing":
                missing.append(f"{name}: no value {match[2]}")
                return match[0]
            return f"<!-- {match[1]} {match[2]} -->{found}<!-- -->"

        new = REFERENCE.sub(value, old)
        if new != old:
            _write(path, new)
            changed.append(name)
    return changed, missing


def keep(root, folder):
    """Replaces the runs of its machine by the run in `folder`, packed, and makes everything that is made of it."""
    folder = os.path.abspath(folder)
    home = os.path.join(root, "results", os.path.basename(os.path.dirname(folder)))
    kept = os.path.join(home, os.path.basename(folder))
    if folder != kept:
        shutil.copytree(folder, kept, ignore=shutil.ignore_patterns(".lock", "report"))
    shutil.rmtree(os.path.join(kept, "report"), ignore_errors=True)  # scripts/report --bundle
    store.Store(kept).pack()
    old = [path for path in runs_of(root) if os.path.dirname(path) == home and path != kept]
    for path in old:
        shutil.rmtree(path)
    _write(os.path.join(root, "results", "current"), os.path.relpath(kept, os.path.join(root, "results")) + "\n")
    write_readme(root, {os.path.basename(path) for path in old})
    subprocess.run([os.path.join(root, "scripts", "report")], check=True)
    subprocess.run([os.path.join(root, "scripts", "readme-picture")], check=True)
    return kept, write_figures(root)


def check(root):
    """Builds paper.pdf and checks paper, pages and texts. Returns the number of failed checks."""
    environment = dict(os.environ, HPAR_SOURCE_DIR=root)
    source = os.path.join(root, "paper", "paper.tex")
    if shutil.which("latexmk"):
        subprocess.run(["latexmk", "-cd", "-pdf", "-interaction=batchmode", "-silent", source], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)  # tests/paper.sh builds it, too, and reports its errors
    commands = [["sh", os.path.join(root, "tests", "paper.sh")], [sys.executable, "-B", os.path.join(root, "tests", "docs.py")],
                 [os.path.join(root, "scripts", "check-text")]]
    return sum(subprocess.run(command, cwd=root, env=environment, check=False).returncode not in (0, 77) for command in commands)
