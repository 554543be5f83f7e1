"""A Machine from other benchmarks' output: OSU, IMB PingPong or Netgauge LogGP; or additions to one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.fit import fit
from pready.calibrate.importers import Imported, ImportFormatError, combine, import_benchmark
from pready.calibrate.importers.beyond_messages import terms
from pready.calibrate.machine.describe import describe
from pready.calibrate.machine.estimates import with_fields
from pready.calibrate.machine.merge import Merged, merged, sealed
from pready.calibrate.machine.observations_of import Probes
from pready.calibrate.machine.team_costs import BORROWED_CONTENTION
from pready.model.approach import libraries
from pready.model.machine.machine import Library, Machine
from pready.model.machine.writing import document
from pready.model.toml.dotted import steps
from pready.model.toml.reading import LARGEST_TOML, decoded, parsed_toml, read_bytes, validated
from pready.model.version import VERSION

MESSAGES = "inter"
"""The part of a machine file that ping-pongs and streams determine."""


@dataclass(frozen=True)
class FromFiles:
    """A machine, the parts of it that the files determine (dotted names), and notes for a reader."""

    machine: Machine
    parts: tuple[str, ...]
    notes: tuple[str, ...]
    origin: str
    """Which files, for the machine file's head."""

    @property
    def text(self) -> str:
        """The machine file."""
        head = [f"Written by pready {VERSION} calibrate from {self.origin}.", *(f"Note: {n}" for n in self.notes)]
        return sealed(self.machine, "\n".join(head))


def from_files(
    paths: Sequence[Path], *, name: str, seed: int = 0, library: str | None = None, onto: Machine | None = None
) -> FromFiles:
    """The Machine that the files describe.

    Parameters
    ----------
    paths
        Output of benchmarks, one machine's.
    name
        The machine's.
    seed
        Of intervals.
    library
        Profile of the MPI library that it was; None: the files do not say.
    onto
        A machine that the files add to; with it they need not say how long one message takes.

    Raises
    ------
    ImportFormatError
        A file that cannot be read, or none says how long one message takes; one line.
    ThinDataError
        Not even a line can be drawn.
    PreadyError
        An unknown library.
    """
    if library is not None:
        libraries.library(library)
    imported = combine(*(import_benchmark(path) for path in paths))
    files = ", ".join(path.name for path in paths)
    timed = imported.observations.ping_pong is not None or imported.observations.prtt_1 is not None
    if timed:
        day = date.fromtimestamp(max(path.stat().st_mtime for path in paths))
        machine, notes = _fitted(imported, files, name, seed, day)
        parts = [MESSAGES]
    elif onto is not None:
        machine, notes, parts = onto, list(imported.provenance.notes), []
    else:
        raise ImportFormatError(
            f"{imported.provenance.format} does not say how long one message takes",
            valid="osu_latency's or PingPong's output beside it, or --merge MACHINE.toml to add to a machine",
            source=files,
        )
    if library is not None:
        machine = with_fields(machine, library=Library(name=library, version=files))
        parts.append("library")
    elif timed:
        notes.append("the files do not say which MPI library this was: --library NAME ('pready libraries') does")
    more = terms(imported.beside, machine, imported.observations.stream)
    if "threads.contention" in more.parts:
        notes = [note for note in notes if not note.endswith(BORROWED_CONTENTION)]
    notes = list(dict.fromkeys([*notes, *more.notes]))
    return FromFiles(more.machine, (*parts, *more.parts), tuple(notes), f"{files}, seed {seed}")


def _fitted(imported: Imported, files: str, name: str, seed: int, day: date) -> tuple[Machine, list[str]]:
    # Powers of two are thin data, but all that these benchmarks print: the note says so, the intervals show it.
    fitted = fit(imported.observations, np.random.default_rng(seed))
    origin = imported.provenance
    about = {"launcher": f"{origin.format} {origin.version}".strip(), "library": files}
    described = describe(fitted, Probes(), about, name=name, when=day)
    return described.machine, [*origin.notes, *described.notes]


def merge_into(
    path: Path, files: Sequence[Path], *, seed: int, library: str | None, replacing: Collection[str]
) -> Merged:
    """The machine file at `path` with the files' values; see `pready.calibrate.machine.merge`.

    Raises
    ------
    PreadyError
        As `from_files`; a machine file that is invalid, or would be with the files' values.
    """
    text = decoded(read_bytes(path, LARGEST_TOML), str(path))
    base = validated(Machine, parsed_toml(text.encode(), str(path)), str(path))
    found = from_files(files, name=base.name, seed=seed, library=library, onto=base)
    tables = document(found.machine)
    wanted = {*replacing, *(["library"] if library is not None else [])}  # a library that is named is meant
    done = merged(text, str(path), {part: _part(tables, part) for part in _outermost(found.parts)}, wanted)
    validated(Machine, parsed_toml(done.text.encode(), str(path)), f"{path} with {found.origin}")
    return Merged(done.text, (*(f"note: {note}" for note in found.notes), *done.told))


def _outermost(parts: Collection[str]) -> list[str]:
    """Without parts that another one holds."""
    return [p for p in parts if not any(p.startswith(f"{q}.") for q in parts)]


def _part(tables: Any, name: str) -> Any:
    here = tables
    for step in steps(name):
        here = here[step]
    return here
