"""Lines of `pready prove --metrics`: their form is kept, since other tools' expressions read it."""

import re
from types import SimpleNamespace
from typing import Any

from pready.show.tables.proof_metrics import LINE, metric_lines


def case(approach: str, transport: int, measured: float, predicted: float) -> Any:
    saving = SimpleNamespace(value=-1e-7, low=-0.01, high=0.02)
    return SimpleNamespace(
        way=SimpleNamespace(interface=SimpleNamespace(key=approach), most=transport),
        measured=SimpleNamespace(time_s=measured, eta=1.5, iteration_s=2.31e-3, saving=saving),
        expected=SimpleNamespace(time_s=predicted, iteration_s=2e-3, saving=0.107, eta=1.25),
    )


def test_a_line_per_figure() -> None:
    proof: Any = SimpleNamespace(
        cases=(case("bulk", 1, 1.5e-5, 1.25e-5), case("rma-many-active", 8, 1e-5, 1e-5)),
        judged=SimpleNamespace(finding="saves less"),
    )
    *lines, last = metric_lines(proof)
    assert last == "pready.finding = saves less"
    assert "pready.communication_measured[bulk] = 15 us" in lines
    assert "pready.iteration_measured[rma-many-active:8] = 2310 us" in lines
    assert "pready.saving_measured[rma-many-active:8] = -1e-05 percent" in lines
    assert "pready.eta_predicted[bulk] = 1.25 1" in lines
    found = [re.match(LINE, line) for line in lines]
    assert all(found)
    assert len({(m["name"], m["approach"]) for m in found if m}) == len(lines) == 20
