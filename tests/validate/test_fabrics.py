"""Measurements on real machines: how a point becomes a claim, and what is computed on a made-up machine."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import machines
import pytest
from claimed import claimed
from refresh import TRUST, trust_numbers, with_numbers
from tables import table_of

from pready.model.advice.own_error import HALF_WIDTH
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, parse
from pready.model.machine.machine import Machine
from pready.validate import fabrics
from pready.validate.claims.checks import answer
from pready.validate.claims.computed_once import DRAWS, Lab, MachineTable, changed
from pready.validate.claims.judge import computed, interval, result
from pready.validate.claims.model_error import Miss, by_class, held_by_others, misses, model_error
from pready.validate.claims.result import ClaimResult
from pready.validate.claims.summary import figures
from pready.validate.claims.wrong_machines import WRONG_MACHINES
from pready.validate.fabrics import FABRICS, load
from pready.validate.fabrics.kinds import KINDS
from pready.validate.fabrics.series import parsed

POINTS = {"8 B": 3.07, "2 KiB": 4.57}
SERIES: dict[str, Any] = {"id": "there", "kind": "ping-pong", "file": "a/b.txt", "points": POINTS}
FILE: dict[str, Any] = {"name": "x", "title": "X", "source": "owner/repository @0123abc", "profile": "niagara"}
FILE |= {"series": [SERIES]}


def with_series(**changes: Any) -> dict[str, Any]:
    return FILE | {"series": [SERIES | changes]}


def test_each_point_is_a_claim_with_its_source() -> None:
    first, second = parsed(FILE, "x.toml").claims
    assert (first.id, second.id) == ("there-8b", "there-2kib")
    assert first.where == "owner/repository @0123abc, a/b.txt"
    assert first.says == "8 B take 3.07 us one way."
    assert (first.expected, first.unit) == (3.07, "us")
    assert first.tolerance is not None
    assert first.tolerance.relative == KINDS["ping-pong"].tolerance
    assert (first.tolerance.why, KINDS["pairs"].why) == (
        "a size between fitted ones", "another quantity than what was fitted"
    )  # fmt: skip
    assert first.basis == "independent"


@pytest.mark.parametrize(("changes", "message"), table_of("validate/claims")["series"])
def test_bad_series_are_one_clear_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PreadyError) as caught:
        parsed(with_series(**changes), "x.toml")
    assert str(caught.value) == message


def test_a_sign_asks_for_the_side_of_1_alone() -> None:
    arguments = {"ranks": 4, "threads": 2, "late_by": "40 us"}
    changes = {"kind": "sign of the gain", "points": {"2 MiB": 1.05, "8 KiB": 0.03}, "arguments": arguments}
    pays, costs = parsed(with_series(**changes), "x.toml").claims
    assert (pays.says, costs.says) == ("2 MiB to 4 ranks: partitions pay.", "8 KiB to 4 ranks: partitions cost time.")
    for claim, low, high in ((pays, 1.0, None), (costs, None, 1.0)):
        assert (claim.expected.at_least, claim.expected.at_most) == (low, high)  # type: ignore[union-attr]


def test_only_names_machines_or_claims() -> None:
    with pytest.raises(PreadyError, match=r"only = 'nirvana' is neither a machine nor a claim; valid: alaska, .* id$"):
        fabrics.validate(only=["nirvana"])
    with pytest.raises(PreadyError, match="machine = 'nirvana' is unknown"):
        load("nirvana")


CPU, WIRE, BYTE = 1e-6, 5e-6, 1e-9
"""o_s = o_r, L and G of a machine that has nothing else."""
SMALL, LARGE = "100 B", "10000 B"
"""A message that takes the link for less than o, and one that takes it for ten times as long."""


class Plain(Lab):
    """A lab whose only machine costs o, L and G, between nodes and within one."""

    def machine(self, table: MachineTable) -> Machine:
        made = machines.ideal(o_s=CPU, o_r=CPU, L=WIRE, G=BYTE)
        for name, value in table.set.items():
            made = changed(made, name.split("."), value)
        return made.model_copy(update={"intra": made.inter})


TABLE: dict[str, Any] = {"machine": {"profile": "plain"}}


def asked(name: str, **arguments: Any) -> float:
    found = answer(name, TABLE | arguments, Plain())
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize(("check", "arguments", "expected"), table_of("validate/answers")["plain"])
def test_checks_have_known_answers(check: str, arguments: dict[str, Any], expected: Any) -> None:
    found = answer(check, arguments, Plain())
    assert found == (expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-6))


def test_a_handshake_pays_when_matching_has_cost_as_much() -> None:
    """Request and reply take twice 7 us; each later one saves 1.9 us and 1 us of a receive: 5 after the first."""

    class Matching(Plain):
        def machine(self, table: MachineTable) -> Machine:
            return machines.ideal(o_s=CPU, o_r=CPU, L=WIRE, G=BYTE, match=1.9e-6)

    data = TABLE | {"size": SMALL, "compute": "10 ms"}
    assert answer("operations until the handshake pays", data, Matching()) == 1 + 5
    data |= {"compute": "8 us"}  # after which neither is done
    one, matched = (
        float(answer("overhead beyond computation", data | {"approach": {"interface": key}}, Matching()))
        for key in ("single", "persistent-matched")
    )
    assert one > matched > 2e-6
    assert answer("operations until the handshake pays", data, Matching()) == 1 + math.ceil(14e-6 / (one - matched))


def test_pairs_of_ranks_share_the_adapters_of_their_nodes_not_the_processors() -> None:
    assert asked("window", size=SMALL, messages=64, pairs=3) > 2.5 * asked("window", size=SMALL, messages=64)


def test_both_ways_use_both_directions_of_the_link_and_wait_for_no_answer() -> None:
    large = CPU + 64 * 10_000 * BYTE + WIRE + CPU
    both = asked("window", size=LARGE, messages=64, both_ways=True)
    assert both == pytest.approx(2 * 64 * 10_000 / large, rel=0.01)
    # without the answer that follows one way
    assert both > 2 * asked("window", size=LARGE, messages=64)


def test_time_per_message_is_the_processors_or_the_links() -> None:
    for size, each in ((100, CPU), (10_000, 10_000 * BYTE)):
        buffer = f"{64 * size} B"
        for threads in (1, 4):
            found = asked("time per message", buffer=buffer, partition=f"{size} B", threads=threads, interface="many")
            assert found == pytest.approx(each + (WIRE + 2 * CPU + size * BYTE - each) / 64, rel=0.02)
    with pytest.raises(PreadyError, match="4 messages by 3 threads; valid: a multiple of the threads"):
        asked("time per message", buffer="400 B", partition=SMALL, threads=3, interface="many")


def test_linear_broadcasts_of_niagara() -> None:
    """On which side of 1 the gain lies from 128 KiB up, at sizes that nothing was fitted on, and how far off the median
    time of partitions is."""
    lab = Lab()
    claims = [c for c in load("niagara").claims if c.id.split("-")[0] in ("bulk", "partitions")]
    ours = {c.id: float(computed(c, c.arguments, lab)[0]) for c in claims}
    theirs = {c.id: float(c.expected) for c in claims if isinstance(c.expected, float)}
    sizes = [name.removeprefix("bulk-") for name in ours if name.startswith("bulk-")]
    for size in sizes:
        if size not in ("512b", "8kib"):
            gains = [of[f"bulk-{size}"] / of[f"partitions-{size}"] for of in (ours, theirs)]
            assert (gains[0] > 1) == (gains[1] > 1), size
    off = sorted(abs(ours[f"partitions-{size}"] / theirs[f"partitions-{size}"] - 1) for size in sizes)
    assert len(off) == 6
    assert (off[2] + off[3]) / 2 < 0.25


def test_who_does_not_receive_is_not_charged_for_receiving() -> None:
    # o_r matters once, at the last rank, and not between the sends of the root.
    arguments = {"buffer": "400 B", "ranks": 9, "threads": 4, "late_by": "0 s"}
    assert asked("broadcast time", **arguments, interface="many") == pytest.approx(4 * 8 * CPU + WIRE + CPU, rel=0.05)


def test_an_interval_is_of_the_machines_own_uncertainty() -> None:
    claim = parsed(with_series(points={"2 KiB": 4.57}), "x.toml").claims[0]
    lab = Lab(draws=DRAWS)
    low, high = interval(claim, lab) or (0.0, 0.0)
    value = computed(claim, claim.arguments, Lab())[0]
    # Niagara's L has ± 5 %, the other shares of its latency ± 25 %.
    assert 0.85 * float(value) < low < float(value) < high < 1.15 * float(value)
    assert interval(claim, lab) == (low, high)
    assert interval(claim, Lab(seed=1, draws=DRAWS)) != (low, high)
    exact = claim.model_copy(update={"arguments": claim.arguments | TABLE})
    low, high = interval(exact, Plain(draws=3)) or (0.0, 1.0)
    assert low == pytest.approx(high)  # nothing of it has an interval


def test_the_models_error_is_what_intervals_lack() -> None:
    # off by 30 % with an interval of 40 %, and with one of 0: the first lacks nothing
    assert Miss("a", math.log(1.3), math.log(1.4)).lacks == 0
    assert Miss("a", math.log(1.3), 0.0).lacks == pytest.approx(math.log(1.3))
    # 95 of 100 within 10 %, the others off by a factor of 2: about the border between them
    many = [Miss("a", math.log(1.1), 0.0)] * 95 + [Miss("a", math.log(2), 0.0)] * 5
    assert 0.1 < model_error(many) < 1
    assert model_error(many[:95]) == pytest.approx(0.1)
    # each claim counts once, whatever its machine
    assert model_error([replace(m, machine="b") for m in many]) == model_error(many)


def test_each_machine_is_judged_by_the_error_of_the_others() -> None:
    found = [Miss("a", 0.1, 0.0)] * 3 + [Miss("b", 0.2, 0.0)] * 3
    assert held_by_others(found) == 0.5
    assert held_by_others([found[0], *20 * found[3:]]) == 1 / 61
    assert held_by_others(found[:3]) == 1  # by its own
    classes = by_class([*found, replace(found[0], of="stream")])
    assert {name: of["claims"] for name, of in classes.items()} == {"one message": 6, "stream": 1}
    assert classes["stream"]["error"] == pytest.approx(math.expm1(0.1))


def test_only_numbers_with_an_interval_have_a_miss() -> None:
    made = result("x", parsed(FILE, "x.toml").claims[0], Lab(), "fabrics")
    assert misses([made]) == []
    wide = replace(made, expected=3.0, got=2.0, low=1.5, high=2.5)
    miss, below, outside, exact = misses(
        [wide, replace(wide, expected=1.0), replace(wide, high=1.9), replace(wide, expected=2.0)]
    )
    assert [miss.off, miss.half] == pytest.approx([math.log(1.5), math.log(1.25)])
    found = [below.off, below.half, outside.half, exact.off, exact.half]
    assert found == pytest.approx([math.log(0.5), math.log(2 / 1.5), 0, 0, math.log(2 / 1.5)])
    assert misses([replace(wide, low=0.0), replace(wide, high=math.inf), replace(wide, expected=True)]) == []


MODEL_ERROR = "model_error_percent", "inside_with_error_percent", "median_half_width_percent"


@cache
def results() -> dict[str, ClaimResult]:
    """What the command of docs/trust.md computed; it is run here, and not in tests/docs/test_site.py."""
    return claimed("docs/trust.md", fabrics)


@pytest.mark.thorough
def test_what_is_off_is_exactly_what_is_known_to_be() -> None:
    known = {f"{f}/{c.id}" for f in FABRICS for c in load(f).claims if c.known_off is not None}
    assert {i for i, r in results().items() if r.status == "off"} == known


@pytest.mark.thorough
def test_half_the_bandwidth_is_noticed() -> None:
    found = fabrics.validate(only=["niagara"], change=WRONG_MACHINES["half the bandwidth"])
    off = {r.id for r in found if r.status == "off"}
    assert {"niagara/bulk-2mib", "niagara/bulk-32mib", "niagara/partitions-32mib"} <= off


@pytest.mark.thorough
def test_what_is_asked_of_them() -> None:
    """At least 60 claims of 8 machines, 45 of which a wrong machine turns; at most a quarter is off."""
    found = figures(list(results().values()))
    assert found["sources"] >= 8
    assert found["checked"] >= 60
    assert found["can_fail_ok"] >= 45
    assert found["off"] <= found["checked"] / 4


@pytest.mark.thorough
def test_documents_say_what_it_says_today() -> None:
    numbers = trust_numbers("fabrics", tuple(results().values()))
    for document in TRUST:
        text = document.read_text(encoding="utf-8")
        assert text.count("<!-- fabrics_") >= 8
        assert with_numbers(text, numbers) == text
    found = figures(list(results().values()))["by_class"]
    assert {c: round(found[c]["model_error_percent"]) for c in HALF_WIDTH} == {
        c: round(100 * w) for c, w in HALF_WIDTH.items()
    }
    page = Path("docs/archive/model-error.md").read_text(encoding="utf-8")
    for name, of in found.items():
        error, inside, wide = (of[k] for k in MODEL_ERROR)
        assert f"| {name} | {of['measurements']} | {error} % | {inside} % | {wide} % |" in page
        assert of["measurements"] >= 20
        assert 92 <= inside <= 98, name


def test_no_figure_is_of_a_size_that_machines_are_fitted_on() -> None:
    # Even exponents of two are fitted, odd ones judged (`pready.validate.fabrics.series`).
    for machine in FABRICS:
        for claim in load(machine).claims:
            given = [claim.arguments[name] for name in ("size", "partition", "buffer") if name in claim.arguments]
            assert given or claim.check in ("threads ping pong", "there and back"), claim.id
            assert all(math.log2(parse(size, Unit.SIZE)) % 2 == 1 for size in given[:1]), claim.id
