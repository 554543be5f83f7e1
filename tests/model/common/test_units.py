"""What users write, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from present import present
from tables import table_of

from pready.model.common import units
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, format_time, fraction, parse
from pready.model.toml.dotted import exactly

TABLES = table_of("model/units")


@pytest.mark.parametrize(("text", "unit", "expected"), TABLES["read"])
def test_quantities(text: str, unit: str, expected: float) -> None:
    assert parse(text, Unit[unit]) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("unit", Unit)
def test_units_of_output_are_read_with_the_same_factor(unit: Unit) -> None:
    for name, factor in units._SCALES[unit]:
        assert units.measure(name) == (factor, present(units.measure(unit.si))[1])


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


@pytest.mark.parametrize(("value", "unit", "said"), TABLES["printed"])
def test_printed(value: float, unit: str, said: str) -> None:
    assert units.format_quantity(value, Unit[unit]) == said
    for seconds, name in ((40e-3, "ms"), (1e-3, "ms"), (1.0, "s"), (2e-6, "us"), (1e-12, "ns")):
        assert units.unit_of_times(seconds)[1] == name


@given(st.floats(1e-12, 1e6))
def test_times_survive_printing(seconds: float) -> None:
    assert parse(format_time(seconds), Unit.TIME) == pytest.approx(seconds, rel=6e-3)


@given(st.floats(1, 1e14))
def test_sizes_and_rates_survive_printing(value: float) -> None:
    assert parse(units.format_size(value), Unit.SIZE) == pytest.approx(value, rel=6e-3)
    assert parse(units.format_bandwidth(value), Unit.BANDWIDTH) == pytest.approx(value, rel=6e-3)


def test_no_minus_before_nothing_and_no_expression_of_units() -> None:
    assert format_time(-0.0) == format_time(0.0) == "0 ns"
    with pytest.raises(PreadyError):
        parse("2 (us)", Unit.TIME)
    assert [exactly(share, Unit.SHARE) for share in (1, 1.5)] == [1, "150.0 %"]
