"""From raw records to a machine file: a machine of known parameters, measured on paper, comes back."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from readable import check_readable

from pready.calibrate import from_records
from pready.calibrate.calibration import Calibration, calibrate, provenance
from pready.calibrate.fit import ThinDataError
from pready.calibrate.held_out import held_out
from pready.calibrate.machine_from_files import from_files
from pready.calibrate.measurement_plan import plan
from pready.calibrate.records import Point, Records
from pready.cli import main
from pready.model import machine
from pready.model.errors import PreadyError
from pready.model.evaluate import Evaluation
from pready.model.files import validated
from pready.model.interfaces import MANY, PART, SINGLE, Approach
from pready.model.machine_file import dumps
from pready.model.predict import effective_library
from pready.model.puts import with_puts
from pready.model.workload import Workload
from pready.show import figures

US = 1e-6
O_S, O_R, WIRE = 2 * US, 1 * US, 20 * US
RATE = 1e9  # bytes per second, from THRESHOLD on; twice that below, so that a line cannot serve both
THRESHOLD, JUMP = 16384, 15 * US
STRETCH = {1: 1.0, 2: 1.5, 4: 3.0, 8: 8.0}
ENVIRONMENT = {"library": "Open MPI v5.0.11, package: test", "launcher": "paper", "hosts": ["a", "b"]}


def one_way(size: float) -> float:
    late = size >= THRESHOLD
    return O_S + WIRE + O_R + (JUMP if late else 0.0) + size / (RATE if late else 2 * RATE)


def gap(size: float) -> float:
    return O_S + size / (RATE if size >= THRESHOLD else 2 * RATE)


def time_of(point: Point) -> float | None:
    """What a perfect clock would read for a point of the plan; None for what is not simulated here."""
    p: dict[str, Any] = dict(point.parameters)
    size = float(p.get("bytes", 0))
    match point.measurement:
        case "pingpong" if p["mode"] == "isend":
            return one_way(size)
        case "prtt":
            n, delay = int(p["n"]), p["delay_s"]
            round_trip = 2 * one_way(size)
            between = O_S + round_trip if delay == -1.0 else gap(size)
            return round_trip + (n - 1) * between
        case "receive":
            return O_R
        case "bandwidth":
            return int(p["window"]) * gap(size) + 2 * WIRE
        case "rate":
            k = int(p["threads"])
            return k * 64 * O_S * STRETCH[k]
        case "pready":
            return 0.05 * US
        case "barrier":
            return float(p["threads"]) * 0.5 * US
        case "memcpy":
            return size / (20e9 if p["cache"] == "hot" else 8e9)
        case "matching" if p["queue"] == "posted":
            return one_way(8) + float(p["length"]) * 2e-9
        case "early":
            return 0.019 if size <= 65536 else 1e-6
        case "overlap":
            return 0.0 if p["who"] == "receiver" else 0.9 * one_way(size)
    return None


@cache
def records(threads: int = 8, noise: float = 0.01, seed: int = 0) -> tuple[tuple[Point, dict[str, Any]], ...]:
    return tuple(_records(threads, noise, seed))


def _records(threads: int, noise: float, seed: int) -> Iterator[tuple[Point, dict[str, Any]]]:
    for point in plan(threads=threads):
        rng = np.random.default_rng([seed, zlib.crc32(str(point).encode())])  # each point's own, whatever the order
        time = time_of(point)
        if time is None:
            continue
        samples = np.maximum(time * (1 + noise * rng.standard_normal(30)), 1e-10)
        p: dict[str, Any] = {**dict(point.parameters), "window": dict(point.parameters).get("window", 64)}
        size = float(p.get("bytes", 0))
        yield (
            point,
            {
                "measurement": point.measurement,
                "parameters": p,
                "median_s": float(np.median(samples)),
                "low_s": float(np.percentile(samples, 30)),
                "high_s": float(np.percentile(samples, 70)),
                "min_s": float(samples.min()),
                "max_s": float(samples.max()),
                "samples_ns": (samples * 1e9).tolist(),
                "derived": {
                    "delay_s": 2 * one_way(size) if p.get("delay_s") == -1.0 else 0.0,
                    "early_first": 0,
                    "early_steady": int(size <= 65536),
                    "baseline_s": one_way(size),
                },
            },
        )


def written_to(path: Path, **how: Any) -> Path:
    with Records(path) as out:
        out.add_environment("e", ENVIRONMENT)
        for point, record in records(**how):
            out.add_point(point, "e", record)
    return path


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all read and nobody changes: each record on its own to the disk takes longer than to fit them."""
    return written_to(tmp_path_factory.mktemp("measured") / "paper.jsonl")


