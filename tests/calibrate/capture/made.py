"""Capture files made by hand."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.capture import files
from pready.calibrate.capture.files import RECORD, Process, kinds, parse_process
from pready.calibrate.capture.regions import Stretch

Row = tuple[int, int, str, int, int, int]
"""Begin, end, kind, place, who, what."""


def capture_file(chunks: list[tuple[int, list[Row]]], *, rank: int = 0, ranks: int = 1, **fields: int) -> bytes:
    """The bytes of a file with these chunks, each of a thread."""
    head = np.zeros(1, files._HEADER)
    head["magic"] = files.MAGIC
    expected = {"header_bytes": 8192, "site_bytes": 512, "sites": 1024, "chunk_bytes": 65536}
    for name, value in {**expected, "rank": rank, "ranks": ranks, "openmp": 1, **fields}.items():
        head[name] = value
    sites = np.zeros(1024, files._SITE)
    for number in range(1, 5):
        sites[number] = (16 * number, 1, 0, b"", b"/no/such/program")
    for number, (caller, routine) in enumerate(((4, b"send"), (4, b"complete"), (5, b"isend"), (5, b"waitall")), 5):
        sites[number] = (16 * number, 1, caller, b"", b"/no/such/" + routine)
    sites[9] = (16 * 9, 1, 0, b"compute", b"/no/such/program")
    data = head.tobytes().ljust(8192, b"\0") + sites.tobytes()
    done = completions([row for _, rows in chunks for row in rows])
    for thread, rows in chunks:
        full = np.zeros((65536 - 16) // RECORD.itemsize, RECORD)
        for i, row in enumerate(rows):
            start, end, kind, site, who, what = row
            full[i] = (start, end, done.get(id(row), end), kinds()[kind], site, who, what, 0)
        data += np.array([files._CHUNK_MAGIC, thread], "<u4").tobytes().ljust(16, b"\0") + full.tobytes()
    return data


def completions(rows: list[Row]) -> dict[int, int]:
    """When requests complete: calls that wait complete the oldest ones."""
    done, open_ = dict[int, int](), list[Row]()
    for row in sorted(rows, key=lambda r: r[:2]):
        if row[2] in ("isend", "irecv", "start_send", "start_recv", "pstart_send", "pstart_recv"):
            open_.append(row)
            done[id(row)] = -1
        elif row[2] in ("wait", "test"):
            done |= {id(r): row[1] for r in open_[: row[5]]}
            del open_[: row[5]]
    return done


def share(in_team: int, phase: int = 0) -> int:
    return in_team | phase << 16


def file_of(steps: Sequence[str], rank: int, ranks: int, apart: float = 0, since: float = 0, **fields: int) -> bytes:
    """A file of a rank's calls, a line each: thread, begin and end in us, kind, place, peer, and bytes or how many.

    Each step begins so long after the one before, the first at `since`, and its regions count on. "1+20" of a share:
    the second thread's, of which 20 us are in MPI.
    """
    rows: dict[int, list[Row]] = defaultdict(list)
    for n, lines in enumerate(steps):
        for line in lines.strip().splitlines():
            thread, begin, end, kind, site, who, what = line.split()
            number, _, in_mpi = what.partition("+")
            begin_ns, end_ns = (round(1000 * (since + n * apart + float(us))) for us in (begin, end))
            peer = int(who) + (10 * n if kind in ("region", "share") else 0)
            of = begin_ns, end_ns, kind, int(site), peer, int(number) | round(10 * float(in_mpi or 0)) << 32
            rows[int(thread)].append(of)
    return capture_file(list(rows.items()), rank=rank, ranks=ranks, **fields)


def written(steps: Sequence[str], rank: int, ranks: int, apart: float = 0, since: float = 0, **fields: int) -> Process:
    """What is read of such a file."""
    return parse_process(file_of(steps, rank, ranks, apart, since, **fields), Path(f"rank-{rank}"))


def plain(value: Any) -> Any:
    """Seconds as microseconds, a stretch as its key, and what is counted by peer as rows."""
    if isinstance(value, float | np.ndarray):
        return np.round(1e6 * np.asarray(value), 3).tolist()
    if isinstance(value, dict):
        return [[*(key if isinstance(key, tuple) else (key,)), count] for key, count in sorted(value.items())]
    if isinstance(value, frozenset):
        return plain(sorted(value))
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return list(value.key) if isinstance(value, Stretch) else "none" if value is None else value
