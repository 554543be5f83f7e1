"""From Machine and Workload to a Prediction: the shape of the answer and the firmness of the advice."""

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace as Of
from typing import Any

import pytest
from machines import ideal
from made_row import row

import pready
from pready.model.advice import best_way
from pready.model.advice.best_way import drawn_rows
from pready.model.advice.predict import approaches, as_sent_by, effective_library, predict, runs_of, ways_said
from pready.model.approach.interfaces import TODAY
from pready.model.approach.libraries import library
from pready.model.machine import machine
from pready.model.machine.machine import Requests
from pready.model.result.prediction import SAVED, Prediction
from pready.model.toml.provenance import Value
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

MELUXINA = machine.load("meluxina")


def made(**fields: Any) -> Workload:
    return validated(Workload, {"threads": 8, "partitions_per_thread": 4, "buffer": "1 MiB"} | fields, "test")


LATE = made(arrivals={"model": "laggard", "delay": "200 us"})


@cache
def late(library: str | None = None) -> Prediction:
    """Asked by several tests."""
    return predict(MELUXINA, LATE, library=library)


KEYS = {"version", "seed", "machine", "workload", "approaches", "advice"}
ROW = {
    "name", "transport_partitions", "vcis", "messages", "time_s", "time_low_s", "time_high_s", "eta", "eta_low",
    "eta_high", "speedup_percent", "overhead", "perceived_bandwidth_bytes_per_s", "availability", "early_bird_percent",
}  # fmt: skip
ADVICE = {"verdict", "approach", "transport_partitions", "vcis", "break_even_bytes", "settings", "because"}


def test_without_draws_the_best_port_is_advised_rma_only_where_it_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    bulk, puts, many, wished = (
        row(key, iteration_s=s, needs="X" * (key == "part"))
        for key, s in (("single", 1.0), ("rma-many-active", 0.2), ("many", 0.5), ("part", 0.1))
    )
    for measured, draws, drawn, best in (
        (True, 0, [bulk, wished, puts, many], puts),
        (False, 0, [bulk, wished, puts, many], many),
        (False, 0, [bulk, wished, puts], bulk),
        (True, 5, [bulk], bulk),
    ):
        monkeypatch.setattr(best_way, "unmeasured", lambda _, measured=measured: "" if measured else "puts")
        monkeypatch.setattr(best_way, "drawn_ways", lambda *_, drawn=drawn: drawn)
        of: Any = Of(parts=[LATE], draws=draws, machine=None)
        assert drawn_rows(of, [], 0.01, every=True) == (best, None)


def test_a_share_that_is_none_is_null_with_a_reason() -> None:
    # MPICH 4.1 copies its active message, which takes longer than a plain send.
    part = next(r for r in late("mpich-release@4.1.2").approaches if r.name == "Pt2Pt part")
    assert part.availability < -1
    assert part.to_dict()["availability"] is None
    assert "none of it is hidden" in part.to_dict()["availability_reason"]
    assert replace(part, availability=-1e-13).to_dict()["availability"] == 0
    assert replace(part, availability=0.25).to_dict()["availability"] == 0.25


def test_json_has_the_documented_keys() -> None:
    data = json.loads(json.dumps(late().to_dict(), allow_nan=False))
    assert set(data) >= KEYS
    assert set(data["closed_form"]) == {"eta", "gamma_s_per_byte", "delay_s"}
    assert all(set(row) >= ROW for row in data["approaches"])
    assert set(data["advice"]) >= ADVICE
    assert data["advice"]["min_gain_percent"] == 1


