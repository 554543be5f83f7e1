"""The list of numbers that the kernel takes is the one that plans have, and the kernel says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pready.model.approach.interfaces import INTERFACES, Approach
from pready.model.engine._kernel import FIELDS, Engine
from pready.model.engine.plan import Plan, _row
from pready.model.engine.simulate import prepared
from pready.model.machine import machine
from pready.model.workload.arrivals import Gaussian, Laggard, Measured, NoArrivals, Normal, Uniform
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.sizes import Sizes
from pready.model.workload.workload import Workload

MELUXINA = machine.load("meluxina")

ARRIVALS: list[Any] = [
    NoArrivals(),
    Laggard(model="laggard", late_by=0.04),
    Laggard(model="laggard", late_by=0.04, late="thread"),
    Uniform(model="uniform", up_to=0.1, partitions="in turn"),
    Normal(model="normal by thread", spread=0.04),
    Gaussian(model="normal by partition", epsilon=0.2),
    Measured(model="trace", file="times.npy", unit="us"),
    Measured(model="kde", file="times.npy", unit="us"),
]

SHAPES: dict[str, dict[str, Any]] = {
    "halo3d": {"grid": (2, 3, 4)},
    "halo3d26": {"grid": (2, 3, 4), "periodic": False, "sizes": Sizes.alike(4096.0, 512.0, 64.0)},
    "pt2pt": {"grid": (6,)},
    "sweep3d": {"grid": (3, 2), "blocks": 2},
    "neighbours": {"grid": (3,), "neighbours": [[1, 2], [0], [1]]},
}


def plan(
    key: Any = "many", pattern: Any = "halo3d", model: Any = None, folder: str = "", transports: int = 8, **options: Any
) -> Plan:
    interface = next(i for i in INTERFACES if i.key == key)
    w = Workload(
        pattern=pattern,
        threads=8,
        buffer="64 KiB",  # type: ignore[arg-type]
        receiver="computing",
        compute=ComputeTime(time="100 us"),  # type: ignore[arg-type]
        arrivals=model or Normal(model="normal by thread", spread=0.04),
        folder=folder,
        neighbours=2 if pattern == "neighbours" else None,
    )
    approach = Approach(interface, transports if interface.splits else 1, 4)
    return prepared(MELUXINA, w, approach, **{**SHAPES[pattern], **options})


def same_fields(made: Plan) -> None:
    assert {name: row.dtype.name for name, row in made.numbers.items()} == {
        name: element for name, (element, _) in FIELDS.items()
    }
    assert {n for n, (_, shape) in FIELDS.items() if not shape} <= {n for n, r in made.numbers.items() if r.size == 1}
    Engine([made.numbers])  # checks the shapes of the others


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda i: i.key)
@pytest.mark.parametrize("pattern", SHAPES)
def test_plans_have_the_kernels_fields(interface: Any, pattern: str) -> None:
    same_fields(plan(interface.key, pattern))


@pytest.mark.parametrize("model", ARRIVALS, ids=lambda m: str(m.model))
def test_whatever_the_arrivals(model: Any, tmp_path: Any) -> None:
    np.save(tmp_path / "times.npy", np.random.default_rng(1).uniform(90, 110, (7, 8)))
    same_fields(plan("part", model=model, folder=str(tmp_path)))


def test_threads_in_space() -> None:
    same_fields(plan("part", transports=2, thread_grid=(2, 2, 2), grid=(2, 2, 2)))


@pytest.mark.parametrize("name", ["ranks", "dims", "hold", "seed"])
def test_a_missing_field_is_named(name: str) -> None:
    made = plan()
    lacking = {n: row for n, row in made.numbers.items() if n != name}
    with pytest.raises(KeyError, match=f"missing field '{name}'"):
        Engine([lacking])


def test_an_unknown_field_is_named() -> None:
    made = plan()
    more = {**made.numbers, "rnaks": made.numbers["ranks"]}
    with pytest.raises(KeyError, match="unknown field 'rnaks'"):
        Engine([more])


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("ranks", np.array([24.0]), "'ranks' is no row of int64"),
        ("hold", np.array([1]), "'hold' is no row of float64"),
        ("seed", np.array([1]), "'seed' is no row of uint64"),
        ("ranks", np.array([24, 24]), "'ranks' has 2 numbers, not 1"),
        ("dims", np.array([2, 3]), "'dims' has 2 numbers, not 3"),
        ("half_shake", np.zeros(2), "'half_shake' has 2 numbers, not 1: classes"),
        ("step", np.zeros(17, np.int64), "'step' has 17 numbers, not 18: directions, 3"),
        ("directions", np.array([2**40]), "'directions' is too large: 1099511627776"),
        ("degree", np.array([2**40]), "'degree' is too large: 1099511627776"),
    ],
)
def test_a_field_of_another_kind_is_named(name: str, row: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Engine([{**plan().numbers, name: row}])


def test_a_number_that_is_no_whole_one_is_refused() -> None:
    with pytest.raises(TypeError, match="float64"):
        _row("ranks", 2.5)
