"""``pready workload traces.otf2``: the trace of a program is the workload that made it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import refused
from given import Capsys, Patch

pytest.importorskip("otf2", reason="OTF2's Python reader (pip install otf2) is not installed")

import otf2_trace
from otf2 import CollectiveOp, Paradigm, RegionRole
from otf2_trace import START, Trace, noting, write
from tables import table_of

from pready.calibrate.capture.files import kinds
from pready.calibrate.capture.regions import stretches
from pready.calibrate.capture.run_summary import stretch_name
from pready.calibrate.otf2.run_of_trace import read_otf2
from pready.cli import main
from pready.model.engine.plan import drawn_times
from pready.model.workload import workload
from pready.model.workload.workload import Workload

INIT, TOOK = 5000, 40_000
"""ns: of MPI_Init, and of an exchange."""


@pytest.fixture
def halo() -> Workload:
    return workload.load(Path("tests/data/calibrate/halo.toml"))


def traced(folder: Path, w: Workload, *, threads: bool = True) -> Path:
    """The workload's run: 2 × 2 ranks, x first."""

    def rank_s(trace: Trace, rank: int) -> None:
        at = INIT
        trace.call(rank, "MPI_Init", 0, at)
        sent = [(rank ^ 1, 6000), (rank ^ 2, 600)]
        times = np.rint(drawn_times(w, w.iterations, seed=3, rank=rank) * 1e9).astype(int)
        for step, finish in enumerate(times.tolist()):
            ends = [at + f for f in finish]
            end = trace.parallel(rank, at, ends, late=100) if threads else max(ends)
            at = trace.exchange(rank, end + 1, sent, TOOK, request=4 * step)
        trace.reduced(rank, at, at + 10)
        trace.call(rank, "MPI_Finalize", at + 10, at + 20)

    return write(folder, 4, w.threads if threads else 1, rank_s)


def test_the_trace_of_a_halo_is_its_workload(tmp_path: Path, halo: Workload, capsys: Capsys) -> None:
    anchor, out = traced(tmp_path / "scorep", halo), tmp_path / "app.toml"
    words = ["workload", str(anchor), "-o", str(out), "--set", "arrivals.model=trace"]
    assert main(words) == 0
    w = workload.load(out)
    same = ["threads", "iterations", "pattern", "grid", "boundaries", "faces", "ranks_per_node", "receiver"]
    assert {name: getattr(w, name) for name in same} == {name: getattr(halo, name) for name in same}
    assert w.exchanges is None
    # Of 12 steps the first is the warm-up; the times come back, each with the nanosecond before
    # the first message, ranks side by side.
    drawn = np.stack([drawn_times(halo, 12, seed=3, rank=r)[1:] for r in range(4)], axis=1).reshape(-1, 4)
    kept = np.load(tmp_path / "app-arrivals.npy")
    np.testing.assert_allclose(kept, drawn + 1e-9, rtol=0, atol=0.51e-9)
    assert w.thread_time == pytest.approx(drawn.mean(), rel=1e-6)
    said = capsys.readouterr()
    assert "12 steps" in said.out
    assert "note" not in said.out
    assert main(["predict", str(out), "--json"]) in (0, 2)
    # A named distribution comes back, too.
    assert main([*words[:4], "--overwrite"]) == 0
    model: Any = workload.load(out).arrivals
    assert model.model == "normal by thread"
    assert model.spread == pytest.approx(0.08, rel=0.2)  # of 11 × 4 × 4 draws


def test_a_trace_without_threads_is_a_run_of_one(tmp_path: Path, halo: Workload) -> None:
    """Outside MPI: as long as the slowest of the threads that are not in the trace, which four share then."""
    anchor, out = traced(tmp_path / "scorep", halo, threads=False), tmp_path / "app.toml"
    assert main(["workload", str(anchor), "-o", str(out), "--set", "threads=4"]) == 0
    w = workload.load(out)
    assert (w.threads, w.iterations, w.faces) == (4, 12, halo.faces)
    longest = np.stack([drawn_times(halo, 12, seed=3, rank=r)[1:].max(axis=1) for r in range(4)])
    assert w.thread_time == pytest.approx(longest.mean() / 4, rel=1e-6)


