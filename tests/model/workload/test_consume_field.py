"""What a receiver does with what comes: read, written, refused."""

from pathlib import Path
from typing import Any

import pytest

from pready.model.advice.predict import predict
from pready.model.common.units import format_time
from pready.model.machine.machine import load as machine
from pready.model.workload.workload import Workload, load

ROOT = Path(__file__).parents[3]
PLAIN: dict[str, Any] = {"threads": 4, "buffer": "64 KiB"}


def test_one_line_makes_a_receiver_consume() -> None:
    for pattern in ("pt2pt", "halo3d"):
        made = Workload.model_validate({**PLAIN, "pattern": pattern, "consume": {"time": "20 us"}})
        assert made.receiver == "consuming"
        assert made.receiver_computes == (pattern == "halo3d")  # who sends computes first
        assert made.changed(consume=None).receiver == ("computing" if pattern == "halo3d" else "waiting")


def test_an_exchange_of_a_step_may_do_otherwise() -> None:
    works: list[dict[str, Any]] = [{}, {"receiver": "computing"}, {"consume": {"time": "3 us"}}]
    common = {"threads": 2, "pattern": "halo3d", "consume": {"time": "1 us"}}
    step = Workload.model_validate({**common, "exchanges": [{"buffer": "8 KiB", **own} for own in works]})
    assert [p.receiver for p in step.parts] == ["consuming", "computing", "consuming"]
    assert [p.consume and p.consume.time for p in step.parts] == [1e-6, None, 3e-6]


def test_the_answer_says_what_is_hidden() -> None:
    w = load(ROOT / "examples" / "consuming.toml")
    made = predict(machine("meluxina"), w, library="openmpi-persist", draws=0)
    now, by_key = made.bulk, {r.key: r for r in made.approaches}
    hidden, whole = (format_time(s) for s in (now.work_left_s - made.advised.work_left_s, now.work_left_s))
    assert f"{hidden} of the receiver's {whole} of work are done before everything is there" in made.advice.because
    assert made.bulk.work_left_s > made.advised.work_left_s > 0
    assert by_key["rma-single-active"].work_left_s == pytest.approx(made.bulk.work_left_s, rel=1e-6)
    # 32 partitions of 128 KiB, 8 threads, 0.5 ns for each byte, and a barrier.
    barrier = machine("meluxina").threads.barrier.at(8)
    assert made.bulk.work_left_s == pytest.approx(4 * 131072 * 0.5e-9 + barrier, rel=1e-9)
