"""The pages that experiments run on.

A page of the paper is taken from $HPAR_SHARED/corpus/paper or ../shared/corpus/paper beside the project; where it is not
there, a page is generated from its profile in corpus/profiles. Generated pages are kept in a cache, which is
$HPAR_CACHE, or build/pages."""
import hashlib
import json
import os
import subprocess

from .machine import ROOT

PAPER = ["youtube", "bbc", "linkedin", "yahoo", "amazon", "qq", "twitter", "taobao", "wikipedia", "facebook"]
# Pages of the collection that differ from the pages of the paper, by its manifest.
STAND_INS = {"linkedin": "another page of the site, 156 KB instead of 208 KB",
             "facebook": "the authors' own dump, text masked, 712 KB instead of 708 KB"}
LARGE = ["clisp-impnotes", "erlang-gl-api", "haddock-cabal-prelude", "lilypond-notation-manual", "maxima-manual",
         "wikipedia-nba-transactions"]
GENERATED_LARGE = {"wikipedia-4m": ("wikipedia", 4 << 20), "taobao-8m": ("taobao", 8 << 20)}


class Page:
    """A file to parse. `origin` is collection, generated, made or given; `stand_in` gives the reason why it is not the paper's page,
    or is None."""

    def __init__(self, name, path, origin, stand_in=None):
        self.name, self.path, self.origin, self.stand_in = name, path, origin, stand_in
        self.bytes = os.path.getsize(path)

    def __str__(self):
        return self.path

    def record(self):
        with open(self.path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        return {"name": self.name, "bytes": self.bytes, "origin": self.origin, "stand_in": self.stand_in, "sha256": digest}


def shared():
    for folder in (os.environ.get("HPAR_SHARED"), os.path.join(ROOT, "..", "shared")):
        if folder and os.path.isdir(folder):
            return folder
    return None


def cache():
    path = os.environ.get("HPAR_CACHE") or os.path.join(ROOT, "build", "pages")
    os.makedirs(path, exist_ok=True)
    return path


class Pages:
    def __init__(self, build):
        self.build = build  # has hpar-corpus
        self.known = {}

    def _generate(self, name, like, size, seed):
        profile = os.path.join(ROOT, "corpus", "profiles", f"{like}.json")
        with open(profile, "rb") as file:
            mark = hashlib.sha256(file.read()).hexdigest()[:8]
        path = os.path.join(cache(), f"{name}-{size or 'same'}-{seed}-{mark}.html")
        if not os.path.exists(path):
            command = [os.path.join(self.build, "hpar-corpus"), "generate", "--like", profile, "--seed", str(seed)]
            if size:
                command += ["--size", str(size)]
            with open(path + ".new", "wb") as file:
                subprocess.run(command, stdout=file, check=True)
            os.replace(path + ".new", path)
        return path

    def _find(self, name):
        """`name` is one of the paper's pages or of large/, or MODEL*N (N copies of its body), MODEL^N (N copies of
        all of it), MODEL@SIZE (generated with that many bytes), MODEL#SEED (generated), or a path."""
        folder = shared()
        if os.path.sep in name:
            return Page(os.path.basename(name), name if os.path.isabs(name) else os.path.join(ROOT, name), "given")
        if "*" in name:
            model, times = name.split("*")
            return self._duplicate(self.get(model), int(times))
        if "^" in name:
            model, times = name.split("^")
            return self._repeat(self.get(model), int(times))
        if "@" in name:
            model, size = name.split("@")
            return Page(name, self._generate(model, model, int(size), 1), "generated", "generated")
        if "#" in name:
            model, seed = name.split("#")
            return Page(name, self._generate(model, model, None, int(seed)), "generated", "generated")
        real = folder and next((path for part in ("paper", "large", "pages")
                                for path in [os.path.join(folder, "corpus", part, f"{name}.html")]
                                if os.path.exists(path)), None)
        if real:
            return Page(name, real, "collection", STAND_INS.get(name))
        model, size = GENERATED_LARGE.get(name, (name, None))
        return Page(name, self._generate(name, model, size, 7), "generated", "generated from its profile")

    def _duplicate(self, page, times):
        """The page with all between the end of its head and the end of its body there several times: Figure 12(b)."""
        path = os.path.join(cache(), f"{page.name}x{times}-{page.bytes}.html")
        if not os.path.exists(path):
            with open(page.path, "rb") as file:
                data = file.read()
            lower = data.lower()
            begin = lower.find(b"<body")
            begin = lower.find(b">", begin) + 1 if begin >= 0 else 0
            end = lower.rfind(b"</body")
            end = end if end > begin else len(data)
            with open(path + ".new", "wb") as file:
                file.write(data[:begin] + data[begin:end] * times + data[end:])
            os.replace(path + ".new", path)
        return Page(f"{page.name}*{times}", path, "made", page.stand_in)

    def _repeat(self, page, times):
        """The page several times, one after the other. The parser goes on in the body."""
        path = os.path.join(cache(), f"{page.name}^{times}-{page.bytes}.html")
        if not os.path.exists(path):
            with open(page.path, "rb") as file:
                data = file.read()
            with open(path + ".new", "wb") as file:
                for _ in range(times):
                    file.write(data)
            os.replace(path + ".new", path)
        return Page(f"{page.name}^{times}", path, "made", page.stand_in)

    def get(self, name):
        if name not in self.known:
            self.known[name] = self._find(name)
        return self.known[name]

    def names(self, group):
        if group == "paper":
            return list(PAPER)
        if group == "large":
            folder = shared()
            real = folder and os.path.isdir(os.path.join(folder, "corpus", "large"))
            return list(LARGE if real else GENERATED_LARGE)
        if group == "collection":
            folder = shared()
            pages = os.path.join(folder, "corpus", "pages") if folder else ""
            return sorted(name[:-5] for name in os.listdir(pages) if name.endswith(".html")) if os.path.isdir(pages) else []
        raise KeyError(group)


def manifest(known):
    return json.loads(json.dumps([page.record() for page in known.values()]))
