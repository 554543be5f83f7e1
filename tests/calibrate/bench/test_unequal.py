"""Buffers of which threads own parts that differ, performed by real MPI."""

from itertools import product
from pathlib import Path

import pytest
from given import Request
from test_exchange import Started, all_performed, exchange_plan, performed, started, ways_in, workload

from pready.model.common.errors import PreadyError
from pready.validate.prove.as_performed import as_performed

_ = started  # a fixture


def test_sizes_become_whole_units() -> None:
    odd = workload(thread_shares=[2, 1], buffer="64 KiB")
    with pytest.raises(PreadyError, match="65536 B for a neighbour; valid: a multiple of the 6 partitions"):
        exchange_plan(odd, 1, 0)
    made, notes = as_performed(odd)
    assert made.buffer == 65538  # the next multiple of (2 + 1) units × 2 partitions
    assert any("rounded up" in note for note in notes)
    exchange_plan(made, 1, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("consuming", [False, True])
def test_every_way_performs_it_and_every_byte_is_right(started: Started, tmp_path: Path, consuming: bool) -> None:
    fields = {"consume": {"per_byte": "1 ns/B"}} if consuming else {}
    what = workload(pattern="halo3d", grid=[2, 2], thread_shares=[7, 1], buffer="64 KiB", **fields)
    plan = exchange_plan(what, 2, seed=0)
    ways = [way for way in ways_in(*((2, 4) if consuming else (1, 2, 4))) if way["approach"] != "part"]
    outcome = performed(started, plan, tmp_path, [*ways, {"approach": "part", "transport": 2}])
    assert [*outcome.failures.values()] == ["line 2 of the plan makes no sense here"]
    assert outcome.measured == len(ways)


@pytest.mark.thorough
def test_other_partitions_at_the_receiver(request: Request, started: Started, tmp_path: Path) -> None:
    plans = []
    for received, consuming in product((2, 8), (False, True)):
        # Open MPI's MPI_Parrived looks at the wrong partitions where counts differ (library_facts): not polled there.
        polled = (1, 2, 4) if not consuming or request.node.callspec.params["started"] == "mpich" else (received,)
        fields = {"consume": {"time": "10 us"}} if consuming else {}
        pairs = [[1], [0], [3], [2]]
        what = workload(pattern="neighbours", neighbour_list=pairs, receive_partitions=received, **fields)
        ways = [{"approach": "part", "transport": t} for t in polled if t <= 4]
        ways += [{"approach": way, "transport": 2} for way in ("single", "many", "rma-single-active")]
        plans.append((exchange_plan(what, 2, seed=0), ways))
    assert all_performed(started, plans, tmp_path, patience_s=20.0).failures == {}
