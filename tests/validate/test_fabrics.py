"""Measurements on real machines: how a point becomes a claim, and what is computed on a made-up machine."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import machines
import numpy as np
import pytest
from claimed import as_documents_say, claimed
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, parse
from pready.model.machine.machine import Machine
from pready.model.timeline.own_error import HALF_WIDTH
from pready.validate import fabrics
from pready.validate.claims.checks import answer
from pready.validate.claims.computed_once import DRAWS, Lab, MachineTable, changed
from pready.validate.claims.judge import computed, interval, result, steepness
from pready.validate.claims.model_error import FACTORS, Miss, by_class, misses, spreads
from pready.validate.claims.result import ClaimResult
from pready.validate.claims.summary import figures
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


def test_who_does_not_receive_is_not_charged_for_receiving() -> None:
    # o_r matters once, at the last rank, and not between the sends of the root.
    arguments = {"buffer": "400 B", "ranks": 9, "threads": 4, "late_by": "0 s"}
    assert asked("broadcast time", **arguments, interface="many") == pytest.approx(4 * 8 * CPU + WIRE + CPU, rel=0.05)


def test_an_interval_is_of_the_machines_own_uncertainty() -> None:
    claim = parsed(with_series(points={"2 KiB": 4.57}), "x.toml").claims[0]
    lab = Lab(draws=DRAWS)
    low, high = interval(claim, lab) or (0.0, 0.0)
    value = computed(claim, Lab())[0]
    # Niagara's L has ± 5 %, the other shares of its latency ± 25 %.
    assert 0.85 * float(value) < low < float(value) < high < 1.15 * float(value)
    assert interval(claim, lab) == (low, high)
    assert interval(claim, Lab(seed=1, draws=DRAWS)) != (low, high)
    exact = claim.model_copy(update={"arguments": claim.arguments | TABLE})
    low, high = interval(exact, Plain(draws=3)) or (0.0, 1.0)
    assert low == pytest.approx(high)  # nothing of it has an interval


def test_how_a_figure_goes_with_the_models_error() -> None:
    """A ping-pong of 10 kB on a machine of o, L and G takes 2 + 5 us of messages and 10 us of bytes."""
    claim = parsed(with_series(points={LARGE: 4.57}), "x.toml").claims[0]
    of = steepness(claim.model_copy(update={"arguments": TABLE | {"size": LARGE}}), Plain(draws=DRAWS))
    assert of == pytest.approx({"bytes": 10 / 17, "messages": 7 / 17, "locks": 0, "ports": 0}, abs=1e-3)


def drawn_misses(seed: int, sds: tuple[float, ...], machines: int = 12) -> list[Miss]:
    """Figures of machines, some steep in one factor and some in two, off by what these factors of each figure say."""
    rng, out = np.random.default_rng(seed), list[Miss]()
    for n in range(machines * 60):
        steep = np.zeros(6)
        first = n // machines % 4
        share = (n // machines // 4) % 5 / 4
        steep[first], steep[(first + 1) % 4], steep[4:] = share, 1 - share, n % 2
        out.append(Miss(f"m{n % machines}", float(rng.normal(0, sds) @ steep), 0.0, tuple(steep.tolist())))
    return out


def test_spreads_are_recovered() -> None:
    """Of figures that six factors of known spread have drawn; a negative control has another spread."""
    sds = (0.1, 0.2, 0.4, 0.15, 0.03, 0.02)
    found = spreads(drawn_misses(5, sds))
    student = 2.201 * math.sqrt(1 + 1 / 12)  # of 12 machines
    for of, sd in zip(FACTORS, sds[:4], strict=False):  # the other two add up
        assert math.log1p(found[of]) == pytest.approx(student * sd, rel=0.25), of
    wider = spreads(drawn_misses(5, (0.3, *sds[1:])))
    assert math.log1p(wider["bytes"]) > 2 * math.log1p(found["bytes"])
    # What is known to be off by a wrong term widens nothing; few machines tell less than many.
    known = Miss("m0", 2.0, 0.0, known=True)
    assert spreads([*drawn_misses(5, sds), known]) == found
    assert spreads(drawn_misses(5, sds, machines=3))["bytes"] > found["bytes"]


def test_each_machine_is_judged_by_the_error_of_the_others() -> None:
    sds = (0.04, 0.1, 0.4, 0.2, 0.03, 0.02)
    found = [replace(m, large=n % 2 == 0) for n, m in enumerate(drawn_misses(6, sds))]
    classes = by_class(found)
    assert {name: of["claims"] for name, of in classes.items()} == {
        "one message": 720, "below 64 KiB": 360, "from 64 KiB": 360,
    }  # fmt: skip
    assert 0.93 < classes["one message"]["held"] < 0.99
    # Negative control: a machine that is off by twice as much is not held by the others.
    odd = [replace(m, off=2.5 * m.off) if m.machine == "m1" else m for m in found]
    alone = by_class([replace(m, of="odd") if m.machine == "m1" else m for m in odd])["odd"]
    assert alone["held"] < 0.8


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


@cache
def results() -> dict[str, ClaimResult]:
    """What the command of docs/trust.md computed; it is run here, and not in tests/docs/test_site.py."""
    return claimed("docs/trust.md", fabrics)


@pytest.mark.thorough
def test_what_is_off_is_exactly_what_is_known_to_be() -> None:
    known = {f"{f}/{c.id}" for f in FABRICS for c in load(f).claims if c.known_off is not None}
    assert {i for i, r in results().items() if r.status == "off"} == known


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
    as_documents_say("fabrics", results())
    of_all = figures(list(results().values()))
    for factor, half in of_all["model_error_percent"].items():
        assert half == pytest.approx(100 * HALF_WIDTH[factor], rel=0.1), factor
    page = Path("docs/archive/model-error.md").read_text(encoding="utf-8")
    for name, of in of_all["by_class"].items():
        inside, wide = of["inside_with_error_percent"], of["median_half_width_percent"]
        assert f"| {name} | {of['measurements']} | {inside} % | {wide} % |" in page
        assert of["measurements"] >= 20
        assert 92 <= inside <= 98.5, name


def test_no_figure_is_of_a_size_that_machines_are_fitted_on() -> None:
    # Even exponents of two are fitted, odd ones judged (`pready.validate.fabrics.series`).
    for machine in FABRICS:
        for claim in load(machine).claims:
            given = [claim.arguments[name] for name in ("size", "partition", "buffer") if name in claim.arguments]
            assert given or claim.check in ("threads ping pong", "there and back"), claim.id
            assert all(math.log2(parse(size, Unit.SIZE)) % 2 == 1 for size in given[:1]), claim.id
