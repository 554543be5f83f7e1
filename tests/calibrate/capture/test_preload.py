"""The library, part by part, in a world made by hand: every record, number and text of its file is known.

`steps.py` is the program, `made_world.c` its clock and its system, `made_mpi.c` its MPI. Of store.c, regions.c, ompt.c,
gomp.c, next.c, format.h.
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
STEPS = Path(__file__).with_name("steps.py")
LAYOUT = {"header_bytes": 8192, "site_bytes": 512, "sites": 1024, "chunk_bytes": 65536}


@pytest.fixture
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Its handles are numbers."""
    return Mpi("mpich", kept(request))


def ran(mpi: Mpi, folder: Path, way: str, *, beside: bool = False, **settings: str) -> tuple[str, list[Process]]:
    """What the steps printed, and their captures."""
    flags = ["-shared", "-fPIC", "-Wno-unused-parameter"]
    world, made = (mpi.compiled(f"made_{n}.c", *flags, name=f"libmade_{n}.so", cc=["cc"]) for n in ("world", "mpi"))
    folder.mkdir(exist_ok=True)
    preloaded = ":".join(map(str, [mpi.library, world, *[made] * beside]))
    own = {"LD_PRELOAD": preloaded, "PREADY_CAPTURE_DIR": str(folder), **settings}
    done = ended([sys.executable, "-IS", str(STEPS), world, made, json.dumps(WORLD[way]["steps"])], own)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, list(read_run(folder).processes) if any(folder.iterdir()) else []


def place(process: Process, number: int) -> str:
    """The program's routines, the innermost first; brackets for a function itself."""
    found = []
    while of := process.places[number]:
        found += [f"{of.symbol}{'' if of.is_return else '()'}"] if of.object.endswith("libmade_world.so") else []
        number = of.caller
    return " < ".join(n for n in found if n not in ("", "_start"))


def rows(process: Process) -> list[list[Any]]:
    """Of each record: thread, kind, begin, end, end of what it began, who, what, where."""
    names = {number: name for name, number in kinds().items()}
    return [
        [int(thread), names[int(r["kind"])], *(int(r[n]) for n in ("start", "end", "done", "who")), hex(r["what"]),
         place(process, int(r["site"]))]
        for thread, r in zip(process.thread, process.records, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize("way", [way for way in WORLD if "rows" in WORLD[way]])
def test_a_known_world(mpi: Mpi, tmp_path: Path, way: str) -> None:
    said, (process,) = ran(mpi, tmp_path / "run", way)
    known = WORLD[way]
    assert said == known["said"]
    assert sorted(rows(process)) == sorted(known["rows"])
    data = process.path.read_bytes()
    head = np.frombuffer(data, _HEADER, 1)[0]
    places = [n for n, of in enumerate(process.places) if of is not None]
    assert places == [*range(1, head["used_sites"])]  # how many the C library has is its own
    numbers = {n: int(head[n]) for n in _HEADER.names or () if n not in ("magic", "pid", "used_sites", "pad")}
    assert numbers == LAYOUT | known["head"]
    assert len(data) == 8192 + 1024 * 512 + 65536 * known["head"]["chunks"]


def test_another_runtime_beside(mpi: Mpi, tmp_path: Path) -> None:
    """One that knows of no region changes nothing; its tool is the one that is told where nothing is captured."""
    _, (process,) = ran(mpi, tmp_path / "run", "gomp", beside=True)
    assert sorted(rows(process)) == sorted(WORLD["gomp"]["rows"])
    assert ran(mpi, tmp_path / "none", "other tool", beside=True, PREADY_CAPTURE_DIR="") == (
        WORLD["other tool"]["said"],
        [],
    )
