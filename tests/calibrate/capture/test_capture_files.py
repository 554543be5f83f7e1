"""Capture files: what is read of a file made by hand, and that damaged ones are refused in one line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import Row, capture_file, share, written
from tables import table_of

from pready.calibrate.capture import files
from pready.calibrate.capture.files import parse_process, read_run
from pready.calibrate.capture.regions import stretches
from pready.calibrate.capture.run_summary import summarise
from pready.calibrate.capture.symbols import function_of
from pready.model.common.errors import PreadyError

TWO_THREADS: list[tuple[int, list[Row]]] = [
    (0, [
        (1000, 1400, "share", 1, 7, share(0)), (1500, 1800, "share", 1, 7, share(0, 1)),
        (900, 2100, "region", 1, 7, 2), (2200, 2300, "isend", 0, 0, 64),
    ]),
    (1, [(1100, 1500, "share", 1, 7, share(1)), (1500, 2000, "share", 1, 7, share(1, 1))]),
]  # fmt: skip


def test_shares_of_a_region_with_a_barrier() -> None:
    """The first stretch begins with the region (900), the second when the last thread came to the barrier (1500)."""
    process = parse_process(capture_file(TWO_THREADS), Path("x"))
    (stretch,) = stretches(process)  # both end at the same place
    assert np.allclose(stretch.begin, [900e-9, 1500e-9])
    assert np.allclose(stretch.finish, np.array([[500, 600], [300, 500]]) * 1e-9)
    assert np.allclose(stretch.reclaimable, np.array([50, 100]) * 1e-9)
    assert function_of(process.places[1]) == "program+0x10"


def test_the_longest_region_is_first() -> None:
    """Of two regions, by each one's last thread: 1000 ns with one of 100 ns beside it are more than 600 and 500."""
    first: list[Row] = [(100, 2500, "region", 1, 7, 2), (3000, 4500, "region", 2, 8, 2)]
    threads = [
        [(100, 100 + one, "share", 1, 7, share(number)), (3000, 3000 + two, "share", 2, 8, share(number))]
        for number, (one, two) in enumerate(((100, 600), (1000, 500)))
    ]
    process = parse_process(capture_file([(0, [*threads[0], *first]), (1, threads[1])]), Path("x"))
    assert [s.finish.max() * 1e9 for s in stretches(process)] == pytest.approx([1000, 600])


def test_an_instance_without_all_threads_is_left_out() -> None:
    whole, second = TWO_THREADS
    process = parse_process(capture_file([whole, (second[0], second[1][:1])]), Path("x"))
    (stretch,) = stretches(process)
    assert np.allclose(stretch.begin, [900e-9])


def test_a_file_that_was_cut_is_read_up_to_its_last_chunk() -> None:
    data = capture_file(TWO_THREADS)
    assert len(parse_process(data[:-1], Path("x")).records) == 4
    assert len(parse_process(data + bytes(70000), Path("x")).records) == 6  # room, and nothing in it


def test_names_in_a_file_hold_no_control_character() -> None:
    data = bytearray(capture_file(TWO_THREADS))
    texts = {"host": b"a\x1b[2J", "library": b"MPICH Version:\t4.3\nbuilt \x07 here", "command": b"./\x9b31m"}
    for name, text in texts.items():
        at = files._TEXTS[name][0]
        data[at : at + len(text)] = text
    process = parse_process(bytes(data.replace(b"compute", b"com\x1bute")), Path("x"))
    assert (process.host, process.library) == ("a\\x1b[2J", "MPICH Version: 4.3\nbuilt \\x07 here")
    assert process.places[9] is not None
    assert process.places[9].symbol == "com\\x1bute"
    assert process.command.isprintable()


def test_what_is_no_whole_run_is_said(tmp_path: Path) -> None:
    for name in ("a.capture", "b.capture"):
        (tmp_path / name).write_bytes(capture_file([], rank=0, ranks=2))
    with pytest.raises(PreadyError, match="holds two runs"):
        read_run(tmp_path)
    (tmp_path / "b.capture").unlink()
    (tmp_path / "a.capture").write_bytes(capture_file([], rank=-1, ranks=-1))
    with pytest.raises(PreadyError, match="holds no process that called MPI_Init; valid: records of every rank"):
        read_run(tmp_path).all_ranks()
    (tmp_path / "b.capture").write_bytes(capture_file([], rank=1, ranks=3))
    with pytest.raises(PreadyError, match="holds 1 of 3 ranks"):
        read_run(tmp_path).all_ranks()
    (tmp_path / "c.capture").symlink_to("/dev/zero")  # without an end
    with pytest.raises(PreadyError, match=r"c\.capture: is larger than 256 MiB"):
        read_run(tmp_path)


@pytest.mark.parametrize(("processes", "shared"), table_of("calibrate/shared_cores")["cores"])
def test_who_shares_cores(processes: list[tuple[str, str, int]], shared: bool) -> None:
    """Of ranks on hosts, with so many CPUs from a first one on, and threads."""
    ranks = [
        replace(written([f"0 0 1 region 1 0 {threads}"], 0, 1), host=host, cpus=frozenset(map(int, cpus)))
        for host, cpus, threads in processes
    ]
    assert files.Run(Path("x"), tuple(ranks)).shares_cores is shared


@pytest.mark.parametrize(("chunks", "head"), table_of("calibrate/refused")["captures_read"])
def test_at_its_borders_a_file_is_read(chunks: list[tuple[int, list[Row]]], head: dict[str, int]) -> None:
    assert len(parse_process(capture_file(chunks, **head), Path("x")).records) == sum(len(rows) for _, rows in chunks)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is no capture file"),
        (b"pready capture 1".ljust(600_000, b"\0"), "is no capture file"),
        *((capture_file(c, **head), said) for c, head, said in table_of("calibrate/refused")["captures"]),
        (capture_file([])[:6912] + b"0-x" + capture_file([])[6915:], "cpus = '0-x'; valid: spans, such as '0-3,8-8'"),
        (capture_file([]) + b"\1".ljust(65536, b"\0"), "has no chunk"),
    ],
)
def test_damage_is_named(data: bytes, problem: str) -> None:
    with pytest.raises(PreadyError) as caught:
        parse_process(data, Path("run/rank-000000.capture"))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("run/rank-000000.capture: ")


@given(st.data())
def test_any_damage_is_refused_or_read(data: st.DataObject) -> None:
    """Whatever bytes are changed: one line, or a process that can be summarised."""
    good = capture_file(TWO_THREADS)
    interesting = [*range(120), *range(8192 + 512, 8192 + 560)]
    interesting += [at + i for at in (532480, 532480 + 65536) for i in range(32 * 6)]
    broken = bytearray(good)
    for _ in range(data.draw(st.integers(1, 8))):
        broken[data.draw(st.sampled_from(interesting))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(broken)), st.integers(0, len(broken))))
    try:
        process = parse_process(bytes(broken[:cut]), Path("x"))
    except PreadyError as error:
        assert "\n" not in str(error)
        return
    summary = summarise(files.Run(Path("x"), (process,)))
    assert 0 <= summary.in_mpi_s <= summary.run_s * (1 + 1e-9)
