"""The benchmarks themselves, with real MPI libraries: that they measure, what they write, that they notice damage."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from counted_jobs import JOBS, asked, write_plans
from mpi_home import home_of
from real_mpi import LIBRARIES, STRICT, benchmark, kept
from tables import table_of

from pready.calibrate.measure.catalogue import MEASUREMENTS, PAIRS
from pready.calibrate.measure.compile import SOURCE, BuildError, Built, build, find_mpicc
from pready.calibrate.measure.schedule import plan

pytestmark = pytest.mark.thorough

QUICK = "budget_s=0.2 min_repeats=6 max_repeats=9"
ONCE = "min_repeats=1 max_repeats=2"
LINES: list[str] = table_of("calibrate/measurements")["lines"]


class Library:
    """An MPI library and the benchmark built with it."""

    def __init__(self, name: str, cache: Path) -> None:
        self.name, self.cache, self.options = name, cache, LIBRARIES[name][1]
        self.prefix = home_of(name)
        self.mpicc = find_mpicc(str(self.prefix / "bin" / "mpicc"))

    def build(self, **flags: str) -> Built:
        return build(self.mpicc, flags=STRICT | flags, cache=self.cache)

    def run(
        self, built: Built, lines: list[str], settings: Mapping[str, str] = MappingProxyType({}), ranks: int = 2,
        folder: str = "",
    ) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[str]]:  # fmt: skip
        mpiexec = str(self.prefix / "bin" / "mpiexec")
        command = [mpiexec, *self.options, "-n", str(ranks), str(built.program), "seed=7", "tool=test"]
        command += [f"folder={folder}"] * bool(folder)
        environ = {**os.environ, "OMP_WAIT_POLICY": "passive", **settings}
        how: dict[str, Any] = {"env": environ, "capture_output": True, "text": True, "timeout": 240}
        done = subprocess.run(command, input="\n".join([*lines, "end\n"]), check=False, **how)
        records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return records, done


@pytest.fixture(scope="module", params=sorted(LIBRARIES))
def library(request: pytest.FixtureRequest) -> Library:
    return Library(request.param, kept(request))


@pytest.fixture(scope="module")
def built(library: Library, request: pytest.FixtureRequest) -> Built:
    return benchmark(library.prefix, request)


def quick(lines: list[str], settings: str = QUICK) -> list[str]:
    return [f"{line} {settings} id=p{number}" for number, line in enumerate(lines)]


@pytest.fixture(scope="module")
def records(library: Library, built: Built) -> list[dict[str, Any]]:
    begun = time.monotonic()
    found, done = library.run(built, ["", "# a comment", "  environment\r", *quick(LINES)])
    assert done.returncode == 0, done.stderr
    for record in found[1:]:  # half of the samples take as long as the median, or longer: within the job
        assert record["median_s"] * record["repeats"] / 2 <= time.monotonic() - begun, record["measurement"]
        assert all(map(str.isidentifier, [*record["derived"], *record["also"]])), record["measurement"]
    return found


def test_every_point_gives_one_record_with_what_was_asked(records: list[dict[str, Any]]) -> None:
    assert [record.get("id") for record in records[1:]] == [f"p{number}" for number in range(len(LINES))]
    for record, line in zip(records[1:], LINES, strict=True):
        assert record["measurement"] == line.split()[0]
        assert not {"error", "unsupported"} & record.keys(), record
        for word in line.split()[1:]:
            name, value = word.split("=")
            got = record["parameters"][name]
            if isinstance(got, list):
                assert got == [float(item) for item in value.split(",")]
            else:
                assert str(got) == value or float(got) == float(value)
        assert {"min_repeats", "max_repeats", "budget_s"} <= record["parameters"].keys()
        assert "round" not in record["parameters"]  # of what all measurements have, the defaults say nothing


def test_environment(library: Library, records: list[dict[str, Any]]) -> None:
    environment = records[0]
    assert environment["measurement"] == "environment"
    assert {"mpich": "MPICH", "openmpi": "Open MPI"}[library.name] in environment["library"]
    named = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    assert environment["cpus"] == [named[1] if named else "unknown"] * 2
    assert environment["hosts"] == [platform.node()] * 2
    congestion = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    assert environment.get("tcp") == (congestion.read_text().strip() if congestion.exists() else None)
    assert len(environment["allowed"]) == 2
    assert environment["partitioned"] is True
    assert environment["thread_level"] == "multiple"
    assert (environment["seed"], environment["tool"]) == (7, "test")
    assert 0 < environment["clock_resolution_s"] < 1e-3
    # Both ranks are on this machine: they share its cores, or each has those it was bound to.
    assert len(environment["cores"]) == 2
    assert 2 <= sum(environment["cores"]) <= max(os.cpu_count() or 1, 2)


def test_needs_two_ranks(library: Library, built: Built) -> None:
    _, done = library.run(built, ["pingpong"], ranks=1)
    assert done.returncode != 0
    assert "needs two ranks" in done.stderr


def test_a_word_that_is_no_setting_is_said(built: Built) -> None:
    words = [str(built.program), "seed=1", "tool=", "folder=x", "sed=1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pready-bench: 'sed=1' is no setting: seed=N, tool=VERSION, folder=FOLDER\n" in done.stderr


def test_measurements_are_what_is_read_from_the_sources() -> None:
    assert {line.split()[0] for line in LINES} == {*MEASUREMENTS, PAIRS}


def test_the_plan_asks_for_what_the_program_takes(library: Library, built: Built) -> None:
    """Of each line the first fault is said: of these, that of their last word."""
    if library.name != "mpich":
        pytest.skip("the same source for all libraries")
    points = plan(threads=8)
    found, _ = library.run(built, [f"{point.line('x')} nonsense=1" for point in points])
    assert len(found) == len(points)
    assert {r["error"].partition(" ")[2] for r in found} == {"has no parameter 'nonsense'"}


# Between the benchmark and the library: one bit of every leaving message of 4321 or 4323 bytes is turned over, and of
# the third one of 4325 bytes.
DAMAGE = """
#include <mpi.h>
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static int seen;
    seen += count == 4325;
    if (count == 4321 || count == 4323 || (count == 4325 && seen == 3)) {
        ((char *)buffer)[count - 1] ^= 1;
    }
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}
"""


def test_one_wrong_bit_is_noticed(library: Library, built: Built, tmp_path: Path) -> None:
    source, shim = tmp_path / "damage.c", tmp_path / "damage.so"
    source.write_text(DAMAGE)
    subprocess.run([*library.mpicc, "-shared", "-fPIC", "-o", str(shim), str(source)], check=True)
    lines = [*(f"pingpong bytes={size} {QUICK}" for size in (4320, 4321, 4322)), f"pairs bytes=4323 window=1 {QUICK}"]
    for size in (4321, 4325):  # of an exchange: in the iteration before the one that is timed, and after it
        plan = f"exchange 2 1 1 1 1\nedge 0 0 1 {size} 0 0 0\narena 0 {size} 0\narena 1 0 {size}\nend\n"
        (tmp_path / f"{size}.plan").write_text(plan)
        (tmp_path / f"{size}.ready").write_bytes(bytes(16))
        lines.append(f"exchange plan={size}")
    found, done = library.run(built, lines, {"LD_PRELOAD": str(shim)}, folder=str(tmp_path))
    assert ["error" in record for record in found] == [False, True, False, True, True, True]
    assert "payload" in found[1]["error"]
    assert "median_s" not in found[1]
    wrong = "wrong bytes: rank 1 received from rank 0 what was not sent, in phase 0 of the checked iteration"
    said = [f"{wrong} {when} the timed ones" for when in ("before", "after")]
    assert [record["error"] for record in found[4:]] == said
    assert done.returncode == 1


def test_a_library_without_partitions_says_so(request: pytest.FixtureRequest) -> None:
    library = Library("mpich", kept(request))  # without these calls all libraries are alike
    old = library.build(CFLAGS="-O0 -DPREADY_HAS_PARTITIONED=0")
    found, done = library.run(old, quick(["early", "approach approach=part", "approach approach=many threads=2"]))
    assert ["unsupported" in record for record in found] == [True, True, False]
    assert "MPI 4.0" in found[0]["unsupported"]
    assert done.returncode == 0


@pytest.mark.needs("clang")
def test_clang_builds_without_a_warning(library: Library) -> None:
    wrapper = {"mpich": "MPICH_CC", "openmpi": "OMPI_CC"}[library.name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(wrapper, "clang")
        made = library.build()
    assert "clang" in made.version
    found, _ = library.run(made, quick(["pingpong", "approach approach=part"]))
    assert all("median_s" in record for record in found)


def test_clean_under_sanitizers(library: Library, tmp_path: Path) -> None:
    sane = library.build(SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined", CFLAGS="-O0 -g")
    settings = {
        "LSAN_OPTIONS": f"suppressions={SOURCE / 'lsan.supp'}:print_suppressions=0",
        "ASAN_OPTIONS": "fast_unwind_on_malloc=0",  # whole stacks, so that a leak is blamed on whose it is
    }
    nonsense = ["pingpong bytes=-1", "ping" * 200, "approach ready_s=1"]
    found, done = library.run(sane, ["environment", *quick(LINES, ONCE), *nonsense], settings)
    assert sum("median_s" in record for record in found) == len(LINES)
    lines = []
    for job in (job for job in JOBS if library.name in job.get("libraries", LIBRARIES)):
        write_plans(tmp_path, job)
        lines += [line for line, _ in asked(job) if re.match("exchange plan=[^r]|approach", line)]
    exchanged, again = library.run(sane, lines, settings, 3, str(tmp_path))
    assert len(exchanged) == len(lines)
    for stderr in (done.stderr, again.stderr):
        assert not re.search("ERROR: |runtime error", stderr), stderr


def test_compiler_is_looked_for_in_order(tmp_path: Path) -> None:
    def compiler(folder: str) -> str:
        path = tmp_path / folder / "mpicc"
        path.parent.mkdir()
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    given, named, beside, found = compiler("given"), compiler("named"), compiler("beside"), compiler("found")
    for launcher in ("mpiexec", "srun"):
        (tmp_path / "beside" / launcher).touch(0o755)
    mpiexec, srun = ([str(tmp_path / "beside" / name), "-n", "2"] for name in ("mpiexec", "srun"))
    everything = {"MPICC": f"{named} -cc=clang", "PATH": str(Path(found).parent)}
    assert find_mpicc(given, mpiexec, everything) == [given]
    assert find_mpicc(None, mpiexec, everything) == [named, "-cc=clang"]
    assert find_mpicc(None, mpiexec, {"PATH": everything["PATH"]}) == [beside]
    assert find_mpicc(None, srun, {"PATH": everything["PATH"]}) == [found]  # a scheduler's launcher is no MPI's


def test_a_missing_compiler_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no-such-mpicc"):
        find_mpicc("no-such-mpicc")
    with pytest.raises(BuildError, match="MPICC"):
        find_mpicc(None, (), {"MPICC": "no-such-mpicc", "PATH": os.environ["PATH"]})
    if not (Path(sys.executable).parent / "mpicc").exists():
        with pytest.raises(BuildError, match="pip install"):
            find_mpicc(None, (), {"PATH": str(tmp_path)})


def test_a_failing_build_carries_the_compilers_words(tmp_path: Path) -> None:
    broken = tmp_path / "mpicc"
    script = '[ "$1" = --version ] && echo broken 1 && exit 0\necho "mpi.h: not here" >&2\nexit 1'
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    with pytest.raises(BuildError, match=r"mpi\.h: not here"):
        build([str(broken)], cache=tmp_path / "cache")
