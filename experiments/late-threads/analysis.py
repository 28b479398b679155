"""Parses whose second thread sleeps for 100 ms at one place of the text."""
from lab import draw
from lab.cells import MEETS, MISSES, Missing, Number, Plot, Section, Table

MEDIAN, TAIL, LONGEST = range(3)
AIM_NS = 500000
TIMES = ["median, ms", "95th percentile, ms", "longest, ms", "sequential: 95th percentile, ms", "longest, ms "]
NAMES = {"chain": "merged as a chain", "tree": "merged as a tree", "auto": "automatic mode"}
STATES = {"first": "no late thread before", "again": "after a late thread", "tree": "merge tree", "auto": "automatic mode",
          "cold": "memory of parallel parses", "fresh": "new memory"}
AIMED = {"first", "again", "tree", "auto"}  # the others have the noise of page faults
WORST = 12
START = -2  # the slice of a sleep before the first chunk; -1: the place is in the text


# Parses of many places, each with several repetitions.

class Place:
    """`excess`, `processor` and `control` have the excess of the shortest and of the median parse: with a sleep, the same in the
    processor time of the calling thread, and sequential."""

    def __init__(self, page, row):
        self.page, self.length, self.row = page["page"], page["length"], row
        self.excess = [row[f"late_{what}"] - row[f"sequential_{what}"] for what in ("shortest", "median")]
        self.processor = [row[f"late_processor_{what}"] - row[f"sequential_processor_{what}"] for what in ("shortest", "median")]
        self.control = [row[f"control_{what}"] - row[f"sequential_{what}"] for what in ("shortest", "median")]

    def name(self):
        if self.row["slice"] == START:
            return f"{self.page}, before the first chunk"
        where = f"slice {self.row['slice']}" if self.is_slice() else f"{100 * self.row['offset'] / self.length:.1f}% of the text"
        return f"{self.page}, {where}"

    def is_slice(self):
        return self.row["slice"] >= 0


def places_of(record):
    """The places of each page at which the thread slept in most repetitions."""
    output = record["output"]
    for page in output["pages"]:
        rows = [dict(zip(output["columns"], row)) for row in page["places"]]
        yield page["page"], [Place(page, row) for row in rows if 2 * row["parses"] > output["repetitions"]]


def within(places, of, what):
    return sum(getattr(place, of)[what] <= AIM_NS for place in places)


def share(places, of, what):
    return Number(100 * within(places, of, what) / len(places), "%", 2)


def microseconds(nanoseconds):
    return Number(nanoseconds / 1e3, "us", 0)


