"""Draws, determinism, refusals, interruption and export of the engine."""

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from on_ranks import prepared, simulate
from tables import table_of

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY, PART, SINGLE, Approach
from pready.model.common import memory
from pready.model.common.errors import PreadyError
from pready.model.engine import _kernel
from pready.model.engine.layout import check_memory_of, layout
from pready.model.engine.plan import drawn_times
from pready.model.engine.runs import check
from pready.model.engine.simulate import compare
from pready.model.machine import machine
from pready.model.workload.arrivals import Laggard, Measured, NoArrivals, Normal
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload

MELUXINA = machine.load("meluxina")
PART_8 = Approach(PART, 8, 1)


def workload(pattern: Any = "halo3d", model: Any = None, **fields: Any) -> Workload:
    values: dict[str, Any] = {
        "threads": 8,
        "buffer": "64 KiB",
        "receiver": "computing",
        "compute": ComputeTime(time="100 us"),  # type: ignore[arg-type]
    } | fields
    return Workload(pattern=pattern, arrivals=model or Normal(model="normal by thread", spread=0.04), **values)


@pytest.mark.parametrize("model", ["laggard", "late", "none", "trace", "columns"])
def test_tables_are_those_of_arrivals(model: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    np.save(tmp_path / "rows.npy", rng.uniform(90, 110, (7, 8)))
    np.save(tmp_path / "columns.npy", rng.uniform(90, 110, (5, 16)))  # out of order within a thread
    models: dict[str, Any] = {
        "laggard": Laggard(model="laggard", late_by=0.04),
        "late": Laggard(model="laggard", late_by=0.04, late="thread"),
        "none": NoArrivals(),
        "trace": Measured(model="trace", file="rows.npy", unit="us", partitions="in turn"),
        "columns": Measured(model="trace", file="columns.npy", unit="us"),
    }
    w = workload("pt2pt", models[model], partitions_per_thread=2, folder=str(tmp_path), receiver="waiting")
    out = simulate(ideal(), w, Approach(SINGLE), grid=(6,), iterations=1, record=True)
    last = [drawn_times(w, 1, 0, rank=r ^ 1)[0].max() for r in range(6)]
    assert out.received_s is not None
    np.testing.assert_allclose(out.received_s[0], np.array(last) + w.buffer / 25e9, rtol=1e-12)


@pytest.mark.parametrize(("key", "early", "causes"), [
    ("single", 0.0, [150, 0, 7, 0, 160, 0]), ("many", 0.25, [150, 0, 0, 70, 40, 7]),
])  # fmt: skip
def test_every_figure_of_a_pair(key: str, early: float, causes: list[float]) -> None:
    """Microseconds: 100 of computing, the last thread 50 late; the threads meet for 7; 4 MB take 160. Of four messages
    the first is there at 140, and the last one's turn comes at 220."""
    laggard = Laggard.model_validate({"model": "laggard", "delay": "50 us"})
    w = workload("pt2pt", laggard, threads=4, buffer="4 MB", receiver="waiting")
    out = simulate(ideal(barrier=[0.0, 7e-6, 7e-6]), w, BY_KEY[key].into(4), grid=(2,), iterations=2)
    took, ends = sum(causes), [sum(causes), 2 * sum(causes)]
    times = out.mean_s, out.shortest_s, out.longest_s, out.first_end_s, out.last_end_s
    found = [(1e6 * of).tolist() for of in (*times, out.means["spread"], out.means["to_join"])]
    wanted: Any = [[took] * 2, [took] * 2, [took] * 2, ends, ends, [50] * 2, [7] * 2]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    np.testing.assert_allclose([1e6 * s for s in out.causes_s.values()], [[c] * 2 for c in causes], atol=1e-9)
    assert out.means["early"].tolist() == [early] * 2


BLOCKING = {"grid": (4,), "ranks_per_node": 2, "approach": Approach(BY_KEY["blocking"])}, "blocking sends of ranks that"


@pytest.mark.parametrize(("arguments", "message"), [*table_of("model/refused")["simulate"], BLOCKING])
def test_refusals_say_what_is_valid(arguments: dict[str, Any], message: str) -> None:
    values: dict[str, Any] = {"iterations": 1, "approach": PART_8} | arguments
    pattern = values.pop("pattern", "halo3d")
    w = workload(pattern, neighbours=2 if pattern == "neighbours" else None)
    with pytest.raises(PreadyError, match=re.escape(message)) as caught:
        simulate(MELUXINA, w, values.pop("approach"), **values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("steps", "iterations", "cores", "valid"),
    [
        (1, 2**32 - 1, 4096, None), (2, 2**31 - 1, 1, None),
        (1, 2**32, 1, "iterations = 4294967296; valid: at most 4294967295: a 32-bit counter"),
        (2, 2**31, 1, "iterations = 2147483648 of 2 steps; valid: at most 2147483647: a 32-bit counter"),
        (1, 0, 1, "at least 1"), (1, 1, 0, "1 to 4096"), (1, 1, 4097, "1 to 4096"),
    ],
)  # fmt: skip
def test_what_the_kernel_counts(steps: int, iterations: int, cores: int, valid: str | None) -> None:
    plan: Any = SimpleNamespace(steps=steps)
    with nullcontext() if valid is None else pytest.raises(PreadyError, match=re.escape(valid)):
        check([plan], iterations, cores)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 10_000)
    # Of a rank: 16 B for each of 48 messages, 8 for each of 9 moments, 4 for each of 12 neighbours, 12 fields of 8.
    with pytest.raises(PreadyError, match=r"262144 ranks needs 246 MiB, 9\.77 KiB are available; valid: fewer ranks"):
        simulate(MELUXINA, workload(), PART_8, grid=(64, 64, 64), iterations=1)
    # Three approaches hold 110 B for each of 50,000 partitions of the 6 x 4 threads at a side of 2 x 2 x 2: 396 MB. Two
    # at once simulate 8 x 50,000, 64 B for each of 8 ranks and 6 directions: 2458 MB.
    sides = workload(buffer="24 MB", threads=8, partitions_per_thread=50_000, thread_grid=(2, 2, 2), grid=(2, 2, 2))
    for at_once, needs in ((0, r"377\.7 MiB"), (2, r"2\.66 GiB")):
        with pytest.raises(PreadyError, match=f"comparing 3 approaches on 8 ranks needs {needs}"):
            check_memory_of(sides, layout(sides).pattern(sides), 3, at_once)
    # A million partitions, which 224 approaches split: 40 B each, and 64 for each rank of two and direction.
    many = workload("pt2pt", buffer="64 MB", threads=8, partitions_per_thread=125_000)
    said = r"threads × partitions_per_thread = 8 × 125000: comparing 224 approaches on 2 ranks needs 8\.58 GiB"
    with pytest.raises(PreadyError, match=said):
        predict(MELUXINA, many)
    with pytest.raises(PreadyError, match=r"comparing 2 approaches on 2 ranks needs 76\.\d+ MiB"):
        compare(MELUXINA, many, [PART_8], iterations=1)


