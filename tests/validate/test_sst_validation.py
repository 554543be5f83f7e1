"""The comparison with SST, with a stand-in whose times are the model's, more or less."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.show.tables.validation import report_data, report_view
from pready.sst import library
from pready.sst.firefly import initial
from pready.sst.library import Installation, MissingSST
from pready.sst.run import How
from pready.validate import sst
from pready.validate.report.page import html
from pready.validate.result import Comparison, Report
from pready.validate.sst import HALO_WAYS, SMALL, Scene, Simulated, halo, predicted, two_rank_scenes, validate

FEW = [
    *two_rank_scenes(load("meluxina"), 0, 4),
    *(Scene("in step", halo("48 KiB", None), way, "single", (2, 2, 2), 1) for way in HALO_WAYS),
    *(Scene("halo 192 KiB", halo("192 KiB", 0.04), way, "single", (4, 4, 4), 2) for way in HALO_WAYS[:2]),
    *(
        Scene("halo 192 KiB", halo("192 KiB", 0.04), way, network.sst_name, (4, 4, 4), 2)
        for network in sst.NETWORKS
        for way in HALO_WAYS[:2]
    ),
]


once = cache(predicted)


class StandIn:
    """Says the model's times, longer by a share, and counts how often it is asked."""

    def __init__(self, longer: float = 0.0, congested: float = 20e-6) -> None:
        self.longer, self.congested, self.runs = longer, congested, 0

    def __call__(self, scene: Scene) -> Simulated:
        self.runs += 1
        said = once(scene, load("meluxina"), 0)
        more = 0.0 if scene.network == "single" else self.congested
        return Simulated(said.time * (1 + self.longer) + more, said.iteration + self.longer * said.time + more)


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

    def run(folder: Path, stand_in: Callable[[Scene], Simulated], on_progress: sst.Told | None = None) -> Comparison:
        def simulate_approach(setup: Any, approach: Approach, where: Path, how: How) -> Any:
            if how.on_wait is not None:
                how.on_wait(42.0)
            return SimpleNamespace(record=SimpleNamespace(said=stand_in(asked[-1])))

        monkeypatch.setattr(sst, "simulate_approach", simulate_approach)
        monkeypatch.setattr(sst, "seconds", lambda workload, record: record.said)
        return validate(load("meluxina"), folder, scenes=FEW, on_progress=on_progress)

    return run


def test_what_agrees_passes_and_half_the_bandwidth_does_not(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.03))
    assert all(c.ok for c in found.checks), found.checks
    assert [c.value for c in found.checks[:4]] == pytest.approx([1 - 1 / 1.03] * 4)
    assert [c.cases for c in found.checks] == [7, 5, 7, 5, 5, 3, 2, len(FEW)]
    (control,) = found.controls
    assert control.rejected
    assert {c.eta_measured for c in found.cases if c.approach == "single"} == {1.0}
    assert all(c.error == pytest.approx(-1 + 1 / 1.03) for c in found.cases)
    assert {c.suspect for c in found.cases} == {""}


def test_it_says_what_runs_and_for_how_long(answered: Any, tmp_path: Path) -> None:
    told: list[tuple[float, float | None, str]] = []
    answered(tmp_path, StandIn(), lambda *now: told.append(now))
    assert [name for *_, name in told[:2]] == ["builds the element library", "is fitted to MeluXina"]
    assert told[2:4] == [(0, len(FEW), "two-0, single"), (0, len(FEW), "two-0, single, for 42 s")]
    assert len(told) == 2 + 2 * len(FEW)
    told.clear()
    answered(tmp_path, StandIn(), lambda *now: told.append(now))
    assert len(told) == 2 + len(FEW)  # from the folder


def test_known_differences_are_printed_with_their_cause(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.06))
    assert all(c.ok for c in found.checks if c.name.startswith("64 ranks"))
    step, apart, *_ = found.notes
    assert step.startswith("ranks in step: the engine's communication is -5.7% to -5.7% off SST's: ")  # 1 / 1.06 - 1
    assert step.endswith(f"{sst.IN_STEP}; not modelled")
    assert apart.startswith("ranks out of step: ")
    assert sst.OUT_OF_STEP in apart


