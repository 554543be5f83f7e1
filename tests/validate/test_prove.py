"""``pready prove``: a cluster that is the model is proved, another is told apart; real MPI, resumed and killed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from given import Capsys, Patch, Request
from machines import ideal
from mpi_home import home_of
from real_mpi import LIBRARIES, known_to_commands
from tables import table_of

from pready.calibrate.measure.catalogue import EXCHANGE_WAYS
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.exchange_plan import step_plan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, Records
from pready.calibrate.measure.session import Outcome
from pready.cli import main
from pready.model.advice.approach_by_name import approach_named
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BULK, BY_KEY, MANY, PART, PART_AM, TODAY, Approach, Today
from pready.model.approach.libraries import LIBRARIES as LIBRARY_PROFILES
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine, load
from pready.model.toml.reading import validated
from pready.model.version import VERSION
from pready.model.workload.workload import Workload
from pready.validate.claims.wrong_machines import bandwidth
from pready.validate.prove import case as cases
from pready.validate.prove import design, placement, session
from pready.validate.prove.as_performed import as_performed
from pready.validate.prove.expected import Expectation, Expected
from pready.validate.prove.judgement import Saving, judge
from pready.validate.prove.performed import Performed
from pready.validate.prove.session import Asked, Proof, prove
from pready.validate.prove.site import Site, Told

LINK = 25e6  # bytes per second


def machine() -> Machine:
    """A link of 200 Mbit/s whose bandwidth is known to 15 %."""
    m = ideal(
        G=1 / LINK, L=50e-6, o_s=5e-6, o_r=3e-6, g=2e-6, barrier=[0.0, 5e-6, 20e-6], put=5e-6, epoch=9e-6, contexts=4
    )
    (segment,) = m.inter.segments
    known = segment.G.model_copy(update={"interval": (0.85 / LINK, 1.15 / LINK)})
    inter = m.inter.model_copy(update={"segments": (segment.model_copy(update={"G": known}),)})
    return m.model_copy(update={"inter": inter})


LATE = {"compute": {"time": "5 ms"}, "arrivals": {"model": "laggard", "delay": "20 ms", "late": "thread"}}


def workload(**fields: Any) -> Workload:
    told = {"name": "test", "threads": 4, "buffer": "256 KiB", "pattern": "halo3d", "grid": [2, 2], **LATE}
    return validated(Workload, told | fields, "test")


BUILT = Built(Path("pready-bench"), ("mpicc",), "none", "0")


ABOUT: dict[str, Any] = {"library": "the model", "hosts": [*"aabb"], "allowed": ["0-3", "4-7"] * 2}
ABOUT |= {"cpus": ["x", "x"], "cores_online": 8}
"""Two ranks on each of two nodes, with four cores each."""
SEED = 5


def rows(truth: Machine, what: Workload, point: Point, folder: Path) -> Array:
    """What real ranks would measure: the iterations that the engine simulates on the machine `truth`.

    Returns
    -------
    Of each iteration when each rank began, how long it computed, and when it ended: shape (iterations, 3 ranks); of a
    step further (iterations, ranks × exchanges × 2): how long it computed for each exchange, and when that ended.
    """
    count = int((folder / f"{point.get('plan')}.plan").read_text().split()[5])
    said = str(point.get("ways") or f"{point.get('approach')}.{point.get('transport')}")
    ways = tuple(Approach(BY_KEY[name], int(n)) for name, n in (way.split(".") for way in said.split("_")))
    plan, runs = step_plan(what, count, SEED), Expected(truth, what, SEED, 0, count).simulated(ways, record=True)
    last = [np.asarray(run.ends_s).reshape(count, -1, plan.ranks)[:, -1] for run in runs]
    computed = np.stack([e.ready.max(axis=3).sum(axis=2).T for e in plan.exchanges], axis=2)
    begins = np.vstack([np.zeros(plan.ranks), last[-1][:-1]])
    whole = np.stack([begins, computed.sum(axis=2), last[-1]], axis=2).reshape(count, -1)
    each = np.stack([computed, np.stack(last, axis=2)], axis=3).reshape(count, -1)
    return whole if len(runs) == 1 else np.hstack([whole, each])


def proof_on(
    folder: Path, monkeypatch: Patch, truth: Machine | None = None, what: Workload | None = None,
    about: Mapping[str, Any] = ABOUT, given: list[tuple[float, float]] | None = None,
    on_note: Callable[[str], object] = lambda _: None, **options: Any,
) -> Proof:  # fmt: skip
    """On a cluster that is `truth`, of which `machine` is believed."""
    real, told = truth or machine(), what or workload()
    site = Site("here", Launcher(("mpiexec",)), BUILT)
    monkeypatch.setattr(session, "environment_of", lambda *of: about if of == (site.launcher, site.built) else None)

    def measure(points: Any, _: Launcher, out: Path, budget_s: float, *_more: Any, **how: Any) -> Outcome:
        if given is not None:
            given.append((budget_s, how["point_budget_s"]))
        with Records(out) as records:
            records.add_environment("here", {"settings": {}, **about})
            for point in records.missing(listed := list(points), "here"):
                lists = {"ranks_s": rows(real, told, point, how["folder"]).tolist()}
                records.add_point(point, "here", {"measurement": "exchange", "median_s": 1.0, "lists": lists})
        return Outcome("here", len(listed), 0, 0)

    monkeypatch.setattr(session, "measure", measure)
    asked = Asked(site=site, folder=folder, budget_s=60.0, seed=SEED, **options)
    return prove(told, machine(), asked, on_note)


def is_exact(proof: Proof) -> None:
    """All that was measured is what was expected, and the promise is kept."""
    for case in proof.cases:
        found, wanted = case.measured, case.expected
        assert [found.time_s, found.eta] == pytest.approx([wanted.time_s, wanted.eta], rel=1e-6)
        assert found.iteration_s == pytest.approx(wanted.iteration_s, rel=1e-6)
        assert found.saving.value == pytest.approx(wanted.saving, abs=1e-6)
        assert case.why == ""
    assert proof.judged.finding == "kept"


@pytest.fixture(scope="module")
def on_the_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Proof, Path]:
    """The proof of a cluster that is the model, and its folder: made once."""
    folder = tmp_path_factory.mktemp("proof")
    with pytest.MonkeyPatch.context() as patch:
        return proof_on(folder, patch), folder


@pytest.mark.thorough
def test_a_cluster_that_is_the_model_is_predicted_exactly(on_the_model: tuple[Proof, Path]) -> None:
    proof, _ = on_the_model
    assert len(proof.cases) == 4
    assert proof.cases[0].way.approach == BULK
    is_exact(proof)
    # four neighbours of 256 KiB take 42 ms, of which a laggard of 20 ms hides much
    assert proof.judged.predicted == proof.judged.measured == "port"
    assert proof.decision.startswith("Port: ")
    assert proof.below == ()
    assert proof.notes == (
        "8 iterations of 4 ways, 5 rounds side by side; communication repeats within 0.0 %",
        "4 ranks ran on 2 hosts, and the workload gives each an adapter of its own (ranks_per_node says otherwise)",
    )
    assert [proof.about[n] for n in ("hosts", "processors", "seed")] == ["a, b; 8 cores online", "x", "5"]


@pytest.mark.thorough
def test_ranks_that_share_cores_are_said_before_and_not_judged(tmp_path: Path, monkeypatch: Patch) -> None:
    told: list[str] = []
    crowd = {**ABOUT, "hosts": [*"aaaa"], "allowed": ["0-7"] * 4}
    given = list[tuple[float, float]]()
    what = workload(compute={"time": "500 ms"})
    proof = proof_on(tmp_path, monkeypatch, what=what, about=crowd, on_note=told.append, given=given)
    # nothing was calibrated; 11 iterations: half a second of computing, 20 ms of a laggard's, 42 ms of the cable
    assert {budget for budget, _ in given} == {60.0}
    assert [point for _, point in given] == pytest.approx([3 * 11 * 0.562 / 10] * 2, rel=0.01)  # of two numbers of VCIs
    assert told == [
        "4 ranks of 4 threads share 8 cores: the result will be undecided; give each thread a core (fewer ranks or "
        "threads, more nodes)"
    ]
    assert proof.judged.finding == "undecided"
    assert not proof.judged.contradicted
    assert proof.decision.startswith("Undecided: 4 ranks of 4 threads share 8 cores. ")


def test_part_is_what_the_library_makes_of_it() -> None:
    early, late = LIBRARY_PROFILES["openmpi-persist"], LIBRARY_PROFILES["mpich-release"]
    assert design.as_done_by(early, Approach(PART, 4, 2)) == Approach(PART, 4, 2)
    assert design.as_done_by(late, Approach(PART, 4, 2)) == Approach(PART_AM, 1, 2)
    assert design.as_done_by(late, Approach(MANY, 4)) == Approach(MANY, 4)
    parastation = LIBRARY_PROFILES["parastation"]
    assert design.as_done_by(parastation, Approach(PART, 4, 2)) == Approach(PART_AM, 1, 2)
    whole = design.as_done_by(parastation.measured(early=True, why="measured"), Approach(PART, 4, 2))
    assert (whole.interface.told_whole, str(design.way_of([whole], workload()))) == (True, "part-4-2")


@pytest.mark.thorough
@pytest.mark.parametrize("several", [False, True], ids=["one exchange", "a step"])
def test_half_the_bandwidth_is_noticed(several: bool, tmp_path: Path, monkeypatch: Patch) -> None:
    proof = proof_on(tmp_path, monkeypatch, bandwidth(machine(), 0.5), step() if several else workload())
    (bulk,) = (c for c in proof.cases if c.way.approaches == (BULK,) * len(proof.workload.parts))
    assert bulk.expected.time_s < 0.6 * bulk.measured.time_s
    assert "longer than predicted: " in bulk.why
    assert bulk.why.endswith(" more communication")


@pytest.mark.thorough
def test_a_verdict_that_is_not_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    # Overheads of 20 ms per message: what the machine file says would pay does not.
    slow = ideal(G=1 / LINK, L=50e-6, o_s=20e-3, o_r=3e-6, g=2e-6, barrier=[0.0, 5e-6, 20e-6], contexts=4)
    proof = proof_on(tmp_path, monkeypatch, slow, approaches=[[Approach(MANY, 4)]])
    judged = proof.judged
    assert (judged.predicted, judged.measured, judged.finding) == ("port", "do not port", "not kept")
    assert judged.contradicted
    assert proof.decision.startswith("Do not port: Pt2Pt many in 4 made an iteration ")
    assert "The prediction said port: it is wrong here." in proof.decision


@pytest.mark.thorough
def test_what_was_measured_is_not_measured_again(monkeypatch: Patch, on_the_model: tuple[Proof, Path]) -> None:
    first, folder = on_the_model
    before = (folder / session.RAW).read_bytes()
    again = proof_on(folder, monkeypatch)
    assert (folder / session.RAW).read_bytes() == before
    assert again.to_dict() == first.to_dict()


@pytest.mark.thorough
def test_nothing_to_compare(tmp_path: Path, monkeypatch: Patch) -> None:
    """Bulk alone or the others alone were measured, or nothing before the budget ended; calibrating has half of it."""
    found = predict(machine(), workload())
    approaches: Any = {"approaches": [[Approach(PART, 4)], [Approach(MANY, 4)]]}
    monkeypatch.setattr(session, "environment_of", lambda *_: {**ABOUT, "hosts": [*"aaaa"]})
    monkeypatch.setattr(session, "_calibrated", lambda *_: machine())
    budgets: list[Any] = []
    monkeypatch.setattr(session, "predict", lambda *_, **__: found)
    for measured, unsupported, why, what, given in (
        ("single", "part", "part-4-1: not here", workload(), machine()),
        ("part many", "single", "single-1-1: not here", workload(), machine()),
        ("", "", "the budget ended after 0 of 15", workload(ranks_per_node=4), None),
    ):

        def measure(
            points: Any, _: Any, out: Path, *_more: Any, some: str = measured, none: str = unsupported, **_told: Any
        ) -> Outcome:
            budgets.append(_more[0])
            with Records(out) as records:
                records.add_environment("here", {"library": "the model"})
                for point in points:
                    if str(point.get("approach")) in some.split():
                        took = {"lists": {"ranks_s": [[0.0, 1.0, 2.0] * 4] * 11}}
                        records.add_point(point, "here", {"measurement": "exchange", "median_s": 1.0, **took})
                    elif (point.get("approach"), point.get("round")) == (none, 0):
                        records.add_point(point, "here", {"measurement": "exchange", "unsupported": "not here"})
            return Outcome("here", 0, 0, 0)

        monkeypatch.setattr(session, "measure", measure)
        folder = tmp_path / why
        asked = Asked(site=Site("here", Launcher(("x",)), BUILT), folder=folder, budget_s=60.0, **approaches)
        with pytest.raises(PreadyError) as refused:
            prove(what, given, asked, lambda _: None)
        larger = "a larger budget, such as --budget '900 s'; it resumes"
        valid = "approaches that can be performed here" if unsupported else larger
        said = f"bulk and another way were not measured in every round: {why}; valid: {valid}"
        assert str(refused.value) == f"{folder}: {said}"
    assert budgets == [60.0, 60.0, 30.0]


@pytest.mark.parametrize(("fields", "about", "options", "said"), table_of("validate/refused")["started"])
def test_what_was_started_is_held_against_the_files(
    fields: dict[str, Any], about: dict[str, Any], options: dict[str, Any], said: str, tmp_path: Path,
    monkeypatch: Patch
) -> None:  # fmt: skip
    """Other ranks, other nodes, another library: refused before anything is measured."""
    with pytest.raises(PreadyError) as refused:
        proof_on(tmp_path, monkeypatch, what=workload(**fields), about={**ABOUT, **about}, **options)
    assert str(refused.value) == said
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("fields", "ways", "said"), table_of("validate/refused")["performed"])
def test_what_cannot_be_performed_is_refused_first(fields: dict[str, Any], ways: list[str], said: str) -> None:
    what = workload(**fields)
    with pytest.raises(PreadyError) as refused:
        session.performable(what, machine(), [[approach_named(way, what)] for way in ways], 0)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("today", sorted({*TODAY} - {"pipeline", "overlapped"}))
def test_whatever_a_captured_program_does_today_is_performed(today: Today) -> None:
    what = workload(today=today, partitions_per_thread=2)
    (way,) = design.way_of([what.baseline], what).each
    wanted = {"one message per thread": 4, "nonblocking": 1, "blocking": 1, "persistent": 1, "rma": 1}.get(today, 8)
    assert (way.name in EXCHANGE_WAYS, way.transport) == (True, wanted)


def test_what_the_benchmark_is_asked_for() -> None:
    # Released MPICH sends one message however many partitions are marked: the benchmark marks the user's.
    what = workload(partitions_per_thread=2)
    assert design.way_of([Approach(PART_AM)], what).point("p", 0).get("transport") == 8
    assert design.way_of([Approach(PART, 4)], what).point("p", 0).get("transport") == 4
    with pytest.raises(PreadyError, match="cannot be measured"):
        design.way_of([Approach(BY_KEY["persistent-matched"])], what)


def test_a_way_in_words_and_as_the_benchmark_s_point() -> None:
    mixed, alike = (design.way_of(ways, step()) for ways in ([Approach(MANY, 8, 2), BULK], [Approach(MANY, 2)] * 2))
    for way, *said in ((mixed, "many-8-2+single-1-1", "8/1", 8, 2, "each"), (alike, "many-2-1", "2", 2, 1, "many")):
        assert [str(way), way.transports, way.most, way.vcis, way.interface.key] == said
    bulk, nothing = design.way_of([BULK], workload()), cast("Any", None)
    words = [cases.Case(way, nothing, nothing, nothing, (), "").words for way in (mixed, alike, bulk)]
    assert words == ["each as advised in 8/1 on 2 VCIs", "Pt2Pt many in 2", "Pt2Pt single"]
    assert mixed.point("p", 3) == Point.of("exchange", ways="many.8_single.1", plan="p", round=3)
    one = design.way_of([Approach(PART, 4)], workload()).point("p", 3)
    assert one == Point.of("exchange", approach="part", plan="p", transport=4, round=3)
    rng = np.random.default_rng([5, 3])
    wanted = [((mixed, alike)[i], r) for r in range(9) for i in rng.permutation(2)]
    assert design.order([mixed, alike], 5, 9) == wanted != design.order([mixed, alike], 6, 9)


@pytest.mark.parametrize(("pattern", "exchanges", "probability"), [("halo3d", 1, 0.75), ("sweep3d", 8 * 2, None)])
def test_an_expectation_is_of_the_iterations_that_count_with_a_prediction_s_intervals(
    pattern: str, exchanges: int, probability: float | None
) -> None:
    what = workload(pattern=pattern, **({"blocks": 2} if exchanges > 1 else {}))
    expected, ways = Expected(machine(), what, 5, 2, 4), ((BULK,), (Approach(MANY, 4),))
    times = {"time_s": 4.0, "time_low_s": 3.0, "time_high_s": 8.0, "eta": 2.0, "eta_low": 0.5, "eta_high": 3.0}
    saved = {"speedup_percent": 10.0, "speedup_low_percent": 4.0, "speedup_high_percent": 20.0}
    row: Any = SimpleNamespace(**times, **saved, probability=probability)
    expected._rows[ways[1]] = row
    (today, bulk_s), (time, iteration) = (
        (np.median(run.communication_s) / exchanges, np.median(run.mean_s))
        for run in (expected.simulated(way)[0].after(2) for way in ways)
    )
    eta, saving = today / time, 1 - iteration / bulk_s
    wanted = Expectation(
        time, 0.75 * time, 2 * time, eta, eta / 4, 1.5 * eta, iteration, saving, saving - 0.06, saving + 0.1,
        probability or 0.0, (time,),
    )  # fmt: skip
    found = {**asdict(expected.of(ways[1])), "exchanges_s": time}
    assert found == pytest.approx({**asdict(wanted), "exchanges_s": time})
    assert expected.of(ways[1]).exchanges_s == (time,)


def test_the_advised_way_comes_first_then_the_fastest_of_each_interface() -> None:
    def row(key: str, messages: int, eta: float, time_s: float, *, available: bool = True) -> Any:
        of = {"approach": Approach(BY_KEY[key], messages), "eta": eta, "gain": eta, "time_s": time_s, "key": key}
        return SimpleNamespace(**of, available=available, speedup_percent=5.0)

    advised, *others = (
        row("many", 4, 1.5, 4.0), row("many", 2, 2.0, 5.0), row("part", 8, 1.8, 3.0), row("part", 2, 1.9, 3.5),
        row("persistent", 1, 1.1, 9.0), row("rma-single-active", 2, 1.2, 2.0),
        row("rma-many-active", 2, 9.0, 1.0, available=False),
    )  # fmt: skip
    made: Any = SimpleNamespace(exchanges=None, advised=advised, approaches=[row("single", 1, 1.0, 6.0), *others])
    best = [BULK, *(Approach(BY_KEY[key], n) for key, n in (("many", 4), ("rma-single-active", 2), ("part", 2)))]
    assert design.advised(made, workload()) == [(a,) for a in best]
    # Interfaces advised for any exchange go before faster ones: a step takes 6.5 s by many, 7 by part, 4 by puts.
    second = SimpleNamespace(advised=row("part", 2, 1.2, 3.5), approaches=[row("many", 8, 1.4, 2.5), *others[4:5]])
    both: Any = SimpleNamespace(exchanges=(made, second))
    ways = design.advised(both, step())
    many, part = (tuple(Approach(BY_KEY[key], n) for n in each) for key, each in (("many", (4, 8)), ("part", (2, 2))))
    assert ways == [(BULK, BULK), (many[0], part[1]), many, part]


@pytest.mark.parametrize(("iteration_s", "count"), [(1e-3, 100), (0.5, 23), (10.0, 8)])
def test_iterations_fit_into_the_budget(iteration_s: float, count: int) -> None:
    # 240 s for 3 rounds of 4 ways are 20 s each, less 3 s to start: 17 000, 34 or 1.7 iterations, 3
    # of them before; of 8, 11, 16, 23, 32 … the largest that fits
    assert design.iterations(iteration_s, 4, 240.0, 1, 3) == (3, count)
    # more rounds with as much more time are the same iterations: what was measured of them is not measured again
    assert design.iterations(iteration_s, 4, 400.0, 1, 5) == (3, count)


def test_medians_over_iterations_of_means_over_ranks() -> None:
    begin, computing = np.array([[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]]), np.full((1, 3, 2), 1.0)
    end = begin + np.array([[[9.0, 9.0], [3.0, 5.0], [2.0, 4.0]]])  # the first does not count
    seen = Performed(np.stack([begin, computing, end], axis=3), first=1, steps=2)
    assert seen.iteration_s == pytest.approx([3.5])  # of 4 and 3
    assert seen.communication_s == pytest.approx([1.25])  # (3.5 - 1) / 2 exchanges


def performed(*communication: float) -> Performed:
    """Rounds of one iteration, which compute for 1 s."""
    return Performed(np.array([[[[0.0, 1.0, 1.0 + c]]] for c in communication]), first=0, steps=1)


def test_ends_are_the_least_and_the_most_of_the_rounds() -> None:
    way = performed(3, 1, 2)
    found = cases.measured(way, performed(6, 6, 8))
    assert [found.time_s, found.time_low_s, found.time_high_s] == pytest.approx([2, 1, 3])
    assert [found.eta, found.eta_low, found.eta_high] == pytest.approx([3, 2, 6])
    one = SimpleNamespace(approaches=(MANY.into(4),))
    of_step = replace(way, exchanges=(performed(5, 4, 9),))
    (exchange,) = cases._exchanges(workload(), one, SimpleNamespace(exchanges_s=(4.5,)), of_step)  # type: ignore[arg-type]
    found_s = [exchange.measured_s, exchange.measured_low_s, exchange.measured_high_s]
    assert [*found_s, exchange.error] == pytest.approx([5, 4, 9, 4.5 / 5 - 1])


def test_why_a_way_took_longer_than_expected() -> None:
    """Two exchanges of 3 s after 1 s, where two of 2.5 s were expected; bulk's 4 s were, after 0.25 s."""
    many, bulk = (design.way_of([a], workload()) for a in (Approach(MANY, 4), BULK))
    told = ((many, 2.5, 6), (bulk, 4, 8.25))
    here: dict[Any, Any] = {way.approaches: SimpleNamespace(time_s=t, iteration_s=whole) for way, t, whole in told}
    ran = {many: replace(performed(6, 6, 6), steps=2), bulk: replace(performed(8, 8, 8), steps=2)}
    one, other = cases.cases_of(workload(), cast("Any", SimpleNamespace(of=here.__getitem__)), ran)
    assert one.why == "an iteration is 1 s longer than predicted: 1 s more communication"
    assert other.why == "an iteration is 750 ms longer than predicted: 750 ms more computing"
    assert (one.way, one.expected, one.performed, one.exchanges) == (many, here[many.approaches], ran[many], ())
    assert (one.measured.eta, one.measured.saving.value) == pytest.approx((4 / 3, 1 - 7 / 9))
    assert (other.measured.eta, other.measured.saving.value) == (1, 0)


