"""``pready simulate --trace``: what is predicted, as a trace beside that of a captured run."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import out
from given import Capsys, Patch
from plain_ranks import Plain

from pready.calibrate.capture.files import kinds
from pready.cli import main
from pready.files import simulation_trace, trace_events
from pready.files.simulation_trace import calls, trace
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.engine.evaluate import plans
from pready.model.machine import machine as machines
from pready.model.workload import workload as workloads

PAIR = 'format = 2\nthreads = 4\nbuffer = "256 KiB"\niterations = 1\nreceiver = "computing"\ngrid = [2]\n'
PAIR += "partitions_per_thread = 2\n"
PAIR += '[compute]\ntime = "100 us"\n[arrivals]\nmodel = "normal by partition"\nspread = "5 %"\n'
ALIKE = PAIR.replace('model = "normal by partition"\nspread = "5 %"', 'model = "none"')
ROUNDING = 2e-3
"""Microseconds: a slice's begin and duration are whole nanoseconds each."""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "w.toml"
    path.write_text(text, encoding="utf-8")
    return path


def slices(text: str) -> list[dict[str, Any]]:
    return [e for e in json.loads(text)["traceEvents"] if e["ph"] == "X"]


def test_times_are_whole_nanoseconds() -> None:
    about = {"pid": 1, "tid": 2, "cat": "mpi", "args": {"peer": 3}}
    made = trace_events.in_mpi("MPI_Send", 1, 2, 0.12345, 6.78912, {"peer": 3})
    assert made == {"ph": "X", "name": "MPI_Send", "ts": 0.123, "dur": 6.789, **about}
    ends = ({"ph": "s", "pid": 1, "tid": 2, "ts": 0.123}, {"ph": "f", "bp": "e", "pid": 3, "tid": 4, "ts": 6.789})
    named = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "x"}}
    assert trace_events.process(1, "x") == named
    common = {"name": "message", "cat": "mpi", "id": 7}
    assert trace_events.arrow(7, (1, 2, 0.12345), (3, 4, 6.78901)) == tuple(common | of for of in ends)


def end(events: list[dict[str, Any]]) -> float:
    return max(float(e["ts"] + e["dur"]) for e in events)


@pytest.mark.parametrize("interface", [i for i in BY_KEY.values() if not i.needs], ids=lambda i: i.key)
def test_two_ranks_end_when_the_recurrence_says(tmp_path: Path, interface: Any) -> None:
    machine, w = machines.load("meluxina"), workloads.load(written(tmp_path, PAIR))
    approach = Approach(interface, 4 if interface.splits else 1, 1)
    (plan,) = plans(machine, w, [approach], 7)
    events = slices(trace([plan], 0, 1, 1)[0])
    (ended,) = Plain(machine, plan).run(1)
    assert end(events) == pytest.approx(1e6 * max(e.end for e in ended), abs=ROUNDING)
    for rank, last in enumerate(e.causes["compute"] for e in ended):
        computing = [e for e in events if e["pid"] == rank and e["cat"] == "compute"]
        assert sorted(e["tid"] for e in computing) == [0, 1, 2, 3]
        assert end(computing) == pytest.approx(1e6 * last, abs=ROUNDING)
    waiting = {e["tid"] for e in events if e["name"] == "wait"}
    assert waiting == ({0, 1, 2, 3} if interface.completes == "threads" else {0})
    each = [e["args"]["bytes"] for e in events if e["name"] in calls(interface)]
    assert each == [262144 // approach.messages] * 4 * approach.messages


def test_one_message_by_hand(tmp_path: Path) -> None:
    """Bulk of 256 KiB without spread: it leaves after compute, barrier and o_s, and is there a stream and a wire later;
    both ranks do the same, so rank 1's comes when rank 0's does."""
    machine, w = machines.load("meluxina"), workloads.load(written(tmp_path, ALIKE))
    (plan,) = plans(machine, w, [Approach(BY_KEY["single"])], 0)
    events = json.loads(trace([plan], 0, 1, 1)[0])["traceEvents"]
    cost = plan.costs[0]
    leaves = 100e-6 + float(cost.barrier + cost.hold + cost.copy_in + cost.handshake)
    arrives = leaves + float(cost.stream + cost.wire)
    assert cost.handshake > 0
    going, coming = ([e for e in events if e["ph"] == "X" and e["name"] == n] for n in ("isend", "irecv"))
    assert [(e["pid"], e["args"]["peer"]) for e in going] == [(0, 1), (1, 0)]
    assert [(e["pid"], e["args"]["peer"]) for e in coming] == [(1, 0), (0, 1)]
    assert [e["ts"] for e in going] == pytest.approx([1e6 * leaves] * 2, abs=ROUNDING)
    assert [e["ts"] + e["dur"] for e in coming] == pytest.approx([1e6 * arrives] * 2, abs=ROUNDING)
    assert {e["args"]["requests"] for e in events if e["name"] == "wait"} == {2}  # sent and received
    begins, heads = ([e for e in events if e["ph"] == p] for p in "sf")
    assert [(e["id"], e["pid"]) for e in begins] == [(1, 0), (2, 1)]
    assert [(e["id"], e["pid"]) for e in heads] == [(1, 1), (2, 0)]
    assert [e["ts"] for e in begins] == [e["ts"] for e in going]
    assert [e["ts"] for e in heads] == [e["ts"] for e in coming]
    later = json.loads(trace([plan], 1, 1, 1)[0].replace('"iteration": 1', '"iteration": 0'))["traceEvents"]
    for one, same in zip(events, later, strict=True):
        assert one | {"ts": 0, "dur": 0} == same | {"ts": 0, "dur": 0}
        times = ([of.get(n, 0) for n in ("ts", "dur")] for of in (one, same))
        assert next(times) == pytest.approx(next(times), abs=ROUNDING)


EXAMPLE = ["simulate", "examples/halo3d.toml", "--set", "grid=2x2x2", "--set", "iterations=3", "--approach", "many:4"]


def test_the_command(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "t.json"
    assert main([*EXAMPLE, "--json", "--trace", str(path)]) == 0
    said = capsys.readouterr()
    assert said.err == f"wrote {path}: Pt2Pt many; open it in https://ui.perfetto.dev\n"
    text = path.read_text(encoding="utf-8")
    events = slices(text)
    assert {e["pid"] for e in events} == set(range(8))
    # The vocabulary is that of a captured trace.
    assert {e["cat"] for e in events} == {"compute", "mpi"}
    assert {e["name"] for e in events if e["cat"] == "mpi"} <= set(kinds())
    # The iterations that are counted, and their mean as the table has it.
    last = [max(e["ts"] + e["dur"] for e in events if e["pid"] == r and e["args"]["iteration"] == 2) for r in range(8)]
    first = [min(e["ts"] for e in events if e["pid"] == r) for r in range(8)]
    mean = sum(b - a for a, b in zip(first, last, strict=True)) / 8 / 3
    assert mean * 1e-6 == pytest.approx(json.loads(said.out)["approaches"][-1]["iteration_s"], rel=1e-6)
    for name in ("start_send", "start_recv"):  # 8 ranks, 6 neighbours, 4 transport partitions, 3 iterations
        assert sum(e["name"] == name for e in events) == 8 * 6 * 4 * 3
    assert min(first) == 0
    # Slices of a row follow each other: a viewer would nest what overlaps.
    rows: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for e in events:
        rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["dur"]))
    for row in rows.values():
        row.sort()
        assert all(a + long <= b + ROUNDING for (a, long), (b, _) in pairwise(row))
    named = {(e["pid"], e["tid"]) for e in json.loads(text)["traceEvents"] if e["name"] == "thread_name"}
    assert named >= set(rows)


