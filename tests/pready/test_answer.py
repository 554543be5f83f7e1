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
from pready.show.tables.answer import bare, from_to, partitioned, saved, today, way

pytestmark = pytest.mark.usefixtures("predicted_once")

WIDTH, LINES = 80, 22
EXAMPLES = sorted(Path("examples").glob("*.toml"))
MACHINES = ("meluxina", "niagara", "mutrino")


@pytest.fixture(scope="module")
def made() -> Prediction:
    return pready.predict(pready.load_workload("examples/laggard.toml"), "meluxina")


def with_saving(made: Prediction, low: float, middle: float, high: float, verdict: str) -> Prediction:
    best = replace(
        made.advised, speedup_low_percent=low, speedup_percent=middle, speedup_high_percent=high, probability=0.9
    )
    rows = [replace(made.bulk, iteration_s=2.3e-3, begin_s=0.0, begin_per_iteration_s=0.0), best]
    advice = replace(made.advice, best=best, verdict=verdict, settings=[])  # type: ignore[arg-type]
    return replace(made, approaches=rows, advice=advice)


def test_the_second_line_says_way_saving_interval_and_probability(made: Prediction) -> None:
    name = way(made.advised)
    assert today(with_saving(made, 9.8, 10.7, 11.4, "port")).plain == (
        f"Best today: {name}: saves 10.7 % (9.8 to 11 %) of an iteration, probability 0.90: 2.300 -> 2.054 ms; "
        "to program: a tiled loop."
    )
    assert today(with_saving(made, 0.67, 0.96, 1.23, "undecided")).plain == (
        f"Best today: {name}: undecided, 0.96 % (0.67 to 1.2 %) of an iteration, probability 0.90 that it saves 1 %; "
        "to program: a tiled loop."
    )
    assert today(with_saving(made, 0.1, 0.2, 0.3, "do not port")).plain == (
        f"Today: nothing that was measured saves 1 %; most {name}, 0.2 % (0.1 to 0.3 %)."
    )
    assert today(with_saving(made, -4, -2, -1, "do not port")).plain == "Today: nothing that was measured saves 1 %."


def test_the_first_line_is_about_partitioned_communication(made: Prediction) -> None:
    """No gain where the library sends nothing early, what it would be if it did, and for whom that speaks."""
    said = partitioned(replace(made, example=True)).plain
    assert said.startswith("Partitioned (MPI_Psend): no gain with mpich-release on MeluXina (an example), ")
    assert " % longer (" in said
    assert "it sends nothing before the last MPI_Pready; if it did (MPICH with pull request 6314) " in said
    early = pready.predict("examples/laggard.toml", "meluxina", library="mpich-6314", draws=0)
    assert partitioned(early).plain.startswith("Partitioned (MPI_Psend): saves ")
    assert "an example" not in partitioned(early).plain
    old = pready.predict("examples/laggard.toml", "archer2", draws=0)  # its version has no such calls
    assert partitioned(old).plain.startswith("Partitioned (MPI_Psend): no such calls in cray-mpich on ARCHER2; ")
    none = pready.predict("examples/laggard.toml", library="openmpi-4", draws=0)
    assert partitioned(none).plain.startswith(
        "Partitioned (MPI_Psend): no such calls in openmpi-4 on MeluXina (an example); openmpi-persist would save "
    )


def test_an_interval_that_is_the_value_is_not_shown(made: Prediction) -> None:
    row = replace(made.advised, speedup_percent=0.0, speedup_low_percent=-1e-9, speedup_high_percent=1e-9)
    assert saved(row) == "0 %"
    assert saved(replace(row, speedup_percent=2.0, speedup_high_percent=12.34)) == "2.0 % (0 to 12 %)"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (2.306e-3, 2.1e-3, "2.306 -> 2.100 ms"),  # 8.9 %, which 2.31 -> 2.10 is not
        (1.2e-3, 8e-4, "1.20 -> 0.80 ms"),
        (2.0, 1.5, "2.00 -> 1.50 s"),
    ],
)
def test_two_times_say_their_change(before: float, after: float, said: str) -> None:
    assert from_to(before, after) == said


@pytest.mark.parametrize(
    ("percent", "said"), [(10.74, "10.7"), (0.674, "0.67"), (-2, "-2.0"), (151.2, "151"), (0.04, "0"), (-0.084, "-0.1")]
)
def test_percentages_have_digits_that_can_be_told(percent: float, said: str) -> None:
    assert bare(percent) == said


@pytest.mark.thorough
@pytest.mark.parametrize(("example", "machine"), [*zip(EXAMPLES, cycle(MACHINES))], ids=str)
def test_the_answer_fits_a_screen(example: Path, machine: str, capsys: Capsys, monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert main(["predict", str(example), "--machine", machine]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Partitioned (MPI_Psend): ") or example.stem == "gpu"
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= LINES, "\n".join(lines)
    assert not any("closed form" in line for line in lines)


STEP = """format = 2
iterations = 4
threads = 4
pattern = "halo3d"
grid = [2, 2, 2]
receiver = "computing"
transport_partitions = [4]
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
    assert "update_halo_1, " in out(capsys, "predict", two, "--exchange", "update_halo_1")
    assert "did you mean" in refused(capsys, "predict", two, "--exchange", "update_halo_2")
