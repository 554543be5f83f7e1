"""What a library does over a fabric by default, and what predictions make of its puts."""

import math
from dataclasses import replace
from typing import Any

import pytest
from machines import ideal

from pready.model.advice.predict import with_library
from pready.model.approach.libraries import LIBRARIES, library
from pready.model.common.units import SI
from pready.model.machine import machine as machines
from pready.model.machine import transports
from pready.model.machine.machine import Machine
from pready.model.machine.path import Begins
from pready.model.machine.rma_by_library import of as rma_of
from pready.model.machine.rma_by_library import with_rma
from pready.model.machine.transports import ANY, KNOWN, copies_of, transport, with_border, with_copies, with_puts
from pready.model.timeline.costs import costs
from pready.model.timeline.rules import setting_of
from pready.model.timeline.sampling import Sampler
from pready.model.toml.provenance import Value
from pready.model.workload.workload import Workload

BEBOP, HPC3 = machines.load("bebop"), machines.load("hpc3")
W = Workload(threads=8, buffer="1 MiB")  # type: ignore[arg-type]


def on(machine: Machine, fabric: str | None, **one_sided: Any) -> Machine:
    puts = machine.one_sided.model_copy(update=one_sided)
    return machine.model_copy(update={"fabric": fabric, "one_sided": puts})


def measured(x: Any) -> Any:
    return BEBOP.progress.model_copy(update={"value": x, "source": "measured"})


def test_every_shipped_machine_says_its_fabric() -> None:
    assert all(machines.load(name).fabric for name in machines.profiles())


@pytest.mark.parametrize(
    ("machine", "library", "puts"),
    [
        (BEBOP, "mpich-release", "processor"),
        (HPC3, "mpich-release", "adapter"),
        (on(BEBOP, "tcp"), "openmpi-persist", "deferred"),
        (on(BEBOP, "tcp"), "mpich-release", "adapter"),
        # What was measured is kept for its own library, and one that may be any.
        (on(BEBOP, "tcp", puts=measured("processor")), "mpich-6314", "processor"),
        (on(BEBOP, "tcp", puts=measured("processor")), "emulated", "processor"),
        (on(BEBOP, "tcp", puts=measured("processor")), "openmpi-persist", "deferred"),
    ],
)
def test_how_puts_move_is_known_of_library_and_fabric(machine: Machine, library: str, puts: str) -> None:
    assert setting_of(with_library(machine, library)[0], W).puts == puts


def test_a_library_that_may_be_any_has_a_border_wherever_one_of_them_has() -> None:
    """InfiniBand: ParaStation's begins at 4 KiB, Intel's ends at 512 KiB. On TCP only Open MPI's is certain."""
    borders = {of: transport(None, of).rendezvous for of in ("infiniband", "tcp")}
    assert {of: border.interval for of, border in borders.items()} == {
        "infiniband": (4096, 524288), "tcp": (16384, 4194304),
    }  # fmt: skip
    assert transport(LIBRARIES["emulated"], "tcp") == replace(KNOWN["MPICH", "tcp"], rendezvous=borders["tcp"])
    assert transport(None, None) == ANY


def test_a_border_that_nobody_measured_has_an_interval() -> None:
    """MeluXina's is at 16 KiB, where Open MPI's is at 64 KiB over TCP, and MPICH's over InfiniBand at 8 to 64 KiB."""
    plain, mpich = machines.load("meluxina"), LIBRARIES["mpich-release"]
    *before, last = plain.inter.segments
    twice = plain.model_copy(update={"inter": plain.inter.model_copy(update={"segments": (*before, last, last)})})
    rows: Any = ("openmpi-persist", "tcp", (16384.0, 65536.0)), ("mpich-release", "infiniband", (8192.0, 65536.0))
    for name, fabric, (low, high) in rows:
        *same, border, after = with_border(on(twice, fabric), LIBRARIES[name]).inter.segments
        assert (same, after, border.model_copy(update={"begins": None})) == (before, last, last)
        row = transport(LIBRARIES[name], fabric).rendezvous
        wanted = Begins(value=SI(16384.0), interval=(SI(low), SI(high)), source=row.source, why=row.why)
        assert border.begins == wanted
    known = last.model_copy(update={"o_s": last.o_s.model_copy(update={"source": "measured"})})
    measured = plain.model_copy(update={"inter": plain.inter.model_copy(update={"segments": (*before, known)})})
    for machine in (ideal(handshake=1e-6), machines.load("alps"), measured):
        assert with_border(machine, mpich) is machine


