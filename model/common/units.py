"""Units at the border: users write ``"25 GB/s"``, the model sees SI floats.

What communication needs and nothing else: a prefix, a base, and at most one "/"; every other unit is an error instead
of a surprise ("25 lightyears"). Decimal prefixes are powers of 1000, binary ones (Ki, Mi, Gi) powers of 1024; ``1 b``
is refused because half the field reads it as a bit and half as a byte.
"""

from __future__ import annotations

import math
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from pready.model.common.errors import PreadyError, shown


def _by_name(of: dict[str, Any]) -> dict[str, Any]:
    """With an entry for each name of several, which stand side by side."""
    return {name: value for names, value in of.items() for name in names.split()}


_PREFIXES = {"": 1.0} | _by_name(
    {
        "f femto": 1e-15, "p pico": 1e-12, "n nano": 1e-9, "u µ μ micro": 1e-6, "m milli": 1e-3, "k K kilo": 1e3,
        "M mega": 1e6, "G giga": 1e9, "T tera": 1e12, "Ki kibi": 2.0**10, "Mi mebi": 2.0**20, "Gi gibi": 2.0**30,
        "Ti tebi": 2.0**40,
    }
)  # fmt: skip
_TIME, _BYTES, _OPERATIONS, _NUMBER = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)
_BASES = _by_name(
    {
        "s sec secs second seconds": (1.0, _TIME),
        "min mins minute minutes": (60.0, _TIME),
        "h hour hours": (3600.0, _TIME),
        "B byte bytes": (1.0, _BYTES),
        "bit bits": (0.125, _BYTES),
        "Hz hertz": (1.0, (-1, 0, 0)),
        "flop flops": (1.0, _OPERATIONS),
        "% percent": (0.01, _NUMBER),
    }
)
"""Bases: how many SI units one is, and what it measures, as powers of time, bytes and operations."""


class Unit(Enum):
    """What a field measures; the value is (SI unit, of a share percent; example of what a user writes)."""

    TIME = ("s", "1.22 us")
    SIZE = ("B", "1 MiB")
    BANDWIDTH = ("B/s", "25 GB/s")
    TIME_PER_BYTE = ("s/B", "100 us/MB")
    FREQUENCY = ("Hz", "3.5 GHz")
    INTENSITY = ("flop/B", "0.5 flop/B")
    SHARE = ("%", "1 %")

    @property
    def si(self) -> str:
        """The SI unit's name."""
        return self.value[0]

    @property
    def example(self) -> str:
        """What a user might write."""
        return self.value[1]


_TIMES = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))
_SCALES = {
    Unit.TIME: _TIMES,
    Unit.SIZE: (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0)),
    Unit.BANDWIDTH: (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
    Unit.TIME_PER_BYTE: (("s/MB", 1e-6), ("ms/MB", 1e-9), ("us/MB", 1e-12)),
    Unit.FREQUENCY: (("GHz", 1e9), ("Hz", 1.0)),
    Unit.INTENSITY: (("flop/B", 1.0),),
    Unit.SHARE: (("%", 0.01),),
}
"""The units of output, and their factors."""

_EXACT = _SCALES | {
    Unit.BANDWIDTH: (("GB/s", 1e9), ("MB/s", 1e6), ("B/s", 1.0)),
    Unit.SIZE: (("B", 1.0),),
    Unit.TIME_PER_BYTE: (("us/MB", 1e-12),),
}


