"""Calls beside each other: their order, and their errors."""

from threading import Barrier

import pytest

from pready.model.common.parallel import all_cores, at_once, both


@pytest.mark.parametrize("count", range(5))
def test_values_come_in_the_order_asked_for(count: int) -> None:
    assert at_once(lambda x: x * x, range(count)) == [x * x for x in range(count)]


def test_calls_are_under_way_together() -> None:
    meet = Barrier(2, timeout=60).wait  # each waits for the other to have begun
    assert sorted(both(meet, meet)) == [0, 1]


def test_cores_are_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0: {1, 2, 3}}[pid])
    assert all_cores() == 3
    monkeypatch.delattr("os.sched_getaffinity")
    for count, said in ((5, 5), (None, 1)):
        monkeypatch.setattr("os.cpu_count", lambda count=count: count)
        assert all_cores() == said


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_error_is_raised_when_the_other_call_has_ended(wrong: int) -> None:
    ended = []

    def call(number: int) -> None:
        if number == wrong:
            raise ValueError(f"call {number}")
        ended.append(number)

    with pytest.raises(ValueError, match=f"call {wrong}"):
        both(lambda: call(0), lambda: call(1))
    assert ended == [1 - wrong]
    with pytest.raises(ValueError, match=f"call {wrong}"):
        at_once(call, [0, 1])
    assert ended == [1 - wrong] * 2