@pytest.fixture
def raw(paper: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(paper, tmp_path))


@pytest.fixture(scope="module")
def found(paper: Path) -> Calibration:
    """The fit of `paper`."""
    return calibrate(paper, name="paper")


def test_overheads_come_back_where_noise_leaves_them(tmp_path: Path) -> None:
    quiet = written_to(tmp_path / "quiet.jsonl", noise=0.001)
    for segment in calibrate(quiet, name="paper").described.machine.inter.segments:
        assert segment.o_s.value == pytest.approx(O_S, rel=0.05)


def test_the_machine_comes_back(found: Calibration) -> None:
    m = found.described.machine
    low, *_, high = m.inter.segments
    assert [s.from_ for s in m.inter.segments if s.from_] == [pytest.approx(THRESHOLD, rel=0.3)]
    for segment in (low, high):
        # What 15 delays of 40 us or more leave of a train: 1 % of noise leaves o_s an interval of a quarter.
        assert segment.o_s.interval is not None
        assert segment.o_s.interval[0] <= O_S <= segment.o_s.interval[1]
        assert segment.o_s.source == "measured"
    # Receives were timed of messages up to 8 KiB: of larger ones o_r is taken as of these.
    assert (low.o_r.source, high.o_r.source) == ("measured", "assumed")
    assert high.o_r.value == low.o_r.value
    assert low.o_s.value + low.L.value + low.o_r.value == pytest.approx(O_S + WIRE + O_R, rel=0.02)
    assert 1 / low.G.value == pytest.approx(2 * RATE, rel=0.03)
    assert 1 / high.G.value == pytest.approx(RATE, rel=0.01)
    # Four threads that do nothing but send take STRETCH times as long per message as one.
    assert m.threads.contention.at(4) == pytest.approx((STRETCH[4] - 1) * O_S, rel=0.03)
    assert m.threads.barrier.at(8) == pytest.approx(4 * US, rel=0.03)
    assert m.threads.pready.value == pytest.approx(0.05 * US, rel=0.03)
    assert m.matching.per_entry.value == pytest.approx(2e-9, rel=0.1)
    assert m.memory.copy_hot.value == pytest.approx(20e9, rel=0.02)
    assert m.contexts.value == 1  # communicators were as slow as one


def test_predictions_of_the_machine_are_its_measurements(found: Calibration) -> None:
    m = found.described.machine
    for size in (8, 1000, 10_000, 20_000, 100_000, 3_000_000):
        w = validated(Workload, {"threads": 1, "buffer": f"{size} B"}, "w")
        assert Evaluation(m, w, draws=0).mean_time(Approach(SINGLE)) == pytest.approx(one_way(size), rel=0.03)
    w = validated(Workload, {"threads": 8, "buffer": "8 MB"}, "w")
    # Eight messages of 1 MB at once, contended: issued every 8 × 2 us, far below the millisecond of each.
    expected = one_way(1e6) + O_S * (STRETCH[8] - 1) + 7 * gap(1e6)
    assert Evaluation(m, w, draws=0).mean_time(Approach(MANY, 8)) == pytest.approx(expected, rel=0.02)


TAKEN, TAKEN_BY_PUTS = {2: 0.8 * US, 4: 1.5 * US, 8: 4 * US}, {2: 0.1 * US, 4: 0.2 * US, 8: 0.3 * US}


