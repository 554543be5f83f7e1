"""What a probe's answers mean, and what to do: a row of a table for each probe, a line for each row."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pready.calibrate.doctor.probe_job import Answers
from pready.calibrate.machine.library_names import profile_of
from pready.model.approach.libraries import LibraryProfile, library, version_in

Grade = Literal["good", "care", "bad", "unknown"]
BIND = ("such as srun -c N --cpu-bind=cores, or mpiexec -bind-to core:N", "such as mpiexec --map-by slot:PE=N")
"""N cores for each rank; in words of MPICH's launchers, and of Open MPI's."""


@dataclass(frozen=True)
class Finding:
    name: str
    grade: Grade
    says: str
    do: str = ""
    """What to do about it; empty: nothing."""


# ---- probes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One answer of a probe: 1 is good, less is `less`, and none is what a crash, a hang or an error leaves."""

    answer: str
    do: str = ""
    """What to do where no answer came, or wrong bytes."""
    less: tuple[Grade, str, str] | None = None
    """What an answer below 1 is: its grade, what it says and what to do; None: wrong bytes came."""


@dataclass(frozen=True)
class Probe:
    """A row of the table: a probe of `pready-bench`, and its checks, the first that fails being the finding."""

    name: str
    finding: str
    good: str
    checks: tuple[Check, ...]
    partitioned: bool = True


_NO_RMA = "do not use RMA of this build"
_PROGRESS = "puts need the target in MPI: a progress thread, or no RMA"

PROBES = (
    Probe(
        "early",
        "MPI_Pready",
        "sends early",
        (
            Check(
                "later",
                "use one persistent send per partition (many) instead",
                less=("care", "sends nothing before the last partition is ready", "use many, not part"),
            ),
            Check("first", less=("good", "sends early, not in the first iteration", "")),
        ),
    ),
    Probe(
        "restart",
        "restart",
        "right bytes in every iteration",
        (Check("right", "do not use partitioned calls of this build"),),
    ),
    Probe(
        "put",
        "MPI_Put",
        "arrives while the target computes",
        (
            Check("large", _NO_RMA, less=("care", "1 MiB does not arrive while the target computes", _PROGRESS)),
            Check("small", _NO_RMA, less=("care", "64 B do not arrive while the target computes", _PROGRESS)),
        ),
        partitioned=False,
    ),
)
"""In the order in which they run."""


def of_probe(probe: Probe, answers: Answers) -> Finding:
    for check in probe.checks:
        value = answers.get(check.answer)
        if value is None or (value < 1 and check.less is None):
            return _broken(probe.finding, answers, check, wrong=value is not None)
        if value < 1 and check.less is not None:
            grade, says, do = check.less
            return Finding(probe.finding, grade, says, do)
    return Finding(probe.finding, "good", probe.good)


def _broken(name: str, answers: Answers, check: Check, *, wrong: bool) -> Finding:
    if answers.ending == "not run":
        return Finding(name, "unknown", "not tried: time is up", "run 'pready doctor' again")
    if wrong:
        how = "wrong bytes"
    elif answers.ending == "crashed":
        how = f"crashes with {signal.Signals(answers.signal).name}"
    elif answers.ending == "failed":
        how = f"fails: {answers.words[-1].strip()}" if answers.words else "fails"
    else:
        how = {"hung": "hangs", "not begun": "did not start"}.get(answers.ending, "gives no answer")
    return Finding(name, "unknown" if answers.ending == "not begun" else "bad", how, check.do)


# ---- the environment record -----------------------------------------------------------------------------------------


def profile_from(text: str) -> LibraryProfile:
    """The library of a text of ``MPI_Get_library_version``, in its version."""
    return library(profile_of(text)).at(version_in(text))


def of_library(about: Mapping[str, Any]) -> Finding:
    """Which library it is, of an environment record."""
    text = str(about["library"])
    first = " ".join(text.partition("\n")[0].split()).partition(",")[0]
    if about["partitioned"]:
        return Finding("library", "good", f"{first} ('pready libraries {profile_from(text).full_name}')")
    do = "send each partition by MPI_Start or MPI_Isend (many)"
    return Finding("library", "care", f"{first}, without partitioned calls", do)


def known_bugs(about: Mapping[str, Any]) -> list[Finding]:
    """What is known of partitioned calls in this version of the library: no probe tries it."""
    facts = profile_from(str(about["library"])).known if about["partitioned"] else ()
    return [Finding("known bug", "care", fact.says, fact.do) for fact in facts if fact.bug]


def of_threads(about: Mapping[str, Any]) -> Finding:
    """The thread level granted of MPI_THREAD_MULTIPLE."""
    level = f"MPI_THREAD_{str(about['thread_level']).upper()}"
    if about["thread_level"] == "multiple":
        return Finding("thread level", "good", f"{level} granted")
    do = "threads must not send: use approaches of one thread (single), or a build with thread support"
    return Finding("thread level", "bad", f"only {level} granted", do)


def of_ranks(about: Mapping[str, Any]) -> Finding:
    """Where the ranks run, and whether they have cores of their own."""
    by_host: dict[str, list[set[int]]] = {}
    for host, cores in zip(about["hosts"], about["allowed"], strict=True):
        by_host.setdefault(host, []).append(cores_of(cores))
    every = [cores for ranks in by_host.values() for cores in ranks]
    nodes = f"{len(every)} ranks on {len(by_host)} node{'s' * (len(by_host) > 1)}"
    if len(every) < 2:
        return Finding("ranks", "bad", "one rank", "start two or more, such as 'srun -n 2'")
    for host, here in sorted(by_host.items()):
        together = set().union(*here)
        if len(together) < len(here):
            says = f"{nodes}; {len(here)} ranks share {len(together)} cores of {host}"
            return Finding("ranks", "bad", says, "start fewer ranks on a node: oversubscribed ranks measure the kernel")
        if sum(map(len, here)) > len(together):
            says = f"{nodes}, not bound: {len(here)} ranks may use the same {len(together)} cores of {host}"
            do = f"bind them, {BIND[profile_from(str(about['library'])).family == 'Open MPI']}"
            return Finding("ranks", "care", says, do)
    least = min(map(len, every))
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
