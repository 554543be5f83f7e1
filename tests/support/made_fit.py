"""Fits that are written down in tests/data: times in 2^-20 s (a microsecond, nearly), sizes in KiB, time per byte in
2^-20 s per KiB. All of it is exact in binary, so that thresholds can be met."""

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.bootstrap import CurveLines
from pready.calibrate.fit.results import Segment
from pready.calibrate.fit.series import Series
from pready.calibrate.machine.values.estimates import with_fields
from pready.calibrate.machine.values.segments import segment
from pready.model.common.arrays import Array
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment as PathSegment

US, KIB = 2.0**-20, 1024.0
UNITS = {"L": US, "o_s": US, "o_r": US, "g": US, "G": US / KIB, "G_stream": US / KIB}
SHOWN = UNITS | {"handshake": US, "G_link": US / KIB}
USUAL = {"L": 2, "o_s": 1, "o_r": 0.5, "g": 1, "G": 1, "G_stream": 1}


def estimate(said: Any, unit: float) -> Estimate:
    """Of a number, or of low, value, high; a fourth says that it is assumed."""
    low, value, high, *guess = said if isinstance(said, list) else [said] * 3
    return Estimate(value * unit, low * unit, high * unit, bool(guess))


def made_fit(said: dict[str, Any]) -> Fit:
    """From its segments and the measured sizes; where they are not those of the lines, times; gaps by size. 95 % of the
    draws of each parameter lie evenly in its interval, all in one order."""
    segments = tuple(
        Segment(row["from"] * KIB, row.get("protocol"), *(estimate(row.get(n, USUAL[n]), u) for n, u in UNITS.items()))
        for row in said["segments"]
    )
    sizes = np.array(said["sizes"]) * KIB
    steps = np.arange(-20, 21)[:, None] / 19
    draws = {
        n: np.array([getattr(s, n).value for s in segments]) + steps * [getattr(s, n).half_width for s in segments]
        for n in UNITS
    }
    lines = Fit(segments, (), {}, draws, sizes, None, ())

    def curve(name: str, at: Array, values: Array) -> CurveLines:
        starts = np.searchsorted([s.from_bytes for s in segments], at, side="right") - 1
        points = np.bincount(starts, minlength=len(segments))
        nothing = np.zeros((1, len(segments)))
        return CurveLines(Series(name, at, values, values, 0.0), nothing, nothing, points, (), values)

    curves = {"time": curve("time", sizes, np.array(said["times"]) * US if "times" in said else lines.time(sizes))}
    if "gaps" in said:
        at, gaps = np.array(said["gaps"], dtype=float).T
        curves["gap"] = curve("gap", at * KIB, gaps * US)
    every = np.unique(np.concatenate([curve.series.size for curve in curves.values()]))
    return replace(lines, curves=curves, sizes=every)


def made_machine(said: dict[str, Any]) -> Machine:
    """With the fit's segments."""
    fit, machine = made_fit(said), ideal()
    segments = tuple(segment(fit, k, [], "here") for k in range(len(fit.segments)))
    return with_fields(machine, inter=with_fields(machine.inter, segments=segments))


def checked(made: PathSegment | Segment, said: dict[str, Any]) -> None:
    """Its values, intervals and sources are those said; None: it has no such value."""
    for name, value in said.items():
        found = getattr(made, name)
        assert (found is None) == (value is None), name
        if found is not None:
            e = estimate(value, SHOWN[name])
            if not isinstance(found, Estimate):
                low, high = found.interval or [found.value] * 2
                found = Estimate(found.value, low, high, found.source == "assumed")
            assert astuple(found) == pytest.approx(astuple(e), rel=1e-9, abs=1e-18), name
