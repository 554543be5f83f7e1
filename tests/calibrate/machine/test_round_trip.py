"""A machine is asked for the data that it was made from; what it misses is named, worst first."""

import numpy as np
import pytest
from machines import ideal, with_adapter

from pready.calibrate.fit import Curve, Observations, Train
from pready.calibrate.machine.round_trip import TOLERATED, RoundTrip, between, round_trip
from pready.calibrate.machine.values.segments import one_way
from pready.model.machine.machine import load

MACHINE = load("meluxina")
SIZES = np.array([1 << k for k in range(0, 23, 2)], dtype=float)


def observed(off: dict[float, float]) -> Observations:
    """What the machine itself says, times `off` at some sizes."""
    times = [one_way(MACHINE, s) * off.get(s, 1.0) for s in SIZES]
    return Observations(ping_pong=Curve.of(SIZES, times), stream=Curve.of(SIZES, [between(MACHINE, s) for s in SIZES]))


def test_its_own_data_are_reproduced() -> None:
    found = round_trip(MACHINE, observed({}))
    assert (found.points, found.misses) == (2 * len(SIZES), ())
    assert found.line == f"reproduces the {2 * len(SIZES)} points that it was made from within 10 %"


def test_what_no_machine_says_is_not_asked_for() -> None:
    """Streams alone; overheads; and gaps of nothing, where two messages take as long as one."""
    at, times = [8.0, 64.0], [2 * one_way(MACHINE, s) for s in (8, 64)]
    assert round_trip(MACHINE, Observations(stream=Curve.of(at, times))) == RoundTrip(0, ())
    none, nine = (Train.of(at, [n * t for t in times], 2) for n in (1, 9))
    of = Observations(prtt_1=Curve.of(at, times), prtt_n=none, prtt_n_delay=nine)
    assert round_trip(MACHINE, of) == RoundTrip(2, ())


def test_misses_are_named_worst_first() -> None:
    found = round_trip(MACHINE, observed({4096.0: 1.25, 65536.0: 0.5, 1.0: 1 + TOLERATED / 2}))
    assert [(what, size) for what, size, _ in found.misses] == [("a message", 65536.0), ("a message", 4096.0)]
    assert [error for _, _, error in found.misses] == pytest.approx([1.0, -0.2])
    assert found.line.endswith("a message at 4 KiB, 64 KiB by -20 to +100 %")
    line = RoundTrip(9, (("a stream", 8.0, 0.2), ("a message", 64.0, -0.15), ("a message", 8.0, -0.12))).line
    said = "a stream at 8 B by +20 %; a message at 8 B, 64 B by -15 to -12 %"
    assert line == f"misses 3 of 9 points by more than 10 %: {said}"


# o_s 0.5 us, L 1, o_r 0.2 and 1 ns/B: 2.7 us one way for 1000 B, 1.704 us for the answer of 4 B, 1.3 us from one to the
# next. Of two pairs, each with a window of 4, seven follow the first, half that apart unless the node's adapters are
# slower: gap 0.5 us and 1 ns/B on one rail, on two rails 2 ns/B through each.
@pytest.mark.parametrize(
    ("rate", "rails", "apart_us"), [(None, 1, 0.65), ("1 GB/s", 1, 1.5), ("1 GB/s", 2, 1.25), ("10 GB/s", 1, 0.65)]
)
def test_pairs_of_a_node_share_its_adapter(rate: str | None, rails: int, apart_us: float) -> None:
    machine = ideal(L=1e-6, o_s=5e-7, o_r=2e-7, g=3e-7, G=1e-9)
    assert [between(machine, size) for size in (100.0, 1000.0)] == pytest.approx([5e-7, 1.3e-6])
    machine = machine if rate is None else with_adapter(machine, rate, "500 ns", rails)
    took = 1e-6 * (7 * apart_us + 2.7 + 1.704)
    for times, missed in ((1.0, 0), (2.0, 1)):
        pairs = {2: Curve.of(np.array([1000.0]), [8 / (times * took)])}
        found = round_trip(machine, None, pairs, window=4).misses
        assert [(what, size) for what, size, _ in found] == missed * [("a message of 2 pairs", 1000.0)]
        assert [error for *_, error in found] == pytest.approx(missed * [-0.5])
