"""Raw results: one JSON object per line, appended and synced point by point.

What to use when: `Records(path)` to measure (locks the file, mends a damaged last line, appends); `read(path)` to fit
or report (changes nothing).

Three kinds of line, told apart by `"kind"`:

- `environment`: where points were measured (MPI library, hosts, CPUs, compiler, launcher, settings), under a key;
- `point`: one record of `pready-bench`, under the key of the point and that of its environment;
- `failure`: a point that could not be measured (crash, timeout, wrong payload). It is tried again by the next run.

A line is written by one `write` and then synced, so that a killed process can leave at most one incomplete line, the
last. That line is recognised, cut off, and its point is measured again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeAlias

from pready.files.writing import writing_to
from pready.model.common.errors import PreadyError
from pready.model.toml.reading import LARGEST_DATA, TIMES_OF_JSON, read_bytes

FORMAT = 1

Value: TypeAlias = int | float | str | tuple[float, ...]


class RecordsError(PreadyError):
    """A raw result file that cannot be used; the message names the file and the line."""


@dataclass(frozen=True)
class Point:
    """A point to measure: a measurement of `pready-bench` and the parameters that are not its defaults.

    Parameters are kept sorted, so that two points that ask for the same thing are equal. Sizes are in bytes, times in
    seconds.
    """

    measurement: str
    parameters: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, measurement: str, **parameters: Value) -> Self:
        return cls(measurement, tuple(sorted(parameters.items())))

    def key(self, environment: str) -> str:
        """Identity of the point where it is measured: the same key is never measured twice."""
        return digest({"point": [self.measurement, self.parameters], "environment": environment})

    def line(self, identity: str) -> str:
        """The point as a line for `pready-bench`."""
        return " ".join([self.measurement, f"id={identity}", *self._words])

    def get(self, name: str) -> Value | None:
        """A parameter, or None where the benchmark's default holds."""
        return dict(self.parameters).get(name)

    @property
    def _words(self) -> list[str]:
        return [f"{name}={_word(value)}" for name, value in self.parameters]

    def __str__(self) -> str:
        return " ".join([self.measurement, *self._words])


def _word(value: Value) -> str:
    if isinstance(value, tuple):
        return ",".join(repr(float(item)) for item in value)
    return value if isinstance(value, str) else repr(value)


def is_record(path: Path) -> bool:
    """Whether a file begins as these records do."""
    try:
        with path.open("rb") as stream:
            return stream.read(40).startswith(f'{{"format":{FORMAT},"kind":'.encode())
    except OSError:
        return False


