"""The answer in words: the verdict first, how sure, why, and short enough for a screen."""

import io
from dataclasses import replace
from itertools import cycle
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from command_line import out, refused
from given import Capsys, Patch
from rich.console import Console
from tables import table_of

import pready
from pready.cli import main
from pready.model.approach.interfaces import BOUND, BY_KEY, EACH, Approach, baseline
from pready.model.result.break_even import Range
from pready.model.result.prediction import ApproachPrediction, Lever, Merged, Partitioned, Prediction
from pready.show.tables import answer as words
from pready.show.tables import capture
from pready.show.tables.answer import bare, chance, decision, from_to, partitioned, saved
from pready.show.tables.prediction import prediction_text, prediction_view

pytestmark = pytest.mark.usefixtures("predicted_once")

WIDTH, LINES = 80, 20
EXAMPLES = sorted(Path("examples").glob("*.toml"))
MACHINES = ("meluxina", "niagara", "mutrino")


@pytest.fixture(scope="module")
def made() -> Prediction:
    return pready.predict(pready.load_workload("examples/laggard.toml"), "meluxina")


def row(made: Prediction, saves: Any, key: str = "part", **more: Any) -> ApproachPrediction:
    """A row of four messages on two VCIs: what it saves in percent, from, by and up to; with probability 0.90."""
    ends = zip(("speedup_low_percent", "speedup_percent", "speedup_high_percent"), saves, strict=True)
    approach = Approach(BY_KEY.get(key, EACH), more.pop("count", 4), 2)
    if isnan(more.get("probability", 0.0)):  # not drawn
        more["probability"] = None
    return replace(made.advised, approach=approach, **(dict(ends) | {"probability": 0.9} | more))


def known(made: Prediction, saves: Any = (4, 5, 6), key: str = "many", **given: Any) -> Prediction:
    """A prediction of tests/data/pready/answer.toml: its fields, its advice's and its workload's."""
    best = row(made, saves, key, count=given.pop("count", 4))
    given["exchanges"] = tuple(known(made, **e) for e in given.get("exchanges", ()))
    given["pays"] = None if given["exchanges"] else [Range(*ends) for ends in given.get("pays", ())]
    if (asked := given.get("partitioned")) is not None:
        some, early = (row(made, asked[n], needs="MPI X") if n in asked else None for n in ("saves", "early"))
        some = best if "same" in asked else some
        given["partitioned"] = Partitioned(some, asked.get("verdict", "do not port"), early, "unknown" in asked)
    if (of := given.get("merged")) is not None:
        given |= {"merged": Merged(["u", "v"], of[0], of[0] - 1, of[0] + 1, of[1]), "partitioned": None}
    rows = [row(made, *of[:2], **of[2]) for of in given.pop("rows", ())]
    given["sensitivity"] = [
        Lever(name, kind, "assumed", steps, 5.0, saved, saved, share, turns=share > 0.5)
        for name, kind, steps, saved, share in given.get("sensitivity", ())
    ]
    if (most := given.setdefault("bound", None)) is not None:
        given["bound"] = replace(row(made, most), approach=BOUND.into(4))
    late = given.pop("late_s", 0.0)
    own, advised, what = (dict[str, Any](), dict[str, Any](best=best, settings=[], verdict="port"), dict(made.workload))
    for name, value in given.items():
        (own if hasattr(made, name) else advised if hasattr(made.advice, name) else what)[name] = value
    bulk = replace(made.bulk, approach=baseline(what["today"], 4), time_s=1.15e-3, iteration_s=2.3e-3, begin_s=0.0)
    bulk = replace(bulk, begin_per_iteration_s=0.0, late_s=late)
    return replace(made, approaches=[bulk, best, *rows], advice=replace(made.advice, **advised), workload=what, **own)


