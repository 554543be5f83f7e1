"""What was measured at a site beside its predictions, and beside those of wrong machines: a Comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from pready.calibrate.machine.calibrate import Calibration
from pready.calibrate.measure.raw_file import Content
from pready.calibrate.measure.session import Outcome
from pready.calibrate.rig.namespaces import OFF_LOGGP, on_rig
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.validate.claims.wrong_machines import bandwidth
from pready.validate.limits import (
    FEWEST_WORKLOADS,
    SMALL,
    STEADY,
    Judged,
    as_printed,
    checks,
    clear,
    compared,
    described,
    steady,
)
from pready.validate.result import CaseResult, Comparison, Control
from pready.validate.site import ROUNDS, Site, about


class NothingMeasured(PreadyError):
    """The budget ended before anything was measured in every round."""


class Comparing(Protocol):
    """Predictions of all that was measured, on a machine."""

    def __call__(self, machine: Machine, *, lag: bool = True, explain: bool = False) -> list[Judged]:
        """Without `lag`, as if all partitions were ready at once; with `explain`, a case that is off has a suspect."""


def concluded(
    site: Site,
    raw: Path,
    content: Content,
    calibration: Calibration,
    outcome: Outcome,
    comparing: Comparing,
    *,
    scenes: int,
    limit: float,
    seed: int,
    shared: str | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """The comparison, and the same on wrong machines.

    Parameters
    ----------
    scenes
        Number of workloads that were to be measured.
    limit
        Of the median error of η.
    shared
        Why nothing is judged: ranks share cores.
    notes
        What else to say.

    Raises
    ------
    NothingMeasured
        No workload in every round.
    """
    machine = calibration.described.machine
    found = comparing(machine, explain=True)
    if not found:
        failures = f"; {_failed(outcome)}" if outcome.failures else ""
        valid = None if failures else "a larger budget"
        raise NothingMeasured(f"no workload was measured in every round{failures}", valid=valid, source=str(raw))
    cases = tuple(c for one in found for c in one.cases)
    few = len(found) < FEWEST_WORKLOADS
    controls = (
        ()
        if few or shared is not None
        else (
            Control(
                "β halved",
                "every time per byte of the Machine doubled",
                checks(comparing(bandwidth(machine, 0.5)), limit),
            ),
            Control(
                "laggard removed",
                "the same measurements, predicted as if all partitions were ready at once",
                checks(comparing(machine, lag=False), limit),
            ),
        )
    )
    return Comparison(
        source="live",
        title=f"{site.library}: {site.launcher.name}",
        cases=cases,
        checks=() if shared is not None else checks(found, limit),
        controls=controls,
        notes=(
            *_notes(found, cases, scenes, outcome, content, shared),
            *([OFF_LOGGP] if on_rig(site.launcher.name) else []),
            *notes,
        ),
        about=about(content.environments[calibration.environment], site.launcher, site.built, seed, raw),
    )


def _failed(outcome: Outcome) -> str:
    reason = next(iter(outcome.failures.values())).split("\n")[0]
    return f"{len(outcome.failures)} points could not be measured, the first because: {reason}"


def _notes(
    found: Sequence[Judged],
    cases: Sequence[CaseResult],
    scenes: int,
    outcome: Outcome,
    content: Content,
    shared: str | None,
) -> Iterator[str]:
    """Which cases count, figures without a limit, and what differs from the model."""
    large = sum(c.buffer >= SMALL for c in cases)
    ended = "; the budget ended before the others" if len(found) < scenes else ""
    yield f"{len(found)} of {scenes} workloads, {len(cases)} cases, were measured in all {ROUNDS} rounds{ended}"
    yield (
        f"{len(steady(cases))} of {large} cases from 4 KiB up repeat themselves within {100 * STEADY:.0f} % and are "
        f"judged; {len(cases) - large} smaller ones are not"
    )
    yield described(found)
    if shared is not None:
        yield shared
    elif len(found) < FEWEST_WORKLOADS:
        few = f"{len(found)} workloads are too few, {FEWEST_WORKLOADS} are needed"
        yield f"no negative controls: {few}; a larger --budget"
    if said := as_printed(clear(compared(found))):
        yield said
    if outcome.failures:
        yield _failed(outcome)
    for reason in dict.fromkeys(content.unsupported().values()):
        yield f"not measured: {reason}"