def test_the_best_that_was_measured_is_named_where_it_is_clearly_another() -> None:
    def saved(words: str, value: float, half: float = 0.25) -> Any:
        saving = Saving(value, value - half, value + half, 5, 0.01)
        return SimpleNamespace(words=words, measured=SimpleNamespace(saving=saving))

    advised, others = saved("advised", -0.5), [saved("worse", -0.75), saved("best", 0.5), saved("second", 0.25)]
    assert session._better(advised, [advised, *others]) == [
        "measured best: best saved 50.0 % of an iteration (25.0 to 75.0 %)"
    ]
    assert session._better(advised, [advised, others[0], saved("intervals that touch", 0.0)]) == []
    sharp = saved("advised", 0.0, 1e-5)
    assert session._better(sharp, [sharp, saved("as good", 9e-4, 1e-5)]) == []
    assert session._better(sharp, [sharp, saved("better", 1e-3, 1e-5)]) == [
        "measured best: better saved 0.1 % of an iteration (0.1 to 0.1 %)"
    ]


@pytest.mark.parametrize("expected", table_of("validate/decisions")["concluded"], ids=lambda case: case["hosts"])
def test_what_is_concluded(expected: dict[str, Any], tmp_path: Path) -> None:
    key, messages = expected["advised"]
    advised, hosts = Approach(BY_KEY[key], messages), expected["hosts"]

    def case(approach: Approach, eta: float, why: str, *communication: float) -> cases.Case:
        rows = np.repeat(performed(*communication).times, 3, axis=1)
        saved = {"saving": 0.1, "saving_low": 0.08, "saving_high": 0.12, "probability": 1.0}
        times = {"iteration_s": expected["predicted_s"], "time_s": 3.0, "time_low_s": 2.9, "time_high_s": 3.1}
        here: Any = SimpleNamespace(eta=eta, **saved, **times)
        ran = Performed(rows, first=1, steps=1)
        way = design.way_of([approach], workload())
        return cases.Case(way, here, ran, cases.measured(ran, performed(3, 3, 3, 3)), (), why)

    # bulk takes 4 s: 1, 5, 1 and 3 % are saved, and a fifth
    every = (
        case(BULK, 9.0, "", 3, 3, 3, 3),
        case(Approach(PART, 8), 1.5, "", 2.2, 2.2, 2.2, 2.2),
        case(Approach(MANY, 4), 2.0, "late", 3.04, 2.8, 2.96, 2.88),
    )
    site = Site("here", Launcher(("mpiexec",)), BUILT)
    where = {"library": "MPI  4.1\nand more", "hosts": [*hosts], "cores_online": 8, "cpus": ["x", "y", "x"]}
    failures, what = {"part-4-2": "no VCIs"}, workload()
    asked = Asked(site=site, folder=tmp_path, budget_s=61.0, seed=7)
    doubt = expected.get("doubt", "")
    found = session.Found(what, machine(), every, failures, where, ("rounded",), doubt)
    proof = session._concluded(asked, found, (advised,))
    chosen = every[1 if advised.interface is PART else 2]
    judged = judge(
        (0.1, 0.08, 0.12), 1.0, chosen.measured.saving, 0.01, off=expected["predicted_s"] < 4, shared=bool(doubt)
    )
    ran = "2 iterations of 3 ways, 4 rounds side by side; communication repeats within 4.1 %"  # 0.24 / 2 of 2.92
    notes = ("rounded", ran, "part-4-2 could not be measured: no VCIs", *expected["notes"])
    about = {
        "machine": "ideal", "MPI library": "MPI 4.1", "launcher": "mpiexec", "processors": "x, y", "benchmark": "0",
        "hosts": f"{', '.join(dict.fromkeys(hosts))}; 8 cores online", "seed": "7", "raw": str(tmp_path / session.RAW),
    }  # fmt: skip
    told = ((*expected["below"],), failures, "test: mpiexec", notes, about)
    assert proof == Proof(what, machine(), chosen.way, every, judged, expected["said"], *told)


