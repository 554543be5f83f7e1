"""What the benchmark's records say of a library, and what to do, a line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pready.calibrate.machine.library_names import profile_of
from pready.model.approach.libraries import LibraryProfile, library, version_in

Grade = Literal["good", "care", "bad"]
BIND = ("such as srun -c N --cpu-bind=cores, or mpiexec -bind-to core:N", "such as mpiexec --map-by slot:PE=N")
"""N cores for each rank; in words of MPICH's launchers, and of Open MPI's."""


@dataclass(frozen=True)
class Finding:
    name: str
    grade: Grade
    says: str
    do: str = ""  # what to do about it; empty: nothing


def of_early(record: Mapping[str, Any] | None, failure: str) -> Finding:
    """Of the measurement `early`, or of its failure: when partitions left, in a request that was used again."""
    name = "MPI_Pready"
    if failure:
        how = failure.partition("\n")[0]
        return Finding(
            name, "bad", how, "use one persistent send per partition (many), no partitioned call of this build"
        )
    if record is None:
        return Finding(
            name, "care", "not measured: its second was over before", "run it where no others hold the cores"
        )
    if not record["derived"]["early_steady"]:
        return Finding(name, "care", "sends nothing before the last partition is ready", "use many, not part")
    later = "" if record["derived"]["early_first"] else ", not in the first iteration"
    return Finding(name, "good", f"sends early{later}")


def of_environment(about: Mapping[str, Any]) -> list[Finding]:
    """Of an environment record: the library, its thread level, and where the ranks run."""
    return [of_library(about), of_threads(about), of_ranks(about)]


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
