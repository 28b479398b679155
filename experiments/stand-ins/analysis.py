"""Generated pages beside their models."""
from lab import numbers
from lab.cells import MEETS, MISSES, NOT_YET, Number, Section, Table
from lab.pages import PAPER as PAGES

MEASURES = [("clean", "clean chunks, %", 1), ("log", "log entries for 1000 tokens", 1), ("speed", "MB/s, sequential", 0), ("tokens", "tokens", 0)]


def analyse(data):
    if not data.ran(part="model"):
        return Section(NOT_YET, data.why_not(part="model"))
    result = Section(MEETS, "")
    far, tokens = [], 0
    for key, name, digits in MEASURES:
        table = result.add(Table(f"stand-ins-{key}", name, ["page", "model", "generated, mean", "generated / model", "verdict"]))
        ratios = []
        for page in PAGES:
            model = data.ran(part="model", page=page)
            made = [record for record in data.ran(part="generated") if record["variables"]["page"].startswith(page + "#")]
            if not model or not made:
                continue
            there, ours = model[0]["output"][key], numbers.value([record["output"][key] for record in made])
            ratios.append(ours.mean / there)
            near = abs(ratios[-1] - 1) <= 0.15
            tokens = max(tokens, abs(ratios[-1] - 1)) if key == "tokens" else tokens
            if not near and key != "tokens":
                far.append(f"{page}, {name.split(',')[0]} {ratios[-1]:.2f}")
            table.row(page, Number(there, "", digits), Number(ours, "", digits), Number(ours.scaled(1 / there), "", 2), MEETS if near else MISSES)
        mean = numbers.geometric(ratios)
        if not mean:
            continue
        table.row("geometric mean", "of ratios", "of ratios", Number(mean, "", 2), MEETS if abs(mean - 1) <= 0.15 else MISSES)
    if far:
        result.missed(MISSES, f"A generated page has the model's tokens (off by up to {100 * tokens:.0f}%) and other text.")
    result.why = f"more than 15% off: {'; '.join(far)}" if far else "all within 15%"
    return result
