"""`pready explain`: steps sum up to the times of `predict`, equations to its closed form."""

from __future__ import annotations

import pytest
from command_line import out, refused
from machines import ideal
from matplotlib.mathtext import MathTextParser

import pready
from pready.model.advice.explanation import Explanation, explain
from pready.model.approach.interfaces import BY_KEY, INTERFACES, MANY, Approach, Interface
from pready.model.engine.evaluate import Evaluation
from pready.model.equations.gain import delay as eq_8
from pready.model.equations.gain import large_message_gain

LAGGARD, HALO = "examples/laggard.toml", "examples/halo3d.toml"


UNEQUAL = {"buffer": None, "faces": ["2 MiB", "512 KiB", "64 KiB"]}


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda i: str(i.key))
@pytest.mark.parametrize(
    ("machine", "file", "fields"),
    [(m, f, {}) for m in ("meluxina", "niagara") for f in (LAGGARD, HALO)] + [("meluxina", HALO, UNEQUAL)],
)
def test_the_steps_sum_up_to_the_predicted_time(
    machine: str, file: str, fields: dict[str, object], interface: Interface
) -> None:
    on, what = pready.load_machine(machine), pready.load_workload(file).changed(**fields)
    approach = interface.into(4, 2 if interface.splits else 1)
    explained = explain(on, what, approach, seed=3, engine="timeline")
    predicted = Evaluation(on, what, seed=3, draws=0, alone=True).predict(approach)
    assert explained.way.time_s == pytest.approx(predicted.time_s, rel=1e-12)
    assert explained.eta == pytest.approx(predicted.eta, rel=1e-12)
    unequal = [d for d in explained.departures if d.startswith("sizes differ between neighbours: messages and terms")]
    assert len(unequal) == (fields is UNEQUAL)
    filled = {
        f.equation.name: f.value for f in explained.equations
    }  # one D behind the line of figures and the equations
    assert filled.get("large_message_gain", explained.figures.bandwidth) == pytest.approx(explained.figures.bandwidth)
    for way in (explained.bulk, explained.way):
        assert sum(s.added_s for s in way.steps) == pytest.approx(way.time_s, rel=1e-9)
        # Only the wire may take time back, where a segment's L is negative.
        assert all(s.added_s > -1e-15 for s in way.steps if s.name != "wire")


@pytest.mark.thorough
@pytest.mark.parametrize("file", [LAGGARD, HALO])
def test_it_says_what_predict_says(file: str) -> None:
    on, what = pready.load_machine("meluxina"), pready.load_workload(file).changed(iterations=60)
    what = what if what.pattern == "pt2pt" else what.changed(grid=(2, 2, 2))
    prediction = pready.predict(on, what, seed=5)
    explained = pready.explain(on, what, seed=5)  # without an approach: the advised one
    row = prediction.advised
    assert (explained.way.approach.name, explained.way.approach.transport_partitions) == (
        row.name,
        row.transport_partitions,
    )
    assert explained.way.time_s == pytest.approx(row.time_s, rel=1e-12)
    assert explained.bulk.time_s == pytest.approx(prediction.bulk.time_s, rel=1e-12)
    assert explained.eta == pytest.approx(row.eta, rel=1e-12)
    for way in (explained.bulk, explained.way):
        assert sum(s.added_s for s in way.steps) == pytest.approx(way.time_s, rel=1e-9)
    filled = {f.equation.name: f for f in explained.equations}
    assert filled["large_message_gain"].value == pytest.approx(prediction.closed_form["eta"], rel=1e-12)
    assert filled["bulk_time"].value / filled["pipelined_time"].value == pytest.approx(prediction.closed_form["eta"])


LISTED = [[{"to": 1, "size": "64 KiB"}], [{"to": 0, "size": "32 KiB"}]]


@pytest.mark.parametrize(
    "fields",
    [{"both_ways": True, "ranks_per_node": 2}, {"pattern": "neighbours", "buffer": None, "neighbour_list": LISTED}],
    ids=["a node's ranks", "unequal lists"],
)
def test_what_the_timeline_does_not_simulate_is_explained(fields: dict[str, object]) -> None:
    """As a capture on one node writes it: there is no figure of one exchange alone, all others are there."""
    on, what = pready.load_machine("meluxina"), pready.load_workload(LAGGARD).changed(iterations=20, **fields)
    explained = explain(on, what, Approach(MANY, 4), seed=1)
    assert explained.figures.alone is None
    assert "one exchange alone" not in explained.figures.text
    assert explained.eta == pytest.approx(explained.figures.counts, rel=1e-12)
    assert not any("--engine timeline" in d for d in explained.departures)


