"""Contention belongs to the library: which curve a prediction takes, and that it scales with the machine's o_s."""

import pytest
from machines import ideal

from pready.calibrate.machine.values.estimates import with_fields
from pready.model.advice.predict import with_library
from pready.model.approach.interfaces import BY_KEY, PART
from pready.model.approach.libraries import LIBRARIES, library
from pready.model.engine.layout import Step
from pready.model.engine.runs import Runs
from pready.model.machine.contention_by_library import contention, waiting, with_contention
from pready.model.machine.machine import Machine, load
from pready.model.timeline.costs import costs
from pready.model.timeline.sampling import Sampler
from pready.model.workload.workload import Workload

MELUXINA = load("meluxina")


def without(machine: Machine) -> Machine:
    return with_fields(machine, threads=with_fields(machine.threads, contention=None))


@pytest.mark.parametrize("name", ["mpich-6314", "mpich-release", "mpipcl", "emulated"])
def test_the_file_holds_for_what_it_was_measured_with(name: str) -> None:
    assert with_contention(MELUXINA, library(name)) is MELUXINA


def test_another_library_has_its_own_in_units_of_o_s() -> None:
    hawk = load("hawk-mpich")
    there = contention(with_contention(hawk, library("openmpi-persist")))
    o_s = hawk.inter.segments[0].o_s.value
    assert [there.at(k) / o_s for k in (1, 2, 16, 24, 32)] == pytest.approx([0, 0.2, 0.2, 0.6, 1])
    assert there.at(16) < contention(hawk).at(16) / 10
    back = contention(with_contention(load("hawk"), library("mpich-release")))
    assert back.at(8) == pytest.approx(3.3 * 7 / 8 * load("hawk").inter.segments[0].o_s.value)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_file_without_a_curve_takes_its_library_s(name: str) -> None:
    machine = without(ideal(o_s=2e-6))
    used = with_contention(machine, library(name))
    times = [contention(used).at(k) for k in (1, 2, 32)]
    assert times[0] == 0
    assert times == sorted(times)
    twice = with_contention(without(ideal(o_s=4e-6)), library(name))
    assert [contention(twice).at(k) for k in (1, 2, 32)] == pytest.approx([2 * t for t in times])


def test_every_form_of_the_recurrence_pays_it() -> None:
    machine = without(load("hawk-mpich"))
    w = Workload(threads=8, partitions_per_thread=64, buffer="1 MiB")  # type: ignore[arg-type]
    curve = costs(Sampler(machine), w, 2048).contention
    o_s, copy = machine.inter.segments[0].o_s.value, machine.inter.segments[0].O_s
    assert copy is not None
    assert curve[8] == pytest.approx(3.3 * 7 / 8 * o_s)
    by = {name: Runs(with_library(machine, name)[0], Step.of(w)) for name in ("mpich-release", "openmpi-persist")}
    slow, fast = (e.mean_time(PART.into(512)) for e in by.values())
    assert slow / 512 == pytest.approx((1 + 3.3 * 7 / 8) * o_s + 2048 * copy.value, rel=0.05)
    assert fast / 512 == pytest.approx(1.2 * o_s + 2048 * copy.value, rel=0.05)


def test_it_saturates() -> None:
    """c (1 - 1/k): half of c with two threads; what was measured stays beyond the largest team as it is there."""
    o_s = load("hawk-mpich").inter.segments[0].o_s.value
    curve = contention(load("hawk-mpich"))
    assert [curve.at(k) / o_s for k in (1, 2, 4, 1024)] == pytest.approx([0, 1.65, 2.475, 3.3], rel=2e-3)
    assert contention(MELUXINA).at(128) == contention(MELUXINA).at(32)


def test_threads_that_wait_hand_over() -> None:
    """Eight threads, a message each, ready at once on one VCI: one of them waits for all, or each for its own."""
    w, machine = Workload(threads=8, buffer="64 B"), ideal(o_s=1e-6, o_r=1e-6, waiting=[0.0, 4e-6, 4e-6])  # type: ignore[arg-type]
    by_library = with_fields(machine, threads=with_fields(machine.threads, waiting=None))
    for m, each in ((machine, 4e-6), (by_library, waiting(by_library).at(8))):
        e = Runs(m, Step.from_rest(w))
        one, all_wait = (e.mean_time(BY_KEY[key].into(8)) for key in ("many-joined", "many"))
        assert one == pytest.approx(9e-6, rel=1e-4)
        assert all_wait == pytest.approx(1e-6 + 8 * (1e-6 + each), rel=1e-4)
