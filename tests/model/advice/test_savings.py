"""What ways save on drawn machines: against predictions of each machine, and what the saving rests on."""

from dataclasses import replace
from types import SimpleNamespace as Of
from typing import Any

import numpy as np
import pytest
from close import close
from machines import ideal
from made_row import row

from pready.model.advice.advise import with_inputs
from pready.model.advice.inputs import asked_for, explained, levers, measure_next, wrong
from pready.model.advice.predict import predict, runs_of, with_library
from pready.model.advice.savings import Savings
from pready.model.approach.interfaces import BOUND, BULK, BY_KEY, MANY, PERSISTENT, Approach
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.adapter import TOGETHER
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine, load
from pready.model.machine.rma import Puts
from pready.model.result.interval import interval
from pready.model.result.prediction import ApproachPrediction, Lever, Prediction
from pready.model.timeline.costs import costs
from pready.model.timeline.own_error import COSTS, HALF_WIDTH, factor, of_transfer
from pready.model.timeline.own_error import way as way_of
from pready.model.timeline.sampling import DRAWS, Alternative, Sampler
from pready.model.toml.provenance import Value
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.model.workload.workload import load as load_workload

RMA = BY_KEY["rma-single-active"].into(32)
TIMED = "time_s", "time_low_s", "time_high_s", "eta", "eta_low", "eta_high"


def made(**fields: Any) -> Workload:
    return validated(Workload, {"threads": 8, "partitions_per_thread": 4, "buffer": "1 MiB"} | fields, "test")


LATE = made(receiver="computing", compute={"time": "1 ms"}, arrivals={"model": "laggard", "delay": "200 us"})
NOISY = LATE.changed(arrivals={"model": "normal by thread", "spread": 0.04})


@pytest.mark.parametrize("approach", [BULK, Approach(MANY, 32), Approach(MANY, 32, 8), RMA], ids=str)
def test_a_draw_is_what_a_prediction_on_that_machine_says(approach: Approach) -> None:
    """Each rule by itself: who answers, and how puts move, with every value as it stands."""
    machine, _ = with_library(load("meluxina"))
    plain = machine.model_copy(update={"inter": machine.inter})
    runs = Runs(plain, Step.from_rest(LATE))
    runs.sampler.normals = lambda name: np.zeros(1 + DRAWS)  # type: ignore[method-assign]
    runs.sampler.alternatives = {n: a for n, a in runs.sampler.alternatives.items() if n != "ranks per node"}
    each = runs.at_values((approach,)), *runs.means([(approach,)], runs.drawn())
    got = np.concatenate([found.step.iteration for found in each])
    for rule, rows in runs._rules:
        there = machine.progressing(rule.progress)
        puts = plain.one_sided.model_copy(update={"puts": runs.compiler(0, rule).machine.one_sided.puts})
        said = Runs(there.model_copy(update={"one_sided": puts}), Step.of(LATE)).at_values((approach,))
        np.testing.assert_allclose(got[rows], float(said.step.iteration[0]), rtol=1e-9)


@pytest.mark.parametrize(("late", "exchanges"), [((LATE, LATE), 1), ((LATE, NOISY), 16), ((NOISY, LATE), 16)])
def test_one_exchange_stands_for_all_where_none_has_noise(late: tuple[Workload, Workload], exchanges: int) -> None:
    assert Runs(load("meluxina"), Step(late[0], late, (None, None))).length_of_draw.exchanges == exchanges


def test_draws_with_a_progress_thread_have_plans_of_their_own() -> None:
    """It takes in eager messages, too, while its rank computes: on Bebop up to 0.14 % of an iteration."""
    runs, _ = runs_of(with_library(load("bebop"))[0], LATE.changed(buffer="64 KiB"))
    of = runs.sampler.alternatives["who answers a rendezvous"]
    thread = runs.sampler.chosen(of.name) == of.options.index("thread")
    groups = [thread[rows] for _, rows in runs._grouped(0, Approach(MANY, 32))]
    assert {(some == some[0]).all() for some in groups} == {True}


def test_the_first_draws_are_those_of_all() -> None:
    few, many = (runs_of(load("niagara"), LATE, 1)[0] for _ in range(2))
    few.means([(BULK,)], few.drawn(20))
    first, every = (of.means([(BULK,)], of.drawn(n))[0].step.iteration for of, n in ((few, 50), (many, None)))
    np.testing.assert_array_equal(first, every[:50])
    assert Runs(load("niagara"), Step.of(LATE), Rows(12)).drawn(50) == range(1, 13)


