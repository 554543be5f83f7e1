"""What partitions save at most where a GPU computes: the verdict, what it rests on, and which commands refuse it."""

import json
import math
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from tables import table_of

from pready.cli import main
from pready.model.advice.gpu import bound
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

FLAT = ideal(G=1 / 25e9, o_s=1e-6, L=2e-6, o_r=1e-6)


def workload(**compute: Any) -> Workload:
    told = {"device": "gpu", "time": "2 ms", "waves": 8, **compute}
    return validated(Workload, {"threads": 1, "buffer": "8000000 B", "compute": told}, "test")


def test_it_is_eq_3_of_waves() -> None:
    """8 MB at 25 GB/s: 320 us; 8 waves of 250 us leave an eighth, 40 us; of 300 us in all, 320 - 7 / 8 * 300 us."""
    b = bound(FLAT, workload())
    assert [b.bulk_s, b.by_wave_s] == pytest.approx([324e-6, 44e-6])
    assert b.saving == pytest.approx(280e-6 / (2e-3 + 324e-6))
    assert b.verdict == "undecided"
    short = bound(FLAT, workload(time="300 us"))
    assert short.by_wave_s == pytest.approx(4e-6 + 320e-6 - 7 / 8 * 300e-6)
    assert [bound(FLAT, workload(), gain).verdict for gain in (b.saving, 1.001 * b.saving)] == [
        "undecided", "do not port",
    ]  # fmt: skip


def test_a_part_costs_what_messages_of_its_size_do() -> None:
    """Six neighbours get 64 KiB each: an eighth of that is a message of 8 KiB, in MeluXina's second segment."""
    machine, told = load("meluxina"), {"device": "gpu", "time": "2 ms", "waves": 8}
    w = validated(Workload, {"threads": 1, "buffer": "64 KiB", "pattern": "halo3d", "compute": told}, "test")
    s, last = machine.inter.segments[1:]
    costs = s.o_s.value + s.L.value + s.o_r.value
    assert bound(machine, w).bulk_s == pytest.approx(costs + 6 * 65536 * last.G.value)


@given(st.integers(1, 10**9), st.integers(1, 200), st.floats(1e-6, 1e-2))
def test_waves_are_a_fifo(size: int, waves: int, time: float) -> None:
    """Parts on one link, one after the other; seconds after the last is ready."""
    free = -math.inf
    for j in range(1, waves + 1):
        free = max(free, -(waves - j) * time / waves) + size / waves / 25e9
    told = {"device": "gpu", "time": f"{time:.17g} s", "waves": waves}
    w = validated(Workload, {"threads": 1, "buffer": f"{size} B", "compute": told}, "test")
    assert bound(FLAT, w).by_wave_s == pytest.approx(4e-6 + free, rel=1e-9)


def test_one_wave_saves_nothing() -> None:
    b = bound(FLAT, workload(waves=1))
    assert b.saving == pytest.approx(0, abs=1e-12)
    assert b.verdict == "do not port"


@pytest.mark.parametrize(("compute", "said"), table_of("model/refused")["gpu"])
def test_bad_files_are_a_line(compute: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.toml"
    path.write_text(f'threads = 1\nbuffer = "1 MiB"\ncompute = {compute}\n')
    assert main(["predict", str(path)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "examples/gpu.toml", "--machine", "alps"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Undecided: sent after each of 8 waves of 250 us, an iteration of gpu on ")
    assert "Eq. 3 of gillis2023" in said
    assert main(["predict", "examples/gpu.toml", "--machine", "alps", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["waves"] == 8
    for line, refused in table_of("pready/refused")["gpu"]:
        assert main(shlex.split(line)) == 2
        assert refused in capsys.readouterr().err


def test_a_processor_has_no_bound() -> None:
    told = {"threads": 1, "buffer": "1 MiB", "compute": {"time": "1 ms"}}
    with pytest.raises(PreadyError, match="no GPU computes one exchange"):
        bound(FLAT, validated(Workload, told, "test"))
