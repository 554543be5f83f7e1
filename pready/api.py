"""The functions of ``import pready``: the commands, with names or objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pready.files.shipped_examples import found
from pready.model.advice import predict as predicting
from pready.model.advice.approach_by_name import approach_named
from pready.model.advice.predict import Engine
from pready.model.advice.proven import load as load_proof
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import library as library_profile
from pready.model.common.errors import PreadyError, shown
from pready.model.common.parallel import all_cores
from pready.model.common.units import Unit, fraction, parse
from pready.model.engine.simulate import Compared, Simulation
from pready.model.engine.simulate import compare as compare_on_all_ranks
from pready.model.equations import gain_numpy
from pready.model.equations.closed_form import FLOPS_PER_CYCLE, ClosedForm, closed_form
from pready.model.machine import DEFAULT
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.result.forms import to_pandas, to_polars
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.result.verdict import MIN_GAIN
from pready.model.workload import workload as workloads
from pready.model.workload.workload import Workload
from pready.show.tables.simulation import per_iteration, step_report
from pready.whatif.compute import tabulate
from pready.whatif.fields import axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Work, product, sizes_wanted
from pready.whatif.table import Table

if TYPE_CHECKING:
    from pready.model.advice.explanation import Explanation

MachineOrName = Machine | str | Path
WorkloadOrFile = Workload | str | Path
ApproachOrName = Approach | str

MOST_ITERATIONS: int = Workload.model_fields["iterations"].default
"""Default limit of simulated iterations."""


def predict(
    workload: WorkloadOrFile,
    machine: MachineOrName | None = None,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    draws: int | None = None,
    min_gain: float | str = MIN_GAIN,
    proofs: Sequence[str | Path] = (),
) -> Prediction:
    """Predict what partitioned communication and every other way to send save; ``print`` says it in words.

    Parameters
    ----------
    workload
        A workload or its file.
    machine
        A machine, the name of a profile, or a file; default: "meluxina", an example.
    library
        Name of a library profile; default: the machine's.
    seed
        Seed of arrivals and parameter draws; equal seeds give equal predictions.
    engine
        "timeline" or "engine"; default: the engine for patterns of more than two ranks.
    draws
        Draws of the machine's parameters, for the intervals; 0: none.
    min_gain
        Share of an iteration that a port has to save, such as "1 %".
    proofs
        Folders of ``pready prove``: what was measured with real MPI on this machine.

    Raises
    ------
    PreadyError
        An unknown name or an invalid value, in one line.
    """
    made = predicting.predict(
        as_machine(machine),
        as_workload(workload),
        library=_library(library),
        seed=seed,
        engine=_engine(engine),
        draws=draws,
        min_gain=_share(min_gain),
        proofs=[load_proof(Path(folder)) for folder in proofs],
    )
    return replace(made, example=machine is None)


def explain(
    workload: WorkloadOrFile,
    machine: MachineOrName | None = None,
    approach: ApproachOrName | None = None,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
) -> Explanation:
    """The equations and the steps with a machine's and a workload's numbers; arguments and errors as of `predict`.

    Parameters
    ----------
    approach
        The approach beside bulk, such as "many:8"; default: what `predict` advises.
    """
    from pready.model.advice import explanation  # SymPy takes as long to load as all else here

    what = as_workload(workload)
    return explanation.explain(
        as_machine(machine),
        what,
        None if approach is None else _approach(approach, what),
        library=_library(library),
        seed=seed,
        engine=_engine(engine),
    )


@dataclass(frozen=True)
class Simulated:
    """Bulk and an approach over many ranks, with the same arrivals."""

    machine: Machine
    workload: Workload
    library: str
    bulk: ApproachPrediction
    row: ApproachPrediction
    """The approach's times, η and metrics."""
    bulk_run: Simulation
    run: Simulation
    """The approach's iterations, and the parts of their time."""
    exchanges: tuple[Simulated, ...] = ()
    """One for each of several exchanges; the fields above are of the whole step."""

    @property
    def eta(self) -> float:
        """Bulk's communication time over the approach's."""
        return self.row.eta

    def to_dict(self) -> dict[str, Any]:
        """The object of ``pready simulate --json``."""
        by_exchange = [of._rows for of in self.exchanges]
        return step_report(self.machine, self.workload, self.library, self._rows, by_exchange)

    def to_pandas(self) -> Any:
        """A row per iteration, as a pandas data frame."""
        return to_pandas(per_iteration(self._rows))

    def to_polars(self) -> Any:
        """A row per iteration, as a polars data frame."""
        return to_polars(per_iteration(self._rows))

    @property
    def _rows(self) -> list[tuple[ApproachPrediction, Simulation]]:
        return [(self.bulk, self.bulk_run), (self.row, self.run)]

    def __repr__(self) -> str:
        ranks = " × ".join(str(n) for n in self.run.grid if n > 1)
        return (
            f"<Simulated {self.workload.name} on {self.machine.name}: {ranks} ranks, {self.row.name} {self.eta:.2f}×>"
        )


