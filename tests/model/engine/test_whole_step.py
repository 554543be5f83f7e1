"""A step with several exchanges: each on its own, the step as a whole, and what is said of them."""

from typing import Any

import numpy as np
import pytest

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BULK, EACH, MANY, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine import runs
from pready.model.engine.layout import Step
from pready.model.engine.plan import Plan
from pready.model.engine.runs import Runs
from pready.model.engine.simulate import compare, run_step
from pready.model.machine import machine as machines
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

MELUXINA = machines.load("meluxina")


def step(*exchanges: dict[str, Any], **fields: Any) -> Workload:
    common = {"threads": 4, "pattern": "halo3d", "grid": [2, 2, 2], "exchanges": list(exchanges)}
    return validated(Workload, {**common, **fields}, "w")


def one(**fields: Any) -> dict[str, Any]:
    return {"buffer": "64 KiB", "compute": {"time": "1 ms"}, **fields}


LATE = {"model": "laggard", "delay": "100 us"}


def plans(w: Workload, way: tuple[Approach, ...]) -> list[Plan]:
    return Runs(MELUXINA, Step.on_all_ranks(w)).plans(way)


def test_exchanges_draw_arrivals_of_their_own() -> None:
    noisy = one(arrivals={"model": "normal by thread", "spread": 0.1})
    both = plans(step(noisy, noisy), (BULK, BULK))
    first, second = run_step(both, 20)
    assert first.step_s is not None
    np.testing.assert_allclose(first.step_s, first.mean_s + second.mean_s, rtol=1e-12)
    assert run_step(both[:1], 1)[0].step_s is None
    assert abs(np.corrcoef(first.causes_s["compute"], second.causes_s["compute"])[0, 1]) < 0.7
    assert not np.allclose(first.means["spread"], second.means["spread"])


def test_how_much_of_a_step_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two exchanges of 8 ranks with 6 neighbours and 4 partitions: 16 exchanges and 384 messages an iteration.
    w = step(one(), one(), iterations=20)
    assert Runs(MELUXINA, Step.of_a_part(w)).iterations == runs.OF_ROW_0 // 16
    monkeypatch.setattr(runs, "MOST_OF_ROW_0", 384 * (runs.WARM_UP + 5))
    monkeypatch.setattr(runs, "MOST_MESSAGES", 384 * (runs.WARM_UP + 2) * 100)
    few = Runs(MELUXINA, Step.of_a_part(w))
    assert (few.iterations, few.draws) == (5, 100)


def test_simulating_a_step_says_what_predicting_it_says() -> None:
    w = step(one(buffer="1 MiB", arrivals=LATE), one(), iterations=20)
    ways = [Approach(MANY, 4, 4), BULK]
    rows, by_exchange = compare(MELUXINA, w, ways, iterations=3)
    assert [r.approach for r, _ in rows] == [BULK, Approach(EACH)]
    assert [[r.approach for r, _ in some] for some in by_exchange] == [[BULK, ways[0]], [BULK, BULK]]
    times = [sum(some[way][0].time_s for some in by_exchange) for way in (0, 1)]
    assert [r.time_s for r, _ in rows] == pytest.approx(times, rel=1e-12)
    assert {run.iterations for some in (rows, *by_exchange) for _, run in some} == {3}
    for some in by_exchange:  # an iteration of the step is that of each
        np.testing.assert_allclose(
            [run.iteration_s for _, run in some], [run.iteration_s for _, run in rows], rtol=1e-12
        )
    made = predict(MELUXINA, w, draws=0)
    assert rows[0][0].time_s == pytest.approx(made.bulk.time_s, rel=1e-9)


def test_exchanges_of_other_ranks_are_refused() -> None:
    ring = {"pattern": "neighbours", "buffer": "8 B", "neighbour_list": [[1], [2], [0]]}
    two, counted = {**ring, "neighbour_list": [[1], [0]]}, {**ring, "neighbour_list": None, "neighbours": 2}
    assert predict(MELUXINA, step(counted, ring, grid=None), engine="timeline", draws=0).ranks == ()
    engine: Any
    for w, engine, said in (
        (step(one(), ring), None, "neighbour_list of 3 ranks; valid: one entry for each of 8 ranks"),
        (step(one(), ring), "timeline", "neighbour_list of 3 ranks; valid: one entry for each of 8 ranks"),
        (step(ring, two, grid=None), None, r"exchanges\[1\] has 2 ranks, others 3; valid: a grid, and lists of as"),
        (step(ring, one(pattern="pt2pt"), grid=None), None, r"exchanges\[1\] has pairs, others 3 ranks; valid: an e"),
        (step(counted, grid=None), None, "several exchanges per step: pattern 'neighbours' has no neighbour_list"),
    ):
        with pytest.raises(PreadyError, match=said):
            predict(MELUXINA, w, engine=engine, draws=0)
