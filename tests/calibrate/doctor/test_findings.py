"""What probes answered, in a line, and what to do."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tables import table_of

from pready.calibrate.doctor import diagnosis, findings
from pready.calibrate.doctor.diagnosis import QUICK, diagnose, quick
from pready.calibrate.doctor.findings import PROBES, cores_of, of_probe
from pready.calibrate.doctor.probe_job import Answers, Ending
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.session import MeasureError

OPEN_MPI = "Open MPI v5.0.11, package: Open MPI root@x Distribution, ident: 5.0.11"
BUILT = Built(Path("program"), ("mpicc",), "", "")
BY_NAME = {probe.name: probe for probe in PROBES}


def answers(ending: Ending = "done", signal: int = 0, words: tuple[str, ...] = (), **values: Any) -> Answers:
    listed = {k: v if isinstance(v, list) else [v] for k, v in values.items()}
    return Answers(ending, listed | ({"done": [1]} if ending == "done" else {}), words, signal)


def record(*cores: str, hosts: str = "a", library: str = OPEN_MPI, **more: Any) -> dict[str, Any]:
    where = [hosts[i % len(hosts)] for i in range(len(cores))]
    made = {"hosts": where, "allowed": list(cores), "library": library}
    return {**made, "thread_level": "multiple", "partitioned": True, **more}


def about(*cores: str, **more: Any) -> Answers:
    return answers(begun=len(cores), environment=record(*cores, **more))


@pytest.mark.parametrize(("probe", "given", "grade", "said"), table_of("calibrate/findings")["probes"])
def test_a_finding(probe: str, given: dict[str, Any], grade: str, said: str) -> None:
    found = of_probe(BY_NAME[probe], answers(**given))
    assert found.grade == grade
    assert said in f"{found.says}; {found.do}"
    assert bool(found.do) == (grade != "good")


@pytest.mark.parametrize(("cores", "hosts", "grade", "said"), table_of("calibrate/findings")["ranks"])
def test_where_ranks_run(cores: list[str], hosts: str, grade: str, said: str) -> None:
    found = findings.of_ranks(record(*cores, hosts=hosts))
    assert found.grade == grade
    assert said in f"{found.says}; {found.do}"


def test_cores_are_read() -> None:
    assert cores_of("0-3,8") == {0, 1, 2, 3, 8}
    assert cores_of("") == set()


def test_a_thread_level_below_multiple_is_bad() -> None:
    assert findings.of_threads(record("0")).grade == "good"
    assert "MPI_THREAD_SERIALIZED" in findings.of_threads(record("0", thread_level="serialized")).says


def ran(monkeypatch: pytest.MonkeyPatch, first: Answers, times: list[Any] | None = None) -> list[str]:
    """Probes are answered with `first`, and all but the first hang; the probes in the order they ran."""
    asked: list[str] = []

    def run(program: Path, probe: str, launcher: Launcher, *, rank_s: int, start_s: float) -> Answers:
        asked.append(probe)
        if times is not None:
            times.append((rank_s, start_s))
        return first if probe == "environment" else answers("hung", 14)

    monkeypatch.setattr(diagnosis, "run_probe", run)
    return asked


def test_all_probes_run_where_there_are_partitioned_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ran(monkeypatch, about("0-3", "4-7"))
    found = diagnose(Launcher.parse("env"), BUILT)
    assert (asked, found.profile) == (["environment", *BY_NAME], "openmpi-persist@5.0.11")
    assert [f.grade for f in found.findings].count("bad") == len(PROBES)
    bugs = [f.says for f in found.findings if f.name == "known bug"]
    assert "MPI_Startall on partitioned requests hangs with several neighbours" in bugs
    assert not any("PROC_NULL" in says for says in bugs)  # mended in 5.0.11
    assert found.findings[0].says == "Open MPI v5.0.11 ('pready libraries openmpi-persist@5.0.11')"

    asked = ran(monkeypatch, about("0-3", "4-7", library="Open MPI v4.1.4", partitioned=False))
    found = diagnose(Launcher.parse("env"), BUILT)
    assert asked == ["environment", "put"]
    assert found.findings[0].says == "Open MPI v4.1.4, without partitioned calls"
    assert not [f for f in found.findings if f.name == "known bug"]


def test_a_probe_has_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by 10 s whenever it is asked: of 25 s, less 5 of a rank, 10 and 0 are left."""
    monkeypatch.setattr(diagnosis, "time", SimpleNamespace(monotonic=itertools.count(100, 10).__next__))
    times: list[Any] = []
    asked = ran(monkeypatch, about("0-3", "4-7", library=f"{OPEN_MPI}\nmore"), times)
    found = diagnose(Launcher.parse("env"), BUILT, budget_s=25)
    assert asked == ["environment", "early", "restart"]
    assert times == [(20, 5), (5, 10), (5, 1)]
    assert [f.grade for f in found.findings[3:6]] == ["bad"] * 2 + ["unknown"]
    assert (found.library, found.seconds) == (OPEN_MPI, 40)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (
            answers("not begun", words=("no such partition",)),
            "starts no MPI program; valid: a launcher of the compiler's MPI (--mpicc)\nno such partition",
        ),
        (answers("not begun"), "it gave no sign"),
        (answers(begun=[1, 1], environment=record("0-3")), "each a job of one rank"),
    ],
)
def test_a_launcher_that_cannot_measure_is_refused(
    first: Answers, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran(monkeypatch, first)
    with pytest.raises(MeasureError) as error:
        diagnose(Launcher.parse("env"), BUILT)
    assert said in str(error.value)


def test_the_quick_part_is_kept_per_launcher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ran(monkeypatch, about("0-3", "4-7"))
    first = quick(Launcher.parse("env"), BUILT, cache=tmp_path)
    assert asked == ["environment", *QUICK]
    assert quick(Launcher.parse("env"), BUILT, cache=tmp_path) == first
    assert asked == ["environment", *QUICK]
    quick(Launcher.parse("env A=1"), BUILT, cache=tmp_path)
    assert len(asked) == 2 * (1 + len(QUICK))


def test_one_rank_measures_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ran(monkeypatch, about("0-3"))
    with pytest.raises(MeasureError, match=r"^'env' starts one rank; valid: two or more, such as 'srun -n 2'$"):
        quick(Launcher.parse("env"), BUILT, cache=tmp_path)
    assert asked == ["environment"]
