"""``pready calibrate``: fits, reports, adds to machine files, and says what a calibration lacks."""

from pathlib import Path
from typing import Any

import pytest
from command_line import refused
from on_paper import records, written_to
from tables import table_of

from pready.calibrate.machine.calibration import calibrate
from pready.calibrate.measure.schedule import plan
from pready.calibrate.measure.session import Outcome
from pready.cli import main
from pready.commands.calibrate import _say_measured
from pready.model.machine import machine

SAID: dict[str, Any] = table_of("calibrate/said_of_a_fit")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return written_to(tmp_path / "paper.jsonl")


def test_failed_points_are_named_with_their_first_reason(capsys: pytest.CaptureFixture[str]) -> None:
    _say_measured(Outcome("key", 3, 2, 1, {"rate": "crashed\nhere", "early": ""}), Path("raw.jsonl"))
    assert capsys.readouterr().err.splitlines() == [
        "measured 3 points into raw.jsonl, 2 failed, 1 left for the next run",
        *("  failed: rate: crashed", "  failed: early: no reason"),
    ]


@pytest.mark.thorough
def test_the_command_fits_reports_and_refuses(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "paper.toml"
    assert main(["calibrate", "--raw", str(raw), "-o", str(out)]) == 0
    assert machine.load(out).name == "paper"
    assert main(["predict", "examples/laggard.toml", "--machine", str(out)]) == 0
    capsys.readouterr()
    assert main(["calibrate", "report", str(raw)]) == 0
    printed = capsys.readouterr()
    values, note, rest = printed.out.partition("note: ")
    assert "inter.segments[1].G" in values
    assert [*(note + rest).splitlines(), *printed.err.splitlines()] == SAID["report"]
    there = refused(capsys, "calibrate", "-o", out, "--launcher", "true")
    assert "paper.toml: is there already; valid: another name, or --overwrite" in there
    assert machine.load(out).name == "paper"  # untouched
    fit = ["calibrate", "--raw", str(raw), "-o", str(out)]
    assert main(fit) == 0  # the same content
    edited = out.read_text().replace("# ", "# Mine. ", 1)
    out.write_text(edited)
    assert main(fit) == 2
    assert (out.read_text(), edited in capsys.readouterr().err) == (edited, False)
    assert main([*fit, "--overwrite"]) == 0
    assert out.read_text() != edited
    two = written_to(tmp_path / "two.jsonl", [(p, r) for p, r in records() if p.get("bytes") in (1, 16)])
    thin = refused(capsys, "calibrate", "--raw", two, "-o", "two.toml")
    assert "two.jsonl: 2 message sizes were timed; valid: at least 3: the same command" in thin


@pytest.mark.thorough
def test_the_path_within_a_node_is_added(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "paper.toml"
    fit = ["calibrate", "-o", str(out)]
    within, between = (written_to(tmp_path / f"a{host}.jsonl", hosts=["a", host]) for host in "ab")
    assert "--intra adds to a machine file, and there is none" in refused(capsys, *fit, "--intra", "--raw", within)
    assert main([*fit, "--raw", str(raw)]) == 0
    before = machine.load(out)
    assert before.intra == machine.unmeasured().intra
    assert "[intra]" not in out.read_text()
    apart = refused(capsys, *fit, "--intra", "--raw", between)
    assert "--intra with ranks on a and b; valid: two ranks on one node" in apart
    assert machine.load(out) == before
    for _ in range(2):  # the second time it is what it was
        assert main([*fit, "--intra", "--raw", str(within)]) == 0
        after = machine.load(out)
        assert after.intra is not None
        assert after.intra.segments == before.inter.segments
        assert after.model_copy(update={"intra": before.intra}) == before
    assert "is there already" in refused(capsys, *fit, "--intra", "--launcher", "true")


def test_a_short_budget_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the plan's first fifth, whole exchanges and queues are missing; of all of it, nothing is."""
    out, first = tmp_path / "short.toml", plan(threads=8)[:114]
    path = written_to(tmp_path / "short.jsonl", [(p, r) for p, r in records() if p in first], cores=[4, 2])
    arguments = ["calibrate", "--raw", str(path), "-o", str(out)]
    assert main(arguments) == 0
    said = capsys.readouterr().err.splitlines()
    assert said == [line.format(file=out) for line in SAID["short"]]
    pings = sum(p.measurement == "pingpong" for p in plan(threads=8))
    there = sum(p.measurement == "pingpong" and p.get("mode") == "isend" for p in first)
    lacks = [line for line in said if line.startswith("  lacks: ")]
    assert f"{pings - there} of {pings} points of pingpong were" in lacks[2]
    assert all(line[2:].replace("lacks", "# Lacks") in out.read_text() for line in lacks)
    assert "# Warning: a rank had 2 cores for its 8 threads" in out.read_text()


def test_enough_cores_and_a_whole_plan_are_not_worth_a_word(tmp_path: Path) -> None:
    refused = {"parameters": {}, "unsupported": "no"}
    whole = ({p: refused | {"measurement": p.measurement} for p in plan(threads=8)} | dict(records())).items()
    done = calibrate(written_to(tmp_path / "whole.jsonl", whole, cores=[8, 8]), name="paper")
    assert (done.lacking, done.warnings) == ((), ())


@pytest.mark.parametrize(("hosts", "said"), [(["a", "a"], True), (["a", "b"], False)])
def test_ranks_on_one_node_are_no_network(hosts: list[str], said: bool, tmp_path: Path) -> None:
    done = calibrate(written_to(tmp_path / "placed.jsonl", hosts=hosts), name="paper")
    assert any("both ranks were on one node (a)" in warning for warning in done.warnings) == said
