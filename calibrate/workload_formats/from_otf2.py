"""An OTF2 trace, as Score-P writes it, as a captured run and its step."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from pready.calibrate.capture.files import Run
from pready.calibrate.capture.step import Step, find
from pready.calibrate.capture.without_regions import step_of_totals
from pready.calibrate.workload_formats import FORMATS, WorkloadFormat, otf2_reading
from pready.calibrate.workload_formats.from_profiles import lacking
from pready.files.extra import need
from pready.model.common.errors import PreadyError


def read_otf2(path: Path) -> tuple[Run, list[str]]:
    """Read a trace as a run, with notes; in a process of its own.

    Parameters
    ----------
    path
        The anchor file, most often `traces.otf2`.

    Raises
    ------
    PreadyError
        OTF2's Python reader is not installed, or this is no OTF2 trace, or a damaged one.
    """
    need("otf2", "an OTF2 trace", extra="otf2")
    source = str(path)
    if not path.is_file() or path.suffix != ".otf2":
        raise PreadyError("is no OTF2 trace", valid="its anchor file, such as scorep/traces.otf2", source=source)
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


def step_of_trace(run: Run, threads: int | None, steps: int | None, spread: str | None) -> Step:
    """The step: found from regions, or made from the given numbers if the trace has no parallel regions.

    Raises
    ------
    PreadyError
        Something is given that the trace says itself, or not given that it does not; else as `find` and
        `step_of_totals`.
    """
    source = str(run.folder)
    if any(p.of("share").any() for p in run.processes):
        if (threads, steps, spread) != (None, None, None):
            raise PreadyError(
                "has parallel regions",
                valid="no threads, iterations or arrivals.spread: the trace has them",
                source=source,
            )
        return find(run)
    if threads is None or steps is None or spread is None:
        options = lacking(threads=threads, iterations=steps, spread=spread)
        raise PreadyError("has no parallel regions of OpenMP threads", valid=options, source=source)
    return step_of_totals(run, threads, steps)


FORMATS.append(WorkloadFormat("OTF2", lambda name, _: name.endswith(".otf2")))
