"""A workload's exchanges as a small C program, bulk and ported side by side: a model of the port."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from textwrap import fill, wrap
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pready.calibrate.measure.exchange_plan import ExchangePlan, step_plan
from pready.model.approach.interfaces import MANY, PART, PART_AM, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.errors import PreadyError
from pready.model.engine.ranks.layout import Layout, of_a_step
from pready.model.engine.ranks.pattern import Pattern
from pready.model.version import VERSION
from pready.model.workload.workload import Workload

PORTABLE = (PART, PART_AM, MANY)
"""Interfaces that a program is written for."""
FILES = {"exchange.c": "exchange.c.jinja", "Makefile": "Makefile.jinja"}
EXPLAINED = {
    True: "each buffer is one partitioned send of {m} partitions, and threads say which are ready as soon as they are "
    "(MPI_Pready)",
    False: "each buffer goes in {m} persistent messages, started by the thread that completes them",
}
WIDTH = 116
"""Of the text in comments."""
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
        Of the ported half, for each exchange of the workload: "part" in all, or "many".
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
    several = len(parts) > 1
    words = _words(several, stepped=several or len(phases) > 1)
    axes = [] if several else _axes(parts[0], of_a_step(workload)[0].pattern(parts[0]))
    fields: dict[str, Any] = {
        "name": " ".join(workload.name.split()).replace("*/", "* /") or "a workload",
        "several": several,
        "version": VERSION,
        "ported": f"{approaches[0].name}, {counts} of each buffer",
        "explained": wrap(
            f"A rank's {workload.threads} threads own as many partitions each of every buffer. Today all threads meet, "
            f"then one sends each buffer in one message. Ported, {EXPLAINED[part].format(m=counts)}.",
            WIDTH,
        ),
        "settings": [
            *dict.fromkeys(chain(*(_settings(library, w, a) for w, a in zip(parts, approaches, strict=True))))
        ],
        "ranks": first.ranks,
        "threads": workload.threads,
        "kinds": kinds,
        "partitions": max(k["partitions"] for k in kinds),
        "messages": max(messages),
        "per": "" if part else f" * {words['M']}",
        **words,
        "counted": any(k["partitions"] != k["messages"] for k in kinds),
        "most": max(*sends, *receives, 1),
        "steps": len(phases),
        "part": part,
        "sweep": first.phases[0].receives_first,
        "blocks": workload.blocks,
        "listed": [
            _braces([*([i] if several else []), e.sender, e.receiver, e.tag, e.bytes])
            for i, k in enumerate(kinds)
            for e in k["edges"]
        ],
        "axes": axes,
        "directions": [
            _braces([*([i] if several else []), d["tag"], _braces(d["by"]), d["bytes"]])
            for i, k in enumerate(kinds)
            for d in ([] if axes else k["directions"])
        ],
        "grid": kinds[0]["grid"],
        "periodic": _braces([_braces(k["periodic"]) for k in kinds]) if several else _braces(kinds[0]["periodic"]),
        "iterations": ITERATIONS,
    }
    return {name: _environment().get_template(template).render(fields) for name, template in FILES.items()}


def _words(several: bool, *, stepped: bool) -> dict[str, Any]:
    """What C calls things: a step's own where there are several, else what there is once."""
    return {
        "stepped": stepped,
        "S": "s->" if stepped else "",
        "A": "Step *s, " if stepped else "",
        "C": "s, " if stepped else "",
        "P": "s->kind->partitions" if several else "PARTITIONS",
        "M": "s->kind->messages" if several else "MESSAGES",
    }


def _braces(values: Sequence[object]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def _list(values: Sequence[str]) -> str:
    """In one line where they are few."""
    line = _braces(values)
    return (
        line
        if len(line) < WIDTH / 2
        else "{\n" + fill(line[1:-1], WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4) + "}"
    )


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
        "ready": _list([f"{t:.9g}" for t in plan.ready[0, 0, 0]]),
        "grid": pattern.grid,
        "periodic": [int(p and pattern.name != "sweep3d") for p in pattern.periodic],
        "directions": _directions(workload, pattern) if on_grid else [],
        "edges": () if on_grid else plan.phases[0].edges,
    }


def _axes(workload: Workload, pattern: Pattern) -> list[dict[str, Any]]:
    """Of a grid whose ranks have neighbours along axes alone, the outermost first, as `MPI_Cart_create` counts."""
    if pattern.name not in ("halo3d", "sweep3d"):
        return []
    sweep, sizes = pattern.name == "sweep3d", workload.sizes
    ups = [tuple(int(i == axis) for i in range(3)) for axis in range(3)]
    return [
        {
            "ranks": n,
            "periodic": int(wraps and not sweep),
            "bytes": int(workload.buffer if sizes is None else sizes.towards((x, y, z))),
        }
        for axis, (n, wraps, (x, y, z)) in reversed([*enumerate(zip(pattern.grid, pattern.periodic, ups, strict=True))])
        if (axis < 2 if sweep else n > 1)
    ]


def _directions(workload: Workload, pattern: Pattern) -> list[dict[str, Any]]:
    """Those in which any rank has a neighbour."""
    sizes = workload.sizes
    return [
        {"tag": tag, "by": step, "bytes": int(workload.buffer if sizes is None else sizes.towards(step))}
        for tag, step in enumerate(pattern.steps)
        if all(n > 1 for n, by in zip(pattern.grid, step, strict=True) if by)
    ]