STEP: list[dict[str, Any]] = [
    {"name": "faces", "buffer": "256 KiB", "partitions_per_thread": 2, **LATE},
    {"name": "ring", "pattern": "neighbours", "neighbour_list": [[1], [2], [3], [0]], "buffer": "64 KiB"},
]


def step(exchanges: list[dict[str, Any]] = STEP) -> Workload:
    told = {"name": "step", "threads": 4, "grid": [2, 2], "pattern": "halo3d", "exchanges": exchanges}
    return validated(Workload, told, "step")


@pytest.mark.thorough
def test_a_step_on_the_model_itself_is_predicted_exactly(tmp_path: Path, monkeypatch: Patch) -> None:
    proof = proof_on(tmp_path, monkeypatch, what=step())
    today, chosen, *uniform = proof.cases
    assert today.way.approaches == (BULK, BULK)
    assert chosen.way == proof.advised
    assert uniform
    assert all(c.way.interface in {a.interface for a in c.way.approaches} for c in uniform)
    is_exact(proof)
    for case in proof.cases:
        assert [e.name for e in case.exchanges] == ["faces", "ring"]
        for exchange, own in zip(case.exchanges, case.expected.exchanges_s, strict=True):
            assert exchange.predicted_s == own
            assert exchange.measured_s == pytest.approx(own, rel=1e-6)
    # bulk's faces: four neighbours, 256 KiB each, are 42 ms of the cable; the ring's 64 KiB are 2.6 ms
    faces, ring = today.exchanges
    assert faces.predicted_s > 4 * 262144 / LINK > ring.predicted_s >= 65536 / LINK
    assert {case.performed.first for case in proof.cases} == {2}  # of two exchanges, three go before


