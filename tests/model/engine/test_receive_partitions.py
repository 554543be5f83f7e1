"""Other partitions at the receiver: messages by what the library does, and work on each of them.

That the engine equals the plain recurrence is in `test_consuming.py`.
"""

from typing import Any

import numpy as np
import pytest
from machines import ideal
from on_ranks import prepared
from tables import table_of
from test_consuming import as_they_come, time_of

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import library, mpich_6314_messages
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload


def workload(received: int | None, **fields: Any) -> Workload:
    return Workload.model_validate(
        {"threads": 4, "partitions_per_thread": 2, "buffer": "8 MB", "receive_partitions": received, **fields}
    )


@pytest.mark.parametrize(("name", "received", "messages"), table_of("model/known")["received"])
def test_messages_are_those_of_the_library(name: str, received: int, messages: list[int]) -> None:
    assert library(name).transports([1, 2, 4, 8], 4, 8, received or None) == messages
    w = workload(received or None)
    made = predict(load("meluxina"), w, library=name, draws=0)
    found = {r.approach.messages for r in made.approaches if r.approach.interface.partitioned and r.available}
    assert found == set(messages)
    if name == "mpich-6314":
        assert mpich_6314_messages(8, received, w.buffer, 0) == max(messages)


@pytest.mark.parametrize("received", [8, 16, 40])
def test_work_on_each_received_partition_is_the_closed_form(received: int) -> None:
    # 8 messages of 1 MB, 40 us apart on an ideal machine, each with received / 8 partitions of 30 us of work.
    w = workload(received, consume={"time": "30 us", "threads": 3}, compute={"time": "1 ms"})
    came = np.repeat(np.arange(1, 9) * 40e-6, received // 8)
    assert time_of(ideal(), w, "many") == pytest.approx(as_they_come(came, 3, 30e-6), rel=1e-9)
    bulk = as_they_come([8 * 40e-6] * received, 3, 30e-6)
    assert time_of(ideal(), w, "single") == pytest.approx(bulk, rel=1e-9)


def test_a_received_partition_lies_in_one_message() -> None:
    w = workload(4, consume={"time": "1 us"})
    with pytest.raises(PreadyError, match="transport_partitions = 8 does not divide 4 receive_partitions"):
        prepared(load("meluxina"), w, BY_KEY["many"].into(8), grid=(2,))
    made = predict(load("meluxina"), w, draws=0)
    assert max(r.approach.messages for r in made.approaches) == 4
    prepared(load("meluxina"), workload(4), BY_KEY["many"].into(8), grid=(2,))  # without work nobody minds


def test_open_mpi_is_offered_only_where_its_parrived_tells() -> None:
    # mca_part_persist_parrived: of twice as many sent partitions it looks at each second one.
    for received, messages in ((4, {4}), (16, set())):
        w = workload(received, consume={"time": "1 us"})
        made = predict(load("meluxina"), w, library="openmpi-persist", draws=0)
        assert {r.approach.messages for r in made.approaches if r.approach.interface.partitioned} == messages
