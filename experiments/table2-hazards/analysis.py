"""Table II: tags that switch the tokenizer, and their frequency."""
from lab.cells import AGREES, CANNOT, DIFFERS, NOT_YET, Missing, Number, Section, Table, not_yet
from lab.data import PAPER


NOTHING_CHANGED = ("foreign_raw_text", "ignored_tag")


def pipeline_rates(result, record):
    """Hazards that the pipelined parser met, and what they cost with this predictor."""
    predictor = record["variables"]["predictor"]
    stats = [page["modes"]["pipelined"]["stats"] for page in record["output"]["pages"]]
    tokens, size = sum(one["tokens"] for one in stats), sum(one["bytes"] for one in stats)
    alone = sum(one["pipeline"]["bytes_alone"] for one in stats)
    table = result.add(Table(f"table2-{predictor}", f"Hazards of the pipelined parser, predictor {predictor}, {len(stats)} pages",
                             ["hazard", "met", "not predicted", "percent of tokens", "percent of bytes"],
                             "Tags in svg and math that would switch in HTML, and ignored tags, are no hazards for optimistic. "
                             f"The tree builder read {alone:,} bytes by itself because of frequent rollbacks; these bytes have no hazards."))
    for kind in stats[0]["pipeline"]["hazards_by_kind"]:
        met, back = (sum(one["pipeline"][counts][kind] for one in stats) for counts in ("hazards_by_kind", "rollbacks_by_kind"))
        table.row(kind, *cells(met, back, tokens, size))
    met = sum(count for one in stats for kind, count in one["pipeline"]["hazards_by_kind"].items() if kind not in NOTHING_CHANGED)
    table.row("all that change the tokenizer", *cells(met, sum(one["pipeline"]["rollbacks"] for one in stats), tokens, size))


def cells(met, back, tokens, size):
    return Number(met, "", 0), Number(back, "", 0), Number(100 * met / tokens, "%", 4), Number(100 * met / size, "%", 5)


def analyse(data):
    if not data.ran():
        return Section(NOT_YET, data.why_not())
    paper = PAPER["table2"]
    met, tokens, size = {}, 0, 0
    whole = data.ran(part="collection") or data.ran(part="each")
    for record in whole:
        switches = record["output"]["tokenizer_switches"]
        tokens += record["output"]["tokens"]
        size += record["output"]["bytes"]
        for tag, modes in switches["by_tag_and_mode"].items():
            for mode, count in modes.items():
                met.setdefault(tag, {}).setdefault(mode, 0)
                met[tag][mode] += count
    where = "the collection" if data.ran(part="collection") else "the paper's pages"
    result = Section(AGREES, "")
    table = result.add(Table("table2", f"Start tags that switch the tokenizer's state, on {where}",
                             ["tag", "paper: in", "paper: to", "HPar: met, by insertion mode", "times"]))
    listed = {tag: (part, state) for part in ("head", "body") for tag, state in paper[part].items()}
    for tag in [*listed, *(tag for tag in met if tag not in listed)]:
        part, state = listed.get(tag, (Missing("not in Table II"), Missing("not in Table II")))
        modes = met.get(tag, {})
        table.row(f"<{tag}>", part, state, ", ".join(f"{mode} {count}" for mode, count in sorted(modes.items())) or "not met",
                  Number(sum(modes.values()), "", 0))
    count = sum(sum(modes.values()) for modes in met.values())
    rate = result.add(Table("table2-rate", "How often", ["rate", "paper", "HPar", "verdict"],
                            "The paper gives less than 0.01% of operations, on the front pages of the top 1,000 sites."))
    per_byte, per_token = 100 * count / size, 100 * count / tokens
    rate.row("percent of tokens", Number(0.01, "%", 2), Number(per_token, "%", 3), f"{CANNOT}: operation is not defined")
    rate.row("percent of bytes", Number(0.01, "%", 2), Number(per_byte, "%", 4),
             (AGREES if per_byte < 0.02 else DIFFERS) + ": of this order" * (per_byte < 0.02))
    pages = result.add(Table("table2-pages", "Page by page", ["page", "switches", "percent of tokens", "percent of bytes"]))
    for record in data.ran(part="each"):
        switches = record["output"]["tokenizer_switches"]
        pages.row(record["page"]["name"], Number(switches["all"], "", 0), Number(switches["percent_of_tokens"], "%", 2),
                  Number(switches["percent_of_bytes"], "%", 4), stand_in=record["page"]["stand_in"])
    for record in data.ran(part="pipeline"):
        pipeline_rates(result, record)
    closing = PAPER["table2"]["self_closing_tags"]
    names = whole[0]["output"]["self_closing"]
    share = result.add(Table("table2-self-closing", "Self-closing tags among the tags of the pages", ["tags", "paper", "HPar"]))
    share.row("all", Number(closing["of"], "", 0), Number(names["names"], "", 0))
    share.row("self-closing, percent", Number(closing["percent"], "%", 1),
              Number(100 * names["void_names"] / names["names"], "%", 1) if names["names"] else not_yet("none was met"))
    unknown = sorted(set(met) - set(listed))
    if unknown:
        result.missed(DIFFERS, "The pages use tags that switch the tokenizer and that Table II lacks.")
    result.why = (f"every switch on {where} is one of Table II" if not unknown else f"also {', '.join(unknown)}") + \
        f"; {per_byte:.4f}% of bytes, {per_token:.2f}% of tokens"
    return result
