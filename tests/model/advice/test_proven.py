"""What real MPI has measured chooses among drawn machines, and decides where it measured the very workload."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.model.advice.predict import predict, runs_of
from pready.model.advice.proven import FEW, REPEATS, Proven, Timed, chosen, load, with_proofs
from pready.model.advice.savings import Savings
from pready.model.approach.interfaces import BULK, MANY
from pready.model.common.errors import PreadyError
from pready.model.timeline.own_error import sd
from pready.model.timeline.sampling import DRAWS, Sampler
from pready.model.toml import dotted
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

SECONDS = 1e-3
"""What 1 MB takes on a machine that has nothing but a bandwidth."""
MACHINE = ideal(G=SECONDS / 1e6)
BASE, PORT = (BULK,), (MANY.into(4),)


def of(buffer: str = "1 MB", **fields: Any) -> Workload:
    given = {"threads": 4, "buffer": buffer, "ranks_per_node": 1, "receiver": "waiting"}
    return validated(Workload, given | fields, "test")


def timed(seconds: float, way: Any = BASE, saving: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Timed:
    return Timed(way, seconds, 0.0, saving)


@pytest.mark.parametrize("off", [0.0, 0.1, -0.1])
def test_machines_are_as_likely_as_they_make_what_was_measured(off: float) -> None:
    """ln of an exchange that has bytes alone is normal: what was measured moves it by its share of both variances."""
    found = chosen(MACHINE, [Proven(of(), (timed(SECONDS * math.exp(off)),))], 1)
    variance = sum(sd(x) ** 2 for x in ("bytes", "transfers", "ways"))
    expected = off * variance / (variance + REPEATS**2)
    # Another exchange than the measured one, with eight times as much.
    runs, _ = runs_of(MACHINE, of("8 MB"), 1, picks=found.picks)
    logs = np.log(Savings(runs, (BASE,)).times(BASE)[0] / (8 * SECONDS))
    assert np.median(logs) == pytest.approx(expected, abs=0.012)
    assert logs.std() == pytest.approx(math.sqrt(variance * REPEATS**2 / (variance + REPEATS**2)), rel=0.25)
    # Negative control: without the proof nothing has moved, and the width is that of the model's own error.
    runs, _ = runs_of(MACHINE, of("8 MB"), 1)
    logs = np.log(Savings(runs, (BASE,)).times(BASE)[0] / (8 * SECONDS))
    assert (np.median(logs), logs.std()) == (pytest.approx(0, abs=0.02), pytest.approx(math.sqrt(variance), rel=0.15))


def test_what_no_machine_explains_counts_less_and_is_said() -> None:
    proof = Proven(of(), (timed(3 * SECONDS),))
    found = chosen(MACHINE, [proof], 0)
    assert found.effective < FEW
    assert len({*found.picks}) > FEW / 2
    made = with_proofs(predict(MACHINE, of("8 MB")), of("8 MB"), [proof], found)
    first = made.advice.warnings[0]
    assert first == (
        f"{found.effective:.0f} of {found.of} drawn machines explain what was measured: the machine file, or the "
        "model, does not hold what was measured"
    )


def test_draws_are_those_of_seeds_that_follow_each_other() -> None:
    some = Sampler(MACHINE, 3, 5, lead=1, picks=(0, DRAWS + 7, 2 * DRAWS)).normals("x")
    assert some.tolist() == [0, *(Sampler(MACHINE, DRAWS, 5 + n).normals("x")[k] for n, k in ((0, 0), (1, 7), (2, 0)))]


AGAINST = "measuring contradicts the prediction, and decides: Pt2Pt many saves"
COMPUTING: dict[str, Any] = {"compute": {"time": "10 ms"}, "arrivals": {"model": "laggard", "late_by": "4 %"}}


@pytest.mark.parametrize(
    ("saving", "verdict", "said"),
    [
        ((-0.05, -0.06, -0.04), "do not port", f"{AGAINST} -5.0 %"),
        ((0.005, -0.02, 0.03), "undecided", f"{AGAINST} 0.5 %"),
        (None, "port", "measured: Pt2Pt many saves"),
    ],
)
def test_measuring_the_very_workload_decides(saving: Any, verdict: str, said: str) -> None:
    what = of(**COMPUTING)
    before = predict(MACHINE, what)
    assert before.advice.verdict == "port"
    value = before.advised.speedup_percent / 100
    at = timed(before.advised.time_s, (before.advised.approach,), saving or (value, value - 0.001, value + 0.001))
    proof = Proven(what, (timed(before.bulk.time_s), at))
    made = predict(MACHINE, what.changed(iterations=7), proofs=[proof])
    assert made.advice.verdict == verdict
    assert made.advice.warnings[0].startswith(said)
    assert made.advised.speedup_percent == pytest.approx(100 * at.saving[0])
    assert made.advised in made.approaches
    # Of another workload it only chooses among machines.
    other = predict(MACHINE, what.changed(buffer="2 MB"), proofs=[proof])
    assert "drawn machines explain" in other.advice.warnings[0]


def test_a_proof_is_read_from_its_folder(tmp_path: Path) -> None:
    what = of(**COMPUTING)
    saving = {"value": 0.1, "low": 0.08, "high": 0.12}
    cases = [{"ways": [way], "measured": {"time_s": 2.0, "time_low_s": 1.9, "time_high_s": 2.1, "saving": saving}}
             for way in ("single", "many:4:1")]  # fmt: skip
    report = tmp_path / "report.json"
    of_it = {"workload": dotted.written(what), "folder": str(Path.cwd())}
    report.write_text(json.dumps({**of_it, "cases": cases}), encoding="utf-8")
    got = load(tmp_path)
    assert got.workload == what.model_copy(update={"folder": str(Path.cwd())})
    half = math.log(2.1 / 1.9) / 2
    assert got.ways == tuple(Timed(way, 2.0, half, (0.1, 0.08, 0.12)) for way in (BASE, PORT))
    for text in ("{", "{}", json.dumps({**of_it, "cases": [{"ways": []}]})):
        report.write_text(text, encoding="utf-8")
        with pytest.raises(PreadyError, match=r"report\.json: no proof .*; valid: a folder that 'pready prove -o FOL"):
            load(tmp_path)
    with pytest.raises(PreadyError, match="No such file"):
        load(tmp_path / "none")
