"""An OTF2 trace, as Score-P writes it, as a captured run."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from pready.calibrate.capture.files import Run
from pready.calibrate.otf2 import otf2_reading
from pready.calibrate.other_tools import tool_of
from pready.files.extra import need
from pready.model.common.errors import PreadyError

ANCHOR = "its anchor file, such as scorep/traces.otf2"
RECORDS_WITH_THREADS = "pready capture -o run/ -- mpiexec ..., or a trace of scorep --thread=omp"


def read_otf2(path: Path) -> tuple[Run, list[str]]:
    """Read a trace as a run, with notes; in a process of its own. `path`: the anchor file, most often `traces.otf2`.
    Raises PreadyError: OTF2's Python reader is not installed, or this is no OTF2 trace, or a damaged one."""
    source = str(path)
    if path.suffix != ".otf2":
        raise _no_trace(path, source)
    if not path.is_file():
        raise PreadyError("is no OTF2 trace", valid=ANCHOR, source=source)
    need("otf2", "an OTF2 trace", extra="otf2")
    command = [sys.executable, "-P", "-m", otf2_reading.__name__, source]
    environ = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environ, check=False)
    if done.returncode < 0:
        problem = f"OTF2's library ended by signal {-done.returncode} while reading it"
        raise PreadyError(problem, valid=otf2_reading.VALID, source=source)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    answer: tuple[Run, list[str]] | PreadyError = pickle.loads(done.stdout)
    if isinstance(answer, PreadyError):
        raise answer
    return answer


def _no_trace(path: Path, source: str) -> PreadyError:
    """What a file or a folder is instead, where it is known, and what to record in its place."""
    if tool := tool_of(path):
        return PreadyError(f"is of {tool.name}, without times of threads", valid=RECORDS_WITH_THREADS, source=source)
    return PreadyError("is no captured run and no OTF2 trace", valid=f"the folder of a run; {ANCHOR}", source=source)