def test_sizes_become_whole_partitions() -> None:
    lists = {"pattern": "neighbours", "neighbour_list": [[1], [{"to": 2, "size": "5 B"}], [3], [0]]}
    sizes = {"faces": ["1001 B", "16 B", "16 B"], "edges": ["8 B", "8 B", "6 B"], "corner": "1 B"}
    odd = step([{"name": "a", "pattern": "halo3d26", **sizes}, {"name": "b", "buffer": "64 B", **lists}])
    (a, b), notes = as_performed(odd)[0].parts, as_performed(odd)[1]
    assert (a.faces, a.edges, a.corner) == ((1004, 16, 16), (8, 8, 8), 4)
    assert b.neighbour_sizes == ((64,), (8,), (64,), (64,))
    assert len(notes) == 2
    step_plan(as_performed(odd)[0], 1, 0)
    assert as_performed(step()) == (step(), [])
    pairs = workload(pattern="pt2pt", grid=[4])
    both = "pairs were predicted and measured with both ranks sending (both_ways = true)"
    assert as_performed(pairs) == (pairs.changed(both_ways=True), [both])
    assert as_performed(pairs.changed(both_ways=True)) == (pairs.changed(both_ways=True), [])


def test_hosts_are_the_workload_s_nodes() -> None:
    what = workload(ranks_per_node=2)
    for several in (what, step().changed(ranks_per_node=2)):
        assert placement.nodes_of(several) == [0, 0, 1, 1]
    placement.check(what, ["a", "a", "b", "b"])
    placement.check(what, ["b", "b", "a", "a"])
    with pytest.raises(PreadyError, match=r"ranks 0 and 1 are of the same node .*different hosts \(a: 0 2; b: 1 3\)"):
        placement.check(what, ["a", "b", "a", "b"])
    with pytest.raises(PreadyError, match=r"ranks 0 and 2 are of different nodes .*one host \(a: 0 1 2 3\)"):
        placement.check(what, ["a", "a", "a", "a"])
    # 2 × 2 ranks, two of a node along y: 0 and 2 share one
    placement.check(workload(node_grid=[1, 2]), ["a", "b", "a", "b"])
    placement.check(workload(), ["a", "a", "a", "b"])
    assert placement._found([*"aaaaaaaabcd"]) == "a: 0 1 2 3 4 5 6 7; b: 8; c: 9; d: 10"
    assert placement._found([*"aaaaaaaaabcde"]) == "a: 0 1 2 3 4 5 6 7 …; b: 9; c: 10; d: 11; …"


