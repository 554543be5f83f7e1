"""Imports of made-up results in the shapes that real clusters' have: no step in time, unsupported tests, one node.

The figures are ours. UCX's shape: t(s) = 1.0 us + 0.33 ns/B, from 16 KiB on 3.8 us + 0.1 ns/B, which is 6.4 us on the
one line and 5.4 us on the other: no step up shows, as with libraries that switch where both take equally long.
"""

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from given import Capsys, Patch
from present import present
from results_of_suites import SIZES as ABOVE_0
from results_of_suites import Time, bandwidth, imb
from results_of_suites import latency as osu_latency
from tables import table_of

from pready.calibrate.importers.to_machine import FromFiles, from_files
from pready.calibrate.machine.values.segments import one_way
from pready.cli import main
from pready.model.machine.machine import Fabric, load
from pready.model.machine.path import Begins, Segment


def ucx(size: int) -> float:
    """Half a round trip in us; rendezvous from 16 KiB."""
    return 1.0 + 0.33e-3 * size if size < 16384 else 3.8 + 0.1e-3 * size


def segmented(size: int) -> float:
    """Segmented and reassembled from 16 KiB on, as ofi_rxm does; rendezvous from 256 KiB, with a step."""
    if size < 16384:
        return 1.5 + 0.38e-3 * size
    return 5.8 + 0.137e-3 * size if size < 262144 else 36.0 + 0.14e-3 * size


def straight(size: int) -> float:
    """One line: no border shows."""
    return 1.0 + 0.09e-3 * size


SIZES = (0, *ABOVE_0)


def latency(time: Time, sizes: Sequence[int] = SIZES) -> str:
    return osu_latency(time, sizes)


def imported(
    tmp_path: Path, *texts: str, library: str | None = "openmpi-4", fabric: Fabric | None = "infiniband"
) -> FromFiles:
    paths = [tmp_path / f"{i}.txt" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return from_files(paths, name="m", library=library, fabric=fabric)


def rendezvous(made: FromFiles) -> Segment:
    """The first segment that is one."""
    return next(s for s in made.machine.inter.segments if s.protocol == "rendezvous")


def begun(made: FromFiles) -> Begins:
    """The sizes between which it begins."""
    return present(rendezvous(made).begins)


def test_a_rendezvous_without_a_step_in_time_is_seen(tmp_path: Path) -> None:
    """t(0) grows by 2.8 us and the slope falls: RTS and CTS, within the sizes where UCX switches."""
    made = imported(tmp_path, latency(ucx), bandwidth(lambda s: 0.13 + 0.082e-3 * s))
    first = rendezvous(made)
    assert (first.from_, present(first.begins).source) == (16384, "measured")
    assert present(first.handshake).value == pytest.approx(2.8e-6 + 0.33e-6, rel=0.25)  # above the smallest one's L
    assert one_way(made.machine, 65536) == pytest.approx(ucx(65536) * 1e-6, rel=0.03)


@pytest.mark.parametrize(
    ("library", "fabric"), [("intel-mpi", "infiniband"), ("cray-mpich", "slingshot-10"), (None, None)]
)
def test_segmenting_is_no_rendezvous(library: str | None, fabric: Fabric | None, tmp_path: Path) -> None:
    """From 16 KiB on the line bends as with a rendezvous; the step at 256 KiB is far clearer. In between it is `bcopy`,
    whose copies are in the measured G."""
    machine = imported(tmp_path, latency(segmented), library=library, fabric=fabric).machine
    assert machine.inter.segment(1 << 18).protocol == "rendezvous"
    eager = [s for s in machine.inter.segments if s.handshake is None]
    assert (eager[0].protocol, eager[-1].protocol) == ("short", "bcopy")
    assert machine.inter.segment(128 << 10) is eager[-1]
    assert eager[-1].O_s is not None
    assert eager[-1].O_s.value == 0


@pytest.mark.parametrize(("library", "fabric", "border"), table_of("calibrate/imports")["defaults"])
def test_where_nothing_shows_the_librarys_default_holds(
    library: str, fabric: Fabric, border: int, tmp_path: Path
) -> None:
    made = imported(tmp_path, latency(straight), library=library, fabric=fabric)
    begins = begun(made)
    low, high = present(begins.interval)
    assert (rendezvous(made).from_, begins.source) == (border, "assumed")
    assert low < border < high
    assert any("not seen" in line for line in made.summary)
    assert not any(" assumed within what " in note or "measure next" in note for note in made.notes)
    assert made.machine.inter.segment(1 << 20).protocol == "rendezvous"
    for s in made.machine.inter.segments:
        assert ({v.source for v in (s.L, s.o_s, s.o_r, s.g)}, s.G.source) == ({"assumed"}, "measured")
    # Wherever the handshake lies within t(0), their sum is what was measured.
    for size in (border, 1 << 20):
        assert one_way(made.machine, size) == pytest.approx(straight(size) * 1e-6, rel=0.02)


def test_a_rendezvous_of_gpus_may_begin_at_512_bytes(tmp_path: Path) -> None:
    """Between GPUs what is not copied through the host asks first; the same times of hosts are more likely a copy's."""
    times = latency(lambda s: 2.5 if s < 512 else 6.5 + 1e-4 * s)
    of_hosts, of_gpus = imported(tmp_path, times), imported(tmp_path, times.replace("OSU MPI", "OSU MPI-CUDA"))
    assert (rendezvous(of_gpus).from_, begun(of_gpus).source) == (512, "measured")
    assert (rendezvous(of_hosts).from_, begun(of_hosts).source) == (16384, "assumed")


def test_netgauge_shows_a_rendezvous_where_o_s_jumps(tmp_path: Path) -> None:
    """o_s grows from 0.3 to 5 us at 24 KiB while one message's time falls."""
    rows = []
    for size in (1, *range(2049, 65536, 2048)):
        one = 2 * (1.1 + 0.2e-3 * size if size < 24576 else 3.4 + 0.05e-3 * size)
        o_s, gap = (0.3, 0.35) if size < 24576 else (5.0, 5.2)
        gap += 0.04e-3 * size
        delayed = one + 9 * (o_s + one)
        nan = "-nan -nan -nan" if size == 1 else "0.3 0.0001 -nan" if size == 2049 else "0.3 0.0001 0.1"
        rows.append(f"{size} 10 {one:.6f} {one + 9 * gap:.6f} {delayed:.6f} {one / 2:.6f} {o_s:.6f} 0.3 {nan}")
    text = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)\n" + "\n".join(rows) + "\n"
    made = imported(tmp_path, text)
    assert 22529 < rendezvous(made).from_ <= 26625
    assert any("o_s grows" in line for line in made.summary)


