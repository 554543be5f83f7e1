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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pready.calibrate.build import Built
from pready.calibrate.launch import Launcher
from pready.calibrate.records import Point, Records, Value, environment_key
from pready.model.errors import PreadyError

POINT_BUDGET_S = 2.0
START_PATIENCE_S = 120.0
POINT_PATIENCE_S = 30.0
RESTARTS_IN_A_ROW = 3
SEED = 1

SETTINGS = ("MPIR_CVAR_", "MPICH_", "MV2_", "I_MPI_", "OMPI_MCA_", "FI_", "UCX_", "PSM2_", "PSM3_", "OMP_")
"""Beginnings of the names of variables that change how a library communicates. They identify an environment."""

APPROACHES = (
    "part",
    "single",
    "many",
    "rma-single-active",
    "rma-many-active",
    "rma-single-passive",
    "rma-many-passive",
)
"""The ways of gillis2023, Tables 1 and 2, by their names in `pready-bench`."""


class MeasureError(PreadyError):
    """The benchmark does not run at all; `details` are its last words."""

    def __init__(self, problem: str, details: str = "") -> None:
        self.details = details
        super().__init__(problem)

    def __str__(self) -> str:
        return "\n".join(filter(None, [super().__str__(), self.details]))


@dataclass(frozen=True)
class Progress:
    """What `measure` tells after each point."""

    point: Point
    record: Mapping[str, Any] | None
    """The record, or None if the point failed."""
    reason: str | None
    """Why it failed."""
    done: int
    """Points that need no more measuring in this run, those of earlier runs included."""
    total: int
    elapsed_s: float
    left_s: float
    """Estimate of what is left, at most the rest of the budget."""


@dataclass(frozen=True)
class Outcome:
    """What a run has come to."""

    environment: str
    """Key of the environment measured in."""
    measured: int
    """Points measured by this run."""
    failed: int
    left: int
    """Points the budget did not reach."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Reason by point."""


def _nothing(progress: Progress) -> None:
    """Default callback."""


def measure(
    points: Iterable[Point],
    launcher: Launcher,
    out: Path,
    budget_s: float,
    on_point: Callable[[Progress], None] = _nothing,
    *,
    built: Built,
    point_budget_s: float = POINT_BUDGET_S,
    patience_s: float = POINT_PATIENCE_S,
    tool: str = "",
    seed: int = SEED,
) -> Outcome:
    """Measure what is not in `out` yet, in order, until the budget ends.

    Args:
        points: as from `plan`; the most valuable first.
        launcher: starts two ranks.
        out: raw result file, created or continued.
        budget_s: wall-clock seconds for this run. A point that has begun is finished.
        on_point: called after each point; may raise to stop, which loses nothing.
        built: the benchmark.
        point_budget_s: seconds of repeats for one point, unless the point says otherwise.
        patience_s: seconds a point may take beyond what its budget explains before it counts as hanging.
        tool: this tool's version, for the environment record.
        seed: of the payload pattern.

    Raises:
        MeasureError: if the benchmark does not start, or dies again and again.
        RecordsError: if `out` is damaged or in use.
    """
    begun = time.monotonic()
    wanted = list(dict.fromkeys(points))
    command = launcher.command([str(built.program), f"seed={seed}", f"tool={tool or '-'}", "points=-"])
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
            for done, point in enumerate(missing):
                if time.monotonic() - begun >= budget_s:
                    return _outcome(key, done, failures, len(missing))
                found: dict[str, Any] | None = None
                reason: str | None = None
                try:
                    found = session.ask(_line(point, key, point_budget_s), _patience(point, point_budget_s, patience_s))
                    reason = found.get("error")
                    in_a_row = 0
                except _Lost as lost:
                    reason = str(lost)
                    in_a_row += 1
                if reason is None and found is not None:
                    records.add_point(point, key, found)
                else:
                    failures[str(point)] = reason or ""
                    records.add_failure(point, key, reason or "")
                elapsed = time.monotonic() - begun
                pace = elapsed / (done + 1)
                left = min(max(budget_s - elapsed, 0.0), pace * (len(missing) - done - 1))
                on_point(
                    Progress(
                        point,
                        found if reason is None else None,
                        reason,
                        known + done + 1,
                        len(wanted),
                        elapsed,
                        left,
                    )
                )
                if in_a_row >= RESTARTS_IN_A_ROW:
                    raise MeasureError(f"{in_a_row} points in a row ended the benchmark", reason or "")
                if in_a_row and done + 1 < len(missing):
                    session.close()
                    session = _Session(command, environ)
                    session.ask("environment", START_PATIENCE_S)
            return _outcome(key, len(missing), failures, len(missing))
        except _Lost as lost:
            raise MeasureError("the benchmark does not run", str(lost)) from None
        finally:
            session.close()


def _outcome(key: str, done: int, failures: dict[str, str], missing: int) -> Outcome:
    return Outcome(key, done - len(failures), len(failures), missing - done, failures)


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
    """A running `pready-bench points=-`."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._words: deque[str] = deque(maxlen=30)
        self._records: queue.Queue[dict[str, Any] | None] = queue.Queue()
        try:
            self._process = subprocess.Popen(
                _mortal(command),
                env=dict(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise MeasureError(f"{command[0]}: {error}") from error
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
        """Send a line, wait for its record."""
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _record_of(line: str) -> dict[str, Any] | None:
    """A record, or None for whatever else a launcher or a library prints."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and "measurement" in record else None


