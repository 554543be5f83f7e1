"""What a library does over a fabric by default: from which size a rendezvous, who answers it, how MPI_Put moves.

A machine that was measured says so itself; this is for machines that do not, and for a library other than the one a
machine was measured with. Read in the sources named; a size that a library computes at start has an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pready.model.approach.libraries import LibraryProfile, library, version_in
from pready.model.common import units
from pready.model.common.units import SI
from pready.model.machine.machine import Copies, Fabric, Machine
from pready.model.machine.path import Begins, Progress
from pready.model.machine.rma import Puts
from pready.model.toml.provenance import Value

KIB = 1024
Source = Literal["measured", "literature", "assumed"]

IN_HARDWARE = "zambre2021 6.1: InfiniBand implements most contiguous RMA operations completely in hardware"
_UCX = "openucx/ucx @9466d104"
_OFI = "ofiwg/libfabric @af8ddbe9"
_PSM2 = "cornelisnetworks/opa-psm2 @5ecb5769"


@dataclass(frozen=True)
class Transport:
    """A library over a fabric."""

    name: str
    """What moves the messages, for a reader."""
    rendezvous: Value[float]
    """The size in bytes from which a message is a rendezvous."""
    receiver: Value[Progress]
    """When the receiver's half of a rendezvous moves (`Machine.progress`)."""
    puts: Value[Puts] | None = None
    """How MPI_Put moves its data; None: the adapter is taken to move it."""


def _from(size: int, least: int, most: int, why: str, source: Source = "literature") -> Value[float]:
    return Value[units.Size](value=SI(size), interval=(SI(least), SI(most)), source=source, why=why)


def _on_call(why: str, source: Source = "literature") -> Value[Progress]:
    return Value[Progress](value="on-call", source=source, why=why)


def _puts(value: Puts, why: str, source: Source = "literature") -> Value[Puts]:
    return Value[Puts](value=value, source=source, why=why)


def _ucx(fabric: str, puts: Value[Puts], least: int = 8 * KIB) -> Transport:
    why = (
        "UCX computes it at start (UCX_RNDV_THRESH=auto); docs/source/faq.md shows 17298 B, gillis2023 4.1 8 to 16 KiB"
    )
    reads = (
        f"{_UCX} src/ucp/rndv: the receiver matches the request in software and reads; tag matching by the adapter is "
        "off (UCX_TM_ENABLE=n, src/uct/ib/mlx5/rc/rc_mlx5_common.c)"
    )
    return Transport(
        f"UCX over {fabric}", _from(16 * KIB, least, 64 * KIB, f"{_UCX}: {why}"), _on_call(reads), puts=puts
    )


_BY_RXM = _on_call(
    f"{_OFI} prov/rxm: ofi_rxm: the receiver reads after a request that software matches (FI_OFI_RXM_USE_RNDV_WRITE=0)"
)
_MPICH_PUTS = _puts("adapter", IN_HARDWARE)
_ROCE_PUTS = _puts("adapter", f"the same verbs as InfiniBand ({IN_HARDWARE})", "assumed")

