"""Predictions over a grid of workloads, saved point by point so that an interrupted sweep resumes."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pready.files import rows
from pready.files.writing import write_text
from pready.model.errors import PreadyError, shown
from pready.model.machine import Machine
from pready.model.predict import predict
from pready.model.units import Unit, parse
from pready.model.version import VERSION
from pready.model.workload import Workload

INTEGERS = ("threads", "partitions_per_thread", "transport_partitions", "neighbours", "iterations")
LARGEST = 100_000


def parse_axis(text: str) -> tuple[str, list[float] | list[int]]:
    """``buffer=1KiB:64MiB:2x`` or ``threads=1,2,4`` as a field and its values.

    ``from:to:FACTORx`` multiplies, ``from:to:STEP`` adds; both ends are included where they are met.

    Raises
    ------
    PreadyError
        An unknown field, a malformed or an endless range.
    """
    field, equals, spec = text.partition("=")
    field = field.strip()
    known = ("buffer", *INTEGERS)
    if not equals or field not in known:
        raise PreadyError(
            f"--over {shown(text)} names no field to vary",
            valid=f"FIELD=VALUES with FIELD one of {', '.join(known)}",
        )

    def value(word: str) -> float:
        if field == "buffer":
            return parse(word, Unit.SIZE, f"--over {field}")
        try:
            number = int(word)
        except ValueError:
            number = 0
        if number < 1:
            raise PreadyError(f"--over {field} = {shown(word)}", valid="integers of at least 1")
        return number

    parts = spec.split(":")
    if len(parts) == 1:
        values = [value(w.strip()) for w in spec.split(",")]
    elif len(parts) == 3:
        low, high, step = value(parts[0]), value(parts[1]), parts[2].strip()
        values = _range(field, low, high, step, value)
    else:
        raise PreadyError(f"--over {shown(text)} is no range", valid="A,B,C or FROM:TO:2x or FROM:TO:STEP")
    return field, values if field == "buffer" else [int(v) for v in values]


def _range(field: str, low: float, high: float, step: str, value: Callable[[str], float]) -> list[float]:
    values = [low]
    if step.endswith("x"):
        try:
            factor = float(step[:-1])
        except ValueError:
            factor = 0.0
        if not 1 < factor < float("inf"):
            raise PreadyError(f"--over {field}: factor {shown(step)}", valid="greater than 1, such as 2x")
        while values[-1] * factor <= high * (1 + 1e-12) and len(values) <= LARGEST:
            values.append(values[-1] * factor)
    else:
        added = value(step)
        while values[-1] + added <= high * (1 + 1e-12) and len(values) <= LARGEST:
            values.append(values[-1] + added)
    if low > high or len(values) > LARGEST:
        raise PreadyError(
            f"--over {field}: {low:g} to {high:g} by {step}",
            valid=f"FROM at most TO, at most {LARGEST} values",
        )
    return values


def grid(workload: Workload, axes: Sequence[tuple[str, Sequence[float]]]) -> list[Workload]:
    """Every combination, each checked as a file is."""
    names = [name for name, _ in axes]
    if len(set(names)) < len(names):
        raise PreadyError(f"--over names {shown(names)}", valid="each field once")
    out = []
    for combination in itertools.product(*(values for _, values in axes)):
        fields: dict[str, Any] = dict(zip(names, combination, strict=True))
        if "transport_partitions" in fields:
            fields["transport_partitions"] = (fields["transport_partitions"],)
        out.append(workload.changed(**fields))
    if len(out) > LARGEST:
        raise PreadyError(f"the sweep has {len(out)} points", valid=f"at most {LARGEST}")
    return out


def sweep(
    machine: Machine,
    workloads: Sequence[Workload],
    out: Path,
    *,
    library: str | None,
    seed: int,
    on_point: Callable[[], object] = lambda: None,
) -> tuple[int, int]:
    """Predict every workload and write the rows to `out` (``.csv`` or ``.parquet``).

    Finished points are kept in ``OUT.partial`` until the sweep is complete; run again with the same
    arguments, it goes on from there.

    Returns
    -------
    Points computed now, and points taken from an earlier run.
    """
    rows.check(out)
    partial = out.with_name(out.name + ".partial")
    identity = [
        VERSION,
        library,
        seed,
        machine.model_dump_json(by_alias=True),
        [w.model_dump_json() for w in workloads],
    ]
    header = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
    done = _resume(partial, header)
    reused = len(done)
    for _ in done:
        on_point()
    with partial.open("a" if done else "w", encoding="utf-8") as stream:
        if not done:
            stream.write(json.dumps({"sweep": header}) + "\n")
        for workload in workloads[reused:]:
            done.append(_rows(machine, workload, library, seed))
            stream.write(json.dumps(done[-1]) + "\n")
            stream.flush()
            on_point()
    rows.write(out, [row for point in done for row in point])
    partial.unlink(missing_ok=True)
    return len(done) - reused, reused


def _rows(machine: Machine, workload: Workload, library: str | None, seed: int) -> list[dict[str, Any]]:
    prediction = predict(machine, workload, library=library, seed=seed)
    what = {
        "machine": machine.name,
        "library": prediction.library,
        "seed": seed,
        "threads": workload.threads,
        "partitions_per_thread": workload.partitions_per_thread,
        "buffer_bytes": int(workload.buffer),
        "peers": workload.peers,
    }
    return [{**what, **row.to_dict()} for row in prediction.approaches]


def _resume(partial: Path, header: str) -> list[list[dict[str, Any]]]:
    """The points of an earlier run of the same sweep; a damaged last line is dropped."""
    try:
        lines = partial.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError):
        return []
    done: list[list[dict[str, Any]]] = []
    good = ""
    for number, line in enumerate(lines):
        try:
            value = json.loads(line) if line.endswith("\n") else None
        except ValueError:
            value = None
        if value is None or (number == 0 and value != {"sweep": header}):
            break
        if number:
            done.append(value)
        good += line
    if done:
        write_text(partial, good)
    return done
