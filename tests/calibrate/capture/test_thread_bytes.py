"""What each thread sends of a buffer, where threads send themselves."""

from hypothesis import given
from hypothesis import strategies as st

from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.sending import thread_shares
from pready.calibrate.capture.thresholds import ALIKE_PARTS


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
