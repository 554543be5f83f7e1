"""Approaches as data: mapping to VCIs, bins, and the counts of zambre2021."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.approach.interfaces import INTERFACES, MANY, PART, SINGLE, Approach
from pready.model.approach.vcis import (
    communicators_27_point,
    enumerate_approaches,
    issuing_threads,
    transport_counts,
    vci_members,
)


def test_communicators_of_a_27_point_exchange() -> None:
    # zambre2021 6.1: [4, 4, 4] threads need 808; "over 12x" the 64 of endpoints.
    # 2·48 faces + 8·47 corners + 3·(4·28) edges = 96 + 376 + 336.
    assert communicators_27_point(4, 4, 4) == 808


@pytest.mark.parametrize(
    ("approach", "threads", "contexts", "members"),
    [
        # gillis2023 3.2.2: message i on VCI i mod n
        (Approach(PART, 8, 3), 4, 100, [[0, 3, 6], [1, 4, 7], [2, 5]]),
        # 4 threads × 2 messages: thread t owns messages 2t and 2t + 1, and has a communicator
        (Approach(MANY, 8, 4), 4, 100, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        # zambre2021 5.3: once all VCIs are taken, round-robin over them
        (Approach(MANY, 8, 8), 8, 3, [[0, 3, 6], [1, 4, 7], [2, 5]]),
        (Approach(SINGLE, 1, 4), 8, 4, [[0]]),
    ],
)
def test_messages_by_vci(approach: Approach, threads: int, contexts: int, members: list[list[int]]) -> None:
    assert vci_members(approach, threads, contexts) == members


@pytest.mark.parametrize(
    ("members", "transports", "threads", "theta", "expected"),
    [
        ([0], 1, 8, 4, 1),  # one message is issued once
        (list(range(32)), 32, 8, 4, 8),  # as many issuers as threads
        ([0, 1, 2, 3], 32, 8, 4, 1),  # all of one thread
        ([0, 1], 2, 8, 1, 2),  # two bins of four threads each: two issuers
    ],
)
def test_contention_counts_possible_issuers(
    members: list[int], transports: int, threads: int, theta: int, expected: int
) -> None:
    assert issuing_threads(members, transports, threads, theta) == expected


@given(st.integers(1, 5000), st.integers(2, 40))
def test_transport_counts_divide_and_span(n: int, limit: int) -> None:
    counts = transport_counts(n, limit)
    assert all(n % c == 0 for c in counts)
    assert counts[0] == 1
    assert counts[-1] == n
    assert counts == sorted(set(counts))


@given(st.integers(1, 16), st.integers(1, 8), st.integers(1, 20), st.integers(1, 20))
def test_every_message_has_one_vci(threads: int, theta: int, vcis: int, contexts: int) -> None:
    for t in transport_counts(threads * theta):
        for interface in (PART, MANY):
            members = vci_members(Approach(interface, t, vcis), threads, contexts)
            assert sorted(m for group in members for m in group) == list(range(t))
            assert len(members) <= min(vcis, contexts, t)


def test_enumeration_has_no_duplicates() -> None:
    found = list(enumerate_approaches(INTERFACES, 4, [1, 2, 4, 8], contexts=16, max_vcis=64))
    assert len(found) == len(set(found))
    assert {a.interface.key for a in found} == {i.key for i in INTERFACES}
    assert max(a.vcis for a in found) == 4