_CXI = Transport(
    "CXI over Slingshot-11",
    _from(
        16 * KIB,
        4 * KIB,
        64 * KIB,
        f"{_OFI} man/fi_cxi.7.md: FI_CXI_RDZV_THRESHOLD 16384, FI_CXI_RDZV_GET_MIN 2049; sites and versions differ",
    ),
    Value[Progress](
        value="hardware",
        source="literature",
        why=f"{_OFI} man/fi_cxi.7.md: Cassini matches the request and reads, without software progress "
        "(FI_CXI_RX_MATCH_MODE=hardware, and hybrid until its entries are used up)",
    ),
    puts=_puts("adapter", f"{_OFI} man/fi_cxi.7.md: RMA is offloaded to the adapter"),
)
_SS10 = Transport(
    "verbs;ofi_rxm over Slingshot-10",
    _from(
        256 * KIB,
        16 * KIB,
        512 * KIB,
        "ARCHER2-HPC/archer2-docs @0f84b5d5 docs/user-guide/tuning.md: eager to 16 KiB, in segments to 256 KiB "
        "(FI_OFI_RXM_SAR_LIMIT)",
    ),
    _BY_RXM,
    puts=_ROCE_PUTS,
)
_PSM2_ROW = Transport(
    "PSM2 over Omni-Path",
    _from(
        64000, 16 * KIB, 256 * KIB, f"{_PSM2} psm_config.h: PSM2_MQ_RNDV_HFI_THRESH 64000 on Xeon, 200000 on Xeon Phi"
    ),
    _on_call(
        f"{_PSM2} psm2_am.h: active progress; matching in software, its receive thread polls 10 to 100 times a second"
    ),
    _puts("processor", "zambre2021 4: Omni-Path emulates one-sided operations in software"),
)
_EFA = Transport(
    "EFA",
    _from(
        64 * KIB + 1,
        8 * KIB,
        128 * KIB,
        f"{_OFI} man/fi_efa.7.md: FI_EFA_INTER_MAX_MEDIUM_MESSAGE_SIZE 65536; larger ones wait for a clear-to-send",
    ),
    _on_call(f"{_OFI} man/fi_efa.7.md: FI_PROGRESS_MANUAL, software answers"),
    _puts("processor", f"{_OFI} man/fi_efa.7.md: a put is emulated where the device cannot write", "assumed"),
)
_TOFU = Transport(
    "TofuD",
    _from(
        16 * KIB,
        8 * KIB,
        128 * KIB,
        "giordano/julia-on-fugaku @91b0799: RIKEN's ping-pong takes 3.90 us at 8 KiB, 7.27 us at 16 KiB; "
        "OMPI_MCA_btl_tofu_eager_limit moves it",
        "assumed",
    ),
    _on_call("Fujitsu MPI is made from Open MPI, whose software matches a request", "assumed"),
    puts=_puts("adapter", "Tofu's RDMA engine writes; nothing found on MPI_Put", "assumed"),
)
_OB1 = Transport(
    "ob1 over TCP",
    _from(64 * KIB, 64 * KIB, 64 * KIB, "Open MPI: btl_tcp_eager_limit 65536"),
    _on_call("Open MPI: ob1 answers in MPI calls"),
    _puts("deferred", "Open MPI 5.0.11 over btl/tcp: puts moved in the call that ends the epoch only", "measured"),
)
_MPICH_TCP = Transport(
    "ofi over TCP",
    _from(
        128 * KIB,
        16 * KIB,
        4096 * KIB,
        f"{_OFI} man/fi_rxm.7.md: ofi_rxm to 128 KiB; newer versions' own TCP endpoints buffer any size",
        "assumed",
    ),
    _on_call("software answers in MPI calls", "assumed"),
    puts=_puts("adapter", "MPICH 5.0.2 over ofi's tcp: 2.3 to 2.7 MB moved while no thread was in MPI", "measured"),
)
_GNI = Transport(
    "uGNI over Aries",
    _from(8 * KIB, 4 * KIB, 16 * KIB, "Cray MPICH: MPICH_GNI_MAX_EAGER_MSG_SIZE 8192", "assumed"),
    _on_call("Cray MPICH: software answers, unless MPICH_NEMESIS_ASYNC_PROGRESS is set", "assumed"),
)
_PARASTATION_IB = Transport(
    "pscom over InfiniBand",
    _from(16 * KIB, 4 * KIB, 256 * KIB, "pscom's plugin sets it (ucp: as UCX; openib: PSP_RENDEZVOUS)", "assumed"),
    _on_call("pscom answers in MPI calls", "assumed"),
)
_SPECTRUM_IB = Transport(
    "PAMI over InfiniBand",
    _from(
        16 * KIB,
        4 * KIB,
        64 * KIB,
        "bienz2/BenchPress @ac2ede1, Summit: t(0) grows from 2.4 us below to 5 us above 16 KiB",
        "assumed",
    ),
    _on_call("PAMI answers in MPI calls, unless its asynchronous progress is switched on", "assumed"),
    puts=_ROCE_PUTS,
)
_INTEL_IB = Transport(
    "verbs;ofi_rxm or mlx over InfiniBand",
    _from(
        256 * KIB,
        16 * KIB,
        512 * KIB,
        "Intel MPI: I_MPI_EAGER_THRESHOLD 256 KB; stackhpc/hpc-tests @f735aa2 shows it at 256 KiB over verbs; "
        "its mlx provider leaves it to UCX",
        "assumed",
    ),
    _BY_RXM,
    puts=_MPICH_PUTS,
)
_UCX_OMPI = _ucx("InfiniBand", _puts("adapter", f"osc/ucx hands puts to UCX, as MPICH does ({IN_HARDWARE})", "assumed"))

_BOTH: Mapping[Fabric, Transport] = {
    "roce": _ucx("RoCE", _ROCE_PUTS, 4 * KIB),
    "slingshot": _CXI,
    "slingshot-10": _SS10,
    "omni-path": _PSM2_ROW,
    "efa": _EFA,
}
"""Fabrics over which MPICH and Open MPI do alike."""
KNOWN: Mapping[tuple[str, Fabric], Transport] = {
    ("MPICH", "infiniband"): _ucx("InfiniBand", _MPICH_PUTS),
    ("Open MPI", "infiniband"): _UCX_OMPI,
    ("intel-mpi", "infiniband"): _INTEL_IB,
    ("ParaStation", "infiniband"): _PARASTATION_IB,
    ("Spectrum MPI", "infiniband"): _SPECTRUM_IB,
    **{(who, fabric): row for fabric, row in _BOTH.items() for who in ("MPICH", "Open MPI")},
    ("Fujitsu MPI", "tofu"): _TOFU,
    ("MPICH", "tcp"): _MPICH_TCP,
    ("Open MPI", "tcp"): _OB1,
    ("MPICH", "aries"): _GNI,
}
"""By the library's name, or its family, and the machine's fabric."""

