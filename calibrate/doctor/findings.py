"""From a probe's answers to one line: what was found, and what to do."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pready.calibrate.doctor.probe_job import Answers
from pready.calibrate.machine.library_names import profile_of
from pready.model.approach.libraries import LibraryProfile, library, version_in

Outcome = Literal["good", "care", "bad", "unknown"]
BIND = ("such as srun -c N --cpu-bind=cores, or mpiexec -bind-to core:N", "such as mpiexec --map-by slot:PE=N")
"""N cores for each rank; in words of MPICH's launchers, and of Open MPI's."""
LEVELS = ("MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE")


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis."""

    name: str
    outcome: Outcome
    says: str
    do: str = ""
    """What to do about it; empty: nothing."""


def profile_from(text: str) -> LibraryProfile:
    """The library of a text of ``MPI_Get_library_version``, in its version."""
    name = profile_of(text)
    return library(name).at(version_in(text))


def of_library(about: Answers) -> Finding:
    """Which library it is."""
    text = str(about.get("library"))
    profile = profile_from(text)
    first = " ".join(text.partition("\n")[0].split()).partition(",")[0]
    if about.get("partitioned"):
        return Finding("library", "good", f"{first} ('pready libraries {profile.full_name}')")
    do = "send each partition by MPI_Start or MPI_Isend (many)"
    return Finding("library", "care", f"{first}, without partitioned calls", do)


def of_threads(about: Answers) -> Finding:
    """The thread level granted of MPI_THREAD_MULTIPLE."""
    level = LEVELS[int(about.get("threads"))]
    if level == LEVELS[-1]:
        return Finding("thread level", "good", f"{level} granted")
    do = "threads must not send: use approaches of one thread (single), or a build with thread support"
    return Finding("thread level", "bad", f"only {level} granted", do)


def of_ranks(about: Answers) -> Finding:
    """Where the ranks run, and whether they have cores of their own."""
    ranks = about.values.get("rank", [])
    hosts = {r["host"] for r in ranks}
    cores = [(r["host"], cores_of(r["cores"])) for r in ranks]
    nodes = f"{len(ranks)} ranks on {len(hosts)} node{'s' * (len(hosts) > 1)}"
    if len(ranks) < 2:
        return Finding("ranks", "bad", "one rank", "start two or more, such as 'srun -n 2'")
    least = min(len(c) for _, c in cores)
    for host in sorted(hosts):
        here = [c for h, c in cores if h == host]
        together = set().union(*here)
        if len(together) < len(here):
            says = f"{nodes}; {len(here)} ranks share {len(together)} cores of {host}"
            return Finding("ranks", "bad", says, "start fewer ranks on a node: oversubscribed ranks measure the kernel")
        if sum(map(len, here)) > len(together):
            says = f"{nodes}, not bound: {len(here)} ranks may use the same {len(together)} cores of {host}"
            do = f"bind them, {BIND[profile_from(str(about.get('library'))).family == 'Open MPI']}"
            return Finding("ranks", "care", says, do)
    says = f"{nodes}, each bound to {least} core{'s' * (least > 1)} of its own"
    if least == 1:
        return Finding("ranks", "care", says, "threads of a rank share its core: give it more (srun -c N)")
    return Finding("ranks", "good", says)


