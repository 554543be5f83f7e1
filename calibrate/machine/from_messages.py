"""A Machine from the times of messages alone: one by one, and in streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from pready.calibrate.fit import fit
from pready.calibrate.fit.observations import Observations
from pready.calibrate.fit.windows import without_answers
from pready.calibrate.machine.description import describe
from pready.calibrate.machine.values.estimates import TIME, exact, with_fields
from pready.calibrate.machine.values.intervals import widened
from pready.calibrate.machine.values.observations_of import Probes
from pready.calibrate.machine.values.protocol_borders import (
    Border,
    with_border,
    with_rendezvous,
    without_negative_lines,
)
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.transports import Transport


class Fitted(NamedTuple):
    """The machine, where its rendezvous begins, and notes."""

    machine: Machine
    border: Border
    notes: list[str]


def fitted(
    observed: Observations,
    window: int,
    about: Mapping[str, str],
    *,
    name: str,
    seed: int,
    day: date,
    transport: Transport,
) -> Fitted:
    """The machine that the messages show, of a transport.

    Raises ThinDataError: not even a line can be drawn; PreadyError: no line goes through the times.

    Parameters
    ----------
    window
        Messages of a stream's windows, each with an answer; 0: they have none.
    about
        What measured it (launcher, library), for the machine file.
    """
    notes: list[str] = []
    one_way = observed.ping_pong
    observed, note = without_answers(observed, window)
    notes += [note] if note else []
    found = fit(observed, np.random.default_rng(seed))
    # What to measure is for who measures; these benchmarks print powers of two, and the summary says what is assumed.
    said = (note.partition("; measure next")[0] for note in found.notes if " assumed within what " not in note)
    found = replace(found, notes=tuple(said))
    try:
        lines, border = with_rendezvous(without_negative_lines(found, notes), transport)
        described = describe(lines, Probes(), dict(about), name=name, when=day)
        machine = with_border(described.machine, border)
        if observed.stream is not None:
            matching = exact(TIME, 0.0, "contained in o_r, at most a stream's gap, whose windows are posted")
            machine = with_fields(machine, matching=with_fields(machine.matching, per_entry=matching))
        machine = widened(with_fields(machine, progress=transport.receiver), one_way)
    except ValidationError as error:
        why = str(error.errors()[0]["msg"]).partition(";")[0].removeprefix("Value error, ")
        told = f"no line goes through these times: {why}"
        raise PreadyError(told, valid="times that grow with the size, of small messages, too") from None
    return Fitted(machine, border, [*notes, *described.notes])
