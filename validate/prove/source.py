"""A workload's exchanges as a small C program, bulk and ported side by side: what the port will look like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pready.calibrate.exchange_plan import ExchangePlan, step_plan
from pready.model.approach import MANY, PART, PART_AM, Approach
from pready.model.engine.layout import Layout, of_a_step
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


def program(workload: Workload, approaches: Sequence[Approach], library: LibraryProfile, seed: int) -> dict[str, str]:
    """The program's files by name.

    Parameters
    ----------
    approaches
        What the ported half does, for each exchange of the workload: "part" in all, or "many".
    library
        Whose settings the head names.
    seed
        Of the moments at which partitions are ready: those of rank 0's first iteration.

    Raises
    ------
    PreadyError
        An approach that no program is written for, or a workload that cannot be performed.
    """
    for approach in approaches:
        if approach.interface not in PORTABLE:
            raise PreadyError(f"approach = '{approach.interface.key}' has no program", valid="part or many")
    if any(w.thread_grid is not None for w in workload.parts):
        raise PreadyError("thread_grid has no program: its threads own a part of every buffer", valid="no thread_grid")
    parts, plans = workload.parts, step_plan(workload, 1, seed).exchanges
    part = approaches[0].interface.partitioned
    messages = [
        w.n_partitions if a.interface is PART_AM else a.transport_partitions
        for w, a in zip(parts, approaches, strict=True)
    ]
    kinds = [_kind(*one) for one in zip(parts, of_a_step(workload), plans, messages, strict=True)]
    first = plans[0]
    phases = [p for plan in plans for p in plan.phases]
    sends = [[e.sender for e in p.edges].count(r) for p in phases for r in range(first.ranks)]
    receives = [[e.receiver for e in p.edges].count(r) for p in phases for r in range(first.ranks)]
    counts = "/".join(map(str, dict.fromkeys(messages)))
    fields: dict[str, Any] = {
        "name": " ".join(workload.name.split()).replace("*/", "* /") or "a workload",
        "several": len(parts) > 1,
        "version": VERSION,
        "ported": f"{approaches[0].name}, {counts} of each buffer",
        "explained": EXPLAINED[part].format(m=counts),
        "settings": [
            *dict.fromkeys(chain(*(_settings(library, w, a) for w, a in zip(parts, approaches, strict=True))))
        ],
        "ranks": first.ranks,
        "threads": workload.threads,
        "kinds": kinds,
        "partitions": max(k["partitions"] for k in kinds),
        "messages": max(messages),
        "per": "" if part else " * messages",
        "most": max(*sends, *receives, 1),
        "steps": len(phases),
        "part": part,
        "sweep": first.phases[0].receives_first,
        "blocks": workload.blocks,
        "listed": [{"kind": i, "edge": e} for i, k in enumerate(kinds) for e in k["edges"]],
        "directions": [{"kind": i, **d} for i, k in enumerate(kinds) for d in k["directions"]],
        "grid": kinds[0]["grid"],
        "iterations": ITERATIONS,
    }
    return {name: _environment().get_template(template).render(fields) for name, template in FILES.items()}


def _settings(library: LibraryProfile, workload: Workload, approach: Approach) -> list[str]:
    return library.settings(approach, workload.buffer, workload.threads, workload.n_partitions)


def _kind(workload: Workload, of: Layout, plan: ExchangePlan, messages: int) -> dict[str, Any]:
    """One exchange: its neighbours by direction of the grid, or edge by edge."""
    pattern = of.pattern(workload)
    on_grid = pattern.name not in ("pt2pt", "neighbours")
    return {
        "name": " ".join(workload.name.split()).replace("*/", "* /") or "the exchange",
        "partitions": workload.n_partitions,
        "messages": messages,
        "ready": ", ".join(f"{t:.9g}" for t in plan.ready[0, 0, 0]),
        "grid": pattern.grid,
        "periodic": [int(p and pattern.name != "sweep3d") for p in pattern.periodic],
        "directions": _directions(workload, pattern) if on_grid else [],
        "edges": () if on_grid else plan.phases[0].edges,
    }


def _directions(workload: Workload, pattern: Pattern) -> list[dict[str, Any]]:
    sizes = workload.sizes
    return [
        {"tag": tag, "by": step, "bytes": int(workload.buffer if sizes is None else sizes.towards(step))}
        for tag, step in enumerate(pattern.steps)
    ]
