"""What users write, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.common import units
from pready.model.common.errors import PreadyError
from pready.model.common.units import (
    Unit,
    format_bandwidth,
    format_quantity,
    format_size,
    format_time,
    fraction,
    parse,
    unit_of_times,
)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("1 MiB", Unit.SIZE, 1048576.0),
        ("1MiB", Unit.SIZE, 1048576.0),
        ("4 kB", Unit.SIZE, 4000.0),
        ("25 GB/s", Unit.BANDWIDTH, 25e9),
        ("200 Gbit/s", Unit.BANDWIDTH, 25e9),
        ("1.22 us", Unit.TIME, 1.22e-6),
        ("1.22 µs", Unit.TIME, 1.22e-6),  # micro sign
        ("1.22 μs", Unit.TIME, 1.22e-6),  # Greek mu
        ("1e-3s", Unit.TIME, 1e-3),
        ("100 us/MB", Unit.TIME_PER_BYTE, 1e-10),
        ("512000.00000000006 B", Unit.SIZE, 512000.0),  # what a product in binary makes
        ("1.5 B", Unit.SIZE, 1.5),
        ("3.5 GHz", Unit.FREQUENCY, 3.5e9),
        ("2 min", Unit.TIME, 120.0),
        ("1".ljust(79) + "B", Unit.SIZE, 1.0),
    ],
)
def test_quantities(text: str, unit: Unit, expected: float) -> None:
    assert parse(text, unit) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("unit", Unit)
def test_units_known_without_the_registry_are_the_registrys(unit: Unit) -> None:
    for name, factor in units._SCALES[unit]:
        assert factor == units.registry().Quantity(1.0, name).to(unit.si).magnitude


@pytest.mark.parametrize(
    "text",
    ["5", 5, 5.0, True, None, "", "MiB", "nan B", "inf B", "1e999 B", "1 s", "1 b", "1 B B", "1".ljust(80) + "B"],
)
def test_what_is_refused_names_field_and_example(text: object) -> None:
    with pytest.raises(PreadyError) as caught:
        parse(text, Unit.SIZE, "buffer")
    assert "buffer = " in str(caught.value)
    assert '"1 MiB"' in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "value"), [("5 %", 0.05), ("5%", 0.05), (0.05, 0.05), ("0.05", 0.05), ("250 %", 2.5)])
def test_shares(text: object, value: float) -> None:
    assert fraction(text) == pytest.approx(value, rel=1e-15)
    assert fraction(0) == 0
    assert fraction(1) == fraction("100 %") == 1


@pytest.mark.parametrize(
    "text", [5, "5", 1.5, 10**400, "1001 %", -1, "-1 %", "nan", float("nan"), "x", "", None, True, "5 s"]
)
def test_what_is_no_share(text: object) -> None:
    with pytest.raises(PreadyError) as caught:
        fraction(text, "arrivals.spread")
    assert "arrivals.spread = " in str(caught.value)
    assert "%" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=20), st.sampled_from(Unit))
def test_any_text_is_a_number_or_our_error(text: str, unit: Unit) -> None:
    try:
        assert isinstance(parse(text, unit), float)
    except PreadyError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.0, Unit.TIME, "0 ns"), (-0.0, Unit.TIME, "0 ns"), (1.0, Unit.TIME, "1 s"), (1e-3, Unit.TIME, "1 ms"),
        (0.99949e-3, Unit.TIME, "999 us"), (0.99951e-3, Unit.TIME, "1 ms"), (-2.5e-6, Unit.TIME, "-2.5 us"),
        (-8.05e-20, Unit.TIME, "0 ns"), (6e-13, Unit.TIME, "0.0006 ns"), (1234.5, Unit.TIME, "1234 s"),
        (4.708e-8, Unit.TIME_PER_BYTE, "47.08 ms/MB"), (999.6, Unit.TIME, "1000 s"),
        (1.0, Unit.TIME_PER_BYTE, "1000000 s/MB"), (float("inf"), Unit.TIME, "inf ns"),
    ],
)  # fmt: skip
def test_printed(value: float, unit: Unit, said: str) -> None:
    assert format_quantity(value, unit) == said
    for seconds, name in ((40e-3, "ms"), (3.0, "s"), (2e-6, "us"), (1e-12, "ns")):
        assert unit_of_times(seconds)[1] == name


@given(st.floats(1e-12, 1e6))
def test_times_survive_printing(seconds: float) -> None:
    assert parse(format_time(seconds), Unit.TIME) == pytest.approx(seconds, rel=6e-3)


@given(st.floats(1, 1e14))
def test_sizes_and_rates_survive_printing(value: float) -> None:
    assert parse(format_size(value), Unit.SIZE) == pytest.approx(value, rel=6e-3)
    assert parse(format_bandwidth(value), Unit.BANDWIDTH) == pytest.approx(value, rel=6e-3)
