"""A reason for being off names a term: with this term alone changed, the claim is ok."""

from __future__ import annotations

from typing import Any

import pytest
from one_term import Change, scaled_curve, with_values

from pready.model.machine.machine import Machine
from pready.validate.claims.computed_once import changed
from pready.validate.papers import load, validate

pytestmark = pytest.mark.thorough

PIECES, HALVES, WHOLE = range(2, 5)
"""Manzano's segments of rendezvous: what is received in pieces, in halves of 4 MiB, and in one."""


def every_segment(term: str, factor: float) -> Change:
    """A term of every segment multiplied."""

    def change(machine: Machine) -> Machine:
        for i, segment in enumerate(machine.inter.segments):
            value: Any = getattr(segment, term)
            machine = changed(machine, ["inter", "segments", str(i), term], f"{factor * value.value:.17g} s")
        return machine

    return change


def gap_from(size: float, gap: str) -> Change:
    """Another gap between messages of at least `size` bytes: the last segment in two."""

    def change(machine: Machine) -> Machine:
        *below, last = machine.inter.segments
        segments = (*below, last, last.model_copy(update={"from_": size}))
        path = machine.inter.model_copy(update={"segments": segments})
        split = machine.model_copy(update={"inter": path})
        return with_values(**{f"inter__segments__{len(below) + 1}__g": gap})(split)

    return change


def received(*us_per_mb: float) -> Change:
    """O_r of Manzano's three ways to receive a rendezvous that its cache holds."""
    names = (f"inter__segments__{i}__O_r" for i in (PIECES, HALVES, WHOLE))
    return with_values(**{n: f"{v:g} us/MB" for n, v in zip(names, us_per_mb, strict=True)})


def alone(factor: float) -> Change:
    """G of one message alone multiplied; many in flight fill the link as before."""

    def change(machine: Machine) -> Machine:
        path = machine.inter
        segments = tuple(s.model_copy(update={"G_link": s.G_link or s.G}) for s in path.segments)
        machine = machine.model_copy(update={"inter": path.model_copy(update={"segments": segments})})
        slower = {f"inter__segments__{i}__G": f"{factor * s.G.value * 1e12:.17g} us/MB" for i, s in enumerate(segments)}
        return with_values(**slower)(machine)

    return change


TERMS: dict[str, tuple[Change, tuple[str, ...]]] = {
    "O_s of short messages": (with_values(inter__segments__0__O_s="0 us/MB"), ("gillis2023/verdict-small",)),
    "o_r": (every_segment("o_r", 3), ("jammer2022/eager",)),
    "G": (alone(3), ("marts2024/mutrino-rma-27-lag-large",)),
    "g of messages": (every_segment("g", 0.1), ("gillis2023/advice-many-threads",)),
    "g of sends": (
        gap_from(2.0**16, "2.5 us"),
        (
            "marts2024/mutrino-p2p-7-lag-large",
            "marts2024/mutrino-p2p-27-lag-large",
            "marts2024/mutrino-p2p-7-nor-large",
        ),
    ),
    "contention": (
        scaled_curve("contention", 10),
        ("temucin2022/bandwidth-32-10ms", "temucin2022/early-bird-declines"),
    ),
    "contention of 64 threads": (scaled_curve("contention", 0.02), ("zambre2021/hypre-mpi-time",)),
    "copy_hot": (with_values(memory__copy_hot="0.5 GB/s"), ("zambre2021/hypre-tags-everywhere",)),
    "contention_put": (scaled_curve("contention_put", 1 / 3), ("marts2024/mutrino-rma-27-lag-small",)),
    "epoch": (with_values(one_sided__epoch="55 us"), ("marts2024/mutrino-rma-7-nor",)),
    "O_r with less of a step at 512 KiB": (
        received(100, 125, 125),
        ("marts2024/manzano-p2p-7-lag-best", "marts2024/manzano-p2p-7-nor-best"),
    ),
    "O_r up to 512 KiB": (
        received(105, 125, 125),
        ("marts2024/manzano-rma-27-lag-large", "marts2024/manzano-rma-27-nor-large"),
    ),
    "O_r without a step": (
        received(125, 125, 125),
        ("marts2024/manzano-p2p-7-lag-up-to-8", "marts2024/manzano-p2p-7-nor-up-to-8"),
    ),
}


@pytest.mark.parametrize("term", TERMS)
def test_the_term_alone_turns_the_claim(term: str) -> None:
    change, wanted = TERMS[term]
    assert {r.id: r.status for r in validate(only=wanted, change=lambda m: m)} == dict.fromkeys(wanted, "off")
    assert {r.id: r.status for r in validate(only=wanted, change=change)} == dict.fromkeys(wanted, "ok")


@pytest.mark.parametrize("term", TERMS)
def test_the_reason_names_the_term(term: str) -> None:
    _, wanted = TERMS[term]
    for name in wanted:
        paper, claim = name.split("/")
        why = next(c.known_off for c in load(paper).claims if c.id == claim)
        assert why is not None
        assert why.startswith(term.split(maxsplit=1)[0])
