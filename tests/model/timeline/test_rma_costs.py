"""What RMA costs a sender: puts as sends of the same size, epochs by windows and peers."""

import numpy as np
import pytest
from machines import ideal

from pready.calibrate.machine.values.estimates import TIME, exact, size_curve, with_fields
from pready.model.approach.interfaces import BY_KEY, MANY
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.machine import load, profiles
from pready.model.machine.rma import put_at
from pready.model.timeline.costs import costs
from pready.model.timeline.rules import holding, setting_of
from pready.model.timeline.sampling import Sampler
from pready.model.workload.workload import Workload

US = 1e-6
RMA = BY_KEY["rma-single-active"]


def workload(threads: int = 4, pattern: str = "pt2pt") -> Workload:
    return Workload(threads=threads, buffer="1 MiB", pattern=pattern)  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", [p for p in profiles() if load(p).one_sided.put is None])
@pytest.mark.parametrize("size", [8, 1500, 9000, 20000, 100_000, 2 << 20])
def test_a_put_holds_the_lock_as_long_as_a_send_in_the_same_draw(profile: str, size: int) -> None:
    c, setting = costs(Sampler(load(profile), draws=20), workload(), size), setting_of(load(profile), workload())
    send, put = (holding(c, a.into(4), setting) for a in (MANY, RMA))
    assert np.array_equal(put, send)


def test_a_put_of_a_size() -> None:
    assert put_at(exact(TIME, 3 * US, "test"), 64) == pytest.approx(3 * US)
    assert put_at(size_curve({64: 0.5 * US, 4096: US}, "test"), 4096) == pytest.approx(US)


@pytest.mark.parametrize(("source", "each"), [("measured", 1.6 * US), ("assumed", 3 * US)])
def test_a_stream_of_puts_shows_the_gap_of_puts(source: str, each: float) -> None:
    """Each put is a message through the adapter: with 1.6 us of one measured, 32 more take 32 times as long, whatever
    g of sends is assumed; where the put is assumed, too, the longer of both holds."""
    m = ideal(g=3 * US, L=US)
    put = size_curve({64: 1.6 * US}, "test", source=source)  # type: ignore[arg-type]
    m = with_fields(m, one_sided=with_fields(m.one_sided, put=put))
    few, many = (workload(1).changed(partitions_per_thread=n, buffer=f"{8 * n} B") for n in (32, 64))
    times = [Runs(m, Step.of(w), Rows(0)).mean_time(RMA.into(w.n_partitions)) for w in (few, many)]
    assert (times[1] - times[0]) / 32 == pytest.approx(each, rel=0.01)


def test_beyond_what_was_measured_a_put_grows_as_a_send_does() -> None:
    # MeluXina: bcopy from 2 KiB with o_s = 0.7 us and a copy at 8 GB/s, rendezvous from 16 KiB with 1.79 us.
    m = load("meluxina")
    m = with_fields(m, one_sided=with_fields(m.one_sided, put=size_curve({64: 0.5 * US, 4096: US}, "test")))
    c = {size: float(costs(Sampler(m), workload(), size).put) for size in (8, 64, 512, 4096, 8192, 65536)}
    assert c[8] == c[64] == pytest.approx(0.5 * US)
    assert c[512] == pytest.approx(0.75 * US)  # halfway in the logarithm
    assert c[4096] == pytest.approx(US)
    assert c[8192] == pytest.approx(US + 4096 / 20e9)
    assert c[65536] == pytest.approx(US + (1.79 - 0.7) * US - 4096 / 20e9)
    # Where sends of the next protocol take less, no larger put does.
    *copied, asks = m.inter.segments
    faster = asks.o_s.model_copy(update={"value": 0.1 * US, "source": "measured"})
    segments = (*copied, asks.model_copy(update={"o_s": faster}))
    m = m.model_copy(update={"inter": m.inter.model_copy(update={"segments": segments})})
    assert float(costs(Sampler(m), workload(), 65536).put) == pytest.approx(US)


def test_no_message_arrives_before_it_has_left() -> None:
    """L of a fitted line may be negative: of -5 us, no more than the 4.1 us that 4 KiB take at 1 ns/B."""
    m = ideal(o_s=2 * US, G=1e-9)
    (first,) = m.inter.segments
    line = first.model_copy(update={"from_": 4096.0, "L": first.L.model_copy(update={"value": -5 * US})})
    m = m.model_copy(update={"inter": m.inter.model_copy(update={"segments": (first, line)})})
    wire = [float(costs(Sampler(m), workload(), size).wire) for size in (4096, 10_000)]
    assert wire == pytest.approx([-4.096 * US, -5 * US])
