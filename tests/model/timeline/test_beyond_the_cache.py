"""What a rank receives in an exchange beyond its last-level cache takes longer."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.advice.explanation import explain
from pready.model.approach.interfaces import MANY, RMA_SINGLE_ACTIVE, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.evaluate import Evaluation
from pready.model.machine.machine import Machine, load
from pready.model.timeline.costs import Costs, costs
from pready.model.timeline.sampling import Sampler
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

WITHIN, BEYOND, CACHE = 100e-12, 300e-12, 4e6
"""O_r and O_r_beyond in s/B, and the cache in bytes."""


def value(text: str) -> dict[str, Any]:
    return {"value": text, "source": "assumed", "why": "test"}


@cache
def manzano() -> dict[str, Any]:
    return tomllib.loads((resources.files("pready.model.machine") / "profiles" / "manzano.toml").read_text())


def data(memory: Mapping[str, Any], **segment: Any) -> dict[str, Any]:
    """Manzano with one segment, that of large messages, of which O_r and O_r_beyond are as given."""
    out = deepcopy(manzano())
    last = {n: v for n, v in out["inter"]["segments"][-1].items() if n not in ("O_r", "O_r_beyond")}
    out["inter"]["segments"] = [{**last, "from": "0 B", **segment}]
    out["memory"] = {n: v for n, v in out["memory"].items() if n.startswith("copy")} | dict(memory)
    return out


def machine(cache: float | None = CACHE, beyond: float = BEYOND, **memory: Any) -> Machine:
    """With a cache of so many bytes; None: nothing is said of one."""
    segment = {"O_r": value(f"{WITHIN!r} s/B")}
    if cache is not None:
        segment["O_r_beyond"] = value(f"{beyond!r} s/B")
        memory["cache"] = value(f"{cache!r} B")
    return validated(Machine, data(memory, **segment), "test")


KNOWN = machine()


def workload(buffer: float, neighbours: int | None = 4, **more: Any) -> Workload:
    given_ = {"threads": 4, "buffer": f"{buffer!r} B", "pattern": "neighbours", "neighbours": neighbours, **more}
    return Workload.model_validate(given_)


def per_byte(of: Machine, w: Workload, size: float) -> float:
    """What receiving a message takes beyond o_r, by its bytes."""
    c = costs(Sampler(of), w, size)
    return (float(c.unmatched) - of.inter.segments[0].o_r.value) / size


def test_known_answer() -> None:
    # 4 neighbours send 2 MB each: 8 MB, of which 4 MB find room. The mean of both is 200 ps/B.
    assert per_byte(machine(), workload(2e6), 2e6) == pytest.approx(200e-12)
    # Of 3 x 2 MB a third finds none: 100 + 200 / 3.
    assert per_byte(machine(), workload(2e6, 3), 2e6) == pytest.approx(166.6666666e-12)


@given(buffer=st.integers(1, 10**8), neighbours=st.integers(1, 64), pieces=st.sampled_from((1, 2, 4)))
def test_an_exchange_fills_the_cache_first(buffer: int, neighbours: int, pieces: int) -> None:
    # However it is split, min(V, cache) at O_r and the rest at O_r_beyond.
    size, received = 4.0 * buffer / pieces, 4.0 * buffer * neighbours
    whole = received * per_byte(KNOWN, workload(4.0 * buffer, neighbours), size)
    assert whole == pytest.approx(min(received, CACHE) * WITHIN + max(received - CACHE, 0) * BEYOND, rel=1e-6)


@given(st.lists(st.integers(1, 10**8), min_size=2, max_size=2, unique=True).map(sorted))
def test_more_takes_longer_and_a_byte_no_more_than_its_own(buffers: list[int]) -> None:
    a, b = (4.0 * n for n in buffers)
    first, second = (float(costs(Sampler(KNOWN), workload(x), x).receive) for x in (a, b))
    # 4 neighbours: where all is beyond the cache, each further byte of the four costs BEYOND.
    assert (b - a) * WITHIN * (1 - 1e-6) <= second - first <= (b - a) * BEYOND * (1 + 1e-6)


@pytest.mark.parametrize("draws", [0, 5])
def test_what_finds_room_costs_the_same_bits_as_without_a_cache(draws: int) -> None:
    w = workload(1e6)
    plain, roomy = (costs(Sampler(m, draws=draws, seed=3), w, 1e6) for m in (machine(None), machine()))
    for field in fields(Costs):
        np.testing.assert_array_equal(getattr(plain, field.name), getattr(roomy, field.name), strict=True)


@pytest.mark.parametrize(
    ("ranks", "caches", "beyond"),
    [
        (1, None, 0.5),  # 8 MB, room for 4
        (1, 2, 0.5),  # no rank receives into two
        (2, 2, 0.5),
        (4, 2, 0.75),  # two ranks for each cache: room for 2
        (2, None, 0.75),
    ],
)
def test_ranks_of_a_node_share_its_caches(ranks: int, caches: int | None, beyond: float) -> None:
    more: dict[str, Any] = {} if caches is None else {"caches": {"value": caches, "source": "assumed", "why": "test"}}
    shared: dict[str, Any] = {"ranks_per_node": ranks} if ranks > 1 else {}
    assert per_byte(machine(**more), workload(2e6, **shared), 2e6) == pytest.approx(WITHIN + beyond * (BEYOND - WITHIN))


@pytest.mark.parametrize(
    ("fields_", "received"),
    [
        ({"pattern": "pt2pt", "buffer": "3 MB"}, 3e6),
        ({"pattern": "halo3d", "buffer": "1 MB"}, 6e6),
        ({"pattern": "halo3d", "faces": ["4 MB", "2 MB", "1 MB"], "grid": [2, 2, 1]}, 12e6),
        ({"pattern": "halo3d26", "buffer": "1 MB", "edge": "10 kB", "corner": "1 kB"}, 6e6 + 12 * 1e4 + 8 * 1e3),
        ({"pattern": "sweep3d", "buffer": "1 MB"}, 2e6),
        ({"pattern": "neighbours", "neighbours": 5, "buffer": "1 MB"}, 5e6),
        # Rank 0 receives from both others.
        ({"pattern": "neighbours", "neighbour_list": [[1], [0], [0]], "buffer": "1 MB"}, 2e6),
        ({"pattern": "neighbours", "neighbour_list": [[{"to": 1, "size": "5 MB"}], [0], [0]], "buffer": "1 MB"}, 5e6),
    ],
)
def test_what_a_rank_receives(fields_: dict[str, Any], received: float) -> None:
    assert Workload.model_validate({"threads": 4, **fields_}).received == received


def test_what_is_unsure_is_drawn() -> None:
    sure = machine()
    assert sure.memory.cache is not None
    memory = sure.memory.model_copy(update={"cache": sure.memory.cache.model_copy(update={"interval": (3e6, 5e6)})})
    unsure = sure.model_copy(update={"memory": memory})
    drawn = costs(Sampler(unsure, draws=200, seed=1, lead=1), workload(2e6), 2e6).receive
    assert drawn[0] == costs(Sampler(sure), workload(2e6), 2e6).receive
    # 95 % of the draws have room for 3 to 5 of 8 MB.
    low, high = (float(costs(Sampler(machine(c)), workload(2e6), 2e6).receive) for c in (5e6, 3e6))
    assert 0.9 < np.mean((low <= drawn) & (drawn <= high)) < 0.99


@pytest.mark.parametrize("approach", [Approach(SINGLE), Approach(MANY, 4)])
def test_pairs_and_ranks_pay_it(approach: Approach) -> None:
    # A pair: what the receiver pays last, message by message, is the last of the exchange. The whole of 16 MB is
    # 12 MB beyond; with O_r above G (81 ps/B) pieces queue for the receiver as well.
    pair = Workload.model_validate({"threads": 4, "buffer": "16 MB"})
    with_, without = (Evaluation(m, pair, draws=0).mean_time(approach) for m in (machine(), machine(1e9)))
    assert with_ - without == pytest.approx(12e6 * (BEYOND - WITHIN), rel=1e-9)
    ring = workload(4e6, neighbour_list=[[1, 2], [2, 0], [0, 1]], neighbours=None)  # 8 MB each, half of them beyond
    slower, faster = (Evaluation(m, ring, draws=0).mean_time(approach) for m in (machine(), machine(1e9)))
    assert slower - faster == pytest.approx(4e6 * (BEYOND - WITHIN), rel=1e-6)


def test_explanations_say_how_much_does_not_fit() -> None:
    def receiving(w: Workload) -> str:
        return next(s.rule for s in explain(machine(), w, Approach(SINGLE)).bulk.steps if s.name == "receive")

    large, small = (Workload.model_validate({"threads": 4, "buffer": b}) for b in ("16 MB", "4 MB"))
    assert receiving(large).endswith("; 75 % of the bytes do not fit into the cache")  # 12 of 16 MB
    assert "cache" not in receiving(small)


def test_puts_that_an_adapter_takes_in_do_not() -> None:
    pair = Workload.model_validate({"threads": 4, "buffer": "16 MB"})
    with_, without = (
        Evaluation(m, pair, draws=0).mean_time(Approach(RMA_SINGLE_ACTIVE, 4)) for m in (machine(), machine(1e9))
    )
    assert with_ == without


def test_the_other_profiles_have_no_cache() -> None:
    # Only marts2024 has exchanges on both sides of one.
    assert {n for n in ("manzano", "mutrino", "meluxina", "niagara", "bebop") if load(n).memory.cache} == {"manzano"}


@pytest.mark.parametrize(
    ("memory", "segment", "says"),
    [
        ({"cache": value("4 MB")}, {"O_r": value("100 us/MB")}, "memory.cache without O_r_beyond"),
        ({}, {"O_r": value("100 us/MB"), "O_r_beyond": value("300 us/MB")}, "O_r_beyond without memory.cache"),
        (
            {"cache": value("4 MB")},
            {"O_r": value("100 us/MB"), "O_r_beyond": value("90 us/MB")},
            "O_r_beyond = 9e-11 s/B beside O_r = 1e-10 s/B",
        ),
        ({"cache": value("4 MB")}, {"O_r_beyond": value("90 us/MB")}, "O_r_beyond = 9e-11 s/B beside no O_r"),
        (
            {"caches": {"value": 2, "source": "assumed", "why": "test"}},
            {"O_r": value("100 us/MB")},
            "memory.caches without memory.cache",
        ),
        ({"cache": value("0 MB")}, {"O_r": value("100 us/MB"), "O_r_beyond": value("300 us/MB")}, "memory.cache"),
    ],
)
def test_half_a_cache_is_refused(memory: dict[str, Any], segment: dict[str, Any], says: str) -> None:
    with pytest.raises(PreadyError, match=says):
        validated(Machine, data(memory, **segment), "test")