def test_times_beyond_292_years_are_refused() -> None:
    # 100 years per iteration: the third passes the end of 63-bit nanoseconds.
    w = workload(model=NoArrivals(), compute=ComputeTime(time="3155760000 s"))  # type: ignore[arg-type]
    with pytest.raises(PreadyError, match=r"after iteration 3 the time is 9.46728e\+09 s; valid: 292 years"):
        simulate(MELUXINA, w, PART_8, grid=(2, 2, 2), iterations=5)


@pytest.fixture
def _heeds_control_c() -> Iterator[None]:
    # Whoever starts the tests in the background may have them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heeds_control_c")
@pytest.mark.parametrize("pattern", ["halo3d", "sweep3d"])
def test_control_c_stops_and_keeps_what_is_there(pattern: Any) -> None:
    def interrupt() -> None:
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    grid = (16, 16) if pattern == "sweep3d" else (8, 8, 4)  # a busy machine, too, does one iteration in 0.3 s
    out = simulate(MELUXINA, workload(pattern), PART_8, grid=grid, iterations=100_000, cores=2)
    sender.join()
    assert out.interrupted
    assert 0 < out.iterations < 100_000
    assert len(out.mean_s) == out.iterations
    assert out.time_s > 0


def test_progress_is_reported_and_may_stop_the_run() -> None:
    shares: list[float] = []

    def on_progress(share: float) -> None:
        shares.append(share)
        if len(shares) == 3:
            raise KeyboardInterrupt

    out = simulate(MELUXINA, workload(), PART_8, grid=(32, 32, 32), iterations=100_000, on_progress=on_progress)
    assert out.interrupted
    assert len(shares) == 3
    assert shares == sorted(shares)
    assert 0 <= shares[-1] < 1


