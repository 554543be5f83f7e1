"""The result of every importer of a communication benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers.text import ImportFormatError, Provenance

NEEDS = {
    "o_s": "PRTT(n,d,s)",
    "o_r": "delayed receives",
    "g": "PRTT(n,0,s) or osu_bw",
    "L": "o_s and o_r",
}


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

    def __bool__(self) -> bool:
        return any(bool(getattr(self, part.name)) for part in fields(self))

    def joined(self, other: Beside) -> Beside:
        """Both; curves of the same thing are put together, size by size."""
        values: dict[str, Any] = {}
        for part in fields(self):
            a, b = getattr(self, part.name), getattr(other, part.name)
            if isinstance(a, Mapping):
                values[part.name] = {
                    kind: _joined(a.get(kind), b.get(kind), part.name) for kind in dict.fromkeys([*a, *b])
                }
            else:
                values[part.name] = _joined(a, b, part.name)
        return Beside(**values)


def _joined(a: Curve | None, b: Curve | None, name: str) -> Curve | None:
    if a is None or b is None:
        return a if b is None else b
    return Curve.of(np.concatenate([a.at, b.at]), [*a.repeats, *b.repeats], name)


@dataclass(frozen=True)
class Imported:
    """Numbers in SI units, ready for `fit`, and where they come from.

    Attributes
    ----------
    observations
        The parameters that the file determines, and nothing else.
    assumed
        LogGP parameters that it does not determine: `fit` will mark them so and give them the
        interval of what is possible.
    provenance
        File, format, version, notes.
    beside
        Measurements that the fit does not use.
    one_node
        Why the two ranks must have been on one node; empty if nothing says so.
    window
        Messages of the windows that `observations.stream` is of, each with an answer; 0: it has none.
    """

    observations: Observations
    assumed: tuple[str, ...]
    provenance: Provenance
    beside: Beside = field(default_factory=Beside)
    one_node: str = ""
    window: int = 0


def combine(first: Imported, *others: Imported) -> Imported:
    """Several files of one machine as one, such as osu_latency's and osu_bw's.

    Curves that occur in more than one file are put together, size by size.

    Raises
    ------
    ImportFormatError
        PRTT trains in more than one file: their n and d need not agree.
    """
    made = first
    for other in others:
        values: dict[str, Any] = {}
        for part in fields(Observations):
            a, b = (getattr(i.observations, part.name) for i in (made, other))
            if isinstance(a, Curve) and isinstance(b, Curve):
                values[part.name] = _joined(a, b, part.name)
            elif a and b:
                raise ImportFormatError(
                    f"{part.name} is in {made.provenance.source} already",
                    valid="in one file only",
                    source=other.provenance.source,
                )
            else:
                values[part.name] = a or b
        observations = Observations(**values)
        assumed = undetermined(observations)
        p, q = made.provenance, other.provenance
        formats = ", ".join(dict.fromkeys([*p.format.split(", "), *q.format.split(", ")]))
        kept = [note for note in (*p.notes, *q.notes) if "alone does not determine" not in note]
        provenance = Provenance(
            f"{p.source}, {q.source}",
            formats,
            ", ".join(dict.fromkeys(v for v in (p.version, q.version) if v)),
            p.rows + q.rows,
            (*kept, *explain(assumed, formats)),
        )
        beside, why = made.beside.joined(other.beside), made.one_node or other.one_node
        made = Imported(observations, assumed, provenance, beside, why, max(made.window, other.window))
    return made


def undetermined(observations: Observations) -> tuple[str, ...]:
    """The LogGP parameters that these observations leave open."""
    sender = observations.prtt_n_delay is not None
    receiver = observations.receive is not None or observations.receive_overhead is not None
    known = {
        "o_s": sender,
        "o_r": receiver,
        "g": observations.prtt_n is not None or observations.stream is not None,
        "L": sender and receiver,
    }
    return tuple(name for name, there in known.items() if not there)


def explain(assumed: tuple[str, ...], format: str) -> tuple[str, ...]:
    """One note: the parameters that a file leaves open, and the measurements that determine them."""
    if not assumed:
        return ()
    wanted = ", ".join(f"{name} (needs {NEEDS[name]})" for name in assumed)
    return (f"{format} alone does not determine {wanted}",)
