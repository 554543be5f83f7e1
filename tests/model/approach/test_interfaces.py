"""Approaches as data: mapping to VCIs, bins, and the counts of zambre2021."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table_of

from pready.model.approach.interfaces import BY_KEY, INTERFACES, MANY, PART, Approach
from pready.model.approach.vcis import (
    communicators_27_point,
    enumerate_approaches,
    issuing_threads,
    transport_counts,
    vci_members,
)

KNOWN = table_of("model/known")


def test_communicators_of_a_27_point_exchange() -> None:
    # zambre2021 6.1: [4, 4, 4] threads need 808; "over 12x" the 64 of endpoints.
    # 2·48 faces + 8·47 corners + 3·(4·28) edges = 96 + 376 + 336.
    assert communicators_27_point(4, 4, 4) == 808


@pytest.mark.parametrize(("approach", "threads", "contexts", "members"), KNOWN["vcis"])
def test_messages_by_vci(approach: Any, threads: int, contexts: int, members: list[list[int]]) -> None:
    key, *counts = approach
    assert vci_members(Approach(BY_KEY[key], *counts), threads, contexts) == members


@pytest.mark.parametrize(("members", "transports", "threads", "theta", "expected"), KNOWN["issuers"])
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