def test_an_error_in_progress_is_the_callers() -> None:
    def on_progress(share: float) -> None:
        raise RuntimeError(f"no screen at {share}")

    with pytest.raises(RuntimeError, match="no screen"):
        simulate(MELUXINA, workload(), PART_8, grid=(32, 32, 32), iterations=100_000, on_progress=on_progress)


def test_a_vci_that_more_threads_share_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four messages of four threads on three VCIs, the first of which has two of them.
    seen, made = dict[str, Any](), _kernel.Messages
    monkeypatch.setattr(_kernel, "Messages", lambda **of: seen.update(of) or made(**of))
    machine = ideal(o_r=1e-6, waiting=[0.0, 3e-6, 3e-6], contention=[0.0, 7e-6, 7e-6])
    plan = prepared(machine, workload("pt2pt", threads=4), Approach(BY_KEY["many"], 4, 3), grid=(2,))
    assert (plan.seed, seen["vcis"], plan.messages.issuers) == (0, ((0, 3), (1,), (2,)), (2, 1, 1))
    assert plan.contention.tolist() == [[7e-6, 0.0, 0.0]]
    # Of 4/3 messages per VCI, one thread sends half; two threads wait for them.
    assert seen["in_order"] == pytest.approx(4 / 3 / 2)
    assert dict(zip(_kernel.KIND_FIELDS, plan.kinds[0, 0], strict=True))["receive"] == pytest.approx(1e-6 + 3e-6 * 1.5)


def test_a_late_thread_delays_only_its_faces() -> None:
    # Thread 0 of 2 x 1 x 1 is late: the message to the left waits for it, the one to the right not.
    # Rank 0's neighbours along an open line of two ranks: rank 1 is to the right.
    w = workload("halo3d", NoArrivals(), threads=2, buffer="2 B", receiver="waiting")
    late = w.model_copy(update={"arrivals": Laggard(model="laggard", delay="1 ms")})  # type: ignore[arg-type]
    approach = Approach(PART, 1, 1)
    line: dict[str, Any] = {"grid": (2,), "periodic": False, "iterations": 1, "record": True}
    everyone = simulate(ideal(), late, approach, **line)
    mapped = simulate(ideal(), late, approach, **line, thread_grid=(2, 1, 1))
    assert everyone.received_s is not None
    assert mapped.received_s is not None
    # The last thread is late. Rank 0 sends right (thread 1, late), rank 1 sends left (thread 0).
    np.testing.assert_allclose(everyone.received_s[0], 1.1e-3, rtol=1e-6)
    np.testing.assert_allclose(mapped.received_s[0], [0.1e-3, 1.1e-3], rtol=1e-6)
    assert mapped.ends_s is not None
    ends = mapped.ends_s[0].min(), mapped.ends_s[0].max()
    assert (mapped.shortest_s[0], mapped.longest_s[0]) == (mapped.first_end_s[0], mapped.last_end_s[0]) == ends
    assert ends[0] < ends[1]
