"""A Machine from other benchmarks' output: OSU, IMB PingPong or Netgauge LogGP; or additions to one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from pathlib import Path
from typing import Any

from pready.calibrate.fit import ThinDataError
from pready.calibrate.fit.observations import DEFAULT_WINDOW, Beside, Observations
from pready.calibrate.fit.windows import without_answers
from pready.calibrate.importers import Imported, ImportFormatError
from pready.calibrate.importers.collect import collected
from pready.calibrate.importers.plausible import without_untouched
from pready.calibrate.machine.from_messages import Fitted, fitted
from pready.calibrate.machine.import_summary import lines_of
from pready.calibrate.machine.merge import Merged, merged
from pready.calibrate.machine.round_trip import round_trip
from pready.calibrate.machine.values.adapter_from_pairs import adapter_of
from pready.calibrate.machine.values.beyond_messages import terms
from pready.calibrate.machine.values.bounds_of_streams import as_bounds, with_overheads_of_streams
from pready.calibrate.machine.values.estimates import with_fields
from pready.calibrate.machine.values.intervals import with_unmeasured
from pready.calibrate.machine.values.protocol_borders import Border, from_any_size
from pready.calibrate.machine.values.team_costs import CONTENTION_BY_LIBRARY
from pready.model.approach import libraries
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Fabric, Library, Machine
from pready.model.machine.path import NetworkPath
from pready.model.machine.transports import SHARED_MEMORY, Transport, transport
from pready.model.machine.writing import document, dumps
from pready.model.toml.dotted import steps
from pready.model.toml.reading import LARGEST_TOML, decoded, parsed_toml, read_bytes, validated
from pready.model.version import VERSION


@dataclass(frozen=True)
class FromFiles:
    """A machine, the parts of it that the files determine (dotted names), notes for a reader, which files for the
    machine file's head, and what a person checks in ten seconds."""

    machine: Machine
    parts: tuple[str, ...]
    notes: tuple[str, ...]
    origin: str
    summary: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The machine file."""
        told = (*self.summary, *(f"Note: {n}" for n in self.notes))
        return dumps(self.machine, "\n".join([f"Written by pready {VERSION} calibrate from {self.origin}.", *told]))


def from_files(
    paths: Sequence[Path],
    *,
    name: str,
    seed: int = 0,
    library: str | None = None,
    fabric: Fabric | None = None,
    onto: Machine | None = None,
    intra: Sequence[Path] = (),
    take: Sequence[str] = (),
) -> FromFiles:
    """The Machine that the files describe.

    Parameters
    ----------
    paths, intra
        Output of benchmarks between two nodes of one machine, and of two ranks on one node: files, or folders of them.
    library, fabric
        Profile of the MPI library that it was, and the network; None: the files do not say.
    onto
        A machine that the files add to; with it they need not say how long one message takes.
    take
        Texts of which one has to be in a run's file, heading, command or test, for it to be used; none: all are.

    Raises
    ------
    ImportFormatError
        A file that cannot be used, or none says how long one message takes; one line.
    ThinDataError
        Not even a line can be drawn.
    PreadyError
        An unknown library.
    """
    profile = None if library is None else libraries.library(library)
    imported, notes, used = collected(paths, fabric=fabric, take=take) if paths else (None, [], [])
    over = transport(profile, fabric)
    if imported is not None:
        imported = replace(imported, observations=without_untouched(imported.observations, notes))
        over = from_any_size(over) if all(run.memory for run in imported.runs) else over
    files = ", ".join(path.name for path in [*used, *intra])
    observed = Observations() if imported is None else imported.observations
    beside = Beside() if imported is None else imported.beside
    alone = observed.ping_pong or observed.prtt_1
    parts: list[str] = []
    border: Border | None = None
    if imported is not None and alone is not None:
        machine, border, told, bounded = _fitted(imported, used, files, name, seed, over)
        machine = with_fields(with_overheads_of_streams(machine), fabric=fabric)
        streamed = 0.0 if observed.stream is None else float(observed.stream.at[-1])
        machine = with_unmeasured(machine, (float(alone.at[0]), float(alone.at[-1])), streamed, fabric, told)
        machine = as_bounds(machine) if bounded else machine
        machine = with_fields(machine, adapter=adapter_of(machine, {}, {}))
        notes += told
        parts += ["inter", "progress"]
    elif onto is not None:
        machine = onto
        notes += [] if imported is None else imported.notes
    else:
        tests = "--intra alone" if imported is None else imported.tests
        raise ImportFormatError(
            "; ".join([f"{tests} does not say how long one message takes between two nodes", *notes]),
            valid="osu_latency's or PingPong's output beside it, or --merge MACHINE.toml to add to a machine",
            source=files,
        )
    more = terms(beside, machine, observed.stream)
    named: dict[str, object] = {
        "fabric": fabric,
        "library": None if library is None else Library(name=library, version=files),
        "intra": _within(intra, name, seed) if intra else None,
    }
    given = {part: said for part, said in named.items() if said is not None}
    machine = with_fields(more.machine, **given)
    notes += more.notes
    if "threads.contention" in more.parts:
        notes = [note for note in notes if not note.endswith(CONTENTION_BY_LIBRARY)]
    summary: tuple[str, ...] = ()
    if imported is not None and border is not None:
        gaps, window = without_answers(observed, imported.window)[0], imported.window or DEFAULT_WINDOW
        back = round_trip(machine, gaps, beside.pair_rates, window)
        summary = (*lines_of(machine, border, over, observed, beside, library=profile, fabric=fabric), back.line)
    every = (*parts, *more.parts, *given)
    return FromFiles(machine, every, tuple(dict.fromkeys(notes)), f"{files}, seed {seed}", summary)


def _fitted(imported: Imported, used: Sequence[Path], files: str, name: str, seed: int, over: Transport) -> Fitted:
    """As `fitted`, of the files' runs, on the day of the newest file."""
    about = {"launcher": f"{imported.tests} {imported.version}".strip(), "library": files}
    day = date.fromtimestamp(max(path.stat().st_mtime for path in used))
    both, observed = imported.beside.both_ways, imported.observations
    try:
        found = fitted(observed, both, imported.window, about, name=name, seed=seed, day=day, transport=over)
    except ThinDataError:
        raise
    except PreadyError as error:
        raise error.at(files) from None
    return found._replace(notes=[*imported.notes, *found.notes])


