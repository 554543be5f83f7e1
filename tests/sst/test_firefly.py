"""A Machine in Firefly's terms, by formula and by fit against a response that the formula does not know."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load, profiles
from pready.sst.calibrate import SIZES, fit, sizes_for
from pready.sst.firefly import (
    Firefly,
    buffer_bytes,
    flit_bytes,
    for_largest,
    host_parameters,
    initial,
    packet_bytes,
    ping_time,
    send_machines,
    split,
)


def test_ping_time_is_the_sum_of_the_steps() -> None:
    m = load("meluxina")
    # short: o_s + L + o_r + matching = 30 + 1110 + 60 + 20 ns; per byte G + O_s = 0.04 + 0.376 ns.
    assert ping_time(m, 8) == pytest.approx(1220e-9 + 8 * 0.416e-9, rel=1e-12)
    # rendezvous: 1790 + 1110 + 200 + 20 + 1150 ns, and G.
    assert ping_time(m, 2**20) == pytest.approx(4270e-9 + 2**20 * 0.04e-9, rel=1e-12)


def test_the_formula_gives_the_machine_back() -> None:
    m = load("meluxina")
    f = initial(m)
    for n in SIZES:
        assert f.ping(n) == pytest.approx(ping_time(m, n), abs=2e-9)


@pytest.mark.parametrize("handshake", [None, 20.0, 500.0, 1100.0, 1110.0, 1150.0, 1700.0, 9000.0])
@pytest.mark.parametrize("gap", [0, 10])
def test_split_meets_latency_and_handshake(handshake: float | None, gap: int) -> None:
    d = split(1110.0, handshake, gap)
    assert min(d) >= 0
    assert 2 * d.host + d.wire + d.header + gap == pytest.approx(1110.0)
    if handshake is not None:
        assert 2 * d.host + 2 * d.wire + gap + d.read == pytest.approx(handshake, abs=2)


def test_eager_messages_alone_have_no_header_to_match() -> None:
    # Packets wait behind it, and would then pass at once: their time on the link would be hidden.
    f = initial(load("meluxina"))
    eager, late = for_largest(f, 16383), for_largest(f, 16384)
    assert late == f
    assert (eager.header_ns, eager.wire_ns) == (0, f.wire_ns + f.header_ns)
    assert eager.ping(8192) == pytest.approx(f.ping(8192))


@pytest.mark.parametrize("name", sorted(profiles()))
def test_every_profile_has_parameters_that_firefly_takes(name: str) -> None:
    f = initial(load(name))
    assert f.link_bytes_per_s > 0
    assert min(f.wire_ns, f.host_ns, f.header_ns, f.gap_ns, f.read_ns) >= 0
    for b in f.bands:
        assert min(b.tx_ns, b.rx_ns, b.tx_ns_per_byte, b.rx_ns_per_byte) >= 0
    assert Firefly.from_dict(f.to_dict()) == f
    # Files of a version that had no such delay are still read.
    before = {k: v for k, v in f.to_dict().items() if k != "header_ns"}
    assert Firefly.from_dict(before) == replace(f, header_ns=0)


def test_bands_become_ranges_of_bytes() -> None:
    f = initial(load("meluxina"))
    p = host_parameters(f, largest=2**20, receives=3)
    assert p["shortMsgLength"] == 16383
    assert p["rxSetupModParams.range.0"] == "0-2047:80ns"
    assert p["rxSetupModParams.range.2"] == "16384-:220ns"
    assert p["txMemcpyModParams.range.0"] == "0-2047:376ps"
    assert p["txMemcpyModParams.range.2"] == "16384-:0ps"
    # Firefly allocates the eager limit for each receive: no more than the largest message needs.
    assert host_parameters(f, largest=1000, receives=3)["shortMsgLength"] == 1000


def test_what_one_message_lacks_of_the_link_is_charged_per_byte() -> None:
    m = load("meluxina")
    slow = [s.model_copy(update={"G": s.G.model_copy(update={"value": 80e-12})}) for s in m.inter.segments]
    half = m.model_copy(update={"inter": m.inter.model_copy(update={"segments": tuple(slow)})})
    f = initial(half)
    assert f.link_bytes_per_s == pytest.approx(25e9)
    assert f.bands[-1].rx_ns_per_byte == pytest.approx(0.04)
    assert f.ping(2**24) == pytest.approx(ping_time(half, 2**24), rel=1e-4)


def test_flits_and_buffers_follow_the_link() -> None:
    slow, fast = (replace(initial(load("meluxina")), link_bytes_per_s=rate) for rate in (125e6, 25e9))
    assert flit_bytes(slow) == 8
    assert flit_bytes(fast) == 32
    assert flit_bytes(replace(fast, packet=16384)) == 1024
    f = initial(load("meluxina"))
    assert buffer_bytes(f) > f.link_bytes_per_s * f.wire_ns * 1e-9  # a link full of data, and its credits
    assert buffer_bytes(replace(f, link_bytes_per_s=1e6)) == 1024 * packet_bytes(replace(f, link_bytes_per_s=1e6))
    assert (packet_bytes(f), packet_bytes(replace(f, link_bytes_per_s=1e6))) == (512, 256)


def test_messages_to_several_ranks_share_the_cable() -> None:
    f = initial(load("meluxina"))  # a rendezvous from 16 KiB up
    assert [send_machines(f, 8192, messages=48, peers=n) for n in (1, 6, 100)] == [1, 6, 64]
    assert send_machines(f, 16384, messages=48, peers=6) == 50


def test_an_eager_protocol_above_a_rendezvous_is_refused() -> None:
    m = load("meluxina")
    s = m.inter.segments
    swapped = (s[0], s[2].model_copy(update={"from_": 2048.0}), s[1].model_copy(update={"from_": 16384.0}))
    odd = m.model_copy(update={"inter": m.inter.model_copy(update={"segments": swapped})})
    with pytest.raises(PreadyError, match="an eager protocol above a rendezvous"):
        initial(odd)


class Recorded:
    """A response like SST's: the formula, plus what the formula does not know, in whole nanoseconds."""

    def __init__(self, hop_ns: float = 0.0, byte_ns: float = 0.0, ack_ns: float = 0.0) -> None:
        self.hop_ns, self.byte_ns, self.ack_ns, self.rounds = hop_ns, byte_ns, ack_ns, 0

    def __call__(self, f: Firefly, sizes: Sequence[int]) -> list[float]:
        self.rounds += 1
        out = []
        for n in sizes:
            late = f.band(n).rendezvous
            extra = self.hop_ns * (3 if late else 1) + self.byte_ns * n + (self.ack_ns if late else 0)
            out.append(round(1e9 * f.ping(n) + extra) * 1e-9)
        return out


