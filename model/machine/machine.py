"""The Machine: what communication costs on one cluster, and how sure each number is.

A machine is a TOML file. Every value in it is a table ``{ value, interval?, source, why }``, so that a reader sees at
the number whether it was measured, read in a paper or assumed. `load` reads a shipped profile by name, or a file.

The parameters are those of LogGP (Alexandrov et al., 1995, https://doi.org/10.1145/215399.215427), per segment of
message sizes (`machine_path`), plus threads (`machine_threads`), RMA (`machine_rma`) and protocols.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pready.model.common import units
from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.machine.adapter import Adapter
from pready.model.machine.path import NetworkPath, PathName, Progress, SizeCurve
from pready.model.machine.rma import OneSided
from pready.model.machine.threads import TeamTimes, Threads
from pready.model.toml.provenance import Provenance, Strict, Value
from pready.model.toml.reading import read_toml, validated

Fabric = Literal["infiniband", "roce", "slingshot", "slingshot-10", "omni-path", "efa", "tofu", "aries", "tcp"]

FORMAT = 1
"""Version of the machine file's layout."""


class Matching(Strict):
    """Cost of finding the receive that a message belongs to (jammer2022)."""

    base: Value[units.Time]
    per_entry: Value[units.Time]


class Requests(Strict):
    """What persistent requests save."""

    setup: Value[units.Time] | None = None
    """The part of o_s that a persistent send saves (MPI_Send_init before the loop); absent: nothing."""


class Begin(Strict):
    """Set-up cost of a rank, once: each set-up, and how much longer its first use takes than the next."""

    persistent: Value[units.Time]
    """A persistent request (MPI_Send_init or MPI_Recv_init)."""
    partitioned: Value[units.Time]
    """A partitioned one (MPI_Psend_init or MPI_Precv_init), with the handshake of its first start."""
    window: Value[units.Time]
    """MPI_Win_create."""
    registration: Value[units.TimePerByte]
    """Registering the memory that a window exposes."""
    communicator: Value[units.Time]
    """MPI_Comm_dup."""


class Memory(Strict):
    """Copy bandwidth of one core."""

    copy_hot: Value[units.Bandwidth]
    copy_cold: Value[units.Bandwidth]


class Network(Provenance):
    """The network between the nodes, which SST simulates; ranks fill nodes in order."""

    topology: Literal["torus", "fattree"]
    extents: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=6)] | None = None
    """Nodes along each axis of a torus, the first axis varying fastest."""
    nodes_per_switch: Annotated[int, Field(ge=1)] | None = None
    """Nodes on an edge switch of a fat tree."""
    taper: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.0
    """Cables to nodes over cables up, of an edge switch of a fat tree."""

    @model_validator(mode="after")
    def _consistent(self) -> Network:
        torus = self.topology == "torus"
        if (
            (self.extents is not None) != torus
            or (self.nodes_per_switch is None) != torus
            or (torus and self.taper > 1)
        ):
            raise PreadyError(
                f"topology = {shown(self.topology)} with the other's fields, or without its own",
                valid="extents for a torus, nodes_per_switch and a taper for a fattree",
            )
        return self

    @property
    def sst_name(self) -> str:
        """Its name for ``pready sst run --topology``."""
        if self.extents is not None:
            return "torus:" + "x".join(map(str, self.extents))
        return f"fattree:{self.taper:g}:{self.nodes_per_switch}"


Copies = Literal["all", "small", "none"]


class Library(Strict):
    """The MPI library that the machine was described with."""

    name: str = Field(max_length=255)
    early_send: Value[bool] | None = None
    """Measured: does MPI_Pready send before the last partition is ready?"""
    global_progress: Value[bool] | None = None
    """Does a thread in MPI make progress for all VCIs? Absent: as the library's profile says."""
    copies: Value[Copies] | None = None
    """Which messages between nodes both sides copy besides, if MPI_Psend sends one active message: ``small`` are those
    that bring their data along. Absent: as the library's version does over the fabric (`transports.copies`)."""
    version: str | None = None


