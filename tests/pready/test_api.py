"""``import pready``: names or objects, results that show themselves, errors of one line."""

import ast
import re
import subprocess
import sys
from functools import partial
from html import unescape
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from command_line import every_command

import pready
from pready.model.advice import predict as predicting
from pready.model.approach.interfaces import BULK, MANY
from pready.model.common.units import format_time
from pready.model.engine.simulate import exchanges_from_rest
from pready.show.tables.simulation import COMPARED, per_iteration, step_report

HALO, LAGGARD = "examples/halo3d.toml", "examples/laggard.toml"
WRONG: Any = "wrong"
STUB = Path("pready/__init__.pyi")
RATE: list[dict[str, Any]] = [{"arithmetic_intensity": 5}, {"communication_intensity": 1}, {"frequency": 1e9}]
TWO = [one | other for one, other in combinations(RATE, 2)]
NUMBERS, ONE = "KEY:TRANSPORTS:VCIS with integers of at least 1", "1: single sends one message"


def test_all_that_is_offered_is_there_and_shown() -> None:
    for name in pready.__all__:
        assert getattr(pready, name) is not None
    assert dir(pready) == sorted(pready.__all__)
    offered = {"simulate", "gain", "sweep", "compare", "predict", "explain", "Approach", "Table"}
    assert offered <= set(pready.__all__)
    (listed,) = (n.value for n in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(n, ast.Assign))
    assert set(pready.__all__) == set(ast.literal_eval(listed))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pready.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_an_approach_by_its_key_is_for_any_workload() -> None:
    made = pready.approach("many", 8, 4)
    assert (made.interface.key, made.transport_partitions, made.vcis) == ("many", 8, 4)
    assert pready.approach("single").messages == 1
    for arguments, said in (
        (("mani",), "approach = 'mani' (did you mean \"many\"?); valid: single, "),
        (("many", 0, 0), "transport_partitions = 0; valid: at least 1"),
        (("many", 8, 0), "vcis = 0; valid: at least 1"),
        (("single", 2), "transport_partitions = 2; valid: 1: single sends one message"),
    ):
        with pytest.raises(pready.PreadyError, match=re.escape(said)):
            pready.approach(*arguments)


def test_steps_of_an_exchange_are_those_that_its_time_is_made_of() -> None:
    workload = pready.Workload.model_validate({"threads": 4, "buffer": "1 MiB"})
    machine, many = pready.load_machine("meluxina"), pready.approach("many", 4)
    (one,) = exchanges_from_rest(machine, workload, many, [[0.0] * 4])
    assert one.end == pytest.approx(pready.Runs(machine, pready.Step.of(workload)).mean_time(many), rel=1e-12)
    assert [m.transport for m in one.messages] == [0, 1, 2, 3]
    assert max(m.arrived for m in one.messages) <= one.received <= one.end
    small = workload.model_copy(update={"buffer": 8.0})
    # Computed till then, its threads' meeting included: 60 ns of CPU time and 20 ns of matching are left.
    (late,) = exchanges_from_rest(machine, small, pready.approach("single"), [[0.0] * 4], 1e-3)
    assert late.end == pytest.approx(1e-3 + 80e-9, rel=1e-9)


def test_names_are_as_good_as_objects() -> None:
    by_name = pready.predict(LAGGARD, "meluxina", library="mpipcl", seed=3)
    shown = " ".join(unescape(re.sub("<[^>]*>", "", by_name._repr_html_())).split())
    assert f"Pt2Pt single 1 × 1 {format_time(by_name.bulk.time_s)} 1.00× now" in shown
    assert re.fullmatch(r"<Prediction laggard on MeluXina: port, Pt2Pt many, one waits 2\.\d\d×>", repr(by_name))
    on, what = pready.load_machine("meluxina"), pready.load_workload(LAGGARD)
    assert by_name == predicting.predict(on, what, library="mpipcl", seed=3)
    assert pready.explain(Path(LAGGARD), "meluxina", "many:2") == pready.explain(what, on, _many(2))


def _many(transport: int) -> pready.Approach:
    return pready.Approach(MANY, transport)


