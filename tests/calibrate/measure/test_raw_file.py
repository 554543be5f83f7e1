"""The raw result file and the run that fills it: nothing lost, nothing twice, whatever dies when."""

import itertools
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from given import Patch

from pready.calibrate.measure import session
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Content, Point, Records, RecordsError, environment_key, read
from pready.calibrate.measure.session import MeasureError, Outcome, Progress, environment_of, measure
from pready.model.version import VERSION

ENVIRONMENT = "e" * 20

# Speaks the protocol of pready-bench without MPI. Its answer to a point depends on the point alone.
FAKE = """
import json, sys, time
for line in sys.stdin:
    words = line.split()
    if words == ["end"]:
        break
    if words == ["environment"]:
        about = {"library": "fake 1", "cpus": ["a", "a"], "words": sys.argv[1:]}
        print(json.dumps({"measurement": "environment"} | about), flush=True)
        continue
    given = dict(word.split("=", 1) for word in words[1:])
    size = int(given["bytes"])
    time.sleep(0.003)
    if size == 666:
        print("cannot go on", file=sys.stderr)
        sys.exit(3)
    if size == 777:
        time.sleep(600)
    if size == 888:
        print(json.dumps({"measurement": words[0], "id": given["id"], "error": "payload mismatch"}), flush=True)
        continue
    print("noise from a library", flush=True)
    print('{not json\\n{"of": "another"}', flush=True)
    print(json.dumps({"measurement": words[0], "id": given["id"], "median_s": size * 1e-9,
                      "budget": given["budget_s"]}), flush=True)
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    fake = tmp_path / "fake.py"
    fake.write_text(FAKE)
    return Launcher((sys.executable, str(fake)), label="fake")


BUILT = Built(Path("fake"), ("cc",), "cc 1", "source")


def pingpongs(*counts: int) -> list[Point]:
    return [Point.of("pingpong", bytes=size) for size in counts]


def filled(path: Path, count: int) -> None:
    with Records(path) as records:
        records.add_environment(ENVIRONMENT, {"library": "x"})
        for point in pingpongs(*range(count)):
            records.add_point(point, ENVIRONMENT, {"measurement": "pingpong", "median_s": 1.0})


def test_point_is_a_line_whatever_the_order_of_its_parameters() -> None:
    point = Point.of("approach", bytes=8, ready_s=(0.0, 0.5), approach="many")
    assert point == Point.of("approach", approach="many", bytes=8, ready_s=(0.0, 0.5))
    assert point.line("k") == "approach id=k approach=many bytes=8 ready_s=0.0,0.5"


def test_environment_key_ignores_hosts_and_sees_everything_else() -> None:
    record = {"library": "L", "mpi_version": "4.1", "cpus": ["a", "b"], "hosts": ["n1", "n2"]}
    tcp = {"UCX_TLS": "tcp"}
    key = environment_key(record, "srun", tcp, "p")
    assert environment_key({**record, "hosts": ["n7", "n9"], "cpus": ["b", "a"]}, "srun", tcp, "p") == key
    assert key != environment_key({**record, "library": "M"}, "srun", tcp, "p")
    assert key != environment_key(record, "mpiexec", tcp, "p")
    assert key != environment_key(record, "srun", {}, "p")
    assert key != environment_key(record, "srun", tcp, "q")


def test_a_file_cut_at_any_byte_loses_at_most_its_last_line(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)  # a thousand times
    whole = tmp_path / "whole.jsonl"
    filled(whole, 3)
    data = whole.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    cut = tmp_path / "cut.jsonl"
    for length in range(len(data) + 1):
        cut.write_bytes(data[:length])
        survivors = sum(end <= length for end in ends)
        content = read(cut)
        assert content.damaged_tail == (length not in {0, *ends})
        with Records(cut) as records:
            assert len(records.content.points) == max(survivors - 1, 0)
            missing = records.missing(pingpongs(0, 1, 2), ENVIRONMENT)
            assert len(missing) == 3 - max(survivors - 1, 0)
        assert cut.read_bytes() == data[: ([0, *ends])[survivors]]


@pytest.mark.parametrize(
    "tail",
    [
        b"\0\0\0\0", b'{"format":1,"kind":"poi', b"\xff\xfe\n", b"\0\0\0\n", b"{}\n", b"5\n",
        b'{"format":1,"kind":"x"}\n', b'{"format":2,"kind":"environment","key":"k","record":{}}\n',
        b'{"format":1,"kind":"point","key":"k"}\n',
    ],
)  # fmt: skip
def test_a_damaged_last_line_is_dropped_and_measured_again(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "raw.jsonl"
    filled(path, 2)
    good = path.read_bytes()
    path.write_bytes(good + tail)
    assert (len(read(path).points), read(path).damaged_tail) == (2, True)
    with Records(path) as records:
        assert records.missing(pingpongs(0, 1, 2), ENVIRONMENT) == pingpongs(2)
        records.add_point(pingpongs(2)[0], ENVIRONMENT, {"measurement": "pingpong"})
    assert path.read_bytes().startswith(good)
    assert len(read(path).points) == 3


def test_damage_elsewhere_and_a_point_twice_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    filled(path, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"garbage\n" + lines[2])
    with pytest.raises(RecordsError, match="line 2: not a record"):
        read(path)
    path.write_bytes(b"".join([*lines, lines[-1]]))
    with pytest.raises(RecordsError, match="line 5: the point 'pingpong bytes=2' is there twice"):
        read(path)


def test_two_processes_do_not_measure_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    with Records(path), pytest.raises(RecordsError, match="another process"):
        Records(path)
    Records(path).__exit__(None, None, None)


def test_a_failure_is_tried_again_and_forgotten_when_it_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    (point,) = pingpongs(1)
    with Records(path) as records:
        records.add_failure(point, ENVIRONMENT, "hangs")
        assert records.missing([point], ENVIRONMENT) == [point]
        assert list(records.content.failures.values()) == ["hangs"]
        records.add_point(point, ENVIRONMENT, {"measurement": "pingpong"})
        assert records.missing([point], ENVIRONMENT) == []
    assert read(path).failures == {}


def test_unsupported_is_a_result(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    point = Point.of("early")
    with Records(path) as records:
        records.add_point(point, ENVIRONMENT, {"measurement": "early", "unsupported": "no MPI 4"})
        assert records.missing([point], ENVIRONMENT) == []
    assert read(path).unsupported() == {"early": "no MPI 4"}
    assert read(path).select("early") == []


def values(content: Content) -> dict[str, float]:
    return {line["point"]: line["record"]["median_s"] for line in content.points.values()}


def test_measure_fills_the_file_reports_and_resumes(tmp_path: Path, launcher: Launcher, monkeypatch: Patch) -> None:
    """By a clock that goes on by a second whenever it is asked: at the begin, before each point and after it."""
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=itertools.count().__next__))
    seen: list[Progress] = []
    out, (one, two, three) = tmp_path / "raw.jsonl", pingpongs(1, 2, 3)
    four = Point.of("pingpong", bytes=4, budget_s=0.5)
    how: Any = {"built": BUILT, "seed": 7, "folder": tmp_path}
    outcome = measure([one, two, three, two, four], launcher, out, 5.0, seen.append, **how)
    ((key, about),) = read(out).environments.items()
    assert (about["launcher"], about["program"]) == ("fake", "source")
    assert about["words"] == ["fake", "seed=7", f"tool={VERSION}", f"folder={tmp_path}"]
    assert outcome == Outcome(key, measured=2, failed=0, left=2)
    before = out.read_bytes()
    outcome = measure([one, two, three, four], launcher, out, 60.0, seen.append, built=BUILT)
    assert outcome == Outcome(key, measured=2, failed=0, left=0)
    # A point takes two seconds: so many are left, or what is left of 5.
    left = ((one, 1, 3.0), (two, 2, 1.0), (three, 3, 2.0), (four, 4, 0.0))
    assert seen == [Progress(point, done, 4, seconds) for point, done, seconds in left]
    assert out.read_bytes().startswith(before)
    found = read(out)
    assert values(found) == {str(point): i * 1e-9 for i, point in enumerate((one, two, three, four), 1)}
    assert [line["record"]["budget"] for line in found.points.values()] == ["2.0", "2.0", "2.0", "0.5"]
    asked = (("pingpong",), ("pingpong", key), ("pingpong", "other"), ("early",))
    assert [len(found.select(*of)) for of in asked] == [4, 4, 0, 0]


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (666, 'ended with exit status 3\nnoise from a library\n{not json\n{"of": "another"}\ncannot go on'),
        (777, 'no answer for 1 s\nnoise from a library\n{not json\n{"of": "another"}'),
        (888, "payload mismatch"),
    ],
    ids=["ends the benchmark", "hangs", "wrong payload"],
)
def test_a_point_that_fails_does_not_end_the_run(tmp_path: Path, launcher: Launcher, size: int, said: str) -> None:
    out = tmp_path / "raw.jsonl"
    patient: Any = {"point_budget_s": 0.04, "patience_s": 1.09}  # ten budgets and the patience are 1.49 s
    outcome = measure(pingpongs(1, size, 2), launcher, out, 60.0, built=BUILT, **patient)
    (key,) = read(out).environments
    assert outcome == Outcome(key, 2, 1, 0, {f"pingpong bytes={size}": said})
    assert list(values(read(out))) == ["pingpong bytes=1", "pingpong bytes=2"]
    assert len(read(out).failures) == 1


def test_a_benchmark_that_does_not_start_is_one_clear_error(tmp_path: Path) -> None:
    broken = Launcher((sys.executable, "-c", "raise SystemExit('no such \\033[31mpartition')"))
    with pytest.raises(MeasureError, match=r"no such \\x1b\[31mpartition"):
        measure(pingpongs(1), broken, tmp_path / "raw.jsonl", 60.0, built=BUILT)
    absent = Launcher.parse("no-such-launcher -n 2")  # it is looked up where it is started
    with pytest.raises(MeasureError, match=r"^no command 'no-such-launcher' here$"):
        environment_of(absent, BUILT)


def test_points_that_all_crash_end_the_run(tmp_path: Path, launcher: Launcher) -> None:
    points = [Point.of("pingpong", bytes=666, warmup=k) for k in range(9)]
    apart = [*points[:2], *pingpongs(1), *points[2:4], *pingpongs(2)]
    assert measure(apart, launcher, tmp_path / "apart.jsonl", 60.0, built=BUILT).failed == 4  # not in a row
    with pytest.raises(MeasureError, match=r"^3 points in a row ended the benchmark\n"):
        measure(points, launcher, tmp_path / "raw.jsonl", 60.0, built=BUILT)


def test_a_callback_that_raises_loses_nothing(tmp_path: Path, launcher: Launcher) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "raw.jsonl"
    with pytest.raises(KeyboardInterrupt):
        measure(pingpongs(1, 2), launcher, out, 60.0, stop, built=BUILT)
    assert list(values(read(out))) == ["pingpong bytes=1"]


def test_launchers_from_a_string_and_of_several_parts() -> None:
    launcher = Launcher.parse(f"{sys.executable} -N 2 '--comment=a b'")
    assert launcher.command(["bench", "x"]) == [sys.executable, "-N", "2", "--comment=a b", "bench", "x"]
    mpmd = Launcher(("mpiexec",), (("-n", "1", "in", "a"), ("-n", "1", "in", "b")))
    assert mpmd.command(["p"]) == ["mpiexec", "-n", "1", "in", "a", "p", ":", "-n", "1", "in", "b", "p"]
