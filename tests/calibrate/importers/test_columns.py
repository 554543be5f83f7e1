"""What a column's name says that it holds, and what its cells say: tests/data/calibrate/columns.toml."""

from collections.abc import Callable

import pytest
from tables import table_of

from pready.calibrate.importers.columns import column, decimal_comma, of_unit, plain, size_of
from pready.calibrate.importers.text import ImportFormatError, Line, number, whole

SAID = table_of("calibrate/columns")
HERE = Line("", 1, "f")


@pytest.mark.parametrize("row", SAID["names"], ids=lambda row: row[0])
def test_a_name_says_what_its_column_holds(row: list[str]) -> None:
    name, quantity, factor, rank, *more = row
    found = column(4, name)
    said = [flag for flag in ("both_ways", "unclear") if getattr(found, flag)]
    assert (found.at, found.quantity, said) == (4, quantity, more)
    assert found.factor == pytest.approx(float(factor), rel=1e-12)
    assert found.rank == {"median": 0, "mean": 1, "some": 2, "none": None}[rank]


def or_none(read: Callable[..., float], *given: object, **how: object) -> float | None:
    try:
        return read(*given, **how)
    except ImportFormatError:
        return None


def test_which_cells_are_numbers() -> None:
    for cell, unit, comma, size in SAID["sizes"]:
        found = or_none(size_of, cell, column(0, f"Size ({unit})"), HERE, comma=comma)
        assert found == (None if size < 0 else size), cell
    for token, sign, one in SAID["numbers"]:
        read = or_none(number, token, "x", HERE, zero=sign == "0", negative=sign == "-")
        assert read == (float(token) if one else None), token
    for token, least, largest, one in SAID["wholes"]:
        assert or_none(whole, token, "x", HERE, least=least, largest=largest) == (int(token) if one else None), token
    for cells, said in SAID["commas"]:
        assert {True: "yes", False: "no", None: "either"}[decimal_comma(cells)] == said, cells
    for cell, comma, said in (("1.234,5", True, "1234.5"), ("1,234.5", False, "1234.5"), ("1.5", True, "1.5")):
        assert plain(cell, comma=comma) == said
    units = [of_unit(unit) for unit in ("us", "MB/s", "mb/s", "parsec", "KB")]
    assert [unit and unit.factor for unit in units] == [1e-6, 1e6, None, None, None]