def digest(value: object) -> str:
    """Short stable hash of anything JSON can hold."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def environment_key(record: Mapping[str, Any], launcher: str, settings: Mapping[str, str], program: str) -> str:
    """Identity of where points are measured.

    Host names are left out on purpose: the next job of the batch system gets other nodes of the same kind, and the run
    must resume there.

    Parameters
    ----------
    record
        The `environment` record of `pready-bench`.
    launcher
        The launcher's label.
    settings
        Environment variables that change how the library communicates.
    program
        Hash of the benchmark's sources.
    """
    kept = {name: record.get(name) for name in ("library", "mpi_version", "thread_level")}
    kept["cpus"] = sorted(set(record.get("cpus", [])))
    kept |= {name: record[name] for name in ("cores", "pinned", "tcp") if name in record}
    return digest({"record": kept, "launcher": launcher, "settings": dict(settings), "program": program})


@dataclass
class Content:
    """A raw result file. `points` and `environments` are by key, in the order of the file."""

    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    points: dict[str, dict[str, Any]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    good_bytes: int = 0  # length of the file up to the end of its last whole line
    damaged_tail: bool = False

    def select(self, measurement: str, environment: str | None = None) -> list[dict[str, Any]]:
        """The records of one measurement that hold samples, without `unsupported` ones."""
        return [
            line["record"]
            for line in self.points.values()
            if line["record"].get("measurement") == measurement
            and "median_s" in line["record"]
            and (environment is None or line["environment"] == environment)
        ]

    def unsupported(self) -> dict[str, str]:
        """Points that the library cannot do: a reason by the words of the point."""
        points = self.points.values()
        return {p["point"]: str(p["record"]["unsupported"]) for p in points if "unsupported" in p["record"]}


def read(path: Path) -> Content:
    """Read a raw result file; an incomplete last line is left out. Raises RecordsError: any other line is not readable,
    or a point occurs twice; PreadyError: there is no such file, or no memory for it."""
    return _parse(path, read_bytes(path, LARGEST_DATA, TIMES_OF_JSON))


def _parse(path: Path, data: bytes) -> Content:
    content = Content()
    lines = data.split(b"\n")
    tail = lines.pop()
    for number, raw in enumerate(lines, start=1):
        last = number == len(lines) and not tail
        line = _load(raw)
        if line is None:
            if last:
                content.damaged_tail = True
                return content
            raise RecordsError(
                f"{path}, line {number}: not a record of pready (format {FORMAT}); only the last line may be "
                "damaged. Move the file away, or delete that line to measure its point again"
            )
        _take(f"{path}, line {number}", line, content)
        content.good_bytes += len(raw) + 1
    content.damaged_tail = bool(tail)
    return content


def _load(raw: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(raw)
    except ValueError:  # also UnicodeDecodeError
        return None
    if not isinstance(line, dict) or line.get("format") != FORMAT:
        return None
    needed = {
        "environment": {"key", "record"},
        "point": {"key", "environment", "point", "record"},
        "failure": {"key", "environment", "point", "reason"},
    }.get(str(line.get("kind")))
    return line if needed is not None and needed.issubset(line) else None


def _take(where: str, line: dict[str, Any], content: Content) -> None:
    key = line["key"]
    if line["kind"] == "environment":
        content.environments[key] = line["record"]
    elif line["kind"] == "failure":
        content.failures[key] = line["reason"]
    elif key in content.points:
        raise RecordsError(f"{where}: the point '{line['point']}' is there twice")
    else:
        content.points[key] = line
        content.failures.pop(key, None)


class Records:
    """A raw result file open for measuring: `with Records(path) as records:`. Raises RecordsError: another process
    holds it, or a line other than the last is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            self.content = _parse(path, read_bytes(path, LARGEST_DATA, TIMES_OF_JSON))
            if self.content.damaged_tail:
                os.ftruncate(self._file, self.content.good_bytes)
                os.fsync(self._file)
            _sync_folder(path.parent)
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise RecordsError(f"{self.path}: another process is measuring into it") from None
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise  # some cluster file systems have no locks; then it is the user's care

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def missing(self, points: Iterable[Point], environment: str) -> list[Point]:
        """The points that are not measured yet, in order."""
        return [point for point in points if point.key(environment) not in self.content.points]

    def add_environment(self, key: str, record: Mapping[str, Any]) -> None:
        """Append where points are measured, unless it is there."""
        if key not in self.content.environments:
            self._append({"kind": "environment", "key": key, "record": dict(record)})

    def add_point(self, point: Point, environment: str, record: Mapping[str, Any]) -> None:
        """Append the record of a point, and sync. Refuses a point that is there."""
        self._append({"kind": "point", **_named(point, environment), "record": dict(record)})

    def add_failure(self, point: Point, environment: str, reason: str) -> None:
        """Append why a point could not be measured; it stays missing."""
        self._append({"kind": "failure", **_named(point, environment), "reason": reason})

    def _append(self, line: dict[str, Any]) -> None:
        line = {"format": FORMAT, **line, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        _take(str(self.path), line, self.content)
        data = json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        with writing_to(self.path):
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)


def _named(point: Point, environment: str) -> dict[str, str]:
    return {"key": point.key(environment), "environment": environment, "point": str(point)}


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # some network file systems refuse; the file itself is synced
        os.fsync(handle)
    os.close(handle)
