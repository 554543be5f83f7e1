"""How many answers are undecided, and how wide are they? Random workloads on every shipped machine.

``python benchmarks/sharpness.py --count 40`` prints, for machines as shipped, with `ranks_per_node` stated, with every
value of the machine measured as well, with a whole exchange of two ranks timed on it, and with a proof of the workload
itself, the share of undecided answers and the median width of their intervals, in points of an iteration, and that of
halos of 512 KiB and more; then with all stated that an answer may ask for, without and with a measured machine. What is
measured is measured on a machine drawn from all that is not known. ``--machines 4`` looks at the first four machines
only.
"""

from __future__ import annotations

import argparse
import random
import statistics
from typing import Any, TypeVar

from coverage_of_intervals import proof, true, what_if

from pready.model.advice.predict import predict, with_library
from pready.model.machine.contention_by_library import contention, waiting
from pready.model.machine.machine import Machine, load, profiles
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import TeamTimes
from pready.model.result.prediction import Prediction
from pready.model.timeline.alternatives import order
from pready.model.toml.provenance import Strict, Value
from pready.model.toml.reading import validated
from pready.model.workload.edges import HALOS
from pready.model.workload.workload import Workload

PAIR = validated(Workload, {"threads": 1, "buffer": "1 MiB", "ranks_per_node": 1, "receiver": "waiting"}, "pair")
REPEATS = 0.1
"""Half-width of a proof's interval, in points of an iteration."""
LARGE = 512 * 1024
"""Bytes per peer from which a halo is large."""
T = TypeVar("T", bound=Strict)


def measured(table: T) -> T:
    """A table of a machine whose every value was measured exactly."""
    update: dict[str, Any] = {}
    for name in type(table).model_fields:
        item = getattr(table, name)
        if isinstance(item, Value):
            update[name] = item.model_copy(update={"source": "measured", "interval": None})
        elif isinstance(item, (TeamTimes, SizeCurve)):
            update[name] = item.model_copy(update={"source": "measured", "interval": 0.0})
        elif isinstance(item, Strict):
            update[name] = measured(item)
        elif isinstance(item, tuple):
            update[name] = tuple(measured(part) if isinstance(part, Strict) else part for part in item)
    return table.model_copy(update=update)


def machine_measured(machine: Machine) -> Machine:
    """The machine with all that a calibration tells, also what its file leaves to its library."""
    made, _ = with_library(machine)
    threads = made.threads.model_copy(update={"contention": contention(made), "waiting": waiting(made)})
    return measured(made.model_copy(update={"threads": threads}))


def answers(count: int, machines: list[str], sample: str) -> dict[str, list[Prediction]]:
    """The predictions of each state of knowledge."""
    found = dict[str, list[Prediction]]()
    for number in range(count):
        _, workload = what_if(random.Random(f"{sample}-{number}"))
        stated = workload.changed(ranks_per_node=1)
        told: dict[str, Any] = {"receiver": stated.receiver}
        told |= {"thread_grid": "shared"} if stated.pattern in HALOS else {}
        told |= {"arrivals.partitions": order(stated)} if order(stated) else {}
        all_said = stated.changed(**told)
        for name in machines:
            machine, exact = load(name), machine_measured(load(name))
            pair = PAIR.changed(threads=stated.threads, buffer=f"{stated.threads * 32} KiB")
            for state, m, w, timed in (
                ("as shipped", machine, workload, None),
                ("ranks_per_node stated", machine, stated, None),
                ("machine measured", exact, stated, None),
                ("and an exchange timed", exact, stated, pair),
                ("and this one proven", exact, stated, stated),
                ("all that is asked for stated", machine, all_said, None),
                ("and the machine measured", exact, all_said, None),
            ):
                made = predict(m, w, seed=number, whole=())
                if timed is not None:
                    of = made if timed is w else predict(m, timed, seed=number, whole=())
                    saving, seconds = true(of, m, timed, 10**6 + number)
                    proven = proof(timed, of, seconds, saving, REPEATS)
                    made = predict(m, w, seed=number, whole=(), proofs=[proven])
                found.setdefault(state, []).append(made)
    return found


def width(of: Prediction) -> float:
    """Of its saving's interval, in points of an iteration."""
    return of.advised.speedup_high_percent - of.advised.speedup_low_percent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--machines", type=int, default=len(profiles()))
    parser.add_argument("--sample", default="sharpness", help="of workloads: another name, others")
    arguments = parser.parse_args()
    machines = sorted(profiles())[: arguments.machines]
    print(f"{arguments.count} workloads of sample {arguments.sample!r} on {len(machines)} machines")
    for state, found in answers(arguments.count, machines, arguments.sample).items():
        open_ = [p for p in found if p.advice.verdict == "undecided"]
        large = [width(p) for p in found if p.workload["pattern"] == "halo3d" and float(p.workload["buffer"]) >= LARGE]
        widths = [f"{statistics.median(x):.1f}" if x else "-" for x in (list(map(width, open_)), large)]
        share = 100 * len(open_) / len(found)
        print(f"{state}: {share:.1f} % undecided, {widths[0]} points wide; halos of 512 KiB and more {widths[1]}")


if __name__ == "__main__":
    main()
