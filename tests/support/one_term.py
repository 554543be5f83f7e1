"""A machine with one of its terms changed: what a reason for being off names."""

from collections.abc import Callable

from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.validate.claims.computed_once import changed

Change = Callable[[Machine], Machine]


def with_values(**values: str) -> Change:
    """Values by their dotted name, `__` for a dot."""

    def change(machine: Machine) -> Machine:
        for name, value in values.items():
            machine = changed(machine, name.split("__"), value)
        return machine

    return change


def scaled_curve(name: str, factor: float) -> Change:
    """A curve over threads multiplied."""

    def change(machine: Machine) -> Machine:
        curve = getattr(machine.threads, name) or contention(machine)
        made = curve.model_copy(update={"time": tuple(factor * t for t in curve.time)})
        threads = machine.threads.model_copy(update={name: made})
        return machine.model_copy(update={"threads": threads})

    return change
