"""One MPI library: how it implements partitioned communication, and what is known of it by version."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from pready.model.approach.interfaces import PART, PART_AM, PART_WHOLE, PERSISTENT, Approach, Interface

Messages = Literal["one", "aggregated", "per partition", "min size", "set", "none"]
Family = Literal["MPICH", "Open MPI", "ParaStation", "Spectrum MPI", "Fujitsu MPI", "any"]


def version_in(text: str | None) -> str:
    """The first version number of a text, as ``MPI_Get_library_version`` returns it; empty if there is none."""
    found = re.search(r"\d+(\.\d+)+", text or "")
    return found.group() if found else ""


def _key(version: str) -> tuple[int, ...]:
    """Versions in order: 5.0.11 comes after 5.0.2."""
    return tuple(int(n) for n in re.findall(r"\d+", version))


@dataclass(frozen=True)
class Fact:
    """What is known of a library in a range of its versions."""

    says: str
    """In a few words."""
    source: str
    """Issue, file of the source, or measurement."""
    do: str = ""
    """The remedy; empty where there is nothing to do."""
    bug: bool = True
    """A bug that a port to partitioned communication meets; else a setting or a property."""
    since: str = ""
    """First version in which it holds; empty: any before."""
    before: str = ""
    """First version in which it holds no more; empty: the newest known still has it."""

    def holds(self, version: str) -> bool:
        """Does it hold in this version? An unknown version may have it."""
        if not version:
            return True
        after = not self.since or _key(version) >= _key(self.since)
        return after and (not self.before or _key(version) < _key(self.before))

    @property
    def versions(self) -> str:
        """The range in words; empty: all that have partitioned calls."""
        since = f"from {self.since}" if self.since else ""
        before = f"before {self.before}" if self.before else ""
        return ", ".join(x for x in (since, before) if x)

    def text(self, version: str = "") -> str:
        """The whole in one line; the range only where the version is unknown."""
        when = "" if version else self.versions
        do = f": {self.do}" if self.do else ""
        return f"{self.says}{do} ({'; '.join(x for x in (when, self.source) if x)})"


@dataclass(frozen=True)
class LibraryProfile:
    """How one MPI library implements ``MPI_Psend_init`` … ``MPI_Pready``."""

    name: str
    title: str
    messages: Messages
    """Rule for the messages on the wire; ``none`` where the calls are not used."""
    early: bool | None = True
    """Does MPI_Pready send before the last partition is ready? None: unknown, predicted as if it did not."""
    part_vcis: int = 1
    """VCIs that partitioned messages can use."""
    max_vcis: int = 1
    """VCIs that communicators and windows can use."""
    why: str = field(kw_only=True)
    """The behaviour in one sentence, for the table."""
    source: str = ""
    """Source of `why`."""
    facts: tuple[Fact, ...] = ()
    """Bugs, settings and properties, each with its versions."""
    version: str = ""
    """Version of the library in question; empty: unknown."""
    part_since: str = ""
    """First version with partitioned calls; empty: all that the profile is about."""
    needs: str = ""
    """What has to be built from source; empty: it can be installed."""
    installable: str = ""
    """The library that can be installed in its place."""
    family: Family = "any"
    """The code base that moves its messages and puts."""
    vci_setting: str = ""
    """How it is told to use ``{n}`` VCIs; empty: it cannot."""
    told_whole: bool = False
    """MPI_Parrived tells of the whole request only."""
    told_if_alike: bool = False
    """MPI_Parrived tells of partitions only where both ends have as many."""
    global_progress: bool = True
    """A thread in MPI makes progress for all VCIs, not for its own only."""

    @property
    def part(self) -> Interface | None:
        """The interface behind ``MPI_Psend_init``; None without partitioned operations."""
        if self.messages == "none":
            return None
        if not self.early:
            return PART_AM
        return PART_WHOLE if self.told_whole else PART

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a port to this library's partitioned calls has to know, a line each; `facts` have the sources."""
        unbuilt = (f"not released: it needs {self.needs}",) if self.needs else ()
        return unbuilt + tuple(f"{f.says}: {f.do}" if f.do else f.says for f in self.known if f.bug)

    @property
    def known(self) -> tuple[Fact, ...]:
        """The facts that hold in its version."""
        return tuple(f for f in self.facts if f.holds(self.version))

    @property
    def full_name(self) -> str:
        """Name and version as ``--library`` takes them."""
        return f"{self.name}@{self.version}" if self.version else self.name

    def at(self, version: str) -> LibraryProfile:
        """This library in one version; without partitioned calls before `part_since`."""
        if not version or not self.part_since or _key(version) >= _key(self.part_since):
            return replace(self, version=version)
        why = f"partitioned calls came with {self.part_since}; {version} has none"
        return replace(self, version=version, messages="none", early=True, why=why)

    def before(self, version: str) -> bool:
        """Is it known to be older than this version?"""
        return bool(self.version) and _key(self.version) < _key(version)

    def measured(self, *, early: bool, why: str) -> LibraryProfile:
        """This profile with what a measurement said of `early`."""
        messages: Messages = self.messages
        if early and messages == "one":
            messages = "per partition"
        return replace(self, early=early, messages=messages, why=why)

    def transports(
        self, candidates: list[int], threads: int, n_partitions: int, receive_partitions: int | None = None
    ) -> list[int]:
        """The transport partition counts that ``MPI_Pready`` can produce, with so many partitions at the receiver;
        absent: as many as at the sender."""
        able = self._by_sender(candidates, threads, n_partitions)
        if receive_partitions is None or not self.early:
            return able
        if self.told_whole:  # as many as the side with fewer has
            fewer = {min(t, receive_partitions) for t in able}
            return [t for t in candidates if t in fewer]
        if self.messages == "aggregated":  # as many as both sides' partitions divide into
            return [t for t in able if receive_partitions % t == 0]
        return able

    def _by_sender(self, candidates: list[int], threads: int, n_partitions: int) -> list[int]:
        if not self.early:
            return [1]
        if self.messages == "per partition":
            # No aggregation, but a thread may mark fewer and larger partitions.
            theta = n_partitions // threads
            return [t for t in candidates if t >= threads and t % threads == 0 and theta % (t // threads) == 0]
        return candidates

    def settings(self, approach: Approach, buffer: float, threads: int, n_partitions: int) -> list[str]:
        """Settings and calls that make this library do `approach`; only those that it has."""
        t, interface = approach.transport_partitions, approach.interface
        out: list[str] = []
        size = int(buffer / t)
        if interface.partitioned:
            if self.messages == "aggregated":
                out.append(f"MPIR_CVAR_PART_AGGR_SIZE={size if t < n_partitions else 0}")
            elif self.messages == "min size":
                out.append(f"--mca part_persist_min_message_size {size}")
            elif self.messages == "set":
                out.append(f"Info PMODE=HARD and SET={t}, at sender and receiver")
            elif self.messages == "per partition":
                out.append(f"MPI_Psend_init with {t} partitions (the library sends one message for each)")
            else:
                out.append(f"MPI_Psend_init with {n_partitions} partitions (how it sends them is the library's)")
        elif interface.one_sided:
            out.append(f"{t} MPI_Put per buffer; {interface.synchronisation}")
        elif not interface.splits and not interface.persistent:
            out.append("each neighbour's data packed into one message")
        elif interface is PERSISTENT:
            out.append("MPI_Send_init and MPI_Recv_init before the loop, MPI_Start in it")
        elif interface.splits:
            kind = "persistent send" if interface.persistent else "message"
            waits = "" if interface.completes == "threads" else " (one thread waits)"
            out.append(f"{t} {kind}{'s' * (t > 1)} per neighbour{waits}")
        if approach.vcis > 1:
            out += self._vci_settings(approach, threads)
        return out

    def _vci_settings(self, approach: Approach, threads: int) -> list[str]:
        vcis = approach.vcis
        out = [self.vci_setting.format(n=vcis)] if self.vci_setting else []
        who = "thread" if approach.transport_partitions >= threads else "message"  # as `vcis.lane` spreads them
        lanes = min(approach.transport_partitions, threads)
        whose = f"one per {who}" if vcis >= lanes else f"{who} i uses number i mod {vcis}"
        if approach.interface.mechanism == "communicators":
            out.append(f"{vcis} communicators, {whose}")
        elif approach.interface.mechanism == "windows":
            out.append(f"{vcis} windows, {whose}")
        return out