def test_runs_that_agree_become_medians_with_intervals_that_hold_them(tmp_path: Path) -> None:
    """28 pairs of nodes, 12 to 13 us apart: the interval is theirs, not that of their median."""
    starts = np.linspace(12, 13, 28)
    text = "".join(latency(lambda s, t=t: t + 0.1e-3 * s, SIZES[:18]) for t in starts)  # type: ignore[misc]
    made = imported(tmp_path, text, fabric="efa")
    first, total = made.machine.inter.segments[0], one_way(made.machine, 0)
    assert total == pytest.approx(12.5e-6, rel=0.02)
    low, high = (end - first.L.value + total for end in present(first.L.interval))
    assert low < 12.1e-6
    assert high > 12.9e-6
    assert any("28 runs of osu_latency agree" in note for note in made.notes)


def within(size: int) -> float:
    """Shared memory; a cache of 1 MiB overflows, and the line of the largest begins at -170 us."""
    return 0.38 + 0.13e-3 * size if size <= 1 << 20 else -170 + 0.29e-3 * size


def test_they_are_taken_for_the_path_within_a_node(tmp_path: Path, capsys: Capsys) -> None:
    between, inside, out = tmp_path / "b.txt", tmp_path / "i.txt", tmp_path / "m.toml"
    between.write_text(latency(ucx))
    inside.write_text(imb(within, sizes=SIZES, said="# ( 62 additional processes waiting in MPI_Barrier)\n"))
    words = ["calibrate", "import", "--library", "openmpi-4", "--fabric", "infiniband", "-o", str(out)]
    assert main([*words, "--intra", str(inside)]) == 2
    assert "no file is named" in capsys.readouterr().err
    assert main([*words, str(between), "--intra", str(inside)]) == 0
    assert "16 KiB" in capsys.readouterr().err
    machine = load(out)
    assert machine.intra is not None
    small = machine.intra.segments[0]
    assert small.o_s.value + small.L.value + small.o_r.value == pytest.approx(0.38e-6, rel=0.1)
    for s in machine.intra.segments:  # no line from below 0 for a cache that overflows
        assert s.L.interval is not None
        assert s.L.value >= s.L.interval[0]
        assert s.L.interval[1] >= 0
        assert s.L.value > -1e-6
    large = machine.intra.segment(4 << 20)
    assert 1 / large.G.value == pytest.approx((4 << 20) / within(4 << 20) * 1e6, rel=0.1)


def test_a_cray_ex_user_gets_from_files_to_a_verdict(tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    """The commands of docs/reference/measuring.md for an HPE Cray EX, on OSU's files and the example workload."""
    page = Path("docs/reference/measuring.md").read_text(encoding="utf-8")
    commands = [line[2:] for line in page.splitlines() if line.startswith("$ pready") and "ex.toml" in line]
    shutil.copy("examples/halo3d.toml", tmp_path / "halo.toml")
    monkeypatch.chdir(tmp_path)
    Path("osu").mkdir()
    Path("osu/latency.txt").write_text(latency(lambda s: 2.0 + 0.2e-3 * s if s < 16384 else 4.9 + 0.042e-3 * s))
    Path("osu/bw.txt").write_text(bandwidth(lambda s: 0.6 + 0.0405e-3 * s))
    Path("within.txt").write_text(latency(within))
    assert [c.split()[1] for c in commands] == ["calibrate", "predict"] * 2
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr()
        if "predict" in command:
            assert re.match(r"Partitioned \(MPI_Psend\): ", printed.out)
        else:
            assert "the adapter answers" in printed.err
