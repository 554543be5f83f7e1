"""The motifs' records and SST's output: times per rank and iteration, and failures."""

from __future__ import annotations

import csv
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError

TIMES = ("start_ps", "ready_ps", "join_ps", "issued_ps", "first_arrival_ps", "completion_ps", "end_ps")
COLUMNS = ("rank", "iteration", "phase", *TIMES, "messages", "bytes", "arrivals_ps")
END_OF_TIME = "18.4467 Ms"
"""2**64 ps: SST's clock when its event queues ran empty before the job ended."""


@dataclass(frozen=True)
class Record:
    """The motifs' CSV, one row per rank, iteration and phase, sorted by them: a field for each of `COLUMNS`.

    Times in seconds of simulated time, shape (rows,); NaN where a rank sent or received nothing.
    """

    rank: NDArray[np.int64]
    iteration: NDArray[np.int64]
    phase: NDArray[np.int64]
    start: Array
    ready: Array
    join: Array
    issued: Array
    first_arrival: Array
    completion: Array
    end: Array
    messages: NDArray[np.int64]
    bytes: NDArray[np.int64]
    arrivals: tuple[tuple[float, ...], ...]  # when each message was complete, if that was recorded

    def table(self, values: Array, phase: int = 0) -> Array:
        """One phase's values as an array of shape (iterations, ranks)."""
        chosen = self.phase == phase
        ranks, iterations = int(self.rank.max()) + 1, int(self.iteration.max()) + 1
        out = np.full((iterations, ranks), np.nan)
        out[self.iteration[chosen], self.rank[chosen]] = values[chosen]
        return out


def read_records(path: Path, ranks: int, iterations: int) -> Record:
    """The CSV of a run, with the parts that further processes wrote (``path.1``, …). Raises PreadyError: no file, an
    odd file, or ranks or iterations missing."""
    parts = sorted(path.parent.glob(f"{path.name}*"))
    if not parts:
        raise PreadyError("SST ended without recording anything", source=str(path))
    rows = [row for part in parts for row in _rows(part)]
    return parse_records(rows, ranks, iterations, str(path))


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise PreadyError("is not a record of pready's motifs", valid=f"columns {','.join(COLUMNS)}", source=str(path))
    return rows[1:]


def parse_records(rows: Sequence[Sequence[str]], ranks: int, iterations: int, source: str = "record") -> Record:
    """Rows of the CSV, without its header. Raises PreadyError: a row that does not parse, a row twice, or a rank that
    did not finish."""
    parsed: dict[tuple[int, int, int], tuple[list[float], tuple[int, int], tuple[float, ...]]] = {}
    for number, row in enumerate(rows, 2):
        try:
            if len(row) != len(COLUMNS):
                raise ValueError(f"{len(row)} columns")
            key = (int(row[0]), int(row[1]), int(row[2]))
            times = [float(t) * 1e-12 if t else float("nan") for t in row[3:10]]
            value = (times, (int(row[10]), int(row[11])), tuple(float(t) * 1e-12 for t in row[12].split()))
        except ValueError as error:
            raise PreadyError(f"line {number} is damaged: {error}", source=source) from None
        if key in parsed:
            raise PreadyError(f"line {number}: rank {key[0]}, iteration {key[1]} is there twice", source=source)
        parsed[key] = value
    done = {rank for rank, iteration, _ in parsed if iteration == iterations - 1}
    missing = sorted(set(range(ranks)) - done)
    if missing:
        some = ", ".join(map(str, missing[:4])) + (", …" if len(missing) > 4 else "")
        raise PreadyError(f"{len(missing)} of {ranks} ranks did not finish (rank {some})", source=source)
    keys = sorted(parsed)
    seconds, counts, arrivals = zip(*(parsed[k] for k in keys), strict=True)
    columns: tuple[Any, ...] = (*np.array(keys).T, *np.array(seconds).T, *np.array(counts).T, arrivals)
    return Record(*columns)


@dataclass(frozen=True)
class Times:
    """Times of one run, shape (iterations + 1, samples), in seconds; row 0 has no spread."""

    after_ready: Array  # from the last partition ready at the sender to everything received
    compute: Array  # from the start to the last partition ready
    join: Array  # from the last partition ready to the threads' joining
    arrived: Array  # share of the messages complete when the sender's threads joined; NaN where not recorded


