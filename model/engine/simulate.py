"""Run the engine: many ranks, iteration after iteration, and what came of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.engine._kernel import Engine, KeptTimes, simulate_all
from pready.model.engine.plan import Draws, Placed, Plan, Priced, listed_price
from pready.model.engine.ranks.layout import Layout
from pready.model.engine.simulation import Simulation, messages_of, simulations
from pready.model.machine.machine import Machine
from pready.model.timeline.sampling import Sampler
from pready.model.workload.exchange import HALOS
from pready.model.workload.sizes import Sizes
from pready.model.workload.workload import Workload

if TYPE_CHECKING:  # a name of the stub alone
    from pready.model.engine._kernel import Outcome

LARGEST_SEED = 2**64 - 1
LARGEST_ITERATION = 2**32 - 1
"""Iterations (times steps of a sweep) are a 32-bit word of the counter that draws arrivals."""
LARGEST_COUNT = 2**63 - 1
GIB = 2**30
SMALL = 2**22
"""Bytes that are there without asking."""


def simulate(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    *,
    grid: Sequence[int],
    iterations: int,
    seed: int = 0,
    cores: int = 1,
    periodic: bool | Sequence[bool] = True,
    blocks: int = 1,
    sizes: Sizes | None = None,
    neighbours: Sequence[Iterable[int]] | None = None,
    neighbour_sizes: Sequence[Sequence[float]] | None = None,
    ranks_per_node: int | None = None,
    node_grid: Sequence[int] | None = None,
    thread_grid: tuple[int, int, int] | None = None,
    radix: int | None = None,
    record: bool = False,
    on_progress: Callable[[float], None] | None = None,
    chunk: int = 0,
    level: str = "",
) -> Simulation:
    """Simulate every rank of a pattern.

    Parameters
    ----------
    machine, workload, approach
        The workload's pattern decides who talks. Its own fields on ranks are not looked at: see `layout`.
    grid
        Ranks along x, y, z. A sweep takes x, y; pairs and neighbour lists take the product.
    iterations
        Exchanges of a halo, or whole sweeps of all eight octants.
    seed
        Of the arrivals: rank r's iteration k has the times `arrivals.draw(..., rank=r, first=k)`
        (of a sweep: k counts steps). Same seed, same result, on any number of cores.
    cores
        Worker threads.
    periodic
        Do halos wrap around, for all axes or for each?
    blocks
        Of a sweep, per octant (KBA): a rank computes and sends on this often.
    sizes
        Of halos: bytes by direction. Absent: the workload's buffer for all.
    neighbours
        Of pattern "neighbours": for each rank the ranks that it sends to.
    neighbour_sizes
        Bytes for each of them. Absent: the workload's buffer for all.
    ranks_per_node
        Ranks that share an adapter, and reach each other by the machine's intra-node path. Absent: one.
    node_grid
        Ranks of a node along x, y, z. Absent: so many in a row, x first.
    thread_grid
        Of halos: how a rank's threads are arranged along x, y, z, so that a face consists of the
        partitions of the threads that touch it (temucin2022 3.2). Absent: every thread has a part
        of every buffer.
    radix
        Of a broadcast: of its k-nomial tree. Absent: 2.
    record
        Keep the end of every rank and iteration (`ends_s`, `received_s`).
    on_progress
        Called about 20 times a second with the share done; raising KeyboardInterrupt stops.
    chunk
        Ranks that one core takes at a time, for tests; 0: divided evenly.
    level
        "baseline", "avx2" or "avx512"; empty: the widest the processor has.

    Returns
    -------
    What was simulated until the end, or until Ctrl-C.

    Raises
    ------
    PreadyError
        A grid that does not match the pattern; counters, times or memory that would overflow.
    """
    made = prepared(
        machine,
        workload,
        approach,
        seed=seed,
        grid=grid,
        periodic=periodic,
        blocks=blocks,
        sizes=sizes,
        neighbours=neighbours,
        neighbour_sizes=neighbour_sizes,
        ranks_per_node=ranks_per_node,
        node_grid=node_grid,
        thread_grid=thread_grid,
        radix=radix,
    )
    return run(made, iterations, cores=cores, record=record, on_progress=on_progress, chunk=chunk, level=level)


def run(made: Plan, iterations: int, **how: Any) -> Simulation:
    """Simulate a plan; arguments as of `run_step`."""
    return run_step([made], iterations, **how)[0]


def run_step(
    step: Sequence[Plan],
    iterations: int,
    *,
    cores: int = 1,
    record: bool = False,
    on_progress: Callable[[float], None] | None = None,
    chunk: int = 0,
    level: str = "",
    keep_from: int | None = None,
) -> list[Simulation]:
    """Simulate the exchanges of a step, one after the other in each iteration: a rank begins one when it has ended
    the one before.

    Parameters
    ----------
    keep_from
        Keep the records of all ranks from this iteration on (`recorded.py` reads them).

    Returns
    -------
    One simulation per exchange; `together` adds them up.
    """
    ranks = step[0].pattern.ranks
    _check(step, iterations, cores)
    try:
        engine = Engine([p.numbers for p in step], level)
    except ValueError as error:
        raise PreadyError(str(error), valid="baseline, or a level this processor has") from None
    rows = iterations * len(step)
    kept = 0 if keep_from is None else (iterations - keep_from) * len(step) * step[0].steps
    need = engine.memory(cores, chunk) + (16 * ranks * rows if record else 0)
    need += 8 * ranks * engine.widest_record * (kept + 1 if kept else 0)
    _check_memory(need, ranks)
    ends = np.empty((rows, ranks)) if record else None
    received = np.empty((rows, ranks)) if record and step[0].steps == 1 else None
    records = np.empty((kept, ranks, engine.widest_record)) if kept else None
    began = time.perf_counter()
    out = engine.run(
        iterations,
        cores,
        chunk,
        ends=ends,
        received=received,
        kept=records,
        kept_from=(keep_from or 0) * len(step) * step[0].steps,
        poll=on_progress,
    )
    wall = time.perf_counter() - began
    done, of_ranks = out["iterations"] * len(step), step[0].pattern.alone or ranks
    return [
        replace(
            of,
            wall_s=wall,
            cores=1 if step[0].steps > 1 else cores,
            memory_bytes=need,
            level=engine.level,
            ends_s=None if ends is None else ends[e : done : len(step), :of_ranks],
            received_s=None if received is None else received[e : done : len(step), :of_ranks],
            records=None if records is None else records[e :: len(step)],
        )
        for e, of in enumerate(simulations(step, out))
    ]


Job = tuple[Sequence[Priced], int]
"""The exchanges of a step, each at its prices, and for how many iterations."""


def run_all(
    jobs: Sequence[Job], cores: int, kept: KeptTimes | None = None, only: int | None = None
) -> list[list[list[Simulation]]]:
    """Simulate steps, each at its prices for so many iterations, in one call of the kernel.

    Parameters
    ----------
    kept
        Ready times of earlier calls, to which those of this are added: no result changes by them.
    only
        The exchange of each step to report; absent, all.

    Returns
    -------
    By job, row and exchange, what `run_step` gives of it alone, to the last bit, on any number of cores; how long
    each took, and on how many cores, is not known.

    Raises
    ------
    PreadyError
        As `run`.
    KeyboardInterrupt
        Ctrl-C.
    """
    return [
        [
            [
                s if s.seed == of.seeds[row] else replace(s, seed=of.seeds[row])
                for s, of in zip(simulations(_plans(step), out, only), _reported(step, only), strict=True)
            ]
            for row, out in enumerate(rows)
        ]
        for (step, _), rows in zip(jobs, _outcomes(jobs, cores, kept), strict=True)
    ]


def means_s(
    jobs: Sequence[Job], firsts: Sequence[int], cores: int, number: int | None = None, kept: KeptTimes | None = None
) -> list[Array]:
    """Mean times after each job's first iterations: of the communication of exchange `number` (of a sweep, of one of
    its exchanges) or, absent, of the whole step, and of an iteration. `kept` is as of `run_all`.

    Returns
    -------
    By job, an array of shape (rows, 2).
    """

    def means(step: Sequence[Plan], first: int, rows: Sequence[Outcome]) -> Array:
        for out in rows:
            if out["overflowed"]:
                simulations(step, out)  # says so
        # Iterating and computing, by row, iteration and exchange.
        sums = np.stack([out["sums"][:, :2] for out in rows]).reshape(len(rows), -1, len(step), 2)
        each = sums[:, first:] / step[0].pattern.counted
        whole = each.sum(axis=2)
        of, steps = (whole, 1) if number is None else (each[:, :, number], step[number].steps)
        return np.stack([(of[:, :, 0] - of[:, :, 1]).mean(axis=1) / steps, whole[:, :, 0].mean(axis=1)], axis=1)

    return [
        means(_plans(step), first, rows)
        for (step, _), first, rows in zip(jobs, firsts, _outcomes(jobs, cores, kept), strict=True)
    ]


def _reported(step: Sequence[Priced], only: int | None) -> Sequence[Priced]:
    return step if only is None else [step[only]]


def _plans(step: Sequence[Priced]) -> list[Plan]:
    return [of.plan for of in step]


def _outcomes(jobs: Sequence[Job], cores: int, kept: KeptTimes | None = None) -> list[list[Outcome]]:
    for step, iterations in jobs:
        _check(_plans(step), iterations, cores)
    return simulate_all(
        [([(p.plan.numbers, p.prices, list(p.seeds)) for p in step], n) for step, n in jobs], cores, kept=kept
    )


def prepared(machine: Machine, workload: Workload, approach: Approach, *, seed: int = 0, **ranks: Any) -> Plan:
    """The checked numbers of one run; arguments as of `simulate`, `ranks` those of `Layout`."""
    of = Layout(**ranks)
    if not 0 <= seed <= LARGEST_SEED:
        raise PreadyError(f"seed = {seed}", valid="0 to 2^64 - 1")
    if of.blocks < 1:
        raise PreadyError(f"blocks = {of.blocks}", valid="at least 1")
    if of.sizes is not None:
        if workload.pattern not in HALOS:
            raise PreadyError(
                f"sizes by direction with pattern = {workload.pattern!r}", valid=" or ".join(map(repr, HALOS))
            )
        for size in (*of.sizes.faces, *of.sizes.edges, of.sizes.corner):
            if not size > 0:
                raise PreadyError(f"a size of {size:g} B for a neighbour", valid="greater than 0")
    price = listed_price(Sampler(machine), workload)
    return Placed(machine, workload, of).priced(approach, price, Draws((0,), (seed,))).plan


def _check(step: Sequence[Plan], iterations: int, cores: int) -> None:
    steps, messages = max(p.steps for p in step), sum(map(messages_of, step))
    if iterations < 1:
        raise PreadyError(f"iterations = {iterations}", valid="at least 1")
    if iterations * steps > LARGEST_ITERATION:
        raise PreadyError(
            f"iterations = {iterations}" + (f" of {steps} steps" if steps > 1 else ""),
            valid=f"at most {LARGEST_ITERATION // steps}: a 32-bit counter draws the arrivals",
        )
    if not 1 <= cores <= 4096:
        raise PreadyError(f"cores = {cores}", valid="1 to 4096")
    if messages * iterations > LARGEST_COUNT:
        raise PreadyError(f"{messages} messages × {iterations} iterations", valid="at most 2^63 - 1")


def available_memory() -> int:
    """Bytes that this process can still take: of the machine, or of its control group."""
    free = []
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free.append(int(line.split()[1]) * 1024)
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            free.append(int(limit) - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    if not free:
        free.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return max(0, min(free))


def _check_memory(need: int, ranks: int) -> None:
    if need < SMALL:  # asking takes longer than simulating so little
        return
    have = available_memory()
    if need > have:
        raise PreadyError(
            f"{ranks} ranks need {need / GIB:.2f} GiB, {have / GIB:.2f} GiB are available",
            valid="fewer ranks, fewer transport partitions, or no record of every rank",
        )