@pytest.mark.parametrize("name", ["predict", "simulate", "sweep", "compare"])
def test_numbers_by_default_are_those_of_the_command(name: str) -> None:
    options = {"seed": 0} | {o.name: o.default for o in every_command()[name].params}
    defaults = {n: p.default for n, p in signature(getattr(pready, name)).parameters.items() if type(p.default) is int}
    assert "seed" in defaults
    assert {n: options[n] for n in defaults} == defaults


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pready.predict(LAGGARD, "hpc3", engine=WRONG), "engine = 'wrong'; valid: 'timeline' or 'engine'"),
        (lambda: pready.predict(LAGGARD, "hpc3", min_gain=5), "min_gain = 5"),
        (lambda: pready.sweep(LAGGARD, {"buffer": []}, "hpc3"), "buffer has no values"),
        (lambda: pready.sweep(LAGGARD, {"threads": 2}, "hpc3", work=WRONG), "work = 'wrong'; valid: 'per-thread'"),
        (lambda: pready.compare([LAGGARD, LAGGARD], "hpc3"), "two workloads are called 'laggard'"),
        *(
            (partial(pready.explain, LAGGARD, "hpc3", asked), f"approach = '{asked}'; valid: {valid}")
            for asked, valid in (("many:x", NUMBERS), ("many:8:0", NUMBERS), ("many:1:1:1", NUMBERS), ("single:2", ONE))
        ),
        *(
            (partial(pready.gain, 4, 1e9, **some), "no gamma; valid: gamma, or")
            for some in (RATE[0] | RATE[1], RATE[0] | RATE[2], RATE[1] | RATE[2])
        ),
        *((partial(pready.gain, 4, 1e9, gamma=0.0, **some), "gamma beside an intensity or a f") for some in RATE),
        (lambda: pready.gain(4, 0.0, gamma=1e-12), "bandwidth = 0.0; valid: positive"),
        (lambda: pready.gain(4, 1e9, gamma=-1e-12), "gamma = -1e-12; valid: positive"),
    ],
)
def test_what_is_unknown_is_our_error(call: Any, said: str) -> None:
    with pytest.raises(pready.PreadyError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gain() -> None:
    # gillis2023 4.3: four threads, 25 GB/s, 100 us/MB: 8/3.
    assert pready.gain(4, "25 GB/s", gamma="100 us/MB").eta == pytest.approx(8 / 3)
    assert pready.gain(4, 25e9, gamma=100e-12).eta == pytest.approx(8 / 3)
    assert pready.gain(4, 25e9, gamma=0.0).eta == 1


def test_a_sweep_is_a_table_of_predictions(tmp_path: Path) -> None:
    over = {"buffer": ["1 MiB", "4 MiB"], "machine": ["meluxina", pready.load_machine("niagara")]}
    table = pready.sweep(LAGGARD, over, "hpc3", keep=tmp_path / "s")
    assert table.varied == ("buffer", "machine")
    assert [(r["buffer"], r["machine"]) for r in table] == [
        ("1 MiB", "meluxina"), ("1 MiB", "Niagara"), ("4 MiB", "meluxina"), ("4 MiB", "Niagara"),
    ]  # fmt: skip
    best = pready.predict(LAGGARD, "niagara").advised
    assert table.rows[3]["eta"] == best.eta
    assert (tmp_path / "s.points").exists()
    assert pready.sweep(LAGGARD, over, "hpc3", keep=tmp_path / "s") == table
    lines = unescape(re.sub("<[^>]*>", "", table._repr_html_())).splitlines()
    assert [line[:5] for line in lines if "Niagara" in line or "meluxina" in line] == ["1 MiB"] * 2 + ["4 MiB"] * 2
    assert pready.sweep(LAGGARD, {"buffer": "1MiB:4MiB:2x"}, "hpc3").rows[2]["buffer"] == "4MiB"


def test_a_simulation_of_many_ranks() -> None:
    flat = pready.simulate(HALO, "meluxina", "many:8", ranks=(1, 2, 3))
    assert flat.run.iterations == 100  # of a thousand
    assert repr(flat) == f"<Simulated halo3d on MeluXina: 2 × 3 ranks, Pt2Pt many {flat.eta:.2f}×>"
    step = pready.simulate("tests/data/pready/step.toml", "meluxina", "many:2", iterations=2)
    assert [len(of.to_dict().get("exchanges", ())) for of in (step, flat)] == [2, 0]
    assert [(one.workload, one.row.approach) for one in step.exchanges] == [(w, _many(2)) for w in step.workload.parts]
    run = pready.simulate(HALO, "meluxina", "many:8", ranks=(2, 2, 2), iterations=5, cores=1)
    assert run.run.grid == (2, 2, 2)
    assert [of.approach for of in (run.bulk, run.bulk_run, run.row, run.run)] == [BULK, BULK, _many(8), _many(8)]
    assert run.to_dict()["eta"] == run.eta == run.row.eta
    again = pready.simulate(HALO, "meluxina", "many:8", ranks=(2, 2, 2), iterations=5, cores=2)
    assert again.run.mean_s.tolist() == run.run.mean_s.tolist()
    # Of a run that ended early nothing is compared with bulk's.
    short = pready.simulate(HALO, "meluxina", "many:8", ranks=(2, 2, 2), iterations=3)
    rows = [(run.bulk, run.bulk_run), (short.row, short.run)]
    cut, whole = (step_report(run.machine, run.workload, "l", rows, interrupted=early) for early in (True, False))
    assert [len(per_iteration(some)) for some in (rows, rows[::-1])] == [3, 3]
    of, full = cut["approaches"][-1], whole["approaches"][-1]
    assert {name for name in full if of[name] != full[name]} <= {*COMPARED} <= {n for n in of if of[n] is None}
    assert [cut["eta"], cut["speedup_percent"], whole["eta"]] == [None, None, short.row.eta]


@pytest.mark.thorough
def test_data_frames() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pready.sweep(LAGGARD, {"buffer": ["1 MiB", "4 MiB"]}, "hpc3")
    prediction = pready.predict(LAGGARD, "hpc3")
    run = pready.simulate(HALO, "hpc3", "many:8", ranks=(2, 2, 2), iterations=3)
    for result, eta in ((table, "eta"), (prediction, "eta"), (run, "mean_s")):
        frame, other = result.to_pandas(), result.to_polars()
        assert isinstance(frame, pandas.DataFrame)
        assert isinstance(other, polars.DataFrame)
        assert frame[eta].tolist() == other[eta].to_list()
    assert table.to_pandas()["eta"].tolist() == [r["eta"] for r in table]


def test_whatever_is_imported_results_can_show_themselves() -> None:
    code = "from pready.model.result import forms; print(len(forms._renderers))"  # the model draws nothing
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
