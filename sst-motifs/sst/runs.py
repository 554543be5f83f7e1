"""Runs of a job in SST, one for each approach, in a folder from which an interrupted simulation goes on."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pready.files.writing import make_folder, replacing, write_text
from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.sst import library, results
from pready.sst.job import Setup, candidates, write_config
from pready.sst.results import Record, Times, times
from pready.sst.run import How
from pready.sst.run import run as run_sst


def simulate_approach(s: Setup, approach: Approach, folder: Path, how: How | None = None) -> Record:
    """Write, run and read one approach in `folder`; a run that is there, whole and of the same, is only read."""
    name = f"{approach.interface.key}-{approach.transport_partitions}"
    path, done = folder / f"{name}.py", folder / f"{name}.done"
    with replacing():
        record = write_config(s, approach, path)
    asked = hashlib.sha256(path.read_bytes() + path.with_suffix(".arrivals.npy").read_bytes() + s.edges.tobytes())
    asked.update(library.fingerprint(library.find()).encode())
    if not done.exists() or done.read_bytes() != asked.hexdigest().encode():
        done.unlink(missing_ok=True)
        for old in (*folder.glob(f"{name}.csv*"), *folder.glob(f"{name}.counts*.csv")):
            old.unlink()
        run_sst(path, how)
        write_text(done, asked.hexdigest())  # of a whole run
    idle = s.ranks % 2 if s.motif == "PartPingPong" else 0
    return results.read_records(record, s.ranks - idle, s.iterations + 1)


@contextmanager
def kept_or_not(s: Setup, folder: Path | None) -> Iterator[Path]:
    """Where runs are made: `folder`; or, if None, one in the user's cache that goes at the end.

    What an interruption or a failure leaves there, the same simulation goes on from. Raises PreadyError: another
    process simulates there.
    """
    if folder is not None:
        make_folder(folder, (".lock",))
        where = folder
    else:
        said: list[object] = [s.machine.model_dump_json(), s.workload.model_dump_json(), s.packet]
        said += [s.topology.title, str(s.topology.settings), s.ranks, s.grid, s.iterations, s.seed]
        said += [s.allocation, s.background, s.load]
        digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
        where = library.cache_folder() / "runs" / digest[:16]
        where.mkdir(parents=True, exist_ok=True)
    with (where / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PreadyError(
                f"another process simulates in {where}", valid="--keep with a folder of its own"
            ) from None
        yield where
        if folder is None:  # a failure leaves it, with the log that its message names
            shutil.rmtree(where, ignore_errors=True)


def simulated(
    s: Setup,
    folder: Path,
    *,
    mpi: str | None = None,
    approaches: Sequence[Approach] = (),
    how: How | None = None,
    on_run: Callable[[int, int, Approach], None] | None = None,
) -> list[tuple[Approach, Times]]:
    """Bulk and the approaches, each in a run of its own with the same draws.

    Raises MissingSST: there is no SST; PreadyError: a run failed.

    Parameters
    ----------
    folder
        Of configurations, arrivals, records and logs; runs that are there are not made again.
    mpi
        MPI library profile; absent, the machine's own.
    approaches
        To compare with bulk; absent, those of the library.
    on_run
        Called before each run with its number, the number of runs and the approach.
    """
    todo = candidates(s, mpi, approaches)
    folder.mkdir(parents=True, exist_ok=True)
    out = []
    for number, approach in enumerate(todo):
        if on_run is not None:
            on_run(number, len(todo), approach)
        record = simulate_approach(s, approach, folder, how)
        out.append((approach, times(s.workload.pattern, record)))
    return out
