"""Whatever workload, machine and library somebody brings: figures are finite, advice keeps its word, engines agree."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_once import generated

from pready.model.advice.predict import predict, with_library
from pready.model.approach.interfaces import BULK, INTERFACES
from pready.model.approach.libraries import LIBRARIES
from pready.model.approach.vcis import transport_counts
from pready.model.engine.layout import Step
from pready.model.engine.runs import Runs
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.result.verdict import INDISTINCT
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

PROFILES = sorted(machines.profiles())
OTHERS = [i for i in INTERFACES if i != BULK.interface]
ARRIVALS: list[dict[str, Any]] = [
    {"model": "none"},
    {"model": "laggard", "delay": "20 us"},
    {"model": "laggard", "late_by": 0.1},
    {"model": "normal by thread", "spread": 0.04},
    {"model": "uniform", "up_to": 0.1, "partitions": "in turn"},
    {"model": "normal by partition", "epsilon": 0.04},
]


@st.composite
def workloads(
    draw: st.DrawFn, arrivals: list[dict[str, Any]] = ARRIVALS, patterns: tuple[str, ...] = ("pt2pt", "halo3d")
) -> Workload:
    threads, theta = draw(st.sampled_from([1, 2, 4, 8, 16])), draw(st.sampled_from([1, 2, 4]))
    some: dict[str, list[Any]] = {
        "pattern": [*patterns],
        "receiver": ["waiting", "computing"],
        "compute": [{"time": time} for time in ("10 us", "10 us", "100 us", "1 ms", "500 ms")],
        "arrivals": arrivals,
    }
    fields = {name: draw(st.sampled_from(values)) for name, values in some.items()} | {"iterations": 20}
    size = f"{threads * theta * draw(st.sampled_from([8, 100, 1500, 9000, 40000, 600000]))} B"
    fields |= {"threads": threads, "partitions_per_thread": theta, "buffer": size}
    return validated(Workload, fields, "drawn")


@pytest.mark.slow
@generated(32)
@given(workloads(), st.sampled_from(PROFILES), st.sampled_from([None, *LIBRARIES]))
def test_advice_keeps_its_word(workload: Workload, profile: str, library: str | None) -> None:
    made = predict(machines.load(profile), workload, library=library, draws=4, engine="timeline")
    for row in made.approaches:
        for name, value in row.to_dict().items():
            assert not isinstance(value, float) or math.isfinite(value), (row.name, name)
        assert row.speedup_low_percent <= row.speedup_percent <= row.speedup_high_percent
        assert 0 < row.time_low_s <= row.time_s <= row.time_high_s
        assert 0 < row.eta_low <= row.eta <= row.eta_high
        assert row.early_bird_percent <= 100
        assert row.time_s * row.eta == pytest.approx(made.bulk.time_s, rel=1e-9)
        most = made.advice.bound
        assert most is not None
        assert row.speedup_percent <= most.speedup_percent + 1e-9
        assert row.eta <= most.eta + 1e-9
    advice = made.advice
    assert advice.best.available
    if advice.verdict == "port":
        assert advice.best.speedup_low_percent >= 1
        assert advice.settings
    if advice.verdict == "do not port":
        assert advice.best.speedup_percent < 1
        assert not advice.settings
    assert any(workload.buffer in r for r in advice.pays or ()) == (advice.verdict == "port")
    assert not (advice.best.approach.interface.one_sided and advice.best.unmeasured)


@pytest.mark.thorough
@generated(200)
@given(workloads(ARRIVALS[:2], ("pt2pt",)), st.sampled_from(PROFILES), st.sampled_from(OTHERS), st.floats(1, 5e6))
def test_gain_is_continuous_between_protocol_borders(
    workload: Workload, profile: str, interface: Any, size: float
) -> None:
    on = machines.load(profile)
    size = max(size, workload.n_partitions)
    approach = interface.into(workload.n_partitions)
    near = size * (1 + 1e-6 * np.array([0, 1, 2]))
    starts = [s.from_ for s in on.inter.segments[1:]]
    for messages in (1, approach.messages):
        if any(near[0] < s * messages <= near[-1] for s in starts):
            return
    runs = Runs(on, Step.from_rest(workload))
    gains = np.array([runs.at_buffer(s).predicted([(approach,)], calm=False)[0].eta for s in near.tolist()])
    assert np.abs(np.diff(gains)).max() < INDISTINCT * gains.max()


@pytest.mark.thorough
@generated(80)
@given(workloads(ARRIVALS[:2]), st.sampled_from(PROFILES), st.sampled_from([None, *LIBRARIES]), st.data())
def test_more_progress_or_delay_never_costs(workload: Workload, profile: str, library: str | None, data: Any) -> None:
    on, _ = with_library(machines.load(profile), library)
    interface = data.draw(st.sampled_from(INTERFACES))
    approach = interface.into(data.draw(st.sampled_from(transport_counts(workload.n_partitions))))

    def time(machine: Machine, there: Workload = workload) -> float:
        return Runs(machine, Step.from_rest(there)).mean_time(approach)

    here = time(on)
    assert time(on.progressing("thread")) <= time(on.progressing("on-call")) * (1 + 1e-9)
    if workload.arrivals.model == "laggard":
        # The others are ready earlier, before the last.
        late = workload.changed(arrivals={"model": "laggard", "delay": "40 us"})
        assert time(on, late) <= here * (1 + 1e-9)
