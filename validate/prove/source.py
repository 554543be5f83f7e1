"""A workload's exchanges as a small program, bulk and ported side by side: a model of the port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from textwrap import fill, wrap
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pready.calibrate.measure.exchange_plan import ExchangePlan, step_plan
from pready.model.approach.interfaces import INTERFACES, PART_AM, Approach, Interface
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Layout, of_a_step
from pready.model.version import VERSION
from pready.model.workload.edges import Table
from pready.model.workload.workload import Workload

EXPLAINED = {
    "MPI_Psend": "each buffer is one partitioned send of {m} partitions, and threads say which are ready as soon as "
    "they are (MPI_Pready)",
    "MPI_Send": "each buffer goes in {m} persistent messages, started by the thread that completes them",
    "MPI_Put": "each buffer goes in {m} puts, each by the thread that completes it",
}
EPOCHS = {
    "active": "MPI_Win_post and MPI_Win_wait by who receives, MPI_Win_start and MPI_Win_complete by who sends",
    "passive": "one MPI_Win_lock_all for the whole run, MPI_Win_flush, and empty messages that say when a buffer may "
    "be written and when it has been",
}
WIDTH = 116
"""Columns of the text in comments."""
ITERATIONS = 20  # of a program that is written


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


LANGUAGES = {
    "c": {"exchange.c": "exchange.c.jinja", "Makefile": "Makefile.jinja"},
    "fortran": {"exchange.f90": "exchange.f90.jinja", "Makefile": "Makefile.jinja"},
    "python": {"exchange.py": "exchange.py.jinja"},
}
"""Files by name, and their templates."""


def has_program(interface: Interface, language: str = "c") -> bool:
    """Is a program written for it? Its requests or windows are set up once, and an MPI library can do it."""
    if interface.needs or not (interface.one_sided or interface.partitioned or interface.persistent):
        return False
    if interface.boundary_first or interface.tests or interface.all_pack or interface.progress_thread:
        return False
    fits = {
        "c": True,
        "fortran": not interface.one_sided,
        "python": not interface.one_sided and interface.mechanism != "communicators",
    }
    return fits[language]


def _refuse(workload: Workload, approaches: Sequence[Approach], library: LibraryProfile, language: str) -> None:
    for approach in approaches:
        if not has_program(approach.interface, language):
            known = dict.fromkeys(i.key for i in INTERFACES if has_program(i, language) and not i.active_message)
            raise PreadyError(
                f"approach = '{approach.interface.key}' has no program in {language.capitalize()}",
                valid=", ".join(known),
            )
    keys = {a.interface.key for a in approaches}
    if len(keys) > 1:
        raise PreadyError(f"a program has one interface, not {', '.join(sorted(keys))}", valid="one --approach for all")
    if any(w.interior is not None for w in workload.parts):
        raise PreadyError("interior has no program: what threads compute is one piece", valid="no interior")
    if any(w.blocks_of_threads is not None for w in workload.parts):
        raise PreadyError("thread_grid has no program: its threads own a part of every buffer", valid="no thread_grid")
    for part, approach in zip(workload.parts, approaches, strict=True):
        _refuse_parts(part, approach, library)
    if language != "c" and (len(workload.parts) > 1 or workload.pattern == "sweep3d"):
        what = "a step of several exchanges" if len(workload.parts) > 1 else "pattern = 'sweep3d'"
        raise PreadyError(f"{what} has no program in {language.capitalize()}", valid="--source c")


def _refuse_parts(workload: Workload, approach: Approach, library: LibraryProfile) -> None:
    """Messages that do not consist of what threads mark ready or work on."""
    received, partitioned = workload.receive_partitions, approach.interface.partitioned
    if received is None or workload.consume is None:
        return
    if partitioned and library.told_if_alike and _messages(workload, approach) != received:
        raise PreadyError(
            f"{_messages(workload, approach)} partitions sent, {received} received and worked on (consume): "
            f"MPI_Parrived of {library.name} tells of others",
            valid=f"as many at both ends: --approach {approach.interface.key}:{received}",
        )
    if not partitioned and received % approach.messages:
        raise PreadyError(
            f"{approach.messages} messages do not divide {received} receive_partitions",
            valid="a divisor of them, where a receiver works on each (consume)",
        )


def _messages(workload: Workload, approach: Approach) -> int:
    """How the program sends one buffer."""
    return workload.n_partitions if approach.interface is PART_AM else approach.messages


def program(
    workload: Workload, approaches: Sequence[Approach], library: LibraryProfile, seed: int, language: str = "c"
) -> dict[str, str]:
    """The program's files by name.

    Raises PreadyError: an approach that no program is written for, or a workload that cannot be performed.

    Parameters
    ----------
    approaches
        Of the ported half, for each exchange of the workload; one interface in all.
    library
        Whose settings the head names.
    seed
        Of the moments at which partitions are ready: those of rank 0's first iteration.
    language
        "c", "fortran" (mpi_f08) or "python" (mpi4py).
    """
    _refuse(workload, approaches, library, language)
    parts, plans = workload.parts, step_plan(workload, 1, seed).exchanges
    interface = approaches[0].interface
    messages = [_messages(w, a) for w, a in zip(parts, approaches, strict=True)]
    kinds = [_kind(*one) for one in zip(parts, of_a_step(workload), plans, messages, strict=True)]
    consumed = any(w.consume is not None for w in parts)
    received = interface.partitioned and any(w.receive_partitions is not None for w in parts)
    first = plans[0]
    sends, receives = (Counter((i, e.phase, e[end]) for i, p in enumerate(plans) for e in p.edges) for end in (1, 2))
    counts = "/".join(map(str, dict.fromkeys(messages)))
    several = len(parts) > 1
    words = _words(several, stepped=several or first.phases > 1, received=received)
    corners = 1 + max((d["part"] for d in kinds[0]["directions"]), default=0)
    many, splits = interface.mechanism == "communicators", interface.splits or interface.partitioned
    ported = f"{interface.name}, {counts} of each buffer"
    settings = (
        library.settings(a, w.buffer, w.threads, w.n_partitions) for w, a in zip(parts, approaches, strict=True)
    )
    fields: dict[str, Any] = {
        "language": language,
        "title": wrap(
            f"The exchange{'s' * several} of {_one_line(workload.name) or 'a workload'}, as today (bulk) and ported "
            f"({ported}), side by side. Written by pready {VERSION}; the ported half is what to carry over.",
            WIDTH,
        ),
        "several": several,
        "ported": ported,
        "explained": wrap(_explained(workload, interface, counts), WIDTH),
        "settings": [*dict.fromkeys(chain(*settings))],
        "ranks": first.ranks,
        "threads": workload.threads,
        "kinds": kinds,
        "partitions": max(k["partitions"] for k in kinds),
        "messages": max(messages),
        **words,
        "per": f" * {words['message_count']}" if many else "",
        "counted": splits and any(k["partitions"] != k["messages"] for k in kinds),
        "most": max(*sends.values(), *receives.values()),
        "steps": sum(p.phases for p in plans),
        "part": interface.partitioned,
        "many": many,
        "consumed": consumed,
        "early": consumed and splits,
        "received": received,
        "own": many and interface.completes == "threads",
        "splits": splits,
        "rma": interface.one_sided,
        "active": interface.sync == "active",
        "windows": interface.windows_per_thread,
        "sweep": first.receives_first,
        "corners": corners,
        "blocks": workload.blocks,
        "edges": [(e.sender, e.receiver, e.tag, e.bytes) for e in kinds[0]["edges"]],
        "listed": [
            _braces([*([i] if several else []), e.sender, e.receiver, e.tag, e.bytes])
            for i, k in enumerate(kinds)
            for e in k["edges"]
        ],
        "steps_of_grid": kinds[0]["directions"],
        "directions": [
            _braces([*([i or d["part"]] if several or corners > 1 else []), d["tag"], _braces(d["by"]), d["bytes"]])
            for i, k in enumerate(kinds)
            for d in k["directions"]
        ],
        "grid": kinds[0]["grid"],
        "wraps": kinds[0]["periodic"],
        "periodic": _braces([_braces(k["periodic"]) for k in kinds]) if several else _braces(kinds[0]["periodic"]),
        "iterations": ITERATIONS,
    }
    return {
        name: _environment().get_template(template).render(fields) for name, template in LANGUAGES[language].items()
    }


def _one_line(name: str) -> str:
    return " ".join(name.split()).replace("*/", "* /")


def _explained(workload: Workload, interface: Interface, counts: str) -> str:
    """What today's half and the ported half do."""
    worked_on = any(w.consume is not None for w in workload.parts)
    after = ", and threads work on what has come" if worked_on else ""
    today = (
        f"A rank's {workload.threads} threads own as many partitions each of every buffer. Today all threads "
        f"meet, then one sends each buffer in one message{after}. Ported, "
    )
    if not interface.splits and not interface.partitioned:
        return f"{today}the same with requests that are set up once (MPI_Send_init)."
    said = f"{today}{EXPLAINED[interface.call].format(m=counts)}."
    if interface.one_sided:
        each = "A window for each message, and an epoch for each: " if interface.windows_per_thread else "One window: "
        return f"{said} {each}{EPOCHS[interface.sync]}."
    if interface.mechanism == "communicators":
        own = "Each thread helps its own on their way" if worked_on else "Each thread completes its own"
        who = own if interface.completes == "threads" else "One thread completes all"
        said = f"{said} {who}."
    return f"{said} What comes is worked on partition by partition, as soon as it is there." if worked_on else said


