"""Threads whose parts of a buffer differ: engine, plain recurrence, and what one works out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from made_once import EITHER, any_of, between, generated
from on_ranks import each, prepared
from plain_ranks import run_as_plain, run_from_rest
from tables import table_of
from test_consuming import WORKS
from test_plain import cases
from workloads import workload_of

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY, MANY, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.machine import Machine, load
from pready.model.toml.dotted import written
from pready.model.workload import workload as workloads
from pready.model.workload.thread_shares import Graded, Remainder, weights
from pready.model.workload.workload import Workload

WEIGHTS = any_of(1, 2, 3, 7, 50)


@st.composite
def unequal(draw: st.DrawFn) -> dict[str, Any]:
    case = draw(cases(("pt2pt", "halo3d", "halo3d26", "neighbours")))
    workload = case["workload"]
    case["thread_grid"] = None
    if case["approach"].interface.partitioned:
        case["approach"] = Approach(BY_KEY["many-joined"], case["approach"].transport_partitions, 2)
    if case["approach"].interface.splits and workload.n_partitions % case["approach"].transport_partitions:
        case["approach"] = Approach(case["approach"].interface, workload.n_partitions, 2)
    update: dict[str, Any] = {"thread_shares": tuple(draw(WEIGHTS) for _ in range(workload.threads))}
    if draw(EITHER):
        update |= {"receiver": "consuming", "consume": draw(WORKS)}
    case["workload"] = workload.model_copy(update=update)
    return case


@pytest.mark.slow
@generated(160)
@given(unequal(), st.integers(1, 3))
def test_engine_equals_the_plain_recurrence(case: dict[str, Any], iterations: int) -> None:
    out, _ = run_as_plain(case, iterations)
    assert out.approach == case["approach"]


@pytest.mark.slow
@generated(80)
@given(unequal(), between(0, 3), EITHER)
def test_exchanges_from_rest_equal_it(case: dict[str, Any], seed: int, both: bool) -> None:
    workload = case["workload"]
    if workload.pattern == "pt2pt":
        workload = workload.model_copy(update={"both_ways": both})
    of = Runs(case["machine"], Step.from_rest(workload), Rows(2, seed, 5))
    run_from_rest(of, case["approach"])
    (drawn,) = of.means([(case["approach"],)], of.drawn(2))
    assert drawn.exchange().communication.shape == (2,)


# Known answers. On an ideal machine 1 MB takes 40 us at 25 GB/s, and nothing else takes time.


def shared(shares: Any, late: float = 0.0, **fields: Any) -> Workload:
    arrivals = {"model": "laggard", "delay": f"{late!r} s"} if late else {"model": "none"}
    return workload_of(**{"buffer": "12 MB", "thread_shares": shares, "arrivals": arrivals, **fields})


def time_of(machine: Machine, w: Workload, approach: Approach) -> float:
    (end,) = {round(e.end, 15) for e in each(Runs(machine, Step.of(w)), approach)}
    return end


@pytest.mark.parametrize(
    ("shares", "left"),
    # What the late thread, the last one, has to send: of 12 MB.
    [([1, 1, 1, 1], 3), ([3, 3, 3, 3], 3), ([5, 3, 3, 1], 1), ([1, 1, 1, 3], 6), ({"items": 10}, 1.2), (None, 3)],
)
def test_only_the_last_part_is_left_behind_a_long_delay(shares: Any, left: float) -> None:
    # Eq. 3 with the late partition's own size: all others hide behind the delay.
    w = shared(shares, late=1e-3)
    assert time_of(ideal(), w, MANY.into(4)) == pytest.approx(left * 40e-6, rel=1e-9)
    assert time_of(ideal(), w, BY_KEY["single"].into(1)) == pytest.approx(12 * 40e-6, rel=1e-9)
    # Two threads fill a message: the third's part goes with the late one's.
    sizes = np.array(w.weights or (1, 1, 1, 1)) / sum(w.weights or (1, 1, 1, 1)) * 12
    assert time_of(ideal(), w, MANY.into(2)) == pytest.approx(sizes[2:].sum() * 40e-6, rel=1e-9)


def test_a_partition_s_work_grows_with_it() -> None:
    # One thread works 10 us on each MB; the last message, of 6 MB, is all that is left after the delay.
    w = shared([1, 1, 1, 3], late=1e-3, consume={"per_byte": "10 us/MB", "threads": 1})
    assert time_of(ideal(), w, MANY.into(4)) == pytest.approx(6 * 50e-6, rel=1e-9)


def test_each_part_has_its_protocol() -> None:
    # The small parts are eager, the large one asks first: MeluXina's rendezvous begins at 8 KiB.
    w = shared([1, 1, 1, 61], buffer="128 KiB")
    of = Runs(load("meluxina"), Step.of(w))
    (made,) = of.plans((MANY.into(4),))
    assert made.sizes == pytest.approx([2048, 124928])
    asks = [bool(made.costs[k].asks(MANY)) for k in made.pattern.classes[0]]
    assert asks == [False, False, False, True]


def test_rules_of_shares() -> None:
    assert weights((3, 1, 1, 1), 4) == (3, 1, 1, 1)
    assert weights((6, 2, 2), 3) == (3, 1, 1)
    assert weights(Remainder(items=10), 4) == (3, 3, 3, 1)
    assert weights(Remainder(items=8), 4) == (1, 1, 1, 1)
    assert [weights(Graded(first=1, last=3), threads) for threads in (2, 3)] == [(1, 3), (1, 2, 3)]
    assert weights(Graded(first=1, last=2), 4) == (3, 4, 5, 6)
    assert weights(Graded(first=5, last=2), 1) == (1,)
    assert shared([2, 2, 2, 2]).weights is None
    assert shared([3, 2, 1, 1], buffer="7 B").weights == (3, 2, 1, 1)  # all else: a multiple of 4 B


@pytest.mark.parametrize("shares", [[3, 1, 1, 1], {"items": 10}, {"first": 1, "last": 3}])
def test_they_are_written_as_they_are_read(shares: Any) -> None:
    made = shared(shares)
    assert Workload.model_validate(written(made)) == made
    assert made.at_buffer(1e6).weights == made.weights


@pytest.mark.parametrize(("lines", "says"), table_of("model/refused")["parts"])
def test_misuse_is_one_line(lines: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'format = 2\nthreads = 4\nbuffer = "12 MB"\n{lines}\n')
    with pytest.raises(PreadyError) as caught:
        workloads.load(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_partitioned_calls_are_refused_by_name_and_not_offered() -> None:
    w = shared([3, 1, 1, 1], pattern="pt2pt")
    with pytest.raises(PreadyError, match="approach = 'part' with thread_shares: MPI_Psend_init's partitions are all"):
        prepared(load("meluxina"), w, BY_KEY["part"].into(4), grid=(2,))
    made = predict(load("meluxina"), w, library="openmpi-persist", draws=0)
    assert not any(r.approach.interface.partitioned for r in made.approaches)
    assert any("MPI_Psend_init" in x for x in made.advice.warnings)
    assert any(
        r.approach.interface.partitioned
        for r in predict(load("meluxina"), w.changed(thread_shares=None), library="openmpi-persist", draws=0).approaches
    )