@pytest.mark.parametrize(
    ("name", "fabric", "path", "copied"),
    [
        # Over UCX both sides copied until 4.2; over OFI they copy what comes with the request.
        ("mpich-release@4.1.2", "infiniband", "inter", [True, True]),
        ("mpich-release@4.2.0", "infiniband", "inter", [False, False]),
        ("mpich-release", "roce", "inter", [False, False]),
        ("mpich-release@4.0", "slingshot", "inter", [True, False]),
        ("mvapich-4@4.0", "infiniband", "inter", [False, False]),  # made from MPICH 4.3.0
        ("mpich-release", "omni-path", "intra", [True, True]),  # through cells of shared memory
    ],
)
def test_who_copies_an_active_message(name: str, fabric: Any, path: Any, copied: list[bool]) -> None:
    machine = with_copies(on(ideal(copy=1e9), fabric).model_copy(update={"intra": ideal().inter}), library(name))
    sampler, workload = Sampler(machine), W.model_copy(update={"path": path})
    assert [bool(costs(sampler, workload, size).copy_out > 0) for size in (16383.0, 16384.0)] == copied


def test_what_a_file_says_of_copies_is_its_own_library_s() -> None:
    """MeluXina's MPICH copied everything (gillis2023); another library is as it is, and so is the one there by now."""
    meluxina = machines.load("meluxina")
    assert copies_of(meluxina).value == "all"
    assert with_copies(meluxina, LIBRARIES["mpich-6314"]) is meluxina
    for name in ("mpich-release", "mvapich-4"):
        assert copies_of(with_copies(meluxina, LIBRARIES[name])) == transports.copies(LIBRARIES[name], "infiniband")
    assert copies_of(machines.load("alps")).value == "small"


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert with_puts(on(BEBOP, None), LIBRARIES["mpich-release"]) == on(BEBOP, None)
    assert with_puts(on(BEBOP, "aries"), LIBRARIES["mpich-release"]) == on(BEBOP, "aries")


@pytest.mark.parametrize("o_s", [5e-7, 31e-6])
def test_a_put_over_tcp_takes_what_google_cloud_measured(o_s: float) -> None:
    """88 us with its flush where a send takes 31; at least as long as a send, at most twice that. An epoch is one more,
    but may take 5 us as elsewhere."""
    known, put = rma_of(on(ideal(o_s=o_s), "tcp"), LIBRARIES["mpich-release"]), 88 / 31 * o_s
    assert known.put == pytest.approx((put, o_s, 2 * put), rel=0.02)
    assert known.epoch == pytest.approx((put, 1e-7, max(2 * put, 5e-6)), rel=0.02)
    filled = with_rma(on(ideal(o_s=o_s), "tcp", put=None), LIBRARIES["mpich-release"]).one_sided.put
    assert isinstance(filled, Value)
    assert (filled.value, *(filled.interval or ())) == pytest.approx(known.put)


@pytest.mark.parametrize(("o_s", "put"), [(1e-7, 6e-7), (2e-6, 2e-6), (1e-5, 7.3e-6)])
def test_a_put_of_which_nothing_is_known_is_a_send_between_the_fastest_and_the_slowest(o_s: float, put: float) -> None:
    assert rma_of(ideal(o_s=o_s), LIBRARIES["emulated"]).put == pytest.approx((put, 2e-7, 7.3e-6))


def test_who_answers_all_sizes_takes_the_place_of_who_answers_some() -> None:
    *others, last = BEBOP.inter.segments
    segments = (*others, last.model_copy(update={"progress": measured("thread")}))
    there = BEBOP.model_copy(update={"inter": BEBOP.inter.model_copy(update={"segments": segments})})
    each = there, there.progressing("on-call"), there.progressing("thread")
    assert [bool(costs(Sampler(m), W, 2.0**20).on_call) for m in each] == [False, True, False]


def test_every_row_has_a_source_and_words() -> None:
    for (who, _), row in KNOWN.items():
        assert who in {p.family for p in LIBRARIES.values()} | {*LIBRARIES}
        assert row.receiver.value in transports.ANSWERS
        low, high = row.rendezvous.interval or (0.0, 0.0)
        assert 1024 <= low <= row.rendezvous.value <= high <= 4 << 20
        for value in (row.rendezvous, row.receiver, row.puts):
            assert value is None or len(value.why) > 20
    assert {row.puts.value for row in KNOWN.values() if row.puts is not None} == set(transports.SAYS)


def test_borders_are_those_of_their_sources() -> None:
    """In bytes, or in KiB; the largest eager message, or the first rendezvous. Intervals end at powers of two."""
    for row in {*KNOWN.values(), ANY, transports.SHARED_MEMORY}:
        border = row.rendezvous
        for end in border.interval or ():
            assert end >= 1024
            assert math.log2(end).is_integer(), row.name
        said = (f"{border.value:.0f}", f"{border.value - 1:.0f}", f"{border.value / 1024:.0f} KiB")
        unsaid = row.name.startswith(("pscom", "an unknown", "shared"))
        assert math.log2(border.value).is_integer() if unsaid else any(x in border.why for x in said), row.name


def test_a_transport_goes_by_library_then_family_then_fabric() -> None:
    mpich, any_library = LIBRARIES["mpich-release"], LIBRARIES["emulated"]
    assert transport(mpich, "infiniband") is KNOWN["MPICH", "infiniband"]
    assert transport(any_library, "efa").name == transport(None, "efa").name == "EFA"
    assert transport(mpich, None) is transport(None, None) is ANY