def test_every_kind_of_message(tmp_path: Path) -> None:
    """Blocking and persistent sends, puts, collectives, barriers within a region: each at its time, to its peer."""

    def each(trace: Trace, rank: int) -> None:
        other, comm = trace.called(rank ^ 1), trace.comm
        trace.call(rank, "MPI_Init", 0, 10)
        trace.call(rank, "MPI_Send", 20, 30, lambda w: w.mpi_send(START + 20, other, comm, 0, 100))
        trace.call(rank, "MPI_Recv", 30, 40, lambda w: w.mpi_recv(START + 40, other, comm, 0, 100))
        started = noting("mpi_irecv_request", START + 50, 1), noting("mpi_isend", START + 51, other, comm, 0, 200, 2)
        trace.call(rank, "MPI_Startall", 50, 60, *started)
        done = noting("mpi_irecv", START + 70, other, comm, 0, 200, 1), noting("mpi_isend_complete", START + 70, 2)
        trace.call(rank, "MPI_Testall", 60, 70, *done)
        trace.call(rank, "MPI_Win_fence", 80, 90)
        trace.call(rank, "MPI_Put", 90, 95, lambda w: w.rma_put(START + 90, trace.win, other, 300, 1))
        trace.reduced(rank, 100, 110)
        trace.reduced(rank, 110, 120, CollectiveOp.BARRIER)
        at_once = noting("mpi_isend", START + 121, other, comm, 0, 50, 3), noting("mpi_isend_complete", START + 122, 3)
        trace.call(rank, "MPI_Isend", 121, 123, *at_once)
        trace.call(rank, "MPI_Isend", 123, 125, noting("mpi_isend", START + 124, other, comm, 0, 60, 4))
        trace.call(rank, "MPIX_Wait", 125, 127, noting("mpi_isend_complete", START + 126, 4))
        # Calls that were filtered out leave the message alone; the communicator has no rank 7.
        writer = trace.writers[rank][0]
        writer.mpi_send(START + 130, other, comm, 0, 400)
        writer.mpi_isend(START + 131, 7, comm, 0, 70, 5)
        writer.mpi_isend_complete(START + 133, 5)
        writer.leave(START + 134, trace.region("before the measurement", RegionRole.FUNCTION))
        writer.buffer_flush(START + 135, START + 136)
        trace.call(rank, "MPI_Finalize", 140, 150)

    run, said = read_otf2(write(tmp_path / "scorep", 2, 1, each))
    assert said == ["2 buffer flushes during the run delayed it: raise SCOREP_TOTAL_MEMORY"]
    assert [(p.rank, p.ranks, p.host) for p in run.ranks] == [(0, 2, "node0"), (1, 2, "node0")]
    for process in run.ranks:
        np.testing.assert_allclose(np.array(process.mpi_s, np.float64), [10e-9, 140e-9], rtol=1e-12)
        assert {place.name for place in process.places if place is not None} == {"main"}
        assert all(process.places[r["site"]] is not None for r in process.records if r["start"] in (130, 131))
        peer = 1 - process.rank
        by_number = {number: name for name, number in kinds().items()}
        rows = process.records[["start", "end", "kind", "who", "what"]].tolist()
        found = sorted([b, e, by_number[k], "peer" if who == peer else who, what] for b, e, k, who, what in rows)
        assert found == table_of("calibrate/otf2")["calls"]
        assert process.records["done"][process.of("isend")].tolist() == [123, 127, 133]
        assert (process.records["done"] >= process.records["end"]).all()


def test_who_calls_mpi_is_the_first_thread(tmp_path: Path) -> None:
    """The second location of a rank initialises and ends MPI, and begins the regions; the first one comes 2 ns later,
    and to the second region not at all."""

    def each(trace: Trace, rank: int) -> None:
        helper, master = trace.writers[rank]
        region = trace.region("!$omp parallel", RegionRole.PARALLEL)
        for name, at in (("MPI_Init", 5), ("MPI_Finalize", 90)):
            call = trace.region(name, RegionRole.FUNCTION, Paradigm.MPI)
            master.enter(START + at, call)
            master.leave(START + at + 5, call)
            for writer, begin, end in ((master, 20, 50), (helper, 22, 48), (master, 60, 80)) if at == 5 else ():
                writer.enter(START + begin, region)
                writer.leave(START + end, region)

    run, _ = read_otf2(write(tmp_path / "scorep", 2, 2, each))
    assert [(p.rank, p.ranks, p.threads) for p in run.processes] == [(0, 2, 2), (1, 2, 2)]
    for process in run.processes:
        assert process.mpi_s == pytest.approx((10e-9, 90e-9))
        assert process.duration_s == pytest.approx(95e-9)
        names = {number: name for name, number in kinds().items()}
        rows = process.records[["start", "end", "done", "kind", "who", "what"]].tolist()
        by_thread = zip(process.thread.tolist(), rows, strict=True)
        found = [[t, b, e, d, names[k], *of] for t, (b, e, d, k, *of) in by_thread]
        assert found == table_of("calibrate/otf2")["second"]


