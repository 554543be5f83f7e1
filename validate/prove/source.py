"""A workload's exchange as a small C program, bulk and ported side by side: what the port will look like."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pready.calibrate.exchange_plan import exchange_plan
from pready.model.approach import MANY, PART, PART_AM, Approach
from pready.model.engine.layout import layout
from pready.model.engine.pattern import Pattern
from pready.model.errors import PreadyError
from pready.model.libraries import LibraryProfile
from pready.model.version import VERSION
from pready.model.workload import Workload

PORTABLE = (PART, PART_AM, MANY)
"""Interfaces that a program is written for."""
FILES = {"exchange.c": "exchange.c.jinja", "Makefile": "Makefile.jinja"}
EXPLAINED = {
    True: "each buffer is one partitioned send of {m} partitions, and a\n"
    " * thread says which one is ready as soon as it is (MPI_Pready)",
    False: "each buffer goes in {m} persistent messages, each started\n * by the thread that makes it complete",
}
ITERATIONS = 20


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("pready.validate.prove", "templates"),
        autoescape=False,  # C, not HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def program(workload: Workload, approach: Approach, library: LibraryProfile, seed: int) -> dict[str, str]:
    """The program's files by name.

    Parameters
    ----------
    approach
        What the ported half does: "part" or "many".
    library
        Whose settings the head names.
    seed
        Of the moments at which partitions are ready: those of rank 0's first iteration.

    Raises
    ------
    PreadyError
        An approach that no program is written for, or a workload that cannot be performed.
    """
    if approach.interface not in PORTABLE:
        raise PreadyError(f"approach = '{approach.interface.key}' has no program", valid="part or many")
    plan = exchange_plan(workload, 1, seed)
    what = layout(workload)
    pattern = what.pattern(workload)
    part = approach.interface.partitioned
    messages = workload.n_partitions if approach.interface is PART_AM else approach.transport_partitions
    sends = [[e.sender for e in p.edges].count(r) for p in plan.phases for r in range(plan.ranks)]
    receives = [[e.receiver for e in p.edges].count(r) for p in plan.phases for r in range(plan.ranks)]
    on_grid = pattern.name not in ("pt2pt", "neighbours")
    sweep = pattern.name == "sweep3d"
    fields: dict[str, Any] = {
        "name": " ".join(workload.name.split()).replace("*/", "* /") or "a workload",
        "version": VERSION,
        "ported": f"{approach.name}, {messages} of each buffer",
        "explained": EXPLAINED[part].format(m=messages),
        "settings": library.settings(approach, workload.buffer, workload.threads, workload.n_partitions),
        "ranks": plan.ranks,
        "threads": workload.threads,
        "theta": workload.partitions_per_thread,
        "messages": messages,
        "most": max(*sends, *receives, 1),
        "steps": len(plan.phases),
        "ready": ", ".join(f"{t:.9g}" for t in plan.ready[0, 0, 0]),
        "part": part,
        "sweep": sweep,
        "blocks": what.blocks,
        "listed": () if on_grid else plan.phases[0].edges,
        "directions": _directions(workload, pattern) if on_grid else (),
        "grid": pattern.grid,
        "periodic": [int(p and not sweep) for p in pattern.periodic],
        "iterations": ITERATIONS,
    }
    return {name: _environment().get_template(template).render(fields) for name, template in FILES.items()}


def _directions(workload: Workload, pattern: Pattern) -> list[dict[str, Any]]:
    sizes = workload.sizes
    return [
        {"by": step, "bytes": int(workload.buffer if sizes is None else sizes.towards(step))} for step in pattern.steps
    ]
