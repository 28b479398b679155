#!/usr/bin/python3
"""test.py [HPAR]: the runner and the report, on runs that were recorded and on commands that cost nothing."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0] = os.path.dirname(HERE)  # not this folder, which has an html of its own
import glob  # noqa: E402
import io  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import tarfile  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402
import zlib  # noqa: E402
from html.parser import HTMLParser  # noqa: E402
from lab import board, cells, data, describe, keep, machine, numbers, pages, paper, perform, sections, store  # noqa: E402

RECORDED = os.path.join(HERE, "recorded")
ROOT = os.path.dirname(os.path.dirname(HERE))
HPAR = os.path.abspath(sys.argv.pop(1)) if __name__ == "__main__" and len(sys.argv) > 1 else None


class Numbers(unittest.TestCase):
    def test_interval(self):
        value = numbers.value([10, 12, 14], min)
        self.assertAlmostEqual(value.mean, 12)
        self.assertAlmostEqual(value.high - value.mean, 4.303 * 2 / 3 ** 0.5, places=3)
        self.assertEqual(value.best, 10)
        self.assertIsNone(numbers.value([5]).low)

    def test_means(self):
        self.assertAlmostEqual(numbers.geometric([1, 4]), 2)
        mean = numbers.geometric([numbers.Value(2, 1.8, 2.2, 3), numbers.Value(2, 1.8, 2.2, 3)])
        self.assertAlmostEqual(mean.mean, 2)
        self.assertLess(mean.high - mean.mean, 0.2)
        # The means of the paper's bars: what it calls geometric is arithmetic.
        bars = data.PAPER["fig11"]["pages"].values()
        self.assertEqual(round(numbers.arithmetic(bars), 2), 1.73)
        self.assertEqual(round(numbers.geometric(bars), 2), 1.69)

    def test_overlap(self):
        a, b = numbers.Value(1.0, 0.9, 1.1), numbers.Value(1.2, 1.05, 1.35)
        self.assertTrue(numbers.overlap(a, b))
        self.assertFalse(numbers.overlap(a, numbers.Value(1.2)))
        self.assertTrue(numbers.overlap(numbers.Value(3), numbers.Value(3)))


class Cells(unittest.TestCase):
    def test_no_empty_cell(self):
        table = cells.Table("t", "T", ["page", "paper"])
        for empty in (None, ""):
            with self.assertRaises(ValueError):
                table.row("bbc", empty)
        with self.assertRaises(ValueError):
            table.row("bbc", "a", "b")

    def test_beside(self):
        self.assertEqual(cells.beside(2, numbers.Value(2.1), 0.1)[3], cells.AGREES)
        self.assertEqual(cells.beside(2, numbers.Value(2.5), 0.1)[3], cells.DIFFERS)
        self.assertEqual(cells.beside(2, numbers.Value(2.5, 1.9, 3.1), 0.1)[3], cells.AGREES)
        self.assertIn("2 cores", cells.beside(2, numbers.Value(2), why="2 cores")[3])
        self.assertEqual(cells.beside(None, numbers.Value(2))[0].reason, "not given")
        self.assertEqual(cells.beside(2, None)[3], cells.NOT_YET)


class Descriptions(unittest.TestCase):
    def test_every_one_is_complete(self):
        full = quick = 0
        for name in describe.names():
            description = describe.load(name)
            full += description["seconds"]["full"]
            quick += description["seconds"]["quick"]
            for file in ("README.md", "analysis.py"):
                self.assertTrue(os.path.exists(os.path.join(describe.FOLDER, name, file)), f"{name}/{file}")
            self.assertIn(name, sections.ORDER)
        self.assertLess(full, 3600)
        self.assertLess(quick, 180)

    def test_reproduce_builds_every_program(self):
        with open(os.path.join(ROOT, "scripts", "reproduce"), encoding="utf-8") as file:
            text = file.read()
        built = set(re.findall(r"hpar-[a-z-]+[a-z]", text.split("for target in")[0]))
        built |= {f"hpar-{name}" for name in re.search(r"hpar-\(([^)]*)\)", text)[1].split("|")}
        needs = {need.split()[1] for name in describe.names() for step in describe.load(name)["steps"] for need in step.get("needs", [])
                 if need.startswith("program hpar-")}
        self.assertEqual(needs - built, set())

    def test_combinations(self):
        with Experiment([{"id": "{b}.{a}", "each": {"a": 2, "b": ["x", "y"]}, "command": "/bin/echo {a} {b}",
                          "quick": {"a": 1}}]) as experiment:
            keys = [step.key for step in experiment.steps(False)]
            self.assertEqual(keys, ["x.0", "y.0", "x.1", "y.1"])
            self.assertEqual([step.key for step in experiment.steps(True)], ["x.0", "y.0"])
            self.assertEqual(experiment.steps(False)[3].command, ["/bin/echo", "1", "y"])

    def test_two_runs_of_one_name(self):
        with Experiment([{"id": "same", "each": {"a": 2}, "command": "/bin/echo"}]) as experiment:
            with self.assertRaises(describe.Wrong):
                experiment.steps(False)


class Experiment:
    """An experiment in a folder of its own."""

    def __init__(self, steps):
        self.description = {"title": "T", "seconds": {"quick": 1, "full": 1}, "steps": steps}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = store.Store(os.path.join(self.folder.name, "results"))
        os.makedirs(self.store.path)
        self.builds = describe.Builds({"hpar": self.folder.name, "O0": "/nowhere"})
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def steps(self, quick):
        return describe.steps("t", self.description, pages.Pages(self.folder.name), self.builds, quick, 2)

    def run(self, cool_down=None):
        """Once more, as another process would."""
        again = store.Store(self.store.path)
        self.said = io.StringIO()
        plans = [("t", self.steps(False))]
        return perform.perform(again, plans, {"t": 1}, self.builds, perform.Progress(plans, {"t": 1}, self.said), cool_down)

    def records(self):
        return store.Store(self.store.path).runs("t")


class Runner(unittest.TestCase):
    def setUp(self):
        self.stderr, sys.stderr = sys.stderr, io.StringIO()

    def tearDown(self):
        sys.stderr = self.stderr

    def test_runs_are_kept(self):
        with Experiment([{"id": "{n}", "each": {"n": 3}, "command": "/bin/echo {{\"n\":{n}}}"}]) as experiment:
            self.assertEqual(experiment.run(), 0)
            records = experiment.records()
            self.assertEqual([record["output"] for record in records], [{"n": 0}, {"n": 1}, {"n": 2}])
            self.assertTrue(all(len(record["load"]) == 3 and record["exit"] == 0 for record in records))
            self.assertIn("about", experiment.said.getvalue())

    def test_goes_on_after_being_killed(self):
        steps = [{"id": "{n}", "each": {"n": 4}, "command": "/bin/echo {n}"}]
        with Experiment(steps) as experiment:
            experiment.description["steps"][0]["each"]["n"] = 2
            experiment.run()
            path = experiment.store.file("t", store.RUNS)
            with open(path, "a", encoding="utf-8") as file:  # a line that was being written
                file.write('{"step": "2", "outp')
            experiment.description["steps"][0]["each"]["n"] = 4
            experiment.run()
            records = experiment.records()
            self.assertEqual([record["step"] for record in records], ["0", "1", "2", "3"])
            self.assertEqual(store.Store(experiment.store.path).damage(), [])

    def test_killed_process_goes_on(self):
        with Experiment([{"id": "{n}", "each": {"n": 6}, "command": "/bin/sleep 0.{n}"}]) as experiment:
            code = ("import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])\n"
                    "from lab.test import Experiment\nimport json\n"
                    "e = Experiment(json.loads(sys.argv[2])); e.__enter__(); e.store.path = sys.argv[3]; e.run()\n")
            process = subprocess.Popen([sys.executable, "-c", code, os.path.dirname(HERE),
                                        json.dumps(experiment.description["steps"]), experiment.store.path])
            for _ in range(200):
                if len(experiment.records()) >= 2:
                    break
                subprocess.run(["sleep", "0.05"], check=True)
            process.kill()
            process.wait()
            before = experiment.records()
            self.assertIn(len(before), range(2, 6))
            experiment.run()
            after = experiment.records()
            self.assertEqual(after[:len(before)], before)
            self.assertEqual(sorted(record["step"] for record in after), list("012345"))

    def test_failures_and_limits(self):
        with Experiment([{"id": "fails", "command": "/bin/false"},
                         {"id": "hangs", "command": "/bin/sleep 9", "seconds": 0.2},
                         {"id": "may fail", "command": "/bin/false", "fails": True},
                         {"id": "needs", "command": "/bin/echo", "needs": ["program no-such-program"]}]) as experiment:
            self.assertEqual(experiment.run(), 2)
            found = {record["step"]: record for record in experiment.records()}
            self.assertIn("exit status 1", found["fails"]["failure"])
            self.assertIn("stopped", found["hangs"]["failure"])
            self.assertNotIn("failure", found["may fail"])
            self.assertEqual(found["needs"]["skipped"], "no-such-program is not installed")
            self.assertEqual(experiment.run(), 2)  # failures are tried again, the rest is not
            self.assertEqual([record["step"] for record in experiment.records()].count("may fail"), 1)
            self.assertEqual([record["step"] for record in experiment.records()].count("needs"), 1)

    def test_edited_by_hand(self):
        with Experiment([{"id": "{n}", "each": {"n": 2}, "command": "/bin/echo {n}"}]) as experiment:
            experiment.run()
            path = experiment.store.file("t", store.RUNS)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace('"output":1', '"output":7'))
            again = store.Store(experiment.store.path)
            self.assertEqual(len(again.damage()), 1)
            with self.assertRaises(store.Damaged):
                again.check()
            os.remove(path)
            self.assertIn("missing", again.damage()[0])


    def test_packed(self):
        """A packed run has the same records and hashes, a changed one is found, and a later line unpacks it."""
        with Experiment([{"id": "{n}", "each": {"n": 2}, "command": "/bin/echo {n}"}]) as experiment:
            experiment.run()
            path, records = experiment.store.file("t", store.RUNS), experiment.records()
            store.Store(experiment.store.path).pack()
            self.assertFalse(os.path.exists(path))
            packed = store.Store(experiment.store.path)
            self.assertEqual((packed.runs("t"), packed.damage()), (records, []))
            with open(path + store.PACKED, "rb") as file:
                data = file.read()
            for damaged in data[:-9], data[:20] + b"x" + data[21:]:
                with open(path + store.PACKED, "wb") as file:
                    file.write(damaged)
                self.assertEqual(len(packed.damage()), 1)
            with open(path + store.PACKED, "wb") as file:
                file.write(data)
            packed.append("t", records[0])
            again = store.Store(experiment.store.path)
            self.assertEqual((again.runs("t"), again.damage()), ([*records, records[0]], []))
            again.drop("t")
            self.assertEqual((again.experiments(), os.path.exists(os.path.dirname(path))), ([], False))


class Kept(unittest.TestCase):
    """The runs in results/."""

    def test_unchanged(self):
        runs = glob.glob(os.path.join(ROOT, "results", "*", "*", "run.json"))
        for path in runs:
            self.assertEqual(store.Store(os.path.dirname(path)).damage(), [], path)

    def test_listed(self):
        """results/README.md has the table of the runs, and the report has each run that results/current lists."""
        with open(os.path.join(ROOT, "results", "README.md"), encoding="utf-8") as file:
            self.assertIn(keep.listing(ROOT), file.read())
        for folder in store.current(ROOT):
            self.assertTrue(os.path.exists(os.path.join(folder, "run.json")), folder)

    def test_what_is_not_kept(self):
        """A run is kept if it has ended, has one commit of clean sources, and each command gave a result."""
        with Experiment([{"id": "a", "command": "/bin/false"}, {"id": "b", "command": "/bin/true"}]) as experiment:
            experiment.run()
            about = {"quick": False, "commit": "1", "ended": "now", "sessions": [{"commit": "1"}]}
            for change, words in (({}, []), ({"quick": True}, ["quick"]), ({"ended": None}, ["ended"]), ({"commit": "2"}, ["more than one"]),
                                  ({"commit": "1-dirty", "sessions": []}, ["differed"])):
                store.Store(experiment.store.path).put("run.json", {**about, **change})
                found = [line for line in keep.lacks(store.Store(experiment.store.path)) if not line.endswith(": no result")]
                self.assertEqual([line for line in found if line.startswith("t: ")], ["t: a: exit status 1"])
                others = [line for line in found if not line.startswith("t: ")]
                self.assertEqual([word in line for word, line in zip(words, others, strict=True)], [True] * len(words))

    def test_small(self):
        """The files that git has are at most 3 MB."""
        done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "results"], capture_output=True, text=True, check=False)
        names = [name for name in done.stdout.split("\0") if name and os.path.exists(os.path.join(ROOT, name))]
        if not names:
            self.skipTest("no git checkout")
        self.assertLessEqual(sum(os.path.getsize(os.path.join(ROOT, name)) for name in names), 3_000_000)


class Tags(HTMLParser):
    """Tags that do not match, and ids that come twice."""
    VOID = {"meta", "img", "br", "link"}

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.results = os.path.join(cls.folder, "results")
        shutil.copytree(RECORDED, cls.results)
        cls.out = os.path.join(cls.results, "report")
        subprocess.run([os.path.join(ROOT, "scripts", "report"), cls.results, "--out", cls.out], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def test_every_experiment_is_there(self):
        text, markdown = self.read("report.html"), self.read("report.md")
        for name in describe.names():
            self.assertIn(f'<section id="{name}">', text)
            self.assertIn(f"`{name}`", markdown)

    def test_summary(self):
        text = self.read("report.html")
        opening = text[text.index('<section class="summary"'):text.index("</section>")]
        self.assertIn("speed-up on the paper", opening)
        self.assertEqual(opening.count("<img "), 1)  # the recorded runs have neither peers nor projections
        self.assertLess(text.index('<section class="summary"'), text.index("Machine and run"))

    def test_nothing_ends_the_report(self):
        def fails(_):
            raise ZeroDivisionError("no pages")
        missed = cells.Section(cells.MISSES, "w")
        original, sections._analysis = sections._analysis, lambda name: fails if name == "table1-parse-share" else lambda data: missed
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            parts = [part.section for part in sections.make(RECORDED)[0] if part.section.verdict != cells.NOT_YET]
            self.assertIn("table1-parse-share: the analysis failed: ZeroDivisionError", sys.stderr.getvalue())
        finally:
            sections._analysis, sys.stderr = original, stderr
        self.assertEqual({part.verdict for part in parts}, {cells.MISSES, cells.CANNOT})
        self.assertEqual({part.reason for part in parts if part.verdict == cells.MISSES}, {sections.UNKNOWN})

    def test_no_empty_cell(self):
        text = self.read("report.html")
        self.assertNotRegex(text, r"<td[^>]*>\s*</td>")
        for line in self.read("report.md").splitlines():
            if line.startswith("| ") and "| --- |" not in line and line != "| | |":
                self.assertNotIn("|  |", line)

    def test_html_is_sound(self):
        tags = Tags()
        tags.feed(self.read("report.html"))
        self.assertEqual(tags.wrong, [])
        self.assertEqual(tags.open, [])
        self.assertEqual(len(tags.ids), len(set(tags.ids)))
        self.assertNotRegex(self.read("report.html"), r'(src|href)="(https?:)?//')

    def test_html_is_valid(self):
        try:
            import html5lib
        except ImportError:
            self.skipTest("html5lib not found (Debian: python3-html5lib)")
        parser = html5lib.HTMLParser(strict=False)
        parser.parse(self.read("report.html"))
        self.assertEqual(parser.errors, [])

    def test_hpar_parses_it(self):
        if not HPAR:
            self.skipTest("no hpar given")
        path = os.path.join(self.out, "report.html")
        done = subprocess.run([HPAR, "compare", "--json", "--repeat", "1", path], stdout=subprocess.PIPE, check=True)
        self.assertTrue(json.loads(done.stdout)["pages"][0]["equal"])
        done = subprocess.run([HPAR, "parse", "--errors", "--format", "none", path], stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stderr, "")

    def test_figures_come_from_the_runs(self):
        youtube = [record for record in store.Store(RECORDED).runs("fig11-speedup") if record["variables"]["page"] == "youtube"]
        mean = sum(record["output"]["pages"][0]["modes"]["parallel"]["speedup_median"] for record in youtube) / len(youtube)
        row = next(line for line in self.read("report.md").splitlines() if line.startswith("| youtube | 121"))
        self.assertIn(f"{mean:.2f}", row)
        self.assertIn("1.47", row)

    def test_marks(self):
        markdown = self.read("report.md")
        self.assertRegex(markdown, r"facebook \(\d\)")  # a stand-in
        self.assertIn("not yet", markdown)
        self.assertIn("Not the paper's page", markdown)

    def test_example_of_list(self):
        self.assertIn("root(^item list(item(Red Sea) item(Black Sea)) ^list ^list)", self.read("report.html"))

    def test_latex(self):
        names = os.listdir(os.path.join(self.out, "tables"))
        self.assertIn("values.tex", names)
        for name in names:
            text = self.read(os.path.join("tables", name))
            self.assertEqual(text.count("{") - text.count("\\{"), text.count("}") - text.count("\\}"), name)
        text = self.read("paper.tex")
        self.assertLessEqual(set(re.findall(r"\\hptable\{([^}]+)\}", text)), {name[:-4] for name in names})
        macros = set(re.findall(r"\\newcommand\{\\(hp\w+)\}", self.read("tables/values.tex")))
        self.assertLessEqual(set(re.findall(r"\\(hp[A-Z]\w*)", text)), macros)

    def test_plots_of_the_paper_are_grey(self):
        names = [name for name in os.listdir(os.path.join(self.out, "plots")) if name.endswith(".pdf")]
        self.assertTrue(names)
        for name in names:
            with open(os.path.join(self.out, "plots", name), "rb") as file:
                streams = re.findall(rb"stream\r?\n(.*?)endstream", file.read(), re.S)
            colours = set()
            for stream in streams:
                try:
                    text = zlib.decompress(stream.strip(b"\r\n")).decode("latin-1")
                except zlib.error:
                    continue
                colours |= set(re.findall(r"([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\b", text))
            self.assertTrue(colours, name)
            self.assertEqual({colour for colour in colours if len(set(colour)) > 1}, set(), name)

    def test_values_of_the_paper(self):
        parts, _, _ = sections.make(RECORDED)
        found = paper.Found(parts)
        mean = next(part for part in parts if part.name == "fig11-speedup").section.parts[0].rows[-2][1][4]
        self.assertEqual(paper.number(found.cell("fig11-speedup/geometric-mean/hpar"), "hpv"), f"{mean.value.mean:.2f}")
        self.assertIn("±", paper.number(found.cell("fig11-speedup/geo*/hpar"), "hpci"))
        self.assertEqual(paper.of_paper("fig11/max/value"), "2.4")
        largest = found.cell("max:fig11-speedup/*/hpar").value.mean
        rows = next(part for part in parts if part.name == "fig11-speedup").section.parts[0].rows
        self.assertEqual(largest, max(row[4].value.mean for label, row, _ in rows if not label.endswith("mean")))
        for key in ("nothing/a/b", "fig11-speedup/nothing/hpar", "fig11-speedup/youtube/nothing", "fig11-speedup/nothing", "fig11-speedup"):
            with self.assertRaises(paper.NoValue):
                found.cell(key)
        with self.assertRaises(paper.NoValue):
            paper.of_paper("fig11/nothing")
        lines, missing = paper.values(found, r"\hpv{fig11-speedup/geometric-mean/hpar} \hpp{fig11/max/value} \hpv{nothing/a/b}")
        self.assertEqual(len(lines), 3)
        self.assertEqual(len(missing), 1)
        self.assertEqual(sum(r"\hpmissing" in line for line in lines), 1)

    def test_a_report_of_two_runs(self):
        empty = os.path.join(self.folder, "empty")
        other = store.Store(empty)
        os.makedirs(empty)
        with open(os.path.join(RECORDED, "run.json"), encoding="utf-8") as file:
            other.put("run.json", json.load(file))
        alone = {part.name: part.section.verdict for part in sections.make(empty)[0]}
        self.assertEqual(set(alone.values()), {cells.NOT_YET})
        both = {part.name: (part.section.verdict, part.folder) for part in sections.make(empty, others=[RECORDED])[0]}
        self.assertEqual(both["fig11-speedup"][1], RECORDED)
        self.assertNotEqual(both["fig11-speedup"][0], cells.NOT_YET)

    def test_same_results_same_report(self):
        out = os.path.join(self.folder, "again")
        subprocess.run([os.path.join(ROOT, "scripts", "report"), self.results, "--out", out], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for name in ("report.html", "report.md"):
            with open(os.path.join(out, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), self.read(name))

    def test_a_run_overlaps_itself(self):
        share, _ = sections.overlap(self.results, self.results)
        self.assertEqual(share, 1)

    def test_edited_results_make_no_report(self):
        edited = os.path.join(self.folder, "edited")
        shutil.copytree(RECORDED, edited)
        path = os.path.join(edited, "machine.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("EPYC", "EPIC"))
        done = subprocess.run([os.path.join(ROOT, "scripts", "report"), edited], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("machine.json", done.stderr)


def varied(value, factor, key=""):
    """An output with all times and ratios multiplied."""
    if isinstance(value, dict):
        return {name: varied(part, factor, name) for name, part in value.items()}
    if isinstance(value, list):
        return [varied(part, factor, key) for part in value]
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and "ns" in key.split("_")):
        return type(value)(value * factor)
    return value


class OtherMachines(unittest.TestCase):
    """Each analysis, on the newest recorded run of its experiment as other machines might have measured it."""

    def sections_of(self, change, machine_of=None):
        newest = {}
        for path in [RECORDED, *sorted(os.path.dirname(path) for path in glob.glob(os.path.join(ROOT, "results", "*", "*", "run.json")))]:
            runs = store.Store(path)
            newest.update({name: runs for name in runs.experiments()})
        for name in set(newest) & set(describe.names()):
            described = newest[name].get("machine.json") if machine_of is None else machine_of
            for records in change(newest[name].runs(name)):
                found = data.Data(name, records, described)
                if found.ran():
                    sections._analysis(name)(found)

    def test_slow_and_fast(self):
        for factor in (0.1, 10):
            self.sections_of(lambda records, factor=factor: [[{**one, "output": varied(one.get("output"), factor)} for one in records]])

    def test_unknown_machine(self):
        for described in ({}, {"cpu": "other", "cores": 64}):
            self.sections_of(lambda records: [records], described)

    def test_missing_runs(self):
        def without(records):
            for gap in range(0, len(records), max(1, len(records) // 5)):
                yield records[:gap] + records[gap + 1:]
                yield [{**one, "skipped": "not installed"} if at == gap else one for at, one in enumerate(records)]
                yield [{**one, "failure": "exit status 1"} if at >= gap else one for at, one in enumerate(records)]
        self.sections_of(without)


class Board(unittest.TestCase):
    """A system of files: two kinds of cores, a thermal zone, a cooling device, and vcgencmd."""

    def setUp(self):
        self.stderr, sys.stderr = sys.stderr, io.StringIO()
        self.folder = tempfile.TemporaryDirectory()
        os.environ["HPAR_SYSTEM_ROOT"] = self.folder.name
        for policy, cpus, governor in ((0, "0-1", "ondemand"), (2, "2-3", "schedutil")):
            home = f"{board.CPUS}/cpufreq/policy{policy}"
            self.put(f"{home}/related_cpus", cpus)
            self.put(f"{home}/scaling_governor", governor)
            self.put(f"{home}/scaling_available_governors", "ondemand performance")
            self.put(f"{home}/scaling_max_freq", 1800000 + 600000 * (policy > 0))
            self.put(f"{home}/scaling_cur_freq", 600000)
        for cpu in range(4):
            self.put(f"{board.CPUS}/cpu{cpu}/cpu_capacity", 446 if cpu < 2 else 1024)
            self.put(f"{board.CPUS}/cpu{cpu}/regs/identification/midr_el1", "0x00000000412fd050" if cpu < 2 else "0x00000000414fd0b1")
        self.put("/sys/class/thermal/thermal_zone0/type", "soc")
        self.put("/sys/class/thermal/thermal_zone0/temp", 48000)
        self.put("/sys/class/thermal/thermal_zone10/temp", 41000)
        self.put("/sys/class/thermal/cooling_device0/type", "cpufreq-cpu0")
        self.put("/sys/class/thermal/cooling_device0/cur_state", 0)
        self.put("/sys/class/thermal/cooling_device1/type", "pwm-fan")
        self.put("/sys/class/thermal/cooling_device1/cur_state", 3)
        self.put("/sys/bus/event_source/devices/armv8_cortex_a55/cpus", "0-1")
        self.put("/sys/bus/event_source/devices/armv8_cortex_a76/cpus", "2-3")
        self.put("/sys/bus/event_source/devices/software/type", 1)
        self.put("/proc/sys/kernel/perf_event_paranoid", 4)
        self.put("/proc/swaps", "Filename Type Size Used Priority\n/dev/zram0 partition 1 0 5")
        self.bits(0)

    def tearDown(self):
        sys.stderr = self.stderr
        del os.environ["HPAR_SYSTEM_ROOT"]
        self.folder.cleanup()

    def put(self, path, value):
        path = self.folder.name + path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{value}\n")
        return path

    def bits(self, bits):
        os.chmod(self.put("/usr/bin/vcgencmd", f"#!/bin/sh\necho throttled={bits:#x}"), 0o755)

    def test_machine(self):
        about = machine.describe({"hpar": self.folder.name})["board"]
        self.assertEqual([(one["name"], one["cpus"], one["governor"], one["max_khz"]) for one in about["policies"]],
                         [("policy0", "0-1", "ondemand", 1800000), ("policy2", "2-3", "schedutil", 2400000)])
        self.assertEqual(about["capacity"], {"0": 446, "1": 446, "2": 1024, "3": 1024})
        self.assertEqual(about["midr"]["3"], "0x414fd0b1")
        self.assertEqual(about["cores"], "2 Cortex-A55, 2 Cortex-A76")
        self.assertEqual(about["pmus"], {"armv8_cortex_a55": "0-1", "armv8_cortex_a76": "2-3"})
        self.assertEqual(about["page_bytes"], os.sysconf("SC_PAGE_SIZE"))
        self.assertEqual([zone["type"] for zone in about["thermal_zones"]], ["soc", None])
        self.assertEqual(about["throttling"], {"now": [], "since_start": []})
        self.assertEqual(about["swap"], ["/dev/zram0"])
        self.assertEqual(about["cooling"], {"cooling_device0": 0})
        self.bits(0x50005)
        self.assertEqual(board.describe()["throttling"], {"now": ["under-voltage", "throttled"], "since_start": ["under-voltage", "throttled"]})

    def test_a_system_that_shows_nothing(self):
        os.environ["HPAR_SYSTEM_ROOT"] = os.path.join(self.folder.name, "nothing")
        about = board.describe()
        self.assertEqual((about["policies"], about["capacity"], about["cores"], about["throttling"]), ([], {}, None, None))
        self.assertIsNone(board.celsius())
        self.assertEqual(board.throttling(board.state(), board.state()), [])
        self.assertFalse(board.is_shown(board.state()))
        self.assertEqual(board.wait_until_cool(self.fail, self.fail), 0)

    def test_signs_of_throttling(self):
        quiet = board.state()
        self.assertTrue(board.is_shown(quiet))
        self.assertEqual(board.throttling(quiet, quiet), [])
        old = dict(quiet, pi_bits=0x40000)  # throttled long ago: no sign
        self.assertEqual(board.throttling(old, old), [])
        self.assertEqual(board.throttling(quiet, old), ["throttled during the run"])
        self.assertEqual(board.throttling(quiet, dict(quiet, pi_bits=0x80008)),
                         ["temperature limit after the run", "temperature limit during the run"])
        self.assertEqual(board.throttling(dict(quiet, pi_bits=1), quiet), ["under-voltage before the run"])
        self.assertEqual(board.throttling(quiet, dict(quiet, cooling={"cooling_device0": 2})),
                         ["cooling_device0 slows the processor after the run"])
        self.assertEqual(board.throttling(dict(quiet, throttle_counts=3), dict(quiet, throttle_counts=3)), [])
        self.assertEqual(len(board.throttling(dict(quiet, throttle_counts=3), dict(quiet, throttle_counts=4))), 1)

    def test_a_throttled_run_is_invalid(self):
        level = "/sys/class/thermal/cooling_device0/cur_state"
        throttle = self.put("/throttle.sh", f"echo 2 >{self.folder.name}{level}")
        with Experiment([{"id": "one", "command": f"/bin/sh {throttle}"}]) as experiment:
            self.assertEqual(experiment.run(), 1)
            record = experiment.records()[-1]
            self.assertIn("cooling_device0", record["invalid"])
            self.assertEqual(record["board"]["after"]["celsius"], 48)
            found = data.Data("x", experiment.records(), {})
            self.assertEqual(found.ran(), [])
            self.assertIn("throttled", found.why_not())
            self.put(level, 0)
            self.put("/throttle.sh", "echo good")
            self.assertEqual(experiment.run(), 0)  # once more, because the first run was invalid
            self.assertEqual(experiment.run(), 0)
            self.assertEqual(len(experiment.records()), 2)
            self.assertEqual(len(data.Data("x", experiment.records(), {}).ran()), 1)

    def test_a_pause(self):
        zone = "/sys/class/thermal/thermal_zone0/temp"
        said, waits = [], []

        def cool(seconds):
            waits.append(seconds)
            self.put(zone, 80000 - 5000 * len(waits))

        self.assertEqual(board.wait_until_cool(said.append, cool), 0)
        self.put(zone, 74900)
        self.assertEqual(board.wait_until_cool(said.append, cool), 0)
        self.put(zone, 80000)
        self.assertEqual(board.wait_until_cool(said.append, cool), 3 * board.PAUSE)
        self.assertEqual((len(said), len(waits)), (1, 3))
        self.put(zone, 90000)
        with self.assertRaises(board.Hot):
            board.wait_until_cool(said.append, lambda seconds: None)

    def test_each_step_waits(self):
        with Experiment([{"id": "{a}", "each": {"a": 3}, "command": "/bin/echo {a}"}]) as experiment:
            pauses = []
            experiment.run(lambda: pauses.append(len(experiment.records())))
            self.assertEqual(pauses, [0, 1, 2])


class Bundle(unittest.TestCase):
    def test_one_archive(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "pi", "2026-01-01-abc")
            shutil.copytree(RECORDED, run)
            command = [os.path.join(ROOT, "scripts", "report"), run, "--bundle"]
            archives = []
            for _ in range(2):
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                with open(run + ".tar.gz", "rb") as file:
                    archives.append(file.read())
            self.assertEqual(archives[0], archives[1])
            with tarfile.open(run + ".tar.gz") as archive:
                names = archive.getnames()
                home = "hpar-pi-2026-01-01-abc"
                for name in ("machine.json", "index.json", "run.json", "fig11-speedup/runs.jsonl", "report/report.html", "report/report.md"):
                    self.assertIn(f"{home}/{name}", names)
                archive.extractall(folder)
            self.assertEqual(store.Store(os.path.join(folder, home)).damage(), [])


class Corpus(unittest.TestCase):
    def test_generated_pages(self):
        if not HPAR:
            self.skipTest("no hpar given")
        corpus = os.path.join(os.path.dirname(HPAR), "hpar-corpus")
        for name in pages.PAPER:
            profile = os.path.join(ROOT, "corpus", "profiles", f"{name}.json")
            command = [corpus, "generate", "--like", profile, "--size", "40K", "--seed", "7"]
            first, second = (subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout for _ in range(2))
            self.assertEqual(first, second)
            self.assertGreaterEqual(len(first), 40 << 10)
            self.assertNotEqual(first, subprocess.run([*command[:-1], "8"], stdout=subprocess.PIPE, check=True).stdout)
            first.decode()

    def test_bad_profiles(self):
        if not HPAR:
            self.skipTest("no hpar given")
        corpus = os.path.join(os.path.dirname(HPAR), "hpar-corpus")
        with open(os.path.join(ROOT, "corpus", "profiles", "bbc.json"), encoding="utf-8") as file:
            text = file.read()
        stream = re.search(r'"stream": \[(.*)\]', text)[1]
        wrong_streams = [text.replace(stream, wrong) for wrong in ("", "-1", "5", "0", "3,1,99", "99999998", "100005,1", '"x"', f"{stream},7,1")]
        for wrong in ("", "{}", "[1", text[:2000], '{"tags": 3}', "[" * 100000, text.replace('"body": ', '"body": 99999'), *wrong_streams):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(wrong)
                file.flush()
                done = subprocess.run([corpus, "generate", "--like", file.name], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, check=False)
                self.assertEqual(done.returncode, 1, wrong[:40])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:  # a body without text ends
            file.write(re.sub(r'"body": \d+', '"body": 0', text.replace(stream, "2")))
            file.flush()
            subprocess.run([corpus, "generate", "--like", file.name, "--size", "40K"], stdout=subprocess.DEVNULL, check=True, timeout=20)

    def test_manifest(self):
        with open(os.path.join(ROOT, "corpus", "manifest.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        self.assertEqual(rows[0], ["name", "size", "origin", "licence", "sha256"])
        self.assertTrue(all(len(row) == 5 and re.fullmatch("[0-9a-f]{64}", row[4]) for row in rows[1:]))
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        self.assertLessEqual(set(pages.PAPER), {row[0] for row in rows})


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