def test_ranks_of_a_node_need_the_path_within_it() -> None:
    with pytest.raises(PreadyError, match="ranks_per_node without --machine"):
        session.performable(workload(ranks_per_node=2), None, [], 0)


def test_a_machine_is_calibrated_once(tmp_path: Path, monkeypatch: Patch) -> None:
    runs: list[dict[str, Any]] = []

    def measured(*_: Any, **given: Any) -> None:
        runs.append(given)
        given["on_point"](SimpleNamespace(done=1, total=2, left_s=3.0))

    monkeypatch.setattr(session, "run_measurements", measured)
    done = SimpleNamespace(described=SimpleNamespace(machine=machine()))
    monkeypatch.setattr(session, "calibrate", lambda *_, **__: done)
    monkeypatch.setattr(session, "provenance", lambda *_: "made by a test")
    told: list[Told] = []
    site = Site("here", Launcher(("x",)), BUILT)
    for what, folder, inside in ((workload(ranks_per_node=4), "one", True), (workload(threads=1), "own", False)):
        asked = Asked(site=site, folder=tmp_path / folder, budget_s=60.0, seed=5, on_progress=told.append)
        on, again = (session._calibrated(what, asked) for _ in range(2))
        assert (on.intra == on.inter, on.intra is None) == (inside, not inside)
        assert again.bandwidth == pytest.approx(on.bandwidth)
    assert [(a["threads"], a["budget_s"], a["seed"]) for a in runs] == [(4, 30.0, 5), (2, 30.0, 5)]
    assert told == [Told("calibrating", 1, 2, 3.0)] * 2


