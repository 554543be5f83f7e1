"""From a fit and probes to a Machine: every value with its interval and the measurement behind it.

A value that was not measured is filled in as ``assumed``, with the reason; none is filled in silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.machine.library_names import profile_of
from pready.calibrate.machine.values.estimates import (
    BANDWIDTH,
    PER_BYTE,
    TIME,
    assumed,
    exact,
    positive,
    value,
    with_fields,
)
from pready.calibrate.machine.values.observations_of import Probes, Record, cores_per_rank
from pready.calibrate.machine.values.protocol import progress, with_rendezvous, without_eager_handshakes
from pready.calibrate.machine.values.rma_and_teams import refined
from pready.calibrate.machine.values.segments import segment
from pready.calibrate.machine.values.team_costs import contexts, threads
from pready.model.machine.machine import Begin, Library, Machine, Matching, Memory, Requests, unmeasured
from pready.model.machine.path import NetworkPath
from pready.model.machine.rma import OneSided
from pready.model.toml.provenance import Value
from pready.model.version import VERSION


@dataclass(frozen=True)
class Described:
    """A machine, and notes for a reader of the fit."""

    machine: Machine
    notes: tuple[str, ...]


def describe(fit: Fit, probes: Probes, about: Record, *, name: str, when: date) -> Described:
    """The Machine that was measured, `about` the environment record; `name` and `when` are as its file shall say."""
    library, launcher = _library_line(about), str(about.get("launcher", ""))
    where = f"{launcher}, {library}".strip(", ")
    cores = cores_per_rank(about)
    notes = list(fit.notes)
    fit = without_eager_handshakes(fit, probes, notes)
    path = with_rendezvous(probes, [segment(fit, k, notes, where) for k in range(len(fit.segments))], notes)
    inter = NetworkPath(segments=tuple(path), link_bandwidth=_link_bandwidth(fit, path[-1].G.value))
    smallest = inter.segments[0].o_s.value
    machine = Machine(
        format=1,
        name=name,
        description=where,
        created=when,
        created_by=f"pready {VERSION} calibrate",
        library=_library(probes, about),
        progress=progress(probes.exposed_share),
        contexts=contexts(probes),
        inter=inter,
        threads=threads(probes, cores, notes),
        matching=Matching(
            base=exact(TIME, 0.0, "contained in o_r, which was measured with matching"),
            per_entry=assumed(TIME, 1e-9, "not measured: a list search in cache", 5.0),
        ),
        one_sided=OneSided(
            epoch=assumed(TIME, max(2 * smallest, 2e-9), "not measured: twice a send's o_s per window", 3.0),
            epoch_peer=assumed(TIME, max(2 * smallest, 2e-9), "not measured: a send of two messages per peer", 3.0),
        ),
        memory=Memory(copy_hot=_copy(probes.copy_bandwidth, "hot"), copy_cold=_copy(probes.copy_bandwidth, "cold")),
        requests=Requests(setup=_setup(probes)),
        begin=_begin(probes),
        intra=unmeasured().intra,
    )
    machine = refined(machine, probes.exchanges, notes)
    return Described(machine, tuple(dict.fromkeys(notes)))


def _link_bandwidth(fit: Fit, alone: float) -> Value[float]:
    """The link's bandwidth; one message's, at `alone` seconds per byte, where no more is known."""
    per_byte, why = fit.segments[-1].G_stream, "streams of messages" if "gap" in fit.curves else "one message alone"
    if per_byte.value <= 0:
        per_byte, why = Estimate(alone, alone, alone), "one message alone"
    low, high = 1 / max(per_byte.high, per_byte.value), 1 / max(min(per_byte.low, per_byte.value), 1e-15)
    return positive(BANDWIDTH, Estimate(1 / per_byte.value, low, high, per_byte.assumed), why, [], "link_bandwidth")


def _library_line(about: Record) -> str:
    return " ".join(str(about.get("library", "")).split("\n")[0].split())[:80]


def _library(probes: Probes, about: Record) -> Library:
    name, version = profile_of(str(about.get("library", ""))), _library_line(about)
    if probes.early_send is None:
        return Library(name=name, version=version)
    why = "last partition delayed: partition 0 arrived " + ("early" if probes.early_send else "with the last")
    early = Value[bool](value=probes.early_send, source="measured", why=why)
    return Library(name=name, version=version, early_send=early)


def _setup(probes: Probes) -> Value[float]:
    """The time that a persistent send saves over a nonblocking one; 0 where it saves none, or was not measured."""
    if probes.setup is None:
        return exact(TIME, 0.0, "not measured: a persistent send is taken to save nothing")
    return value(TIME, probes.setup.at_least_zero(), "ping-pongs with MPI_Isend, less those with MPI_Start")


def _begin(probes: Probes) -> Begin:
    measured = {
        name: value(PER_BYTE, cost, "windows of 4 MiB and of 1 KiB")
        if name == "registration"
        else value(TIME, cost, "set up, and used twice")
        for name, cost in probes.begin.items()
    }
    return with_fields(unmeasured().begin, **measured)


def _copy(measured: Mapping[str, Estimate], cache: str) -> Value[float]:
    if cache in measured:
        return value(BANDWIDTH, measured[cache], f"memcpy, {cache} cache")
    return assumed(BANDWIDTH, 5e9, "not measured: one core's copy bandwidth", 3.0)
