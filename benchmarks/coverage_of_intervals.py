"""Do intervals hold what may be true? Random what-ifs over the shipped machines.

``python benchmarks/coverage_of_intervals.py --count 150 --seed 0`` prints

- *truth*: how often the 95 % interval of what is saved holds the saving of a true machine, drawn from the stated
  uncertainty, over a run of all the workload's iterations with arrivals of its own; and how often a verdict is right
  there, by its certainty;
- *alternatives*: how often a machine that is plausible as well (a quarter of the bandwidth, a synchronisation of 5 us,
  a barrier three times as long, a threshold four times as large, four ranks on an adapter) lies inside the interval,
  inside the range that is printed with it, or is named if it turns the verdict.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from pready.model.advice.predict import evaluator, predict, with_library
from pready.model.engine import evaluate
from pready.model.machine.machine import Machine, load, profiles
from pready.model.result.prediction import Prediction
from pready.model.toml import dotted
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

ALTERNATIVES = {
    "a quarter of the bandwidth": "congestion",
    "an epoch of 5 us": "synchronisation of RMA",
    "a barrier three times as long": "the threads' barrier",
    "a threshold four times as large": "the rendezvous threshold",
    "four ranks on an adapter": "ranks per node",
}
"""Each with the input that `pready.model.advice.unknowns` moves in its place; they are made from files here."""
ROUNDING = 1e-9


def what_if(rng: random.Random) -> tuple[str, Workload]:
    """A machine and a workload."""
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
        "receiver": rng.choice(("waiting", "computing")),
        "compute": {"time": f"{10 ** rng.uniform(-0.7, 1.5):.3g} ms"},
        "arrivals": rng.choice(models),
        "iterations": 1000,
    }
    if fields["pattern"] != "pt2pt":
        fields["grid"] = [4, 2, 2]
    return rng.choice(sorted(profiles())), validated(Workload, fields, "what-if")


def alternative(name: str, machine: Machine, workload: Workload) -> tuple[Machine, Workload]:
    """A machine and workload that are plausible as well, made as a user would write them."""
    data, out = dotted.written(machine), dict[str, Any]()
    segments = machine.inter.segments
    if name == "four ranks on an adapter" and machine.intra is not None and workload.pattern != "pt2pt":
        return machine, workload.changed(ranks_per_node=4)
    if name in ("a quarter of the bandwidth", "four ranks on an adapter"):
        out["inter.link_bandwidth"] = f"{machine.inter.link_bandwidth.value / 4e9!r} GB/s"
        for i, s in enumerate(segments):
            out[f"inter.segments[{i}].G"] = f"{4e12 * s.G.value!r} us/MB"
            if s.G_link is not None:
                out[f"inter.segments[{i}].G_link"] = f"{4e12 * s.G_link.value!r} us/MB"
            if name == "four ranks on an adapter":
                out[f"inter.segments[{i}].g"] = f"{4 * s.g.value!r} s"
    elif name == "an epoch of 5 us":
        out["one_sided.epoch"] = f"{max(5e-6, machine.one_sided.epoch.value)!r} s"
    elif name == "a barrier three times as long":
        out["threads.barrier.time"] = [f"{3 * t!r} s" for t in machine.threads.barrier.time]
    else:
        first = next((i for i, s in enumerate(segments) if s.handshake is not None and i), None)
        if first is None:
            return machine, workload
        border = 4 * segments[first].from_
        kept = [s for i, s in enumerate(segments) if i < first]
        late = [s for s in segments[first:] if s.from_ > border]
        at = [s for s in segments[first:] if s.from_ <= border][-1:]
        moved = machine.inter.model_copy(
            update={"segments": (*kept, *(s.model_copy(update={"from_": border}) for s in at), *late)}
        )
        return machine.model_copy(update={"inter": moved}), workload
    return validated(Machine, dotted.changed(data, out), "alternative"), workload


def source_of(name: str, machine: Machine) -> str:
    """Of the input that an alternative changes."""
    if name == "an epoch of 5 us":
        return machine.one_sided.epoch.source
    if name == "a barrier three times as long":
        return machine.threads.barrier.source
    return "not given"


def true_saving(made: Prediction, machine: Machine, workload: Workload, seed: int) -> float:
    """What the advised approach saves on a machine drawn from the stated uncertainty, in percent of an iteration.

    Over all the workload's iterations, which the engine else takes few of: a prediction's interval is about the run.
    """
    evaluation = replace(evaluator(with_library(machine)[0], workload, seed)[0], draws=1, samples=workload.iterations)
    exchanges = workload.iterations * math.prod(evaluation.grid)
    every: dict[str, Any] = {"NOMINAL": exchanges, "PER_DRAW": exchanges, "PER_DRAW_ALONE": workload.iterations}
    with patch.multiple(evaluate, MOST_MESSAGES=sys.maxsize, **every):
        return float(evaluation.saving(made.advised.approach).draws[0])


def holds(made: Prediction, true: float, width: float = 1.0) -> bool:
    """Does the interval of what is saved, `width` times as wide, hold the truth?"""
    best = made.advised
    low, high = best.speedup_low_percent, best.speedup_high_percent
    return abs(true - (low + high) / 2) <= width * (high - low) / 2 + ROUNDING


def right(made: Prediction, true: float) -> bool:
    """Is a clear verdict the one that the truth gives?"""
    return (made.advice.verdict == "port") == (true >= 100 * made.advice.min_gain)


def place(name: str, made: Prediction, machine: Machine, workload: Workload) -> str:
    """Where the saving under an alternative is: "interval", "named", "range", "nowhere"; "same" if nothing changes."""
    on, there = alternative(name, with_library(machine)[0], workload)
    best, advice = made.advised, made.advice
    saved = evaluator(on, there, made.seed, None, 0)[0].predict(best.approach).speedup_percent
    if best.speedup_low_percent - ROUNDING <= saved <= best.speedup_high_percent + ROUNDING:
        return "interval"
    moved = next((x for x in made.sensitivity if x.name == ALTERNATIVES[name]), None)
    if moved is not None and moved.turns:
        return "named"
    least = 100 * advice.min_gain
    turned = (saved >= least) != (best.speedup_percent >= least)
    low, high = advice.between or (best.speedup_low_percent, best.speedup_high_percent)
    margin = 0.05 * (high - low)  # few iterations stand for all
    return "range" if not turned and low - margin <= saved <= high + margin else "nowhere"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--truth", action="store_true", help="no alternatives")
    arguments = parser.parse_args()
    names = () if arguments.truth else ALTERNATIVES
    held, places = 0, {name: Counter[str]() for name in names}
    verdicts, correct = Counter[str](), Counter[str]()
    for number in range(arguments.count):
        profile, workload = what_if(random.Random(f"{arguments.seed}-{number}"))
        machine = load(profile)
        made = predict(machine, workload, seed=number)
        said = f"{made.advice.certainty} {made.advice.verdict}".strip()
        true = true_saving(made, machine, workload, 10**6 + number)
        verdicts[said] += 1
        correct[said] += right(made, true)
        held += holds(made, true)
        for name, counted in places.items():
            counted[place(name, made, machine, workload)] += 1
    print(f"seed {arguments.seed}, {arguments.count} what-ifs")
    print(f"truth inside the 95 % interval: {100 * held / arguments.count:.1f} %")
    for said, n in sorted(verdicts.items()):
        print(f"{said}: {n}" + ("" if said == "undecided" else f", right: {correct[said]}"))
    if arguments.truth:
        return
    print(f"{'alternative':34}{'interval':>9}{'named':>7}{'range':>7}{'nowhere':>9}{'covered':>9}")
    for name, counted in places.items():
        said = "".join(f"{counted[kind]:>{width}}" for kind, width in (("interval", 9), ("named", 7), ("range", 7)))
        covered = 100 * (1 - counted["nowhere"] / arguments.count)
        print(f"{name:34}{said}{counted['nowhere']:>9}{covered:>7.1f} %")


if __name__ == "__main__":
    main()
