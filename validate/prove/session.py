"""A user's workload: its exchange predicted and measured, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pready.calibrate.machine.calibration import calibrate, provenance, run_measurements
from pready.calibrate.measure.exchange_plan import step_plan
from pready.calibrate.measure.raw_file import Content, read
from pready.calibrate.measure.session import Progress, environment_of, measure
from pready.model.advice.predict import as_sent_by, predict, with_library
from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import of_a_step
from pready.model.machine import machine
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.result.verdict import INDISTINCT, MIN_GAIN
from pready.model.workload.workload import Workload
from pready.validate.prove import design, placement
from pready.validate.prove.as_performed import as_performed
from pready.validate.prove.case import Case, cases_of
from pready.validate.prove.decision import between, decision, percent
from pready.validate.prove.design import Way
from pready.validate.prove.expected import Expected
from pready.validate.prove.judgement import Judgement, judge
from pready.validate.prove.performed import performed_in
from pready.validate.prove.placement import shared_before, shared_cores
from pready.validate.prove.site import Site, Told, about

PLANS, RAW, RAW_MACHINE = "plans", "exchange.jsonl", "machine.jsonl"
CALIBRATING = 0.5
"""Share of the budget for the calibration, where no machine is given."""
POINT_BUDGET_S = 0.4
"""Seconds of one of its points: many points, each measured briefly."""
SLOWER = 3.0
"""A round counts as hanging after ten times its predicted duration, times this factor."""
VCIS = "MPIR_CVAR_CH4_NUM_VCIS"
"""Gives MPICH so many VCIs; others do not know the variable."""


@dataclass(frozen=True)
class Proof:
    """The result."""

    workload: Workload
    machine: Machine
    advised: Way
    cases: tuple[Case, ...]
    judged: Judgement
    """What measuring says of the advised way."""
    decision: str
    """The result in words."""
    below: tuple[str, ...]
    """What else a decision takes into account."""
    failures: Mapping[str, str]
    """Why a way could not be measured, by its name."""
    title: str
    """The workload, and how its ranks were started."""
    notes: tuple[str, ...]
    about: Mapping[str, str]
    """What was measured where: library, hosts, seed, records."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "judged": asdict(self.judged),
            "title": self.title,
            "cases": [c.to_dict() for c in self.cases],
            "notes": self.notes,
            "failures": dict(self.failures),
        }


