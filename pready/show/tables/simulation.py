"""Simulations by the engine: a terminal table, rows for CSV, a JSON object."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.approach.interfaces import EACH
from pready.model.common.units import format_time
from pready.model.engine.simulate import Simulation
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction, availability_of
from pready.model.result.verdict import MIN_GAIN, verdict
from pready.model.version import VERSION
from pready.model.workload.workload import Workload
from pready.show.tables.answer import VERDICT_STYLE, effect, from_to, way
from pready.show.terminal.table import Readable

Rows = list[tuple[ApproachPrediction, Simulation]]
"""Bulk and the approach, simulated with the same arrivals; bulk alone after an interruption."""
COMPARED = ("eta", "eta_low", "eta_high", "speedup_percent", "speedup_low_percent", "speedup_high_percent")
"""Keys of a comparison with bulk, which an interrupted simulation does not have."""


def cause_name(cause: str) -> str:
    """A cause of lost time, as printed."""
    return "NIC" if cause == "nic" else cause.replace("_", " ")


def simulation_view(workload: Workload, machine: Machine, rows: Rows, *, interrupted: bool = False) -> RenderableType:
    """The decision, then bulk and the approach side by side; no comparison if it was interrupted."""
    runs, fine = [s for _, s in rows], rows[-1][1]
    said = Text("Interrupted: nothing is compared.") if interrupted else _decision(rows)
    messages, wall = sum(s.messages for s in runs), sum(s.wall_s for s in runs)
    cores = f"{fine.cores} core{'s' if fine.cores > 1 else ''}"
    cost = f"{messages:,} messages in {format_time(wall)} on {cores}, seed {fine.seed}"
    return Group(said, Text(""), simulated_table(workload, machine, rows), Text(cost, style="dim"))


def simulated_table(workload: Workload, machine: Machine, rows: Rows) -> Readable:
    """Iteration time and its parts, of a step or of one of its exchanges."""
    runs = [s for _, s in rows]
    _, fine = rows[-1]
    ranks = " × ".join(str(n) for n in fine.grid if n > 1)
    counts = " and ".join(str(n) for n in dict.fromkeys(s.iterations for s in runs))
    title = f"{workload.name} on {machine.name}: {ranks} ranks, {workload.pattern}, {counts} iterations"
    table = Readable(heading=title)
    table.add_column("mean per rank and iteration")
    for s in runs:
        a, bulk = s.approach, s is runs[0]
        alone = bulk or a.interface is EACH
        what = a.name if alone else f"{a.name}, {a.transport_partitions} × {a.vcis} VCI"
        table.add_column(what, justify="right", style="" if bulk else "bold")
    table.add_row("iteration", *(format_time(float(s.mean_s.mean())) for s in runs))
    for cause in fine.causes_s:
        values = [format_time(float(s.causes_s[cause].mean())) for s in runs]
        table.add_row(f"  {cause_name(cause)}", *values)
    spread = [format_time(float(s.last_end_s[-1] - s.first_end_s[-1])) for s in runs]
    table.add_row("spread of ranks at the end", *spread)
    return table


def _decision(rows: Rows) -> Text:
    """Does the approach pay on these ranks, in these iterations?"""
    (bulk, _), (row, run) = rows[0], rows[-1]
    found, ranks = verdict(row.speedup_low_percent, row.speedup_high_percent, 100 * MIN_GAIN), math.prod(run.grid)
    if row is bulk:
        return Text("Nothing to compare: this is how it is sent today.")
    head = {"port": "Pays", "do not port": "Does not pay", "undecided": "Undecided"}[found]
    said = f" at the machine's values (how sure: pready predict): {way(row)}: {effect(row)} on {ranks} ranks"
    before = bulk.iteration_s + bulk.begin_per_iteration_s
    times = from_to(before, before * (1 - row.speedup_percent / 100)) + " with set-up" * (row.begin_s > 0)
    return Text.assemble((head, VERDICT_STYLE[found]), f"{said}: {times}, η = {row.eta:.2f}×.")


def per_iteration(rows: Rows) -> list[dict[str, object]]:
    """One row per completed iteration: times of bulk and of the approach, and the approach's parts."""
    (_, bulk), (_, fine) = rows[0], rows[-1]
    return [
        {
            "iteration": i,
            "bulk_mean_s": float(bulk.mean_s[i]),
            "mean_s": float(fine.mean_s[i]),
            "shortest_s": float(fine.shortest_s[i]),
            "longest_s": float(fine.longest_s[i]),
            "first_end_s": float(fine.first_end_s[i]),
            "last_end_s": float(fine.last_end_s[i]),
            **{f"{cause}_s": float(times[i]) for cause, times in fine.causes_s.items()},
        }
        for i in range(min(bulk.iterations, fine.iterations))
    ]


def step_report(
    machine: Machine,
    workload: Workload,
    library: str,
    rows: Rows,
    by_exchange: Sequence[Rows] = (),
    *,
    interrupted: bool = False,
) -> dict[str, Any]:
    """The JSON object: a prediction's keys and the simulation's, and one of each of several exchanges; null for what
    compares with bulk if it was interrupted."""

    def one(row: ApproachPrediction, s: Simulation) -> dict[str, Any]:
        return {
            **{k: None if interrupted and k in COMPARED else v for k, v in row.to_dict().items()},
            "end_s": s.time_s,
            "iteration_s": float(s.mean_s.mean()),
            "communication_s": float(s.communication_s.mean()),
            "causes_s": {cause: float(times.mean()) for cause, times in s.causes_s.items()},
            "simulated_messages": s.messages,
            "wall_s": s.wall_s,
            "messages_per_s": s.messages_per_s,
        }

    row, fine = rows[-1]
    runs = [s for _, s in rows]
    parts = zip(workload.parts, by_exchange, strict=False)
    each = [step_report(machine, part, library, some, interrupted=interrupted) for part, some in parts]
    return {
        "version": VERSION,
        "engine": "engine",
        "seed": fine.seed,
        "machine": machine.name,
        "library": library,
        "workload": workload.model_dump(mode="json"),
        "ranks": list(fine.grid),
        "iterations": fine.iterations,
        "interrupted": interrupted,
        "eta": None if interrupted else row.eta,
        "speedup_percent": None if interrupted else row.speedup_percent,
        "perceived_bandwidth_bytes_per_s": row.perceived_bandwidth_bytes_per_s,
        **availability_of(row.availability),
        "early_bird_percent": row.early_bird_percent,
        "messages": sum(s.messages for s in runs),
        "wall_s": sum(s.wall_s for s in runs),
        "cores": fine.cores,
        "approaches": [one(*r) for r in rows],
        "iterations_detail": per_iteration(rows),
        **({"exchanges": each} if each else {}),
    }
