"""One workload, one answer: all commands show the numbers of one engine."""

import html
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import data, out
from coverage_of_intervals import what_if_fields
from random_workloads import toml

import pready
from pready.model.common.units import format_time
from pready.show.tables.answer import decision

HALO = "examples/halo3d.toml"


@pytest.mark.thorough
def test_predict_simulate_and_explain_agree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    seed, file = 3, tmp_path / "halo.toml"
    text = Path(HALO).read_text(encoding="utf-8")
    file.write_text(text.replace("iterations = 1000", "iterations = 10\ngrid = [3, 2, 2]"), encoding="utf-8")
    advised, what = data(capsys, "predict", file, "--seed", seed)["advice"], pready.load_workload(file)
    said = pready.predict(what, pready.load_machine("meluxina"), seed=seed, draws=0).to_dict()  # at its values
    assert [*said["ranks"]] == [3, 2, 2]
    bulk = said["approaches"][0]
    way = [advised[name] for name in ("approach", "transport_partitions", "vcis")]
    names = ("name", "transport_partitions", "vcis")
    row = next(r for r in said["approaches"] if r["available"] and [r[name] for name in names] == way)
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
    assert any("ranks, 4 iterations, instead of 8 × 8 × 8, 1000" in w for w in said(on, what))
    assert any("3 ranks, " in w and "instead of 96, 1000" in w for w in said(on, whole))
    small = what.changed(grid=(3, 3, 3), iterations=4)
    assert not any("instead of" in w for w in said(on, small))


def said(on: pready.Machine, what: pready.Workload) -> list[str]:
    return pready.predict(what.model_copy(update={"transport_partitions": (4,)}), on, draws=0).advice.warnings


SAID = ("verdict", "approach", "transport_partitions", "vcis", "pays_bytes", "pays_messages", "probability")
SAVED = ("speedup_percent", "speedup_low_percent", "speedup_high_percent")
CASES = int(os.environ.get("PREADY_EXAMPLES", "1"))


def words(text: str) -> str:
    """Without line breaks, which depend on the width."""
    return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())


@pytest.mark.thorough
@pytest.mark.parametrize("case", range(CASES))
def test_every_command_says_the_same(case: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict, way, saving, interval, probability and sizes, of partitioned communication and of the best way today."""
    profile, fields = what_if_fields(random.Random(f"one-{case}"))
    file = tmp_path / "w.toml"
    file.write_text("".join(f"{name} = {toml(value)}\n" for name, value in fields.items()), encoding="utf-8")
    machine = ("--machine", profile)
    made = pready.predict(file, profile)
    expected = made.to_dict()["advice"]
    assert data(capsys, "predict", file, *machine)["advice"] == expected
    compared = data(capsys, "compare", file, *machine)["rows"]
    swept = data(capsys, "sweep", file, *machine, "--set", "seed=0")["rows"]
    python = pready.compare(file, profile).to_dicts()
    for (row,) in (compared, swept, python):
        found: dict[str, Any] = {**row, "approach": row["name"]}
        for name in (*SAID, *SAVED):
            assert found[name] == expected[name], name
        for name in ("verdict", "probability", *SAVED):
            assert row[f"partitioned_{name}"] == expected["partitioned"].get(name), name
    said = [words(line.plain) for line in decision(made)]
    out(capsys, "predict", file, *machine, "-o", tmp_path / "page")
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    for text in (str(made), made._repr_html_(), page, out(capsys, "explain", file, *machine)):
        assert all(line in words(text) for line in said), (said, words(text))
    assert sorted(out(capsys, "predict", file, *machine).split()) == sorted(str(made).split())  # a header may fold
    rows, lines = made.to_dict()["approaches"], out(capsys, "predict", file, *machine, "--all").splitlines()
    now = rows[0]["iteration_s"] + rows[0]["begin_per_iteration_s"]
    for row in rows:
        columns = f"{row['transport_partitions']} × {row['vcis']} {format_time(row['time_s'])} {row['eta']:.2f}×"
        assert any(row["name"] in line and columns in " ".join(line.split()) for line in lines), columns
        whole = row["iteration_s"] + row["begin_per_iteration_s"]
        assert row["speedup_percent"] == pytest.approx(100 * (1 - whole / now), abs=1e-6), columns
        if row["probability"] is None:  # at the machine's values, beside the baseline as it was drawn
            assert row["time_s"] * row["eta"] == pytest.approx(rows[0]["time_s"], rel=1e-9), columns
