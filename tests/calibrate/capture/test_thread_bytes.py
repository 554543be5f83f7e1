"""What each thread sends of a buffer, where threads send themselves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import Mpi, each_library

from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.sending import thread_shares
from pready.calibrate.capture.step import find
from pready.calibrate.capture.thresholds import ALIKE_PARTS
from pready.calibrate.capture.workload_file import Writer
from pready.model.workload.workload import load

mpi = each_library


def group(sent: dict[int, list[int]]) -> Group:
    """An exchange in which thread i sends the i-th number of bytes to each peer."""
    made = Group(0.0)
    for peer, each in sent.items():
        made.by_thread.update({(peer, thread): size for thread, size in enumerate(each) if size})
    return made


@given(
    st.lists(st.integers(1, 50), min_size=2, max_size=8), st.integers(1, 10_000), st.integers(1, 4), st.integers(1, 5)
)
def test_parts_come_back_in_their_unit(parts: list[int], unit: int, peers: int, steps: int) -> None:
    sent = {peer: [unit * (1 + peer) * part for part in parts] for peer in range(peers)}
    found, unlike = thread_shares([[group(sent)] * steps, [group(sent)] * steps], len(parts))
    mean = sum(parts) / len(parts)
    assert not unlike
    if (max(parts) - min(parts)) / mean < ALIKE_PARTS:
        assert found is None
    else:
        assert found is not None
        assert [part * parts[0] for part in found] == [part * found[0] for part in parts]


def test_of_buffers_that_differ_none_is_taken_for_all() -> None:
    """A thread for each neighbour, or one that owns most of one side and least of the other."""
    assert thread_shares([[group({1: [3, 1], 2: [1, 3]})]], 2) == (None, True)
    assert thread_shares([[group({1: [4, 0], 2: [0, 3]})]], 2) == (None, False)


def test_one_thread_that_sends_everything_says_nothing_of_parts() -> None:
    assert thread_shares([[group({1: [4096, 0, 0]})]], 3) == (None, False)
    outside = group({1: [3, 1]})
    outside.by_thread[1, -1] += 8
    assert thread_shares([[outside]], 2) == (None, False)
    assert thread_shares([[group({1: [3, 1, 4]})]], 2) == (None, False)  # by more threads than the region has


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("how", "parts", "shares"),
    [
        ("messages", (5, 3, 1), (5, 3, 1)),
        ("partitioned", (5, 3, 1), (5, 3, 1)),
        ("messages", (100, 101, 99), None),
        ("joined", (5, 3, 1), None),
    ],
)
def test_a_captured_run_says_what_threads_own(
    mpi: Mpi, tmp_path: Path, how: str, parts: tuple[int, ...], shares: tuple[int, ...] | None
) -> None:
    unit, steps = 512, 12
    words = [str(w) for w in (mpi.compiled("shares.c", "-fopenmp"), steps, how, unit, *parts)]
    done, run = mpi.captured(2, words, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "wrong bytes: 0" in done.stdout
    assert run is not None
    step = find(run)
    (exchange,) = step.exchanges
    assert exchange.shares == shares

    def beside(name: str, data: bytes) -> None:
        (tmp_path / name).write_bytes(data)

    file = tmp_path / "w.toml"
    file.write_text(Writer("w", beside, "auto", 0).text(step, "w", ""))
    what = load(str(file))
    assert what.thread_shares == shares
    assert what.threads == len(parts)
    assert what.sends == (unit * sum(parts),)
