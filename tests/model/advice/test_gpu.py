"""What partitions save at most where a GPU computes: the verdict, what it rests on, and which commands refuse it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from machines import ideal

from pready.cli import main
from pready.model.advice.gpu import bound
from pready.model.advice.gpu_parameters import DIRECT, FLAG, NIC, PCIE, SYNCHRONISE
from pready.model.common.errors import PreadyError
from pready.model.machine import machine as machines
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

FLAT = ideal(G=1 / 25e9, o_s=1e-6, L=2e-6, o_r=1e-6).model_copy(update={"fabric": "slingshot"})


def workload(**compute: Any) -> Workload:
    given = {"device": "gpu", "time": "2 ms", "waves": 8, **compute}
    return validated(Workload, {"threads": 1, "buffer": "8000000 B", "compute": given}, "test")


def test_rows_are_the_equations() -> None:
    """8 MB at 25 GB/s: 320 us. Bulk: t_sync + o + 320; 8 waves of 250 us leave an eighth, 40 us."""
    b = bound(FLAT, workload())
    assert b.bulk_s == pytest.approx(SYNCHRONISE.value + 4e-6 + 320e-6)
    by = {r.key: r for r in b.rows}
    assert by["kernel-end"].time_s == pytest.approx(b.bulk_s)
    assert (by["kernel-end"].saving, by["kernel-end"].eta) == (0, 1)
    assert by["flag"].time_s == pytest.approx(FLAG.value + 4e-6 + 40e-6)
    assert by["nic"].time_s == pytest.approx(NIC.value + 4e-6 + 40e-6)
    assert by["nic"].saving == pytest.approx((b.bulk_s - by["nic"].time_s) / (2e-3 + b.bulk_s))
    assert b.best.key == "nic"
    assert (b.verdict, b.certainty) == ("port", "likely")


def test_copies_over_the_host_are_slower() -> None:
    direct, host = bound(FLAT, workload()), bound(FLAT, workload(copies="host"))
    assert direct.bandwidth == 25e9
    assert host.bandwidth == pytest.approx(1 / (1 / 25e9 + 1 / PCIE.value))
    assert [p.symbol for p in host.parameters] != [p.symbol for p in direct.parameters]


def test_the_interval_holds_every_corner() -> None:
    """Of a grid of its parameters no saving is outside: each moves it in one direction."""
    m, w = FLAT, workload(time="300 us", waves=16)
    row = next(r for r in bound(m, w).rows if r.key == "flag")
    for s, t, c in product(*([a.low, a.value, a.high] for a in (SYNCHRONISE, FLAG, DIRECT))):
        bulk = s + 4e-6 + 320e-6 / c
        time = t + 4e-6 + max(320e-6 / c - 15 * 300e-6 / 16, 320e-6 / c / 16)
        assert row.low - 1e-12 <= (bulk - time) / (300e-6 + bulk) <= row.high + 1e-12


def test_one_wave_saves_only_what_telling_takes() -> None:
    """Nothing is early: a flag saves at most t_sync - t_flag, of a long kernel nothing that counts."""
    b = bound(FLAT, workload(time="100 ms", waves=1))
    assert b.verdict == "do not port"
    assert b.best.saving == pytest.approx((SYNCHRONISE.value - NIC.value) / b.iteration_s)


def test_only_slingshot_starts_sends() -> None:
    rows = {
        name: [r.key for r in bound(machines.load(name), workload()).rows] for name in ("alps", "niagara", "archer2")
    }
    assert rows == {
        "alps": ["kernel-end", "flag", "nic"],
        "niagara": ["kernel-end", "flag"],
        "archer2": ["kernel-end", "flag"],
    }


def test_it_is_never_certain() -> None:
    for name in ("alps", "archer2", "niagara"):
        for size, waves in product(("8 KiB", "1 MiB", "64 MiB"), (1, 4, 64)):
            given = {"threads": 1, "buffer": size, "compute": {"device": "gpu", "time": "1 ms", "waves": waves}}
            b = bound(machines.load(name), validated(Workload, given, "test"))
            assert b.certainty == ("" if b.verdict == "undecided" else "likely")
            assert b.best.low <= b.best.saving <= b.best.high


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        ('{ time = "1 ms", waves = 8 }', "waves without device = 'gpu'"),
        ('{ time = "1 ms", device = "gpu" }', "device = 'gpu' without waves; valid: waves, such as 8"),
        ('{ time = "1 ms", device = "fpga", waves = 8 }', "device"),
        ('{ time = "1 ms", device = "gpu", waves = 0 }', "waves"),
        ('{ time = "1 ms", device = "gpu", waves = 8 }\narrivals = { model = "normal by thread", spread = "4 %" }',
         "arrivals: model = 'normal by thread' with compute.device = 'gpu'"),
    ],
)  # fmt: skip
def test_bad_files_are_a_line(compute: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.toml"
    path.write_text(f'threads = 1\nbuffer = "1 MiB"\ncompute = {compute}\n')
    assert main(["predict", str(path)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "examples/gpu.toml", "--machine", "alps", "--explain"]) == 0
    said = capsys.readouterr().out
    said = said.replace("\n", " ")
    assert said.startswith("Port: sends that the NIC starts: an iteration gets up to ")
    assert "Likely: a bound from 4 assumed values (below, --explain: why), not a measurement" in said
    assert "mpi-acx @17a277b" in said
    assert main(["predict", "examples/gpu.toml", "--machine", "alps", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certainty"] == "likely"
    for words, refused in (
        (["predict", "examples/gpu.toml", "--library", "mpich-release"], "--library with compute.device = 'gpu'"),
        (["simulate", "examples/gpu.toml"], "a GPU that computes (compute.device): not simulated by"),
        (["explain", "examples/gpu.toml"], "a GPU that computes (compute.device): not simulated by"),
        (["sweep", "examples/gpu.toml", "--over", "buffer=1MiB,2MiB"], "a GPU that computes"),
    ):
        assert main(words) == 2
        assert refused in capsys.readouterr().err


def test_a_processor_has_no_bound() -> None:
    given = {"threads": 1, "buffer": "1 MiB", "compute": {"time": "1 ms"}}
    with pytest.raises(PreadyError, match="no GPU computes one exchange"):
        bound(FLAT, validated(Workload, given, "test"))