@pytest.mark.parametrize("machine", sorted(profiles()))
def test_a_fit_finds_what_the_formula_does_not_know(machine: str) -> None:
    m = load(machine)
    slower = max(1.0, ping_time(m, 8) / 1e-6)  # what is unknown is a share of the machine's latency
    response = Recorded(hop_ns=37 * slower, byte_ns=0.002, ack_ns=90 * slower)
    before = np.array(response(initial(m), sizes_for(m))) / [ping_time(m, n) for n in sizes_for(m)] - 1
    found = fit(m, response)
    after = np.array([r.relative for r in found.residuals])
    assert np.abs(after).max() < 0.02 < np.abs(before).max()
    assert found.rounds <= 5


def test_a_response_that_no_parameters_explain_shows_in_the_residuals() -> None:
    # Three times the time whatever is asked for: bounded corrections cannot hide it.
    m = load("meluxina")
    found = fit(m, lambda f, sizes: [3 * ping_time(m, n) for n in sizes])
    assert found.worst == pytest.approx(2.0)


def test_thresholds_are_measured_on_both_sides_and_said_to_be_near() -> None:
    m = load("meluxina")
    found = fit(m, Recorded())
    assert [r.size for r in found.residuals] == sizes_for(m)
    near = {r.size: r.near_threshold for r in found.residuals}
    assert [near[size] for size in (8, 2047, 2048, 16383, 16384, 2**20, 2**24)] == [False, *[True] * 4, False, False]
