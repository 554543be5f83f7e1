"""A reason for being off, in a paper or on a real machine, names a term: with this term alone changed, it agrees."""

from collections.abc import Callable
from typing import Any

import pytest

from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.validate import fabrics, papers
from pready.validate.claims.computed_once import changed

pytestmark = pytest.mark.thorough
Change = Callable[[Machine], Machine]


def with_values(**values: str) -> Change:
    """Values by their dotted name, `__` for a dot."""

    def change(machine: Machine) -> Machine:
        for name, value in values.items():
            machine = changed(machine, name.split("__"), value)
        return machine

    return change


def scaled_curve(name: str, factor: float) -> Change:
    """A curve over threads multiplied."""

    def change(machine: Machine) -> Machine:
        curve = getattr(machine.threads, name) or contention(machine)
        made = curve.model_copy(update={"time": tuple(factor * t for t in curve.time)})
        threads = machine.threads.model_copy(update={name: made})
        return machine.model_copy(update={"threads": threads})

    return change


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


def of_segment(size: float, **values: str) -> Change:
    """Values of the segment that a message of `size` bytes belongs to."""

    def change(machine: Machine) -> Machine:
        at = machine.inter.segments.index(machine.inter.segment(size))
        return with_values(**{f"inter__segments__{at}__{name}": value for name, value in values.items()})(machine)

    return change


O_R = "inter__segments__2__O_r"
"""Of Manzano's rendezvous."""
TERMS: tuple[tuple[str, Change, tuple[str, ...]], ...] = (
    ("O_s", with_values(inter__segments__0__O_s="0 us/MB"), ("gillis2023/verdict-small",)),
    ("o_r", every_segment("o_r", 3), ("jammer2022/eager",)),
    ("g", every_segment("g", 0.1), ("gillis2023/advice-many-threads",)),
    ("g", gap_from(2.0**16, "2.5 us"), tuple(f"marts2024/mutrino-p2p-{which}-large" for which in ("7-lag", "27-lag"))),
    (
        "contention",
        scaled_curve("contention", 10),
        ("temucin2022/bandwidth-32-10ms", "temucin2022/early-bird-declines"),
    ),
    ("copy_hot", with_values(memory__copy_hot="0.5 GB/s"), ("zambre2021/hypre-tags-everywhere",)),
    ("epoch", with_values(one_sided__epoch="55 us"), ("marts2024/mutrino-rma-7-nor",)),
    ("O_r", with_values(**{O_R: "60 us/MB"}), tuple(f"marts2024/manzano-rma-7-{of}-best" for of in ("lag", "nor"))),
    ("O_r", with_values(**{O_R: "100 us/MB"}), ("marts2024/rma-large-wins",)),
    ("O_r", with_values(**{O_R: "125 us/MB"}), ("marts2024/manzano-rma-27-nor-best", "marts2024/best-of-all")),
    ("o_s, o_r and g", of_segment(2048, o_s="0.114 us", o_r="0.114 us", g="0.114 us"), ("alaska/stream-2kib",)),
    ("adapter.gap", with_values(adapter__gap="25 ns"), ("alaska/pairs-32-128b",)),
    ("o_r", of_segment(8, o_r="0.05 us"), ("alaska-roce/both-ways-8b",)),
    ("L", of_segment(128, L="2.06 us"), ("alps/ping-pong-128b",)),
    ("g", of_segment(32768, g="1.1 us"), ("alps/both-ways-32kib",)),
    ("contention", scaled_curve("contention", 1.5), ("niagara/gain-8kib", "niagara/gain-128kib")),
)
"""How the reason begins, what turns the claims, and these."""


@pytest.mark.parametrize(("term", "change", "wanted"), TERMS, ids=[wanted[0] for *_, wanted in TERMS])
def test_the_term_alone_turns_the_claim_and_the_reason_names_it(
    term: str, change: Change, wanted: tuple[str, ...]
) -> None:
    of = papers if wanted[0].split("/")[0] in papers.PAPERS else fabrics
    assert {r.id: r.status for r in of.validate(only=wanted, change=lambda m: m)} == dict.fromkeys(wanted, "off")
    assert {r.id: r.status for r in of.validate(only=wanted, change=change)} == dict.fromkeys(wanted, "ok")
    for source, claim in (name.split("/") for name in wanted):
        why = next(c.known_off for c in of.load(source).claims if c.id == claim)
        assert why is not None
        assert why.startswith(term)


def test_each_reason_on_a_real_machine_has_its_term() -> None:
    said = {f"{f}/{c.id}": c.known_off or "requests" for f in fabrics.FABRICS for c in fabrics.load(f).claims}
    reasons = {claim for claim, why in said.items() if not why.startswith(("overheads", "requests"))}
    assert reasons <= {name for *_, wanted in TERMS for name in wanted}
