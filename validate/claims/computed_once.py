"""Machines, evaluations and simulations that claims share, each made once per validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from pready.model.advice.predict import as_used_by
from pready.model.approach.interfaces import BY_KEY, Approach, whole
from pready.model.approach.libraries import library, mpich_6314_messages
from pready.model.approach.vcis import check_transport_partitions
from pready.model.common import units
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError, shown
from pready.model.engine.evaluate import Evaluation, plans
from pready.model.engine.layout import Layout
from pready.model.engine.messages import partitions_per_direction
from pready.model.engine.plan import Compiler
from pready.model.engine.simulation import Simulation, run_all, run_step, together
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.timeline.sampling import Sampler
from pready.model.toml.provenance import Strict, Value
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

SAMPLES = 64
"""Iterations drawn for a prediction: the mean of a claim's figure moves by less than 1 % between seeds."""


DRAWS = 40
"""How often a machine is drawn from its intervals, where a prediction's interval is asked for."""


class MachineTable(Strict):
    """A shipped profile, with some of its values changed."""

    profile: str
    library: str | None = None
    """The library to predict for (`pready.model.advice.predict.as_used_by`); absent: its own."""
    set: dict[str, str | float | int | bool] = Field(default_factory=dict)
    """Dotted name of a value, as in the file, to the value with its unit."""


class ApproachTable(Strict):
    """An interface by its key, with transport partitions and VCIs."""

    interface: str
    transport_partitions: int | Literal["all"] = 1
    """"all": one message for each user partition; with a thread grid, as many as every direction has."""
    vcis: int = 1
    aggregate: units.Size | None = None
    """MPIR_CVAR_PART_AGGR_SIZE: what pmodels/mpich#6314 makes of the transport partitions."""

    def of(self, workload: Workload) -> Approach:
        if self.interface not in BY_KEY:
            raise PreadyError(f"interface = {shown(self.interface)} is unknown", valid=", ".join(BY_KEY))
        n = partitions_per_direction(workload)
        transports = n if self.transport_partitions == "all" else self.transport_partitions
        if self.aggregate is not None:
            transports = mpich_6314_messages(transports, transports, workload.buffer, self.aggregate)
        if BY_KEY[self.interface].splits:
            check_transport_partitions(transports, n)
        return Approach(BY_KEY[self.interface], transports, self.vcis)


def changed(table: Any, path: list[str], value: object) -> Any:
    """A copy of a machine (or a part of one) with the value at `path` replaced."""
    head, *rest = path
    if isinstance(table, tuple) and head.isdigit() and int(head) < len(table):
        i = int(head)
        return (*table[:i], changed(table[i], rest, value), *table[i + 1 :])
    if not isinstance(table, Strict) or head not in type(table).model_fields:
        raise PreadyError(f"{head} is not a value of a machine", valid="a dotted name, such as inter.segments.0.L")
    item = getattr(table, head)
    if rest:
        return table.model_copy(update={head: changed(item, rest, value)})
    if not isinstance(item, Value):
        raise PreadyError(f"{head} is not a single value", valid="a name that ends at a value")
    new = validated(type(item), {"value": value, "source": "assumed", "why": "set by the claim"}, head)
    return table.model_copy(update={head: new})


@dataclass
class Lab:
    """The inputs that one validation computes with.

    `change` is applied to every machine: a negative control makes all of them wrong with it. Only simulations are
    drawn, not evaluations.
    """

    seed: int = 0
    change: Callable[[Machine], Machine] | None = None
    draws: int = 0
    """How many machines are drawn from the intervals, beside the values."""
    draw: int = 0
    """The one that is computed with, from 1 on; 0 takes every value as it stands."""
    _machines: dict[Any, Machine] = field(default_factory=dict, repr=False)
    _evaluations: dict[Any, Evaluation] = field(default_factory=dict, repr=False)
    _simulations: dict[Any, Sequence[Simulation]] = field(default_factory=dict, repr=False)

    def drawn(self) -> list[Lab]:
        """A lab for each of the draws; what one computes is there for the others."""
        return [replace(self, draw=n) for n in range(1, 1 + self.draws)]

    @staticmethod
    def _key(table: MachineTable) -> tuple[Any, ...]:
        return table.profile, table.library, *sorted(table.set.items())

    def machine(self, table: MachineTable) -> Machine:
        """The profile, changed as the claim says."""
        key = self._key(table)
        if key not in self._machines:
            # The papers set up before they time.
            made = machines.load(table.profile).model_copy(update={"begin": None})
            if table.library is not None:
                made = as_used_by(made, library(table.library))
            if self.change is not None:
                made = self.change(made)
            for name, value in table.set.items():
                made = changed(made, name.split("."), value)
            self._machines[key] = made
        return self._machines[key]

    def evaluation(self, table: MachineTable, workload: Workload) -> Evaluation:
        """Exchanges from rest of a workload, the machine's parameters taken at their values."""
        key = self._key(table), workload
        if key not in self._evaluations:
            self._evaluations[key] = Evaluation(
                self.machine(table), workload, self.seed, draws=0, alone=True, samples=SAMPLES
            )
        return self._evaluations[key]

    def simulation(
        self, table: MachineTable, workload: Workload, approach: Approach, iterations: int, **ranks: Any
    ) -> Simulation:
        """Many ranks; `ranks` are `Layout`'s. All draws at once, the same for every claim."""
        key = self._key(table), workload, approach, iterations, repr(sorted(ranks.items()))
        if key not in self._simulations:
            machine, rows = self.machine(table), range(1 + self.draws)
            sampler = Sampler(machine, self.draws, seed=self.seed, lead=1)
            made = Compiler(machine, workload, Layout(**ranks)).sampled(approach, sampler, self.seed, rows)
            (out,) = run_all([([made], iterations)], 1)
            self._simulations[key] = [of for (of,) in out]
        return self._simulations[key][self.draw]

    def sampler(self, table: MachineTable) -> Sampler:
        """All draws of a machine; the first takes every value as it stands."""
        return Sampler(self.machine(table), self.draws, seed=self.seed, lead=1)

    def ends(self, table: MachineTable, workload: Workload, approach: Approach, **ranks: Any) -> Array:
        """When each rank ends one exchange that all began at 0; arguments as of `simulation`."""
        compiler, row = Compiler(self.machine(table), workload, Layout(**ranks)), range(self.draw, self.draw + 1)
        made = compiler.sampled(approach, self.sampler(table), self.seed, row)
        ends = run_step([made], 1, record=True)[0].ends_s
        assert ends is not None
        return np.asarray(ends[0])

    def step(
        self, table: MachineTable, workload: Workload, approaches: Sequence[Approach], iterations: int
    ) -> Simulation:
        """A step of several exchanges, each in a way of its own, as a whole."""
        key = self._key(table), workload, tuple(approaches), iterations
        if key not in self._simulations:
            made = plans(self.machine(table), workload, approaches, self.seed)
            self._simulations[key] = [together(run_step(made, iterations), whole(approaches))]
        return self._simulations[key][0]