def test_a_way_that_sends_the_same_messages_shares_the_models_error() -> None:
    """Bulk and persistent sends are off by the same factor: what one saves of the other is not."""
    one, many = way_of(BULK), way_of(Approach(MANY, 32))
    assert (one, way_of(RMA), many) == ("one message", "puts", "messages, completed by threads")
    assert way_of(Approach(PERSISTENT)) == one == way_of(MANY.into(1))
    assert way_of(BY_KEY["part-am"].into(32)) == one  # it sends nothing early, and saves nothing by being off
    sampler = Sampler(ideal(), DRAWS)
    for of in (*COSTS, "transfers"):
        off = np.log(factor(sampler, of))
        assert np.quantile(np.abs(off), 0.95) == pytest.approx(np.log1p(HALF_WIDTH[of]), rel=0.15)
    apart = np.log(of_transfer(sampler, RMA) / of_transfer(sampler, BULK))
    assert np.quantile(np.abs(apart), 0.95) == pytest.approx(np.sqrt(2) * np.log1p(HALF_WIDTH["ways"]), rel=0.2)
    assert of_transfer(Sampler(ideal()), BULK) == 1
    # What no library exceeds is off by as little as any way: else a way might save more than it.
    least = of_transfer(sampler, BOUND.into(4))
    assert all((least <= of_transfer(sampler, a)).all() for a in (BULK, RMA, MANY.into(8), PERSISTENT.into(1)))
    assert float(np.mean(least < of_transfer(sampler, BULK))) > 0.5