@pytest.mark.thorough
@pytest.mark.parametrize("today", [today for today in TODAY if today != "pipeline"])
@pytest.mark.parametrize("pattern", ["pt2pt", "halo3d"])
def test_today_is_the_baseline(today: str, pattern: str) -> None:
    """η and run time are against what the application does today, and that is no port to itself."""
    delay = {"model": "laggard", "delay": "200 us", "late": "thread"}
    few: dict[str, Any] = {"transport_partitions": [1, 8, 32], "compute": {"time": "1 ms"}}
    few |= {"interior": "80 %"} if today == "overlapped" else {}
    w = as_sent_by(made(today=today, pattern=pattern, grid=[2, 2], arrivals=delay, **few), library("mpich-release"))
    got, plain = predict(MELUXINA, w, draws=0), predict(MELUXINA, w.changed(today="nonblocking"), draws=0)
    assert got.approaches[0] is got.bulk
    assert got.bulk.approach == w.baseline
    assert (got.bulk.eta, got.bulk.speedup_percent) == (1, 0)
    assert got.advised.approach != w.baseline
    assert sum(p.approach == w.baseline for p in got.approaches) == 1
    there = {p.approach: p for p in plain.approaches}
    for p in got.approaches:
        assert p.eta == pytest.approx(got.bulk.time_s / p.time_s, rel=1e-12)
        run, run_now = (x.iteration_s + x.begin_per_iteration_s for x in (p, got.bulk))
        assert p.speedup_percent == pytest.approx(100 * (1 - run / run_now), abs=1e-9)
        if p.approach in there:  # the same exchange, whatever it is compared with
            assert p.time_s == there[p.approach].time_s


ONE, FOUR = ({"threads": n, "partitions_per_thread": 1} for n in (1, 4))


def test_the_smallest_port() -> None:
    """4 KiB by one thread: a send's set-up of 0.2 us is above 1 % of 13 us; without it, nothing is advised."""
    value = {"value": "0.2 us", "interval": ["0.19 us", "0.21 us"], "source": "assumed", "why": "test"}
    epoch = MELUXINA.one_sided.epoch.model_copy(update={"value": 1e-5, "interval": None})
    plain = MELUXINA.model_copy(update={"one_sided": MELUXINA.one_sided.model_copy(update={"epoch": epoch})})
    saves = plain.model_copy(update={"requests": validated(Requests, {"setup": value}, "test")})
    w = made(buffer="4 KiB", **ONE, compute={"time": "10 us"})
    ported, not_ = predict(saves, w, draws=0), predict(plain, w)
    assert (ported.advice.verdict, ported.advised.key) == ("port", "persistent")
    assert "MPI_Send_init" in ported.advice.settings[0]
    assert ported.bulk.time_s - ported.advised.time_s == pytest.approx(0.2e-6)
    assert not_.advice.verdict == "do not port"
    assert not_.advised.key != "persistent"  # it is what there is, by another name
    # Who has ported to it is told nothing of going back.
    assert predict(saves, w.changed(today="persistent")).advised.key not in ("single", "persistent")


def test_partitions_of_today_are_sent_as_the_library_sends_them() -> None:
    """One message where it sends nothing early: sending early is then what is left to gain, and no loss."""
    w = made(**FOUR, buffer="4 MiB", today="partitioned", arrivals={"model": "laggard", "delay": "200 us"})
    whole, early = (predict(MELUXINA, w, library=name, draws=0) for name in ("mpich-release", "mpich-6314"))
    assert (whole.bulk.key, early.bulk.key) == ("part-am", "part")
    asked = whole.advice.partitioned
    assert asked is not None
    assert asked.row is None
    assert asked.if_early is not None
    assert asked.if_early.speedup_percent > 10
    saves = {n: getattr(asked.if_early, n) for n in ("transport_partitions", "vcis", *SAVED)}
    rest = {"verdict": asked.verdict, "early_unknown": False}
    assert asked.to_dict() == rest | {"if_early": saves | {"needs": asked.if_early.needs}}
    assert replace(asked, row=asked.if_early, if_early=None).to_dict() == saves | rest | {"if_early": None}
    assert whole.bulk.time_s > early.bulk.time_s


def test_fewer_messages_than_today_are_offered() -> None:
    def of(today: str) -> set[int]:
        w = made(**FOUR, buffer="4 MiB", today=today, transport_partitions=[1, 2, 4])
        offered = approaches(MELUXINA, as_sent_by(w, library("mpich-release")), library("mpich-release"))
        return {a.messages for a in offered[1:] if a.interface.key == "several"}

    assert [of("several messages"), of("nonblocking")] == [{2}, set()]


