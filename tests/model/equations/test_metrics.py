"""The papers' metrics, with the arithmetic beside the number."""

import pytest

from pready.model.common.errors import PreadyError
from pready.model.equations import metrics


def test_formulas() -> None:
    assert float(metrics.eta(3, 2)) == 1.5
    assert float(metrics.speedup_percent(200, 94.06)) == pytest.approx(52.97)  # marts2024's best: (200 - 94.06) / 2
    assert float(metrics.overhead(59.4, 1)) == 59.4  # temucin2022 4.2
    assert float(metrics.perceived_bandwidth(1e6, 1e-3)) == 1e9
    assert float(metrics.application_availability(1, 4)) == 0.75
    assert float(metrics.early_bird_percent(3, 4)) == 75


@pytest.mark.parametrize(
    ("share", "expected"),
    # temucin2022 4.8 with the 15.1x of 4.6: 1 / (1 - 0.545 + 0.545 / 15.1) = 2.036 at 256 nodes,
    # 1 / (1 - 0.204 + 0.204 / 15.1) = 1.235 at 128
    [(0.545, 2.036), (0.204, 1.235), (0.0, 1.0), (1.0, 15.1)],
)
def test_snap_projection(share: float, expected: float) -> None:
    assert metrics.projected_speedup(share, 15.1) == pytest.approx(expected, abs=5e-4)


def test_projection_refuses_nonsense() -> None:
    with pytest.raises(PreadyError, match="share"):
        metrics.projected_speedup(1.5, 2)
    with pytest.raises(PreadyError, match="communication_speedup"):
        metrics.projected_speedup(0.5, 0)