def test_ways_that_need_more_vcis_are_measured_apart(tmp_path: Path, monkeypatch: Patch) -> None:
    asked: list[tuple[Any, ...]] = []

    def measured(points: Any, launcher: Launcher, *_: Any, **given: Any) -> Any:
        asked.append((len(points), launcher, *_[:-1], given))
        _[-1](SimpleNamespace(done=len(points), left_s=1.0))
        failures = {str(p): "no route\nto host" for p in points if len(asked) > 1}
        return SimpleNamespace(environment=f"key {len(asked)}", failures=failures)

    monkeypatch.setattr(session, "measure", measured)
    ways = [design.way_of([a], workload()) for a in (BULK, Approach(MANY, 4, 4), Approach(MANY, 4))]
    told: list[Told] = []
    site = Site("here", Launcher(("x",), environment={"A": "b"}), BUILT)
    of = Asked(site=site, folder=tmp_path, budget_s=1.0, seed=2**32 + 5, rounds=4, on_progress=told.append)
    found = session._measure(ways, "p", of, 60.0, 2.0)
    assert found == ({1: "key 1", 4: "key 2"}, {"many-4-4": "no route"})
    given = {"built": BUILT, "point_budget_s": 0.6, "seed": 5, "folder": tmp_path / "plans"}
    assert asked == [
        (count, Launcher(("x",), environment={"A": "b", **vcis}), tmp_path / session.RAW, 60.0, given)
        for count, vcis in ((8, {}), (4, {session.VCIS: "4"}))
    ]
    assert told == [Told("measuring", 8, 12, 1.0), Told("measuring", 12, 12, 1.0)]


