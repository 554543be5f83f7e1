"""What pairs, threads, puts and partitions say of a machine: made-up times of a machine that is known, taken apart."""

from pathlib import Path
from typing import Any

import pytest
from machines import ideal
from present import present
from tables import table_of

from pready.calibrate.fit.observations import Beside, Curve
from pready.calibrate.importers import ImportFormatError, import_benchmark
from pready.calibrate.importers import read as parse
from pready.calibrate.importers.benchmarks import together
from pready.calibrate.importers.to_machine import from_files
from pready.calibrate.machine.values.adapter_from_pairs import adapter_of
from pready.calibrate.machine.values.beyond_messages import terms
from pready.calibrate.machine.values.estimates import with_fields
from pready.calibrate.machine.values.segments import one_way
from pready.model.common.units import SI
from pready.model.machine.machine import load
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import Contention
from pready.model.machine.writing import dumps

DATA = Path(__file__).parents[2] / "data" / "importers"
MACHINE = load("meluxina")
FIRST = MACHINE.inter.segments[0]
ON_HOSTS = "# Rank 0 Memory on HOST (H) and Rank 1 Memory on HOST (H)"
"""What a build for GPUs prints."""


def printed(
    title: str, rows: list[tuple[int, float]], *, said: tuple[str, ...] = (), column: str = "Latency (us)"
) -> str:
    lines = [f"# OSU MPI{title} Test v7.4", *said, f"# Size          {column}"]
    return "\n".join([*lines, *(f"{size:<10d}{value:>18.4f}" for size, value in rows), ""])


def beside(*texts: str) -> Beside:
    return together([run for text in texts for run in parse(text.encode()).runs]).beside


def test_puts_and_their_synchronisation() -> None:
    """Puts of 0.2 us; a flush takes 0.7 us on top of put and L, post/start/complete/wait 2 us."""
    put, flush, epoch = 0.2e-6, 0.7e-6, 2e-6
    waits = put + FIRST.L.value + flush
    stream = [(s, s / (put + waits / 64) / 1e6) for s in (8, 16, 32, 64)]
    found = terms(
        beside(
            printed("_Put Bandwidth", stream, said=("# Synchronization: MPI_Win_flush",), column="Bandwidth (MB/s)"),
            printed("_Put Latency", [(8, 1e6 * waits)], said=("# Synchronization: MPI_Win_flush",)),
            printed("_Put-CUDA Latency", [(8, 99.0)], said=(ON_HOSTS, "# Synchronization: MPI_Win_fence")),
            printed(
                "_Put Latency",
                [(8, 1e6 * (put + FIRST.L.value + epoch))],
                said=("# Window creation: MPI_Win_create", "# Synchronization: MPI_Win_post/start/complete/wait"),
            ),
        ),
        MACHINE,
    )
    curve, peer = found.machine.one_sided.put, MACHINE.one_sided.epoch_peer.value
    assert isinstance(curve, SizeCurve)
    assert curve.sizes == (64,)
    assert curve.time == pytest.approx([put], rel=1e-3)
    assert curve.time[0] * (1 + curve.interval) == pytest.approx(put + waits / 64, rel=1e-3)
    value = found.machine.one_sided.epoch
    assert value.value == pytest.approx(epoch - peer, rel=1e-3)
    assert found.parts == ["one_sided.put", "one_sided.epoch"]
    assert value.source == FIRST.L.source  # as sure as the latency that was subtracted
    assert found.notes == ["osu_put_latency was not used for MPI_Win_fence, MPI_Win_flush"]


def test_an_epoch_is_what_put_latency_and_peer_leave() -> None:
    """Of 5 us; a put that nobody measured takes a send's o_s, and L is 0.5 to 3 us."""
    machine = ideal(L=1e-6, o_s=2e-7, epoch_peer=4e-7)
    (first,) = machine.inter.segments
    for interval, low, high in ((None, 3.4, 3.4), ((SI(5e-7), SI(3e-6)), 1.4, 3.9)):
        inter = with_fields(
            machine.inter, segments=(first.model_copy(update={"L": first.L.model_copy(update={"interval": interval})}),)
        )
        of = with_fields(machine, inter=inter, one_sided=with_fields(machine.one_sided, put=None))
        epoch = terms(Beside(puts={"MPI_Win_flush": Curve.of([8], [5e-6])}), of).machine.one_sided.epoch
        assert [epoch.value, *present(epoch.interval)] == pytest.approx([1e-6 * us for us in (3.4, low, high)])
        assert epoch.why == "osu_put_latency, MPI_Win_flush: puts of up to 64 B, less put, L and epoch_peer"


def test_threads_that_wait_in_mpi() -> None:
    """Half a round trip grows by 0.3 us with two receiving threads, and by 1 us with eight; a reply by twice that."""
    threads = "# Number of Sender threads: 1 \n# Number of Receiver threads: {}\n"

    def text(receiving: int, more: float) -> str:
        return threads.format(receiving) + printed(" Multi-threaded Latency", [(8, 1e6 * (one_way(MACHINE, 8) + more))])

    def contention(*texts: str) -> Contention:
        found = terms(beside("\n".join(texts)), MACHINE)  # runs of one file
        assert found.parts == ["threads.contention"]
        curve = present(found.machine.threads.contention)
        assert found.notes == [f"contention of more than {curve.threads[-2]} threads taken as of these"]
        return curve

    curve = contention(text(2, 0.3e-6), text(8, 1e-6))
    assert curve.threads == (1, 2, 8, 128)
    assert curve.time == pytest.approx([0, 0.6e-6, 2e-6, 2e-6], rel=1e-3)
    assert curve.source == "assumed"
    most = terms(beside(text(2, 3e-7) + text(128, 1e-6)), MACHINE)
    assert (present(most.machine.threads.contention).threads, most.notes) == ((1, 2, 128), [])
    # Less one thread's where that was measured the same way.
    assert contention(text(1, 5e-6), text(2, 5.3e-6)).time[1] == pytest.approx(0.6e-6, rel=1e-3)
    # Of two threads that send to four the parts are not known.
    other = terms(beside(text(4, 1e-6).replace("Sender threads: 1", "Sender threads: 2")), MACHINE)
    assert (other.parts, other.notes) == ([], ["2 sending and 4 receiving threads were not used; 1 or 4 are"])
    # No slower with more threads: nobody waits for a lock, and nothing is below 0.
    assert contention(text(2, -1e-6)).time[1] == 0