def prove(
    workload: Workload,
    given: Machine | None,
    site: Site,
    folder: Path,
    *,
    budget_s: float,
    seed: int = 0,
    library: str | None = None,
    approaches: Sequence[Sequence[Approach]] = (),
    min_gain: float = MIN_GAIN,
    rounds: int = design.ROUNDS,
    on_progress: Callable[[Told], object] = lambda _: None,
    on_note: Callable[[str], object] = lambda _: None,
) -> Proof:
    """Measure a workload's exchange and compare the prediction with it.

    Resumes: results in `folder` for the same workload, machine, seed and launcher are not measured again.

    Parameters
    ----------
    given
        None: calibrated first, with half of the budget, into `folder`; an earlier calibration there is taken.
    folder
        Of raw records, plans and the machine.
    approaches
        Beside bulk, one for each exchange of the workload; empty: the advised ones and the best of the next interfaces.
    rounds
        How often each way is measured.
    on_note
        Receives what to know before measuring: ranks that share cores.

    Raises
    ------
    PreadyError
        A workload that cannot be performed, a benchmark that does not run, or nothing to compare.
    """
    workload, notes = as_performed(workload)
    step_plan(workload, 1, seed)  # refuses what cannot be performed before anything is measured
    ranks = ranks_of(workload)
    if site.launcher.ranks not in (None, ranks):
        raise PreadyError(
            f"the launcher starts {site.launcher.ranks} ranks, the workload has {ranks}", valid="as many of both"
        )
    _check_nodes(workload, given, site)
    if (crowded := shared_before(environment_of(site.launcher, site.built))) is not None:
        on_note(crowded)
    on = given if given is not None else _calibrated(workload, site, folder, budget_s, seed, on_progress)
    on, profile = with_library(on, library)
    workload = as_sent_by(workload, profile)
    left_s = budget_s if given is not None else budget_s * (1 - CALIBRATING)
    prediction = predict(on, workload, library=library, seed=seed, min_gain=min_gain)
    baseline = design.way_of([w.baseline for w in workload.parts], workload)
    advised = design.advised(prediction, workload)
    named = [tuple(design.as_done_by(profile, a) for a in each) for each in approaches]
    wanted = [baseline.approaches, *named] if named else advised
    ways = [design.way_of(each, workload) for each in dict.fromkeys(wanted)]
    (steps,) = {of.pattern(w).exchanges(of.blocks) for w, of in zip(workload.parts, of_a_step(workload), strict=True)}
    first, count = design.iterations(
        prediction.bulk.iteration_s, len(ways), left_s, max(steps, len(workload.parts)), rounds
    )
    plan = step_plan(workload, first + count, seed)
    name = plan.write(folder / PLANS)
    environments, failures = _measure(
        ways, name, site, folder, left_s, seed, (first + count) * prediction.bulk.iteration_s, rounds, on_progress
    )
    content = read(folder / RAW)
    unsupported = content.unsupported()
    failures |= {str(w): unsupported[p] for w in ways if (p := str(w.point(name, 0, design.MOST))) in unsupported}
    seen = {
        way: found
        for way in ways
        if (found := performed_in(content, way, environments[way.vcis], name, first, steps, rounds)) is not None
    }
    if baseline not in seen or len(seen) < 2:
        why = "; ".join(f"{way}: {reason}" for way, reason in failures.items()) or "the budget ended"
        raise PreadyError(
            f"bulk and another way were not measured in every round: {why}", valid="a larger budget", source=str(folder)
        )
    cases = cases_of(workload, Expected(on, workload, seed, first, count, min_gain), seen)
    return _concluded(
        workload, on, advised[:2][-1], cases, failures, site, content, notes, min_gain, seed, folder, budget_s
    )


def ranks_of(workload: Workload) -> int:
    """How many, of all exchanges."""
    return math.prod(of_a_step(workload)[0].grid)


def _check_nodes(workload: Workload, given: Machine | None, site: Site) -> None:
    """Refuse ranks of nodes of which nothing says how they do within, or that the launcher places otherwise."""
    nodes = placement.nodes_of(workload)
    if nodes is None:
        return
    if given is None and len(set(nodes)) > 1:
        raise PreadyError(
            "ranks_per_node without --machine: only the path between nodes is calibrated here",
            valid="--machine FILE with an [intra] table, measured by 'pready calibrate --intra' on one node",
        )
    placement.check(workload, environment_of(site.launcher, site.built)["hosts"])


def _calibrated(
    workload: Workload, site: Site, folder: Path, budget_s: float, seed: int, on_progress: Callable[[Told], object]
) -> Machine:
    raw = folder / RAW_MACHINE
    file = raw.with_suffix(".toml")
    if file.exists():
        return machine.load(str(file))
    folder.mkdir(parents=True, exist_ok=True)

    def told(p: Progress) -> None:
        on_progress(Told("calibrating", p.done, p.total, p.left_s))

    run_measurements(
        site.launcher,
        site.built,
        raw,
        threads=max(workload.threads, 2),
        budget_s=budget_s * CALIBRATING,
        seed=seed,
        on_point=told,
        point_budget_s=POINT_BUDGET_S,
    )
    done = calibrate(raw, name=site.library, seed=seed)
    on = done.described.machine
    if len(set(placement.nodes_of(workload) or range(ranks_of(workload)))) == 1:
        on = on.model_copy(update={"intra": on.inter})  # all ranks share a node: two of them measured there
    file.write_text(dumps(on, provenance(raw, done, seed)), encoding="utf-8")
    return on