# By a version that has no partitioned calls, and by one that has.
@pytest.mark.parametrize("version", ["1.0", "9.9.1"])
@pytest.mark.parametrize(("name", "early"), [("openmpi-persist", False), ("mpich-release", True), ("emulated", True)])
def test_a_library_does_what_was_measured_on_its_machine(name: str, early: bool, version: str) -> None:
    sends = validated(Value[bool], {"value": early, "source": "measured", "why": "a run"}, "test")
    own = MELUXINA.library.model_copy(update={"name": name, "early_send": sends, "version": version})
    profile = effective_library(MELUXINA.model_copy(update={"library": own}))
    assert (profile.name, profile.early) == (name, early)
    assert profile.transports([1, 8], threads=8, n_partitions=8) == ([8] if early else [1])
    assert profile.why == f"measured on MeluXina: MPI_Pready {'sends' if early else 'does not send'} early (a run)"
    assert profile.version == ("" if name == "emulated" else version)


def test_a_step_whose_library_sends_early_gains_what_its_exchanges_gain() -> None:
    late = {"buffer": "4 MiB", "arrivals": {"model": "laggard", "delay": "200 us"}, "compute": {"time": "300 us"}}
    each = [{"buffer": "4 KiB", "compute": {"time": "300 us"}}, late, late | {"buffer": "1 MiB"}]
    w = validated(Workload, {"threads": 4, "partitions_per_thread": 1, "exchanges": each}, "test")
    step = predict(MELUXINA, w, library="mpich-release", draws=0)
    asked = [p.advice.partitioned for p in (step, *step.exchanges)]
    whole, *gains = (of.if_early.speedup_percent for of in asked if of is not None and of.if_early is not None)
    assert whole == pytest.approx(sum(gains), rel=5e-3)
    assert whole > 10
    # What is said of it is said of the exchange that saves most, and takes longest in bulk; all are late one by one.
    assert step.advice.because == f"exchange 2, which saves most: {step.exchanges[1].advice.because}"
    told = [(e.advice.verdict, e.advice.settings) for e in step.exchanges]
    assert told == [("do not port", []), *2 * [("port", ["4 persistent sends per neighbour"])]]
    assert step.approaches == [step.bulk, step.advised]
    early = predict(MELUXINA, w, library="mpich-6314", draws=0).advice.partitioned
    assert [of and of.verdict for of in (step.advice.partitioned, early)] == ["do not port", "port"]
    costly = predict(MELUXINA, w, library="mpich-release", draws=0, min_gain=0.5)
    assert [(e.advice.verdict, e.advice.settings) for e in costly.exchanges] == 3 * [("do not port", [])]
    many = "Pt2Pt many, 4 × 1 VCI"
    assert ways_said(w, step.exchanges) == f"exchange 1: bulk, exchange 2: {many}, exchange 3: {many}"
    assert step.closed_form == pytest.approx({"eta": 4.0, "gamma_s_per_byte": 200e-6 / 2**20, "delay_s": 400e-6})


def test_what_holds_of_one_exchange_is_said_of_it() -> None:
    each = {"buffer": "64 KiB", "compute": {"time": "1 ms"}}
    fields = {"threads": 4, "pattern": "halo3d", "grid": [2, 2, 2]}
    fields |= {"exchanges": [each, each | {"thread_grid": [2, 2, 1]}]}
    step = predict(MELUXINA, validated(Workload, fields, "test"), library="mpich-release", engine="timeline", draws=0)
    assert step.advice.warnings == [
        "asked for the timeline: predicted from one exchange, without late neighbours",
        "exchange 2: the timeline ignores thread_grid: all threads fill every neighbour's buffer",
    ]


