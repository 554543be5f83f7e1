"""What probes answered, in a line, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pready.calibrate.doctor import diagnosis, findings
from pready.calibrate.doctor.diagnosis import QUICK, diagnose, quick
from pready.calibrate.doctor.findings import Finding, cores_of
from pready.calibrate.doctor.probe_job import Answers, Ending
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.session import MeasureError

OPEN_MPI = "Open MPI v5.0.11, package: Open MPI root@x Distribution, ident: 5.0.11"


def answers(ending: Ending = "done", signal: int = 0, words: tuple[str, ...] = (), **values: Any) -> Answers:
    return Answers(ending, {k: v if isinstance(v, list) else [v] for k, v in values.items()}, words, signal)


def about(*cores: str, hosts: str = "a", library: str = OPEN_MPI, **more: Any) -> Answers:
    ranks = [{"host": hosts[i % len(hosts)], "cores": c} for i, c in enumerate(cores)]
    return answers(**{"begun": len(ranks), "library": library, "threads": 3, "partitioned": 1, "rank": ranks, **more})


@pytest.mark.parametrize(
    ("of", "given", "outcome", "said"),
    [
        (findings.of_early, answers(first=0, later=1), "good", "sends early, not in the first iteration"),
        (findings.of_early, answers(first=1, later=1), "good", "sends early"),
        (findings.of_early, answers(first=0, later=0), "care", "use many, not part"),
        (findings.of_early, answers("hung", 14), "bad", "hangs"),
        (findings.of_restart, answers(right=1, too_soon=0), "good", "right bytes in every iteration"),
        (findings.of_restart, answers(right=0.8, too_soon=0), "bad", "wrong bytes"),
        (findings.of_restart, answers(right=1, too_soon=1), "care", "MPI_Wait"),
        (findings.of_restart, answers("hung", 14, right=1), "bad", "hangs"),
        (findings.of_startall, answers(one_by_one=1, together=1), "good", "works with several neighbours"),
        (findings.of_startall, answers("hung", 14, one_by_one=1), "bad", "start each request with MPI_Start"),
        (findings.of_startall, answers("hung", 14), "bad", "do not use partitioned calls with several neighbours"),
        (findings.of_proc_null, answers(sent=1, received=1), "good", "works"),
        (findings.of_proc_null, answers("crashed", 11), "bad", "crashes with SIGSEGV in MPI_Psend_init"),
        (
            findings.of_proc_null,
            answers("failed", 0, ("MPI_ERR_RANK",), sent=1),
            "bad",
            "MPI_ERR_RANK in MPI_Precv_init",
        ),
        (findings.of_unequal, answers(fewer_received=1, more_received=1), "good", "right bytes"),
        (findings.of_unequal, answers("hung", 14, fewer_received=1), "bad", "hangs 4 sent, 8 received"),
        (findings.of_unequal, answers(fewer_received=0, more_received=1), "bad", "wrong bytes 8 sent, 4 received"),
        (findings.of_unstarted, answers(right=1), "good", "freed before"),
        (findings.of_unstarted, answers("hung", 14), "bad", "hangs the next request"),
        (findings.of_unstarted, answers("not run"), "unknown", "time is up"),
        (findings.of_early, answers("not begun"), "unknown", "did not start"),
    ],
)
def test_a_finding(of: Callable[[Answers], Finding], given: Answers, outcome: str, said: str) -> None:
    found = of(given)
    assert found.outcome == outcome
    assert said in f"{found.says}; {found.do}"
    assert bool(found.do) == (outcome != "good")


@pytest.mark.parametrize(
    ("small", "large", "outcome", "said"),
    [(1, 1, "good", "arrives"), (1, 0, "care", "64 B do arrive"), (0, 0, "care", "nothing does arrive")],
)
def test_puts(small: int, large: int, outcome: str, said: str) -> None:
    found = findings.of_put(answers(small=small, large=large), one_node=False)
    assert found.outcome == outcome
    assert said in found.says
    assert "between nodes" in found.says


@pytest.mark.parametrize(
    ("given", "outcome", "said"),
    [
        (about("0-7", "0-7", hosts="ab"), "good", "2 ranks on 2 nodes, each bound to 8 cores of its own"),
        (about("0-3", "4-7"), "good", "2 ranks on 1 node, each bound to 4 cores of its own"),
        (about("0-7", "0-7"), "care", "not bound"),
        (about("0", "1"), "care", "each bound to 1 core of its own"),
        (about("0-1", "0-1", "0-1"), "bad", "3 ranks share 2 cores"),
        (about("0-1"), "bad", "one rank"),
    ],
)
def test_where_ranks_run(given: Answers, outcome: str, said: str) -> None:
    found = findings.of_ranks(given)
    assert found.outcome == outcome
    assert said in found.says


def test_cores_are_read() -> None:
    assert cores_of("0-3,8") == {0, 1, 2, 3, 8}
    assert cores_of("") == set()


def test_a_thread_level_below_multiple_is_bad() -> None:
    assert findings.of_threads(about("0", threads=3)).outcome == "good"
    assert "MPI_THREAD_SERIALIZED" in findings.of_threads(about("0", threads=2)).says


def ran(monkeypatch: pytest.MonkeyPatch, first: Answers, tmp_path: Path) -> list[str]:
    """Probes are answered with `first`, and all but the first hang; the probes in the order they ran."""
    asked: list[str] = []

    def run(program: Path, probe: str, *_: object, **__: object) -> Answers:
        asked.append(probe)
        return first if probe == "about" else answers("hung", 14)

    monkeypatch.setattr(diagnosis, "run_probe", run)
    monkeypatch.setattr(diagnosis, "build_probes", lambda *_, **__: tmp_path / "program")
    return asked


def test_all_probes_run_where_there_are_partitioned_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ran(monkeypatch, about("0-3", "4-7"), tmp_path)
    found = diagnose(Launcher.parse("env"), ["mpicc"])
    assert asked == ["about", *findings.PROBES, "put"]
    assert found.profile == "openmpi-persist@5.0.11"
    assert [f.outcome for f in found.findings].count("bad") == len(findings.PROBES) + 1

    asked = ran(monkeypatch, about("0-3", "4-7", library="Open MPI v4.1.4", partitioned=0), tmp_path)
    found = diagnose(Launcher.parse("env"), ["mpicc"])
    assert asked == ["about", "put"]
    assert "without partitioned calls" in found.findings[0].says


def test_no_probe_starts_when_time_is_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ran(monkeypatch, about("0-3", "4-7"), tmp_path)
    found = diagnose(Launcher.parse("env"), ["mpicc"], budget_s=0)
    assert asked == ["about"]
    assert {f.outcome for f in found.findings[3:]} == {"unknown"}


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (
            answers("not begun", words=("no such partition",)),
            "starts no MPI program; valid: a launcher of the compiler's MPI (--mpicc)\nno such partition",
        ),
        (answers("not begun"), "it gave no sign"),
        (about("0-3", begun=[1, 1]), "each a job of one rank"),
    ],
)
def test_a_launcher_that_cannot_measure_is_refused(
    first: Answers, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran(monkeypatch, first, tmp_path)
    with pytest.raises(MeasureError) as error:
        diagnose(Launcher.parse("env"), ["mpicc"])
    assert said in str(error.value)


def test_the_quick_part_is_kept_per_launcher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ran(monkeypatch, about("0-3", "4-7"), tmp_path)
    first = quick(Launcher.parse("env"), ["mpicc"], cache=tmp_path)
    assert asked == ["about", *QUICK]
    assert quick(Launcher.parse("env"), ["mpicc"], cache=tmp_path) == first
    assert asked == ["about", *QUICK]
    quick(Launcher.parse("env A=1"), ["mpicc"], cache=tmp_path)
    assert len(asked) == 2 * (1 + len(QUICK))


def test_one_rank_measures_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran(monkeypatch, about("0-3"), tmp_path)
    with pytest.raises(MeasureError, match="starts one rank"):
        quick(Launcher.parse("env"), ["mpicc"], cache=tmp_path)