def _within(paths: Sequence[Path], name: str, seed: int) -> NetworkPath:
    """The path between two ranks of one node."""
    imported, _, used = collected(paths, one_node=True)
    files = ", ".join(path.name for path in used)
    if imported.observations.ping_pong is None and imported.observations.prtt_1 is None:
        raise ImportFormatError(
            f"{imported.tests} does not say how long one message takes",
            valid="osu_latency's or PingPong's output of two ranks on one node",
            source=files,
        )
    return _fitted(imported, used, files, name, seed, SHARED_MEMORY).machine.inter


def merge_into(
    path: Path,
    files: Sequence[Path],
    *,
    seed: int,
    library: str | None,
    fabric: Fabric | None = None,
    intra: Sequence[Path] = (),
    take: Sequence[str] = (),
    replacing: Collection[str] = (),
) -> tuple[Merged, tuple[str, ...]]:
    """The machine file at `path` with the files' values, and the summary; see `pready.calibrate.machine.merge`.

    Raises what `from_files` does, and a PreadyError for a machine file that is invalid, or would be with the values.
    """
    text = decoded(read_bytes(path, LARGEST_TOML), str(path))
    base = validated(Machine, parsed_toml(text.encode(), str(path)), str(path))
    found = from_files(
        files, name=base.name, seed=seed, library=library, fabric=fabric, onto=base, intra=intra, take=take
    )
    tables = document(found.machine)
    named = {"library": library, "fabric": fabric, "intra": intra or None}
    wanted = {*replacing, *(part for part, given in named.items() if given is not None)}  # what is named is meant
    done = merged(text, str(path), _parts(tables, found.parts), wanted)
    validated(Machine, parsed_toml(done.text.encode(), str(path)), f"{path} with {found.origin}")
    return Merged(done.text, (*(f"note: {note}" for note in found.notes), *done.told)), found.summary


def _parts(tables: Any, names: Collection[str]) -> dict[str, Any]:
    """The named parts of a machine's file, without parts of parts."""
    outermost = [name for name in names if not any(name.startswith(f"{other}.") for other in names)]
    return {name: reduce(lambda table, step: table[step], steps(name), tables) for name in outermost}