def parse(text: object, unit: Unit, field: str = "value") -> float:
    """The SI float that `text` means.

    Parameters
    ----------
    text
        What the user wrote: a number and a unit, ``"100 us/MB"``.
    unit
        What the field measures.
    field
        How an error names it.

    Raises
    ------
    PreadyError
        A bare number, an unknown or unfitting unit, not a number, NaN or infinite.
    """
    valid = f'a number with a unit, such as "{unit.example}"'
    if not isinstance(text, str):
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            raise PreadyError(f"{field} = {shown(text)} has no unit", valid=valid)
        raise PreadyError(f"{field} = {shown(text)} is not a quantity", valid=valid)
    if len(text) > 80:
        raise PreadyError(f"{field} = {shown(text)} is too long for a quantity", valid=valid)
    number, _, name = text.strip().partition(" ")
    try:
        magnitude = float(number)
    except ValueError:
        number, name = _split_unspaced(text.strip())
        try:
            magnitude = float(number)
        except ValueError:
            raise PreadyError(f"{field} = {shown(text)} is not a quantity", valid=valid) from None
    if not name.strip():
        raise PreadyError(f"{field} = {shown(text)} has no unit", valid=valid)
    found = measure(name.strip())
    if found is None or found[1:] != (measure(unit.si) or ())[1:]:
        meant = _by_letters(name.strip(), unit)
        said = f' (did you mean "{number} {meant}"?)' if meant else ""
        raise PreadyError(f"{field} = {shown(text)} has a unit that does not fit{said}", valid=valid)
    value = magnitude * found[0]
    if not math.isfinite(value):
        raise PreadyError(f"{field} = {shown(text)} is not finite", valid=valid)
    # Bytes are whole: 0.1 MB is 100000 B, whatever binary fractions make of the product.
    return float(round(value)) if unit is Unit.SIZE and abs(value - round(value)) <= 1e-9 * abs(value) else value


def _by_letters(name: str, unit: Unit) -> str | None:
    """The unit of this kind with the same letters in another case."""
    of = {Unit.SIZE: "{}B", Unit.BANDWIDTH: "{}B/s", Unit.FREQUENCY: "{}Hz"}.get(unit, "")
    known = [known for known, _ in _SCALES[unit]] + ([of.format(p) for p in _PREFIXES] if of else [])
    return next((u for u in known if u.lower() == name.lower() and u != name), None)


@lru_cache(maxsize=256)
def measure(name: str) -> tuple[float, tuple[int, ...]] | None:
    """How many SI units one of this unit is, and what it measures; None: no unit.

    A machine file has hundreds of values in a few units.
    """
    over, slash, under = (part.strip() for part in name.partition("/"))
    found, other = _measure(over), _measure(under) if slash else (1.0, _NUMBER)
    if found is None or other is None:
        return None
    return found[0] / other[0], tuple(a - b for a, b in zip(found[1], other[1], strict=True))


def _measure(name: str) -> tuple[float, tuple[int, ...]] | None:
    for base, (factor, what) in _BASES.items():
        prefix = _PREFIXES.get(name.removesuffix(base)) if name.endswith(base) else None
        if prefix is not None:
            return prefix * factor, what
    return None


def fraction(text: object, field: str = "value", largest: float = 10.0) -> float:
    """A share as a number: ``"5 %"`` or 0.05; a bare number above 1 is most often meant as percent, and refused.

    Parameters
    ----------
    text
        What the user wrote.
    field
        How an error names it.
    largest
        Largest share; above 1 it has to be written with a percent sign.

    Raises
    ------
    PreadyError
        Not a number, a unit other than %, negative, above `largest`, or a bare number above 1.
    """
    number = text
    if isinstance(text, str):
        try:
            number = float(text)
        except ValueError:
            number = None
    if number is None:
        value = parse(text, Unit.SHARE, field)
    elif isinstance(number, (int, float)) and not isinstance(number, bool):
        try:
            value = float(number)
        except OverflowError:
            value = math.inf
    else:
        raise PreadyError(f"{field} = {shown(text)} is not a share", valid='a share, such as "5 %" or 0.05')
    if not 0 <= value <= largest:
        raise PreadyError(f"{field} = {shown(text)} is no share", valid=f'0 % to {100 * largest:g} %, such as "5 %"')
    if number is not None and value > 1:
        raise PreadyError(
            f"{field} = {shown(text)} is {100 * value:g} %",
            valid=f'"{value:g} %" or {value / 100:g} (or, if it is meant, "{100 * value:g} %")',
        )
    return value


def ratio(unit: str, other: str, field: str) -> float:
    """How many of `other` one `unit` is; both as a user writes them.

    Raises
    ------
    PreadyError
        They do not measure the same.
    """
    one, another = measure(unit), measure(other)
    if one is None or another is None or one[1] != another[1]:
        raise PreadyError(f"{field} has a unit that does not fit", valid=f"one as in {shown(other)}")
    return one[0] / another[0]


