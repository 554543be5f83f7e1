"""A port that flows share evenly: what any such port keeps, and a plain simulation in small steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_port import Job, share

times, services = st.integers(0, 200).map(float), st.integers(1, 50).map(float)
jobs = st.lists(st.tuples(times, st.integers(0, 4), services), min_size=1, max_size=24)


def shared(given_: list[tuple[float, int, float]]) -> list[Job]:
    made = [Job(*each) for each in sorted(given_, key=lambda each: each[0])]
    share(made)
    return made


def one_after_the_other(given_: list[tuple[float, int, float]]) -> float:
    free = 0.0
    for at, _, service in sorted(given_, key=lambda each: each[0]):
        free = max(free, at) + service
    return free


@given(jobs)
def test_no_work_is_lost_and_none_waits_while_the_port_is_idle(given_: list[tuple[float, int, float]]) -> None:
    assert max(j.end for j in shared(given_)) == pytest.approx(one_after_the_other(given_))


@pytest.mark.parametrize("k", [1, 2, 6])
def test_small_messages_are_a_gap_apart(k: int) -> None:
    # The port is through with each as the next comes.
    made = [Job(3.0, flow, 5.0, gap=5.0) for flow in range(k)]
    share(made)
    assert [j.end for j in made] == pytest.approx([3.0 + 5.0 * (i + 1) for i in range(k)])


@given(jobs)
def test_it_is_what_small_steps_give(given_: list[tuple[float, int, float]]) -> None:
    made, step = shared(given_), 1 / 60  # a sixtieth of a unit: any number of up to five flows divides it
    left = [j.service for j in made]
    now = 0.0
    end = [0.0] * len(made)
    while any(x > 1e-9 for x in left):
        heads: dict[int, int] = {}
        for i, j in enumerate(made):
            if j.at <= now + 1e-9 and left[i] > 1e-9:
                heads.setdefault(j.flow, i)
        now += step
        for i in heads.values():
            left[i] -= step / len(heads)
            end[i] = now
    for j, at in zip(made, end, strict=True):
        assert j.end == pytest.approx(at, abs=len(made) * step * 5)
