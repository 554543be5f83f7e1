"""One workload, one answer: all commands show the numbers of one engine."""

import re
from pathlib import Path

import pytest
from command_line import data, out

import pready

HALO = "examples/halo3d.toml"


@pytest.mark.thorough
def test_predict_simulate_and_explain_agree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    seed, file = 3, tmp_path / "halo.toml"
    text = Path(HALO).read_text(encoding="utf-8")
    file.write_text(text.replace("iterations = 1000", "iterations = 60\ngrid = [4, 2, 2]"), encoding="utf-8")
    advised, what = data(capsys, "predict", file, "--seed", seed)["advice"], pready.load_workload(file)
    said = pready.predict(what, pready.load_machine("meluxina"), seed=seed, draws=0).to_dict()  # at its values
    assert [*said["ranks"]] == [4, 2, 2]
    bulk = said["approaches"][0]
    row = next(
        r
        for r in said["approaches"]
        if r["available"] and (r["name"], r["transport_partitions"], r["vcis"])
        == (advised["approach"], advised["transport_partitions"], advised["vcis"])
    )  # fmt: skip
    # The same grid, as many iterations.
    simulated = data(capsys, "simulate", file, "--set", f"iterations={said['iterations']}", "--seed", seed)
    for found, expected in zip(simulated["approaches"], (bulk, row), strict=True):
        for field in ("time_s", "eta", "speedup_percent", "iteration_s", "overhead", "availability"):
            same = expected[field] if expected[field] is None else pytest.approx(expected[field], rel=1e-12)
            assert found[field] == same, field
    text = out(capsys, "explain", file, "--seed", seed)
    (eta,) = re.findall(r"η = T_b / T_p = .* = ([\d.]+)×", text)
    assert float(eta) == pytest.approx(row["eta"], rel=5e-4)


@pytest.mark.thorough
def test_what_stands_for_the_workloads_ranks_is_said() -> None:
    on, what = pready.load_machine("meluxina"), pready.load_workload(HALO)
    whole = what.changed(grid=(96, 1, 1))
    assert any("ranks, 20 iterations, instead of 8 × 8 × 8, 1000" in w for w in said(on, what))
    assert any("4 ranks, " in w and "instead of 96, 1000" in w for w in said(on, whole))
    small = what.changed(grid=(4, 4, 4), iterations=20)
    assert not any("instead of" in w for w in said(on, small))


def said(on: pready.Machine, what: pready.Workload) -> list[str]:
    return pready.predict(what.model_copy(update={"transport_partitions": (4,)}), on, draws=0).advice.warnings
