"""Ranges of buffers."""

from pready.model.result.break_even import Range, nearest


def test_both_ends_are_of_a_range() -> None:
    some = [Range(2, 3), Range(5, 6)]
    assert [size in some[0] for size in (1.9, 2, 3, 3.1)] == [False, True, True, False]
    assert [nearest(some, size) for size in (1, 3, 4, 6, 7)] == [some[0], some[0], some[1], some[1], None]
