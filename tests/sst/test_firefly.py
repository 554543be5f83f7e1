"""A Machine in Firefly's terms, by the formula that `Firefly`'s own docstring states."""

from dataclasses import replace

import pytest

from pready.model.machine.machine import Machine, load, profiles
from pready.model.workload.workload import Workload
from pready.sst import firefly
from pready.sst.firefly import Cpu, Firefly, Priced, buffer_bytes, flit_bytes, latency_ns, packet_bytes
from pready.sst.ping_pong import sizes_for

PAIR = Workload.model_validate({"threads": 1, "pattern": "pt2pt", "buffer": "8 B", "cache": "hot"})


def priced(machine: Machine) -> Priced:
    return Priced(machine, PAIR)


def ping(f: Firefly, cpu: Cpu, size: int) -> float:
    """Firefly's time of one message to a waiting receiver, in seconds: without packets, flits and rounding."""
    crossings = latency_ns(f)
    if f.fetches(size):
        crossings += 2 * f.host_ns + 2 * f.wire_ns + f.gap_ns + f.read_ns
    return 1e-9 * (cpu.send + crossings + cpu.receive) + size / f.link_bytes_per_s


def test_one_message_alone_is_the_sum_of_the_steps() -> None:
    p = priced(load("meluxina"))
    # short: o_s + L + o_r + matching = 30 + 1110 + 60 + 20 ns; per byte G + O_s = 0.04 + 0.376 ns.
    assert p.alone(8) == pytest.approx(1220e-9 + 8 * 0.416e-9, rel=1e-12)
    # rendezvous: 1790 + 1110 + 200 + 20 + 1150 ns, and G.
    assert p.alone(2**20) == pytest.approx(4270e-9 + 2**20 * 0.04e-9, rel=1e-12)


def test_what_a_rendezvous_no_longer_copies_is_the_receivers_as_in_the_model() -> None:
    p = priced(load("meluxina"))
    # o_r is assumed, so at least that of the largest copied message: 90 ns + 16384 B at 20 GB/s, and 20 ns of matching.
    assert tuple(p.cpu(24576)) == pytest.approx((1790, 110 + 819.2))


@pytest.mark.parametrize("name", sorted(profiles()))
def test_the_formula_gives_every_machine_back(name: str) -> None:
    m = load(name)
    p = priced(m)
    f = p.firefly
    assert min(f.link_bytes_per_s, f.wire_ns, f.host_ns, f.header_ns, f.gap_ns, f.read_ns) >= 0
    for n in sizes_for(m):
        assert min(p.cpu(n)) >= 0
        assert ping(f, p.cpu(n), n) == pytest.approx(p.alone(n), rel=0.02)


@pytest.mark.parametrize("handshake", [None, 20.0, 500.0, 1100.0, 1110.0, 1150.0, 1700.0, 9000.0])
@pytest.mark.parametrize("gap", [0, 10])
def test_split_meets_latency_and_handshake(handshake: float | None, gap: int) -> None:
    d = firefly.split(1110.0, handshake, gap)
    assert min(d) >= 0
    assert 2 * d.host + d.wire + d.header + gap == pytest.approx(1110.0)
    if handshake is not None:
        assert 2 * d.host + 2 * d.wire + gap + d.read == pytest.approx(handshake, abs=2)


def test_eager_messages_alone_have_no_header_to_match() -> None:
    # Packets wait behind it, and would then pass at once: their time on the link would be hidden.
    f = priced(load("meluxina")).firefly
    eager, late = firefly.for_largest(f, 16383), firefly.for_largest(f, 16384)
    assert late == f
    assert (eager.header_ns, eager.wire_ns) == (0, f.wire_ns + f.header_ns)
    assert latency_ns(eager) == latency_ns(f)


def test_times_are_those_of_the_sizes_that_are_sent() -> None:
    f, cpu = priced(load("meluxina")).firefly, {64: Cpu(40, 80), 24576: Cpu(1790, 929.2)}
    p = firefly.host_parameters(f, cpu, receives=3)
    assert p["shortMsgLength"] == 16383
    assert [p[f"{name}ModParams.range.1"] for name in ("txSetup", "rxFini")] == ["65-24576:1790ns", "65-24576:929.2ns"]
    assert (p["txSetupModParams.range.0"], p["rxSetupModParams.range.0"]) == ("0-64:40ns", "0-24576:0ns")
    # Firefly allocates the eager limit for each receive: no more than the largest message needs.
    assert firefly.host_parameters(f, {1000: Cpu(1, 1)}, receives=3)["shortMsgLength"] == 1000


def test_what_one_message_lacks_of_the_link_is_the_receivers() -> None:
    m = load("meluxina")
    slow = [s.model_copy(update={"G": s.G.model_copy(update={"value": 80e-12})}) for s in m.inter.segments]
    half = priced(m.model_copy(update={"inter": m.inter.model_copy(update={"segments": tuple(slow)})}))
    assert half.firefly.link_bytes_per_s == pytest.approx(25e9)
    assert half.cpu(2**24).receive - half.cpu(2**23).receive == pytest.approx(2**23 * 0.04)


def test_flits_and_buffers_follow_the_link() -> None:
    f = priced(load("meluxina")).firefly
    slow, fast = (replace(f, link_bytes_per_s=rate) for rate in (125e6, 25e9))
    assert flit_bytes(slow) == 8
    assert flit_bytes(fast) == 32
    assert flit_bytes(replace(fast, packet=16384)) == 1024
    assert buffer_bytes(f) > f.link_bytes_per_s * f.wire_ns * 1e-9  # a link full of data, and its credits
    assert buffer_bytes(replace(f, link_bytes_per_s=1e6)) == 1024 * packet_bytes(replace(f, link_bytes_per_s=1e6))
    assert (packet_bytes(f), packet_bytes(replace(f, link_bytes_per_s=1e6))) == (512, 256)


def test_messages_to_several_ranks_share_the_cable() -> None:
    f = priced(load("meluxina")).firefly  # a rendezvous from 16 KiB up
    assert [firefly.send_machines(f, 8192, messages=48, peers=n) for n in (1, 6, 100)] == [1, 6, 64]
    assert firefly.send_machines(f, 16384, messages=48, peers=6) == 50
