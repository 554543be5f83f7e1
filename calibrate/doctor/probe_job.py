"""Run one probe in a job of its own, which may crash or hang, and leave no process of it."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.session import started
from pready.model.common.errors import printable

Ending = Literal["done", "hung", "crashed", "failed", "not begun", "not run"]
TAG = "PREADY_DOCTOR"
"""Variable that marks the processes of a job."""
ANSWER = "@pready "
START_S = 15.0
"""For a launcher to start, or to end, a job, beyond what the ranks may take."""


@dataclass(frozen=True)
class Answers:
    """What a probe found out before its job ended."""

    ending: Ending
    values: Mapping[str, list[Any]] = field(default_factory=dict)
    """By name, in the order they came."""
    words: tuple[str, ...] = ()
    """The last lines of anything else that the job printed."""
    signal: int = 0

    def get(self, name: str) -> Any:
        return next(iter(self.values.get(name, ())), None)


def run_probe(
    program: Path,
    probe: str,
    launcher: Launcher,
    *,
    rank_s: int,
    start_s: float = START_S,
) -> Answers:
    """What the ranks of one job answered.

    Parameters
    ----------
    rank_s
        Seconds after which a rank ends itself.
    start_s
        Seconds beyond these in which the launcher has to end.

    Raises
    ------
    MeasureError
        The launcher cannot be started.
    """
    tag = secrets.token_hex(16)
    command = launcher.command([str(program), "probe", probe, str(rank_s)])
    environ = {**os.environ, **launcher.environment, TAG: tag}
    process = started(command, environ, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    late = False
    try:
        said = process.communicate(timeout=rank_s + start_s)[0]
    except subprocess.TimeoutExpired:
        late = True
        said = _ended(process, tag)
    finally:
        if process.poll() is None:
            _ended(process, tag)
        end_tagged(tag)
    return _answers(said, late=late)


def _answers(said: str, *, late: bool) -> Answers:
    values: dict[str, list[Any]] = {}
    words: list[str] = []
    for line in said.splitlines():
        at = line.find(ANSWER)  # a launcher may label lines
        try:
            if at < 0:
                raise ValueError
            name, _, text = line[at + len(ANSWER) :].partition(" ")
            value = json.loads(text)
            values.setdefault(name, []).append(value)
        except ValueError:
            if line.strip():
                words.append(printable(line.rstrip().expandtabs()))
    number = int(values.get("signal", [0])[0])
    ending: Ending
    if "begun" not in values:
        ending = "not begun"
    elif "done" in values and not number:
        ending = "done"
    elif number == signal.SIGALRM or (late and not number):
        ending = "hung"
    else:
        ending = "crashed" if number else "failed"
    return Answers(ending, values, tuple(words[-12:]), number)


def _ended(process: subprocess.Popen[str], tag: str) -> str:
    """End a job that is late; what it had said."""
    for step in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, step)
        if step == signal.SIGKILL:
            end_tagged(tag)  # ranks that left the group may hold the pipe open
        try:
            return process.communicate(timeout=2)[0] or ""
        except subprocess.TimeoutExpired:
            continue
    return ""


def tagged(tag: str) -> list[int]:
    """Processes of this machine that were started with this tag (Linux; elsewhere none is found)."""
    mark, found = f"{TAG}={tag}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended, or is somebody else's
    return found


def end_tagged(tag: str) -> None:
    """End what is left of a job: a launcher's helpers may outlive it in a session of their own."""
    for _ in range(20):
        left = tagged(tag)
        if not left:
            return
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
