"""Plans and simulations on given ranks: fields of a `Layout`, and of whom they send to; exchanges from rest one by
one."""

from dataclasses import fields
from typing import Any

from pready.model.approach.interfaces import Approach
from pready.model.engine.layout import Layout, Step
from pready.model.engine.plan import Plan
from pready.model.engine.runs import Rows, Runs
from pready.model.engine.simulate import Alone, Simulation, alone
from pready.model.engine.simulate import simulate as simulated
from pready.model.machine.machine import Machine
from pready.model.workload.exchange import SizedNeighbour
from pready.model.workload.workload import Workload

HOW = ("iterations", "seed", "cores", "record", "on_progress")
LAYOUT = tuple(f.name for f in fields(Layout))


def _on(workload: Workload, given: dict[str, Any]) -> tuple[Workload, Layout]:
    """The workload and its ranks, where its neighbours and their sizes are given as what the engine makes of them."""
    own: dict[str, Any] = {name: value for name, value in given.items() if name not in LAYOUT}
    lists, listed, sizes = (own.pop(name, None) for name in ("neighbours", "neighbour_sizes", "sizes"))
    if lists is not None:
        rows = zip(lists, listed or lists, strict=True)
        sized = [[SizedNeighbour.model_construct(to=to, size=size) for to, size in zip(*r, strict=True)] for r in rows]
        own["neighbour_list"] = tuple(map(tuple, lists if listed is None else sized))
    if sizes is not None:
        own |= vars(sizes)
    ranks = {name: value for name, value in given.items() if name in LAYOUT}
    return workload.model_copy(update=own), Layout(**ranks)


def prepared(machine: Machine, workload: Workload, approach: Approach, *, seed: int = 0, **ranks: Any) -> Plan:
    """The plan of one exchange."""
    on, layout = _on(workload, ranks)
    (plan,) = Runs(machine, Step(on, (on,), (layout,)), Rows(0, seed)).plans((approach,))
    return plan


def simulate(machine: Machine, workload: Workload, approach: Approach, **given: Any) -> Simulation:
    """As the engine's, of ranks among the arguments."""
    on, layout = _on(workload, {name: value for name, value in given.items() if name not in HOW})
    how = {name: value for name, value in given.items() if name in HOW}
    return simulated(machine, on, approach, layout, **how)


def each(of: Runs, approach: Approach) -> list[Alone]:
    """Every exchange from rest on the machine at its values, message by message."""
    return alone(of.plans((approach,))[0])