def _mortal(command: Sequence[str]) -> list[str]:
    """The command, ended when this process is killed: a launcher must not go on measuring while another run resumes.

    Without `setpriv` (util-linux) it finishes its point, then ends for want of another (main.c).
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return [*([setpriv, "--pdeathsig", "TERM"] if setpriv else []), *command]


# ---- what to measure ------------------------------------------------------------------------------------------------


def sizes(largest: int = 4 << 20) -> list[int]:
    """Message sizes in bytes: powers of two, four to the octave from 256 B to 256 KiB, where protocols change.

    Defaults of released libraries lie in between: 4 KiB (Open MPI, btl_sm) to 64 KiB (Open MPI, btl_tcp); MPICH and
    UCX change at 1-16 KiB.
    """
    found = {1 << k for k in range(0, largest.bit_length()) if 1 << k <= largest}
    for k in range(8, 18):
        found |= {(1 << k) * quarter // 4 for quarter in (5, 6, 7)}
    return sorted(size for size in found if size <= largest)


DRAINS_FROM = 4096
"""Bytes from which repeats in a row may find the token bucket of a shaped link drained."""
REFILL_S = 1e-3
"""Idle before an exchange, in which such a bucket fills again."""


def ping(size: int, mode: str = "isend") -> Point:
    """A ping-pong; larger messages with a pause before each, so that all meet the same, rested link."""
    pause: dict[str, Value] = {"pause_s": REFILL_S} if size >= DRAINS_FROM else {}
    return Point.of("pingpong", bytes=size, mode=mode, **pause)


MEASUREMENTS = (
    "pingpong",
    "early",
    "bandwidth",
    "prtt",
    "overlap",
    "pready",
    "approach",
    "rate",
    "matching",
    "barrier",
    "memcpy",
    "noise",
)


def plan(
    *,
    threads: int,
    only: Iterable[str] | None = None,
    largest: int = 4 << 20,
) -> list[Point]:
    """The points of a calibration, the most valuable first.

    First one coarse pass over everything a Machine cannot do without, then finer ones. A budget that
    ends early therefore leaves a coarse but whole picture.

    Args:
        threads: most threads of one rank.
        only: names from `MEASUREMENTS`; all of them if None.
        largest: largest message in bytes.

    Raises:
        PreadyError: for a name that is not a measurement, or fewer than one thread.
    """
    chosen = list(MEASUREMENTS if only is None else only)
    unknown = sorted(set(chosen) - set(MEASUREMENTS))
    if unknown:
        raise PreadyError(f"measure = {unknown} is not valid", valid=", ".join(MEASUREMENTS))
    if threads < 1:
        raise PreadyError(f"threads = {threads} is not valid", valid="at least 1")
    teams = sorted({1 << k for k in range(threads.bit_length()) if 1 << k <= threads} | {threads})
    passes = chain(
        _first_pass(threads, teams, largest),
        _second_pass(threads, teams, largest),
        _third_pass(teams, largest),
    )
    return [point for point in dict.fromkeys(passes) if point.measurement in chosen]


def _powers(low: int, high: int, step: int) -> list[int]:
    found = []
    for size in (low << (step * k) for k in range(64)):
        if size > high:
            break
        found.append(size)
    return found


def _first_pass(threads: int, teams: list[int], largest: int) -> Iterator[Point]:
    for size in _powers(1, largest, 2):
        yield ping(size)
    for delay_by in ("sleep", "test"):
        for size in (64 << 10, 1 << 20):
            yield Point.of("early", bytes=size, delay_by=delay_by)
    for size in _powers(1 << 10, largest, 4):
        yield Point.of("bandwidth", bytes=size, window=16)
    for size in (1, 1 << 10, 1 << 14):
        for n, delay in ((1, 0.0), (16, 0.0), (16, -1.0)):
            yield Point.of("prtt", bytes=size, n=n, delay_s=delay)
    for who in ("receiver", "sender"):
        for size in (1 << 10, 1 << 20):
            yield Point.of("overlap", bytes=size, who=who)
    for team in teams:
        yield Point.of("rate", mechanism="communicators", threads=team)
        yield Point.of("pready", threads=team)
        if team > 1:
            yield Point.of("barrier", threads=team)


def _second_pass(threads: int, teams: list[int], largest: int) -> Iterator[Point]:
    for size in sizes(largest):
        yield ping(size)
    yield from exchanges(teams)
    for size in _powers(1, min(largest, 1 << 20), 2):
        for n, delay in ((1, 0.0), (16, 0.0), (16, -1.0)):
            yield Point.of("prtt", bytes=size, n=n, delay_s=delay)
    for window in (1, 2, 4, 8, 16, 32, 64):
        for size in _powers(1 << 12, min(largest, 1 << 20), 4):
            yield Point.of("bandwidth", bytes=size, window=window)
    for mechanism in ("one", "tags", "windows"):
        for team in teams:
            yield Point.of("rate", mechanism=mechanism, threads=team)
    for size in _powers(1 << 10, largest, 4):
        for cache in ("hot", "cold"):
            yield Point.of("memcpy", bytes=size, cache=cache)
    for length in (0, 16, 128, 1024):
        yield Point.of("matching", queue="posted", length=length)
    yield from exchanges(teams, 1)
    yield Point.of("noise", max_repeats=2000, keep=2000, budget_s=3.0)


SMALL_EXCHANGE = 1 << 10
PUTS = 8
SMALLER_PUT, MORE_PUTS = 256, 32
COLD_SIZES = (256, 4 << 10, 32 << 10, 256 << 10)
COLD_PAUSES = (1e-3, 4e-3, 16e-3)
ACTIVE_PAUSES = (0.0, *COLD_PAUSES[:2])
EARLY_SIZES, EARLY_PUTS, EARLY_DELAY_S = (64 << 10, 1 << 20, 4 << 20), 4, 0.15
"""Bytes of a put; a delay in which three of the largest pass a link of 0.7 Gbit/s."""
TEAM_PARTITIONS, TEAM_TIME_S = (128, 1 << 10), 4e-3
TEAM_LATE_S = 1e-3
"""Small exchanges have short delays, and a core that has slept for long wakes up slower than one that has not."""
TEAM_THETA = 4
"""Partitions per thread, in case a thread has several."""


def exchanges(teams: Iterable[int], round_: int = 0) -> Iterator[Point]:
    """Whole exchanges, each for what it has more than another (`terms_from_exchanges`).

    One put and several, in every way to synchronise: what a put, an epoch and a further window cost. Puts with the
    last one late: how much moves without the sender? ``MPI_Psend`` and a send of the same size. A send after pauses.
    Last, small ones by teams, ready together, in turn, or with the last one late: what meeting, and waking up to send,
    cost, and how much that differs from one exchange to the next. Rounds after the first repeat all but the long ones,
    at other times: a machine may be colder in one minute than in the next.
    """
    again: dict[str, Value] = {"round": round_} if round_ else {}

    def one(approach: str, size: int, theta: int = 1, threads: int = 1, **when: Value) -> Point:
        return Point.of(
            "approach",
            approach=approach,
            bytes=size,
            threads=threads,
            receive_threads=1,
            theta=theta,
            pause_s=REFILL_S,
            min_repeats=6,
            max_repeats=200,
            budget_s=0.5,
            **{"delay_s": 0.0, **when, **again},
        )

    for approach in APPROACHES:
        if approach.startswith("rma"):
            yield one(approach, SMALL_EXCHANGE)
            yield one(approach, SMALL_EXCHANGE * PUTS, PUTS)
        if approach.startswith("rma-single"):
            yield one(approach, SMALLER_PUT * MORE_PUTS, MORE_PUTS)
    for size in COLD_SIZES:
        for delay in (0.0, *COLD_PAUSES):
            yield one("single", size, delay_s=delay)
        for delay in ACTIVE_PAUSES:
            yield one("part", size, delay_s=delay)
    for size in () if round_ else EARLY_SIZES:
        for delay in (0.0, EARLY_DELAY_S):
            yield one("rma-single-passive", size * EARLY_PUTS, EARLY_PUTS, delay_s=delay)
    for team in (team for team in teams if team > 1):
        in_turn = tuple(round(TEAM_TIME_S * (k + 1) / team, 7) for k in range(team))
        for approach in ("single", "many"):
            for size in TEAM_PARTITIONS:
                yield one(approach, size * team, 1, team)
                yield one(approach, size * team, 1, team, ready_s=in_turn)
                yield one(approach, size * team, 1, team, delay_s=TEAM_LATE_S)
            yield one(approach, TEAM_PARTITIONS[-1] * team, TEAM_THETA, team, delay_s=TEAM_LATE_S)
        for approach in (a for a in APPROACHES if a.startswith("rma")):
            for delay in (0.0, TEAM_LATE_S):
                yield one(approach, TEAM_PARTITIONS[-1] * team, 1, team, delay_s=delay)
            if approach.startswith("rma-single"):
                yield one(approach, TEAM_PARTITIONS[0] * team * PUTS, PUTS, team)


def _third_pass(teams: list[int], largest: int) -> Iterator[Point]:
    for who in ("receiver", "sender"):
        for size in _powers(1 << 12, largest, 2):
            yield Point.of("overlap", bytes=size, who=who)
    for mode in ("send", "persistent"):
        for size in _powers(1, largest, 2):
            yield ping(size, mode)
    yield from exchanges(teams, 2)
    # last: a provider that keeps few unexpected messages hangs here, and the watchdog takes its time
    for length in (0, 16, 128, 1024):
        yield Point.of("matching", queue="unexpected", length=length)


def with_parameters(points: Iterable[Point], **parameters: Value) -> list[Point]:
    """The same points with more parameters, such as `min_repeats=6`."""
    return [Point.of(point.measurement, **{**dict(point.parameters), **parameters}) for point in points]
