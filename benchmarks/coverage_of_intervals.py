"""Do intervals hold what may be true, and are probabilities kept? Random what-ifs over the shipped machines.

``python benchmarks/coverage_of_intervals.py --count 400 --seed 0`` draws one true machine for each what-if from all
that is said not to be known, by another seed than the predictor's, and simulates a long run of what was advised there.
It prints how often the 95 % interval holds what is saved (93 to 97 %), and how often answers by their probability are
right (from 99 %: at least 98 %; 80 to 99 %: between 80 and 99 %). Beside it stands how often an interval of half the
width would have held the truth: were that enough, the check would check nothing. ``--picture FILE`` draws what was said
beside what was. ``--proof`` also gives the predictor the times of both ways on the true machine: the share of truths
inside those intervals (93 to 97 %), their width over that before (at most a third, in the median), and as a negative
control the share inside where the proof is of a machine whose threads' messages take half as long again.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pready.model.advice.predict import predict, runs_of, with_library
from pready.model.advice.proven import Proven, Timed, chosen
from pready.model.advice.savings import Savings
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.machine import Machine, load, profiles
from pready.model.result.interval import interval
from pready.model.result.prediction import Prediction
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

BINS = (0.0, 0.01, 0.2, 0.5, 0.8, 0.99, 1.01)
"""Of probabilities, for the reliability table."""
LONG = 100
"""Iterations of a true run, or times as many exchanges from rest."""


def what_if(rng: random.Random) -> tuple[str, Workload]:
    """A machine and a workload."""
    profile, fields = what_if_fields(rng)
    return profile, validated(Workload, fields, "what-if")


def what_if_fields(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """The name of a machine, and the fields of a workload file."""
    threads, theta = rng.choice((4, 8, 16, 32)), rng.choice((1, 1, 2, 4))
    width = f"{100 * 10 ** rng.uniform(-2, -0.5):.3g} %"
    models = (
        {"model": "laggard", "late_by": width},
        {"model": "normal by thread", "spread": width},
        {"model": "uniform", "up_to": width},
        {"model": "normal by partition", "epsilon": width},
    )
    fields: dict[str, Any] = {
        "format": 2,
        "threads": threads,
        "partitions_per_thread": theta,
        "buffer": f"{threads * theta * round(2 ** rng.uniform(9, 18))} B",
        "pattern": rng.choice(("pt2pt", "halo3d", "halo3d")),
        "compute": {"time": f"{10 ** rng.uniform(-0.7, 1.5):.3g} ms"},
        "arrivals": rng.choice(models),
        "iterations": 1000,
    }
    if rng.random() < 0.5:
        fields["receiver"] = rng.choice(("waiting", "computing"))
    if fields["pattern"] != "pt2pt":
        fields["grid"] = [4, 2, 2]
    return rng.choice(sorted(profiles())), fields


def true(made: Prediction, machine: Machine, workload: Workload, seed: int) -> tuple[float, list[float]]:
    """What the advised approach saves on a machine drawn from all that is not known, in percent of an iteration, and
    seconds of today's exchange and of its."""
    runs = Runs(machine, Step.of(workload), Rows(1, seed, LONG))  # one drawn machine over many iterations
    found = Savings(runs, ((workload.baseline,), (made.advised.approach,)))
    return float(found.percent[1, 0]), [float(found.times(way)[0][0]) / runs.steps for way in found.ways]


def proof(workload: Workload, made: Prediction, seconds: list[float], saving: float, half: float = 0.0) -> Proven:
    """What `pready prove` would record: seconds of today's exchange and of the advised way's, and what it saves."""
    ways = (workload.baseline,), (made.advised.approach,)
    ends = saving / 100, (saving - half) / 100, (saving + half) / 100
    return Proven(workload, tuple(Timed(way, s, 0.01, ends) for way, s in zip(ways, seconds, strict=True)))


