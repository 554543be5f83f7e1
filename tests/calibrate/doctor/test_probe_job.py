"""A job that crashes, hangs or leaves processes behind: what is said of it, and that nothing of it is left."""

import os
import stat
from pathlib import Path

import pytest
from tables import table_of

from pready.calibrate.doctor.probe_job import TAG, end_tagged, run_probe, tagged
from pready.calibrate.measure.launcher import Launcher

ENV = Launcher.parse("env")


def program(folder: Path, *lines: str) -> Path:
    path = folder / "program"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(("lines", "ending"), table_of("calibrate/findings")["endings"])
def test_how_a_job_ended(lines: list[str], ending: str, tmp_path: Path) -> None:
    assert run_probe(program(tmp_path, *lines), "environment", ENV, rank_s=5).ending == ending


def test_answers_come_in_order_whatever_a_launcher_adds(tmp_path: Path) -> None:
    lines = (
        "echo '0: @pready begun 2'",
        "echo '@pready rank \"a\"'",
        "echo '@pready rank \"b\"'",
        "printf 'hello\\033[31m\\n' >&2",
    )
    found = run_probe(program(tmp_path, *lines, "echo @pready half {"), "environment", ENV, rank_s=5)
    assert (found.values, found.words) == ({"begun": [2], "rank": ["a", "b"]}, ("hello\\x1b[31m", "@pready half {"))
    assert found.get("nothing") is None


@pytest.mark.thorough
def test_nothing_of_a_job_that_hangs_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "of-this-test")
    away = f"setsid sleep 300 & echo $! > {tmp_path / 'pid'}"  # in a session of its own, and holding the pipe
    found = run_probe(program(tmp_path, "echo @pready begun 2", away, "sleep 300"), "restart", ENV, rank_s=1, start_s=1)
    assert (found.ending, found.get("begun")) == ("hung", 2)
    assert tagged("of-this-test") == []
    of = Path("/proc", (tmp_path / "pid").read_text().strip(), "cmdline")
    assert not of.exists() or of.read_bytes() == b""  # a zombie has none


@pytest.mark.thorough
def test_what_outlives_its_launcher_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "of-this-other-test")
    lines = ("echo @pready begun 2", "echo @pready done 1", "setsid sleep 300 > /dev/null 2>&1 &")
    assert run_probe(program(tmp_path, *lines), "put", ENV, rank_s=5).ending == "done"
    assert tagged("of-this-other-test") == []


def test_only_what_carries_the_tag_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, _: ended.append(pid))
    monkeypatch.setenv(TAG, "of-nobody")  # of this process's own variables the kernel shows the first state
    end_tagged("of-nobody")
    assert ended == []