@pytest.mark.parametrize(("contradicted", "metrics"), [(True, False), (False, True)])
def test_the_command_writes_a_page_and_its_data(
    contradicted: bool, metrics: bool, tmp_path: Path, monkeypatch: Patch, capsys: Capsys
) -> None:
    out, asked = tmp_path / "proof", list[Any]()

    def proved(_: Workload, on: Machine, given: Asked, on_note: Callable[[str], object]) -> Any:
        asked.extend((on, replace(given, on_progress=Asked.on_progress)))
        given.on_progress(Told("measuring", 1, 2, 3.0))
        on_note("crowded")
        judged = SimpleNamespace(contradicted=contradicted)
        return SimpleNamespace(about={"hosts": "a"}, judged=judged, to_dict=lambda: {"η": 2})

    for name, made in {
        "find_mpicc": lambda *given: given, "build": lambda mpicc: mpicc, "tried_first": lambda *_: None,
        "proved": proved, "html": lambda _, about: f"page of {about}", "proof_view": lambda _: "view",
        "metric_lines": lambda _: ["one", "two"], "_about": lambda: {"system": "s"},
    }.items():  # fmt: skip
        monkeypatch.setattr(f"pready.commands.prove.{name}", made)
    words = ["prove", "tests/data/validate/step.toml", "--machine", "meluxina", "-o", str(out), "--rounds", "4"]
    words += ["--launcher", "mpiexec -n 4", "--mpicc", "cc", "--budget", "90 s"]
    assert main([*words, *["--metrics"] * metrics]) == contradicted
    on, launcher = load("meluxina"), Launcher.parse("mpiexec -n 4")
    site = Site("here", launcher, cast("Any", ("cc", launcher.prefix)))
    wanted = Asked(site=site, folder=out / "raw", budget_s=90.0, approaches=[], rounds=4)
    assert asked == [on, wanted]
    about = {"system": "s", "hosts": "a"}
    data = {"version": VERSION, "seed": 0, "about": about, "η": 2}
    assert (out / "report.json").read_text(encoding="utf-8") == json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    assert (out / "index.html").read_text(encoding="utf-8") == f"page of {about}"
    said = capsys.readouterr()
    assert said.out == ("one\ntwo\n" if metrics else "view\n")
    assert said.err.splitlines() == ["note: crowded", f"wrote {out}/index.html and {out}/report.json (seed 0)"]