def test_the_models_error_is_in_costs() -> None:
    """A machine that has nothing uncertain is drawn with four factors: each cost goes with its own."""
    machine = ideal(o_s=1e-6, o_r=2e-6, L=5e-6, G=1e-9, contention=[0.0, 3e-6, 3e-6])
    sampler = Sampler(machine, DRAWS, lead=1)
    by_byte, by_message, by_lock, by_port = (factor(sampler, of) for of in COSTS)
    of = costs(sampler, made(), 1e6)
    for got, expected in (
        (of.hold, 1e-6 * by_message),
        (of.wire, 5e-6 * by_message),
        (of.receive, 2e-6 * by_message),
        (of.control, 8e-6 * by_message),
        (of.stream, 1e-3 * by_byte),
        (of.link, 1e-3 * by_byte),
        (of.shared, 1e-3 * by_byte * by_port / sampler("adapter.rate", TOGETHER)),
        (of.contention[:, 8], sampler.sharing("contention", contention(machine), 8)[:, 8] * by_lock),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    # Both ways at once use a port as several ranks do.
    np.testing.assert_allclose(costs(sampler, made(both_ways=True), 1e6).link, 1e-3 * by_byte * by_port)
    # Negative control: the first row is the machine at its values.
    assert [float(x[0]) for x in (by_byte, by_message, by_lock, by_port)] == [1, 1, 1, 1]


def test_rows_of_a_step_are_medians_and_intervals_of_the_draws_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three draws the first two; the transfer of each exchange is off by its way's factor."""
    off = {"Pt2Pt single": [1.0, 1.5, 9.0]}
    several = [2.0, 1.0, 9.0]
    monkeypatch.setattr(
        "pready.model.advice.savings.of_transfer", lambda _, a: np.array([1.0, *off.get(a.name, several)])
    )
    one, many, puts = ways = ((BULK, BULK), (MANY.into(4), BULK), (RMA, BULK))
    told = {  # seconds in each draw: communication, iteration, transfer of each exchange, set-up
        one: ([4.0, 6.0], [10.0, 12.0], [[1.0, 2.0], [3.0, 2.0]], 1.0),
        many: ([2.0, 3.0], [8.0, 9.0], [[0.5, 1.0], [1.0, 1.0]], 0.5),
        puts: ([2.0, 3.0], [9.0, 8.0], [[0.5, 1.0], [1.0, 1.0]], 0.5),
    }
    runs: Any = Of(parts=[LATE, LATE], sampler=Of(rows=4), steps=2, machine=load("meluxina"))
    runs.drawn = lambda draws: range(1, 1 + draws)
    runs.set_up = lambda way, drawn: [np.asarray(told[way][3] * LATE.iterations), np.asarray(0.0)]

    def means(asked: Any, rows: range) -> list[Any]:
        assert rows == range(1, 3)
        each = (map(np.array, told[way][:3]) for way in asked)
        return [Of(step=Of(communication=c, iteration=i), transfers=t) for c, i, t in each]

    runs.means = means
    savings = Savings(runs, ways, 2)
    now, whole, communication = np.array([4.0, 8.0]), np.array([11.0, 15.0]), np.array([2.5, 3.5])
    seconds: Any
    for way, seconds in (
        (one, (now, whole)),
        (many, (communication, [9.0, 10.0])),
        (puts, (communication, [10.0, 9.0])),
    ):
        assert np.allclose(savings.times(way), seconds)
    assert np.allclose(savings.percent, [[0.0, 0.0], [200 / 11, 500 / 15], [100 / 11, 600 / 15]])
    given = [row("single"), row("many", 4, begin_per_iteration_s=0.5, eta=7.0), row("rma-single-active", 32)]
    first, second, third = savings.rows(given, 0.2)
    assert (first.speedup_percent, first.probability, second.probability, third.probability) == (0, 0, 0.5, 0.5)
    assert [r.unmeasured for r in (first, second, third)] == ["", "", "MPI_Put and RMA synchronisation"]
    close: Any = pytest.approx
    eta, percent = now / communication, np.array([200 / 11, 500 / 15])
    ends = {name: interval(of) for name, of in (("time", communication / 2), ("eta", eta), ("speedup", percent))}
    assert second == replace(
        given[1],
        time_s=close(now.mean() / 2 / eta.mean()), time_low_s=ends["time"][0], time_high_s=ends["time"][1],
        eta=close(eta.mean()), eta_low=ends["eta"][0], eta_high=ends["eta"][1],
        speedup_percent=close(percent.mean()),
        speedup_low_percent=close(ends["speedup"][0]), speedup_high_percent=close(ends["speedup"][1]),
        iteration_s=close(13 * (1 - percent.mean() / 100) - 0.5), probability=0.5,
    )  # fmt: skip
    (_, untimed, _) = savings.rows(given, 0.2, timed=False)
    assert replace(second, **{n: getattr(given[1], n) for n in TIMED}) == untimed
    for able, shares in (([1, 1, 1], [0, 0.5, 0.5]), ([1, 0, 1], [0, 0, 1]), ([1, 0, 0], [1, 0, 0])):
        assert savings.best_in(list(map(bool, able))).tolist() == shares


def test_value_interval_and_probability_are_of_the_same_draws() -> None:
    made_ = predict(load("meluxina"), LATE)
    best, advice = made_.advised, made_.advice
    assert best.speedup_low_percent < best.speedup_percent < best.speedup_high_percent
    assert advice.probability == best.probability
    assert sum(advice.best_in.values()) == pytest.approx(1)
    assert 0 < sum(advice.rests_on.values()) <= 1 + 1e-9
    now = made_.bulk.iteration_s + made_.bulk.begin_per_iteration_s
    assert made_.iteration_s == pytest.approx((now, best.iteration_s + best.begin_per_iteration_s))
    begun = replace(made_, approaches=[replace(of, begin_per_iteration_s=1.0) for of in made_.approaches])
    assert begun.iteration_s[0] == pytest.approx(1 + made_.bulk.iteration_s)
    assert made_.room_s == pytest.approx(now - best.iteration_s - best.begin_per_iteration_s)
    assert replace(made_, share=0.25).run_speedup_percent == pytest.approx(best.speedup_percent / 4)
    ends, options = ("low end", "high end"), ("puts flew", "puts waited")
    o_s = Lever("message overhead o_s", "machine", "assumed", ends, 9, (1, 3), (0.5, 0.9), 0.3, True)
    puts = replace(o_s, name="puts", kind="unknown", steps=options, probability=(0.85, 0.1), share=0.2)
    told = with_inputs(made_, [o_s, puts, replace(o_s, turns=False)], "Say it", "C").advice
    assert (told.ask, told.measure_next) == ("Say it", "C")
    assert told.turns_if == [("puts waited", 0.1), ("message overhead o_s came out at the low end", 0.5)]
    assert told.rests_on == {"message overhead o_s": 0.3, "puts": 0.2}
    drawn = [row for row in made_.approaches if row.probability is not None]
    assert len({row.approach.interface for row in drawn}) == len(drawn) <= 11


def test_the_correlation_ratio_of_a_known_sum() -> None:
    """Of 3 a + b + noise with equal variances, a explains 9 of 11 parts, b one."""
    rng = np.random.default_rng(5)
    a, b, noise = rng.normal(0, 1, (3, 40_000))
    bins = [np.argsort(np.argsort(x)) * 8 // len(x) for x in (a, b)]
    shares = [explained(3 * a + b + noise, of) for of in bins]
    assert shares == pytest.approx([9 / 11 * 0.944, 1 / 11 * 0.944], abs=0.01)  # eight bins keep 94.4 % of a normal
    # Negative control: bins of something else explain nothing, on average.
    chance = [explained(rng.normal(0, 1, 121), np.arange(121) * 8 // 121) for _ in range(400)]
    assert np.mean(chance) < 0.05
    # Kelley's ε² of 0, 0.1 and 0.4, 0.5: 1 of 17 within, with 2 and 3 degrees of freedom.
    assert explained(np.array([0.0, 0.1, 0.4, 0.5]), np.array([0, 0, 1, 1])) == pytest.approx(1 - 1 / 2 * 3 / 17)


def test_what_knowledge_leaves_of_a_wrong_verdict() -> None:
    enough, bins = np.array([True] * 6 + [False] * 4), np.array([0] * 5 + [1] * 5)
    assert wrong(enough, np.zeros(10, int)) == pytest.approx(0.4)
    assert wrong(enough, bins) == pytest.approx(0.5 * 0.2)
    # Each draw is judged by the others: of bins of three, two agree by chance as often as not.
    rng = np.random.default_rng(2)
    chance = [wrong(rng.random(168) < 0.3, np.arange(168) % 56) for _ in range(200)]
    assert np.mean(chance) > 0.3


EACH = np.arange(160)


@pytest.mark.parametrize(
    ("saves", "said"),
    [
        (2.0 - 2 * (EACH % 2), "decides (port if 1, do not port if 4)"),
        (np.where(EACH % 4 == 0, 0.0, 2.0) - (EACH % 2 > 0), "may decide (undecided if 1, port if 4)"),
        (np.where(EACH % 10 == 0, 0.0, 2.0), ""),
        (np.where(EACH < 30 + 20 * (EACH % 2), 0.0, 2.0), ""),  # 65 of 80 and 55 of 80: as far apart by chance
    ],
)
def test_a_field_is_asked_for_that_turns_the_verdict(saves: Any, said: str) -> None:
    """160 machines, every other one with four ranks of a node."""
    which = EACH % 2
    some = Alternative("ranks per node", ("1", "4"), (0.5, 0.5), "not given", ("", ""))
    of: Any = Of(alternatives={some.name: some}, chosen=lambda _: which, lead=0)
    asked = asked_for(of, saves, 0.01)
    assert asked == (said and f"Say `ranks_per_node = N` in the workload: it {said}")
    known: Any = Of(alternatives={}, chosen=of.chosen, lead=0)
    assert asked_for(known, saves, 0.01) == ""


def test_what_is_measured_next_decides_most_per_minute() -> None:
    """160 machines: puts decide, by two minutes, L by one, and where neither tells enough, real MPI does."""
    which, place = EACH // 2 % 2, EACH // 4 / 40
    puts = Alternative("puts", ("adapter", "deferred"), (0.5, 0.5), "assumed", ("", ""), "approach")
    drawn = {"inter.segments[0].L": place - 0.5}
    of: Any = Of(
        machine=load("meluxina"), drawn=[*drawn], normals=drawn.get, alternatives={"puts": puts},
        chosen=lambda _: which, lead=0,
    )  # fmt: skip
    saves: Any
    for saves, said in (
        (2.0 - 2 * which, "pready calibrate --measure approach"),
        (2.0 * (place < 0.5), "pready calibrate --measure pingpong"),
        (2.0 * (EACH % 2), "pready prove"),
        (2.0 * (EACH % 10 < 7), "pready prove"),  # puts tell nothing: three in ten are wrong before and after
        (np.full(160, 2.0), ""),
    ):
        assert measure_next(of, saves, 0.01) == said


def test_an_input_is_shown_at_its_ends_and_an_alternative_at_each_option() -> None:
    """160 machines: whether puts are deferred costs 2 % of an iteration, L up to 1.6 % more at its high end."""
    which, place = EACH % 2, EACH // 2 / 80
    puts = Alternative("puts", ("adapter", "deferred"), (0.5, 0.5), "assumed", ("they fly", "they wait"), "approach")
    drawn = {"inter.segments[0].L": place - 0.5, "one_sided.puts": which}
    machine = load("meluxina")
    of: Any = Of(
        machine=machine, drawn=["inter.segments[0].L"], normals=drawn.get, alternatives={"puts": puts},
        chosen=lambda _: which, lead=0,
    )  # fmt: skip
    saved = 2.7 - 2.0 * which - 1.6 * (place * 8 // 1) / 7
    first, second = levers(of, saved, 0.01)
    assert (first.name, first.kind, first.steps) == ("puts", "unknown", puts.said)
    assert first.speedup_percent == pytest.approx((1.9, -0.1))
    assert (first.probability, first.turns) == ((1, 0), True)
    assert (second.name, second.kind, second.steps) == ("latency", "machine", ("low end", "high end"))
    assert (second.probability, second.turns) == ((0.5, 0.5), False)
    assert second.source == "literature"
    assert second.speedup_percent == pytest.approx((1.7, 0.1))
    variance = np.array([2.0**2 / 4, (1.6 / 7) ** 2 * (8**2 - 1) / 12])  # of two values, and of eight in a row
    assert [first.share, second.share] == pytest.approx(variance / variance.sum(), rel=0.02)
    known = machine.inter.segments[0].L.model_copy(update={"source": "measured"})
    segments = (machine.inter.segments[0].model_copy(update={"L": known}), *machine.inter.segments[1:])
    of.machine = machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": segments})})
    assert [x.source for x in levers(of, saved, 0.01)] == ["assumed", "measured"]
    assert not measure_next(of, saved, 0.01).endswith("pingpong")


def rma_measured(machine: Machine) -> Machine:
    """As ``pready calibrate --measure approach`` writes it: puts and synchronisation to 5 %."""
    sided, why = with_library(machine)[0].one_sided, "calibrate --measure approach"
    update: dict[str, Any] = {"puts": Value[Puts](value="adapter", source="measured", why=why)}
    for name in ("put", "epoch", "epoch_peer"):
        value = getattr(sided, name)
        ends = 0.95 * value.value, 1.05 * value.value
        update[name] = value.model_copy(update={"source": "measured", "why": why, "interval": ends})
    return machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update=update)})


@pytest.mark.thorough
def test_measuring_rma_narrows_the_interval_by_half_and_says_so() -> None:
    """Of the README's example on MeluXina, where nobody measured RMA: puts may be deferred, or cost 7 us."""
    machine, what = load("meluxina"), load_workload("examples/halo3d.toml")
    wide, narrow = predict(machine, what), predict(rma_measured(machine), what)

    def rma(of: Prediction) -> ApproachPrediction:
        return next(p for p in of.approaches if p.key == "rma-single-active" and p.probability is not None)

    before, after = (rma(of) for of in (wide, narrow))
    spans = [row.speedup_high_percent - row.speedup_low_percent for row in (before, after)]
    assert spans[1] <= spans[0] / 2
    assert (before.unmeasured, after.unmeasured) == ("MPI_Put and RMA synchronisation", "")
    # Only then it is advised, in words that say so; how puts move is no alternative any more.
    assert not wide.advised.approach.interface.one_sided
    assert narrow.advised == after
    assert "how puts move" not in narrow.advice.rests_on
    said = " ".join(str(narrow).split())
    assert "MPI_Win_complete at the origin, which MPI may deprecate (MPI forum, issue 558); RMA's costs were" in said


def test_who_owns_a_face_is_drawn_where_nothing_says_it() -> None:
    halo, ways = {"pattern": "halo3d", "grid": [3, 3, 3]}, [(Approach(MANY, 32, 8),), (BULK,)]
    said = [made(**halo | x) for x in ({"thread_grid": "shared"}, {"thread_grid": [2, 2, 2]}, {"threads": 1}, {})]
    *stated, runs = (Runs(load("meluxina"), Step.of(w), Rows(39)) for w in said)
    assert not any("thread_grid" in of.sampler.alternatives for of in stated)
    assert runs.sampler.alternatives["thread_grid"].options == ("shared", "[1, 1, 8]", "[2, 2, 2]")
    for n, grid in enumerate(("shared", [1, 1, 8], [2, 2, 2])):
        rows = runs.sampler.chosen("thread_grid")[1:] == n
        as_said = runs.of(said[3].changed(thread_grid=grid)).means(ways, range(1, 40))
        for some, alone in zip(runs.means(ways, range(1, 40)), as_said, strict=True):
            close(some.step.iteration[rows], alone.step.iteration[rows], rtol=1e-12)


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({}, True),
        ({"today": "nonblocking"}, False),
        ({"today": "several messages"}, False),
        ({"buffer": "40 MiB"}, False),
    ],
)
def test_where_many_messages_would_be_worth_joining_the_user_is_asked_how_it_sends(
    fields: dict[str, Any], asked: bool
) -> None:
    # Forty calls for each of six neighbours, and as many receives: 480 us and more of one thread at 1 us each.
    few = {"partitions_per_thread": 5, "buffer": "40 KiB", "pattern": "halo3d", "grid": [2, 2, 2], "threads": 8}
    calm = {"compute": {"time": "300 us"}, "arrivals": {"model": "none"}}
    advice = predict(load("meluxina"), made(**few | calm | fields)).advice
    assert advice.ask.startswith("Say `today` in the workload") == asked