def _measure(
    ways: Sequence[Way],
    plan: str,
    site: Site,
    folder: Path,
    budget_s: float,
    seed: int,
    round_s: float,
    rounds: int,
    on_progress: Callable[[Told], object],
) -> tuple[dict[int, str], dict[str, str]]:
    """All rounds of all ways.

    Returns
    -------
    The environment's key by VCIs, and why a way could not be measured.
    """
    listed = design.order(ways, seed, rounds)
    total, done = len(listed), 0
    environments: dict[int, str] = {}
    failures: dict[str, str] = {}
    for vcis in sorted({way.vcis for way in ways}):
        some = {w.point(plan, r, design.MOST): w for w, r in listed if w.vcis == vcis}
        settings = {VCIS: str(vcis)} if vcis > 1 else {}

        def told(p: Progress, before: int = done) -> None:
            on_progress(Told("measuring", before + p.done, total, p.left_s))

        outcome = measure(
            some,
            replace(site.launcher, environment={**site.launcher.environment, **settings}),
            folder / RAW,
            budget_s,
            told,
            built=site.built,
            point_budget_s=max(SLOWER * round_s / 10, 0.5),
            seed=seed % 2**32,
            folder=folder / PLANS,
        )
        done += len(some)
        environments[vcis] = outcome.environment
        for point, way in some.items():
            if str(point) in outcome.failures:
                failures[str(way)] = outcome.failures[str(point)].split("\n")[0]
    return environments, failures


def _concluded(
    workload: Workload,
    on: Machine,
    advised: tuple[Approach, ...],
    cases: tuple[Case, ...],
    failures: Mapping[str, str],
    site: Site,
    content: Content,
    notes: Sequence[str],
    min_gain: float,
    seed: int,
    folder: Path,
    budget_s: float,
) -> Proof:
    """The decision, from the advised way's saving; undecided where ranks share cores."""
    fine = [c for c in cases if c.way.approach != workload.baseline]
    chosen = next((c for c in fine if c.way.approaches == advised), max(fine, key=lambda c: c.expected.eta))
    e, shared = chosen.expected, shared_cores(c.performed for c in cases)
    expected, measured = (e.saving, e.saving_low, e.saving_high), chosen.measured.saving
    judged = judge(expected, e.probability, measured, min_gain, shared=shared is not None)
    rounds = judged.saving.rounds
    more = judged.rounds or rounds
    options = f"--rounds {more} --budget '{math.ceil(budget_s * more / rounds)} s'"
    environment = list(content.environments.values())[-1]
    hosts = set(environment.get("hosts", ()))
    noted = [
        *notes,
        f"{cases[0].performed.times.shape[1] - cases[0].performed.first} iterations of {len(cases)} ways, {rounds} "
        f"rounds side by side; communication repeats within {100 * max(c.performed.spread for c in cases):.1f} %",
        *(f"{way} could not be measured: {why}" for way, why in failures.items()),
    ]
    if placement.nodes_of(workload) is None and 0 < len(hosts) < ranks_of(workload):
        noted.append(
            f"{ranks_of(workload)} ranks ran on {len(hosts)} host{'s' * (len(hosts) > 1)}, and the workload gives each "
            "an adapter of its own (ranks_per_node says otherwise)"
        )
    return Proof(
        workload,
        on,
        chosen.way,
        cases,
        judged,
        decision(chosen.words, judged, shared, options),
        (*_better(chosen, fine), *([f"{chosen.words}: {chosen.why}"] if chosen.why else [])),
        failures,
        f"{workload.name}: {site.launcher.name}",
        tuple(noted),
        {"machine": on.name, **about(environment, site.launcher, site.built, seed, folder / RAW)},
    )


def _better(chosen: Case, others: Sequence[Case]) -> list[str]:
    """A way that measured clearly better than the advised one."""
    best = max(others, key=lambda c: c.measured.saving.value)
    s, advised = best.measured.saving, chosen.measured.saving
    if s.low <= advised.high or s.value - advised.value < INDISTINCT:
        return []
    return [f"measured best: {best.words} saved {percent(s.value)} of an iteration ({between(s.low, s.high)})"]
