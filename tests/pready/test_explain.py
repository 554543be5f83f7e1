"""`pready explain`: steps sum up to the times of `predict`, equations to its closed form."""

import pytest
from command_line import out
from matplotlib.mathtext import MathTextParser

import pready
from pready.model.advice.explanation import _departures, _equations, explain
from pready.model.advice.predict import with_library
from pready.model.approach.interfaces import BY_KEY, INTERFACES, MANY, Approach, Interface
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.equations.gain import delay as eq_8

pytestmark = pytest.mark.usefixtures("predicted_once")

LAGGARD, HALO = "examples/laggard.toml", "examples/halo3d.toml"
UNEQUAL = {"buffer": None, "faces": ["2 MiB", "512 KiB", "64 KiB"]}


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda i: str(i.key))
@pytest.mark.parametrize(("file", "fields"), [(LAGGARD, {}), (HALO, UNEQUAL)])
def test_the_steps_sum_up_to_the_predicted_time(file: str, fields: dict[str, object], interface: Interface) -> None:
    on, what = pready.load_machine("meluxina"), pready.load_workload(file).changed(**fields)
    approach = interface.into(4, 2 if interface.splits else 1)
    explained = explain(on, what, approach, seed=3, engine="timeline")
    predicted = Runs(with_library(on)[0], Step.from_rest(what), Rows(0, 3)).predicted([(approach,)])[0]
    assert explained.way.time_s == pytest.approx(predicted.time_s, rel=1e-9)
    assert explained.eta == pytest.approx(predicted.eta, rel=1e-9)
    assert all(s.added_s > -1e-15 for way in (explained.bulk, explained.way) for s in way.steps)
    # Four messages, of as many threads or more, share two VCIs.
    shared = {"2)"} if interface.splits and not interface.joins else set()
    assert {symbol.partition("(")[2] for symbol, _ in explained.way.costs} == {""} | shared


def test_the_last_message_waits_for_three_others() -> None:
    """1 MiB each at 25 GB/s, g = 10 ns; the last is D = 100 us/MB · 1 MiB late.

    The first three are issued D earlier and leave one after the other, so the NIC is busy with them until
    3 (S/β + g) − D after the last is issued: 3 · 41.953 us − 104.858 us = 21.00 us; the rendezvous's handshake, which
    the others have had, adds 1.15 us, less what its receiver pays for it: as much as for the largest message that is
    copied, 16 KiB at 20 GB/s and 90 ns, beside the 200 ns of its o_r. Then the last streams, S/β, and arrives after L.
    """
    on, what = pready.load_machine("meluxina"), pready.load_workload(LAGGARD)
    way = explain(on, what, Approach(MANY, 4, 4)).way
    steps, size = {s.name: s.added_s for s in way.steps}, 2**20
    handshake = 1.15e-6 - (2**14 / 20e9 + 90e-9 - 200e-9)
    assert steps["NIC"] == pytest.approx(handshake + 3 * (size / 25e9 + 10e-9) - size * 100e-12, rel=1e-6)
    assert steps["wire"] == pytest.approx(size / 25e9 + 1.11e-6, rel=1e-9)
    assert dict(way.costs)["L"] == pytest.approx(1.11e-6)


def test_rates_of_the_workload_fill_equations_6_to_9() -> None:
    """gillis2023 A.2.1: AI = 5, CI = 1, F = 3.5 GHz, ε = 0.04, θ = 8 give γ = 1263.672954 us/MB."""
    rate = {"arithmetic_intensity": 5.0, "communication_intensity": 1.0, "frequency": "3.5 GHz"}
    data = {"threads": 8, "partitions_per_thread": 8, "buffer": "64 MiB", "compute": rate}
    data |= {"arrivals": {"model": "normal by partition", "epsilon": 0.04}}
    what = pready.Workload.model_validate(data)
    explained = explain(pready.load_machine("meluxina"), what, Approach(MANY, 8, 1))
    filled = {f.equation.number: f for f in explained.equations}
    assert [f.equation.number for f in explained.equations] == ["6", "7", "9", "8", "2", "3", "4", "5"]
    part, beta, late = what.partition_size, 25e9, explained.prediction.closed_form["delay_s"]
    of_the_paper = [5 / 1 / (8 * 3.5e9), 0.04 / 2, 1263.672954e-12, 1263.672954e-12 * part]
    closed = [64 * part / beta, part / beta + max(63 * part / beta - late, 0), 64 / (64 - beta * late / part), 1 / 64]
    assert [f.value for f in explained.equations] == pytest.approx([*of_the_paper, *closed], rel=1e-9)
    assert explained.closed_form_eta == pytest.approx(closed[2])
    assert filled["9"].text.endswith(" s/B")
    assert any("n_flop" in d for d in explained.departures)
    assert any("γ_θ β" in d for d in explained.departures)
    assert filled["8"].equation is eq_8
    assert filled["7"].note == filled["9"].note == ""
    assert filled["3"].note == "D is first to last ready, mean of the arrivals drawn"
    told = what.changed(compute={"time": "1 ms"}, arrivals={"model": "normal by partition", "spread": 0.02})
    notes = {f.equation.number: f.note for f in _equations(Runs(pready.load_machine("meluxina"), Step.of(told)))}
    assert notes["7"] == "ε is 2 √θ × the spread of a thread's time"
    assert notes["9"] == "μ is the workload's compute time over θ S_part"


def test_what_differs_is_a_departure() -> None:
    fields = {"threads": 2, "faces": ["4 KiB", "4 KiB", "2 KiB"], "pattern": "halo3d"}
    on = Runs(pready.load_machine("meluxina"), Step.of(pready.Workload.model_validate(fields)))
    assert [f.note for f in _equations(on)][1] == "D is first to last ready"
    said = "sizes differ between neighbours: a message's costs are those of the buffer, the steps those of each"
    assert [line for line in _departures(on) if " differ " in line] == [said]


def test_every_form_names_every_departure_and_equations_are_latex() -> None:
    on, what = pready.load_machine("meluxina"), pready.load_workload(HALO)
    halo = explain(on, what, Approach(BY_KEY["rma-many-active"], 8, 4))
    for filled in halo.equations:
        MathTextParser("path").parse(f"${filled.latex}$")  # raises where it is malformed
    for form in (" ".join(str(halo).split()), halo._repr_markdown_()):
        assert all(departure in form for departure in halo.departures)
        assert f"{halo.eta:.4g}" in form


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = out(capsys, "explain", LAGGARD, "--approach", "many:4:4")
    assert "Pt2Pt many: 4 messages of 1 MiB (rendezvous), 4 VCIs" in shown
    assert "L = 1.11 us" in " ".join(shown.split())
    assert "large_message_gain" in out(capsys, "explain")
    shown = out(capsys, "explain", LAGGARD, "--library")
    assert "MPI_Psend of mpich-release: share of the 39.1 % that no library exceeds" in " ".join(shown.split())
    assert "95 % takes CTS, send\n" in shown
