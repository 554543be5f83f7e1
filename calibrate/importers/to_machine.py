"""A Machine from other benchmarks' output: OSU, IMB PingPong or Netgauge LogGP."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from pready.calibrate.fit import ThinDataError
from pready.calibrate.fit.observations import DEFAULT_WINDOW, Curve
from pready.calibrate.fit.windows import without_answers
from pready.calibrate.importers.collect import Imported, collected
from pready.calibrate.importers.plausible import without_untouched
from pready.calibrate.importers.text import ImportFormatError
from pready.calibrate.machine.from_messages import Fitted, fitted
from pready.calibrate.machine.import_summary import lines_of
from pready.calibrate.machine.round_trip import round_trip
from pready.calibrate.machine.values.adapter_from_pairs import with_pairs
from pready.calibrate.machine.values.bounds_of_streams import with_overheads_of_streams
from pready.calibrate.machine.values.estimates import with_fields
from pready.calibrate.machine.values.intervals import with_unmeasured
from pready.calibrate.machine.values.protocol_borders import from_any_size
from pready.model.approach import libraries
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Fabric, Library, Machine
from pready.model.machine.transports import SHARED_MEMORY, Transport, transport
from pready.model.machine.writing import dumps
from pready.model.version import VERSION


class FromFiles(NamedTuple):
    """A machine, notes for a reader, what a person checks in ten seconds, and the machine file."""

    machine: Machine
    notes: tuple[str, ...]
    summary: tuple[str, ...]
    text: str


def from_files(
    paths: Sequence[Path],
    *,
    name: str,
    seed: int = 0,
    library: str | None = None,
    fabric: Fabric | None = None,
    intra: Sequence[Path] = (),
    take: Sequence[str] = (),
) -> FromFiles:
    """The Machine that the files describe.

    `paths`, `intra`: output of benchmarks between two nodes of one machine, and of two ranks on one node: files, or
    folders of them. `library`, `fabric`: the profile of the MPI library that it was, and the network; None: they are
    not known. `take`: texts of which one has to be in a run's file, heading, command or test; none: all runs are used.

    An ImportFormatError for a file that cannot be used, or if none says how long one message takes; a ThinDataError if
    not even a line can be drawn; a PreadyError for a library that is not known.
    """
    profile = None if library is None else libraries.library(library)
    imported, notes, used = collected(paths, fabric=fabric, take=take)
    files = ", ".join(path.name for path in [*used, *intra])
    imported = replace(imported, observations=without_untouched(imported.observations, notes))
    observed = imported.observations
    alone = _one_message(imported, files, f"beside it{''.join(f'; {note}' for note in notes)}")
    over = transport(profile, fabric)
    over = from_any_size(over) if all(run.on_gpus for run in imported.runs) else over
    machine, border, told = _fitted(imported, used, files, name, seed, over)
    machine = with_fields(with_overheads_of_streams(machine), fabric=fabric)
    streamed = 0.0 if observed.stream is None else float(observed.stream.at[-1])
    machine = with_unmeasured(machine, (float(alone.at[0]), float(alone.at[-1])), streamed, fabric, told)
    machine = with_pairs(machine, imported.pair_rates, observed.stream, told)
    if library is not None:
        machine = with_fields(machine, library=Library(name=library, version=files))
    if intra:
        near, _, used = collected(intra, one_node=True)
        names = ", ".join(path.name for path in used)
        _one_message(near, names, "of two ranks on one node")
        machine = with_fields(machine, intra=_fitted(near, used, names, name, seed, SHARED_MEMORY).machine.inter)
    gaps, window = without_answers(observed, imported.window)[0], imported.window or DEFAULT_WINDOW
    back = round_trip(machine, gaps, imported.pair_rates, window)
    summary = (*lines_of(machine, border, over, observed, library=profile, fabric=fabric), back.line)
    notes = list(dict.fromkeys([*notes, *told]))
    head = [f"Written by pready {VERSION} calibrate from {files}, seed {seed}.", *summary]
    text = dumps(machine, "\n".join([*head, *(f"Note: {note}" for note in notes)]))
    return FromFiles(machine, tuple(notes), summary, text)


def _one_message(imported: Imported, files: str, where: str) -> Curve:
    """The times of one message."""
    observed = imported.observations
    found = observed.prtt_1 if observed.ping_pong is None else observed.ping_pong
    if found is None:
        problem = f"{_joined(run.test.name for run in imported.runs)} does not say how long one message takes"
        raise ImportFormatError(problem, valid=f"osu_latency's or PingPong's output {where}", source=files)
    return found


def _joined(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, names)))


def _fitted(imported: Imported, used: Sequence[Path], files: str, name: str, seed: int, over: Transport) -> Fitted:
    """As `fitted`, of the files' runs, on the day of the newest file."""
    tests, versions = (_joined(names) for names in zip(*((r.test.name, r.version) for r in imported.runs), strict=True))
    about = {"launcher": f"{tests} {versions}".strip(), "library": files}
    day = date.fromtimestamp(max(path.stat().st_mtime for path in used))
    observed, window = imported.observations, imported.window
    try:
        found = fitted(observed, window, about, name=name, seed=seed, day=day, transport=over)
    except ThinDataError:
        raise
    except PreadyError as error:
        raise error.at(files) from None
    return found._replace(notes=[*imported.notes, *found.notes])
