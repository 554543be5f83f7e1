"""Finish times of each thread, for every stretch of computing between two barriers of a team.

A stretch begins where the region begins, or where the last thread reached the barrier before; it ends where its last
thread reaches the next barrier or the region's end. So a region without barriers is one stretch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pready.calibrate.capture.build import NAME
from pready.calibrate.capture.files import MPI_UNIT_NS, SHARE_TASKS, Process, numbers
from pready.model.common.arrays import Array

MPI_UNIT_S = MPI_UNIT_NS / 1e9
"""Unit of the time in MPI in a share's record."""
Key = tuple[int, int, int]
"""Identity of a stretch: place of the region, place of the barrier that ends it (0: the region's end), threads."""


@dataclass(frozen=True)
class Stretch:
    """All instances of one stretch in one process; times in seconds since the file was opened."""

    key: Key
    begin: Array  # shape (instances,)
    finish: Array  # from the begin until each thread finished its share, shape (instances, threads)
    mpi: Array  # of that in MPI
    which: NDArray[np.int64]  # region and number of the stretch in it, shape (instances, 2)
    tasks: bool  # explicit tasks were created in it: threads go on with them at the barrier, after `finish`

    @property
    def threads(self) -> int:
        return self.key[2]

    @property
    def end(self) -> Array:
        """Finish time of the last thread, shape (instances,)."""
        return np.asarray(self.begin + self.finish.max(axis=1))

    @property
    def computing(self) -> Array:
        """Seconds that each thread computes: its share without its time in MPI; shape (instances, threads)."""
        return np.maximum(self.finish - self.mpi, 0.0)

    @property
    def reclaimable(self) -> Array:
        """Wait of finished threads for the last one, mean over threads, in seconds; shape (instances,)."""
        return np.asarray(self.computing.max(axis=1) - self.computing.mean(axis=1))


def stretches(process: Process) -> tuple[Stretch, ...]:
    """The stretches of a process, the longest first.

    Left out: instances without a record of every thread (the process ended, or records were dropped), and those before
    MPI_Init or after MPI_Finalize.
    """
    shares = process.records[process.of("share")]
    regions = process.records[process.records["kind"] == numbers("region")[0]]
    _, first = np.unique(regions["who"], return_index=True)
    regions = regions[first]  # by number
    begin, end = (round(1e9 * at) for at in process.within_mpi_s)
    regions = regions[(regions["start"] >= begin) & (regions["start"] <= end)]
    in_team = (shares["what"] & 0xFFFF).astype(np.int64)
    order = np.lexsort((shares["start"], in_team, shares["who"]))
    shares, in_team = shares[order], in_team[order]
    row = np.searchsorted(regions["who"], shares["who"])
    known = row < len(regions)
    known[known] = regions["who"][row[known]] == shares["who"][known]
    shares, in_team, row = shares[known], in_team[known], row[known]
    phase = counted(shares["who"], in_team)
    order = np.lexsort((in_team, phase, row))
    shares, phase, row = shares[order], phase[order], row[order]
    starts = _starts(row, phase)
    sizes = np.diff([*starts, len(shares)])
    complete = sizes == (regions["what"] & 0xFFFF)[row[starts]]
    if not complete.any():
        return ()
    ends = np.maximum.reduceat(shares["end"], starts)
    # A barrier ends when its last thread arrives.
    begins = regions["start"][row[starts]].copy()
    later = phase[starts] > 0
    begins[later] = np.roll(ends, 1)[later]
    end_site = shares["site"][starts].astype(np.int64)
    region_site = regions["site"][row[starts]].astype(np.int64)
    end_site[end_site == region_site] = 0
    # A barrier at the end of a region is a tail call, and seems to be called by our own function.
    end_site[np.isin(end_site, [i for i, p in enumerate(process.places) if p and p.object.endswith(NAME)])] = 0
    keys = np.stack([region_site, end_site, sizes], axis=1)
    found = []
    for key in np.unique(keys[complete], axis=0):
        own = complete & (keys == key).all(axis=1)
        mine, at = starts[own], begins[own]
        cells = mine[:, None] + np.arange(key[2])
        what = shares["what"][cells]
        found.append(
            Stretch(
                key=(int(key[0]), int(key[1]), int(key[2])),
                begin=at * 1e-9,
                finish=np.maximum(shares["end"][cells] - at[:, None], 0) * 1e-9,
                mpi=(what >> np.uint64(32)).astype(np.float64) * MPI_UNIT_S,
                which=np.stack([shares["who"][mine].astype(np.int64), phase[mine]], axis=1),
                tasks=bool(((what >> np.uint64(16)) & np.uint64(SHARE_TASKS)).any()),
            )
        )
    return tuple(sorted(found, key=lambda s: -float(s.finish.max(axis=1).sum())))


def _starts(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of each group of equal rows, which must be adjacent."""
    differs = np.logical_or.reduce([np.diff(c, prepend=-1) != 0 for c in columns])
    return np.flatnonzero(differs)


def counted(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of equal rows before each row; equal rows must be adjacent."""
    starts = _starts(*columns)
    return np.arange(len(columns[0])) - np.repeat(starts, np.diff([*starts, len(columns[0])]))
