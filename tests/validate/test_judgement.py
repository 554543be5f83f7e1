"""A decision from noisy rounds: known answers, and no contradiction that a rerun would take back."""

import numpy as np
import pytest
from tables import table_of

from pready.validate.prove.decision import decision, off_by, why
from pready.validate.prove.judgement import Finding, Judgement, Saving, judge, rounds_to_tell, saving_of

ROUNDS = table_of("validate/decisions")
LEAST = 0.01
Ends = tuple[float, float, float]
PROMISED = (0.10, 0.08, 0.12)
"""The predicted saving, and its interval."""


def rounds(*savings: float) -> Judgement:
    """Judged against `PROMISED`: rounds whose baseline takes 1 s, then 2 s, as a machine that slows down does."""
    today = np.linspace(1.0, 2.0, len(savings))
    return judge(PROMISED, 1.0, saving_of(today * (1 - np.array(savings)), today), LEAST)


def test_the_interval_is_student_s_and_drift_cancels() -> None:
    saving = saving_of(np.array([0.9, 1.8, 2.7, 3.52]), np.array([1.0, 2.0, 3.0, 4.0]))
    assert saving.value == pytest.approx((0.1 + 0.1 + 0.1 + 0.12) / 4)
    assert saving.deviation == pytest.approx(0.01)
    assert saving.half == pytest.approx(3.182 * 0.01 / 4**0.5, rel=0.01)  # t of 3 degrees of freedom


@pytest.mark.parametrize(("savings", "finding"), ROUNDS["findings"])
def test_findings(savings: tuple[float, ...], finding: Finding) -> None:
    judged = rounds(*savings)
    assert judged.finding == finding
    assert judged.contradicted == (finding == "not kept")


@pytest.mark.parametrize(("savings", "said"), ROUNDS["decisions"])
def test_a_decision_says_what_was_measured_predicted_and_asked_for(savings: tuple[float, ...], said: str) -> None:
    assert decision("many", rounds(*savings), "", "--rounds N") == said


@pytest.mark.parametrize(("finding", "saved", "said"), ROUNDS["said"])
def test_a_decision_on_no_saving_and_on_as_much_as_was_predicted(finding: Finding, saved: Ends, said: str) -> None:
    judged = Judgement(finding, "port", "undecided", Saving(*saved, 4, 0.0), PROMISED, LEAST, 6)
    assert decision("many", judged, "", "--rounds N") == said


@pytest.mark.parametrize(("least", "expected", "probability", "saved", "finding"), ROUNDS["edges"])
def test_findings_at_the_edges(least: float, expected: Ends, probability: float, saved: Ends, finding: Finding) -> None:
    assert judge(expected, probability, Saving(*saved, 4, 0.0), least).finding == finding


def test_shared_cores_are_not_judged_and_a_baseline_that_is_off_confirms_nothing() -> None:
    def found(iteration: float, **options: bool) -> Finding:
        return judge(PROMISED, 1.0, saving_of(np.full(3, iteration), np.ones(3)), LEAST, **options).finding

    assert found(1.1, shared=True) == found(0.9, shared=True, off=True) == "undecided"
    assert [found(saved, off=True) for saved in (0.9, 0.97, 1.1)] == ["baseline off", "baseline off", "not kept"]


def test_a_saving_is_at_most_the_whole_iteration() -> None:
    """Savings of 90 and -60 %: 15 % on average, ±75 % · 12.71 without the cut, of which the lower end stays."""
    saving = saving_of(np.array([0.1, 1.6]), np.ones(2))
    assert saving.low == pytest.approx(0.15 - 0.75 * 12.706, rel=1e-4)
    assert saving.high == 1
    assert saving.half == pytest.approx(0.75 * 12.706, rel=1e-4)


@pytest.mark.parametrize(("measured", "low", "high", "off"), ROUNDS["off"])
def test_a_baseline_that_is_off_comes_first(measured: float, low: float, high: float, off: str) -> None:
    said = off_by(measured, (1.0, low, high), LEAST)
    assert said == off
    judged = judge(PROMISED, 1.0, saving_of(np.full(3, 0.9), np.ones(3)), LEAST, off=bool(said))
    plain = "Port: many saved 10.0 % of an iteration (10.0 to 10.0 % over 3 rounds); 10.0 % predicted (8.0 to 12.0 %); "
    plain += f"1 % is asked for. The prediction is {'not ' if off else ''}confirmed."
    assert decision("many", judged, "", "", said) == (f"Not confirmed: {off}. {plain}" if off else plain)
    assert decision("many", judged, "4 ranks share 2 cores", "", said).startswith("Undecided: 4 ranks share 2 cores. ")


@pytest.mark.parametrize(("measured", "deviation", "distance", "tell"), [*ROUNDS["to_tell"], (3, 0.02, 0.02, 7)])
def test_how_many_rounds_would_tell(measured: int, deviation: float, distance: float, tell: int) -> None:
    # the last: t(n - 1) / sqrt(n) < 1 from n = 7 on, where t = 2.447
    for saved in (LEAST + distance, LEAST - distance):
        assert (rounds_to_tell(Saving(saved, 0.0, 0.0, measured, deviation), LEAST) or 0) == tell


def test_no_contradiction_that_a_rerun_takes_back() -> None:
    """Of the same truth, each of 200 runs with noise of ±5 % a round: none says "not kept" of what is kept."""
    rng = np.random.default_rng(1)

    def run(truth: float) -> Finding:
        today = 1 + 0.05 * rng.standard_normal(5)
        ported = (1 - truth) * (1 + 0.05 * rng.standard_normal(5))
        return judge(PROMISED, 1.0, saving_of(ported, today), LEAST).finding

    kept = [run(0.10) for _ in range(200)]
    assert "not kept" not in kept
    assert "too noisy to judge" in kept
    # Negative control: a truth that is the opposite is told from noise.
    assert [run(-0.5) for _ in range(20)].count("not kept") >= 19


def test_why_an_iteration_takes_longer() -> None:
    assert why(2.0, 2.08, 0.08, 0.0) == ""
    assert why(1.0, 1.5, 0.1, 0.4) == (
        "an iteration is 500 ms longer than predicted: 100 ms more computing, 400 ms more communication"
    )
    assert why(100.0, 105.0, 0.5, 4.5) == "an iteration is 5 s longer than predicted: 4.5 s more communication"
    assert why(1.0, 0.8, 0.0, -0.2) == "an iteration is 200 ms shorter than predicted: 200 ms less communication"
