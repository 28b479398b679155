"""Descriptions of experiments: experiments/<name>/experiment.json.

  title, paper       what it is called, and which table or figure of the paper it repeats
  seconds            {"quick": n, "full": n}: how long it takes, about
  steps              each is a command for every combination of `each`:
    id               names one run, from the variables
    each             {"variable": values}: the last varies fastest. A number n stands for 0..n-1; "paper", "large" and
                     "collection" for the pages of that name; "cores" for 1, 2, 4 .. as many as there are; "all cores" within
                     a list for how many
    quick            what replaces members of `each` in a quick run; null leaves the step out
    command          its words; {page}, {variable}, {here} (the folder), {build}, {cores},
                     {chunk_size} (the page's bytes over {chunks}). hpar and hpar-* are those of the
                     build, hpar-O0 the build without optimisation
    needs            what must be there for it: "program chromium", "command explain", "option compare --merge",
                     "strategy hpar2013", "predictor prescan", "mode pipelined",
                     "build O0", "collection", "never REASON"; else the run is left out with that reason
    seconds          a run is stopped after so many (120)
    fails            true: an exit status other than 0 is a result, not a failure
"""
import glob
import itertools
import json
import os
import shutil

from .machine import ROOT, output
from .pages import shared

FOLDER = os.path.join(ROOT, "experiments")


class Wrong(Exception):
    """A description that cannot be followed."""


def names():
    return sorted(os.path.basename(os.path.dirname(path)) for path in glob.glob(f"{FOLDER}/*/experiment.json"))


def load(name):
    path = os.path.join(FOLDER, name, "experiment.json")
    try:
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
    except OSError as error:
        raise Wrong(f"{name}: no such experiment ({error.strerror}: {path})") from None
    except ValueError as error:
        raise Wrong(f"{path}: {error}") from None
    for member in ("title", "seconds", "steps"):
        if member not in description:
            raise Wrong(f"{path}: no {member}")
    return description


def near(path):
    """A path within the project, or in ../shared beside it, as seen from the project; others as they are."""
    if not os.path.isabs(path):
        return path
    relative = os.path.relpath(path, ROOT)
    return relative if not relative.startswith("..") or relative.startswith(os.path.join("..", "shared")) else path


class Builds:
    """Programs, and what they can do."""

    def __init__(self, folders):
        self.folders = folders
        self._known = {}

    def program(self, word):
        if word == "hpar-O0":
            return os.path.join(self.folders["O0"], "hpar")
        if word == "hpar" or word.startswith("hpar-"):
            return os.path.join(self.folders["hpar"], word)
        return word

    def _help(self, *words):
        if words not in self._known:
            self._known[words] = output([self.program("hpar"), *words]) or ""
        return self._known[words]

    def lacks(self, need):
        """Why `need` is not met, or None."""
        kind, _, rest = need.partition(" ")
        if kind == "program":
            program = self.program(rest)
            return None if os.path.exists(program) or shutil.which(program) else f"{rest} is not installed"
        if kind == "build":
            return None if os.path.exists(os.path.join(self.folders.get(rest, ""), "hpar")) else f"there is no build {rest}"
        if kind == "command":
            return None if f"hpar {rest}" in self._help("--help") or f"\n  {rest} " in self._help("--help") \
                else f"hpar has no command {rest} yet"
        if kind == "option":
            command, option = rest.split()
            return None if option in self._help(command, "--help") else f"hpar {command} has no {option} yet"
        if kind == "mode":
            listed = self._help("parse", "--help") + self._help("parse", "--mode", "help")
            return None if rest in listed else f"hpar parse has no --mode {rest} yet"
        if kind == "strategy":
            listed = [line.split()[0] for line in self._help("parse", "--strategy", "help").splitlines() if line.split()]
            return None if rest in listed else f"hpar has no strategy {rest} yet"
        if kind == "predictor":
            listed = [line.split()[0] for line in self._help("parse", "--predictor", "help").splitlines() if line.split()]
            return None if rest in listed else f"hpar has no predictor {rest} yet"
        if kind == "collection":
            return None if shared() else "the collection of pages is not there"
        if kind == "never":
            return rest
        raise Wrong(f"needs: {need}")


class Step:
    """One command to run."""

    def __init__(self, experiment, key, command, variables, needs, seconds, fails, page):
        self.experiment, self.key, self.command, self.variables = experiment, key, command, variables
        self.needs, self.seconds, self.fails, self.page = needs, seconds, fails, page


def _values(value, pages, cores):
    if isinstance(value, int):
        return list(range(value))
    if value == "cores":
        return sorted({1 << n for n in range(12) if 1 << n <= cores} | {cores})
    if isinstance(value, str):
        try:
            return pages.names(value)
        except KeyError:
            raise Wrong(f"no group of pages is called {value}") from None
    return list(dict.fromkeys(cores if one == "all cores" else one for one in value))


def steps(name, description, pages, builds, quick, cores):
    """The commands of an experiment, in order."""
    result, seen = [], set()
    for step in description["steps"]:
        each = dict(step.get("each", {}))
        if quick:
            if step.get("quick", {}) is None:
                continue
            each.update(step.get("quick", {}))
        lists = [_values(value, pages, cores) for value in each.values()]
        for combination in itertools.product(*lists):
            variables = dict(zip(each, combination))
            needs = [need.format(**variables) for need in step.get("needs", [])]
            lacking = any(builds.lacks(need) for need in needs)  # then its page may not be there either
            page = pages.get(variables["page"]) if "page" in variables and not lacking else None
            fill = dict(variables, here=os.path.join(FOLDER, name), build=builds.folders["hpar"], cores=cores,
                        shared=shared() or "")
            if lacking:
                fill["chunk_size"] = 0
            if page:
                fill["page"] = page.path
                if "chunks" in variables:
                    fill["chunk_size"] = -(-page.bytes // variables["chunks"])
            key = step["id"].format(**variables)
            if key in seen:
                raise Wrong(f"{name}: two runs are called {key}")
            seen.add(key)
            words = [word.format(**fill) for word in step["command"].split()]
            words = [near(word) for word in (builds.program(words[0]), *words[1:])]
            result.append(Step(name, key, words, variables, needs, step.get("seconds", 120),
                               step.get("fails", False), page))
    return result
