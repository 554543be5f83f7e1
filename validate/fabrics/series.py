"""Measurements on one machine as data: series of points, each of which is a claim.

A machine file of ours is fitted on other points than those judged. The rule for all machines, stated beforehand: of
sizes that are powers of two, those with an even exponent are fitted, those with an odd one are judged: 8 B, 128 B, 2
KiB, 32 KiB, 512 KiB. Figures are typed in as facts with where they stand; the files of others are not copied.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from pready.model.common.errors import PreadyError, shown
from pready.model.toml.provenance import Strict
from pready.model.toml.reading import validated
from pready.validate.claims.form import Bounds, Claim, Source, Tolerance, checked
from pready.validate.fabrics.kinds import KINDS, Name

COUNTS = ("threads", "messages")
"""Arguments of a check that are numbers."""


class Series(Strict):
    """Points of one kind, from one file."""

    id: str
    kind: Name
    file: str
    """Where the figures stand in the source."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the kind's check, beside what a point gives."""
    points: dict[str, float] = Field(min_length=1)
    """The size of each point, to what was measured there, in the kind's unit."""
    within: float | None = None
    """How close, if not as close as the kind."""
    off: dict[str, str] = Field(default_factory=dict)
    """Points of which it is known why we are off."""
    fitted: str = ""
    """What of the machine file was fitted on these very points; absent: nothing."""

    @model_validator(mode="after")
    def _off_are_points(self) -> Series:
        for size in self.off:
            if size not in self.points:
                raise PreadyError(f"off = {shown(size)} is not a point", valid=", ".join(self.points))
        return self

    def claim(self, machine: dict[str, Any], source: str, size: str, measured: float) -> Claim:
        """That of one point, on a machine by its profile and the library to predict for."""
        kind = KINDS[self.kind]
        arguments = {**kind.arguments, **self.arguments, kind.argument: int(size) if kind.argument in COUNTS else size}
        arguments["machine"] = machine
        words = arguments | {"size": size, "measured": measured, "pay": "pay" if measured > 1 else "cost time"}
        expected: float | Bounds = measured
        tolerance = Tolerance(relative=self.within or kind.tolerance, why=kind.why)
        if kind.factor is not None:
            tolerance = Tolerance(factor=kind.factor, why=kind.why)
        if kind.sign:
            expected = Bounds(at_least=1.0) if measured > 1 else Bounds(at_most=1.0)
            tolerance = Tolerance(absolute=0.0, why=kind.why)
        return Claim(
            id=f"{self.id}-{size.replace(' ', '').lower()}",
            where=f"{source}, {self.file}",
            says=kind.says.format(**words),
            quantity=kind.quantity,
            unit=kind.unit,
            expected=expected,
            tolerance=tolerance,
            basis="fitted" if self.fitted else "independent",
            check=kind.check,
            arguments=arguments,
            than=kind.than,
            known_off=self.off.get(size),
        )


class Fabric(Strict):
    """A machine and what was measured on it."""

    name: str
    title: str
    source: str
    """The repository @ commit, or the document."""
    profile: str
    """The shipped machine file that predicts it."""
    library: str | None = None
    """The library to predict for, if it is not the file's own."""
    set: dict[str, str] = Field(default_factory=dict)
    """Values of the machine that is meant in place of the profile's, fitted on other points; the file says on which."""
    series: tuple[Series, ...] = Field(min_length=1)


def parsed(data: dict[str, Any], source: str) -> Source:
    """A machine's file as checked claims. Raises PreadyError: one line naming the file, the field or claim, and what is
    valid."""
    made = validated(Fabric, data, source)
    machine: dict[str, Any] = {"profile": made.profile, "set": made.set}
    machine |= {} if made.library is None else {"library": made.library}
    claims = tuple(s.claim(machine, made.source, *point) for s in made.series for point in s.points.items())
    return checked(Source(name=made.name, title=made.title, claims=claims), source)
