"""What the benchmark's records say of a library, in a line, and what to do."""

from pathlib import Path
from typing import Any

import pytest
from given import Patch
from tables import table_of

from pready.calibrate.doctor import diagnosis, findings
from pready.calibrate.doctor.diagnosis import EARLY, diagnose, quick
from pready.calibrate.doctor.findings import cores_of
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Records
from pready.calibrate.measure.session import Outcome

OPEN_MPI = "Open MPI v5.0.11, package: Open MPI root@x Distribution, ident: 5.0.11"
BUILT = Built(Path("program"), ("mpicc",), "", "")


def record(*cores: str, hosts: str = "a", library: str = OPEN_MPI, **more: Any) -> dict[str, Any]:
    where = [hosts[i % len(hosts)] for i in range(len(cores))]
    made = {"hosts": where, "allowed": list(cores), "library": library}
    return {**made, "thread_level": "multiple", "partitioned": True, **more}


@pytest.mark.parametrize(("derived", "failure", "grade", "said"), table_of("calibrate/findings")["early"])
def test_when_partitions_leave(derived: dict[str, int], failure: str, grade: str, said: str) -> None:
    found = findings.of_early({"derived": derived} if derived else None, failure)
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


def answered(monkeypatch: Patch, about: dict[str, Any], failure: str = "") -> None:
    """A benchmark that says where it is, and measures that partitions are sent early, or fails."""

    def measured(_points: Any, _launcher: Any, out: Path, _budget: float, **_: Any) -> Outcome:
        with Records(out) as records:
            records.add_environment("e", about)
            if not failure:
                early = {"measurement": "early", "median_s": 0.05, "derived": {"early_first": 1, "early_steady": 1}}
                records.add_point(EARLY, "e", early)
        return Outcome("e", 1, 0, 0, {str(EARLY): failure} if failure else {})

    monkeypatch.setattr(diagnosis, "measure", measured)
    monkeypatch.setattr(diagnosis, "environment_of", lambda *_: about)


def test_a_library_is_tried_and_its_known_bugs_are_named(monkeypatch: Patch) -> None:
    answered(monkeypatch, record("0-3", "4-7"))
    found = diagnose(Launcher.parse("env"), BUILT)
    assert (found.launcher, found.library, found.profile) == ("env", OPEN_MPI, "openmpi-persist@5.0.11")
    names = ["library", "thread level", "ranks", "MPI_Pready"]
    assert [f.name for f in found.findings if f.name != "known bug"] == names
    bugs = [f.says for f in found.findings if f.name == "known bug"]
    assert "MPI_Startall on partitioned requests hangs with several neighbours" in bugs
    assert not any("PROC_NULL" in says for says in bugs)  # mended in 5.0.11
    assert found.findings[0].says == "Open MPI v5.0.11 ('pready libraries openmpi-persist@5.0.11')"
    assert quick(Launcher.parse("env"), BUILT) == [*found.findings[:3]]
    answered(monkeypatch, record("0-3", "4-7"), "no answer for 25 s\nmore")
    (bad,) = (f for f in diagnose(Launcher.parse("env"), BUILT).findings if f.grade == "bad")
    assert bad.says == "no answer for 25 s"
    answered(monkeypatch, record("0-3", "4-7", library="Open MPI v4.1.4", partitioned=False))
    found = diagnose(Launcher.parse("env"), BUILT)
    assert [f.name for f in found.findings] == names[:3]
    assert found.findings[0].says == "Open MPI v4.1.4, without partitioned calls"
