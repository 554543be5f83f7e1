"""What a machine of values that are all different costs, and what the rules of an exchange make of costs."""

from dataclasses import fields as fields_of
from typing import Any

import numpy as np
import pytest
from machines import ideal, with_adapter
from tables import table_of
from workloads import workload_of

from pready.model.approach.interfaces import BY_KEY
from pready.model.common.units import SI
from pready.model.machine.machine import load
from pready.model.timeline import rules
from pready.model.timeline.costs import Costs, costs
from pready.model.timeline.sampling import Sampler
from pready.model.workload.exchange import Consume

RULES = table_of("model/rules")
COSTS = Costs(**{name: np.asarray(value) for name, value in RULES["costs"].items()})


@pytest.mark.parametrize(("key", "fields", "differs"), RULES["approaches"])
def test_what_is_paid(key: str, fields: dict[str, Any], differs: dict[str, Any]) -> None:
    """Six messages of a VCI, for which two threads wait, of six partitions each at their receiver."""
    consume = Consume(time=SI(2e-6), threads=fields.pop("consumers")) if "consumers" in fields else None
    setting = rules.Setting(3, 2, 4, 8, **{"progress": "on-call", **fields}, consume=consume)
    approach = BY_KEY[key].into(6)
    found: dict[str, Any] = rules.of_message(COSTS, approach, setting, 6, 2, 6.0)
    found |= rules.of_rank(COSTS, approach, setting, 6, 6.0)
    found |= {n: getattr(rules, n)(COSTS, approach.interface, setting) for n in ("asks", "answers_inside")}
    found |= {"leaves": rules.leaves(COSTS, approach.interface), "by": rules.receivers(approach.interface, setting)}
    found["contending"] = rules.contending(COSTS, approach, setting).sum()
    made = {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in found.items()}
    assert made == pytest.approx(RULES["single"] | differs)


def test_costs_of_a_machine() -> None:
    seconds = {n: np.multiply(1e-6, x).tolist() for n, x in RULES["machine"].items() if n not in ("link", "copy")}
    rates = {n: 1e6 * RULES["machine"][n] for n in ("link", "copy")}
    machine = ideal(**seconds, **rates, progress="on-call")
    found = costs(Sampler(machine), workload_of(threads=2, buffer="2 kB", pattern="halo3d"), 2000.0)
    as_given = ("size", "on_call")
    made = {f.name: getattr(found, f.name) * (1 if f.name in as_given else 1e6) for f in fields_of(Costs)}
    assert {name: float(np.sum(x)) for name, x in made.items()} == pytest.approx(RULES["machine_costs"])
    # A message goes by one of two cables, each of half the rate.
    shared = costs(Sampler(with_adapter(machine, "8 GB/s", "125 ns", 2)), workload_of(threads=2, buffer="2 kB"), 2e3)
    assert shared.shared == pytest.approx(0.125e-6 + 2 * 2000 / 8e9)


@pytest.mark.parametrize("cache", ["hot", "cold"])
def test_a_handshake_is_left_whatever_is_in_cache(cache: str) -> None:
    """MeluXina from 16 KiB: of 1.15 us, the price of copies that vanish is 16 KiB at 20 GB/s less 110 ns of o_r. At 8
    GB/s, where data are cold, it was more than the whole handshake."""
    w = workload_of(threads=4, buffer="1 MiB", cache=cache)
    found = costs(Sampler(load("meluxina")), w, 16384).handshake
    assert float(found) == pytest.approx(1.15e-6 - (16384 / 20e9 - 110e-9))