def times(pattern: str, record: Record) -> Times:
    """The times that a Prediction is made of.

    pt2pt: from the sender's last ready partition to the receiver's completion, one column per pair. Halos: each
    rank's own, which contains the wait for late neighbours. Sweeps: each rank's whole iteration, since ranks wait for
    each other in a chain; `compute` is then 0.
    """
    if pattern == "sweep3d":
        return _sweep_times(record)
    send = slice(0, None, 2) if pattern == "pt2pt" else slice(None)
    receive = slice(1, None, 2) if pattern == "pt2pt" else slice(None)
    start, ready, join = (record.table(v)[:, send] for v in (record.start, record.ready, record.join))
    done = record.table(record.completion)[:, receive]
    at = {
        (r, i): j for j, (r, i, p) in enumerate(zip(record.rank, record.iteration, record.phase, strict=True)) if p == 0
    }
    ranks = np.arange(int(record.rank.max()) + 1)
    share = np.full(done.shape, np.nan)
    for iteration in range(len(done)):
        for column, rank in enumerate(ranks[receive]):
            arrivals = record.arrivals[at[rank, iteration]]
            if arrivals:
                share[iteration, column] = np.mean(np.array(arrivals) <= join[iteration, column])
    return Times(done - ready, ready - start, join - ready, share)


def _sweep_times(record: Record) -> Times:
    whole = record.table(record.end, int(record.phase.max())) - record.table(record.start)
    nothing = np.zeros_like(whole)
    return Times(whole, nothing, nothing, np.full_like(whole, np.nan))


_FAILURES: tuple[tuple[str, str], ...] = (
    (r"^.*\bpready: error: (?P<what>.*)$", "{what}"),
    (
        re.escape(END_OF_TIME),
        f"the simulation ran to the end of time ({END_OF_TIME} = 2^64 ps): ranks wait for messages that never come "
        "(a deadlock), or the job never started",
    ),
    (
        r"(?:can't find requested element library|unable to find.*library|could not load).*?['\"]?(?P<what>pready|ember"
        r"|firefly|merlin|hermes|thornhill)",
        "SST does not find its element library {what} (sst-info {what})",
    ),
    (
        r"(?:no|can't find|unknown|failed to load).{0,80}?(?P<what>(?:pready|ember|firefly|merlin)\.\w+)",
        "SST has no element {what} (is the element library registered and built for this SST?)",
    ),
    (r"ModuleNotFoundError: No module named '(?P<what>sst\.\w+)'", "SST has no Python module {what}"),
    (
        r"(?:PortControl|LinkControl).*(?:init|protocol)",
        "merlin's ports did not initialise (seen with mpirun on some topologies): run with one process, or sst -n",
    ),
    (r"std::bad_alloc|Cannot allocate memory", "SST ran out of memory"),
    (
        r"(?:mpirun|prterun) has detected an attempt to run as root",
        "Open MPI's mpirun refuses to run as root: run it as a user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    ),
    (
        r"(?:There are not enough slots|more processes than the ppr)",
        "mpirun has fewer slots than processes were asked for",
    ),
)


def failure(output: str, status: int) -> str | None:
    """The error in one line, from SST's output and exit status; None if there is none."""
    for pattern, said in _FAILURES:
        if found := re.search(pattern, output, re.IGNORECASE | re.MULTILINE):
            return said.format(**found.groupdict())
    if status < 0:
        return f"SST was ended by {signal.Signals(-status).name}"
    if status:
        lines = [line.strip() for line in output.splitlines() if re.search(r"\w", line)]
        telling = next((line for line in lines if re.search(r"error|fatal|abort", line, re.IGNORECASE)), "")
        return f"SST ended with status {status}: {telling or (lines[-1] if lines else 'no output')}"
    completed = output.count("Simulation is complete")
    if completed > 1:
        return f"this SST was built without MPI: each of {completed} processes simulated everything"
    if not completed:
        return "SST ended without saying that the simulation is complete"
    return None