def launched(name: str, request: Request) -> list[str]:
    home = home_of(name)
    known_to_commands(home, request)
    return ["--launcher", f"{home / 'bin' / 'mpiexec'} {' '.join(LIBRARIES[name][1])} -n 4"]


@pytest.mark.thorough
@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_real_mpi_performs_a_step_reports_and_resumes(
    library: str, tmp_path: Path, capsys: Capsys, request: Request
) -> None:
    profile, part = {"mpich": ("mpich-release", "part-am"), "openmpi": ("openmpi-persist", "part")}[library]
    out = tmp_path / "proof"
    words = ["prove", "tests/data/validate/step.toml", "--machine", "meluxina", "-o", str(out), "--budget", "20 s"]
    words += ["--approach", "many", "--approach", "part", "--library", profile, *launched(library, request)]
    assert main(words) in (0, 1)  # the profile is of another machine: only that it is measured and shown is tested
    assert "faces" in capsys.readouterr().out
    data = json.loads((out / "report.json").read_text())
    assert [c["approach"] for c in data["cases"]] == ["single", "many", part]
    for case in data["cases"]:
        faces, ring = case["exchanges"]
        assert (faces["name"], faces["buffer"], ring["name"], ring["buffer"]) == ("faces", 16384, "ring", 8192)
        assert faces["until_ready_s"] >= 3e-3
        assert ring["measured_s"] > 0
        assert faces["measured_low_s"] <= faces["measured_s"] <= faces["measured_high_s"]
    page = (out / "index.html").read_text()
    assert data["decision"].partition(": ")[0] in page
    assert "://" not in page  # all of it is in the page
    raw = (out / "raw" / session.RAW).read_bytes()
    capsys.readouterr()
    assert main([*words, "--overwrite", "--metrics"]) in (0, 1)
    assert capsys.readouterr().out.count("\npready.") == 3 * 10
    assert (out / "raw" / session.RAW).read_bytes() == raw
