"""Machines, evaluations and simulations that claims share, each made once per validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from pready.model.advice.predict import as_used_by
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.approach.libraries import library, mpich_6314_messages
from pready.model.approach.vcis import check_transport_partitions
from pready.model.common import units
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError, shown
from pready.model.engine.layout import Layout, Step
from pready.model.engine.messages import partitions_per_direction
from pready.model.engine.runs import Means, Rows, Runs, Way
from pready.model.engine.simulate import run_step
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.timeline.own_error import COSTS, NAME, Factor, name_of, sd
from pready.model.timeline.sampling import Sampler
from pready.model.toml.provenance import Strict, Value
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

SAMPLES = 64
"""Iterations drawn for a prediction: the mean of a claim's figure moves by less than 1 % between seeds."""
DRAWS = 40
"""How often a machine is drawn from its intervals, where a prediction's interval is asked for."""
STEP = 0.1
"""ln of the factor by which costs are more and less, to see how a figure goes with them."""


class Stepped(Sampler):
    """Machines drawn from a machine's values, the model being right; then two for each factor of the model's own error,
    at the values, whose costs are more by `STEP`, and less."""

    def normals(self, name: str) -> Array:
        """Standard normal draws of one input, shape (lead + draws,)."""
        out = super().normals(name).copy()
        values = self.rows - 2 * len(COSTS)
        out[0 if name.startswith(NAME) else values :] = 0.0
        for n, of in enumerate(COSTS):
            if name == name_of(of):
                out[values + 2 * n : values + 2 * n + 2] = np.array([STEP, -STEP]) / sd(of)
        return out


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

    `change` is applied to every machine: a negative control makes all of them wrong with it. Only runs of many ranks
    are drawn, not exchanges from rest.
    """

    seed: int = 0
    change: Callable[[Machine], Machine] | None = None
    draws: int = 0  # how many machines are drawn from the intervals, beside the values
    draw: int = 0  # the one that is computed with, from 1 on; 0 takes every value as it stands
    _machines: dict[Any, Machine] = field(default_factory=dict, repr=False)
    _runs: dict[Any, Runs] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Machines beside that of the values."""
        return self.draws and self.draws + 2 * len(COSTS)

    def drawn(self) -> list[Lab]:
        """A lab for each of the draws; what one computes is there for the others."""
        return [replace(self, draw=n) for n in range(1, 1 + self.draws)]

    def stepped(self) -> dict[Factor, tuple[Lab, Lab]]:
        """A lab for more, and one for less, of the costs of each factor of the model's own error."""
        each = [replace(self, draw=n) for n in range(1 + self.draws, 1 + self.rows)]
        return dict(zip(COSTS, zip(each[::2], each[1::2], strict=True), strict=True))

    @staticmethod
    def _key(table: MachineTable) -> tuple[Any, ...]:
        return table.profile, table.library, *sorted(table.set.items())

    def machine(self, table: MachineTable) -> Machine:
        """The profile, changed as the claim says, then made wrong."""
        key = self._key(table)
        if key not in self._machines:
            # The papers set up before they time.
            made = machines.load(table.profile).model_copy(update={"begin": None})
            if table.library is not None:
                made = as_used_by(made, library(table.library))
            for name, value in table.set.items():
                made = changed(made, name.split("."), value)
            self._machines[key] = made if self.change is None else self.change(made)
        return self._machines[key]

    def from_rest(self, table: MachineTable, workload: Workload) -> Runs:
        """Exchanges from rest of a workload, the machine's parameters taken at their values."""
        key = self._key(table), workload
        if key not in self._runs:
            self._runs[key] = Runs(self.machine(table), Step.from_rest(workload), Rows(0, self.seed, SAMPLES))
        return self._runs[key]

    def ranks(self, table: MachineTable, workload: Workload, iterations: int, layout: Layout | None = None) -> Runs:
        """Ranks that begin together, on all draws of the machine; without a layout a step's own, at the values."""
        key = self._key(table), workload, iterations, repr(layout)
        if key not in self._runs:
            step = Step.on_all_ranks(workload) if layout is None else Step(workload, (workload,), (layout,))
            rows = Rows(0 if layout is None else self.rows, self.seed, iterations, 0, only_values=True)
            self._runs[key] = Runs(self.machine(table), step, rows, 1)
            self._runs[key].sampler = self.sampler(table)
        return self._runs[key]

    def means(self, runs: Runs, way: Way) -> Means:
        """What came of a way on the draw: all draws at once, the same for every claim."""
        runs.means([way], range(1 + runs.draws))
        row = min(self.draw, runs.draws)
        return runs.means([way], range(row, row + 1))[0]

    def sampler(self, table: MachineTable) -> Sampler:
        """All draws of a machine; the first takes every value as it stands."""
        return (Stepped if self.draws else Sampler)(self.machine(table), self.rows, seed=self.seed, lead=1)

    def ends(self, runs: Runs, way: Way) -> Array:
        """When each rank ends one exchange that all began at 0, on the draw."""
        ends = run_step(runs.plans(way, self.draw), 1, record=True)[0].ends_s
        assert ends is not None
        return np.asarray(ends[0])
