"""Means and their intervals."""
import math
import statistics

# Two-sided 95% points of Student's t, by degrees of freedom.
_T = [None, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
      2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def t_point(degrees):
    return _T[degrees] if degrees < len(_T) else 1.96


class Value:
    """A figure: its mean over processes, the 95% interval of that mean (None for one process), the number of processes,
    and the best single one if the paper's policy applies."""

    def __init__(self, mean, low=None, high=None, count=1, best=None):
        self.mean, self.low, self.high, self.count, self.best = mean, low, high, count, best

    def scaled(self, factor):
        return Value(*(None if part is None else part * factor for part in (self.mean, self.low, self.high)), self.count,
                     None if self.best is None else self.best * factor)

    def record(self):
        return {"mean": self.mean, "low": self.low, "high": self.high, "count": self.count, "best": self.best}


def value(samples, best=None):
    """Of one number a process. `best` chooses from them: min or max."""
    samples = [float(sample) for sample in samples]
    if not samples:
        return None
    mean = statistics.fmean(samples)
    chosen = best(samples) if best else None
    if len(samples) < 2:
        return Value(mean, count=len(samples), best=chosen)
    half = t_point(len(samples) - 1) * statistics.stdev(samples) / math.sqrt(len(samples))
    return Value(mean, mean - half, mean + half, len(samples), chosen)


def geometric(values):
    """Of positive numbers, or of values: then with the interval of the mean over processes, by logarithms."""
    values = [one for one in values if one is not None]
    if not values:
        return None
    if not isinstance(values[0], Value):
        return math.exp(statistics.fmean(math.log(one) for one in values))
    mean = geometric([one.mean for one in values])
    best = geometric([one.best for one in values]) if all(one.best for one in values) else None
    if any(one.low is None for one in values):
        return Value(mean, count=min(one.count for one in values), best=best)
    spread = math.sqrt(sum(((one.high - one.low) / 2 / one.mean) ** 2 for one in values)) / len(values)
    return Value(mean, mean * math.exp(-spread), mean * math.exp(spread), min(one.count for one in values), best)


def arithmetic(values):
    values = [one for one in values if one is not None]
    if not values:
        return None
    if not isinstance(values[0], Value):
        return statistics.fmean(values)
    mean = statistics.fmean(one.mean for one in values)
    best = statistics.fmean(one.best for one in values) if all(one.best for one in values) else None
    if any(one.low is None for one in values):
        return Value(mean, count=min(one.count for one in values), best=best)
    half = math.sqrt(sum(((one.high - one.low) / 2) ** 2 for one in values)) / len(values)
    return Value(mean, mean - half, mean + half, min(one.count for one in values), best)


def overlap(a, b):
    """Whether the intervals of two values have a number in common; a value without one is a point. Figures that hardly
    differ (by 0.1%) agree also as points."""
    lows = [one.low if one.low is not None else one.mean for one in (a, b)]
    highs = [one.high if one.high is not None else one.mean for one in (a, b)]
    slack = 0.001 * max(abs(a.mean), abs(b.mean))
    return max(lows) <= min(highs) + slack
