"""The table of terms: complete, without doubles, and read by all who speak of terms."""

from dataclasses import fields
from typing import get_args

import numpy as np
from machines import with_every_table

from pready.model.advice.advise import costs_that_matter
from pready.model.approach.interfaces import INTERFACES, MANY, Approach
from pready.model.engine.layout import Step as Ranks
from pready.model.engine.runs import Runs
from pready.model.machine.machine import load, profiles
from pready.model.timeline import terms
from pready.model.timeline.costs import Costs
from pready.model.timeline.terms import BY_COST, TERMS, Step, by_name, canonical, of_value, without
from pready.model.workload.workload import Workload

MACHINES = {"every table": with_every_table(), **{name: load(name) for name in profiles()}}


def workload(**fields: object) -> Workload:
    return Workload.model_validate({"threads": 8, "buffer": "1 MiB", **fields})


def test_every_cost_is_one_terms() -> None:
    named = [c for t in TERMS for c in t.costs]
    assert sorted(named) == sorted({f.name for f in fields(Costs)} - {"size"})


def test_every_value_of_a_machine_is_one_terms_or_no_cost() -> None:
    named = [v for t in TERMS for v in t.values]
    assert len(named) == len(set(named))
    listed = [*dict.fromkeys(canonical(label) for machine in MACHINES.values() for label, _ in machine.values())]
    for label in listed:
        assert (of_value(label) is None) == (label in terms.NO_COSTS), label
    # A reader finds them in the order of a machine's listing, and steps in that of an exchange.
    for term in TERMS:
        assert [v for v in term.values if v in listed] == [v for v in listed if v in term.values]
        assert [*term.steps] == [s for s in get_args(Step) if s in term.steps]


def test_leaving_a_term_out_leaves_the_others() -> None:
    costs = Runs(load("meluxina"), Ranks.of(workload())).costs(Approach(MANY, 8))
    contention = by_name()["contention for the VCI's lock"]
    replaced = without(costs, contention)
    assert set(replaced) == {"contention"}
    for name, value in replaced.items():
        assert value.shape == getattr(costs, name).shape
        assert np.all(value == 0)


def test_advice_knows_every_cost_that_a_machine_may_have() -> None:
    # On this machine each makes some approach slower.
    w = workload(buffer="16 KiB", arrivals={"model": "laggard", "delay": "2 ms"})
    e = Runs(MACHINES["every table"], Ranks.of(w))
    named = {name for i in INTERFACES for name, seconds in costs_that_matter(e, i.into(8)) if seconds > 0}
    assert {BY_COST[field].name for field in ("epoch", "barrier", "copy_out")} <= named
