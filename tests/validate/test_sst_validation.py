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

from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.show.tables.validation import agreement_data, agreement_view
from pready.sst import library
from pready.sst.library import Installation
from pready.sst.results import Record
from pready.sst.run import How
from pready.validate import sst
from pready.validate.sst import HALO_WAYS, Scene, Times, chance_scenes, exchange, predicted, two_rank_scenes

SMALL_GRID = (2, 2, 2)


def halo(kind: str, size: str, spread: float | None, ways: tuple[Approach, ...], *, eager: bool = False) -> list[Scene]:
    w, name = exchange("halo3d", SMALL_GRID, size, spread), f"halo {size} {kind}"
    return [Scene(f"64 ranks {kind}", name, w, way, SMALL_GRID, 2, eager) for way in ways]


FEW = [
    *two_rank_scenes(load("meluxina"), 0, 4),
    Scene("two ranks", "alone", exchange("pt2pt", (2,), "64 KiB", None), Approach(SINGLE)),
    *halo("in step", "48 KiB", None, HALO_WAYS),
    *halo("out of step", "192 KiB", 0.04, HALO_WAYS[:2]),
    *halo("out of step, eager", "192 KiB", 0.04, HALO_WAYS[:2], eager=True),
]


once = cache(predicted)


class StandIn:
    """Says the model's times, longer by a share, and counts how often it is asked."""

    def __init__(self, longer: float = 0.0) -> None:
        self.longer, self.runs = longer, 0

    def __call__(self, scene: Scene) -> Times:
        self.runs += 1
        said = once(scene, load("meluxina"), 0)
        return Times(said.time * (1 + self.longer), said.iteration + self.longer * said.time)