def test_the_last_message_waits_for_three_others() -> None:
    """1 MiB each at 25 GB/s, g = 10 ns; the last is D = 100 us/MB · 1 MiB late.

    The first three are issued D earlier and leave one after the other, so the NIC is busy with them until
    3 (S/β + g) − D after the last is issued: 3 · 41.953 us − 104.858 us = 21.00 us.
    """
    on, what = pready.load_machine("meluxina"), pready.load_workload(LAGGARD)
    steps = {s.name: s for s in explain(on, what, Approach(MANY, 4, 4)).way.steps}
    size = 2**20
    assert steps["NIC"].added_s == pytest.approx(3 * (size / 25e9 + 10e-9) - size * 100e-12, rel=1e-9)
    assert steps["link"].added_s == pytest.approx(size / 25e9, rel=1e-9)
    assert {t.symbol: t.seconds for t in steps["NIC"].terms} == {
        "g": pytest.approx(10e-9),
        "m/β_link": pytest.approx(size / 25e9),
    }


def test_what_is_received_between_sends_is_a_term_of_the_issue() -> None:
    """Four messages to each of six peers, o_s = 1 us, o_r = 0.4 us: 24 holds, and three times six receives."""
    on = ideal(o_s=1e-6, o_r=4e-7, G=1e-30, link=1e30)
    for pattern, expected, received in (("halo3d", 24e-6 + 18 * 0.4e-6, 4e-7), ("pt2pt", 4e-6, None)):
        what = pready.Workload.model_validate({"threads": 4, "buffer": "4 B", "pattern": pattern})
        issue = next(s for s in explain(on, what, Approach(MANY, 4), engine="timeline").way.steps if s.name == "issue")
        assert issue.added_s == pytest.approx(expected, rel=1e-12)
        assert {t.symbol: t.seconds for t in issue.terms}.get("one received") == received
        assert ("received" in issue.rule) == (received is not None)


def test_rates_of_the_workload_fill_equations_6_to_9() -> None:
    """gillis2023 A.2.1: AI = 5, CI = 1, F = 3.5 GHz, ε = 0.04, θ = 8 give γ = 1263.672954 us/MB."""
    data = {
        "threads": 8,
        "partitions_per_thread": 8,
        "buffer": "64 MiB",
        "compute": {"arithmetic_intensity": 5.0, "communication_intensity": 1.0, "frequency": "3.5 GHz"},
        "arrivals": {"model": "normal by partition", "epsilon": 0.04},
    }
    what = pready.Workload.model_validate(data)
    explained = explain(pready.load_machine("meluxina"), what, Approach(MANY, 8, 1))
    filled = {f.equation.number: f for f in explained.equations}
    assert [f.equation.number for f in explained.equations] == ["6", "7", "9", "8", "2", "3", "4", "5"]
    assert filled["9"].value * 1e12 == pytest.approx(1263.672954, abs=5e-7)
    assert filled["8"].value == pytest.approx(filled["9"].value * what.partition_size)
    assert filled["9"].text.endswith(" s/B")
    assert any("n_flop" in d for d in explained.departures)
    assert any("γ_θ β" in d for d in explained.departures)
    assert filled["8"].equation is eq_8


def test_a_number_is_put_in_for_every_symbol() -> None:
    shown = large_message_gain.substituted_latex(8, 8, 1e-9, 25e9)
    assert r"8 \cdot 8" in shown
    assert r"1 \cdot 10^{-9} \cdot 2.5 \cdot 10^{10}" in shown
    assert shown.endswith("= 1.64103")


@pytest.fixture(scope="module")
def halo() -> Explanation:
    return explain(
        pready.load_machine("meluxina"), pready.load_workload(HALO), Approach(BY_KEY["rma-many-active"], 8, 4)
    )


def test_latex_is_latex(halo: Explanation) -> None:
    parser = MathTextParser("path")
    for filled in halo.equations:
        parser.parse(f"${filled.latex}$")  # raises where it is malformed
    terms = [t for way in (halo.bulk, halo.way) for s in way.steps for t in s.terms]
    for term in terms:
        parser.parse(f"${term.latex}$")
    source = halo._repr_latex_()
    assert source.startswith(r"\begin{align*}")
    assert source.count("{") == source.count("}")
    assert r"\end{align*}" in source
    rows = source[: source.index(r"\end{align*}")].splitlines()[1:]
    assert all(row.endswith(r"\\") for row in rows[:-1])


def test_every_form_names_every_departure(halo: Explanation) -> None:
    forms = (" ".join(str(halo).split()), halo._repr_markdown_(), halo._repr_latex_())
    for form in forms:
        for departure in halo.departures:
            assert departure in form
        assert f"{halo.eta:.4g}" in form


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = out(capsys, "explain", LAGGARD, "--approach", "many:4:4")
    assert "Pt2Pt many: 4 messages of 1 MiB (rendezvous), 4 VCIs" in shown
    assert "L = 1.11 us" in shown
    assert "large_message_gain" in out(capsys, "explain")


def test_a_machine_without_a_workload_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "explain", "--machine", "niagara")
    assert said == "pready: error: --machine without a workload; valid: a workload file\n"