def interval_with(proven: Proven, machine: Machine, seed: int) -> tuple[float, float]:
    """The 95 % interval of the second way's saving, in percent of an iteration, of draws that the proof weights."""
    runs, _ = runs_of(machine, proven.workload, seed, picks=chosen(machine, [proven], seed).picks)
    return interval(Savings(runs, tuple(timed.way for timed in proven.ways)).percent[1])


Said = list[tuple[float, bool]]
"""Probabilities that enough is saved, and whether it was."""


def reliability(saved: Said) -> list[tuple[float, float, int]]:
    """Of each bin of probabilities what was said on average, how often it was, and how many there are."""
    bins = [[(p, right) for p, right in saved if low <= p < high] for low, high in pairwise(BINS)]
    return [(*(sum(x) / len(some) for x in zip(*some, strict=True)), len(some)) for some in bins if some]


def draw(rows: list[tuple[float, float, int]], path: Path) -> None:
    """Said beside was, with the 95 % interval of so many answers (Wilson)."""
    figure = Figure((4, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    for said, was, n in rows:
        z2 = 1.96**2 / n
        middle, half = (was + z2 / 2) / (1 + z2), 1.96 * math.sqrt(was * (1 - was) / n + z2 / n / 4) / (1 + z2)
        axes.plot([said, said], [middle - half, middle + half], color="C0")
        axes.plot([said], [was], "o", color="C0")
        axes.annotate(f" {n}", (said, was))
    axes.set(xlabel="probability said that enough is saved", ylabel="share of answers where it was")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--proof", action="store_true", help="also with the times of both ways on the true machine")
    parser.add_argument("--picture", type=Path, help="an SVG of what was said beside what was")
    arguments = parser.parse_args()
    held, half_held, saved, proven, wrong, ratios = 0, 0, Said(), list[bool](), list[bool](), list[float]()
    for number in range(arguments.count):
        profile, workload = what_if(random.Random(f"{arguments.seed}-{number}"))
        machine = load(profile)
        made = predict(machine, workload, seed=number, whole=())
        used = with_library(machine)[0]
        value, seconds = true(made, used, workload, 10**6 + number)
        best, chance = made.advised, made.advice.probability
        assert chance is not None
        low, high = best.speedup_low_percent, best.speedup_high_percent
        held += low <= value <= high
        half_held += (3 * low + high) / 4 <= value <= (low + 3 * high) / 4
        saved.append((chance, value >= 100 * made.advice.min_gain))
        if arguments.proof and high > low:
            after = interval_with(proof(workload, made, seconds, value), used, number)
            other = interval_with(proof(workload, made, [seconds[0], 1.5 * seconds[1]], value), used, number)
            proven.append(after[0] <= value <= after[1])
            wrong.append(other[0] <= value <= other[1])
            ratios.append((after[1] - after[0]) / (high - low))
    print(f"seed {arguments.seed}, {arguments.count} what-ifs")
    print(f"truth inside the 95 % interval: {100 * held / arguments.count:.1f} %")
    print(f"inside one of half the width: {100 * half_held / arguments.count:.1f} %")
    if proven:
        inside, control = (100 * sum(x) / len(x) for x in (proven, wrong))
        wide = statistics.median(ratios)
        print(f"with a proof: inside {inside:.1f} %, {wide:.2f} times as wide; a wrong one: {control:.1f} %")
    for said, was, n in reliability(saved):
        print(f"probability said {said:.3f}, was {was:.3f} ({n})")
    if arguments.picture:
        draw(reliability(saved), arguments.picture)
    for name, least in (("certain", 0.99), ("likely", 0.8)):
        some = [(p, right) for p, right in saved if least <= max(p, 1 - p) < (1.01 if least > 0.8 else 0.99)]
        if some:
            kept = sum(right == (p >= 0.5) for p, right in some)
            print(f"{name}: {len(some)} answers, {100 * kept / len(some):.1f} % right")


if __name__ == "__main__":
    main()
