"""Measure a list of points through a launcher: resumes, keeps to a budget, reports through a callback.

One process is started for many points. Points are fed to it one by one, each after the record of the one before has
been synced, so nothing measured is lost when anything dies, and the budget can end the run between two points.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from pready.calibrate.measure.compile import Built, ToolError
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, Records, environment_key
from pready.model.version import VERSION

POINT_BUDGET_S = 2.0  # seconds of one point
START_PATIENCE_S = 120.0  # seconds for a job to start
POINT_PATIENCE_S = 30.0  # seconds beyond a point's budget after which it hangs
RESTARTS_IN_A_ROW = 3  # deaths without a point between, after which measuring ends
SEED = 1

SETTINGS = ("MPIR_CVAR_", "MPICH_", "MV2_", "I_MPI_", "OMPI_MCA_", "FI_", "UCX_", "PSM2_", "PSM3_", "OMP_")
"""Beginnings of the names of variables that change how a library communicates. They identify an environment."""


class MeasureError(ToolError):
    """The benchmark does not run at all; `details` are its last words."""


@dataclass(frozen=True)
class Progress:
    """The state of `measure` after each point."""

    point: Point
    done: int  # points that need no more measuring in this run, those of earlier runs included
    total: int
    left_s: float  # estimated time to the end, at most the rest of the budget


@dataclass(frozen=True)
class Outcome:
    environment: str  # key of the environment measured in
    measured: int  # points measured by this run
    failed: int
    left: int  # points the budget did not reach
    failures: Mapping[str, str] = field(default_factory=dict)  # reason by point


def measure(
    points: Iterable[Point],
    launcher: Launcher,
    out: Path,
    budget_s: float,
    on_point: Callable[[Progress], None] = lambda _: None,
    *,
    built: Built,
    point_budget_s: float = POINT_BUDGET_S,
    patience_s: float = POINT_PATIENCE_S,
    seed: int = SEED,
    folder: Path | None = None,
) -> Outcome:
    """Measure the points that are not in `out` yet, in order, until the budget ends.

    Raises MeasureError: the benchmark does not start, or dies again and again; RecordsError: `out` is damaged or in
    use.

    Parameters
    ----------
    points
        As from `pready.calibrate.measure.schedule.plan`; the most valuable first.
    launcher
        Starts two ranks.
    out
        Raw result file, created or continued.
    budget_s
        Wall-clock seconds for this run. A point that has begun is finished.
    on_point
        Called after each point; may raise to stop, which loses nothing.
    built
        The benchmark.
    point_budget_s
        Seconds of repeats for one point, unless the point says otherwise.
    patience_s
        Seconds beyond its budget after which a point counts as hanging.
    seed
        Of the payload pattern.
    folder
        Of an exchange's plans.
    """
    begun = time.monotonic()
    wanted = list(dict.fromkeys(points))
    places = [] if folder is None else [f"folder={folder}"]
    command = launcher.command([str(built.program), f"seed={seed}", f"tool={VERSION}", *places])
    environ = {**os.environ, **launcher.environment}
    settings = {name: environ[name] for name in sorted(environ) if name.startswith(SETTINGS)}
    with Records(out) as records:
        session = _Session(command, environ)
        try:
            record = session.ask("environment", START_PATIENCE_S)
            key = environment_key(record, launcher.name, settings, built.identity)
            about = {"launcher": launcher.name, "settings": settings, "program": built.identity}
            records.add_environment(key, {**record, **about})
            missing = records.missing(wanted, key)
            known = len(wanted) - len(missing)
            failures: dict[str, str] = {}
            in_a_row = 0
            done = 0
            for point in missing:
                if time.monotonic() - begun >= budget_s:
                    break
                try:
                    found = session.ask(_line(point, key, point_budget_s), _patience(point, point_budget_s, patience_s))
                    reason = found.get("error")
                    in_a_row = 0
                except _Lost as lost:
                    found, reason = {}, str(lost)
                    in_a_row += 1
                if reason is None:
                    records.add_point(point, key, found)
                else:
                    failures[str(point)] = reason
                    records.add_failure(point, key, reason)
                done += 1
                elapsed = time.monotonic() - begun
                left = min(max(budget_s - elapsed, 0.0), elapsed / done * (len(missing) - done))
                on_point(Progress(point, known + done, len(wanted), left))
                if in_a_row >= RESTARTS_IN_A_ROW:
                    raise MeasureError(f"{in_a_row} points in a row ended the benchmark", reason or "")
                if in_a_row and done < len(missing):
                    session.close()
                    session = _Session(command, environ)
                    session.ask("environment", START_PATIENCE_S)
            return Outcome(key, done - len(failures), len(failures), len(missing) - done, failures)
        except _Lost as lost:
            raise MeasureError("the benchmark does not run", str(lost)) from None
        finally:
            session.close()


def environment_of(launcher: Launcher, built: Built) -> dict[str, Any]:
    """Where the benchmark runs, as it says itself; measures nothing. Errors as of `measure`."""
    environ = {**os.environ, **launcher.environment}
    session = _Session(launcher.command([str(built.program)]), environ)
    try:
        return session.ask("environment", START_PATIENCE_S)
    except _Lost as lost:
        raise MeasureError("the benchmark does not run", str(lost)) from None
    finally:
        session.close()


def _line(point: Point, environment: str, budget_s: float) -> str:
    line = point.line(point.key(environment))
    return line if point.get("budget_s") is not None else f"{line} budget_s={budget_s!r}"


def _patience(point: Point, budget_s: float, patience_s: float) -> float:
    """The benchmark gives up its minimum number of repeats after ten budgets (timing.c)."""
    own = point.get("budget_s")
    return 10 * (float(own) if isinstance(own, (int, float)) else budget_s) + patience_s


# ---- one running benchmark ------------------------------------------------------------------------------------------


class _Lost(Exception):
    """The benchmark died or is silent."""


class _Session:
    """A running `pready-bench`."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._words: deque[str] = deque(maxlen=30)
        self._records: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = started(command, environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = [
            threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._overhear, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
            record = _record_of(line)
            if record is not None:
                self._records.put(record)
            elif line.strip():
                self._words.append(line.rstrip())
        self._records.put(None)

    def _overhear(self, stream: IO[str]) -> None:
        for line in stream:
            if line.strip():
                self._words.append(line.rstrip())

    def ask(self, line: str, patience_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            record = self._records.get(timeout=patience_s)
        except queue.Empty:
            self.close(politely=False)
            raise _Lost(self._last(f"no answer for {patience_s:.0f} s")) from None
        except OSError:
            record = None
        if record is None:
            self.close()
            raise _Lost(self._last(f"ended with exit status {self._process.returncode}"))
        return record

    def _last(self, what: str) -> str:
        return "\n".join([what, *self._words])

    def close(self, *, politely: bool = True) -> None:
        """End it: by the line "end" unless it is known to be deaf, else by force. Safe to call twice."""
        process = self._process
        assert process.stdin is not None
        try:
            process.stdin.write("end\n")
            process.stdin.close()
        except (OSError, ValueError):
            pass
        for step in (None, signal.SIGTERM, signal.SIGKILL):
            if step is None and not politely:
                continue
            if step is not None and process.poll() is None:
                os.killpg(process.pid, step)
            try:
                process.wait(timeout=5)
                break
            except subprocess.TimeoutExpired:
                continue
        for thread in self._threads:
            thread.join(timeout=5)
        for stream, thread in zip((process.stdout, process.stderr), self._threads, strict=True):
            if stream is not None and not thread.is_alive():
                stream.close()


def _record_of(line: str) -> dict[str, Any] | None:
    """A record, or None for whatever else a launcher or a library prints."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and "measurement" in record else None


def started(command: Sequence[str], environ: Mapping[str, str], *, stdin: int, stderr: int) -> subprocess.Popen[str]:
    """A launcher in a session of its own, ended when this process is killed: it must not go on while another resumes.

    Without `setpriv` (util-linux) the benchmark finishes its point, then ends for want of another (main.c). Raises
    MeasureError: there is no such command, or it cannot be started.
    """
    if shutil.which(command[0], path=environ.get("PATH")) is None:
        raise MeasureError(f"no command '{command[0]}' here")
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    try:
        return subprocess.Popen(
            [*([setpriv, "--pdeathsig", "TERM"] if setpriv else []), *command],
            env=dict(environ),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise MeasureError(f"{command[0]}: {error}") from error