def test_a_sweep_waits_before_it_computes(tmp_path: Path) -> None:
    w = workloads.load(written(tmp_path, PAIR.replace("grid = [2]", 'pattern = "sweep3d"\ngrid = [2, 1]\nblocks = 1')))
    (plan,) = plans(machines.load("meluxina"), w, [Approach(BY_KEY["many"], 4, 1)], 0)
    events = slices(trace([plan], 0, 1, 1)[0])
    # From the first corner rank 1 waits for rank 0's last message, then computes.
    waits = next(e for e in events if e["pid"] == 1 and e["name"] == "wait")
    computes = next(e for e in events if e["pid"] == 1 and e["cat"] == "compute")
    comes = max(e["ts"] + e["dur"] for e in events if e["name"] == "start_recv" and e["args"]["step"] == 0)
    assert waits["ts"] == 0
    assert comes < computes["ts"] == pytest.approx(waits["ts"] + waits["dur"], abs=ROUNDING)
    assert {e["args"]["step"] for e in events} == set(range(8))


@pytest.mark.thorough
def test_each_exchange_of_a_step(tmp_path: Path, capsys: Capsys) -> None:
    path, step = tmp_path / "t.json", "examples/stencil-unequal.toml"
    out(capsys, "simulate", step, *EXAMPLE[2:4], "--set", "iterations=1", "--approach", "many:4", "--trace", path)
    names = {e["name"] for e in slices(path.read_text(encoding="utf-8")) if e["cat"] == "compute"}
    assert names == {part.name for part in workloads.load(step).parts}


@pytest.mark.parametrize(
    ("most", "said", "ranks", "iterations"),
    # 8 ranks of 2 × 8 + 1 slices and 24 messages: 904 events of an iteration.
    [
        (904, "2 of 3 iterations", 8, 1),
        (903, "2 of 3 iterations and 1 of 8 ranks", 7, 1),
        (700, "2 of 3 iterations and 2 of 8 ranks", 6, 1),
    ],
)
def test_what_has_no_room(
    tmp_path: Path, capsys: Capsys, monkeypatch: Patch, most: int, said: str, ranks: int, iterations: int
) -> None:
    monkeypatch.setattr(simulation_trace, "MOST_EVENTS", most)
    path = tmp_path / "t.json"
    assert main([*EXAMPLE, "--trace", str(path)]) == 0
    assert f"Pt2Pt many (left out: {said}); open" in capsys.readouterr().err
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    assert sum(e["ph"] != "M" for e in events) <= most
    assert {e["pid"] for e in events} == set(range(ranks))
    assert {e["args"]["iteration"] for e in events if e["ph"] == "X"} == set(range(iterations))
    # No arrow ends nowhere.
    ends = [[e["id"] for e in events if e["ph"] == p] for p in "sf"]
    assert ends[0] == ends[1]
