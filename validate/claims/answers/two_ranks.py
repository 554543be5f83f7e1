"""Checks on one exchange between two ranks: the timeline, and the advice that rests on it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY
from pready.model.engine.plan import drawn_times
from pready.model.result.verdict import ALIKE
from pready.model.toml.provenance import Strict
from pready.model.workload.workload import Workload
from pready.validate.claims.computed_once import ApproachTable, Lab, MachineTable


class Exchange(Strict):
    """A machine, a workload, an approach, and which figure of the prediction."""

    machine: MachineTable
    workload: Workload
    approach: ApproachTable
    of: Literal[
        "time_s",
        "eta",
        "messages",
        "speedup_percent",
        "overhead",
        "perceived_bandwidth_bytes_per_s",
        "availability",
        "early_bird_percent",
        "arrived_early_percent",
    ]


class Race(Strict):
    """Approaches of which the fastest is asked."""

    machine: MachineTable
    workload: Workload
    approaches: dict[str, ApproachTable]
    """Interfaces by the name in which a claim answers."""


class Advised(Strict):
    """What `pready predict` would advise with a library."""

    machine: MachineTable
    workload: Workload
    library: str
    of: Literal["verdict", "approach", "eta", "transport_partitions", "vcis"]


class Arrivals(Strict):
    """A statistic of the threads' ready times, over many iterations."""

    workload: Workload
    of: Literal["mean", "standard deviation", "earliest", "latest", "spread", "late threads"]
    samples: int = 2000


def prediction(a: Exchange, lab: Lab) -> float:
    """One figure of an approach's prediction, at the parameters' values."""
    runs, approach = lab.from_rest(a.machine, a.workload), a.approach.of(a.workload)
    match a.of:  # most claims are about times, which need no exchange without spread
        case "time_s":
            return runs.mean_time(approach)
        case "eta":
            return runs.mean_time(a.workload.baseline) / runs.mean_time(approach)
        case _:
            return float(getattr(runs.predicted([(approach,)])[0], a.of))


def fastest(a: Race, lab: Lab) -> str:
    """The name of the approach with the shortest time; ties within 1 % go to the simpler one."""
    runs = lab.from_rest(a.machine, a.workload)
    times = {name: runs.mean_time(t.of(a.workload)) for name, t in a.approaches.items()}
    best = min(times.values())
    simplest = list(BY_KEY)
    close = [n for n, t in times.items() if t <= best * (1 + ALIKE)]
    return min(close, key=lambda n: (simplest.index(a.approaches[n].interface), a.approaches[n].vcis))


def advice(a: Advised, lab: Lab) -> float | str:
    machine = lab.machine(a.machine)
    library = a.library or machine.library.name
    made = predict(machine, a.workload, library=library, seed=lab.seed, draws=0, whole=())  # not for which buffers
    value: Any = made.advice.to_dict()[a.of]
    return value if isinstance(value, str) else float(value)


def arrivals(a: Arrivals, lab: Lab) -> float:
    """Seconds, or a number of threads."""
    times = drawn_times(a.workload, a.samples, lab.seed)
    match a.of:
        case "mean":
            return float(times.mean())
        case "standard deviation":
            return float(times.std(ddof=1))
        case "earliest":
            return float(times.min())
        case "latest":
            return float(times.max())
        case "spread":
            return float(np.ptp(times, axis=1).mean())
        case "late threads":
            threads = times.reshape(a.samples, a.workload.threads, -1).max(axis=2)
            return float((threads > a.workload.thread_time).sum(axis=1).mean())
