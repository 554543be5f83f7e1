"""What each thread sends of a buffer, where threads send themselves."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table_of

from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.sending import thread_shares, today_of
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


@pytest.mark.parametrize(("sent", "unlike"), table_of("calibrate/thread_bytes")["unlike"])
def test_of_buffers_that_differ_none_is_taken_for_all(sent: list[list[int]], unlike: bool) -> None:
    assert thread_shares([[group(dict(enumerate(sent, 1)))]], 2) == (None, unlike)


@pytest.mark.parametrize(("kinds", "counts", "teams", "in_turn", "said"), table_of("calibrate/thread_bytes")["ways"])
def test_how_an_exchange_is_sent(kinds: list[str], counts: list[int], teams: int, in_turn: int, said: Any) -> None:
    """Of five exchanges with such messages, and so many to each peer, how many a team sends, and how many in turn."""
    peers = dict(enumerate(counts))
    each = [Group(0.0, kinds=Counter(kinds), counts=peers, team=n < teams, one_by_one=n < in_turn) for n in range(5)]
    assert today_of(each) == tuple(said)


def test_what_is_sent_outside_of_the_team_says_nothing_of_parts() -> None:
    outside = group({1: [3, 1]})
    outside.by_thread[1, -1] += 8
    assert thread_shares([[outside]], 2) == (None, False)
