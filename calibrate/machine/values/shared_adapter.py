"""How one adapter serves several ranks of a node: bandwidth and message rate by ranks, and from them `[adapter]`.

Without that table the engine lets ranks of a node share the link bandwidth and the gap g that one rank was measured
with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.calibrate.fit import Estimate
from pready.calibrate.machine.values.estimates import BANDWIDTH, TIME, value
from pready.calibrate.machine.values.observations_of import Record, centre, load
from pready.calibrate.measure.catalogue import PAIRS
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Content, Point
from pready.calibrate.measure.session import POINT_BUDGET_S, Outcome, environment_of, measure
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.model.machine import adapter as shared
from pready.model.toml.provenance import Value

SMALL, SMALL_WINDOW = 8, 256
LARGE, LARGE_WINDOW = 256 << 10, 16
ROUNDS = 2
"""How often each is measured, far apart in time."""
FULL = 0.75
"""Share of k times one rank's rate that k ranks reach at least where the adapter is not the limit."""
GAP_S, GAP_LEAST, GAP_MOST = 15e-9, 5e-9, 60e-9
"""Between messages of one adapter that no measurement shows: 17 to 200 million messages a second."""
RAILS = Value[int](
    value=1, interval=(1, 4), source="assumed", why="adapters of a node that ranks use in turn: one, or all as one"
)


@dataclass(frozen=True)
class Served:
    """So many ranks of a node that send at once."""

    pairs: int
    bytes: int
    message_s: Estimate  # time over messages of all ranks
    shared_cores: bool  # ranks shared cores, so that the time contains the scheduler's


def counts(per_node: int) -> list[int]:
    """Numbers of ranks to measure: one, that many, and powers of two between."""
    return sorted({*(1 << k for k in range(per_node.bit_length())), per_node})


def points(per_node: int) -> list[Point]:
    """The most ranks first after one: a budget that ends early has both ends."""
    one, *more = counts(per_node)
    return [
        Point.of(PAIRS, pairs=n, bytes=size, window=window, round=round_)
        for round_ in range(ROUNDS)
        for n in (one, *reversed(more))
        for size, window in ((LARGE, LARGE_WINDOW), (SMALL, SMALL_WINDOW))
    ]


def run(launcher: Launcher, built: Built, raw: Path, per_node: int, budget_s: float, seed: int) -> Outcome:
    """Measure into `raw`; points of the same environment that are there are not measured again.

    A PreadyError if the launcher does not start `per_node` ranks on each of two nodes, one node after the other.
    """
    check_places([str(host) for host in environment_of(launcher, built)["hosts"]], per_node)
    return measure(points(per_node), launcher, raw, budget_s, built=built, seed=seed, point_budget_s=POINT_BUDGET_S)


def check_places(hosts: list[str], per_node: int) -> None:
    """Refuse ranks that do not fill two nodes one after the other."""
    if hosts != per_node * hosts[:1] + per_node * hosts[-1:] or len(set(hosts)) != 2:
        raise PreadyError(
            f"--ranks-per-node {per_node} with ranks on {', '.join(hosts)}",
            valid=f'{2 * per_node} ranks that fill two nodes one after the other, such as "srun -N 2 -n {2 * per_node} '
            f'--ntasks-per-node {per_node} -m block"',
        )


def adapter(raw: Path, key: str | None = None) -> shared.Adapter | None:
    """`[adapter]`, from a raw file; None: not measured. Without the `key` of an environment, the one that has such
    points."""
    content = load(raw)
    keys = {p["environment"] for p in content.points.values() if p["record"]["measurement"] == PAIRS}
    found = sorted(keys if key is None else keys & {key})
    if len(found) > 1:
        raise PreadyError(
            f"{len(found)} environments measured ranks of a node", valid=f"one: {', '.join(found)}", source=str(raw)
        )
    return of_served(_served(content, found[0])) if found else None


def _served(content: Content, key: str) -> list[Served]:
    """One for each number of ranks and size, its rounds taken together."""
    by_point: dict[tuple[int, int], list[Record]] = {}
    for record in content.select(PAIRS, key):
        p = record["parameters"]
        by_point.setdefault((int(p["pairs"]), int(p["bytes"])), []).append(record)
    out = []
    for (pairs, size), records in sorted(by_point.items()):
        each = [centre(r, 1 / (pairs * int(r["parameters"]["window"]))) for r in records]
        out.append(Served(pairs, size, _around(each), any(r["derived"]["sharing"] > 0 for r in records)))
    return out


def _around(each: Sequence[Estimate]) -> Estimate:
    """The middle of several, within all their intervals."""
    return Estimate(float(np.median([s.value for s in each])), min(s.low for s in each), max(s.high for s in each))


def of_served(served: Sequence[Served]) -> shared.Adapter:
    """Bandwidth of the most ranks, and the gap between small messages where their rate stopped growing.

    Of k ranks whose own messages are `own` apart, one leaves every max(gap, own / k): where that is more than own / k,
    it is the gap of the adapter; else the gap is below it, and assumed. Raises PreadyError: small or large messages
    were not measured of one rank and of several.
    """
    _, large = found = [{s.pairs: s.message_s for s in served if s.bytes == size} for size in (SMALL, LARGE)]
    if any(1 not in of or len(of) < 2 for of in found):
        raise PreadyError(
            f"{len(served)} points of ranks of a node", valid=f"one rank and several, {SMALL} B and {LARGE} B"
        )
    most, one = large[max(large)], format_bandwidth(LARGE / large[1].value)
    moved = Estimate(LARGE / most.value, LARGE / most.high, LARGE / most.low)
    ranks = f"{max(large)} ranks of a node at once"
    rate = value(BANDWIDTH, moved, f"{ranks}, messages of {format_size(LARGE)}; one alone moves {one}")
    return shared.Adapter(rate=rate, gap=_gap(served, ranks), rails=RAILS)


def _gap(served: Sequence[Served], ranks: str) -> Value[float]:
    steady = {s.pairs: s.message_s for s in served if s.bytes == SMALL and not s.shared_cores}
    if 1 not in steady or len(steady) < 2:  # on shared cores a rate is the scheduler's
        return unknown_gap(np.inf)
    limited = [t for k, t in steady.items() if steady[1].value / (k * t.value) < FULL]
    if not limited:
        return unknown_gap(steady[max(steady)].value)
    return value(TIME, _around(limited), f"{ranks}, messages of {SMALL} B: their rate no longer grows with the ranks")


def unknown_gap(most: float) -> Value[float]:
    """A gap that no measurement shows, below that of the fastest messages seen."""
    why = "no rate of messages that only the adapter limits was measured: 17 to 200 million a second are usual"
    middle, high = min(GAP_S, most), min(GAP_MOST, most)
    return value(TIME, Estimate(middle, min(GAP_LEAST, middle), high), why, "assumed")


def lines(found: shared.Adapter) -> tuple[str, ...]:
    each = (("bandwidth", found.rate, format_bandwidth), ("gap", found.gap, format_time))
    return tuple(
        f"{name} of a node's adapter: {shown(v.value)} "
        f"({' to '.join(map(shown, v.interval or ()))}), {v.source}: {v.why}"
        for name, v, shown in each
    )


UNMEASURED = (
    "ranks of a node are assumed to share the link and the gap g that one rank was measured with; "
    "'pready calibrate --ranks-per-node K' measures both"
)
"""What is said of a machine whose adapter served one rank alone."""