def simulate(
    workload: WorkloadOrFile,
    machine: MachineOrName | None = None,
    approach: ApproachOrName | None = None,
    *,
    library: str | None = None,
    ranks: Sequence[int] | None = None,
    iterations: int | None = None,
    seed: int = 0,
    cores: int | None = None,
    record: bool = False,
) -> Simulated:
    """Simulate every rank of a workload, iteration after iteration, beside bulk; arguments and errors as of `predict`.

    Parameters
    ----------
    approach
        Such as "many:8", for each exchange of a step; default: what `predict` advises.
    ranks
        Grid of ranks; default: the workload's.
    iterations
        Default: the workload's, at most 100.
    cores
        Worker threads; default: all.
    record
        Keep the end of every rank and iteration in `run.ends_s`.
    """
    on, what = as_machine(machine), as_workload(workload)
    if ranks is not None:
        what = what.changed(grid=tuple(ranks))
    on, profile = predicting.with_library(on, _library(library))
    what = predicting.as_sent_by(what, profile)
    if approach is None:
        chosen = predicting.advised(on, what, library=_library(library), seed=seed)
    else:
        chosen = [_approach(approach, part) for part in what.parts]
    count = iterations or min(what.iterations, MOST_ITERATIONS)
    rows, by_exchange = compare_on_all_ranks(
        on, what, chosen, iterations=count, record=record, cores=cores or all_cores(), seed=seed
    )

    def simulated(of: Workload, some: Compared, parts: tuple[Simulated, ...] = ()) -> Simulated:
        (bulk, bulk_run), (row, run) = some[0], some[-1]
        return Simulated(on, of, profile.name, bulk, row, bulk_run, run, parts)

    each = tuple(simulated(part, some) for part, some in zip(what.parts, by_exchange, strict=False))
    return simulated(what, rows, each)


def gain(
    threads: int,
    bandwidth: float | str,
    *,
    theta: int = 1,
    gamma: float | str | None = None,
    arithmetic_intensity: float | None = None,
    communication_intensity: float | None = None,
    frequency: float | str | None = None,
    epsilon: float | str = 0.0,
    delta: float | str = 0.0,
    flops_per_cycle: float = FLOPS_PER_CYCLE,
) -> ClosedForm:
    """The closed form alone: η of Eq. 4 (corrected) of gillis2023.

    Parameters
    ----------
    threads, theta
        N and θ, user partitions per thread.
    bandwidth
        β in B/s, or text such as "25 GB/s".
    gamma
        Delay rate γ in s/B, or text such as "100 us/MB"; default: Appendix A from the next arguments.
    arithmetic_intensity, communication_intensity, frequency
        Flop per byte, bytes sent per byte of memory, and Hz or text such as "3.5 GHz".
    epsilon, delta
        System noise and algorithmic imbalance: shares, or text such as "4 %".

    Raises
    ------
    PreadyError
        Neither `gamma` nor all three of its alternatives, or a value outside the domain.
    """
    beta = _quantity(bandwidth, Unit.BANDWIDTH, "bandwidth")
    given = (arithmetic_intensity, communication_intensity, frequency)
    if gamma is not None:
        if any(x is not None for x in given):
            raise PreadyError("gamma beside an intensity or a frequency", valid="gamma alone, or the other three")
        rate = _quantity(gamma, Unit.TIME_PER_BYTE, "gamma")
    else:
        if arithmetic_intensity is None or communication_intensity is None or frequency is None:
            raise PreadyError("no gamma", valid="gamma, or arithmetic_intensity, communication_intensity and frequency")
        clock = _quantity(frequency, Unit.FREQUENCY, "frequency")
        with np.errstate(all="ignore"):  # what is not finite is refused
            mu = gain_numpy.computation_rate(arithmetic_intensity, communication_intensity, clock, flops_per_cycle)
            rate = float(gain_numpy.delay_rate(mu, theta, fraction(epsilon, "epsilon"), fraction(delta, "delta")))
    return closed_form(threads, theta, rate, beta)