def contention_records() -> Iterator[tuple[Point, dict[str, Any]]]:
    """Teams that issue at once while the receiver sleeps: cold caches cost each of them 10 us."""
    for point in plan(threads=8, only=["contention"]):
        p: dict[str, Any] = dict(point.parameters)
        k, n = int(p["threads"]), int(p["messages"])
        each = (TAKEN_BY_PUTS if p["mechanism"] == "window" else TAKEN)[k]
        alone = np.linspace(1.9, 2.1, 30) * US * n
        team = k * alone + (k * n - 1) * each + 10 * US
        record = {"measurement": "contention", "parameters": p, "median_s": float(np.median(team))}
        record |= {"samples_ns": (team * 1e9).tolist(), "also": {"alone": {"samples_ns": (alone * 1e9).tolist()}}}
        yield point, record | {"derived": {"peer_awake": 0.0}}


@pytest.mark.parametrize(("launcher", "fabric"), [("rig 1Gbit, Open MPI over tcp", "tcp"), ("srun -n 2", None)])
def test_on_the_rig_puts_of_open_mpi_are_known_to_be_deferred(
    launcher: str, fabric: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "rig.jsonl"
    with Records(path) as out:  # too little was measured to tell
        out.add_environment("e", ENVIRONMENT | {"launcher": launcher})
        for point, record in records():
            out.add_point(point, "e", record)
    rig = calibrate(path, name="rig").described.machine
    assert rig.fabric == fabric
    assert rig.one_sided.puts is None
    puts = with_puts(rig, effective_library(rig)).one_sided.puts
    assert (None if puts is None else puts.value) == (None if fabric is None else "deferred")


@pytest.mark.parametrize(("cores", "expected"), [(8, TAKEN), (1, dict.fromkeys(TAKEN, 0.0))])
def test_a_taken_lock_costs_what_teams_show_where_threads_have_cores(
    cores: int, expected: dict[int, float], tmp_path: Path
) -> None:
    path = tmp_path / "teams.jsonl"
    with Records(path) as out:
        out.add_environment("e", ENVIRONMENT | {"cores": [cores, cores]})
        for point, record in (*records(), *contention_records()):
            out.add_point(point, "e", record)
    threads = calibrate(path, name="paper").described.machine.threads
    assert threads.contention.source == "measured"
    for k, time in expected.items():
        assert threads.contention.at(k) == pytest.approx(time, rel=1e-3)
    if cores == 1:
        assert "no two of its threads" in threads.contention.why
        assert "paid 800 ns" in threads.contention.why
        assert threads.contention_put is None
    else:
        assert threads.contention_put is not None
        assert threads.contention_put.at(4) == pytest.approx(TAKEN_BY_PUTS[4], rel=1e-3)


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_what_a_budget_left_out_of_teams_is_taken_as_of_the_largest(cores: int, tmp_path: Path) -> None:
    path = tmp_path / "short.jsonl"
    with Records(path) as out:
        out.add_environment("e", ENVIRONMENT | {"cores": [cores, cores]})
        for point, record in (*records(), *contention_records()):
            if point.measurement != "barrier" and int(str(dict(point.parameters).get("threads", 2))) <= 2:
                out.add_point(point, "e", record)
    calibration = calibrate(path, name="paper")
    threads = calibration.described.machine.threads
    assert threads.barrier.source == "assumed"
    for curve in (threads.contention, threads.contention_put or threads.contention):
        assert curve.threads[-1] >= threads.barrier.threads[-1]
        assert curve.at(7) == curve.at(2)


@pytest.mark.thorough
def test_held_out_sizes_are_predicted(found: Calibration) -> None:
    predicted = held_out(found.observations)
    assert predicted.median < 0.02
    assert len(predicted.size) > 20
    # Negative control: a straight line through both protocols is far off somewhere.
    pings = found.observations.ping_pong
    assert pings is not None
    measured = np.array([np.median(r) for r in pings.repeats])
    line = np.polynomial.Polynomial.fit(pings.at, measured, 1, w=1 / measured)(pings.at)
    assert np.abs(line / measured - 1).max() > 3 * abs(predicted.worst[1])


def test_probes_reach_the_machine(found: Calibration) -> None:
    m = found.described.machine
    assert m.library.name == "openmpi-persist"
    assert m.library.early_send is not None
    assert m.library.early_send.value is True
    assert "except in the first iteration" in m.library.early_send.why
    assert m.progress.value == "hardware"
    assert m.sender_progress is not None
    assert m.sender_progress.value == "on-call"  # 90 % was left when the sender computed


def test_a_stalling_library_gets_no_early_bird_from_part(found: Calibration) -> None:
    # The sender must be inside MPI (0.9 left): of partitions of 1 MB nothing moves before the join.
    m = found.described.machine
    assert m.inter.segments[-1].protocol == "rendezvous"
    late = {"model": "laggard", "delay": "20 ms"}
    w = validated(Workload, {"threads": 8, "buffer": "8 MB", "arrivals": late}, "w")
    e = Evaluation(m, w, draws=0)
    bulk, part, many = (e.mean_time(a) for a in (Approach(SINGLE), Approach(PART, 8), Approach(MANY, 8)))
    assert part > 0.95 * bulk
    assert many < 0.2 * bulk  # whose threads wait inside MPI


@pytest.mark.thorough
def test_same_file_same_bytes(raw: Path) -> None:
    first, again = (calibrate(raw, name="paper", seed=4) for _ in range(2))
    assert dumps(first.described.machine) == dumps(again.described.machine)
    assert provenance(raw, first, 4) == provenance(raw, again, 4)
    other = calibrate(raw, name="paper", seed=5)
    assert dumps(other.described.machine) != dumps(first.described.machine)  # intervals are drawn


@pytest.mark.thorough
def test_order_of_the_points_does_not_matter(raw: Path, tmp_path: Path) -> None:
    # As after a kill and a resume, in another order of failures.
    lines = raw.read_text().splitlines()
    shuffled = tmp_path / "paper2.jsonl"
    rest = lines[1:]
    np.random.default_rng(0).shuffle(rest)
    shuffled.write_text("\n".join([lines[0], *rest]) + "\n")
    one, other = (calibrate(p, name="paper") for p in (raw, shuffled))
    assert dumps(one.described.machine) == dumps(other.described.machine)


@pytest.mark.thorough
def test_a_killed_run_fits_like_an_uninterrupted_one(raw: Path, tmp_path: Path) -> None:
    whole = raw.read_bytes()
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(whole[: len(whole) * 2 // 3])  # in the middle of a line
    known = {str(p): (p, r) for p, r in records()}
    with Records(cut) as out:
        assert out.content.damaged_tail
        for point in out.missing([p for p, _ in known.values()], "e"):
            out.add_point(point, "e", known[str(point)][1])
    assert dumps(calibrate(cut, name="x").described.machine) == dumps(calibrate(raw, name="x").described.machine)


def test_thin_data_end_in_a_machine_that_says_so(tmp_path: Path) -> None:
    def measured(*sizes: int) -> Path:
        path = tmp_path / f"{len(sizes)}.jsonl"
        with Records(path) as out:
            out.add_environment("e", ENVIRONMENT)
            for point, record in records():
                if point.measurement == "pingpong" and record["parameters"]["bytes"] in sizes:
                    out.add_point(point, "e", record)
        return path

    thin = calibrate(measured(1, 16, 4096, 1 << 20), name="thin").described
    assert any("thin data: 4 message sizes were timed" in note and "measure next: " in note for note in thin.notes)
    segment = thin.machine.inter.segments[0]
    assert segment.o_s.source == "assumed"
    assert segment.G.interval is not None
    with pytest.raises(ThinDataError) as caught:
        calibrate(measured(1, 4096), name="thin")
    assert caught.value.measure_next


@pytest.mark.thorough
def test_the_command_fits_reports_and_refuses(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "paper.toml"
    assert main(["calibrate", "--fit-only", "--raw", str(raw), "-o", str(out)]) == 0
    capsys.readouterr()
    assert machine.load(out).name == "paper"
    assert main(["predict", "examples/laggard.toml", "--machine", str(out)]) == 0
    capsys.readouterr()
    picture = tmp_path / "fit.svg"
    assert main(["calibrate", "report", str(raw), "-o", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "inter.segments[1].G" in printed
    assert "sizes held out of the fit: median error" in printed
    assert picture.read_bytes().startswith(b"<?xml")
    check_readable(figures.calibration("title", calibrate(raw, name="x").fit))
    for arguments, said in (
        (["--rig", "1Gbit"], "-o is missing"),
        (["-o", str(out)], "neither --launcher nor --rig given"),
        (["-o", str(out), "--rig", "1Gbit", "--launcher", "mpiexec"], "both --launcher and --rig given"),
        (["-o", str(out), "--rig", "1 parsec", "--mpi", str(tmp_path)], "no mpiexec in"),
        (["-o", str(out), "--fit-only", "--raw", "absent.jsonl"], "absent.jsonl: no such file"),
        (["-o", str(out), "--launcher", "no-such-launcher -n 2"], "no command 'no-such-launcher'"),
        (["-o", str(out), "--budget", "10", "--rig", "1Gbit"], "--budget = '10' has no unit"),
        (["-o", "machine.txt", "--rig", "1Gbit"], "suffix = '.txt'"),
    ):
        assert main(["calibrate", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("pready: error: ")
        assert said in error
        assert error.count("\n") == 1
    assert machine.load(out).name == "paper"  # untouched


def test_what_completing_a_message_takes_is_measured(found: Calibration) -> None:
    segment = found.described.machine.inter.segments[0]
    assert segment.o_r.source == segment.L.source == "measured"
    assert segment.o_r.value == pytest.approx(O_R, rel=0.05)
    assert segment.L.value == pytest.approx(WIRE, rel=0.05)


def on_hosts(folder: Path, hosts: list[str]) -> Path:
    """The measurements, by ranks of these hosts."""
    path = folder / f"{'-'.join(hosts)}.jsonl"
    with Records(path) as out:
        out.add_environment("e", {**ENVIRONMENT, "hosts": hosts})
        for point, record in records():
            out.add_point(point, "e", record)
    return path


@pytest.mark.thorough
def test_the_path_within_a_node_is_added(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "paper.toml"
    fit = ["calibrate", "--fit-only", "-o", str(out)]
    within, between = (on_hosts(tmp_path, hosts) for hosts in (["a", "a"], ["a", "b"]))
    assert main([*fit, "--intra", "--raw", str(within)]) == 2
    assert "--intra adds to a machine file, and there is none" in capsys.readouterr().err
    assert main([*fit, "--raw", str(raw)]) == 0
    before = machine.load(out)
    assert before.intra is None
    for words, said in (
        (["--raw", str(between)], "--intra with ranks on a and b; valid: two ranks on one node"),
        (["--raw", str(within), "--rig", "1Gbit"], "--intra with --rig"),
        (["--raw", str(within), "--name", "x"], "--name with --intra"),
    ):
        assert main([*fit, "--intra", *words]) == 2
        assert said in capsys.readouterr().err
        assert machine.load(out) == before
    for _ in range(2):  # the second time it is replaced by what it is
        assert main([*fit, "--intra", "--raw", str(within)]) == 0
        after = machine.load(out)
        assert after.intra is not None
        assert after.intra.segments == before.inter.segments
        assert after.model_copy(update={"intra": None}) == before
    capsys.readouterr()
    nodes = tmp_path / "nodes.toml"
    nodes.write_text(
        'format = 2\nthreads = 2\nbuffer = "64 KiB"\npattern = "halo3d"\ngrid = [4, 2]\nranks_per_node = 2\n'
        'compute = { time = "1 ms" }\n',
        encoding="utf-8",
    )
    assert main(["predict", str(nodes), "--machine", str(out)]) == 0


def test_import_of_other_benchmarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "osu.toml"
    files = ["tests/data/importers/osu_latency_v5.txt", "tests/data/importers/osu_bw_v5.txt"]
    assert main(["calibrate", "import", *files, "-o", str(out)]) == 0
    assert "contention as on meluxina" in capsys.readouterr().err
    m = machine.load(out)
    assert m.threads.contention.source == "assumed"
    assert main(["calibrate", "import", "README.md", "-o", str(out)]) == 2
    assert "is no benchmark output that can be read" in capsys.readouterr().err
    made = from_files([Path(f) for f in files], name="osu")
    assert made.text.startswith("# Written by pready")
    assert made.machine.created == m.created


def test_environments_are_told_apart(raw: Path) -> None:
    line = {"format": 1, "kind": "environment", "key": "f", "record": {"launcher": "other"}}
    with raw.open("a") as stream:
        stream.write(json.dumps(line) + "\n")
    with pytest.raises(PreadyError, match=r"one of: e \(paper\), f \(other\)"):
        calibrate(raw, name="x")
    assert calibrate(raw, name="x", environment="e").environment == "e"
    assert from_records.environment(from_records.load(raw), "f")[1]["launcher"] == "other"


def test_a_job_script_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tmp_path / "job.sh"
    arguments = ["calibrate", "-o", "m.toml", "--budget", "10 min", "--slurm", str(job)]
    monkeypatch.setattr("sys.argv", ["pready", *arguments])
    assert main(arguments) == 0
    text = job.read_text()
    assert text.startswith("#!/bin/bash\n")
    assert "calibrate -o m.toml --budget '10 min' --launcher 'srun -N 2 -n 2 -c 8'" in text
    assert "--slurm" not in text


def test_a_short_budget_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the plan's first fifth, whole exchanges and queues are missing; of all of it, nothing is."""
    path, out = tmp_path / "short.jsonl", tmp_path / "short.toml"
    kept = {str(point) for point in plan(threads=8)[:114]}
    with Records(path) as file:
        file.add_environment("e", ENVIRONMENT | {"cores": [4, 2]})
        for point, record in records():
            if str(point) in kept:
                file.add_point(point, "e", record)
    arguments = ["calibrate", "--fit-only", "--raw", str(path), "-o", str(out)]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    lacks = [line for line in said.splitlines() if line.startswith("  lacks: ")]
    assert "  lacks: 8 of 8 points of matching were not measured (queues): it is assumed" in lacks
    pings = sum(p.measurement == "pingpong" for p in plan(threads=8))
    there = sum(p.measurement == "pingpong" and p.get("mode") == "isend" for p in plan(threads=8)[:114])
    assert f"  lacks: {pings - there} of {pings} points of pingpong were not measured (where protocols change)" in lacks
    assert all(line[2:].replace("lacks", "# Lacks") in out.read_text() for line in lacks)
    # The last lines, after all notes: what took most from it.
    warnings = said.splitlines()[-3:-1]
    assert warnings[0].startswith("warning: the plan was not measured to its end")
    assert warnings[1].startswith("warning: a rank had 2 cores for its 8 threads")
    assert "srun -c 8" in warnings[1]
    assert "# Warning: a rank had 2 cores for its 8 threads" in out.read_text()


def test_enough_cores_and_a_whole_plan_are_not_worth_a_word(tmp_path: Path) -> None:
    path = tmp_path / "whole.jsonl"
    simulated = {str(point): record for point, record in records()}
    with Records(path) as file:
        file.add_environment("e", ENVIRONMENT | {"cores": [8, 8]})
        for point in plan(threads=8):
            refused = {"measurement": point.measurement, "parameters": dict(point.parameters), "unsupported": "no"}
            file.add_point(point, "e", simulated.get(str(point), refused))
    done = calibrate(path, name="paper")
    assert done.lacking == ()
    assert done.warnings == ()


@pytest.mark.parametrize(("control", "said"), [("bbr", True), ("cubic", False), ("reno", False), (None, False)])
def test_tcp_that_paces_by_its_own_estimates_is_said(control: str | None, said: bool, tmp_path: Path) -> None:
    path = tmp_path / "paced.jsonl"
    with Records(path) as out:
        out.add_environment("e", ENVIRONMENT | ({} if control is None else {"tcp": control}))
        for point, record in records():
            out.add_point(point, "e", record)
    done = calibrate(path, name="paper")
    assert any("TCP goes by bbr there" in warning for warning in done.warnings) == said
    assert ("Warning: TCP goes by bbr" in provenance(path, done, 0)) == said


@pytest.mark.parametrize(
    ("about", "cores"),
    [({"cores": [4, 2], "hosts": ["a", "b"]}, 2), ({"hosts": ["a", "b"]}, None)],
)
def test_cores_of_a_rank(about: dict[str, Any], cores: int | None) -> None:
    assert from_records.cores_per_rank(about) == cores
