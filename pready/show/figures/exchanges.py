"""Timelines of one exchange: threads, messages, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from pready.model.common.arrays import Array
from pready.model.common.units import format_time, unit_of_times
from pready.model.engine.simulate import Message
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.style import styled, subplots


@dataclass(frozen=True)
class Exchange:
    """One exchange of one rank; times in seconds after the last partition is ready."""

    label: str
    thread_ready: Array
    """When each thread finishes its last partition."""
    messages: Sequence[Message]
    owner: NDArray[np.int64]
    """The thread that issues each transport partition."""
    join: float | None
    """When the threads have joined, if the approach waits for that."""
    end: float


LANES = 32
"""Most threads drawn; larger teams are thinned evenly."""


@styled
def exchanges(title: str, drawn: Sequence[Exchange]) -> Figure:
    """Exchanges one above the other: a lane per thread, and in it a line per peer.

    As in gillis2023 Fig. 1-2 and marts2024 Fig. 1: bulk above, partitioned below.
    """
    first = min(float(min(e.thread_ready.min(), *(m.ready for m in e.messages))) for e in drawn)
    last = max(e.end for e in drawn)
    left = first - 0.05 * (last - first)
    scale, unit = unit_of_times(last - first)
    most = min(LANES, len(drawn[0].thread_ready))
    figure, every = subplots(
        len(drawn), 1, size=(9, 0.6 + len(drawn) * (0.8 + 0.17 * most)), sharex=True, squeeze=False
    )
    for axes, e in zip(every[:, 0], drawn, strict=True):
        threads = np.unique(np.linspace(0, len(e.thread_ready) - 1, most).round().astype(int))
        peers = 1 + max(m.direction for m in e.messages)
        height = 0.55 / peers
        for row, thread in enumerate(threads):
            ready = float(e.thread_ready[thread])
            axes.barh(row - 0.28, (ready - left) / scale, left=left / scale, color=NEUTRAL, height=0.3, alpha=0.6)
            mine = [m for m in e.messages if e.owner[m.transport] == thread]
            y = row - 0.1 + height * (np.array([m.direction for m in mine]) + 0.5)
            waits, leaves, arrives = np.array([(m.ready, m.left, m.arrived) for m in mine]).reshape(-1, 3).T / scale
            for start, width, colour in ((waits, leaves - waits, COLOURS[4]), (leaves, arrives - leaves, COLOURS[0])):
                # The edge keeps messages visible that are shorter than a pixel.
                axes.barh(y, np.maximum(width, 0), left=start, color=colour, edgecolor=colour, lw=0.5, height=height)
        if e.join is not None:
            axes.axvline(e.join / scale, color="k", lw=1)
        axes.axvline(e.end / scale, color=COLOURS[1], lw=1.5)
        axes.axvline(0, color=NEUTRAL, ls=":", lw=1)
        axes.set_ylim(len(threads) - 0.4, -0.6)
        every_other = max(1, len(threads) // 8)
        axes.set_yticks(range(0, len(threads), every_other), [str(t + 1) for t in threads[::every_other]])
        of = f" ({len(threads)} of {len(e.thread_ready)})" if len(threads) < len(e.thread_ready) else ""
        axes.set_ylabel(f"thread{of}")
        axes.set_title(f"{e.label}: done after {format_time(e.end)}", loc="left", fontsize=9)
    every[-1, 0].set_xlabel(f"{unit} after the last partition is ready")
    names = {
        "computing": Patch(color=NEUTRAL, alpha=0.6),
        "ready, not sent": Patch(color=COLOURS[4]),
        "on the wire": Patch(color=COLOURS[0]),
        "threads joined": Line2D([], [], color="k", lw=1),
        "all received": Line2D([], [], color=COLOURS[1], lw=1.5),
    }
    figure.legend(list(names.values()), list(names), frameon=False, loc="outside right upper", title="a line per peer")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure
