"""Importers: the right numbers, or one clear line."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz import mutated
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from present import present

from pready.calibrate.fit import fit
from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers import Imported, ImportFormatError, import_benchmark
from pready.calibrate.importers import read as parse
from pready.calibrate.importers.benchmarks import together, undetermined
from pready.model.common.errors import PreadyError

DATA = Path(__file__).parents[2] / "data" / "importers"
FILES = sorted(DATA.iterdir())


def one_line(error: PreadyError) -> str:
    text = str(error)
    assert text
    assert len(text.splitlines()) == 1
    return text


@pytest.mark.parametrize("variant", ["v5", "v6", "v7", "v7_full", "crlf", "utf16", "latin1", "two_types"])
def test_osu_latency(variant: str) -> None:
    read = import_benchmark(DATA / f"osu_latency_{variant}.txt")
    curve = present(read.observations.ping_pong)
    times = dict(zip(curve.at.tolist(), (r[0] for r in curve.repeats), strict=True))
    # Two rows of the file, us to s; a latency is half a round trip already. The full one has medians beside means.
    assert times[8.0] == pytest.approx(1.54e-6 if variant == "v7_full" else 1.56e-6)
    assert times[4194304.0] == pytest.approx(695.05e-6 if variant == "v7_full" else 702.07e-6)
    assert len(times) == (24 if 0.0 in times else 23)
    assert undetermined(read.observations) == ["o_s", "o_r", "g", "L"]
    assert read.version[0] in "567"
    assert any("medians (P50" in note for note in read.notes) == (variant == "v7_full")
    assert any("does not determine o_s" in note for note in read.notes)
    assert not any("how long one message takes" in note for note in read.notes)


@pytest.mark.parametrize("name", ["osu_bw_v5.txt", "osu_bw_v7.txt", "osu_mbw_mr_v5.txt"])
def test_osu_bandwidth_is_time_per_message(name: str) -> None:
    read = import_benchmark(DATA / name)
    curve = present(read.observations.stream)
    # The file was made with 0.6 us + s/12.3 GB/s; at 1 MiB 85.85 us.
    at = int(np.searchsorted(curve.at, 1 << 20))
    assert curve.repeats[at][0] == pytest.approx(0.6e-6 + (1 << 20) / 12.3e9, rel=1e-5)
    assert "g" not in undetermined(read.observations)
    assert "o_s" in undetermined(read.observations)
    assert f"{read.tests} alone does not determine how long one message takes; add osu_latency" in read.notes


def of_files(*names: str) -> Imported:
    return together([run for name in names for run in import_benchmark(DATA / name).runs])


def test_what_each_kind_of_train_determines() -> None:
    curve = Curve.of([8.0], [[1e-6]])
    of = {"prtt_n_delay": ["o_r", "g", "L"], "receive": ["o_s", "g", "L"], "prtt_n": ["o_s", "o_r", "L"]}
    given: dict[str, Any] = dict.fromkeys(of, curve)
    assert {name: undetermined(Observations(**{name: given[name]})) for name in of} == of


def test_osu_files_combine() -> None:
    both = of_files("osu_latency_v7.txt", "osu_bw_v5.txt")
    one = import_benchmark(DATA / "osu_latency_and_bw.txt")
    for read in (both, one):
        assert undetermined(read.observations) == ["o_s", "o_r", "L"]
        assert (len(present(read.observations.ping_pong)), len(present(read.observations.stream))) == (23, 23)
    twice = of_files("osu_latency_v5.txt", "osu_latency_v7.txt")
    assert [len(r) for r in present(twice.observations.ping_pong).repeats] == [1] + [2] * 23
    trains = [run for name in ("a", "b") for run in parse((DATA / "netgauge_loggp.txt").read_bytes(), name).runs]
    said = "b: trains of messages are in a already; valid: one file of Netgauge's"
    with pytest.raises(ImportFormatError, match=f"^{said}$"):
        together(trains)


@pytest.mark.parametrize("version", ["4.1", "2021"])
def test_imb(version: str) -> None:
    read = import_benchmark(DATA / f"imb_pingpong_{version}.txt")
    curve = present(read.observations.ping_pong)
    assert len(curve) == 24
    assert read.version.startswith(version)
    assert curve.repeats[0][0] == pytest.approx(1.55e-6)
    assert curve.at[0] == 0


def test_netgauge_recovers_its_machine() -> None:
    """L 3.1, o_s 0.8, o_r 0.7, g 1.2 us, G 3.4 ns/B; from 12289 B 5.5, 1.3, 1.1, 2.1, 2.1."""
    read = import_benchmark(DATA / "netgauge_loggp.txt")
    assert undetermined(read.observations) == []
    assert len(present(read.observations.prtt_1)) == 24
    found = fit(read.observations, np.random.default_rng(2))
    assert [s.from_bytes for s in found.segments] == [0, 12289]
    known = ((3.1e-6, 0.8e-6, 0.7e-6, 1.2e-6, 3.4e-9), (5.5e-6, 1.3e-6, 1.1e-6, 2.1e-6, 2.1e-9))
    for segment, true in zip(found.segments, known, strict=True):
        values = [getattr(segment, n).value for n in ("L", "o_s", "o_r", "g", "G")]
        assert values == pytest.approx(true, rel=0.02)


@pytest.mark.parametrize("version", ["", " v5.3.2"])
def test_a_build_that_does_not_say_its_version_is_read(version: str) -> None:
    """Built by hand, OSU's programs say none."""
    found = parse(f"# OSU MPI Latency Test{version}\n# Size          Latency (us)\n8 1.5\n16 1.6\n".encode(), "osu.txt")
    assert found.version == version.removeprefix(" v")
    assert present(found.observations.ping_pong).medians == pytest.approx({8: 1.5e-6, 16: 1.6e-6})


def test_unreadable_files(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is a directory"), (tmp_path / "no such\nfile", "no such file")):
        with pytest.raises(PreadyError, match=said) as caught:
            import_benchmark(path)
        one_line(caught.value)


def survives(data: bytes) -> None:
    try:
        read = parse(data, "f\n2")
    except ImportFormatError as error:
        one_line(error)
        return
    for curve in (read.observations.ping_pong, read.observations.stream):
        if curve is not None:
            assert all((r > 0).all() and np.isfinite(r).all() for r in curve.repeats)


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
def test_truncation_never_changes_a_number(name: str) -> None:
    """Cut anywhere: what is read is a prefix of what the whole file says."""
    whole = (DATA / name).read_bytes()
    full = import_benchmark(DATA / name).observations
    for end in range(len(whole)):
        try:
            part = parse(whole[:end], "f").observations
        except ImportFormatError as error:
            one_line(error)
            continue
        for ours, theirs in ((part.ping_pong, full.ping_pong), (part.stream, full.stream)):
            if ours is not None:
                assert theirs is not None
                assert ours.at.tolist() == theirs.at[: len(ours)].tolist()
                assert all((a == b).all() for a, b in zip(ours.repeats, theirs.repeats, strict=False))
