"""Capture files made by hand."""

import numpy as np

from pready.calibrate.capture import files
from pready.calibrate.capture.files import RECORD, kinds

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
        sites[number] = (16 * number, 1, 0, b"compute", b"/no/such/program")
    data = head.tobytes().ljust(8192, b"\0") + sites.tobytes()
    done = completions([row for _, rows in chunks for row in rows])
    for thread, rows in chunks:
        full = np.zeros((65536 - 16) // RECORD.itemsize, RECORD)
        for i, row in enumerate(rows):
            start, end, kind, site, who, what = row
            full[i] = (start, end, done.get(id(row), end), kinds()[kind], site, who, what)
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
