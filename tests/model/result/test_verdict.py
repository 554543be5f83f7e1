"""The one rule of verdicts, ties, and from how many iterations on a port pays."""

from dataclasses import replace
from types import SimpleNamespace as Of
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from tables import table_of

from pready.model.approach.interfaces import BULK, BY_KEY, MANY, PERSISTENT, Approach
from pready.model.engine.layout import Step
from pready.model.engine.runs import Runs
from pready.model.result import verdict as of_verdict
from pready.model.result.prediction import ROUNDING, ApproachPrediction, availability_of
from pready.model.result.verdict import INDISTINCT, MIN_GAIN, best_port, from_iterations, run_s, simplest
from pready.model.workload.workload import Workload

RMA = BY_KEY["rma-single-active"].into(8)
ITERATIONS = 100
_W = Workload.model_validate({"threads": 8, "buffer": "1 MiB"})
NOW = replace(Runs(ideal(), Step.of(_W)).predicted([(BULK,)])[0], iteration_s=1e-3, begin_s=0.0)


def row(approach: Approach, saved: float, begin: float = 0.0) -> ApproachPrediction:
    """Saves that share of 1 ms, before set-up."""
    return replace(NOW, approach=approach, iteration_s=(1 - saved) * 1e-3, begin_s=begin)


@pytest.mark.parametrize(("probability", "said", "sure"), table_of("model/known")["verdicts"])
def test_the_rule(probability: float, said: str, sure: str) -> None:
    assert (of_verdict.verdict_of(probability), of_verdict.certainty_of(probability)) == (said, sure)
    some: Any = (Of(probability=p, speedup_percent=s) for p, s in ((probability, 1), (None, 1.99), (None, 2.0)))
    # without draws, by the value
    assert [of_verdict.verdict_on(of, 0.02) for of in some] == [said, "do not port", "port"]


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.1, 4))
def test_a_measured_verdict_needs_the_whole_interval(a: float, b: float, least: float) -> None:
    low, high = min(a, b), max(a, b)
    said = of_verdict.verdict(low, high, least)
    assert (said == "port") == (low >= least)
    assert (said == "do not port") == (high < least)


def test_ties_go_to_the_simplest_to_program() -> None:
    # 0.05 % of an iteration is not worth a window; 0.2 % is.
    close, far = (row(MANY.into(8), 0.1 - d) for d in (0.5 * INDISTINCT, 2 * INDISTINCT))
    rma = row(RMA, 0.1)
    assert simplest([rma, close], ITERATIONS) is close
    assert simplest([rma, far], ITERATIONS) is rma
    alone = row(Approach(PERSISTENT), 0.1 - 0.5 * INDISTINCT)
    assert simplest([rma, close, alone], ITERATIONS) is alone
    # Of one interface, fewer VCIs, then fewer messages.
    few, more = row(MANY.into(4), 0.1), row(MANY.into(8, 8), 0.1)
    assert simplest([more, few], ITERATIONS) is few


def test_set_up_counts_in_a_tie() -> None:
    # A window of 1 ms is 1 % of the run of 100 iterations.
    rma, many = row(RMA, 0.105, begin=1e-3), row(MANY.into(8), 0.1)
    assert simplest([rma, many], ITERATIONS) is many
    assert simplest([rma, many], 100_000) is rma


def test_the_port_that_pays_earliest_else_that_of_the_fastest_exchange() -> None:
    # Beyond 1 % of 1 ms, 40 us and 10 us are saved: 4 ms of set-up are paid back in 100 iterations, 500 us in 50.
    late, early = row(RMA, 0.05, begin=4e-3), row(MANY.into(8), 0.02, begin=5e-4)
    simple = row(Approach(PERSISTENT), 0.02, begin=5e-4)
    assert [best_port([late, early], NOW, n) for n in (10, 1000)] == [early, late]
    assert best_port([late, early, simple], NOW, 10) is simple
    just, never = row(RMA, MIN_GAIN), replace(row(Approach(PERSISTENT), 0.0), eta=1.9)
    assert best_port([never, just], NOW, 10) is just
    fast, alike = replace(row(RMA, 0.0), eta=2.0), replace(row(MANY.into(8), 0.0), eta=1.98)  # within 1 %
    assert best_port([never, fast, alike], NOW, 10) is alike
    assert from_iterations(just, NOW) is None  # exactly that is saved, and nothing to pay back with
    edge = replace(row(Approach(PERSISTENT), 0.0), iteration_s=1e-3 * (1 + INDISTINCT))
    assert simplest([row(RMA, 0.0), edge], 10) is edge


def test_what_is_a_port() -> None:
    ways = [(BULK, 2.0), (Approach(PERSISTENT), 1.0), (Approach(PERSISTENT), 1.01), (MANY.into(8), 0.5), (RMA, 0.5)]
    assert [of_verdict.a_port(approach, gain, BULK) for approach, gain in ways] == [False, False, True, True, True]
    rows = [replace(row(approach, 0.0), eta=gain) for approach, gain in ways]
    hidden = [availability_of(share) for share in (0.5, -ROUNDING, -1.1 * ROUNDING)]  # rounding is no loss
    told = [(of["availability"], bool(of["availability_reason"])) for of in hidden]
    assert told == [(0.5, False), (0, False), (None, True)]
    assert of_verdict.candidates([*rows, replace(rows[-1], needs="X")], BULK) == rows[2:]


@given(st.floats(0, 1e-2), st.floats(0, 1e-3), st.floats(-0.1, 0.9))
def test_from_so_many_iterations_on_and_not_before(begin: float, begin_now: float, saves: float) -> None:
    best, now = row(RMA, saves, begin), replace(NOW, begin_s=begin_now)

    def saved(n: float) -> float:
        return 1 - run_s(best, n) / run_s(now, n)

    start = from_iterations(best, now)
    if start is None:
        assert all(saved(n) < MIN_GAIN + 1e-9 for n in (1e6, 1e9))
    else:
        assert saved(start) >= MIN_GAIN - 1e-9
        assert start == 1 or saved(start - 1) < MIN_GAIN + 1e-9
