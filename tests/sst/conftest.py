"""What the tests of ``pready sst`` share: the plan's test program, and SST where there is one."""

import subprocess
from pathlib import Path

import pytest
from given import Dump
from needs import need
from real_mpi import compiled_once, kept

from pready.calibrate.measure.compile import version_of
from pready.sst import library
from pready.sst.parameters import SOURCES

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


@pytest.fixture(scope="session")
def dump(request: pytest.FixtureRequest) -> Dump:
    """Runs the plan's test program, compiled without SST, under the undefined-behaviour sanitizer."""
    need("c++")
    source = Path(__file__).with_name("plan_dump.cpp")
    sanitize = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
    command = ["c++", "-std=c++17", "-O1", *WARNINGS, *sanitize, f"-I{SOURCES}", str(source)]
    read = [source, *sorted(Path(SOURCES).glob("*.hpp"))]
    made_of = [version_of(["c++"]), *(path.read_text(encoding="utf-8") for path in read)]
    program = compiled_once(kept(request), command, "plan_dump", made_of=made_of)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(program), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)

    return run


@pytest.fixture(scope="session")
def sst(request: pytest.FixtureRequest) -> Path:
    """The element library's folder, built once for the SST that is installed, whoever runs the tests."""
    (built := kept(request) / "sst").mkdir(exist_ok=True)
    library.cache_folder().parent.mkdir(parents=True, exist_ok=True)
    library.cache_folder().symlink_to(built)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXXFLAGS", "-Werror")
        return library.build()
