"""The comparison with SST, with a stand-in whose times are the model's, more or less."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from rich.console import Console

from pready.model.approach.interfaces import MANY, Approach
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.show.tables.validation import agreement_data, agreement_view
from pready.sst import library
from pready.sst.firefly import initial
from pready.sst.library import Installation
from pready.sst.results import Record
from pready.sst.run import How
from pready.validate import sst
from pready.validate.sst import HALO_WAYS, Scene, Simulated, halo, predicted, two_rank_scenes

FEW = [
    *two_rank_scenes(load("meluxina"), 0, 4),
    *(Scene("in step", halo("48 KiB", None), way, (2, 2, 2), 1) for way in HALO_WAYS),
    *(Scene("halo 192 KiB", halo("192 KiB", 0.04), way, (4, 4, 4), 2) for way in HALO_WAYS[:2]),
    *(Scene("halo 192 KiB, eager", halo("192 KiB", 0.04), way, (4, 4, 4), 2, True) for way in HALO_WAYS[:2]),
]


once = cache(predicted)


class StandIn:
    """Says the model's times, longer by a share, and counts how often it is asked."""

    def __init__(self, longer: float = 0.0) -> None:
        self.longer, self.runs = longer, 0

    def __call__(self, scene: Scene) -> Simulated:
        self.runs += 1
        said = once(scene, load("meluxina"), 0)
        return Simulated(said.time * (1 + self.longer), said.iteration + self.longer * said.time)


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a validation against a stand-in."""
    monkeypatch.setattr(library, "find", lambda: Installation("sst", "sst-config", "sst-info", "SST 0"))
    monkeypatch.setattr(sst, "predicted", once)
    monkeypatch.setattr(sst, "fitted", lambda machine, how: initial(machine))
    monkeypatch.setattr(library, "build", lambda on_build: on_build())
    asked: list[Scene] = []
    made = Scene.setup

    def remembered(self: Scene, *arguments: Any) -> Any:
        asked.append(self)
        return made(self, *arguments)

    monkeypatch.setattr(Scene, "setup", remembered)

    def run(folder: Path, stand_in: Callable[[Scene], Simulated], told: sst.OnRun | None = None) -> sst.Agreement:
        def simulate_approach(setup: Any, approach: Approach, where: Path, how: How) -> Any:
            if how.on_wait is not None:
                how.on_wait(3.2)
            return SimpleNamespace(record=SimpleNamespace(said=stand_in(asked[-1])))

        monkeypatch.setattr(sst, "simulate_approach", simulate_approach)
        monkeypatch.setattr(sst, "seconds", lambda workload, record: record.said)
        return sst.validate(load("meluxina"), folder, scenes=FEW, on_progress=told)

    return run


def test_what_agrees_passes_and_half_the_bandwidth_does_not(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.03))
    assert all(c.ok for c in found.checks), found.checks
    assert [c.worst for c in found.checks[:4]] == pytest.approx([1 - 1 / 1.03] * 4)
    assert [(c.name, c.rows, c.limit) for c in found.checks] == [
        ("two ranks, predict", 7, 0.05),
        ("two ranks, predict, messages below 16 KiB", 5, 0.1),
        ("two ranks, engine", 7, 0.05),
        ("two ranks, engine, messages below 16 KiB", 5, 0.1),
        ("64 ranks, iteration time", 7, 0.1),
        ("64 ranks in step, communication", 3, 0.07),
        ("64 ranks out of step, eager", 2, 0.1),
        ("64 ranks out of step, without SST's handshakes", 2, 0.1),
        ("64 ranks, η", 4, 0.25),
    ]
    assert sst.Limit("just kept", 0.1, 0.1, 1).ok
    assert found.wrong_is_rejected
    assert found.ok
    assert [c.slack for c in found.checks[:2]] == pytest.approx([1 - (1 - 1 / 1.03) / limit for limit in (0.05, 0.10)])
    assert all(r.off == pytest.approx(-1 + 1 / 1.03) for r in found.rows)
    assert {r.cause for r in found.rows} == {""}


def test_known_differences_have_a_cause(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.06))
    assert all(c.ok for c in found.checks if c.name.startswith("64 ranks"))
    assert {(r.scene.name.partition(" ")[0], r.cause) for r in found.rows if r.cause} == {
        ("in", sst.IN_STEP),
        ("halo", sst.OUT_OF_STEP),
        ("halo", sst.ONE_CPU),
    }


def test_larger_ones_fail(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.30))
    off = [c.name.partition(",")[0] for c in found.checks if not c.ok]
    assert off[4:] == ["64 ranks in step", "64 ranks out of step", "64 ranks out of step"]
    assert len(off) == 7  # iterations are mostly computation
    assert not found.ok


def test_a_gain_that_is_off_breaks_a_limit_of_its_own(answered: Any, tmp_path: Path) -> None:
    as_said = StandIn()

    def answer(scene: Scene) -> Simulated:
        said = as_said(scene)
        longer = 1.3 if (scene.name, scene.approach) == ("in step", Approach(MANY, 8)) else 1.0
        return Simulated(said.time * longer, said.iteration)

    found = answered(tmp_path, answer)
    (eta,) = (c for c in found.checks if c.name == "64 ranks, η")
    assert (eta.worst, eta.ok) == (pytest.approx(0.3), False)


def test_what_handshakes_take_in_sst_is_no_difference(answered: Any, tmp_path: Path) -> None:
    """Runs with handshakes take 30 % longer: they do in SST, or all of the halo does."""
    as_said = StandIn()

    def handshakes(scene: Scene, eager: float = 1.0) -> Simulated:
        said = as_said(scene)
        longer = (eager if scene.eager else 1.3) if scene.name.startswith("halo") else 1.0
        return Simulated(said.time * longer, said.iteration)

    found = answered(tmp_path / "one", handshakes)
    (left,) = (c for c in found.checks if c.name.endswith("SST's handshakes"))
    assert left.worst == pytest.approx(0)
    assert max(abs(r.off) for r in found.rows if r.scene.name == "halo 192 KiB") == pytest.approx(1 - 1 / 1.3)
    found = answered(tmp_path / "some", lambda scene: handshakes(scene, 1.1))
    (left,) = (c for c in found.checks if c.name == left.name)
    # of 1.3 times the model's with handshakes, 1.3 - 1 are off, and all but 1.1 times that without them is explained
    times = {(r.scene.eager, r.scene.approach): r.model.time for r in found.rows if r.scene.name.startswith("halo")}
    assert left.worst == pytest.approx(max((1.1 * times[True, w] / times[False, w] - 1) / 1.3 for w in HALO_WAYS[:2]))
    found = answered(tmp_path / "other", lambda scene: handshakes(scene, 1.3))
    assert not any(c.ok for c in found.checks if c.name.startswith("64 ranks out of step"))


def failing(stand_in: StandIn, which: tuple[str, Approach]) -> Any:
    """The stand-in, whose run of one scene and approach never ends."""

    def answer(scene: Scene) -> Simulated:
        if (scene.name, scene.approach) == which:
            raise PreadyError("the simulation ran to the end of time", source="single-1.py (single-1.log)")
        return stand_in(scene)

    return answer


def test_a_run_that_fails_is_told_with_its_reason(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, failing(StandIn(0.01), ("in step", Approach(MANY, 8))))
    why = "single-1.py (single-1.log): the simulation ran to the end of time"
    assert found.failed == {"in step, many 8": why}
    assert all(c.ok for c in found.checks)
    assert not found.ok
    assert len(found.rows) == len(FEW) - 1
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(agreement_view(found, 0))
    assert "failed in step, many 8: single-1.py (single-1.log): the simulation ran" in console.export_text()
    assert agreement_data(found)["failed"] == {"in step, many 8": why}
    # The next call tries it again, and only it.
    again = StandIn(0.01)
    assert not answered(tmp_path, again).failed
    assert again.runs == 1


def test_a_second_call_goes_on_from_the_folder(answered: Any, tmp_path: Path) -> None:
    first, told = StandIn(0.01), list[tuple[int, int, str]]()
    done = answered(tmp_path, first, lambda *so_far: told.append(so_far))
    assert first.runs == len(FEW)
    assert told[1:6] == [
        *[(0, 19, "is fitted to MeluXina")] * 2,
        *((0, 19, "two-0, single"), (0, 19, "two-0, single, for 3 s"), (1, 19, "two-0, many")),
    ]
    assert told[0] == (0, len(FEW), "builds the element library")
    again = StandIn(0.5)
    assert answered(tmp_path, again) == done
    assert again.runs == 0
    one, other, *_ = sorted(tmp_path.glob("*.json"))
    one.write_text(one.read_text()[:30])
    other.unlink()
    cut = StandIn(0.01)
    assert answered(tmp_path, cut) == done
    assert cut.runs == 2


def test_a_run_counts_without_its_first_iteration() -> None:
    """Of two ranks: from the sender's last ready partition to the receiver's completion, 9, 2 and 4 s."""
    rank, iteration = np.tile([0, 1], 3), np.repeat([0, 1, 2], 2)
    start, none = 100.0 * iteration, np.zeros(6)
    given: dict[str, Any] = dict.fromkeys(("join", "issued", "first_arrival", "phase", "messages", "bytes"), none)
    took = {"completion": start + 1 + np.repeat([9, 2, 4], 2), "end": start + np.repeat([20, 6, 8], 2)}
    record = Record(rank, iteration, start=start, ready=start + 1, arrivals=((),) * 6, **given, **took)
    pair = two_rank_scenes(load("meluxina"), 0, 1)[0].workload
    assert sst.seconds(pair, record) == Simulated(3, 7)


def test_halos_out_of_step_run_with_and_without_handshakes() -> None:
    told = [(s.name, s.approach, s.ranks, s.iterations, s.eager, s.workload) for s in sst.halo_scenes()]
    assert told == [
        (f"halo {size} KiB {kind}", way, (4, 4, 4), *how, halo(f"{size} KiB", None if kind == "in step" else 0.04))
        for size in (48, 192)
        for kind, how in (("in step", (1, False)), ("out of step", (4, False)), ("out of step, eager", (4, True)))
        for way in HALO_WAYS
    ]
    apart = told[3][-1]
    assert (apart.grid, apart.buffer, apart.arrivals.model) == ((4, 4, 4), 48 * 1024, "normal by thread")


def test_two_rank_scenes_cover_the_sizes_and_are_seeded() -> None:
    m = load("meluxina")
    scenes = two_rank_scenes(m, 1)
    assert scenes == two_rank_scenes(m, 1)
    assert scenes != two_rank_scenes(m, 2)
    sizes = sorted({s.workload.buffer for s in scenes})
    assert len(sizes) == 16
    assert sizes[0] < 2**12 < sst.SMALL < 2**22 < sizes[-1]
    assert {s.iterations for s in scenes} == {1}
    delays = (dict(s.workload.arrivals)["delay"] for s in scenes[::3])
    late = [d * m.bandwidth / s.workload.buffer for d, s in zip(delays, scenes[::3], strict=True)]
    assert [delay == 0 for delay in late] == [True, False, False, False] * 4
    assert 1 < max(late) < 2
    for at in (1, 2):
        assert {s.approach.transport_partitions for s in scenes[at::3]} == {1, 2, 4, 8}


def test_what_is_predicted_of_two_ranks_is_the_timeline_s_and_of_a_halo_the_engine_s() -> None:
    m = ideal(o_s=1e-6, o_r=2e-6, L=5e-6, G=1e-9)
    pair = two_rank_scenes(m, 0, 1)[0]
    assert predicted(pair, m, 0).time == pytest.approx(8e-6 + pair.workload.buffer * 1e-9)
    both = predicted(FEW[-1], m, 0)
    assert both.time == both.engine < both.iteration


def test_small_messages_are_below_16_kib() -> None:
    unheard: Any = None
    small = [
        sst.Row(Scene("", halo(f"{8 * size} B", None), Approach(MANY, 8)), Simulated(1, 1), unheard).small
        for size in (16383, 16384)
    ]
    assert small == [True, False]