def test_larger_ones_fail_and_name_a_term(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, StandIn(0.30))
    off = [c.name.split(" on ")[0] for c in found.checks if not c.ok]
    assert len(off) == 6  # iterations are mostly computation
    assert off[4:] == ["64 ranks in step", "64 ranks out of step"]
    by_id = {c.id: c for c in found.cases}
    assert by_id["in step, many 8"].suspect == sst.IN_STEP
    assert by_id["halo 192 KiB, single 1"].suspect == sst.OUT_OF_STEP


def failing(stand_in: StandIn, which: tuple[str, Approach]) -> Any:
    """The stand-in, whose run of one scene and approach never ends."""

    def answer(scene: Scene) -> Simulated:
        if (scene.name, scene.approach) == which and scene.network == "single":
            raise PreadyError("the simulation ran to the end of time", source="single-1.py (single-1.log)")
        return stand_in(scene)

    return answer


def test_a_run_that_fails_is_a_failed_case_with_its_reason(answered: Any, tmp_path: Path) -> None:
    one = "in step", Approach(MANY, 8)
    found = answered(tmp_path, failing(StandIn(0.01), one))
    assert [(f.id, f.why) for f in found.failed] == [
        ("in step, many 8", "single-1.py (single-1.log): the simulation ran to the end of time")
    ]
    assert [c.name for c in found.checks if not c.ok] == ["runs of SST that failed"]
    assert len(found.cases) == len([s for s in FEW if s.network == "single"]) - 1
    assert found.controls[0].rejected
    # The next call tries it again, and only it.
    again = StandIn(0.01)
    assert not answered(tmp_path, again).failed
    assert again.runs == 1


def test_where_bulk_fails_the_other_ways_still_count(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, failing(StandIn(0.01), ("halo 192 KiB", Approach(SINGLE))))
    assert "halo 192 KiB, many 2" not in {c.id for c in found.cases}
    iterations = next(c for c in found.checks if c.name.startswith("64 ranks on one router, iteration"))
    assert iterations.cases == 4
    assert not any("congestion" in note for note in found.notes)  # no gain to take a share of


@pytest.mark.thorough
def test_a_failed_run_is_in_the_report(answered: Any, tmp_path: Path) -> None:
    found = answered(tmp_path, failing(StandIn(0.01), ("in step", Approach(MANY, 8))))
    report = Report("0", 0, {}, (), (found,))
    assert "ran to the end of time" in html(report, "pready validate sst")
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report_view(report))
    assert "failed in step, many 8: single-1.py (single-1.log): the simulation ran" in console.export_text()
    assert report_data(report)["comparisons"][0]["failed"][0]["id"] == "in step, many 8"


def test_a_second_call_goes_on_from_the_folder(answered: Any, tmp_path: Path) -> None:
    first = StandIn(0.01)
    done = answered(tmp_path, first)
    assert first.runs == len(FEW)
    again = StandIn(0.5)
    assert answered(tmp_path, again) == done
    assert again.runs == 0
    one, other, *_ = sorted(tmp_path.glob("*.json"))
    one.write_text(one.read_text()[:30])
    other.unlink()
    cut = StandIn(0.01)
    assert answered(tmp_path, cut) == done
    assert cut.runs == 2


def test_notes_say_what_congestion_takes(answered: Any, tmp_path: Path) -> None:
    *_, torus, tree = answered(tmp_path, StandIn(0.0, congested=20e-6)).notes
    scenes = (Scene("x", halo("192 KiB", 0.04), way, "single", (4, 4, 4), 2) for way in HALO_WAYS[:2])
    bulk, many = (predicted(scene, load("meluxina"), 0).time for scene in scenes)
    assert f"η {bulk / many:.2f} on one router, {(bulk + 20e-6) / (many + 20e-6):.2f} there" in torus
    assert torus.startswith("a 8 x 8 torus, 192 KiB per face in 2 messages: η ")
    assert "a fat tree tapered 4:1" in tree


def test_without_sst_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    library.find.cache_clear()
    with pytest.raises(MissingSST, match="SST is not installed here"):
        validate(load("meluxina"), tmp_path)
    library.find.cache_clear()


def test_two_rank_scenes_cover_the_sizes_and_are_seeded() -> None:
    m = load("meluxina")
    scenes = two_rank_scenes(m, 1)
    assert scenes == two_rank_scenes(m, 1)
    assert scenes != two_rank_scenes(m, 2)
    sizes = sorted({s.workload.buffer for s in scenes})
    assert len(sizes) == 16
    assert sizes[0] < 2**12 < SMALL < 2**22 < sizes[-1]
