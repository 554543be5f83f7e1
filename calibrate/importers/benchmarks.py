"""The result of every importer of a communication benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.importers.text import ImportFormatError, Provenance

NEEDS = {
    "o_s": "PRTT(n,d,s)",
    "o_r": "delayed receives",
    "g": "PRTT(n,0,s) or osu_bw",
    "L": "o_s and o_r",
}

T = TypeVar("T", bound="Observations | Beside")


@dataclass(frozen=True)
class Beside:
    """Measurements that LogGP has no curve for: times of messages or calls by size, unless it says otherwise.

    Attributes
    ----------
    pair_rates
        Messages per second by size, by number of process pairs (osu_mbw_mr with several pairs: processes, not
        threads, so no contention curve).
    threaded
        Half round trips between threads that all wait in MPI, by how many send and how many receive.
    puts
        One MPI_Put with its synchronisation, by the latter's name.
    put_streams
        Time per put of a window of them, by its synchronisation.
    partitioned
        Half round trips of partitioned messages.
    both_ways
        Time per pair of messages, one each way, of windows of them (osu_bibw).
    """

    pair_rates: Mapping[int, Curve] = field(default_factory=dict)
    threaded: Mapping[tuple[int, int], Curve] = field(default_factory=dict)
    puts: Mapping[str, Curve] = field(default_factory=dict)
    put_streams: Mapping[str, Curve] = field(default_factory=dict)
    partitioned: Curve | None = None
    both_ways: Curve | None = None


@dataclass(frozen=True)
class Imported:
    """Numbers in SI units, ready for `fit`, and where they come from.

    Attributes
    ----------
    observations
        The parameters that the file determines, and nothing else.
    provenance
        File, format, version, notes.
    beside
        Measurements that the fit does not use.
    one_node
        Why the two ranks must have been on one node; empty if nothing says so.
    window
        Messages of the windows that `observations.stream` is of, each with an answer; 0: it has none.
    memory
        Where the buffers were: "CUDA" and the like; empty: the hosts' memory.
    """

    observations: Observations
    provenance: Provenance
    beside: Beside = field(default_factory=Beside)
    one_node: str = ""
    window: int = 0
    memory: str = ""

    @property
    def assumed(self) -> tuple[str, ...]:
        """LogGP parameters that it leaves open: `fit` gives them the interval of what is possible, and marks them."""
        return undetermined(self.observations)


def combine(first: Imported, *others: Imported) -> Imported:
    """Several files of one machine as one, such as osu_latency's and osu_bw's.

    Curves that occur in more than one file are put together, size by size.

    Raises
    ------
    ImportFormatError
        PRTT trains in more than one file: their n and d need not agree. Buffers in hosts' memory and in GPUs'.
    """
    return reduce(_combined, others, first)


def _combined(one: Imported, other: Imported) -> Imported:
    p, q = one.provenance, other.provenance
    sources = p.source, q.source
    if one.memory != other.memory:
        memory, before = (f"in the memory of {x.memory} GPUs" if x.memory else "on the hosts" for x in (other, one))
        raise ImportFormatError(f"buffers were {memory}", valid=f"{before}, as in {sources[0]}", source=sources[1])
    observations = _joined(one.observations, other.observations, sources)
    formats = ", ".join(dict.fromkeys([*p.format.split(", "), *q.format.split(", ")]))
    versions = ", ".join(dict.fromkeys(v for v in (p.version, q.version) if v))
    kept = [note for note in (*p.notes, *q.notes) if "alone does not determine" not in note]
    return Imported(
        observations,
        Provenance(", ".join(sources), formats, versions, (*kept, *explain(observations, formats))),
        _joined(one.beside, other.beside, sources),
        one.one_node or other.one_node,
        max(one.window, other.window),
        one.memory,
    )


def _joined(one: T, other: T, sources: tuple[str, str]) -> T:
    """Both; curves of the same thing are put together, size by size."""
    values: dict[str, Any] = {}
    for part in fields(one):
        a, b = (getattr(each, part.name) for each in (one, other))
        values[part.name] = (
            {kind: _both(a.get(kind), b.get(kind), part.name, sources) for kind in dict.fromkeys([*a, *b])}
            if isinstance(a, Mapping)
            else _both(a, b, part.name, sources)
        )
    return type(one)(**values)


def _both(a: Curve | Train | None, b: Curve | Train | None, name: str, sources: tuple[str, str]) -> object:
    if isinstance(a, Curve) and isinstance(b, Curve):
        return Curve.of(np.concatenate([a.at, b.at]), [*a.repeats, *b.repeats], name)
    if a and b:
        raise ImportFormatError(f"{name} is in {sources[0]} already", valid="in one file only", source=sources[1])
    return a or b


def undetermined(observations: Observations) -> tuple[str, ...]:
    """The LogGP parameters that these observations leave open."""
    sender, receiver = observations.prtt_n_delay is not None, observations.receive is not None
    known = {
        "o_s": sender,
        "o_r": receiver,
        "g": observations.prtt_n is not None or observations.stream is not None,
        "L": sender and receiver,
    }
    return tuple(name for name, there in known.items() if not there)


def explain(observations: Observations, format: str) -> tuple[str, ...]:
    """One note, if any: the parameters that a file leaves open, and the measurements that determine them."""
    wanted = ", ".join(f"{name} (needs {NEEDS[name]})" for name in undetermined(observations))
    return (f"{format} alone does not determine {wanted}",) if wanted else ()
