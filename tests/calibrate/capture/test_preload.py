"""The library, part by part, in a world made by hand: every record, number and text of its file is known.

`steps.py` is the program, `made_world.c` its clock and its system, `made_mpi.c` its MPI. Of store.c and store.h,
regions.c and regions.h, ompt.c, gomp.c, process.c, callers.c, next.c, format.h; of peers.c, requests.c, mpi_wrap.h,
mpi_life.c, mpi_messages.c, mpi_completion.c, mpi_collectives.c, mpi_onesided.c.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Mpi, ended
from real_mpi import kept
from tables import table_of

from pready.calibrate.capture.files import _HEADER, Process, kinds, read_run

WORLD = table_of("calibrate/made_world")
CHECKED_MEMORY = [str(p) for p in Path("/lib").glob("*/libc_malloc_debug.so.0")]
"""The C library's own: with MALLOC_CHECK_=3 a byte written past the end of an allocation ends the program."""


@pytest.fixture
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Its handles are numbers."""
    return Mpi("mpich", kept(request))


def ran(mpi: Mpi, folder: Path, known: dict[str, Any]) -> tuple[str, list[Process]]:
    """What the steps printed, and their captures."""
    flags = ["-shared", "-fPIC", "-Wno-unused-parameter"]
    world, made = (mpi.compiled(f"made_{n}.c", *flags, name=f"libmade_{n}.so", cc=["cc"]) for n in ("world", "mpi"))
    preloaded = [mpi.library, f"{world.parent}//{world.name}", *[made] * known["beside"], *CHECKED_MEMORY]
    capture = {"LD_PRELOAD": ":".join(map(str, preloaded)), "PREADY_CAPTURE_DIR": str(folder), **known["settings"]}
    given = [Path(__file__).with_name("steps.py"), world, made, json.dumps(known["steps"])]
    words = [sys.executable, "-ISu", *map(str, given)]
    folder.mkdir(parents=True)
    done = ended(words, {"MALLOC_CHECK_": "3", "OMP_DYNAMIC": "false", **capture})
    assert (done.stderr, done.returncode) == ("", 0)
    run = list(read_run(folder).processes) if any(folder.glob("*.capture")) else []
    assert all(texts(process)[-1] == " ".join(words)[:4095] for process in run[:1])
    return done.stdout, run


def texts(process: Process) -> list[str]:
    """Host, MPI library, program, CPUs and command."""
    data = process.path.read_bytes()
    return [data[at : at + 4096].split(b"\0")[0].decode() for at in (512, 768, 1792, 6912, 2816)]


def place(process: Process, number: int) -> str:
    """The world's routines, the innermost first, with brackets if not called from there."""
    found = []
    while of := process.places[number]:
        if of.object.endswith("/libmade_world.so") and "//" not in of.object:
            found.append(of.symbol + ("" if of.is_return else "()"))
        number = of.caller
    return " < ".join(found)


def rows(process: Process) -> list[list[Any]]:
    """Of each record: thread, kind, begin, end, end of what it began, who, what, where."""
    names = {number: name for name, number in kinds().items()}
    each = zip(process.thread, process.records, strict=True)
    times = ("start", "end", "done", "who")
    return sorted(
        [int(n), names[r["kind"]], *(int(r[at]) for at in times), hex(r["what"]), place(process, r["site"])]
        for n, r in each
    )


@pytest.mark.parametrize("way", [way for way in WORLD if way != "common"])
def test_a_known_world(mpi: Mpi, tmp_path: Path, way: str) -> None:
    known = WORLD["common"] | WORLD.get(WORLD[way].get("like"), {}) | WORLD[way]
    said, run = ran(mpi, tmp_path / "run", known)
    assert (said, len(run)) == (known["said"], known["captures"])
    for n, process in enumerate(run):
        assert rows(process) == sorted(known["rows"])
        head = np.frombuffer(process.path.read_bytes(), _HEADER, 1)[0]
        numbers = {n: int(head[n]) for n in _HEADER.names or () if n not in ("magic", "pid")}
        assert numbers == WORLD["common"]["head"][0] | known["head"][n]
        assert process.path.stat().st_size == 8192 + 1024 * 512 + 65536 * numbers["chunks"]
        assert process.path.name.startswith("process-h_" if process.rank < 0 else f"rank-{process.rank:06d}.")
        assert sorted(process.cpus) == known["cpus"]
        assert texts(process)[: len(known["texts"])] == [a + b * n for a, b, n in known["texts"]]