def _split_unspaced(text: str) -> tuple[str, str]:
    """``"1MiB"`` as ``("1", "MiB")``: the longest prefix that is a plain decimal number."""
    for end in range(len(text) - 1, 0, -1):
        head = text[:end]
        if head[-1] in "0123456789." and head.replace("_", "x").isascii():
            try:
                float(head)
            except ValueError:
                continue
            return head, text[end:]
    return text, ""


class SI(float):
    """A number in SI units, for a field of a table that is built in Python and not read from a file."""


def _validator(unit: Unit, *, positive: bool, signed: bool = False) -> BeforeValidator:
    def convert(text: object) -> float:
        value = float(text) if isinstance(text, SI) else parse(text, unit)
        if signed:
            return value
        if value < 0 or (positive and value == 0):
            bound = "greater than 0" if positive else "at least 0"
            raise PreadyError(f"value = {shown(text)} is not {bound}", valid=f'{bound}, such as "{unit.example}"')
        return value

    return BeforeValidator(convert)


# Types of fields; the unit stands in the annotation, so that a writer finds it there.
Time = Annotated[float, _validator(Unit.TIME, positive=False), Unit.TIME]
SignedTime = Annotated[float, _validator(Unit.TIME, positive=False, signed=True), Unit.TIME]
Size = Annotated[float, _validator(Unit.SIZE, positive=True), Unit.SIZE]
Offset = Annotated[float, _validator(Unit.SIZE, positive=False), Unit.SIZE]
Bandwidth = Annotated[float, _validator(Unit.BANDWIDTH, positive=True), Unit.BANDWIDTH]
TimePerByte = Annotated[float, _validator(Unit.TIME_PER_BYTE, positive=False), Unit.TIME_PER_BYTE]
Frequency = Annotated[float, _validator(Unit.FREQUENCY, positive=True), Unit.FREQUENCY]
Share = Annotated[float, BeforeValidator(fraction), Unit.SHARE]


def format_exact(value: float, unit: Unit) -> str:
    """The value as a file holds it: ten digits, read back by `parse`."""
    return _scaled(value, _EXACT[unit], digits=10, least=10)


def format_time(seconds: float) -> str:
    """``1.22e-6`` as ``1.22 us``: three significant digits, the unit a reader would choose; less than 5 ps is 0."""
    if abs(seconds) < 5e-12:
        return "0 ns"
    return _scaled(seconds, _TIMES)


def unit_of_times(largest: float) -> tuple[float, str]:
    """What an axis up to so many seconds is divided by, and the unit's name."""
    name, scale = next((s for s in _TIMES if largest >= s[1]), _TIMES[-1])
    return scale, name


def format_size(size: float) -> str:
    """``1048576`` as ``1 MiB``: binary prefixes, as MPI benchmarks print sizes."""
    return _scaled(size, _SCALES[Unit.SIZE], digits=4)


def format_bandwidth(rate: float) -> str:
    """``25e9`` as ``25 GB/s``: decimal prefixes, as links are sold."""
    return _scaled(rate, _SCALES[Unit.BANDWIDTH])


def format_quantity(value: float, unit: Unit) -> str:
    """A value as a reader would write it, in what its field measures."""
    match unit:
        case Unit.TIME:
            return format_time(value)
        case Unit.SIZE:
            return format_size(value)
        case Unit.BANDWIDTH:
            return format_bandwidth(value)
        case _:
            return _scaled(value, _SCALES[unit], digits=4, least=4)


def _scaled(value: float, scales: tuple[tuple[str, float], ...], digits: int = 3, least: int = 3) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value + 0.0:g} {scales[-1][0]}"  # + 0.0: no -0
    name, scale = next((s for s in scales if abs(value) >= 0.9995 * s[1]), scales[-1])
    scaled = value / scale
    kept = least if abs(scaled) < 100 else digits
    return f"{scaled:.0f} {name}" if 10**kept - 0.5 <= abs(scaled) < 1e7 else f"{scaled:.{kept}g} {name}"
