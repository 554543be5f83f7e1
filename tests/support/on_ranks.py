"""Plans and simulations on ranks that are given by the fields of a `Layout`; exchanges from rest one by one."""

from typing import Any

from pready.model.approach.interfaces import Approach
from pready.model.engine.layout import Layout
from pready.model.engine.plan import Plan
from pready.model.engine.runs import Runs
from pready.model.engine.simulate import Alone, Simulation, alone, plan
from pready.model.engine.simulate import simulate as simulated
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload

HOW = ("iterations", "seed", "cores", "record", "on_progress")


def prepared(machine: Machine, workload: Workload, approach: Approach, *, seed: int = 0, **ranks: Any) -> Plan:
    """The plan of one exchange."""
    return plan(machine, workload, approach, Layout(**ranks), seed)


def simulate(machine: Machine, workload: Workload, approach: Approach, **given: Any) -> Simulation:
    """As the engine's, of ranks among the arguments."""
    ranks = {name: value for name, value in given.items() if name not in HOW}
    how = {name: value for name, value in given.items() if name in HOW}
    return simulated(machine, workload, approach, Layout(**ranks), **how)


def each(of: Runs, approach: Approach) -> list[Alone]:
    """Every exchange from rest on the machine at its values, message by message."""
    return alone(of.plans((approach,))[0])