class Machine(Strict):
    """One cluster. See the fields' own types."""

    format: Literal[1]
    name: str = Field(min_length=1, max_length=255)
    description: str = ""
    created: date
    created_by: str
    """The tool and version, or who wrote it from which paper."""
    library: Library
    fabric: Fabric | None = None
    """The network; with the library it says what the transport does by default (`pready.model.machine.transports`).
    ``slingshot`` has Cassini adapters (200 Gbit/s), ``slingshot-10`` ConnectX-5 (100 Gbit/s)."""
    progress: Value[Progress]
    """When a rendezvous moves: without the CPU, by a progress thread, or only in MPI calls. A segment may say otherwise
    for its sizes."""
    contexts: Value[Annotated[int, Field(ge=1)]]
    """Hardware contexts of the adapter; VCIs beyond them share round-robin (zambre2021 5.3)."""
    inter: NetworkPath
    intra: NetworkPath | None = None
    """Between ranks of a node; absent in a file: as in `unmeasured.toml`."""
    threads: Threads
    matching: Matching
    one_sided: OneSided
    memory: Memory
    adapter: Adapter | None = None
    """What ranks of a node share; absent: one rank's link bandwidth and gap g."""
    requests: Requests | None = None
    """What persistent requests save; absent: nothing."""
    begin: Begin | None = None
    """Set-up cost; absent in a file: as in `unmeasured.toml`."""
    network: Network | None = None
    """The network between the nodes, for ``pready sst``; absent: one router."""

    def path(self, name: PathName) -> NetworkPath:
        """The inter- or intra-node path.

        Raises
        ------
        PreadyError
            The machine has no intra-node path.
        """
        if name == "inter":
            return self.inter
        if self.intra is None:
            raise PreadyError(f"{self.name} has no intra-node path", valid="an [intra] table")
        return self.intra

    def progressing(self, who: Progress) -> Machine:
        """This machine if `who` answered a rendezvous of any size."""

        def without(path: NetworkPath | None) -> NetworkPath | None:
            if path is None or all(s.progress is None for s in path.segments):
                return path
            return path.model_copy(
                update={"segments": tuple(s.model_copy(update={"progress": None}) for s in path.segments)}
            )

        progress = self.progress.model_copy(update={"value": who})
        return self.model_copy(
            update={"progress": progress, "inter": without(self.inter), "intra": without(self.intra)}
        )

    @property
    def bandwidth(self) -> float:
        """β: what one large message reaches between nodes, in B/s."""
        return 1 / self.inter.segments[-1].G.value

    def values(self) -> list[tuple[str, Value[Any] | TeamTimes | SizeCurve]]:
        """Every value with its dotted name, in file order."""
        return list(_walk(self, ""))


def _walk(table: Strict, prefix: str) -> Iterator[tuple[str, Value[Any] | TeamTimes | SizeCurve]]:
    for name, info in type(table).model_fields.items():
        item = getattr(table, name)
        label = f"{prefix}{info.alias or name}"
        if isinstance(item, (Value, TeamTimes, SizeCurve)):
            yield label, item
        elif isinstance(item, Strict):
            yield from _walk(item, f"{label}.")
        elif isinstance(item, tuple):
            for i, part in enumerate(item):
                if isinstance(part, Strict):
                    yield from _walk(part, f"{label}[{i}].")


@cache
def profiles() -> dict[str, Any]:
    """The shipped profiles: lower-case name to resource."""
    folder = resources.files("pready.model.machine") / "profiles"
    return {
        p.name.removesuffix(".toml"): p
        for p in sorted(folder.iterdir(), key=lambda p: p.name)
        if p.name.endswith(".toml")
    }


@cache
def _profile(name: str) -> Machine:
    resource = profiles()[name]
    with resources.as_file(resource) as path:
        return validated(Machine, _tables_of_all() | read_toml(path), f"profile {name}")


class Unmeasured(Strict):
    """What a machine has where its file says nothing: `unmeasured.toml`."""

    begin: Begin
    intra: NetworkPath


@cache
def _tables_of_all() -> dict[str, Any]:
    with resources.as_file(resources.files("pready.model.machine") / "unmeasured.toml") as path:
        return read_toml(path)


@cache
def unmeasured() -> Unmeasured:
    """The tables that `load` adds to a file that lacks them."""
    return validated(Unmeasured, _tables_of_all(), "unmeasured.toml")


def load(name_or_path: str | Path) -> Machine:
    """A machine by profile name or from a file.

    Raises
    ------
    PreadyError
        No such profile or file, or a file that is not a valid machine: one line naming file, field,
        value and what is valid.
    """
    text = str(name_or_path)
    known = profiles()
    if text.lower() in known:
        return _profile(text.lower())
    path = Path(text)
    if not path.exists() and "/" not in text and not text.endswith(".toml"):
        problem = f"machine = {shown(text)} is unknown{did_you_mean(text, known)}"
        raise PreadyError(problem, valid=f"a file, or one of {', '.join(known)}")
    return validated(Machine, _tables_of_all() | read_toml(path), text)
