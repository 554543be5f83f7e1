"""Where points of the command line are computed: processes of this machine, or the ranks of an MPI job."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

PROCESSES_FROM = 24
"""Points from which processes of this machine are faster than threads: they may take half a second to start."""


def processes(workers: int) -> ProcessPoolExecutor:
    """Worker processes of this machine: forked from this one while it has one thread, which shares what it has loaded,
    else from a server that loads pready once."""
    if threading.active_count() == 1:
        return ProcessPoolExecutor(workers, mp_context=get_context("fork"), initializer=_begin)
    context = get_context("forkserver")
    context.set_forkserver_preload(["pready.whatif.tasks"])
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)


def _begin() -> None:
    """Leave Ctrl-C and SIGTERM to the process that hands out points; what is loaded is no garbage."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()


@contextmanager
def of_this_job() -> Iterator[Executor | None]:
    """The ranks of ``python -m mpi4py.futures -m pready``; None: this machine."""
    if "mpi4py.futures" in sys.modules:  # pready does not load it: the command line did
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            yield pool
    else:
        yield None