ANY = Transport(
    "an unknown library or fabric",
    _from(16 * KIB, 4 * KIB, 256 * KIB, "neither library nor fabric is known: what most have", "assumed"),
    _on_call("most transports match a rendezvous request in software", "assumed"),
)

SHARED_MEMORY = Transport(
    "shared memory",
    _from(8 * KIB, 4 * KIB, 64 * KIB, "Open MPI: btl_sm 4 KiB, 32 KiB with single copy; others alike", "assumed"),
    _on_call("the receiver copies in MPI calls", "assumed"),
)

SAYS: Mapping[Puts, str] = {
    "adapter": "the adapter moves them",
    "processor": "active messages: the target's processor takes them in",
    "deferred": "deferred until synchronisation",
}
"""In words."""

ANSWERS: Mapping[Progress, str] = {
    "hardware": "the adapter answers",
    "thread": "a progress thread answers",
    "on-call": "a thread in MPI answers",
}
"""In words."""


def known(profile: LibraryProfile, fabric: Fabric | None) -> Transport | None:
    """What is known of this very library, or of its family, over this fabric."""
    if fabric is None:
        return None
    return KNOWN.get((profile.name, fabric)) or KNOWN.get((profile.family, fabric))


def transport(profile: LibraryProfile | None, fabric: Fabric | None) -> Transport:
    """What a library does over a fabric; of any library, what all of the fabric's do; else `ANY`."""
    found = None if profile is None else known(profile, fabric)
    if found is not None or (profile is not None and profile.family != "any"):
        return found or ANY
    rows = [row for (_, over), row in KNOWN.items() if over == fabric]
    if not rows:
        return ANY
    border = rows[0].rendezvous
    spans = [row.rendezvous.interval or (row.rendezvous.value, row.rendezvous.value) for row in rows]
    span = min(low for low, _ in spans), max(high for _, high in spans)
    return replace(rows[0], rendezvous=border.model_copy(update={"interval": span}))


def with_puts(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with this library's puts.

    Where it is the machine's own library, only what the file does not say; where it is another, what is known of that
    one on this fabric. A machine without a fabric, or a library that may be any, leaves all as it is.
    """
    row = known(profile, machine.fabric)
    mine = library(machine.library.name).family == profile.family
    if row is None or row.puts is None or (mine and machine.one_sided.puts is not None):
        return machine
    return machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"puts": row.puts})})


def copies(profile: LibraryProfile, fabric: Fabric | None) -> Value[Copies]:
    """Which active messages of this library both sides copy besides: of an unknown version, what the newest does."""
    mpich = profile.family == "MPICH" and profile.name != "intel-mpi" and fabric is not None
    source: Source = "literature" if mpich else "assumed"
    if fabric not in ("infiniband", "roce"):
        return Value[Copies](
            value="small",
            source=source,
            why="pmodels/mpich v4.0 to v5.0.1 src/mpid/ch4/netmod/ofi/ofi_am.h: to MPIDI_OFI_DEFAULT_SHORT_SEND_SIZE "
            "with the request, beyond it the receiver reads by RDMA (MPIDI_OFI_ENABLE_RMA in ofi_capability_sets.h)",
        )
    if profile.name == "mpich-release" and profile.before("4.2"):
        return Value[Copies](
            value="all",
            source="literature",
            why="pmodels/mpich v4.1.3 src/mpid/ch4/netmod/ucx/ucx_init.c: UCX gathers the whole message in a buffer of "
            "its own (UCP_AM_FLAG_WHOLE_MSG), from which a handler copies; both sides, gillis2023 3.1",
        )
    return Value[Copies](
        value="none",
        source=source,
        why="pmodels/mpich v4.2.0 to v5.0.1 src/mpid/ch4/netmod/ucx/ucx_am.h, ucx_am.c: contiguous data from the "
        "user's buffer (ucp_am_send_nbx) and into it (ucp_am_recv_data_nbx)",
    )


def copies_of(machine: Machine) -> Value[Copies]:
    """Copies by a machine's own library, or what its file says."""
    own = machine.library
    if own.copies is not None:
        return own.copies
    return copies(library(own.name).at(version_in(own.version)), machine.fabric)


def with_copies(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with this library's active messages; its own library's are as the file says."""
    own = machine.library
    if own.copies is not None and own.name == profile.name:
        return machine
    made = copies(profile, machine.fabric)
    return machine.model_copy(update={"library": own.model_copy(update={"copies": made})})


def with_border(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with an interval of the size from which a rendezvous begins, where nobody measured it: this
    library's default over this fabric, and what the file says."""
    segments = machine.inter.segments
    at = next((i for i, s in enumerate(segments) if s.handshake is not None), 0)
    first = segments[at]
    if not at or first.begins is not None or first.o_s.source == "measured":
        return machine
    row = transport(profile, machine.fabric).rendezvous
    low, high = row.interval or (row.value, row.value)
    span = SI(min(low, first.from_)), SI(max(high, first.from_))
    begins = Begins(value=SI(first.from_), interval=span, source=row.source, why=row.why)
    moved = (*segments[:at], first.model_copy(update={"begins": begins}), *segments[at + 1 :])
    return machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": moved})})
