"""Where points are computed: threads or processes of this machine, a Dask cluster, the ranks of an MPI job."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pready.files.extra import need
from pready.model.common.errors import PreadyError, shown

PROCESSES_FROM = 24
"""Points from which processes of this machine are faster than threads: they take half a second to start."""


def processes(workers: int) -> ProcessPoolExecutor:
    """Worker processes of this machine, forked from a server that has loaded pready once."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["pready.whatif.tasks"])
    return ProcessPoolExecutor(workers, mp_context=context)


@contextmanager
def from_command_line(dask: str | None) -> Iterator[Executor | None]:
    """The executor of ``--dask``, or of ``python -m mpi4py.futures -m pready``; None: this machine.

    Parameters
    ----------
    dask
        Address of a Dask scheduler such as ``tcp://login1:8786``, or its scheduler file.

    Raises
    ------
    PreadyError
        Dask is not installed, or no scheduler answers there.
    """
    if dask is not None:
        with _dask_client(dask) as client:
            yield client.get_executor(pure=False)
    elif "mpi4py.futures" in sys.modules:  # pready does not load it: the command line did
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            yield pool
    else:
        yield None


def _dask_client(where: str) -> Any:
    need("distributed", "--dask", "dask")
    from distributed import Client

    given = {"address": where} if "://" in where or not Path(where).exists() else {"scheduler_file": where}
    try:
        return Client(**given, set_as_default=False, timeout="20 s")
    except (OSError, ValueError) as error:
        raise PreadyError(
            f"--dask {shown(where)}: {error}", valid="tcp://HOST:PORT of a scheduler that runs, or its scheduler file"
        ) from None
