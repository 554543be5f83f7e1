"""The answer in words: the verdict first, how sure, why, and short enough for a screen."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from command_line import out, refused
from given import Capsys, Patch

import pready
from pready.cli import main
from pready.model.result.prediction import Prediction
from pready.show.tables.answer import bare, from_to, headline, way
from pready.show.tables.prediction import change

WIDTH, LINES = 80, 26
EXAMPLES = sorted(p for p in Path("examples").glob("*.toml") if p.stem != "halo3d")
MACHINES = ("meluxina", "niagara", "mutrino")


@pytest.fixture(scope="module")
def made() -> Prediction:
    return pready.predict("meluxina", pready.load_workload("examples/laggard.toml"))


def with_saving(made: Prediction, low: float, middle: float, high: float, verdict: str) -> Prediction:
    best = replace(
        made.advised, speedup_low_percent=low, speedup_percent=middle, speedup_high_percent=high, iteration_s=2e-3
    )
    rows = [replace(made.bulk, iteration_s=2.3e-3), best]
    return replace(made, approaches=rows, advice=replace(made.advice, best=best, verdict=verdict))  # type: ignore[arg-type]


def test_the_headline_says_verdict_way_saving_and_interval(made: Prediction) -> None:
    name = way(made.advised)
    assert headline(with_saving(made, 9.8, 10.7, 11.4, "port")) == (
        f"{name}: an iteration gets 10.7 % shorter (9.8 to 11.4): 2.3 -> 2 ms."
    )
    assert headline(with_saving(made, 0.67, 0.96, 1.23, "undecided")) == (
        f"{name}: an iteration gets 0.96 % shorter (0.67 to 1.2), and a port has to save 1 %."
    )
    assert headline(with_saving(made, -9.01, -4.3, 2, "undecided")) == (
        f"{name}: an iteration gets 4.3 % longer (-2.0 to 9.0), and a port has to make it 1 % shorter."
    )
    assert headline(with_saving(made, 0.1, 0.2, 0.3, "do not port")) == (
        f"the best way, {name}, makes an iteration 0.2 % shorter (0.1 to 0.3), less than 1 %."
    )
    assert headline(with_saving(made, -4, -2, -1, "do not port")) == (
        f"no way makes an iteration shorter; {name} would make it 2.0 % longer."
    )


def test_an_interval_that_is_the_value_is_not_shown(made: Prediction) -> None:
    row = replace(made.advised, speedup_percent=0.0, speedup_low_percent=-1e-9, speedup_high_percent=1e-9)
    assert change(row) == "0 %"
    assert change(replace(row, speedup_percent=2.0, speedup_low_percent=1.0)) == "-2.0 % (0 to -1.0)"
    assert change(replace(row, speedup_high_percent=1.0)) == "0 % (-1.0 to 0)"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [(2.31e-3, 2.1e-3, "2.31 -> 2.1 ms"), (1.2e-3, 8e-4, "1.2 ms -> 800 us"), (2.0, 1.5, "2 -> 1.5 s")],
)
def test_two_times_share_their_unit(before: float, after: float, said: str) -> None:
    assert from_to(before, after) == said


@pytest.mark.parametrize(
    ("percent", "said"), [(10.74, "10.7"), (0.674, "0.67"), (-2, "-2.0"), (151.2, "151"), (0.001, "0")]
)
def test_percentages_have_digits_that_can_be_told(percent: float, said: str) -> None:
    assert bare(percent) == said


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("example", "machine"),
    [*zip(EXAMPLES, cycle(MACHINES)), *((Path("examples/halo3d.toml"), machine) for machine in MACHINES)],
    ids=str,
)
def test_the_answer_fits_a_screen(example: Path, machine: str, capsys: Capsys, monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert main(["predict", str(example), "--machine", machine]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(("Port: ", "Do not port: ", "Undecided: "))
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= LINES, "\n".join(lines)
    assert not any("closed form" in line for line in lines)


STEP = """format = 2
iterations = 4
threads = 4
pattern = "halo3d"
grid = [2, 2, 2]
receiver = "computing"
"""
EXCHANGE = """[[exchanges]]
name = "update_halo_{n}"
buffer = "{kib} KiB"
compute = {{ time = "{us} us" }}
arrivals = {{ model = "normal by thread", spread = 0.02 }}
"""


def step_of(count: int, folder: Path) -> Path:
    path = folder / f"{count}.toml"
    each = [EXCHANGE.format(n=n, kib=4 << n, us=100 * (n + 1)) for n in range(count)]
    path.write_text(STEP + "".join(each), encoding="utf-8")
    return path


@pytest.mark.thorough
def test_twelve_exchanges_fit_forty_lines(tmp_path: Path, capsys: Capsys, monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    text = out(capsys, "predict", step_of(12, tmp_path))
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= WIDTH
    assert all(f"update_halo_{n}" in text for n in range(12))
    # One in full; those that are none are named.
    two = step_of(2, tmp_path)
    assert "update_halo_1 on MeluXina" in out(capsys, "predict", two, "--exchange", "update_halo_1")
    assert "did you mean" in refused(capsys, "predict", two, "--exchange", "update_halo_2")
