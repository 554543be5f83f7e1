"""Claims as data: one TOML file per paper or machine, read and checked before anything is computed.

A claim names where it stands, says in our words what is said there, and holds what it takes to compute our value: the
name of a check (`checks.py`) and its arguments; a second configuration to compare with (`than`), a sweep (`over`), and
what to keep of the sweep (`reduce`), by the tables of `judge.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from pready.model.common.errors import PreadyError, shown
from pready.model.toml.provenance import Strict
from pready.model.toml.reading import validated
from pready.validate.claims.checks import CHECKS, arguments

Arguments = dict[str, Any]
Relation = Literal["ratio", "difference", "percent less"]
Reduction = Literal["every", "max", "min", "mean", "increases", "decreases", "last high"]


class Bounds(Strict):
    """A range, open where a side is absent."""

    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _one(self) -> Bounds:
        if self.at_least is None and self.at_most is None:
            raise PreadyError("expected has no bound", valid="at_least, at_most or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise PreadyError(f"expected is {self.at_least:g} to {self.at_most:g}", valid="at_least ≤ at_most")
        return self


def _kind(data: Any) -> str:
    """A plain union would report every alternative's errors; decide by the names present."""
    return "bounds" if isinstance(data, (dict, Bounds)) else "value"


Stated = Annotated[Annotated[bool | float | str, Tag("value")] | Annotated[Bounds, Tag("bounds")], Discriminator(_kind)]


class Tolerance(Strict):
    """How close our value has to be, and why that close: exactly one of the first three."""

    absolute: Annotated[float, Field(ge=0)] | None = None
    relative: Annotated[float, Field(ge=0)] | None = None
    factor: Annotated[float, Field(ge=1)] | None = None
    why: str = Field(min_length=1)

    @model_validator(mode="after")
    def _one(self) -> Tolerance:
        given = [n for n in ("absolute", "relative", "factor") if getattr(self, n) is not None]
        if len(given) != 1:
            raise PreadyError(f"tolerance has {given or 'no width'}", valid="one of absolute, relative, factor")
        return self


class Claim(Strict):
    """One quantitative statement of a paper, or one measurement."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    where: str = Field(min_length=1)
    says: str = Field(min_length=1)
    quantity: str = Field(min_length=1)
    unit: str = ""
    expected: Stated | None = None
    tolerance: Tolerance | None = None
    basis: Literal["derived", "fitted", "independent"] | None = None
    """`derived`: from formulas and definitions alone. `fitted`: a machine profile holds a value taken
    from this very place, so that agreement shows the fit, not the model. `independent`: neither."""
    check: str | None = None
    arguments: Arguments = Field(default_factory=dict)
    than: Arguments | None = None
    """Merged over the arguments: the configuration to compare with."""
    relation: Relation = "ratio"
    over: dict[str, list[Any]] = Field(default_factory=dict)
    """Dotted name of an argument to its values; several span a grid."""
    reduce: Reduction = "every"
    known_off: str | None = None
    """Why our value is not within the tolerance, after looking into it."""
    out_of_scope: str | None = None
    """Why no model of ours can address it."""

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        needs = ("expected", "basis", "check")
        if self.out_of_scope is not None:
            there = [n for n in (*needs, "known_off") if getattr(self, n) is not None]
            if there:
                raise PreadyError(
                    f"claim {self.id} is out of scope and has {there}", valid="neither, or no out_of_scope"
                )
            return self
        absent = [n for n in needs if getattr(self, n) is None]
        if absent:
            raise PreadyError(
                f"claim {self.id} has no {', '.join(absent)}", valid="these, or out_of_scope with a reason"
            )
        exact = isinstance(self.expected, (bool, str))
        if exact != (self.tolerance is None):
            has = "without a" if self.tolerance is None else "with a"
            raise PreadyError(
                f"claim {self.id} expects {shown(self.expected)} {has} tolerance",
                valid="a tolerance with why for numbers and bounds, none for a yes or no or a word",
            )
        if self.reduce in ("increases", "decreases", "last high") and len(self.over) != 1:
            raise PreadyError(
                f"claim {self.id}: reduce = {shown(self.reduce)} over {list(self.over)}", valid="one axis"
            )
        return self

    def points(self) -> Iterator[tuple[tuple[Any, ...], Arguments]]:
        """Every point of the sweep: its coordinates, and the arguments there."""
        for values in product(*self.over.values()):
            here = self.arguments
            for name, value in zip(self.over, values, strict=True):
                here = merged(here, _nested(name, value))
            yield values, here


class Source(Strict):
    """A paper or a machine, and its claims."""

    name: str
    title: str
    doi: str = ""
    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _unique(self) -> Source:
        seen: set[str] = set()
        for claim in self.claims:
            if claim.id in seen:
                raise PreadyError(f"claims: id = {shown(claim.id)} stands twice", valid="ids that differ")
            seen.add(claim.id)
        return self


def merged(base: Arguments, changes: Arguments) -> Arguments:
    """`base` with `changes` put in, table by table; another `model` of arrivals replaces the table."""
    out = dict(base)
    for name, value in changes.items():
        below = out.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            other_model = value.get("model", below.get("model")) != below.get("model")
            out[name] = value if other_model else merged(below, value)
        else:
            out[name] = value
    return out


def _nested(dotted: str, value: Any) -> Arguments:
    for name in reversed(dotted.split(".")):
        value = {name: value}
    out: Arguments = value
    return out


def parsed(data: dict[str, Any], source: str) -> Source:
    """A file as checked claims; see `checked`."""
    return checked(validated(Source, data, source), source)


def checked(made: Source, source: str) -> Source:
    """A paper's claims, once every check's arguments are found valid at every point. Raises PreadyError: one line
    naming the file, the claim and what is wrong."""
    for claim in made.claims:
        if claim.out_of_scope is not None:
            continue
        if claim.check not in CHECKS:
            raise PreadyError(
                f"claim {claim.id}: check = {shown(claim.check)} is unknown",
                valid=", ".join(sorted(CHECKS)),
                source=source,
            )
        for _, here in claim.points():
            for point in (here, *([] if claim.than is None else [merged(here, claim.than)])):
                arguments(claim.check, point, f"{source}: claim {claim.id}")
    return made
