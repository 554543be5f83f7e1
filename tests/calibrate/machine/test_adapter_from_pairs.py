"""What pairs of processes say of a node's adapter: made-up rates of a machine that is known, taken apart."""

from typing import Any

import pytest
from machines import ideal
from present import present
from tables import table_of

from pready.calibrate.fit.observations import Curve
from pready.calibrate.machine.values.adapter_from_pairs import with_pairs
from pready.model.machine.machine import load


@pytest.mark.parametrize(("rate", "contexts"), [(4e6, 4), (1.1e6, 1)])
def test_pairs_show_contexts_and_the_adapter(rate: float, contexts: int) -> None:
    """Four pairs send 4 times as fast as one: a context each. As fast as one: none to be seen. The smallest size above
    0 B of both tells."""
    machine, notes = load("meluxina"), list[str]()
    sizes = [0, 8, 1 << 18, 1 << 19, 1 << 20]
    rates = {2: Curve.of([8], [9e6]), 4: Curve.of(sizes, [9e9, rate, 2e5, 1e5, 5e4])}
    alone = Curve.of(sizes, [1e-6, 1e-6, 9e-5, 9e-5, 1e-4])
    found = with_pairs(machine, rates, alone, notes)
    assert (found.contexts.value, notes) == (contexts, [])
    assert found.contexts.why.startswith("osu_mbw_mr: 4 processes of a node send ")
    assert present(found.adapter).rate.value == pytest.approx(5e4 * (1 << 20))  # of the largest sizes
    assert found.inter == machine.inter
    without = with_pairs(machine, rates, None, notes)
    assert without.contexts == machine.contexts
    assert notes == ["osu_mbw_mr of 4 pairs says nothing of contexts without one pair's (osu_bw, or 1 pair)"]


@pytest.mark.parametrize("case", table_of("calibrate/adapters")["pairs"], ids=lambda case: case["why"][:40])
def test_what_pairs_show_of_an_adapter(case: dict[str, Any]) -> None:
    machine = ideal(L=1e-6 * (case.get("message", 4) - 2), o_s=1e-6, o_r=1e-6, G=1 / 8e9)
    rates = {
        int(k): Curve.of([size for size, _ in rows], [rate for _, rate in rows]) for k, rows in case["rates"].items()
    }
    rows = case.get("alone", [])
    alone = Curve.of([size for size, _ in rows], [1e-6 * us for _, us in rows]) if rows else None
    found = present(with_pairs(machine, rates, alone, []).adapter)
    for value, said, unit in ((found.rate, case["rate"], 1e9), (found.gap, case["gap"], 1e-9)):
        assert [value.value, *present(value.interval)] == pytest.approx([said[k] * unit for k in (1, 0, 2)], rel=1e-6)
    assert (found.rate.source, found.gap.source) == (
        "measured" if rates else "assumed",
        "measured" if "says" in case else "assumed",
    )
    assert found.gap.why == case.get("says", found.gap.why)
