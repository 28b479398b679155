"""Section 4.2: states and modes at cuts."""
from lab import draw, numbers
from lab.cells import AGREES, DIFFERS, NOT_GIVEN, NOT_YET, Number, Plot, Section, Table
from lab.data import PAPER

TABLE_MODES = ["in table", "in table text", "in caption", "in column group", "in table body", "in row", "in cell"]


def total(records, *names):
    counts = {}
    for record in records:
        part = record["output"]
        for name in names:
            part = part[name]
        for key, count in part.items():
            counts[key] = counts.get(key, 0) + count
    return counts


def share(counts, *names):
    lower = {key.lower(): count for key, count in counts.items()}
    return 100 * sum(lower.get(name, 0) for name in names) / max(1, sum(counts.values()))


def data_share(counts):
    return share(counts, "data", "data state")


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    paper = PAPER["state_distribution"]
    sets = [(name, data.ran(part=part)) for part, name in (("each", "the paper's pages"), ("collection", "the collection")) if data.ran(part=part)]
    result = Section(AGREES, "")
    table = result.add(Table("state-distribution", "Shares in percent", ["share", "paper", *(name for name, _ in sets), "verdict"]))
    policies = list(sets[0][1][0]["output"]["states_at_cuts"])
    given = {"even": paper["data_at_even_cuts"], "before-tag": paper["data_at_smart_cuts"]}
    verdicts = []

    def row(label, expected, values, at_least=False):
        near = [abs(value - expected) <= 10 or (at_least and value > expected) for value in values] if expected is not None else []
        verdict = "cannot be compared: no value of the paper" if expected is None else AGREES if near[-1] else DIFFERS
        if expected is not None:
            verdicts.append((label, verdict))
        table.row(label, NOT_GIVEN if expected is None else Number(expected, "%", 1), *(Number(value, "%", 1) for value in values), verdict)

    for policy in policies:
        row(f"data state at cuts, {policy}", given.get(policy), [data_share(total(records, "states_at_cuts", policy)) for _, records in sets])
    for unit, name in (("modes_by_token", "of tokens"), ("modes_by_byte", "of bytes"), ("modes_at_cuts", "of cuts before tags")):
        row(f"in body, {name}", paper["in_body"] if unit == "modes_by_token" else None, [share(total(records, unit), "in body") for _, records in sets])
        row(f"table modes, {name}", paper["table_modes"]["value"] if unit == "modes_by_token" else None,
            [share(total(records, unit), *TABLE_MODES) for _, records in sets])
    differ = [label for label, verdict in verdicts if verdict == DIFFERS]
    result.verdict = DIFFERS if differ else AGREES
    if differ:
        result.reason = "The pages are other ones than the paper's 1,000 sites of 2012, and the paper does not state the unit of its share."
    result.why = f"more than 10 points off: {'; '.join(differ)}" if differ else "within 10 points"

    def show(figure):
        draw.bars(figure.subplots(), policies, [(name, [numbers.Value(data_share(total(records, "states_at_cuts", policy))) for policy in policies], True)
                                                for name, records in sets] +
                  [("paper", [numbers.Value(given[policy]) if policy in given else None for policy in policies], True)],
                  "cuts in the data state, percent", rotate=0)

    result.add(Plot("state-distribution", "Data state at cuts", "By cut policy. The paper gives even and smart cuts.", show, (6, 3.2)))
    return result
