"""Approaches as data: mapping to VCIs, bins, and the counts of zambre2021."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table_of

from pready.model.approach import vcis as of_vcis
from pready.model.approach.interfaces import BY_KEY, INTERFACES, MANY, PART, TODAY, Approach, baseline
from pready.model.approach.vcis import check_transport_partitions, transport_counts, vci_members
from pready.model.common.errors import PreadyError

KNOWN = table_of("model/known")


def test_communicators_of_a_27_point_exchange() -> None:
    # zambre2021 6.1: [4, 4, 4] threads need 808; "over 12x" the 64 of endpoints.
    # 2·48 faces + 8·47 corners + 3·(4·28) edges = 96 + 376 + 336.
    assert of_vcis.communicators_27_point(4, 4, 4) == 808
    # Faces 2 (6 + 12 + 8), corners 8 (26 - 1), edges 4 (8 + 12 - 4 + 6 + 12 - 3 + 6 + 8 - 2).
    assert of_vcis.communicators_27_point(2, 3, 4) == 52 + 200 + 172


def test_what_follows_from_how_an_interface_sends() -> None:
    flags = ("one_sided", "opens", "tells", "shakes", "partitioned")
    assert {key: [f for f in flags if getattr(of, f)] for key, of in BY_KEY.items()} == KNOWN["interfaces"]
    assert BY_KEY["boundary-many"].effort == f"{MANY.effort}, an interior apart"
    found = {today: baseline(today, threads=4, partitions_per_thread=3) for today in TODAY}
    assert {today: [of.interface.key, of.messages] for today, of in found.items()} == KNOWN["today"]


@pytest.mark.parametrize(("approach", "threads", "contexts", "members"), KNOWN["vcis"])
def test_messages_by_vci(approach: Any, threads: int, contexts: int, members: list[list[int]]) -> None:
    key, *counts = approach
    assert vci_members(Approach(BY_KEY[key], *counts), threads, contexts) == members


@pytest.mark.parametrize(("members", "transports", "threads", "theta", "expected"), KNOWN["issuers"])
def test_contention_counts_possible_issuers(
    members: list[int], transports: int, threads: int, theta: int, expected: int
) -> None:
    assert of_vcis.issuing_threads(members, transports, threads, theta) == expected


@given(st.integers(1, 5000), st.integers(2, 40))
def test_transport_counts_divide_and_span(n: int, limit: int) -> None:
    counts = transport_counts(n, limit)
    assert all(n % c == 0 for c in counts)
    assert counts[0] == 1
    assert counts[-1] == n
    assert counts == sorted(set(counts))


def test_thinned_counts_are_even_in_the_logarithm() -> None:
    assert transport_counts(2**20, 11) == [4**i for i in range(11)]
    assert transport_counts(2**20, 21) == [2**i for i in range(21)]
    # Of 3 x 2^12 five: 1, 10.5, 110.9, 1167, 12288 are wanted.
    assert transport_counts(3 * 2**12, 5) == [1, 12, 96, 1024, 12288]


@pytest.mark.parametrize(("user", "valid"), [(120, ", 60, 120$"), (2**16, "a divisor of 65536$")])
def test_few_divisors_are_named(user: int, valid: str) -> None:
    with pytest.raises(PreadyError, match=f"transport_partitions = 7 does not divide {user} user partitions.*{valid}"):
        check_transport_partitions(7, user)
    check_transport_partitions(user, user)
    with pytest.raises(PreadyError, match="transport_partitions = 0"):
        check_transport_partitions(0, user)


@given(st.integers(1, 16), st.integers(1, 8), st.integers(1, 20), st.integers(1, 20))
def test_every_message_has_one_vci(threads: int, theta: int, vcis: int, contexts: int) -> None:
    for t in transport_counts(threads * theta):
        for interface in (PART, MANY):
            members = vci_members(Approach(interface, t, vcis), threads, contexts)
            assert sorted(m for group in members for m in group) == list(range(t))
            assert len(members) <= min(vcis, contexts, t)


def test_enumeration_has_no_duplicates() -> None:
    found = list(of_vcis.enumerate_approaches(INTERFACES, 4, [1, 2, 4, 8], contexts=16, max_vcis=64))
    assert len(found) == len(set(found))
    assert {a.interface.key for a in found} == {i.key for i in INTERFACES}
    assert max(a.vcis for a in found) == 4