@pytest.mark.thorough
def test_exchanges_that_follow_each_other_may_be_one() -> None:
    """Of latency and bandwidth alone: three exchanges of M bytes take 3 (6 M G + L), one of 3 M takes 18 M G + L."""

    def step(*each: dict[str, Any]) -> Workload:
        size = {"buffer": "64 KiB"}
        fields = {"threads": 2, "pattern": "halo3d", "grid": [2, 2, 2], "exchanges": [size | e for e in each]}
        return validated(Workload, fields, "test")

    first = {"compute": {"time": "500 us"}}
    merged = predict(ideal(L=20e-6), step(first, {}, {})).advice.merged
    assert merged is not None
    assert merged.exchanges == ["exchange 1", "exchange 2", "exchange 3"]
    exact = 100 * 2 * 20 / (500 + 3 * (6 * 2**16 / 25e3 + 20))
    assert merged.speedup_low_percent <= exact <= merged.speedup_high_percent
    assert merged.speedup_percent == pytest.approx(exact, rel=0.05)
    # Half of the draws save more than the middle one.
    enough = predict(ideal(L=20e-6), step(first, {}, {}), min_gain=merged.speedup_percent / 100).advice.merged
    assert enough is not None
    assert enough.probability == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("b", [0, 10])
def test_metrics_of_a_known_exchange(b: float) -> None:
    # Bandwidth, and a barrier of b us: 4 partitions of 1 MB at 25 GB/s (40 us each), the last 60 us late, compute 1 ms.
    # T_b = b + 160; T_p = (120 - 60) + 40 = 100; all in us.
    w = made(**FOUR, buffer="4 MB", compute={"time": "1 ms"}, arrivals={"model": "laggard", "delay": "60 us"})
    prediction = predict(ideal(barrier=[0.0, b * 1e-6, b * 1e-6]), w, draws=0)
    row = next(r for r in prediction.approaches if r.key == "part" and r.transport_partitions == 4)
    assert row.time_s == pytest.approx(100e-6)
    assert row.eta == pytest.approx(1.6 + b / 100)
    assert row.speedup_percent == pytest.approx(100 * (60 + b) / (1220 + b))  # of 1000 + 60 + b + 160
    assert row.overhead == pytest.approx(1)
    assert row.perceived_bandwidth_bytes_per_s == pytest.approx(4e6 / 100e-6)
    assert row.availability == pytest.approx(1 - (100 - b) / 160)
    assert row.early_bird_percent == pytest.approx(100 * (60 + b) / 160)  # of the 160 from first Pready to the end
    bulk = prediction.bulk
    assert [bulk.overhead, bulk.availability, bulk.early_bird_percent] == pytest.approx([1, 0, 0], abs=1e-9)
    assert [row.arrived_early_percent, bulk.arrived_early_percent] == [25, 0]  # at 40 us of 60
    assert prediction.closed_form["eta"] == pytest.approx(1.6)
    assert prediction.closed_form["delay_s"] == pytest.approx(60e-6)
    assert prediction.closed_form["gamma_s_per_byte"] == pytest.approx(60e-12)


def test_advice_not_to_port_names_the_term() -> None:
    # 4 KiB, all threads at once: messages only add overhead, and contention for the lock is why.
    w = made(buffer="4 KiB", threads=32, partitions_per_thread=1, transport_partitions=[32])
    machine_ = MELUXINA.model_copy(update={"contexts": MELUXINA.contexts.model_copy(update={"value": 1})})
    advice = predict(machine_, w, library="mpich-6314").advice
    assert advice.verdict == "do not port"
    assert "contention for the VCI's lock" in advice.because
    assert "nothing to send early" in advice.because
    assert advice.settings == []


def test_what_cannot_be_had_is_shown_and_never_advised() -> None:
    # MeluXina's own library is MPICH with a pull request that is not released.
    prediction = late()
    assert prediction.library == "mpich-release"
    wished = {(r.key, r.needs) for r in prediction.approaches if not r.available}
    assert ("part", "MPICH with pull request 6314") in wished
    assert {key for key, _ in wished} == {"part", "persistent-matched"}
    assert prediction.advised.available
    assert any("is not released" in w for w in prediction.advice.warnings)
    # Who asks for it by name gets it.
    asked = late("mpich-6314")
    assert {r.key for r in asked.approaches if not r.available} == {"persistent-matched"}
    assert not any("is not released" in w for w in asked.advice.warnings)