def longer_if(which: Callable[[Scene], bool], factor: float) -> Callable[[Scene], Times]:
    """The model's times, some of which take longer."""

    def answer(scene: Scene) -> Times:
        said = once(scene, load("meluxina"), 0)
        return Times(said.time * (factor if which(scene) else 1), said.iteration)

    return answer


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a validation against a stand-in."""
    monkeypatch.setattr(library, "find", lambda: Installation("sst", "sst-config", "sst-info", "SST 0"))
    monkeypatch.setattr(sst, "predicted", once)
    monkeypatch.setattr(library, "build", lambda on_build: on_build())
    asked: list[Scene] = []
    made = Scene.setup

    def remembered(self: Scene, *arguments: Any) -> Any:
        asked.append(self)
        return made(self, *arguments)

    monkeypatch.setattr(Scene, "setup", remembered)

    def run(folder: Path, stand_in: Callable[[Scene], Times], told: sst.OnRun | None = None) -> sst.Agreement:
        def simulate_approach(setup: Any, approach: Approach, where: Path, how: How) -> Any:
            if how.on_wait is not None:
                how.on_wait(3.2, "")
            return SimpleNamespace(said=stand_in(asked[-1]))

        monkeypatch.setattr(sst, "simulate_approach", simulate_approach)
        monkeypatch.setattr(sst, "seconds", lambda workload, record: record.said)
        return sst.validate(load("meluxina"), folder, scenes=FEW, on_progress=told)

    return run


def test_what_agrees_passes_and_half_the_bandwidth_does_not(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.03))
    assert all(c.ok for c in found.checks), found.checks
    # One message between two ranks has the model's costs: no limit is on it.
    assert [r.scene.name for r in found.rows if not r.independent] == ["alone"]
    limits = {c.name: (c.rows, c.limit) for c in found.checks}
    assert sum(limits[f"two ranks, several messages{small}"][0] for small in ("", " below 16 KiB")) == 8
    assert limits["64 ranks in step"] == (3, 0.10)
    assert limits["64 ranks out of step"] == (2, 0.25)
    assert limits["64 ranks out of step, eager"] == (2, 0.10)
    assert limits["64 ranks, iteration time"][0] == 7
    assert limits["64 ranks, η"] == (4, 0.25)
    assert sst.Limit("just kept", 0.1, 0.1, 1).ok
    assert found.wrong_is_rejected
    assert found.ok
    assert all(r.off == pytest.approx(-1 + 1 / 1.03) for r in found.rows)
    assert {r.cause for r in found.rows} == {""}


@pytest.mark.parametrize(
    ("longer", "causes"),
    [
        (0.06, ["a rank of SST is one CPU, w", "in SST rendezvous requests wait", "in SST two messages to one rank"]),
        # A cause is printed only with its sign: nothing known makes SST faster for ranks in step.
        (-0.06, ["in the engine each port"]),
    ],
)
def test_a_cause_has_a_sign(answered: Any, tmp_path: Path, longer: float, causes: list[str]) -> None:
    found = sorted({r.cause for r in answered(tmp_path, StandIn(longer)).rows} - {""})
    assert len(found) == len(causes)
    assert all(a.startswith(b) for a, b in zip(found, causes, strict=True))


def test_larger_ones_fail(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.40))
    # Iterations are mostly computation, and what is longer by the same has the same gain.
    assert [c.name for c in found.checks if c.ok] == ["64 ranks, iteration time", "64 ranks, η"]
    assert not found.ok


def test_a_gain_that_is_off_breaks_a_limit_of_its_own(answered: Any, tmp_path: Path) -> None:
    answer = longer_if(lambda of: (of.kind, of.approach) == ("64 ranks in step", Approach(MANY, 8)), 1.3)
    (eta,) = (c for c in answered(tmp_path, answer).checks if c.name == "64 ranks, η")
    assert (eta.worst, eta.ok) == (pytest.approx(0.3), False)


def test_what_handshakes_take_in_sst_is_a_second_figure_and_the_limit_is_on_the_first(
    answered: Any, tmp_path: Path
) -> None:
    """Runs with handshakes take 50 % longer; they do so in SST without a difference for other runs."""
    found = answered(tmp_path, longer_if(lambda of: of.kind == "64 ranks out of step", 1.5))
    (apart,) = (c for c in found.checks if c.name == "64 ranks out of step")
    assert (apart.worst, apart.ok) == (pytest.approx(1 / 3), False)
    assert apart.note == "without the time that SST's handshakes take, 0.0 %"


def test_a_run_that_fails_is_told_with_its_reason(answered: Any, tmp_path: Path) -> None:
    def answer(scene: Scene) -> Times:
        if (scene.kind, scene.approach) == ("64 ranks in step", Approach(MANY, 8)):
            raise PreadyError("the simulation ran to the end of time", source="single-1.py (single-1.log)")
        return StandIn(0.01)(scene)

    found = answered(tmp_path, answer)
    why = "single-1.py (single-1.log): the simulation ran to the end of time"
    assert found.failed == {"halo 48 KiB in step, many 8": why}
    assert all(c.ok for c in found.checks)
    assert not found.ok
    assert len(found.rows) == len(FEW) - 1
    console = Console(width=220, record=True, file=io.StringIO())
    console.print(agreement_view(found, 0))
    said = console.export_text()
    assert "failed halo 48 KiB in step, many 8: single-1.py (single-1.log): the simulation ran" in said
    assert "nothing: costs shared" in said
    assert "several messages, ports, progress" in said
    assert agreement_data(found)["failed"] == found.failed
    # The next call tries it again, and only it.
    again = StandIn(0.01)
    assert not answered(tmp_path, again).failed
    assert again.runs == 1


def test_a_second_call_goes_on_from_the_folder(answered: Any, tmp_path: Path) -> None:
    first, told = StandIn(0.01), list[tuple[int, int, str]]()
    done = answered(tmp_path, first, lambda *so_far: told.append(so_far))
    assert first.runs == len(FEW)
    assert told[1:4] == [(0, 16, "two-0, many"), (0, 16, "two-0, many, for 3 s"), (1, 16, "two-0, part")]
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
    assert sst.seconds(pair, record) == Times(3, 7)


def test_a_queue_that_is_searched_has_a_limit_of_its_own() -> None:
    """Several messages to 26 neighbours: the engine searches half of the receives, SST finds them in their order."""
    w = exchange("halo3d26", (3, 3, 3), "16 KiB", None)
    scene = Scene("26 neighbours", "n", w, Approach(MANY, 8), (3, 3, 3))
    for searches, off, name in ((True, 0.4, "26 neighbours, queues searched"), (False, 0.09, "26 neighbours")):
        (found,) = sst.checks([sst.Row(scene, Times(1, 1), Times(1 + off, 1), False, searches)])
        assert (found.name, found.ok) == (name, True)
        assert found.worst == pytest.approx(off)


def test_a_sweep_has_its_blocks() -> None:
    m = ideal(o_s=1e-6, o_r=2e-6, L=5e-6, G=1e-9)
    ones, fours = (exchange("sweep3d", (2, 2), "4 KiB", None, blocks=n) for n in (1, 4))
    one, four = (predicted(Scene("sweeps", "", w, Approach(SINGLE), (2, 2)), m, 0).time for w in (ones, fours))
    # Eight octants of so many blocks, 0.5 ms each, and the corners' waves.
    assert one > 8 * 0.5e-3
    assert four - one == pytest.approx(8 * 3 * 0.5e-3, rel=0.05)


def test_halos_run_at_each_size_in_step_and_out_of_step_and_large_ones_without_handshakes() -> None:
    told: dict[tuple[str, str], list[Scene]] = {}
    for s in sst.halo_scenes():
        told.setdefault((s.kind, s.name), []).append(s)
    assert all([s.approach for s in some] == list(HALO_WAYS) for (kind, _), some in told.items() if "ranks" in kind)
    sizes = ("1 KiB", "4 KiB", "16 KiB", "48 KiB", "192 KiB")
    for kind, some in (("in step", sizes), ("out of step", sizes), ("out of step, eager", sizes[-2:])):
        assert [name for of, name in told if of == f"64 ranks {kind}"] == [f"halo {size} {kind}" for size in some]
    assert [len(told["26 neighbours", f"27 points {size}"]) for size in ("16 KiB", "256 KiB")] == [3, 3]
    assert [len(told["sweeps", f"sweep {size}"]) for size in ("16 KiB", "256 KiB")] == [3, 3]
    (apart,) = {s.workload for s in told["64 ranks out of step", "halo 48 KiB out of step"]}
    assert (apart.grid, apart.buffer, apart.arrivals.model) == ((4, 4, 4), 48 * 1024, "normal by thread")


def test_workloads_by_chance_are_of_the_seed_and_cover_patterns_protocols_and_sizes() -> None:
    m = load("meluxina")
    scenes = chance_scenes(m, 0)
    assert scenes == chance_scenes(m, 0)
    assert (len(scenes), {s.approach.transport_partitions for s in scenes}) == (40, {1, 2, 4})
    assert {s.id for s in scenes}.isdisjoint(s.id for s in chance_scenes(m, 1))
    assert {s.workload.pattern for s in scenes} == {"pt2pt", "halo3d", "halo3d26", "sweep3d"}
    assert {s.shakes(m) for s in scenes} == {s.in_step for s in scenes} == {True, False}
    assert all(2 <= np.prod(s.ranks) <= 64 for s in scenes)
    sizes = [s.workload.buffer for s in scenes]
    assert min(sizes) < 4096 < 2**19 < max(sizes) <= 2**20


def test_two_rank_scenes_cover_the_sizes_and_are_seeded() -> None:
    m = load("meluxina")
    scenes = two_rank_scenes(m, 1)
    assert scenes == two_rank_scenes(m, 1)
    assert scenes != two_rank_scenes(m, 2)
    sizes = sorted({s.workload.buffer for s in scenes})
    assert len(sizes) == 6
    assert sizes[0] < 2**12 < sst.SMALL < 2**22 < sizes[-1]
    assert {s.iterations for s in scenes} == {1}
    delays = (dict(s.workload.arrivals)["delay"] for s in scenes[::2])
    late = [d * m.bandwidth / s.workload.buffer for d, s in zip(delays, scenes[::2], strict=True)]
    assert [delay == 0 for delay in late] == [True, False, False, False, True, False]
    assert 1 < max(late) < 2


def test_what_is_predicted_of_two_ranks_is_the_sum_of_its_steps() -> None:
    m = ideal(o_s=1e-6, o_r=2e-6, L=5e-6, G=1e-9)
    pair = two_rank_scenes(m, 0, 1)[0]
    assert predicted(pair, m, 0).time == pytest.approx(8e-6 + pair.workload.buffer * 1e-9)
    both = predicted(FEW[-1], m, 0)
    assert both.time < both.iteration
    sweep = Scene("sweeps", "", exchange("sweep3d", (2, 2), "4 KiB", None), Approach(SINGLE), (2, 2))
    assert len({*vars(predicted(sweep, m, 0)).values()}) == 1


def test_small_messages_are_below_16_kib() -> None:
    for size, small in ((16383, True), (16384, False)):
        of = exchange("halo3d", (2, 2, 2), f"{8 * size} B", None)
        assert sst.Row(Scene("", "", of, Approach(MANY, 8)), Times(1, 1), Times(1, 1), True).small == small
