"""What a rank does, decided by plain C++: against the model's timeline and against counting."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given import Dump
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import table_of

from pready.calibrate.measure.exchange_plan import step_plan
from pready.files.writing import replacing
from pready.model.approach.interfaces import BULK
from pready.model.machine.machine import load
from pready.model.workload.edges import HALOS
from pready.model.workload.workload import Workload
from pready.sst.job import setup, write_config
from pready.sst.topology import near_cube


@dataclass
class Phase:
    """One phase of one rank, as the test program prints it."""

    computes: bool
    receives_first: bool
    ready: float
    join: float
    meet: float
    receives: list[tuple[int, int, int]] = field(default_factory=list)
    sends: list[tuple[float, int, int, int]] = field(default_factory=list)


def written(tmp_path: Path, grid: Sequence[int], **fields: object) -> dict[str, Any]:
    """A motif's arguments for a workload's edges, which are in a file."""
    what = {"threads": 1, "buffer": "1003 B", "grid": grid} | fields
    s = setup(load("meluxina"), Workload.model_validate(what), ranks=grid)
    with replacing():
        write_config(s, BULK, tmp_path / "x.py")
    of_file = {"edges": tmp_path / "x.edges", "phases": s.phases, "receives_first": int(s.phases > 1)}
    return {"bytes": 1003} if s.motif == "PartPingPong" else of_file


def plans(dump: Dump, pattern: str, ranks: int, iteration: int = 0, **values: object) -> dict[tuple[int, int], Phase]:
    done = dump(pattern, ranks, iteration, *(f"{k}={v}" for k, v in values.items()))
    assert done.returncode == 0, done.stderr
    out: dict[tuple[int, int], Phase] = {}
    for line in done.stdout.splitlines():
        kind, rank, phase, *rest = line.split()
        key = (int(rank), int(phase))
        if kind == "phase":
            out[key] = Phase(rest[0] == "1", rest[1] == "1", float(rest[2]), float(rest[3]), float(rest[4]))
        elif kind == "recv":
            out[key].receives.append((int(rest[0]), int(rest[1]), int(rest[2])))
        else:
            out[key].sends.append((float(rest[0]), int(rest[1]), int(rest[2]), int(rest[3])))
    return out


RING = [[1], [2], [0, 1]]


@pytest.mark.parametrize(
    ("grid", "fields"),
    [
        ([2], {}),
        ([8], {}),
        *(([x, y, z], {"pattern": p}) for p in HALOS for x, y, z in ((2, 1, 1), (3, 2, 2))),
        ([3, 3, 3], {"pattern": "halo3d26", "boundaries": "open", "edge": "30 B", "corner": "1 B"}),
        *((g, {"pattern": "sweep3d", "blocks": 2}) for g in ([2, 1], [3, 2])),
        ([3], {"pattern": "neighbours", "neighbour_list": RING}),
    ],
)
@pytest.mark.parametrize("approach", ["single", "part", "many"])
def test_every_send_has_its_receive_and_is_an_edge(
    dump: Dump, tmp_path: Path, grid: list[int], fields: dict[str, Any], approach: str
) -> None:
    given_, ranks = written(tmp_path, grid, **fields), math.prod(grid)
    given_ |= {"approach": approach, "threads": 4, "partitions": 2, "transport": 4}
    found = plans(dump, "exchange" if fields else "pingpong", ranks, **given_)
    sent = Counter((rank, to, tag, n) for (rank, _), p in found.items() for _, to, tag, n in p.sends)
    received = Counter((of, rank, tag, n) for (rank, _), p in found.items() for of, tag, n in p.receives)
    assert sent == received
    assert max(sent.values()) == 1, "two messages between the same ranks share a tag"
    assert all(a != b for a, b, _, _ in sent)
    if fields:
        w = Workload.model_validate({"threads": 1, "buffer": "1003 B", "grid": grid} | fields)
        planned = Counter((e.phase, e.sender, e.receiver) for e in step_plan(w, 1, 0).exchanges[0].edges)
        each = 1 if approach == "single" else 4
        messages = Counter((phase, rank, to) for (rank, phase), p in found.items() for _, to, _, _ in p.sends)
        assert messages == {edge: n * each for edge, n in planned.items()}
        assert sum(n for *_, n in sent.elements()) == sum(e.bytes for e in step_plan(w, 1, 0).exchanges[0].edges)


def test_a_sweep_starts_at_each_corner_in_turn(dump: Dump, tmp_path: Path) -> None:
    # 3 x 2 ranks: the rank at the corner that a sweep starts from receives nothing, for both directions of z.
    given_ = written(tmp_path, [3, 2], pattern="sweep3d")
    found = plans(dump, "exchange", 6, approach="single", **given_)
    starts = {phase: {rank for (rank, p), x in found.items() if p == phase and not x.receives} for phase in range(8)}
    assert starts == dict(enumerate([{0}, {0}, {2}, {2}, {5}, {5}, {3}, {3}]))
    ends = {phase: {rank for (rank, p), x in found.items() if p == phase and not x.sends} for phase in range(8)}
    assert ends == dict(enumerate([{5}, {5}, {3}, {3}, {0}, {0}, {2}, {2}]))
    assert all(x.receives_first for x in found.values())


@pytest.mark.parametrize(("text", "message"), table_of("sst/refused")["edges"])
def test_edges_that_are_none_are_named(dump: Dump, tmp_path: Path, text: str, message: str) -> None:
    (path := tmp_path / "x.edges").write_text(text)
    done = dump("exchange", 2, 0, f"edges={path}")
    assert (done.returncode, done.stderr) == (1, f"{path}: {message}\n")


@pytest.mark.thorough
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    threads=st.integers(1, 5),
    theta=st.integers(1, 4),
    barrier=st.sampled_from([0, 500]),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_ready_times_are_the_models(
    dump: Dump, tmp_path: Path, threads: int, theta: int, barrier: int, seed: int, data: st.DataObject
) -> None:
    n = threads * theta
    transport = data.draw(st.sampled_from([t for t in range(1, n + 1) if n % t == 0]))
    rng = np.random.default_rng(seed)
    times = rng.uniform(0, 3e-6, (2 * 3, n)) * rng.integers(0, 2, (2 * 3, n))  # two ranks, three draws, with ties
    path = tmp_path / "times.npy"
    np.save(path, times)
    for iteration in (0, 2, 4):  # draws repeat
        ready = times[iteration % 3]
        given_ = {"threads": threads, "partitions": theta, "transport": transport}
        found = plans(dump, "pingpong", 2, iteration, approach="part", arrivals=path, barrier_ns=barrier, **given_)
        marks = ready * 1e9
        expected = np.sort(marks.reshape(transport, -1).max(axis=1))
        assert [s[0] for s in found[0, 0].sends] == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-9)
        assert found[0, 0].join == pytest.approx(marks.max() + barrier, rel=1e-12)
        assert found[0, 0].ready == pytest.approx(ready.max() * 1e9, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(
    ("approach", "ends"),
    [("single", [1280]), ("many", [1000, 1000, 1000, 1250])],  # bulk leaves when threads have met
)
def test_who_waits_for_the_laggard(dump: Dump, approach: str, ends: list[int]) -> None:
    values = {"threads": 4, "transport": 4, "compute_ns": 1000, "laggard_ns": 250, "barrier_ns": 30}
    assert [s[0] for s in plans(dump, "pingpong", 2, approach=approach, **values)[0, 0].sends] == ends


def test_threads_that_complete_their_own_messages_meet_again(dump: Dump, tmp_path: Path) -> None:
    values = {"threads": 4, "transport": 4, "barrier_ns": 30}
    many = plans(dump, "pingpong", 2, approach="many", **values)
    assert {phase: p.meet for phase, p in many.items()} == {(0, 0): 30, (1, 0): 30, (0, 1): 0, (1, 1): 0}
    both_ways = plans(dump, "pingpong", 2, approach="many", pong=1, **values)
    assert {p.meet for p in both_ways.values()} == {30}
    for approach in ("single", "part"):
        halo = written(tmp_path, [2, 2, 2], pattern="halo3d")
        assert {p.meet for p in plans(dump, "exchange", 8, approach=approach, **values, **halo).values()} == {0}


def test_tags_of_neighbouring_iterations_differ(dump: Dump, tmp_path: Path) -> None:
    halo = written(tmp_path, [2, 2, 2], pattern="halo3d26")
    tags = [{s[2] for p in plans(dump, "exchange", 8, i, **halo).values() for s in p.sends} for i in range(3)]
    assert tags[0] == tags[2]
    assert not tags[0] & tags[1]


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("ranks", [2, 6, 7, 8, 12, 18])
def test_the_grid_is_the_most_cubic_one(ranks: int, axes: int) -> None:
    every = (g for g in itertools.product(range(1, ranks + 1), repeat=axes) if math.prod(g) == ranks)
    x, y, z = near_cube(ranks, axes)
    assert x * y * z == ranks
    assert x >= y >= z
    assert x + y + (z if axes == 3 else 0) == min(map(sum, every))


@pytest.mark.parametrize(("arguments", "message"), table_of("sst/refused")["values"])
def test_bad_values_are_named(dump: Dump, arguments: list[str], message: str) -> None:
    done = dump("pingpong", 8, 0, *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("shape", "end", "message"),
    [
        ((2, 3), 0, "is not a .npy file"),
        ((2, 4), None, "has 4 columns; valid: 3, one per user partition"),
        ((3, 3), None, "has 3 rows; valid: a multiple of 2 ranks"),
        ((2, 3), -8, "ends in row 2"),
    ],
)
def test_bad_arrivals_are_named(dump: Dump, tmp_path: Path, shape: Any, end: int | None, message: str) -> None:
    path = tmp_path / "times.npy"
    np.save(path, np.zeros(shape))
    path.write_bytes(path.read_bytes()[:end])
    done = dump("pingpong", 2, 0, "threads=3", f"arrivals={path}")
    assert done.returncode == 1
    assert message in done.stderr