def test_pays_is_a_set_of_ranges() -> None:
    # Three partitions early, the last 40 us late, 1 ms in all: 1 % of an iteration needs 10 us, so 300 kB at
    # 25 GB/s; and 40 us are 1 % of 4 ms, which 100 MB take.
    w = made(**FOUR, buffer="1 MB", compute={"time": "960 us"}, arrivals={"model": "laggard", "delay": "40 us"})
    pays = predict(ideal(), w).advice.pays
    assert pays is not None
    assert len(pays) == 1

    def share(size: float) -> float:
        bulk = size / 25e9
        return (bulk - max(bulk - 40e-6, bulk / 4)) / (1e-3 + bulk)

    assert min(map(share, (pays[0].low, pays[0].high))) > 0.01
    assert share(pays[0].low / 2) < 0.01


FEW = {"transport_partitions": [1, 8]}
NOISY = {"model": "normal by thread", "spread": "4 %", "partitions": "together"}
HALO = {"pattern": "halo3d", "compute": {"time": "1 ms"}, "arrivals": NOISY}


@pytest.mark.thorough
def test_the_pattern_chooses_the_engine() -> None:
    on = MELUXINA.progressing("thread")
    two, many = predict(MELUXINA, LATE, draws=2), predict(on, made(**HALO, **FEW), draws=0)
    assert (two.engine, two.ranks, two.iterations) == ("timeline", (), 1)
    assert (many.engine, many.ranks) == ("engine", (3, 3, 3))
    assert many.iterations == 4
    one = predict(on, made(**HALO, **FEW), engine="timeline", draws=0)
    assert (one.engine, one.ranks) == ("timeline", ())
    assert "asked for the timeline: predicted from one exchange" in one.advice.warnings[-1]
    # Late neighbours delay bulk and the approach alike: less is gained than a single exchange promises.
    alike = next(row for row in many.approaches if row.approach == one.advised.approach)
    assert alike.eta < one.advised.eta
    assert alike.time_s > one.advised.time_s
    assert "waiting for neighbours" in many.advice.because
    assert "waiting for neighbours" not in one.advice.because


@pytest.mark.thorough
def test_a_count_of_neighbours_says_why_it_is_not_simulated() -> None:
    w = made(pattern="neighbours", neighbours=3, **FEW)
    prediction = predict(MELUXINA, w, draws=2)
    assert prediction.engine == "timeline"
    assert prediction.advice.warnings[-1].startswith("pattern 'neighbours' has no neighbour_list: predicted from one")
    with pytest.raises(pready.PreadyError, match="engine = 'engine': pattern 'neighbours' has no neighbour_list"):
        predict(MELUXINA, w, engine="engine")
    listed = made(pattern="neighbours", neighbour_list=[[1, 2], [2, 0], [0, 1]], **FEW)
    assert predict(MELUXINA, listed, draws=2).ranks == (3, 1, 1)


def test_a_cut_sweep_says_so() -> None:
    w = made(pattern="sweep3d", grid=[9, 2], compute={"time": "100 us"}, transport_partitions=[8])
    prediction = predict(MELUXINA, w, draws=0)
    assert prediction.ranks == (8, 2, 1)
    assert prediction.advice.warnings[-1].startswith("of 9 × 2 ranks 8 × 2 were simulated")


@pytest.mark.thorough
def test_faces_of_threads_limit_the_transport_partitions() -> None:
    # 2 x 2 x 2 threads of 4 partitions: four threads, 16 partitions, share a face; a corner has 4.
    corners = made(**HALO | {"thread_grid": [2, 2, 2], "pattern": "halo3d26"})
    corner = predict(MELUXINA, corners, draws=0)
    note = "the timeline ignores thread_grid: all threads fill every neighbour's buffer"
    assert runs_of(MELUXINA, corners, engine="timeline")[1][-1] == note
    assert {r.transport_partitions for r in corner.approaches if r.key == "many"} == {1, 2, 4, 8, 16}


def test_intra_node_needs_an_intra_node_path() -> None:
    with pytest.raises(pready.PreadyError, match=r"MeluXina has no intra-node path; valid: an \[intra\] table"):
        predict(MELUXINA.model_copy(update={"intra": None}), made(path="intra"))
    both = MELUXINA.model_copy(update={"intra": ideal().inter})
    assert predict(both, made(path="intra")).bulk.time_s < predict(both, made()).bulk.time_s
