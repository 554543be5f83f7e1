"""Importers: the right numbers, or one clear line."""

import random
from pathlib import Path

import numpy as np
import pytest
from fuzz import mutated
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from present import present
from results_of_suites import read

from pready.calibrate.fit import fit
from pready.calibrate.importers.collect import Imported, runs_of, together
from pready.calibrate.importers.text import ImportFormatError

DATA = Path(__file__).parents[2] / "data" / "importers"
FILES = sorted(DATA.iterdir())


def of(*names: str) -> Imported:
    return together([run for name in names for run in runs_of((DATA / name).read_bytes())[0]])


@pytest.mark.parametrize(("name", "version", "rows"), [
    *((f"osu_latency_{of}.txt", "5 6 7", {8: 1.56, 4194304: 702.07})
      for of in ("v5", "v6", "v7", "v7_full", "crlf", "utf16", "latin1", "two_types")),
    *((f"imb_pingpong_{of}.txt", of, {0: 1.55}) for of in ("4.1", "2021")),
])  # fmt: skip
def test_latencies(name: str, version: str, rows: dict[int, float]) -> None:
    """Rows of the file, in us: a latency is half a round trip already."""
    found = of(name)
    times = present(found.observations.ping_pong).medians
    assert {size: 1e6 * times[size] for size in rows} == pytest.approx(rows)
    assert len(times) == (24 if 0 in times else 23)
    assert found.runs[0].version.startswith(tuple(version.split()))


@pytest.mark.parametrize("name", ["osu_bw_v5.txt", "osu_bw_v7.txt", "osu_mbw_mr_v5.txt"])
def test_osu_bandwidth_is_time_per_message(name: str) -> None:
    curve = present(of(name).observations.stream)
    # The file was made with 0.6 us + s/12.3 GB/s; at 1 MiB 85.85 us.
    at = int(np.searchsorted(curve.at, 1 << 20))
    assert curve.repeats[at][0] == pytest.approx(0.6e-6 + (1 << 20) / 12.3e9, rel=1e-5)


def test_osu_files_combine() -> None:
    for read_ in (of("osu_latency_v7.txt", "osu_bw_v5.txt"), of("osu_latency_and_bw.txt")):
        assert (len(present(read_.observations.ping_pong)), len(present(read_.observations.stream))) == (23, 23)
    twice = of("osu_latency_v5.txt", "osu_latency_v7.txt")
    assert [len(r) for r in present(twice.observations.ping_pong).repeats] == [1] + [2] * 23
    trains = [run for name in ("a", "b") for run in runs_of((DATA / "netgauge_loggp.txt").read_bytes(), name)[0]]
    said = "b: trains of messages are in a already; valid: one file of Netgauge's"
    with pytest.raises(ImportFormatError, match=f"^{said}$"):
        together(trains)


def test_netgauge_recovers_its_machine() -> None:
    """L 3.1, o_s 0.8, o_r 0.7, g 1.2 us, G 3.4 ns/B; from 12289 B 5.5, 1.3, 1.1, 2.1, 2.1."""
    observed = of("netgauge_loggp.txt").observations
    assert len(present(observed.prtt_1)) == 24
    found = fit(observed, np.random.default_rng(2))
    assert [s.from_bytes for s in found.segments] == [0, 12289]
    known = ((3.1e-6, 0.8e-6, 0.7e-6, 1.2e-6, 3.4e-9), (5.5e-6, 1.3e-6, 1.1e-6, 2.1e-6, 2.1e-9))
    for segment, true in zip(found.segments, known, strict=True):
        values = [getattr(segment, n).value for n in ("L", "o_s", "o_r", "g", "G")]
        assert values == pytest.approx(true, rel=0.02)


def survives(data: bytes) -> None:
    try:
        found = read(data, "f\n2")
    except ImportFormatError as error:
        assert len(str(error).splitlines()) == 1
        return
    for curve in (found.observations.ping_pong, found.observations.stream):
        assert curve is None or all((r > 0).all() and np.isfinite(r).all() for r in curve.repeats)


SOME = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@SOME
@given(data=st.binary(max_size=300))
@example(data=b"\xff\xfe\x00")
@example(data=b"\xef\xbb\xbf")
@example(data="# OSU MPI Latency Test v٧\n# Size Latency (us)\n² ٣\n".encode())
def test_bytes(data: bytes) -> None:
    survives(data)


@pytest.mark.thorough
@pytest.mark.parametrize("path", FILES, ids=[f.name for f in FILES])
def test_mutated_files(path: Path) -> None:
    for number in range(60):
        survives(mutated(path.read_bytes(), random.Random(f"{path.name} {number}")))


@pytest.mark.parametrize("name", ["osu_latency_v5.txt", "osu_bw_v7.txt", "osu_mbw_mr_v5.txt"])
@pytest.mark.parametrize("after", [b"", b"\nslurmstepd: error: *** JOB 42 CANCELLED ***\n"])
def test_truncation_never_changes_a_number(name: str, after: bytes) -> None:
    """Cut anywhere, at the file's end or before what a scheduler says: what is read is a prefix of the whole."""
    whole = (DATA / name).read_bytes()
    full = of(name).observations
    for end in range(len(whole) - 120 if after else 0, len(whole)):
        try:
            part = read(whole[:end] + after, "f").observations
        except ImportFormatError:
            continue
        for ours, theirs in ((part.ping_pong, full.ping_pong), (part.stream, full.stream)):
            if ours is not None:
                assert theirs is not None
                assert ours.at.tolist() == theirs.at[: len(ours)].tolist()
                assert all((a == b).all() for a, b in zip(ours.repeats, theirs.repeats, strict=False))