def sweep(
    workload: WorkloadOrFile | Sequence[WorkloadOrFile],
    over: Mapping[str, object],
    machine: MachineOrName | None = None,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    every: bool = False,
    min_gain: float | str = MIN_GAIN,
    work: Work = "per-thread",
    keep: str | Path | None = None,
    cores: int | None = None,
    executor: Executor | None = None,
) -> Table:
    """Predict every combination of some fields' values, on all cores; further arguments and errors as of `predict`.

    Parameters
    ----------
    workload
        One, or several side by side, each called by its name.
    over
        Values by dotted name: ``{"buffer": ["64 KiB", "1 MiB"], "threads": range(1, 9)}``, or as on the command line:
        ``{"buffer": "64KiB:4MiB:2x"}``. "machine", "library" and "seed" are fields, too.
    every
        A row for every approach, not only for the best one.
    work
        If threads vary, `compute.time` stays the same per thread ("per-thread") or in total ("total").
    keep
        Finished points are kept in and read from FILE.points; default: not kept.
    cores
        Worker threads; default: all.
    executor
        Where to compute instead: `ProcessPoolExecutor()` (faster than threads for hundreds of points),
        `client.get_executor()` of a Dask cluster, mpi4py's `MPIPoolExecutor()`, or any other of concurrent.futures.
    """
    what, axes = [as_workload(w) for w in _several(workload)], [axis(name, values) for name, values in over.items()]
    points = product(as_machine(machine), what, axes, library=_library(library), seed=seed, work=_work(work))
    options = Options(_engine(engine), _share(min_gain), every=every, sizes=sizes_wanted(axes))
    kept = None if keep is None else Kept(Path(keep))
    return tabulate(points, what, axes, options, work=work, kept=kept, cores=cores, executor=executor)


def compare(
    workloads: WorkloadOrFile | Sequence[WorkloadOrFile],
    machines: MachineOrName | Sequence[MachineOrName] | None = None,
    *,
    libraries: str | Sequence[str] = (),
    over: Mapping[str, object] | None = None,
    seed: int = 0,
    **how: Any,
) -> Table:
    """Predict workloads on machines with libraries side by side: a `sweep`, whose further arguments `how` has.

    Parameters
    ----------
    libraries
        Names of library profiles; default: each machine's.
    over
        Further fields, as of `sweep`.
    """
    on, some = _several(machines), _several(libraries)
    given = {name: values for name, values in (("machine", on), ("library", some)) if len(values) > 1}
    one = {"machine": on[0], "library": some[0] if some else None}
    return sweep(workloads, {**given, **(over or {})}, **one, seed=seed, **how)


def _work(given: Work) -> Work:
    if given not in get_args(Work):
        raise PreadyError(f"work = {shown(given)}", valid=" or ".join(map(repr, get_args(Work))))
    return given


def _several(given: Any) -> list[Any]:
    return [given] if given is None or isinstance(given, (Machine, Workload, str, Path)) else list(given)


def as_machine(given: MachineOrName | None) -> Machine:
    """The machine itself, or that of a name or file; None: the default."""
    return given if isinstance(given, Machine) else machines.load(DEFAULT if given is None else given)


def as_workload(given: WorkloadOrFile) -> Workload:
    """The workload itself, or that of a file."""
    return given if isinstance(given, Workload) else workloads.load(found(given))


def _approach(given: ApproachOrName, workload: Workload) -> Approach:
    return given if isinstance(given, Approach) else approach_named(given, workload)


def _library(given: str | None) -> str | None:
    return None if given is None else library_profile(given).name


def _engine(given: Engine | None) -> Engine | None:
    if given is not None and given not in get_args(Engine):
        raise PreadyError(f"engine = {shown(given)}", valid=" or ".join(map(repr, get_args(Engine))))
    return given


def _share(given: float | str) -> float:
    return fraction(given, "min_gain", 1.0)


def _quantity(given: float | str, unit: Unit, field: str) -> float:
    value = parse(given, unit, field) if isinstance(given, str) else float(given)
    if not value >= 0 or (value == 0 and unit is not Unit.TIME_PER_BYTE):
        raise PreadyError(f"{field} = {shown(given)}", valid=f'positive, such as "{unit.example}"')
    return value
