"""A number of a machine file: value, 95 % interval and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pready.model.common.errors import PreadyError, shown
from pready.model.common.units import Unit, format_exact

T = TypeVar("T")


class Strict(BaseModel):
    """The base of every table of a file: unknown fields are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _tuples(cls, data: Any) -> Any:
        # Strict mode takes no list for a tuple, and TOML has only lists.
        return {name: _tuple(value) for name, value in data.items()} if isinstance(data, dict) else data


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def unit_in(annotations: Iterable[Any]) -> Unit | None:
    """The unit in a field's annotation, also inside ``tuple[units.Time, ...]``."""
    for annotation in annotations:
        if isinstance(annotation, Unit):
            return annotation
        inside = [*getattr(annotation, "__metadata__", ()), *getattr(annotation, "__args__", ())]
        found = unit_in(inside) if inside else None
        if found is not None:
            return found
    return None


class Provenance(Strict):
    """Where a number comes from.

    ``measured`` by pready's or somebody's benchmark, ``literature`` with a citation, ``assumed``
    with a reason. `why` holds the command, the citation or the reason.
    """

    source: Literal["measured", "literature", "assumed"]
    why: str = Field(min_length=1)


class Value(Provenance, Generic[T]):
    """One value with its 95 % interval (absent: taken as exact)."""

    value: T
    interval: tuple[T, T] | None = None

    @classmethod
    def holds(cls) -> Any:
        """The type of `value`."""
        made = (getattr(base, "__pydantic_generic_metadata__", {}).get("args") for base in cls.__mro__)
        return next(args[0] for args in made if args)

    @property
    def unit(self) -> Unit | None:
        """The value's unit; None for a count, a choice, or true and false."""
        return unit_in([self.holds()])

    def _said(self, value: object) -> str:
        unit = self.unit
        return shown(value) if unit is None or not isinstance(value, (int, float)) else format_exact(value, unit)

    @model_validator(mode="after")
    def _ordered(self) -> Value[T]:
        if self.interval is not None and isinstance(self.value, (int, float)):
            low, high = self.interval
            if not (low <= self.value <= high):  # type: ignore[operator]
                raise PreadyError(
                    f"interval = {self._said(low)} to {self._said(high)} does not hold the value "
                    f"{self._said(self.value)}",
                    valid="low ≤ value ≤ high",
                )
        return self