def of_pairs(pairs: int, rates: dict[int, float]) -> str:
    rows = "".join(f"{s} {s * r / 1e6:.2f} {r:.2f}\n" for s, r in rates.items())
    said = f"# [ pairs: {pairs} ] [ window size: 64 ]\n# Size                  MB/s        Messages/s\n"
    return f"# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n{said}{rows}"


def test_pairs_show_contexts_and_the_adapter() -> None:
    """Four pairs send 4 times as fast as one: a context each. As fast as one: none to be seen."""
    text = of_pairs
    one = parse(text(1, {8: 1e6, 1 << 20: 10_000.0}).encode())
    for rate, contexts in ((4e6, 4), (1.1e6, 1)):
        four = parse(text(4, {8: rate, 1 << 20: 50_000.0}).encode())
        found = terms(four.beside, MACHINE, present(one.observations.stream))
        assert found.machine.contexts.value == contexts
        assert found.machine.adapter is not None
        assert found.machine.adapter.rate.value == pytest.approx(50_000 * (1 << 20), rel=0.5)  # of the largest sizes
        assert found.machine.inter == MACHINE.inter
    assert terms(four.beside, MACHINE).parts == ["adapter"]


def test_of_several_what_tells_most_is_taken() -> None:
    """The most pairs, the smallest size above 0 B of both; the fastest stream of puts; messages up to 64 B."""
    us = {size: 1e-6 * (size + 1) for size in (0, 1, 8)}
    rates = {2: Curve.of([1], [9e6]), 4: Curve.of([0, 1, 8], [9e9, 2e6, 9e6])}
    puts = {"MPI_Win_fence": Curve.of([8], [2e-7]), "MPI_Win_flush": Curve.of([8], [5e-7])}
    # Of four that all send, each waits for the locks of three: a quarter of 4 us.
    threaded = {(1, 2): Curve.of([64, 65], [one_way(MACHINE, 64) + 3e-7, 1.0])}
    threaded[4, 4] = Curve.of([8], [one_way(MACHINE, 8) + 4e-6])
    found = terms(Beside(rates, threaded, {}, puts), MACHINE, Curve.of([*us], [*us.values()])).machine
    assert found.contexts.why.startswith("osu_mbw_mr: 4 processes of a node send 4x as fast as one")
    assert present(found.threads.contention).time[1:3] == pytest.approx([6e-7, 1e-6])
    put = found.one_sided.put
    assert isinstance(put, SizeCurve)
    assert put.time == pytest.approx([2e-7])
    assert put.why.startswith("osu_put_bw, MPI_Win_fence: ")


@pytest.mark.parametrize("case", table_of("calibrate/adapters")["pairs"], ids=lambda case: case["why"][:40])
def test_what_pairs_show_of_an_adapter(case: dict[str, Any]) -> None:
    machine = ideal(L=1e-6 * (case.get("message", 4) - 2), o_s=1e-6, o_r=1e-6, G=1 / 8e9)
    rates = {
        int(k): Curve.of([size for size, _ in rows], [rate for _, rate in rows]) for k, rows in case["rates"].items()
    }
    found = adapter_of(machine, rates, {size: 1e-6 * us for size, us in case.get("alone", [])})
    for value, said, unit in ((found.rate, case["rate"], 1e9), (found.gap, case["gap"], 1e-9)):
        assert [value.value, *present(value.interval)] == pytest.approx([said[k] * unit for k in (1, 0, 2)], rel=1e-6)
    assert (found.rate.source, found.gap.source) == (
        "measured" if rates else "assumed",
        "measured" if "says" in case else "assumed",
    )
    assert found.gap.why == case.get("says", found.gap.why)


def test_real_files_make_a_machine(tmp_path: Path) -> None:
    """OMB 7.4 over MPICH 5.0.2, both ranks on one node: a put and its flush take 0.23 us, less than the latency's
    message between two nodes."""
    names = ["osu_latency_v7.txt", "osu_latency_mt_v7.txt", "osu_put_bw_v7.txt"]
    with pytest.raises(ImportFormatError, match="a put of 230 ns, and a message takes 1"):
        from_files([DATA / name for name in [*names, "osu_put_latency_v7.txt"]], name="m")
    made = from_files([DATA / name for name in names], name="m", library="mpich-release")
    assert made.machine.library.name == "mpich-release"
    assert present(made.machine.threads.contention).threads[:2] == (1, 2)
    assert present(made.machine.one_sided.put).source == "measured"
    assert not any("contention by the library" in note for note in made.notes)
    path = tmp_path / "m.toml"
    path.write_text(made.text)
    assert dumps(load(path)) == dumps(made.machine)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ImportFormatError, match="osu_put_latency does not say how long one message takes"):
        from_files([DATA / "osu_put_latency_v7.txt"], name="m")
    assert import_benchmark(DATA / "osu_put_latency_v7.txt").beside.puts.keys() == {"MPI_Win_flush"}
