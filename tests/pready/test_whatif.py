"""Sweeps: fields by dotted name, points kept by content, the answers of `predict`."""

import csv
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from command_line import data, out
from given import Capsys, Patch
from hypothesis import given
from hypothesis import strategies as st
from tables import table_of

from pready.cli import main
from pready.model.advice.predict import predict, ways_said
from pready.model.common.errors import PreadyError
from pready.model.machine import machine
from pready.model.toml import dotted
from pready.model.workload import workload
from pready.model.workload.workload import Workload
from pready.whatif.compute import compute
from pready.whatif.fields import Axis, axis, magnitude, parse_axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point, Work, notes, points, sizes_wanted

pytestmark = pytest.mark.usefixtures("predicted_once")

MELUXINA = machine.load("meluxina")
HALO = workload.load("examples/halo3d.toml")
LAGGARD = workload.load("examples/laggard.toml")
EXAMPLES = sorted(Path("examples").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_workload_is_what_is_written_of_it(path: Path) -> None:
    whole = workload.load(path)
    assert whole.changed() == whole
    assert whole.changed().model_fields_set == whole.model_fields_set


@given(buffer=st.integers(1, 10**9), time=st.floats(1e-9, 10, allow_nan=False), noise=st.floats(0, 1))
def test_no_digit_is_lost(buffer: int, time: float, noise: float) -> None:
    fields = {"threads": 1, "partitions_per_thread": 1, "buffer": f"{buffer} B", "compute": {"time": f"{time!r} s"}}
    w = HALO.changed(**fields, **{"arrivals.epsilon": noise})
    assert (w.buffer, w.thread_time, w.arrivals.epsilon) == (buffer, time, noise)  # type: ignore[union-attr]
    assert w.changed() == w


def test_changed_is_checked_as_a_file_is() -> None:
    assert HALO.changed(buffer="512 KiB").buffer == 512 * 1024
    assert HALO.changed(**{"compute.time": "1 ms"}).thread_time == 1e-3
    assert HALO.changed(iterations=None).iterations == Workload.model_fields["iterations"].default
    for fields, said in table_of("pready/refused")["changes"]:
        with pytest.raises(PreadyError, match=said.replace("[", r"\[")):
            HALO.changed(**fields)


def test_one_width_of_arrivals_takes_the_place_of_another() -> None:
    gaussian = HALO.changed(arrivals={"model": "normal by partition", "epsilon": "4 %", "delta": "10 %"})
    spread = gaussian.changed(**{"arrivals.spread": "5 %"})
    assert dotted.written(spread)["arrivals"] == {"model": "normal by partition", "spread": 0.05}
    other = dotted.written(spread.changed(**{"arrivals.epsilon": 0.1}))["arrivals"]
    assert other == {"model": "normal by partition", "epsilon": 0.1}
    wide = gaussian.changed(arrivals={"model": "laggard", "spread": "300 %"}, threads=16)
    assert wide.changed() == wide


def test_a_machines_value_is_exact_once_it_is_changed() -> None:
    (point,) = points(MELUXINA, HALO, [axis("machine.inter.segments[0].L", "10 us")])
    value = point.machine.inter.segments[0].L
    assert value.value == pytest.approx(1e-5)
    assert (value.interval, value.source) == (None, "assumed")
    assert point.machine.inter.segments[1] == MELUXINA.inter.segments[1]
    with pytest.raises(PreadyError, match=r"\[3\] is past the end; valid: \[0\] to \[2\]"):
        points(MELUXINA, HALO, [axis("machine.inter.segments[3].L", "10 us")])


@pytest.mark.parametrize(("text", "field", "values"), table_of("pready/axes")["axes"])
def test_axes(text: str, field: str, values: list[object]) -> None:
    assert repr(parse_axis(text)) == repr(Axis(field, tuple(values)))  # 1 is not 1.0


@pytest.mark.parametrize(("text", "said"), table_of("pready/refused")["axes"])
def test_axes_that_are_none(text: str, said: str) -> None:
    with pytest.raises(PreadyError, match=re.escape(said)):
        parse_axis(text)


def test_thread_counts_say_what_stays() -> None:
    # 8 threads of 2 ms each; as much work in total is 4 ms of each of 4.
    (each,) = points(MELUXINA, HALO, [axis("threads", 4)])
    (total,) = points(MELUXINA, HALO, [axis("threads", 4)], work="total")
    assert (each.workload.thread_time, total.workload.thread_time) == (2e-3, 4e-3)
    rate = HALO.changed(compute={"arithmetic_intensity": 1.0, "communication_intensity": 1.0, "frequency": "3 GHz"})
    for what, *more in ((rate,), (HALO, axis("compute.time", "1 ms"))):
        with pytest.raises(PreadyError, match=r"where threads = 4.*: the same work in total"):
            points(MELUXINA, what, [axis("threads", 4), *more], work="total")
    said = {work: notes(HALO, [axis("threads", 4)], work)[0] for work in get_args(Work)}
    assert said["per-thread"].startswith("threads vary: the work per thread is fixed, ")
    assert said["total"].startswith("threads vary: the total work is fixed, compute.time is divided among threads")
    assert notes(rate, [axis("threads", 4)], "per-thread") == ["threads vary: each computes its part of the buffer"]
    assert notes(HALO, [axis("buffer", "1 MiB")], "total") == []


def test_places_on_an_axis_are_numbers_in_si() -> None:
    places = {3: 3.0, "4 KiB": 4096.0, "1 ms": 1e-3, "5 %": 0.05, "2 us/MB": 2e-12, "x": None, None: None, "1": None}
    assert {value: magnitude(value) for value in places} == places
    assert magnitude(True) is magnitude([1]) is None
    fields = ("threads", "buffer", "faces", "exchanges[0].buffer", "arrivals.spread")
    assert [sizes_wanted([axis(name, "1")]) for name in fields] == [True, False, False, False, True]
    assert not sizes_wanted([axis("threads", "1"), axis("buffer", "1 MiB")])


@pytest.mark.thorough
# In the first, little is known of the best, and another way surely outdoes the simplest that seems as good.
@pytest.mark.parametrize("w", [HALO.changed(name="few", grid=(2, 2, 2), iterations=60), LAGGARD], ids=lambda w: w.name)
def test_a_row_says_what_predict_says(w: Workload) -> None:
    whole = predict(MELUXINA, w, seed=3)
    best = predict(MELUXINA, w, seed=3, whole=(), sizes=True)
    assert best.advised == replace(whole.advised, best_in=None)  # of the ways that a point draws
    few, all_ = best.advice.partitioned, whole.advice.partitioned
    assert few is not None
    assert all_ is not None
    assert (few.verdict, few.to_dict()) == (all_.verdict, all_.to_dict())
    for name in ("verdict", "pays", "pays_messages", "probability"):
        assert getattr(best.advice, name) == getattr(whole.advice, name)


def test_as_many_points_and_seeds_as_may_be(monkeypatch: Patch) -> None:
    monkeypatch.setattr("pready.whatif.points.LARGEST", 2)
    assert [p.seed for p in points(MELUXINA, LAGGARD, [axis("seed", [0, 2**64 - 1])])] == [0, 2**64 - 1]
    too_many, too_large = "the sweep has 3 points; valid: at most 2", "seed = 18446744073709551616"
    for seeds, said in (([0, 1, 2], too_many), ([2**64], too_large)):
        with pytest.raises(PreadyError, match=said):
            points(MELUXINA, LAGGARD, [axis("seed", seeds)])


def test_points_differ_by_all_that_decides_them(tmp_path: Path) -> None:
    axes = [axis("buffer", ["4 MiB", "8 MiB"]), axis("machine", ["meluxina", "niagara"]), axis("seed", [0, 1])]
    shared = Options()
    some = points(MELUXINA, LAGGARD, [*axes, axis("library", ["mpipcl", "emulated"])])
    assert len({p.key(shared) for p in some}) == len(some) == 16
    one = some[0]
    options = [shared, Options(every=True), Options(sizes=True), Options(min_gain=0.5), Options(engine="engine")]
    assert len({one.key(o) for o in options}) == len(options)
    # The same contents by other names are the same point.
    copied = tmp_path / "copy.toml"
    copied.write_text(Path("examples/laggard.toml").read_text(encoding="utf-8"), encoding="utf-8")
    (again,) = points(MELUXINA, workload.load(copied), [axis("buffer", "4 MiB")])
    (there,) = points(MELUXINA, LAGGARD, [axis("buffer", "4096 KiB")])
    assert again.key(shared) == there.key(shared)


def test_a_measured_file_is_part_of_the_point(tmp_path: Path) -> None:
    keys = []
    for folder, times in (("a", "1 2\n"), ("b", "1 3\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "times.txt").write_text(times, encoding="utf-8")
        text = 'threads = 2\nbuffer = "1 MiB"\nname = "m"\n'
        text += '[arrivals]\nmodel = "trace"\nfile = "times.txt"\nunit = "ms"\n'
        (tmp_path / folder / "m.toml").write_text(text, encoding="utf-8")
        (point,) = points(MELUXINA, workload.load(tmp_path / folder / "m.toml"), [])
        keys.append(point.key(Options()))
    assert keys[0] != keys[1]


def test_finished_points_are_not_computed_again(tmp_path: Path, monkeypatch: Patch) -> None:
    out, axes = tmp_path / "s.csv", [axis("buffer", ["4 MiB", "8 MiB", "16 MiB"])]
    some, shared = points(MELUXINA, LAGGARD, axes), Options()
    first = compute(some[:2], shared, kept=Kept(out))
    assert Kept(out).count(point.key(shared) for point in some) == 2
    path = Kept(out).path
    whole, value = path.read_text(encoding="utf-8"), first[0][0]["transport_partitions"]
    other = (
        whole.replace(f'"transport_partitions": {value},', '"transport_partitions": 99999,'),
        whole.replace('"laggard"', '"\\u001b[31m"'),
        re.sub(r'"rows": \[.*\]', '"rows": "x"', whole),
        re.sub('"digest": ".*"', '"digest": 1', whole),
    )
    for text in other:
        path.write_text(text, encoding="utf-8")
        assert (len(Kept(out)), Kept(out).damaged) == (0, 2)
    path.write_text(whole + '{"half a li', encoding="utf-8")
    assert (len(Kept(out)), Kept(out).damaged) == (2, 0)  # cut while it was written
    called: list[float] = []

    def predicted(point: Point, *_: object) -> list[dict[str, int]]:
        called.append(point.workload.buffer)
        return [{"new": 1}]

    monkeypatch.setattr("pready.whatif.tasks.rows_of", predicted)
    done: list[int] = []
    rows = compute(some, shared, kept=Kept(out), on_point=lambda: done.append(1))
    assert called == [16 * 2**20]
    assert (rows[:2], len(done)) == (first, 3)
    assert next(iter(rows[0][0].items())) == ("buffer", "4 MiB")  # what varies comes first
    assert len(Kept(out)) == 3
    assert compute(some, shared, kept=Kept(out)) == rows
    Kept(out).add("another", rows[0])
    assert "\n\n" not in path.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_csv_and_json_hold_the_same(tmp_path: Path, capsys: Capsys) -> None:
    over = ("--set", "machine=meluxina,niagara", "--set", "buffer=4MiB", "--all")
    assert main(["sweep", "examples/laggard.toml", *over, "-o", str(tmp_path / "s.csv")]) == 0
    found = data(capsys, "sweep", "examples/laggard.toml", *over)
    piped = out(capsys, "sweep", "examples/laggard.toml", *over, "-o", "-")
    text = (tmp_path / "s.csv").read_text(encoding="utf-8")
    table = found["rows"]
    rows = list(csv.DictReader(text.splitlines()))
    assert piped == text
    assert found["varied"] == ["machine", "buffer"]
    assert [float(r["eta"]) for r in rows] == [r["eta"] for r in table]
    assert len(rows) > 2 * 10
    assert [r["best"] for r in table].count(True) == 2
    assert {r["machine"] for r in table} == {"meluxina", "niagara"}


def test_fields_of_the_exchanges_of_a_step() -> None:
    step = workload.load("tests/data/pready/step.toml")
    assert step.changed() == step
    other = step.changed(**{"exchanges[0].faces[1]": "48 KiB", "exchanges[1].buffer": "1 MiB"})
    assert [w.buffer for w in other.parts] == [64 * 1024, 2**20]
    assert other.parts[0].faces == (64 * 1024, 48 * 1024, 16 * 1024)
    assert other.buffer == 2**20
    (total,) = points(MELUXINA, step, [axis("threads", 4)], work="total")
    assert [w.thread_time for w in total.workload.parts] == [1e-3, 0.5e-3]


@pytest.mark.thorough
def test_a_point_of_a_step_is_a_row_that_says_how_each_exchange_is_sent(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    text = Path("examples/stencil-unequal.toml").read_text(encoding="utf-8")
    path.write_text(text.replace("share =", "iterations = 4\ntransport_partitions = [4]\nshare ="), encoding="utf-8")
    step = workload.load(path)
    spreads = ("--set", "exchanges[0].arrivals.spread=2%,8%")
    rows = data(capsys, "compare", path, "--machine", "meluxina", *spreads)["rows"]
    assert [row["exchanges[0].arrivals.spread"] for row in rows] == ["2%", "8%"]
    what = step.changed(**{"exchanges[0].arrivals.spread": "8%"})
    made = predict(MELUXINA, what)
    assert (rows[1]["eta"], rows[1]["verdict"], rows[1]["best"]) == (made.advised.eta, made.advice.verdict, True)
    assert rows[1]["name"] == ways_said(what, made.exchanges)
    assert "pays_bytes" not in rows[1]  # what varies may be the size


def test_a_comparison_has_a_row_for_each_combination(capsys: Capsys, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        "pready.whatif.tasks.rows_of", lambda point, *_: [{"of": point.machine.name, "seed": point.seed}]
    )
    other = tmp_path / "other.toml"
    other.write_text(Path("examples/laggard.toml").read_text(encoding="utf-8").replace('"laggard"', '"b"', 1))
    both = ("--set", "machine=meluxina,niagara", "--set", "library=mpipcl,emulated", "--set", "threads=2")
    for files in (["examples/laggard.toml", str(other)], ["examples/laggard.toml"]):
        made, workloads = data(capsys, "compare", *files, *both), ["laggard", "b"][: len(files)]
        names = [*["workload"] * (len(files) > 1), "machine", "library", "threads"]
        said = "threads vary: the work per thread is fixed, compute.time is that of each (--set work=per-thread)"
        assert (made["varied"], made["notes"]) == (names, [said])
        title = {"meluxina": "MeluXina", "niagara": "Niagara"}
        assert made["rows"] == [
            dict(zip(names, (*[of] * (len(files) > 1), on, library, 2), strict=True)) | {"of": title[on], "seed": 0}
            for of, on, library in product(workloads, title, ("mpipcl", "emulated"))
        ]