def cores_of(text: str) -> set[int]:
    """The cores of a list such as "0-3,8"."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def of_early(a: Answers) -> Finding:
    """Does MPI_Pready send early?"""
    if a.get("later") is None:
        return broken("MPI_Pready", a, "use one persistent send per partition (many) instead")
    if a.get("later") < 0.5:
        return Finding("MPI_Pready", "care", "sends nothing before the last partition is ready", "use many, not part")
    first = "" if a.get("first") else ", not in the first iteration"
    return Finding("MPI_Pready", "good", f"sends early{first}")


def of_restart(a: Answers) -> Finding:
    """Is a persistent partitioned request right each time?"""
    if a.get("right") is None or a.get("right") < 1:
        return broken("restart", a, "do not use partitioned calls of this build", wrong=a.get("right") is not None)
    if a.get("too_soon"):
        return Finding("restart", "care", "MPI_Test is true after a second MPI_Start", "use MPI_Wait")
    if a.ending != "done":
        return broken("restart", a, "call MPI_Wait, not MPI_Test, before all partitions are ready")
    return Finding("restart", "good", "right bytes in every iteration")


def of_startall(a: Answers) -> Finding:
    """MPI_Startall with several neighbours."""
    if a.get("one_by_one") is None:
        return broken("MPI_Startall", a, "do not use partitioned calls with several neighbours in this build")
    if a.get("together") is None:
        return broken(
            "MPI_Startall", a, "start each request with MPI_Start, which works", what="with several neighbours"
        )
    return Finding("MPI_Startall", "good", "works with several neighbours")


def of_unequal(a: Answers) -> Finding:
    """Different numbers of partitions at the two sides."""
    ways = (("fewer_received", "8 sent, 4 received"), ("more_received", "4 sent, 8 received"))
    for name, what in ways:
        if a.get(name) is None or a.get(name) < 1:
            do = "use the same number of partitions at sender and receiver"
            return broken("unequal partitions", a, do, what=what, wrong=a.get(name) is not None)
    return Finding("unequal partitions", "good", "right bytes with 8 and 4, and with 4 and 8")


def of_proc_null(a: Answers) -> Finding:
    """MPI_PROC_NULL, as open boundaries use it."""
    do = "leave the calls out at an open boundary"
    if a.get("sent") is None:
        return broken("MPI_PROC_NULL", a, do, what="in MPI_Psend_init")
    if a.get("received") is None:
        return broken("MPI_PROC_NULL", a, do, what="in MPI_Precv_init")
    return Finding("MPI_PROC_NULL", "good", "works in MPI_Psend_init and MPI_Precv_init")


def of_unstarted(a: Answers) -> Finding:
    """A request freed before its first start."""
    if a.get("right") is None or a.get("right") < 1:
        do = "start and complete a request before MPI_Request_free"
        what = "the next request with the tag of one that was freed unstarted"
        return broken("free unstarted", a, do, what=what, wrong=a.get("right") is not None)
    return Finding("free unstarted", "good", "a request may be freed before it was started")


def of_put(a: Answers, *, one_node: bool) -> Finding:
    """Does MPI_Put arrive while the target computes?"""
    where = "on one node" if one_node else "between nodes"
    if a.get("large") is None:
        return broken("MPI_Put", a, "do not use RMA of this build")
    small, large = a.get("small"), a.get("large")
    if small and large:
        return Finding("MPI_Put", "good", f"arrives while the target computes ({where})")
    which = "1 MiB does" if large else "64 B do" if small else "nothing does"
    do = "puts need the target in MPI: a progress thread, or no RMA"
    return Finding("MPI_Put", "care", f"of what is put while the target computes, {which} arrive ({where})", do)


def broken(name: str, a: Answers, do: str, *, what: str = "", wrong: bool = False) -> Finding:
    """A probe that did not end well."""
    if a.ending == "not run":
        return Finding(name, "unknown", "not tried: time is up", "run 'pready doctor' again")
    if wrong:
        how = "wrong bytes"
    elif a.ending == "crashed":
        how = f"crashes with {signal.Signals(a.signal).name}"
    elif a.ending == "failed":
        how = f"fails: {a.words[-1].strip()}" if a.words else "fails"
    else:
        how = {"hung": "hangs", "not begun": "did not start"}.get(a.ending, "gives no answer")
    outcome: Outcome = "unknown" if a.ending == "not begun" else "bad"
    return Finding(name, outcome, f"{how} {what}".strip() if what else how, do)


PROBES: Mapping[str, Callable[[Answers], Finding]] = {
    "early": of_early,
    "restart": of_restart,
    "startall": of_startall,
    "proc-null": of_proc_null,
    "unequal": of_unequal,
    "unstarted": of_unstarted,
}
"""Probes of partitioned calls, in the order in which they run."""
