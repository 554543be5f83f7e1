"""Each thread of a team on a core of its own, seen from outside while the benchmark waits for its next point.

With a host name each (a UTS namespace, which takes root) two ranks of this machine both have all of its cores.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from real_mpi import benchmark

from pready.calibrate.measure.compile import Built

CORES = len(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.needs("mpich", "root", "two cores"),  # root for host names of their own
]


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A copy: its processes are found by its name, and others run the one that is kept."""
    made = benchmark(Path(os.environ["PREADY_MPICH_PREFIX"]), request)
    return replace(made, program=Path(shutil.copy(made.program, tmp_path_factory.mktemp("build"))))


def masks(program: Path) -> dict[int, set[str]]:
    """The cores of each thread that the benchmark's processes have now."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(program).encode() != (process / "cmdline").read_bytes().split(b"\0")[0]:
                continue
            status = [(task / "status").read_text() for task in (process / "task").iterdir()]
        except OSError:
            continue  # has ended
        lines = [line for text in status for line in text.splitlines() if line.startswith("Cpus_allowed_list")]
        found[int(process.name)] = {line.split()[1] for line in lines}
    return found


@contextmanager
def running(built: Built, settings: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], dict[int, set[str]]]]:
    """The environment record of ranks on hosts `one` and `two`, and each one's masks after a team of two threads."""
    command = [str(Path(os.environ["PREADY_MPICH_PREFIX"]) / "bin" / "mpiexec")]
    for number, host in enumerate(("one", "two")):
        inside = ["unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh"]
        command += [*([":"] if number else []), "-n", "1", *inside, str(built.program)]
    free = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    with subprocess.Popen(
        command, env={**free, **settings}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("environment\nrate threads=2 budget_s=0.1 min_repeats=5 max_repeats=5\n")
        process.stdin.flush()
        records = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert records[1]["measurement"] == "rate"
        yield records[0], masks(built.program)
        process.stdin.write("end\n")


def test_threads_have_a_core_each(built: Built) -> None:
    with running(built, {}) as (environment, found):
        assert (environment["hosts"], environment["cores"]) == (["one", "two"], [CORES, CORES])
        assert environment["pinned"] is True
        own = sorted(map(str, sorted(os.sched_getaffinity(0))[:2]))
        assert len(found) == 2
        assert any(set(own) <= seen for seen in found.values()), found  # the team is rank 0's
        assert all(own[0] in seen for seen in found.values()), found


def test_where_somebody_else_has_decided_they_run_where_the_kernel_likes(built: Built) -> None:
    with running(built, {"OMP_PROC_BIND": "false"}) as (environment, found):
        assert environment["pinned"] is False
        assert environment["cores"] == [CORES, CORES]
        single = {str(core) for core in os.sched_getaffinity(0)}
        assert len(found) == 2
        assert not any(seen & single for seen in found.values())