@pytest.mark.parametrize(
    ("name", "given", "said"), [(n, *case) for n, of in table_of("pready/answer").items() for case in of]
)
def test_sentences(made: Prediction, name: str, given: dict[str, Any], said: str) -> None:
    what, _, explained = name.partition(", ")
    of = known(made, **given)
    if what in ("merging", "decided"):
        assert decision(of)[-2 if what == "merging" else 0].plain == said
        return
    if what == "screen":
        stream, every = io.StringIO(), bool(explained)
        view = prediction_view(of, every_row=every, explained=every)
        Console(file=stream, width=80, color_system=None, highlight=False).print(view)
        assert "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) == said.strip("\n")
        return
    found = getattr(words, what)(of, **({"explained": True} if explained == "explained" else {}))
    assert getattr(found, "plain", found) == said


def test_what_is_advised_as_one_message_does_not_stay_as_it_is(made: Prediction) -> None:
    of = known(made, verdict="do not port", merged=[9, 0.9])
    for merged, says in ((words.as_one(of), "stays as it is"), (["laggard"], "laggard: alone messages by threads")):
        assert words.of_exchange(of, merged).startswith(says if "alone" in says else f"laggard {says}")


def test_a_run_that_contradicts_the_model_has_no_answer(made: Prediction) -> None:
    of = known(made, verdict="undecided", doubt="it took twice as long")
    assert [line.plain for line in decision(of)] == ["Undecided: it took twice as long."]
    assert prediction_text(of).splitlines()[1:] == ["--all: what the model says all the same"]
    assert len(words.answer(of, explained=True)) > 2


@pytest.mark.parametrize(("library", "machine", "says"), table_of("pready/lines")["first"])
def test_the_first_line_is_about_partitioned_communication(library: str, machine: str, says: str) -> None:
    of = pready.predict("examples/laggard.toml", machine, library=library or None, draws=0)
    assert partitioned(of).plain.startswith(f"Partitioned (MPI_Psend): {says}")


def test_an_interval_that_is_the_value_is_not_shown(made: Prediction) -> None:
    row = replace(made.advised, speedup_percent=0.0, speedup_low_percent=-1e-9, speedup_high_percent=1e-9)
    assert saved(row) == "0 %"
    assert saved(replace(row, speedup_percent=2.0, speedup_high_percent=12.34)) == "2.0 % (0 to 12 %)"


@pytest.mark.parametrize(
    ("say", "numbers"),
    [
        (bare, {10.74: "10.7", 0.674: "0.67", -2: "-2.0", 99.96: "100.0", 100.4: "100", 0.049: "0", -0.084: "-0.1"}),
        (bare, {-151.2: "-151", 0.05: "0.1", 1: "1.0", 0.996: "1.0", 0.994: "0.99", 0.1: "0.1", 0.14: "0.14"}),
        (chance, {None: "not drawn", 0.009: "under 0.01", 0.01: "0.01", 0.204: "0.21", 0.29: "0.29", 0.5: "0.50"}),
        (chance, {0.473: "0.47", 0.796: "0.79", 0.7949: "0.79", 0.987: "0.98", 0.99: "0.99", 0.991: "over 0.99"}),
        (capture.share, {0.0: "0 %", 0.004: "0.4 %", 0.096: "9.6 %", 0.1: "10 %", 0.996: "100 %", 1.0: "100 %"}),
        (lambda of: from_to(*of), {(2.306e-3, 2.1e-3): "2.306 -> 2.100 ms"}),  # 8.9 %, which 2.31 -> 2.10 is not
        (lambda of: from_to(*of), {(1.2e-3, 8e-4): "1.20 -> 0.80 ms", (2.0, 1.5): "2.00 -> 1.50 s"}),
        (lambda of: from_to(*of), {(2e-2, 1e-2): "20.0 -> 10.0 ms", (1.1e-3, 1.089e-3): "1.100 -> 1.089 ms"}),
        (lambda of: from_to(*of), {(2e-4, 1e-4): "200 -> 100 us"}),
    ],
)
def test_numbers_have_digits_that_can_be_told(say: Any, numbers: dict[Any, str]) -> None:
    assert {number: say(number) for number in numbers} == numbers


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
