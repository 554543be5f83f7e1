"""Every claim ends as its file says it does, and machines or equations made wrong on purpose are rejected."""

from collections import Counter
from functools import cache
from typing import Any

import pytest
from claimed import as_documents_say, claimed
from tables import table_of

from pready.model.common.arrays import Array
from pready.model.equations import gain_numpy
from pready.validate import papers
from pready.validate.claims.form import Claim
from pready.validate.claims.result import ClaimResult
from pready.validate.claims.summary import able_to_fail
from pready.validate.claims.wrong_machines import WRONG_MACHINES
from pready.validate.papers import PAPERS, load, validate

CLAIMS: dict[str, Claim] = {f"{p}/{c.id}": c for p in PAPERS for c in load(p).claims}

pytestmark = pytest.mark.thorough


@cache
def results() -> dict[str, ClaimResult]:
    """What the command of docs/trust.md computed; it is run here, and not in tests/docs/test_site.py."""
    return claimed("docs/trust.md", papers)


def test_documents_say_what_it_says_today() -> None:
    as_documents_say("papers", results())


def test_what_is_off_or_out_of_scope_is_exactly_what_the_data_say() -> None:
    said = {i: "off" if c.known_off else "out of scope" if c.out_of_scope else "ok" for i, c in CLAIMS.items()}
    assert {i: r.status for i, r in results().items()} == said


def test_enough_is_checked_in_every_paper() -> None:
    checked = Counter(r.source for r in results().values() if r.status != "out of scope")
    assert set(checked) == set(PAPERS)
    assert all(n >= 8 for n in checked.values())
    ok, able = able_to_fail(results().values())  # not by fits alone, nor by what no wrong machine turns
    assert able > ok >= max(47, able / 2)


@pytest.mark.parametrize(("claim", "weak"), table_of("validate/claims")["weak"])
def test_a_claim_is_weak_if_no_wrong_machine_turns_it(claim: str, weak: bool) -> None:
    turned = any(validate(only=[claim], change=made)[0].status == "off" for made in WRONG_MACHINES.values())
    assert turned != weak
    assert results()[claim].weak == weak


def newly_off(change: Any, *papers: str) -> set[str]:
    return {r.id for r in validate(only=papers, change=change) if r.status == "off" and not r.known_off}


BY_BANDWIDTH = ("measured-gain", "gain-of-every-interface", "bandwidth", "break-even", "fft-timeline8")
BY_LOCKS = ("gillis2023/congestion-part", "gillis2023/no-aggregation", "temucin2022/overhead-59")


def test_control_of_wrong_machines() -> None:
    # with half the bandwidth the gain of Fig. 8 becomes 4 / (4 - 1.25) = 1.45
    wrong = {f"gillis2023/{name}" for name in BY_BANDWIDTH}
    assert newly_off(WRONG_MACHINES["half the bandwidth"], *wrong) == wrong
    wrong = {*BY_LOCKS, "marts2024/manzano-p2p-27-lag-16-32-worst"}
    assert newly_off(WRONG_MACHINES["no contention"], *wrong, "zambre2021/rate-scales") == wrong


def test_control_eq_4_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gain_numpy.large_message_gain

    def printed(n: Any, theta: Any, gamma: Any, beta: Any) -> Array:
        return right(n, theta, gamma * theta, beta)

    monkeypatch.setattr(gain_numpy, "large_message_gain", printed)
    wrong = {"gillis2023/eta-theta8-gamma1000", "gillis2023/fft-eta2", "gillis2023/stencil-eta8"}
    assert newly_off(None, *wrong, "gillis2023/eta-theta1-gamma1") == wrong  # θ = 1: the same either way


def test_the_seed_decides_the_draws_not_the_verdicts() -> None:
    some = [
        i for i in CLAIMS if i.startswith(("temucin2022/early-bird", "temucin2022/avail", "marts2024/mutrino-rma-7"))
    ]
    mine = {i: r for i, r in results().items() if i in some}
    assert {r.id: r for r in validate(0, only=some[:2])} == {i: mine[i] for i in some[:2]}
    other = {r.id: r for r in validate(5, only=some, change=lambda m: m)}  # without looking for weak claims
    assert sum(other[i].got != mine[i].got for i in some) >= 8  # laggards and yes or no do not move
    assert {i: r.status for i, r in other.items()} == {i: r.status for i, r in mine.items()}
