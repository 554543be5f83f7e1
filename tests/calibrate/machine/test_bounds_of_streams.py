"""Messages of both ways bound those of one, and a stream that is slower than one message is named."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from machines import ideal

from pready.calibrate.importers.to_machine import FromFiles, from_files
from pready.calibrate.machine.values.bounds_of_streams import _with_overheads, with_overheads_of_streams
from pready.calibrate.machine.values.estimates import with_fields
from pready.model.common.units import SI

SIZES = [1 << k for k in range(23)]


def osu(path: Path, test: str, column: str, value: Callable[[int], float]) -> None:
    rows = "".join(f"{s} {value(s):.4f}\n" for s in SIZES)
    path.write_text(f"# OSU MPI {test} Test v7.3\n# Size {column}\n{rows}")


def both_ways(tmp_path: Path, per_message: float, per_byte: float) -> FromFiles:
    """One message alone takes 4 us + 0.4 ns/B; among those of both ways `per_message` + `per_byte` s."""
    osu(tmp_path / "latency.txt", "Latency", "Latency (us)", lambda s: 4 + 4e-4 * s)
    both = "Bi-Directional Bandwidth"
    osu(tmp_path / "bibw.txt", both, "Bandwidth (MB/s)", lambda s: 2 * s / (per_message + per_byte * s) / 1e6)
    return from_files([tmp_path / "latency.txt", tmp_path / "bibw.txt"], name="m", library="openmpi-4", fabric="efa")


def test_messages_of_both_ways_bound_those_of_one(tmp_path: Path) -> None:
    """A rank that receives one each 0.5 us + 0.1 ns/B as it sends one has o_s <= 0.5 us, where a quarter of 4 us was
    assumed, and a link of at least 10 GB/s, where one message alone reaches 2.5; of one way alone it may have 20."""
    made = both_ways(tmp_path, 0.5e-6, 1e-10)
    first, link = made.machine.inter.segments[0], made.machine.inter.link_bandwidth
    assert link.value == pytest.approx(10e9, rel=0.02)
    assert link.interval == pytest.approx((10e9, 20e9), rel=0.02)
    assert made.machine.bandwidth == pytest.approx(2.5e9, rel=0.02)
    for value in (first.g, first.o_s):
        assert value.value == pytest.approx(0.5e-6, rel=0.05)
        assert value.interval == pytest.approx((0.25e-6, 0.5e-6), rel=0.05)
        assert value.source == "assumed"
    assert first.o_s.value + first.L.value + first.o_r.value == pytest.approx(4e-6, rel=0.01)
    assert any("no stream of one way" in note for note in made.notes)


def test_slow_messages_of_both_ways_bound_nothing(tmp_path: Path) -> None:
    """They take longer than what is assumed of one way: 1 us + 0.4 ns/B."""
    made = both_ways(tmp_path, 3e-6, 8e-10)
    (tmp_path / "bibw.txt").unlink()
    alone = from_files([tmp_path / "latency.txt"], name="m", library="openmpi-4", fabric="efa")
    for own, other in zip(made.machine.inter.segments, alone.machine.inter.segments, strict=True):
        assert (own.g.value, own.o_s.value, own.G_link) == (other.g.value, other.o_s.value, other.G_link)
    assert made.machine.inter.link_bandwidth.value == alone.machine.inter.link_bandwidth.value
    assert not any("no stream of one way" in note for note in made.notes)


def test_a_stream_of_one_way_bounds_the_overheads_of_its_ranks(tmp_path: Path) -> None:
    """o_s is the stream's gap of 0.2 us, o_r at most that; L changes by as much, so that a message takes 4 us."""
    both_ways(tmp_path, 0.5e-6, 1e-10)
    # Of a window of 64 messages the last one arrives, then 4 B go back.
    took = {s: (63 * (0.2 + 1e-4 * s) + 8 + 4e-4 * (s + 4)) / 64 for s in SIZES}
    osu(tmp_path / "bibw.txt", "Bandwidth", "Bandwidth (MB/s)", lambda s: s / took[s])
    first = from_files([tmp_path / "latency.txt", tmp_path / "bibw.txt"], name="m").machine.inter.segments[0]
    assert (first.o_s.value, first.o_r.value) == pytest.approx((0.2e-6, 0.2e-6), rel=0.05)
    assert first.o_s.value + first.L.value + first.o_r.value == pytest.approx(4e-6, rel=0.01)


def test_the_interval_of_a_latency_moves_with_it() -> None:
    """Of 4 us 1 was o_s, 2 L and 1 o_r; as a stream's gap of 0.2 us both overheads leave L 3.6."""
    machine = ideal(L=2e-6, o_s=1e-6, o_r=1e-6)
    s = machine.inter.segments[0]
    s = with_fields(s, from_=SI(0.0), L=with_fields(s.L, value=SI(2e-6), interval=(SI(1.5e-6), SI(3e-6))))
    for sources in product(("measured", "assumed"), repeat=3):  # of o_s, o_r and the gap
        values = (("o_s", 1e-6), ("o_r", 1e-6), ("g", 0.2e-6))
        of = {n: with_fields(getattr(s, n), value=SI(v), source=f) for (n, v), f in zip(values, sources, strict=True)}
        m = with_fields(machine, inter=with_fields(machine.inter, segments=(with_fields(s, from_=SI(0.0), **of),)))
        assert (with_overheads_of_streams(m) == m) == (sources != ("assumed", "assumed", "measured"))
    made = _with_overheads(s, 0.2e-6)
    assert (made.o_s.value, made.o_r.value, made.L.value) == pytest.approx((0.2e-6, 0.2e-6, 3.6e-6))
    assert made.L.interval == pytest.approx((3.1e-6, 4.6e-6))


def test_a_stream_slower_than_one_message_is_named(tmp_path: Path) -> None:
    """One message alone takes 0.4 ns/B; among others 0.8 ns/B, as where TCP loses packets. No term has that."""
    made = both_ways(tmp_path, 1e-6, 4e-10)
    assert not any("no term has" in note for note in made.notes)
    assert any("contention by the library" in note for note in made.notes)
    assert made.machine.threads.contention is None
    osu(tmp_path / "bw.txt", "Bandwidth", "Bandwidth (MB/s)", lambda s: s / (1 + 8e-4 * s))
    made = from_files([tmp_path / "latency.txt", tmp_path / "bw.txt"], name="m", library="openmpi-4", fabric="tcp")
    assert any(note.startswith("a stream of 4 MiB takes 2× as long as predicted") for note in made.notes)