def test_a_barrier_within_a_region_ends_a_share(tmp_path: Path) -> None:
    """Two threads: 100 and 150 ns until the barrier, which both leave at 150; then 60 and 30 ns. A region inside the
    region is no region of its own.
    """

    def each(trace: Trace, rank: int) -> None:
        region = trace.region("!$omp parallel", RegionRole.PARALLEL)
        inner = trace.region("!$omp parallel (inner)", RegionRole.PARALLEL)
        barrier = trace.region("!$omp barrier", RegionRole.BARRIER)
        last = trace.region("!$omp implicit barrier", RegionRole.IMPLICIT_BARRIER)
        for thread, (first, second) in enumerate([(100, 210), (150, 180)]):
            w = trace.writers[rank][thread]
            w.enter(START, region)
            w.enter(START + 20, inner)
            w.leave(START + 50, inner)
            w.enter(START + first, barrier)
            w.leave(START + 150, barrier)
            if thread == 0:
                trace.reduced(rank, 160, 180)
            else:
                w.enter(START + 160, trace.main)
                w.leave(START + 170, trace.main)
            w.enter(START + second, last)
            w.leave(START + 210, last)
            w.leave(START + 210, region)

    run, _ = read_otf2(write(tmp_path / "scorep", 1, 2, each))
    (process,) = run.ranks
    assert process.of("region").sum() == 1
    assert process.records[process.of("nested")][["start", "end", "who", "what"]].tolist() == [(20, 50, 0, 0)] * 2
    found = {s.key[1] != 0: s for s in stretches(process)}
    np.testing.assert_allclose(found[True].finish, [[100e-9, 150e-9]], rtol=1e-12)
    np.testing.assert_allclose(found[False].begin, [150e-9], rtol=1e-12)
    np.testing.assert_allclose(found[False].finish, [[60e-9, 30e-9]], rtol=1e-12)
    assert stretch_name(process, found[True]).startswith("!$omp parallel (halo.c:17) until !$omp barrier")


def test_what_is_no_trace(tmp_path: Path, halo: Workload, capfd: Capsys) -> None:
    anchor = traced(tmp_path / "scorep", halo)
    empty, cut = tmp_path / "empty.otf2", tmp_path / "cut"
    empty.write_bytes(b"")
    assert "is no OTF2 trace; valid: its anchor file" in refused(capfd, "workload", tmp_path / "none.otf2")
    cut.mkdir()
    (cut / "traces.otf2").write_bytes(anchor.read_bytes())  # without its definitions and events
    whole = anchor.read_bytes()
    anchor.write_bytes(whole[:50] + whole[51:])  # a number of 2^56: OTF2's library takes memory until there is none
    for path in (empty, cut / "traces.otf2", anchor):
        assert refused(capfd, "workload", path).startswith(f"pready: error: {path}: cannot be read: ")


def test_a_library_that_crashes_is_one_line(tmp_path: Path, halo: Workload, monkeypatch: Patch, capfd: Capsys) -> None:
    anchor, library = traced(tmp_path / "scorep", halo), tmp_path / "library"
    library.mkdir()
    (library / "otf2.py").write_text("import os\nos.kill(os.getpid(), 11)\n", encoding="ascii")
    monkeypatch.setenv("PYTHONPATH", str(library))
    said = "OTF2's library ended by signal 11 while reading it; valid: a complete OTF2 trace"
    assert refused(capfd, "workload", anchor) == f"pready: error: {anchor}: {said}\n"


@pytest.mark.parametrize(
    ("ticks", "late", "why"),
    [(0, 0, "its clock has 0 ticks per second"), (1, 10**11, "Python int too large to convert")],
)
def test_a_damaged_clock(tmp_path: Path, monkeypatch: Patch, capsys: Capsys, ticks: int, late: int, why: str) -> None:
    """10^11 s are 10^20 ns, more than 63 bits."""
    monkeypatch.setattr(otf2_trace, "TICKS", ticks)
    anchor = write(tmp_path / "scorep", 1, 1, lambda trace, rank: trace.call(rank, "MPI_Init", 0, late))
    said = refused(capsys, "workload", anchor)
    assert said.startswith(f"pready: error: {anchor}: cannot be read: {why}")
    assert said.endswith("; valid: a complete OTF2 trace\n")