def _words(several: bool, *, stepped: bool, received: bool) -> dict[str, Any]:
    """What C calls things: a step's own where there are several, else what there is once.

    A function has a `step_parameter`, its calls a `step_argument`; what a step or its kind of exchange has is reached
    by `at_step` and `at_kind`.
    """
    messages, kind = ("s->kind->messages", "s->kind->") if several else ("MESSAGES", "")
    return {
        "stepped": stepped,
        "at_step": "s->" if stepped else "",
        "step_parameter": "Step *s, " if stepped else "",
        "step_argument": "s, " if stepped else "",
        "at_kind": kind,
        "partition_count": "s->kind->partitions" if several else "PARTITIONS",
        "message_count": messages,
        "received_count": ("s->kind->received" if several else "RECEIVED") if received else messages,
        "unit_count": "s->kind->units" if several else "UNITS",
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


def _kind(workload: Workload, of: Layout, plan: ExchangePlan, messages: int) -> dict[str, Any]:
    """One exchange: its neighbours by direction of the grid, or edge by edge."""
    pattern = of.pattern(workload)
    on_grid = bool(pattern.steps)
    does = workload.consume
    times = [f"{t:.9g}" for t in plan.ready[0, 0, 0]]
    return {
        "name": _one_line(workload.name) or "the exchange",
        "partitions": workload.n_partitions,
        "messages": messages,
        "received": workload.receive_partitions or messages,
        "units": workload.receive_partitions or workload.n_partitions,
        "consumers": 0 if does is None else does.threads or workload.threads,
        "work_s": f"{(does and does.time) or 0.0:.9g}",
        "work_s_per_byte": f"{(does and does.per_byte) or 0.0:.9g}",
        "ready": _list(times),
        "times": [t if "." in t or "e" in t else f"{t}.0" for t in times],
        "grid": pattern.grid,
        "periodic": [int(workload.boundaries == "periodic" and not plan.receives_first)] * 3,
        "directions": _directions(workload, pattern.tables) if on_grid else [],
        "edges": () if on_grid else plan.edges,
    }


def _directions(workload: Workload, tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Directions in which any rank has a neighbour, of one part of a step after the other."""
    return [
        {"part": part, "tag": tag, "by": step, "bytes": int(table.bytes(0, tag, workload.buffer, workload.sizes, None))}
        for part, table in enumerate(tables)
        for tag, step in enumerate(table.steps)
        if (table.receivers[:, tag] >= 0).any()
    ]