def page_table(state, pages):
    table = Table(f"late-places-{state}", f"Excess over sequential parses in us: {STATES[state]}",
                  ["page", "sequential, ms", "places", "shortest: median", "largest", "median parses: median", "largest ",
                   "sequential: largest", "processor time: largest", "shortest at most 0.5 ms, %", "medians at most 0.5 ms, %"],
                  "Shortest and median of the parses of one place. \"Sequential\" compares sequential parses with others. The processor time is "
                  "that of the calling thread, in the shortest parses.")
    for page, places in pages:
        if not places:
            table.row(page, *[Missing("no thread slept")] * 10)
            continue
        excess = [sorted(place.excess[what] for place in places) for what in range(2)]
        table.row(page, Number(min(place.row["sequential_shortest"] for place in places) / 1e6, "ms", 3), Number(len(places), "", 0),
                  *(microseconds(one) for numbers in excess for one in (numbers[len(numbers) // 2], numbers[-1])),
                  microseconds(max(place.control[1] for place in places)), microseconds(max(place.processor[0] for place in places)),
                  share(places, "excess", 0), share(places, "excess", 1))
    return table


def worst_table(state, places):
    table = Table(f"late-worst-{state}", f"The places with the largest excess in us: {STATES[state]}",
                  ["place", "shortest", "median", "sequential: shortest", "waiting", "end", "rest", "page faults"],
                  "The parts are those of the shortest parse. The end is its wait for the other thread at its end. The rest is its own parse of "
                  "that thread's text.")
    for place in sorted(places, key=lambda place: -place.excess[0])[:WORST]:
        row = place.row
        table.row(place.name(), *(microseconds(one) for one in (place.excess[0], place.excess[1], place.control[0], row["wait"], row["end"],
                                                                place.excess[0] - row["wait"] - row["end"])),
                  Number(row["page_faults"], "", 0))
    return table


def place_plot(state, pages):
    def show(figure):
        axes = figure.subplots()
        groups = {"text, median": [], "text, shortest": [], "slices, shortest": []}
        for _, places in pages:
            for place in places:
                if place.is_slice():
                    groups["slices, shortest"].append((100, place.excess[0]))
                    continue
                at = min(100, 100 * place.row["offset"] / place.length)  # decoded text may be longer than the input
                groups["text, shortest"].append((at, place.excess[0]))
                groups["text, median"].append((at, place.excess[1]))
        for i, (name, points) in enumerate(groups.items()):
            axes.plot([x for x, _ in points], [y / 1e6 for _, y in points], linestyle="", marker=draw.MARKS[i], markersize=2.5,
                      color=draw.COLOURS[i], alpha=0.6, label=name, rasterized=True)
        axes.axhline(AIM_NS / 1e6, color="black", linewidth=0.8, linestyle=":")
        axes.set_xlabel("place of the sleep, % of the text (slices at the right)")
        axes.set_ylabel("excess, ms")
        draw.legend(axes)

    return Plot(f"late-places-{state}", f"Excess by place: {STATES[state]}", "The dotted line is the aim.", show)


def add_places(result, state, record):
    """Returns the place with the largest excess of shortest parses, if that is above the aim."""
    pages = list(places_of(record))
    places = [place for _, of_page in pages for place in of_page]
    if not places:
        return None
    result.add(page_table(state, pages))
    result.add(worst_table(state, places))
    result.add(place_plot(state, pages))
    result.fact(f"{state}: places", Number(len(places), "", 0))
    for what, name in enumerate(("shortest", "medians")):
        result.fact(f"{state}: {name} within 0.5 ms, %", share(places, "excess", what))
        result.fact(f"{state}: processor time, {name} within 0.5 ms, %", share(places, "processor", what))
    worst = max(places, key=lambda place: place.excess[0])
    result.why += (f"{STATES[state]}: the shortest parses of {within(places, 'excess', 0)} of {len(places)} places and the medians of "
                   f"{within(places, 'excess', 1)} end in time, and by processor time {within(places, 'processor', 0)} and "
                   f"{within(places, 'processor', 1)}; ")
    return worst if worst.excess[0] > AIM_NS else None


# Each user of threads.


def excesses(record, over, of="late"):
    """By place: how much longer the shortest call of a kind takes than the longest of the shortest calls `over`, in ns."""
    output = record["output"]
    rows = [dict(zip(output["columns"], row)) for page in output["pages"] for row in page["places"]]
    return sorted(row[of] - max(row[kind] for kind in over) for row in rows)


def within_aim(times):
    return Number(100 * sum(one <= AIM_NS for one in times) / len(times), "%", 1)


def user_table(records):
    table = Table("late-users", "Calls whose second thread sleeps for 10 ms, by user of threads",
                  ["user", "places", "at most 0.5 ms after one or two threads, %", "after two threads, %", "control, %",
                   "median, ms", "95th percentile, ms", "longest, ms", "load"],
                  "The time after the slower one of two calls without a sleep: on one thread and on two. The control is a second call on one "
                  "thread, after the first. The load is that of the machine, as a mean of a minute.")
    for user, record in records.items():
        both, two = excesses(record, ["alone", "together"]), excesses(record, ["together"])
        has_control = "again" in record["output"]["columns"]
        table.row(user, Number(len(both), "", 0), within_aim(both), within_aim(two),
                  within_aim(excesses(record, ["alone"], "again")) if has_control else Missing("an older run"),
                  *(Number(both[int(share_of * (len(both) - 1))] / 1e6, "ms", 3) for share_of in (0.5, 0.95, 1)),
                  Number(record["output"]["load"][0], "", 1))
    return table


def copy_table(record):
    table = Table("late-copies", "What a copy of the input would cost a rewrite on two threads",
                  ["page", "rewrite, us", "memcpy, %", "copy by the kernel, %"],
                  "Shortest times, in the same run. A late thread may read bytes that the caller has freed only through the kernel.")
    for page in record["output"]["pages"]:
        together = min(row[record["output"]["columns"].index("together")] for row in page["places"])
        table.row(page["page"], microseconds(together), Number(100 * page["copy"] / together, "%", 1),
                  Number(100 * page["kernel_copy"] / together, "%", 1) if page["kernel_copy"] else Missing("the system refuses it"))
    return table


def user_plot(records):
    def show(figure):
        axes = figure.subplots()
        for i, (user, record) in enumerate(records.items()):
            times = excesses(record, ["alone", "together"])
            axes.plot([max(0.001, one / 1e6) for one in times], [100 * (k + 1) / len(times) for k in range(len(times))],
                      color=draw.COLOURS[i % len(draw.COLOURS)], label=user)
        axes.axvline(AIM_NS / 1e6, color="black", linewidth=0.8, linestyle=":")
        axes.set_xscale("log")
        axes.set_xlabel("time after the slower of one and two threads, ms (0.001: none)")
        axes.set_ylabel("places, %")
        draw.legend(axes)

    return Plot("late-users", "Delay by a late thread, by user", "The dotted line is the aim.", show)


def add_users(result, data):
    """Returns the users that miss the aim at more than 1% of the places."""
    records = {user: record for user in data.values("user") for record in data.ran(user=user)
               if any(page["places"] for page in record["output"]["pages"])}
    if not records:
        return []
    result.add(user_table(records))
    result.add(user_plot(records))
    if "rewriter" in records:
        result.add(copy_table(records["rewriter"]))
    missed = []
    for user, record in records.items():
        times = excesses(record, ["alone", "together"])
        found = within_aim(times)
        result.fact(f"{user}: places within 0.5 ms, %", found)
        if found.value.mean < 99:
            missed.append(f"{user}: {found.value.mean:.1f}% of {len(times)} places within 0.5 ms")
    return missed


# Earlier runs: one parse a place, by mode.

def milliseconds(times, what):
    return Number(times[what] / 1e6, "ms", 3) if times else Missing("no thread slept")


def mode_tables(mode):
    return (Table(f"late-{mode}", f"Time after the median of sequential parses: {NAMES[mode]}",
                  ["page", "sequential, ms", "sleeps", "rescued chunks", "at most 0.5 ms", *TIMES]),
            Table(f"late-processor-{mode}", f"Processor time after the median of sequential parses: {NAMES[mode]}",
                  ["page", "sleeps", "parses that waited asleep", "at most 0.5 ms", *TIMES]))


def add_mode(result, mode, record):
    """Returns the numbers of sleeps and of those within the aim, and the pages that miss it."""
    output = record["output"]
    elapsed, processor = mode_tables(mode)
    sleeps = near = 0
    missed = []
    for row in output["pages"]:
        page = dict(zip(output["columns"], row))
        numbers = {column: Number(page[column], "", 0) for column in ("sleeps", "rescued", "waited", "within", "processor_within")}
        elapsed.row(page["page"], Number(page["sequential"] / 1e6, "ms", 3), numbers["sleeps"], numbers["rescued"], numbers["within"],
                    *(milliseconds(page["late"], what) for what in (MEDIAN, TAIL, LONGEST)),
                    *(milliseconds(page["noise"], what) for what in (TAIL, LONGEST)))
        processor.row(page["page"], numbers["sleeps"], numbers["waited"], numbers["processor_within"],
                      *(milliseconds(page["processor_late"], what) for what in (MEDIAN, TAIL, LONGEST)),
                      *(milliseconds(page["processor_noise"], what) for what in (TAIL, LONGEST)))
        sleeps += page["sleeps"]
        near += page["within"]
        if page["late"] and page["late"][MEDIAN] > AIM_NS:
            missed.append(f"{page['page']}, {NAMES[mode]}: median {page['late'][MEDIAN] / 1e6:.2f} ms")
    result.add(elapsed)
    result.add(processor)
    return sleeps, near, missed


def analyse(data):
    result = Section(MEETS, "")
    missed = []
    for state in data.values("state"):
        for record in data.ran(state=state):
            worst = add_places(result, state, record)
            if worst and state in AIMED:
                missed.append(f"{worst.name()}, {STATES[state]}: {worst.excess[0] / 1e6:.2f} ms")
    missed += add_users(result, data)
    sleeps = near = 0
    for mode in data.values("mode"):
        for record in data.ran(mode=mode):
            counts = add_mode(result, mode, record)
            sleeps, near, missed = sleeps + counts[0], near + counts[1], missed + counts[2]
    if sleeps:
        result.why += f"{near} of {sleeps} parses with a sleeping thread end at most 0.5 ms after the sequential parse; "
        result.fact("sleeps", Number(sleeps, "", 0))
        result.fact("within 0.5 ms", Number(near, "", 0))
    result.why = result.why.removesuffix("; ")
    if missed:
        result.missed(MISSES, "The calling thread parses the text of the sleeping thread again.")
        result.why += "".join(f"; above the aim: {one}" for one in missed)
    return result
