"""What each thread sends of a buffer, where threads send themselves."""

from collections import Counter
from typing import Any

import pytest
from tables import table_of

from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.sending import thread_shares, today_of


@pytest.mark.parametrize(("threads", "sent", "outside", "parts", "unlike"), table_of("calibrate/thread_bytes")["parts"])
def test_parts_of_buffers_in_their_unit(
    threads: int, sent: list[list[int]], outside: int, parts: list[int], unlike: bool
) -> None:
    """Of two ranks with three steps."""
    made = Group(0.0)
    for peer, each in enumerate(sent, 1):
        made.by_thread.update({(peer, thread): size for thread, size in enumerate(each) if size})
    made.by_thread.update({(1, -1): outside} if outside else {})
    assert thread_shares([[made] * 3] * 2, threads) == (tuple(parts) or None, unlike)


@pytest.mark.parametrize(("kinds", "counts", "teams", "in_turn", "said"), table_of("calibrate/thread_bytes")["ways"])
def test_how_an_exchange_is_sent(kinds: list[str], counts: list[int], teams: int, in_turn: int, said: Any) -> None:
    """Of five exchanges with such messages, and so many to each peer, how many a team sends, and how many in turn."""
    peers = dict(enumerate(counts))
    each = [Group(0.0, kinds=Counter(kinds), counts=peers, team=n < teams, one_by_one=n < in_turn) for n in range(5)]
    assert today_of(each) == tuple(said)
